"""The white space that belongs to added tokens that strip: it changes where they come from, and no ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tokdfa.unicode.normalization import spaces
from tokdfa.wordpiece.end_to_end import Tokens

if TYPE_CHECKING:
    from tokdfa.encoding.special import Special

__all__ = ["with_stripped"]


def with_stripped(
    tokens: Tokens, text: str | bytes, unit: Literal["characters", "bytes"], specials: Sequence[Special]
) -> Tokens:
    """Return the tokens of a text, those of added tokens that strip with the white space beside them.

    White space between two of them belongs to the first, if that strips on its right. None of them contains any.
    """
    strips = {special.id: special for special in specials if special.lstrip or special.rstrip}
    data = text.decode("utf-8") if isinstance(text, bytes) else text
    blanks = spaces()
    begins, ends = tokens.begins.copy(), tokens.ends.copy()
    # In bytes, the place of a character; the text is read by characters.
    width = [len(symbol.encode("utf-8")) for symbol in data] if unit == "bytes" else [1] * len(data)
    at = place = done = 0
    for number, (id, begin, end) in enumerate(zip(tokens.ids.tolist(), begins.tolist(), ends.tolist(), strict=True)):
        special = strips.get(id)
        if special is None or end < done:
            continue
        while place < begin:
            place += width[at]
            at += 1
        if not data.startswith(special.content, at) or place != begin:
            continue
        first, last, start, stop = at, at + len(special.content), begin, end
        while special.lstrip and start > done and data[first - 1] in blanks:
            first -= 1
            start -= width[first]
        while special.rstrip and last < len(data) and data[last] in blanks:
            stop += width[last]
            last += 1
        begins[number], ends[number] = start, stop
        done = stop
    return Tokens(tokens.ids, begins, ends)
