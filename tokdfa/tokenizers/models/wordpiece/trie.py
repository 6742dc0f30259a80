"""The trie of LinMaxMatch: failure links and failure pops."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tokdfa.base.errors import LimitExceededError
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

ROOT = 0
SUFFIX_ROOT = 1
_MOST_POPS = 1 << 26


class Pop(NamedTuple):
    """A token that a failure transition emits: its id, and the number of symbols of the word that it covers."""

    id: int
    length: int


class FailureTrie:
    """The trie of a WordPiece vocabulary, with the action to take at each node when matching cannot continue.

    Node 0 is the root, where a word begins; node 1 is the suffix root, where a match inside a word begins. At a node v
    without an edge for the next symbol, the tokens ``pops[v]`` are settled, and the symbols read after them are the
    path to the node ``failure[v]``. It is -1 if such a node is missing, and then the word has no tokenization.

    The edges of a node lead from symbols to `children`. `parent`, `failure` and `entry`, the id of the token that ends
    at a node, are -1 where there is none. More than 2²⁶ pops in total, which take entries of thousands of symbols, are
    refused.

    Notes
    -----
    *Fast WordPiece Tokenization*, EMNLP 2021, definitions 1 and 2 and algorithm 2. In the paper the suffix root is the
    node of the prefix itself. Here it is a separate root, and the prefixed entries, with which a word may also begin
    literally, are repeated below the root. The vocabulary {#, ###a, ##b} gives ``##a`` the tokens #, ###a, which a
    shared node would miss.
    """

    def __init__(self, beginnings: Mapping[str, int], continuations: Mapping[str, int]) -> None:
        self.children: list[dict[str, int]] = [{}, {}]
        self.parent = [-1, -1]
        self.entry = [-1, -1]
        self.depth = [0, 0]
        for root, words in ((ROOT, beginnings), (SUFFIX_ROOT, continuations)):
            for word, number in words.items():
                self._insert(root, word, number)
        self.failure = [-1] * len(self.children)
        self.pops: list[tuple[Pop, ...]] = [()] * len(self.children)
        self._link()

    @classmethod
    def of(cls, vocabulary: WordPieceVocabulary) -> FailureTrie:
        """Return the trie of `vocabulary`."""
        return cls(vocabulary.beginnings, vocabulary.continuations)

    def _insert(self, root: int, word: str, number: int) -> None:
        node = root
        for symbol in word:
            child = self.children[node].get(symbol)
            if child is None:
                child = self.children[node][symbol] = len(self.children)
                self.children.append({})
                self.parent.append(node)
                self.entry.append(-1)
                self.depth.append(self.depth[node] + 1)
            node = child
        self.entry[node] = number

    def _link(self) -> None:
        """Compute failure links and pops, nearest to the roots first."""
        n_pops = 0
        queue = deque((ROOT, SUFFIX_ROOT))
        while queue:
            node = queue.popleft()
            for symbol, child in self.children[node].items():
                if self.entry[child] >= 0:
                    # The longest match is the whole path.
                    self.failure[child] = SUFFIX_ROOT
                    self.pops[child] = (Pop(self.entry[child], self.depth[child]),)
                else:
                    popped = list(self.pops[node])
                    target = self.failure[node]
                    while target >= 0 and symbol not in self.children[target]:
                        popped.extend(self.pops[target])
                        target = self.failure[target]
                    if target >= 0:
                        self.failure[child] = self.children[target][symbol]
                        self.pops[child] = tuple(popped)
                n_pops += len(self.pops[child])
                if n_pops > _MOST_POPS:
                    raise LimitExceededError(f"this vocabulary has more than {_MOST_POPS} failure pops")
                queue.append(child)

    def match(self, word: Iterable[str]) -> list[Pop] | None:
        """Tokenize one word in one pass; None if it has no tokenization.

        Notes
        -----
        *Fast WordPiece Tokenization*, algorithm 1, without the length limit and the unknown token.
        """
        tokens, node = self.advance(ROOT, word)
        while node > SUFFIX_ROOT:
            tokens.extend(self.pops[node])
            node = self.failure[node]
        return tokens if node >= 0 else None

    def advance(self, node: int, text: Iterable[str]) -> tuple[list[Pop], int]:
        """Read `text` from `node`; return the tokens popped on the way and the node reached, -1 for none."""
        popped: list[Pop] = []
        for symbol in text:
            while symbol not in self.children[node]:
                if self.failure[node] < 0:
                    return popped, -1
                popped.extend(self.pops[node])
                node = self.failure[node]
            node = self.children[node][symbol]
        return popped, node

    def path(self, node: int) -> str:
        """Return the symbols on the path to `node` from its root."""
        symbols = []
        while self.parent[node] >= 0:
            parent = self.parent[node]
            symbols.append(next(symbol for symbol, child in self.children[parent].items() if child == node))
            node = parent
        return "".join(reversed(symbols))

    def iter_edges(self) -> Iterator[tuple[int, str, int]]:
        """Yield every edge as (node, symbol, child)."""
        for node, children in enumerate(self.children):
            for symbol, child in children.items():
                yield node, symbol, child

    def __len__(self) -> int:
        return len(self.children)

    def __repr__(self) -> str:
        return f"<FailureTrie of {len(self)} nodes>"
