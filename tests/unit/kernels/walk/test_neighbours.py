"""Facts about pairs of ids, and the parts that may not be canonical, compared with their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.base.arrays import Int32Array, Uint8Array
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk.neighbours import (
    BYTE,
    NOT_CACHED,
    SPECIAL,
    are_broken,
    by_characters,
    byte_runs,
    characters_of_runs,
    cuts_between,
    doubtful_parts,
    empty_cache,
    fill,
    find_inner_pairs,
    neighbours,
    settle_beside_specials,
    settle_between_bytes,
)

DOUBT, FINE, CUT = range(3)
BYTES = [*b"a\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe2\xed\xef\xf0\xf4\xf5\xff"]
# Ids of bytes, and others; some of these are blank and one is special.
N_OTHERS, N_IDS = 6, len(BYTES) + 6
BYTE_OF = np.array([*BYTES, *[-1] * N_OTHERS], dtype=np.int32)
IS_BLANK = np.arange(N_IDS) >= N_IDS - 2
IS_SPECIAL = np.arange(N_IDS) == len(BYTES)
EDGE = np.where(BYTE_OF >= 0x80, -1, np.arange(N_IDS) + 1).astype(np.int32)
IDS = st.lists(st.integers(0, N_IDS - 1), max_size=12).map(lambda ids: np.array(ids, dtype=np.int32))
ALONE = st.lists(st.integers(0, 1), min_size=N_IDS, max_size=N_IDS).map(lambda found: np.array(found, dtype=np.uint8))
STATES = st.lists(st.sampled_from([DOUBT, FINE, CUT, CUT]), min_size=12, max_size=12)


def tables(alone: Uint8Array | None = None, *, touches: bool = False) -> Struct:
    alone = np.zeros(N_IDS, dtype=np.uint8) if alone is None else alone
    return neighbours(EDGE, EDGE, IS_SPECIAL, IS_BLANK, BYTE_OF, alone, touches=touches)


def states_of(ids: Int32Array, states: list[int]) -> Uint8Array:
    return np.array(states[: max(len(ids) - 1, 0)], dtype=np.uint8)


def cut_one_by_one(ids: list[int], states: list[int], *, begins: bool) -> list[bool]:
    """Return whether the text is cut after each id but the last."""
    found = []
    for at, state in enumerate(states):
        is_left_out = IS_BLANK[ids[at]] and (IS_BLANK[ids[at - 1]] if at else begins)
        found.append(bool(state == CUT and not is_left_out))
    return found


@given(IDS, STATES, ALONE, st.booleans())
def test_doubtful_parts_are_between_cuts(ids: Int32Array, drawn: list[int], alone: Uint8Array, begins: bool) -> None:
    states, own = states_of(ids, drawn), ids.tolist()
    cut = cut_one_by_one(own, states.tolist(), begins=begins)
    assert cuts_between(tables(), ids, states, begins=begins).tolist() == cut
    bounds = [0, *(at + 1 for at, is_cut in enumerate(cut) if is_cut), len(own)]
    expected = []
    for low, high in pairwise(bounds):
        in_doubt = any(not alone[id] for id in own[low:high]) or DOUBT in states[low : max(high - 1, low)].tolist()
        if in_doubt or high == len(own) or (begins and not low):
            expected.append([low, high])
    found = doubtful_parts(tables(alone), ids, states, begins=begins)
    assert found is not None
    assert found.tolist() == expected


@given(IDS, STATES, st.booleans())
def test_bytes_and_special_tokens_leave_less_known(ids: Int32Array, drawn: list[int], touches: bool) -> None:
    states, own = states_of(ids, drawn), ids.tolist()
    expected = [
        FINE if state == CUT and BYTE_OF[left] >= 0 and BYTE_OF[right] >= 0 else state
        for left, right, state in zip(own, own[1:], states.tolist(), strict=False)
    ]
    settle_between_bytes(tables(), ids, states)
    assert states.tolist() == expected
    expected = [
        DOUBT if (IS_SPECIAL[left] or IS_SPECIAL[right]) and (touches or state == FINE) else state
        for left, right, state in zip(own, own[1:], states.tolist(), strict=False)
    ]
    settle_beside_specials(tables(touches=touches), ids, states)
    assert states.tolist() == expected


@given(IDS, st.lists(st.tuples(st.integers(0, N_IDS - 1), st.integers(0, N_IDS - 1), st.integers(0, 2)), max_size=30))
def test_values_are_those_of_the_cache(ids: Int32Array, known: list[tuple[int, int, int]]) -> None:
    left, right, values = np.array(known, dtype=np.int64).reshape(-1, 3).astype(np.int32).T.copy()
    cache, values = empty_cache(12), values.astype(np.uint8)
    fill(cache, left, right, values)
    pairs = {(one, other): value for one, other, value in known}
    own = [*zip(ids.tolist(), ids[1:].tolist(), strict=False)]
    states = np.full(len(own), FINE, dtype=np.uint8)
    n_missing = find_inner_pairs(cache, ids, states)
    assert states.tolist() == [pairs.get(pair, NOT_CACHED) for pair in own]
    assert n_missing == sum(pair not in pairs for pair in own)
    characters = empty_cache(12)
    fill(characters, EDGE[left], EDGE[right], values)
    pairs = {(int(EDGE[one]), int(EDGE[other])): value for one, other, value in known}
    states, n_missing, seen = by_characters(tables(), characters, ids)
    expected = [pairs.get((int(EDGE[one]), int(EDGE[other])), NOT_CACHED) for one, other in own]
    assert n_missing == expected.count(NOT_CACHED)
    whole = np.array(expected, dtype=np.uint8)
    settle_between_bytes(tables(), ids, whole)
    assert states.tolist() == whole.tolist()
    assert (bool(seen & BYTE), bool(seen & SPECIAL)) == (bool((BYTE_OF[ids] >= 0).any()), bool(IS_SPECIAL[ids].any()))


def character_one_by_one(ids: list[int], is_all: bool, forwards: bool) -> int:
    """Return the character at the end of a run of byte tokens that the first id is at; -1 if more ids may decide."""
    data: list[int] = []
    for id in ids[:4]:
        if BYTE_OF[id] < 0:
            return 0xFFFD
        data.append(int(BYTE_OF[id]))
        try:
            return ord(bytes(data if forwards else data[::-1]).decode("utf-8"))
        except UnicodeDecodeError:
            continue
    return 0xFFFD if is_all or len(data) == 4 else -1


@given(IDS, st.booleans(), st.booleans())
def test_runs_are_read_byte_by_byte(ids: Int32Array, is_all: bool, forwards: bool) -> None:
    own, is_byte = ids.tolist(), BYTE_OF[ids] >= 0
    runs = byte_runs(tables(), ids).tolist()
    assert [at for begin, end, _ in runs for at in range(begin, end + 1)] == np.flatnonzero(is_byte).tolist()
    assert all(begin > before + 1 for (_, before, _), (begin, _, _) in pairwise(runs))
    assert all(bool(is_ascii) == all(BYTE_OF[own[begin : end + 1]] < 0x80) for begin, end, is_ascii in runs)
    places = np.flatnonzero(is_byte)
    found = characters_of_runs(tables(), ids, places, is_all=is_all, forwards=forwards).tolist()
    sides = [own[place:] if forwards else own[place::-1] for place in places.tolist()]
    assert found == [character_one_by_one(side, is_all, forwards) for side in sides]


@given(st.lists(st.lists(st.sampled_from([*(bytes([byte]) for byte in BYTES), "é".encode(), "中".encode()]))))
def test_parts_that_are_not_utf8_are_marked(parts: list[list[bytes]]) -> None:
    whole = [b"".join(part) for part in parts]
    ends = np.cumsum([0, *map(len, whole)])
    bounds = np.column_stack((ends[:-1], ends[1:]))
    expected = [part.decode("utf-8", "ignore").encode() != part for part in whole]
    assert are_broken(b"".join(whole), bounds).tolist() == expected


def test_an_id_of_which_nothing_is_known_is_said_to_be_so() -> None:
    ids = np.arange(N_IDS, dtype=np.int32)
    states = np.zeros(N_IDS - 1, dtype=np.uint8)
    assert doubtful_parts(tables(np.full(N_IDS, 2, dtype=np.uint8)), ids, states, begins=False) is None


def test_rows_have_as_much_room_as_they_need() -> None:
    ids = np.tile(np.array([0, N_IDS - 1], dtype=np.int32), 400)
    states = np.full(len(ids) - 1, CUT, dtype=np.uint8)
    assert len(byte_runs(tables(), ids)) == 400
    parts = doubtful_parts(tables(), ids, states, begins=True)
    assert parts is not None
    assert parts.tolist() == [[at, at + 1] for at in range(800)]


def test_what_does_not_fit_is_refused() -> None:
    ids, states = np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.uint8)
    with pytest.raises(ValueError, match="a state for each id"):
        settle_between_bytes(tables(), ids, states)
    with pytest.raises(ValueError, match="an entry for each id"):
        neighbours(EDGE, EDGE, IS_SPECIAL, IS_BLANK, BYTE_OF[:3], states, touches=False)
    with pytest.raises(ValueError, match="the places must"):
        characters_of_runs(tables(), ids, np.array([3]), is_all=True, forwards=True)
    with pytest.raises(ValueError, match="the parts must"):
        are_broken(b"abc", np.array([[2, 4]]))
