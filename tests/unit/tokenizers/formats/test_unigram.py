"""Files of Unigram tokenizers that are spoiled: each is refused with a place, or read as its library reads it."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import unigrams
from tests.support.editing import edited_bytes
from tests.support.seeds import seeds
from tokdfa.base.errors import AlphabetError, TokdfaError

TEXTS = ["abba", "", "xab a", "\u00e9\u2581a b", "<unk>", "a" * 40]
FIELDS: dict[str, Any] = {
    "version": "1.0",
    "added_tokens": [],
    "decoder": {"type": "Fuse"},
    "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5], ["b", -2], ["ab", -2.25]]},
}


def changed(**model: Any) -> bytes:
    return json.dumps({**FIELDS, "model": {**FIELDS["model"], **model}}).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(vocab=[]), r"\$\.model\.vocab: the vocabulary has no pieces"),
        (changed(vocab={"a": 1}), r"\$\.model\.vocab: an array is expected"),
        (changed(vocab=[["a", 1], ["b"]]), r"\$\.model\.vocab\[1\]: a piece and its score are expected"),
        (changed(vocab=[["a", 1], [3, 1]]), r"\$\.model\.vocab\[1\]: a piece and its score are expected"),
        (changed(vocab=[["a", True]]), r"\$\.model\.vocab\[0\]\[1\]: a number is expected: True"),
        (changed(vocab=[["a", "1"]]), r"\$\.model\.vocab\[0\]\[1\]: a number is expected"),
        (changed(vocab=[["a", 1e31]]), r"\$\.model\.vocab\[0\]\[1\]: a score must be a number from -1e\+30 to 1e\+30"),
        (changed().replace(b"-2.25", b"1e999"), r"\$\.model\.vocab\[3\]\[1\]: a score must be .*: inf"),
        (changed().replace(b"-2.25", b"NaN"), "not JSON: NaN is not JSON"),
        (changed(vocab=[["a", 1], ["b", 1], ["a", 2]]), r"\$\.model\.vocab\[2\]: a duplicate piece: 'a'"),
        (changed(unk_id=4), r"\$\.model\.unk_id: the id of the unknown piece is that of no piece: 4"),
        (changed(unk_id=-1), r"\$\.model\.unk_id: the id of the unknown piece is that of no piece: -1"),
        (changed(unk_id="0"), r"\$\.model\.unk_id: an integer is expected"),
        (changed(byte_fallback=1), r"\$\.model\.byte_fallback: true or false is expected"),
    ],
)
def test_refused_with_the_place(data: bytes, message: str) -> None:
    with pytest.raises(TokdfaError, match=message):
        tokdfa.load(data)


def test_an_empty_piece_and_no_unknown_one() -> None:
    tokenizer = tokdfa.load(changed(vocab=[["", -1], ["a", -1]], unk_id=None))
    assert tokenizer.encode("aa").tolist() == [1, 1]
    with pytest.raises(AlphabetError, match="a character that is no piece, and there is no unknown piece: 'b'"):
        tokenizer.encode("ab")


ODD_WORDS = [b"1e999", b"-0", b"null", b"9" * 30, b'""', b"[]", b".", b",", b"{", b"}", b" ", b"\x00", b"\xff", b"\\"]


def assert_json_agrees(n: int, seed: int) -> Counter[str]:
    from tokenizers import Tokenizer

    drawn, counts = random.Random(seed), Counter[str]()
    for _ in range(n):
        data = edited_bytes(drawn, changed(byte_fallback=False), ODD_WORDS)
        try:
            tokenizer = tokdfa.load(data, format="tokenizer.json")
        except TokdfaError as error:
            counts["refused" if "\n" not in str(error) else "refused on several lines"] += 1
            continue
        peer = Tokenizer.from_str(data.decode())
        counts["read"] += 1
        for text in TEXTS:
            try:
                expected = peer.encode(text, add_special_tokens=False).ids
            except Exception:
                with pytest.raises(AlphabetError, match="a character that is no piece"):
                    tokenizer.encode(text)
                continue
            assert tokenizer.encode(text).tolist() == expected, data
    return counts


def assert_models_agree(n: int, seed: int) -> Counter[str]:
    import sentencepiece

    drawn, counts = random.Random(seed), Counter[str]()
    whole = unigrams.trained_by_sentencepiece("identity", False, 0)
    for _ in range(n):
        at = drawn.randrange(len(whole))
        data = bytearray(whole)
        data[at : at + drawn.randrange(3)] = drawn.randbytes(drawn.randrange(3))
        try:
            tokenizer = tokdfa.load(bytes(data), format="sentencepiece")
        except TokdfaError as error:
            counts["refused" if "\n" not in str(error) else "refused on several lines"] += 1
            continue
        peer = sentencepiece.SentencePieceProcessor(model_proto=bytes(data))
        counts["read"] += 1
        for text in TEXTS:
            assert tokenizer.encode(text).tolist() == peer.encode(text), (at, bytes(data[at - 4 : at + 8]))
    return counts


def test_spoiled_files() -> None:
    for counts in (assert_json_agrees(150, 1), assert_models_agree(40, 1)):
        assert counts.keys() == {"refused", "read"}
        assert min(counts.values()) > 2


@pytest.mark.slow
def test_many_spoiled_files(tally: Tally) -> None:
    for seed in seeds(10):
        print(assert_json_agrees(1000, seed), assert_models_agree(1000, seed))
    tally("loading", "spoiled inputs", 2000 * len(seeds(10)))
