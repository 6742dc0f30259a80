"""A page in one file, which loads nothing: its frame, style, script and parts; and what all reports share."""

from __future__ import annotations

import base64
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

import tokdfa
from tokdfa.base.atomic import write_atomically
from tokdfa.draw.report.markup import Markup, tag

__all__ = ["Report", "bar", "chart", "data_table", "facts", "page", "verdict"]


@cache
def _resource(name: str) -> str:
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(title: str, *sections: str, data: Markup | None = None) -> str:
    """Return a page as HTML, with a block of data for its script; the same parts always give the same text."""
    style, script = Markup(_resource("report.css")), Markup(_resource("report.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return (
        "<!doctype html>\n"
        + tag(
            "html",
            tag(
                "head",
                tag("meta", charset="utf-8"),
                tag("meta", http_equiv="Content-Security-Policy", content=policy),
                tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
                tag("meta", name="color-scheme", content="light dark"),
                tag("meta", name="generator", content=f"tokdfa {tokdfa.__version__}"),
                tag("title", title),
                tag("style", style),
            ),
            tag(
                "body",
                tag("a", "Skip to the report", class_="skip", href="#main"),
                tag(
                    "header",
                    tag("span", "tokdfa", class_="brand"),
                    tag("button", "Theme: system", type="button", id="theme", hidden=True),
                    class_="top",
                ),
                tag("main", *sections, id="main", tabindex=-1),
                tag("footer", tag("p", f"Made by tokdfa {tokdfa.__version__}. This page loads nothing from anywhere.")),
                data or "",
                tag("script", script),
            ),
            lang="en",
            dir="ltr",
        )
        + "\n"
    )


def verdict(good: bool, heading: str, *sentences: str) -> Markup:
    """Return the verdict, shown prominently."""
    return tag(
        "section",
        tag("div", "✓" if good else "✕", class_="sign", aria_hidden="true"),
        tag("div", tag("h1", heading), *(tag("p", sentence) for sentence in sentences)),
        class_=f"verdict {'good' if good else 'bad'}",
    )


def facts(rows: Iterable[tuple[str, str]]) -> Markup:
    """Return names and values."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in rows), class_="facts")


def data_table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """Return a table; cells that are numbers are aligned to the right."""
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
            tag(
                "tbody",
                *(
                    tag(
                        "tr",
                        *(
                            tag("th", cell, scope="row")
                            if not place
                            else tag("td", cell, class_="number" if cell.replace(",", "").isdecimal() else None)
                            for place, cell in enumerate(row)
                        ),
                    )
                    for row in rows
                ),
            ),
            class_="data",
        ),
        class_="scroll",
    )


def bar(part: int, whole: int) -> Markup:
    """Return a bar whose length is the ratio of a part to the whole."""
    width = round(100 * part / whole, 2) if whole else 0
    return tag(
        "svg",
        tag("rect", x=0, y=0, width=f"{width:g}", height=8, rx=1),
        class_="bar",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


HEIGHT = 60


def chart(
    bars: Iterable[tuple[int, str, int]], n_parts: int, said: str, ends: tuple[str, str], width: int = 0
) -> Markup:
    """Return a chart of counts in parts of a whole, each a part, its title and its count; `said` describes it.

    `ends` are what the first and the last part are; with a `width`, a bar has the first token of its part.
    """
    found = [*bars]
    most = max(count for _, _, count in found)
    sizes = [max(round(HEIGHT * count / most, 1), 2) for _, _, count in found]
    shapes = [
        tag("rect", tag("title", title), x=10 * part, y=f"{HEIGHT - size:g}", width=9,
            data_from=part * width if width else None, height=f"{size:g}")
        for (part, title, _), size in zip(found, sizes, strict=True)
    ]  # fmt: skip
    box = f"0 0 {10 * n_parts} {HEIGHT}"
    drawn = tag("svg", *shapes, viewBox=box, preserveAspectRatio="none", role="img", aria_label=said, class_="places")
    below = tag("p", *(tag("span", end) for end in ends), class_="ends")
    return tag("figure", drawn, below, tag("figcaption", said), class_="where")


class Report(ABC):
    """A page about a verdict: one HTML file that loads nothing."""

    @abstractmethod
    def to_html(self, *, max_shown: int | None = None) -> str:
        """Return the page, the same text for the same findings.

        Parameters
        ----------
        max_shown : int, optional
            The largest number of violations to show; by default all that were kept.
        """

    def save(self, path: str | Path) -> None:
        """Write the page to a file; an existing file is replaced once the new one is complete.

        Raises
        ------
        OSError
            If it cannot be written; an existing file is then unchanged.
        """
        write_atomically(path, self.to_html().encode("utf-8"))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": _notebook_frame(self.to_html(max_shown=50))}


def _notebook_frame(html: str) -> str:
    """Return a page for the output of a notebook cell."""
    frame = tag(
        "iframe", srcdoc=html, sandbox="allow-scripts", width="100%", height=640, title="tokdfa report", loading="lazy"
    )
    return str(frame)
