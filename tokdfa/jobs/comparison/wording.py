"""The words for the findings of a comparison, for people to read; nothing parses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tokdfa.automata.alphabet import quoted
from tokdfa.jobs.comparison.findings import Obstacle, Outcome, Part, Stage

if TYPE_CHECKING:
    from tokdfa.jobs.comparison.result import Comparison

__all__ = ["answer", "part_rows", "reason", "stage_words", "unclaimed_words", "undecided_words"]

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
