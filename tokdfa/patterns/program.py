"""Patterns as programs: nondeterministic automata whose threads have an order of preference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from tokdfa.errors import LimitExceededError, PatternError
from tokdfa.patterns.budget import Budget
from tokdfa.patterns.syntax import (
    Alternate,
    Anchor,
    Atomic,
    Concat,
    LookAhead,
    Node,
    Place,
    Repeat,
    Symbols,
    is_nullable,
)
from tokdfa.unicode import LAST, Ranges, complement

__all__ = ["Accept", "Fork", "Instruction", "Look", "LookAround", "Program", "Read", "compile_program"]

MAX_INSTRUCTIONS = 500_000


class LookAround(NamedTuple):
    """An assertion about the symbols on both sides of a position.

    The symbol before the position is or is not in `before`; the edge of the text counts as `before_edge`. The same
    holds for the symbol after the position. The assertion holds if the pair of answers is in `when` and, if it is about
    the last line, a line feed after the position is the last symbol of the text.
    """

    before: Ranges
    before_edge: bool
    behind: Ranges
    behind_edge: bool
    when: frozenset[tuple[bool, bool]]
    last_line: bool = False

    def mirrored(self) -> LookAround:
        """Return the assertion for text that is read from right to left."""
        when = frozenset((y, x) for x, y in self.when)
        return LookAround(self.behind, self.behind_edge, self.before, self.before_edge, when, self.last_line)


class Read(NamedTuple):
    """Read one symbol of a set, then go on at `following`."""

    symbols: int
    following: int


class Fork(NamedTuple):
    """Go on at each of these; the first is preferred."""

    following: tuple[int, ...]


class Look(NamedTuple):
    """Go on at `following` where an assertion holds."""

    assertion: int
    following: int


class Accept(NamedTuple):
    """The pattern has been read."""


Instruction: TypeAlias = Read | Fork | Look | Accept
Entries: TypeAlias = tuple[int, ...]


@dataclass
class Program:
    """A list of instructions, executed from the last one.

    Attributes
    ----------
    instructions : list of Instruction
    sets : list of ranges
        The sets of symbols that are read, without duplicates.
    assertions : list of LookAround
        The assertions, without duplicates.
    budget : Budget
        The budget.
    mirrored : bool
        Whether the program reads texts from right to left.
    """

    budget: Budget
    mirrored: bool = False
    instructions: list[Instruction] = field(default_factory=list)
    _sets: dict[Ranges, int] = field(default_factory=dict)
    _assertions: dict[LookAround, int] = field(default_factory=dict)

    @property
    def start(self) -> int:
        """The instruction to start with."""
        return len(self.instructions) - 1

    @property
    def sets(self) -> list[Ranges]:
        """The sets of symbols that are read."""
        return list(self._sets)

    @property
    def assertions(self) -> list[LookAround]:
        """The assertions."""
        return list(self._assertions)

    def add(self, instruction: Instruction) -> int:
        """Add an instruction and return its number.

        Raises
        ------
        LimitExceededError
            If there are too many, or the time is up.
        """
        if len(self.instructions) >= MAX_INSTRUCTIONS:
            raise LimitExceededError(
                f"the pattern takes more than {MAX_INSTRUCTIONS} instructions", hint="repeat less, or less deeply"
            )
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def read(self, symbols: Ranges, following: int) -> int:
        """Add the instruction that reads one of `symbols`."""
        return self.add(Read(self._sets.setdefault(symbols, len(self._sets)), following))

    def look(self, assertion: LookAround, following: int) -> int:
        """Add the instruction that checks `assertion`."""
        return self.add(Look(self._assertions.setdefault(assertion, len(self._assertions)), following))


_LINE_FEED: Ranges = ((10, 10),)
_YES_BEFORE = frozenset({(True, False)})
_YES_BEHIND = frozenset({(False, True)})
_ASSERTIONS: dict[Place, LookAround] = {
    "start of text": LookAround((), True, (), False, _YES_BEFORE),
    "start of line": LookAround(_LINE_FEED, True, (), False, _YES_BEFORE),
    "end of text": LookAround((), False, (), True, _YES_BEHIND),
    "end of last line": LookAround((), False, _LINE_FEED, True, _YES_BEHIND, last_line=True),
    "end of line": LookAround((), False, _LINE_FEED, True, _YES_BEHIND),
}


def compile_program(node: Node, budget: Budget | None = None, *, mirrored: bool = False) -> Program:
    """Return the program of a pattern.

    Parameters
    ----------
    node : Node
        The pattern. The reader of patterns bounds its depth, so recursion is safe here.
    budget : Budget, optional
        The budget.
    mirrored : bool
        Whether to read its words from right to left.

    Raises
    ------
    PatternError
        If the pattern has an atomic group, or a possessive repetition of more than one symbol.
    LimitExceededError
        If it would take more than 500,000 instructions, or longer.

    Notes
    -----
    Ken Thompson's construction.
    """
    compiler = _Compiler(Program(Budget() if budget is None else budget, mirrored))
    (start,) = compiler.compile(node, (compiler.program.add(Accept()),))
    compiler.program.add(Fork((start,)))
    return compiler.program


class _Compiler:
    """Adds the instructions of a pattern.

    An iteration of a repetition that has read nothing is the last one, as in `re` and `regex`, so there are no cycles
    without reading. Whether an iteration has read anything is therefore part of the position in the program. Inside d
    nested repetitions of bodies that may be empty, a place has d + 1 variants, because what an inner repetition has
    read, the outer ones have read too. A place is a tuple of instructions; entry j applies when the j outermost
    repetitions have read something.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.mirrored = program.mirrored

    def compile(self, node: Node, following: Entries) -> Entries:
        """Add the instructions that read `node` and then go on at `following`; return where it begins."""
        program = self.program
        program.budget.check_time()
        if isinstance(node, Symbols):
            return (program.read(node.ranges, following[-1]),) * len(following)
        if isinstance(node, Concat):
            for part in node.parts if self.mirrored else reversed(node.parts):
                following = self.compile(part, following)
            return following
        if isinstance(node, Alternate):
            options = [self.compile(option, following) for option in node.options]
            return self.split(*options) if options else (self.program.add(Fork(())),) * len(following)
        if isinstance(node, Repeat):
            if node.mode == "possessive":
                return self.compile(_without_possession(node), following)
            return self.repeat(node, following)
        if isinstance(node, Atomic):
            if _has_choice(node.body):
                raise PatternError("an atomic group cannot be expressed by an automaton", hint="use an ordinary group")
            return self.compile(node.body, following)
        if isinstance(node, LookAhead):
            look = LookAround((), False, node.ranges, node.at_end, _YES_BEHIND)
        else:
            look = _assertion(node)
        if self.mirrored:
            look = look.mirrored()
        known = {number: program.look(look, number) for number in dict.fromkeys(following)}
        return tuple(known[number] for number in following)

    def split(self, *preferred: Entries) -> Entries:
        """Add the instructions that go on at one of several places; the first is preferred."""
        ways = list(zip(*preferred, strict=True))
        known = {way: self.program.add(Fork(way)) for way in dict.fromkeys(ways)}
        return tuple(known[way] for way in ways)

    def repeat(self, node: Repeat, following: Entries) -> Entries:
        """Add a repetition: the mandatory copies, then the optional ones."""
        nullable = is_nullable(node.body)

        def turn(more: int) -> Entries:
            """Add an iteration, after which there may be `more` if it has read anything."""
            if nullable:
                return self.compile(node.body, (*following, more))[: len(following)]
            return self.compile(node.body, (more,) * len(following))

        def choice(once: Entries) -> Entries:
            return self.split(following, once) if node.mode == "lazy" else self.split(once, following)

        place, least = following, node.least
        if node.most is None:
            loop = self.program.add(Fork(()))
            once = turn(loop)
            ways = (once[-1], following[-1])
            self.program.instructions[loop] = Fork(ways[::-1] if node.mode == "lazy" else ways)
            # A body that may be empty need not be read once more before it is read any number of times.
            place, least = (once, least - 1) if least > 0 else (choice(once), 0)
        else:
            for _ in range(node.most - least):
                place = choice(turn(place[-1]))
        for _ in range(least):
            before, place = place, self.compile(node.body, place)
            if place == before:  # the body is always empty
                break
        return place


