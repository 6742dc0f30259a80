"""The possible findings of a comparison: the parts compared, their outcomes, and the obstacles to an answer.

`Part` and `Outcome` are strings, and these strings are what ``tokdfa compare --json`` prints. Whoever decides reads the
members; :mod:`tokdfa.jobs.comparison.findings` makes sentences of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from tokdfa.automata.alphabet import quoted

if TYPE_CHECKING:
    from tokdfa.jobs.comparison.result import Comparison


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


_OUTCOMES: Final = {
    Outcome.SAME: "the same",
    Outcome.EQUIVALENT: "the same for every text",
    Outcome.DIFFERENT: "different",
    Outcome.UNKNOWN: "different, with unknown effect",
    Outcome.IGNORED: "ignored",
    Outcome.PROVEN: "proven",
    Outcome.UNPROVEN: "not proven",
    Outcome.COMPLETE: "texts of any length",
}
# The parts that have words of their own.
_OUTCOMES_OF_PARTS: Final = {
    (Part.DICTIONARY, Outcome.EQUIVALENT): "the same tokens for every piece",
    (Part.DICTIONARY, Outcome.DIFFERENT): "different tokens for some pieces",
    (Part.DICTIONARY, Outcome.UNKNOWN): "different rules, with unknown effect",
    (Part.PRETOKENIZER, Outcome.DIFFERENT): "different pieces for some texts",
    (Part.PRETOKENIZER, Outcome.UNKNOWN): "different patterns, with unknown effect",
    (Part.SEMANTICS, Outcome.SAME): "Algorithm 1, which is the same as merging leftmost here",
    (Part.SEMANTICS, Outcome.DIFFERENT): "Algorithm 1; merging leftmost, strongest rule first, differs from it here",
    (Part.SEMANTICS, Outcome.UNKNOWN): "Algorithm 1; merging leftmost, strongest rule first, may differ from it here",
}
# These occur only if a search has left no other text to find.
_AFTER_SEARCH: Final = {Obstacle.NO_TEXT_FOUND, Obstacle.SPECIALS, Obstacle.WHOLE_PIECES}


def answer(found: Comparison) -> str:
    """Return the finding as a sentence without a full stop; if there is a witness, it is the subject."""
    what = "tokens" if found.checked.get(Part.IDS, Outcome.IGNORED) is Outcome.IGNORED else "ids"
    if found.witness is not None:
        return f"has different {what}"
    if Part.EVERYTHING in found.checked:
        return "the tokenizers are the same"
    if Part.RULES in found.checked:
        return "the dictionaries are the same"
    if Part.SEARCH in found.checked:
        return f"every text has the same {what}"
    return "their parts are the same"


def reason(found: Comparison) -> str:
    """Return the finding, with the witness, as a sentence without a full stop."""
    said = answer(found)
    return said if found.witness is None else f"{quoted(found.witness.text)} {said}"


def part_rows(found: Comparison) -> Iterator[tuple[str, str]]:
    """Yield the name and the outcome of each part that was compared."""
    for part, outcome in found.checked.items():
        words = _OUTCOMES_OF_PARTS.get((part, outcome), _OUTCOMES[outcome])
        if part is Part.IDS and found.n_other_ids:
            different = "" if outcome is Outcome.DIFFERENT else ", different"
            words += f"{different} for {found.n_other_ids:,} token{'s' * (found.n_other_ids != 1)}"
        yield part.replace("_", " "), words


def undecided_words(obstacle: Obstacle, cause: str = "") -> str:
    """Return the reason why there is no answer; `cause` gives details."""
    said = f"{obstacle.value}: {cause}" if cause else obstacle.value
    tried = "" if obstacle in _AFTER_SEARCH else ", and no text was found that separates them"
    return unclaimed_words(f"{said}{tried}")


def unclaimed_words(why: str) -> str:
    """Return the sentence that there is no answer, and why."""
    return f"neither a difference nor equivalence could be established: {why}"


def stage_words(stage: Stage) -> str:
    """Return the current stage in words."""
    return stage.step.value.format(stage.n_bytes, "s" * (stage.n_bytes != 1))
