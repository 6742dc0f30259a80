"""Ten regular languages over {a, b}, as DFAs."""

from __future__ import annotations

from tokdfa.automata.token_dfa import TokenDFA


def _dfa(edges: str, finals: str) -> TokenDFA:
    """Read edges such as ``0a1 1b0``."""
    triples = [(int(edge[0]), edge[1], int(edge[2])) for edge in edges.split()]
    return TokenDFA.from_edges(triples, finals=map(int, finals), symbols="ab")


LANGUAGES = {
    "everything": _dfa("0a0 0b0", "0"),
    "a*": _dfa("0a0", "0"),
    "(ab)*": _dfa("0a1 1b0", "0"),
    "begins with b": _dfa("0b1 1a1 1b1", "1"),
    # State 4x + 2y + z: x, y and z say which of the last three symbols are a.
    "third last is a": _dfa("0b0 0a1 1b2 1a3 2b4 2a5 3b6 3a7 4b0 4a1 5b2 5a3 6b4 6a5 7b6 7a7", "4567"),
    "contains aba": _dfa("0b0 0a1 1a1 1b2 2b0 2a3 3a3 3b3", "3"),
    "no bb": _dfa("0a0 0b1 1a0", "01"),
    "even number of a": _dfa("0b0 0a1 1b1 1a0", "0"),
    "length divisible by 3": _dfa("0a1 0b1 1a2 1b2 2a0 2b0", "0"),
    "ab, aab, bab or abba": _dfa("0a1 0b2 1a3 1b4 2a3 3b6 4b5 5a6", "46"),
}
