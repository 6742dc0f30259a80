"""Determinization: making transducers subsequential, and the twinning property, which decides whether one can be."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.alphabet import Word, quoted
from tokdfa.automata.protocol import Numbering, check_budget, shortest_way, trace
from tokdfa.automata.transducers.square import (
    DEFAULT_MAX_PAIRS,
    Arc,
    Delay,
    Output,
    Pair,
    PairStep,
    Square,
    common_prefix,
    extend_delay,
    functionality,
    show_output,
)
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Verdict
from tokdfa.kernels.dfa.explicit import coarsest_partition

__all__ = ["Twins", "determinize", "minimize", "onward", "twinning"]

DEFAULT_MAX_STATES = 100_000
DEFAULT_MAX_CONFIGURATIONS = 1_000_000

_Configuration: TypeAlias = tuple[Pair, Delay]
# The configuration in which the search enters a component, and the steps from the start to it.
_Entries: TypeAlias = dict[_Configuration, list[PairStep]]


def determinize(transducer: Transducer, *, check: bool = True, max_states: int = DEFAULT_MAX_STATES) -> Transducer:
    """Return a subsequential transducer that computes the same function.

    Parameters
    ----------
    transducer : Transducer
        A functional transducer with the twinning property.
    check : bool
        Whether to decide both properties first. Without them, the construction may find two outputs for one word, or go
        on until the budget is spent.
    max_states : int
        The maximum number of states of the result.

    Returns
    -------
    Transducer
        A subsequential transducer, its states numbered breadth first with symbols ascending.

    Raises
    ------
    AutomatonError
        If the transducer is not functional, or no subsequential one exists; the message shows the witness.
    LimitExceededError
        If there would be more states.

    Notes
    -----
    M.-P. Béal, O. Carton, *Determinization of transducers over finite and infinite words*, 2002, which *Constructing a
    BPE Tokenization DFA*, Theorem 4, uses. A state is a set of states of the given transducer, each with the tokens
    still to be written there. The common prefix of all these tokens is written at once.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> T = tokdfa.determinize(tokdfa.Transducer.from_token_dfa(tokdfa.token_dfa(d)))
    >>> T.n_states, bool(T.subsequentiality()), T.outputs("baa")
    (6, True, frozenset({('b', 'aa')}))
    """
    expect(transducer, Transducer, "a transducer", "tokdfa.determinize(transducer)")
    trim = transducer.trim()
    if check:
        for verdict, what in (
            (functionality(trim), "the transducer is not functional"),
            (twinning(trim), "no subsequential transducer computes the same function"),
        ):
            if not verdict:
                raise AutomatonError(f"{what}: {verdict.reason}")
    start = frozenset({(trim.initial, ())}) if trim.finals else frozenset()
    of = "the subsequential transducer has"
    subsets: Numbering[frozenset[tuple[int, Output]]] = Numbering(
        start, lambda count: check_budget("states", count, max_states, of)
    )
    arcs: list[list[Arc]] = []
    finals: dict[int, Output] = {}
    for number, subset in enumerate(subsets.states):  # grows during the loop
        ends = {pending + trim.finals[state] for state, pending in subset if state in trim.finals}
        if ends:
            finals[number] = _only(trim, ends)
        following: dict[int, dict[int, set[Output]]] = {}
        for state, pending in subset:
            for symbol, output, target in trim.arcs[state]:
                following.setdefault(symbol, {}).setdefault(target, set()).add(pending + output)
        row = []
        for symbol, reached in sorted(following.items()):
            pendings = {target: _only(trim, outputs) for target, outputs in reached.items()}
            common = common_prefix(pendings.values())
            key = frozenset((target, pending[len(common) :]) for target, pending in pendings.items())
            row.append(Arc(symbol, common, subsets[key]))
        arcs.append(row)
    return Transducer(trim.alphabet, arcs, finals=finals)


def _only(transducer: Transducer, outputs: set[Output]) -> Output:
    if len(outputs) > 1:
        first, second, *_ = (show_output(transducer.alphabet, output) for output in sorted(outputs))
        raise AutomatonError(f"the transducer is not functional: some word has outputs ending in {first} and {second}")
    return next(iter(outputs))


class Twins(NamedTuple):
    """Two states reached on one word, with loops on another word that change the delay between the outputs.

    Two runs lead from the initial state to the two states on `word`, and back to them on `loop`; `outputs` and
    `loop_outputs` are the tokenizations, spelled, that they write on these.
    """

    states: Pair
    word: Word
    loop: Word
    outputs: tuple[tuple[Word, ...], tuple[Word, ...]]
    loop_outputs: tuple[tuple[Word, ...], tuple[Word, ...]]


def twinning(
    transducer: Transducer, *, max_pairs: int = DEFAULT_MAX_PAIRS, max_configurations: int = DEFAULT_MAX_CONFIGURATIONS
) -> Verdict[Twins]:
    """Decide the twinning property: a functional transducer can be made subsequential if and only if it has it.

    States that are on no accepting run do not count. There is a limit on the pairs of states reached on equal words,
    and on the total number of delays of all pairs.

    Notes
    -----
    M.-P. Béal, O. Carton, *Determinization of transducers over finite and infinite words*, 2002. The property holds iff
    no loop of the square changes a delay. Loops stay within a strongly connected component. There, two delays at one
    pair imply a loop that changes a delay: the path back to where the search began maps different delays to different
    ones, and at most one of them to the original. So the search visits at most one delay per pair for each delay with
    which a component is entered, and it ends whether or not the property holds.
    """
    import networkx as nx

    square = Square(transducer.trim(), max_pairs=max_pairs)
    graph = nx.DiGraph((pair, step.target) for pair, steps in square.steps.items() for step in steps)
    graph.add_node(square.start)
    # Components come sinks first.
    components = list(nx.strongly_connected_components(graph))[::-1]
    number = {pair: i for i, component in enumerate(components) for pair in component}
    start: _Configuration = (square.start, ((), ()))
    entries: list[_Entries] = [{} for _ in components]
    entries[number[square.start]][start] = []
    n_configurations = 0
    for i, component in enumerate(components):
        explored: set[_Configuration] = set()
        for entry, access in entries[i].items():
            if entry in explored:
                continue
            delays = {entry[0]: entry[1]}
            origin: dict[Pair, tuple[Pair, PairStep]] = {}
            for pair in (queue := [entry[0]]):  # grows during the loop
                for step in square.steps[pair]:
                    delay = extend_delay(delays[pair], step.first, step.second)
                    if number[step.target] != i:
                        entries[number[step.target]].setdefault(
                            (step.target, delay), [*access, *trace(origin, pair), step]
                        )
                    elif step.target not in delays:
                        delays[step.target] = delay
                        origin[step.target] = (pair, step)
                        queue.append(step.target)
                    elif delays[step.target] != delay:
                        back = _way_within(square, component, step.target, entry[0])
                        loops = ([*trace(origin, pair), step, *back], [*trace(origin, step.target), *back])
                        return _verdict(square, entry, access, next(loop for loop in loops if _shifts(entry, loop)))
            explored.update(delays.items())
            n_configurations += len(delays)
            if n_configurations > max_configurations:
                what = f"the square of the transducer has more than {max_configurations} delays"
                raise LimitExceededError(what, hint="raise max_configurations")
    return Verdict(True, None, "no loop changes the delay between two runs on one word")


def _shifts(entry: _Configuration, loop: list[PairStep]) -> bool:
    delay = entry[1]
    for step in loop:
        delay = extend_delay(delay, step.first, step.second)
    return delay != entry[1]


def _way_within(square: Square, component: set[Pair], start: Pair, goal: Pair) -> list[PairStep]:
    """Return a shortest path between two pairs of a strongly connected component."""
    way = shortest_way(
        start,
        lambda pair: ((step, step.target) for step in square.steps[pair] if step.target in component),
        lambda pair: pair == goal,
    )
    assert way is not None, "a component is strongly connected"
    return way


def _verdict(square: Square, entry: _Configuration, access: list[PairStep], loop: list[PairStep]) -> Verdict[Twins]:
    alphabet = square.transducer.alphabet

    def written(steps: list[PairStep]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        first = tuple(token for step in steps for token in step.first)
        return first, tuple(token for step in steps for token in step.second)

    before, during = written(access), written(loop)
    (p, q), word, repeated = entry[0], square.spell(access), square.spell(loop)
    witness = Twins(
        (p, q),
        word,
        repeated,
        (alphabet.spell(before[0]), alphabet.spell(before[1])),
        (alphabet.spell(during[0]), alphabet.spell(during[1])),
    )
    shown = [show_output(alphabet, output) for output in (*before, *during)]
    reason = (
        f"{quoted(word)} leads to states {p} and {q}, writing {shown[0]} and {shown[1]}, and {quoted(repeated)} leads "
        f"back to both, writing {shown[2]} and {shown[3]}"
    )
    return Verdict(False, witness, reason)


def onward(transducer: Transducer) -> Transducer:
    """Return the subsequential transducer of the same function that writes every token as early as possible.

    The common prefix of all outputs from a state is written before the state is reached. The initial state is an
    exception, because nothing is read before it: if all outputs have a common prefix, it becomes a separate state; no
    transition leads to it, and its transitions write the prefix.
    """
    verdict = transducer.subsequentiality()
    if not verdict:
        raise AutomatonError(f"the transducer is not subsequential: {verdict.reason}", hint="determinize it first")
    trim = transducer.trim()
    if not trim.finals:
        return trim
    ahead = _common_outputs(trim)

    def arcs_of(state: int, before: Output) -> list[Arc]:
        return [
            Arc(symbol, (before + output + ahead[target])[len(ahead[state]) :], target)
            for symbol, output, target in trim.arcs[state]
        ]

    arcs = [arcs_of(state, ()) for state in range(trim.n_states)]
    finals = {state: output[len(ahead[state]) :] for state, output in trim.finals.items()}
    prefix = ahead[trim.initial]
    if not prefix:
        return Transducer(trim.alphabet, arcs, trim.initial, finals=finals)
    first = trim.n_states
    arcs.append([Arc(symbol, prefix + output, target) for symbol, output, target in arcs[trim.initial]])
    if trim.initial in finals:
        finals[first] = prefix + finals[trim.initial]
    return Transducer(trim.alphabet, arcs, first, finals=finals).trim()


def _common_outputs(transducer: Transducer) -> list[Output]:
    """Return the longest common prefix of all outputs from each state."""
    into: list[list[tuple[int, Arc]]] = [[] for _ in transducer.arcs]
    for state, row in enumerate(transducer.arcs):
        for arc in row:
            into[arc.target].append((state, arc))
    # Start with some output of each state, then shorten it to prefixes until nothing contradicts.
    ahead: list[Output | None] = [transducer.finals.get(state) for state in range(transducer.n_states)]
    queue = list(transducer.finals)
    for state in queue:  # grows during the loop
        for source, arc in into[state]:
            if ahead[source] is None:
                ahead[source] = arc.output + (ahead[state] or ())
                queue.append(source)
    waiting = dict.fromkeys(range(transducer.n_states))
    found = [output or () for output in ahead]
    while waiting:
        state = waiting.popitem()[0]
        for source, arc in into[state]:
            shared = common_prefix((found[source], arc.output + found[state]))
            if len(shared) < len(found[source]):
                found[source] = shared
                waiting[source] = None
    return found


def minimize(transducer: Transducer) -> Transducer:
    """Return the minimal onward subsequential transducer of the same function, numbered breadth first.

    Equal functions over equal alphabets give equal (``==``) results. No subsequential transducer is smaller, unless all
    outputs begin with the same token (see :func:`onward`). One that is not subsequential is an AutomatonError.

    C. Choffrut, *Minimizing subsequential transducers: a survey*, 2003: in onward form, equivalent states have equal
    outputs on equal symbols, and the coarsest partition of a DFA over (symbol, output) finds them.
    """
    trim = onward(transducer)
    if not trim.finals:
        return trim
    # The output of a final state is the label of one more transition, to a state where all words end.
    labels: dict[tuple[int, Output], int] = {}
    end = trim.n_states
    cords = [
        (state, labels.setdefault((symbol, output), len(labels)), target)
        for state, row in enumerate(trim.arcs)
        for symbol, output, target in row
    ]
    cords += [(state, labels.setdefault((-1, output), len(labels)), end) for state, output in trim.finals.items()]
    sources, tokens, targets = np.array(cords, dtype=np.int32).T.copy()
    final = np.zeros(end + 1, dtype=np.bool_)
    final[end] = True
    block = coarsest_partition(sources, tokens, targets, final, len(labels)).tolist()
    representative: dict[int, int] = {}
    for state in range(end):
        representative.setdefault(block[state], state)
    numbers = Numbering(block[trim.initial])
    arcs = [
        [Arc(symbol, output, numbers[block[target]]) for symbol, output, target in trim.arcs[representative[one]]]
        for one in numbers.states  # grows during the loop
    ]
    ends = {number: representative[one] for one, number in numbers.items()}
    finals = {number: trim.finals[end] for number, end in ends.items() if end in trim.finals}
    return Transducer(trim.alphabet, arcs, finals=finals)
