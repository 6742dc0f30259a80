"""The beginnings of texts, where tokenizers over characters put a space before them and decoding removes one.

Llama-2 puts a space before every text, and decoding removes the first one. So the ids of "Hi" spell " Hi", and " Hi" is
spelled with two spaces. No text follows a special token in canonical ids: "</s> Hi", decoded, would get a second space.

Where a space is put only before texts without one (Metaspace), or is removed but never put (InternLM-2), no canonical
ids have a text that begins with a space: " Hi" has the ids of "Hi", or decodes to it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine

Opening: TypeAlias = Literal["start", "blank", "within"]
"""Where texts begin: after no text; after nothing but the space put before the text; or after other text."""

AfterSpecial: TypeAlias = Literal["all", "with space", "none", "anew"]
"""The texts that may follow a special token in canonical ids; "anew" if they are encoded like those after none."""

WITHIN = 1
"""The state of the automaton of beginnings within other text."""

_WITHIN, _AFTER, _START, _BLANK = range(WITHIN, 5)
_STATES = {"start": _START, "blank": _BLANK, "within": _WITHIN}


class Beginnings(NamedTuple):
    """How a tokenizer treats the beginnings of texts, and of the texts after special tokens."""

    puts_space: bool = False  # Whether ids spell a space before every text but the empty one, which decoding removes
    keeps_space: bool = True  # Whether a text may begin with a space of its own
    after_special: AfterSpecial = "all"

    @property
    def are_plain(self) -> bool:
        """Whether ids spell all texts as they are."""
        return self == Beginnings()

    @property
    def are_anew(self) -> bool:
        """Whether a text after a prompt that ends with a special token is encoded like one that nothing precedes."""
        return self.after_special != "all"

    def machine(self, opening: Opening, are_apart: BoolArray) -> ByteMachine:
        """Return the automaton over bytes and special tokens of the spellings of ids from an opening on.

        The special tokens that are not apart are part of a text like bytes. All that may follow in any state may follow
        in state 1.
        """
        own_space = _WITHIN if self.keeps_space else NOWHERE
        spaced = NOWHERE if self.after_special == "none" else _WITHIN
        other = _WITHIN if self.after_special == "all" else NOWHERE
        special = _START if self.after_special == "anew" else _AFTER
        # For each state, those after a space, another byte and a special token.
        rows = [
            [NOWHERE, NOWHERE, NOWHERE],
            [_WITHIN, _WITHIN, special],
            [spaced, other, _AFTER],
            [_BLANK, NOWHERE, special] if self.puts_space else [own_space, _WITHIN, special],
            [own_space, _WITHIN, NOWHERE],
        ]
        if self.are_plain:
            rows, opening = [rows[NOWHERE], [_WITHIN, _WITHIN, _WITHIN]], "within"
        column = np.concatenate((np.ones(256, dtype=np.int32), np.where(are_apart, 2, 1).astype(np.int32)))
        column[0x20] = 0
        is_final = [False, True, True, True, False]
        return ByteMachine(np.array(rows, dtype=np.int32), column, np.array(is_final[: len(rows)]), _STATES[opening])
