"""Boundaries before words: where every piece that has a space begins with it, or where decoding inserts one."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.regex.unicode.normalization import Normalizer, spaces
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoding import byte_of
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer, SpaceAfter
from tokdfa.tokenizers.pretokenizers.steps import WHITESPACE_SPLIT, Splitting
from tokdfa.tokenizers.word_decoding import DecodeMetaspace

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.contents import Rewriting
    from tokdfa.tokenizers.models.unigram.model import UnigramModel


def splits_at_spaces(splitting: Splitting) -> bool:
    """Return whether a pre-tokenizer is Metaspace, alone or after WhitespaceSplit, and splits before each space."""
    if splitting.metaspace != SPACE or splitting.byte_steps:
        return False
    *before, last = splitting.steps or (None,)
    is_last = last is not None and last.literal and last.pattern == SPACE and last.behavior == "merged_with_next"
    return is_last and (before, splitting.metaspace_at) in (([], 0), ([WHITESPACE_SPLIT], 1))


def why_none(model: UnigramModel, splitting: Splitting, rewriting: Rewriting, found: tuple[Special, ...]) -> str | None:
    """Return why no text of a Unigram tokenizer is known to be always cut; None if some are.

    `found` are the special tokens that are found in texts.
    """
    normalizer, steps = rewriting.normalizer, rewriting.decoding or ()
    if model.is_single:
        if isinstance(normalizer, SpaceAfter):
            return "a space is put after texts"
        if not isinstance(normalizer, SentencePieceNormalizer) or not normalizer.shows_spaces:
            return "spaces are not visible to the model"
        if model.has_inner_spaces:
            return "a piece has a space that does not begin it"
        return None
    if not splits_at_spaces(splitting):
        return f"the pre-tokenizer is not Metaspace: {'none' if splitting.is_nothing else splitting}"
    if steps != (DecodeMetaspace(SPACE, True),) and steps != (DecodeMetaspace(SPACE, False),):
        return "the decoder is not Metaspace"
    if normalizer is not None and not normalizer.is_local:
        return f"the normalizer may change any part of a text: {normalizer}"
    if odd_ones(found) or not all(spaces().isdisjoint(special.text) for special in found):
        return "special tokens strip, are single words, or have spaces"
    return None if all(SPACE not in special.text for special in found) else "special tokens have visible spaces"


class _SpaceBoundaries(Boundaries):
    """Boundaries before spaces only."""

    def last_cut(self, before: str, text: str) -> int:
        at = text.rfind(" ")
        while at >= 0:
            left = text[at - 1] if at else before
            if left and self.is_cut(left, " "):
                break
            at = text.rfind(" ", 0, at)
        return at


class UnigramBoundaries(_SpaceBoundaries):
    """The boundaries of a Unigram tokenizer, where everything but the sum of scores is encoded separately.

    `pieces` has the spelling of each id; `is_usual`, a bool array, is whether the id is a piece that is found in texts,
    and decoded by its spelling.
    """

    def __init__(self, normalizer: Normalizer | None, pieces: list[str], is_usual: BoolArray) -> None:
        super().__init__(None)
        self._normalizer = normalizer
        self._pieces = pieces
        self._is_usual = is_usual
        self._known: dict[str, bool] = {}

    def is_cut(self, left: str, right: str) -> bool:
        """Return whether a text is always cut between two characters; the right one must be a space."""
        if right != " ":
            return False
        known = self._known.get(left)
        if known is None:
            known = self._known[left] = self._may_end(left)
        return known

    def _may_end(self, left: str) -> bool:
        """Return whether a text is cut between a character and a space."""
        if left == SPACE or left in spaces():
            return False
        if self._normalizer is None:
            return True
        found = self._normalizer.sides(left, " ")
        if found is None or found.others or found.right not in (" ", SPACE):
            return False
        return found.left is not None and found.left != SPACE and found.left not in spaces()

    def always_cut(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        may_end, may_begin = self.sides
        cut: BoolArray = may_begin[ids[1:]] & may_end[ids[:-1]]
        return cut

    @cached_property
    def sides(self) -> tuple[BoolArray, BoolArray]:
        """For each id, whether a cut may follow it, and whether one may come before it."""
        pieces = [*zip(self._pieces, self._is_usual.tolist(), strict=True)]
        ends = [is_usual and bool(piece) and self.is_cut(piece[-1], " ") for piece, is_usual in pieces]
        begins = [is_usual and piece.startswith(SPACE) and byte_of(piece) is None for piece, is_usual in pieces]
        return np.array(ends, dtype=np.bool_), np.array(begins, dtype=np.bool_)


class SpacedBoundaries(_SpaceBoundaries):
    """The boundaries of a WordPiece tokenizer: before spaces, and before ids where decoding inserts one.

    No special token contains white space, so none is spelled across. `cuts_before`, a bool array, is whether the text
    is cut before the id.
    """

    def __init__(self, cuts_before: BoolArray) -> None:
        super().__init__(None)
        self.cuts_before = cuts_before

    def is_cut(self, left: str, right: str) -> bool:
        """Return whether a text is always cut between two characters; the right one must be a space."""
        return right == " "

    def always_cut(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        """Return, for each id but the first, whether decoding inserts a space before it."""
        return self.cuts_before[ids[1:]]
