"""Unigram: the segmentation into pieces with the greatest sum of scores."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError
from tokdfa.regex.unicode.normalization import Normalizer
from tokdfa.regex.unicode.utf8 import spell as to_letters
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.boundaries.words import UnigramBoundaries, splits_at_spaces, why_none
from tokdfa.tokenizers.encoding.batches import EncodedDocuments
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.texts import check_encodable
from tokdfa.tokenizers.models.model import Direct, SteppedModel
from tokdfa.tokenizers.models.unigram.accepted import accept, acceptor, is_usual, wrong_words
from tokdfa.tokenizers.models.unigram.lattice import RecordedText
from tokdfa.tokenizers.models.unigram.segmenter import BEGINNING, Before, Segmenter
from tokdfa.tokenizers.models.unigram.texts import is_one_sentence, one_pass
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.models.unigram.segmenter import Acceptor, WrongWords
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer, UnigramTokenizer

__all__ = ["Unigram"]

# The white space of Python's strings that Unicode does not count as such.
_OF_PYTHON = re.compile("[\x1c-\x1f]")
_SPACE_BYTES = SPACE.encode("utf-8")


class Unigram(SteppedModel):
    """A model of pieces with scores.

    SentencePiece adds up a whole text, each sum rounded to 32 bits; tokenizers adds up each pre-token with 64 bits.

    `table` has the pieces, their scores, and the treatment of unknown characters; its fields are attributes. If it
    `spells_bytes`, pre-tokens become letters of GPT-2's byte alphabet before they are segmented.
    """

    algorithm = "Unigram"

    def __init__(self, contents: UnigramContents) -> None:
        table = self.table = contents.model
        self.pieces, self.scores, self.is_found = table.pieces, table.scores, table.is_found
        self.unknown = self.unknown_id = table.unknown
        self.unknown_score, self.byte_ids = table.unknown_score, table.byte_ids
        self.arithmetic, self.is_single = table.arithmetic, table.is_single
        self.spells_bytes = contents.spelled_bytes
        self.spell = (lambda data: to_letters(data).encode("utf-8")) if contents.spelled_bytes else None
        self.capabilities = frozenset(("letters",) if contents.spelled_bytes else ())
        late = ", rounded late" if table.is_rounded_late else ""
        self.semantics = f"best sum in {32 if table.is_single else 64} bits{late}"

    @property
    def is_token(self) -> BoolArray:
        return np.ones(len(self.pieces), dtype=np.bool_)

    @property
    def symbols(self) -> tuple[int | None, tuple[int, ...] | None, bool]:
        """The piece of unknown characters, the pieces of bytes, and whether letters spell bytes."""
        return self.unknown, self.byte_ids, self.spell is not None

    @property
    def sizes(self) -> dict[str, int]:
        return {"pieces": int(self.is_found.sum())}

    @property
    def strings(self) -> list[str]:
        return [*self.pieces]

    # From text to ids

    @cached_property
    def segmenter(self) -> Segmenter:  # type: ignore[override]
        """The compiled segmentation of texts."""
        return Segmenter(self.table)

    def direct(self, tokenizer: Tokenizer) -> Direct | None:
        """Return the function that normalizes and segments texts in one pass; None if that takes two."""
        texts = tokenizer.derived(one_pass)
        return None if texts is None else texts.encode_whole

    def encode(self, tokenizer: Tokenizer, text: str) -> Int32Array:
        return self.encode_on(tokenizer, text, BEGINNING)[0]

    def encode_on(
        self, tokenizer: Tokenizer, text: str, before: Before | None, *, begins: bool = True
    ) -> tuple[Int32Array, Before]:
        """Return the ids of a text, or of the rest of a text after a cut, and the state after it.

        `before` is the state before the text, None if nothing before it counts; `begins` is whether a text begins here.
        """
        check_encodable(text)
        start = BEGINNING if begins or before is None else before
        if is_one_sentence(tokenizer):
            texts = tokenizer.derived(one_pass)
            if texts is not None:
                found = texts.encode(text.encode("utf-8"), None if begins else start)
                if found is not None:
                    return found
            normalizer = _normalizer_at(tokenizer, begins)
            data = (text if normalizer is None else normalizer(text)).encode("utf-8")
            return self.segmenter.encode_on(data, np.array([len(data)], dtype=np.int64), start)
        parts: list[Int32Array] = []
        for segment in _sentences(tokenizer, text, begins=begins):
            if isinstance(segment, Special):
                parts.append(np.array([segment.id], dtype=np.int32))
                continue
            ids, start = self.segmenter.encode_on(*segment, start)
            parts.append(ids)
        if len(parts) == 1:
            return parts[0], start
        return np.concatenate((np.empty(0, dtype=np.int32), *parts)), start

    def accept(
        self, tokenizer: Tokenizer, ids: Int32Array, before: Before | None, *, begins: bool
    ) -> tuple[int, Before] | None:
        return accept(cast("UnigramTokenizer", tokenizer), ids, None if begins else before or BEGINNING)

    def wrong_words(
        self, tokenizer: Tokenizer, ids: Int32Array, before: Before | None, *, begins: bool
    ) -> tuple[int, int, Before, WrongWords]:
        return wrong_words(cast("UnigramTokenizer", tokenizer), ids, None if begins else before or BEGINNING)

    def recorded(self, tokenizer: Tokenizer, text: str, before: Before | None, *, begins: bool) -> RecordedText:
        """Return the sums of scores in a text, with which other segmentations of its parts are compared.

        The parameters are as for `encode_on`.
        """
        start = BEGINNING if begins or before is None else before
        recorded = RecordedText(self.segmenter)
        for segment in _sentences(tokenizer, text, begins=begins):
            if isinstance(segment, Special):
                recorded.skip()
            else:
                start = recorded.add(*segment, start)
        return recorded

    def encode_side_by_side(self, tokenizer: Tokenizer, texts: list[str], n_threads: int) -> EncodedDocuments | None:
        """Return the ids of several texts, on one thread; None without a short way for them, or if one is refused.

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
        from tokdfa.tokenizers.encoding.stream import HeldStream, encode_from

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
        """Return the boundaries in texts and ids, where everything but the sum of scores is encoded separately."""
        why = why_none(self.table, tokenizer.splitting, tokenizer.rewriting, tokenizer.found_specials)
        if why is not None:
            return Boundaries(why)
        return UnigramBoundaries(
            tokenizer.rewriting.normalizer, tokenizer.token_strings, is_usual(cast("UnigramTokenizer", tokenizer))
        )

    def acceptor(self, tokenizer: Tokenizer) -> Acceptor | None:
        return tokenizer.derived(acceptor)

    # Description

    def facts(self, tokenizer: Tokenizer) -> dict[str, Any]:
        from tokdfa.tokenizers.facts import counts, library_fact, special_counts

        rewriting = tokenizer.rewriting
        described = {} if rewriting.normalizer is None else {"normalizer": str(rewriting.normalizer)}
        if tokenizer.boundaries.why_none is not None:
            described["judged_as_a_whole"] = tokenizer.boundaries.why_none
        described["decoder"] = " ".join(map(str, rewriting.decoding or ())) or "Fuse"
        found = self.scores[self.is_found]
        return {
            **counts(tokenizer),
            "pieces": int(self.is_found.sum()),
            "semantics": tokenizer.semantics,
            "least_score": float(found.min()) if len(found) else None,
            "greatest_score": float(found.max()) if len(found) else None,
            "unknown": None if self.unknown is None else self.pieces[self.unknown],
            "byte_fallback": self.byte_ids is not None,
            "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
            "rewriting": described,
            "left_out": list(tokenizer.ignored),
            **special_counts(tokenizer),
            **library_fact(tokenizer),
            "fingerprint": tokenizer.fingerprint,
        }

    def fingerprint_parts(self, tokenizer: Tokenizer) -> dict[str, str]:
        from tokdfa.tokenizers.fingerprint import hash_of, hash_of_specials, unicode_tables

        normalizer, split = tokenizer.rewriting.normalizer, tokenizer.splitting
        ids = np.flatnonzero(self.is_found).tolist()
        rows = sorted((self.pieces[id], id, float(self.scores[id]).hex()) for id in ids)
        settings = (float(self.unknown_score).hex(), self.arithmetic, self.unknown is None)
        byte_ids = None if self.byte_ids is None else list(self.byte_ids)
        return {
            "dictionary": hash_of("Unigram", [(piece, score) for piece, _, score in rows], settings),
            "ids": hash_of([(piece, id) for piece, id, _ in rows], list(tokenizer.token_strings)),
            "pretokenizer": hash_of(split, self.spell is not None, unicode_tables(split.table)),
            "normalizer": hash_of(None) if normalizer is None else hash_of(normalizer, unicode_tables()),
            "symbols": hash_of(self.unknown, byte_ids),
            "specials": hash_of_specials(tokenizer),
            "decoder": hash_of(tokenizer.rewriting.decoding),
        }

    def made_of(self, tokenizer: Tokenizer) -> tuple[object, ...]:
        scores = tuple(np.where(self.is_found, self.scores, 0.0).tolist())
        unknown = (self.unknown, self.unknown_score, self.arithmetic, self.byte_ids)
        split = tokenizer.pretokenizer
        settings = (split and split.splitting, self.spell is not None, tokenizer.rewriting)
        found = (bool(tokenizer.found_specials), sorted(map(repr, tokenizer.specials)))
        return tuple(self.pieces), scores, tuple(self.is_found.tolist()), repr((unknown, settings, found))


