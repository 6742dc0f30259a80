"""Boundaries in texts over bytes that stay as they are, or are brought into a normalization form, and in their ids."""

from __future__ import annotations

from codecs import utf_8_decode
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.walk.parts import outer_symbols
from tokdfa.regex.unicode.normalization import Form, Sides, normalize
from tokdfa.regex.unicode.quick_check import boundaries, composites, is_normal
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.boundaries.added import AddedPairs, Around, Occurrences
from tokdfa.tokenizers.boundaries.protocol import CUT, DOUBT, PairBoundaries
from tokdfa.tokenizers.normalizers.steps import UnicodeForm
from tokdfa.tokenizers.pretokenizers.safe_pieces import codes_of, safe_pieces

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

_BLOCK = 1 << 16
_NEAR = 64


class Safe(NamedTuple):
    """The safe offsets of a text.

    `offsets` and `free`, bool arrays of shape (characters + 1,), are whether each offset, from the one before the first
    character on, is safe, and whether, besides, no offset after it depends on the text before it. `undecided` is the
    first offset that may be safe, depending on the next text.
    """

    offsets: BoolArray
    free: BoolArray
    undecided: int


class _Block(NamedTuple):
    """The safe indices between ids, the free ones (see `Safe`), and the first undecided one."""

    indices: Int64Array
    free: Int64Array
    undecided: int


