"""How much of the past a token DFA remembers: degrees of locality, k-local automata, and verification by windows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import Word, show
from tokdfa.automata.protocol import Run, run_from
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Verdict
from tokdfa.kernels.dfa.explicit import group

__all__ = ["DegreeOfLocality", "dloc", "k_locality", "local_from", "states_after", "verify_by_windows"]

DEFAULT_MAX_SETS = 1_000_000
DEFAULT_MAX_PAIRS = 20_000_000


class DegreeOfLocality(NamedTuple):
    """dloc(A, k), a tokenization of k tokens that attains it, spelled, and the states E_τ where its runs end.

    If no run reads k tokens, the degree is 0 and the tokenization is None.
    """

    degree: int
    tokenization: tuple[Word, ...] | None
    states: frozenset[int]


def states_after(dfa: TokenDFA, tokenization: Iterable[Word | int]) -> frozenset[int]:
    """Return E_τ(A), the states where the runs that read `tokenization` end, wherever they start.

    *Constructing a BPE Tokenization DFA*, section 5.
    """
    states: Iterable[int] = range(dfa.n_states)
    for token in dfa.alphabet.numbers(tokenization):
        states = {target for state in states if (target := dfa.step(state, token)) is not None}
    return frozenset(states)


def dloc(dfa: TokenDFA, k: int, *, max_sets: int = DEFAULT_MAX_SETS) -> DegreeOfLocality:
    """Return the degree of k-locality: the maximum number of states where runs on one tokenization of k tokens end.

    The degree is a property of the automaton, not of its language, and useless states count. Pass ``dfa.minimize()``
    to get the degree of the minimal trim automaton.

    Parameters
    ----------
    dfa : TokenDFA
    k : int
        The length of the tokenizations, 0 or more.
    max_sets : int
        The maximum number of sets of states that the search may visit.

    Raises
    ------
    AutomatonError
        If `k` is negative.
    LimitExceededError
        If the search would visit more sets.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Def 4. The sets E_τ are extended token by token, largest first. As they
    never grow, the first one that is reached by k tokens is a largest one.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> tokdfa.dloc(tokdfa.token_dfa(d), 1).degree, tokdfa.dloc(tokdfa.token_dfa(d), 0).degree
    (1, 3)
    """
    _check(dfa, k, "tokdfa.dloc(dfa, k)")
    serial = count()
    # Largest set first, then longest tokenization, so that one of several equal sets is followed to its end.
    queue: list[tuple[int, int, int, frozenset[int], tuple[int, ...]]] = []
    seen: set[tuple[int, frozenset[int]]] = set()

    def push(states: Iterable[int], tokenization: tuple[int, ...]) -> None:
        entry = (len(tokenization), frozenset(states))
        if entry not in seen:
            if len(seen) >= max_sets:
                what = f"the degree of {k}-locality needs more than {max_sets} sets of states"
                raise LimitExceededError(what, hint="raise max_sets")
            seen.add(entry)
            heappush(queue, (-len(entry[1]), -len(tokenization), next(serial), entry[1], tokenization))

    push(range(dfa.n_states), ())
    while queue:
        _, negative_length, _, states, tokenization = heappop(queue)
        if negative_length == -k:
            return DegreeOfLocality(len(states), dfa.alphabet.spell(tokenization), states)
        after: dict[int, set[int]] = {}
        for state in states:
            for token, target in dfa.moves(state):
                after.setdefault(token, set()).add(target)
        for token in sorted(after):
            push(after[token], (*tokenization, token))
    return DegreeOfLocality(0, None, frozenset())


def k_locality(dfa: TokenDFA, k: int, *, max_pairs: int = DEFAULT_MAX_PAIRS) -> Verdict[tuple[Run, Run]]:
    """Decide whether the last k tokens of a run determine the state in which it ends: dloc(A, k) ≤ 1.

    Parameters
    ----------
    dfa : TokenDFA
        The automaton. All its states count, including useless ones.
    k : int
        The number of tokens, 0 or more.
    max_pairs : int
        The maximum number of transitions in the graph of pairs of states.

    Returns
    -------
    Verdict
        Its witness is two runs that read the same k tokens and end in different states.

    Raises
    ------
    AutomatonError
        If `k` is negative.
    LimitExceededError
        If the graph of pairs would have more transitions. There are at most n²/2 for each token.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Def 5. A token leads two states to a pair of different states or to a single
    state. `dfa` is k-local if no path in this graph of pairs has k steps.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> bool(tokdfa.k_locality(tokdfa.token_dfa(d), 1))
    True
    >>> even = tokdfa.language("(aa)*", "a")
    >>> bool(tokdfa.k_locality(even, 3))
    False
    """
    _check(dfa, k, "tokdfa.k_locality(dfa, k)")
    paths = _PairGraph(dfa, max_pairs)
    if paths.local_from is not None and k >= paths.local_from:
        return Verdict(True, None, f"the last {k} tokens of a run determine its state")
    start, tokenization = paths.path(k)
    first, second = (run_from(dfa, state, tokenization) for state in start)
    assert first is not None
    assert second is not None
    return Verdict(False, (first, second), f"two runs read the same {k} tokens: {first} and {second}")


def local_from(dfa: TokenDFA, *, max_pairs: int = DEFAULT_MAX_PAIRS) -> int | None:
    """Return the least k such that `dfa` is k-local, and so k'-local for all larger k'; None without such a k.

    Parameters, errors and source are as for :func:`k_locality`. No such k exists if the graph of pairs has a cycle.
    """
    return _PairGraph(dfa, max_pairs).local_from


def _check(dfa: TokenDFA, k: int, call: str) -> None:
    expect(dfa, TokenDFA, "a token DFA", call, swapped=isinstance(k, TokenDFA))
    if k < 0:
        raise AutomatonError("the number of tokens must not be negative", value=k, where="k")


class _PairGraph:
    """The graph of pairs of different states, with the lengths of the longest paths into each pair."""

    def __init__(self, dfa: TokenDFA, max_pairs: int) -> None:
        self._n_states = dfa.n_states
        sources, targets, tokens = _pair_transitions(dfa, max_pairs)
        codes, numbers = np.unique(np.concatenate((sources, targets)), return_inverse=True)
        self._codes = codes
        self._source, self._target = np.split(numbers.astype(np.int32, copy=False), 2)
        self._token = tokens
        self._depth = self._depths()

    @property
    def local_from(self) -> int | None:
        """The least k such that no path has k steps; None if there is a cycle."""
        if self._n_states == 1:
            return 0
        if (self._depth < 0).any():
            return None
        return int(self._depth.max(initial=0)) + 1

    def path(self, length: int) -> tuple[tuple[int, int], tuple[int, ...]]:
        """Return the start of some path of `length` steps, and the tokens on it; such a path must exist."""
        if length == 0:
            return (0, 1), ()
        into, order = group(self._target, len(self._codes))
        pair = int(np.argmax((self._depth < 0) | (self._depth >= length)))
        tokens: list[int] = []
        for remaining in range(length - 1, -1, -1):
            incoming = order[into[pair] : into[pair + 1]]
            depth = self._depth[self._source[incoming]]
            step = incoming[np.argmax((depth < 0) | (depth >= remaining))]
            tokens.append(int(self._token[step]))
            pair = int(self._source[step])
        p, q = divmod(int(self._codes[pair]), self._n_states)
        return (p, q), tuple(reversed(tokens))

    def _depths(self) -> Int64Array:
        """Return the length of the longest path into each pair, -1 if paths of every length lead into it."""
        n = len(self._codes)
        out, order = group(self._source, n)
        waiting = np.bincount(self._target, minlength=n)
        depth = np.full(n, -1, dtype=np.int64)
        # Peel off pairs without incoming paths, layer by layer; pairs on cycles or reachable from them stay.
        layer = np.flatnonzero(waiting == 0)
        for level in count():
            if len(layer) == 0:
                return depth
            depth[layer] = level
            steps = np.concatenate([order[out[pair] : out[pair + 1]] for pair in layer])
            reached, times = np.unique(self._target[steps], return_counts=True)
            waiting[reached] -= times
            layer = reached[waiting[reached] == 0]
        raise AssertionError("the count of layers ended")


def _pair_transitions(dfa: TokenDFA, max_pairs: int) -> tuple[Int64Array, Int64Array, Int32Array]:
    """Return the transitions between pairs p < q of different states; a pair is encoded as p·n + q."""
    n = np.int64(dfa.n_states)
    columns: list[tuple[Int64Array, Int64Array, Int32Array]] = [_NO_TRANSITIONS]
    left = max_pairs
    by_token = np.argsort(dfa.tokens, kind="stable")
    for same in np.split(by_token, np.flatnonzero(np.diff(dfa.tokens[by_token])) + 1):
        ends, counts = np.unique(dfa.targets[same], return_counts=True)
        if len(ends) <= 1:
            continue
        left -= (len(same) ** 2 - int((counts**2).sum())) // 2
        if left < 0:
            what = f"the graph of pairs of states has more than {max_pairs} transitions"
            raise LimitExceededError(what, hint="raise max_pairs")
        first, second = (same[half] for half in np.triu_indices(len(same), 1))
        first_end, second_end = dfa.targets[first], dfa.targets[second]
        different = first_end != second_end
        columns.append(
            (
                (dfa.sources[first] * n + dfa.sources[second])[different],
                (np.minimum(first_end, second_end) * n + np.maximum(first_end, second_end))[different],
                dfa.tokens[first[different]],
            )
        )
    sources, targets, tokens = (np.concatenate(column) for column in zip(*columns, strict=True))
    return sources, targets, tokens


_NO_TRANSITIONS = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))

CACHED_WINDOWS = 1 << 16


def verify_by_windows(dfa: TokenDFA, k: int, tokens: Iterable[Word | int]) -> Verdict[int]:
    """Decide by windows of k+1 tokens whether a k-local token DFA accepts a stream of tokens, spelled or numbered.

    It stores the last k tokens and no state. The stream is accepted if its first k tokens have a run from the initial
    state, every window of k+1 tokens has a run from some state, and the last k tokens lead to a final state. The
    windows alone would not suffice, because they say nothing about the beginning and the end of a stream. The witness
    is the index of the first token that is not allowed where it is, after which no token is read, or the number of
    tokens if the stream may not end there. A DFA that is not k-local is an AutomatonError.

    *Constructing a BPE Tokenization DFA*, Obs 2, which leaves both ends of the stream open.
    """
    local = k_locality(dfa, k)
    if not local:
        raise AutomatonError(f"the automaton is not {k}-local: {local.reason}")
    recent: deque[int] = deque(maxlen=k)
    n_tokens = 0

    @lru_cache(CACHED_WINDOWS)
    def state_after(window: tuple[int, ...]) -> int | None:
        return next(iter(states_after(dfa, window)), None)

    def current_state() -> int | None:
        return dfa.run(recent) if n_tokens < k else state_after(tuple(recent))

    for token in tokens:
        (number,) = dfa.alphabet.numbers((token,))
        state = current_state()
        if state is None or dfa.step(state, number) is None:
            before = "≀".join(map(show, dfa.alphabet.spell(recent))) or "nothing"
            reason = f"token {n_tokens}, {show(dfa.alphabet[number])}, is not allowed after {before}"
            return Verdict(False, n_tokens, reason)
        recent.append(number)
        n_tokens += 1
    state = current_state()
    if state is None or not dfa.is_final(state):
        return Verdict(False, n_tokens, f"the stream may not end after {n_tokens} tokens")
    return Verdict(True, None, f"the beginning, all windows of {k + 1} tokens and the end have runs")
