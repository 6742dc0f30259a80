"""Pictures of the trie of LinMaxMatch, of forests of merges, and of the order of rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokdfa.automata.rule_order import RuleOrder
from tokdfa.base.errors import LimitExceededError
from tokdfa.draw.graph import Edge, Graph, Node, word_label
from tokdfa.tokenizers.models.wordpiece.trie import ROOT, SUFFIX_ROOT, FailureTrie
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.training.theory import Merge, iter_submerges, yield_of


def trie_graph(
    vocabulary: WordPieceVocabulary, *, words: Iterable[str] | None = None, max_nodes: int | None = None
) -> Graph:
    """Return the picture of a vocabulary's trie with its failure links and pops.

    Every node is labelled with its prefix of an entry, the root with ε; entries have a double outline. Solid arrows are
    edges, and one leads from the root to the suffix root. Dashed arrows are failure links, labelled with the tokens
    popped.

    The second copy of the entries with the prefix, for words that begin with it, is left out. With `words` only the
    nodes visited on these are drawn; there may be at most `max_nodes`.

    Notes
    -----
    The figure of *Fast WordPiece Tokenization*, EMNLP 2021, section 3.
    """
    trie = FailureTrie.of(vocabulary)
    nodes = _without_copies(trie, vocabulary) if words is None else _met(trie, words)
    if max_nodes is not None and len(nodes) > max_nodes:
        what = f"the trie has {len(nodes):,} nodes, more than the limit of {max_nodes:,}"
        raise LimitExceededError(what, hint="draw only the nodes of a few words")
    shown = set(nodes)
    names = {node: str(number) for number, node in enumerate(nodes)}
    inner = _below_suffix_root(trie)
    drawn = [
        Node(
            names[node],
            word_label(vocabulary.prefix * inner[node] + trie.path(node)) or "ε",
            double=trie.entry[node] >= 0,
        )
        for node in nodes
    ]
    edges = [Edge(names[ROOT], names[SUFFIX_ROOT], (word_label(vocabulary.prefix),))]
    for node, symbol, child in trie.iter_edges():
        if node in shown and child in shown:
            edges.append(Edge(names[node], names[child], (word_label(symbol),)))
    for node in nodes:
        target = trie.failure[node]
        if target in shown:
            popped = vocabulary.spell(pop.id for pop in trie.pops[node])
            edges.append(Edge(names[node], names[target], (" ".join(map(word_label, popped)),), "dashed"))
    n_entries = sum(node.double for node in drawn)
    what = (
        f"Trie with {len(drawn)} nodes, {n_entries} of them entries; failure links are dashed, with the tokens popped."
    )
    return Graph(tuple(drawn), tuple(edges), (names[ROOT],), description=what)


def _below_suffix_root(trie: FailureTrie) -> list[bool]:
    below = [False, True]
    for node in range(2, len(trie)):
        below.append(below[trie.parent[node]])
    return below


def _without_copies(trie: FailureTrie, vocabulary: WordPieceVocabulary) -> list[int]:
    """Return the roots, the nodes below the suffix root, and the nodes on paths to entries without the prefix."""
    inner = _below_suffix_root(trie)
    shown = {ROOT, SUFFIX_ROOT, *(node for node in range(len(trie)) if inner[node])}
    skip = len(vocabulary.prefix)
    for node in range(2, len(trie)):
        if trie.entry[node] >= 0 and not inner[node]:
            if skip and trie.depth[node] >= skip and trie.path(node).startswith(vocabulary.prefix):
                continue
            at = node
            while at not in shown:
                shown.add(at)
                at = trie.parent[at]
    return sorted(shown)


def _met(trie: FailureTrie, words: Iterable[str]) -> list[int]:
    """Return the nodes that reading `words` to their ends passes through."""
    shown = {ROOT, SUFFIX_ROOT}
    for word in words:
        node = ROOT
        for symbol in word:
            while node >= 0 and symbol not in trie.children[node]:
                node = trie.failure[node]
                shown.add(node)
            if node < 0:
                break
            node = trie.children[node][symbol]
            shown.add(node)
        while node > SUFFIX_ROOT:
            node = trie.failure[node]
            shown.add(node)
    shown.discard(-1)
    return sorted(shown)


def forest_graph(forest: Sequence[Merge], *, max_nodes: int = 500) -> Graph:
    """Return the picture of the result of applying merges to a string: a tree for each unit, from left to right.

    Inner nodes are labelled with their yields, leaves with their symbols. The roots, which are the units, have a
    double outline. Arrows lead from a merge to its two parts.

    At most `max_nodes` are drawn; a forest is the result of :func:`~tokdfa.training.theory.apply_merges`.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Figure 2.
    """
    n_nodes = sum(1 for unit in forest for _ in iter_submerges(unit))
    if n_nodes > max_nodes:
        hint = "draw the forest of a shorter text"
        raise LimitExceededError(f"the forest has {n_nodes:,} nodes, more than the limit of {max_nodes:,}", hint=hint)
    nodes: list[Node] = []
    edges: list[Edge] = []

    def grow(merge: Merge, is_root: bool) -> str:
        name = str(len(nodes))
        nodes.append(Node(name, word_label(yield_of(merge)), double=is_root))
        if isinstance(merge, tuple):
            edges.extend(Edge(name, grow(part, False)) for part in merge)
        return name

    for unit in forest:
        grow(unit, True)
    return Graph(tuple(nodes), tuple(edges), direction="TB")


def order_graph(order: RuleOrder) -> Graph:
    """Return the Hasse diagram of an order of rules: arrows lead from a rule to those that must come right after it.

    Rules that no path of arrows connects may change places. There is a picture of up to 500 live rules.
    """
    labels = {index: "≀".join(map(word_label, order.dictionary[index])) for index in order.rules}
    nodes = tuple(Node(str(index), label, shape="plaintext") for index, label in labels.items())
    edges = tuple(Edge(str(first), str(second)) for first, second in order.covers())
    what = f"Order of {len(nodes)} rules, with {len(edges)} arrows to rules that must come later."
    return Graph(nodes, edges, direction="TB", description=what)
