"""Which Unigram tokenizers normalize and segment texts in one pass."""

from __future__ import annotations

from tokdfa.tokenizers.normalizers import Normalizer
from tokdfa.tokenizers.sentencepiece_normalizer import SPACE, CharacterTable, SentencePieceNormalizer
from tokdfa.unigram.segmenter import Segmenter
from tokdfa.unigram.texts import TextSegmenter

__all__ = ["text_segmenter"]


def text_segmenter(segmenter: Segmenter, normalizer: Normalizer | None) -> TextSegmenter | None:
    """Return the segmentation of texts that are not normalized yet; None if they must be normalized first."""
    if not segmenter.model.is_single or segmenter.model.has_inner_spaces:
        return None
    if not isinstance(normalizer, SentencePieceNormalizer) or not normalizer.shows_spaces or normalizer.continues:
        return None
    table = normalizer.table or CharacterTable({}, (), "")
    # Then spaces cut a text whatever is around them, and no visible space comes of a rule.
    if table.rules.words_have(" ") or table.rules.first_with(SPACE) is not None:
        return None
    if any(" " in word or SPACE in word for word in table.kept):
        return None
    return TextSegmenter(
        segmenter,
        table.rules,
        table.kept,
        puts_space=normalizer.puts_space,
        trims_spaces=normalizer.trims_spaces,
    )
