"""The conversations that a template is rendered for; contents are slots."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tokdfa.templates.marked import FIRST

__all__ = ["CHAINS", "SHAPES", "Shape"]

_TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Find a word.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}
_CALL = {"id": "call00001", "type": "function", "function": {"name": "find", "arguments": {"word": "a"}}}


class Shape(NamedTuple):
    """The shape of a conversation.

    Parameters
    ----------
    roles : tuple of str
        Those of the turns; "call" is a turn of the assistant that only calls a tool.
    tools : bool
        Whether a tool may be called.
    prompt : bool, optional
        Whether the generation prompt is added; by default after a user and after a tool.
    """

    roles: tuple[str, ...]
    tools: bool = False
    prompt: bool | None = None

    @property
    def name(self) -> str:
        """The roles, for people."""
        return " ".join(self.roles) + " with tools" * self.tools

    @property
    def slots(self) -> list[str]:
        """The names of the contents, in order."""
        return [f"{role} {number}" for number, role in enumerate(self.roles, 1) if role != "call"]

    @property
    def is_asked(self) -> bool:
        """Whether the assistant speaks next."""
        return self.roles[-1] in ("user", "tool")

    def first(self, n_turns: int, *, prompt: bool = False) -> Shape:
        """Return the shape of the first turns, with or without the generation prompt."""
        return Shape(self.roles[:n_turns], self.tools, prompt)

    def variables(self, given: dict[str, str]) -> dict[str, Any]:
        """Return what the template is rendered with; contents are marked characters."""
        messages: list[dict[str, Any]] = []
        count = 0
        for role in self.roles:
            if role == "call":
                messages.append({"role": "assistant", "content": "", "tool_calls": [_CALL]})
                continue
            content = chr(FIRST + 4 * count)
            count += 1
            more = {"name": "find", "tool_call_id": "call00001"} if role == "tool" else {}
            messages.append({"role": role, "content": content, **more})
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
"""Conversations that grow turn by turn: what is rendered of the first turns should be there in all longer ones."""
