"""The segmentation of texts as they are given, by SentencePiece's normalization in the compiled loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint64Array
from tokdfa.kernels.unigram.texts import Writer, segment_text, segment_texts, text_call, text_tables
from tokdfa.tokenizers.models.unigram.character_rules import CharacterRules, CharacterTable
from tokdfa.tokenizers.models.unigram.segmenter import Before
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer

if TYPE_CHECKING:
    from tokdfa.kernels.unigram.segmentation import Buffers
    from tokdfa.regex.unicode.normalization import Normalizer
    from tokdfa.tokenizers.models.unigram.segmenter import Segmenter
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["TextSegmenter", "code_point_bits", "is_one_sentence", "one_pass", "text_segmenter"]

_ASCII = 0x80


class _OfThread(threading.local):
    """The buffers that the calls of a thread write to, made when the thread first asks for them."""

    buffers: Buffers
    writer: Writer
    is_whole: bool
    call: Callable[[str], Int32Array | None]


class TextSegmenter:
    """The normalization and segmentation of texts in one pass. Threads may share it.

    The sums of the model continue over a whole text, and its pieces have no visible space but at the beginning. The
    longest word of `rules` at each offset is replaced; no word has a space, and no replacement a visible one. The words
    `kept`, without spaces, are found before. `puts_space` is whether a space is put before a text; `trims_spaces`,
    whether spaces at its ends are dropped, and runs of them become one.

    Examples
    --------
    >>> import numpy as np
    >>> from tokdfa.tokenizers.models.unigram.model import UnigramModel
    >>> from tokdfa.tokenizers.models.unigram.segmenter import Segmenter
    >>> pieces, found = ("?", "\u2581", "\u2581a", "b"), np.array([False, True, True, True])
    >>> model = UnigramModel(pieces, np.array([0.0, -2.0, -1.0, -1.5]), found, 0, -12.0, "sentencepiece")
    >>> texts = TextSegmenter(Segmenter(model), {"B": "b"}, (), puts_space=True, trims_spaces=True)
    >>> texts.encode(b"aB  a")[0].tolist()
    [2, 3, 2]
    """

    def __init__(
        self,
        segmenter: Segmenter,
        rules: Mapping[str, str],
        kept: Sequence[str],
        *,
        puts_space: bool,
        trims_spaces: bool,
    ) -> None:
        self._segmenter = segmenter
        own = CharacterRules.of(rules)
        characters = own.characters
        within = characters.inside | characters.first
        within[[ord(character) for word in kept for character in word]] = True
        blanks = [chr(code) for code in range(_ASCII) if characters.alone[code] and not within[code]]
        touched: BoolArray = characters.inside | characters.alone
        touched[ord("\u2581")] = True
        self._rules = own.arrays
        self._build = partial(
            text_tables,
            segmenter.tables,
            kept=kept,
            blanks=[blank for blank in blanks if own[blank] == " "],
            touched=code_point_bits(touched),
            puts_space=puts_space,
            trims_spaces=trims_spaces,
        )
        # The trie of the rules takes longer than everything else, and many texts have no character that a rule needs.
        self._is_whole = not len(own)
        self._tables = self._build(own.arrays if self._is_whole else None)
        self._own = _OfThread()

    def _lacked_rules(self, own: _OfThread) -> bool:
        """Return whether the tables of a call lacked rules; the next call gets tables with them."""
        if own.is_whole:
            return False
        if not self._is_whole:
            self._tables, self._is_whole = self._build(self._rules), True
        del own.call
        return True

    def encode(self, data: bytes, before: Before | None = None) -> tuple[Int32Array, Before] | None:
        """Return the ids of a text in UTF-8, and the state after it; None if it must be normalized first.

        `before` is the state before it, if it continues another text with a space, where a text is always cut.
        """
        own = self._of_thread
        ids = segment_text(data, len(data), own.writer, own.buffers, before)
        if ids is None and self._lacked_rules(own):
            return self.encode(data, before)
        return None if ids is None else (ids, own.buffers.after)

    def encode_whole(self, text: str) -> Int32Array | None:
        """Return the ids of a whole text; None if it must be normalized first, or has half of a surrogate pair."""
        own = self._own
        try:
            call = own.call
        except AttributeError:
            own = self._of_thread
            call = own.call
        try:
            ids = call(text)
        except UnicodeEncodeError:
            return None
        return self.encode_whole(text) if ids is None and self._lacked_rules(own) else ids

    def encode_texts(self, texts: Sequence[bytes], first: int = 0) -> tuple[Int32Array, Int64Array]:
        """Return the ids of texts from the first one wanted on, and the end of the ids of each text.

        If they are fewer than the texts, the next one must be normalized first.
        """
        ends: Int64Array = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
        own = self._of_thread
        found = segment_texts(b"".join(texts), ends, first, own.writer, own.buffers)
        is_short = len(found[1]) < len(texts) - first
        return self.encode_texts(texts, first) if is_short and self._lacked_rules(own) else found

    @property
    def writer(self) -> Writer:
        """The buffers that the calls of a thread write to, together with the `buffers` of the segmenter."""
        return self._of_thread.writer

    @property
    def _of_thread(self) -> _OfThread:
        """The buffers of this thread."""
        own = self._own
        if not hasattr(own, "call"):
            own.buffers = self._segmenter.buffers
            # In this order, because another thread may add the rules between them.
            own.is_whole = self._is_whole
            own.writer = Writer(self._tables, own.buffers)
            own.call = text_call(own.writer, own.buffers)
        return own


def is_one_sentence(tokenizer: Tokenizer) -> bool:
    """Return whether each text is segmented as a whole."""
    return tokenizer.pretokenizer is None and tokenizer.model.spell is None and not tokenizer.added_tokens


def one_pass(tokenizer: Tokenizer) -> TextSegmenter | None:
    """Return the segmentation of texts that are not normalized yet; None if that takes two steps."""
    segmenter = tokenizer.segmenter
    if segmenter is None or not is_one_sentence(tokenizer):
        return None
    return text_segmenter(segmenter, tokenizer.rewriting.normalizer)


def text_segmenter(segmenter: Segmenter, normalizer: Normalizer | None) -> TextSegmenter | None:
    """Return the segmentation of texts that are not normalized yet; None if they must be normalized first."""
    if not segmenter.model.is_single or segmenter.model.has_inner_spaces:
        return None
    if not isinstance(normalizer, SentencePieceNormalizer) or not normalizer.shows_spaces or normalizer.continues:
        return None
    table = normalizer.table or CharacterTable({}, (), b"")
    # Then spaces always cut a text, and no rule makes a visible space.
    if table.rules.words_have(" ") or table.rules.first_with(SPACE) is not None:
        return None
    if any(" " in word or SPACE in word for word in table.kept):
        return None
    return TextSegmenter(
        segmenter, table.rules, table.kept, puts_space=normalizer.puts_space, trims_spaces=normalizer.trims_spaces
    )


def code_point_bits(marks: BoolArray) -> Uint64Array:
    """Return the bits of marks of all code points, the first ones the lowest."""
    padded = np.zeros((len(marks) + 63) // 64 * 64, dtype=np.bool_)
    padded[: len(marks)] = marks
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
