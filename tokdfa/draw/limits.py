"""What Graphviz may be asked for: its layouts take long for many arrows, and for few that span many ranks."""

from __future__ import annotations

from typing import Final

__all__ = ["MAX_ARROWS", "MAX_SECONDS"]

MAX_ARROWS: Final = 400
"""Number of arrows that are laid out by default: 226 take 2 s, 424 take 20 s, and 628 minutes."""
MAX_SECONDS: Final = 60.0
"""Seconds that a layout may take."""
