"""The states of a product of two tokenizers that lead to the end of a text, and paths through them."""

from __future__ import annotations

from tokdfa.automata.protocol import trace
from tokdfa.jobs.measures.product import START, Arc, Node, Product


class ProductGraph:
    """All states of a product that lead to the end of a text, with the longest arc from one to another."""

    def __init__(self, product: Product) -> None:
        self.product = product
        arcs: dict[Node, list[Arc]] = {}
        # The first path to each state: the one before it, and the labels.
        self.before: dict[Node, tuple[Node, Arc]] = {}
        waiting = [START]
        sources: dict[Node, list[tuple[Node, Arc]]] = {START: []}
        for node in waiting:  # It grows while it is iterated over.
            arcs[node] = self._longest_arcs(node)
            for arc in arcs[node]:
                if arc.target not in sources:
                    sources[arc.target] = []
                    self.before[arc.target] = node, arc
                    waiting.append(arc.target)
                sources[arc.target].append((node, arc))
        # The first arc of a shortest way to the end of a text.
        self.out: dict[Node, Arc | None] = {node: None for node in waiting if product.is_final(node)}
        ending = [*self.out]
        for node in ending:
            for source, arc in sources[node]:
                if source not in self.out:
                    self.out[source] = arc
                    ending.append(source)
        self.arcs = {node: [arc for arc in arcs[node] if arc.target in self.out] for node in ending}

    def _longest_arcs(self, node: Node) -> list[Arc]:
        found: dict[Node, Arc] = {}
        for arc in self.product.arcs(node):
            known = found.setdefault(arc.target, arc)
            if len(self.word(known)) < len(self.word(arc)):
                found[arc.target] = arc
        return [*found.values()]

    def word(self, arc: Arc) -> bytes:
        """Return the bytes that the first side reads."""
        return self.product.a.words[arc.label]

    def way_to(self, node: Node) -> bytes:
        """Return the bytes that the first side reads up to a state."""
        return b"".join(map(self.word, trace(self.before, node)))

    def way_out(self, node: Node) -> bytes:
        """Return the bytes that the first side reads from a state to the end of a text."""
        words: list[bytes] = []
        while (arc := self.out[node]) is not None:
            words.append(self.word(arc))
            node = arc.target
        return b"".join(words)

    def longest(self) -> tuple[dict[Node, tuple[int, Arc]], set[Node]]:
        """Return the most bytes to the end of the unit from the states within one, with the first arc; and the rest.

        The rest are the states from which a circle is reached before a shared state.
        """
        inner = {node: sum(not arc.target.is_shared for arc in arcs) for node, arcs in self.arcs.items()}
        sources: dict[Node, list[Node]] = {node: [] for node in self.arcs}
        for node, arcs in self.arcs.items():
            for arc in arcs:
                sources[arc.target].append(node)
        found: dict[Node, tuple[int, Arc]] = {}
        ready = [node for node, n in inner.items() if not n and not node.is_shared]
        for node in ready:
            found[node] = max((self.gain(arc, found), arc) for arc in self.arcs[node])
            for source in sources[node]:
                inner[source] -= 1
                if not inner[source] and not source.is_shared:
                    ready.append(source)
        return found, {node for node in self.arcs if not node.is_shared} - found.keys()

    def gain(self, arc: Arc, found: dict[Node, tuple[int, Arc]]) -> int:
        """Return the most bytes from an arc to the end of the unit."""
        return len(self.word(arc)) + (0 if arc.target.is_shared else found[arc.target][0])
