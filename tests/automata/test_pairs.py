"""The pair test over streams: both ways of doing it, against the pair test one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.dictionaries import proper_dictionaries

from tokdfa import CompactTokenDFA, Dictionary
from tokdfa.arrays import checked_ids
from tokdfa.automata import pairs
from tokdfa.automata.pairs import CUT, NO_TOKEN, PairTest
from tokdfa.errors import TokenStreamError
from tokdfa.tokenizers.default import default_dictionary


@pytest.fixture(params=["walk", "table"])
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PATIENCE", 0 if request.param == "table" else 10**9)


def one_by_one(automaton: CompactTokenDFA, numbers: list[int], ids: list[int], behind: int | None) -> list[bool]:
    live = [token if token < 0 or automaton.state_of(token) is not None else NO_TOKEN for token in numbers]
    before = CUT if behind is None else live[behind]
    marks = []
    for token in (live[id] for id in ids):
        marks.append(token == NO_TOKEN or (token >= 0 and before >= 0 and not automaton.allows(before, token)))
        before = token
    return marks


@pytest.mark.usefixtures("patience")
@given(st.data(), proper_dictionaries(max_rules=12))
def test_streams_with_cuts_and_gaps(data: st.DataObject, rules: Dictionary) -> None:
    automaton = CompactTokenDFA(rules)
    numbers = data.draw(st.permutations([*range(len(rules.alphabet)), CUT, NO_TOKEN, NO_TOKEN]))
    id = st.integers(0, len(numbers) - 1)
    ids = data.draw(st.lists(id, max_size=40))
    behind = data.draw(st.none() | id)
    expected = one_by_one(automaton, numbers, ids, behind)
    test = PairTest(automaton, numbers)
    assert test.forbidden(checked_ids(ids, test.n_ids), behind).tolist() == expected
    assert test.first_forbidden(ids, behind) == (expected.index(True) if True in expected else None)


def test_table_and_walk_agree_on_a_real_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    automaton = CompactTokenDFA(default_dictionary())
    random = np.random.default_rng(0)
    ids = random.integers(0, len(automaton.alphabet), size=200_000, dtype=np.int32)
    monkeypatch.setattr(pairs, "PATIENCE", 10**9)
    walked = PairTest(automaton).forbidden(ids)
    monkeypatch.setattr(pairs, "PATIENCE", 0)
    assert np.array_equal(PairTest(automaton).forbidden(ids), walked)
    assert 0 < walked.mean() < 1
    for place in random.integers(1, len(ids), size=500).tolist():
        assert walked[place] != automaton.allows(int(ids[place - 1]), int(ids[place]))


@pytest.mark.usefixtures("patience")
def test_first_forbidden_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    test = PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab")))
    a, b, ab = range(3)
    for chunk in (1, 2, 3, 7):
        monkeypatch.setattr(pairs, "CHUNK", chunk)
        for length in range(12):
            assert test.first_forbidden(np.array([ab] * length + [a, b, a, b])) == length + 1
            assert test.first_forbidden([b] * length) is None
    assert test.first_forbidden([b], behind=a) == 0
    assert test.first_forbidden([], behind=a) is None


def test_long_rows_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PATIENCE", 0)
    monkeypatch.setattr(pairs, "MAX_TABLE_ENTRIES", 0)
    assert PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab"))).first_forbidden([0, 1]) == 1


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0, -1], "token 1: negative id: -1"),
        ([0, 1, 7], "token 2: id out of range: 7"),
        (np.array([2**63], dtype=np.uint64), "out of range: 9223372036854775808"),
        ([2**70], "ids are integers"),
        ([0.5], "ids are integers"),
        ([True], "ids are integers"),
        ([[0]], "one dimension"),
        (3, "one dimension"),
        ([[0], [0, 1]], "integers in one dimension"),
        (["a"], "ids are integers"),
    ],
)
def test_what_is_not_ids_is_refused(ids: object, message: str) -> None:
    with pytest.raises(TokenStreamError, match=message):
        PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab"))).first_forbidden(ids)  # type: ignore[arg-type]


def test_bad_ids_are_placed_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "CHUNK", 4)
    with pytest.raises(TokenStreamError, match=r"^token 9: id out of range: 3"):
        PairTest(CompactTokenDFA(Dictionary([("a", "b")], "ab"))).first_forbidden([0] * 9 + [3])
