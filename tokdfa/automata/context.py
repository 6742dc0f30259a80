"""Context-invariance of token DFAs, decided with a witness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from tokdfa.automata.alphabet import TokenAlphabet, Word, concatenate, quoted
from tokdfa.automata.exploration import Run, run_from
from tokdfa.automata.protocol import check_budget
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.suggestions import wrong_argument
from tokdfa.base.verdict import Verdict

__all__ = ["TwoRuns", "context_invariance"]

DEFAULT_MAX_CONFIGURATIONS = 5_000_000


class TwoRuns(NamedTuple):
    """Two runs that read the same text as different tokenizations."""

    text: Word
    first: Run
    second: Run


def context_invariance(dfa: TokenDFA, *, max_configurations: int = DEFAULT_MAX_CONFIGURATIONS) -> Verdict[TwoRuns]:
    """Decide whether any two runs that read the same text read the same tokenization, wherever they start.

    Parameters
    ----------
    dfa : TokenDFA
        The automaton. All its states count, including useless ones.
    max_configurations : int
        The maximum number of configurations to visit. There are at most n² times the number of suffixes of tokens.

    Returns
    -------
    Verdict
        Its witness is a :class:`TwoRuns` with a shortest text and, for that length, the fewest tokens in total.

    Raises
    ------
    LimitExceededError
        If the search would visit more configurations.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Def 2. The search follows two runs side by side from where they begin to
    differ, and always extends the one that has read less text. A configuration consists of the states of both runs and
    the text by which one is ahead. When that text is empty, one text has been read in two ways.

    A first search uses an automaton with the last tokens read as states and the pairs of tokens that follow each other
    somewhere as transitions. It reads everything that `dfa` reads, so if it has no such runs, neither has `dfa`; and
    the cost does not depend on the number of states. This first search settles every automaton that comes from folding
    a proper dictionary into a string DFA, where the pairs alone determine the tokenization (Obs 2).

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> bool(tokdfa.context_invariance(tokdfa.token_dfa(d)))
    True
    >>> both = tokdfa.TokenDFA.from_edges([(0, "a", 1), (1, "a", 2), (0, "aa", 2)], 0, finals=[2])
    >>> verdict = tokdfa.context_invariance(both)
    >>> bool(verdict), verdict.witness.text
    (False, 'aa')
    """
    if not isinstance(dfa, TokenDFA):
        raise wrong_argument(dfa, "a token DFA", "tokdfa.context_invariance(dfa)")
    reached: dict[int, list[int]] = {}
    for token, state in sorted(set(zip(dfa.tokens.tolist(), dfa.targets.tolist(), strict=True))):
        reached.setdefault(token, []).append(state)
    rows = {state: dict(dfa.moves(state)) for state in range(dfa.n_states)}
    pairs = {token: {after: after for state in states for after in rows[state]} for token, states in reached.items()}
    tokens = _Tokens(dfa.alphabet, reached)
    found = _shortest_ambiguity(tokens, {token: [token] for token in reached}, pairs, max_configurations)
    if found is not None:
        found = _shortest_ambiguity(tokens, reached, rows, max_configurations)
    if found is None:
        return Verdict(True, None, "no two runs read one text as different tokenizations")
    first, second = (_some_run(dfa, tokenization) for tokenization in found)
    witness = TwoRuns(concatenate(first.tokens, dfa.alphabet.kind), first, second)
    return Verdict(False, witness, f"two runs read {quoted(witness.text)} differently: {first} and {second}")


class _Configuration(NamedTuple):
    """Two runs side by side: the state of the one with less text (None before its first token) and of the other."""

    behind: int | None
    ahead: int
    overhang: Word


class _Tokens:
    """The tokens in use, found by text."""

    def __init__(self, alphabet: TokenAlphabet, used: Iterable[int]) -> None:
        self.word = {token: alphabet[token] for token in used}
        self._number = {word: token for token, word in self.word.items()}
        self._longer: dict[Word, list[int]] = {}
        for token, word in self.word.items():
            for length in range(1, len(word)):
                self._longer.setdefault(word[:length], []).append(token)

    def iter_comparable(self, text: Word) -> Iterator[int]:
        """Yield the tokens that are a prefix of `text`, shortest first, then the tokens that `text` is a prefix of."""
        for length in range(1, len(text) + 1):
            token = self._number.get(text[:length])
            if token is not None:
                yield token
        yield from self._longer.get(text, ())


def _shortest_ambiguity(
    tokens: _Tokens,
    reached: Mapping[int, Sequence[int]],
    rows: Mapping[int, Mapping[int, int]],
    max_configurations: int,
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return two tokenizations of a shortest text that has two, or None; `reached` and `rows` have the transitions."""
    serial = count()
    # Shortest text first, then fewest tokens. The serial number avoids comparing configurations.
    queue: list[tuple[int, int, int, _Configuration, _Configuration | None, int]] = []
    origin: dict[_Configuration, tuple[_Configuration | None, int]] = {}
    for token, states in reached.items():
        word = tokens.word[token]
        for state in states:
            heappush(queue, (len(word), 1, next(serial), _Configuration(None, state, word), None, token))
    while queue:
        length, n_tokens, _, here, previous, token = heappop(queue)
        if here in origin:
            continue
        origin[here] = (previous, token)
        if len(here.overhang) == 0:
            return _trace(tokens, origin, here)
        needed = len(origin) + len(queue)
        check_budget("configurations", needed, max_configurations, "deciding context-invariance needs")
        for token, target in _moves(tokens, reached, rows, here):
            word = tokens.word[token]
            common = len(here.overhang)
            if len(word) <= common:
                following = _Configuration(target, here.ahead, here.overhang[len(word) :])
            else:
                following = _Configuration(here.ahead, target, word[common:])
            if following not in origin:
                growth = max(0, len(word) - common)
                heappush(queue, (length + growth, n_tokens + 1, next(serial), following, here, token))
    return None


def _moves(
    tokens: _Tokens, reached: Mapping[int, Sequence[int]], rows: Mapping[int, Mapping[int, int]], here: _Configuration
) -> Iterator[tuple[int, int]]:
    """Yield the tokens that the run with less text may read next, with their targets."""
    if here.behind is None:
        # It starts anywhere, with a token that is shorter than the first one of the other run.
        for token in tokens.iter_comparable(here.overhang):
            if len(tokens.word[token]) < len(here.overhang):
                for target in reached[token]:
                    yield token, target
    else:
        row = rows[here.behind]
        for token in tokens.iter_comparable(here.overhang):
            if token in row:
                yield token, row[token]


def _trace(
    tokens: _Tokens, origin: Mapping[_Configuration, tuple[_Configuration | None, int]], end: _Configuration
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the tokens of the two runs that meet in `end`, the run with the shorter first token first."""
    read: list[int] = []
    here: _Configuration | None = end
    while here is not None:
        here, token = origin[here]
        read.append(token)
    behind: list[int] = []
    ahead = [read.pop()]
    first, second = behind, ahead
    lead = len(tokens.word[ahead[0]])
    while read:
        behind.append(read.pop())
        lead -= len(tokens.word[behind[-1]])
        if lead < 0:
            behind, ahead, lead = ahead, behind, -lead
    return tuple(first), tuple(second)


def _some_run(dfa: TokenDFA, tokenization: Sequence[int]) -> Run:
    """Return the run on `tokenization` from the least state that has one."""
    return next(run for state in range(dfa.n_states) if (run := run_from(dfa, state, tokenization)) is not None)
