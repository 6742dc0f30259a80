"""The program of the child process that renders a template, with JSON in and out, and the strings that it renders.

Contents are `Marked` strings of characters that stand for them. Adding and stripping these is recorded in the
characters; a part of a content, such as ``content.split("</think>")[-1]``, has a character of its own. A branch on a
content, such as ``"</think>" in content``, is followed on both sides, one rendering each. All other operations on
contents are noted.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

__all__: list[str] = []

FIRST: Final = 0xF0000
"""The character that stands for the first content; each has four, by the sides on which white space is stripped."""
FIRST_PART: Final = 0xF8000
"""The character that stands for the first part of a content."""
_LAST: Final = 0xFFFFD

_notes: list[dict[str, Any]] = []
"""The operations on contents, and where: ``{"what": …, "line": …, "slots": […]}``."""
_parts: list[dict[str, Any]] = []
"""The parts of contents, in the order of their characters: ``{"of": character, "operation": …, "text": …}``."""
_planned: list[bool] = []
_answers: dict[tuple[str, str, str], bool] = {}
"""The answers to questions about contents in this rendering: the first ones as planned, others as they usually are."""
_MOST_PATHS = 128
_MOST_PARTS = 200


def _slot_of(point: int) -> int:
    """Return the number of the content that a character, or a part of it, stands for."""
    while point >= FIRST_PART:
        point = ord(_parts[(point - FIRST_PART) // 4]["of"])
    return (point - FIRST) // 4


def slots_in(value: object) -> set[int]:
    """Return the numbers of the contents that a string, or one in a list or a dict, stands for."""
    if isinstance(value, str):
        points = map(ord, str.__str__(value))
        return {_slot_of(point) for point in points if FIRST <= point <= _LAST}
    if isinstance(value, Pieces):
        value = [*list.__iter__(value)]
    members = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return set().union(*map(slots_in, members))


def is_marked(value: object) -> bool:
    """Return whether a string, or one in a list or a dict, stands for contents."""
    if isinstance(value, str):
        return any(FIRST <= ord(symbol) <= _LAST for symbol in str.__str__(value))
    return bool(slots_in(value))


def mark(value: Any) -> Any:
    """Return a string as one that notes operations on it, if it stands for contents; anything else as it is."""
    return Marked(value) if isinstance(value, str) and not isinstance(value, Marked) and is_marked(value) else value


def note(what: str, *values: object) -> None:
    """Note an operation on contents, with the line of the template."""
    frame, line = sys._getframe(1), None
    while frame is not None and line is None:
        template = frame.f_globals.get("__jinja_template__") or frame.f_globals.get("_tokdfa_template")
        if frame.f_code.co_filename == "<template>" and template is not None:
            line = template.get_corresponding_lineno(frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    _notes.append({"what": what, "line": line, "slots": sorted(slots_in(values))})


def _holds(question: str, content: str, text: str = "") -> bool:
    """Return the answer to a question about a content, which has the same one throughout a rendering."""
    key = question, str.__str__(content), str.__str__(text)
    if key not in _answers:
        at = len(_answers)
        _answers[key] = _planned[at] if at < len(_planned) else False
    return _answers[key]


def _part(operation: str, content: str, text: str) -> str:
    """Return the character of a part of a content."""
    row = {"of": str.__str__(content), "operation": operation, "text": str.__str__(text)}
    if row not in _parts:
        if len(_parts) >= _MOST_PARTS:
            note(operation, content)
            return content
        _parts.append(row)
    return Marked(chr(FIRST_PART + 4 * _parts.index(row)))


class Pieces(list[str]):
    """What ``content.split(text)`` gives; its first and its last piece are parts of the content."""

    def __init__(self, content: str, text: str) -> None:
        super().__init__([content])
        self._content, self._text = content, text

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int and index in (0, -1):
            return _part("head" if index == 0 else "tail", self._content, self._text)
        note("split", self._content)
        return super().__getitem__(index)


class Marked(str):
    """A string that stands for contents, or has such characters."""

    __slots__ = ()

    @property
    def _is_one(self) -> bool:
        """Whether it stands for a content and nothing else."""
        return str.__len__(self) == 1

    def _asked(self, question: str, text: object, *more: object) -> bool | None:
        """Return the answer to a question with a text of the template; None if it is about more than one content."""
        is_plain = isinstance(text, str) and not is_marked(text) and not more
        return _holds(question, self, str(text)) if self._is_one and is_plain else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        if str.__eq__(self, other):
            return True
        if not other:
            return not self
        answer = self._asked("is", other)
        if answer is None:
            note("eq", self, other)
            return False
        return answer

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __contains__(self, text: object) -> bool:
        answer = text == "" or self._asked("contains", text)
        if answer is None:
            note("contains", self, text)
            return str.__contains__(self, text)  # type: ignore[operator]
        return answer

    def __getitem__(self, index: Any) -> str:
        if isinstance(index, str):
            # The same for every text: no template finds an attribute of this name.
            raise TypeError("string indices must be integers")
        if not (isinstance(index, slice) and self._is_cut_outside(index)):
            note("getitem", self)
        return mark(str.__getitem__(self, index))  # type: ignore[no-any-return]

    def _is_cut_outside(self, index: slice) -> bool:
        """Return whether a slice, such as ``[1:-1]``, takes off only text of the template, outside of all contents."""
        start, stop, symbols = index.start or 0, index.stop, str.__str__(self)
        is_plain = index.step in (None, 1) and type(start) is int and start >= 0
        is_plain = is_plain and (stop is None or (type(stop) is int and stop < 0))
        return is_plain and not is_marked(symbols[:start] + ("" if stop is None else symbols[stop:]))

    def startswith(self, text: Any, *more: Any) -> bool:
        """Return whether a content begins with a text."""
        answer = self._asked("starts", text, *more)
        if answer is None:
            note("startswith", self, text)
            return str.startswith(self, text, *more)
        return answer

    def endswith(self, text: Any, *more: Any) -> bool:
        """Return whether a content ends with a text."""
        answer = self._asked("ends", text, *more)
        if answer is None:
            note("endswith", self, text)
            return str.endswith(self, text, *more)
        return answer

    def split(self, text: Any = None, *more: Any) -> list[str]:
        """Return the pieces of a content between the places of a text."""
        if self._is_one and isinstance(text, str) and text and not is_marked(text) and not more:
            return Pieces(self, text)
        note("split", self)
        return [*map(mark, str.split(self, text, *more))]

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> str:
        return Marked(str.__add__(self, other))

    def __radd__(self, other: str) -> str:
        return Marked(str.__add__(other, self))

    def __format__(self, how: str) -> str:
        if how:
            note("format", self)
        return str.__format__(self, how)

    def __bool__(self) -> bool:
        if not all(FIRST <= ord(symbol) <= _LAST for symbol in str.__str__(self)):
            return True
        if self._is_one:
            return not _holds("is", self)
        note("a branch on whether it is empty", self)
        return True

    def strip(self, characters: str | None = None) -> str:
        """Return it with the stripping on both sides noted in the characters that stand for contents."""
        return self._stripped(characters, True, True)

    def lstrip(self, characters: str | None = None) -> str:
        """Return it stripped on the left."""
        return self._stripped(characters, True, False)

    def rstrip(self, characters: str | None = None) -> str:
        """Return it stripped on the right."""
        return self._stripped(characters, False, True)

    def _stripped(self, characters: str | None, left: bool, right: bool) -> str:
        if characters is not None and self._is_one and not is_marked(characters):
            side = "" if left and right else "l" if left else "r"
            return _part(f"{side}strip", self, characters)
        if characters is not None:
            note("strip of some white space" if all(map(str.isspace, characters)) else "strip", self)
        text = str.lstrip(str.__str__(self)) if left else str.__str__(self)
        text = str.rstrip(text) if right else text
        for at, flag, is_stripped in ((0, 1, left), (-1, 2, right)):
            if is_stripped and text and is_marked(text[at]):
                if len(text) > 1:
                    # Nothing may be left of this content, so that the next one is stripped.
                    note("strip of more than one content", text)
                flagged = chr(FIRST + ((ord(text[at]) - FIRST) | flag))
                text = text[:-1] + flagged if at else flagged + text[1:]
        return mark(text)  # type: ignore[no-any-return]


def _noting_method(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)

    def method(self: Marked, *arguments: Any, **named: Any) -> Any:
        note(name.strip("_"), self, *arguments)
        return mark(plain(self, *arguments, **named))

    return method


# The methods of every object, but for comparing, hashing and showing it.
_KEPT = {*vars(object), "__getnewargs__"}
_KEPT -= {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__"}
for _name in dir(str):
    if _name not in _KEPT | {*vars(Marked)} - {"__hash__"}:
        setattr(Marked, _name, _noting_method(_name))


def _noting_list_method(name: str) -> Callable[..., Any]:
    plain = getattr(list, name)

    def method(self: Pieces, *arguments: Any, **named: Any) -> Any:
        note("split", [*list.__iter__(self)], *arguments)
        return plain(self, *arguments, **named)

    return method


for _name in dir(list):
    if _name not in _KEPT | {*vars(Pieces), "__class_getitem__", "__hash__"}:
        setattr(Pieces, _name, _noting_list_method(_name))


# The effect of these depends on no content, or only puts contents side by side.
_CONTAINER_FILTERS = frozenset(
    ("list", "length", "count", "first", "last", "map", "selectattr", "rejectattr", "items", "reverse", "attr")
)
_FILTERS = _CONTAINER_FILTERS | {"trim", "string", "safe", "join", "default", "d", "tojson"}
# The answer of these about a content is the same for every text.
_KINDS = ("iterable", "sequence", "mapping", "string", "number", "integer", "float", "boolean", "callable")
_SAME = (*_KINDS, "defined", "undefined", "none", "true", "false")
# Contents that templates are known to treat in some way of their own.
_TEXTS = (
    *("", " ", "\n", " a", "a ", "\n\na\n\n", "a\nb", "A", "0", "None", '{"a": 1}', "a" * 100),
    *("<think>\na\n</think>\n\nb", "<think>a</think>b", "a</think>b", "<think>a", "<think>\n\n</think>\n\nb"),
    *("<tool_call>\na\n</tool_call>", "<tool_response>\na\n</tool_response>", "/no_think", "[INST] a [/INST]"),
)
_WHITE = "\u2003\u2002\u2004\u2005\u3000\u1680\x1f\x1e\x1d\x1c\x85\u2028\u2029\u00a0 "
_MOST_CONSTANTS = 24
_LONGEST_CONSTANT = 40


def main() -> None:
    """Answer the request on standard input, within its limits, on standard output."""
    asked = json.loads(sys.stdin.read())
    import resource

    import jinja2
    import jinja2.debug

    environment = _environment()
    for what, limit in ((resource.RLIMIT_AS, asked["bytes"]), (resource.RLIMIT_CPU, asked["seconds"])):
        resource.setrlimit(what, (limit, limit))
    try:
        template = environment.from_string(asked["template"])
        # Python opens files while it compiles a template; the template itself needs none.
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        answer: dict[str, Any] = {}
        if "pairs" in asked:
            answer["unkept"] = [*_unkept(template, _constants(environment, asked["template"]), asked)]
        else:
            answer["renderings"] = [*_rendered(template, asked["shapes"])]
            answer["parts"] = _parts
    except jinja2.TemplateSyntaxError as error:
        answer = {"error": error.message, "line": error.lineno}
    except MemoryError:
        answer = {"error": "it needs too much memory", "line": None}
    except RecursionError:
        answer = {"error": "it is nested too deeply", "line": None}
    sys.stdout.write(json.dumps(answer))


class _RefusedError(Exception):
    """The exception that a template raises by itself."""


def _rendered(template: Any, shapes: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the renderings of each conversation, for all answers to the questions about contents that are asked."""
    template.root_render_func.__globals__["_tokdfa_template"] = template
    for shape in shapes:
        rows: list[dict[str, Any]] = []
        plans: list[list[bool]] = [[]]
        while plans and len(rows) < _MOST_PATHS:
            _planned[:] = plans.pop()
            _notes.clear()
            _answers.clear()
            row = _row(template, shape)
            answers = [*_answers.values()]
            plans += [[*answers[:at], not answers[at]] for at in range(len(_planned), len(answers))]
            rows.append({**row, "answers": [(*key, answer) for key, answer in _answers.items()], "notes": [*_notes]})
        if plans:
            slots = sorted(slots_in([shape["messages"]]))
            rows[0]["notes"].append({"what": f"more than {_MOST_PATHS} branches", "line": None, "slots": slots})
        yield rows


