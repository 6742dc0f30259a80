"""A page in one file: its frame, style and script, loading nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import tokdfa
from tokdfa.report.markup import Markup, tag

__all__ = ["bar", "data_table", "facts", "notebook_frame", "page", "verdict"]


@cache
def _resource(name: str) -> str:
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(title: str, *sections: str, data: Markup | None = None) -> str:
    """Return a page as HTML; the same parts always give the same text.

    Parameters
    ----------
    title : str
    *sections : str
        The contents of its main part.
    data : Markup, optional
        A block of data for the script.
    """
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


def notebook_frame(html: str) -> str:
    """Return a page for the output of a notebook cell."""
    frame = tag(
        "iframe", srcdoc=html, sandbox="allow-scripts", width="100%", height=640, title="tokdfa report", loading="lazy"
    )
    return str(frame)
