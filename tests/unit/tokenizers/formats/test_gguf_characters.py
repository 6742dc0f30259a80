"""GGUF files of Gemma 4: characters are merged, and others become their bytes, as llama.cpp does it."""

from __future__ import annotations

import random
import re
from itertools import pairwise, product

import pytest

import tokdfa
from tests.support.gguf_files import Typed, characters, gguf
from tests.support.seeds import seeds
from tokdfa.base.errors import FileFormatError

TEXTS = ["".join(text) for n in range(1, 6) for text in product("ab \n", repeat=n)]
ODD = ["é", "aéb", "<end>a<end>", "\u2581a a", "a\n\n\n\nb", "😀\n", "\n" * 9, "<0x0A>", "a<en"]


def random_rules(drawn: random.Random) -> list[tuple[str, str]]:
    """Return rules over a, b, the sign for a space and line feeds, with several parts of some products."""
    known, rules = ["a", "b", "\u2581", "\n"], []
    for _ in range(drawn.randrange(1, 9)):
        left, right = drawn.choice(known), drawn.choice(known)
        if ("\n" in left) == ("\n" in right) and (left, right) not in rules:
            rules.append((left, right))
            known.append(left + right)
    return rules


def merge(rules: list[tuple[str, str]], line: str) -> list[str]:
    """Merge the pairs of the strongest rule, the leftmost first."""
    symbols = [*line]
    while pairs := [pair for pair in pairwise(symbols) if pair in rules]:
        best = min(pairs, key=rules.index)
        at = next(at for at, pair in enumerate(pairwise(symbols)) if pair == best)
        symbols[at : at + 2] = ["".join(best)]
    return symbols


def by_definition(rules: list[tuple[str, str]], words: list[str], text: str) -> list[int]:
    """Return the ids of a text, by the order in which llama.cpp does things."""
    ids = []
    for part in re.split("(<end>|<pad>)", text):
        if part in ("<end>", "<pad>"):
            ids.append(words.index(part))
            continue
        for line in re.findall(r"[^\n]+|\n+", part.replace(" ", "\u2581")):
            is_token = not line.strip("\n") and line in words
            for symbol in [line] if is_token else merge(rules, line):
                spelled = [symbol] if symbol in words else [f"<0x{byte:02X}>" for byte in symbol.encode()]
                ids += [words.index(one) for one in spelled]
    return ids


def test_random_files_encode_decode_and_judge_as_defined() -> None:
    refused = merged = 0
    for seed in seeds(12):
        drawn = random.Random(seed)
        rules = random_rules(drawn)
        fields = characters(rules)
        words = fields["tokenizer.ggml.tokens"].value
        if any(not word.strip("\n") and merge(rules, word) != [word] for word in words):
            with pytest.raises(FileFormatError, match="a token of line feeds that no rules make"):
                tokdfa.load(gguf(fields))
            refused += 1
            continue
        tokenizer = tokdfa.load(gguf(fields))
        for text in [*drawn.sample(TEXTS, 60), *ODD]:
            ids = by_definition(rules, words, text)
            assert tokenizer.encode(text).tolist() == ids, (seed, text)
            assert tokenizer.decode(ids) == text.replace("\u2581", " ")
            assert tokenizer.validate(ids)
            merged += len(ids) < len(text)
            spoiled = [*ids]
            spoiled[drawn.randrange(len(ids))] = drawn.randrange(258, len(words))
            again = by_definition(rules, words, tokenizer.decode(spoiled))
            assert bool(tokenizer.validate(spoiled)) == (again == spoiled), (seed, spoiled)
    assert merged > 100
    assert refused < 6


def test_the_token_for_the_beginning_is_always_left_out() -> None:
    # llama.cpp adds it, whatever the file says.
    assert tokdfa.load(gguf(characters([], add_bos_token=Typed("bool", False)))).ignored == ("add_bos_token",)


BYTES = [3, 3, *[6] * 256]


@pytest.mark.parametrize(
    ("rules", "key", "value", "message"),
    [
        # Merging leaves the token of three line feeds in two parts.
        ([("\n", "\n"), ("\n", "\n\n")], "bos_token_id", Typed("u32", 0), "a token of line feeds"),
        ([], "merges", Typed("string", ["a b"]), "the rule a b needs a token that is not"),
        ([("a", "b")], "token_type", Typed("i32", [*BYTES, 1, 1, 1, 1, 5]), "an unused token, .*: 'ab'"),
        ([], "token_type", Typed("i32", [*BYTES[:-1], 1, 1, 1, 1, 1]), "byte token whose type is not that"),
        ([], "token_type", Typed("i32", [*BYTES, 6, 1, 1, 1]), "byte tokens whose name is none"),
    ],
)
def test_characters_refused_with_the_key(rules: list[tuple[str, str]], key: str, value: Typed, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(gguf(characters(rules, **{key: value})))