def _row(template: Any, variables: dict[str, Any]) -> dict[str, Any]:
    """Return the text that a template makes of a conversation, or why there is none."""
    import jinja2

    row: dict[str, Any] = {"text": None, "error": None, "refused": None}
    try:
        row["text"] = str.__str__(template.render(**_changed(variables, mark)))
    except _RefusedError as error:
        row["refused"] = str(error)
    except (jinja2.TemplateError, TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        row["error"] = f"{type(error).__name__}: {error}"
    return row


def _constants(environment: Any, source: str) -> list[str]:
    """Return the texts that a template mentions."""
    import jinja2.nodes

    found = (node.value for node in environment.parse(source).find_all(jinja2.nodes.Const))
    texts = dict.fromkeys(value for value in found if isinstance(value, str) and 0 < len(value) <= _LONGEST_CONSTANT)
    return [*texts][:_MOST_CONSTANTS]


def _unkept(template: Any, constants: list[str], asked: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Yield, for each pair of conversations, contents for which the first rendering is not a prefix of the second."""
    texts = [*_TEXTS, *(text for constant in constants for text in (constant, f"a{constant}b"))]
    white = next((symbol for symbol in _WHITE if symbol not in asked["template"]), " ")
    for pair in asked["pairs"]:
        found = None
        for contents in _contents(pair["roles"], texts, white):

            def filled(value: Any, contents: list[str] = contents) -> Any:
                return contents[(ord(value) - FIRST) // 4] if is_marked(value) else value

            before, after = (_row(template, _changed(pair[name], filled))["text"] for name in ("short", "long"))
            if before is not None and after is not None and not after.startswith(before):
                found = {"contents": contents, "before": before, "after": after}
                break
        yield found


def _contents(roles: list[str], texts: list[str], white: str) -> Iterator[list[str]]:
    """Yield contents for slots: different ones, then each text for all slots, and for the slots of each role alone."""
    letters = [chr(ord("a") + slot) for slot in range(len(roles))]
    yield letters
    yield [f" {letter} " for letter in letters]
    # No template writes these, so that any change to them is seen.
    yield [f"{white}{chr(0xE000 + slot)}{white}" for slot in range(len(roles))]
    for text in texts:
        yield [text] * len(roles)
        for role in dict.fromkeys(roles):
            yield [text if own == role else letter for own, letter in zip(roles, letters, strict=True)]


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a value with everything in its lists and dicts changed."""
    if isinstance(value, dict):
        return {name: _changed(member, change) for name, member in value.items()}
    return [_changed(member, change) for member in value] if isinstance(value, (list, tuple)) else change(value)


def _environment() -> Any:
    import jinja2.ext
    import jinja2.nodes
    import jinja2.runtime
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(jinja2.ext.Extension):
        """The tag that marks the output of a model; it changes nothing."""

        tags = {"generation"}  # noqa: RUF012

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    class Environment(ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(("+", "%", "*"))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if is_marked(left) or is_marked(right):
                if operator == "+" and not isinstance(left, Pieces) and not isinstance(right, Pieces):
                    return mark(left + right)
                note(f"the operator {operator}", left, right)
            return mark(super().call_binop(context, operator, left, right))

        def call(self, context: Any, function: Any, *arguments: Any, **named: Any) -> Any:
            owner = getattr(function, "__self__", None)
            # Jinja adds the variables of the loop and of the block.
            values = [*arguments, *(value for key, value in named.items() if key not in ("_loop_vars", "_block_vars"))]
            if isinstance(owner, str) and not isinstance(owner, Marked) and is_marked(values):
                name = getattr(function, "__name__", "")
                if name == "join" and not isinstance(arguments[0], Pieces):
                    return mark(owner.join(map(str.__str__, *arguments)))
                note(name, *values)
            return mark(super().call(context, function, *arguments, **named))

    def joined(parts: Any) -> Any:
        return mark("".join(map(str, parts)))

    for name in ("str_join", "markup_join"):
        setattr(jinja2.runtime, name, joined)
    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols", "jinja2.ext.do"]
    )
    environment.concat = joined  # type: ignore[method-assign]
    environment.filters["tojson"] = _as_json
    environment.filters["fromjson"] = json.loads
    environment.filters |= {name: _noting(name, function) for name, function in environment.filters.items()}
    environment.tests |= {name: _of_a_text(environment.tests[name]) for name in _SAME}
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda form: "2026-01-01"
    return environment


def _noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that notes its use on contents."""

    @functools.wraps(function)
    def filtered(*arguments: Any, **named: Any) -> Any:
        values = [*arguments, *named.values()]
        pieces = next((value for value in values if isinstance(value, Pieces)), None)
        if pieces is not None and name in ("first", "last"):
            return pieces[0 if name == "first" else -1]
        is_text = any(isinstance(value, str) and is_marked(value) for value in values)
        if is_marked(values) and (name not in _FILTERS or (is_text and name in _CONTAINER_FILTERS)):
            note(f"the filter {name}", *values)
        return mark(function(*arguments, **named))

    return filtered


def _of_a_text(function: Any) -> Callable[..., Any]:
    """Return a test of the kind of a value that is the same for contents as for an empty text."""
    return lambda value, *arguments: function("" if isinstance(value, Marked) else value, *arguments)


def _as_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **named: Any) -> str:
    if ensure_ascii and is_marked(value):
        note("the filter tojson", value)
    return json.dumps(_changed(value, _escaped), ensure_ascii=ensure_ascii, indent=indent, **named)


def _escaped(member: Any) -> Any:
    """Return a text with each content in it as the part that JSON writes, its quotes and line breaks escaped."""
    if not isinstance(member, str):
        return member
    symbols = str.__str__(member)
    return "".join(str.__str__(_part("json", symbol, "")) if is_marked(symbol) else symbol for symbol in symbols)


def _raise(message: object) -> None:
    raise _RefusedError(str(message))
