"""Tokenizers of transformers 4 in Python that merge byte pairs, without transformers: ids, verdicts and refusals."""

from __future__ import annotations

import pickle
import random
import unicodedata
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import regex

import tokdfa
from tests.support.editing import edited
from tests.support.live import any_text, apart
from tests.support.tokenizer_files import RULES, SPELLED, spell, vocabulary
from tokdfa.base.errors import TokdfaError, UnsupportedFeatureError

PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
N_TEXTS = 500


class GPT2Tokenizer:
    """The class of transformers, written again; a token has the id that `numbers` gives it."""

    def __init__(self, rules: list[tuple[str, str]], numbers: Mapping[str, int], added: Mapping[int, str]) -> None:
        self.encoder = dict(numbers)
        self.bpe_ranks = {pair: rank for rank, pair in enumerate(rules)}
        self.byte_encoder = dict(SPELLED)
        self.pat: Any = regex.compile(PATTERN)
        self.added_tokens_decoder = {id: SimpleNamespace(content=text, special=True) for id, text in added.items()}
        self.add_prefix_space = False

    def convert_tokens_to_ids(self, tokens: list[str]) -> list[int]:
        return [self._convert_token_to_id(token) for token in tokens]

    def _convert_token_to_id(self, token: str) -> int:
        return self.encoder.get(token, 0)

    def prepare_for_tokenization(self, text: str) -> str:
        return f" {text}" if self.add_prefix_space else text

    def bpe(self, token: str) -> list[str]:
        word = [*token]
        while True:
            pairs = [pair for pair in pairwise(word) if pair in self.bpe_ranks]
            if not pairs:
                return word
            best, merged = min(pairs, key=self.bpe_ranks.__getitem__), []
            while word:
                size = 2 if tuple(word[:2]) == best else 1
                merged.append("".join(word[:size]))
                word = word[size:]
            word = merged

    def _tokenize(self, text: str) -> list[str]:
        pieces = ("".join(SPELLED[byte] for byte in piece.encode()) for piece in regex.findall(self.pat, text))
        return [token for piece in pieces for token in self.bpe(piece)]

    def encode(self, text: str) -> list[int]:
        return self.convert_tokens_to_ids(self._tokenize(self.prepare_for_tokenization(text)))


class Qwen2Tokenizer(GPT2Tokenizer):
    def prepare_for_tokenization(self, text: str) -> str:
        return unicodedata.normalize("NFC", text)


@pytest.fixture(autouse=True)
def as_of_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_tokenize", "bpe", "prepare_for_tokenization", "_convert_token_to_id"):
        monkeypatch.setattr(vars(GPT2Tokenizer)[name], "__module__", "transformers.models.gpt2.tokenization_gpt2")
    own = Qwen2Tokenizer.prepare_for_tokenization
    monkeypatch.setattr(own, "__module__", "transformers.models.qwen2.tokenization_qwen2")


def made(rules: list[tuple[bytes, bytes]] = RULES, shift: int = 0, added: int = 900) -> GPT2Tokenizer:
    numbers = {token: id + shift for token, id in vocabulary(rules).items()}
    return GPT2Tokenizer([(spell(u), spell(v)) for u, v in rules], numbers, {added: "<|end|>"})


@pytest.mark.parametrize("shift", [0, 3])
def test_texts_and_streams(shift: int) -> None:
    peer = made(shift=shift)
    tokenizer = tokdfa.load(peer)
    letters = {letter: byte for byte, letter in SPELLED.items()}
    back = {id: bytes(letters[letter] for letter in token) for token, id in peer.encoder.items()}
    ascii_ids = [id for id, word in back.items() if word.isascii()] + [*back][-len(RULES) :] * 5
    wrong = 0
    for number in range(N_TEXTS):
        drawn = random.Random(number)
        text = any_text(drawn, number, (" the then", "é<|end|>", "aaaaaa"))
        text = text if number % 2 else "".join(drawn.choices(" thea\n'é", k=drawn.randrange(14)))
        ids = peer.encode(text)
        assert tokenizer.encode(text).tolist() == ids, text
        stream = edited(drawn, ids, ascii_ids, exchanges=0.3)
        verdict = tokenizer.validate(stream)
        try:
            again = peer.encode(b"".join(back[id] for id in stream).decode())
        except UnicodeDecodeError:
            assert not verdict
            continue
        assert bool(verdict) == (again == stream), stream
        wrong += not verdict
        assert verdict or verdict.index == apart(stream, again), stream
    assert wrong > 10
    # The id of a special token splits a stream, and is not found in a text.
    assert tokenizer.validate([*peer.encode("the"), 900, *peer.encode("the")])


def test_a_space_is_put_before_every_text() -> None:
    peer = made()
    peer.add_prefix_space = True
    tokenizer = tokdfa.load(peer)
    for text in ("", " ", "\n", "the", " the then", "<|end|>", "\u00a0a"):
        ids = peer.encode(text)
        assert tokenizer.encode(text).tolist() == ids
        assert tokenizer.stream().finish().tolist() == peer.encode("")
        verdict = tokenizer.validate(ids)
        assert not verdict
        assert verdict.index == apart(ids, peer.encode(tokenizer.decode(ids)))
    found = tokdfa.compare(tokenizer, tokdfa.load(made()))
    assert found.witness is not None
    assert found.witness.text == ""


