"""The surroundings of an offset in a text, as far as the look-arounds of a pattern ask for them.

The truth of a look-behind is known from the left, so a deterministic automaton that reads the text keeps it. The truth
of a look-ahead is known from the right: a deterministic automaton that reads the text backwards keeps it, and read
forwards this automaton guesses its state and verifies the guess symbol by symbol. Look-arounds within look-arounds are
predicates before them. So the automaton of all contexts is unambiguous: every text has exactly one run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from tokdfa.base.budget import Budget
from tokdfa.regex.class_dfa import Partition
from tokdfa.regex.predicates import Neighbour, Predicate, Words
from tokdfa.regex.program import Accept, Fork, Instruction, Read, Test
from tokdfa.regex.unicode import Ranges

Truth: TypeAlias = tuple[bool, ...]
Arrows: TypeAlias = list[list[tuple[int, ...]]]


def predicate_sets(predicates: list[Predicate]) -> list[Ranges]:
    """Return the sets of symbols that predicates distinguish."""
    sets: list[Ranges] = []
    for predicate in predicates:
        sets += [predicate.symbols] if isinstance(predicate, Neighbour) else predicate.program.sets
    return sets


class _States(list[tuple[int, Hashable]]):
    """Pairs of a context and a state of a component, in the order in which they are found; each has a number."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[tuple[int, Hashable], int] = {}

    def number(self, context: int, state: Hashable) -> int:
        """Return the number of a pair, which is the next one if it is new."""
        number = self._numbers.setdefault((context, state), len(self))
        if number == len(self):
            self.append((context, state))
        return number


class Contexts:
    """The unambiguous automaton of contexts over the classes of a partition.

    Each of the `predicates` asks only those before it; the truth of those `asked` is wanted. The partition refines the
    sets of all of them; the first is its set number `column`.

    ``moves[c][a]`` are the contexts that a symbol of class a may lead to, `initial` those in which a text may begin;
    `final` says whether a text may end in a context, and `truths` has for each the truth of the predicates asked.
    """

    def __init__(
        self, predicates: list[Predicate], asked: list[int], partition: Partition, column: int, budget: Budget
    ) -> None:
        self._budget = budget
        self._n_classes = partition.n_classes
        self.moves: Arrows = [[(0,)] * self._n_classes]
        self.initial: list[int] = [0]
        self.final: list[bool] = [True]
        self.truths: list[Truth] = [()]
        for predicate in predicates:
            n_sets = 1 if isinstance(predicate, Neighbour) else len(predicate.program.sets)
            members = partition.members[:, column : column + n_sets].tolist()
            column += n_sets
            part = (
                _NextTo(predicate, members) if isinstance(predicate, Neighbour) else _Text(predicate, members, budget)
            )
            (self._add_behind if predicate.behind else self._add_ahead)(part)
        self.truths = [tuple(truth[number] for number in asked) for truth in self.truths]
        self._merge()

    def _add_behind(self, part: _Part) -> None:
        """Add a component that reads the text forwards, as far as texts lead."""
        states = _States()
        initial = [states.number(context, part.begin) for context in self.initial]
        moves: Arrows = []
        for context, state in states:  # grows during the loop
            row = []
            for symbol, targets in enumerate(self.moves[context]):
                after = part.after(state, symbol, self.truths[context]) if targets else None
                row.append(tuple(states.number(target, after) for target in targets))
            moves.append(row)
            self._budget.spend(len(row))
            self._budget.check_states(len(states))
        self._become(states, moves, initial, [self.final[context] for context, _ in states], part.holds)

    def _add_ahead(self, part: _Part) -> None:
        """Add a component that reads the text backwards, as far as ends of texts lead."""
        before: list[list[tuple[int, int]]] = [[] for _ in self.moves]
        for source, row in enumerate(self.moves):
            for symbol, targets in enumerate(row):
                for target in targets:
                    before[target].append((symbol, source))
        states = _States()
        for context, is_final in enumerate(self.final):
            if is_final:
                states.number(context, part.begin)
        n_final = len(states)
        arrows: list[tuple[int, int, int]] = []
        for target, (context, state) in enumerate(states):  # grows during the loop
            known: dict[int, Hashable] = {}
            for symbol, source in before[context]:
                if symbol not in known:
                    known[symbol] = part.after(state, symbol, self.truths[context])
                arrows.append((states.number(source, known[symbol]), symbol, target))
            self._budget.spend(len(before[context]) + 1)
            self._budget.check_states(len(states))
        rows: list[list[list[int]]] = [[[] for _ in range(self._n_classes)] for _ in states]
        self._budget.spend(len(states) * self._n_classes)
        for source, symbol, target in arrows:
            rows[source][symbol].append(target)
        begins = set(self.initial)
        initial = [index for index, (context, _) in enumerate(states) if context in begins]
        moves: Arrows = [[tuple(targets) for targets in row] for row in rows]
        self._become(states, moves, initial, [index < n_final for index in range(len(states))], part.holds)

    def _become(
        self,
        states: list[tuple[int, Hashable]],
        moves: Arrows,
        initial: list[int],
        final: list[bool],
        holds: Callable[[Hashable, Truth], bool],
    ) -> None:
        """Take over the contexts of a larger automaton that texts reach, and from which they end."""
        truths = []
        for context, state in states:
            self._budget.check_time()
            truths.append((*self.truths[context], holds(state, self.truths[context])))
        forward = [{target for targets in row for target in targets} for row in moves]
        backward: list[set[int]] = [set() for _ in moves]
        for source, targets in enumerate(forward):
            for target in targets:
                backward[target].add(source)
        useful = _reach(forward, initial) & _reach(backward, [index for index, ends in enumerate(final) if ends])
        index = {old: new for new, old in enumerate(sorted(useful))}
        self.moves = [
            [tuple(index[target] for target in targets if target in index) for targets in moves[old]] for old in index
        ]
        self.initial = [index[old] for old in initial if old in index]
        self.final = [final[old] for old in index]
        self.truths = [truths[old] for old in index]

    def _merge(self) -> None:
        """Merge contexts that no text and no truth distinguishes. No two of them can be guessed at one offset."""
        block = _numbered([*zip(self.truths, self.final, strict=True)])
        while True:
            self._budget.spend(len(self.moves) * (self._n_classes + 1))
            finer = _numbered(
                [
                    (own, *(tuple(sorted({block[target] for target in targets})) for targets in row))
                    for own, row in zip(block, self.moves, strict=True)
                ]
            )
            if max(finer, default=0) == max(block, default=0):
                break
            block = finer
        first = {number: at for at, number in reversed([*enumerate(block)])}
        kept = [first[number] for number in range(len(first))]
        self.moves = [
            [tuple(sorted({block[target] for target in targets})) for targets in self.moves[old]] for old in kept
        ]
        self.initial = sorted({block[old] for old in self.initial})
        self.final = [self.final[old] for old in kept]
        self.truths = [self.truths[old] for old in kept]


