"""Unigram: pieces with scores, of which the segmentation with the greatest sum counts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.encoding.batches import EncodedDocuments
from tokdfa.encoding.special import Special
from tokdfa.errors import AlphabetError
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.boundaries.words import UnigramBoundaries, why_none
from tokdfa.tokenizers.decoder import Spellings, WholeDecoder
from tokdfa.tokenizers.models.model import Direct, Model
from tokdfa.tokenizers.models.unigram_accepted import acceptor, is_usual, piece_spellings
from tokdfa.tokenizers.models.unigram_round_trip import UnigramRoundTrip
from tokdfa.tokenizers.models.unigram_sentences import Sentences, check_encodable
from tokdfa.tokenizers.normalizers import Normalizer
from tokdfa.tokenizers.sentencepiece_normalizer import SPACE, CharacterTable, SentencePieceNormalizer
from tokdfa.unigram.lattice import RecordedText
from tokdfa.unigram.segmenter import BEGINNING, Before, Segmenter
from tokdfa.unigram.texts import TextSegmenter

if TYPE_CHECKING:
    from tokdfa.encoding.stream import EncodingStream
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.round_trip import RoundTrip
    from tokdfa.tokenizers.spelled import Spelled
    from tokdfa.tokenizers.tokenizer import Tokenizer, UnigramTokenizer
    from tokdfa.unigram.segmenter import Acceptor

__all__ = ["Unigram"]


class Unigram(Model):
    """A model of pieces with scores.

    SentencePiece adds up a whole text, each sum rounded to 32 bits; tokenizers adds up each pre-token with 64 bits.

    Attributes
    ----------
    table : UnigramModel
        The pieces, their scores, and what is done about unknown characters.
    pieces, scores, is_found, unknown, unknown_score, arithmetic, byte_ids, is_single
        Those of the table.
    spells_bytes : bool
        Whether pre-tokens become letters of GPT-2's byte alphabet before they are segmented.
    """

    algorithm = "Unigram"

    def __init__(self, contents: UnigramContents) -> None:
        table = self.table = contents.model
        self.pieces, self.scores, self.is_found = table.pieces, table.scores, table.is_found
        self.unknown, self.unknown_score, self.byte_ids = table.unknown, table.unknown_score, table.byte_ids
        self.arithmetic, self.is_single = table.arithmetic, table.is_single
        self.spells_bytes = contents.spelled_bytes
        late = ", rounded late" if table.is_rounded_late else ""
        self.semantics = f"best sum in {32 if table.is_single else 64} bits{late}"

    @property
    def is_token(self) -> BoolArray:
        """For each id of the model, whether it is the id of a piece: all are."""
        return np.ones(len(self.pieces), dtype=np.bool_)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of pieces that are found in texts."""
        return {"pieces": int(self.is_found.sum())}

    @property
    def strings(self) -> list[str]:
        """The piece of each id."""
        return [*self.pieces]

    # From text to ids

    @cached_property
    def segmenter(self) -> Segmenter:
        """The compiled segmentation of texts."""
        return Segmenter(self.table)

    def direct(self, tokenizer: Tokenizer) -> Direct | None:
        """Return the function that normalizes and segments texts in one pass; None if that takes two."""
        texts = tokenizer.derived(one_pass)
        return None if texts is None else texts.encode_whole

    def encode(self, tokenizer: Tokenizer, text: str) -> Int32Array:
        """Return the ids of any text; see :meth:`Tokenizer.encode`."""
        return self.encode_on(tokenizer, text, BEGINNING)[0]

    def encode_on(
        self, tokenizer: Tokenizer, text: str, before: Before, *, begins: bool = True
    ) -> tuple[Int32Array, Before]:
        """Return the ids of a text, or of one that goes on after a place where texts are certainly cut.

        Parameters
        ----------
        tokenizer : Tokenizer
        text : str
        before : Before
            What counts of the text before it.
        begins : bool
            Whether a text begins here.

        Returns
        -------
        ids : int32 array
        before : Before
            What counts of this text after it.
        """
        check_encodable(text)
        sentences = tokenizer.derived(sentences_of)
        normalizer = _normalizer_at(tokenizer, begins)
        if sentences.are_whole:
            texts = tokenizer.derived(one_pass)
            if texts is not None:
                found = texts.encode(text.encode("utf-8"), None if begins else before)
                if found is not None:
                    return found
            data = (text if normalizer is None else normalizer(text)).encode("utf-8")
            return self.segmenter.encode_on(data, np.array([len(data)], dtype=np.int64), before)
        parts: list[Int32Array] = []
        for stretch in sentences.of(text, normalizer, begins=begins):
            if isinstance(stretch, Special):
                parts.append(np.array([stretch.id], dtype=np.int32))
                continue
            ids, before = self.segmenter.encode_on(*stretch, before)
            parts.append(ids)
        if len(parts) == 1:
            return parts[0], before
        return np.concatenate((np.empty(0, dtype=np.int32), *parts)), before

    def record_on(self, tokenizer: Tokenizer, text: str, before: Before, *, begins: bool = True) -> RecordedText:
        """Return the sums of scores in a text, with which other segmentations of its parts are compared.

        The parameters are those of `encode_on`.
        """
        recorded = RecordedText(self.segmenter)
        for stretch in tokenizer.derived(sentences_of).of(text, _normalizer_at(tokenizer, begins), begins=begins):
            if isinstance(stretch, Special):
                recorded.skip()
            else:
                before = recorded.add(*stretch, before)
        return recorded

    def encode_side_by_side(self, tokenizer: Tokenizer, texts: list[str], n_threads: int) -> EncodedDocuments | None:
        """Return the ids of several texts, on one thread; None if there is no short way for them, or one is refused.

        They are normalized and segmented in one pass, except those that must be normalized first, one by one.
        """
        segmenter = tokenizer.derived(one_pass) if n_threads == 1 else None
        if segmenter is None:
            return None
        try:
            data = [*map(str.encode, texts)]
        except (TypeError, UnicodeEncodeError):
            return None
        parts: list[Int32Array] = []
        offsets = [np.zeros(1, dtype=np.int64)]
        first = n = 0
        while True:
            ids, ends = segmenter.encode_texts(data, first)
            parts.append(ids)
            offsets.append(ends + n)
            first, n = first + len(ends), n + len(ids)
            if first == len(data):
                break
            # This one must be normalized first.
            try:
                parts.append(tokenizer.encode(texts[first]))
            except AlphabetError:
                return None
            first, n = first + 1, n + len(parts[-1])
            offsets.append(np.array([n]))
        return EncodedDocuments(parts[0] if len(parts) == 1 else np.concatenate(parts), np.concatenate(offsets))

    def stream(self, tokenizer: Tokenizer) -> EncodingStream:
        """Return a stream that returns ids up to the last boundary; all of them at the end if none is known."""
        from tokdfa.encoding.stream import HeldStream, encode_from

        before = BEGINNING

        def encode(text: str, byte: int) -> Int32Array:
            def on(text: str) -> Int32Array:
                nonlocal before
                start = before if byte else BEGINNING
                ids, before = self.encode_on(tokenizer, text, start, begins=not byte)
                return ids

            return encode_from(on, text, byte)

        return HeldStream(encode, tokenizer.boundaries.last_cut)

    def boundaries(self, tokenizer: Tokenizer) -> Boundaries:
        """Return the boundaries in texts and ids, where all is encoded separately but the sum of scores."""
        splitting = None if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
        why = why_none(self.table, splitting, tokenizer.rewriting, tokenizer.found_specials)
        if why is not None:
            return Boundaries(why)
        return UnigramBoundaries(
            tokenizer.rewriting.normalizer, tokenizer.token_strings, is_usual(cast("UnigramTokenizer", tokenizer))
        )

    # From ids to text

    def id_spellings(self, tokenizer: Tokenizer) -> Spellings:
        """Return the bytes that each id adds to a text between others, as far as that does not depend on these."""
        try:
            return tokenizer.spelled.usual
        except ValueError:
            return tokenizer.derived(piece_spellings)

    def spelled(self, tokenizer: Tokenizer) -> Spelled:
        """Return what each id adds to a text by its position; see :attr:`AnyTokenizer.spelled`."""
        from tokdfa.tokenizers.spelled import spelled_by_steps

        return spelled_by_steps(tokenizer.token_strings, tokenizer.rewriting.decoding or (), tokenizer.format)

    def decoder(self, tokenizer: Tokenizer) -> WholeDecoder:
        """Return the decoder, which spells all ids of a stream at once."""
        steps = tokenizer.rewriting.decoding or ()
        return WholeDecoder(tokenizer.id_spellings, tokenizer.means_something, tokenizer.strings, steps)

    def name_of(self, tokenizer: Tokenizer, id: int) -> bytes:
        """Return the bytes by which readers know an id: its piece, or the special token."""
        string = tokenizer.token_strings[id]
        return (string or next(special.content for special in tokenizer.specials if special.id == id)).encode("utf-8")

    def round_trip(self, tokenizer: Tokenizer) -> RoundTrip:
        """Return what decodes ids and encodes their text again."""
        return UnigramRoundTrip(cast("UnigramTokenizer", tokenizer))

    def acceptor(self, tokenizer: Tokenizer) -> Acceptor | None:
        """Return what judges streams word by word; None if their text is not the text of their pieces."""
        return tokenizer.derived(acceptor)

    # What it is

    def facts(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return what ``tokdfa info`` prints; see :meth:`AnyTokenizer.facts`."""
        from tokdfa.tokenizers.facts import facts_of_unigram

        return facts_of_unigram(cast("UnigramTokenizer", tokenizer))

    def fingerprint_parts(self, tokenizer: Tokenizer) -> dict[str, str]:
        """Return the hashes of the parts of the tokenizer; see :func:`tokdfa.fingerprint`."""
        from tokdfa.tokenizers.fingerprint import parts_of_unigram

        return parts_of_unigram(cast("UnigramTokenizer", tokenizer))

    def made_of(self, tokenizer: Tokenizer) -> tuple[object, ...]:
        """Return all that the tokenizer is made of; see :attr:`AnyTokenizer.made_of`."""
        scores = tuple(np.where(self.is_found, self.scores, 0.0).tolist())
        unknown = (self.unknown, self.unknown_score, self.arithmetic, self.byte_ids)
        split = tokenizer.pretokenizer
        settings = (split and split.splitting, self.spells_bytes, tokenizer.rewriting)
        found = (tokenizer.finds_specials, sorted(map(repr, tokenizer.specials)))
        return tuple(self.pieces), scores, tuple(self.is_found.tolist()), repr((unknown, settings, found))


def sentences_of(tokenizer: Tokenizer) -> Sentences:
    """Return what is segmented of texts."""
    assert isinstance(tokenizer.model, Unigram)
    return Sentences(
        tokenizer.added_tokens,
        tokenizer.rewriting.normalizer,
        tokenizer.pretokenizer,
        spells_bytes=tokenizer.model.spells_bytes,
    )


def one_pass(tokenizer: Tokenizer) -> TextSegmenter | None:
    """Return the segmentation of texts that are not normalized yet; None if that takes two steps."""
    segmenter = tokenizer.segmenter
    if segmenter is None or not tokenizer.derived(sentences_of).are_whole:
        return None
    return text_segmenter(segmenter, tokenizer.rewriting.normalizer)


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


def _normalizer_at(tokenizer: Tokenizer, begins: bool) -> Normalizer | None:
    """Return the normalizer of a text, or of one that goes on after a boundary."""
    normalizer = tokenizer.rewriting.normalizer
    return normalizer if begins or normalizer is None else tokenizer.derived(_later_normalizer)


def _later_normalizer(tokenizer: Tokenizer) -> Normalizer | None:
    normalizer = tokenizer.rewriting.normalizer
    return normalizer if normalizer is None or tokenizer.boundaries.why_none is not None else normalizer.later
