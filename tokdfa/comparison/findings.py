"""What a comparison can find, as data: the parts that are compared, what comes of each, and why none is claimed.

`Part` and `Outcome` are strings, and these strings are what ``tokdfa compare --json`` prints. Whoever decides reads the
members; :mod:`tokdfa.comparison.wording` makes sentences of them.
"""

from __future__ import annotations

from enum import Enum, StrEnum, auto
from typing import NamedTuple

__all__ = ["Obstacle", "Outcome", "Part", "Stage", "Step"]


class Part(StrEnum):
    """A part of two dictionaries or tokenizers that is compared, or of the answer that is given."""

    EVERYTHING = "everything"
    """All parts at once: both are made of the same."""

    DICTIONARY = "dictionary"
    """The rules of two tokenizers, and what they make of pieces."""

    IDS = "ids"
    """The ids of the tokens that both have."""

    PRETOKENIZER = "pretokenizer"
    """The pieces into which texts are cut."""

    NORMALIZER = "normalizer"
    """What is done to a text before it is cut."""

    SPECIALS = "specials"
    """What is found in a text as a special token."""

    SYMBOLS = "symbols"
    """What is done with symbols before they merge: byte fallback, unknown symbols, prefixes."""

    LONGEST_WORD = "longest_word"
    """Of WordPiece: the longest word that is cut at all."""

    LIVE_ENTRIES = "live_entries"
    """Of WordPiece: the entries that some word has in its tokenization."""

    SEMANTICS = "semantics"
    """Of dictionaries: Algorithm 1, against merging leftmost, strongest rule first."""

    RULES = "rules"
    """Of dictionaries: the rules in their order."""

    LIVE_TOKENS = "live_tokens"
    """Of dictionaries: the tokens that some text has in its tokenization."""

    ALLOWED_PAIRS = "allowed_pairs"
    """Of dictionaries: the pairs of common tokens that are neighbours in some tokenization."""

    SEARCH = "search"
    """Of the answer that two are equivalent: which texts it is proven for."""

    SHORTEST = "shortest"
    """Of the answer that two differ: whether shorter texts have been excluded."""


class Outcome(StrEnum):
    """What came of comparing a part."""

    SAME = "same"
    """The two do the same with every text."""

    EQUIVALENT = "equivalent"
    """They are written differently, and do the same with every text."""

    DIFFERENT = "different"
    """They are written differently; of dictionaries and pieces: they do different things with some text."""

    UNKNOWN = "unknown"
    """They are written differently, and it is not known whether they do the same."""

    IGNORED = "ignored"
    """It was asked to leave this part out of account."""

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
    """Symbols become others before they merge."""

    NO_PAIRS = auto()
    """Pairs of neighbours do not say everything about a dictionary."""

    UNCLEAR_SEMANTICS = auto()
    """A dictionary is not proper, and its format does not say how it merges."""

    ONE_ADDS_SPACES = auto()
    """Only one of the two puts in spaces."""

    BOTH_ADD_SPACES = auto()
    """Both put in spaces, in a way that the search does not follow."""

    NORMALIZERS = auto()
    """Texts are normalized differently."""

    NO_IDS = auto()
    """There are live tokens without ids."""

    PRETOKENIZER = auto()
    """A pre-tokenizer is not an automaton of manageable size."""

    NO_TEXT_FOUND = auto()
    """Paths part, and no text was found that shows it."""

    SPECIALS = auto()
    """Special tokens differ, and no text was found that shows it."""

    WHOLE_PIECES = auto()
    """Pieces that are taken as they are differ, and no text was found that shows it."""


class Step(Enum):
    """What a comparison does at the moment."""

    DICTIONARIES = auto()
    PRETOKENIZERS = auto()
    SEARCH = auto()
    TRIALS = auto()


class Stage(NamedTuple):
    """How far a comparison has come; :func:`~tokdfa.comparison.wording.stage_words` says it in words.

    Parameters
    ----------
    step : Step
    n_bytes : int
        While it searches: the length of the texts that it has come to.
    """

    step: Step
    n_bytes: int = 0