class TextBoundaries(PairBoundaries):
    """The boundaries of a tokenizer that has `read_in_form`.

    Notes
    -----
    Four things could join two sides of a text. Normalization does not if both symbols at the offset are steady: then
    nothing of one side changes the other. The right symbol may still become another one because of the text after it,
    so the rest must hold for all that it may become. The pieces of the text must be the pieces of both sides. No
    special token may have the symbols side by side, or depend on them. A space that is put before texts is not put
    before the right side if that begins with one.

    An offset is *always cut* if the two symbols decide all of this. It is *safe* if the text around decides it, for any
    continuation. The pieces are decided exactly; without a pre-tokenizer, or with one that is not an automaton, only
    the ends of special tokens are safe. A text that is not in the normalization form is first cut where it is always
    cut. Each part is brought into the form; if it has special tokens that are found before that, nothing within it is
    known to be safe.
    """

    def __init__(self, tokenizer: Tokenizer, plain: Tokenizer, form: Form | None) -> None:
        self._form = form
        super().__init__(_why_none(tokenizer, plain, form))
        self._has_suffix = plain.suffix is not None
        self._normalizer = None if self._form is None else UnicodeForm(self._form)
        self._finder, self._decoder, self._spellings = plain.added_tokens, tokenizer.decoder, tokenizer.id_spellings
        self._pieces = safe_pieces(plain.pretokenizer)
        self._puts_space = plain.splitting.prefix_space is not None
        found = plain.found_specials
        self._added = [AddedPairs([token for token in found if token.level == n], touches=False) for n in (0, 1)]
        self._occurrences = Occurrences(found)
        self._outer = [special.text for special in found if special.text and special.level == 0]

    # Decided by two symbols

    def _decide(self, left: str, right: str) -> int:
        if self._pieces is None or (self._puts_space and right != " "):
            return DOUBT
        sides = Sides(left, right) if self._normalizer is None else self._normalizer.sides(left, right)
        if sides is None or sides.left is None or self._added[0].joins(left, right):
            return DOUBT
        rights = (sides.right, *sides.others)
        if any(self._added[1].joins(sides.left, character) for character in rights):
            return DOUBT
        before, *after = self._pieces.classes_of(codes_of("".join((sides.left, *rights)))).tolist()
        return CUT if self._pieces.between[0][before, after].all() else DOUBT

    def _may_cut(self, text: str) -> Int64Array:
        # In most texts no character becomes one of another class.
        if self._pieces is None:
            return np.empty(0, dtype=np.int64)
        classes = self._pieces.classes_of(codes_of(text))
        return np.flatnonzero(self._pieces.between[0][classes[:-1], classes[1:]]) + 1

    def always_cut(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        if self.why_none is not None:
            return super().always_cut(ids)
        first, last = self._ends
        found: BoolArray = self.known_of(last[ids[:-1]], first[ids[1:]]) == CUT
        return found

    @cached_property
    def _ends(self) -> tuple[Int32Array, Int32Array]:
        """The first and the last symbol of each id."""
        return outer_symbols(*self._spellings)

    # Ids

    def in_ids(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> Int64Array:
        if self._has_suffix:
            return super().in_ids(ids, begins=begins, ends=ends)
        found: list[Int64Array] = [np.empty(0, dtype=np.int64)]
        at, size = 0, _BLOCK
        while at < len(ids):
            stop = min(at + size, len(ids))
            is_last = stop == len(ids)
            block = self._of_block(ids[at:stop], Around(begins or at > 0, ends and is_last))
            if is_last:
                found.append(at + block.indices)
                break
            last = int(block.free[block.free < block.undecided].max(initial=0))
            if not last:
                size *= 2
                continue
            found.append(at + block.indices[block.indices <= last])
            at, size = at + last, _BLOCK
        return np.concatenate(found)

    def last_in_ids(self, ids: Int32Array, stop: int, *, begins: bool = True, ends: bool = False) -> int:
        """Return the last of `in_ids` up to `stop`; it reads only ids near there, unless more are needed to decide."""
        if self._has_suffix:
            return super().last_in_ids(ids, stop, begins=begins, ends=ends)
        before = after = _NEAR
        while True:
            low, high = max(stop - before, 0), min(stop + after, len(ids))
            at_end = ends and high == len(ids)
            block = self._of_block(ids[low:high], Around(begins and not low, at_end))
            first = low + int(block.free[0]) if len(block.free) and block.free[0] <= stop - low else 0
            if low and not first:
                before *= 4
                continue
            # From there on, everything is decided.
            block = self._of_block(ids[first:high], Around(begins or first > 0, at_end))
            if high < len(ids) and block.undecided <= stop - first:
                after *= 4
                continue
            return first + int(block.indices[block.indices <= stop - first].max(initial=0))

    def _of_block(self, ids: Int32Array, around: Around) -> _Block:
        data = self._decoder.bytes_of(ids)
        of_byte: BoolArray = np.zeros((2, len(data) + 1), dtype=np.bool_)
        view, at, undecided = memoryview(data), 0, len(data) + 1
        while at <= len(data):
            is_whole = False
            try:
                text, size = utf_8_decode(view[at:], "strict", False)
                bad = at + size
                is_whole = bad == len(data)
            except UnicodeDecodeError as error:
                bad = at + error.start
                text, _ = utf_8_decode(view[at:bad], "strict")
            # The text next to bytes that are not UTF-8 is unknown.
            safe = self.of_text(text, begins=around.begins and not at, ends=around.ends and is_whole)
            offsets = np.append(np.flatnonzero(begins_symbol(data[at:bad])), bad - at)
            of_byte[:, at + offsets] = safe.offsets, safe.free
            if bad >= len(data) or is_whole:
                undecided = at + int(offsets[min(safe.undecided, len(offsets) - 1)])
                break
            at = bad + 1
        edges = np.cumsum(np.diff(self._spellings.offsets)[ids])
        indices, free = (np.flatnonzero(found[edges[:-1]]) + 1 for found in of_byte)
        return _Block(indices, free, int(np.searchsorted(edges, undecided)) + 1)

    # Texts

    def in_text(self, text: str, *, begins: bool = True, ends: bool = False) -> Int64Array:
        if self._has_suffix:
            return super().in_text(text, begins=begins, ends=ends)
        return np.flatnonzero(self.of_text(text, begins=begins, ends=ends).offsets[1:-1]) + 1

    def of_text(self, text: str, *, begins: bool = True, ends: bool = False) -> Safe:
        """Return the safe offsets of a text."""
        around = Around(begins, ends)
        if self._form is None:
            return self._of_normal(text, around)
        cut: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        codes = codes_of(text).astype(np.int64)
        cut[1:-1] = self.known_of(codes[:-1], codes[1:]) == CUT
        # Any text may follow the last part, which is then perhaps no longer in the form.
        last = int(np.flatnonzero(cut).max(initial=0))
        if self._is_normal(text):
            safe, _, undecided = self._of_normal(text, around)
            # Two characters may decide although the text after them changes the right one. It is so in both branches: a
            # part of a text has the offsets of the whole.
            safe |= cut
        else:
            safe = self._of_parts(text, np.flatnonzero(cut).tolist(), around)
            undecided = len(text) + 1
        return Safe(safe, cut, undecided if ends else min(undecided, last + 1))

    def _of_parts(self, text: str, cuts: list[int], around: Around) -> BoolArray:
        """Return the safe offsets of a text that is not in the form, given the offsets that two characters decide."""
        safe: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        for start, end in pairwise((0, *cuts, len(text))):
            part = text[start:end]
            inner = Around(around.begins or start > 0, around.ends or end < len(text))
            safe[start : end + 1] = self._of_part(part, inner)
            safe[start], safe[end] = inner
        return safe

    def _of_part(self, part: str, around: Around) -> BoolArray:
        """Return the safe offsets of a text that need not be in the form, by the safe offsets of its form."""
        if self._form is None or self._is_normal(part):
            return self._of_normal(part, around).offsets
        safe: BoolArray = np.zeros(len(part) + 1, dtype=np.bool_)
        bounds = np.unique([0, *np.flatnonzero(boundaries(self._form)[codes_of(part)]), len(part)])
        parts = [normalize(part[start:end], self._form) for start, end in pairwise(bounds.tolist())]
        normal = "".join(parts)
        if not self._outer or self._has_no_outer(part, normal, around):
            safe[bounds] = self._of_normal(normal, around).offsets[np.cumsum([0, *map(len, parts)])]
        return safe

    def _has_no_outer(self, text: str, normal: str, around: Around) -> bool:
        """Return whether no special token found before normalization is in a text or its form, even at an open end."""
        begin, end = slice(self._occurrences.longest), slice(-self._occurrences.longest, None)
        alike = (around.begins or text[begin] == normal[begin]) and (around.ends or text[end] == normal[end])
        return alike and not any(special in text or special in normal for special in self._outer)

    def _is_normal(self, text: str) -> bool:
        return self._form is None or is_normal(text.encode("utf-8", "surrogatepass"), self._form)

    def _of_normal(self, text: str, around: Around) -> Safe:
        """Return the safe offsets of a text in the form, if there is one."""
        begins, ends = around
        safe, free = np.zeros((2, len(text) + 1), dtype=np.bool_)
        safe[0], safe[-1] = begins, ends
        known, first = len(text), 0
        if self._form is not None:
            steady = boundaries(self._form)[codes_of(text)]
            # The next text may change this one from its last steady character on, unless that ends it and composes
            # with nothing. The text before may change it up to its first steady character.
            steady_at = np.flatnonzero(steady)
            if not ends and not (text and steady[-1] and not composites(text[-1], self._form)):
                known = int(steady_at[-1]) if len(steady_at) else 0
            if not begins:
                first = int(steady_at[0]) if len(steady_at) else known
        while not ends and self._occurrences.words and text.endswith(self._occurrences.words, first, known):
            # Whether a single word is found depends on the next text.
            known -= next(len(word) for word in self._occurrences.words if text.endswith(word, first, known))
        if first <= known:
            part = slice(first, known + 1)
            undecided = first + self._find(text[first:known], around, safe[part], free[part])
        else:
            undecided = known
        if self._form is not None:
            safe[1:-1] &= steady[1:]
        if self._puts_space:
            safe[1:-1] &= codes_of(text)[1:] == ord(" ")
        return Safe(safe, free & safe, undecided if not ends else len(text) + 1)

    def _find(self, text: str, around: Around, safe: BoolArray, free: BoolArray) -> int:
        """Find the safe offsets of a text, and return the first that the next text may decide."""
        inside, starts, undecided = self._occurrences.inside(text, around)
        outside = np.flatnonzero(~inside)
        first = 0 if around.begins else int(outside[0]) if len(outside) else len(text) + 1
        if first <= len(text):
            undecided = min(undecided, self._scan(text, first, starts, around, safe, free))
        safe[1:] &= ~inside[1:]
        if not around.begins:
            safe[0] = False
        return undecided

    def _scan(self, text: str, first: int, starts: list[int], around: Around, safe: BoolArray, free: BoolArray) -> int:
        """Find the safe offsets of the pieces from an offset on; return the first that the next text may decide."""
        undecided = len(text) + 1
        for start, stop, special in self._finder.spans(text[first:]):
            at, end = first + start, first + stop
            if special is not None:
                safe[end] = free[end] = True
                continue
            segment = text[at:end]
            ends = around.ends or end < len(text)
            if self._pieces is not None:
                begins = around.begins or at > first
                state = self._pieces.start if begins else self._pieces.anywhere
                if self._puts_space and begins and not segment.startswith(" "):
                    state = self._pieces.read(state, int(self._pieces.classes_of(np.array([0x20]))[0]))
                shifted = {start - at for start in starts}
                part = slice(at + 1, end + 1)
                safe[part], free[part], first_open = self._pieces.within(segment, state, shifted, ends=ends)
                undecided = min(undecided, at + first_open if first_open <= len(segment) else undecided)
            elif not ends:
                undecided = min(undecided, at + 1)
            safe[end] |= ends
            free[end] |= end < len(text)
        return undecided


def _why_none(tokenizer: Tokenizer, plain: Tokenizer, form: Form | None) -> str | None:
    """Return why no text is known to be always cut; None if some are. `plain` and `form` are `read_in_form`."""
    if plain.pretokenizer is None:
        return "nothing splits the text"
    if form is not None:
        return None
    if tokenizer.why_not("spelling") is not None:
        return "the text is rewritten before it is read as bytes"
    return None if plain.suffix is None else "what a symbol is depends on the piece that it is in"
