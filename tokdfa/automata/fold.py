"""Folding rules into token DFAs: Algorithm 2, and the token DFAs of a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, show
from tokdfa.automata.context import context_invariance
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.automata.regex import language as regular_language
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import offsets_of
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import wrong_argument

__all__ = ["Merge", "apply_merge", "iter_token_dfas", "token_dfa"]

DEFAULT_MAX_TRANSITIONS = 10_000_000


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
        Whether to refuse a dictionary that is not proper. Without the check the construction continues, but its
        languages need not belong to any tokenization (Example 5).
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
    if not isinstance(dictionary, Dictionary):
        raise wrong_argument(dictionary, "a dictionary", call, swapped=isinstance(language, Dictionary))
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
