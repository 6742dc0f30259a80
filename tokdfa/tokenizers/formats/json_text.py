"""Untrusted JSON, read strictly: UTF-8, no duplicate keys, no NaN; and objects that know their JSON path."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.files import decode_utf8

T = TypeVar("T")
_REQUIRED: Any = object()
HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair."""
# Escapes in which a half of a surrogate pair may be: a backslash, a pair, or (the group) a half without the other.
_SURROGATE = re.compile(r"\\(?:\\|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F]))")
# serde_json does not read -0 as an integer. A match may also be within a string.
_MINUS_ZERO = re.compile(r"[\s\[:,]-0[\s\]},]")
_NAMES = {dict: "an object", list: "an array", str: "a string", int: "an integer", bool: "true or false"}
_PARTS = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_LARGEST = (1 << 64) - 1
_MOST_ZEROS = 308


class _Repeating(dict[str, Any]):
    """An object with a duplicate key."""

    key: str


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_object(
    data: bytes, path: Path, *, last_key_counts: bool = False, number: Callable[[str], float] = float
) -> JsonObject:
    """Parse a file that holds one JSON object; `number` reads a number that is not an integer from its spelling.

    With `last_key_counts` an object may have duplicate keys, the last one counts, and -0 is an integer. Python's `json`
    reads so, and it is much faster for files of many small objects.
    """
    text = decode_utf8(data, path)
    repeating: list[_Repeating] = []

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) == len(pairs):
            return fields
        repeating.append(_Repeating(fields))
        repeating[-1].key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return repeating[-1]

    has_minus_zero = not last_key_counts and "-0" in text and _MINUS_ZERO.search(text) is not None
    integer = (lambda spelling: -0.0 if spelling == "-0" else int(spelling)) if has_minus_zero else None
    read_pairs = None if last_key_counts else hook
    try:
        value = json.loads(
            text, object_pairs_hook=read_pairs, parse_float=number, parse_int=integer, parse_constant=_not_a_number
        )
    except json.JSONDecodeError as error:
        where = f"{path}, line {error.lineno}, column {error.colno}"
        raise FileFormatError(f"not JSON: {error.msg}", value=text[error.pos : error.pos + 24], where=where) from None
    except RecursionError:
        raise FileFormatError("JSON nested too deeply", where=str(path)) from None
    except ValueError as error:
        raise FileFormatError(f"not JSON: {error}", where=str(path)) from None
    if repeating or ("\\u" in text and any(_SURROGATE.findall(text))):
        for where, inner in _walk(value):
            if type(inner) is _Repeating:
                raise FileFormatError("a duplicate key in an object", value=inner.key, where=f"{path}, {where}")
            if isinstance(inner, str):
                check_surrogates(inner, f"{path}, {where}")
    if not isinstance(value, dict):
        raise FileFormatError("a JSON object is expected", value=value, where=f"{path}, $")
    return JsonObject(value, "$", path)


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all values with their paths, and the keys of objects with the paths of these."""
    stack = [("$", value)]
    while stack:
        where, inner = stack.pop()
        yield where, inner
        if isinstance(inner, dict):
            stack.extend((where, key) for key in inner)
            stack.extend((f"{where}.{key}", item) for key, item in inner.items())
        elif isinstance(inner, list):
            stack.extend((f"{where}[{index}]", item) for index, item in enumerate(inner))


class JsonObject:
    """A JSON object together with its JSON path, such as ``$.model``, and its file."""

    def __init__(self, fields: dict[str, Any], where: str, path: Path) -> None:
        self.fields = fields
        self.where = where
        self.path = path

    def at(self, key: str) -> str:
        """Return file and JSON path of the value of `key`."""
        return f"{self.path}, {self.where}.{key}"

    def wrong(self, key: str, what: str, *, hint: str | None = None) -> FileFormatError:
        """Return the error for a wrong value of `key`."""
        return FileFormatError(what, value=self.fields.get(key), where=self.at(key), hint=hint)

    def unmodelled(self, key: str, what: str, *, hint: str | None = None) -> UnsupportedFeatureError:
        """Return the error that says why the value of `key` is refused."""
        if self.fields.get(key) is None:
            return UnsupportedFeatureError(what, where=self.at(key), hint=hint)
        return UnsupportedFeatureError(what, value=self.fields[key], where=self.at(key), hint=hint)

    def get(self, key: str, kind: type[T], default: Any = _REQUIRED) -> T:
        """Return the value of `key`, which must be of type `kind`, not null; `default` where it is absent."""
        if key not in self.fields:
            if default is not _REQUIRED:
                return default  # type: ignore[no-any-return]
            raise FileFormatError(f"the field {key!r} is missing", where=f"{self.path}, {self.where}")
        value = self.fields[key]
        # bool is a subclass of int.
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(key, f"{_NAMES[kind]} is expected")
        return value

    def get_or_none(self, key: str, kind: type[T]) -> T | None:
        """Return the value of `key`, None where it is absent or null; see `get`."""
        return None if self.fields.get(key) is None else self.get(key, kind)

    def object(self, key: str) -> JsonObject | None:
        """Return the object at `key`, None where it is absent or null."""
        fields = self.get_or_none(key, dict)
        return None if fields is None else JsonObject(fields, f"{self.where}.{key}", self.path)

    def required(self, key: str, what: str) -> JsonObject:
        """Return the object at `key`; `what` is the error where it is absent or null."""
        found = self.object(key)
        if found is None:
            raise FileFormatError(what, where=self.at(key))
        return found

    def objects(self, key: str, default: Any = _REQUIRED) -> list[JsonObject]:
        """Return the objects in the array at `key`."""
        found = []
        for index, fields in enumerate(self.get(key, list, default)):
            if not isinstance(fields, dict):
                raise FileFormatError("an object is expected", value=fields, where=f"{self.at(key)}[{index}]")
            found.append(JsonObject(fields, f"{self.where}.{key}[{index}]", self.path))
        return found

    def only(self, known: Collection[str]) -> None:
        """Refuse keys that are not `known`, because they might matter."""
        for key in self.fields:
            if key not in known:
                raise UnsupportedFeatureError("an unknown field", value=key, where=self.at(key))

    def refuse_unless(self, key: str, modelled: Collection[Any], why: str) -> None:
        """Refuse a value of `key` that is not among those modelled; it may be absent."""
        if key not in self.fields:
            return
        value = self.fields[key]
        # 0 == False, but they are not the same setting.
        if not any(value == other and isinstance(value, bool) == isinstance(other, bool) for other in modelled):
            raise self.unmodelled(key, why)


def check_surrogates(text: str, where: str) -> None:
    """Raise FileFormatError if `text` has a lone surrogate, which JSON can write and UTF-8 cannot."""
    if not text.isascii() and HALF.search(text):
        raise FileFormatError("half of a surrogate pair", value=text, where=where)


def as_serde_json(text: str) -> float:
    """Return the number that serde_json, and with it the library tokenizers, reads from a number of JSON.

    It is infinite if the library refuses the number as out of range.

    Notes
    -----
    The digits, as far as they fit in 64 bits, become a number, which a power of ten multiplies or divides. Both steps
    round, so that the result may be one unit in the last place off (``f64_from_parts`` in serde_json 1 without the
    feature ``float_roundtrip``). About an eighth of the scores in the files that the library writes are read as other
    numbers than those written.

    Examples
    --------
    >>> as_serde_json("-15.275492379532281"), float("-15.275492379532281")
    (-15.27549237953228, -15.275492379532281)
    """
    found = _PARTS.fullmatch(text)
    assert found is not None
    sign, whole, fraction, power = found.groups(default="")
    if not fraction and not power and int(whole) <= _LARGEST:
        value = float(int(whole))
    else:
        digits = whole + fraction
        # As many of the first digits as fit in 64 bits.
        n = min(len(digits), len(digits) - len(digits.lstrip("0")) + 20)
        n -= int(digits[:n]) > _LARGEST
        value = _scaled(float(int(digits[:n])), len(whole) - n + int(power or 0))
    return -value if sign else value


def _scaled(value: float, exponent: int) -> float:
    while value and exponent < -_MOST_ZEROS:
        value /= 1e308
        exponent += _MOST_ZEROS
    if not value:
        return value
    if exponent > _MOST_ZEROS:
        return float("inf")
    return value * float(f"1e{exponent}") if exponent >= 0 else value / float(f"1e{-exponent}")
