"""Explicit automata compared with automata-lib and pynini: minimization, equivalence, product, union of words.

Every library works on its own representation, made beforehand, in its fastest documented way: pynini's sort the
arcs beforehand and change in place, so that a copy, which shares what it does not change, is minimized. The results
are compared.

    python -m tests.benchmarks.bench_automata [--states N…]
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from time import process_time

import pynini
from automata.fa.dfa import DFA

from tests.benchmarks.harness import environment, keep_tables, measure, print_table
from tests.support.finite import finite_language
from tokdfa import TokenAlphabet, TokenDFA
from tokdfa.automata.boolean import intersection
from tokdfa.automata.lift import language

SYMBOLS = "abcd"
REPEATS = 5
WAYS = (
    "automata-lib: minify(), ==, intersection(minify=False), from_finite_language; "
    "pynini: copy().minimize(), equivalent, intersect(connect=False), string_map(words).minimize()"
)


class Automaton:
    """One complete DFA, in three representations."""

    def __init__(self, transitions: list[list[int]], finals: set[int]) -> None:
        n = len(transitions)
        rows = [dict(enumerate(row)) for row in transitions]
        self.ours = TokenDFA(TokenAlphabet(SYMBOLS), rows, finals=finals)
        named = {q: dict(zip(SYMBOLS, row, strict=True)) for q, row in enumerate(transitions)}
        self.theirs = DFA(
            states=set(range(n)), input_symbols=set(SYMBOLS), transitions=named, initial_state=0, final_states=finals
        )
        fst = pynini.Fst()
        fst.add_states(n)
        fst.set_start(0)
        for q, row in enumerate(transitions):
            for label, target in enumerate(row, 1):
                fst.add_arc(q, pynini.Arc(label, label, 0, target))
            if q in finals:
                fst.set_final(q)
        self.fst = fst.arcsort()


def random_automaton(n: int, source: random.Random, *, copies: int = 1) -> Automaton:
    """Return an automaton of `n` states, in groups of `copies` equivalent ones."""
    distinct = n // copies
    core = [[source.randrange(distinct) for _ in SYMBOLS] for _ in range(distinct)]
    core_finals = {q for q in range(distinct) if source.random() < 0.3}
    transitions = [
        [target + distinct * source.randrange(copies) for target in core[q % distinct]]
        for q in range(distinct * copies)
    ]
    return Automaton(transitions, {q for q in range(distinct * copies) if q % distinct in core_finals})


def shuffled(automaton: Automaton, source: random.Random) -> Automaton:
    """Return the same automaton, its states but for the initial one numbered otherwise."""
    rows = [dict(automaton.ours.moves(q)) for q in range(automaton.ours.n_states)]
    number = [0, *source.sample(range(1, len(rows)), len(rows) - 1)]
    transitions: list[list[int]] = [[] for _ in rows]
    for q, row in enumerate(rows):
        transitions[number[q]] = [number[target] for target in row.values()]
    return Automaton(transitions, {number[q] for q in automaton.ours.finals})


def minimized(fst: pynini.Fst) -> pynini.Fst:
    return fst.copy().minimize()


def write_out(first: TokenDFA, second: TokenDFA) -> TokenDFA:
    return TokenDFA.from_automaton(intersection(first, second), first.alphabet)


def cases(sizes: list[int], source: random.Random) -> dict[str, dict[str, Callable[[], object]]]:
    found: dict[str, dict[str, Callable[[], object]]] = {}
    for n in sizes:
        one = random_automaton(n, source, copies=2)
        other = shuffled(one, source)
        assert one.ours.minimize().n_states == len(one.theirs.minify().states) == minimized(one.fst).num_states()
        assert one.ours.equivalence(other.ours)
        assert one.theirs == other.theirs
        assert pynini.equivalent(one.fst, other.fst)
        found[f"minimize, {n:,} states"] = {
            "tokdfa": one.ours.minimize,
            "automata-lib": one.theirs.minify,
            "pynini": lambda one=one: minimized(one.fst),
        }
        found[f"equivalence, {n:,} states"] = {
            "tokdfa": lambda one=one, other=other: one.ours.equivalence(other.ours),
            "automata-lib": lambda one=one, other=other: one.theirs == other.theirs,
            "pynini": lambda one=one, other=other: pynini.equivalent(one.fst, other.fst),
        }
    one, other = (random_automaton(200, source) for _ in range(2))
    product = pynini.intersect(one.fst, other.fst, connect=False)
    sizes_found = {write_out(one.ours, other.ours).n_states, product.num_states()}
    assert sizes_found == {len(one.theirs.intersection(other.theirs, minify=False).states)}
    found["product, 200 × 200 states"] = {
        "tokdfa": lambda: write_out(one.ours, other.ours),
        "automata-lib": lambda: one.theirs.intersection(other.theirs, minify=False),
        # Ours has the states that are reached, whether or not they reach an end.
        "pynini": lambda: pynini.intersect(one.fst, other.fst, connect=False),
    }
    words = sorted({"".join(source.choices("abcdefghij", k=source.randint(3, 10))) for _ in range(1010)})[:1000]
    n_minimal = finite_language(words, "abcdefghij").n_states
    assert language("|".join(words), "abcdefghij").n_states == n_minimal
    assert pynini.string_map(words).minimize().num_states() == n_minimal
    # Theirs may have a sink.
    assert len(DFA.from_finite_language(set("abcdefghij"), set(words)).states) - n_minimal in (0, 1)
    found["union of 1,000 words, minimal"] = {
        "tokdfa": lambda: finite_language(words, "abcdefghij"),
        "automata-lib": lambda: DFA.from_finite_language(set("abcdefghij"), set(words)),
        "pynini": lambda: pynini.string_map(words).minimize(),
    }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, nargs="*", default=[1_000, 10_000])
    options = parser.parse_args()
    names = ("tokdfa", "automata-lib", "pynini")
    table: list[list[object]] = []
    slower: list[str] = []
    for case, ways in cases(options.states, random.Random(0)).items():
        measured = measure(ways, REPEATS, process_time)
        best = min(measured[name].median for name in names[1:])
        shown = [f"{1e3 * measured[name].median:.2f}" for name in names]
        table.append([case, *shown, f"{best / measured['tokdfa'].median:.1f}"])
        slower += [f"{case} ({name})" for name in names[1:] if measured["tokdfa"].median > measured[name].median]
    how = f"milliseconds, median of {REPEATS}, in turn, processor time of one thread; {WAYS}"
    caption = f"{how}; {environment('automata-lib', 'pynini')}"
    print_table("Explicit automata", ["", *names, "times the best"], table, caption)
    print("slower than the peer in brackets:", ", ".join(slower) or "nothing")


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()
