"""Patterns as programs: nondeterministic automata with an order of preference among threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex import syntax
from tokdfa.regex.operators import AnchorKind
from tokdfa.regex.predicates import Predicates, committed, has_choice
from tokdfa.regex.unicode import LAST, Ranges

MAX_INSTRUCTIONS = 500_000


class LookAround(NamedTuple):
    """An assertion about the symbols on both sides of a position.

    The symbol before the position is or is not in `before`; the edge of the text counts as `before_edge`, bytes that
    are not a symbol count as `before_broken`. The same holds for the symbol after the position. The assertion holds if
    the pair of answers is in `when` and, if it is about the last line, a line feed after the position is the last
    symbol of the text.
    """

    before: Ranges
    before_edge: bool
    behind: Ranges
    behind_edge: bool
    when: frozenset[tuple[bool, bool]]
    last_line: bool = False
    before_broken: bool = False
    behind_broken: bool = False

    def mirrored(self) -> LookAround:
        """Return the assertion for text that is read from right to left."""
        when = frozenset((y, x) for x, y in self.when)
        sides = self.behind, self.behind_edge, self.before, self.before_edge
        return LookAround(*sides, when, self.last_line, self.behind_broken, self.before_broken)


class Read(NamedTuple):
    """Read one symbol of a set, then continue at `following`."""

    symbols: int
    following: int


class Fork(NamedTuple):
    """Go on at each of these; the first is preferred."""

    following: tuple[int, ...]


class Look(NamedTuple):
    """Go on at `following` where an assertion holds."""

    assertion: int
    following: int


class Test(NamedTuple):
    """Go on at `following` where the truth of a predicate is `holds`."""

    predicate: int
    holds: bool
    following: int


class BeginSearch(NamedTuple):
    """Go on at `following` where the search begins."""

    following: int


class Accept(NamedTuple):
    """The pattern has been read; of several, number `which`."""

    which: int = 0


Instruction: TypeAlias = Read | Fork | Look | Test | BeginSearch | Accept
Entries: TypeAlias = tuple[int, ...]


def in_order(indices: Sequence[int], ways: Callable[[int], Sequence[int]]) -> Iterator[int]:
    """Yield instructions and those that they lead to without reading, each once, in order of preference, best first.

    `ways` gives the indices that an index leads to; it is called after the index has been yielded.
    """
    seen: set[int] = set()
    stack = [*reversed(indices)]
    while stack:
        index = stack.pop()
        if index not in seen:
            seen.add(index)
            yield index
            stack.extend(reversed(ways(index)))


def after_forks(instructions: Sequence[Instruction], start: int) -> Iterator[int]:
    """Yield the instructions that come next from `start`, except forks, in order of preference."""

    def ways(index: int) -> tuple[int, ...]:
        instruction = instructions[index]
        return instruction.following if isinstance(instruction, Fork) else ()

    return (index for index in in_order((start,), ways) if not isinstance(instructions[index], Fork))


@dataclass
class Program:
    """A list of instructions, executed from the last one, which reads texts from right to left if `mirrored`.

    `sets` has the sets of symbols that are read, `assertions` the assertions, both without duplicates.
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
        """Add an instruction and return its number, within the budget."""
        if len(self.instructions) >= MAX_INSTRUCTIONS:
            what = f"the pattern takes more than {MAX_INSTRUCTIONS} instructions"
            raise LimitExceededError(what, hint="repeat less, or less deeply")
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
_ASSERTIONS: dict[AnchorKind, LookAround] = {
    "start of text": LookAround((), True, (), False, _YES_BEFORE),
    "start of line": LookAround(_LINE_FEED, True, (), False, _YES_BEFORE),
    "start of line with text": LookAround(_LINE_FEED, True, ((0, LAST),), False, frozenset({(True, True)})),
    "end of text": LookAround((), False, (), True, _YES_BEHIND),
    "end of last line": LookAround((), False, _LINE_FEED, True, _YES_BEHIND, last_line=True),
    "end of line": LookAround((), False, _LINE_FEED, True, _YES_BEHIND),
}

