"""The forest of merges on abaabacbcb: Figure 2 of *A Formal Perspective on Byte-Pair Encoding*."""

from __future__ import annotations

from figures.chart import box, document, line, text
from tokdfa.training.theory import Merge, apply_merges, yield_of

AB: Merge = ("a", "b")
MERGES: tuple[Merge, ...] = (AB, ("c", "b"), (AB, "a"), ((AB, "a"), ("c", "b")))
TEXT = "abaabacbcb"

_STEP, _LEVEL, _BOTTOM = 48, 60, 270


def draw() -> str:
    """Draw the trees above the text, with each merge above the middle of its yield."""
    parts = [text(16, 22, "⟨[a,b], [c,b], [[a,b],a], [[[a,b],a],[c,b]]⟩ on abaabacbcb", font_size="14")]
    at = 0

    def grow(merge: Merge, is_root: bool) -> tuple[float, int]:
        """Draw a tree from position `at` on; return the place of its root, and its height."""
        nonlocal at
        if isinstance(merge, str):
            x = 30.0 + at * _STEP
            at += 1
            parts.append(text(x, _BOTTOM + 4, merge, anchor="middle", font_size="15"))
            return x, 0
        (left, left_height), (right, right_height) = grow(merge[0], False), grow(merge[1], False)
        x, height = (left + right) / 2, 1 + max(left_height, right_height)
        y = _BOTTOM - height * _LEVEL
        for child, child_height in ((left, left_height), (right, right_height)):
            parts.append(line(x, y + 11, child, _BOTTOM - child_height * _LEVEL - 12))
        label = yield_of(merge)
        width = 16 + 8 * len(label)
        parts.append(box(x - width / 2, y - 11, width, 22, fill="#dcecf7" if is_root else "white"))
        parts.append(text(x, y + 4, label, anchor="middle"))
        return x, height

    for unit in apply_merges(TEXT, MERGES):
        grow(unit, True)
    return document(60 + len(TEXT) * _STEP - _STEP, _BOTTOM + 30, parts, title=f"The forest of merges on {TEXT}")