def _assertion(anchor: Anchor) -> LookAround:
    if anchor.place in ("word boundary", "inside a word"):
        pairs = {(True, False), (False, True)} if anchor.place == "word boundary" else {(True, True), (False, False)}
        return LookAround(anchor.word, False, anchor.word, False, frozenset(pairs))
    return _ASSERTIONS[anchor.place]


def _without_possession(node: Repeat) -> Node:
    """Return a possessive repetition of one symbol, expressed by look-ahead: it stops where no such symbol follows."""
    body, least, most = node.body, node.least, node.most
    if not isinstance(body, Symbols):
        raise PatternError(
            "a possessive repetition of more than one symbol cannot be expressed by an automaton",
            hint="leave the + out",
        )
    stop = LookAhead(complement(body.ranges, ((0, LAST),)), True)
    if most is None:
        return Concat((Repeat(body, least, None), stop))
    if most == least:
        return Repeat(body, least, most)
    return Alternate((Repeat(body, most, most), Concat((Repeat(body, least, most - 1), stop))))


def _has_choice(node: Node) -> bool:
    """Return whether a pattern can be read in more than one way."""
    if isinstance(node, Concat):
        return any(map(_has_choice, node.parts))
    return isinstance(node, (Alternate, Atomic)) or (isinstance(node, Repeat) and node.least != node.most)
