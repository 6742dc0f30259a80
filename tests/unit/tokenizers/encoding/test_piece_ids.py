"""Pieces to ids where several rules make a token, as in files that list every split of it."""

from __future__ import annotations

import random

import pytest

import tokdfa
from tests.support.tokenizer_files import as_bytes, spell, tokenizer_json
from tokdfa.automata.bpe import tokenize_leftmost

N_FILES = 40
BYTES = [bytes([byte]) for byte in range(256)]


def rules_with_every_split(drawn: random.Random) -> list[tuple[bytes, bytes]]:
    """Random rules over two or three letters; most tokens have several rules.

    They are in the order of tokens, as converters write them, or grouped by token in any order, or in any order.
    """
    tokens = [b"a", b"b", b"c"][: drawn.randrange(2, 4)]
    while len(tokens) < drawn.randrange(8, 24):
        token = b"".join(drawn.choices(tokens, k=2))
        if token not in tokens:
            tokens.append(token)
    known = set(tokens)
    rules = [
        (token[:n], token[n:])
        for token in tokens
        for n in range(1, len(token))
        if token[:n] in known and token[n:] in known
    ]
    kind = drawn.randrange(4)
    if kind > 1:
        drawn.shuffle(rules)
    if kind > 2:
        tokens = list(dict.fromkeys(left + right for left, right in rules))
        rules.sort(key=lambda rule: tokens.index(rule[0] + rule[1]))
    return rules


def loaded(rules: list[tuple[bytes, bytes]], *, whole: bool) -> tokdfa.Tokenizer:
    made = dict.fromkeys(left + right for left, right in rules)
    fields = tokenizer_json([], added_tokens=[])
    vocab = {spell(token): id for id, token in enumerate([*BYTES, *made])}
    merges = [[spell(left), spell(right)] for left, right in rules]
    fields["model"] |= {"vocab": vocab, "merges": merges, "ignore_merges": whole}
    return tokdfa.load(as_bytes(fields))  # type: ignore[return-value]


@pytest.mark.parametrize("whole", [False, True])
def test_rules_that_make_a_token_several_times_are_compiled(whole: bool) -> None:
    drawn = random.Random(whole)
    n_repeated = n_merged = 0
    for _ in range(N_FILES):
        rules = rules_with_every_split(drawn)
        tokenizer = loaded(rules, whole=whole)
        products = [left + right for left, right in rules]
        n_repeated += len(set(products)) < len(products)
        assert tokenizer.piece_ids._is_cached
        texts = ["".join(drawn.choices("abc", k=drawn.randrange(1, 80))) for _ in range(20)]
        for text in [*texts, "abc" * 180]:
            id_of = {token: id for id, token in enumerate([*BYTES, *dict.fromkeys(products)])}
            is_whole = whole and text.encode() in id_of
            words = [text.encode()] if is_whole else tokenize_leftmost(tokenizer.dictionary, text.encode())
            n_merged += len(words) < len(text)
            assert tokenizer.encode(text).tolist() == [id_of[word] for word in words]  # type: ignore[index]
    assert n_repeated > N_FILES // 2
    assert n_merged > N_FILES * 10
