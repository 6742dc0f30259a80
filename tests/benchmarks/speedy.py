"""The four stages by which *Fast and meaningful tokenization* makes a trainer fast, each as slow as it is there.

All occurrences of all words are one list of tokens, and no pair crosses the boundary of a word. The stages differ in
how they find the most frequent pair and how they replace it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

Pair = tuple[int, int]


class Node:
    """A token of the linked list: its id, the number of its word, its neighbours."""

    __slots__ = ("after", "before", "id", "word")

    def __init__(self, token: int, word: int) -> None:
        self.id, self.word = token, word
        self.before: Node | None = None
        self.after: Node | None = None


class MultisetHeap:
    """Counts of pairs with the largest on top: a binary heap that knows the place of every pair."""

    def __init__(self) -> None:
        self._heap: list[list[int | Pair]] = []
        self._place: dict[Pair, int] = {}

    def add(self, pair: Pair, count: int) -> None:
        place = self._place.get(pair)
        if place is None:
            place = self._place[pair] = len(self._heap)
            self._heap.append([0, pair])
        self._heap[place][0] += count  # type: ignore[operator]
        self._up(place) if count > 0 else self._down(place)

    def pop(self) -> tuple[int, Pair]:
        """Return the count of the most frequent pair and the pair, and forget it."""
        count, pair = self._heap[0]
        last = self._heap.pop()
        del self._place[pair]  # type: ignore[arg-type]
        if self._heap:
            self._put(0, last)
            self._down(0)
        return count, pair  # type: ignore[return-value]

    def __len__(self) -> int:
        return len(self._heap)

    def __contains__(self, pair: Pair) -> bool:
        return pair in self._place

    def _put(self, place: int, entry: list[int | Pair]) -> None:
        self._heap[place] = entry
        self._place[entry[1]] = place  # type: ignore[index]

    def _up(self, place: int) -> None:
        entry = self._heap[place]
        while place and self._heap[(place - 1) // 2][0] < entry[0]:  # type: ignore[operator]
            self._put(place, self._heap[(place - 1) // 2])
            place = (place - 1) // 2
        self._put(place, entry)

    def _down(self, place: int) -> None:
        entry, size = self._heap[place], len(self._heap)
        while (child := 2 * place + 1) < size:
            if child + 1 < size and self._heap[child + 1][0] > self._heap[child][0]:  # type: ignore[operator]
                child += 1
            if self._heap[child][0] <= entry[0]:  # type: ignore[operator]
                break
            self._put(place, self._heap[child])
            place = child
        self._put(place, entry)


def symbol_ids(words: Sequence[str]) -> dict[str, int]:
    """Number the symbols in the order in which they first occur."""
    return {symbol: number for number, symbol in enumerate(dict.fromkeys(symbol for word in words for symbol in word))}


def train_lists(words: Sequence[str], merges: int) -> list[Pair]:
    """Stage 1: count all pairs afresh and write the list of tokens anew for every merge."""
    ids = symbol_ids(words)
    tokens = [(ids[symbol], number) for number, word in enumerate(words) for symbol in word]
    made = []
    for fresh in range(len(ids), len(ids) + merges):
        counts: Counter[Pair] = Counter()
        for (left, word), (right, next_word) in pairwise(tokens):
            if word == next_word:
                counts[left, right] += 1
        if not counts:
            break
        pair = counts.most_common(1)[0][0]
        made.append(pair)
        replaced, place = [], 0
        while place < len(tokens):
            token, word = tokens[place]
            if place + 1 < len(tokens) and tokens[place + 1][1] == word and (token, tokens[place + 1][0]) == pair:
                replaced.append((fresh, word))
                place += 2
            else:
                replaced.append(tokens[place])
                place += 1
        tokens = replaced
    return made


def linked(words: Sequence[str], ids: dict[str, int]) -> tuple[Node, dict[Pair, list[Node]]]:
    """Return the first node of the linked list, and the places of each pair."""
    before = start = Node(-1, -1)
    places: dict[Pair, list[Node]] = defaultdict(list)
    for number, word in enumerate(words):
        for symbol in word:
            node = Node(ids[symbol], number)
            before.after, node.before = node, before
            if before.word == number:
                places[before.id, node.id].append(before)
            before = node
    assert start.after is not None
    start.after.before = None
    return start.after, places


def replace(places: dict[Pair, list[Node]], pair: Pair, fresh: int) -> Iterator[tuple[Pair, int]]:
    """Replace a pair where it still is, and yield by how much the counts of other pairs change."""
    for node in places[pair]:
        after = node.after
        if after is None or (node.id, after.id) != pair or node.word != after.word:
            continue
        before, beyond = node.before, after.after
        if before is not None and before.word == node.word:
            places[before.id, fresh].append(before)
            yield (before.id, fresh), 1
            yield (before.id, node.id), -1
        if beyond is not None and beyond.word == node.word:
            places[fresh, beyond.id].append(node)
            yield (fresh, beyond.id), 1
            yield (after.id, beyond.id), -1
        node.id, after.id = fresh, -1
        node.after = beyond
        if beyond is not None:
            beyond.before = node


def train_linked(words: Sequence[str], merges: int) -> list[Pair]:
    """Stage 2: go only to the places of the pair, but count all pairs afresh."""
    ids = symbol_ids(words)
    first, places = linked(words, ids)
    made = []
    for fresh in range(len(ids), len(ids) + merges):
        counts: Counter[Pair] = Counter()
        node = first
        while (after := node.after) is not None:
            if node.word == after.word:
                counts[node.id, after.id] += 1
            node = after
        if not counts:
            break
        pair = counts.most_common(1)[0][0]
        made.append(pair)
        for _ in replace(places, pair, fresh):
            pass
    return made


def train_counted(words: Sequence[str], merges: int) -> list[Pair]:
    """Stage 3: keep the counts up to date, and look through all of them for the largest."""
    ids = symbol_ids(words)
    _, places = linked(words, ids)
    counts = {pair: len(nodes) for pair, nodes in places.items()}
    made = []
    for fresh in range(len(ids), len(ids) + merges):
        pair = max(counts, key=counts.__getitem__, default=None)
        if pair is None or counts[pair] <= 0:
            break
        made.append(pair)
        for other, change in replace(places, pair, fresh):
            counts[other] = counts.get(other, 0) + change
        counts[pair] = 0
    return made


def train_heaped(words: Sequence[str], merges: int) -> list[Pair]:
    """Stage 4: keep the counts in a heap that knows the place of every pair."""
    ids = symbol_ids(words)
    _, places = linked(words, ids)
    heap = MultisetHeap()
    for pair, nodes in places.items():
        heap.add(pair, len(nodes))
    made = []
    for fresh in range(len(ids), len(ids) + merges):
        if not heap:
            break
        count, pair = heap.pop()
        if count <= 0:
            break
        made.append(pair)
        for other, change in replace(places, pair, fresh):
            # Within a run of one symbol, the pair itself changes.
            if other != pair:
                heap.add(other, change)
    return made


STAGES = {
    "1 lists": train_lists,
    "2 linked list": train_linked,
    "3 counts kept": train_counted,
    "4 heap": train_heaped,
}


def spelled(words: Sequence[str], made: Sequence[Pair]) -> list[str]:
    """Return the tokens that the merges make."""
    texts = list(symbol_ids(words))
    n_symbols = len(texts)
    for left, right in made:
        texts.append(texts[left] + texts[right])
    return texts[n_symbols:]
