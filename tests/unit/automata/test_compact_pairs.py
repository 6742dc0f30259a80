"""The pair test over streams: both ways of doing it, against the pair test one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import proper_dictionaries
from tokdfa import CompactTokenDFA, Dictionary
from tokdfa.automata.compact import ALONE, CUT, NO_TOKEN, PairTest, Tuning
from tokdfa.base.arrays import checked_ids, id_array
from tokdfa.base.errors import TokenStreamError
from tokdfa.tokenizers.loading import default_dictionary

WALK, TABLE = Tuning(patience=10**9), Tuning(patience=0)
NO_MEMO, SMALL_MEMO = replace(WALK, memo=0), replace(WALK, memo=2)
both_ways = pytest.mark.parametrize(
    "tuning", [WALK, NO_MEMO, SMALL_MEMO, TABLE], ids=["walk", "no memo", "small memo", "table"]
)


def first_forbidden(test: PairTest, ids: object, behind: int | None = None, chunk: int = 100) -> int | None:
    """Return the first index of an id that may not follow the previous id, or None. Ids are tested chunk by chunk."""
    array = id_array(ids)  # type: ignore[arg-type]
    for begin in range(0, len(array), chunk):
        part = checked_ids(array[begin : begin + chunk], test.n_ids, first=begin)
        forbidden = test.forbidden(part, behind)
        if forbidden.any():
            return begin + int(np.argmax(forbidden))
        behind = int(part[-1])
    return None


def one_by_one(automaton: CompactTokenDFA, numbers: list[int], ids: list[int], behind: int | None) -> list[bool]:
    live = [token if token < 0 or automaton.state_of(token) is not None else NO_TOKEN for token in numbers]
    before = CUT if behind is None else live[behind]
    marks = []
    for token in (live[id] for id in ids):
        beside = token in (NO_TOKEN, ALONE) or (before == ALONE and token != CUT)
        marks.append(beside or (token >= 0 and before >= 0 and not automaton.allows(before, token)))
        before = token
    return marks


@both_ways
@given(st.data(), proper_dictionaries(max_rules=12))
def test_streams_with_cuts_and_gaps(tuning: Tuning, data: st.DataObject, rules: Dictionary) -> None:
    automaton = CompactTokenDFA(rules)
    numbers = data.draw(st.permutations([*range(len(rules.alphabet)), CUT, NO_TOKEN, NO_TOKEN, ALONE, ALONE]))
    id = st.integers(0, len(numbers) - 1)
    ids = data.draw(st.lists(id, max_size=40))
    behind = data.draw(st.none() | id)
    expected = one_by_one(automaton, numbers, ids, behind)
    test = PairTest(automaton, numbers, tuning=tuning)
    assert test.forbidden(checked_ids(ids, test.n_ids), behind).tolist() == expected
    assert first_forbidden(test, ids, behind) == (expected.index(True) if True in expected else None)


@both_ways
def test_what_stands_alone_may_stand_beside_a_cut(tuning: Tuning) -> None:
    numbers = [0, 1, CUT, NO_TOKEN, ALONE]
    test = PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab")), numbers, tuning=tuning)
    for left, before in enumerate(numbers):
        for right, after in enumerate(numbers[2:], 2):
            expected = after in (NO_TOKEN, ALONE) or (before == ALONE and after != CUT)
            assert test.forbidden(checked_ids([right], 5), left).tolist() == [expected], (before, after)


def test_table_and_walk_agree_on_a_real_dictionary() -> None:
    automaton = CompactTokenDFA(default_dictionary())
    random = np.random.default_rng(0)
    ids = random.integers(0, len(automaton.alphabet), size=200_000, dtype=np.int32)
    # Of few tokens most pairs come again, as in a text.
    ids = np.concatenate((ids, random.choice(ids[:400], size=200_000)))
    walked = PairTest(automaton, tuning=WALK).forbidden(ids)
    for tuning in (TABLE, NO_MEMO, SMALL_MEMO):
        assert np.array_equal(PairTest(automaton, tuning=tuning).forbidden(ids), walked)
    assert 0 < walked.mean() < 1
    for place in random.integers(1, len(ids), size=500).tolist():
        assert walked[place] != automaton.allows(int(ids[place - 1]), int(ids[place]))


@both_ways
def test_first_forbidden_across_chunks(tuning: Tuning) -> None:
    automaton = CompactTokenDFA(Dictionary([("a", "b")], "ab"))
    a, b, ab = range(3)
    for chunk in (1, 2, 3, 7):
        test = PairTest(automaton, tuning=tuning)
        for length in range(12):
            assert first_forbidden(test, np.array([ab] * length + [a, b, a, b]), chunk=chunk) == length + 1
            assert first_forbidden(test, [b] * length, chunk=chunk) is None
    assert first_forbidden(test, [b], behind=a) == 0
    assert first_forbidden(test, [], behind=a) is None


def test_a_memo_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="power of two"):
        PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab")), tuning=replace(WALK, memo=3)).forbidden(
            np.array([0, 1], dtype=np.int32)
        )


def test_long_rows_are_walked() -> None:
    tuning = Tuning(patience=0, max_table_entries=0)
    test = PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab")), tuning=tuning)
    assert first_forbidden(test, [0, 1]) == 1
    assert test.struct_for(10) is test._by_history


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0, -1], "token 1: negative id: -1"),
        ([0, 1, 7], "token 2: id out of range: 7"),
        (np.array([2**63], dtype=np.uint64), "out of range: 9223372036854775808"),
        ([2**70], "ids must be integers"),
        ([0.5], "ids must be integers"),
        ([True], "ids must be integers"),
        ([[0]], "one dimension"),
        (3, "one dimension"),
        ([[0], [0, 1]], "integers in one dimension"),
        (["a"], "ids must be integers"),
    ],
)
def test_what_is_not_ids_is_refused(ids: object, message: str) -> None:
    with pytest.raises(TokenStreamError, match=message):
        first_forbidden(PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab"))), ids)


def test_bad_ids_are_placed_in_the_stream() -> None:
    test = PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab")))
    with pytest.raises(TokenStreamError, match=r"^token 9: id out of range: 3"):
        first_forbidden(test, [0] * 9 + [3], chunk=4)
