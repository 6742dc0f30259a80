"""Give the pages what a screen reader needs and the theme leaves out."""

from __future__ import annotations

from pathlib import Path

# What the theme writes, and what it is to be.
MENDS = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Site">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="Page">',
    '<a href="#" class="back-to-top muted-link">': '<nav aria-label="Top"><a class="back-to-top muted-link" href="#">',
    "<span>Back to top</span>\n        </a>": "<span>Back to top</span></a></nav>",
    '<div id="search-results">': '<h1>Search</h1><div id="search-results" role="region" aria-label="Results">',
}


def mend(site: Path) -> None:
    """Rewrite the pages of a built site, once."""
    for path in site.rglob("*.html"):
        old = text = path.read_text(encoding="utf-8")
        for written, wanted in MENDS.items():
            text = text.replace(written, wanted)
        if text != old:
            path.write_text(text, encoding="utf-8")
