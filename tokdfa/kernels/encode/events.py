"""What a symbol does to the pieces of a text, in numbers; ``door.h`` has the same ones."""

from __future__ import annotations

__all__ = ["BEGINS", "CONTINUES", "DROPPED", "EVENT_BITS", "EVENT_MASK", "UNSETTLED"]

CONTINUES = 0
BEGINS = 1
DROPPED = 2
"""What a symbol does: go on with the piece, begin one, or begin text that is left out."""

UNSETTLED = 3
"""What a symbol does when hypotheses differ in it."""

EVENT_BITS = 2
"""What begins is written ``offset << EVENT_BITS | event``."""

EVENT_MASK = (1 << EVENT_BITS) - 1
