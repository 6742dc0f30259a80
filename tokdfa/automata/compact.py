"""The universal token DFA of a proper dictionary, in memory proportional to it, and the pair test over streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Displayed
from tokdfa.kernels.fold import folding as kernels
from tokdfa.kernels.fold.folding import gather_rows
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk import pairs

__all__ = ["CompactTokenDFA", "Rows"]

DEFAULT_MAX_INTERVALS = 1 << 26
DEFAULT_MAX_TRANSITIONS = 10_000_000


class Rows(NamedTuple):
    """The states of the minimal token DFA, each given by the tokens that it does *not* allow.

    Read-only int32 arrays. A set of tokens is a union of half-open intervals of `position`: row r has the intervals
    (`start`, `stop`) from ``pointer[r]`` to ``pointer[r + 1]``. Within a row they ascend and do not touch, so equal
    sets have equal rows. Every row ends with the dead tokens, if there are any. `of_state` is the row of a state, -1 if
    it cannot be reached; row 0 belongs to the initial state. `of_token` is the row of the state reached on a token, -1
    if the token is dead.
    """

    pointer: Int32Array
    start: Int32Array
    stop: Int32Array
    of_state: Int32Array
    of_token: Int32Array


class CompactTokenDFA(Displayed):
    """The token DFA that accepts exactly the correct tokenizations of all texts, T^D(Σ*).

    It implements the protocol of :class:`TokenAutomaton`. States are the integers from 0, the initial state, to the
    number of live rules; all are final. The transitions of a state are not stored but found by walking up through the
    states it was copied from. Memory is therefore O(|D|), while an explicit DFA would have billions of transitions.

    Parameters
    ----------
    dictionary : Dictionary
        A proper dictionary.
    max_intervals : int
        The maximum number of intervals, of 8 bytes each, in :attr:`rows`. No other method needs intervals.

    Attributes
    ----------
    dictionary : Dictionary
    alphabet : TokenAlphabet
        Maps token numbers to words.
    parent, removed, rule : int32 arrays, one entry per state
        See :class:`Folding`.
    state, birth, head, tail : int32 arrays, one entry per token
        See :class:`Folding`.
    position : int32 array, one entry per token
        The position of a token in an order in which the tokens that one rule forbids form an interval.
    width : int32 array, one entry per state
        State s forbids the tokens that its parent forbids, and ``width[s]`` positions from the one of ``removed[s]``
        on.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.

    Notes
    -----
    The construction is Algorithm 2 of *Constructing a BPE Tokenization DFA* applied to the universal DFA. In that DFA
    every token leads to one state from all states (Observation 2), so a rule u≀v copies one state. The new state
    forbids v and the later tokens built with that v as their first part. Order the tokens by a depth-first walk of the
    forest in which uv is a child of u, latest-born children first. Then the tokens that one rule takes away form an
    interval, and a state forbids the union of the disjoint intervals on its way up. States are equivalent iff these
    unions are equal, because all states are final and the target of a transition depends on the token alone.

    Examples
    --------
    >>> A = tokdfa.default_tokenizer().dfa
    >>> A.states_built, A.states_reachable, A.states_minimal
    (3841, 1420, 1395)
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> B = tokdfa.CompactTokenDFA(d)
    >>> B.to_token_dfa().n_transitions
    9

    The order of the tokens is a, aa, b, ba. State 1, after a or ba, forbids two tokens from a on: a and aa. State 2,
    after b, forbids a alone, because the text baa is b|aa.

    >>> B.position.tolist(), B.state.tolist()
    ([0, 2, 1, 3], [1, 2, 0, 1])
    >>> B.removed.tolist(), B.width.tolist()
    ([-1, 0, 0], [0, 2, 1])
    """

    def __init__(self, dictionary: Dictionary, *, max_intervals: int = DEFAULT_MAX_INTERVALS) -> None:
        expect(dictionary, Dictionary, "a dictionary", "tokdfa.CompactTokenDFA(dictionary)")
        self.dictionary = dictionary
        self._max_intervals = max_intervals
        self.alphabet: TokenAlphabet = dictionary.alphabet
        folding = dictionary.folding
        self.parent, self.removed, self.rule = folding.parent, folding.removed, folding.rule
        self.state, self.birth, self.head, self.tail = folding.state, folding.birth, folding.head, folding.tail
        product = np.full_like(self.rule, -1)
        product[1:] = dictionary.product[self.rule[1:]]
        self.position, self.width = kernels.arrange(
            self.removed, self.birth, self.head, product, self.alphabet.n_symbols
        )
        self.position.setflags(write=False)
        self.width.setflags(write=False)

    @property
    def initial(self) -> int:
        """The initial state, 0."""
        return 0

    def step(self, state: int, token: int) -> int | None:
        """Return the state reached from `state` on `token`, or None when `state` does not allow it."""
        if 0 <= token < len(self.birth) and self.birth[token] >= 0 and not self._forbidding_state(state, token):
            return int(self.state[token])
        return None

    def is_final(self, state: int) -> bool:
        """Return True: every state is final."""
        return True

    def moves(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield every transition out of `state` as (token, target), tokens ascending."""
        tokens = np.flatnonzero(self.allowed_mask(state))
        return zip(tokens.tolist(), self.state[tokens].tolist(), strict=True)

    def state_of(self, token: Word | int) -> int | None:
        """Return the state reached on `token` from any state that allows it; None for a dead token."""
        (number,) = self.alphabet.numbers((token,))
        state = int(self.state[number])
        return None if state < 0 else state

    def allows(self, u: Word | int, v: Word | int) -> bool:
        """Return whether u≀v, spelled or numbered, occurs in a correct tokenization: the pair test."""
        first, second = self.alphabet.numbers((u, v))
        return self.birth[first] >= 0 and self.step(int(self.state[first]), second) is not None

    def allowed_mask(self, state: int) -> BoolArray:
        """Return whether `state` allows each token, as a bool array over the token numbers."""
        if not 0 <= state < len(self.parent):
            raise AutomatonError("no such state", value=state, hint=f"0 to {len(self.parent) - 1} are states")
        allowed = np.zeros(len(self.position), dtype=np.bool_)
        allowed[: self.n_live_tokens] = True
        while state > 0:
            first = self.position[self.removed[state]]
            allowed[first : first + self.width[state]] = False
            state = int(self.parent[state])
        return allowed[self.position]

    def blocking_rule(self, u: Word | int, v: Word | int) -> int | None:
        """Return the index of the rule that forbids v after u, because it merges across their boundary.

        None if v may follow u, or if one of them is a dead token, which occurs nowhere.
        """
        first, second = self.alphabet.numbers((u, v))
        if self.birth[first] < 0 or self.birth[second] < 0:
            return None
        state = self._forbidding_state(int(self.state[first]), second)
        return int(self.rule[state]) if state else None

    def _forbidding_state(self, state: int, token: int) -> int:
        """Return the state on the way up from `state` that lost the live `token`, or 0."""
        if state == 0:
            return 0
        last_read = int(self.dictionary.left[self.rule[state]])
        return kernels.forbidding_state(self.dictionary.history, last_read, token, state)

    @cached_property
    def n_live_tokens(self) -> int:
        """The number of tokens that occur in correct tokenizations, which have the first positions."""
        return int(np.count_nonzero(self.birth >= 0))

    @property
    def states_built(self) -> int:
        """The number of states as built: 1 + live rules, the count of Theorem 2."""
        return len(self.parent)

    @cached_property
    def reachable_states(self) -> Int32Array:
        """The states that can be reached from the initial state, ascending."""
        reachable = np.zeros(len(self.parent), dtype=np.bool_)
        reachable[0] = True
        reachable[self.state[self.birth >= 0]] = True
        states = np.flatnonzero(reachable).astype(np.int32)
        states.setflags(write=False)
        return states

    @property
    def states_reachable(self) -> int:
        """The number of states that can be reached from the initial state."""
        return len(self.reachable_states)

    @property
    def states_minimal(self) -> int:
        """The number of states of the minimal token DFA."""
        return len(self.rows.pointer) - 1

    @cached_property
    def rows(self) -> Rows:
        """The minimal token DFA, as the sets of tokens that its states do not allow.

        It is a LimitExceededError if that could take more than `max_intervals` intervals. Real dictionaries take some
        dozens per row, but with a rule for every pair of a few frequent tokens the rows grow with the square of the
        dictionary.
        """
        states = self.reachable_states
        intervals = int(kernels.depths(self.parent)[states].sum(dtype=np.int64))
        if intervals > self._max_intervals:
            what = "the rows of the minimal token DFA would be too long"
            raise LimitExceededError(what, value=intervals, hint="the pair test needs none")
        first = np.zeros_like(self.width)
        first[1:] = self.position[self.removed[1:]]
        of_state, pointer, start, stop = gather_rows(
            self.parent, first, self.width, states, self.n_live_tokens, len(self.position)
        )
        of_token = np.where(self.birth >= 0, of_state[self.state], np.int32(-1))
        for array in (pointer, start, stop, of_state, of_token):
            array.setflags(write=False)
        return Rows(pointer, start, stop, of_state, of_token)

    def to_token_dfa(self, *, max_transitions: int = DEFAULT_MAX_TRANSITIONS) -> TokenDFA:
        """Return the explicit automaton that Algorithm 2 builds, with its unreachable states.

        More than `max_transitions` transitions are a LimitExceededError.
        """
        offsets = np.zeros(self.states_built + 1, dtype=np.int64)
        tokens = []
        for state in range(self.states_built):
            tokens.append(np.flatnonzero(self.allowed_mask(state)).astype(np.int32))
            offsets[state + 1] = offsets[state] + len(tokens[-1])
            if offsets[state + 1] > max_transitions:
                what = f"the explicit token DFA has more than {max_transitions} transitions"
                raise LimitExceededError(what, hint="take a prefix of the dictionary, or raise max_transitions")
        labels = np.concatenate(tokens)
        final = np.ones(self.states_built, dtype=np.bool_)
        return TokenDFA.from_arrays(self.alphabet, offsets, labels, self.state[labels], 0, final)

    def __repr__(self) -> str:
        return f"<CompactTokenDFA: {self.states_built} states, {len(self.state)} tokens>"


