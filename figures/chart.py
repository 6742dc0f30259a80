"""Charts of lines and points as SVG, and the few marks that other pictures are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import TypeAlias

# Okabe and Ito's colours, which everybody can distinguish.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKS = ("circle", "square", "diamond", "triangle")

Points: TypeAlias = Sequence[tuple[float, float]]

_LEFT, _TOP, _WIDTH, _HEIGHT, _BOTTOM = 70, 40, 460, 280, 50
_RIGHT = 190


def document(width: float, height: float, parts: Iterable[str], *, title: str) -> str:
    """Return an SVG document on white; those who do not see it hear its title."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="Helvetica, Arial, sans-serif" font-size="12" role="img" '
        f'aria-label="{escape(title)}">',
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
        *parts,
        "</svg>",
        "",
    ])  # fmt: skip


def text(x: float, y: float, words: str, *, anchor: str = "start", **style: str) -> str:
    """Return a line of text."""
    attributes = "".join(f' {name.replace("_", "-")}="{escape(value)}"' for name, value in style.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = "#000000", width: float = 1, dash: str = "") -> str:
    """Return a straight line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def box(x: float, y: float, width: float, height: float, *, fill: str = "white", dash: str = "") -> str:
    """Return a rectangle with an outline."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" fill="{fill}" '
        f'stroke="#000000"{dashed}/>'
    )


def mark(x: float, y: float, place: int, size: float = 3.5) -> str:
    """Return the mark of a series."""
    colour, shape = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="{colour}"/>'
    corners = {
        "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "diamond": [(0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)],
        "triangle": [(0, -1.3), (1.2, 1), (-1.2, 1)],
    }[shape]
    points = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


class Axis:
    """One direction of a chart: from values to places, and where its ticks are.

    Parameters
    ----------
    values : iterable of float
        The values that must fit.
    low, high : float
        The places of its ends.
    log : bool
        Whether equal ratios have equal distances; otherwise it begins at 0 or below.
    """

    def __init__(self, values: Iterable[float], low: float, high: float, *, log: bool) -> None:
        known = list(values)
        self._low, self._high, self._log = low, high, log
        if log:
            least, most = log10(min(known)), log10(max(known))
            room = max(0.03 * (most - least), 0.02)
            self._least, self._most = least - room, most + room
            decades = range(floor(self._least), ceil(self._most) + 1)
            steps = (1,) if self._most - self._least > 2.5 else (1, 2, 5)
            ticks = [step * 10.0**decade for decade in decades for step in steps]
        else:
            self._least, top = min(0.0, *known), max(known)
            step = 10 ** floor(log10(max(top - self._least, 1e-12)))
            step *= next(part for part in (0.2, 0.5, 1, 2) if (top - self._least) / (part * step) <= 6)
            first, last = floor(self._least / step), ceil(top / step)
            self._least, self._most = first * step, last * step
            ticks = [number * step for number in range(first, last + 1)]
        self.ticks = [tick for tick in ticks if self._least - 1e-9 <= self._scaled(tick) <= self._most + 1e-9]

    def _scaled(self, value: float) -> float:
        return log10(value) if self._log else value

    def place(self, value: float) -> float:
        """Return where a value is."""
        share = (self._scaled(value) - self._least) / (self._most - self._least)
        return self._low + share * (self._high - self._low)


def line_chart(
    series: Mapping[str, Points],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    marks: bool = True,
    note: str = "",
) -> str:
    """Return a chart with a line for each series, named next to it.

    Parameters
    ----------
    series : mapping from name to points (x, y)
    title, x_label, y_label : str
    log_x, log_y : bool
        Whether an axis is logarithmic.
    marks : bool
        Whether every point has a mark.
    note : str
        Lines below: where and how it was measured.

    Raises
    ------
    ValueError
        If there is nothing to draw, or a logarithmic axis has a value that is not positive.
    """
    bottom, right = _TOP + _HEIGHT, _LEFT + _WIDTH
    x_axis = Axis((x for points in series.values() for x, _ in points), _LEFT, right, log=log_x)
    y_axis = Axis((y for points in series.values() for _, y in points), bottom, _TOP, log=log_y)
    parts = [text(_LEFT, 22, title, font_size="14", font_weight="bold")]
    for tick in x_axis.ticks:
        x = x_axis.place(tick)
        parts += [line(x, _TOP, x, bottom, "#e5e5e5"), text(x, bottom + 16, number(tick), anchor="middle")]
    for tick in y_axis.ticks:
        y = y_axis.place(tick)
        parts += [line(_LEFT, y, right, y, "#e5e5e5"), text(_LEFT - 6, y + 4, number(tick), anchor="end")]
    parts += [line(_LEFT, bottom, right, bottom), line(_LEFT, _TOP, _LEFT, bottom)]
    parts.append(text((_LEFT + right) / 2, bottom + 36, x_label, anchor="middle"))
    middle = (_TOP + bottom) / 2
    parts.append(text(18, middle, y_label, anchor="middle", transform=f"rotate(-90 18 {middle:g})"))
    ends: list[tuple[float, int, str]] = []
    for place, (name, points) in enumerate(series.items()):
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in points]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        colour = COLOURS[place % len(COLOURS)]
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        parts += [mark(x, y, place) for x, y in places] if marks else []
        ends.append((places[-1][1], place, name))
    # Names next to the ends of their lines, pushed apart where they would meet.
    y = float("-inf")
    for height, place, name in sorted(ends):
        y = max(height, y + 15)
        parts += [mark(right + 12, y, place), text(right + 20, y + 4, name)]
    lines = note.splitlines()
    height = bottom + _BOTTOM + (4 + 14 * len(lines) if note else 0)
    for line_number, words in enumerate(reversed(lines)):
        parts.append(text(_LEFT, height - 8 - 14 * line_number, words, font_size="10", fill="#555555"))
    return document(right + _RIGHT, height, parts, title=title)


def number(value: float) -> str:
    """Return a value as it is written next to an axis."""
    if value and not 1e-3 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{'' if mantissa == '1' else mantissa + '·'}10{_raised(int(exponent))}"
    return f"{value:,.10g}"


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
