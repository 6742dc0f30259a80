"""A quick proof that the tokens of two texts are those of the two as one: none that may meet would merge.

It supposes that any token may follow any other one, which allows more texts than there are. Most seams of which the
answer is yes are proven in this way.
"""

from __future__ import annotations

from tokdfa.splices.edges import EVERY, EdgeFinder, Edges, Location, Use
from tokdfa.splices.seam import Seam
from tokdfa.splices.tokens import Tokens

__all__ = ["never_merge"]


def never_merge(seam: Seam, tokens: Tokens, finder: EdgeFinder) -> bool:
    """Return whether it is certain that tokens do not differ in any texts, special ones and whole pieces left out."""
    finder.start()
    kinds: dict[Location, set[int]] = {}
    queue: list[Location] = []

    def arrive(found: list[Edges]) -> bool:
        for edges in found:
            if edges.cuts:
                return False
            if edges.target not in kinds:
                kinds[edges.target] = set()
                queue.append(edges.target)
            kinds[edges.target].update(edges.kinds.tolist())
        return True

    for state in range(len(seam.moves)):
        if not arrive(finder.beginning(state, EVERY)):
            return False
    for location in queue:  # It grows during the loop.
        if not arrive(finder.edges(location, Use.GO_ON, EVERY)):
            return False
    for location in queue:
        following = [number for edges in finder.edges(location, Use.PART, EVERY) for number in edges.tokens.tolist()]
        if tokens.may_join(kinds[location], following):
            return False
    return True
