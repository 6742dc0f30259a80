"""A page in one file, which loads nothing: its frame, style, script and parts, common to all reports."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import tokdfa
from tokdfa.automata.alphabet import Word
from tokdfa.base.atomic import write_atomically
from tokdfa.draw.graph import character_sign, word_label
from tokdfa.jobs.validation.violation import ViolationKind
from tokdfa.tokenizers.protocol import AnyTokenizer

_VOID = frozenset({"meta"})

# Characters that a page cannot hold or would not show: controls, characters that change the direction of text, line
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
    """Return a sentence; every second part is a token or a text, each with a direction of its own."""
    return Markup("".join(tag("bdi", part) if i % 2 else escape(part) for i, part in enumerate(parts)))


def json_block(value: Any, id: str) -> Markup:
    """Return a value as a block of data that the page's script can read and from which no value can break out."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # JSON escapes control characters itself; lone halves of surrogate pairs have no UTF-8.
    text = re.sub("[\x7f-\x9f\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return Markup(f'<script type="application/json" id="{escape(id)}">{text}</script>')


MAX_LABEL = 48
MAX_QUOTE = 160

# Escapes in labels for characters that do not print; see `word_label`. report.js has the same.
ESCAPES = re.compile(r"(\\(?:[\\ntr]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|␣)")

PLAIN, SPECIAL, NOT_TEXT, COMBINING = "", "special", "bytes", "combining"


class Spelling:
    """The tokens of a tokenizer as labels, each with its class. It remembers the ones that are shown.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    """

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._tokenizer = tokenizer
        self._text, self._offsets = tokenizer.id_spellings
        self._special = frozenset(tokenizer.special_ids.tolist())
        self._known: dict[int, tuple[str, str]] = {}

    def length(self, id: int) -> int:
        """Return the number of bytes of an id; 0 if no token has it."""
        if not self._tokenizer.decoder.is_id(id):
            return 0
        return int(self._offsets[id + 1] - self._offsets[id])

    def word(self, id: int) -> bytes:
        """Return the bytes of an id."""
        return self._text[self._offsets[id] : self._offsets[id + 1]].tobytes()

    def same(self, id: int, other: Spelling) -> bool:
        """Return whether an id has the same bytes in another tokenizer."""
        return self.word(id) == other.word(id)

    def note(self, ids: Iterable[int]) -> None:
        """Remember that these ids are shown."""
        for id in ids:
            if id not in self._known:
                self._known[id] = self._label(id)

    def label(self, id: int) -> str:
        """Return the label of an id."""
        return (self._known.get(id) or self._label(id))[0]

    def labels(self, ids: Sequence[int]) -> Markup:
        """Return the labels of the first ids with the ids, and the number of others."""
        parts = [tag("bdi", f"{self.label(id)} ({id})", class_="id") for id in ids[:8]]
        more = tag("span", f" … {len(ids) - 8:,} more") if len(ids) > 8 else ""
        return Markup(" ".join(parts) + more if parts else "nothing")

    def _label(self, id: int) -> tuple[str, str]:
        """Return the label of an id and its class: special, bytes, combining or none of these."""
        if not self._tokenizer.decoder.is_id(id):
            return "no token", SPECIAL  # The id separates documents, or is out of range.
        word = self._tokenizer.name_of(id)
        try:
            text = word.decode("utf-8")
        except UnicodeDecodeError:
            kind = NOT_TEXT
        else:
            kind = COMBINING if text and unicodedata.category(text[0])[0] == "M" else PLAIN
        return shortened(word_label(word)), SPECIAL if id in self._special else kind

    def table(self) -> dict[str, list[str]]:
        """Return, for each id that is shown, its label and its class."""
        return {str(id): [*self._known[id]] for id in sorted(self._known)}


def shortened(label: str) -> str:
    """Return a label, shortened in the middle if it is long."""
    if len(label) <= MAX_LABEL:
        return label
    parts = [part for part in ESCAPES.split(label) if part]
    signs = [sign for part in parts for sign in ([part] if ESCAPES.fullmatch(part) else part)]
    half = MAX_LABEL // 2 - 1
    return label if len(signs) <= MAX_LABEL else "".join([*signs[:half], "…", *signs[-half:]])


def cut_down(text: str) -> str:
    """Return a text, shortened in the middle if it is long."""
    half = MAX_QUOTE // 2
    return text if len(text) <= MAX_QUOTE else f"{text[:half]} … {text[-half:]}"


def marked_up(label: str) -> Markup:
    """Return a label with its escapes marked up."""
    parts = ESCAPES.split(label)
    return Markup("".join(tag("i", part) if number % 2 else escape(part) for number, part in enumerate(parts)))


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
                            if not column
                            else tag("td", cell, class_="number" if cell.replace(",", "").isdecimal() else None)
                            for column, cell in enumerate(row)
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
    """Return a bar, as long as the ratio of a part to the whole."""
    width = round(100 * part / whole, 2) if whole else 0
    return tag(
        "svg",
        tag("rect", x=0, y=0, width=f"{width:g}", height=8, rx=1),
        class_="bar",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def kind_table(caption: str, head: str, counts: Mapping[ViolationKind, int]) -> Markup:
    """Return a table of the numbers of violations of each kind, the most first."""
    total = sum(counts.values())
    return data_table(
        caption,
        ("Kind", head, "Share"),
        (
            (Markup(tag("span", kind) + tag("span", kind.meaning, class_="meaning")), f"{count:,}", bar(count, total))
            for kind, count in sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        ),
    )


def rule_table(
    caption: str, head: str, counts: Mapping[int, int], merge: Callable[[int], str], *, most: int, whole: int
) -> Markup:
    """Return a table of the numbers of violations by rules, the most first; `merge` is the label of a rule."""
    shown = sorted(counts.items(), key=lambda row: (-row[1], row[0]))[:most]
    which = "all" if len(shown) == len(counts) else f"the first {len(shown)}"
    return data_table(
        f"{caption}: {which} of {len(counts):,}",
        ("Rule", "It merges", head, "Share"),
        ((f"{rule:,}", tag("bdi", merge(rule)), f"{count:,}", bar(count, whole)) for rule, count in shown),
    )


def merge_label(left: Word, right: Word) -> str:
    """Return the label of what a rule merges."""
    return f"{shortened(word_label(left))} + {shortened(word_label(right))}"


HEIGHT = 60


def chart(bars: Iterable[tuple[int, str, int]], n_parts: int, said: str, ends: Sequence[str], width: int = 0) -> Markup:
    """Return a chart of counts in parts of a whole, each a part, its title and its count; `said` describes it.

    `ends` are labels along the axis, from the first to the last part; with a `width`, a bar has the first token of its
    part.
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
    above = tag("p", tag("span", f"{most:,} at most"), class_="ends")
    below = tag("p", *(tag("span", end) for end in ends), class_="ends")
    return tag("figure", above, drawn, below, tag("figcaption", said), class_="where")


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
