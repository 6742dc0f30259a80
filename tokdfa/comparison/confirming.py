"""The one place where a text becomes a witness: encoding has to show that two tokenizers differ on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tokdfa.comparison.result import Difference
from tokdfa.errors import AlphabetError
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Names", "confirmed"]

# What ids are compared by, for one of the two: their spellings, where the ids themselves are ignored.
Names: TypeAlias = Callable[[Sequence[int]], object]


def confirmed(
    a: AnyTokenizer, b: AnyTokenizer, text: str, names: tuple[Names, Names] | None = None
) -> Difference | None:
    """Return the difference on a text; None if there is none.

    A text with a symbol that has no token is refused here, but its library may drop the symbol. If the other tokenizer
    gives the same ids, because it has the symbol removed, the libraries do not differ.
    """
    ids_a, ids_b = _ids(a, text), _ids(b, text)
    if _are_same(ids_a, ids_b, names):
        return None
    if ids_a is None or ids_b is None:
        given_a = _ids_of_library(a, text) if ids_a is None else ids_a
        given_b = _ids_of_library(b, text) if ids_b is None else ids_b
        if given_a is not None and _are_same(given_a, given_b, names):
            return None
    return Difference(text, ids_a, ids_b)


def _are_same(a: tuple[int, ...] | None, b: tuple[int, ...] | None, names: tuple[Names, Names] | None) -> bool:
    if names is None or a is None or b is None:
        return a == b
    return names[0](a) == names[1](b)


def _ids(side: AnyTokenizer, text: str) -> tuple[int, ...] | None:
    try:
        return tuple(side.encode(text).tolist())
    except AlphabetError:
        return None


def _ids_of_library(side: AnyTokenizer, text: str) -> tuple[int, ...] | None:
    """Return the ids without the symbols that the library drops; None if it is not known to drop any."""
    return None if side.leaving_out is None else _ids(side.leaving_out, text)
