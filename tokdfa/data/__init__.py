"""The embedded dictionary: data only, so that every machine has a real one at hand."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tokdfa.dictionary import Dictionary
from tokdfa.train.rules import gpt2_byte_order

__all__ = ["default_dictionary"]


@cache
def default_dictionary() -> Dictionary:
    """Return the byte pair dictionary that comes with tokdfa: 3,840 rules over bytes, trained on English books.

    Returns
    -------
    Dictionary
        Proper, every rule live. It was trained on pieces split by GPT-2's pattern; see ``README.md`` beside the file.
    """
    order = gpt2_byte_order()
    characters = {chr(byte) if index < 188 else chr(68 + index): byte for index, byte in enumerate(order)}
    lines = files(__package__).joinpath("default.merges.txt").read_text(encoding="utf-8").splitlines()
    return Dictionary(
        tuple(bytes(characters[character] for character in part) for part in line.split(" "))  # type: ignore[misc]
        for line in lines
        if not line.startswith("#version")
    )
