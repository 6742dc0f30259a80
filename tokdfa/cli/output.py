"""What the commands share in speaking: JSON objects, the ``--json`` option, remarks."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["html_option", "json_option", "print_json", "remark"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")

html_option = click.option(
    "--html", "html_path", metavar="FILE", help="Also write a page that shows what is found; an old FILE is replaced."
)


def print_json(fields: Mapping[str, Any]) -> None:
    """Print `fields` as one JSON object on stdout; numpy arrays and numbers become plain ones."""
    click.echo(json.dumps(fields, ensure_ascii=False, default=_plain))


def remark(text: str) -> None:
    """Print a remark on stderr, where it does not disturb the answer."""
    print(f"tokdfa: {text}", file=sys.stderr)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"not a JSON value: {value!r}")
