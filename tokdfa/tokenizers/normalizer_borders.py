"""What a normalizer makes of the two characters at a place in a text, if it treats the two sides separately."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import NamedTuple

from tokdfa.tokenizers.normalizers import (
    Chain,
    Lowercase,
    Nmt,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from tokdfa.tokenizers.precompiled import Precompiled
from tokdfa.tokenizers.sentencepiece_normalizer import SPACE, SentencePieceNormalizer
from tokdfa.unicode.normalization import spaces
from tokdfa.unicode.quick_check import borders, composites

__all__ = ["Border", "after_border", "border", "is_known", "touches_ends"]


class Border(NamedTuple):
    """The characters on both sides of a place after normalization; None for a left one that is not known.

    The right one may become any of `others` instead, because of what follows it: in NFC, "=" before U+0338 becomes "≠".
    """

    left: str | None
    right: str
    others: frozenset[str] = frozenset()


@singledispatch
def border(normalizer: Normalizer, left: str, right: str) -> Border | None:
    """Return what a normalizer makes of the characters on both sides of a place, whatever precedes and follows them.

    Parameters
    ----------
    normalizer : Normalizer
    left, right : str
        One character each.

    Returns
    -------
    Border or None
        None if the two sides may influence each other, or it is not known. Otherwise the normalized text is that of
        what precedes the place, followed by what `after_border` makes of the rest.

    Notes
    -----
    A normalizer that is not registered here treats no place separately.
    """
    return None


@singledispatch
def after_border(normalizer: Normalizer) -> Normalizer | None:
    """Return the normalizer of the text after such a place: one that does nothing to the beginning of a text."""
    return normalizer


@singledispatch
def touches_ends(normalizer: Normalizer) -> bool:
    """Return whether a normalizer does something to a text because it begins or ends there."""
    return False


def is_known(normalizer: Normalizer) -> bool:
    """Return whether some places may be treated separately."""
    if isinstance(normalizer, Chain):
        return all(map(is_known, normalizer.steps))
    if isinstance(normalizer, Replace):
        return normalizer.literal
    return border.dispatch(type(normalizer)) is not border.dispatch(object)


# Characters by themselves


@border.register(Lowercase)
@border.register(Nmt)
@border.register(StripAccents)
def _(normalizer: Lowercase | Nmt | StripAccents, left: str, right: str) -> Border | None:
    before, after = normalizer(left), normalizer(right)
    return Border(before[-1], after[0]) if before and after else None


@border.register
def _(normalizer: UnicodeForm, left: str, right: str) -> Border | None:
    steady = borders(normalizer.form)
    if not (steady[ord(left)] and steady[ord(right)]):
        return None
    return Border(left, right, composites(right, normalizer.form))


@border.register
def _(normalizer: Replace, left: str, right: str) -> Border | None:
    pattern, content = normalizer.pattern, normalizer.content
    if not normalizer.literal or left + right in pattern:
        return None
    if len(pattern) == 1:
        before, after = normalizer(left), normalizer(right)
        return Border(before[-1], after[0]) if before and after else None
    # What is replaced may end or begin here.
    return None if pattern.endswith(left) or pattern.startswith(right) or not content else Border(left, right)


# Ends of texts


@border.register
def _(normalizer: Prepend, left: str, right: str) -> Border | None:
    return Border(left, right)


@after_border.register
def _(normalizer: Prepend) -> None:
    return None


@touches_ends.register(Prepend)
@touches_ends.register(Strip)
@touches_ends.register(SentencePieceNormalizer)
def _(normalizer: Normalizer) -> bool:
    return True


@border.register
def _(normalizer: Strip, left: str, right: str) -> Border | None:
    return None if left in spaces() else Border(left, right)


@after_border.register
def _(normalizer: Strip) -> Normalizer:
    return replace(normalizer, left=False)


# Tables


@border.register
def _(normalizer: Precompiled, left: str, right: str) -> Border | None:
    found = normalizer.border(left, right)
    return None if found is None else Border(*found)


@border.register
def _(normalizer: SentencePieceNormalizer, left: str, right: str) -> Border | None:
    if normalizer.table is not None:
        changed = normalizer.table.border(left, right)
        if changed is None:
            return None
        left, right = changed
    if normalizer.trims_spaces and left in (" ", SPACE):
        return None
    space = SPACE if normalizer.shows_spaces else " "
    return Border(left.replace(" ", space), right.replace(" ", space))


@after_border.register
def _(normalizer: SentencePieceNormalizer) -> Normalizer:
    return replace(normalizer, puts_space=False, continues=True)


# One after the other


@border.register
def _(normalizer: Chain, left: str, right: str) -> Border | None:
    found = Border(left, right)
    for step in normalizer.steps:
        if found.left is None:
            return None
        each = [border(step, found.left, character) for character in (found.right, *sorted(found.others))]
        known = [one for one in each if one is not None]
        if len(known) < len(each) or any(one.left != known[0].left for one in known):
            return None
        others = frozenset().union(*(one.others for one in known), (one.right for one in known[1:]))
        found = Border(known[0].left, known[0].right, others - {known[0].right})
    return found


@after_border.register
def _(normalizer: Chain) -> Normalizer | None:
    steps = [after_border(step) for step in normalizer.steps]
    kept = tuple(step for step in steps if step is not None)
    return Chain(kept) if kept else None


@touches_ends.register
def _(normalizer: Chain) -> bool:
    return any(map(touches_ends, normalizer.steps))