# At most one line feed, then the end of the text.
_LAST_LINE = syntax.Concat((syntax.Repeat(syntax.Symbols(_LINE_FEED), 0, 1), syntax.Anchor("end of text")))


def compile_program(
    *nodes: syntax.Node, budget: Budget | None = None, mirrored: bool = False, predicates: Predicates | None = None
) -> Program:
    """Return the program of a pattern, by Ken Thompson's construction; if `mirrored`, it reads from right to left.

    Of several patterns the first is preferred, and each has an end of its own.

    The reader of patterns bounds the depth of the tree, so recursion is safe here. Look-arounds go to `predicates`;
    without them the program has only look-arounds at a single symbol, and a pattern that looks behind, looks ahead at
    more than one symbol, or asks where a search began is a PatternError. So is an atomic group or a possessive
    repetition that is not known to be regular. More than 500,000 instructions are a LimitExceededError.
    """
    compiler = _Compiler(Program(Budget() if budget is None else budget, mirrored), predicates)
    ways = [compiler.compile(node, (compiler.program.add(Accept(which)),)) for which, node in enumerate(nodes)]
    compiler.program.add(Fork(tuple(start for (start,) in ways)))
    return compiler.program


class _Compiler:
    """Adds the instructions of a pattern.

    An iteration of a repetition that has read nothing is the last one, as in `re` and `regex`, so there are no cycles
    without reading. Whether an iteration has read anything is therefore part of the position in the program. Inside d
    nested repetitions of bodies that may be empty, a place has d + 1 variants, because the outer repetitions have read
    everything that an inner one has. A place is a tuple of instructions; entry j applies when the j outermost
    repetitions have read something.
    """

    def __init__(self, program: Program, predicates: Predicates | None, *, is_inner: bool = False) -> None:
        self.program = program
        self.mirrored = program.mirrored
        self.predicates = predicates
        self.is_inner = is_inner  # the program of a look-around

    def compile(self, node: syntax.Node, following: Entries) -> Entries:
        """Add the instructions that read `node` and then continue at `following`; return where it begins."""
        program = self.program
        program.budget.check_time()
        if isinstance(node, syntax.Symbols):
            return (program.read(node.ranges, following[-1]),) * len(following)
        if isinstance(node, syntax.Concat):
            for part in node.parts if self.mirrored else reversed(node.parts):
                following = self.compile(part, following)
            return following
        if isinstance(node, syntax.Alternate):
            options = [self.compile(option, following) for option in node.options]
            return self.split(*options) if options else (self.program.add(Fork(())),) * len(following)
        if isinstance(node, syntax.Repeat):
            if node.mode == "possessive" and isinstance(node.body, syntax.Symbols):
                only = committed(node)  # it stops where no such symbol follows
                assert only is not None
                return self.compile(only, following)
            return self.commit(node, following) if node.mode == "possessive" else self.repeat(node, following)
        if isinstance(node, syntax.Atomic):
            return self.commit(node, following) if has_choice(node.body) else self.compile(node.body, following)
        known = {way: self.ask(node, way) for way in dict.fromkeys(following)}
        return tuple(known[way] for way in following)

    def commit(self, node: syntax.Atomic | syntax.Repeat, following: Entries) -> Entries:
        """Add an atomic group or a possessive repetition."""
        is_group = isinstance(node, syntax.Atomic)
        what = "an atomic group" if is_group else "a possessive repetition of more than one symbol"
        if self.predicates is None:
            hint = "use an ordinary group" if is_group else "leave the + out"
            where = f"pattern, offset {node.offset}"
            raise PatternError(f"{what} cannot be expressed by an automaton", where=where, hint=hint)
        only = committed(node)
        if only is None:
            raise PatternError(
                f"{what} of this kind is not supported",
                where=f"pattern, offset {node.offset}",
                hint="to find its first match, a search may have to backtrack inside it",
            )
        return self.compile(only, following)

    def ask(self, node: syntax.LookAhead | syntax.Assertion | syntax.Anchor, following: int) -> int:
        """Add the check of an assertion."""
        if isinstance(node, syntax.Anchor) and node.kind == "start of search":
            if self.predicates is None:
                raise PatternError(r"\G is not supported in a search")
            return self.program.add(BeginSearch(following))
        if isinstance(node, syntax.Anchor) and node.kind == "end of last line" and self.predicates is not None:
            node = syntax.Assertion(_LAST_LINE, behind=False, negated=False)
        if isinstance(node, syntax.Assertion):
            return self.program.add(Test(self.predicate(node), not node.negated, following))
        if isinstance(node, syntax.LookAhead):
            look = LookAround((), False, node.ranges, node.at_end, _YES_BEHIND, behind_broken=node.at_broken)
        else:
            look = _assertion(node)
        if self.is_inner:
            return self.program.add(Fork(tuple(self.ways(look, following))))
        return self.program.look(look.mirrored() if self.mirrored else look, following)

    def predicate(self, node: syntax.Assertion) -> int:
        """Return the number of the predicate of a look-around."""
        if self.predicates is None:
            raise PatternError(
                "look-behind is not supported"
                if node.behind
                else "a look-ahead of more than one symbol is not supported",
                where=f"pattern, offset {node.offset}",
                hint="(?=x) and (?!x) can be used if x is one symbol or the end of the text",
            )
        known = self.predicates.known(node.body, node.behind)
        if known is not None:
            return known
        inner = _Compiler(Program(self.program.budget), self.predicates, is_inner=True)
        (start,) = inner.compile(node.body, (inner.program.add(Accept()),))
        inner.program.add(Fork((start,)))
        return self.predicates.words(node.body, node.behind, inner.program)

    def ways(self, look: LookAround, following: int) -> Iterator[int]:
        """Add an assertion about neighbours as tests, and yield where each way to pass it begins."""
        assert self.predicates is not None
        for before, behind in sorted(look.when):
            way = following
            for symbols, edge, holds, is_before in (
                (look.behind, look.behind_edge, behind, False),
                (look.before, look.before_edge, before, True),
            ):
                if symbols or edge:
                    way = self.program.add(Test(self.predicates.neighbour(symbols, edge, is_before), holds, way))
                elif holds:
                    break
            else:
                yield way

    def split(self, *preferred: Entries) -> Entries:
        """Add the instructions that continue at one of several indices; the first is preferred."""
        ways = list(zip(*preferred, strict=True))
        known = {way: self.program.add(Fork(way)) for way in dict.fromkeys(ways)}
        return tuple(known[way] for way in ways)

    def repeat(self, node: syntax.Repeat, following: Entries) -> Entries:
        """Add a repetition: the mandatory copies, then the optional ones."""
        nullable = syntax.is_nullable(node.body)

        def turn(more: int) -> Entries:
            """Add an iteration, after which there may be `more` if it has read anything."""
            if nullable:
                return self.compile(node.body, (*following, more))[: len(following)]
            return self.compile(node.body, (more,) * len(following))

        def choice(once: Entries) -> Entries:
            return self.split(following, once) if node.mode == "lazy" else self.split(once, following)

        target, least = following, node.least
        if node.most is None:
            loop = self.program.add(Fork(()))
            once = turn(loop)
            ways = (once[-1], following[-1])
            self.program.instructions[loop] = Fork(ways[::-1] if node.mode == "lazy" else ways)
            # A body that may be empty need not be read once more before it is read any number of times.
            target, least = (once, least - 1) if least > 0 else (choice(once), 0)
        else:
            for _ in range(node.most - least):
                target = choice(turn(target[-1]))
        for _ in range(least):
            before, target = target, self.compile(node.body, target)
            if target == before:  # the body is always empty
                break
        return target


def _assertion(anchor: syntax.Anchor) -> LookAround:
    if anchor.kind in ("word boundary", "inside a word"):
        pairs = {(True, False), (False, True)} if anchor.kind == "word boundary" else {(True, True), (False, False)}
        return LookAround(anchor.word, False, anchor.word, False, frozenset(pairs))
    return _ASSERTIONS[anchor.kind]
