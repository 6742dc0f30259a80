"""Chat templates: the conversations that one is rendered for, and rendering in a child process."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import tokdfa
from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.splices.parts import Part, Slot, checked_parts
from tokdfa.jobs.templates.child import FIRST, FIRST_PART, is_marked
from tokdfa.jobs.templates.contents import Condition, Origin, Origins, are_possible, filled, narrowed, values_in

_TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Find a word.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}


def _call(word: str) -> dict[str, Any]:
    function = {"name": "find", "arguments": {"word": word}}
    return {"id": "call00001", "type": "function", "function": function}


class Shape(NamedTuple):
    """The shape of a conversation."""

    roles: tuple[
        str, ...
    ]  # The roles of the turns; "call" is a turn of the assistant that calls a tool; its content is an argument
    tools: bool = False  # Whether a tool may be called
    prompt: bool | None = None  # Whether the generation prompt is added; None adds it after a user and after a tool

    @property
    def name(self) -> str:
        """The roles, for people."""
        return " ".join(self.roles) + " with tools" * self.tools

    @property
    def slots(self) -> list[str]:
        """The names of the contents, in order."""
        return [f"{role} {number}" for number, role in enumerate(self.roles, 1)]

    @property
    def is_asked(self) -> bool:
        """Whether the assistant speaks next."""
        return self.roles[-1] in ("user", "tool")

    def first(self, n_turns: int, *, prompt: bool = False) -> Shape:
        """Return the shape of the first turns, with or without the generation prompt."""
        return Shape(self.roles[:n_turns], self.tools, prompt)

    def variables(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return the variables of a rendering; contents are marked characters."""
        marks = map(chr, itertools.count(FIRST, 4))
        more = {"tool": {"name": "find", "tool_call_id": "call00001"}}
        messages = [
            {"role": "assistant", "content": "", "tool_calls": [_call(next(marks))]}
            if role == "call"
            else {"role": role, "content": next(marks), **more.get(role, {})}
            for role in self.roles
        ]
        tools = {"tools": [_TOOL]} if self.tools else {}
        prompts = self.is_asked if self.prompt is None else self.prompt
        return {**given, **tools, "messages": messages, "add_generation_prompt": prompts}


SHAPES: Final[tuple[Shape, ...]] = (
    Shape(("user",)),
    Shape(("system", "user")),
    Shape(("user", "assistant")),
    Shape(("user", "assistant", "user")),
    Shape(("system", "user", "assistant", "user")),
    Shape(("user",), tools=True),
    Shape(("system", "user"), tools=True),
    Shape(("user", "call", "tool"), tools=True),
)
"""One to four turns, with and without a system prompt and tools, and the answer of a tool."""

_TURNS = ("user", "assistant", "user", "assistant", "user")
_CALLS = ("user", "call", "tool", "assistant", "user")

CHAINS: Final[tuple[Shape, ...]] = (
    Shape(_TURNS),
    Shape(("system", *_TURNS)),
    Shape(_CALLS, tools=True),
    Shape(("system", *_CALLS), tools=True),
)
"""Conversations that grow turn by turn: the rendering of the first turns should be kept in all longer ones."""

MAX_BYTES = 1 << 30
_MOST_OUTPUT = 1 << 24


class Note(NamedTuple):
    """An operation of a template on contents, other than writing them and stripping white space."""

    what: str
    line: int | None  # The line of the template
    slots: tuple[str, ...]  # The contents


class Rendering(NamedTuple):
    """The text that a template makes of a conversation, for the contents that fulfil some conditions."""

    shape: Shape
    parts: tuple[Part, ...]  # What it writes; empty if it refuses the conversation
    notes: tuple[Note, ...]
    refused: str  # Why it refuses the conversation, in its own words; empty if it does not
    conditions: tuple[Condition, ...] = ()
    origins: Origins = MappingProxyType({})  # Of the slots that are parts of contents

    def content_of(self, slot: Slot) -> str:
        """Return the name of the content that a slot is, or is a part of."""
        return self.origins[slot.name].content if slot.name in self.origins else slot.name

    def name_of(self, slot: Slot) -> str:
        """Return the name of a slot, for people."""
        return self.origins[slot.name].name if slot.name in self.origins else slot.name

    def narrowed(self, side: Sequence[Part], *, from_left: bool) -> list[Part]:
        """Return the parts on a side of a seam; the part next to it without texts that the conditions exclude."""
        parts = [*side]
        at = 0 if from_left else len(parts) - 1
        slot = parts[at] if parts else ""
        if isinstance(slot, Slot):
            origin = self.origins.get(slot.name, Origin(slot.name))
            parts[at : at + 1] = narrowed(slot, origin, self.conditions, from_left=from_left)
        return [*checked_parts(parts)]

    def texts(self, texts: tuple[str, str], sides: tuple[Sequence[Part], Sequence[Part]]) -> Iterator[tuple[str, str]]:
        """Yield two texts of parts on two sides of a seam that contents give: these texts first, if they do."""
        first, second = (next(values_in(side, text), None) for side, text in zip(sides, texts, strict=True))
        if first is None or second is None:
            return
        slots = [part for part in (*sides[0], *sides[1]) if isinstance(part, Slot)]
        for values in filled(slots, [*first, *second], self.conditions, self.origins):
            rest = iter(values)
            before, after = ("".join(part if isinstance(part, str) else next(rest) for part in side) for side in sides)
            yield before, after


