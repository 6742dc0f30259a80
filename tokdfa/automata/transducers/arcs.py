"""The parts of transducers: transitions, their outputs, and runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

from tokdfa.automata.alphabet import TokenAlphabet, Word, show
from tokdfa.automata.protocol import checked

# Token numbers.
Output: TypeAlias = tuple[int, ...]


class Arc(NamedTuple):
    """A transition out of a state: the symbol it reads, the tokens it writes, and its target."""

    symbol: int
    output: Output
    target: int


class TransducerRun(NamedTuple):
    """A run: the states that it visits and, between them, the tokens (spelled) that it writes at each step."""

    states: tuple[int, ...]
    outputs: tuple[tuple[Word, ...], ...]

    @property
    def output(self) -> tuple[Word, ...]:
        """All tokens that the run writes."""
        return tuple(token for step in self.outputs for token in step)


class TwoArcs(NamedTuple):
    """Two transitions of one state on one symbol."""

    state: int
    first: Arc
    second: Arc


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


def checked_arc(alphabet: TokenAlphabet, n_states: int, state: int, arc: tuple[int, Sequence[int], int]) -> Arc:
    """Return a transition of `state` after checking its numbers."""
    symbol, output, target = arc
    where = f"state {state}"
    return Arc(
        checked(symbol, alphabet.n_symbols, "symbol", where),
        checked_output(alphabet, output, where),
        checked(target, n_states, "target", where),
    )


def checked_output(alphabet: TokenAlphabet, output: Sequence[int], where: str) -> Output:
    """Return an output after checking that it consists of tokens."""
    return tuple(checked(token, len(alphabet), "token", where) for token in output)
