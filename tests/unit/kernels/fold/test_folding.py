"""Folding and ordering, against plain twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.support.dictionaries import proper_dictionaries
from tokdfa import Dictionary
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.kernels.fold.folding import LEFT_DEAD, RIGHT_DEAD, depths, forbidding_state


def fold_plainly(rules: Dictionary) -> tuple[list[set[str]], dict[str, int], list[int]]:
    """Fold by keeping for every state the set of tokens that it allows; every token leads to one state.

    Returns these sets, the state of each token and the blockers: where a part is dead, as the kernel says it, and
    otherwise the first rule after which no state reached by u allows v.
    """
    allowed = [set(rules.alphabet.symbols)]
    reached = dict.fromkeys(rules.alphabet.symbols, 0)
    blockers: list[int] = []
    for index, (u, v) in enumerate(rules):
        if u not in reached:
            blockers.append(LEFT_DEAD)
        elif v not in reached:
            blockers.append(RIGHT_DEAD)
        elif v not in allowed[reached[u]]:
            blockers.append(next(j for j in range(index) if v not in fold_until(rules, j + 1)[u, v]))
        else:
            blockers.append(-1)
            for tokens in allowed:
                # Every state that reads u reaches the one that allows v.
                if u in tokens:
                    tokens.add(u + v)
            copy = allowed[reached[u]] - ({v} if u != v else {v, u + v})
            allowed.append(copy)
            reached[u + v], reached[u] = reached[v], len(allowed) - 1
    return allowed, reached, blockers


def fold_until(rules: Dictionary, length: int) -> dict[tuple[str, str], set[str]]:
    """Return, for each rule's u≀v, {v} if v may follow u's text under the first rules, else nothing: they cross it."""
    from tokdfa.automata.bpe import tokenize_single_pass

    prefix = rules.prefix(length)
    after = {}
    for u, v in rules:
        joined = tokenize_single_pass(prefix, u + v)
        boundaries = np.cumsum([len(token) for token in joined]).tolist()
        after[u, v] = {v} if len(u) in boundaries else set()
    return after


@given(proper_dictionaries(max_rules=12))
def test_fold_and_blockers(rules: Dictionary) -> None:
    allowed, reached, blockers = fold_plainly(rules)
    automaton = CompactTokenDFA(rules)
    assert rules.folding.blocker.tolist() == blockers
    assert {word: automaton.state_of(word) for word in rules.alphabet} == {
        word: reached.get(word) for word in rules.alphabet
    }
    assert [
        set(rules.alphabet.spell(np.flatnonzero(automaton.allowed_mask(state)))) for state in range(len(allowed))
    ] == allowed


@given(proper_dictionaries(max_rules=16))
def test_arrange_puts_the_last_born_first(rules: Dictionary) -> None:
    automaton = CompactTokenDFA(rules)
    birth, head = automaton.birth.tolist(), automaton.head.tolist()
    live = [token for token, born in enumerate(birth) if born >= 0]
    children = {token: sorted((t for t in live if head[t] == token), key=lambda t: -birth[t]) for token in live}
    order = []
    stack = [token for token in reversed(live) if head[token] < 0]
    while stack:
        order.append(stack.pop())
        stack.extend(reversed(children[order[-1]]))
    order += [token for token, born in enumerate(birth) if born < 0]
    assert np.argsort(automaton.position).tolist() == order
    for state in range(1, automaton.states_built):
        token, parent = automaton.removed[state], automaton.parent[state]
        lost = automaton.allowed_mask(parent) & ~automaton.allowed_mask(state)
        first = automaton.position[token]
        assert sorted(automaton.position[lost]) == list(range(first, first + automaton.width[state]))


@given(proper_dictionaries(max_rules=16))
def test_forbidding_state_is_the_one_on_the_way_up_that_lost_the_token(rules: Dictionary) -> None:
    automaton = CompactTokenDFA(rules)
    for state in range(1, automaton.states_built):
        left = int(rules.left[automaton.rule[state]])
        for token in np.flatnonzero(automaton.birth >= 0).tolist():
            culprit = 0
            above = state
            while above > 0:
                if not automaton.allowed_mask(above)[token]:
                    culprit = above
                above = int(automaton.parent[above])
            assert culprit == forbidding_state(rules.history, left, token, state)


def test_depths_count_the_parents() -> None:
    assert depths(np.array([-1, 0, 1, 0, 2], np.int32)).tolist() == [0, 1, 2, 1, 3]
