"""Facts about pairs of tokens, against running one after the other; and blocks of tokens, byte by byte."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.searching import Plain, plain_automata, words_with_cuts
from tests.support.streams import Vocabulary
from tokdfa.base.arrays import Int32Array
from tokdfa.jobs.searching.plan import SearchPlan, Words
from tokdfa.kernels.search import search as kernels
from tokdfa.kernels.search.search import FINAL
from tokdfa.regex.finder import Wanted, finder

PATTERNS = [
    "a",
    "ab+",
    "[ab]+ a",
    "a{3}b?",
    r"\bab",
    "b|é+",
    "a[^b]{3}b",
    "(?:a|é){5,}",
    "[а-я]+b",
    "(?s)a.a",
    "x*b",
    " *a",
]
PIECES = [b"a", b"b", b" ", b"x", b"xyz", b"\xc3\xa9", b"\xc3", b"\xa9", b"ab", b"", b" ab", b"\xd0\xb0\xd0", b"\xd0"]
PIECES += [b"x" * 254, b"x" * 255, b" " * 300]

# The number of tokens in a block of the scan.
HEADER = Path(kernels.__file__).with_name("prefilter_scan.h").read_text(encoding="utf-8")
SCAN_BLOCK = 1 << int(re.findall(r"\bSCAN_BLOCK = 1 << (\d+)", HEADER)[0])


finder_of = cache(finder)


def after_rest(properties: list[int], entries: Int32Array, idle: int, before: int, after: int) -> tuple[int, int]:
    """Where an id leads after another accelerated one, and where from the idle state: -1 if something happens."""
    n_classes = entries.shape[1]
    first, second = int(entries[idle, properties[before] & 0xFFFF]), int(entries[idle, properties[after] & 0xFFFF])
    reached = int(entries[first // (4 * n_classes), properties[after] & 0xFFFF])
    return (-1 if first & 1 or reached & 1 else reached), (-2 if second & 1 else second)


def assert_glances_sound(properties: list[int], entries: Int32Array, idle: int, *, exactly: bool) -> tuple[int, int]:
    """The number of pairs known to be harmless, and of all that are: the same if the tables suffice."""
    n_states, n_classes = entries.shape
    codes, rows, second = kernels.prefilter_of(
        np.array(properties, np.int32), entries.reshape(-1), n_classes, n_states, idle
    )
    to_second = 4 * n_classes * second if second >= 0 else -3
    assert [int(code) >> 8 for code in codes] == [min(known >> 16, 255) for known in properties]
    known = of_all = 0
    for before, code in enumerate(codes.tolist()):
        entry = int(entries[idle, properties[before] & 0xFFFF])
        assert (code & 15 == 1) == (entry == 4 * n_classes * idle)
        if second >= 0 and not int(rows[32]) >> (code >> 4 & 15) & 1:
            assert int(entries[second, properties[before] & 0xFFFF]) == entry
            assert not entry & 1
        for after, other in enumerate(codes.tolist()):
            column = other >> 4 & 15
            is_accelerated, is_led = (not int(rows[offset + (code & 15)]) >> column & 1 for offset in (0, 16))
            reached, expected = after_rest(properties, entries, idle, before, after)
            assert reached == expected or not is_accelerated
            assert reached == to_second or not is_led
            is_harmless = reached in (expected, to_second) and expected >= 0
            assert (is_accelerated or is_led) == is_harmless or not exactly
            known += is_accelerated or is_led
            of_all += is_harmless
    return known, of_all


@given(plain_automata(), words_with_cuts().filter(bool))
def test_pairs_of_neighbours(plain: Plain, words: list[tuple[bytes, bool]]) -> None:
    text, forward = plain.spelled(words), plain.forward()
    properties, entries, n_classes = kernels.classes_of(text, forward, *kernels.token_effects(text, forward, 10_000))
    assert_glances_sound(properties.tolist(), entries.reshape(-1, n_classes), plain.idle, exactly=True)


@pytest.mark.parametrize(("n_states", "n_classes"), [(1, 1), (12, 30), (40, 90), (400, 500)])
def test_rows_and_columns_are_merged_where_there_are_too_many(n_states: int, n_classes: int) -> None:
    """Nothing active is then taken for accelerated, and much is still known."""
    dice = np.random.default_rng(n_states)
    usual = dice.integers(0, n_states, size=n_classes)
    targets = np.where(
        dice.random((n_states, n_classes)) < 0.97, usual, dice.integers(0, n_states, (n_states, n_classes))
    )
    happens = dice.random((n_states, n_classes)) < 0.02
    entries = (targets * 4 * n_classes + happens).astype(np.int32)
    properties = (np.arange(n_classes) | dice.integers(0, 1 << 15, n_classes) << 16).tolist()
    known, of_all = assert_glances_sound(properties, entries, 0, exactly=n_states == 1)
    assert known > 0.1 * of_all > 0 or n_states == 1


def place_of(at: Any, idle: int) -> tuple[int, ...]:
    """Where a search is; byte by byte the last idle token is not noted at the end of a chunk."""
    is_idle = at.state == idle and not at.pending
    return at.token, at.offset, at.state, at.position, is_idle or at.idle_token


@pytest.mark.parametrize("wanted", ["longest", "all"])
@given(
    st.sampled_from(PATTERNS),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=8),
    st.integers(0, 1 << 32),
    st.one_of(st.integers(0, 700), st.integers(2 * SCAN_BLOCK - 90, 2 * SCAN_BLOCK + 110)),
    st.booleans(),
)
def test_long_streams_as_byte_by_byte(
    wanted: Wanted, pattern: str, words: list[bytes], seed: int, n: int, is_even: bool
) -> None:
    """The same is found, and the search is at the same place after each chunk."""
    dice = np.random.default_rng(seed)
    weights = np.ones(len(words)) if is_even else 0.2 ** np.arange(len(words))
    ids = dice.choice(len(words), n, p=weights / weights.sum()).astype(np.int32)
    plan = SearchPlan(finder_of(pattern, wanted), Words.of(Vocabulary(words)), wants_all=wanted == "all", aligned=False)
    found: list[list[tuple[int, ...]]] = []
    for machine in (plan.bytewise, plan.tokenwise):
        assert bool(machine.pointer.moves.n_classes) == (machine is plan.tokenwise)
        search, steps = plan.begin(), []
        find = search.all if plan.wants_all else search.leftmost
        for stop in (n // 9, n // 4, n):
            for rows in find(machine, ids[:stop], FINAL if stop == n else 0):
                steps += [tuple(row) for row in rows.reshape(-1, 4).tolist()]
            steps.append(place_of(search.at, plan.forward.pointer.idle))
        found.append(steps)
    assert found[0] == found[1]


# Patterns, whether the second state is the idle one, and words. Many words lead to it: the last tokens of symbols.
# The first words spell a symbol.
SPLIT_SYMBOLS = [
    (r"\Bab", True, [b"\xd0", b"\xb0", b" ", b"ab", b"x"]),
    (r"\bab", False, [b"\xd0", b"\xb0", b" ", b"ab", b"x"]),
    (r"\w+ab\b", False, [b"\xd0", b"\xb0", b" ", b"ab", b"x"]),
    (r"\Bab", True, [b"\xd0", b"\xb0\xd0", b"\xb0", b"ab", b" "]),
    ("[а-я]b", False, [b"\xd0", b"\xb0", b"\xb0\xd0", b"b", b" "]),
    (r"\bab", False, [b"\xd0", b"\xb0", b"a", b"b", b" "]),
    (r"\Bab", True, [b"\xd0", b"\xb0", b"a", b"b", b" "]),
    (r"\Bab", True, [b"\xe0", b"\xb8", b"\xa1", b" ", b"ab", b"x"]),
    (r"\Bab", True, [b"\xe0", b"\xb8", b"\xa1", b"b", b"\xa1\xe0\xb8", b"a"]),
    (r"\Bab", False, [b"\xe0", b"\xb8", b"\xa1", b"abx", b"x", b" "]),
]


@pytest.mark.parametrize(("pattern", "is_idle", "words"), SPLIT_SYMBOLS)
@pytest.mark.parametrize("wanted", ["longest", "all"])
def test_symbols_of_several_tokens(wanted: Wanted, pattern: str, is_idle: bool, words: list[bytes]) -> None:
    """Once many tokens are active, those that complete a symbol are expected to; the matches stay the same."""
    plan = SearchPlan(finder_of(pattern, wanted), Words.of(Vocabulary(words)), wants_all=wanted == "all", aligned=False)
    dice = np.random.default_rng(len(pattern))
    moves, idle = plan.tokenwise.pointer.moves, plan.forward.pointer.idle
    assert (moves.second == idle) == is_idle
    n_led = 0
    symbol = next(list(range(n)) for n in (2, 3) if len(b"".join(words[:n]).decode(errors="ignore")) == 1)
    for n in (1, 33, SCAN_BLOCK - 1, SCAN_BLOCK, SCAN_BLOCK + 1, 30_000, *range(SCAN_BLOCK + 56, SCAN_BLOCK + 96, 3)):
        # Whole symbols most often, and now and then single tokens.
        ids = np.concatenate(
            [symbol if kind < 6 else dice.integers(0, len(words), 1) for kind in dice.integers(0, 9, n)]
        ).astype(np.int32)[:n]
        found: list[list[tuple[int, ...]]] = []
        for machine in (plan.bytewise, plan.tokenwise):
            search, steps = plan.begin(), []
            find = search.all if plan.wants_all else search.leftmost
            for stop in (n - n % SCAN_BLOCK, n):
                for rows in find(machine, ids[:stop], FINAL if stop == n else 0):
                    steps += [tuple(row) for row in rows.reshape(-1, 4).tolist()]
                n_led += search.at.leads if machine is plan.tokenwise else 0
                steps.append(place_of(search.at, idle))
            found.append(steps)
        assert found[0] == found[1]
    assert n_led >= 12


def test_the_buffer_is_large_enough_for_a_block() -> None:
    """Three rows of bits, with one for the token after the block; and where each group of 32 tokens begins."""
    plan = SearchPlan(finder_of("ab", "longest"), Words.of(Vocabulary([b"a"])), wants_all=False, aligned=False)
    assert plan.begin().at.n_buffer >= 3 * (SCAN_BLOCK // 64 + 1) + SCAN_BLOCK // 32 + 1


@pytest.mark.parametrize("wanted", ["longest", "all"])
def test_matches_across_tokens_at_every_place_of_a_group(wanted: Wanted) -> None:
    words = Words.of(Vocabulary([b"x", b"a", b"b"]))
    plan = SearchPlan(finder_of("ab", wanted), words, wants_all=wanted == "all", aligned=False)
    ids = np.zeros(33 * (2 * SCAN_BLOCK // 33 + 6), dtype=np.int32)
    ids[32::33], ids[33::33] = 1, 2
    search = plan.begin()
    find = search.all if plan.wants_all else search.leftmost
    # The block that is scanned begins after a token.
    assert not next(iter(find(plan.tokenwise, ids[:1], 0))).size
    found = np.concatenate([*find(plan.tokenwise, ids, FINAL)]).reshape(-1, 4)
    assert found[:, 0].tolist() == [*range(32, len(ids) - 1, 33)]
    assert (found[:, 2] == found[:, 0]).all()
    assert (found[:, 3] == found[:, 1]).all()
