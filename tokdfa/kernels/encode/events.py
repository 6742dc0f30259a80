"""The codes of what a symbol does to the pieces of a text; ``api.h`` has the same ones."""

from __future__ import annotations

CONTINUES = 0
BEGINS = 1
DROPPED = 2
ADDED = 3
"""What a symbol does: continue the piece, begin one, or begin text that is left out; or an added token begins."""

UNSETTLED = 128
"""The first code of what a symbol does where there are several hypotheses."""

EVENT_BITS = 2
"""An entry for what begins is ``offset << EVENT_BITS | event``."""

EVENT_MASK = (1 << EVENT_BITS) - 1