def _numbered(keys: list[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _reach(arrows: list[set[int]], start: list[int]) -> set[int]:
    found, queue = set(start), list(start)
    for source in queue:  # grows during the loop
        new = arrows[source] - found
        found |= new
        queue += new
    return found


class _NextTo:
    """The symbol next to an offset: its state is the truth."""

    def __init__(self, predicate: Neighbour, members: list[list[bool]]) -> None:
        self.begin: Hashable = predicate.edge
        self._inside = [row[0] for row in members]

    def after(self, state: Hashable, symbol: int, truth: Truth) -> Hashable:
        return self._inside[symbol]

    def holds(self, state: Hashable, truth: Truth) -> bool:
        return bool(state)


class _Text:
    """The text before or after an offset: its state is the set of instructions that this text leads to.

    Read forwards, they are those after the symbols read so far, for a word that begins anywhere. Read backwards, they
    are those that read the next symbol, and then the text up to the end of some word.
    """

    def __init__(self, predicate: Words, members: list[list[bool]], budget: Budget) -> None:
        self.begin: Hashable = frozenset()
        self._instructions: list[Instruction] = predicate.program.instructions
        self._start = predicate.program.start
        self._behind = predicate.behind
        self._members = members
        self._budget = budget
        self._reads = [
            (index, instruction)
            for index, instruction in enumerate(self._instructions)
            if isinstance(instruction, Read)
        ]
        self._closures: dict[tuple[int, Truth], frozenset[int]] = {}
        self._steps: dict[tuple[Hashable, int, Truth], Hashable] = {}

    def after(self, state: Hashable, symbol: int, truth: Truth) -> Hashable:
        key = state, symbol, truth
        if key not in self._steps:
            self._steps[key] = (self._forwards if self._behind else self._backwards)(state, symbol, truth)
            self._budget.spend(1)
        return self._steps[key]

    def holds(self, state: Hashable, truth: Truth) -> bool:
        assert isinstance(state, frozenset)
        if self._behind:
            return any(self._ends(at, truth) for at in (self._start, *state))
        closure = self._closure(self._start, truth)
        return not closure.isdisjoint(state) or self._ends(self._start, truth)

    def _forwards(self, state: Hashable, symbol: int, truth: Truth) -> Hashable:
        assert isinstance(state, frozenset)
        members = self._members[symbol]
        following = set()
        for start in (self._start, *state):
            for number in self._closure(start, truth):
                instruction = self._instructions[number]
                if isinstance(instruction, Read) and members[instruction.symbols]:
                    following.add(instruction.following)
        return frozenset(following)

    def _backwards(self, state: Hashable, symbol: int, truth: Truth) -> Hashable:
        assert isinstance(state, frozenset)
        members = self._members[symbol]
        found = set()
        for number, instruction in self._reads:
            if members[instruction.symbols]:
                closure = self._closure(instruction.following, truth)
                if not closure.isdisjoint(state) or self._ends(instruction.following, truth):
                    found.add(number)
        self._budget.spend(len(found))
        return frozenset(found)

    def _ends(self, start: int, truth: Truth) -> bool:
        return 0 in self._closure(start, truth)

    def _closure(self, start: int, truth: Truth) -> frozenset[int]:
        """Return the instructions from `start` that read, and 0, the one that accepts, if it is reached."""
        key = start, truth
        if key not in self._closures:
            found = set()
            seen = {start}
            stack = [start]
            while stack:
                number = stack.pop()
                instruction = self._instructions[number]
                following: tuple[int, ...] = ()
                if isinstance(instruction, Fork):
                    following = instruction.following
                elif isinstance(instruction, Test):
                    following = (instruction.following,) if truth[instruction.predicate] == instruction.holds else ()
                else:
                    found.add(number)
                stack += [at for at in following if at not in seen]
                seen.update(following)
            assert isinstance(self._instructions[0], Accept)
            self._budget.spend(len(found) + 1)
            self._closures[key] = frozenset(found)
        return self._closures[key]


_Part: TypeAlias = _NextTo | _Text
