"""Texts to ids: SentencePiece's normalization and the segmentation in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint64Array
from tokdfa.kernels.encode.utf8 import kept_utf8
from tokdfa.kernels.library import Struct, lib, readable, writable
from tokdfa.kernels.unigram.segmentation import BEGINNING, GROWTH, SHORT, Before, Buffers, packed_trie, packed_trie_of

_WORD = 1 << 12
# A larger array is released after a call.
_MOST_KEPT = 1 << 16
_LONG = -6


class RuleArrays(NamedTuple):
    """Words and their replacements, as arrays.

    Word i, in UTF-8, is ``text[offsets[i] : offsets[i + 1] - 1]``, not empty, and a zero byte follows it, which no word
    has. The words ascend by their bytes, and are distinct. The word becomes ``replacements[starts[i] : stops[i]]``,
    also UTF-8.
    """

    text: Uint8Array
    offsets: Int64Array
    starts: Int64Array
    stops: Int64Array
    replacements: Uint8Array


_NO_RULES = RuleArrays(
    np.empty(0, dtype=np.uint8),
    np.zeros(1, dtype=np.int64),
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.int64),
    np.zeros(1, dtype=np.uint8),
)


def text_tables(
    tables: Struct,
    rules: RuleArrays | None,
    kept: Sequence[str],
    blanks: Iterable[str],
    touched: Uint64Array,
    *,
    puts_space: bool,
    trims_spaces: bool,
) -> Struct:
    """Return the tables of a normalization and a segmentation: O(bytes of the rules).

    `tables` come from :func:`tokdfa.kernels.unigram.segmentation.unigram_tables`, with `single` and `has_words`. The
    rules replace words, the longest at each offset. No word has a space, and no word or replacement U+2581; without
    rules, text that may need one must be normalized first. The `kept` words are found before rules apply, the longest
    at each offset; without spaces and U+2581. The ASCII characters `blanks` always become a space. `touched` has a bit
    for each code point: whether it is U+2581, or a rule may apply at a character or at one that follows it. If it
    `puts_space`, one comes before a text; if it `trims_spaces`, spaces at its ends are dropped, and runs of spaces
    become one.
    """
    lacks_rules = rules is None
    rules = rules or _NO_RULES
    if min(rules.starts.min(initial=0), (rules.stops - rules.starts).min(initial=0)) < 0:
        raise ValueError("replacements that are no parts of the text")
    if not len(rules.starts) == len(rules.stops) == len(rules.offsets) - 1:
        raise ValueError("not one replacement a word")
    if rules.stops.max(initial=0) > len(rules.replacements):
        raise ValueError("a replacement past the end of the text")
    cells, rule_of = packed_trie_of(rules.text, rules.offsets, 1)
    kept_cells, _ = packed_trie(sorted(piece.encode("utf-8") for piece in kept))
    blank = np.zeros(256, dtype=np.uint8)
    blank[[ord(" "), *map(ord, blanks)]] = True
    return Struct(
        "tokdfa_unigram_texts", model=tables, rules=cells, rule_of=rule_of, replacements=rules.replacements,
        starts=rules.starts, stops=rules.stops, kept=kept_cells, blank=blank,
        blank_low=np.bitwise_or.reduce(blank[:128].reshape(8, 16) << np.arange(8, dtype=np.uint8)[:, None]),
        touched=touched, has_kept=bool(kept), lacks_rules=lacks_rules, puts_space=puts_space, trims_spaces=trims_spaces,
    )  # fmt: skip


class Writer:
    """The buffer for a word, and the position in texts, by :func:`text_tables`. Used by one thread."""

    __slots__ = ("_buffers", "_struct", "pointer")

    def __init__(self, tables: Struct, buffers: Buffers) -> None:
        self._buffers = buffers
        self._struct = Struct(
            "tokdfa_unigram_writer", texts=tables, buffers=buffers.struct, word=np.empty(_WORD, dtype=np.uint8), text=0,
            continues=0, is_begun=0, has_space=0, has_text=0, at=0, n=0, unknown_from=-1, score=0.0,
        )  # fmt: skip
        self.pointer: Any = self._struct.pointer

    def run(self, function: Callable[..., int], *arguments: Any) -> int:
        """Call a kernel until it is done; see :meth:`Buffers.run`."""
        try:
            while (n := function(*arguments, self.pointer)) < 0 and (n == _LONG or self._buffers.goes_on(n)):
                if n == _LONG:
                    self._set_word(GROWTH * int(self.pointer.n_word))
        finally:
            self.pointer.continues = self.pointer.is_begun = 0
            self._buffers.release()
            if self.pointer.n_word > _MOST_KEPT:
                self._set_word(_WORD)
        return n

    def _set_word(self, n: int) -> None:
        self._struct.set("word", np.empty(n, dtype=np.uint8))


def text_call(writer: Writer, buffers: Buffers) -> Callable[[str], Int32Array | None]:
    """Return a function from a whole text to its ids, or None if it must be normalized first.

    It adds as little time as possible to the kernel, which takes a microsecond or less for a line. UnicodeEncodeError
    is raised if the text has half of a surrogate pair.
    """
    run, here, take = lib.tokdfa_segment_text, writer.pointer, buffers.take

    def whole(text: str) -> Int32Array | None:
        kept = kept_utf8(text) if len(text) > SHORT else None
        if kept is not None:
            return segment_text(*kept, writer, buffers)
        data = text.encode()
        size = len(data)
        if size <= SHORT:
            n = run(data, size, here)
            if n >= 0:
                return take(n)
            here.is_begun = 0
        return segment_text(data, size, writer, buffers)

    return whole


def segment_text(
    data: Any, size: int, writer: Writer, buffers: Buffers, before: Before | None = None
) -> Int32Array | None:
    """Return the ids of a text as it is given; None if it must be normalized first.

    The data are `size` bytes of valid UTF-8, or a pointer to them. The buffers are the writer's. If the text continues
    another one that does not end with a space, `before` is the state after that one; the text then begins with a space.
    """
    buffers.begin(size, before or BEGINNING)
    writer.pointer.continues = before is not None
    n = writer.run(lib.tokdfa_segment_text, data, size)
    return None if n < 0 else buffers.take(n)


def segment_texts(
    data: bytes, ends: Int64Array, first: int, writer: Writer, buffers: Buffers
) -> tuple[Int32Array, Int64Array]:
    """Return the ids of consecutive texts, from the `first` wanted on, and where the ids of each end.

    `data` is valid UTF-8; `ends` ascends to its end; the buffers are the writer's. If there are fewer ends of ids than
    texts, the next text must be normalized first.
    """
    if len(ends) and int(ends[-1]) != len(data):
        raise ValueError(f"the texts end at {ends[-1]}, not at {len(data)}")
    buffers.begin(len(data))
    here = writer.pointer
    here.text = first
    id_ends: Int64Array = np.zeros(len(ends), dtype=np.int64)
    n = writer.run(lib.tokdfa_segment_texts, data, readable(ends, np.int64), len(ends), writable(id_ends, np.int64))
    if n < 0:
        n = int(id_ends[here.text - 1]) if here.text > first else 0
    return buffers.take(n), id_ends[first : int(here.text)]