def _sentences(tokenizer: Tokenizer, text: str, *, begins: bool) -> Iterator[Special | tuple[bytes, Int64Array]]:
    """Yield the special tokens of a text, and for the segments between them the sentences and the end of each.

    The model segments each sentence by itself: a pre-token, or a whole segment. `begins` is whether the text begins
    here, rather than continues after a cut.
    """
    normalizer, first = tokenizer.rewriting.normalizer, _normalizer_at(tokenizer, begins)
    for segment, is_first in tokenizer.added_tokens.segments(text, normalizer, first):
        yield segment if isinstance(segment, Special) else _in_bytes(tokenizer, segment, begins=begins and is_first)


def _splits_at_spaces(tokenizer: Tokenizer) -> bool:
    return splits_at_spaces(tokenizer.splitting)


def _in_bytes(tokenizer: Tokenizer, segment: str, *, begins: bool) -> tuple[bytes, Int64Array]:
    """Return the text that is segmented of a normalized segment, in UTF-8, and the ends of its sentences."""
    split, spell = tokenizer.pretokenizer, tokenizer.model.spell
    if split is None and spell is None:
        data = segment.encode("utf-8")
        return data, np.array([len(data)], dtype=np.int64)
    if split is not None and tokenizer.derived(_splits_at_spaces):
        spaced = _spaced(split, segment, begins)
        if spaced is not None:
            data = spaced.encode("utf-8")
            return data, _ends_before_spaces(data)
    pieces = [segment] if split is None else split.split(segment, begins=begins)
    parts = [piece.encode("utf-8", "surrogateescape") for piece in pieces]
    if spell is not None:
        parts = [*map(spell, parts)]
    return b"".join(parts), np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))