def test_nfc_is_by_the_tables_of_this_python() -> None:
    peer = made()
    peer.__class__ = Qwen2Tokenizer
    tokenizer = tokdfa.load(peer)
    # Those that this Python does not know as marks keep their order, and others do not.
    parts = [
        "e",
        "\u0301",
        "\u0323",
        "\u0897",
        "\U00010efc",
        "\U0001e4ee",
        "\u0344",
        "\u212b",
        "\uac00",
        "\u11a8",
        " the",
    ]
    drawn = random.Random(3)
    changed = 0
    for number in range(N_TEXTS):
        text = any_text(drawn, number) + "".join(drawn.choices(parts, k=drawn.randrange(8)))
        assert tokenizer.encode(text).tolist() == peer.encode(text), text
        changed += unicodedata.normalize("NFC", text) != text
    assert changed > 50
    assert unicodedata.unidata_version in str(tokenizer.facts()["rewriting"])
    assert pickle.loads(pickle.dumps(tokenizer)).fingerprint == tokenizer.fingerprint


def test_the_tables_of_another_python_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    peer = made()
    peer.__class__ = Qwen2Tokenizer
    here = tokdfa.load(peer)
    data = pickle.dumps(here)
    monkeypatch.setattr(unicodedata, "unidata_version", "99.0.0")
    assert tokdfa.load(peer).fingerprint_parts["normalizer"] != here.fingerprint_parts["normalizer"]
    with pytest.raises(UnsupportedFeatureError, match="Unicode tables of another Python"):
        pickle.loads(data)


def test_the_classes_are_those_of_the_module_regex() -> None:
    tokenizer = tokdfa.load(made())
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    assert tokenizer.pretokenizer is not None
    assert tokenizer.pretokenizer.splitting.table.partition("==")[0] == "regex"


def not_special(peer: GPT2Tokenizer) -> None:
    peer.added_tokens_decoder[901] = SimpleNamespace(content="<x>", special=False)


def with_a_lacking_byte(peer: GPT2Tokenizer) -> None:
    del peer.encoder[SPELLED[7]]


def with_a_shared_id(peer: GPT2Tokenizer) -> None:
    peer.encoder[SPELLED[7]] = peer.encoder[SPELLED[8]]


def with_the_id_of_a_token(peer: GPT2Tokenizer) -> None:
    peer.added_tokens_decoder[5] = SimpleNamespace(content="<x>", special=True)


def with_flags(peer: GPT2Tokenizer) -> None:
    peer.pat = regex.compile(PATTERN, regex.IGNORECASE)


def with_a_pattern_of_re(peer: GPT2Tokenizer) -> None:
    import re

    peer.pat = re.compile(r"\w+|\W+")


def with_another_alphabet(peer: GPT2Tokenizer) -> None:
    peer.byte_encoder[7] = "x"


def with_equal_ranks(peer: GPT2Tokenizer) -> None:
    first, second, *_ = peer.bpe_ranks
    peer.bpe_ranks[first] = peer.bpe_ranks[second]


def of_its_own(peer: GPT2Tokenizer) -> None:
    class Own(GPT2Tokenizer):
        def bpe(self, token: str) -> list[str]:
            return [token]

    peer.__class__ = Own


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (not_special, "an added token that is not special, which is found in texts, is not modelled: '<x>'"),
        (with_a_lacking_byte, "bytes without a token, which become the unknown token"),
        (with_a_shared_id, "two tokens share an id, or have none"),
        (with_the_id_of_a_token, "a special token has the id of a token"),
        (with_flags, "flags of the pattern are not modelled"),
        (with_a_pattern_of_re, "a pattern that is not one of the module regex"),
        (with_another_alphabet, "a byte alphabet that is not GPT-2's is not modelled"),
        (with_equal_ranks, "two rules with one priority are not modelled"),
        (of_its_own, "a tokenizer in Python whose method bpe may do something else than GPT-2's"),
    ],
)
def test_what_is_more_is_refused(change: Callable[[GPT2Tokenizer], None], message: str) -> None:
    peer = made()
    change(peer)
    with pytest.raises(UnsupportedFeatureError) as caught:
        tokdfa.load(peer)
    assert str(caught.value).startswith("<")
    assert message in str(caught.value)


def test_rules_on_which_rounds_differ_are_refused() -> None:
    # A part is made only after its rule: in rounds aaaaa becomes aa and aaa.
    rules = [(b"a", b"a"), (b"a", b"aa"), (b"aa", b"aaa"), (b"aa", b"a")]
    assert made(rules)._tokenize("a" * 5) != []
    with pytest.raises(UnsupportedFeatureError, match="merging in rounds, as this tokenizer does it, may differ"):
        tokdfa.load(made(rules))


ODD: list[Any] = [None, True, 0, -1, 2**24, 2**70, 1.5, "", "x", "\ud800", b"a", [], (), {}, ("a",), ("a", 1), object()]


def test_spoiled_parts_are_refused_or_read_exactly() -> None:
    read = 0
    for seed in range(400):
        drawn = random.Random(seed)
        peer = made()
        name = drawn.choice(["encoder", "bpe_ranks", "byte_encoder", "added_tokens_decoder"])
        part = getattr(peer, name)
        if drawn.random() < 0.2:
            setattr(peer, drawn.choice([name, "pat", "add_prefix_space"]), drawn.choice(ODD))
        else:
            odd = drawn.choice([odd for odd in ODD if odd.__hash__ is not None])
            key = drawn.choice([*part, odd])
            part.pop(key, None) if drawn.random() < 0.5 else part.update({key: drawn.choice([*ODD, *part.values()])})
        try:
            tokenizer = tokdfa.load(peer)
        except TokdfaError as error:
            if "\n" in str(error):
                raise
            continue
        read += 1
        for text in (" the then", "é aé\x00", " aaaa't"):
            assert tokenizer.encode(text).tolist() == peer.encode(text), seed
    assert read > 5
