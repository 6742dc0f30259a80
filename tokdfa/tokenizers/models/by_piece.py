"""Models that turn each piece of a text into ids independently: WordLevel, and WordPiece with any pre-tokenizer."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.regex.unicode.utf8 import spell as to_letters
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.texts import check_encodable
from tokdfa.tokenizers.models.model import Direct, SteppedModel

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.formats.by_piece import ByPieceContents
    from tokdfa.tokenizers.models.wordpiece.maxmatch import LinMaxMatch
    from tokdfa.tokenizers.tokenizer import Tokenizer

# The cache is emptied when it has so many pieces.
_MOST_CACHED = 1 << 16
_WHY_WHOLE = "each piece of the text is encoded by itself, and no two neighbouring ids tell where one ends"


class ByPiece(SteppedModel):
    """A model that encodes each piece of a text by itself.

    WordLevel looks the piece up in its vocabulary; so does the type WORD of SentencePiece, where adjacent unknown
    pieces become one id, or all of them their bytes. WordPiece takes the longest entries, from left to right; this is
    its form for the normalizers and pre-tokenizers that :class:`WordPiece` does not compile.
    """

    def __init__(self, contents: ByPieceContents) -> None:
        self.algorithm = contents.algorithm  # type: ignore[misc]
        self.semantics = "longest match" if contents.takes_longest else "whole pieces"
        self.vocabulary, self.is_found = contents.vocabulary, contents.is_found
        self.unknown_id = contents.vocabulary.unknown_id
        self.byte_ids, self.fuses = contents.byte_ids, contents.fuses
        self.spells_bytes = contents.spelled_bytes
        self.spell = (lambda data: to_letters(data).encode("utf-8")) if contents.spelled_bytes else None
        self.capabilities = frozenset(("letters",) if contents.spelled_bytes else ())
        self._takes_longest = contents.takes_longest
        self._cached: dict[str, tuple[int, ...]] = {}

    @property
    def is_token(self) -> BoolArray:
        return self.vocabulary.is_token

    @property
    def sizes(self) -> dict[str, int]:
        return {"entries": len(self.vocabulary)}

    @property
    def strings(self) -> list[str]:
        return self.vocabulary.strings

    # From text to ids

    def direct(self, tokenizer: Tokenizer) -> Direct | None:
        return None

    def encode(self, tokenizer: Tokenizer, text: str) -> Int32Array:
        check_encodable(text)
        ids: list[int] = []
        for segment, begins in tokenizer.segments(text):
            ids += (segment.id,) if isinstance(segment, Special) else self._encoded(tokenizer, segment, begins)
        return np.array(ids, dtype=np.int32)

    def _encoded(self, tokenizer: Tokenizer, segment: str, begins: bool) -> list[int]:
        """Return the ids of a normalized segment."""
        split, unknown = tokenizer.pretokenizer, self.vocabulary.unknown_id
        ids: list[int] = []
        for piece in [segment] if split is None else split.split(segment, begins=begins):
            found = self._ids_of(piece)
            if not (self.fuses and found == (unknown,) and ids[-1:] == [unknown]):
                ids += found
        return ids

    def _ids_of(self, piece: str) -> tuple[int, ...]:
        """Return the ids of a piece, which need not be UTF-8 if letters spell its bytes."""
        found = self._cached.get(piece)
        if found is None:
            if len(self._cached) >= _MOST_CACHED:
                self._cached.clear()
            data = piece.encode("utf-8", "surrogateescape")
            found = self._cached[piece] = self._found(to_letters(data) if self.spells_bytes else piece)
        return found

    def _found(self, piece: str) -> tuple[int, ...]:
        if self._takes_longest:
            return (*self._longest.tokenize(piece),)
        id = self.vocabulary.id(piece)
        if id is not None and self.is_found[id]:
            return (id,)
        if self.byte_ids is not None:
            return tuple(self.byte_ids[byte] for byte in piece.encode("utf-8"))
        return (self.vocabulary.unknown_word(piece),)

    @cached_property
    def _longest(self) -> LinMaxMatch:
        from tokdfa.tokenizers.models.wordpiece.maxmatch import LinMaxMatch

        return LinMaxMatch(self.vocabulary)

    def stream(self, tokenizer: Tokenizer) -> EncodingStream:
        """Return a stream that returns all ids at the end."""
        from tokdfa.tokenizers.encoding.stream import HeldStream, encode_from

        return HeldStream(lambda text, byte: encode_from(tokenizer.encode, text, byte), tokenizer.boundaries.last_cut)

    def boundaries(self, tokenizer: Tokenizer) -> Boundaries:
        return Boundaries(_WHY_WHOLE)

    # Description

    def facts(self, tokenizer: Tokenizer) -> dict[str, Any]:
        from tokdfa.tokenizers.facts import counts, library_fact, special_counts

        rewriting, vocabulary = tokenizer.rewriting, self.vocabulary
        normalizer = {} if rewriting.normalizer is None else {"normalizer": str(rewriting.normalizer)}
        return {
            **counts(tokenizer),
            "algorithm": self.algorithm,
            "semantics": self.semantics,
            "unknown": vocabulary.unknown if vocabulary.unknown_id is not None else None,
            "byte_fallback": self.byte_ids is not None,
            "longest_word": vocabulary.longest_word,
            "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
            "rewriting": {
                **normalizer,
                "decoder": " ".join(map(str, rewriting.decoding or ())) or "Fuse",
                "judged_as_a_whole": _WHY_WHOLE,
            },
            "left_out": list(tokenizer.ignored),
            **special_counts(tokenizer),
            **library_fact(tokenizer),
            "fingerprint": tokenizer.fingerprint,
        }

    def fingerprint_parts(self, tokenizer: Tokenizer) -> dict[str, str]:
        from tokdfa.tokenizers.fingerprint import hash_of, hash_of_specials, unicode_tables

        normalizer, split, vocabulary = tokenizer.rewriting.normalizer, tokenizer.splitting, self.vocabulary
        entries = sorted((entry, int(id)) for entry, id in vocabulary.items())
        found = [entry for entry, id in entries if self.is_found[id]]
        settings = (vocabulary.prefix, vocabulary.longest_word) if self._takes_longest else ()
        return {
            "dictionary": hash_of(self.algorithm, found, settings),
            "ids": hash_of(entries, list(tokenizer.token_strings)),
            "pretokenizer": hash_of(split, self.spells_bytes, unicode_tables(split.table)),
            "normalizer": hash_of(None) if normalizer is None else hash_of(normalizer, unicode_tables()),
            "symbols": hash_of(vocabulary.unknown_id, self.fuses, self.byte_ids and [*self.byte_ids]),
            "specials": hash_of_specials(tokenizer),
            "decoder": hash_of(tokenizer.rewriting.decoding),
        }

    def made_of(self, tokenizer: Tokenizer) -> tuple[object, ...]:
        vocabulary, split = self.vocabulary, tokenizer.pretokenizer
        words = (vocabulary.prefix, vocabulary.unknown, vocabulary.longest_word, self.fuses, self.byte_ids)
        settings = (self.semantics, words, split and split.splitting, self.spells_bytes, tokenizer.rewriting)
        specials = sorted(map(repr, tokenizer.specials))
        return tuple(sorted(vocabulary.items())), self.is_found.tobytes(), repr((settings, specials))
