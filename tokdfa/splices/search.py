"""The least two texts whose ids, encoded separately, are not those of the two as one text.

The tokens of the texts apart are also those of the whole unless, somewhere, a piece of the whole begins within a token;
or a piece of the texts apart begins where one of the whole goes on, and merging does not leave the tokens there side by
side; or only one of them has a piece that is a token as a whole; or the special tokens differ. A search for such a
place goes from the beginning of the text to the beginning of a piece by symbols, from there by tokens to the place and
to the end of that piece, and then by symbols again. What it has read is always the least that leads where it is: in
bytes, then in bytes before the seam, then in the order of bytes. So the first end it comes to is that of the least
texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.patterns.budget import Budget
from tokdfa.splices.edges import EdgeFinder, Edges, Location, Use
from tokdfa.splices.proof import never_merge
from tokdfa.splices.seam import Move, Seam
from tokdfa.splices.tokens import Tokens

__all__ = ["Search", "Texts"]


class Texts(NamedTuple):
    """Two texts, in UTF-8."""

    before: bytes
    after: bytes


class _Phase(IntEnum):
    """How far a search is: before the piece; in it, before and after the place; after it; in a whole piece."""

    BEFORE = 0
    PIECE = 1
    PARTED = 2
    AFTER = 3
    WORD = 4


_DIFFERED = (_Phase.PARTED, _Phase.AFTER, _Phase.WORD)
_FAR = 1 << 30

# What was read: bytes, bytes before the seam, the bytes themselves.
_Label: TypeAlias = tuple[int, int, bytes]
# A phase, a location, and what else matters there: the kind of the last token and what the piece has so far, as long as
# a token that is emitted as a whole begins with it; or the word so far, and whether it is a piece apart and as a whole.
_Node: TypeAlias = tuple[_Phase, Location, int, str | bytes | None, bool, bool]


class Search:
    """A search for the least two texts that a seam separates.

    Parameters
    ----------
    seam : Seam
    tokens : Tokens
    whole : iterable of str
        The tokens that are emitted only for whole pieces.
    max_seconds : float
        The time that the search may take.

    Raises
    ------
    UnsupportedFeatureError
        If unknown symbols that are fused may be in one piece of the texts apart, but not of the whole text.
    """

    def __init__(self, seam: Seam, tokens: Tokens, whole: Iterable[str] = (), *, max_seconds: float = 60.0) -> None:
        if tokens.fuses and any(
            move.begins_whole and not move.begins_apart for row in seam.moves for cell in row for move in cell
        ):
            raise UnsupportedFeatureError("unknown symbols of one piece may be in two pieces of the whole text")
        self._seam = seam
        self._tokens = tokens
        self._edges = EdgeFinder(seam, tokens)
        self._whole = {*whole}
        self._whole_bytes = {word.encode() for word in self._whole}
        self._beginnings = {word[:n] for word in self._whole_bytes for n in range(1, len(word) + 1)}
        self._next: dict[str, list[str]] = {}
        for begun in sorted({word[:n] for word in self._whole for n in range(1, len(word) + 1)}):
            self._next.setdefault(begun[:-1], []).append(begun[-1])
        self._longest_after: dict[str, int] = {}
        for word in self._whole:
            for n in range(len(word) + 1):
                self._longest_after[word[:n]] = max(self._longest_after.get(word[:n], 0), len(word) - n)
        self._flat = [[(c, move) for c, cell in enumerate(row) for move in cell] for row in seam.moves]
        self._n_kinds = max(tokens.kinds, default=0) + 1
        to_end = self._least_rests()
        # By whether borders have already differed.
        self._rest = self._least_rests(to_end), to_end
        self._max_seconds = max_seconds
        # After a first try, whether tokens need not be looked at.
        self._tries_to_prove = True
        self._by_tokens = True

    def least(self) -> Texts | None:
        """Return the least two texts; None if the seam separates none.

        Raises
        ------
        LimitExceededError
            If it takes too long.
        """
        budget = Budget(max_seconds=self._max_seconds, max_states=1 << 22, what="the search for two texts")
        bound, step = self._rest[False][0], 1
        while bound < _FAR:
            found = self._within(bound, budget)
            if found is not None or not self._is_cut_short:
                return found
            if self._tries_to_prove and never_merge(self._seam, self._tokens, self._edges):
                self._by_tokens = False
                return self._within(_FAR - 1, budget)
            self._tries_to_prove = False
            bound += step
            step += 1 + step // 2
        return None

    def _least_rests(self, beyond: list[int] | None = None) -> list[int]:
        """Return, for each state, the least number of bytes to an end.

        With `beyond`, which are these numbers, only ways count on which the borders of pieces differ.
        """
        sources: dict[int, dict[int, int]] = {}
        heap: list[tuple[int, int]] = []
        for state, row in enumerate(self._flat):
            for c, move in row:
                size = len(self._seam.least[c].encode())
                known = sources.setdefault(move.target, {})
                known[state] = min(known.get(state, size), size)
                if beyond is not None and (move.parts or move.begins_apart != move.begins_whole):
                    heappush(heap, (size + beyond[move.target], state))
        rests = [_FAR] * len(self._flat)
        if beyond is None:
            heap = [(0, state) for state, is_end in enumerate(self._seam.ends) if is_end]
        while heap:
            size, state = heappop(heap)
            if size < rests[state]:
                rests[state] = size
                for source, more in sources.get(state, {}).items():
                    heappush(heap, (size + more, source))
        return rests

    def _within(self, bound: int, budget: Budget) -> Texts | None:
        """Return the least two texts of no more than `bound` bytes; `_is_cut_short` is whether there may be others."""
        self._bound = bound
        self._is_cut_short = False
        self._edges.start()
        self._heap: list[tuple[_Label, int, _Node]] = []
        self._count = 0
        self._settled: set[_Node] = set()
        # For each location and use, the edges that no token has been allowed to take.
        self._waiting: dict[tuple[Location, Use, int], Int32Array] = {}
        self._nearest: dict[tuple[_Phase, Location], Int32Array] = defaultdict(
            lambda: np.full(self._n_kinds, _FAR, dtype=np.int32)
        )
        self._push((0, 0, b""), (_Phase.BEFORE, 0, 0, None, False, False), 0)
        while self._heap:
            label, _, node = heappop(self._heap)
            if node in self._settled:
                continue
            self._settled.add(node)
            budget.spend(1)
            budget.check_states(len(self._settled))
            phase, location = node[:2]
            if phase == _Phase.AFTER and isinstance(location, int) and self._seam.ends[location]:
                return Texts(label[2][: label[1]], label[2][label[1] :])
            if self._ends(node):
                return Texts(label[2][: label[1]], label[2][label[1] :])
            self._go_on(label, node)
        self._is_cut_short |= self._edges.left_out
        return None

    def _ends(self, node: _Node) -> bool:
        phase, location, _, read, apart, whole = node
        if not isinstance(location, int) or not self._seam.ends[location]:
            return False
        if phase == _Phase.PARTED:
            return read not in self._whole_bytes
        return phase == _Phase.WORD and read in self._whole and apart != whole

    def _push(self, label: _Label, node: _Node, location: Location) -> None:
        state = location if isinstance(location, int) else location[0]
        rest = self._rest[node[0] in _DIFFERED][state]
        if label[0] + rest > self._bound:
            self._is_cut_short |= rest < _FAR
            return
        if node not in self._settled:
            if not self._seam.is_after[state]:
                label = label[0], label[0], label[2]
            self._count += 1
            heappush(self._heap, (label, self._count, node))

    def _go_on(self, label: _Label, node: _Node) -> None:
        phase, location, _, read, *_ = node
        if phase == _Phase.BEFORE:
            assert isinstance(location, int)
            self._symbols(label, location, None)
            if self._by_tokens:
                self._tokens_from(label, node, Use.BEGIN)
            if self._whole:
                self._words(label, location)
        elif phase == _Phase.AFTER:
            assert isinstance(location, int)
            self._symbols(label, location, _Phase.AFTER)
        elif phase == _Phase.WORD:
            self._word(label, node)
        elif phase == _Phase.PIECE:
            self._tokens_from(label, node, Use.GO_ON)
            if read not in self._whole_bytes:
                self._tokens_from(label, node, Use.PART)
        else:
            self._tokens_from(label, node, Use.END)
            if isinstance(location, int) and read not in self._whole_bytes:
                for c, move in self._flat[location]:
                    if move.begins_apart or move.is_special:
                        self._symbol(label, location, c, move, _Phase.AFTER)

    # By symbols

    def _symbols(self, label: _Label, state: int, phase: _Phase | None) -> None:
        for c, move in self._flat[state]:
            to = _Phase.AFTER if phase is not None or move.parts else _Phase.BEFORE
            self._symbol(label, state, c, move, to)

    def _symbol(self, label: _Label, state: int, c: int, move: Move, phase: _Phase) -> None:
        data = self._seam.least[c].encode()
        self._read(label, state, data, (phase, move.target, 0, None, False, False), move.target)

    def _read(self, label: _Label, source: Location, data: bytes, node: _Node, target: Location) -> None:
        size, before, text = label
        self._push((size + len(data), before, text + data), node, target)

    # By tokens

    def _tokens_from(self, label: _Label, node: _Node, use: Use) -> None:
        phase, location, kind, read, *_ = node
        longest = self._bound - label[0]
        if use == Use.BEGIN:
            assert isinstance(location, int)
            found = self._edges.beginning(location, longest)
        else:
            found = self._edges.edges(location, use, longest)
        for place, edges in enumerate(found):
            allowed = np.arange(len(edges.tokens), dtype=np.int32)
            if use != Use.BEGIN:
                allowed = self._allowed(kind, edges, (location, use, place), use, is_free=read is None)
            parted = phase == _Phase.PARTED or use == Use.PART or edges.cuts
            to = _Phase.PARTED if parted else _Phase.PIECE
            lengths = edges.lengths[allowed] + label[0]
            rest = self._rest[parted][edges.state]
            if rest >= _FAR:
                continue
            if lengths.max(initial=0) + rest > self._bound:
                self._is_cut_short = True
                allowed = allowed[lengths + rest <= self._bound]
            if not self._beginnings:
                # Of the ways to a node only the shortest ones matter.
                nearest = self._nearest[to, edges.target]
                lengths, kinds = edges.lengths[allowed] + label[0], edges.kinds[allowed]
                near = lengths <= nearest[kinds]
                allowed, kinds = allowed[near], kinds[near]
                np.minimum.at(nearest, kinds, lengths[near])
                allowed = allowed[edges.lengths[allowed] + label[0] <= nearest[kinds]]
            for token in edges.tokens[allowed].tolist():
                word = self._tokens.words[token]
                begun: bytes | None = None
                if self._beginnings:
                    begins = use in (Use.BEGIN, Use.PART)
                    begun = word if begins else None if read is None else read + word
                    begun = begun if begun in self._beginnings else None
                to_node = (to, edges.target, self._tokens.kinds[token], begun, False, False)
                self._read(label, location, word[edges.n_put :], to_node, edges.target)

    def _allowed(
        self, kind: int, edges: Edges, key: tuple[Location, Use, int], use: Use, *, is_free: bool
    ) -> Int32Array:
        """Return the edges that a token of a kind may take, without those that were taken with less."""
        waiting = self._waiting.get(key) if is_free else None
        if waiting is None:
            waiting = np.arange(len(edges.tokens), dtype=np.int32)
        if not len(waiting):
            return waiting
        tokens = edges.tokens[waiting]
        allowed: BoolArray = (
            self._tokens.joined(kind, tokens) if use == Use.PART else ~self._tokens.forbidden(kind, tokens)
        )
        if is_free:
            self._waiting[key] = waiting[~allowed]
        return waiting[allowed]

    # By words that are tokens as a whole

    def _words(self, label: _Label, state: int) -> None:
        if self._seam.distance[state] > self._longest_after[""] + 1:
            return
        for symbol in self._next[""]:
            for move, data in self._moves(state, symbol):
                if move.begins_apart or move.begins_whole:
                    node = (_Phase.WORD, move.target, 0, symbol, move.begins_apart, move.begins_whole)
                    self._read(label, state, data, node, move.target)

    def _moves(self, state: int, symbol: str) -> list[tuple[Move, bytes]]:
        """Return the moves on a symbol, and what is read: nothing of a space that is put before a text."""
        c = int(self._seam.class_of_code_point[ord(symbol)])
        found = [(move, symbol.encode()) for move in self._seam.moves[state][c]]
        if symbol == " " and self._seam.put is not None:
            found += [(move, b"") for move in self._seam.moves[state][self._seam.put]]
        return [(move, data) for move, data in found if not move.parts and not move.is_special]

    def _word(self, label: _Label, node: _Node) -> None:
        _, location, _, read, apart, whole = node
        assert isinstance(location, int)
        assert isinstance(read, str)
        if read in self._whole:
            for c, move in self._flat[location]:
                has = (
                    apart and (move.begins_apart or move.is_special),
                    whole and (move.begins_whole or move.is_special),
                )
                if has[0] != has[1] and not move.parts:
                    self._symbol(label, location, c, move, _Phase.AFTER)
        if apart == whole and self._seam.distance[location] > self._longest_after[read] + 1:
            return
        for symbol in self._next.get(read, ()):
            for move, data in self._moves(location, symbol):
                still = apart and not move.begins_apart, whole and not move.begins_whole
                if any(still):
                    to = (_Phase.WORD, move.target, 0, read + symbol, *still)
                    self._read(label, location, data, to, move.target)
