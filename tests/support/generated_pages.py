"""Pages with a table that is made from kept results."""

from __future__ import annotations

from pathlib import Path

__all__ = ["code", "page_with_table"]


def code(pieces: list[str]) -> str:
    """Pieces of a text as they stand in a cell."""
    return " ".join(f"`{piece!a}`" for piece in pieces)


def page_with_table(page: Path, name: str, table: str) -> str:
    """The text of a page with a table between its comments ``<!-- name -->`` and ``<!-- end of name -->``."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    text = page.read_text("utf-8")
    return f"{text.split(begin)[0]}{begin}\n{table}\n{end}{text.split(end)[1]}"
