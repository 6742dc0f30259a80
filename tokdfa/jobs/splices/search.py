"""The least two texts that have other ids encoded separately than as one text.

The tokens of the texts apart are also the tokens of the whole unless, somewhere, a piece of the whole begins within a
token; or a piece of the texts apart begins where one of the whole continues, and merging does not leave the tokens
there side by side; or only one of them has a piece that is a token as a whole; or the special tokens differ. A search
for such a location goes from the beginning of the text to the beginning of a piece by symbols, from there by tokens to
the location and to the end of that piece, and then by symbols again. The text read is always the least one that leads
there: in bytes, then in bytes before the seam, then in the order of bytes. So the first end that it reaches is the end
of the least texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.splices.edges import EdgeFinder, Edges, Location, Parting, Use, partings
from tokdfa.jobs.splices.seam import Move, Seam
from tokdfa.jobs.splices.tokens import Tokens
from tokdfa.jobs.splices.whole_words import WholeWords


class Texts(NamedTuple):
    """Two texts, in UTF-8."""

    before: bytes
    after: bytes


class _Phase(IntEnum):
    """How far a search is: before the piece; in it, before and after the location; after it; in a whole piece."""

    BEFORE = 0
    PIECE = 1
    PARTED = 2
    AFTER = 3
    WORD = 4


_DIFFERED = (_Phase.PARTED, _Phase.AFTER, _Phase.WORD)
_FAR = 1 << 30

# The text read: its bytes, its bytes before the seam, the bytes themselves.
_Label: TypeAlias = tuple[int, int, bytes]
# A phase, a location, and more that matters there: the kind of the last token and the piece so far, as long as a token
# that is emitted as a whole begins with it; or the word so far, and whether it is a piece apart and as a whole.
_Node: TypeAlias = tuple[_Phase, Location, int, str | bytes | None, bool, bool]


class _Ways(NamedTuple):
    """Edges by their cost up to an end, then in the order of words."""

    edges: Edges
    tokens: Int32Array
    kinds: Int32Array
    targets: Int32Array
    parts: BoolArray
    costs: Int32Array
    # Numbers, the same for edges that lead to one node, and the first edge of each.
    groups: Int64Array
    firsts: Int32Array


class Search:
    """A search for the least two texts that a seam separates, where `whole` are the tokens given only for whole pieces.

    Refused where unknown symbols that are fused may be in one piece of the texts apart, but not of the whole text.
    """

    def __init__(self, seam: Seam, tokens: Tokens, whole: Iterable[str] = (), *, max_seconds: float = 60.0) -> None:
        if tokens.fuses and any(
            move.begins_whole and not move.begins_apart for row in seam.moves for cell in row for move in cell
        ):
            raise UnsupportedFeatureError("unknown symbols of one piece may be in two pieces of the whole text")
        self._seam = seam
        self._tokens = tokens
        self._edges = EdgeFinder(seam, tokens)
        self._words = WholeWords(seam, whole)
        self._whole_bytes = {word.encode() for word in self._words.whole}
        self._beginnings = {word[:n] for word in self._whole_bytes for n in range(1, len(word) + 1)}
        self._is_beginning = np.array([word in self._beginnings for word in tokens.words], dtype=np.bool_)
        self._flat = [[(c, move) for c, cell in enumerate(row) for move in cell] for row in seam.moves]
        self._n_kinds = max(tokens.kinds, default=0) + 1
        self._before = self._sources()
        # By whether boundaries have already differed.
        # The least number of bytes to an end from a state, and from there on a way on which the texts may differ; for
        # the latter, also from within a symbol, if they differ before its end.
        self._to_end = self._least_rests([(0, state) for state, is_end in enumerate(seam.ends) if is_end])
        self._direct(None)
        self._max_seconds = max_seconds

    def least(self) -> Texts | None:
        """Return the least two texts; None if the seam separates none."""
        budget = Budget(max_seconds=self._max_seconds, max_states=1 << 22, what="the search for two texts")
        bound, step = self._to_parting[0], 1
        is_directed = False
        while bound < _FAR:
            found = self._within(bound, budget)
            if found is not None or not self._is_cut_short:
                return found
            if not is_directed:
                is_directed = True
                self._direct(partings(self._seam, self._tokens, self._edges))
                bound = max(bound, self._to_parting[0] - step)
            bound += step
            step += 1 + step // 2
        return None

    def _direct(self, found: Iterable[Parting] | None) -> None:
        """Search only on ways on which the texts may differ; with `found`, they differ there or not by their tokens."""
        to_end = self._to_end
        heap = []
        self._to_parting_within: dict[Location, int] = {}
        inside: dict[int, list[tuple[int, int]]] = {}
        for source, target, length in found or ():
            size = length + to_end[target]
            if isinstance(source, int):
                heap.append((size, source))
            else:
                self._to_parting_within[source] = min(self._to_parting_within.get(source, _FAR), size)
                inside.setdefault(source[0], []).append((source[1], size))
        for state, row in enumerate(self._flat):
            for c, move in row:
                if move.parts or (move.begins_apart != move.begins_whole and found is None):
                    heap.append((len(self._seam.least[c].encode()) + to_end[move.target], state))
                for following, size in inside.get(move.target, ()):
                    if following in self._edges.within[c]:
                        heap.append((self._edges.within[c][following] + size, state))
        if found is not None:
            heap += self._words.least(self._to_end)
        self._to_parting = self._least_rests(heap)
        self._rests: dict[tuple[Location, bool], int] = {}
        self._ways: dict[tuple[int, Use], _Ways] = {}

    def _rest(self, location: Location, differed: bool) -> int:
        """Return the least number of bytes from a location to an end, if the texts differ already or later."""
        key = location, differed
        rest = self._rests.get(key)
        if rest is None:
            state = location if isinstance(location, int) else location[0]
            rest = self._edges.n_left(location) + (self._to_end if differed else self._to_parting)[state]
            if not differed:
                rest = min(rest, self._to_parting_within.get(location, _FAR))
            self._rests[key] = rest
        return rest

    def _sources(self) -> list[dict[int, int]]:
        """Return, for each state, the states before it with the least number of bytes from there."""
        sources: list[dict[int, int]] = [{} for _ in self._flat]
        for state, row in enumerate(self._flat):
            for c, move in row:
                size = len(self._seam.least[c].encode())
                known = sources[move.target]
                known[state] = min(known.get(state, size), size)
        return sources

    def _least_rests(self, heap: list[tuple[int, int]]) -> list[int]:
        """Return, for each state, the least number of bytes to one of some states, and on."""
        rests = [_FAR] * len(self._flat)
        heapify(heap)
        while heap:
            size, state = heappop(heap)
            if size < rests[state]:
                rests[state] = size
                for source, more in self._before[state].items():
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
        self._best: dict[_Node, _Label] = {}
        # For each location and use, the edges that no token has been allowed to take.
        self._waiting: dict[tuple[Location, Use], Int32Array] = {}
        self._push((0, 0, b""), (_Phase.BEFORE, 0, 0, None, False, False), 0)
        while self._heap:
            label, _, node = heappop(self._heap)
            if node in self._settled:
                continue
            self._settled.add(node)
            budget.spend(1)
            budget.check_states(len(self._settled))
            if self._ends(node):
                return Texts(label[2][: label[1]], label[2][label[1] :])
            self._go_on(label, node)
        self._is_cut_short |= self._edges.left_out
        return None

    def _ends(self, node: _Node) -> bool:
        phase, location, _, read, apart, whole = node
        if not isinstance(location, int) or not self._seam.ends[location]:
            return False
        if phase in (_Phase.PARTED, _Phase.AFTER):
            return read not in self._whole_bytes
        return phase == _Phase.WORD and isinstance(read, str) and self._words.is_end((location, read, apart, whole))

    def _push(self, label: _Label, node: _Node, location: Location) -> None:
        state = location if isinstance(location, int) else location[0]
        rest = self._rest(location, node[0] in _DIFFERED)
        if label[0] + rest > self._bound:
            self._is_cut_short |= rest < _FAR
            return
        if not self._seam.is_after[state]:
            label = label[0], label[0], label[2]
        best = self._best.get(node)
        if best is None or label < best:
            self._best[node] = label
            self._count += 1
            heappush(self._heap, (label, self._count, node))

    def _go_on(self, label: _Label, node: _Node) -> None:
        phase, location, _, read, *_ = node
        if phase == _Phase.BEFORE:
            assert isinstance(location, int)
            self._symbols(label, location, _Phase.BEFORE)
            self._tokens_from(label, node, Use.BEGIN)
            for data, word in self._words.begun(location):
                self._read(label, location, data, (_Phase.WORD, word[0], 0, *word[1:]), word[0])
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

    def _symbols(self, label: _Label, state: int, phase: _Phase) -> None:
        for c, move in self._flat[state]:
            self._symbol(label, state, c, move, _Phase.AFTER if move.parts else phase)

    def _symbol(self, label: _Label, state: int, c: int, move: Move, phase: _Phase) -> None:
        data = self._seam.least[c].encode()
        self._read(label, state, data, (phase, move.target, 0, None, False, False), move.target)

    def _read(self, label: _Label, source: Location, data: bytes, node: _Node, target: Location) -> None:
        size, before, text = label
        self._push((size + len(data), before, text + data), node, target)

    # By tokens

    def _tokens_from(self, label: _Label, node: _Node, use: Use) -> None:
        _, location, kind, read, *_ = node
        longest = self._bound - label[0]
        if use == Use.BEGIN:
            assert isinstance(location, int)
            found = self._edges.beginning(location, longest)
        else:
            found = [self._edges.edges(location, use, longest)]
        for edges in found:
            ways = self._ways_of(edges, use)
            if use == Use.BEGIN:
                taken = ways.firsts[: np.searchsorted(ways.costs[ways.firsts], longest, side="right")]
                self._is_cut_short |= len(taken) < len(ways.firsts)
            else:
                taken = self._allowed(kind, ways, longest, (location, use), use, is_free=read is None)
            data = self._tokens.words
            rows = zip(
                ways.tokens[taken].tolist(),
                ways.kinds[taken].tolist(),
                ways.targets[taken].tolist(),
                ways.parts[taken].tolist(),
                strict=True,
            )
            for token, to_kind, target, parts in rows:
                word = data[token]
                begun: bytes | None = None
                if self._beginnings:
                    begins = use in (Use.BEGIN, Use.PART)
                    begun = word if begins else None if read is None else read + word
                    begun = begun if begun in self._beginnings else None
                to = self._edges.locations[target]
                to_phase = _Phase.PARTED if parts else _Phase.PIECE
                self._read(label, location, word[edges.n_put :], (to_phase, to, to_kind, begun, False, False), to)

    def _ways_of(self, edges: Edges, use: Use) -> _Ways:
        key = id(edges), use
        known = self._ways.get(key)
        if known is None or known.edges is not edges:
            parts = edges.cuts | (use in (Use.PART, Use.END))
            numbers, inverse = np.unique(edges.targets, return_inverse=True)
            locations = [self._edges.locations[number] for number in numbers.tolist()]
            later, now = (
                np.array([self._rest(location, differed) for location in locations]) for differed in (False, True)
            )
            rests = np.where(parts, now[inverse], later[inverse]) if len(locations) else np.zeros(0, dtype=np.int64)
            kept = np.flatnonzero(rests < _FAR)
            costs: Int32Array = (edges.lengths[kept] + rests[kept]).astype(np.int32)
            # The words ascend with their numbers.
            order = np.lexsort((edges.tokens[kept], costs))
            kept, costs = kept[order], costs[order]
            tokens, kinds, targets, parts = (a[kept] for a in (edges.tokens, edges.kinds, edges.targets, parts))
            groups = (targets.astype(np.int64) * 2 + parts) * self._n_kinds + kinds
            if self._beginnings and use in (Use.BEGIN, Use.PART):
                # Tokens that whole pieces begin with are kept apart.
                groups = np.where(self._is_beginning[tokens], -1 - np.arange(len(groups)), groups)
            _, first = np.unique(groups, return_index=True)
            firsts: Int32Array = np.sort(first).astype(np.int32)
            known = self._ways[key] = _Ways(edges, tokens, kinds, targets, parts, costs, groups, firsts)
        return known

    def _allowed(
        self, kind: int, ways: _Ways, longest: int, key: tuple[Location, Use], use: Use, *, is_free: bool
    ) -> Int32Array:
        """Return the edges that a token of a kind may take, except edges that were taken with less."""
        waiting = self._waiting.get(key) if is_free else None
        if waiting is None:
            waiting = np.arange(len(ways.tokens), dtype=np.int32)
        near = int(np.searchsorted(ways.costs[waiting], longest, side="right"))
        self._is_cut_short |= near < len(waiting)
        if not near:
            return waiting[:0]
        tokens = ways.tokens[waiting[:near]]
        allowed: BoolArray = (
            self._tokens.joined(kind, tokens) if use == Use.PART else ~self._tokens.forbidden(kind, tokens)
        )
        taken = waiting[:near][allowed]
        if is_free and len(taken):
            self._waiting[key] = np.concatenate((waiting[:near][~allowed], waiting[near:]))
        if len(taken) > 1 and is_free:
            # Of the ways to a node only the first one matters.
            _, first = np.unique(ways.groups[taken], return_index=True)
            taken = taken[np.sort(first)]
        return taken

    # By words that are tokens as a whole

    def _word(self, label: _Label, node: _Node) -> None:
        _, location, _, read, apart, whole = node
        assert isinstance(location, int)
        assert isinstance(read, str)
        word = location, read, apart, whole
        for c, move in self._words.ends(word):
            self._symbol(label, location, c, move, _Phase.AFTER)
        for data, longer in self._words.longer(word):
            self._read(label, location, data, (_Phase.WORD, longer[0], 0, *longer[1:]), longer[0])
