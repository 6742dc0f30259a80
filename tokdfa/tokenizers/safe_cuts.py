"""Places at which a text, or its ids, may be cut and its two parts encoded separately, however it goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Uint32Array
from tokdfa.encoding.special import Special
from tokdfa.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.splitting.hypotheses_finding import find_hypotheses
from tokdfa.splitting.pretokenizer import PreTokenizer
from tokdfa.splitting.safe_borders import SAFE, UNSAFE, SafeBorders
from tokdfa.unicode.normalization import normalize, spaces
from tokdfa.unicode.quick_check import borders, composites, is_normal

if TYPE_CHECKING:
    from tokdfa.tokenizers.form_cuts import FormCuts
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Safe", "SafeCuts", "safe_borders_of"]


class Safe(NamedTuple):
    """The safe places of a text.

    Parameters
    ----------
    places : bool array of shape (characters + 1,)
        Whether each place is safe, from the one before the first character on.
    free : bool array of shape (characters + 1,)
        Whether, besides, no place after it depends on what precedes it.
    undecided : int
        The first place that may be safe, depending on how the text goes on.
    """

    places: BoolArray
    free: BoolArray
    undecided: int


class _Around(NamedTuple):
    begins: bool
    ends: bool


class SafeCuts:
    """The places of texts of a tokenizer at which the two parts may be encoded separately.

    Parameters
    ----------
    tokenizer : Tokenizer
        One with `read_in_form`.

    Notes
    -----
    A place is safe if, however the text goes on, its pieces are those of the two parts, the text of no special token
    goes across, and no normalization does. White space beside a special token that strips counts as its text, and so
    do the two symbols beside a single word. The pieces are decided exactly, by
    :class:`~tokdfa.splitting.safe_borders.SafeBorders`; without a pre-tokenizer, or with one that is no automaton, only
    the ends of special tokens are safe. A text that is not in the normalization form is first cut at each place where
    two characters decide, see :class:`~tokdfa.tokenizers.form_cuts.FormCuts`. Each part is brought into the form; if it
    has special tokens that are found before that, nothing within it is known to be safe. If a space is put before
    texts, the second part begins with one, so that none is put.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.read_in_form is not None
        plain, self._form = tokenizer.read_in_form
        self._finder = plain.added_tokens
        self._cuts: FormCuts | None = tokenizer.form_cuts
        self._borders = safe_borders_of(plain.pretokenizer)
        splitting = None if plain.pretokenizer is None else plain.pretokenizer.splitting
        self._puts_space = splitting is not None and splitting.prefix_space is not None
        specials = plain.specials if plain.finds_specials else ()
        self._specials = [special for special in specials if special.text]
        self._odd = {special.text: special for special in self._specials if not special.is_plain}
        self._outer = [special.text for special in self._specials if special.level == 0]
        self._words = tuple(special.text for special in self._specials if special.single_word)
        self._strips_left = any(special.lstrip for special in self._specials)
        self._longest = max((len(special.text) for special in self._specials), default=0)
        contents = sorted({special.text for special in self._specials}, key=len, reverse=True)
        self._beginnings = {text[:n] for text in contents for n in range(1, len(text))}
        self._endings = {text[n:] for text in contents for n in range(1, len(text))}
        # What begins at one place may be longer or shorter; all of it is covered by the longest, if none is odd.
        self._occurrences = re.compile(f"(?=({'|'.join(map(re.escape, contents))}))") if contents else None

    def of_text(self, text: str, *, begins: bool = True, ends: bool = False) -> Safe:
        """Return the safe places of a text.

        Parameters
        ----------
        text : str
        begins : bool
            Whether nothing precedes the text, except what ends with a safe place.
        ends : bool
            Whether nothing follows it.
        """
        around = _Around(begins, ends)
        if self._form is None:
            return self._of_normal(text, around)
        cut: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        if self._cuts is not None:
            codes = _codes(text).astype(np.int64)
            cut[1:-1] = self._cuts.between_symbols(codes[:-1], codes[1:])
        # Any text may follow the last part, and make it one that is not in the form.
        last = int(np.flatnonzero(cut).max(initial=0))
        if self._is_normal(text):
            safe, _, undecided = self._of_normal(text, around)
            # Two characters may decide although what follows changes the right one. It is so in both branches: a part
            # of a text has the places of the whole.
            safe |= cut
        else:
            safe = self._of_parts(text, np.flatnonzero(cut).tolist(), around)
            undecided = len(text) + 1
        return Safe(safe, cut, undecided if ends else min(undecided, last + 1))

    def _of_parts(self, text: str, cuts: list[int], around: _Around) -> BoolArray:
        """Return the safe places of a text that is not in the form, given those that two characters decide."""
        safe: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        for start, end in pairwise((0, *cuts, len(text))):
            part = text[start:end]
            inner = _Around(around.begins or start > 0, around.ends or end < len(text))
            safe[start : end + 1] = self._of_part(part, inner)
            safe[start], safe[end] = inner
        return safe

    def _of_part(self, part: str, around: _Around) -> BoolArray:
        """Return the safe places of a text that need not be in the form, as those of what it is brought into."""
        if self._form is None or self._is_normal(part):
            return self._of_normal(part, around).places
        safe: BoolArray = np.zeros(len(part) + 1, dtype=np.bool_)
        bounds = np.unique([0, *np.flatnonzero(borders(self._form)[_codes(part)]), len(part)])
        parts = [normalize(part[start:end], self._form) for start, end in pairwise(bounds.tolist())]
        normal = "".join(parts)
        if not self._outer or self._has_no_outer(part, normal, around):
            safe[bounds] = self._of_normal(normal, around).places[np.cumsum([0, *map(len, parts)])]
        return safe

    def _has_no_outer(self, text: str, normal: str, around: _Around) -> bool:
        """Return whether special tokens that are found before normalization are in neither of a text and its form.

        At an open end, where they may go on, both must have the same symbols.
        """
        begin, end = slice(self._longest), slice(-self._longest, None)
        alike = (around.begins or text[begin] == normal[begin]) and (around.ends or text[end] == normal[end])
        return alike and not any(special in text or special in normal for special in self._outer)

    def _is_normal(self, text: str) -> bool:
        return self._form is None or is_normal(text.encode("utf-8", "surrogatepass"), self._form)

    def _of_normal(self, text: str, around: _Around) -> Safe:
        """Return the safe places of a text in the form, if there is one."""
        begins, ends = around
        safe, free = np.zeros((2, len(text) + 1), dtype=np.bool_)
        safe[0], safe[-1] = begins, ends
        known, first = len(text), 0
        if self._form is not None:
            steady = borders(self._form)[_codes(text)]
            # What follows may change a text from the last place on before which there is a border, unless that is its
            # end, and so may what precedes it, up to the first one.
            places = np.flatnonzero(steady)
            if not ends and not (text and steady[-1] and not composites(text[-1], self._form)):
                known = int(places[-1]) if len(places) else 0
            if not begins:
                first = int(places[0]) if len(places) else known
        while not ends and self._words and text.endswith(self._words, first, known):
            # Whether a single word is found depends on what follows.
            known -= next(len(word) for word in self._words if text.endswith(word, first, known))
        if first <= known:
            part = slice(first, known + 1)
            undecided = first + self._find(text[first:known], around, safe[part], free[part])
        else:
            undecided = known
        if self._form is not None:
            safe[1:-1] &= steady[1:]
        if self._puts_space:
            safe[1:-1] &= _codes(text)[1:] == ord(" ")
        return Safe(safe, free & safe, undecided if not ends else len(text) + 1)

    def _find(self, text: str, around: _Around, safe: BoolArray, free: BoolArray) -> int:
        """Find the safe places of a text, and return the first that what follows may decide."""
        inside, starts, undecided = self._inside(text, around)
        outside = np.flatnonzero(~inside)
        first = 0 if around.begins else int(outside[0]) if len(outside) else len(text) + 1
        if first <= len(text):
            undecided = min(undecided, self._scan(text, first, starts, around, safe, free))
        safe[1:] &= ~inside[1:]
        if not around.begins:
            safe[0] = False
        return undecided

    def _inside(self, text: str, around: _Around) -> tuple[BoolArray, list[int], int]:
        """Return the places that special tokens may go across.

        Then come the places near the end where one may begin, and the first place that depends on what follows.
        """
        inside: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        starts: list[int] = []
        if self._occurrences is None:
            return inside, starts, len(text) + 1
        undecided = len(text) + 1
        for match in self._occurrences.finditer(text):
            start, content = match.start(), match.group(1)
            for special in self._beginning_at(text, start, content):
                low, high = self._extent(text, start, start + len(special), self._odd.get(special))
                inside[max(low + 1, 0) : high] = True
        if not around.ends:
            for start in range(max(len(text) - self._longest + 1, 0), len(text)):
                if text[start:] in self._beginnings:
                    low = min(
                        (self._extent(text, start, len(text), odd)[0] for odd in self._odd.values()), default=start
                    )
                    inside[min(low, start) + 1 :] = True
                    undecided = min(undecided, low)
                    starts.append(start)
            if self._strips_left or self._words:
                low = len(text)
                while self._strips_left and low and text[low - 1] in spaces():
                    low -= 1
                inside[low + 1 :] = True
                inside[-1] = True
                undecided = min(undecided, low)
        if not around.begins:
            for end in range(1, min(self._longest, len(text) + 1)):
                if text[:end] in self._endings:
                    high = max((self._extent(text, 0, end, odd)[1] for odd in self._odd.values()), default=end)
                    inside[: max(high, end)] = True
            if self._odd:
                high = 0
                while high < len(text) and text[high] in spaces():
                    high += 1
                inside[: high + 1] = True
        return inside, starts, undecided

    def _beginning_at(self, text: str, start: int, longest: str) -> Sequence[str]:
        if not self._odd:
            return (longest,)
        return [special.text for special in self._specials if text.startswith(special.text, start)]

    @staticmethod
    def _extent(text: str, start: int, end: int, odd: Special | None) -> tuple[int, int]:
        """Return from where to where a special token reaches; its ends are within if what is beside it matters."""
        if odd is None:
            return start, end
        blanks = spaces()
        low, high = start, end
        while odd.lstrip and low and text[low - 1] in blanks:
            low -= 1
        while odd.rstrip and high < len(text) and text[high] in blanks:
            high += 1
        if odd.single_word:
            low, high = min(low, start - 1), max(high, end + 1)
        # Nothing is known of what precedes and follows.
        return low - (low == 0 and odd.lstrip), high + (odd.rstrip and high == len(text))

    def _scan(self, text: str, first: int, starts: list[int], around: _Around, safe: BoolArray, free: BoolArray) -> int:
        """Find the safe places of the pieces, from a place on that no special token goes across.

        Return the first place that what follows may decide.
        """
        undecided = len(text) + 1
        for start, stop, special in self._finder.spans(text[first:]):
            at, end = first + start, first + stop
            if special is not None:
                safe[end] = free[end] = True
                continue
            stretch = text[at:end]
            ends = around.ends or end < len(text)
            if self._borders is not None:
                begins = around.begins or at > first
                state = self._borders.start if begins else self._borders.anywhere
                if self._puts_space and begins and not stretch.startswith(" "):
                    state = self._borders.read(state, int(self._borders.classes_of(np.array([0x20]))[0]))
                shifted = {start - at for start in starts}
                part = slice(at + 1, end + 1)
                safe[part], free[part], first_open = _safe_within(self._borders, stretch, state, shifted, ends)
                undecided = min(undecided, at + first_open if first_open <= len(stretch) else undecided)
            elif not ends:
                undecided = min(undecided, at + 1)
            safe[end] |= ends
            free[end] |= end < len(text)
        return undecided


