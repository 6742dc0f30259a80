"""The option ``--certificate`` of the commands whose answers others can check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tokdfa.cli.output import print_fields

if TYPE_CHECKING:
    from tokdfa.certificates.api import Certificate

__all__ = ["certificate_option", "print_certificate", "write_certificate"]

certificate_option = click.option(
    "--certificate",
    "certificate_path",
    metavar="FILE",
    help="Write why the answer is true to FILE; python -m tokdfa.check verifies it without the rest of tokdfa.",
)


def write_certificate(certificate: Certificate, path: str) -> dict[str, Any]:
    """Write a certificate, and return what ``--json`` prints of it."""
    certificate.save(path)
    return {"path": path, "bytes": len(certificate.text)}


def print_certificate(written: dict[str, Any] | None) -> None:
    """Print where a certificate was written, if it was."""
    if written is not None:
        print_fields([("certificate", f"{written['path']}, {written['bytes']:,} bytes")])
