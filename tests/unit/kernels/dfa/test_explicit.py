"""The loops over explicit DFAs, against plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.automata import token_dfas
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.kernels.dfa import explicit as kernels


@given(token_dfas(max_states=8), st.data())
def test_breadth_first(dfa: TokenDFA, data: st.DataObject) -> None:
    starts = data.draw(st.lists(st.integers(0, dfa.n_states - 1), unique=True))
    expected = list(starts)
    for state in expected:  # grows while it is walked
        for _, target in sorted(dfa.moves(state)):
            if target not in expected:
                expected.append(target)
    assert kernels.breadth_first(dfa.offsets, dfa.targets, np.array(starts, np.int32)).tolist() == expected


@given(st.lists(st.integers(0, 5)))
def test_group_lists_positions_by_key(keys: list[int]) -> None:
    offsets, positions = kernels.group(np.array(keys, np.int32), 6)
    for key in range(6):
        assert positions[offsets[key] : offsets[key + 1]].tolist() == [i for i, k in enumerate(keys) if k == key]


@given(token_dfas(tokens=["ab"], max_states=10))
def test_coarsest_partition(dfa: TokenDFA) -> None:
    dfa = dfa.trim()
    if not dfa.finals:
        return
    # Moore: refine all classes by all transitions until nothing changes; -1 is the class of a missing target.
    block = [int(dfa.is_final(p)) for p in range(dfa.n_states)]
    while True:
        rows = [
            (block[p], *(block[q] if (q := dfa.step(p, t)) is not None else -1 for t in range(3)))
            for p in range(dfa.n_states)
        ]
        refined = [sorted(set(rows)).index(row) for row in rows]
        if len(set(refined)) == len(set(block)):
            break
        block = refined
    found = kernels.coarsest_partition(dfa.sources, dfa.tokens, dfa.targets, dfa.final, 3).tolist()
    assert [[x == y for x in found] for y in found] == [[x == y for x in block] for y in block]


@given(token_dfas(tokens=["ab"], max_states=8), st.data())
def test_first_difference(dfa: TokenDFA, data: st.DataObject) -> None:
    p, q = (data.draw(st.integers(0, dfa.n_states - 1)) for _ in range(2))
    expected = None
    level = [(p, q)]
    seen = {(p, q)}
    length = 0
    while level and expected is None:
        if any((a in dfa.finals) != (b in dfa.finals) for a, b in level):
            expected = length
        level = [
            (None if a is None else dfa.step(a, t), None if b is None else dfa.step(b, t))
            for a, b in level
            for t in range(3)
        ]
        level = [pair for pair in dict.fromkeys(level) if pair not in seen]
        seen.update(level)
        length += 1
    offsets = np.append(dfa.offsets, dfa.offsets[-1])
    differ, path = kernels.first_difference(offsets, dfa.tokens, dfa.targets, np.append(dfa.final, False), p, q)
    assert differ == (expected is not None)
    if differ:
        assert len(path) == expected
        assert (dfa.run(path, p) in dfa.finals) != (dfa.run(path, q) in dfa.finals)