ALONE, CUT, NO_TOKEN = pairs.ALONE, pairs.CUT, pairs.NO_TOKEN


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of the pair test. They change its cost, never its answers.

    `patience` is the number of ids, per id of the vocabulary, that are tested by going back in time before the table is
    built; building it costs about as much as testing 10. `memo`, a power of two or 0, is the number of answers kept
    until then, of 8 bytes each. If the rows of the table would have more than `max_table_entries` bits, none is built.
    """

    patience: int = 10
    memo: int = 1 << 15
    max_table_entries: int = 1 << 27


_DEFAULT = Tuning()


class PairTest:
    """Tests whether neighbours in a stream of ids are neighbours in a correct tokenization.

    The first ids are tested by going back in time, as :meth:`CompactTokenDFA.allows` does. Once enough ids have been
    tested for a table of all pairs to pay off, it is built, in compressed form: 3 MB for GPT-2, 9 MB for cl100k, 30 MB
    for o200k. The answers are the same. `tokens` has the token number of each id, or `CUT` if the id cuts the stream in
    two, `NO_TOKEN` if no token has the id, or `ALONE` if the id may have no neighbours; by default ids are token
    numbers.

    *Constructing a BPE Tokenization DFA*, Observation 2: T^D(Σ*) is local, so adjacent pairs decide.
    """

    def __init__(
        self, automaton: CompactTokenDFA, tokens: npt.ArrayLike | None = None, *, tuning: Tuning = _DEFAULT
    ) -> None:
        self.automaton = automaton
        self._tokens = np.array(np.arange(len(automaton.birth)) if tokens is None else tokens, dtype=np.int32)
        is_token = self._tokens >= 0
        self._tokens[is_token] = np.where(automaton.birth[self._tokens[is_token]] < 0, NO_TOKEN, self._tokens[is_token])
        self._tuning = tuning
        self._tested = 0
        self._most_walked = tuning.patience * len(self._tokens)

    @property
    def tokens(self) -> Int32Array:
        """The token number of each id, or `CUT`, `NO_TOKEN` or `ALONE`."""
        return self._tokens

    @property
    def n_ids(self) -> int:
        """The number of ids; ids go from 0 to one less than this."""
        return len(self._tokens)

    def forbidden(self, ids: Int32Array, behind: int | None = None) -> BoolArray:
        """Return, for each id, checked to be in range, whether it may not follow the one before it, or `behind`."""
        return pairs.mark_pairs(self.struct_for(len(ids)), ids, behind)

    def struct_for(self, n_ids: int) -> Struct:
        """Return the struct by which a kernel tests pairs among `n_ids` ids, with the table if that pays off."""
        self._tested += n_ids
        return self._by_table if self._tested > self._most_walked else self._by_history

    @cached_property
    def _by_history(self) -> Struct:
        return pairs.pair_test(self._tokens, self.automaton.dictionary.history, n_memo=self._tuning.memo)

    @cached_property
    def _by_table(self) -> Struct:
        """The pair test with a table of rows (start times 2³², plus column) and bits, unless that is too large."""
        automaton = self.automaton
        first = np.zeros_like(automaton.width)
        first[1:] = automaton.position[automaton.removed[1:]]
        last = first + automaton.width
        # Positions that no interval of any state distinguishes share a column. After them come one column that every
        # row allows and one that every row forbids.
        cut = np.zeros(len(automaton.position) + 1, dtype=np.bool_)
        cut[first[1:]] = cut[last[1:]] = cut[automaton.n_live_tokens] = True
        column_at = np.cumsum(cut, dtype=np.int32)
        free = int(column_at[-1]) + 1
        a_row = -(-(free + 2) // pairs.BLOCK)
        states = automaton.reachable_states
        if a_row * (len(states) + 1) > self._tuning.max_table_entries:
            return self._by_history
        dead = free if automaton.n_live_tokens == len(automaton.position) else int(column_at[automaton.n_live_tokens])
        row_of, blocks, bits = pairs.build_table(
            automaton.parent, column_at[first], column_at[last], states, free + 2, dead
        )
        # The row after the rows of the states forbids everything except ids that cut.
        row = np.where(self._tokens == pairs.ALONE, row_of[-1], 0).astype(np.int64)
        column = np.where(self._tokens == CUT, free, free + 1).astype(np.int64)
        is_token = self._tokens >= 0
        token = self._tokens[is_token]
        row[is_token] = row_of[automaton.state[token]]
        column[is_token] = column_at[automaton.position[token]]
        lookup = (row * a_row) << 32 | column
        return pairs.pair_test(self._tokens, automaton.dictionary.history, lookup, blocks, bits)
