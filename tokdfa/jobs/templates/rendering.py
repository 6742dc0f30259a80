"""Chat templates: reading one, the conversations that it is rendered for, and rendering in a child process."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import tokdfa
from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.splices.parts import Part, Slot, checked_parts
from tokdfa.jobs.templates.child import FIRST, is_marked
from tokdfa.tokenizers.formats.files import content, decode_utf8
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object

_CONFIG: Final = "tokenizer_config.json"
_JINJA: Final = "chat_template.jinja"
_MORE: Final = "additional_chat_templates"
_DEFAULT: Final = "default"
# The variables that transformers gives to templates, if the tokenizer has them.
_TOKENS: Final = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Source(NamedTuple):
    """A chat template and the other fields of its file."""

    text: str  # The template
    name: str | None  # Its name, where the file has several
    names: tuple[str, ...]  # The names of all of them
    # The special tokens of a ``tokenizer_config.json``, which a template is given; None for one that is not set.
    variables: dict[str, str | None]


def read_template(path: str | Path, name: str | None = None) -> Source:
    """Return the template of a name in a file or a folder; by default the one called "default".

    The file is a Jinja file, or a JSON file with ``chat_template``, such as ``tokenizer_config.json``. In a folder,
    ``chat_template.jinja`` comes first, as in transformers.
    """
    path = Path(path)
    if path.is_dir():
        return _in_folder(path, name)
    data = content(path)
    is_json = path.suffix.lower() == ".json"
    try:
        config = parse_object(data, path) if is_json or data.lstrip().startswith(b"{") else None
    except FileFormatError:
        # A Jinja template may begin with a brace, too.
        if is_json:
            raise
        config = None
    if config is None:
        return _chosen({_DEFAULT: decode_utf8(data, path)}, name, path, {})
    return _chosen(_templates(config, path), name, path, _tokens(config))


def _in_folder(folder: Path, name: str | None) -> Source:
    found: dict[str, str] = {}
    variables: dict[str, str | None] = {}
    config_path, jinja_path = folder / _CONFIG, folder / _JINJA
    if config_path.is_file():
        config = parse_object(content(config_path), config_path)
        variables = _tokens(config)
        if not jinja_path.is_file() and config.fields.get("chat_template") is not None:
            found = _templates(config, config_path)
    if jinja_path.is_file():
        paths = {_DEFAULT: jinja_path, **{file.stem: file for file in sorted((folder / _MORE).glob("*.jinja"))}}
        found = {key: decode_utf8(content(file), file) for key, file in paths.items()}
    if not found:
        raise FileFormatError(f"neither {_JINJA} nor {_CONFIG} with a chat template", where=str(folder))
    return _chosen(found, name, folder, variables)


def _templates(config: JsonObject, path: Path) -> dict[str, str]:
    """Return the templates of a JSON file by their names: one text, or a list of named ones."""
    given = config.fields.get("chat_template")
    if given is None:
        beside = path.with_name(_JINJA)
        hint = f"give {beside}" if beside.is_file() else f"newer tokenizers have it in a file {_JINJA}"
        raise FileFormatError("no chat_template in this file", where=str(path), hint=hint)
    if isinstance(given, str):
        return {_DEFAULT: given}
    rows: Any = given
    if isinstance(given, list) and all(isinstance(row, dict) for row in given):
        rows = {row.get("name"): row.get("template") for row in given}
    is_named = isinstance(rows, dict) and all(isinstance(part, str) for pair in rows.items() for part in pair)
    if not rows or not is_named:
        raise FileFormatError("a template, or a list of named ones, is expected", where=f"{path}, $.chat_template")
    return {str(name): str(text) for name, text in rows.items()}


def _tokens(config: JsonObject) -> dict[str, str | None]:
    """Return the special tokens of a ``tokenizer_config.json``, each a text or an object with its content."""
    found: dict[str, str | None] = {}
    for key in filter(config.fields.__contains__, _TOKENS):
        token = config.fields[key]
        token = token.get("content") if isinstance(token, dict) else token
        found[key] = token if isinstance(token, str) else None
    return found


def _chosen(templates: dict[str, str], name: str | None, path: Path, variables: dict[str, str | None]) -> Source:
    names = tuple(templates)
    wanted = name or (_DEFAULT if _DEFAULT in templates or len(templates) > 1 else names[0])
    if wanted not in templates:
        what = "no chat template of this name" if name else "several chat templates, and none of them is the default"
        raise FileFormatError(what, where=str(path), value=wanted, hint=f"the names are {', '.join(names)}")
    return Source(templates[wanted], wanted if len(names) > 1 else None, names, variables)


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
    """The shape of a conversation."""

    roles: tuple[str, ...]  # The roles of the turns; "call" is a turn of the assistant that only calls a tool
    tools: bool = False  # Whether a tool may be called
    prompt: bool | None = None  # Whether the generation prompt is added; None adds it after a user and after a tool

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

    def variables(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return the variables of a rendering; contents are marked characters."""
        marks = map(chr, itertools.count(FIRST, 4))
        more = {"tool": {"name": "find", "tool_call_id": "call00001"}}
        messages = [
            {"role": "assistant", "content": "", "tool_calls": [_CALL]}
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
_MOST_OUTPUT = 1 << 22


class Note(NamedTuple):
    """An operation of a template on contents, other than writing them and stripping white space."""

    what: str
    line: int | None  # The line of the template
    slots: tuple[str, ...]  # The contents


class Rendering(NamedTuple):
    """The text that a template makes of a conversation."""

    shape: Shape
    parts: tuple[Part, ...]  # What it writes; empty if it refuses the conversation
    notes: tuple[Note, ...]
    refused: str  # Why it refuses the conversation, in its own words; empty if it does not


class Unkept(NamedTuple):
    """Contents for which the rendering of a conversation is not a prefix of the rendering of a longer one."""

    contents: tuple[str, ...]  # The contents of the longer conversation
    # The renderings of the shorter one, and of the longer one.
    before: str
    after: str


def rendered(
    template: str, shapes: Sequence[Shape], variables: Mapping[str, str], max_seconds: int = 10
) -> list[Rendering]:
    """Return the renderings of conversations by a template; it may take `max_seconds` of CPU time."""
    if find_spec("jinja2") is None:
        raise UnsupportedFeatureError("jinja2 is not installed", hint="pip install 'tokdfa[templates]'")
    if is_marked(template):
        raise UnsupportedFeatureError("a template with private characters", value="U+F0000")
    asked = {"shapes": [shape.variables(variables) for shape in shapes]}
    rows = _asked(template, asked, max_seconds)["renderings"]
    return [_rendering(shape, row) for shape, row in zip(shapes, rows, strict=True)]


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


def _rendering(shape: Shape, row: dict[str, Any]) -> Rendering:
    names = shape.slots
    noted = [Note(note["what"], note["line"], tuple(names[slot] for slot in note["slots"])) for note in row["notes"]]
    parts: list[Part] = []
    for symbol in row["text"] or "":
        point = ord(symbol) - FIRST
        if 0 <= point < 4 * len(names):
            parts.append(Slot(names[point // 4], None, bool(point & 1), bool(point & 2)))
        else:
            parts.append(symbol)
    refused = row["refused"] if row["refused"] is not None else row["error"] or ""
    return Rendering(shape, checked_parts(parts), tuple(dict.fromkeys(noted)), refused)
