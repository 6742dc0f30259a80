"""Whether bytes are a text."""

from __future__ import annotations


def is_utf8(data: bytes) -> bool:
    """Return whether some bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
