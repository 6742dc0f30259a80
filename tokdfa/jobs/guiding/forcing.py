"""The text that a grammar forces: whether its ids, encoded separately, are part of the ids of the whole text.

Where a language of texts leaves no choice, engines append ``encode(forced text)`` without asking the model. Along the
canonical ids of each text this is compared with the ids there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import UnsupportedFeatureError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames, wrong_argument
from tokdfa.jobs.guiding.api import check_texts
from tokdfa.jobs.guiding.jumps import ForcedText, Jumps, count_texts, find_difference, is_same_everywhere
from tokdfa.jobs.guiding.prefixes import prefixes_of
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ForcedText", "Forcing", "Limits", "forced"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of :func:`tokdfa.forced`. They change what is left undecided, never what is decided.

    Parameters
    ----------
    max_moves : int
        Number of moves between states after which the question is refused.
    max_counted : int
        Number of moves after which texts of more bytes are not counted.
    max_searched : int
        Number of ways that are extended before the search for a shortest text is given up.
    """

    max_moves: int = 1 << 28
    max_counted: int = 1 << 22
    max_searched: int = 1 << 14


_DEFAULT = Limits()


@dataclass(frozen=True)
class Forcing(SuggestsNames):
    """Whether forced text may be encoded separately; truthy if it may, after every prefix.

    Attributes
    ----------
    holds : bool
    n_forced : int
        The number of states of the language, between symbols, in which text is forced.
    witness : ForcedText or None
        A shortest text where it may not; None if there is none, or if the search for it was given up.
    texts, differing : dict of int to int
        For each number of bytes up to `longest`: the number of texts of the language, and of those among them in which
        forced text, encoded separately, has other ids than in the text.
    longest : int
        The number asked for, or less where there are too many ways to longer texts.

    Examples
    --------
    >>> found = tokdfa.forced(tokdfa.default_tokenizer(), "a( single)* man", longest=12)
    >>> bool(found), found.witness.text, found.witness.forced, found.differing[5], found.differing[12]
    (False, 'a man', 'a ', 1, 1)
    """

    holds: bool
    n_forced: int
    witness: ForcedText | None
    texts: dict[int, int]
    differing: dict[int, int]
    longest: int

    def __bool__(self) -> bool:
        return self.holds


def forced(
    tokenizer: AnyTokenizer, language: str | TokenDFA, *, longest: int = 24, limits: Limits = _DEFAULT
) -> Forcing:
    """Decide whether the text that a language forces may be encoded separately and appended.

    Text is forced in a state of the language in which no text ends and exactly one symbol can follow, and for as long
    as this holds. The question is asked along the canonical ids of every text, at each boundary of tokens where text is
    forced: are the next ids equal to ``encode(forced text)``? If they are, the next boundary asked about is the one
    after them, since engines append all of them at once.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged.
    language : str or TokenDFA
        See :func:`tokdfa.guide`.
    longest : int
        The number of bytes up to which texts are counted, as far as that can be done in some seconds.
    limits : Limits, optional
        When the question, the counting and the search are given up; see :class:`~tokdfa.jobs.guiding.forcing.Limits`.

    Returns
    -------
    Forcing
        Truthy if they are, for all texts of any length.

    Raises
    ------
    UnsupportedFeatureError, PatternError, WrongTypeError
        As in :func:`tokdfa.guide`.
    LimitExceededError
        If canonical ids lead to too many states.

    Notes
    -----
    The states at which the prefix automaton arrives along canonical ids are explored, which decides; those that differ
    only in the last id are one, with a set of rows. Then the texts are counted by their number of bytes: all of them,
    and those with every jump canonical. A shortest text with a difference is searched for by its length so far and the
    least length of the rest (P. E. Hart, N. J. Nilsson, B. Raphael, *A formal basis for the heuristic determination of
    minimum cost paths*, 1968).

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.forced(tokenizer, "a single man"))
    True
    >>> tokdfa.forced(tokenizer, "a (single|married) man").witness.forced
    'a '
    """
    if not isinstance(tokenizer, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.forced(tokenizer, language)")
    if isinstance(longest, bool) or not isinstance(longest, (int, np.integer)) or longest < 0:
        raise WrongTypeError("a number of bytes is an integer that is not negative", value=longest, where="longest")
    if language is None:
        raise WrongTypeError("a language is a regular expression or an automaton over bytes", value=language)
    tokens = tokens_of(tokenizer)
    texts = texts_of(tokens, language)
    prefixes = prefixes_of(tokens, texts)
    check_texts(prefixes, language)
    jumps = Jumps(prefixes)
    holds = is_same_everywhere(jumps, limits.max_moves)
    totals, same = count_texts(jumps, int(longest), limits.max_counted)
    differing = {n: totals[n] - same[n] for n in totals}
    witness = None if holds else find_difference(jumps, limits.max_searched)
    if witness is not None:
        _check_by_encoding(tokenizer, witness)
    n_forced = sum(jumps.of(state) is not None for state in range(1, texts.n_states + 1))
    return Forcing(holds, n_forced, witness, texts=totals, differing=differing, longest=len(totals) - 1)


def _check_by_encoding(tokenizer: AnyTokenizer, found: ForcedText) -> None:
    """Refuse a text that encoding does not confirm as a difference."""
    ids, forced_ids = (tuple(tokenizer.encode(text).tolist()) for text in (found.text, found.forced))
    is_there = found.text.encode().startswith(found.forced.encode(), found.start_byte)
    differs = ids[found.start_token : found.start_token + len(forced_ids)] != forced_ids
    if not (differs and is_there and (ids, forced_ids) == (found.canonical_ids, found.forced_ids)):
        raise UnsupportedFeatureError("encoding does not confirm the text that a search found", value=found)
