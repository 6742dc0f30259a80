"""Ids in arrays of any kind are read with their exact values, or refused before a kernel sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.base.arrays import checked_ids
from tokdfa.base.errors import TokenStreamError
from tokdfa.tokenizers.tokenizer import Tokenizer

DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
TEXT = "ab abc aab bca"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    place = tmp_path_factory.mktemp("tokenizer") / "cl100k_base.tiktoken"
    letters = [bytes([letter]) for letter in b" abc"]
    rest = [bytes([byte]) for byte in range(256) if byte not in b" abc"]
    words = [*letters, b"ab", b"abc", b" a", *rest]
    place.write_bytes(tiktoken_lines({word: rank for rank, word in enumerate(words)}))
    return tokdfa.load(place, pretokenizer="none")


def arrays(ids: list[int]) -> Iterator[object]:
    """The same ids in all kinds of arrays."""
    yield ids
    yield tuple(ids)
    for dtype in DTYPES:
        for order in "<>":
            array = np.array(ids, dtype=np.dtype(dtype).newbyteorder(order))
            yield array
            apart = np.zeros(3 * len(ids), dtype=array.dtype)
            apart[1::3] = array
            yield apart[1::3]
            yield array[::-1].copy()[::-1]
            yield np.frombuffer(b"x" + array.tobytes() + b"x", dtype=np.uint8)[1:-1].view(array.dtype)
            read_only = array.copy()
            read_only.setflags(write=False)
            yield read_only


def answers(tokenizer: Tokenizer, ids: object) -> list[object]:
    """All that is asked of ids."""
    verdict = tokenizer.validate(ids)
    return [
        (bool(verdict), verdict.tokens, verdict.index, verdict.ids, verdict.canonical_ids),
        *(tokenizer.search("ab|c+", ids, wanted=wanted).rows.tolist() for wanted in ("longest", "first", "all")),
        tokdfa.Searcher(tokenizer, ["ab", "bc"]).search(ids).rows.tolist(),
        tokenizer.decode(ids),
        tokenizer.decode_bytes(ids),
    ]


@pytest.mark.parametrize("spoiled", [False, True])
def test_ids_are_the_same_in_all_arrays(tokenizer: Tokenizer, spoiled: bool) -> None:
    ids = tokenizer.encode(TEXT).tolist()
    assert max(ids) < 128
    ids = [*ids, 1, 2] if spoiled else ids
    expected = answers(tokenizer, ids)
    assert expected[0][0] is not spoiled
    assert expected[-2] == TEXT + "ab" * spoiled
    assert len(expected[1]) == 5 + spoiled
    for array in arrays(ids):
        assert answers(tokenizer, array) == expected


def test_kernels_get_aligned_arrays(tokenizer: Tokenizer) -> None:
    for array in arrays([3, 1, 2]):
        checked = checked_ids(array, 10)
        assert checked.tolist() == [3, 1, 2]
        assert checked.dtype == np.int32
        assert checked.flags.c_contiguous
        assert checked.flags.aligned


@pytest.mark.parametrize("dtype", [*DTYPES, float, bool, object])
def test_no_ids_of_any_type_are_no_ids(tokenizer: Tokenizer, dtype: type) -> None:
    none = answers(tokenizer, [])
    assert none[0][:2] == (True, 0)
    assert none[1:] == [[], [], [], [], "", b""]
    assert answers(tokenizer, np.zeros(0, dtype=dtype)) == none
    assert answers(tokenizer, np.zeros(0, dtype=dtype)[::2]) == none


# Integers that are not the id of any token: decoding refuses them, and validation reports them as unknown.
UNKNOWN = {"negative", "large", "larger than 32 bits", "larger than 63 bits"}

REFUSED = {
    "negative": np.array([1, -1]),
    "large": np.array([1, 300]),
    "larger than 32 bits": np.array([1, 2**32 + 1]),
    "larger than 63 bits": np.array([1, 2**63 + 1], dtype=np.uint64),
    "larger than 64 bits": [1, 2**64],
    "truth values": np.array([True, False]),
    "a list of truth values": [True, False],
    "floats": np.array([1.0]),
    "objects": np.array([1, 2], dtype=object),
    "durations": np.array([1, 2], dtype="m8[s]"),
    "two dimensions": np.zeros((2, 2), dtype=int),
    "a number": 1,
    "a text": "ab",
    "bytes": b"ab",
    "nothing": None,
    "masked": np.ma.array([1, 2], mask=[0, 1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_ids_is_refused_by_all(tokenizer: Tokenizer, name: str) -> None:
    ids = REFUSED[name]
    asks: list[Callable[[Any], Any]] = [
        tokenizer.decode,
        tokenizer.decode_bytes,
        lambda ids: tokenizer.search("a", ids),
        lambda ids: tokenizer.search("a", ids, wanted="all"),
    ]
    if name in UNKNOWN:
        (violation,) = tokenizer.validate(ids, all=True).violations
        assert (violation.kind, violation.index, violation.ids) == ("id-out-of-range", 1, (int(ids[1]),))
    else:
        asks.append(tokenizer.validate)
    for ask in asks:
        with pytest.raises(TokenStreamError):
            ask(ids)
