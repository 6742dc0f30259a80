"""Charts of figures side by side: bars for a few ways, marks on a logarithmic axis for many cases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import wrap

from figures.chart import COLOURS, Axis, document, line, mark, number, text
from figures.table import Tables

OURS, OTHERS = COLOURS[0], "#b8b8b8"

_WIDTH, _LEFT, _RIGHT = 760, 210, 70
_LETTER = 6.6  # the width of a letter, about
_BAR, _GAP = 16, 20


def bar_chart(
    groups: Mapping[str, Mapping[str, float]], *, title: str, note: Sequence[str] = (), ours: str = "tokdfa"
) -> str:
    """Return a chart of horizontal bars, longest first in each group; names that begin with `ours` have a colour.

    Parameters
    ----------
    groups : mapping from heading to a mapping from name to length
        All groups have one scale, which begins at 0.
    title : str
    note : sequence of str
        Lines below.
    """
    parts = [text(12, 22, title, font_size="14", font_weight="bold")]
    left = max(_LEFT, 20 + _LETTER * max(len(name) for bars in groups.values() for name in bars))
    most = max(value for bars in groups.values() for value in bars.values())
    y = 40.0
    for heading, bars in groups.items():
        parts.append(text(12, y + 10, heading, font_weight="bold"))
        y += 18
        for name, value in sorted(bars.items(), key=lambda bar: -bar[1]):
            width = (_WIDTH - left - _RIGHT) * value / most
            parts += [
                text(left - 8, y + 12, name, anchor="end"),
                f'<rect x="{left:g}" y="{y + 2:.1f}" width="{width:.1f}" height="{_BAR - 3}" '
                f'fill="{OURS if name.startswith(ours) else OTHERS}"/>',
                text(left + width + 5, y + 12, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"),
            ]
            y += _BAR
        y += _GAP - 6
    return document(_WIDTH, _end(parts, y, note), parts, title=title)


def dot_chart(
    groups: Mapping[str, Mapping[str, Mapping[str, float]]], *, title: str, label: str, note: Sequence[str] = ()
) -> str:
    """Return a chart of marks on one logarithmic axis, a line for each case.

    Parameters
    ----------
    groups : mapping from heading to a mapping from case to a mapping from name to value
    title, label : str
        The title above, and the label of the axis.
    note : sequence of str
        Lines below.
    """
    cases = [values for group in groups.values() for values in group.values()]
    names = list(dict.fromkeys(name for values in cases for name in values))
    right = _WIDTH - 24
    axis = Axis((value for values in cases for value in values.values()), _LEFT + 60, right, log=True)
    parts = [text(12, 22, title, font_size="14", font_weight="bold")]
    x = 12.0
    for place, name in enumerate(names):
        parts += [mark(x + 4, 39, place), text(x + 13, 43, name)]
        x += 30 + 7 * len(name)
    top = y = 54.0
    body: list[str] = []
    for heading, group in groups.items():
        body.append(text(12, y + 14, heading, font_weight="bold"))
        y += 20
        for case, values in group.items():
            places = {name: axis.place(value) for name, value in values.items()}
            body += [
                text(_LEFT + 50, y + 12, case, anchor="end", font_family="monospace"),
                line(min(places.values()), y + 8, max(places.values()), y + 8, "#999999"),
                *(mark(where, y + 8, names.index(name)) for name, where in places.items()),
            ]
            y += _BAR
        y += 4
    for tick in axis.ticks:
        where = axis.place(tick)
        parts += [line(where, top, where, y, "#e5e5e5"), text(where, y + 14, number(tick), anchor="middle")]
    parts += [*body, text((_LEFT + 60 + right) / 2, y + 32, label, anchor="middle")]
    return document(_WIDTH, _end(parts, y + 44, note), parts, title=title)


def ratio_chart(rows: Mapping[str, Mapping[str, float]], *, title: str, label: str, note: Sequence[str] = ()) -> str:
    """Return a chart of ratios on one logarithmic axis, a line for each row: a tick for each case, its least named.

    Parameters
    ----------
    rows : mapping from name to a mapping from case to ratio
        Ratios below 1 are losses, and have a colour of their own.
    title, label : str
        The title above, and the label of the axis.
    note : sequence of str
        Lines below.
    """
    left, right = _LEFT + 120, _WIDTH - 24
    axis = Axis((value for cases in rows.values() for value in cases.values()), left, right, log=True)
    parts = [text(12, 22, title, font_size="14", font_weight="bold")]
    top = y = 34.0
    body: list[str] = []
    for name, cases in rows.items():
        ordered = sorted(cases.items(), key=lambda case: case[1])
        case, least = ordered[0]
        low, high, middle = (axis.place(ordered[place][1]) for place in (0, -1, len(ordered) // 2))
        body += [
            text(left - 10, y + 13, name, anchor="end"),
            line(low, y + 9, high, y + 9, "#999999"),
            *(
                line(axis.place(value), y + 4, axis.place(value), y + 14, OURS if value >= 1 else COLOURS[1])
                for _, value in ordered
            ),
            mark(middle, y + 9, 0, 4.5),
            text(
                left - 10,
                y + 25,
                f"{_short(least)} ({case}) to {_short(ordered[-1][1])}",
                anchor="end",
                font_size="10",
                fill="#555555",
            ),
        ]
        y += 34
    for tick in axis.ticks:
        where = axis.place(tick)
        parts += [line(where, top, where, y, "#e5e5e5"), text(where, y + 14, f"{number(tick)}×", anchor="middle")]
    parts += [line(axis.place(1), top, axis.place(1), y, "#000000", 1.5), *body]
    parts.append(text((left + right) / 2, y + 32, label, anchor="middle"))
    return document(_WIDTH, _end(parts, y + 44, note), parts, title=title)


def _short(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def note(tables: Tables, width: int = 140) -> list[str]:
    """Return the lines below a chart of tables that benchmarks kept: how, on what and when they were measured.

    The lines have about `width` characters at most.
    """
    when: dict[str, list[str]] = {}
    loads: dict[str, list[float]] = {}
    for table in tables.values():
        how = f"{re.sub(r'; peak memory [0-9,]+ MB', '', table['caption'])}; {table['machine']}"
        times = when.setdefault(how, [])
        times.append(table["measured"])
        loads.setdefault(how, []).extend([table["load"]] if table.get("load") is not None else [])
    lines = []
    for how, times in when.items():
        load = f"; load average {min(loads[how]):.0f} to {max(loads[how]):.0f}" if loads[how] else ""
        lines += wrap(f"{how}{load}; {' to '.join(sorted({min(times), max(times)}))}", width)
    return lines


def _end(parts: list[str], y: float, lines: Sequence[str]) -> float:
    """Add the lines of the note below a chart, and return where it ends."""
    parts += [text(12, y + 12 + 14 * i, words, font_size="10", fill="#555555") for i, words in enumerate(lines)]
    return y + 14 * len(lines) + 12
