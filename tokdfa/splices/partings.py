"""Where the tokens of two texts may differ from those of the two as one text: found for all texts at once.

It goes through the pieces of the texts apart by their tokens, as the search for the least texts does, but only with the
kinds of tokens that may precede each location. So it comes to each location a few times, and not once for each kind. If
it finds no place, there is a proof that there are no such texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.splices.edges import EVERY, EdgeFinder, Edges, Location, Use
from tokdfa.splices.seam import Seam
from tokdfa.splices.tokens import Tokens

__all__ = ["Parting", "partings"]


class Parting(NamedTuple):
    """A token that is no token of the whole text, or begins where none of the whole does.

    Parameters
    ----------
    source : Location
    target : int
        The state of the seam after it; within a symbol, that after the symbol.
    length : int
        The number of its bytes, at least.
    """

    source: Location
    target: int
    length: int


def partings(seam: Seam, tokens: Tokens, finder: EdgeFinder) -> list[Parting]:
    """Return where tokens may differ first, special ones and whole pieces left out: no text has others.

    Parameters
    ----------
    seam : Seam
    tokens : Tokens
    finder : EdgeFinder
    """
    found: dict[tuple[Location, int], int] = {}
    # For each location the kinds of tokens before it, those of them that are new, and the edges that none could take.
    known: dict[Location, Int32Array] = {}
    new: dict[Location, list[Int32Array]] = {}
    waiting: dict[Location, Int32Array] = {}

    def part(sources: Sequence[Location], edges: Edges, rows: Int32Array | Int64Array) -> None:
        states, lengths = edges.states[rows], edges.lengths[rows]
        for target in np.unique(states).tolist():
            length = int(lengths[states == target].min())
            for source in sources:
                found[source, target] = min(found.get((source, target), length), length)

    def arrive(edges: Edges, rows: Int32Array | Int64Array) -> None:
        order = rows[np.argsort(edges.targets[rows], kind="stable")]
        numbers, first = np.unique(edges.targets[order], return_index=True)
        ends = [*first.tolist()[1:], len(order)]
        for number, begin, end in zip(numbers.tolist(), first.tolist(), ends, strict=False):
            new.setdefault(finder.locations[number], []).append(edges.kinds[order[begin:end]])

    for states, edges in finder.every_beginning():
        part(states, edges, np.flatnonzero(edges.cuts))
        arrive(edges, np.flatnonzero(~edges.cuts))
    while new:
        location = next(iter(new))
        kinds = np.unique(np.concatenate(new.pop(location)))
        if location in known:
            kinds = np.setdiff1d(kinds, known[location], assume_unique=True)
            known[location] = np.union1d(known[location], kinds)
        else:
            known[location] = kinds
        edges = finder.edges(location, Use.GO_ON, EVERY)
        rows = waiting.get(location)
        if rows is None:
            rows = np.arange(len(edges.tokens), dtype=np.int32)
        if not len(kinds) or not len(rows):
            continue
        follow, _ = tokens.followed(kinds, edges.tokens[rows])
        waiting[location] = rows[~follow]
        rows = rows[follow]
        part([location], edges, rows[edges.cuts[rows]])
        arrive(edges, rows[~edges.cuts[rows]])
    for location, kinds in known.items():
        if not isinstance(location, int):
            continue
        edges = finder.edges(location, Use.PART, EVERY)
        _, joined = tokens.followed(kinds, edges.tokens)
        part([location], edges, np.flatnonzero(joined))
    return [Parting(source, target, length) for (source, target), length in found.items()]
