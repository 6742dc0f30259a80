"""The possible findings of a comparison: the parts compared, their outcomes, and the obstacles to an answer.

`Part` and `Outcome` are strings, and these strings are what ``tokdfa compare --json`` prints. Whoever decides reads the
members; :mod:`tokdfa.jobs.comparison.wording` makes sentences of them.
"""

from __future__ import annotations

from enum import Enum, StrEnum
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

    @classmethod
    def of(cls, is_same: bool) -> Outcome:
        """Return `SAME` or `DIFFERENT`."""
        return cls.SAME if is_same else cls.DIFFERENT


class Obstacle(Enum):
    """Why a comparison claims neither a difference nor equivalence, or why its search cannot be used, in words."""

    NOT_BYTES = "a dictionary is not over bytes"
    SYMBOLS_CHANGE = "symbols become other symbols"
    NO_PAIRS = "pairs of neighbours do not determine the merges of a dictionary"
    UNCLEAR_SEMANTICS = "a dictionary is not proper, and its file does not say how it is used"
    ONE_ADDS_SPACES = "only one inserts spaces"
    BOTH_ADD_SPACES = "the pre-tokenizers insert spaces"
    NORMALIZERS = "they normalize texts differently"
    NO_IDS = "there are tokens without ids"
    PRETOKENIZER = "a pre-tokenizer has no automaton"
    # These occur only if a search has left no other text to find.
    NO_TEXT_FOUND = "no text was found that shows where they differ"
    SPECIALS = "their special tokens differ"
    WHOLE_PIECES = "they emit different pieces without merging"


class Step(Enum):
    """The current step of a comparison, in words with room for the length of texts."""

    DICTIONARIES = "comparing the dictionaries"
    PRETOKENIZERS = "combining the pre-tokenizers"
    SEARCH = "searching texts of {} byte{} and more"
    TRIALS = "trying texts"


class Stage(NamedTuple):
    """The progress of a comparison; during the search with the length, in bytes, of the texts that it has reached."""

    step: Step
    n_bytes: int = 0
