"""JSON schemas as languages: an expression of documents that the schema allows, or a refusal with its path.

A library, outlines-core, makes the expression. It passes over most keywords that it does not know, such as `minimum`,
so the schema is narrowed to those that it obeys, and everything else is refused: each document is then valid. Not each
valid document is in the language: names have the order of the schema, and no others are added.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from itertools import combinations, starmap
from typing import Any, NoReturn

import numpy as np

from tokdfa.automata.lift import language
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import PatternError, UnsupportedFeatureError

LONGEST = 200
"""The number of characters of strings for which a schema gives no greatest length."""

_GROUPS = ("definitions", "$defs")
_NOTES = {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"}
_NOTES |= {"$schema", "$id", "$comment", *_GROUPS}
_OF_TYPE = {
    "string": {"minLength", "maxLength", "pattern", "format"},
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
    "integer": set[str](),
    "number": set[str](),
    "boolean": set[str](),
    "null": set[str](),
}
_DATE = (
    "[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
_FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}T{_TIME}",
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
}
# Bytes that JSON strings have only in escapes.
_ESCAPED = [*range(0x20), ord('"'), ord("\\")]
_ASCII = {"d": "0-9", "w": "A-Za-z0-9_"}


class BoundedStringsWarning(UserWarning):
    """Strings of a schema that gives no greatest length got one."""


def pattern_of_schema(
    schema: str | Mapping[str, Any],
    *,
    whitespace: str | None = None,
    where: str = "the schema",
    longest: int | None = LONGEST,
) -> str:
    r"""Return a regular expression of JSON documents, all of which a schema without recursion allows.

    Parameters
    ----------
    schema : str or mapping
        The schema, or its JSON.
    whitespace : str, optional
        An expression of the white space between the parts, by default one space or none.
    where : str
        The name of the schema in messages.
    longest : int or None
        The greatest number of characters of strings for which the schema gives none; a warning says so. None for any.

    Raises
    ------
    UnsupportedFeatureError
        If it has a keyword that is not obeyed, at a path that the error names; or outlines-core is not installed.

    Examples
    --------
    >>> pattern_of_schema({"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 1})
    '\\[[ ]?(((true|false))(,[ ]?((true|false))){0,0})[ ]?\\]'
    """
    try:
        from outlines_core.json_schema import build_regex_from_schema
    except ImportError:
        what = "a JSON schema is made a regular expression by outlines-core, which is not installed"
        raise UnsupportedFeatureError(what, where=where, hint="pip install outlines-core") from None
    try:
        read = json.loads(schema) if isinstance(schema, str) else schema
    except ValueError as error:
        raise UnsupportedFeatureError(f"the schema is no JSON, {error}", where=where) from None
    narrowing = _Narrowing(where, longest)
    narrowed = narrowing.of(read, "$")
    for group in _GROUPS:
        if isinstance(read, Mapping) and isinstance(read.get(group), Mapping):
            narrowed[group] = {name: narrowing.of(one, f"$.{group}.{name}") for name, one in read[group].items()}
    try:
        pattern: str = build_regex_from_schema(json.dumps(narrowed), whitespace)
    except (ValueError, TypeError) as error:
        # The rest of its message is advice about the library.
        first = str(error).strip().partition("\n")[0].strip().rstrip(".")
        raise UnsupportedFeatureError(f"outlines-core cannot read the schema: {first}", where=where) from None
    if narrowing.bounded:
        paths = ", ".join(narrowing.bounded[:3])
        more = f" and {len(narrowing.bounded) - 3} more" if len(narrowing.bounded) > 3 else ""
        what = f"strings without maxLength have at most {longest} characters: {paths}{more}"
        warnings.warn(what, BoundedStringsWarning, stacklevel=3)
    return pattern


class _Narrowing:
    """Makes schemas of the keywords that are obeyed; `bounded` are the paths of strings that got a greatest length."""

    def __init__(self, where: str, longest: int | None) -> None:
        self._where, self._longest = where, longest
        self.bounded: list[str] = []

    def of(self, schema: Any, path: str) -> dict[str, Any]:
        """Return a narrower schema."""
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            self._refuse("a schema is an object", path, schema)
        known = {key: value for key, value in schema.items() if key not in _NOTES}
        for keyword in ("$ref", "const", "enum", "anyOf", "oneOf", "allOf"):
            if keyword in known:
                of_type = {"type"} if keyword in ("const", "enum") else set()
                self._only(known, {keyword, *of_type}, path)
                return self._choice(keyword, known, path)
        has_type, kind = "type" in known, known.pop("type", None)
        if isinstance(kind, list) and kind:
            self._only(known, set().union(*(_OF_TYPE.get(str(one), set()) for one in kind)), path)
            parts = [{key: value for key, value in known.items() if key in _OF_TYPE.get(str(one), ())} for one in kind]
            return {"anyOf": [self.of({"type": one, **part}, path) for one, part in zip(kind, parts, strict=True)]}
        if not has_type:
            if not known:
                return {}
            kind = next((name for name, keywords in _OF_TYPE.items() if not keywords.isdisjoint(known)), None)
            self._only(known, _OF_TYPE.get(kind or "", set()), path)
        if not isinstance(kind, str) or kind not in _OF_TYPE:
            self._refuse("no type of JSON is called so, or none is given", f"{path}.type", kind)
        self._only(known, _OF_TYPE[kind], path)
        self._check_sizes(known, path)
        if kind == "string":
            return self._string(known, path)
        if kind == "array":
            items = {"items": self.of(known["items"], f"{path}.items")} if "items" in known else {}
            return {"type": kind, **known, **items}
        return self._object(known, path) if kind == "object" else {"type": kind}

    def _choice(self, keyword: str, known: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a schema of alternatives."""
        value = known[keyword]
        if keyword not in ("$ref", "const") and not (isinstance(value, list) and value):
            self._refuse("this is a list of alternatives", f"{path}.{keyword}", value)
        if keyword == "$ref":
            return {"$ref": value}
        if keyword in ("const", "enum"):
            values = [value] if keyword == "const" else value
            for one in values:
                self._check_names(one, f"{path}.{keyword}")
                if "type" in known and _type_of(one) not in _types(known["type"]):
                    self._refuse(f"a value is not of type {known['type']}", f"{path}.{keyword}", one)
            return {"enum": values}
        parts = [self.of(one, f"{path}.{keyword}[{number}]") for number, one in enumerate(value)]
        if keyword == "allOf" and len(parts) != 1:
            self._refuse("several schemas that must hold together are not supported", f"{path}.allOf", len(parts))
        if keyword == "oneOf" and not all(starmap(_are_apart, combinations(parts, 2))):
            self._refuse("alternatives that may hold together are not supported", f"{path}.oneOf", len(parts))
        return parts[0] if len(parts) == 1 else {"anyOf": parts}

    def _string(self, known: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a schema of strings."""
        if "pattern" not in known and "format" not in known:
            if "maxLength" not in known and self._longest is not None:
                self.bounded.append(path)
                known["maxLength"] = max(self._longest, known.get("minLength", 0))
            return {"type": "string", **known}
        if len(known) > 1:
            self._refuse("pattern and format stand alone, without lengths", path, sorted(known))
        if "format" in known:
            if known["format"] not in [*_FORMATS]:
                self._refuse(f"formats are {', '.join(_FORMATS)}", f"{path}.format", known["format"])
            return {"type": "string", "pattern": f"^({_FORMATS[known['format']]})$"}
        if not isinstance(known["pattern"], str):
            self._refuse("a pattern is a string", f"{path}.pattern", known["pattern"])
        core = "|".join(map(_unanchored, _alternatives(known["pattern"])))
        try:
            dfa, quoted = (language(each, bytes(range(256))) for each in (f"({core})", f'"({core})"'))
        except PatternError as error:
            self._refuse(f"the pattern cannot be read: {error}", f"{path}.pattern", known["pattern"])
        used = {dfa.alphabet.symbols[token][0] for token in np.unique(dfa.tokens).tolist()}
        if not used.isdisjoint(_ESCAPED):
            what = "the pattern matches a quotation mark, a backslash or a control character, which JSON escapes"
            self._refuse(what, f"{path}.pattern", known["pattern"])
        if not _between_quotes(dfa).equivalence(quoted):
            what = "the pattern looks at what is before or after the string, which are quotation marks in a document"
            self._refuse(what, f"{path}.pattern", known["pattern"])
        return {"type": "string", "pattern": f"^({core})$"}

    def _object(self, known: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a schema of objects, without other names if it has some."""
        properties, required = known.get("properties", {}), known.get("required", [])
        if not isinstance(properties, Mapping):
            self._refuse("properties are an object", f"{path}.properties", properties)
        if not isinstance(required, list):
            self._refuse("the names that are required are a list", f"{path}.required", required)
        self._check_names(properties, f"{path}.properties")
        missing = [name for name in required if name not in [*properties]]
        if missing:
            self._refuse("a name that is required is not among the properties", f"{path}.required", missing[0])
        if properties:
            parts = {name: self.of(one, f"{path}.properties.{name}") for name, one in properties.items()}
            return {"type": "object", "properties": parts, "required": required}
        others = known.get("additionalProperties", True)
        if others is False:
            return {"enum": [{}]}
        return {"type": "object"} | ({} if others is True else {"additionalProperties": self.of(others, f"{path}.*")})

    def _check_names(self, value: Any, path: str) -> None:
        """Refuse names that JSON would escape."""
        for name, one in value.items() if isinstance(value, Mapping) else ():
            if not isinstance(name, str):
                self._refuse("a name is a string", path, name)
            if re.search(r'["\\\x00-\x1f]', name):
                self._refuse("a name with a character that JSON escapes is not supported", path, name)
            self._check_names(one, path)
        for one in value if isinstance(value, list) else ():
            self._check_names(one, path)

    def _check_sizes(self, known: dict[str, Any], path: str) -> None:
        """Refuse numbers of items or characters that are not whole, and those that exclude each other."""
        for least, most in (("minItems", "maxItems"), ("minLength", "maxLength")):
            for keyword in (least, most):
                size = known.get(keyword, 0)
                if isinstance(size, bool) or not isinstance(size, int) or size < 0:
                    self._refuse("a number of items or characters is a whole number", f"{path}.{keyword}", size)
            if known.get(least, 0) > known.get(most, known.get(least, 0)):
                self._refuse(f"this is less than {least}, {known[least]}", f"{path}.{most}", known[most])

    def _only(self, known: Mapping[str, Any], keywords: set[str], path: str) -> None:
        """Refuse keywords that would not be obeyed."""
        for keyword in known:
            if keyword not in keywords:
                self._refuse("this keyword is not supported here", f"{path}.{keyword}", known[keyword])

    def _refuse(self, what: str, path: str, value: Any) -> NoReturn:
        raise UnsupportedFeatureError(what, where=f"{self._where}, {path}", value=value)


def _are_apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether no value can be allowed by both of two narrowed schemas."""
    types, others = _types_of(one), _types_of(other)
    if types and others and types.isdisjoint(others):
        return True
    return "enum" in one and "enum" in other and not any(value in other["enum"] for value in one["enum"])


def _types_of(schema: dict[str, Any]) -> set[str]:
    """Return the types of the values that a narrowed schema allows; none if they are not known."""
    return _types([*map(_type_of, schema["enum"])] if "enum" in schema else schema.get("type"))


def _types(kind: Any) -> set[str]:
    """Return types, where an integer is also a number."""
    found = {one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str)}
    return found | ({"integer"} if "number" in found else set())


def _type_of(value: Any) -> str:
    """Return the type of a value of JSON."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else names[type(value)]


def _between_quotes(dfa: TokenDFA) -> TokenDFA:
    """Return the automaton of the strings of another one, none of which has a quotation mark, in quotation marks."""
    symbols, end = dfa.alphabet.symbols, dfa.n_states + 1
    moves = zip(dfa.sources.tolist(), dfa.tokens.tolist(), dfa.targets.tolist(), strict=True)
    edges = [(source + 1, symbols[token], target + 1) for source, token, target in moves]
    edges += [(0, b'"', dfa.initial + 1), *((state + 1, b'"', end) for state in np.flatnonzero(dfa.final).tolist())]
    return TokenDFA.from_edges(edges, finals=[end], symbols=bytes(range(256)), n_states=end + 1)


def _unanchored(pattern: str) -> str:
    """Return a pattern for whole texts without the anchors at both ends."""
    pattern = pattern.removeprefix("^")
    return pattern[:-1] if pattern.endswith("$") and not pattern.endswith("\\$") else pattern


def _alternatives(pattern: str) -> list[str]:
    r"""Return the alternatives of a pattern; ``\d`` and ``\w`` are in ASCII, as schemas mean them."""
    found, is_in_class, depth, at = [""], False, 0, 0
    while at < len(pattern):
        one = pattern[at : at + 2] if pattern[at] == "\\" else pattern[at]
        at += len(one)
        if one == "|" and not depth and not is_in_class:
            found.append("")
            continue
        if one[0] == "\\" and one[1:] in _ASCII:
            one = _ASCII[one[1]] if is_in_class else f"[{_ASCII[one[1]]}]"
        elif not is_in_class:
            depth += (one == "(") - (one == ")")
            is_in_class = one == "["
        else:
            is_in_class = one != "]"
        found[-1] += one
    return found
