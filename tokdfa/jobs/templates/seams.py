"""The seams of a chat template: where a content begins or ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from tokdfa.base.budget import TIME_IS_UP, Budget
from tokdfa.base.errors import AlphabetError, LimitExceededError, UnsupportedFeatureError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.encoding import encode_after
from tokdfa.jobs.splices.parts import Part, Slot
from tokdfa.jobs.splices.parts_seam import near_seam, next_to_seam, seam_of
from tokdfa.jobs.splices.question import Splice, SplitTexts
from tokdfa.jobs.templates.rendering import Note, Rendering
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["TemplateSeam"]

UNREAL: Final = "texts are split, but no contents were found for which the template writes them"
"""Why it is undecided where a search finds texts that are not among those that the template writes."""


@dataclass(frozen=True, slots=True)
class TemplateSeam(Displayed):
    """A seam of a template: where a content begins or ends.

    Attributes
    ----------
    shape : str
        The first conversation that has it.
    slot : str
        The content.
    side : {"before", "after"}
        Whether it is before or after the content.
    answer : {"safe", "splits", "undecided"}
        Whether the text before it and the text after it may always be encoded separately.
    witness : SplitTexts, optional
        The shortest texts where they may not.
    reason : str
        Why it is undecided.
    line : int, optional
        The line of the template that does something to the content that is not modelled.
    count : int
        The number of seams in all conversations that are alike.
    conditions : tuple of str
        What is assumed about contents, where the template decides by them; without conditions it is for all contents.
    turns : (str, str), optional
        If it is undecided, two arguments of :func:`tokdfa.check_turns` that decide it for the texts of its slots.

    Examples
    --------
    >>> seam = tokdfa.TemplateSeam("user", "user 1", "before", "undecided", reason="the filter upper", line=3)
    >>> seam.answer, seam.line
    ('undecided', 3)
    """

    shape: str
    slot: str
    side: str
    answer: str
    witness: SplitTexts | None = None
    reason: str = ""
    line: int | None = None
    count: int = 1
    conditions: tuple[str, ...] = ()
    turns: tuple[str, str] | None = None


class Answer(NamedTuple):
    """The answer about a seam: "safe", "splits" or "undecided"; two texts for which it splits, or the reason."""

    answer: str
    witness: SplitTexts | None = None
    reason: str = ""


class Decider:
    """What decides seams for a tokenizer within a budget of time; those that are alike are decided once."""

    def __init__(self, tokenizer: Tokenizer, budget: Budget) -> None:
        self.tokenizer = tokenizer
        self._budget = budget
        self._known: dict[object, Splice] = {}

    def answer(self, rendering: Rendering, before: Sequence[Part], after: Sequence[Part]) -> Answer:
        """Return the answer about a seam; contents give the two texts for which it splits."""
        # A proof for more texts is a proof. If texts are split that no contents give, there may be a proof for fewer.
        for sides in (
            ([*map(_free, before[:-1]), *before[-1:]], [*after[:1], *map(_free, after[1:])]),
            _narrowed(rendering, before, after),
            ([*map(_free, before)], [*map(_free, after)]),
        ):
            if not all(sides):
                # Nothing is on one side.
                return Answer("safe")
            if not self._budget.seconds_left:
                return Answer("undecided", reason=TIME_IS_UP)
            try:
                found = seam_of(self.tokenizer, *sides, quick=True, known=self._known)
            except (UnsupportedFeatureError, LimitExceededError) as error:
                answer = Answer("undecided", reason=error.what)
                continue
            if found.witness is None:
                return Answer("safe")
            texts = self._real(rendering, found.witness, (before, after))
            if texts is not None:
                return Answer("splits", texts)
            answer = Answer("undecided", reason=UNREAL)
        return answer

    def _real(
        self, rendering: Rendering, found: SplitTexts, sides: tuple[Sequence[Part], Sequence[Part]]
    ) -> SplitTexts | None:
        """Return two texts that are split and that contents give, these if possible; None if none are found."""
        if not (rendering.conditions or rendering.origins):
            return found
        for before, after in rendering.texts((found.before, found.after), sides):
            if (before, after) == (found.before, found.after):
                return found
            try:
                ids = self.tokenizer.encode(before), encode_after(self.tokenizer, after)
                whole = tuple(self.tokenizer.encode(before + after).tolist())
            except (AlphabetError, UnsupportedFeatureError):
                continue
            first, second = (tuple(array.tolist()) for array in ids)
            if first + second != whole:
                return SplitTexts(before, after, first, second, whole, shortest=False)
        return None


def _narrowed(rendering: Rendering, before: Sequence[Part], after: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """Return parts with the slots next to a seam without texts that the conditions exclude, and others free."""
    left = [*map(_free, before[:-1]), *rendering.narrowed(before[-1:], from_left=False)]
    return left, [*rendering.narrowed(after[:1], from_left=True), *map(_free, after[1:])]


def _free(part: Part) -> Part:
    return replace(part, pattern=None) if isinstance(part, Slot) else part


class _Place(NamedTuple):
    """A seam in a rendering, with what the template does to a content that matters there."""

    rendering: Rendering
    at: int | None  # The index of the part after it; None if the content is not written
    slot: Slot
    side: str
    note: Note | None

    @property
    def sides(self) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
        return self.rendering.parts[: self.at], self.rendering.parts[self.at :]


def seams_of(decider: Decider, renderings: Iterable[Rendering]) -> tuple[TemplateSeam, ...]:
    """Return the seams of renderings, those that are alike once."""
    groups: dict[object, list[_Place]] = {}
    for rendering in renderings:
        for key, place in _places(decider.tokenizer, rendering):
            groups.setdefault(key, []).append(place)
    return tuple(_seam(decider, places) for places in groups.values())


def _places(tokenizer: Tokenizer, rendering: Rendering) -> Iterator[tuple[object, _Place]]:
    """Yield the seams of a rendering, with keys that are the same for seams that are alike."""
    parts = rendering.parts
    noted = {slot: note for note in reversed(rendering.notes) for slot in note.slots}
    slots = [part for part in parts if isinstance(part, Slot)]
    written = {rendering.content_of(slot) for slot in slots}
    for name in rendering.shape.slots:
        if name in noted and name not in written:
            yield ("missing", name.split()[0], noted[name]), _Place(rendering, None, Slot(name), "before", noted[name])
    for number, part in enumerate(parts):
        if not isinstance(part, Slot):
            continue
        for side, at in (("before", number), ("after", number + 1)):
            if not 0 < at < len(parts):
                continue
            note = noted.get(rendering.content_of(part))
            key: object = "noted", part.name.split()[0], side, note
            if note is None:
                near = near_seam(tokenizer, parts[:at], parts[at:])
                contents = (rendering.content_of(slot) for row in near for slot in row if isinstance(slot, Slot))
                note = next((noted[name] for name in contents if name in noted), None)
                nearest = next_to_seam(*near)
                key = tuple(tuple(map(_bare, row)) for row in nearest), note is not None
            yield key, _Place(rendering, at, part, side, note)


def _bare(part: Part) -> Part:
    return replace(part, name="") if isinstance(part, Slot) else part


def _seam(decider: Decider, places: Sequence[_Place]) -> TemplateSeam:
    """Return the answer about seams that are alike."""
    first = places[0]
    own = [place for place in places if (place.rendering.shape, place.side) == (first.rendering.shape, first.side)]
    shared = set.intersection(*(set(place.rendering.conditions) for place in own))
    conditions = [condition for condition in first.rendering.conditions if condition in shared]
    n_alike = len({(place.rendering.shape, place.slot.name, place.side) for place in places})
    answer = Answer("undecided", None, first.note.what) if first.note is not None else _decided(decider, places)
    return TemplateSeam(
        first.rendering.shape.name,
        first.rendering.name_of(first.slot),
        first.side,
        *answer,
        None if first.note is None else first.note.line,
        n_alike,
        tuple(condition.words for condition in conditions),
        _turns(decider.tokenizer, first) if answer.answer == "undecided" else None,
    )


def _decided(decider: Decider, places: Sequence[_Place]) -> Answer:
    """Return the answer about seams with the same parts next to them: "splits" if one of them does."""
    undecided: Answer | None = None
    known = set()
    for place in places:
        # Its answer may depend on parts that are farther away, as texts to be shown do on conditions.
        before, after = (tuple(map(_bare, side)) for side in place.sides)
        key = before, after, place.rendering.conditions
        if key in known:
            continue
        known.add(key)
        answer = decider.answer(place.rendering, *place.sides)
        if answer.answer == "splits":
            return answer
        undecided = undecided or (answer if answer.answer == "undecided" else None)
    return undecided or Answer("safe")


def _turns(tokenizer: Tokenizer, place: _Place) -> tuple[str, str] | None:
    """Return the parts near a seam as texts with slots; None if the content is not written."""
    if place.at is None:
        return None
    sides = near_seam(tokenizer, *_narrowed(place.rendering, *place.sides))
    # Only where the template changes no content may a restriction to texts that no normalizer changes decide more.
    pattern = None if place.note is not None else r"[ -~\n]*"
    before, after = ([_named(place.rendering, part, pattern) for part in side] for side in sides)
    return written(before), written(after)


def _named(rendering: Rendering, part: Part, pattern: str | None) -> Part:
    """Return a part with a name that is a word, and one that may be any text with a pattern."""
    if isinstance(part, str):
        return part
    name = re.sub(r"\W+", "_", rendering.name_of(part)).strip("_")
    return Slot(name, pattern) if part.pattern is None and pattern is not None else replace(part, name=name)


def written(parts: Sequence[Part]) -> str:
    """Return parts as a text with slots, as :func:`tokdfa.check_turns` takes it."""
    return "".join(map(_written, parts))


def _written(part: Part) -> str:
    if isinstance(part, str):
        return part.replace("{", "{{").replace("}", "}}")
    if part.pattern is not None:
        return f"{{{part.name}:{part.pattern}}}"
    return f"{{{part.name}|trim}}" if part.strips_left and part.strips_right else f"{{{part.name}}}"
