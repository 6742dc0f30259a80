"""HTML that is escaped by construction."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokdfa.draw.report.page import Markup, escape, json_block, tag

TEXTS = st.text(st.characters() | st.sampled_from("<>&\"'/\0\u2028\u202e\ud800\ufffe]-!"))


class Reader(HTMLParser):
    """Notes elements, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS)
@example("</script><script>alert(1)</script>")
@example("<!--")
@example('" onload="alert(1)')
def test_text_stays_text(text: str) -> None:
    html = tag("p", text, title=text)
    html.encode("utf-8")
    read = Reader(html)
    assert read.tags == ["p"]
    assert [name for name, _ in read.attributes] == ["title"]
    assert read.attributes[0][1] == read.text
    if text.isprintable():
        assert read.text == text
    assert all(
        character.isprintable() or character in "\n\u00a0\u3000" or character > "\x9f" for character in read.text
    )


@pytest.mark.parametrize(
    "character", ["\0", "\x1b", "\x7f", "\x85", "\u200f", "\u202e", "\u2066", "\ufeff", "\ud800", "\t"]
)
def test_what_cannot_be_seen_is_written_out(character: str) -> None:
    assert escape(f"a{character}b").startswith("a\\")


@settings(max_examples=50)
@given(
    st.recursive(
        TEXTS | st.integers() | st.none() | st.booleans(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)
    )
)
@example("</script><!--<script>")
@example("]]>\u2028\u2029\x85")
def test_data_comes_back(value: object) -> None:
    html = json_block(value, "data")
    html.encode("utf-8")
    read = Reader(html)
    assert read.tags == ["script"]
    assert json.loads(read.text) == value
    inner = html.removeprefix('<script type="application/json" id="data">').removesuffix("</script>")
    assert not set(inner) & set("<>&\u2028\u2029\0")


def test_elements_are_escaped() -> None:
    assert tag("a", tag("b", "<"), "&", class_="x", data_y=1, hidden=True, title=None, open=False) == (
        '<a class="x" data-y="1" hidden><b>&lt;</b>&amp;</a>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert tag("p", Markup("<br>")) == "<p><br></p>"
