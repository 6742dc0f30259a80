"""Changes of JSON by its structure: values are replaced, removed, doubled, swapped, moved and edited."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

__all__ = ["change_json", "edited"]

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 255, 256, 1.5, 0.0, -0.0, 1e400, 2**24, 2**31, 2**32, 2**63, 2**64, 10**40),
    *("", "x", " ", "\ud800", "\0", "é", "\u2581", "</w>", "##", [], [None], [[]], {}, {"type": "Sequence"}),
    {"type": "ByteLevel"},
]
LETTERS = "ab the\u2581\u0120\u010a<>|/w#é\u0301中\U0001f600\0\n\t\r.\\[](){}*+?|^$-,:'\"0123pLN"

Parts = dict[str, Callable[[random.Random], Any]]
"""Generators of whole parts: the key whose value one makes."""


def change_json(data: bytes, drawn: random.Random, parts: Parts) -> bytes:
    """Return a file with some changes; data that is not JSON is edited as text."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return edited(data.decode("utf-8", "replace"), drawn).encode("utf-8", "surrogatepass")
    for _ in range(drawn.choice((1, 1, 1, 2, 3, 6))):
        value = _changed(value, drawn, parts)
    text = json.dumps(value, ensure_ascii=drawn.random() < 0.1, indent=1 if drawn.random() < 0.02 else None)
    if drawn.random() < 0.03:
        text = edited(text, drawn)
    return text.encode("utf-8", "replace" if drawn.random() < 0.9 else "surrogatepass")


def _changed(value: Any, drawn: random.Random, parts: Parts) -> Any:
    if parts and isinstance(value, dict) and drawn.random() < 0.25:
        key = drawn.choice(list(parts))
        made = parts[key](drawn)
        holder = value if key in value or not isinstance(value.get("model"), dict) else value["model"]
        holder[key] = made
        return value
    holder, key = _place(value, drawn)
    if holder is None:
        return drawn.choice(ODD)
    inner = holder[key]
    kind = drawn.randrange(9)
    if kind == 0:
        holder[key] = copy.deepcopy(drawn.choice(ODD))
    elif kind == 1:
        del holder[key]
    elif kind == 2:
        other, place = _place(value, drawn)
        if other is not None:
            holder[key] = copy.deepcopy(other[place])
    elif kind == 3:
        other, place = _place(value, drawn)
        if other is not None and place in (other if isinstance(other, dict) else range(len(other))):
            made = copy.deepcopy(inner)
            holder[key] = copy.deepcopy(other[place])
            other[place] = made
    elif kind == 4:
        if isinstance(holder, list):
            holder.insert(drawn.randrange(len(holder) + 1), copy.deepcopy(inner))
        else:
            holder[edited(key, drawn)] = inner
    elif kind == 5 and isinstance(holder, dict):
        holder[edited(key, drawn)] = holder.pop(key)
    elif kind == 6 and isinstance(inner, list):
        drawn.shuffle(inner)
    elif isinstance(inner, bool):
        holder[key] = not inner
    elif isinstance(inner, int):
        holder[key] = drawn.choice((inner + 1, inner - 1, -inner, 2 * inner, drawn.randrange(300)))
    elif isinstance(inner, str):
        holder[key] = edited(inner, drawn)
    elif isinstance(inner, list) and inner:
        inner.append(copy.deepcopy(drawn.choice(inner)))
    return value


def _place(value: Any, drawn: random.Random) -> tuple[Any, Any]:
    """Return an object or array and a key in it, found by going down; large ones do not count for more."""
    holder = key = None
    while isinstance(value, (dict, list)) and value and (holder is None or drawn.random() < 0.75):
        holder = value
        key = drawn.choice(list(value)) if isinstance(value, dict) else drawn.randrange(len(value))
        value = holder[key]
    return holder, key


def edited(text: str, drawn: random.Random) -> str:
    """Return a text with one letter put in, removed or replaced, or a part of it doubled or cut off."""
    at = drawn.randrange(len(text) + 1)
    end = min(len(text), at + drawn.choice((1, 1, 1, 2, 5)))
    kind = drawn.randrange(6)
    if kind == 0:
        return text[:at] + text[end:]
    if kind == 1:
        return text[:end] + text[at:end] + text[end:]
    if kind == 2:
        return text[:at] if drawn.random() < 0.5 else text[at:]
    if kind == 3:
        return (
            text[:at] + chr(drawn.choice((drawn.randrange(128), drawn.randrange(0x3000), 0xFEFF, 0x1F600))) + text[at:]
        )
    return text[:at] + drawn.choice(LETTERS) + text[at if kind == 4 else end :]
