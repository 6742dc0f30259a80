"""The parts of transducers, and products of one: with itself, its square, and with an automaton over its tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tokdfa.automata.alphabet import TokenAlphabet, Word, concatenate, quoted, show
from tokdfa.automata.protocol import Numbering, TokenAutomaton, check_budget, run, trace
from tokdfa.base.verdict import Verdict

if TYPE_CHECKING:
    from tokdfa.automata.transducers.transducer import Transducer


# Token numbers.
Output: TypeAlias = tuple[int, ...]


class Arc(NamedTuple):
    """A transition out of a state: the symbol it reads, the tokens it writes, and its target."""

    symbol: int
    output: Output
    target: int


def common_prefix(outputs: Collection[Output]) -> Output:
    """Return the longest common prefix of outputs, which is the common prefix of the least and the greatest."""
    least, greatest = min(outputs), max(outputs)
    for n, token in enumerate(least):
        if token != greatest[n]:
            return least[:n]
    return least


def show_output(alphabet: TokenAlphabet, output: Output) -> str:
    """Return tokens as the papers write them: u≀v, or ε."""
    return "≀".join(map(show, alphabet.spell(output))) or "ε"


Pair: TypeAlias = tuple[int, int]
# A word, and two of its outputs.
TwoOutputs: TypeAlias = tuple[Word, tuple[Word, ...], tuple[Word, ...]]
# The rest of each output after their common prefix.
Delay: TypeAlias = tuple[Output, Output]

DEFAULT_MAX_PAIRS = 1_000_000


class PairStep(NamedTuple):
    """A step of two runs on one symbol: the outputs of both, and the pair of states they reach."""

    symbol: int
    first: Output
    second: Output
    target: Pair


class Square:
    """The pairs of states that two runs from the initial state reach on one word; `max_pairs` at most.

    `steps` has the steps out of each pair, with the pairs in the order of a breadth-first search.
    """

    def __init__(self, transducer: Transducer, *, max_pairs: int = DEFAULT_MAX_PAIRS) -> None:
        self.transducer = transducer
        self.start: Pair = (transducer.initial, transducer.initial)
        self.steps: dict[Pair, list[PairStep]] = {self.start: []}
        queue = [self.start]
        for pair in queue:  # grows during the loop
            self.steps[pair] = list(self._steps(pair))
            for step in self.steps[pair]:
                if step.target not in self.steps:
                    check_budget("pairs", len(self.steps) + 1, max_pairs, "the square of the transducer has")
                    self.steps[step.target] = []
                    queue.append(step.target)

    def _steps(self, pair: Pair) -> Iterator[PairStep]:
        p, q = pair
        second = self.transducer.rows[q]
        for symbol, arcs in self.transducer.rows[p].items():
            for one in arcs:
                for other in second.get(symbol, ()):
                    yield PairStep(symbol, one.output, other.output, (one.target, other.target))

    def ways_to_the_end(self) -> dict[Pair, PairStep | None]:
        """Return the first step of a shortest path to the end from each pair that has one; None at the end itself."""
        finals = self.transducer.finals
        into: dict[Pair, list[tuple[Pair, PairStep]]] = {}
        for pair, steps in self.steps.items():
            for step in steps:
                into.setdefault(step.target, []).append((pair, step))
        way: dict[Pair, PairStep | None] = {(p, q): None for p, q in self.steps if p in finals and q in finals}
        queue = list(way)
        for pair in queue:  # grows during the loop
            for source, step in into.get(pair, ()):
                if source not in way:
                    way[source] = step
                    queue.append(source)
        return way

    def spell(self, steps: Sequence[PairStep]) -> Word:
        """Return the word that these steps read."""
        alphabet = self.transducer.alphabet
        return concatenate(alphabet.spell(step.symbol for step in steps), alphabet.kind)


def extend_delay(delay: Delay, first: Output, second: Output) -> Delay:
    """Return the delay after each run has written more."""
    one, other = delay[0] + first, delay[1] + second
    common = len(common_prefix((one, other)))
    return one[common:], other[common:]


def functionality(transducer: Transducer, *, max_pairs: int = DEFAULT_MAX_PAIRS) -> Verdict[TwoOutputs]:
    """Decide whether no word has two outputs; the witness is a word and two of its outputs, spelled.

    There is a limit on the pairs of states reached on equal words. M.-P. Béal, O. Carton, C. Prieur, J. Sakarovitch,
    *Squaring transducers*, 2003: for pairs of states from which both runs can end on one word, the delay between their
    outputs must depend on the pair alone, and be compensated at the end.
    """
    square = Square(transducer.trim(), max_pairs=max_pairs)
    way, finals = square.ways_to_the_end(), square.transducer.finals
    delays: dict[Pair, Delay] = {square.start: ((), ())} if square.start in way else {}
    origin: dict[Pair, tuple[Pair, PairStep]] = {}
    for pair in (queue := list(delays)):  # grows during the loop
        end = way[pair]
        if end is None and extend_delay(delays[pair], finals[pair[0]], finals[pair[1]]) != ((), ()):
            return _two_outputs(square, [trace(origin, pair)])
        for step in square.steps[pair]:
            if step.target not in way:
                continue
            delay = extend_delay(delays[pair], step.first, step.second)
            if step.target not in delays:
                delays[step.target] = delay
                origin[step.target] = (pair, step)
                queue.append(step.target)
                if not (delay[0] and delay[1]):
                    continue
            elif delays[step.target] == delay:
                continue
            # Of two paths to a pair with different delays, at most one leads to equal outputs.
            ways = [[*trace(origin, pair), step], [*trace(origin, step.target)]]
            rest = way[step.target]
            while rest is not None:
                for path in ways:
                    path.append(rest)
                rest = way[rest.target]
            return _two_outputs(square, ways)
    return Verdict(True, None, "no word has two outputs")


def _two_outputs(square: Square, ways: list[list[PairStep]]) -> Verdict[TwoOutputs]:
    """Return the verdict with the shortest of these words that has two different outputs."""
    alphabet, finals = square.transducer.alphabet, square.transducer.finals
    for steps in sorted(ways, key=len):
        p, q = steps[-1].target if steps else square.start
        first = tuple(token for step in steps for token in step.first) + finals[p]
        second = tuple(token for step in steps for token in step.second) + finals[q]
        if first != second:
            word = square.spell(steps)
            shown = f"{show_output(alphabet, first)} and {show_output(alphabet, second)}"
            return Verdict(
                False, (word, alphabet.spell(first), alphabet.spell(second)), f"{quoted(word)} has the outputs {shown}"
            )
    raise AssertionError("of two different delays at one pair, one is not made up for")


def compose(transducer: Transducer, automaton: TokenAutomaton[int], *, max_states: int) -> Transducer:
    """Return the composition; see :meth:`~tokdfa.automata.transducers.transducer.Transducer.compose`."""
    of = "the composition would have"
    pairs = Numbering((transducer.initial, automaton.initial), lambda n: check_budget("states", n, max_states, of))
    arcs: list[list[Arc]] = []
    finals: dict[int, Output] = {}
    for here, (p, s) in enumerate(pairs.states):  # grows during the loop
        if p in transducer.finals:
            end = run(automaton, transducer.finals[p], s)
            if end is not None and automaton.is_final(end):
                finals[here] = transducer.finals[p]
        steps = ((arc, run(automaton, arc.output, s)) for arc in transducer.arcs[p])
        arcs.append([Arc(arc.symbol, arc.output, pairs[arc.target, t]) for arc, t in steps if t is not None])
    return type(transducer)(transducer.alphabet, arcs, finals=finals)
