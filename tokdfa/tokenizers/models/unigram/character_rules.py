"""Words and their replacements: hundreds of thousands in a usual table; a text needs few of them.

`CharacterRules` are the words and their replacements, `CharacterTable` applies them to a text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from hashlib import sha256

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, running_sum
from tokdfa.kernels.spelling.charsmap import Characters, characters_in
from tokdfa.kernels.unigram.texts import RuleArrays

# After this many look-ups by bisection a dictionary is built, which takes tens of milliseconds for a usual table.
_FEW = 1 << 10
# With up to this many characters to be replaced, one pass for each is faster than one pass over all.
_FEW_PRESENT = 8
# The characters of a text of this many are looked up in a table of all code points.
_LONG_TEXT = 1 << 10


class CharacterRules(Mapping[str, str]):
    """A mapping from words to their replacements; strings are made when they are asked for.

    No word is empty; they are ascending and distinct.

    Examples
    --------
    >>> rules = CharacterRules.of({"ab": "c", "a": ""})
    >>> list(rules.items()), rules.get("b"), "ab" in rules
    ([('a', ''), ('ab', 'c')], None, True)
    """

    def __init__(self, arrays: RuleArrays) -> None:
        self.arrays = arrays
        self._n_asked = 0

    @classmethod
    def of(cls, rules: Mapping[str, str]) -> CharacterRules:
        """Return the same rules; words without U+0000."""
        if isinstance(rules, CharacterRules):
            return rules
        rows = sorted((word.encode("utf-8"), new) for word, new in rules.items())
        text = b"".join(word + b"\0" for word, _ in rows)
        offsets = running_sum(np.array([len(word) + 1 for word, _ in rows], dtype=np.int64))
        span_of, spelled = {}, bytearray()
        for _, new in rows:
            if new not in span_of:
                begin = len(spelled)
                spelled += new.encode("utf-8")
                span_of[new] = begin, len(spelled)
                # Then an offset belongs to one replacement only, the empty one included.
                spelled += b"\0"
        spans: Int64Array = np.array([span_of[new] for _, new in rows], dtype=np.int64).reshape(-1, 2)
        arrays = RuleArrays(
            np.frombuffer(text, dtype=np.uint8),
            offsets,
            spans[:, 0].copy(),
            spans[:, 1].copy(),
            np.frombuffer(bytes(spelled), dtype=np.uint8),
        )
        return cls(arrays)

    def __reduce__(self) -> tuple[type[CharacterRules], tuple[RuleArrays]]:
        return CharacterRules, (self.arrays,)

    @cached_property
    def _words(self) -> bytes:
        return self.arrays.text.tobytes()

    @cached_property
    def _spelled(self) -> bytes:
        return self.arrays.replacements.tobytes()

    @cached_property
    def _dict(self) -> dict[str, str]:
        arrays = self.arrays
        text_at = {start: self._replacement(start, stop) for start, stop in self._used}
        return dict(zip(self._strings, map(text_at.__getitem__, arrays.starts.tolist()), strict=True))

    @property
    def _strings(self) -> list[str]:
        # One by one, they take ten times as long.
        return self._words.decode("utf-8").split("\0")[:-1]

    @property
    def _used(self) -> list[tuple[int, int]]:
        """Where each replacement that is in use begins and ends."""
        arrays = self.arrays
        stop_of: Int64Array = np.full(len(arrays.replacements) + 1, -1, dtype=np.int64)
        stop_of[arrays.starts] = arrays.stops
        starts = np.flatnonzero(stop_of >= 0)
        return [*zip(starts.tolist(), stop_of[starts].tolist(), strict=True)]

    def _replacement(self, start: int, stop: int) -> str:
        return self._spelled[start:stop].decode("utf-8")

    def _find(self, word: str) -> str:
        try:
            wanted = word.encode("utf-8")
        except UnicodeEncodeError:
            raise KeyError(word) from None
        arrays, words = self.arrays, self._words
        offsets = arrays.offsets
        low = bisect_left(range(len(arrays.starts)), wanted, key=lambda i: words[offsets[i] : offsets[i + 1] - 1])
        if low == len(arrays.starts) or words[offsets[low] : offsets[low + 1] - 1] != wanted:
            raise KeyError(word)
        return self._replacement(int(arrays.starts[low]), int(arrays.stops[low]))

    @property
    def quickest(self) -> Mapping[str, str]:
        """The same rules, to look a few words up in: a dictionary, if there have been enough look-ups for one."""
        return self._dict if self._n_asked >= _FEW else self

    def __getitem__(self, word: str) -> str:
        self._n_asked += 1
        return self._find(word) if "_dict" not in vars(self) and self._n_asked < _FEW else self._dict[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dict)

    def __len__(self) -> int:
        return len(self.arrays.starts)

    @cached_property
    def characters(self) -> Characters:
        """Where code points are in words."""
        return characters_in(self.arrays.text, self.arrays.offsets)

    @cached_property
    def singles(self) -> dict[str, str]:
        """The rules for words of one character."""
        characters = map(chr, np.flatnonzero(self.characters.alone).tolist())
        if "_dict" in vars(self):
            return {character: self._dict[character] for character in characters}
        arrays = self.arrays
        # The first byte of a character gives its size.
        lengths = np.diff(arrays.offsets) - 1
        head = arrays.text[arrays.offsets[:-1]] if len(lengths) else np.empty(0, dtype=np.uint8)
        size = 1 + (head >= 0xC0).astype(np.int64) + (head >= 0xE0) + (head >= 0xF0)
        rows = np.flatnonzero(lengths == size)
        spans = zip(arrays.starts[rows].tolist(), arrays.stops[rows].tolist(), strict=True)
        # Characters ascend as their bytes do.
        return {character: self._replacement(*span) for character, span in zip(characters, spans, strict=True)}

    def first_with(self, part: str) -> str | None:
        """Return a replacement that has this part, None if none has."""
        if part.encode("utf-8") not in self._spelled:
            return None
        texts = (self._replacement(*span) for span in self._used)
        return next((text for text in texts if part in text), None)

    def words_have(self, part: str) -> bool:
        """Return whether a word has this part."""
        return part.encode("utf-8") in self._words


class CharacterTable:
    """A table that replaces words of one or more characters, the longest at each offset.

    The pieces `kept` are found before the rules apply, the longest at each offset; no rule touches them. `blob` is the
    table as files have it; equal ones have the same rules.
    """

    def __init__(self, rules: Mapping[str, str], kept: tuple[str, ...], blob: bytes) -> None:
        self.rules = CharacterRules.of(rules)
        self.kept = kept
        self.blob = blob

    def __reduce__(self) -> tuple[type[CharacterTable], tuple[Mapping[str, str], tuple[str, ...], bytes]]:
        return CharacterTable, (self.rules, self.kept, self.blob)

    def __call__(self, text: str) -> str:
        """Return `text` with everything replaced."""
        rules = self.rules.quickest
        present = self._touched(text)
        if not present:
            return text
        if len(present) <= _FEW_PRESENT and self._are_apart(present, text):
            for character in present:
                text = text.replace(character, rules[character])
            return text
        find = self._candidate.search
        parts: list[str] = []
        done = 0
        match = find(text)
        while match is not None:
            start, stop = match.span()
            if match.lastindex is None:
                for stop in range(min(start + self._longest, len(text)), start, -1):
                    if text[start:stop] in rules:
                        parts += (text[done:start], rules[text[start:stop]])
                        done = stop
                        break
            match = find(text, stop)
        return "".join(parts) + text[done:] if parts else text

    def is_blank(self, text: str) -> bool:
        """Return whether a text is made of words and characters that each become a space, so that none is dropped."""
        return not self(text).strip(" ") and not self._showing_drops(text).strip(" ")

    @cached_property
    def _showing_drops(self) -> CharacterTable:
        """The same table, but for a mark where something is dropped."""
        return CharacterTable({word: new or "\0" for word, new in self.rules.items()}, self.kept, self.blob)

    @cached_property
    def touched(self) -> frozenset[str]:
        """The characters that rules need: no rule applies to a text that has none of them."""
        return frozenset(map(chr, np.flatnonzero(self._is_touched).tolist()))

    def _touched(self, text: str) -> Set[str]:
        """Return the characters of a text that a rule replaces, or that may continue a word of several."""
        if text.isascii():
            return set(text.encode("ascii").translate(None, self._untouched_ascii).decode("ascii"))
        if len(text) < _LONG_TEXT:
            return self.touched.intersection(text)
        try:
            codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
        except UnicodeEncodeError:
            return self.touched.intersection(text)
        return {chr(code) for code in np.unique(codes[self._is_touched[codes]]).tolist()}

    @cached_property
    def _is_touched(self) -> BoolArray:
        """For each code point, whether a rule replaces it, or it may continue a word of several."""
        characters = self.rules.characters
        return characters.alone | characters.inside

    @cached_property
    def _untouched_ascii(self) -> bytes:
        return bytes(np.flatnonzero(~self._is_touched[:0x80]).tolist())

    def _are_apart(self, present: Set[str], text: str) -> bool:
        """Return whether each of these characters is replaced wherever it is, and by none of the others."""
        rules = self.rules.quickest
        inside = self.rules.characters.inside
        if not all(character in rules and not inside[ord(character)] for character in present):
            return False
        if not all(present.isdisjoint(rules[character]) for character in present):
            return False
        return not any(word in text for word in self.kept if not present.isdisjoint(word))

    def sides(self, left: str, right: str) -> tuple[str, str] | None:
        """Return two neighbouring characters as they are replaced; None if that depends on their neighbours.

        Nothing is replaced across such a boundary, and no longer word that ends or begins there is either.
        """
        pairs, first, last = self._inner
        if left + right in pairs or left in last or right in first:
            return None
        before, after = self.rules.get(left, left), self.rules.get(right, right)
        return (before[-1], after[0]) if before and after else None

    @cached_property
    def _inner(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """The pairs of characters within words and longer kept pieces, and the first and last ones of these."""
        words = [*self.rules, *self.kept]
        longer = [word for word in words if len(word) > 1]
        alone = [word for word in self.kept if word in self.rules]
        pairs = frozenset(word[at : at + 2] for word in longer for at in range(len(word) - 1))
        return pairs, frozenset(word[0] for word in longer + alone), frozenset(word[-1] for word in longer + alone)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.rules), default=0)

    @cached_property
    def _candidate(self) -> re.Pattern[str]:
        """A pattern that finds kept pieces (the only group), or where a rule may begin, by its first two characters."""
        kept = "|".join(map(re.escape, sorted(self.kept, key=len, reverse=True)))
        single = {word for word in self.rules if len(word) == 1}
        longer = [word for word in self.rules if len(word) > 1]
        options = [f"({kept})"] if kept else []
        if single:
            options.append(_class(single))
        if longer:
            options.append(f"{_class(word[0] for word in longer)}(?={_class(word[1] for word in longer)})")
        return re.compile("|".join(options) or "(?!)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CharacterTable) and (self.blob, self.kept) == (other.blob, other.kept)

    def __hash__(self) -> int:
        return hash((self.blob, self.kept))

    def __repr__(self) -> str:
        return f"CharacterTable({sha256(self.blob).hexdigest()}, {self.kept!r})"


def _class(characters: Iterable[str]) -> str:
    return f"[{''.join(re.escape(character) for character in sorted(set(characters)))}]"
