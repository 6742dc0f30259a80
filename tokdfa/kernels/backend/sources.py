"""The sources of the library of kernels, and their hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[1]


def sources_with(ending: str) -> list[Path]:
    """Return the C files and headers with this ending, in order."""
    return sorted(KERNELS.glob(f"*/*{ending}"))


def digest() -> str:
    """Return the hash of all C files and headers: their names and contents, line endings aside."""
    found = hashlib.sha256()
    for path in sorted([*sources_with(".c"), *sources_with(".h")]):
        found.update(f"{path.relative_to(KERNELS).as_posix()}\0".encode())
        found.update(path.read_bytes().replace(b"\r\n", b"\n"))
        found.update(b"\0")
    return found.hexdigest()
