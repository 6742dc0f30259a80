"""Words and what replaces them: hundreds of thousands in a usual table, few of which a text ever needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from tokdfa.arrays import Int64Array, running_sum
from tokdfa.kernels.spelling.charsmap import Characters, characters_in
from tokdfa.kernels.unigram.texts import RuleArrays

__all__ = ["CharacterRules"]

# After so many look-ups by bisection a dictionary is built, which takes tens of milliseconds for a usual table.
_FEW = 1 << 10


class CharacterRules(Mapping[str, str]):
    """A mapping from words to their replacements, of which strings are made when they are asked for.

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
        place, spelled = {}, bytearray()
        for _, new in rows:
            if new not in place:
                begin = len(spelled)
                spelled += new.encode("utf-8")
                place[new] = begin, len(spelled)
                # Then a place is that of one replacement only, the empty one included.
                spelled += b"\0"
        spans: Int64Array = np.array([place[new] for _, new in rows], dtype=np.int64).reshape(-1, 2)
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

    def _find(self, word: str) -> str | None:
        try:
            wanted = word.encode("utf-8")
        except UnicodeEncodeError:
            return None
        arrays, words = self.arrays, self._words
        low, high = 0, len(arrays.starts)
        while low < high:
            middle = (low + high) // 2
            if words[arrays.offsets[middle] : arrays.offsets[middle + 1] - 1] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == len(arrays.starts) or words[arrays.offsets[low] : arrays.offsets[low + 1] - 1] != wanted:
            return None
        return self._replacement(int(arrays.starts[low]), int(arrays.stops[low]))

    @property
    def quickest(self) -> Mapping[str, str]:
        """The same rules, to look a few words up in: a dictionary, if there have been enough look-ups for one."""
        return self._dict if self._n_asked >= _FEW else self

    def get(self, word: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """Return what replaces a word, `default` if nothing does."""
        self._n_asked += 1
        if "_dict" not in vars(self) and self._n_asked < _FEW:
            found = self._find(word)
            return default if found is None else found
        return self._dict.get(word, default)

    def __getitem__(self, word: str) -> str:
        found = self.get(word)
        if found is None:
            raise KeyError(word)
        return found

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.get(word) is not None

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