class Unkept(NamedTuple):
    """Contents for which the rendering of a conversation is not a prefix of the rendering of a longer one."""

    contents: tuple[str, ...]  # The contents of the longer conversation
    # The renderings of the shorter one, and of the longer one.
    before: str
    after: str


def rendered(
    template: str, shapes: Sequence[Shape], variables: Mapping[str, str], max_seconds: int = 10
) -> list[list[Rendering]]:
    """Return the renderings of each conversation by a template, one for each way in which it decides by contents.

    All of them together may take `max_seconds` of CPU time.
    """
    if find_spec("jinja2") is None:
        raise UnsupportedFeatureError("jinja2 is not installed", hint="pip install 'tokdfa[templates]'")
    if is_marked(template):
        raise UnsupportedFeatureError("a template with private characters", value="U+F0000")
    asked = {"shapes": [shape.variables(variables) for shape in shapes]}
    answer = _asked(template, asked, max_seconds)
    every = [
        [_rendering(shape, row, _Reader(shape, answer["parts"])) for row in rows]
        for shape, rows in zip(shapes, answer["renderings"], strict=True)
    ]
    return [[rendering for rendering in paths if are_possible(rendering.conditions)] for paths in every]


def unkept(
    template: str, variables: Mapping[str, str], max_seconds: int, pairs: Sequence[tuple[Shape, Shape]]
) -> list[Unkept | None]:
    """Return, for pairs of a conversation and a longer one, contents for which the rendering of the first is not kept.

    Texts of many kinds are tried, and those that the template mentions; None says only that none of them is found.
    """
    rows = [
        {
            "short": short.variables(variables),
            "long": long.variables(variables),
            "roles": [name.split()[0] for name in long.slots],
        }
        for short, long in pairs
    ]
    found = _asked(template, {"pairs": rows}, max_seconds)["unkept"]
    return [None if row is None else Unkept(tuple(row["contents"]), row["before"], row["after"]) for row in found]


def _asked(template: str, asked: dict[str, Any], max_seconds: int) -> dict[str, Any]:
    """Return the answer of a child process."""
    asked = {"template": template, "seconds": max_seconds, "bytes": MAX_BYTES, **asked}
    root = str(Path(tokdfa.__file__).parent.parent)
    program = f"import sys; sys.path.insert(0, {root!r}); from tokdfa.jobs.templates.child import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", program],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=10 + 2 * max_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitExceededError("the template takes too long", value=f"more than {max_seconds} s") from None
    if done.returncode < 0:
        raise LimitExceededError("the template takes too much time or memory", value=f"signal {-done.returncode}")
    if done.returncode or len(done.stdout) > _MOST_OUTPUT:
        what = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200] or "too long"
        raise LimitExceededError("the template cannot be rendered within the limits", value=what)
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        where = "" if answer["line"] is None else f"line {answer['line']}"
        looks_like_json = template.lstrip().startswith("{") and not template.lstrip().startswith(("{{", "{%", "{#"))
        hint = "it looks like JSON: the template is the text in its chat_template" if looks_like_json else None
        raise FileFormatError("the template cannot be read", value=answer["error"], where=where, hint=hint)
    return answer


class _Reader:
    """A reader of the characters that stand for contents and parts of contents."""

    def __init__(self, shape: Shape, parts: Sequence[Mapping[str, str]]) -> None:
        self._slots = shape.slots
        self._parts = parts
        self.origins: dict[str, Origin] = {}

    def origin(self, symbol: str) -> Origin:
        """Return the origin of what a character stands for, with the white space that is stripped as the last step."""
        point = ord(symbol)
        whole = self._whole(point)
        strips = {1: "lstrip", 2: "rstrip", 3: "strip"}.get(point & 3)
        return whole if strips is None else whole._replace(steps=(*whole.steps, (strips, None)))

    def _whole(self, point: int) -> Origin:
        if point < FIRST_PART:
            return Origin(self._slots[(point - FIRST) // 4])
        row = self._parts[(point - FIRST_PART) // 4]
        before = self.origin(row["of"])
        return before._replace(steps=(*before.steps, (row["operation"], row["text"])))

    def part(self, symbol: str) -> Part:
        """Return the slot that a character stands for; another character as it is."""
        point = ord(symbol)
        if not is_marked(symbol):
            return symbol
        whole, left, right = self._whole(point), bool(point & 1), bool(point & 2)
        if not whole.steps:
            return Slot(whole.content, None, left, right)
        self.origins[whole.slot_name] = whole
        # More texts than there are, if white space is stripped as well.
        return Slot(whole.slot_name, None if left or right else whole.pattern, left, right)


def _rendering(shape: Shape, row: dict[str, Any], reader: _Reader) -> Rendering:
    names = shape.slots
    noted = [Note(note["what"], note["line"], tuple(names[slot] for slot in note["slots"])) for note in row["notes"]]
    parts = checked_parts([*map(reader.part, row["text"] or "")])
    conditions = [
        Condition(reader.origin(symbol), question, text, holds) for question, symbol, text, holds in row["answers"]
    ]
    refused = row["refused"] if row["refused"] is not None else row["error"] or ""
    return Rendering(shape, parts, tuple(dict.fromkeys(noted)), refused, tuple(conditions), reader.origins)
