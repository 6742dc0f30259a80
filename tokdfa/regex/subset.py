"""Subset constructions: programs as deterministic automata over classes of code points.

The form of a state depends on the use of the automaton:

*set*
    a set of threads, to decide whether something matches;
*first*
    a list of threads in order of preference, cut off after a match, to find the leftmost match that a backtracking
    search finds first;
*longest*
    a set of threads for each offset where a match may have begun, in the order of these offsets, cut off after the
    first set that has a match, to find the leftmost match and, of the matches that begin there, the longest.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.budget import Budget
from tokdfa.regex.class_dfa import ClassDFA, Partition
from tokdfa.regex.program import Accept, Look, LookAround, Program, Read, after_forks

Preference: TypeAlias = Literal["set", "first", "longest"]

# A thread is the number of an instruction (Read, Look or Match) times 4; plus 1 if it may match where it is, which
# matters only in programs with assertions; plus 2 if it is after a line feed that has to be the last symbol.
_MAY_MATCH, _AT_END = 1, 2
Group: TypeAlias = tuple[int, ...]


def determinize(
    program: Program,
    preference: Preference = "set",
    *,
    searching: bool = False,
    anchored: bool = True,
    aligned: bool = False,
    budget: Budget | None = None,
) -> ClassDFA:
    """Return the automaton of a program, by the `preference` "set", "first" or "longest"; see the module.

    If `searching`, empty matches are ignored. If `anchored`, matches begin only at the beginning, otherwise anywhere;
    if `aligned`, they begin and end only at boundaries of tokens.
    """
    given = Budget() if budget is None else budget
    return _Construction(program, preference, searching, anchored, aligned, given).run()


class _Key(NamedTuple):
    """A state: its threads, whether new ones are still added, the kind of the last symbol, and the match.

    Without a match `accepts` is 0, otherwise 1 more than the index of the pattern that has matched.

    It also records whether it is at the boundary between two tokens, where another boundary (of a token without text)
    changes nothing, and the kind of the symbol before the last, if a match may turn out to have ended between the two;
    and, if new threads are still added, whether there are others: matches that began earlier may have come back to the
    threads of new ones, as the threads of `a*b` do after each `a`, but where they begin is not where new ones would.
    """

    groups: tuple[Group, ...]
    adding: bool
    kind: int
    accepts: int = 0
    kind_before: int = 0
    after_boundary: bool = False
    late: bool = False
    earlier: int = 0
    begun: bool = False


class _Construction:
    def __init__(
        self, program: Program, preference: Preference, searching: bool, anchored: bool, aligned: bool, budget: Budget
    ) -> None:
        self.budget = budget
        # A match that ended before the line feed just read is represented by an instruction as well, from `late` on.
        self.late = len(program.instructions)
        n_patterns = sum(isinstance(instruction, Accept) for instruction in program.instructions)
        self.instructions = [*program.instructions, *map(Accept, range(n_patterns))]
        self.preference = preference
        self.anchored = anchored
        self.aligned = aligned
        looks, sets = program.assertions, program.sets
        self.delayed = bool(looks)
        self.last_line = [look.last_line for look in looks]
        self.has_last_line, self.mirrored = any(self.last_line), program.mirrored
        self.partition = Partition([*sets, *(side for look in looks for side in (look.before, look.behind))], budget)
        n = self.partition.n_classes
        self.no_symbol, self.edge, self.boundary = n, n + 1, n + 2
        self.kind_of, self.holds = _kinds(looks, self.partition.members[:, len(sets) :], program.mirrored)
        self.edge_kind = self.kind_of[self.edge]
        self.line_feed_kind = self.kind_of[self.partition.classes(10)] if self.has_last_line else -1
        self.reads: list[list[int]] = [np.flatnonzero(column).tolist() for column in self.partition.members.T]
        self.closures: dict[int, list[int]] = {}
        # A thread that has read something may match where it stands; in an aligned search not before the boundary.
        self.mark = int(self.delayed and not aligned)
        start = self.closure(program.start)
        if searching:
            start = [number for number in start if not isinstance(self.instructions[number], Accept)]
        self.start = [self.thread(number, int(self.delayed and not searching)) for number in start]
        self.start_looks = any(isinstance(self.instructions[number], Look) for number in start)

    def run(self) -> ClassDFA:
        """Return the automaton."""
        numbers: dict[_Key, int] = {}
        keys = [_Key((), False, 0)]

        def number(key: _Key) -> int:
            if not (key.groups or key.adding or key.accepts):
                return 0
            known = numbers.setdefault(key, len(keys))
            if known == len(keys):
                self.budget.spend(sum(map(len, key.groups)))
                keys.append(key)
            return known

        initial = [number(self.begin(kind)) for kind in range(self.edge_kind + 1)]
        rows = [np.zeros(self.boundary + 1, dtype=np.int32)]
        while len(rows) < len(keys):
            self.budget.spend(self.boundary + 1)
            rows.append(np.array([number(target) for target in self.targets(keys[len(rows)])], dtype=np.int32))
            self.budget.check_states(len(keys))
        return ClassDFA(
            self.partition,
            np.array(rows),
            np.array([key.accepts > 0 for key in keys]),
            np.array([key.late for key in keys]),
            np.array([initial[key.kind_before] if key.accepts else 0 for key in keys], dtype=np.int32),
            np.array([key.kind + max(key.accepts - 1, 0) * len(initial) for key in keys], dtype=np.int32),
            np.array(self.kind_of, dtype=np.int32),
            np.array(initial, dtype=np.int32),
            self.delayed,
            self.has_last_line,
        )

    def closure(self, start: int) -> list[int]:
        """Return the instructions to execute next from `start`, in order: Read, Look and Match."""
        if start not in self.closures:
            self.closures[start] = [*after_forks(self.instructions, start)]
            self.budget.spend(len(self.closures[start]))
        return self.closures[start]

    def thread(self, number: int, marks: int) -> int:
        """Return the thread at an instruction, without marks that do not apply, so equal threads are equal numbers."""
        return 4 * number + (marks & _AT_END if isinstance(self.instructions[number], Read) else marks)

    def begin(self, kind: int) -> _Key:
        """Return the initial state after a symbol of a kind."""
        if self.anchored:
            return self.arrive([self.start], False, kind)
        state = self.arrive([], True, kind)
        return self.at_boundary(state) if self.aligned else state

    def arrive(self, groups: list[list[int]], adding: bool, kind: int) -> _Key:
        """Return the state with these threads, after recording matches and adding new threads."""
        accepts = 0
        if not (self.delayed or self.aligned):
            groups, accepts = self.cut(groups)
            adding = adding and (not accepts or self.preference == "set")
        begun = adding and any(groups)
        if adding and not self.aligned:
            groups = self.with_new_threads(groups)
        return self.key(groups, adding, kind, accepts)._replace(begun=begun)

    def at_boundary(self, key: _Key) -> _Key:
        """Return the state at the boundary between two tokens, in an aligned search."""
        if key.after_boundary:
            return key._replace(accepts=0, kind_before=0, late=False)
        groups = [list(group) for group in key.groups]
        accepts, adding = 0, key.adding
        if self.delayed:
            groups = [[self.thread(thread >> 2, thread & 3 | _MAY_MATCH) for thread in group] for group in groups]
        else:
            groups, accepts = self.cut(groups)
            adding = adding and (not accepts or self.preference == "set")
        begun = adding and any(groups)
        if adding:
            groups = self.with_new_threads(groups)
        return self.key(groups, adding, key.kind, accepts)._replace(
            after_boundary=True, earlier=key.earlier, begun=begun
        )

    def key(self, groups: list[list[int]], adding: bool, kind: int, accepts: int) -> _Key:
        """Return the state in a normal form, so that equivalent keys compare equal."""
        if self.preference != "first":
            groups = [sorted(group) for group in groups]
        frozen = tuple(tuple(group) for group in groups if group)
        if not (self.start_looks or (self.mirrored and self.has_last_line)) and not any(
            isinstance(self.instructions[thread >> 2], Look) for group in frozen for thread in group
        ):
            kind = 0  # nobody will ask
        return _Key(frozen, adding, kind, accepts, kind if accepts else 0)

    def cut(self, groups: list[list[int]]) -> tuple[list[list[int]], int]:
        """Return the threads that are not cut off by a match, and the match as in a state."""
        kept = []
        accepts = 0
        for group in groups:
            index = next((i for i, t in enumerate(group) if isinstance(self.instructions[t >> 2], Accept)), None)
            if index is None:
                kept.append(group)
            elif self.preference == "first":
                return [*kept, group[:index]], self.accepted(group[index])
            else:
                kept.append(group[:index] + group[index + 1 :])
                accepts = self.accepted(group[index])
                if self.preference == "longest":
                    return kept, accepts
        return kept, accepts

    def accepted(self, thread: int) -> int:
        """Return the match of a thread, as in a state."""
        instruction = self.instructions[thread >> 2]
        return 1 + instruction.which if isinstance(instruction, Accept) else 0

    def with_new_threads(self, groups: list[list[int]]) -> list[list[int]]:
        """Return the threads, with the threads of a match that begins here last in order."""
        seen = {thread for group in groups for thread in group}
        new = [thread for thread in self.start if thread not in seen]
        if self.preference == "longest" or not groups:
            return [*groups, new]
        return [*groups[:-1], groups[-1] + new]

    def targets(self, key: _Key) -> list[_Key]:
        """Return the states reached on each class, on bytes that are not a symbol, at an edge and at a boundary."""
        targets = self.targets_knowing(key) if self.delayed else self.targets_at_once(key)
        targets.append(self.at_boundary(key) if self.aligned else key)
        return targets

    def targets_at_once(self, key: _Key) -> list[_Key]:
        """Return the targets if there are no assertions; classes that the same threads read lead to the same state."""
        groups = [[t for t in group if isinstance(self.instructions[t >> 2], Read)] for group in key.groups]
        readers = [0] * self.partition.n_classes
        bit = 1
        for group in groups:
            for thread in group:
                for symbol in self.reads[self.read_by(thread).symbols]:
                    readers[symbol] |= bit
                bit <<= 1
        known: dict[int, _Key] = {}
        for symbol, which in enumerate(readers):
            if which not in known:
                self.budget.check_time()
                known[which] = self.arrive(self.behind(groups, symbol), key.adding, 0)
        edge = self.begin(0) if key.adding else _Key((), False, 0)
        return [*(known[which] for which in readers), self.arrive([], key.adding, 0), edge]

    def targets_knowing(self, key: _Key) -> list[_Key]:
        """Return the targets if the next symbol decides which threads continue and which match."""
        targets = []
        for symbol in range(self.boundary):
            self.budget.check_time()
            groups, matched, is_late = self.resolve(key, symbol)
            adding = key.adding and (not matched or self.preference == "set")
            kind = self.kind_of[symbol]
            if self.mirrored and kind == self.line_feed_kind and key.kind == self.edge_kind:
                kind = self.edge_kind - 1
            if symbol == self.edge:
                target = self.begin(kind) if adding else _Key((), False, kind)
            else:
                target = self.arrive(self.behind(groups, symbol), adding, kind)
                if any(thread >> 2 >= self.late for group in target.groups for thread in group):
                    target = target._replace(earlier=key.kind)
            if is_late:
                target = target._replace(accepts=matched, late=True, kind=self.edge_kind - 1, kind_before=key.earlier)
            elif matched:
                target = target._replace(accepts=matched, kind=kind, kind_before=key.kind)
            targets.append(target)
        return targets

    def read_by(self, thread: int) -> Read:
        instruction = self.instructions[thread >> 2]
        assert isinstance(instruction, Read)
        return instruction

    def behind(self, groups: list[list[int]], symbol: int) -> list[list[int]]:
        """Return the threads after reading a symbol."""
        if symbol >= self.no_symbol:
            return []
        members = self.partition.members[symbol]
        found = []
        seen: set[int] = set()
        for group in groups:
            following = []
            for thread in group:
                instruction = self.instructions[thread >> 2]
                if isinstance(instruction, Accept):
                    following.append(thread)  # at most one per group, and only one of them is of use
                elif members[self.read_by(thread).symbols]:
                    for number in self.closure(self.read_by(thread).following):
                        next_thread = self.thread(number, self.mark | thread & _AT_END)
                        if next_thread not in seen:
                            seen.add(next_thread)
                            following.append(next_thread)
            if following:
                found.append(following)
        return found

    def resolve(self, key: _Key, symbol: int) -> tuple[list[list[int]], int, bool]:
        """Return the threads that read, now that the next symbol is known, the match before it, and whether it is late.

        A thread that arrives with `_AT_END` continues only at the edge of the text. In the result, a thread with
        `_AT_END` requires that the symbol, a line feed, is the last one; those from `late` on may be among them.
        """
        next_kind = self.kind_of[symbol]
        groups: list[list[int]] = []
        accepts, is_late = 0, False
        seen: set[int] = set()
        for group in key.groups:
            reading: list[int] = []
            here = late = 0
            # The old marks are removed first, so new marks show the threads that passed an end of the last line here.
            stack = [thread & ~_AT_END for thread in reversed(group) if not thread & _AT_END or symbol == self.edge]
            while stack:
                thread = stack.pop()
                if thread in seen:
                    continue
                seen.add(thread)
                instruction = self.instructions[thread >> 2]
                if isinstance(instruction, Read):
                    reading.append(thread)
                elif thread >> 2 >= self.late:
                    late = late or self.accepted(thread)
                elif isinstance(instruction, Accept):
                    if thread & _MAY_MATCH and thread & _AT_END:
                        reading.append(self.thread(self.late + instruction.which, _AT_END))
                    elif thread & _MAY_MATCH:
                        here = self.accepted(thread)
                elif isinstance(instruction, Look) and self.holds[instruction.assertion][key.kind][next_kind]:
                    marks = thread & 3
                    if self.last_line[instruction.assertion] and not self.mirrored and symbol != self.edge:
                        marks |= _AT_END
                    stack.extend(self.thread(number, marks) for number in reversed(self.closure(instruction.following)))
                if (here or late) and self.preference == "first":
                    break
            groups.append(reading)
            if not accepts:
                accepts, is_late = here or late, not here and late > 0
            if accepts and self.preference != "set":
                break
        return groups, accepts, is_late


def _kinds(looks: list[LookAround], members: BoolArray, mirrored: bool) -> tuple[list[int], list[list[list[bool]]]]:
    """Return the kind of each class, of no symbol and of an edge, and whether each assertion holds between two kinds.

    `members` has two columns per assertion. Symbols are of one kind if no assertion distinguishes them. The edge is of
    a kind of its own, the last one. When texts are read from right to left, only a line feed that is known to be the
    last symbol ends the last line.
    """
    n = len(members)
    if not looks:
        return [0] * (n + 2), []
    inside = [members[:, i].tolist() for i in range(2 * len(looks))]
    before = [[*side, look.before_broken, look.before_edge] for side, look in zip(inside[::2], looks, strict=True)]
    behind = [[*side, look.behind_broken, look.behind_edge] for side, look in zip(inside[1::2], looks, strict=True)]
    signatures = [tuple(column[symbol] for column in (*before, *behind)) for symbol in range(n + 2)]
    kinds = {signature: kind for kind, signature in enumerate(dict.fromkeys(signatures[:-1]))}
    example = [signatures.index(signature) for signature in kinds]
    last_line = next((i for i, look in enumerate(looks) if look.last_line), None)
    if last_line is not None:
        # A line feed that is the last symbol is of a kind of its own, the last but one.
        sides = before if mirrored else behind
        line_feed = next(symbol for symbol in example if sides[last_line][symbol])
        example.append(line_feed)
    edge = len(example)
    kind_of = [*(kinds[signature] for signature in signatures[:-1]), edge]
    example.append(n + 1)

    def holds(i: int, p: int, q: int) -> bool:
        if mirrored and looks[i].last_line and p < edge - 1:
            return False
        return (before[i][example[p]], behind[i][example[q]]) in looks[i].when

    kinds_and_edge = range(edge + 1)
    return kind_of, [[[holds(i, p, q) for q in kinds_and_edge] for p in kinds_and_edge] for i in range(len(looks))]
