"""The option ``--certificate`` of the commands whose answers others can check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.output import print_table

if TYPE_CHECKING:
    from tokdfa.certificates.api import Certificate

__all__ = ["certificate_option", "check_certificate_path", "print_certificate", "write_certificate"]

certificate_option = click.option(
    "--certificate",
    "certificate_path",
    metavar="FILE",
    help="Write why the answer is true to FILE; python -m tokdfa.check verifies it without the rest of tokdfa.",
)


def check_certificate_path(path: str) -> None:
    """Check, before the work, that a certificate can be written."""
    from tokdfa.training.atomic import check_writable

    check_writable(path)


def write_certificate(certificate: Certificate, path: str) -> dict[str, Any]:
    """Write a certificate, and return what ``--json`` prints of it."""
    certificate.save(path)
    return {"path": path, "bytes": len(certificate.text)}


def print_certificate(written: dict[str, Any] | None) -> None:
    """Print where a certificate was written, if it was."""
    if written is None:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("certificate", Text(f"{written['path']}, {written['bytes']:,} bytes"))
    print_table(table)
