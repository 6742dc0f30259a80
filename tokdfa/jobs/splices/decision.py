"""Deciding about a seam: which special tokens matter, and which search finds the least two texts.

Where symbols are marked at the ends or beginnings of pieces, a symbol next to a boundary of pieces has another id than
without the boundary, so that boundaries alone decide. The exception is next to characters that have no symbol with the
mark or without it, and become the same one either way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import cast

import numpy as np

from tokdfa.automata.texts import Language, apart, overlap, overlapping
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.jobs.splices.seam import Seam
from tokdfa.jobs.splices.search import Search, Texts
from tokdfa.jobs.splices.tokens import PLAIN_TEXT, Rewrites, Symbols, Tokens, byte_tokens, character_tokens
from tokdfa.kernels.encode.events import BEGINS, DROPPED
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class Marks:
    """The signs that a piece begins or ends."""

    # Whether the last symbol of a piece is marked, and whether all but the first one are.
    ends: bool
    begins: bool
    hides: frozenset[int]  # The classes of characters that become the same symbol with a mark and without it
    fuses: bool  # Whether several such symbols side by side become one, so that a boundary between them shows

    def show(self, left: int | None, right: int) -> bool:
        """Return whether it can be seen that there is a boundary between symbols of two classes."""
        hidden_left, hidden_right = left in self.hides, right in self.hides
        if self.fuses and hidden_left and hidden_right:
            return True
        return (self.ends and not hidden_left) or (self.begins and not hidden_right)


def _least_by_boundaries(seam: Seam, marks: Marks) -> Texts | None:
    """Return the least two texts in which the boundaries of pieces show that they differ; None if there are none."""
    budget = Budget(what="the search for two texts")
    settled: set[tuple[int, bool, bool]] = set()
    # The bytes, the bytes before the seam, the text; the state, whether the last symbol hides boundaries, and whether
    # something differed.
    heap: list[tuple[int, int, bytes, int, bool, bool]] = [(0, 0, b"", 0, False, False)]
    hidden = next(iter(marks.hides), None)
    while heap:
        size, before, text, state, hides, differs = heappop(heap)
        if (state, hides, differs) in settled:
            continue
        settled.add((state, hides, differs))
        budget.spend(1)
        if differs and seam.ends[state]:
            return Texts(text[:before], text[before:])
        for c, cell in enumerate(seam.moves[state]):
            data = seam.least[c].encode()
            for move in cell:
                is_uneven = move.begins_apart != move.begins_whole
                now = differs or move.parts or (is_uneven and marks.show(hidden if hides else None, c))
                length = size + len(data)
                split = before if seam.is_after[move.target] else length
                key = move.target, not now and c in marks.hides, now
                if key not in settled:
                    heappush(heap, (length, split, text + data, *key))
    return None


_WHOLE = Splitting("tokenizers")
_LEFTMOST = (*LEFTMOST_FORMATS, "sentencepiece")
_MOST_TRACKED = 2_000


class Ground:
    """A tokenizer in the form in which seams are searched; features that are not searched are refused.

    `starts` is whether the text after a seam is encoded as the start of a text.
    """

    def __init__(self, tokenizer: Tokenizer, starts: bool = False) -> None:
        if not tokenizer.dictionary.properness() and tokenizer.format not in _LEFTMOST:
            what = "the dictionary is not proper, and its format does not say how it merges"
            raise UnsupportedFeatureError(what, value=tokenizer.format)
        splitting = _WHOLE if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
        if splitting.prefix_space or splitting.metaspace_at or splitting.byte_steps:
            what = "the pre-tokenizer inserts spaces in between, or splits bytes"
            raise UnsupportedFeatureError(what, value=splitting)
        self.rewrites = Rewrites.of(tokenizer, splitting)
        self._symbols = Symbols(tokenizer, self.rewrites)
        if self._symbols.fuses and self._symbols.unknown[ord(" ")] and self.rewrites.prefix is not None:
            raise UnsupportedFeatureError("the space that is put before texts is unknown, and fused with what follows")
        self._starts = starts
        try:
            self.split_nfa: SplitNFA = find_split_nfa(splitting)
        except PatternError as error:
            raise UnsupportedFeatureError(error.what, value=error.value) from None
        if any(event == DROPPED for row in self.split_nfa.moves for cell in row for _, event in cell):
            raise UnsupportedFeatureError("the pre-tokenizer may drop text", value=splitting)
        self.specials = self._specials(tokenizer)
        is_bytewise = tokenizer.why_not("bytes") is None
        self._neighbours = None if self._symbols.is_marked else tokenizer.neighbours
        self._of_bytes = byte_tokens(self._neighbours) if is_bytewise and self._neighbours else None
        self.whole = self._whole_pieces(tokenizer)

    def _specials(self, tokenizer: Tokenizer) -> tuple[Special, ...]:
        specials = tuple(special for special in tokenizer.found_specials if special.text)
        odd = odd_ones(specials)
        if odd:
            raise UnsupportedFeatureError("a special token depends on its neighbours", value=odd[0].content)
        atoms = self._symbols.atoms
        if not atoms:
            return specials
        if specials or not _is_one_piece(self.split_nfa):
            raise UnsupportedFeatureError("pieces with symbols that are found in them", value=atoms[0])
        spaced = next((atom for atom in atoms if {*atom} & {*self.rewrites.spaces}), None)
        if spaced is not None and self.rewrites != PLAIN_TEXT:
            raise UnsupportedFeatureError("a symbol with a space that is found in a text", value=spaced)
        return tuple(Special(-1, atom) for atom in atoms)

    def _whole_pieces(self, tokenizer: Tokenizer) -> list[str]:
        """Return the texts of the tokens that are emitted only for whole pieces."""
        numbers = tokenizer.whole_piece_tokens.tolist()
        if tokenizer.why_not("bytes") is None:
            return [word.decode() for word in map(tokenizer.token, numbers) if isinstance(word, bytes)]
        if numbers and (self._symbols.is_marked or self._symbols.of_bytes):
            raise UnsupportedFeatureError("whole pieces that are tokens, of symbols that are no characters")
        texts = ["".join(cast("tuple[str, ...]", tokenizer.token(number))) for number in numbers]
        foreign = next((text for text in texts if any(self._symbols.unknown[ord(symbol)] for symbol in text)), None)
        if foreign is not None:
            raise UnsupportedFeatureError("a token with a character that is no token itself", value=foreign)
        return [text for text in map(self.rewrites.spelled, texts) if text is not None]

    def search(self, before: Language, after: Language, tracked: Iterable[str]) -> Texts | None:
        """Return the least two texts of two languages, if only some special tokens were found in texts."""
        symbols = self._symbols
        hides = symbols.unknown & ~symbols.refused if symbols.is_marked else None
        seam = Seam(
            self.split_nfa,
            before,
            after,
            sorted(tracked),
            rewrites=self.rewrites,
            starts=self._starts,
            refused=symbols.refused if symbols.refused.any() else None,
            told_apart=hides if hides is not None and hides.any() else None,
        )
        if hides is not None:
            classes = frozenset(seam.class_of_code_point[hides].tolist())
            return _least_by_boundaries(seam, Marks(*symbols.marks, classes, symbols.fuses))
        return Search(seam, self._tokens(seam), self.whole).least()

    def _tokens(self, seam: Seam) -> Tokens:
        """Return the tokens, and the least character without a symbol of each class."""
        if self._of_bytes is not None:
            return self._of_bytes
        assert self._neighbours is not None
        points = np.flatnonzero(self._symbols.unknown & ~self._symbols.refused)
        points = points[(points < 0xD800) | (points > 0xDFFF)]
        _, first = np.unique(seam.class_of_code_point[points], return_index=True)
        unknown = {chr(point) for point in points[first].tolist()}
        if self._symbols.unknown[ord(" ")]:
            # It may be put before a text that has none.
            unknown.add(" ")
        return character_tokens(self._neighbours, self.rewrites, self._symbols, sorted(unknown))

    def tracked(self, before: Language, after: Language) -> set[str]:
        """Return the special tokens that may decide about the seam of two languages.

        Any other may be left out of a text, with all that is on the other side of it than the seam, and the languages
        still have the rest.
        """
        contents = [special.text for special in self.specials]
        # A language before the seam distinguishes what is before them, or after the seam a text may not end there.
        states, inner = range(len(before.rows)), [state for state, final in enumerate(after.finals) if not final]
        wanted = {text for text in contents if any(before.after(state, text) > 0 for state in states)}
        wanted |= {text for text in contents if any(after.after(state, text) >= 0 for state in inner)}
        wanted = self._representatives(before, after, wanted)
        prefix = self.rewrites.prefix
        if prefix is not None and (not prefix.everywhere or (before.finals[0] and not self._starts)):
            wanted |= self._beside_a_space(before, {*contents} - wanted)
        return self.with_overlapping(wanted)

    def _representatives(self, before: Language, after: Language, wanted: set[str]) -> set[str]:
        """Return special tokens except those that a lesser one, which no language tells apart, can always replace."""
        levels = {special.text: special.level for special in self.specials}
        least: dict[object, str] = {}
        kept: set[str] = set()
        alone = apart(special.text for special in self.specials)
        for text in sorted(wanted, key=lambda text: (len(text.encode()), text.encode())):
            if text not in alone:
                kept.add(text)
                continue
            states = (tuple(of.after(state, text) for state in range(len(of.rows))) for of in (before, after))
            kept.add(least.setdefault((levels[text], *states), text))
        return kept

    def _beside_a_space(self, before: Language, others: set[str]) -> set[str]:
        """Return the least special token that decides whether a space is put before the next text, if there is one."""
        states = range(len(before.rows))
        able = {text for text in others if any(before.after(state, text) == 0 for state in states)}
        if any(before.after(0, text) != 0 for text in able):
            raise UnsupportedFeatureError("the texts before the seam have special tokens only after something else")
        return {min(able, key=lambda text: (len(text.encode()), text.encode()))} if able else set()

    def with_overlapping(self, wanted: set[str]) -> set[str]:
        """Return special tokens with all that may overlap them in a text, directly or not."""
        rest = {special.text for special in self.specials} - wanted
        queue = sorted(wanted)
        for text in queue:  # It grows during the loop.
            meeting = {other for other in rest if overlap(text, other)}
            queue += sorted(meeting)
            rest -= meeting
        if len(queue) > _MOST_TRACKED:
            raise LimitExceededError(f"more than {_MOST_TRACKED} special tokens may decide about the seam")
        levels = {special.level for special in self.specials if special.text in queue}
        if 1 in levels and self.rewrites.space != " ":
            spaced = next((text for text in queue if {*text} & {*self.rewrites.spaces}), None)
            if spaced is not None:
                raise UnsupportedFeatureError("a special token has a space that is replaced before", value=spaced)
        if len(levels) > 1 and overlapping(queue):
            raise UnsupportedFeatureError("special tokens that are found one after the other overlap")
        return {*queue}

    def crossing(self, before: Language, after: Language) -> set[str]:
        """Return the special tokens that texts of two languages may have across the seam."""
        return {special.text for special in self.specials if _may_cross(before, after, special.text)}


def ground_of(tokenizer: Tokenizer, *, starts: bool = False) -> Ground:
    """Return the ground in which seams of a tokenizer are searched.

    Whether the text after a seam starts makes a difference only where something is put before texts.
    """
    ground = tokenizer.derived(Ground)
    return tokenizer.derived(Ground, True) if starts and ground.rewrites.prefix is not None else ground


def _is_one_piece(split_nfa: SplitNFA) -> bool:
    """Return whether no text is split."""
    return not any(event == BEGINS for row in split_nfa.moves[1:] for cell in row for _, event in cell) and not any(
        target == 0 for row in split_nfa.moves for cell in row for target, _ in cell
    )


def _may_cross(before: Language, after: Language, text: str) -> bool:
    for n in range(1, len(text)):
        ending = (before.after(state, text[:n]) for state in range(len(before.rows)))
        if any(state >= 0 and before.finals[state] for state in ending) and after.after(0, text[n:]) >= 0:
            return True
    return False


def least_texts(ground: Ground, before: Language, after: Language) -> Texts | None:
    """Return the least two texts of two languages that a seam separates; None if there are none."""
    tracked = ground.tracked(before, after)
    crossing: set[str] | None = None
    while True:
        found = ground.search(before, after, tracked)
        crossing = ground.crossing(before, after) if crossing is None else crossing
        if found is None:
            missing = crossing - tracked
        else:
            text = found.before + found.after
            missing = {content for content in crossing if len(content.encode()) <= len(text)}
            missing |= {special.text for special in ground.specials if special.text.encode() in text}
            missing -= tracked
        if not missing:
            return found
        tracked = ground.with_overlapping(tracked | missing)
