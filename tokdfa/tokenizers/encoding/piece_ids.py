"""From pieces of text to ids: by compiled loops that cache pieces, or by merging one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, repeat
from threading import get_ident, local
from typing import TYPE_CHECKING, cast

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.transducers.one_pass import MAX_TOKENS, OnePass
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, offsets_of, running_sum
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.encode.characters import Puts, characters_of
from tokdfa.kernels.library import Struct
from tokdfa.kernels.merging.merging import derivations
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.tokenizers.encoding.merger import Merger, RankedMerges, ranked_merges
from tokdfa.tokenizers.encoding.piece_encoder import Encoded, PieceEncoder
from tokdfa.tokenizers.encoding.symbols import Fallback, SymbolReader
from tokdfa.tokenizers.encoding.text_encoder import CharacterSplitter, TextEncoder

if TYPE_CHECKING:
    from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
    from tokdfa.tokenizers.formats.contents import Contents
    from tokdfa.tokenizers.pretokenizers.splitter import Splitter


class ForeignSymbolError(AlphabetError):
    """A symbol without a token or an id: the index of its piece, and the number of characters before it."""

    def __init__(self, what: str, value: object, piece: int, character: int = 0) -> None:
        super().__init__(what, value=value, where=f"piece {piece}, character {character}")
        self.piece = piece
        self.character = character


_NO_WORDS: Mapping[Word, int] = {}


class PieceIds:
    """The function from a piece to its ids, for the contents of a file. Several threads may use it at a time."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._of_thread = local()
        self._idle: dict[int, TextEncoder] = {}

    def __getstate__(self) -> Contents:
        return self._contents

    def __setstate__(self, contents: Contents) -> None:
        self.__init__(contents)  # type: ignore[misc]

    @cached_property
    def _is_bytewise(self) -> bool:
        """Whether the rules are over bytes; asking for the rules may take longer than loading the file."""
        return self._contents.dictionary.alphabet.kind == "bytes"

    def encode(self, pieces: Sequence[str | bytes]) -> Encoded:
        """Return the ids of all pieces.

        AlphabetError is raised if a piece has a symbol without a token or an id, or a lone surrogate, saying where.
        """
        if self.character_tables is not None:
            try:
                return self._encode_cached([cast(str, piece).encode() if piece else b"" for piece in pieces])
            except (AttributeError, AlphabetError, UnicodeEncodeError):
                # The piece that is refused is found the slow way.
                pass
        if self._token_of_spelling:
            return self._encode_spelled(pieces)
        words = [self.word(piece, index) for index, piece in enumerate(pieces)]
        if self._is_cached:
            code = self._thread_encoder().code
            assert code is not None
            codes = cast("Sequence[bytes]", words) if self._is_bytewise else [*map(code.encode, words)]
            encoded = self._encode_cached(codes)
        else:
            encoded = self.merge(words, self.whole_words)
        return _with_ids(encoded, pieces.__getitem__)

    def _encode_cached(self, codes: Sequence[bytes]) -> Encoded:
        """Return the ids of pieces, perhaps empty ones, as the compiled loop of this thread reads them."""
        ends = bounds = offsets_of(codes)
        if not all(codes):
            bounds = ends[np.append(True, np.diff(ends) > 0)]
        ids, offsets = self._thread_encoder().encode(b"".join(codes), bounds)
        return Encoded(ids, offsets if bounds is ends else offsets[np.searchsorted(bounds, ends)])

    def encode_spans(self, data: bytes, spans: Int64Array) -> Encoded:
        """Return the ids of pieces of UTF-8.

        Piece i is ``data[spans[i, 0]:spans[i, 1]]``, and not empty. AlphabetError is raised as `encode` does.
        """
        if not self._is_bytewise:
            return self.encode([data[start:end].decode() for start, end in spans.tolist()])
        is_everything = len(spans) > 0 and bool((spans[1:, 0] == spans[:-1, 1]).all())
        if not is_everything or not self._is_cached:
            return self.encode([data[start:end] for start, end in spans.tolist()])
        bounds = np.append(spans[:, 0], spans[-1, 1])
        encoded = self._thread_encoder().encode(data, bounds)
        return _with_ids(encoded, lambda index: data[slice(*spans[index].tolist())])

    def encode_text(self, data: bytes, splitter: Splitter) -> Int32Array:
        """Return the ids of the pieces that a splitter cuts UTF-8 into, for a dictionary over bytes.

        AlphabetError is raised if a byte has no id, and PatternError if the text is not UTF-8, saying where.
        """
        encoder = self.text_encoder(splitter)
        ids = None if encoder is None else encoder.encode(data)
        # If there is an error to report, the piece is found the slow way.
        return self.encode_spans(data, splitter.spans(data)).ids if ids is None else ids

    def text_encoder(self, splitter: Splitter | CharacterSplitter) -> TextEncoder | None:
        """Return the engine that splits UTF-8 and encodes the pieces in this thread; None if none does both at once."""
        if not self._encodes_by(splitter):
            return None
        encoder: TextEncoder | None = getattr(self._of_thread, "text_encoder", None)
        if encoder is None or encoder.splitter is not splitter:
            is_of_characters = isinstance(splitter, CharacterSplitter)
            pieces = self._new_encoder(splitter) if is_of_characters else self._thread_encoder()
            self._of_thread.text_encoder = encoder = TextEncoder(pieces, splitter)
        return encoder

    def _encodes_by(self, splitter: Splitter | CharacterSplitter) -> bool:
        """Return whether the engine that splits texts this way encodes the pieces."""
        return isinstance(splitter, CharacterSplitter) or self._is_cached

    def _new_encoder(self, splitter: Splitter | CharacterSplitter) -> PieceEncoder:
        """Return an encoder of the pieces of texts that are split this way."""
        if isinstance(splitter, CharacterSplitter):
            return PieceEncoder.of_characters(splitter.characters, self._contents.ids)
        return self._encoder.copy()

    @contextmanager
    def idle_text_encoder(self, splitter: Splitter | CharacterSplitter) -> Iterator[TextEncoder | None]:
        """Give an idle engine as `text_encoder` does; it is kept, with the pieces that it has cached.

        Threads that come and go find it warm. A thread gets the one that it had before, if it can: the cached pieces
        are still in the caches of the thread's processor.
        """
        if not self._encodes_by(splitter):
            yield None
            return
        thread = get_ident()
        try:
            encoder = self._idle.pop(thread, None) or self._idle.popitem()[1]
        except KeyError:
            encoder = None
        if encoder is None or encoder.splitter is not splitter:
            encoder = TextEncoder(self._new_encoder(splitter), splitter)
        try:
            yield encoder
        finally:
            self._idle[thread] = encoder

    def prepare(self) -> None:
        """Make the tables of the first call now, if they follow from the rules without deciding anything about them."""
        if self._ranked_merges is not None and self._contents.whole_piece:
            _ = self._encoder

    @cached_property
    def is_one_pass(self) -> bool:
        """Whether the libraries' order of merging agrees with Algorithm 1, for a proper dictionary."""
        from tokdfa.automata.semantics import agrees_with_leftmost

        dictionary = self._contents.dictionary
        is_decided = self._contents.merges is None and bool(dictionary.properness())
        return is_decided and bool(agrees_with_leftmost(dictionary))

    @property
    def _has_one_pass(self) -> bool:
        """Whether one pass gives the same tokens as merging, and its tables are large enough for all tokens."""
        return len(self._contents.ids) <= MAX_TOKENS and self.is_one_pass

    @cached_property
    def _is_cached(self) -> bool:
        """Whether pieces are encoded, and cached, by compiled loops."""
        return self.character_tables is None and (self._ranked_merges is not None or self._has_one_pass)

    @cached_property
    def has_character_tables(self) -> bool:
        """Whether there are tables of characters: each stands for itself, its bytes, or the symbol of unknown ones."""
        contents = self._contents
        if self._is_bytewise or contents.spelled_bytes or contents.prefix or contents.suffix or contents.whole_piece:
            return False
        # A byte of ASCII may lack a symbol: the character has one, or the text is encoded the slow way.
        return not self._fallback.drops and min(self._byte_symbols[0x80:0xF5], default=0) >= 0

    @property
    def _fallback(self) -> Fallback:
        return self._contents.fallback or Fallback()

    @cached_property
    def _byte_symbols(self) -> list[int]:
        """The number of the symbol of each byte, -1 for none; empty if bytes have no symbols."""
        return [self._numbers.get(symbol or "", -1) for symbol in self._fallback.bytes or ()]

    @cached_property
    def character_tables(self) -> Struct | None:
        """The tables of characters by which compiled loops encode pieces; None if they do not."""
        return self.characters({}, frozenset()) if self.has_character_tables and not self._contents.atoms else None

    def characters(
        self, becomes: Mapping[str, str], begins: Set[str], puts: tuple[str, int, int] = ("", 0, 0)
    ) -> Struct | None:
        """Return the tables of pieces of characters; some characters become others, and some begin pieces.

        `begins` has characters after they have become others. `puts` is a character that is put before texts, and when;
        see :class:`~tokdfa.kernels.encode.characters.Puts`. None is returned without such tables.
        """
        fallback, numbers, merger = self._fallback, self._numbers, self.merger
        known = {ord(symbol): number for symbol, number in numbers.items() if len(symbol) == 1}
        replaced = {ord(old): numbers.get(new) for old, new in becomes.items()}
        put = puts[:1] if any(puts[1:]) else ()
        if (begins | set(put)) - numbers.keys() or (fallback.bytes and None in replaced.values()):
            return None
        for code, number in replaced.items():
            known.pop(code, None)
            if number is not None:
                known[code] = number
        spelled = np.array(self._byte_symbols, dtype=np.int32) if self._byte_symbols else None
        unknown = None if fallback.unknown is None else numbers[fallback.unknown]
        firsts = np.array([numbers[symbol] for symbol in begins], dtype=np.int64)
        inner = merger.inner[:-1]
        inner = inner[~np.isin(inner & 0xFFFFFFFF, firsts)]
        puts_symbol = Puts(numbers[puts[0]], *puts[1:]) if put else None
        ids = self._contents.ids
        return characters_of(known, spelled, unknown, fallback.fuses, inner, merger.table, ids, puts_symbol)

    @cached_property
    def _ranked_merges(self) -> RankedMerges | None:
        """The merging pairs of a dictionary over bytes, ranked; None without."""
        if not self._is_bytewise or len(self._contents.ids) > MAX_TOKENS:
            return None
        return ranked_merges(self._contents.dictionary, self._contents.merges, lambda: self.last_steps[0])

    @cached_property
    def last_steps(self) -> tuple[Int32Array, BoolArray]:
        """The last step in merging the word of each token; see :func:`tokdfa.kernels.merging.merging.derivations`."""
        return derivations(*self.words.in_symbols(), self.merger.table)

    @cached_property
    def is_merged(self) -> BoolArray:
        """For each token that can be spelled, whether merging its word gives that token.

        A part of a longer word that merges into a token also does so on its own, whether the rules are proper or not.
        """
        is_merged: BoolArray
        if self.is_one_pass:
            is_born = self._contents.dictionary.folding.birth >= 0
            is_merged = np.append(is_born, np.zeros(len(self._contents.extra), dtype=np.bool_))
        else:
            is_merged = self.last_steps[0][:, 0] == 1
        return is_merged

    @cached_property
    def words(self) -> TokenAlphabet:
        """The tokens that can be spelled: first the dictionary has them, then no rule mentions them."""
        return self._contents.dictionary.alphabet.followed_by(self._contents.extra)

    @cached_property
    def whole_words(self) -> dict[Word, int]:
        """The tokens, by word, that are given only for a whole piece: merging it would give others."""
        if not self._contents.whole_piece:
            return {}
        numbers = np.flatnonzero(~self.is_merged).tolist()
        return {self.words[number]: number for number in numbers}

    @cached_property
    def _token_of_spelling(self) -> dict[str, int]:
        """The tokens with an id that are emitted for a piece spelled alike, even if its symbols are unknown.

        Empty if all symbols are known.
        """
        contents = self._contents
        if not contents.whole_piece or self._is_bytewise:
            return {}
        return {text: number for number, text in enumerate(self.words.texts) if contents.ids[number] >= 0}

    def _encode_spelled(self, pieces: Sequence[str | bytes]) -> Encoded:
        """Return the ids of pieces that are looked up by their spelling before anything is done to symbols."""
        found = [self._token_of_spelling.get(self._spelling(piece)) for piece in pieces]
        words = [
            self.word(piece if number is None else "", index)
            for index, (piece, number) in enumerate(zip(pieces, found, strict=True))
        ]
        merged = self.merge(words)
        ids = [
            merged.ids[start:stop] if number is None else self._contents.ids[number : number + 1]
            for number, start, stop in zip(found, merged.offsets[:-1], merged.offsets[1:], strict=True)
        ]
        return Encoded(np.concatenate((merged.ids[:0], *ids)), offsets_of(ids))

    def _spelling(self, piece: str | bytes) -> str:
        """Return a piece as the characters of tokens; half of a surrogate pair is left for `word` to refuse."""
        if not self._contents.spelled_bytes:
            return cast(str, piece)
        data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        return "".join(map(CHARACTER_OF.__getitem__, data))

    def ids_of_symbols(self, symbols: Sequence[str]) -> Int32Array:
        """Return the ids of symbols."""
        return self._contents.ids[[self._numbers[symbol] for symbol in symbols]]

    def long_transducer(self, length: int) -> SubsequentialTransducer | None:
        """Return the transducer that settles the tokens of a long piece, given its bytes; None if they all wait.

        They wait if the rules are not evaluated from left to right, if the last symbol has a suffix, and if the piece
        may still be a token that is not merged.
        """
        if not self._has_one_pass or self._contents.suffix is not None or length <= self._longest_whole_word:
            return None
        return self._subsequential

    def word_of_utf8(self, part: bytes) -> Word:
        """Return UTF-8 as a word over the base alphabet."""
        return self.word(part if self._is_bytewise or self._contents.spelled_bytes else part.decode())

    @property
    def ids(self) -> Int32Array:
        """The id of each token."""
        return self._contents.ids

    @cached_property
    def _longest_whole_word(self) -> int:
        # In bytes of UTF-8; a word of characters may have up to four for each character.
        return 4 * max(map(len, self.whole_words), default=0)

    @cached_property
    def _subsequential(self) -> SubsequentialTransducer:
        from tokdfa.automata.transducers.subsequential import SubsequentialTransducer

        return SubsequentialTransducer(self._contents.dictionary)

    def word(self, piece: str | bytes, index: int = 0) -> Word:
        """Return a piece as a word over the base alphabet."""
        of_bytes = self._is_bytewise or self._contents.spelled_bytes
        if isinstance(piece, str) and (of_bytes or self._fallback.drops):
            try:
                data = piece.encode("utf-8")
            except UnicodeEncodeError as error:
                what, at = "half of a surrogate pair", error.start
                raise ForeignSymbolError(what, error.object[at], index, at) from None
            piece = data if of_bytes else piece
        if self._is_bytewise:
            return piece
        if of_bytes:
            piece = self._spelling(piece)
        if isinstance(piece, bytes):
            raise AlphabetError("a piece of text was expected", value=piece, where=f"piece {index}")
        symbols = self._symbol_reader.read(piece)
        if not self._numbers.keys() >= set(symbols):
            at, symbol = next((at, symbol) for at, symbol in enumerate(symbols) if symbol not in self._numbers)
            raise ForeignSymbolError("the symbol is not in the base alphabet", symbol, index, at)
        return tuple(symbols) if self._contents.dictionary.alphabet.kind == "symbols" else "".join(symbols)

    @cached_property
    def _symbol_reader(self) -> SymbolReader:
        return SymbolReader(self._contents, self._numbers.keys())

    @cached_property
    def _numbers(self) -> dict[str, int]:
        letters = self._contents.dictionary.alphabet.letters
        return dict(zip(letters, range(len(letters)), strict=True))

    @cached_property
    def one_pass(self) -> OnePass:
        """The one-pass evaluation of the dictionary."""
        return OnePass(self._contents.dictionary)

    @cached_property
    def _encoder(self) -> PieceEncoder:
        contents = self._contents
        if self.character_tables is not None:
            return PieceEncoder.of_characters(self.character_tables, contents.ids)
        if self._ranked_merges is not None:
            return PieceEncoder.of_ranks(
                contents.dictionary,
                self._ranked_merges,
                contents.ids,
                extra=cast("tuple[bytes, ...]", contents.extra),
                whole=np.full(len(contents.dictionary.alphabet) + len(contents.extra), contents.whole_piece),
                long_tables=self._long_tables,
                encode_long=lambda piece: self.merge([piece]).ids,
            )
        extra = [*map(self.one_pass.code.encode, contents.extra)] if self.whole_words else []
        return PieceEncoder(self.one_pass, contents.ids, extra=extra, whole=[*self.whole_words.values()])

    def _long_tables(self) -> Struct | None:
        """Return the tables by which long pieces are tokenized in one pass; None if the rules must be merged."""
        return self.one_pass.with_ids(self._contents.ids) if self._has_one_pass else None

    def _thread_encoder(self) -> PieceEncoder:
        encoder: PieceEncoder | None = getattr(self._of_thread, "encoder", None)
        if encoder is None:
            self._of_thread.encoder = encoder = self._encoder.copy()
        return encoder

    @cached_property
    def merger(self) -> Merger:
        """The merger of pieces by priority."""
        return Merger(self._contents.dictionary, self._contents.merges)

    def merge(self, words: Sequence[Word], whole: Mapping[Word, int] = _NO_WORDS) -> Encoded:
        """Return the result of merging words over the base alphabet; those of `whole` are these tokens instead."""
        symbols, lengths = self.symbols(words)
        offsets, tokens = self.merger.merge(symbols, running_sum(lengths))
        found = [(index, whole[word]) for index, word in enumerate(words) if word in whole] if whole else []
        if found:
            keep = np.ones(len(tokens), dtype=np.bool_)
            counts = np.diff(offsets)
            for index, number in found:
                tokens[offsets[index]] = number
                keep[offsets[index] + 1 : offsets[index + 1]] = False
                counts[index] = 1
            offsets, tokens = running_sum(counts), tokens[keep]
        return Encoded(self._contents.ids[tokens], offsets)

    @cached_property
    def symbols_of_tokens(self) -> tuple[Int32Array, Int64Array]:
        """The numbers of the symbols of all tokens, and the first one of each token."""
        symbols, lengths = self.symbols(self.words)
        return symbols, running_sum(lengths)

    def symbols(self, words: Sequence[Word]) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the symbols of all words, and each length; foreign symbols merge with nothing."""
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        if self._is_bytewise:
            # The number of a symbol is its byte.
            return np.frombuffer(b"".join(cast("Sequence[bytes]", words)), dtype=np.uint8).astype(np.int32), lengths
        foreign = len(self._contents.dictionary.alphabet)
        numbers = map(self._numbers.get, chain.from_iterable(cast("Sequence[Sequence[str]]", words)), repeat(foreign))
        return np.fromiter(numbers, dtype=np.int32, count=int(lengths.sum())), lengths


def _with_ids(encoded: Encoded, piece: Callable[[int], object]) -> Encoded:
    """Return the ids of pieces, or raise an error about the first one with a token that has no id."""
    if encoded.ids.min(initial=0) < 0:
        index = int(np.searchsorted(encoded.offsets, np.argmax(encoded.ids < 0), side="right")) - 1
        raise ForeignSymbolError("a symbol without an id", piece(index), index)
    return encoded
