"""A real Unigram tokenizer: normalizer, pre-tokenizer, pieces with scores, special tokens, ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.encoding.special import Special
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.boundaries.words import UnigramBoundaries, why_none
from tokdfa.tokenizers.decoder import Decoded, Spellings, WholeDecoder, spellings
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import RoundTrip
from tokdfa.tokenizers.spelled import Spelled, spelled_by_steps
from tokdfa.tokenizers.unigram_accepted import acceptor
from tokdfa.tokenizers.unigram_sentences import Sentences, check_encodable
from tokdfa.tokenizers.unigram_texts import text_segmenter
from tokdfa.unigram.lattice import RecordedText
from tokdfa.unigram.segmenter import BEGINNING, Before, Segmenter

if TYPE_CHECKING:
    from tokdfa.encoding.batches import EncodedDocuments
    from tokdfa.encoding.stream import EncodingStream
    from tokdfa.splitting.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.normalizers import Normalizer
    from tokdfa.unigram.segmenter import Acceptor
    from tokdfa.unigram.texts import TextSegmenter

__all__ = ["UnigramTokenizer"]


class UnigramTokenizer(AnyTokenizer):
    """A Unigram tokenizer, as its file and the library of the file define it: from text to ids and back.

    Of the segmentations of a text into pieces, the one with the greatest sum of scores counts. SentencePiece adds up a
    whole text, each sum rounded to 32 bits; tokenizers adds up each pre-token with 64 bits. So ids are canonical if
    they are those of the text to which they *decode*; pairs of neighbours do not decide it, and there is no token DFA.

    Immutable; made by :func:`tokdfa.load`.

    Attributes
    ----------
    format : str
        The format of the file.
    model : UnigramModel
        The pieces, their scores, and what is done about unknown characters.
    pretokenizer : PreTokenizer or None
        What splits text into pre-tokens; None if each text is one.
    rewriting : Rewriting
        What is done to texts before they are split, and to the spellings of ids.
    specials : tuple of Special
    finds_specials : bool
        Whether `encode` finds the specials in its text.
    spells_bytes : bool
        Whether pre-tokens become letters of GPT-2's byte alphabet before they are segmented.
    ignored : tuple of str
        What else the file asks for and `encode` leaves out: truncation, padding, special tokens at the ends.
    semantics : str
        "best sum in 32 bits", "best sum in 64 bits", or "best sum in 32 bits, rounded late": up to version 0.2.1,
        SentencePiece compared each sum before it rounded it.

    Examples
    --------
    >>> fields = {
    ...     "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5]]},
    ...     "decoder": {"type": "Fuse"},
    ... }
    >>> tokenizer = tokdfa.load(fields)
    >>> tokenizer.encode("abba").tolist(), bool(tokenizer.validate([1, 2, 2, 1]))
    ([3, 2, 1], False)
    """

    algorithm = "Unigram"
    is_plain = False

    def __init__(self, contents: UnigramContents, pretokenizer: PreTokenizer | None = None) -> None:
        self._contents = contents
        self.format = contents.format
        self.model = contents.model
        self.pretokenizer: PreTokenizer | None = pretokenizer
        self.rewriting = contents.rewriting
        self.specials = contents.specials
        self.finds_specials = contents.finds_specials
        self.ignored = contents.ignored
        self.library = contents.library
        self.spells_bytes = contents.spelled_bytes
        late = ", rounded late" if self.model.is_rounded_late else ""
        self.semantics = f"best sum in {32 if self.model.is_single else 64} bits{late}"

    def __reduce__(self) -> tuple[type[Self], tuple[UnigramContents, PreTokenizer | None]]:
        # The parts of a tokenizer. All else is computed from them on use, anew in each process and each copy.
        return type(self), (self._contents, self.pretokenizer)

    @cached_property
    def n_ids(self) -> int:
        """One more than the largest id."""
        return max(len(self.model.pieces), 1 + max((special.id for special in self.specials), default=-1))

    @cached_property
    def n_tokens(self) -> int:
        """The number of ids that are pieces, not counting special ones."""
        return len(set(range(len(self.model.pieces))).difference(self.special_ids.tolist()))

    @property
    def sizes(self) -> dict[str, int]:
        """The number of pieces that are found in texts."""
        return {"pieces": int(self.model.is_found.sum())}

    @cached_property
    def means_something(self) -> BoolArray:
        """For each id, whether it is that of a piece or of a special token."""
        meaning = np.zeros(self.n_ids, dtype=np.bool_)
        meaning[: len(self.model.pieces)] = True
        meaning[self.special_ids] = True
        return meaning

    def facts(self) -> dict[str, Any]:
        """Return the facts that ``tokdfa info`` prints, as JSON values by name."""
        from tokdfa.tokenizers.facts import facts_of_unigram

        return facts_of_unigram(self)

    # Text to ids

    @cached_property
    def segmenter(self) -> Segmenter:
        """The compiled segmentation of texts."""
        return Segmenter(self.model)

    @cached_property
    def acceptor(self) -> Acceptor | None:
        """What judges streams word by word; None if their text is not that of their pieces."""
        return acceptor(self)

    @cached_property
    def texts(self) -> TextSegmenter | None:
        """The compiled segmentation of texts that are not normalized yet; None if that takes two steps."""
        return text_segmenter(self.segmenter, self.rewriting.normalizer) if self.sentences.are_whole else None

    def encode(self, text: str) -> Int32Array:
        """Return the ids of `text`, as an int32 array.

        Special tokens are found in it if `finds_specials`; none are added.

        Raises
        ------
        AlphabetError
            If the text has an unknown character and there is no unknown piece, or a lone surrogate; the error says
            where.
        WrongTypeError
            If it is not a string.
        """
        texts = self.texts
        if texts is not None and type(text) is str:
            ids = texts.encode_whole(text)
            if ids is not None:
                return ids
        return self.encode_on(text, BEGINNING)[0]

    def encode_together(self, texts: list[str]) -> EncodedDocuments | None:
        """Return the ids of several texts; see :meth:`AnyTokenizer.encode_together`."""
        from tokdfa.tokenizers.unigram_batches import encode_together

        return encode_together(self, texts)

    def encode_on(self, text: str, before: Before, *, begins: bool = True) -> tuple[Int32Array, Before]:
        """Return the ids of a text, or of one that goes on after a place where texts are certainly cut; see `encode`.

        Parameters
        ----------
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
        if self.sentences.are_whole:
            if self.texts is not None:
                found = self.texts.encode(text.encode("utf-8"), None if begins else before)
                if found is not None:
                    return found
            normalizer = self._normalizer_at(begins)
            data = (text if normalizer is None else normalizer(text)).encode("utf-8")
            return self.segmenter.encode_on(data, np.array([len(data)], dtype=np.int64), before)
        parts: list[Int32Array] = []
        for stretch in self.sentences.of(text, self._normalizer_at(begins), begins=begins):
            if isinstance(stretch, Special):
                parts.append(np.array([stretch.id], dtype=np.int32))
                continue
            ids, before = self.segmenter.encode_on(*stretch, before)
            parts.append(ids)
        if len(parts) == 1:
            return parts[0], before
        return np.concatenate((np.empty(0, dtype=np.int32), *parts)), before

    def record_on(self, text: str, before: Before, *, begins: bool = True) -> RecordedText:
        """Return the sums of scores in a text, with which other segmentations of its parts are compared.

        The parameters are those of `encode_on`.
        """
        recorded = RecordedText(self.segmenter)
        for stretch in self.sentences.of(text, self._normalizer_at(begins), begins=begins):
            if isinstance(stretch, Special):
                recorded.skip()
            else:
                before = recorded.add(*stretch, before)
        return recorded

    def _normalizer_at(self, begins: bool) -> Normalizer | None:
        """Return the normalizer of a text, or of one that goes on after a boundary."""
        return self.rewriting.normalizer if begins or self.boundaries.why_none is not None else self._later_normalizer

    @cached_property
    def _later_normalizer(self) -> Normalizer | None:
        """The normalizer of the text after a boundary."""
        normalizer = self.rewriting.normalizer
        return None if normalizer is None else normalizer.later

    @cached_property
    def sentences(self) -> Sentences:
        """What is segmented of texts."""
        return Sentences(
            self.added_tokens, self.rewriting.normalizer, self.pretokenizer, spells_bytes=self.spells_bytes
        )

    def stretches(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        """Yield special tokens and the normalized stretches between them, and whether each begins the text."""
        return self.sentences.stretches(text, self.rewriting.normalizer)

    @cached_property
    def boundaries(self) -> Boundaries:
        """The boundaries in texts, and in ids, where all is encoded separately but the sum of scores."""
        splitting = None if self.pretokenizer is None else self.pretokenizer.splitting
        why = why_none(self.model, splitting, self.rewriting, self.found_specials)
        if why is not None:
            return Boundaries(why)
        return UnigramBoundaries(self.rewriting.normalizer, self.token_strings, self.is_usual)

    @cached_property
    def is_usual(self) -> BoolArray:
        """For each id, whether it is a piece that is found in texts, and decoded by its spelling."""
        usual = np.zeros(self.n_ids, dtype=np.bool_)
        usual[: len(self.model.pieces)] = self.model.is_found
        usual[self.special_ids] = False
        if self.model.unknown is not None:
            usual[self.model.unknown] = False
        return usual

    def stream(self) -> EncodingStream:
        """Return a stream that takes a text part by part.

        It returns ids up to the last boundary; all of them at the end if none is known.
        """
        from tokdfa.encoding.stream import HeldStream, encode_from

        before = BEGINNING

        def encode(text: str, byte: int) -> Int32Array:
            def on(text: str) -> Int32Array:
                nonlocal before
                ids, before = self.encode_on(text, before if byte else BEGINNING, begins=not byte)
                return ids

            return encode_from(on, text, byte)

        return HeldStream(encode, self.boundaries.last_cut)

    # Ids to text

    @cached_property
    def _strings(self) -> _Strings:
        return _Strings(self.model.pieces, self.specials, self.n_ids)

    @property
    def token_strings(self) -> list[str]:
        """The spelling of each id in its file."""
        return self._strings.of_ids

    def token_string(self, id: int) -> str:
        """Return the spelling of an id in its file."""
        return self.token_strings[id]

    def name_of(self, id: int) -> bytes:
        """Return the bytes by which readers know an id: its piece, or the special token."""
        return (
            self.token_strings[id] or next(special.content for special in self.specials if special.id == id)
        ).encode("utf-8")

    @cached_property
    def id_spellings(self) -> Spellings:
        """The bytes that each id adds to a text between others, as far as that does not depend on these."""
        try:
            return self.spelled.usual
        except ValueError:
            return self.piece_spellings

    @cached_property
    def piece_spellings(self) -> Spellings:
        """The pieces of all ids, in UTF-8."""
        return spellings([token.encode("utf-8", "surrogatepass") for token in self.token_strings])

    @cached_property
    def spelled(self) -> Spelled:
        """What each id adds to the text of a stream, by its position.

        Raises
        ------
        UnsupportedFeatureError
            If it depends on more than whether the id is the first or the last one.
        """
        return spelled_by_steps(self.token_strings, self.rewriting.decoding or (), self.format)

    def decode(self, ids: npt.ArrayLike) -> str:
        """Return the text that `ids` spell, special tokens included if the decoder includes them."""
        return self.decode_with_ends(ids).text

    def decode_with_ends(self, ids: npt.ArrayLike) -> Decoded:
        """Return the text that `ids` spell, and for each id the end, in bytes, of what it adds.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one means nothing; the error says which token.
        """
        return self.decoder.text_of(self.decoder.check(ids))

    @cached_property
    def decoder(self) -> WholeDecoder:
        """The decoder, which spells all ids of a stream at once."""
        return WholeDecoder(self.id_spellings, self.means_something, self._strings, self.rewriting.decoding or ())

    @property
    def round_trip(self) -> RoundTrip:
        """What decodes ids and encodes their text again."""
        from tokdfa.tokenizers.unigram_round_trip import UnigramRoundTrip

        return UnigramRoundTrip(self)

    # What it is made of

    @cached_property
    def fingerprint_parts(self) -> dict[str, str]:
        """The hashes of the parts of the fingerprint, by name; see :func:`tokdfa.fingerprint`."""
        from tokdfa.tokenizers.fingerprint import parts_of_unigram

        return parts_of_unigram(self)

    @cached_property
    def made_of(self) -> tuple[object, ...]:
        """All that the tokenizer is made of, to be compared; see :attr:`AnyTokenizer.made_of`."""
        model = self.model
        scores = tuple(np.where(model.is_found, model.scores, 0.0).tolist())
        unknown = (model.unknown, model.unknown_score, model.arithmetic, model.byte_ids)
        settings = (self.pretokenizer and self.pretokenizer.splitting, self.spells_bytes, self.rewriting)
        found = (self.finds_specials, sorted(map(repr, self.specials)))
        return tuple(model.pieces), scores, tuple(model.is_found.tolist()), repr((unknown, settings, found))

    def __repr__(self) -> str:
        return f"<UnigramTokenizer from {self.format}: {self.sizes['pieces']} pieces, {self.n_ids} ids>"


class _Strings:
    """The spellings of ids in the file, made when they are first asked for, without a reference to the tokenizer."""

    def __init__(self, pieces: Sequence[str], specials: tuple[Special, ...], n_ids: int) -> None:
        self._pieces = pieces
        self._specials = specials
        self._n_ids = n_ids

    @cached_property
    def of_ids(self) -> list[str]:
        strings = [*self._pieces, *[""] * (self._n_ids - len(self._pieces))]
        for special in self._specials:
            strings[special.id] = special.text
        return strings
