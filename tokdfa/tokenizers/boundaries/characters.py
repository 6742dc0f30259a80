"""Boundaries in texts that are one piece, or are split at single characters, and in their ids.

A tokenizer over characters encodes the normalized text. Between two characters that the normalizer treats separately,
and that no token has side by side, both sides are encoded as if there were nothing on the other one. Where tokens do
have them side by side, two neighbours decide: symbols that merge within them in a longer text also merge within the
text of these two alone.

In Llama-2, no token has z and q side by side, so every text is cut between them: CUT. Some token has a and b, so ids
may go across, but the text is not rewritten there: FINE. Where a normalizer or an added token may join two characters,
the answer is DOUBT.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk import neighbours as kernels
from tokdfa.regex.unicode.normalization import Sides
from tokdfa.tokenizers.boundaries.added import AddedPairs
from tokdfa.tokenizers.boundaries.protocol import CUT, DOUBT, FINE, PairBoundaries, PairCache
from tokdfa.tokenizers.decoding import REPLACEMENT
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.models.byte_pair_texts import pieces_of
from tokdfa.tokenizers.pretokenizers.steps import Split

if TYPE_CHECKING:
    from tokdfa.automata.alphabet import Word
    from tokdfa.tokenizers.tokenizer import Tokenizer

_UNKNOWN = 2

_NONE = -1
"""Stands for a character where there is none."""

_AS_BEFORE = 3
"""Stands for what is known already."""


def why_none(tokenizer: Tokenizer) -> str | None:
    """Return why no text is known to be cut; None if some are."""
    rewriting, _, _, prefix = tokenizer.rewrites
    if None in (tokenizer.why_not("bytes"), tokenizer.why_not("letters")):
        return "the text is rewritten before it is read as bytes"
    if prefix or tokenizer.suffix or tokenizer.whole_piece:
        return "what a symbol is depends on the piece that it is in"
    split = tokenizer.splitting
    simple = all(_is_by_character(step) for step in split.steps) and not split.byte_steps
    if not simple or split.metaspace_at or split.prefix_space:
        return f"the pre-tokenizer does more than split at single characters: {tokenizer.pretokenizer}"
    normalizer = None if rewriting is None else rewriting.normalizer
    if normalizer is not None and not normalizer.is_local:
        return f"the normalizer may change any part of a text: {normalizer}"
    decoding = None if rewriting is None else rewriting.decoding
    if not all(step.is_separate for step in decoding or ()):
        return "the decoder joins tokens"
    return None


class CharacterBoundaries(PairBoundaries):
    """The boundaries of a tokenizer over characters for which `why_none` gives no reason; `later` follows a boundary.

    The lemma of :mod:`tokdfa.tokenizers.neighbours` does not depend on the alphabet. Added tokens are found in the text
    before anything else, and join characters that they have side by side. No text is cut within a run of byte tokens.
    """

    continues = True
    decides = True

    def __init__(self, tokenizer: Tokenizer, later: Tokenizer) -> None:
        super().__init__(None)
        self._tokenizer = tokenizer
        self._later = later
        self._texts = tokenizer.strings.texts
        self._normalizer = tokenizer.rewriting.normalizer
        split = tokenizer.splitting
        self._space = split.metaspace
        self._steps = split.steps
        is_touched = self._normalizer is not None and self._normalizer.touches_ends
        self._touches = split.prefix_space is not None or is_touched
        levels = [[special for special in tokenizer.found_specials if special.level == level] for level in (0, 1)]
        self._added = [AddedPairs(specials, touches=self._touches) for specials in levels]
        self._atoms = AddedPairs([Special(-1, text) for text in tokenizer.rewrites[2]], touches=False)
        self._pairs = PairCache(20)

    # Characters

    def _decide(self, left: str, right: str) -> int:
        # An added token that may go across is recognised elsewhere: between two characters with the answer DOUBT, or
        # within a token.
        found = Sides(left, right) if self._normalizer is None else self._normalizer.sides(left, right)
        if found is None or self._added[0].may_join(left, right):
            return DOUBT
        is_inside = self._added[0].has_inside(left, right)
        known = self._of_normalized(found.left, found.right, is_inside)
        if known == CUT and any(self._of_normalized(found.left, other, is_inside) != CUT for other in found.others):
            # Tokens may only go across if the next text changes the right one, and the offset after it is DOUBT.
            return FINE
        return known

    def _of_normalized(self, before: str | None, after: str, is_inside: bool) -> int:
        """Return the state of two characters of normalized text; `is_inside` is whether an added token has them."""
        if self._added[1].may_join(before, after):
            return DOUBT
        is_inside = is_inside or self._added[1].has_inside(before, after)
        if self._space is not None:
            before, after = before and before.replace(" ", self._space), after.replace(" ", self._space)
        if any(_splits(step, before, after) for step in self._steps):
            return DOUBT if is_inside else CUT
        if before is None or self._atoms.may_join(before, after):
            return DOUBT
        last, first = self._symbol(before, -1), self._symbol(after, 0)
        if last is None or first is None or (self._may_wait and before not in self._numbers):
            return DOUBT
        if is_inside or self._atoms.has_inside(before, after):
            return FINE
        inner = self._tokenizer.piece_ids.merger.inner
        code = last << 32 | first
        return FINE if inner[min(int(np.searchsorted(inner, code)), len(inner) - 1)] == code else CUT

    def _symbol(self, character: str, end: int) -> int | None:
        """Return the number of a character, or of its byte at one end; None if it becomes nothing like that."""
        number = self._numbers.get(character)
        if number is not None or self._fallback is None or self._fallback.bytes is None:
            return number
        try:
            spelled = [self._fallback.bytes[byte] for byte in character.encode("utf-8")]
        except UnicodeEncodeError:
            return None
        return None if None in spelled else self._numbers.get(cast(str, spelled[end]))

    @property
    def _may_wait(self) -> bool:
        """Whether an unknown symbol is put after the bytes of those that follow it, up to the next known one."""
        return self._fallback is not None and None not in (self._fallback.bytes, self._fallback.unknown)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        symbols = self._tokenizer.dictionary.alphabet.symbols
        return {"".join(cast("tuple[str, ...]", word)): number for number, word in enumerate(symbols)}

    @property
    def _fallback(self) -> Fallback | None:
        return self._tokenizer.rewrites[1]

    # Ids

    def always_cut(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        states = self._by_characters(ids, starts=not begins, ends=ends)
        return kernels.cuts_between(self._neighbours, ids, states, begins=begins)

    def doubtful(self, ids: Int32Array, *, begins: bool) -> Int64Array:
        states = self._by_characters(ids, starts=True, ends=True)
        if kernels.find_inner_pairs(self._pairs.table, ids, states):
            missing = np.flatnonzero(states == kernels.NOT_CACHED)
            states[missing] = self._pairs.computed(ids[missing], ids[missing + 1], self._compute_neighbours)
        parts = kernels.doubtful_parts(self._neighbours, ids, states, begins=begins)
        if parts is None:
            self.is_alone(ids)
            parts = kernels.doubtful_parts(self._neighbours, ids, states, begins=begins)
            assert parts is not None
        return parts

    def never_beside(self, ids: Int32Array) -> BoolArray:
        """Return, for each id but the first, whether no canonical ids have it after the id before it.

        These are plain neighbours within a piece that merging does not leave side by side.
        """
        first, last, _ = self._texts.ends
        plain = self.is_alone(ids) & ~self._is_special[ids]
        inside = self.known_of(last[ids[:-1]], first[ids[1:]]) == FINE
        asked = np.flatnonzero(inside & plain[:-1] & plain[1:])
        never: BoolArray = np.zeros(len(inside), dtype=np.bool_)
        if len(asked):
            never[asked] = ~self._stay(ids[asked].astype(np.int64), ids[asked + 1].astype(np.int64))
        return never

    def is_alone(self, ids: IntegerArray) -> BoolArray:
        """Return, for each id, whether it is the only one of its own text."""
        plain = self._plain[ids]
        is_unknown = plain == _UNKNOWN
        if is_unknown.any():
            unknown, index = np.unique(ids[is_unknown], return_inverse=True)
            values = self._plain[unknown] = self._are_plain(unknown)
            plain[is_unknown] = values[index]
        found: BoolArray = plain > 0
        return found

    def sizes_of(self, ids: Int32Array) -> Int64Array:
        """Return the number of bytes that each of some plain ids adds to a text, not at its beginning."""
        sizes: Int64Array = self._texts.sizes[ids]
        return sizes

    @cached_property
    def _neighbours(self) -> Struct:
        """The tables that decide about neighbouring ids."""
        texts = self._texts
        first, last, _ = texts.ends
        kinds = (self._is_special, texts.is_blank, texts.byte_of, self._plain)
        return kernels.neighbours(first, last, *kinds, touches=self._touches)

    @cached_property
    def _plain(self) -> Uint8Array:
        return np.full(self._tokenizer.n_ids, _UNKNOWN, dtype=np.uint8)

    def _are_plain(self, ids: IntegerArray) -> BoolArray:
        """Return which of some ids, ascending, are plain."""
        strips = {special.id for special in odd_ones(self._tokenizer.specials)}
        plain: BoolArray = np.zeros(len(ids), dtype=np.bool_)
        usual: list[int] = []
        words: list[Word] = []
        for index, id in enumerate(ids.tolist()):
            text = self._texts.texts[id]
            if not text or id in strips:
                continue
            try:
                if self._is_special[id]:
                    plain[index] = self._later.encode(text).tolist() == [id]
                    continue
                pieces = pieces_of(self._later, text)
                outer, inner = self._added
                # The text of an added token or an atom may begin within the token.
                if len(pieces) != 1 or outer.is_in(text) or inner.is_in(pieces[0]) or self._atoms.is_in(pieces[0]):
                    continue
                words.append(self._tokenizer.piece_ids.word(pieces[0]))
            except AlphabetError:
                continue
            usual.append(index)
        encoded = self._tokenizer.piece_ids.merge(words)
        alone = np.diff(encoded.offsets) == 1
        found = np.array(usual, dtype=np.int64)[alone]
        plain[found] = encoded.ids[encoded.offsets[:-1][alone]] == ids[found]
        return plain

    def _by_characters(self, ids: Int32Array, *, starts: bool, ends: bool) -> Uint8Array:
        """Return the states of ids after the first by their characters: FINE if only tokens may go across.

        `starts` and `ends` are whether a run of byte tokens starts and ends with the ids.
        """
        states, n_missing, seen = kernels.by_characters(self._neighbours, self._characters.table, ids)
        if n_missing:
            first, last, _ = self._texts.ends
            missing = np.flatnonzero(states == kernels.NOT_CACHED)
            sides = last[ids[missing]], first[ids[missing + 1]]
            states[missing] = self._characters.computed(*sides, self._compute_characters)
            # Whether a run of byte tokens is UTF-8 may depend on all of it.
            kernels.settle_between_bytes(self._neighbours, ids, states)
        if seen & kernels.BYTE:
            self._beside_bytes(ids, states, starts, ends)
        if seen & kernels.SPECIAL:
            kernels.settle_beside_specials(self._neighbours, ids, states)
        return states

    def _beside_bytes(self, ids: Int32Array, states: Uint8Array, starts: bool, ends: bool) -> None:
        """Set the states at the ends of runs of byte tokens, which are read as U+FFFD if not UTF-8."""
        begin, end, is_ascii = kernels.byte_runs(self._neighbours, ids).T.copy()
        first, last, _ = self._texts.ends
        # The characters after runs, and those before them.
        after, before = first[ids[np.minimum(end + 1, len(ids) - 1)]], last[ids[begin - 1]]
        after[end == len(ids) - 1] = before[begin == 0] = _NONE
        for run_end, beside, is_first, forwards, is_all in (
            (end, after, begin == 0, False, starts),
            (begin, before, end == len(ids) - 1, True, ends),
        ):
            # The first run, or the last, may be a part of a longer one.
            is_sure = (is_ascii != 0) & (is_all | ~is_first)
            inner = np.flatnonzero(beside >= 0)
            found = self._beside_runs(ids, run_end[inner], beside[inner], forwards=forwards, is_all=is_all)
            found[(found == DOUBT) & is_sure[inner]] = _AS_BEFORE
            is_known = found != _AS_BEFORE
            states[(run_end[inner] - forwards)[is_known]] = found[is_known]

    def _beside_runs(
        self, ids: Int32Array, run_ends: Int64Array, beside: Int64Array, *, forwards: bool, is_all: bool
    ) -> Uint8Array:
        """Return the states at ends of runs of byte tokens and the characters next to them, where this decides.

        An end that is ASCII is DOUBT if it is not cut from U+FFFD: the run may not be UTF-8. Another end is cut as its
        character is, if that is always cut from U+FFFD as well.
        """
        replaced, is_high = np.full(len(run_ends), ord(REPLACEMENT)), self._texts.is_high[ids[run_ends]]
        is_cut = self.known_of(*((beside, replaced) if forwards else (replaced, beside))) == CUT
        found: Uint8Array = np.full(len(run_ends), _AS_BEFORE, dtype=np.uint8)
        found[~is_cut & ~is_high] = DOUBT
        high = np.flatnonzero(is_cut & is_high)
        character = kernels.characters_of_runs(self._neighbours, ids, run_ends[high], is_all=is_all, forwards=forwards)
        other = beside[high]
        found[high[self.known_of(*((other, character) if forwards else (character, other))) == CUT]] = CUT
        return found

    def _compute_neighbours(self, left: Int64Array, right: Int64Array) -> Uint8Array:
        """Return FINE for pairs of ids that merging leaves side by side, if both are plain; DOUBT for others."""
        states: Uint8Array = np.full(len(left), DOUBT, dtype=np.uint8)
        plain = np.flatnonzero(self.is_alone(left) & self.is_alone(right))
        if len(plain):
            states[plain[self._stay(left[plain], right[plain])]] = FINE
        return states

    def _stay(self, left: Int64Array, right: Int64Array) -> BoolArray:
        """Return which pairs of ids merging gives for the text of both."""
        from tokdfa.tokenizers.neighbours import merge_otherwise

        pairs = self._tokenizer.id_to_token[np.column_stack((left, right))]
        return ~merge_otherwise(self._tokenizer.piece_ids, pairs)

    @cached_property
    def _is_special(self) -> BoolArray:
        found: BoolArray = np.zeros(self._tokenizer.n_ids, dtype=np.bool_)
        found[self._tokenizer.special_ids] = True
        return found


def _is_by_character(step: Split) -> bool:
    """Return whether a step splits next to each occurrence of one character and drops none."""
    return step.literal and len(step.pattern) == 1 and step.behavior != "removed" and not step.invert


def _splits(step: Split, left: str | None, right: str) -> bool:
    """Return whether such a step always splits between two characters; the left one may be unknown."""
    before, after = left == step.pattern, right == step.pattern
    if step.behavior == "merged_with_next":
        return after
    if step.behavior == "merged_with_previous":
        return before
    return before or after if step.behavior == "isolated" else left is not None and before != after