def _spaced(split: PreTokenizer, segment: str, begins: bool) -> str | None:
    """Return a segment with visible spaces, at which it is split; None if that takes the pre-tokenizer."""
    splitting = split.splitting
    if splitting.metaspace_at == 0:
        return split.spelled(segment, begins=begins)
    # White space is dropped, and each word gets a visible space. Four characters are such space only to Python.
    if splitting.prefix_space is None or splitting.prefix_once or _OF_PYTHON.search(segment) or SPACE in segment:
        return None
    words = segment.split()
    return SPACE + SPACE.join(words) if words else ""


def _ends_before_spaces(data: bytes) -> Int64Array:
    """Return the offsets before all visible spaces but one at the beginning, and the end of a text."""
    if not data:
        return np.empty(0, dtype=np.int64)
    array = np.frombuffer(data, dtype=np.uint8)
    first, second, third = _SPACE_BYTES
    is_space = (array[:-2] == first) & (array[1:-1] == second) & (array[2:] == third)
    offsets = np.flatnonzero(is_space[1:]) + 1
    return np.append(offsets, len(data))


def _normalizer_at(tokenizer: Tokenizer, begins: bool) -> Normalizer | None:
    """Return the normalizer of a text, or of the rest of a text after a boundary."""
    normalizer = tokenizer.rewriting.normalizer
    return normalizer if begins or normalizer is None else tokenizer.derived(_later_normalizer)


def _later_normalizer(tokenizer: Tokenizer) -> Normalizer | None:
    normalizer = tokenizer.rewriting.normalizer
    return normalizer if normalizer is None or tokenizer.boundaries.why_none is not None else normalizer.later
