"""HTML that is escaped by construction."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from typing import Any

from tokdfa.draw.labels import character_sign

__all__ = ["Markup", "escape", "json_block", "sentence", "tag"]

_VOID = frozenset({"meta"})

# Characters that a page cannot hold or would not show: controls, those that change the direction of text, line
# separators, halves of surrogate pairs, non-characters.
_INVISIBLE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]"
)


class Markup(str):
    """Text that is already HTML."""


def escape(text: str) -> Markup:
    r"""Return HTML that shows exactly the text, with invisible characters as escapes such as ``\x00``."""
    return Markup(html.escape(_INVISIBLE.sub(lambda found: character_sign(found[0]), text)))


def tag(name: str, /, *children: str, **attributes: str | int | bool | None) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
    *children : str
        Its contents: elements unchanged, other text escaped.
    **attributes
        A trailing underscore is dropped, others become hyphens. True gives an attribute without a value; None and
        False leave it out.
    """
    opening = [name]
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            opening.append(key)
        elif value is not None and value is not False:
            opening.append(f'{key}="{escape(str(value))}"')
    head = f"<{' '.join(opening)}>"
    if name in _VOID:
        return Markup(head)
    inner = "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup(f"{head}{inner}</{name}>")


def sentence(parts: Sequence[str]) -> Markup:
    """Return a sentence of which every second part is a token or a text, each with a direction of its own."""
    return Markup("".join(tag("bdi", part) if place % 2 else escape(part) for place, part in enumerate(parts)))


def json_block(value: Any, id: str) -> Markup:
    """Return a value as a block of data that the page's script can read and from which no value can break out."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # JSON escapes control characters itself; lone halves of surrogate pairs have no UTF-8.
    text = re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return Markup(f'<script type="application/json" id="{escape(id)}">{text}</script>')
