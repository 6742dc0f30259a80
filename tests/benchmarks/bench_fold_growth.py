"""How the time of Algorithm 2 grows: Theorem 3 of the automaton paper, measured.

One application is O(|Q||Γ|), the iteration over a dictionary O(|Q||Γ'||D|²). Run from the top of the repository:
``python -m tests.benchmarks.bench_fold_growth``.
"""

from __future__ import annotations

import random
import sys
from math import log

from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa import Dictionary, TokenAlphabet, TokenDFA, apply_merge, default_dictionary, token_dfa

STATES = (250, 500, 1_000, 2_000, 4_000)
TOKENS = (25, 50, 100, 200, 400)
RULES = (50, 100, 200, 400, 800)


def random_language(n_states: int, n_symbols: int) -> TokenDFA:
    """Return a complete DFA over strings, in which the rule has something to do at nearly every state."""
    rng = random.Random(n_states * n_symbols)
    symbols = [f"s{i}" for i in range(n_symbols)]
    rows = [{token: rng.randrange(n_states) for token in range(n_symbols)} for _ in range(n_states)]
    return TokenDFA(TokenAlphabet(symbols), rows, finals=range(n_states))


def exponents(sizes: tuple[int, ...], medians: list[float]) -> list[object]:
    """Return the slope between neighbours on a doubly logarithmic scale."""
    pairs = zip(zip(sizes, medians, strict=True), zip(sizes[1:], medians[1:], strict=True), strict=False)
    return ["", *(log(t2 / t1) / log(n2 / n1) for (n1, t1), (n2, t2) in pairs)]


def one_application() -> None:
    """Measure a merge while states, then tokens, are doubled."""
    series = [
        ("states, 50 tokens", STATES, [(n, 50) for n in STATES]),
        ("tokens, 500 states", TOKENS, [(500, n) for n in TOKENS]),
    ]
    for name, sizes, shapes in series:
        automata = {str(size): random_language(*shape) for size, shape in zip(sizes, shapes, strict=True)}
        timings = measure(
            {size: lambda dfa=dfa: apply_merge(dfa, ("s0",), ("s1",), check=False) for size, dfa in automata.items()}  # type: ignore[misc]
        )
        medians = [timing.median for timing in timings.values()]
        merged = [apply_merge(dfa, ("s0",), ("s1",), check=False).dfa for dfa in automata.values()]
        rows: list[list[object]] = [
            [size, dfa.n_states, 1e3 * seconds, 1e9 * seconds / (n * sigma), exponent]
            for size, dfa, seconds, (n, sigma), exponent in zip(
                sizes, merged, medians, shapes, exponents(sizes, medians), strict=True
            )
        ]
        print_table(
            f"One application of Algorithm 2, by the number of {name}; Theorem 3: exponent at most 1",
            ["size", "states after", "ms", "ns / |Q||Γ|", "exponent"],
            rows,
        )


def iteration() -> None:
    """Measure T^D(Σ*) for longer and longer prefixes of a real dictionary."""
    dictionary = default_dictionary()
    prefixes = {str(n): Dictionary(dictionary[:n], dictionary.alphabet.symbols) for n in RULES}
    timings = measure({n: lambda prefix=prefix: token_dfa(prefix) for n, prefix in prefixes.items()})  # type: ignore[misc]
    medians = [timing.median for timing in timings.values()]
    automata = [token_dfa(prefix) for prefix in prefixes.values()]
    rows: list[list[object]] = [
        [n, dfa.n_states, dfa.n_transitions, 1e3 * seconds, 1e9 * seconds / (len(dfa.alphabet) * n), exponent]
        for n, dfa, seconds, exponent in zip(RULES, automata, medians, exponents(RULES, medians), strict=True)
    ]
    print_table(
        "The iteration for Σ* over 256 bytes, by the number of rules; Theorem 3: exponent at most 3",
        ["rules", "states", "transitions", "ms", "ns / |Γ'||D|", "exponent"],
        rows,
        f"{environment()}; medians of 5; peak memory {peak_memory() / 1e6:,.0f} MB",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    one_application()
    iteration()
