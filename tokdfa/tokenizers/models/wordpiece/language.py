"""The language of correct WordPiece tokenizations of words, as a token automaton."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from tokdfa.base.verdict import Displayed, Verdict
from tokdfa.tokenizers.models.wordpiece.trie import ROOT, SUFFIX_ROOT, FailureTrie
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


class WordState(NamedTuple):
    """The state within a word: a node of the trie, and the length of the word, or 0 without a limit."""

    node: int
    length: int


class TwoWordRuns(NamedTuple):
    """Two runs that read the same ids and end in different nodes: the nodes where they begin, the ids, and the ends."""

    begins: tuple[int, int]
    ids: tuple[int, ...]
    ends: tuple[int, int]


class WordLanguage(Displayed):
    """The token sequences that MaxMatch gives for words, as a deterministic automaton over ids.

    It implements :class:`tokdfa.automata.protocol.TokenAutomaton`. The first token of a word is an entry without the
    prefix, and all others have it; words that MaxMatch begins with a prefixed entry are left out. With an empty prefix,
    every entry may occur everywhere, unless there is an opening: then the first token of a word has it, and all others
    are taken literally. All states are final.

    Unless it is not `limited`, the longest word of the vocabulary is a limit, and states count the symbols of the word.
    `beginnings` and `continuations` have the ids that begin and that continue words, ascending, with their texts. With
    an opening, one id may do both.

    Notes
    -----
    A state is the node of the trie of LinMaxMatch that is reached on the text of the tokens. The failure transitions
    from there to the end of the word would pop the last tokens read, which are in :attr:`pending`. Another token is
    correct if and only if reading its symbols pops nothing else. So the automaton has no more states than the trie has
    nodes, although a match may turn out to be the longest one only several tokens later.
    """

    def __init__(self, vocabulary: WordPieceVocabulary, *, limited: bool = True) -> None:
        self.vocabulary = vocabulary
        self.trie = FailureTrie.of(vocabulary)
        self.limit = vocabulary.longest_word if limited else None
        self.continuations: dict[int, str] = {}
        self.beginnings: dict[int, str] = {}
        skip = len(vocabulary.prefix)
        for entry, number in sorted(vocabulary.beginnings.items(), key=lambda item: item[1]):
            if vocabulary.opening or not entry.startswith(vocabulary.prefix):
                self.beginnings[number] = entry
            elif len(entry) > skip:
                self.continuations[number] = entry[skip:]
        if vocabulary.opening:
            of_ids = sorted(vocabulary.continuations.items(), key=lambda item: item[1])
            self.continuations = {number: text for text, number in of_ids}
        self._root = ROOT if vocabulary.prefix or vocabulary.opening else SUFFIX_ROOT

    @cached_property
    def pending(self) -> list[tuple[int, ...] | None]:
        """The last ids of a word that ends at each node, as far as more symbols could change them.

        None if no word can end there.
        """
        trie = self.trie
        pending: list[tuple[int, ...] | None] = [None] * len(trie)
        pending[ROOT] = pending[SUFFIX_ROOT] = ()
        # A failure link leads to a node nearer to its root.
        for node in sorted(range(2, len(trie)), key=trie.depth.__getitem__):
            rest = pending[trie.failure[node]] if trie.failure[node] >= 0 else None
            if rest is not None:
                pending[node] = tuple(pop.id for pop in trie.pops[node]) + rest
        return pending

    def advance(self, node: int, text: str) -> tuple[list[int], int]:
        """Read `text` from `node`; return the ids popped on the way and the node reached, -1 for none."""
        popped, node = self.trie.advance(node, text)
        return [pop.id for pop in popped], node

    def settle(self, node: int) -> int:
        """Return the node to which a node without edges leads on any next symbol; for other nodes, the node itself."""
        while node > SUFFIX_ROOT and not self.trie.children[node]:
            node = self.trie.failure[node]
        return node

    @property
    def initial(self) -> WordState:
        """The state at the beginning of a word."""
        return WordState(self._root, 0)

    def begins(self, token: int) -> bool:
        """Return whether words can begin with an id."""
        return token in (self.beginnings if self._root == ROOT else self.continuations)

    def step(self, state: tuple[int, int], token: int) -> WordState | None:
        """Return the state reached on an id, or None if no correct tokenization continues this way."""
        node, length = state
        text = (self.beginnings if node == ROOT else self.continuations).get(token)
        if text is None:
            return None
        if self.limit is not None:
            length += len(text)
            if length > self.limit:
                return None
        popped, target = self.advance(node, text)
        if target < 0:
            return None
        before, after = self.pending[node], self.pending[target]
        if before is None or after is None or (*popped, *after) != (*before, token):
            return None
        return WordState(self.settle(target), length)

    def is_final(self, state: WordState) -> bool:
        """Return True: a word may end in every state."""
        return True

    def moves(self, state: WordState) -> Iterator[tuple[int, WordState]]:
        """Yield the ids that may follow, ascending, with the states reached."""
        for token in self.beginnings if state.node == ROOT else self.continuations:
            target = self.step(state, token)
            if target is not None:
                yield token, target

    @cached_property
    def _left_out(self) -> set[int]:
        """The nodes reached only on words with a first token that is an entry with the prefix."""
        trie = self.trie
        left_out = set()
        below_root = [True, False]
        for node in range(2, len(trie)):
            below_root.append(below_root[trie.parent[node]])
            pops = trie.pops[node]
            if below_root[node] and pops and pops[0].id not in self.beginnings:
                left_out.add(node)
        return left_out

    @cached_property
    def reached(self) -> dict[int, tuple[int, str]]:
        """The nodes that are reached on words, nearest first, each with the node before it and the last symbol.

        Following these back gives the least of the shortest words. Nodes are also reached on the words that are left
        out, and on beginnings of words that have no tokenization.
        """
        trie = self.trie
        reached = {self._root: (-1, "")}
        queue = [self._root]
        unseen = [set(children) for children in trie.children]
        for node in queue:
            found: list[tuple[str, int]] = []
            # Edges that the node lacks are looked up along the failure links.
            blocked: set[str] = set()
            at = node
            while at >= 0:
                found += [(symbol, at) for symbol in unseen[at] - blocked]
                blocked.update(trie.children[at])
                at = -1 if at in self._left_out else trie.failure[at]
            for symbol, at in sorted(found):
                child = trie.children[at][symbol]
                reached[child] = (node, symbol)
                queue.append(child)
                unseen[at].discard(symbol)
        return reached

    @cached_property
    def distance(self) -> dict[int, int]:
        """The length of the shortest word for each node of `reached`."""
        distance = {-1: -1}
        for node, (before, _) in self.reached.items():
            distance[node] = distance[before] + 1
        del distance[-1]
        return distance

    @cached_property
    def _ends(self) -> list[int]:
        """The nodes at which words end, nearest first."""
        pending, left_out = self.pending, self._left_out
        return [node for node in self.reached if pending[node] is not None and node not in left_out]

    @cached_property
    def states(self) -> list[int]:
        """The nodes that are states, ignoring limits: the initial node, then those reached on words, nearest first."""
        return list(dict.fromkeys(map(self.settle, self._ends)))

    def shortest_word(self, token: int) -> str | None:
        """Return the least of the shortest words with an id as the last token; None if there is none."""
        text = self.beginnings.get(token)
        if text is not None:
            return text if self.limit is None or len(text) <= self.limit else None
        text = self.continuations.get(token)
        if text is None:
            return None
        for node in self._ends:
            if self.limit is not None and self.distance[node] + len(text) > self.limit:
                break
            if self.step((node, 0), token) is not None:
                return self._word(node) + text
        return None

    def _word(self, node: int) -> str:
        symbols = []
        while node >= 0:
            node, symbol = self.reached[node]
            symbols.append(symbol)
        return "".join(reversed(symbols))

    @cached_property
    def live(self) -> frozenset[int]:
        """The ids that occur in tokenizations of words."""
        ids = (*self.beginnings, *self.continuations)
        return frozenset(token for token in ids if self.shortest_word(token) is not None)

    @cached_property
    def local_from(self) -> int:
        """The least k such that the last k tokens of a run determine its node, ignoring limits.

        Notes
        -----
        The node is the position, in one entry, of everything read since the first token that may still turn out to be
        too short. That token is among the pending ones of the node, so the number of tokens in the longest pending
        sequence is enough. One less is not, because without its first token the same run leads elsewhere. Every
        WordPiece vocabulary is local, because the tokens of a pending sequence are parts of one entry.
        """
        if len(self.states) == 1:
            return 0
        return max(1, *(len(self.pending[node] or ()) for node in self.states))

    def k_locality(self, k: int) -> Verdict[TwoWordRuns]:
        """Decide whether the last `k` tokens of a run determine its node, ignoring the length limit.

        The witness is two runs on the same `k` tokens that end in different nodes.
        """
        least = self.local_from
        if k >= least:
            return Verdict(True, None, f"the last {k} tokens of a run determine its state")
        pending = self.pending
        if k == 0:
            ends = (self.states[0], self.states[1])
            return Verdict(False, TwoWordRuns(ends, (), ends), "there are several states")
        far = next(node for node in self.states if len(pending[node] or ()) == least)
        ids = pending[far] or ()
        # The nodes on the way to `far`, one after each of its pending tokens.
        root = ROOT if ids[0] in self.beginnings else SUFFIX_ROOT
        on_way = [root]
        for token in ids:
            text = self.beginnings[token] if on_way[-1] == ROOT else self.continuations[token]
            on_way.append(self.advance(on_way[-1], text)[1])
        tail = ids[len(ids) - k :]
        near = SUFFIX_ROOT
        for token in tail:
            near = self.settle(self.advance(near, self.continuations[token])[1])
        begins = (on_way[len(ids) - k], SUFFIX_ROOT)
        spelled = " ".join(self.vocabulary.spell(tail))
        return Verdict(
            False, TwoWordRuns(begins, tail, (far, near)), f"two runs read {spelled} and end in different states"
        )

    def __repr__(self) -> str:
        return f"<WordLanguage of {len(self.vocabulary)} entries>"
