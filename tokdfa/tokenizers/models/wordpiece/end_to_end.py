"""From text to ids in one pass, where BERT's tokenizer takes four; and words of ids encoded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, ranges
from tokdfa.base.errors import AlphabetError, TokdfaError
from tokdfa.kernels.library import Struct
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.wordpiece.end_to_end import (
    ALONE,
    EDGE,
    KIND,
    KIND_BITS,
    LEAD,
    LONGEST_INDEXED,
    LONGEST_SHORT,
    SHARED_BITS,
    SPACE,
    Buffers,
    ThreadBuffers,
    encode,
    encode_short,
    encode_text,
    index_words,
)
from tokdfa.kernels.wordpiece.matching import word_trie
from tokdfa.regex.unicode.normalization import spaces, tables
from tokdfa.regex.unicode.ranges import LAST
from tokdfa.tokenizers.boundaries.words import SpacedBoundaries
from tokdfa.tokenizers.decoder import Spellings, words_of
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.models.wordpiece.codes import CodeTable, is_kept
from tokdfa.tokenizers.models.wordpiece.maxmatch import PackedTrie
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer, WordNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.special import Special
    from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

_NOTHING = np.empty(0, np.int64)
_LETTERS_AND_DIGITS = np.zeros(LAST + 1, np.bool_)
_LETTERS_AND_DIGITS[:128] = [chr(code).isalnum() for code in range(128)]
_END = (1 << SHARED_BITS) - 1


class Tokens(NamedTuple):
    """The tokens of texts, and where they come from.

    `ids` are int32. Token t spans ``begins[t]`` to ``ends[t]`` of its text; int64, empty if not requested.
    """

    ids: Int32Array
    begins: Int64Array
    ends: Int64Array


class EndToEnd:
    """BERT's tokenization of texts: cleaning, splitting and LinMaxMatch in one pass over UTF-8.

    Words are cleaned by BERT's normalizer unless another one is given. The length limit of the vocabulary counts
    normalized characters. The tokens `added` are cut out of the raw text before anything else, the leftmost and among
    these the longest first; one that is empty or begins with a combining mark is refused.

    Notes
    -----
    *Fast WordPiece Tokenization*, EMNLP 2021, section 4. Words are collected and matched when they end, instead of
    being walked through the trie symbol by symbol. So a word that is an entry, as most are, costs one lookup.
    """

    def __init__(
        self,
        vocabulary: WordPieceVocabulary,
        normalizer: WordNormalizer | None = None,
        added: Mapping[str, int] | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.normalizer: WordNormalizer = BertNormalizer() if normalizer is None else normalizer
        self.added = dict(added or {})
        for token in self.added:
            _check_added(token, self.normalizer)
        self._unknown = -1 if vocabulary.unknown_id is None else vocabulary.unknown_id
        self._refuses = self._unknown < 0
        limit = vocabulary.longest_word
        self._limit = -1 if limit is None else limit
        self._tables = self._build()
        self._pointer = self._tables.pointer
        self._shared = ThreadBuffers(self._tables, self._limit)

    def __reduce__(self) -> tuple[type[EndToEnd], tuple[object, ...]]:
        return EndToEnd, (self.vocabulary, self.normalizer, self.added)

    def _build(self) -> Struct:
        normalizer = self.normalizer
        kept = is_kept(normalizer)
        beginnings, continuations = self.vocabulary.words
        of_one = beginnings.where(beginnings.lengths == (0 if self._limit == 0 else 1))
        beginnings, continuations = (some.where(some.consist_of(kept)) for some in (beginnings, continuations))
        packed = PackedTrie.of(beginnings, continuations)
        codes = CodeTable.of(normalizer, packed.points, of_one, self._unknown)
        flags = np.zeros(256, np.uint8)
        flags[:128][np.isin(codes.blocks[:128] & KIND, (SPACE, ALONE))] = EDGE
        for token in self.added:
            flags[token.encode("utf-8")[0]] |= LEAD
        added, added_rows = _rows(self.added)
        # Whole words of ASCII letters and digits that are not too long are looked up.
        longest = LONGEST_INDEXED if self._limit < 0 else min(self._limit, LONGEST_INDEXED)
        is_indexed = beginnings.consist_of(_LETTERS_AND_DIGITS) & (beginnings.lengths <= longest)
        return Struct(
            "tokdfa_wordpiece",
            flags=flags,
            words=index_words(*beginnings.where(is_indexed)),
            **codes._asdict(),
            trie=word_trie(packed.cells, packed.pops, packed.points),
            added=added,
            added_rows=added_rows,
            unknown=self._unknown,
            longest_word=self._limit,
            # No added token begins with a letter or digit.
            fast=not any(chr(byte).isalnum() for byte in range(128) if flags[byte] & LEAD),
            folds=normalizer.lowercase,
        )

    def encode(self, text: str | bytes, offsets: Literal["characters", "bytes"] | None = None) -> Tokens:
        """Tokenize one text, which is a string or UTF-8, with `offsets` of the tokens if they are wanted.

        Raises
        ------
        AlphabetError
            If the text is not valid Unicode, in which case the message says where; or if a word has no tokenization and
            the vocabulary has no unknown token.
        """
        if offsets is None:
            return Tokens(self.encode_ids(text), _NOTHING, _NOTHING)
        data = _as_utf8(text)
        return self._run(data, np.array([len(data)], np.int64), offsets)[0]

    def encode_ids(self, text: str | bytes, first: int = 0) -> Int32Array:
        """Return the ids of one text, like :meth:`encode` without its overhead for offsets.

        `first` is the offset of its first byte in a longer text, for the error message.
        """
        # Little else, and no other function: for a line of a few words all of it takes longer than the kernel.
        try:
            data = text.encode()  # type: ignore[union-attr]
        except (AttributeError, UnicodeEncodeError):
            data = _as_utf8(text)
        buffers = self._shared.buffers
        span = encode_short(buffers.pointer, data, len(data))
        ids = buffers.ids[span >> SHARED_BITS : span & _END] if span >= 0 else self._encode_other(data)
        if self._refuses and (ids < 0).any():
            self._refuse(data, np.array([len(data)], np.int64), first)
        return ids

    def _encode_other(self, data: bytes) -> Int32Array:
        """Return the ids of a text that is not short, or for which the buffer of short texts is too full."""
        if len(data) > LONGEST_SHORT:
            return encode_text(self._pointer, data, Buffers(len(data), self._limit)).copy()
        buffers = self._shared.renewed()
        span = encode_short(buffers.pointer, data, len(data))
        return buffers.ids[span >> SHARED_BITS : span & _END]

    def try_encode(self, text: str) -> tuple[int, ...] | None:
        """Return the ids of `text`; None if a word has no tokenization and the vocabulary no unknown token."""
        data = _utf8(text)
        ids = self._tokenize(data, np.array([len(data)], np.int64), None)[0].ids
        return None if self._unknown < 0 and (ids < 0).any() else tuple(ids.tolist())

    def try_encode_batch(self, texts: Sequence[str]) -> tuple[Int32Array, Int64Array]:
        """Return the ids of many texts and where the ids of each begin, with -1 for words without a tokenization."""
        tokens, rows = self._tokenize(*_together(texts), None)
        return tokens.ids, rows

    def encode_batch(
        self, texts: Sequence[str], offsets: Literal["characters", "bytes"] | None = None
    ) -> tuple[Tokens, Int64Array]:
        """Tokenize many texts at once; see :meth:`encode`. Text t has the tokens ``rows[t]`` to ``rows[t + 1]``."""
        return self._run(*_together(texts), offsets)

    def encode_joined(self, data: bytes, stops: Int64Array) -> tuple[Tokens, Int64Array]:
        """Tokenize texts in UTF-8 with one byte between them, with offsets in bytes; see :meth:`encode_batch`.

        Text t ends at ``stops[t]``, and the byte after it is not a letter or digit. The id of a word without a
        tokenization is -1 if the vocabulary has no unknown token.
        """
        return self._tokenize(data, stops, "bytes")

    def separate_marks(self) -> dict[bytes, int]:
        """Return the ids of ASCII characters that are always words of their own, and in no added token."""
        codes = self._tables.fields["blocks"][:128].tolist()
        added = "".join(self.added)
        return {
            bytes((byte,)): (code >> KIND_BITS) - 1
            for byte, code in enumerate(codes)
            if code & KIND == ALONE and code >> KIND_BITS and chr(byte) not in added
        }

    def _run(self, data: bytes, stops: Int64Array, offsets: str | None) -> tuple[Tokens, Int64Array]:
        tokens, rows = self._tokenize(data, stops, offsets)
        if self._unknown < 0 and (tokens.ids < 0).any():
            self._refuse(data, stops)
        return tokens, rows

    def _tokenize(self, data: bytes, stops: Int64Array, offsets: str | None) -> tuple[Tokens, Int64Array]:
        """Run the kernel; the id of unknown words is -1 without an unknown token."""
        if offsets not in (None, "characters", "bytes"):
            raise TokdfaError("offsets must be counted in characters or in bytes", value=offsets)
        buffers = Buffers(len(data), self._limit, offsets=offsets is not None)
        rows = encode(self._tables, data, stops, offsets == "bytes", buffers)
        n = int(rows[-1])
        return Tokens(buffers.ids[:n], buffers.begins[:n], buffers.ends[:n]), rows

    def _refuse(self, data: bytes, stops: Int64Array, first: int = 0) -> NoReturn:
        """Raise the error for the first word that has no tokenization."""
        (ids, begins, ends), rows = self._tokenize(data, stops, "bytes")
        bad = int(np.argmax(ids < 0))
        text = int(np.searchsorted(rows, bad, "right")) - 1
        start = int(stops[text - 1]) + 1 if text else 0
        word = data[start + int(begins[bad]) : start + int(ends[bad])].decode("utf-8")
        where = f"text {text}, byte {begins[bad]}" if len(stops) > 1 else f"byte {first + int(begins[bad])}"
        self.vocabulary.unknown_word(word, where)
        raise AssertionError("unreachable: the vocabulary has an unknown token")

    def __repr__(self) -> str:
        return f"<EndToEnd of {len(self.vocabulary)} entries, {self.normalizer}>"


def with_stripped(
    tokens: Tokens, text: str | bytes, unit: Literal["characters", "bytes"], specials: Sequence[Special]
) -> Tokens:
    """Return the tokens of a text; added tokens that strip include the white space next to them.

    That changes where they come from, and no ids. White space between two of them belongs to the first, if that strips
    on its right. None of them contains any.
    """
    strips = {special.id: special for special in specials if special.lstrip or special.rstrip}
    if not strips:
        return tokens
    data = text.decode("utf-8") if isinstance(text, bytes) else text
    blanks = spaces()
    begins, ends = tokens.begins.copy(), tokens.ends.copy()
    # The offset of a character in bytes; the text is read by characters.
    width = [len(symbol.encode("utf-8")) for symbol in data] if unit == "bytes" else [1] * len(data)
    at = offset = done = 0
    for number, (id, begin, end) in enumerate(zip(tokens.ids.tolist(), begins.tolist(), ends.tolist(), strict=True)):
        special = strips.get(id)
        if special is None or end < done:
            continue
        while offset < begin:
            offset += width[at]
            at += 1
        if not data.startswith(special.content, at) or offset != begin:
            continue
        first, last, start, stop = at, at + len(special.content), begin, end
        while special.lstrip and start > done and data[first - 1] in blanks:
            first -= 1
            start -= width[first]
        while special.rstrip and last < len(data) and data[last] in blanks:
            stop += width[last]
            last += 1
        begins[number], ends[number] = start, stop
        done = stop
    return Tokens(tokens.ids, begins, ends)


_SEPARATOR = b"\n"


class ReencodedWords(NamedTuple):
    """Words of ids next to the canonical ids of their texts; offsets count the bytes of all texts together.

    Word k has the ids from ``bounds[k]`` to ``bounds[k + 1]`` of `ids`, and its text begins at ``starts[k]``; `indices`
    has the index of each id among those that were given, and `ends` where it ends. The arrays `canonical` are the same
    of the canonical ids. A word `is_odd`, not to be compared, if an id adds nothing to its text, it has no
    tokenization, or its canonical ids end before it does.
    """

    indices: Int64Array
    ids: Int32Array
    ends: Int64Array
    bounds: Int64Array
    starts: Int64Array
    canonical: Int32Array
    canonical_ends: Int64Array
    canonical_bounds: Int64Array
    is_odd: BoolArray


class Reencoder(OfTokenizer["WordPieceTokenizer"]):
    """Encodes words of ids again, those that are not known to be canonical.

    In the ids 11 12 13, for " the", " dri" and "##fty", the first is the encoding of the text " the", so only the word
    of 12 and 13 is encoded again. The tokenizer cuts texts before the spaces that decoding inserts.
    """

    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        super().__init__(tokenizer)
        usual, first = tokenizer.id_spellings, tokenizer.model.first_spellings
        self._n_ids = len(usual.offsets) - 1
        # The words of ids after others, then before all others, and the separator of words.
        text = np.concatenate((usual.text, first.text, np.frombuffer(_SEPARATOR, dtype=np.uint8)))
        ends = len(usual.text) + first.offsets
        self._spelled = Spellings(text, np.concatenate((usual.offsets[:-1], ends, ends[-1:] + len(_SEPARATOR))))
        boundaries = tokenizer.boundaries
        assert isinstance(boundaries, SpacedBoundaries)
        self._opens = boundaries.cuts_before
        # For each id, whether nothing around it changes it: a word after a space, or a mark after a word.
        self._is_known: BoolArray = np.zeros(self._n_ids, dtype=np.bool_)
        opening = np.flatnonzero(self._opens & tokenizer.means_something)
        words = self._encoded(opening, opening.astype(np.int32), np.arange(len(opening) + 1))
        is_one = ~words.is_odd & (np.diff(words.canonical_bounds) == 1)
        canonical = words.canonical[words.canonical_bounds[:-1][is_one]]
        self._is_known[opening[is_one]] = canonical == opening[is_one]
        spelled = words_of(usual)
        for mark, id in tokenizer.model.end_to_end.separate_marks().items():
            self._is_known[id] |= spelled[id] == mark

    def encode(self, ids: Int32Array, bounds: Int64Array) -> ReencodedWords:
        """Return the words of texts, but for those that are known to be canonical.

        Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and at least one.
        """
        begins = bounds[:-1]
        opens, is_known = self._opens[ids], self._is_known[ids]
        opens[begins], is_known[begins] = True, False
        first, unknown = np.flatnonzero(opens), np.flatnonzero(~is_known)
        word = np.searchsorted(first, unknown, side="right") - 1
        word = word[np.diff(word, prepend=-1) > 0]
        starts, stops = first[word], np.append(first, len(ids))[word + 1]
        indices, offsets = ranges(starts, stops)
        numbers = ids[indices]
        numbers[offsets[:-1]] += self._n_ids * np.isin(starts, begins)
        return self._encoded(indices, numbers, offsets)

    def _encoded(self, indices: Int64Array, numbers: Int32Array, bounds: Int64Array) -> ReencodedWords:
        """Return the words of ids, given the number of each in the table of spellings."""
        n_words = len(bounds) - 1
        word = np.repeat(np.arange(n_words), np.diff(bounds))
        at = np.arange(len(numbers)) + word
        separated = np.full(len(numbers) + n_words, 2 * self._n_ids, dtype=np.int32)
        separated[at] = numbers
        data, lengths = spell(*self._spelled, separated)
        ends = np.cumsum(lengths)
        # Each word ends before its separator.
        stops = ends[bounds[1:] + np.arange(n_words)] - len(_SEPARATOR)
        starts = np.append(0, stops[:-1] + len(_SEPARATOR))[:n_words]
        tokens, rows = self.tokenizer.model.end_to_end.encode_joined(data.tobytes(), stops)
        is_odd: BoolArray = np.diff(rows) == 0
        is_odd[word[lengths[at] == 0]] = True
        own = np.repeat(np.arange(n_words), np.diff(rows))
        sizes = np.diff(tokens.ends, prepend=0)
        begun = rows[:-1][~is_odd]
        sizes[begun] = tokens.ends[begun]
        is_odd[own[(sizes <= 0) | (tokens.ids < 0)]] = True
        is_odd[~is_odd] = tokens.ends[rows[1:][~is_odd] - 1] != (stops - starts)[~is_odd]
        ids = numbers % np.int32(self._n_ids)
        return ReencodedWords(
            indices, ids, ends[at], bounds, starts, tokens.ids, tokens.ends + starts[own], rows, is_odd
        )


def _check_added(token: str, normalizer: WordNormalizer) -> None:
    if not token:
        raise AlphabetError("an added token must not be empty")
    _utf8(token)
    if normalizer.reorders and tables().decompose(token[0])[0] in tables().combining:
        # It would be cut out of the middle of a combining sequence.
        raise AlphabetError("an added token begins with a combining mark", value=token)


def _utf8(text: str, where: str = "") -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = "the text has a lone surrogate, which is not a character"
        raise AlphabetError(what, value=text[error.start], where=f"{where}character {error.start}") from None


def _together(texts: Sequence[str]) -> tuple[bytes, Int64Array]:
    """Return texts as UTF-8, one after the other with a line feed between them, and the end of each."""
    joined = "\n".join(texts)
    try:
        data = _utf8(joined)
    except AlphabetError:
        for index, text in enumerate(texts):
            _utf8(text, f"text {index}, ")
        raise
    sizes = (len(text) if text.isascii() else len(text.encode("utf-8")) for text in texts)
    lengths = np.fromiter(map(len, texts) if joined.isascii() else sizes, np.int64, len(texts))
    return data, np.cumsum(lengths + 1) - 1


def _as_utf8(text: str | bytes) -> bytes:
    """Return a text as UTF-8, which it is if it is given as bytes."""
    if isinstance(text, str):
        return _utf8(text)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        value, where = text[error.start : error.end], f"byte {error.start}"
        raise AlphabetError("the text is not UTF-8", value=value, where=where) from None
    return text


def _rows(added: Mapping[str, int]) -> tuple[Uint8Array, Int32Array]:
    """Return the bytes of the added tokens and, for each token, the start and number of its bytes, and its id."""
    tokens = sorted(((token.encode("utf-8"), number) for token, number in added.items()), key=lambda row: -len(row[0]))
    starts = np.cumsum([0, *(len(token) for token, _ in tokens)])
    rows = [(int(start), len(token), number) for start, (token, number) in zip(starts, tokens, strict=False)]
    return np.frombuffer(b"".join(token for token, _ in tokens), np.uint8), np.array(rows, np.int32).ravel()
