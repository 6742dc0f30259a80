"""The longest token first, from left to right, over the bytes of a text: RWKV's World tokenizer."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tokdfa.automata.alphabet import Word, show
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.library import Struct
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.wordpiece.matching import build_trie, match_word, word_trie
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoder import Decoder, Spellings, spellings
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.models.model import Model

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.formats.rwkv import LongestMatchContents
    from tokdfa.tokenizers.spelled import Spelled
    from tokdfa.tokenizers.tokenizer import Tokenizer

_BYTES = 256
# A text is matched in parts of so many bytes: the buffer of one has 24 bytes for each.
_PART = 1 << 20


class LongestMatch(Model):
    """A model of tokens of bytes: at each offset of a text the longest one is taken.

    With the tokens a, b, ab and bc, "abc" is ab and then c; bc is never considered. `tokens` has the bytes of each id,
    empty for unused ids; every byte is a token.

    Notes
    -----
    *Fast WordPiece Tokenization*, EMNLP 2021, algorithm 1, over bytes: linear time, whatever the tokens.
    """

    algorithm = "longest match"
    semantics = "longest match"

    def __init__(self, contents: LongestMatchContents) -> None:
        self.tokens = contents.tokens
        self.spellings = spellings(self.tokens)

    @cached_property
    def is_token(self) -> BoolArray:
        used: BoolArray = np.diff(self.spellings.offsets) > 0
        return used

    @property
    def sizes(self) -> dict[str, int]:
        return {"tokens": int(self.is_token.sum())}

    # From text to ids

    @cached_property
    def _trie(self) -> Struct:
        # Words begin and continue with the same tokens; bytes are the symbols.
        ids = np.flatnonzero(self.is_token).astype(np.int32)
        text, lengths = spell(*self.spellings, ids)
        symbols, offsets = text.astype(np.int32), running_sum(lengths)
        twice = np.concatenate((offsets, offsets[1:] + offsets[-1]))
        built = build_trie(np.tile(symbols, 2), twice, np.tile(ids, 2), len(ids), _BYTES + 1)
        return word_trie(built.cells, built.pops, np.arange(_BYTES // 2, _BYTES, dtype=np.int32))

    @cached_property
    def spans(self) -> BoolArray:
        """For each byte and each next byte, whether some token has the two side by side: bool, (256, 256)."""
        found = np.zeros((_BYTES, _BYTES), dtype=np.bool_)
        text, offsets = self.spellings
        inside = np.ones(len(text), dtype=np.bool_)
        inside[offsets[1:][self.is_token] - 1] = False
        at = np.flatnonzero(inside)
        found[text[at], text[at + 1]] = True
        return found

    def match(self, data: bytes) -> Int32Array:
        """Return the ids of a text of bytes."""
        lengths = np.diff(self.spellings.offsets)
        longest, begin, parts = int(lengths.max()), 0, [np.empty(0, dtype=np.int32)]
        while begin < len(data):
            # A byte is the code point of its number.
            part = data[begin : begin + _PART + longest].decode("latin-1")
            ids = np.array(match_word(self._trie.pointer, part, len(part)), dtype=np.int32)
            if begin + len(part) < len(data):
                # More text may make a token longer only if it begins so close to the end.
                ids = ids[np.cumsum(lengths[ids]) <= len(part) - longest]
            parts.append(ids)
            begin += int(lengths[ids].sum())
        return np.concatenate(parts)

    def direct(self, tokenizer: Any) -> None:
        return None

    def encode(self, tokenizer: Tokenizer, text: str) -> Int32Array:
        parts: list[Int32Array] = []
        try:
            for segment, _ in tokenizer.segments(text):
                if isinstance(segment, Special):
                    parts.append(np.array([segment.id], dtype=np.int32))
                else:
                    parts.append(self.match(segment.encode()))
        except UnicodeEncodeError as error:
            raise AlphabetError("half of a surrogate pair", value=error.object[error.start]) from None
        return np.concatenate((np.empty(0, dtype=np.int32), *parts))

    def stream(self, tokenizer: Tokenizer) -> EncodingStream:
        from tokdfa.tokenizers.encoding.stream import HeldStream, encode_from

        return HeldStream(lambda text, byte: encode_from(tokenizer.encode, text, byte), tokenizer.boundaries.last_cut)

    def boundaries(self, tokenizer: Tokenizer) -> Boundaries:
        if any(special.lstrip or special.rstrip or special.single_word for special in tokenizer.found_specials):
            return Boundaries("special tokens strip or are single words")
        spans = self.spans.copy()
        for special in tokenizer.found_specials:
            content = np.frombuffer(special.content.encode(), dtype=np.uint8)
            spans[content[:-1], content[1:]] = True
        # A character begins with no byte from 0x80 to 0xbf.
        spans[:, 0x80:0xC0] = True
        return ByteBoundaries(spans, tokenizer.id_spellings)

    # From ids to text

    @property
    def strings(self) -> list[str]:
        return [show(token) if token else "" for token in self.tokens]

    def id_spellings(self, tokenizer: Tokenizer) -> Spellings:
        words = [*self.tokens, *(b"" for _ in range(tokenizer.n_ids - len(self.tokens)))]
        for special in tokenizer.specials:
            words[special.id] = special.text.encode()
        return spellings(words)

    def spelled(self, tokenizer: Tokenizer) -> Spelled:
        from tokdfa.tokenizers.spelled import Spelled

        return Spelled(tokenizer.id_spellings)

    def decoder(self, tokenizer: Tokenizer) -> Decoder:
        return Decoder(tokenizer.id_spellings, tokenizer.means_something)

    def word_of(self, tokenizer: Tokenizer, id: int) -> Word:
        return tokenizer.name_of(id)

    # Description

    def facts(self, tokenizer: Tokenizer) -> dict[str, Any]:
        from tokdfa.tokenizers.facts import counts, special_counts

        return {
            **counts(tokenizer),
            "semantics": self.semantics,
            "longest_token": max(map(len, self.tokens)),
            "left_out": list(tokenizer.ignored),
            **special_counts(tokenizer),
            "fingerprint": tokenizer.fingerprint,
        }

    def fingerprint_parts(self, tokenizer: Tokenizer) -> dict[str, str]:
        from tokdfa.tokenizers.fingerprint import hash_of, hash_of_specials

        used = sorted((token.hex(), id) for id, token in enumerate(self.tokens) if token)
        return {
            "dictionary": hash_of("longest match", [token for token, _ in used]),
            "ids": hash_of(used),
            # Texts are neither split nor changed, and ids spell them.
            **dict.fromkeys(("pretokenizer", "normalizer", "symbols", "decoder"), hash_of(None)),
            "specials": hash_of_specials(tokenizer),
        }

    def made_of(self, tokenizer: Tokenizer) -> tuple[object, ...]:
        return self.tokens, bool(tokenizer.found_specials), sorted(map(repr, tokenizer.specials))


class ByteBoundaries(Boundaries):
    """The boundaries of a longest match: between two bytes that no token has side by side, if a character begins there.

    `spans`, bool of shape (256, 256), is whether a token may have two bytes side by side. `spelled` has the bytes of
    each id.
    """

    def __init__(self, spans: BoolArray, spelled: Spellings) -> None:
        super().__init__(None if not spans.all() else "every two bytes are side by side in some token")
        self._spans = spans
        text, offsets = spelled
        is_empty = np.diff(offsets) == 0
        padded = np.append(text, 0)
        self._first, self._last = padded[offsets[:-1]], padded[offsets[1:] - 1]
        self._is_empty = is_empty

    def is_cut(self, left: str, right: str) -> bool:
        return not self._spans[left.encode()[-1], right.encode()[0]]

    def _may_cut(self, text: str) -> Int64Array:
        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        begins = np.flatnonzero(begins_symbol(data))[1:]
        return np.flatnonzero(~self._spans[data[begins - 1], data[begins]]) + 1

    def always_cut(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        left, right = ids[:-1], ids[1:]
        cut: BoolArray = ~(
            self._spans[self._last[left], self._first[right]] | self._is_empty[left] | self._is_empty[right]
        )
        return cut
