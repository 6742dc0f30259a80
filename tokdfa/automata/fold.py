"""Folding rules into token DFAs: Algorithm 2, the token DFAs of a dictionary, and what it needs: context-invariance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, concatenate, quoted, show
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.automata.lift import language as regular_language
from tokdfa.automata.protocol import Run, check_budget, run_from
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import offsets_of
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Verdict

__all__ = ["Merge", "TwoRuns", "apply_merge", "context_invariance", "iter_token_dfas", "token_dfa"]

DEFAULT_MAX_TRANSITIONS = 10_000_000
DEFAULT_MAX_CONFIGURATIONS = 5_000_000


class Merge(NamedTuple):
    """A rule u≀v folded into a token DFA by Algorithm 2.

    `dfa` is the result A'; its states are the states of A, followed by the fresh ones. `fresh` is fresh: S₂ → Q' ∖ Q,
    and `gamma` is γ: Q' → Q, which maps a state of A to itself and fresh(s) to s (proof of Lemma 1).
    """

    dfa: TokenDFA
    rule: Rule
    fresh: dict[int, int]
    gamma: tuple[int, ...]


def apply_merge(dfa: TokenDFA, left: Word, right: Word, *, check: bool = True) -> Merge:
    """Fold the rule u≀v into a context-invariant token DFA.

    Parameters
    ----------
    dfa : TokenDFA
        A. It need not be trim.
    left, right : word
        u and v. A part that is not a token of A occurs in no run; then uv joins the alphabet and nothing else changes.
    check : bool
        Whether to decide first whether `dfa` is context-invariant.

    Returns
    -------
    Merge
        A' and how its states correspond to the states of A.

    Raises
    ------
    AutomatonError
        If `dfa` is not context-invariant; the message shows two runs. Without the check, only if the result would be
        nondeterministic; otherwise the result has no meaning.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Algorithm 2.

    Examples
    --------
    >>> A = tokdfa.TokenDFA.universal("ab")
    >>> merge = tokdfa.apply_merge(A, "a", "b")
    >>> merge.dfa.n_states, merge.fresh, merge.dfa.accepts(["a", "b"]), merge.dfa.accepts(["ab"])
    (2, {0: 1}, False, True)
    """
    if check:
        verdict = context_invariance(dfa)
        if not verdict:
            what = f"the automaton is not context-invariant: {verdict.reason}"
            raise AutomatonError(what, hint="Algorithm 2 is correct for context-invariant token DFAs only")
    rule = Rule(left, right)
    alphabet = dfa.alphabet.extended(rule.product)
    folding = _Folding(dfa)
    fresh: dict[int, int] = {}
    if left in alphabet and right in alphabet:
        fresh = folding.merge(alphabet.number(left), alphabet.number(right), alphabet.number(rule.product), alphabet)
    return Merge(folding.frozen(alphabet), rule, fresh, (*range(dfa.n_states), *fresh))


def iter_token_dfas(
    dictionary: Dictionary,
    language: TokenDFA | str | None = None,
    *,
    check: bool = True,
    max_transitions: int = DEFAULT_MAX_TRANSITIONS,
) -> Iterator[TokenDFA]:
    """Yield A₀, A₁, …, Aₙ with L(Aᵢ) = T^{Dᵢ}(L), as Algorithm 2 builds them: no state is removed.

    Parameters
    ----------
    dictionary : Dictionary
        D, with n rules. Aᵢ is over the token alphabet of its prefix Dᵢ.
    language : TokenDFA or str, optional
        A DFA of the regular language L with symbols of D as tokens, or a regular expression for L; Σ* by default.
    check : bool
        Whether to refuse a dictionary that is not proper. Without the check the languages are Algorithm 1's all the
        same; other semantics may differ from it on such a dictionary (Example 5).
    max_transitions : int
        The maximum number of transitions of an automaton.

    Raises
    ------
    ImproperDictionaryError
        If D is not proper.
    AutomatonError
        If `language` has transitions on longer tokens.
    AlphabetError
        If `language` uses a symbol that D does not have.
    PatternError
        If `language` is an expression that cannot be read, or that needs something automata cannot express.
    LimitExceededError
        If an automaton would have more transitions than allowed.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Theorem 1. A DFA of strings is context-invariant, and every rule preserves
    this (Lemma 2), so it is not checked again. For dictionaries of real size, use
    :class:`~tokdfa.automata.compact.CompactTokenDFA`, which does the same for L = Σ*.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> [A.n_states for A in tokdfa.iter_token_dfas(d)]
    [1, 2, 3]
    """
    folding = _start(dictionary, language, check, max_transitions)
    n_tokens = dictionary.alphabet.n_symbols
    yield folding.frozen(_first_tokens(dictionary.alphabet, n_tokens))
    for rule in _numbered_rules(dictionary):
        folding.merge(*rule, dictionary.alphabet)
        n_tokens = max(n_tokens, 1 + max(rule))
        yield folding.frozen(_first_tokens(dictionary.alphabet, n_tokens))


def token_dfa(
    dictionary: Dictionary,
    language: TokenDFA | str | None = None,
    *,
    check: bool = True,
    max_transitions: int = DEFAULT_MAX_TRANSITIONS,
) -> TokenDFA:
    """Return Aₙ, the token DFA of T^D(L), the correct tokenizations of the words of L.

    This is the last automaton of :func:`iter_token_dfas`, which has the parameters, the errors and the source.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> A = tokdfa.token_dfa(d)
    >>> A.n_states, A.accepts(["b", "aa"]), A.accepts(["ba", "a"])
    (3, True, False)
    """
    folding = _start(dictionary, language, check, max_transitions)
    for rule in _numbered_rules(dictionary):
        folding.merge(*rule, dictionary.alphabet)
    return folding.frozen(dictionary.alphabet)


class _Folding:
    """A token DFA under construction."""

    def __init__(self, dfa: TokenDFA, max_transitions: int | None = None) -> None:
        self.rows = [dict(dfa.moves(state)) for state in range(dfa.n_states)]
        # The states with a transition on each token: most rules of a large dictionary affect few states or none.
        self.readers: dict[int, set[int]] = {}
        for state, row in enumerate(self.rows):
            self._note(state, row)
        self.initial = dfa.initial
        self.finals = set(dfa.finals)
        self.n_transitions = dfa.n_transitions
        self.max_transitions = max_transitions

    def merge(self, u: int, v: int, uv: int, alphabet: TokenAlphabet) -> dict[int, int]:
        """Apply Algorithm 2 and return fresh(·) as a dictionary. The numbers in the comments are its lines."""
        delta = self.rows
        # 2-3
        S = [(s1, s2, delta[s2][v]) for s1 in sorted(self.readers.get(u, ())) if v in delta[s2 := delta[s1][u]]]
        S2 = sorted({s2 for _, s2, _ in S})
        # 4-6
        for s1, _, s3 in S:
            if delta[s1].setdefault(uv, s3) != s3:
                raise AutomatonError(
                    f"a second transition on {show(alphabet[uv])} from merging {show(alphabet[u])}≀{show(alphabet[v])}",
                    where=f"state {s1}",
                    hint="the automaton is not context-invariant",
                )
            self._note(s1, (uv,))
        # 8-11
        fresh = {s2: len(delta) + i for i, s2 in enumerate(S2)}
        self.finals.update(fresh[s2] for s2 in S2 if s2 in self.finals)
        # 12-18
        removed = {v} if u != v else {v, uv}
        for s2 in S2:
            delta.append({token: target for token, target in delta[s2].items() if token not in removed})
            self._note(len(delta) - 1, delta[-1])
            self._count(len(delta[-1]))
        # 19-21: the fresh states are in Q by now, so their own transitions on u are replaced too (Remark 3).
        for s1 in self.readers.get(u, ()):
            delta[s1][u] = fresh.get(delta[s1][u], delta[s1][u])
        self._count(len(S))
        return fresh

    def _note(self, state: int, tokens: Iterable[int]) -> None:
        for token in tokens:
            self.readers.setdefault(token, set()).add(state)

    def _count(self, more: int) -> None:
        self.n_transitions += more
        if self.max_transitions is not None and self.n_transitions > self.max_transitions:
            raise LimitExceededError(
                f"the explicit token DFA has more than {self.max_transitions:,} transitions",
                hint="fold a prefix of the dictionary, use CompactTokenDFA, or raise max_transitions",
            )

    def frozen(self, alphabet: TokenAlphabet) -> TokenDFA:
        """Return the automaton as built so far."""
        offsets = offsets_of(self.rows)
        size = int(offsets[-1])
        tokens = np.fromiter(chain.from_iterable(self.rows), np.int32, size)
        targets = np.fromiter(chain.from_iterable(row.values() for row in self.rows), np.int32, size)
        order = np.lexsort((tokens, np.repeat(np.arange(len(self.rows)), np.diff(offsets))))
        final = np.zeros(len(self.rows), dtype=np.bool_)
        final[list(self.finals)] = True
        return TokenDFA.from_arrays(alphabet, offsets, tokens[order], targets[order], self.initial, final)


def _start(dictionary: Dictionary, language: TokenDFA | str | None, check: bool, max_transitions: int) -> _Folding:
    """Return the base token DFA A₀, ready for the rules."""
    call = "tokdfa.token_dfa(dictionary, language)"
    expect(dictionary, Dictionary, "a dictionary", call, swapped=isinstance(language, Dictionary))
    if check:
        dictionary.require_proper()
    symbols = TokenAlphabet(dictionary.alphabet.symbols)
    if language is None:
        return _Folding(TokenDFA.universal(symbols.symbols), max_transitions)
    if isinstance(language, str):
        language = regular_language(language, symbols)
    longer = [word for word in language.alphabet.spell(np.unique(language.tokens).tolist()) if len(word) > 1]
    if longer:
        raise AutomatonError("the DFA of a language of strings reads symbols only", value=longer[0])
    return _Folding(language.over(symbols), max_transitions)


def _numbered_rules(dictionary: Dictionary) -> Iterator[tuple[int, int, int]]:
    return zip(dictionary.left.tolist(), dictionary.right.tolist(), dictionary.product.tolist(), strict=True)


def _first_tokens(alphabet: TokenAlphabet, n_tokens: int) -> TokenAlphabet:
    return TokenAlphabet(alphabet.symbols, alphabet[alphabet.n_symbols : n_tokens])


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
    expect(dfa, TokenDFA, "a token DFA", "tokdfa.context_invariance(dfa)")
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
    runs = ((run_from(dfa, state, tokenization) for state in range(dfa.n_states)) for tokenization in found)
    first, second = (next(run for run in of_states if run is not None) for of_states in runs)
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
