"""The linked list and the queue of the fast trainer: Figure 3 of *A Formal Perspective on Byte-Pair Encoding*.

Its text is from Table 1, its steps equal the plain trainer's with the same tie rule.
"""

from __future__ import annotations

from itertools import pairwise

from figures.chart import box, document, line, text

TEXT = "picked pickled pickles"
STEPS = 4
SHOWN = 5

_CELL, _ROW, _LEFT = 27, 92, 24
_MERGED, _MADE, _BOTH = "#f4cccc", "#d5efdb", "#dccbea"
_GREY = "#aaaaaa"


def steps() -> list[tuple[list[list[str]], list[tuple[str, str, int]]]]:
    """Return, for each step, the units of the words and the pairs by their counts, ties in order of age."""
    from tokdfa.training.greedy import train_greedy

    words = TEXT.split()
    rules = [*train_greedy(dict.fromkeys(words, 1), STEPS, tie="oldest-pair"), None]
    lists = [list(word) for word in words]
    seen: list[tuple[str, str]] = []
    out = []
    for rule in rules:
        counts: dict[tuple[str, str], int] = {}
        for units in lists:
            for pair in pairwise(units):
                counts[pair] = counts.get(pair, 0) + 1
        seen += [pair for pair in counts if pair not in seen]
        queue = sorted(counts, key=lambda pair: (-counts[pair], seen.index(pair)))
        out.append((lists, [(*pair, counts[pair]) for pair in queue]))
        if rule is not None:
            assert queue[0] == tuple(rule)
            lists = [_merge(units, queue[0]) for units in lists]
    return out


def _merge(units: list[str], pair: tuple[str, str]) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(units):
        step = 2 if tuple(units[at : at + 2]) == pair else 1
        out.append("".join(units[at : at + step]))
        at += step
    return out


def draw() -> str:
    """Draw a row for each step: the queue above the list.

    The next pair to merge is red, new units are green, and new units that are merged next are purple. Black lines lead
    from the queue to the units to merge, grey ones to the first pair that a merge takes away from another pair.
    """
    parts = [text(_LEFT, 22, "The linked list, and the queue of pairs with their counts", font_size="14")]
    known = {*TEXT}
    for number, (lists, queue) in enumerate(steps()):
        top = 40 + number * _ROW
        best = queue[0][:2] if number < STEPS else None
        x = _LEFT
        heads: dict[tuple[str, str], float] = {}
        for u, v, count in queue[:SHOWN]:
            label = f"{u} {v}"
            width = 22 + 7.5 * len(label)
            heads[u, v] = x + width / 2
            parts.append(box(x, top, width, 20, fill=_MERGED if (u, v) == best else "white"))
            parts.append(text(x + width / 2, top + 14, label, anchor="middle"))
            parts.append(box(x + width, top, 22, 20, dash="3 2"))
            parts.append(text(x + width + 11, top + 14, str(count), anchor="middle"))
            x += width + 34
        parts.append(text(x, top + 14, f"… {len(queue)} pairs", fill="#555555"))
        at, lines = 0, list[str]()
        for units in lists:
            red = _places(units, best)
            for place, unit in enumerate(units):
                left, width = _LEFT + at * _CELL, len(unit) * _CELL - 7
                is_new = unit not in known
                fill = (_BOTH if is_new else _MERGED) if place in red else _MADE if is_new else "white"
                pair = (unit, units[place + 1]) if place < len(units) - 1 else None
                if pair is not None and pair in heads and {place, place + 1} & red:
                    # A pair is merged, or loses a unit to a merge.
                    is_merged = pair == best and place in red
                    join = left + width + 3.5
                    lines.append(line(heads[pair], top + 20, join, top + 40, "#000000" if is_merged else _GREY))
                parts.append(box(left, top + 40, width, 24, fill=fill))
                parts.append(text(left + width / 2, top + 57, unit, anchor="middle", font_size="13"))
                at += len(unit)
                if place < len(units) - 1:
                    parts.append(line(left + width, top + 52, left + width + 7, top + 52))
            at += 1
        parts += sorted(lines, key=lambda drawn: _GREY not in drawn)
        known |= {unit for units in lists for unit in units}
    width = 2 * _LEFT + (len(TEXT)) * _CELL
    return document(width, 40 + (STEPS + 1) * _ROW, parts, title=f"The list and the queue, merge by merge, on {TEXT}")


def _places(units: list[str], pair: tuple[str, str] | None) -> set[int]:
    """Return the places of the units that merging the pair would take, from left to right."""
    places: set[int] = set()
    at = 0
    while pair and at < len(units) - 1:
        if (units[at], units[at + 1]) == pair:
            places |= {at, at + 1}
            at += 1
        at += 1
    return places
