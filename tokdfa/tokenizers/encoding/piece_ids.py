"""From pieces of text to ids: by compiled loops that cache pieces, or by merging one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from threading import get_ident, local
from typing import TYPE_CHECKING, cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import AlphabetError
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.tokenizers.encoding.character_splitter import CharacterSplitter
from tokdfa.tokenizers.encoding.encoded import Encoded
from tokdfa.tokenizers.encoding.piece_encoder import PieceEncoder
from tokdfa.tokenizers.encoding.symbols import Fallback, SymbolReader
from tokdfa.tokenizers.encoding.text_encoder import TextEncoder

if TYPE_CHECKING:
    from tokdfa.automata.transducers.one_pass import OnePass
    from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
    from tokdfa.kernels.library import Struct
    from tokdfa.tokenizers.encoding.long_piece import LongPiece
    from tokdfa.tokenizers.encoding.merger import Merger
    from tokdfa.tokenizers.formats.contents import Contents
    from tokdfa.tokenizers.pretokenizers.splitter import Splitter


class ForeignSymbolError(AlphabetError):
    """A symbol without a token or an id: the index of its piece, and the number of characters before it."""

    def __init__(self, what: str, value: object, piece: int, place: int) -> None:
        super().__init__(what, value=value, where=f"piece {piece}, character {place}")
        self.piece = piece
        self.place = place


class PieceIds:
    """The function from a piece to its ids, for the contents of a tokenizer file. Several threads may use it at a time.

    Parameters
    ----------
    contents : Contents
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._of_thread = local()
        self._idle: dict[int, TextEncoder] = {}

    def __getstate__(self) -> Contents:
        return self._contents

    def __setstate__(self, contents: Contents) -> None:
        self.__init__(contents)  # type: ignore[misc]

    def encode(self, pieces: Sequence[str | bytes]) -> Encoded:
        """Return the ids of all pieces.

        Raises
        ------
        AlphabetError
            If a piece has a symbol without a token or an id, or a lone surrogate; the error says where.
        """
        if self._characters is not None:
            found = self._encode_characters(pieces)
            if found is not None:
                return found
        if self._token_of_spelling:
            return self._encode_spelled(pieces)
        words = [self.word(piece, index) for index, piece in enumerate(pieces)]
        encoded = self._encode_remembering(words) if self._remembers else self._encode_by_merging(words)
        missing = _piece_without_id(encoded)
        if missing is not None:
            raise ForeignSymbolError("a symbol without an id", pieces[missing], missing, 0)
        return encoded

    def _encode_characters(self, pieces: Sequence[str | bytes]) -> Encoded | None:
        """Return the ids of pieces of characters; None if one is refused, which is then found the slow way."""
        given = [piece for piece in pieces if piece]
        try:
            data = [piece.encode() for piece in cast("list[str]", given)]
            offsets = running_sum(np.fromiter(map(len, data), dtype=np.int64, count=len(data)))
            encoded = self._thread_encoder().encode(b"".join(data), offsets)
        except (AttributeError, AlphabetError, UnicodeEncodeError):
            return None
        if len(given) == len(pieces):
            return encoded
        counts = np.zeros(len(pieces), dtype=np.int64)
        counts[[at for at, piece in enumerate(pieces) if piece]] = np.diff(encoded.offsets)
        return Encoded(encoded.ids, running_sum(counts))

    def encode_spans(self, data: bytes, spans: Int64Array) -> Encoded:
        """Return the ids of pieces of UTF-8.

        Parameters
        ----------
        data : bytes
        spans : int64 array of shape (pieces, 2)
            Piece i is ``data[spans[i, 0]:spans[i, 1]]``; none is empty.

        Raises
        ------
        AlphabetError
            If a symbol has no token or no id.
        """
        if self._contents.dictionary.alphabet.kind != "bytes":
            return self.encode([data[start:end].decode() for start, end in spans.tolist()])
        is_everything = len(spans) > 0 and bool((spans[1:, 0] == spans[:-1, 1]).all())
        if not is_everything or not self._remembers:
            return self.encode([data[start:end] for start, end in spans.tolist()])
        bounds = np.append(spans[:, 0], spans[-1, 1])
        encoded = Encoded(*self._thread_encoder().encode(data, bounds))
        missing = _piece_without_id(encoded)
        if missing is not None:
            start, end = spans[missing].tolist()
            raise ForeignSymbolError("a symbol without an id", data[start:end], missing, 0)
        return encoded

    def encode_text(self, data: bytes, splitter: Splitter) -> Int32Array:
        """Return the ids of the pieces that a splitter cuts UTF-8 into, for a dictionary over bytes.

        Raises
        ------
        AlphabetError
            If a byte has no id.
        PatternError
            If the text is not UTF-8; the error says where.
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
        return isinstance(splitter, CharacterSplitter) or self._remembers

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
        if self._contents.merges is not None:
            return False
        return bool(dictionary.properness()) and bool(agrees_with_leftmost(dictionary))

    @cached_property
    def _has_one_pass(self) -> bool:
        """Whether one pass gives the same tokens as merging, and its tables are large enough for all tokens."""
        from tokdfa.automata.transducers.one_pass import MAX_TOKENS

        return len(self._contents.ids) <= MAX_TOKENS and self.is_one_pass

    @cached_property
    def _remembers(self) -> bool:
        """Whether pieces are encoded, and cached, by compiled loops."""
        return self._characters is None and (self._ranked_merges is not None or self._has_one_pass)

    @property
    def is_over_characters(self) -> bool:
        """Whether pieces are of characters, and encoded by compiled loops."""
        return self._characters is not None

    @cached_property
    def has_character_tables(self) -> bool:
        """Whether there are tables of characters: each stands for itself, its bytes, or the symbol of unknown ones."""
        contents = self._contents
        if contents.dictionary.alphabet.kind == "bytes":
            return False
        fallback = contents.fallback or Fallback()
        numbers = self._numbers
        # A byte of ASCII may lack a symbol: the character has one, or the text is encoded the slow way.
        spelled = [numbers.get(each or "", -1) for each in fallback.bytes or ()]
        return not (
            (contents.spelled_bytes or contents.prefix or contents.suffix or contents.whole_piece)
            or fallback.drops
            or (spelled and min(spelled[0x80:0xF5]) < 0)
        )

    @cached_property
    def _characters(self) -> Struct | None:
        """The tables of characters by which compiled loops encode pieces; None if they do not."""
        return self.characters({}, frozenset()) if self.has_character_tables and not self._contents.atoms else None

    def characters(
        self, becomes: Mapping[str, str], begins: Set[str], puts: tuple[str, int, int] = ("", 0, 0)
    ) -> Struct | None:
        """Return the tables of pieces of characters; some characters become others, and some begin pieces.

        `begins` has characters after they have become others. `puts` is a character that is put before texts, and when;
        see :class:`~tokdfa.kernels.encode.characters.Puts`. None is returned without such tables.
        """
        from tokdfa.kernels.encode.characters import Puts, characters_of

        fallback = self._contents.fallback or Fallback()
        numbers = self._numbers
        known = {ord(symbol): number for symbol, number in numbers.items() if len(symbol) == 1}
        replaced = {ord(old): numbers.get(new) for old, new in becomes.items()}
        put = puts[:1] if any(puts[1:]) else ()
        if (begins | set(put)) - numbers.keys() or (fallback.bytes and None in replaced.values()):
            return None
        for code, number in replaced.items():
            known.pop(code, None)
            if number is not None:
                known[code] = number
        inner = self.merger.inner[:-1]
        firsts = np.array([numbers[symbol] for symbol in begins], dtype=np.int64)
        spelled = [numbers.get(each or "", -1) for each in fallback.bytes or ()]
        return characters_of(
            known,
            np.array(spelled, dtype=np.int32) if spelled else None,
            None if fallback.unknown is None else numbers[fallback.unknown],
            fallback.fuses,
            inner[~np.isin(inner & 0xFFFFFFFF, firsts)],
            self.merger.table,
            self._contents.ids,
            Puts(numbers[puts[0]], *puts[1:]) if put else None,
        )

    @cached_property
    def _ranked_merges(self) -> tuple[Int32Array, Int32Array, Int32Array] | None:
        """Merging pairs over the bytes, the strongest first, such that all pairs of a token follow each other.

        Only one pair of each token ever applies. When two tokens side by side make t, the symbols below them have
        merged as they do alone, where nothing else is left to merge: it is the last pair in the merging of t alone. Of
        `a·b -> ab`, `b·c -> bc`, `ab·c -> abc`, `a·bc -> abc`, in this order, the last one never applies, since `abc`
        alone becomes `ab`, `c`. So the pairs of a token are as strong as that one; and where no pair of another token
        is between them, they stay as they are, whichever it is.
        """
        from tokdfa.automata.transducers.one_pass import MAX_TOKENS

        merges = self._contents.merges
        dictionary = self._contents.dictionary
        if dictionary.alphabet.kind != "bytes" or len(self._contents.ids) > MAX_TOKENS:
            return None
        if merges is None:
            left, right, product = dictionary.left, dictionary.right, dictionary.product
        else:
            order = np.argsort(merges.priority, kind="stable")
            left, right, priority, product = (row[order] for row in merges)
            if ((product[1:] != product[:-1]) & (priority[1:] == priority[:-1])).any():
                return None
        is_made = np.zeros(len(self._contents.ids), dtype=np.bool_)
        is_made[product] = True
        if np.count_nonzero(is_made) == np.count_nonzero(np.diff(product)) + (len(product) > 0):
            return left, right, product
        last, _ = self.last_steps
        made = np.flatnonzero((last[:, 0] == 1) & (last[:, 1] >= 0)).astype(np.int32)
        made = made[np.argsort(last[made, 3], kind="stable")]
        return np.ascontiguousarray(last[made, 1]), np.ascontiguousarray(last[made, 2]), made

    @cached_property
    def last_steps(self) -> tuple[Int32Array, BoolArray]:
        """The last step in merging the word of each token; see :func:`tokdfa.kernels.merging.merging.derivations`."""
        from tokdfa.kernels.merging.merging import derivations

        words = (*self._contents.dictionary.alphabet, *self._contents.extra)
        symbols, lengths = self.symbols(words)
        return derivations(symbols, running_sum(lengths), self.merger.table)

    @cached_property
    def is_merged(self) -> BoolArray:
        """For each token that can be spelled, whether merging its word gives that token.

        A part of a longer word that merges into a token also does so on its own, whether the rules are proper or not.
        """
        dictionary = self._contents.dictionary
        if self.is_one_pass:
            is_merged = np.zeros(len(dictionary.alphabet) + len(self._contents.extra), dtype=np.bool_)
            is_merged[: len(dictionary.alphabet)] = dictionary.folding.birth >= 0
            return is_merged
        is_one: BoolArray = self.last_steps[0][:, 0] == 1
        return is_one

    @cached_property
    def whole_words(self) -> dict[Word, int]:
        """The tokens, by word, that are given only for a whole piece: merging it would give others."""
        if not self._contents.whole_piece:
            return {}
        numbers = np.flatnonzero(~self.is_merged).tolist()
        words = (*self._contents.dictionary.alphabet, *self._contents.extra) if numbers else ()
        return {words[number]: number for number in numbers}

    @cached_property
    def _token_of_spelling(self) -> dict[str, int]:
        """The tokens with an id that are emitted for a piece spelled alike, even if its symbols are unknown.

        Empty if all symbols are known.
        """
        contents = self._contents
        if not contents.whole_piece or contents.dictionary.alphabet.kind == "bytes":
            return {}
        words = enumerate(cast("tuple[str | tuple[str, ...], ...]", (*contents.dictionary.alphabet, *contents.extra)))
        return {"".join(word): number for number, word in words if contents.ids[number] >= 0}

    def _encode_spelled(self, pieces: Sequence[str | bytes]) -> Encoded:
        """Return the ids of pieces that are looked up by their spelling before anything is done to symbols."""
        found = [self._token_of_spelling.get(self._spelling(piece)) for piece in pieces]
        rest = [
            self.word(piece if number is None else "", index)
            for index, (piece, number) in enumerate(zip(pieces, found, strict=True))
        ]
        merged = self.merge(rest)
        ids = [
            merged.ids[start:stop] if number is None else self._contents.ids[number : number + 1]
            for number, start, stop in zip(found, merged.offsets[:-1], merged.offsets[1:], strict=True)
        ]
        return Encoded(np.concatenate((merged.ids[:0], *ids)), running_sum(np.array([*map(len, ids)], dtype=np.int64)))

    def _spelling(self, piece: str | bytes) -> str:
        """Return a piece as the characters of tokens; half of a surrogate pair is left for `word` to refuse."""
        if not self._contents.spelled_bytes:
            return cast(str, piece)
        data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        return "".join(map(CHARACTER_OF.__getitem__, data))

    def ids_of_symbols(self, symbols: Sequence[str]) -> Int32Array:
        """Return the ids of symbols."""
        return self._contents.ids[[self._numbers[symbol] for symbol in symbols]]

    def long_piece(self, length: int) -> LongPiece | None:
        """Return a stream of the tokens of a long piece, given its number of bytes; None if they all wait.

        They wait if the rules are not evaluated from left to right, if the last symbol has a suffix, and if the piece
        may still be a token that is not merged.
        """
        contents = self._contents
        if not self._has_one_pass or contents.suffix is not None or length <= self._longest_whole_word:
            return None
        from tokdfa.tokenizers.encoding.long_piece import LongPiece

        is_bytewise = contents.dictionary.alphabet.kind == "bytes"
        return LongPiece(
            self._subsequential,
            contents.ids,
            lambda part: self.word(part if is_bytewise or contents.spelled_bytes else part.decode(), 0),
        )

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
        is_bytewise = self._contents.dictionary.alphabet.kind == "bytes"
        of_bytes = is_bytewise or self._contents.spelled_bytes
        fallback = self._contents.fallback
        if isinstance(piece, str) and (of_bytes or (fallback is not None and fallback.drops)):
            try:
                data = piece.encode("utf-8")
                piece = data if of_bytes else piece
            except UnicodeEncodeError as error:
                what, at = "half of a surrogate pair", error.start
                raise ForeignSymbolError(what, error.object[at], index, at) from None
        if is_bytewise:
            return piece
        if self._contents.spelled_bytes:
            piece = self._spelling(piece)
        if isinstance(piece, bytes):
            raise AlphabetError("a piece of text was expected", value=piece, where=f"piece {index}")
        symbols = self._symbol_reader.read(piece)
        if not self._numbers.keys() >= set(symbols):
            place, symbol = next((i, symbol) for i, symbol in enumerate(symbols) if symbol not in self._numbers)
            raise ForeignSymbolError("the symbol is not in the base alphabet", symbol, index, place)
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
        from tokdfa.automata.transducers.one_pass import OnePass

        return OnePass(self._contents.dictionary)

    @cached_property
    def _encoder(self) -> PieceEncoder:
        if self._characters is not None:
            return PieceEncoder.of_characters(self._characters, self._contents.ids)
        if self._ranked_merges is not None:
            contents = self._contents
            n_words = len(contents.dictionary.alphabet) + len(contents.extra)
            return PieceEncoder.of_ranks(
                contents.dictionary,
                self._ranked_merges,
                contents.ids,
                extra=cast("tuple[bytes, ...]", contents.extra),
                whole=np.full(n_words, contents.whole_piece),
                long_tables=self._long_tables,
                encode_long=self._encode_long,
            )
        one_pass = self.one_pass
        extra = [*map(one_pass.code.encode, self._contents.extra)] if self.whole_words else []
        return PieceEncoder(one_pass, self._contents.ids, extra=extra, whole=[*self.whole_words.values()])

    def _long_tables(self) -> Struct | None:
        """Return the tables by which long pieces are tokenized in one pass; None if the rules must be merged."""
        return self.one_pass.with_ids(self._contents.ids) if self._has_one_pass else None

    def _thread_encoder(self) -> PieceEncoder:
        encoder: PieceEncoder | None = getattr(self._of_thread, "encoder", None)
        if encoder is None:
            self._of_thread.encoder = encoder = self._encoder.copy()
        return encoder

    def _encode_long(self, piece: bytes) -> Int32Array:
        """Return the ids of a piece that is not itself a token."""
        symbols = np.frombuffer(piece, dtype=np.uint8).astype(np.int32)
        _, tokens = self.merger.merge(symbols, np.array([0, len(piece)]))
        return self._contents.ids[tokens]

    def _encode_remembering(self, words: Sequence[Word]) -> Encoded:
        encoder = self._thread_encoder()
        is_bytewise = self._contents.dictionary.alphabet.kind == "bytes"
        assert encoder.code is not None
        codes = cast("Sequence[bytes]", words) if is_bytewise else [*map(encoder.code.encode, words)]
        sizes = np.fromiter(map(len, codes), dtype=np.int64, count=len(codes))
        is_something = sizes > 0
        ids, offsets = encoder.encode(b"".join(codes), running_sum(sizes[is_something]))
        if not is_something.all():
            counts = np.zeros(len(codes), dtype=np.int64)
            counts[is_something] = np.diff(offsets)
            offsets = running_sum(counts)
        return Encoded(ids, offsets)

    def merge(self, words: Sequence[Word]) -> Encoded:
        """Return the result of merging words over the base alphabet, even if they are themselves tokens."""
        symbols, lengths = self.symbols(words)
        offsets, tokens = self.merger.merge(symbols, running_sum(lengths))
        return Encoded(self._contents.ids[tokens], offsets)

    @cached_property
    def merger(self) -> Merger:
        """The merger of pieces by priority."""
        from tokdfa.tokenizers.encoding.merger import Merger

        return Merger(self._contents.dictionary, self._contents.merges)

    def _encode_by_merging(self, words: Sequence[Word]) -> Encoded:
        symbols, lengths = self.symbols(words)
        offsets, tokens = self.merger.merge(symbols, running_sum(lengths))
        found = [(index, self.whole_words[word]) for index, word in enumerate(words) if word in self.whole_words]
        if found:
            keep = np.ones(len(tokens), dtype=np.bool_)
            counts = np.diff(offsets)
            for index, number in found:
                tokens[offsets[index]] = number
                keep[offsets[index] + 1 : offsets[index + 1]] = False
                counts[index] = 1
            offsets, tokens = running_sum(counts), tokens[keep]
        return Encoded(self._contents.ids[tokens], offsets)

    def symbols(self, words: Sequence[Word]) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the symbols of all words, and each length; foreign symbols merge with nothing."""
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        if self._contents.dictionary.alphabet.kind == "bytes":
            # The number of a symbol is its byte.
            return np.frombuffer(b"".join(cast("Sequence[bytes]", words)), dtype=np.uint8).astype(np.int32), lengths
        foreign = len(self._contents.dictionary.alphabet)
        numbers = (self._numbers.get(cast(str, symbol), foreign) for word in words for symbol in word)
        return np.fromiter(numbers, dtype=np.int32, count=int(lengths.sum())), lengths


def _piece_without_id(encoded: Encoded) -> int | None:
    """Return the first piece with a token that has no id."""
    if encoded.ids.min(initial=0) >= 0:
        return None
    return int(np.searchsorted(encoded.offsets, np.argmax(encoded.ids < 0), side="right")) - 1
