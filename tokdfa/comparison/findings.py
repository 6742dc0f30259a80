"""The possible findings of a comparison, as data: the parts compared, their outcomes, and the obstacles to an answer.

`Part` and `Outcome` are strings, and these strings are what ``tokdfa compare --json`` prints. Whoever decides reads the
members; :mod:`tokdfa.comparison.wording` makes sentences of them.
"""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import NamedTuple

__all__ = ["Obstacle", "Outcome", "Part", "Stage", "Step"]


class Part(StrEnum):
    """A part of two dictionaries or tokenizers that is compared, or a part of the answer."""

    EVERYTHING = "everything"
    """All parts at once: both consist of the same parts."""

    DICTIONARY = "dictionary"
    """The rules of two tokenizers, and the tokens that they give for pieces."""

    IDS = "ids"
    """The ids of the tokens that both have."""

    PRETOKENIZER = "pretokenizer"
    """The pieces into which texts are cut."""

    NORMALIZER = "normalizer"
    """The normalizers, which rewrite a text before it is cut."""

    SPECIALS = "specials"
    """The special tokens that are found in a text."""

    SYMBOLS = "symbols"
    """The treatment of symbols before they merge: byte fallback, unknown symbols, prefixes."""

    LONGEST_WORD = "longest_word"
    """For WordPiece: the length of the longest word that is cut into entries."""

    WORDS = "words"
    """For WordPiece with unlike normalizers: words of characters that both keep, within the lengths of both."""

    LIVE_ENTRIES = "live_entries"
    """For WordPiece: the entries that occur in the tokenization of some word."""

    SEMANTICS = "semantics"
    """Of dictionaries: Algorithm 1, against merging leftmost, strongest rule first."""

    RULES = "rules"
    """Of dictionaries: the rules in their order."""

    LIVE_TOKENS = "live_tokens"
    """Of dictionaries: the tokens that occur in the tokenization of some text."""

    ALLOWED_PAIRS = "allowed_pairs"
    """Of dictionaries: the pairs of common tokens that are neighbours in some tokenization."""

    SEARCH = "search"
    """Of the answer that two are equivalent: the texts for which it is proven."""

    SHORTEST = "shortest"
    """Of the answer that two differ: whether shorter texts have been excluded."""


class Outcome(StrEnum):
    """The outcome of comparing a part."""

    SAME = "same"
    """The two do the same with every text."""

    EQUIVALENT = "equivalent"
    """They are written differently, and do the same with every text."""

    DIFFERENT = "different"
    """They are written differently; of dictionaries and pieces: they do different things with some text."""

    UNKNOWN = "unknown"
    """They are written differently, and it is not known whether they do the same."""

    IGNORED = "ignored"
    """This part was ignored on request."""

    PROVEN = "proven"
    """Of `Part.SHORTEST`: no shorter text separates the two."""

    UNPROVEN = "unproven"
    """Of `Part.SHORTEST`: a shorter text may separate them."""

    COMPLETE = "complete"
    """Of `Part.SEARCH`: texts of any length."""


class Obstacle(Enum):
    """Why a comparison claims neither a difference nor equivalence, or why its search cannot be used."""

    NOT_BYTES = auto()
    """A dictionary is not over bytes."""

    SYMBOLS_CHANGE = auto()
    """Symbols become other symbols before they merge."""

    NO_PAIRS = auto()
    """Pairs of neighbours do not determine the merges of a dictionary."""

    UNCLEAR_SEMANTICS = auto()
    """A dictionary is not proper, and its format does not say how it merges."""

    ONE_ADDS_SPACES = auto()
    """Only one of the two inserts spaces."""

    BOTH_ADD_SPACES = auto()
    """Both insert spaces, in a way that the search does not follow."""

    NORMALIZERS = auto()
    """Texts are normalized differently."""

    NO_IDS = auto()
    """There are live tokens without ids."""

    PRETOKENIZER = auto()
    """A pre-tokenizer is not an automaton of manageable size."""

    NO_TEXT_FOUND = auto()
    """Paths diverge, but no text was found that shows it."""

    SPECIALS = auto()
    """Special tokens differ, but no text was found that shows it."""

    WHOLE_PIECES = auto()
    """The pieces that are emitted without merging differ, but no text was found that shows it."""


class Step(Enum):
    """The current step of a comparison."""

    DICTIONARIES = auto()
    PRETOKENIZERS = auto()
    SEARCH = auto()
    TRIALS = auto()


class Stage(NamedTuple):
    """The progress of a comparison; :func:`~tokdfa.comparison.wording.stage_words` puts it in words.

    Parameters
    ----------
    step : Step
    n_bytes : int
        During the search: the length of the texts that it has reached.
    """

    step: Step
    n_bytes: int = 0