def _safe_within(
    borders: SafeBorders, text: str, state: int, starts: set[int], ends: bool
) -> tuple[BoolArray, BoolArray, int]:
    """Return, for each place after a character of a stretch between special tokens, whether it is safe.

    Besides, return whether each is between two symbols that every text is cut between, and the first that what follows
    the stretch may decide.

    Parameters
    ----------
    borders : SafeBorders
    text : str
    state : int
        The state at the beginning of the stretch.
    starts : set of int
        Places where the stretch may turn out to end.
    ends : bool
        Whether it ends with the text; otherwise anything may follow.
    """
    n = len(text)
    safe: BoolArray = np.zeros(n, dtype=np.bool_)
    classes = borders.classes_of(_codes(text))
    always, never = borders.between
    safe[:-1] = always[classes[:-1], classes[1:]]
    asked = ~safe
    asked[:-1] &= ~never[classes[:-1], classes[1:]]
    free = safe.copy()
    # After such a place, nothing depends on what precedes it.
    bases = np.flatnonzero(safe) + 1
    row: list[int] = classes.tolist()
    at, undecided = 0, n + 1
    places = np.flatnonzero(asked) + 1
    nearest = np.append(0, bases)[np.searchsorted(bases, places)]
    for place, base in zip(places.tolist(), nearest.tolist(), strict=True):
        if base > at:
            at, state = base, borders.start
        for symbol in row[at:place]:
            state = borders.read(state, symbol)
        at = place
        after = _settled(borders, borders.cut(state), row, place, starts)
        if after == SAFE or (ends and borders.is_safe_at_end(after)):
            safe[place - 1] = True
        elif after != UNSAFE:
            undecided = min(undecided, place)
    return safe, free, undecided if not ends else n + 1


def _settled(borders: SafeBorders, state: int, row: list[int], place: int, starts: set[int]) -> int:
    """Return the state of a place in view of the classes of the symbols after it."""
    while state not in (SAFE, UNSAFE) and place < len(row):
        if place in starts and not borders.is_safe_at_end(state):
            return UNSAFE
        state = borders.go_on(state, row[place])
        place += 1
    return state


def _codes(text: str) -> Uint32Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def safe_borders_of(pretokenizer: PreTokenizer | None) -> SafeBorders | None:
    """Return the automaton of the safe places of a pre-tokenizer; None if there is none."""
    if pretokenizer is None or pretokenizer.splitting.metaspace is not None or pretokenizer.splitting.byte_steps:
        return None
    if pretokenizer.splitting.prefix_space:
        return None
    try:
        return SafeBorders(find_hypotheses(replace(pretokenizer.splitting, prefix_space=None)))
    except (PatternError, UnsupportedFeatureError, LimitExceededError):
        return None
