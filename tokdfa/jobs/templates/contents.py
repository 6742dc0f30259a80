"""The contents of a conversation in one rendering: parts of them, and the conditions under which it is what is written.

A template may write a part of a content, ``content.split("</think>")[-1]``, or decide by it, ``"</think>" in content``.
A rendering holds for the contents that fulfil its conditions. A search for two texts may give values for its slots that
no content gives; `filled` looks for contents that give them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, permutations, product
from typing import Final, NamedTuple, TypeAlias

from tokdfa.jobs.splices.parts import Part, Slot

_WORDS: Final = {
    "is": "is {}",
    "contains": "contains {}",
    "starts": "begins with {}",
    "ends": "ends with {}",
    "not is": "is not {}",
    "not contains": "does not contain {}",
    "not starts": "does not begin with {}",
    "not ends": "does not end with {}",
}
_STEPS: Final = {"head": "before {}", "tail": "after {}", "json": "in JSON"}
# What JSON writes between quotes for any text.
_JSON_PATTERN: Final = r'(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00(?:0[0-7bef]|1[0-9a-f]))*'
_MOST_VALUES: Final = 6
_MOST_OPTIONS: Final = 8
_MOST_CHOICES: Final = 64


class Origin(NamedTuple):
    """A content, or a part of it: the operations on the content, each with its text, None for white space."""

    content: str  # The name of the slot
    steps: tuple[tuple[str, str | None], ...] = ()

    @property
    def name(self) -> str:
        """The content, and where in it the part is, for people."""
        words = (_STEPS[step].format(repr(text)) for step, text in self.steps if step in _STEPS)
        return " ".join((self.content, *words))

    @property
    def slot_name(self) -> str:
        """A name that another part of this content does not have."""
        return self.name + "".join(f" {step}({'' if text is None else repr(text)})" for step, text in self.steps[-1:])

    @property
    def pattern(self) -> str | None:
        """A regular expression that all these parts match; None if they may be any text."""
        step, text = self.steps[-1] if self.steps else ("", None)
        if step == "json":
            return _JSON_PATTERN
        if text is None or not step.endswith("strip"):
            return None
        edge = f"[^{re.escape(text)}]".replace("\\\n", "\\n")
        if step == "strip":
            return f"(?:{edge}(?:[\\s\\S]*{edge})?)?"
        return f"(?:{edge}[\\s\\S]*)?" if step == "lstrip" else f"(?:[\\s\\S]*{edge})?"

    def of(self, text: str) -> str:
        """Return the part of a content."""
        for step, by in self.steps:
            if step == "json":
                text = json.dumps(text, ensure_ascii=False)[1:-1]
            elif step in _STEPS:
                assert by is not None
                text = text.split(by)[0 if step == "head" else -1]
            else:
                text = getattr(text, step)(by)
        return text


class Condition(NamedTuple):
    """A condition on a content: that it is, contains, begins with or ends with a text, or that it is not so."""

    origin: Origin
    question: str  # "is", "contains", "starts" or "ends"
    text: str
    holds: bool

    @property
    def words(self) -> str:
        """The condition, for people."""
        shown = "empty" if self.question == "is" and not self.text else repr(self.text)
        return f"{self.origin.name} {_WORDS['not ' * (not self.holds) + self.question].format(shown)}"

    def is_of(self, content: str) -> bool:
        """Return whether a content fulfils it."""
        part = self.origin.of(content)
        found = {
            "is": part == self.text,
            "contains": self.text in part,
            "starts": part.startswith(self.text),
            "ends": part.endswith(self.text),
        }
        return found[self.question] == self.holds


def agree(conditions: Iterable[Condition], others: Iterable[Condition]) -> bool:
    """Return whether no condition is denied by one of the others."""
    denied = {condition._replace(holds=not condition.holds) for condition in others}
    return denied.isdisjoint(conditions)


def are_possible(conditions: Sequence[Condition]) -> bool:
    """Return whether contents that are known fulfil the other conditions."""
    known = {
        of.content: text for of, question, text, holds in conditions if question == "is" and holds and not of.steps
    }
    return all(
        condition.is_of(known[condition.origin.content])
        for condition in conditions
        if condition.origin.content in known
    )


def values_in(parts: Sequence[Part], text: str) -> Iterator[list[str]]:
    """Yield values of the slots with which parts are a text: the shortest of the first ones, then the longest."""
    for some in (r"([\s\S]*?)", r"([\s\S]*)"):
        found = re.fullmatch("".join(re.escape(part) if isinstance(part, str) else some for part in parts), text)
        if found is not None:
            yield [*found.groups()]


def narrowed(slot: Slot, origin: Origin, conditions: Sequence[Condition], *, from_left: bool) -> list[Part]:
    """Return parts for a slot of a content that fulfils conditions, as seen from its beginning or from its end.

    Their texts need not fulfil all conditions.
    """
    if slot.strips_left or slot.strips_right:
        return [slot]
    own = {question: text for of, question, text, holds in conditions if of == origin and holds}
    if "is" in own:
        return [own["is"]]
    edge = own.get("starts" if from_left else "ends")
    if edge:
        return [edge, Slot(slot.name)] if from_left else [Slot(slot.name), edge]
    if Condition(origin, "is", "", False) not in conditions:
        return [slot]
    return [replace(slot, pattern=r"[\s\S]+" if slot.pattern is None else slot.pattern.removesuffix("?"))]


Origins: TypeAlias = Mapping[str, Origin]
"""The origins of slots that are parts of contents, by their names."""


def filled(
    slots: Sequence[Slot], values: Sequence[str], conditions: Sequence[Condition], origins: Origins
) -> Iterator[list[str]]:
    """Yield values of slots for contents that fulfil all conditions: these values first, if contents give them."""
    of_slots = [origins.get(slot.name, Origin(slot.name)) for slot in slots]
    names = [origin.content for origin in of_slots] + [condition.origin.content for condition in conditions]
    options: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        wanted = [(origin, value) for origin, value in zip(of_slots, values, strict=True) if origin.content == name]
        own = [condition for condition in conditions if condition.origin.content == name]
        # All parts as wanted, or one of them, or none.
        wishes = (wanted, *([one] for one in wanted), [])
        found = chain.from_iterable(_contents(wish, _candidates(wanted, own), own) for wish in wishes)
        options[name] = [*dict.fromkeys(islice(found, _MOST_OPTIONS))]
    for chosen in islice(product(*options.values()), _MOST_CHOICES):
        contents = dict(zip(options, chosen, strict=True))
        yield [
            _without_ends(origin.of(contents[origin.content]), slot)
            for origin, slot in zip(of_slots, slots, strict=True)
        ]


def _without_ends(text: str, slot: Slot) -> str:
    """Return a text without the white space that a slot strips."""
    text = text.lstrip() if slot.strips_left else text
    return text.rstrip() if slot.strips_right else text


def _contents(
    wanted: Sequence[tuple[Origin, str]], candidates: Iterable[str], conditions: Sequence[Condition]
) -> Iterator[str]:
    """Yield the candidates with these parts that fulfil all conditions."""
    for text in candidates:
        has_parts = all(origin.of(text) == value for origin, value in wanted)
        if has_parts and all(condition.is_of(text) for condition in conditions):
            yield text


def _unescaped(origin: Origin, value: str) -> str:
    """Return the text for which JSON writes a part of a content, if it is such a part."""
    if not any(step == "json" for step, _ in origin.steps):
        return value
    try:
        return str(json.loads(f'"{value}"'))
    except ValueError:
        return value


def _candidates(wanted: Sequence[tuple[Origin, str]], conditions: Sequence[Condition]) -> Iterator[str]:
    """Yield contents that may have these parts: these alone, around the texts of conditions, and joined by them."""
    values = [*dict.fromkeys([*(_unescaped(*part) for part in wanted), "", "a"])][:_MOST_VALUES]
    steps = [text for origin, _ in wanted for step, text in origin.steps if step in _STEPS and text]
    texts = [*dict.fromkeys([*steps, *(condition.text for condition in conditions if condition.holds)])]
    for value in values:
        yield value
        for text in texts:
            yield from (text, value + text, text + value, f"{text}{value}{text}")
            yield from (f"{text}{value}{other}" for other in texts)
    for one, other in permutations(values, 2):
        yield from (one + text + other for text in texts)
        yield from (f"{text}{one}{between}{other}" for text in texts for between in texts)
