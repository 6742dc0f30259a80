r"""Patterns brought from the dialect of their library into one form.

The dialects differ in escapes, anchors, flags, brackets and classes. Here every atom of a pattern (a literal, an
escape, a bracket, a dot, an anchor) is replaced by one character that stands for what it means, and every group by a
plain one, so that what is left is operators only, which a parser for any dialect understands. Whatever a library
would read in a way that is not certain is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias

from tokdfa.errors import LimitExceededError, PatternError
from tokdfa.unicode import (
    Ranges,
    Table,
    case_variants,
    complement,
    contains,
    fold_expansions,
    intersection,
    ranges,
    union,
    universe,
)

__all__ = ["MAX_NESTING", "Operators", "Place", "read_dialect"]

Place: TypeAlias = Literal[
    "start of text", "end of text", "start of line", "end of line", "end of last line", "word boundary", "inside a word"
]
"""Where an anchor holds; the last line ends at the end of the text, and before a line feed that is there."""

MAX_NESTING = 100
"""How deep groups and brackets may be nested."""

_FIRST_STAND_IN = 0x10000
_MAX_ATOMS = 0x100000

_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
_REFUSED_ESCAPES = {
    "G": "the anchor \\G", "K": "\\K, which moves the start of a match", "R": "the line break \\R",
    "X": "the grapheme \\X", "N": "\\N", "O": "\\O", "h": "\\h, which means different things in different libraries",
    "H": "\\H, which means different things in different libraries", "k": "a back-reference", "g": "a back-reference",
    "m": "a boundary of words \\m", "M": "a boundary of words \\M", "y": "\\y", "Y": "\\Y", "L": "a named list",
}  # fmt: skip
_REFUSED_GROUPS = {
    "?<=": "look-behind", "?<!": "look-behind", "?(": "a conditional group", "?P=": "a back-reference",
    "?P>": "recursion", "?R": "recursion", "?&": "recursion", "?|": "a branch reset", "?~": "an absence operator",
    "?1": "recursion", "?0": "recursion",
}  # fmt: skip
_PASSED_GROUPS = ("?:", "?=", "?!", "?>")

_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\?P?<[A-Za-z_]\w*>")
_COMMENT = re.compile(r"\?#[^()\\]*\)")
_INTERVAL = re.compile(r"\{(?:(\d+)(,?)(\d*)|,(\d+))\}")
_POSIX = re.compile(r"\[:\^?\w+:\]")
_PROPERTY = re.compile(r"\{(\^?)(?:(?:gc|General_Category|sc|Script)=)?([^{}]+)\}")


@dataclass
class Operators:
    """A pattern in which every atom is one character.

    Attributes
    ----------
    text : str
        What is left: stand-ins, plain groups ``(?:``, look-aheads, atomic groups, alternation and repetition.
    atoms : list of ranges or places
        What the stand-ins mean.
    places : list of int
        For each character of `text` the place in the pattern where it comes from.
    looks : list of int
        The places of the look-aheads in the pattern.
    """

    text: str = ""
    atoms: list[Ranges | Place] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    looks: list[int] = field(default_factory=list)

    def atom(self, stand_in: int) -> Ranges | Place:
        """Return what the stand-in of that code point means."""
        return self.atoms[stand_in - _FIRST_STAND_IN]


@dataclass(frozen=True, slots=True)
class _Flags:
    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False


def read_dialect(pattern: str, table: Table) -> Operators:
    """Return the operators and atoms of `pattern`, read in the dialect of the library of `table`.

    Raises
    ------
    PatternError
        If the dialect does not have what the pattern says, or automata cannot do it; says what and where.
    LimitExceededError
        If it is nested too deeply or has too many different atoms.
    """
    return _Reader(pattern, table).run()


class _Reader:
    def __init__(self, pattern: str, table: Table) -> None:
        self.pattern = pattern
        self.table = table
        self.universe = universe(table)
        self.at = 0
        self.flags = _Flags()
        self.outer: list[tuple[int, _Flags]] = []  # where the open groups begin in the text, the flags around them
        self.pieces: list[str] = []
        self.places: list[int] = []
        self.looks: list[int] = []
        self.numbers: dict[Ranges | Place, int] = {}
        self.last_atom: int | None = None  # where it begins in `pieces`
        self.literals = ""  # those just read, where a library may fold a sequence of them into one symbol

    def refuse(self, what: str, at: int, hint: str | None = None) -> NoReturn:
        """Raise PatternError for what stands at a place of the pattern."""
        raise PatternError(what, value=self.pattern[at : at + 40], where=f"pattern, offset {at}", hint=hint)

    def run(self) -> Operators:
        """Read the pattern."""
        while self.at < len(self.pattern):
            at, symbol = self.at, self.pattern[self.at]
            self.at += 1
            if symbol == "(":
                self.open_group(at)
            elif symbol == ")":
                self.close_group(at)
            elif symbol == "|":
                self.operator("|", at)
            elif symbol in "*+?":
                self.quantifier(symbol, at)
            elif symbol == "{" and (interval := _INTERVAL.match(self.pattern, at)):
                self.at = interval.end()
                self.interval(interval, at)
            elif symbol == "^":
                self.begin_line(at)
            elif symbol == "$":
                self.end_line(at)
            elif symbol == "\\":
                self.escape(at)
            elif symbol == "[":
                self.add(self.bracket(at), at)
            elif symbol == ".":
                self.add(self.universe if self.flags.dot_all else complement(((10, 10),), self.universe), at)
            else:
                self.literal(ord(symbol), at)
        if self.outer:
            self.refuse("a group that is not closed", self.places[self.outer[-1][0]])
        return Operators("".join(self.pieces), list(self.numbers), self.places, self.looks)

    # What is written

    def emit(self, text: str, at: int) -> None:
        self.pieces.extend(text)
        self.places.extend([at] * len(text))

    def operator(self, text: str, at: int) -> None:
        self.emit(text, at)
        self.last_atom = None
        self.literals = ""

    def add(self, atom: Ranges | Place, at: int) -> None:
        self.literals = ""
        self.last_atom = len(self.pieces)
        number = self.numbers.setdefault(atom, len(self.numbers))
        if number >= _MAX_ATOMS:
            raise LimitExceededError("the pattern has too many different symbols", value=number)
        self.emit(chr(_FIRST_STAND_IN + number), at)

    # Groups

    def open_group(self, at: int) -> None:
        if len(self.outer) >= MAX_NESTING:
            raise LimitExceededError(f"groups are nested more than {MAX_NESTING} deep", where=f"pattern, offset {at}")
        start, flags = len(self.pieces), self.flags
        kind = "?:"
        rest = self.pattern[self.at : self.at + 3]
        for prefix, what in _REFUSED_GROUPS.items():
            if rest.startswith(prefix):
                self.refuse(f"{what} is not regular, or not supported", at)
        if rest[:2] in _PASSED_GROUPS:
            kind = rest[:2]
            self.at += 2
            if kind in ("?=", "?!"):
                self.looks.append(at)
        elif name := _NAME.match(self.pattern, self.at):
            self.at = name.end()
        elif comment := _COMMENT.match(self.pattern, self.at):
            self.at = comment.end()
            return
        elif flag := _FLAGS.match(self.pattern, self.at):
            inner = self.with_flags(flag[1], flag[2] or "", at)
            self.at = flag.end()
            if flag[3] == ")":
                if self.pieces:
                    self.refuse("flags behind the beginning", at, "write (?flags:…)")
                self.flags = inner
                return
            self.flags = inner
        elif rest.startswith(("?", "*")):
            self.refuse("a group of a kind that is not supported", at)
        self.operator("(" + kind, at)
        self.outer.append((start, flags))

    def with_flags(self, on: str, off: str, at: int) -> _Flags:
        names = {"i": "ignore_case", "s": "dot_all", "m": "multiline"}
        if self.table == "tokenizers":
            names = {"i": "ignore_case", "m": "dot_all"}
        values = {name: getattr(self.flags, name) for name in ("ignore_case", "dot_all", "multiline")}
        for letter in on + off:
            if letter not in names:
                self.refuse(f"the flag {letter!r} is not supported here", at)
        values |= dict.fromkeys((names[letter] for letter in on), True)
        values |= dict.fromkeys((names[letter] for letter in off), False)
        return _Flags(**values)

    def close_group(self, at: int) -> None:
        if not self.outer:
            self.refuse("a closing parenthesis too many", at)
        start, self.flags = self.outer.pop()
        self.operator(")", at)
        self.last_atom = start

    # Repetition

    def quantifier(self, symbol: str, at: int) -> None:
        before = self.pattern[at - 1] if at else ""
        if self.table == "tokenizers" and self.last_atom is not None and before == "}" and self.pieces[-1] == "}":
            # Behind an interval Oniguruma takes + for one more repetition, and ? for several things.
            if symbol != "+":
                self.refuse("a quantifier behind an interval", at)
            self.pieces[self.last_atom : self.last_atom] = "(?:"
            self.places[self.last_atom : self.last_atom] = [at] * 3
            self.emit(")", at)
        self.emit(symbol, at)
        self.literals = ""

    def interval(self, match: re.Match[str], at: int) -> None:
        least, comma, most, at_most = match.groups()
        self.emit(f"{{{least or 0},{at_most or most}}}" if comma or at_most else f"{{{least}}}", at)
        self.literals = ""

    # Atoms

    def begin_line(self, at: int) -> None:
        if self.table == "tokenizers":
            self.refuse("^, which is a line's beginning in Oniguruma, is not supported", at, "\\A is the text's")
        self.add("start of line" if self.flags.multiline else "start of text", at)

    def end_line(self, at: int) -> None:
        if self.table == "tokenizers" or self.flags.multiline:
            self.add("end of line", at)
        else:
            self.add("end of text" if self.table == "tiktoken" else "end of last line", at)

    def literal(self, code_point: int, at: int) -> None:
        if not contains(self.universe, code_point):
            self.refuse(f"the text of {self.table} has no surrogates", at)
        symbols: Ranges = ((code_point, code_point),)
        literals = ""
        if self.flags.ignore_case:
            symbols = case_variants(symbols, self.table)
            literals = self.literals + chr(code_point).casefold()
            expansions = fold_expansions(self.table)
            if code_point in expansions or any(sequence in literals for sequence in expansions.values()):
                self.refuse("without case this matches sequences of another length", at, "write out what is meant")
        self.add(symbols, at)
        self.literals = literals

    def escape(self, at: int) -> None:
        if self.at >= len(self.pattern):
            self.refuse("a backslash at the end", at)
        symbol = self.pattern[self.at]
        anchors: dict[str, Place] = {"A": "start of text", "z": "end of text"}
        if self.table == "regex":
            anchors |= {"Z": "end of text"}
        elif self.table == "tokenizers":
            anchors |= {"Z": "end of last line"}
        if symbol in anchors:
            self.at += 1
            self.add(anchors[symbol], at)
        elif symbol in "bB":
            self.at += 1
            self.add("word boundary" if symbol == "b" else "inside a word", at)
        elif (found := self.class_escape(at)) is not None:
            symbols, fold_first = found
            folded = case_variants(symbols, self.table)
            if self.flags.ignore_case and folded != symbols and self.table != "tokenizers":
                symbols = (
                    folded
                    if fold_first
                    else complement(case_variants(complement(symbols, self.universe), self.table), self.universe)
                )
            self.add(symbols, at)
        else:
            self.literal(self.code_point(at), at)

    def class_escape(self, at: int) -> tuple[Ranges, bool] | None:
        r"""Read \s, \p{…} and the like; return the class, and whether it is not a negated one."""
        symbol = self.pattern[self.at]
        if symbol in "sSdDwW":
            self.at += 1
            symbols = ranges("\\" + symbol.lower(), self.table)
            return (symbols, True) if symbol.islower() else (complement(symbols, self.universe), False)
        if symbol not in "pP":
            return None
        name = _PROPERTY.match(self.pattern, self.at + 1)
        if not name:
            self.refuse(r"a property is written \p{…}", at)
        self.at = name.end()
        try:
            symbols = ranges(name[2], self.table)
        except PatternError:
            self.refuse(f"{self.table} has no class of that name, or it is not supported", at)
        negated = (symbol == "P") != (name[1] == "^")
        return (complement(symbols, self.universe), False) if negated else (symbols, True)

    def code_point(self, at: int) -> int:
        """Read an escape that stands for one code point, from behind the backslash."""
        symbol = self.pattern[self.at]
        self.at += 1
        if symbol in _CONTROLS:
            return _CONTROLS[symbol]
        if symbol == "e" and self.table != "regex":
            return 27
        if symbol == "0" and self.table != "tiktoken" and not self.pattern[self.at : self.at + 1].isdigit():
            return 0
        if symbol in "123456789":
            self.refuse("a back-reference is not regular", at)
        digits = {"x": r"[0-9A-Fa-f]{2}", "u": r"[0-9A-Fa-f]{4}", "U": r"[0-9A-Fa-f]{8}"}
        braced = {"regex": "", "tokenizers": "x", "tiktoken": "xu"}[self.table]
        if symbol in digits and not (symbol == "U" and self.table == "tokenizers"):
            number = re.compile(digits[symbol]).match(self.pattern, self.at)
            if symbol in braced and not number:
                number = re.compile(r"\{([0-9A-Fa-f]{1,6})\}").match(self.pattern, self.at)
            if number:
                self.at = number.end()
                value = int(number[number.lastindex or 0], 16)
                if not contains(self.universe, value):
                    self.refuse("no code point of a text", at)
                # Below the braces Oniguruma takes \xHH for a byte of UTF-8.
                if value < 0x80 or symbol != "x" or number.lastindex or self.table != "tokenizers":
                    return value
        if symbol in _REFUSED_ESCAPES:
            self.refuse(f"{_REFUSED_ESCAPES[symbol]} is not supported", at)
        if symbol.isascii() and symbol.isalnum():
            self.refuse("an escape that is not known, or not supported", at)
        return ord(symbol)

    # Brackets

    def bracket(self, at: int, depth: int = 0) -> Ranges:
        """Read a bracket from behind its [; depth is bounded, so that it may be read by recursion."""
        if depth + len(self.outer) >= MAX_NESTING:
            raise LimitExceededError(f"brackets are nested more than {MAX_NESTING} deep", where=f"pattern, offset {at}")
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        start = self.at
        operands: list[list[Ranges]] = [[]]
        while True:
            here = self.at
            if here >= len(self.pattern):
                self.refuse("a bracket that is not closed", at)
            symbol = self.pattern[here]
            if symbol == "]" and here > start:
                self.at += 1
                break
            if _POSIX.match(self.pattern, here):
                self.refuse("a POSIX class is not supported", here)
            if symbol == "[" and self.table != "regex":
                self.at += 1
                operands[-1].append(self.bracket(here, depth + 1))
            elif self.pattern.startswith(("&&", "--", "~~", "||"), here):
                if symbol != "&" or self.table == "regex":
                    self.refuse("a set operation that is not supported", here, "escape the symbol if it is meant")
                self.at += 2
                operands.append([])
            else:
                operands[-1].append(self.bracket_item(here, start))
        sets = [union(*operand) for operand in operands]
        if len(sets) > 1 and not all(operands):
            self.refuse("an intersection with nothing", at)
        symbols = sets[0]
        for other in sets[1:]:
            symbols = intersection(symbols, other)
        return complement(symbols, self.universe) if negated else symbols

    def bracket_item(self, here: int, start: int) -> Ranges:
        """Read a class, a symbol or a range of symbols."""
        if self.pattern[here] == "\\":
            if here + 1 >= len(self.pattern):
                self.refuse("a backslash at the end", here)
            self.at = here + 1
            found = self.class_escape(here)
            if found is not None:
                symbols, positive = found
                if self.pattern[self.at : self.at + 1] == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                    self.refuse("a range that begins with a class", here)
                if self.flags.ignore_case and case_variants(symbols, self.table) != symbols:
                    if not positive:
                        self.refuse("a negated class in a bracket without case is not supported", here)
                    symbols = case_variants(symbols, self.table)
                return symbols
        elif self.pattern[here] == "-" and here > start and self.pattern[here + 1 : here + 2] != "]":
            self.refuse("a hyphen that may or may not mean a range", here, "escape it, or write it last")
        first = last = self.bracket_symbol(here)
        follow = self.pattern[self.at : self.at + 2]
        if len(follow) == 2 and follow[0] == "-" and follow[1] != "]":
            if follow == "--":
                self.refuse("a hyphen that may or may not mean a range", self.at, "escape it")
            self.at += 1
            at = self.at
            if self.pattern[at] == "[" and self.table != "regex":
                self.refuse("a range that ends in a bracket", here)
            last = self.bracket_symbol(at)
            if last < first:
                self.refuse("a range that ends before it begins", here)
        symbols = intersection(((first, last),), self.universe)
        if self.flags.ignore_case:
            if any(contains(symbols, symbol) for symbol in fold_expansions(self.table)):
                self.refuse("without case this matches sequences of several symbols", here, "write out what is meant")
            symbols = case_variants(symbols, self.table)
        return symbols

    def bracket_symbol(self, here: int) -> int:
        if self.pattern[here] != "\\":
            self.at = here + 1
            code_point = ord(self.pattern[here])
        else:
            if self.pattern[here + 1 : here + 2] in tuple("sSdDwWpP"):
                self.refuse("a range that ends in a class", here)
            self.at = here + 1
            if self.pattern.startswith("b", self.at):
                self.at += 1
                return 8
            if self.at >= len(self.pattern):
                self.refuse("a backslash at the end", here)
            code_point = self.code_point(here)
        if not contains(self.universe, code_point):
            self.refuse(f"the text of {self.table} has no surrogates", here)
        return code_point
