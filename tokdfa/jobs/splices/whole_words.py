"""The words in a seam that are tokens only as whole pieces: where they begin, continue and end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from tokdfa.jobs.splices.seam import Move, Seam

# A state of the seam, the beginning of a word before it, and whether it may still be a piece apart, and of the whole.
_Word: TypeAlias = tuple[int, str, bool, bool]


class WholeWords:
    """The words in a seam that are tokens only as whole pieces."""

    def __init__(self, seam: Seam, words: Iterable[str]) -> None:
        self._seam = seam
        self.whole = {*words}
        self._next: dict[str, list[str]] = {}
        for begun in sorted({word[:n] for word in self.whole for n in range(1, len(word) + 1)}):
            self._next.setdefault(begun[:-1], []).append(begun[-1])
        self._longest_after: dict[str, int] = {}
        for word in self.whole:
            for n in range(len(word) + 1):
                self._longest_after[word[:n]] = max(self._longest_after.get(word[:n], 0), len(word) - n)

    def begun(self, state: int) -> Iterator[tuple[bytes, _Word]]:
        """Yield the first symbols of words that begin in a state, with the part read of the words then."""
        if not self.whole or self._seam.distance[state] > self._longest_after[""] + 1:
            return
        for symbol in self._next[""]:
            for move, data in self._moves(state, symbol):
                if move.begins_apart or move.begins_whole:
                    yield data, (move.target, symbol, move.begins_apart, move.begins_whole)

    def longer(self, word: _Word) -> Iterator[tuple[bytes, _Word]]:
        """Yield the next symbols of words, with the part read of the words then."""
        state, read, apart, whole = word
        if apart == whole and self._seam.distance[state] > self._longest_after[read] + 1:
            return
        for symbol in self._next.get(read, ()):
            for move, data in self._moves(state, symbol):
                still = apart and not move.begins_apart, whole and not move.begins_whole
                if any(still):
                    yield data, (move.target, read + symbol, *still)

    def ends(self, word: _Word) -> Iterator[tuple[int, Move]]:
        """Yield the moves, with their classes, with which a word has ended as a piece of only one of the texts."""
        state, read, apart, whole = word
        if read not in self.whole:
            return
        for c, cell in enumerate(self._seam.moves[state]):
            for move in cell:
                has = apart and (move.begins_apart or move.is_special), whole and (move.begins_whole or move.is_special)
                if has[0] != has[1] and not move.parts:
                    yield c, move

    def is_end(self, word: _Word) -> bool:
        """Return whether the texts may end with a word that is a piece of only one of them."""
        state, read, apart, whole = word
        return self._seam.ends[state] and read in self.whole and apart != whole

    def least(self, to_end: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield states in which words begin that are pieces of only one text, after the least bytes to an end.

        For each state, `to_end` has the number of bytes to an end of the texts.
        """
        begun = [[*self.begun(state)] for state in range(len(self._seam.moves))]
        known = {word for row in begun for _, word in row}
        words = [*known]
        longer: dict[_Word, list[tuple[bytes, _Word]]] = {}
        for word in words:  # It grows during the loop.
            longer[word] = [*self.longer(word)]
            new = {after for _, after in longer[word]} - known
            known |= new
            words += new
        least = [len(symbol.encode()) for symbol in self._seam.least]
        rests: dict[_Word, int | None] = {}
        for word in sorted(words, key=lambda word: -len(word[1])):
            found: list[tuple[int, int | None]] = [(0, 0)] if self.is_end(word) else []
            found += [(least[c], to_end[move.target]) for c, move in self.ends(word)]
            rests[word] = _least([*found, *((len(data), rests[after]) for data, after in longer[word])])
        for state, row in enumerate(begun):
            size = _least((len(data), rests[word]) for data, word in row)
            if size is not None:
                yield size, state

    def _moves(self, state: int, symbol: str) -> list[tuple[Move, bytes]]:
        """Return the moves on a symbol, and the bytes read: none of a space that is put before a text."""
        c = int(self._seam.class_of_code_point[ord(symbol)])
        found = [(move, symbol.encode()) for move in self._seam.moves[state][c]]
        if symbol == " " and self._seam.put is not None:
            found += [(move, b"") for move in self._seam.moves[state][self._seam.put]]
        return [(move, data) for move, data in found if not move.parts and not move.is_special]


def _least(sizes: Iterable[tuple[int, int | None]]) -> int | None:
    """Return the least sum; None if there is none."""
    return min((one + other for one, other in sizes if other is not None), default=None)
