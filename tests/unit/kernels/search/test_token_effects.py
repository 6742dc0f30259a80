"""The effects of tokens on all states, and their classes, against running every token from every state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.searching import EDGE, Plain, plain_automata, words_with_cuts
from tests.support.streams import Vocabulary
from tokdfa.jobs.searching.plan import SearchPlan, Words
from tokdfa.kernels.search import search as kernels
from tokdfa.kernels.search.search import FINAL
from tokdfa.regex.finder import finder


def run(plain: Plain, word: bytes, *, cut: bool, state: int) -> int:
    """Four times the state reached, plus 1 if a match has ended or the search is dead, plus 2 if it dies at once."""
    columns = [plain.column_of[EDGE]] if cut else [plain.column_of[byte] for byte in word]
    mark = 0
    for place, column in enumerate([*columns, *([plain.boundary] if plain.boundary >= 0 else [])]):
        state = plain.table[state][column]
        mark |= 1 if state == 0 or plain.delay[state] >= 0 else 0
        mark |= 2 if state == 0 and place == 0 else 0
    return 4 * state + mark


@given(plain_automata(), words_with_cuts())
def test_effects_and_classes(plain: Plain, words: list[tuple[bytes, bool]]) -> None:
    text, forward = plain.spelled(words), plain.forward()
    effect, effects = kernels.token_effects(text, forward, 10_000)
    assert len(effects) - 1 == len({tuple(row) for row in effects[1:].tolist()})
    expected = [[run(plain, word, cut=cut, state=q) for q in range(len(plain.table))] for word, cut in words]
    assert effects[effect].tolist() == expected
    properties, entries, n_classes = kernels.classes_of(text, forward, effect, effects)
    assert n_classes == len(set(effect.tolist()))
    for number, (word, _) in enumerate(words):
        assert properties[number] >> 16 == len(word)
        for state, entry in enumerate(expected[number]):
            found = entries[state * n_classes + (properties[number] & 0xFFFF)]
            assert found == entry // 4 * 4 * n_classes + entry % 4


@pytest.mark.parametrize("length", [1, 255, 256, 300, kernels.LONGEST_IN_CLASS])
def test_long_words_in_which_nothing_happens(length: int) -> None:
    """Their lengths are added up."""
    machine = SearchPlan(
        finder("ab", "first"), Words.of(Vocabulary([b"x" * length, b"ab"])), wants_all=False, aligned=False
    )
    found = [*machine.begin().leftmost(machine.tokenwise, np.array([0] * 9 + [1] + [0] * 20 + [1], np.int32), FINAL)]
    assert np.concatenate(found)[::4].tolist() == [9 * length, 29 * length + 2]


@given(st.integers(2, 40))
def test_too_many_effects_are_not_returned(n_states: int) -> None:
    # A cycle turned by words of 0 symbols and more: every word does something else.
    cycle = [[(state + 1) % n_states] for state in range(n_states)]
    plain = Plain(cycle, [0] * 257, [-1] * n_states, boundary=-1, idle=0)
    text, forward = plain.spelled([(b"a" * length, False) for length in range(n_states + 1)]), plain.forward()
    assert len(kernels.token_effects(text, forward, n_states + 1)[1]) == n_states + 1
    assert len(kernels.token_effects(text, forward, n_states)[1]) == 0
    assert len(kernels.token_effects(text, forward, 0)[1]) == 0


@pytest.mark.parametrize("boundary", [-1, 5, 95])
def test_the_columns_that_keep_a_state_alive(boundary: int) -> None:
    dice = np.random.default_rng(1)
    table = dice.integers(0, 3, size=(50, 100)).astype(np.int32)
    column_of = dice.integers(0, 90, size=257).astype(np.uint16)
    info = np.zeros((50, len(kernels.STATE_INFO)), dtype=np.int64)
    alive = (
        kernels.forward_of(table, column_of, boundary, info, 0)
        .fields["info"]
        .reshape(info.shape)[:, kernels.STATE_INFO.index("alive")]
    )
    used = {*column_of.tolist(), boundary} - {-1}
    for state in range(50):
        bits = {column % 64 for column in used if table[state, column]}
        assert {bit for bit in range(64) if int(alive[state]) >> bit & 1} == bits
