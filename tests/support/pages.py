"""Pages, read as a browser would and checked for the rules that hold for all of them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

VOID = {"meta"}


class Page(HTMLParser):
    """The elements of a page; complains when they are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        for name in set(self._open):
            self.texts[name] = self.texts.get(name, "") + data

    def count(self, tag: str, **attributes: str) -> int:
        return sum(name == tag and attributes.items() <= values.items() for name, values in self.elements)


def check(html: str) -> Page:
    """Check what holds for every page."""
    page = Page(html)
    assert html.startswith("<!doctype html>")
    html.encode("utf-8")
    ids = [values["id"] for _, values in page.elements if "id" in values]
    assert len(set(ids)) == len(ids)
    for _, values in page.elements:
        assert values.get("aria-labelledby", ids[0]) in ids
        assert not {"src", "style", "srcset", "action"} & values.keys()
        assert not any(name.startswith("on") for name in values)
        if "href" in values:
            assert (values["href"] or "").removeprefix("#") in ids
    for tag in ("html", "head", "main", "h1", "style"):
        assert page.count(tag) == 1, tag
    assert page.count("html", lang="en") == 1
    # Only the style and the script that are there are allowed to be.
    (policy,) = (values["content"] for _, values in page.elements if "http-equiv" in values)
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    style, script = (re.search(f"<{name}>(.*?)</{name}>", html, re.DOTALL) for name in ("style", "script"))
    for found in (style, script):
        assert found is not None
        assert f"'sha256-{base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()}'" in policy
        assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttp|innerHTML", found[1])
    return page


def data_of(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)
    assert found is not None
    return json.loads(found[1])
