"""Building the parts of a splitting that are not shipped: its machine, and pairs of symbols that are always cut apart.

The machine is the determinized automaton of its hypotheses. It is small, because a state is a few hypotheses and does
not record how far back they diverge.

The pairs of symbols that no piece has side by side, found in patterns: every text is cut between them. Whether a piece
ends at some offset may depend on text far to the right. Between two symbols that no match of the pattern has next to
each other it does not: every text is cut there, and the split of the text to the left depends only on the one following
symbol that a look-ahead may see.

The pairs that a match can have side by side are those that follow each other in the pattern's Glushkov automaton
without assertions. A symbol is always in some match if a match is found at that symbol for any following text. A step
is known to cut only where the steps before it do not find a match to the right. Of a pattern that may match the empty
text, looks back or looks far ahead, the machine is asked. With steps that do more than isolate their matches, no pair
is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int32Array, Uint16Array, distinct
from tokdfa.base.budget import DEFAULT_MAX_SECONDS, Budget
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.encode.events import BEGINS
from tokdfa.regex import syntax
from tokdfa.regex.class_dfa import Partition
from tokdfa.regex.unicode import Ranges
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import (
    DEFAULT_MAX_STATES,
    Machine,
    Runs,
    SplitNFA,
    is_known,
    splitting_budget,
)
from tokdfa.tokenizers.pretokenizers.step_trees import naming_counters, step_tree
from tokdfa.tokenizers.pretokenizers.steps import Splitting

_MOST_NFA_STATES = 255
_MOST_CLASSES = 256


def build_machine(
    splitting: Splitting, *, max_states: int = DEFAULT_MAX_STATES, max_seconds: float = DEFAULT_MAX_SECONDS
) -> Machine:
    """Return the machine of a splitting, determinized from :func:`find_split_nfa`, within these limits."""
    budget = splitting_budget(max_seconds)
    # Results within the usual time are shared. Those that are shipped are made here.
    is_shared = max_seconds == DEFAULT_MAX_SECONDS and not is_known(splitting)
    nfa = find_split_nfa(splitting, None if is_shared else budget)
    with naming_counters(splitting):
        return _determinize(nfa, max_states, budget)


def _determinize(nfa: SplitNFA, max_states: int, budget: Budget) -> Machine:
    """Return the machine: its states are the sets of hypotheses to pursue together."""
    states: Numbering[tuple[int, ...]] = Numbering((0,))
    targets: list[list[int]] = []
    origins: list[list[list[tuple[int, int]]]] = []
    for state in states.states:  # grows during the loop
        row, origin_row = [], []
        for symbol in range(nfa.n_classes):
            origin: dict[int, tuple[int, int]] = {}
            for index, hypothesis in enumerate(state):
                for target, event in nfa.moves[hypothesis][symbol]:
                    # Two paths to one hypothesis would be two splits of one text.
                    assert target not in origin
                    origin[target] = (index, event)
            assert origin
            key = tuple(sorted(origin))
            if len(key) > _MOST_NFA_STATES:
                what = f"the split pattern takes more than {_MOST_NFA_STATES} hypotheses at once"
                raise LimitExceededError(what, hint="simplify it")
            budget.spend(len(key))
            row.append(states[key])
            origin_row.append([origin[hypothesis] for hypothesis in key])
        targets.append(row)
        origins.append(origin_row)
        if len(states) > max_states:
            what = f"the automaton of the split pattern has more than {max_states} states"
            raise LimitExceededError(what, hint="simplify the pattern")
        budget.check_time()
    borne_out = []
    for state in states.states:
        (index,) = (index for index, hypothesis in enumerate(state) if nfa.ends[hypothesis])
        borne_out.append(index)
    return _merge_classes(nfa, states.states, np.array(targets, dtype=np.int32), origins, borne_out, budget)


def _merge_classes(
    nfa: SplitNFA,
    states: list[tuple[int, ...]],
    target: Int32Array,
    origins: list[list[list[tuple[int, int]]]],
    borne_out: list[int],
    budget: Budget,
) -> Machine:
    """Return the machine over the classes that it distinguishes."""
    most = max(map(len, states))
    n_states, n_classes = target.shape
    budget.check_size(2 * most * n_states * n_classes, "hypotheses")
    padded = np.zeros((2, n_states, n_classes, most), dtype=np.uint8)
    for source, row in enumerate(origins):
        for symbol, pairs in enumerate(row):
            padded[:, source, symbol, : len(pairs)] = np.array(pairs, dtype=np.uint8).T
    columns = np.concatenate((target[..., None], *padded), axis=2).swapaxes(0, 1).reshape(n_classes, -1)
    _, first, merged = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    if len(first) > _MOST_CLASSES:
        raise LimitExceededError(f"the split pattern takes more than {_MOST_CLASSES} classes", value=len(first))
    return Machine(
        Runs.of(merged.reshape(-1).astype(np.uint8)[nfa.class_of_code_point]),
        target[:, first],
        np.array([len(state) for state in states], dtype=np.int32),
        np.ascontiguousarray(padded[0][:, first]),
        np.ascontiguousarray(padded[1][:, first]),
        np.array(borne_out, dtype=np.uint8),
    )


_LOOKS_FAR = (
    *("start of text", "start of line", "start of line with text", "word boundary", "inside a word"),
    "start of search",
)


def certain_pairs(
    splitting: Splitting, machine: Callable[[], Machine | None] = lambda: None
) -> tuple[Uint16Array, BoolArray]:
    """Return the class of each code point, and the certain pairs of classes; see :class:`CertainPairs`.

    `machine` returns the machine of the splitting, if it has one; asked only where the patterns do not say enough.
    """
    trees = [step_tree(step, splitting) for step in splitting.steps]
    partition = Partition([ranges for tree in trees for ranges in _sets(tree)])
    n = partition.n_classes
    certain: BoolArray = np.zeros((n, n), dtype=np.bool_)
    simple = all(step.behavior == "isolated" for step in splitting.steps) and splitting.prefix_space is None
    if not simple or splitting.byte_steps:
        return partition.dense, certain
    if any(map(syntax.is_nullable, trees)) or any(map(_looks_far, _nodes(trees))):
        found = machine()
        return (partition.dense, certain) if found is None else _pairs_of_machine(found)
    # Pairs for which the steps so far cut, or do not cut, in the same way in every text.
    settled: BoolArray = np.ones((n, n), dtype=np.bool_)
    column = 0
    for tree in trees:
        reader = _Reader(partition, column)
        ways = reader.read(tree)
        column = reader.column
        settled &= ~reader.follow[:n, :n]
        certain |= settled & (ways.sure[:n, None] | ways.sure[None, :n])
        settled &= ~ways.first[None, :n]
    return partition.dense, certain


def _pairs_of_machine(machine: Machine) -> tuple[Uint16Array, BoolArray]:
    """Return the pairs after which a machine is as at the beginning of a text, all hypotheses agreeing on the piece."""
    n = machine.target.shape[1]
    padding = np.arange(machine.parent.shape[2]) >= machine.n_nfa_states[machine.target][:, :, None]
    begins: BoolArray = ((machine.event == BEGINS) | padding).all(axis=2)
    parent = machine.parent[:, :, :1]
    begins &= ((machine.parent == parent) | padding).all(axis=2) & (machine.target == machine.target[:1])
    after = [distinct(machine.target[:, symbol]) for symbol in range(n)]
    return machine.class_of_code_point.astype(np.uint16), np.array([begins[states].all(axis=0) for states in after])


def _nodes(trees: list[syntax.Node]) -> list[syntax.Node]:
    nodes = list(trees)
    for node in nodes:  # grows during the loop
        nodes.extend(_children(node))
    return nodes


def _looks_far(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Assertion) or (isinstance(node, syntax.Anchor) and node.kind in _LOOKS_FAR)


def _children(node: syntax.Node) -> tuple[syntax.Node, ...]:
    return () if isinstance(node, syntax.Assertion) else syntax.children(node)


def _sets(tree: syntax.Node) -> list[Ranges]:
    """Return the sets of symbols of a tree, in the order in which `_Reader` meets them."""
    if isinstance(tree, syntax.Symbols):
        return [tree.ranges]
    return [ranges for child in _children(tree) for ranges in _sets(child)]


@dataclass(frozen=True)
class _Ways:
    """How a part of a pattern may match, as bool arrays over the classes of symbols and the one for assertions.

    A match begins with one of `first` and ends with one of `last`, or is empty if `nullable`. Before any text there is
    a match at every symbol of `sure`, and everywhere if `free`. A part that is `committed` does not backtrack.
    """

    first: BoolArray
    last: BoolArray
    sure: BoolArray
    free: bool
    nullable: bool
    committed: bool = False


class _Reader:
    """Reads a tree from left to right and collects the pairs of symbols that follow each other in a match.

    After the classes of symbols comes one more, for the offsets where an assertion looks ahead.
    """

    def __init__(self, partition: Partition, column: int) -> None:
        n = partition.n_classes
        self._members = np.append(partition.members, np.zeros((1, partition.members.shape[1]), dtype=np.bool_), axis=0)
        self._none: BoolArray = np.zeros(n + 1, dtype=np.bool_)
        self._looks: BoolArray = np.arange(n + 1) == n
        self.follow: BoolArray = np.zeros((n + 1, n + 1), dtype=np.bool_)
        self.column = column

    def read(self, node: syntax.Node) -> _Ways:
        if isinstance(node, syntax.Symbols):
            members = self._members[:, self.column]
            self.column += 1
            return _Ways(members, members, members, free=False, nullable=False)
        if isinstance(node, syntax.Concat):
            return self._concat([self.read(part) for part in node.parts])
        if isinstance(node, syntax.Alternate):
            options = [self.read(option) for option in node.options]
            first, last, sure = (
                np.any([getattr(way, name) for way in options], axis=0) for name in ("first", "last", "sure")
            )
            flags = (any(getattr(way, name) for way in options) for name in ("free", "nullable", "committed"))
            return _Ways(first, last, sure, *flags)
        if isinstance(node, syntax.Repeat):
            body = self.read(node.body)
            if node.most is None or node.most > 1:
                self.follow |= body.last[:, None] & body.first[None, :]
            free = node.least == 0 or body.free
            sure = body.sure if node.least == 1 else self._none
            committed = body.committed or node.mode == "possessive"
            return _Ways(body.first, body.last, sure, free, node.least == 0 or body.nullable, committed)
        if isinstance(node, syntax.Atomic):
            return replace(self.read(node.body), committed=True)
        return _Ways(self._looks, self._none, self._none, free=False, nullable=True)

    def _concat(self, parts: list[_Ways]) -> _Ways:
        first, last, sure = self._none, self._none, self._none
        nullable = free = True
        skipped = ~self._none
        for index, part in enumerate(parts):
            self.follow |= last[:, None] & part.first[None, :]
            if nullable:
                first = first | part.first
            last = part.last | last if part.nullable else part.last
            nullable &= part.nullable
            # The parts before this one are empty, this part matches, and nothing after it can fail.
            if all(later.free for later in parts[index + 1 :]):
                sure = sure | (skipped & (part.sure | part.free))
            skipped = skipped & part.free & ~(part.committed & part.first)
            free &= part.free
        return _Ways(first, last, sure, free, nullable, any(part.committed for part in parts))
