"""A certificate, as a value and as a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from tokdfa.display import Displayed

__all__ = ["Certificate"]


@dataclass(frozen=True, slots=True)
class Certificate(Displayed):
    r"""Why two tokenizers are equivalent or different, or why a seam is safe or not.

    Attributes
    ----------
    fields : dict
        The certificate as JSON values. The guide "Certificates" says what is in it.

    Notes
    -----
    The same question about the same files gives the same bytes.

    Examples
    --------
    >>> from tokdfa.certificates.certificate import Certificate
    >>> Certificate({"claim": "equivalent"}).text
    '{"claim":"equivalent"}\n'
    """

    fields: dict[str, Any]

    @property
    def claim(self) -> str:
        """What it claims: "equivalent", "different", "splices" or "does not splice"."""
        return str(self.fields["claim"])

    @property
    def text(self) -> str:
        """The content of the file."""
        return json.dumps(self.fields, ensure_ascii=True, separators=(",", ":")) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate to a file.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        from tokdfa.training.atomic import write_atomically

        write_atomically(Path(path), self.text.encode("ascii"))
