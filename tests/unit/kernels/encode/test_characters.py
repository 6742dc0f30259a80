"""Pieces of characters: where they are cut, and their ids, next to definitions in plain Python."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import random_files
from tests.support.tokenizer_files import as_bytes
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.kernels.encode.characters import characters_of, cut_pieces
from tokdfa.kernels.encode.events import BEGINS, EVENT_BITS
from tokdfa.kernels.merging.merging import pair_table
from tokdfa.tokenizers.encoding.piece_encoder import PieceEncoder
from tokdfa.tokenizers.encoding.piece_ids import PieceIds

LETTERS = "aé中😀▁ x\n"
UNKNOWN, FIRST_BYTE = 99, 1000
NONE = np.zeros(0, dtype=np.int32)


def cuts_by_definition(text: str, known: dict[str, int], kind: str, inner: set[tuple[int, int]]) -> list[int]:
    """The offsets in bytes at which no token, and no fused symbol, can have both sides."""

    def symbols(character: str) -> list[int]:
        if character in known:
            return [known[character]]
        if kind == "bytes":
            return [FIRST_BYTE + byte for byte in character.encode()]
        return [UNKNOWN] if kind in ("unknown", "fused") else [-1]

    found, at = [0], 0
    for left, right in pairwise(text):
        at += len(left.encode())
        pair = symbols(left)[-1], symbols(right)[0]
        joined = pair in inner or min(pair) < 0 or (kind == "fused" and pair == (UNKNOWN, UNKNOWN))
        if not joined:
            found.append(at)
    return found


def test_pieces_are_cut_where_nothing_joins_the_symbols() -> None:
    drawn = random.Random(1)
    n_cut = n_joined = 0
    for _ in range(400):
        kind = drawn.choice(["bytes", "unknown", "fused", "refused"])
        known = {letter: number for number, letter in enumerate(drawn.sample(LETTERS, 4))}
        symbols = [*known.values(), UNKNOWN, *(FIRST_BYTE + byte for byte in "é中x".encode())]
        inner = {(drawn.choice(symbols), drawn.choice(symbols)) for _ in range(drawn.randrange(12))}
        tables = characters_of(
            {ord(letter): number for letter, number in known.items()},
            np.arange(FIRST_BYTE, FIRST_BYTE + 256, dtype=np.int32) if kind == "bytes" else None,
            UNKNOWN if kind in ("unknown", "fused") else None,
            kind == "fused",
            np.array(sorted(left << 32 | right for left, right in inner), dtype=np.int64),
            pair_table(NONE, NONE, NONE, NONE),
            np.arange(2000, dtype=np.int32),
        )
        pieces = ["".join(drawn.choices(LETTERS, k=drawn.randrange(1, 9))) for _ in range(drawn.randrange(1, 4))]
        bounds = np.cumsum([0, *(len(piece.encode()) for piece in pieces)])
        begun, firsts = cut_pieces(tables, "".join(pieces).encode(), bounds)
        expected = [cuts_by_definition(piece, known, kind, inner) for piece in pieces]
        offsets = [int(start) + at for start, cuts in zip(bounds, expected, strict=False) for at in cuts]
        assert (begun[:-1] >> EVENT_BITS).tolist() == offsets
        assert set((begun[:-1] & ((1 << EVENT_BITS) - 1)).tolist()) == {BEGINS}
        assert begun[-1] >> EVENT_BITS == bounds[-1]
        assert firsts.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        n_cut += len(offsets) - len(pieces)
        n_joined += sum(map(len, pieces)) - len(offsets)
    assert min(n_cut, n_joined) > 500


def in_python(tokenizer: Any) -> PieceIds:
    """The same function without the compiled loop: symbols in lists, merged one piece at a time."""
    twin = PieceIds(tokenizer.piece_ids._contents)
    twin.__dict__["_characters"] = None
    return twin


def test_ids_are_those_of_merging_each_piece_as_a_whole() -> None:
    n_compiled = n_unknown = n_refused = 0
    for seed in range(150):
        drawn = random.Random(seed)
        try:
            tokenizer: Any = tokdfa.load(as_bytes(random_files.character_file(drawn)))
        except UnsupportedFeatureError:
            continue
        compiled, plain = tokenizer.piece_ids, in_python(tokenizer)
        if compiled.character_tables is None:
            continue
        n_compiled += 1
        for _ in range(8):
            pieces = [random_files.text(drawn) for _ in range(drawn.randrange(4))] + drawn.choice([[], ["", "a" * 600]])
            found, expected = answer(compiled, pieces), answer(plain, pieces)
            assert found == expected
            n_refused += isinstance(expected, str)
            n_unknown += any(ord(symbol) not in _known(compiled) for piece in pieces for symbol in piece)
    assert n_compiled > 40
    assert min(n_unknown, n_refused) > 20


def answer(piece_ids: PieceIds, pieces: list[str]) -> tuple[list[int], list[int]] | str:
    try:
        encoded = piece_ids.encode(pieces)
    except AlphabetError as error:
        return str(error)
    return encoded.ids.tolist(), encoded.offsets.tolist()


def test_an_unknown_character_whose_byte_has_no_symbol_is_refused() -> None:
    bytes_of = np.arange(FIRST_BYTE, FIRST_BYTE + 256, dtype=np.int32)
    bytes_of[ord("x")] = -1
    nothing = np.zeros(0, dtype=np.int64)
    ids = np.arange(2000, dtype=np.int32)
    tables = characters_of({ord("a"): 0}, bytes_of, None, False, nothing, pair_table(NONE, NONE, NONE, NONE), ids)
    encoder = PieceEncoder.of_characters(tables, ids)
    assert encoder.encode(b"aya", np.array([0, 3])).ids.tolist() == [0, FIRST_BYTE + ord("y"), 0]
    with pytest.raises(AlphabetError, match="piece 1: the symbol is not in the base alphabet: b'axa'"):
        encoder.encode(b"aaxa", np.array([0, 1, 4]))


def _known(piece_ids: PieceIds) -> set[int]:
    return {ord(symbol) for symbol in piece_ids._numbers if len(symbol) == 1}
