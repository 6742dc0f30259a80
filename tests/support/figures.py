"""The automata that the DFA paper draws, and automata written as in theory's shorthand."""

from __future__ import annotations

from tokdfa import TokenDFA


def drawn(rows: dict[int, str], finals: str | None = None, symbols: str = "ab") -> TokenDFA:
    """Read rows such as ``{0: "a1 b0 aa0"}``: tokens with their targets. All states are final unless some are named."""
    edges = [(state, move[:-1], int(move[-1])) for state, moves in rows.items() for move in moves.split()]
    chosen = range(len(rows)) if finals is None else map(int, finals)
    return TokenDFA.from_edges(edges, finals=chosen, symbols=symbols)


FIGURE_1 = drawn({0: "a1", 1: "b2 bc4", 2: "c3", 3: "", 4: ""}, "34", "abc")
FIGURE_2 = drawn({0: "a0 aa1", 1: ""}, "1", "a")
FIGURE_3 = [
    drawn({0: "a0 b0"}),
    drawn({0: "a1 b0 aa0", 1: "b0"}),
    drawn({0: "a1 b2 aa0 ba1", 1: "b2 ba1", 2: "b2 aa0 ba1"}),
]
FIGURE_4 = drawn({0: "a1 b0 ab0", 1: "a1 ab0"})
FIGURE_5 = [
    drawn({0: "a0"}, symbols="a"),
    drawn({0: "a1 aa0", 1: ""}, symbols="a"),
    drawn({0: "a1 aa2 aaaa0", 1: "", 2: "a1"}, symbols="a"),
    drawn({0: "a1 aa2 aaaa3 aaaaaaaa0", 1: "", 2: "a1", 3: "a1 aa2"}, symbols="a"),
]
