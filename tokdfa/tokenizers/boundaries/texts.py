"""Boundaries in texts over bytes that stay as they are, or are brought into a normalization form, and in their ids."""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.walk.parts import outer_symbols
from tokdfa.regex.unicode.normalization import Form, Sides, changing, normalize
from tokdfa.regex.unicode.quick_check import begins_segment, boundaries, composites, is_normal
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.boundaries.added import AddedPairs, Around, Occurrences
from tokdfa.tokenizers.boundaries.protocol import CUT, DOUBT, PairBoundaries
from tokdfa.tokenizers.encoding.added_tokens import Span
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


class _Outer(NamedTuple):
    """Special tokens that were found before a text was brought into the form, by offsets of that form.

    They are unchanged there. `inside`, of shape (characters + 1,), is whether one may go across each offset, or the
    offset is within the form of a segment. One may begin at `starts`, if the next text completes it, and anything may
    be changed so from `open_at` on. `spans` are the tokens found.
    """

    inside: BoolArray
    starts: list[int]
    spans: Sequence[Span]
    open_at: int

    def within(self, first: int, last: int) -> _Outer:
        """Return them for a part of the form."""
        spans = [
            (start - first, end - first, token) for start, end, token in self.spans if first <= start and end <= last
        ]
        starts = [start - first for start in self.starts if first <= start < last]
        return _Outer(self.inside[first : last + 1], starts, spans, self.open_at - first)


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
    the ends of special tokens are safe. A text that is not in the normalization form is brought into it, but not its
    special tokens that are found before that. Then it has the safe offsets of its form.
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
        self._outer, self._inner = (Occurrences([token for token in found if token.level == n]) for n in (0, 1))

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
        cut = self._cut_by_two(text)
        # Any text may follow the last part, which is then perhaps no longer in the form.
        last = int(np.flatnonzero(cut).max(initial=0))
        if is_normal(text.encode("utf-8", "surrogatepass"), self._form):
            safe, _, undecided = self._of_normal(text, around)
        else:
            safe, undecided = self._of_other(text, self._form, around), len(text) + 1
        # Two characters may decide although the text after them changes the right one. It is so in both branches: a
        # part of a text has the offsets of the whole.
        return Safe(safe | cut, cut, undecided if ends else min(undecided, last + 1))

    def _of_other(self, text: str, form: Form, around: Around) -> BoolArray:
        """Return the safe offsets of a text that is not in the form, by the safe offsets of its form."""
        inside, starts, _ = self._outer.inside(text, around)
        outside = np.flatnonzero(~inside)
        first = 0 if around.begins else int(outside[0]) if len(outside) else len(text)
        found = [(first + start, first + end, token) for start, end, token in self._finder.outer_spans(text[first:])]
        normal, offsets = _in_form(text, form, [span[:2] for span in found if span[2] is not None])
        known = offsets >= 0
        across: BoolArray = np.ones(len(normal) + 1, dtype=np.bool_)
        across[offsets[known]] = inside[known]
        spans = [(int(offsets[start]), int(offsets[end]), token) for start, end, token in found if token is not None]
        # A token that begins within a segment that changes makes it another one.
        open_at = min((int(offsets[:start].max()) for start in starts if not known[start]), default=len(normal))
        outer = _Outer(across, [int(offsets[start]) for start in starts if known[start]], spans, open_at)
        cut = self._cut_by_two(normal) & ~across
        cut[open_at:] = False
        of_form = self._of_normal(normal, around, outer).offsets | cut
        safe: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        safe[known] = of_form[offsets[known]]
        return safe

    def _cut_by_two(self, text: str) -> BoolArray:
        """Return, for each offset, whether the two characters there decide that the text is always cut."""
        cut: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        codes = codes_of(text).astype(np.int64)
        cut[1:-1] = self.known_of(codes[:-1], codes[1:]) == CUT
        return cut

    def _of_normal(self, text: str, around: Around, outer: _Outer | None = None) -> Safe:
        """Return the safe offsets of a text in the form, if there is one; `outer` if it was another text before."""
        begins, ends = around
        safe, free = np.zeros((2, len(text) + 1), dtype=np.bool_)
        safe[0], safe[-1] = begins, ends
        known, first = len(text) if outer is None else outer.open_at, 0
        if self._form is not None:
            steady = boundaries(self._form)[codes_of(text)]
            # The next text may change this one from its last steady character on, unless that ends it and composes
            # with nothing. The text before may change it up to its first steady character.
            steady_at = np.flatnonzero(steady)
            if not ends and not (text and steady[-1] and not composites(text[-1], self._form)):
                known = min(known, int(steady_at[-1]) if len(steady_at) else 0)
            if not begins:
                first = int(steady_at[0]) if len(steady_at) else known
        while not ends and self._occurrences.words and text.endswith(self._occurrences.words, first, known):
            # Whether a single word is found depends on the next text.
            known -= next(len(word) for word in self._occurrences.words if text.endswith(word, first, known))
        if not ends:
            # A token of level 1 is not found if one of level 0 that begins within it is completed by the next text.
            starts = [] if outer is None else outer.starts
            late = min(self._outer.inside(text[:known], Around(True, False))[2], *starts, known)
            known = min(known, self._inner.first_across(text[:known], late))
        if first <= known:
            part = slice(first, known + 1)
            within = None if outer is None else outer.within(first, known)
            undecided = first + self._find(text[first:known], around, safe[part], free[part], within)
        else:
            undecided = known
        if self._form is not None:
            safe[1:-1] &= steady[1:]
        return Safe(safe, free & safe, undecided if not ends else len(text) + 1)

    def _find(self, text: str, around: Around, safe: BoolArray, free: BoolArray, outer: _Outer | None) -> int:
        """Find the safe offsets of a text, and return the first that the next text may decide."""
        inside, starts, undecided = self._occurrences.inside(text, around)
        if outer is not None:
            inside |= outer.inside
            starts += outer.starts
        outside = np.flatnonzero(~inside)
        first = 0 if around.begins else int(outside[0]) if len(outside) else len(text) + 1
        if first <= len(text):
            known = None if outer is None else outer.within(first, len(text)).spans
            spans = self._finder.spans(text[first:], known)
            undecided = min(undecided, self._scan(text, first, spans, starts, around, safe, free))
        safe[1:] &= ~inside[1:]
        if not around.begins:
            safe[0] = False
        return undecided

    def _scan(
        self,
        text: str,
        first: int,
        spans: list[Span],
        starts: list[int],
        around: Around,
        safe: BoolArray,
        free: BoolArray,
    ) -> int:
        """Find the safe offsets of the pieces from an offset on; return the first that the next text may decide."""
        undecided = len(text) + 1
        for start, stop, special in spans:
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
                if self._puts_space:
                    safe[at + 1 : end] &= codes_of(segment)[1:] == ord(" ")
            elif not ends:
                undecided = min(undecided, at + 1)
            safe[end] |= ends
            free[end] |= end < len(text)
        return undecided


