"""Boolean operations: membership by definition, the protocol's promises, the laws of the algebra."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given

from tests.support.automata import iter_tokenizations, token_dfas
from tests.support.inclusion import equivalence
from tokdfa.automata.boolean import Combination, complement, difference, intersection, symmetric_difference, union
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.fold import token_dfa
from tokdfa.automata.protocol import TokenAutomaton, accepts, run
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AutomatonError

OPERATIONS = [
    (intersection, operator.and_),
    (union, operator.or_),
    (difference, lambda p, q: p and not q),
    (symmetric_difference, operator.xor),
]
dfas = token_dfas("ab", max_states=4)


@pytest.mark.parametrize(("operation", "connective"), OPERATIONS)
@given(first=dfas, second=dfas)
def test_membership_is_by_definition(operation, connective: Callable, first: TokenDFA, second: TokenDFA) -> None:
    combined = operation(first, second)
    for sequence in iter_tokenizations(2, 5):
        assert accepts(combined, sequence) == connective(accepts(first, sequence), accepts(second, sequence))


@given(token_dfas("abc", max_states=4))
def test_the_complement_accepts_the_rest(dfa: TokenDFA) -> None:
    rest = complement(dfa, 3)
    assert all(accepts(rest, sequence) != accepts(dfa, sequence) for sequence in iter_tokenizations(3, 4))
    assert run(rest, [3]) is None
    assert run(rest, [-1]) is None


def assert_moves_are_steps(automaton: TokenAutomaton, n_tokens: int) -> None:
    """The moves of every state near the initial one are the successful steps, in ascending order."""
    for sequence in iter_tokenizations(n_tokens, 3):
        state = run(automaton, sequence)
        if state is not None:
            steps = [(token, automaton.step(state, token)) for token in range(n_tokens)]
            assert list(automaton.moves(state)) == [(token, target) for token, target in steps if target is not None]


@pytest.mark.parametrize(("operation", "connective"), OPERATIONS)
@given(first=token_dfas("abc", max_states=3), second=token_dfas("abc", max_states=3))
def test_moves_and_steps_agree(operation, connective, first: TokenDFA, second: TokenDFA) -> None:
    assert_moves_are_steps(operation(first, second), 3)
    assert_moves_are_steps(complement(operation(first, second), 3), 3)


@pytest.mark.parametrize("accepting", [[], [(False, True)], [(True, True), (False, True)]])
def test_any_other_choice_of_what_accepts(accepting) -> None:
    first = TokenDFA.from_edges([(0, "a", 1)], finals=[1], symbols="ab")
    second = TokenDFA.from_edges([(0, "a", 1), (0, "b", 1)], finals=[1], symbols="ab")
    combined = Combination(first, second, accepting)
    assert_moves_are_steps(combined, 2)
    for sequence in iter_tokenizations(2, 3):
        assert accepts(combined, sequence) == ((accepts(first, sequence), accepts(second, sequence)) in accepting)


def test_nothing_cannot_be_turned_into_something() -> None:
    dfa = TokenDFA.universal("ab")
    with pytest.raises(AutomatonError, match="use complement"):
        Combination(dfa, dfa, [(False, False)])


@given(dfas, dfas, dfas)
def test_the_laws_of_boolean_algebra(a: TokenDFA, b: TokenDFA, c: TokenDFA) -> None:
    def negate(x: TokenAutomaton) -> TokenAutomaton:
        return complement(x, 2)

    nothing = TokenDFA(a.alphabet, [{}], finals=[])
    everything = TokenDFA.universal("ab")
    equal = [
        (union(a, b), union(b, a)),
        (intersection(a, b), intersection(b, a)),
        (union(a, union(b, c)), union(union(a, b), c)),
        (intersection(a, intersection(b, c)), intersection(intersection(a, b), c)),
        (intersection(a, union(b, c)), union(intersection(a, b), intersection(a, c))),
        (union(a, intersection(b, c)), intersection(union(a, b), union(a, c))),
        (union(a, intersection(a, b)), a),
        (intersection(a, union(a, b)), a),
        (negate(negate(a)), a),
        (negate(union(a, b)), intersection(negate(a), negate(b))),
        (negate(intersection(a, b)), union(negate(a), negate(b))),
        (union(a, negate(a)), everything),
        (intersection(a, negate(a)), nothing),
        (union(a, nothing), a),
        (intersection(a, everything), a),
        (difference(a, b), intersection(a, negate(b))),
        (symmetric_difference(a, b), union(difference(a, b), difference(b, a))),
        (symmetric_difference(symmetric_difference(a, b), b), a),
    ]
    assert all(equivalence(left, right) for left, right in equal)


def test_a_long_list_of_moves_is_not_walked_for_a_short_one() -> None:
    class Counting:
        initial = 0
        asked = 0

        def step(self, state: int, token: int) -> int | None:
            return 0

        def is_final(self, state: int) -> bool:
            return True

        def moves(self, state: int):
            for token in range(1_000_000):
                self.asked += 1
                yield token, 0

    few = TokenDFA.from_edges([(0, "c", 0), (0, "b", 0)], finals=[0], symbols="abc")
    for order in (lambda p, q: (p, q), lambda p, q: (q, p)):
        many = Counting()
        combined = intersection(*order(many, few))
        assert [token for token, _ in combined.moves(combined.initial)] == [1, 2]
        assert many.asked <= 3


def test_names_of_the_operations_are_shown() -> None:
    dfa = TokenDFA.universal("a")
    shown = [repr(operation(dfa, dfa)).split(" of ")[0] for operation, _ in OPERATIONS]
    assert shown == ["<intersection", "<union", "<difference", "<symmetric difference"]
    assert (
        len({repr(op(dfa, dfa)) == repr(other(dfa, dfa)) for (op, _), (other, _) in combinations(OPERATIONS, 2)}) == 1
    )
    assert repr(complement(dfa, 1)).startswith("<complement of")


def test_tokens_that_are_numbered_differently_are_refused() -> None:
    ab_first = token_dfa(Dictionary([("a", "b"), ("b", "c")]))
    bc_first = token_dfa(Dictionary([("b", "c"), ("a", "b")]))
    with pytest.raises(AutomatonError, match="token 3"):
        difference(ab_first, bc_first)
    with pytest.raises(AutomatonError, match="number their tokens differently"):
        union(complement(intersection(ab_first, ab_first), 5), bc_first)
    over_one_alphabet = bc_first.over(ab_first.alphabet)
    assert not equivalence(intersection(ab_first, over_one_alphabet), ab_first)


def test_one_alphabet_may_go_on_where_the_other_ends() -> None:
    shorter, longer = Dictionary([("a", "b")], "abc"), Dictionary([("a", "b"), ("b", "c")], "abc")
    combined = intersection(token_dfa(shorter), token_dfa(longer))
    for sequence in iter_tokenizations(4, 4):
        assert accepts(combined, sequence) == (
            accepts(token_dfa(shorter), sequence) and accepts(token_dfa(longer), sequence)
        )
