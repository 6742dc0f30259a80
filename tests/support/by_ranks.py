"""Byte pair encoding straight from ranks, by a priority queue and by rounds: no rules, no automata."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np


def merge(word: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """Merge as tiktoken does: the pair of the lowest rank, the leftmost of equals, until none is left."""
    parts = [bytes([byte]) for byte in word]
    while True:
        found = [(ranks[a + b], at) for at, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not found:
            return parts
        _, at = min(found)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def merge_by_queue(ranks: dict[bytes, int], piece: bytes) -> list[int]:
    """Merge the pair of least rank, the leftmost of equals, until none is left: O(n log n)."""
    words: list[bytes] = [piece[i : i + 1] for i in range(len(piece))]
    after = list(range(1, len(words) + 1))
    before = list(range(-1, len(words) - 1))
    queue = [(rank, i) for i, pair in enumerate(pairwise(words)) if (rank := ranks.get(b"".join(pair))) is not None]
    heapify(queue)
    while queue:
        rank, i = heappop(queue)
        j = after[i]
        if not words[i] or j == len(words) or ranks.get(words[i] + words[j]) != rank:
            continue
        words[i] += words[j]
        words[j] = b""
        k = after[i] = after[j]
        if k < len(words):
            before[k] = i
            if (rank_behind := ranks.get(words[i] + words[k])) is not None:
                heappush(queue, (rank_behind, i))
        h = before[i]
        if h >= 0 and (rank_before := ranks.get(words[h] + words[i])) is not None:
            heappush(queue, (rank_before, h))
    return [ranks[word] for word in words if word]


def merge_by_rounds(ranks: dict[bytes, int], piece: bytes) -> list[int]:
    """Merge all pairs of least rank at once, from the left, again and again: for long texts of few different tokens.

    It is the same where every token's parts have lower ranks than the token.
    """
    words = [bytes([byte]) for byte in sorted(set(piece))]
    number = {word: i for i, word in enumerate(words)}
    table = np.zeros(256, dtype=np.int64)
    table[sorted(set(piece))] = range(len(words))
    tokens = table[np.frombuffer(piece, dtype=np.uint8)]
    while len(tokens) > 1:
        codes = tokens[:-1] << 32 | tokens[1:]
        present = [(words[code >> 32], words[code & 0xFFFFFFFF]) for code in np.unique(codes).tolist()]
        ranked = [(ranks[u + v], u, v) for u, v in present if u + v in ranks]
        if not ranked:
            break
        _, u, v = min(ranked)
        if u + v not in number:
            number[u + v] = len(words)
            words.append(u + v)
        places = np.flatnonzero(codes == (number[u] << 32 | number[v]))
        if u == v:
            # Of a run of overlapping places every other one.
            begins = np.diff(places, prepend=-2) > 1
            index = np.arange(len(places))
            places = places[(index - np.maximum.accumulate(np.where(begins, index, 0))) % 2 == 0]
        tokens[places] = number[u + v]
        tokens = np.delete(tokens, places + 1)
    return [ranks[words[token]] for token in tokens.tolist()]
