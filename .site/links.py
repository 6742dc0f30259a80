"""Check the pages of a built site: every link has its page and its anchor, and nothing is loaded from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ENTRANCE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>tokdfa</title>
<meta http-equiv="refresh" content="0; url=notebooks/index.html">
</head>
<body><main><h1>tokdfa</h1><p><a href="notebooks/index.html">The documentation of tokdfa</a></p></main></body>
</html>
"""
# Attributes by which a page loads something, and those by which it only points to it.
LOADS = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("object", "data")}
POINTS = {("a", "href")}
# Links of these kinds only say where the page belongs.
SILENT = {"canonical", "next", "prev", "index", "search", "genindex", "author", "copyright"}


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.loads: list[str] = []
        self.points: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value is not None}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        for name, value in values.items():
            if (tag, name) in POINTS or (name == "href" and values.get("rel") in SILENT):
                self.points.append(value)
            elif (tag, name) in LOADS:
                self.loads.append(value)


def write_entrance(site: Path) -> None:
    """Write the page at the top of the site, which leads to the first one."""
    (site / "index.html").write_text(ENTRANCE, encoding="utf-8")


def faults(site: Path) -> list[str]:
    """List what is wrong with the links of a site.

    Parameters
    ----------
    site : Path
        The folder of the built pages.

    Returns
    -------
    list of str
        One line a fault: the page, the link, and what is wrong with it.
    """
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve()).as_posix()
        for link in [*page.loads, *page.points]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{where}: loads {link} from elsewhere")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{where}: {link} leads to no file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{where}: {link} leads to no anchor")
    if len(pages) < 2:
        found.append(f"{site}: no pages")
    return found