def _in_form(text: str, form: Form, kept: list[tuple[int, int]]) -> tuple[str, Int64Array]:
    """Return a text in the form, but with spans that are kept, and where its offsets are there.

    The int64 array, of shape (characters + 1,), is -1 for offsets within a segment that changes.
    """
    begins = begins_segment(form)[codes_of(text)]
    gaps = pairwise((0, *(offset for span in kept for offset in span), len(text)))
    grown: Int64Array = np.zeros(len(text) + 1, dtype=np.int64)
    is_within: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
    parts: list[str] = []
    done = 0
    for low, high in islice(gaps, 0, None, 2):
        for start, end in changing(text[low:high], form):
            inner = low + start + 1 + np.flatnonzero(begins[low + start + 1 : low + end])
            for at, stop in pairwise((low + start, *inner.tolist(), low + end)):
                segment = text[at:stop]
                changed = normalize(segment, form)
                if changed != segment:
                    parts += text[done:at], changed
                    grown[stop] = len(changed) - len(segment)
                    is_within[at + 1 : stop] = True
                    done = stop
    offsets = np.arange(len(text) + 1) + np.cumsum(grown)
    return "".join((*parts, text[done:])), np.where(is_within, -1, offsets)


def _why_none(tokenizer: Tokenizer, plain: Tokenizer, form: Form | None) -> str | None:
    """Return why no text is known to be always cut; None if some are. `plain` and `form` are `read_in_form`."""
    if plain.pretokenizer is None:
        return "nothing splits the text"
    if form is not None:
        return None
    if tokenizer.why_not("spelling") is not None:
        return "the text is rewritten before it is read as bytes"
    return None if plain.suffix is None else "what a symbol is depends on the piece that it is in"
