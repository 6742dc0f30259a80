"""How texts are cut for a dictionary over characters: where no token has both sides next to each other."""

from __future__ import annotations

from typing import NamedTuple

from tokdfa.kernels.encode.characters import ids_a_byte
from tokdfa.kernels.library import Struct


class CharacterSplitter(NamedTuple):
    """The parts of texts that are merged separately, and the character put before a text.

    `characters`, ``tokdfa_characters``, has the symbols of characters as texts have them, that is before any are
    replaced: a space has the symbol of U+2581 if it becomes that. So nothing has to be replaced in a text. `added`,
    ``tokdfa_added_tokens``, has the tokens that are found in texts first, None without. Texts that have the character
    `lacks` are encoded in another way.
    """

    characters: Struct
    added: Struct | None
    lacks: str | None = None

    @property
    def ids_a_byte(self) -> int:
        """How many ids a text has at most for each of its bytes."""
        return ids_a_byte(self.characters)
