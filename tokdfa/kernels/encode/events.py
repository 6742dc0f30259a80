"""The codes of events, which symbols cause as a text is cut into pieces; ``api.h`` has the same ones."""

from __future__ import annotations

CONTINUES = 0
BEGINS = 1
DROPPED = 2
ADDED = 3
"""The events: a symbol continues the piece, begins one, or begins text that is left out; or an added token begins."""

UNSETTLED = 128
"""The first code of unsettled actions: of symbols after which there are several hypotheses."""

EVENT_BITS = 2
"""An event at an offset of the text is ``offset << EVENT_BITS | event``."""

EVENT_MASK = (1 << EVENT_BITS) - 1
