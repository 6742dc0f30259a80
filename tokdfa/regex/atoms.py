"""Escapes, classes and brackets, as the dialects of the libraries read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex import unicode

_HEX_DIGITS: unicode.Ranges = ((48, 57), (65, 70), (97, 102))
_ASCII: dict[str, unicode.Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)), "alpha": ((65, 90), (97, 122)), "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 31), (127, 127)), "digit": ((48, 57),), "graph": ((33, 126),),
    "lower": ((97, 122),), "print": ((32, 126),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "upper": ((65, 90),), "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "xdigit": _HEX_DIGITS,
}  # fmt: skip
# In a bracket, Oniguruma asks for these symbols of Latin-1 another table, where they are not word characters.
_NO_WORD_IN_BRACKETS: unicode.Ranges = ((0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE))
_PROPERTIES = {
    "tokenizers": tuple(_ASCII),
    "tiktoken": ("alnum", "alpha", "blank", "cntrl", "digit", "lower", "punct", "space", "upper", "word"),
    "regex": (
        *("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word"),
    ),
}

# The categories that llama.cpp knows by name; it takes every category of letters for all letters.
_OF_LLAMA_CPP = {name: name[0] for name in ("N", "L", "P", "M", "S", "Lu", "Ll", "Lt", "Lm", "Lo")} | {"Han": "han"}


def escaped_class(letter: str, table: str, *, in_bracket: bool) -> unicode.Ranges:
    r"""Return the class of \s, \d, \w or \h in a library, outside brackets or in one.

    In Oniguruma and fancy-regex \h is a hexadecimal digit; in `regex` it is a horizontal space. In llama.cpp \d and \w
    have ASCII only.
    """
    if letter == "h":
        return _unicode("blank", table) if unicode.library_of(table) == "regex" else _HEX_DIGITS
    return _in_bracket(unicode.ranges("\\" + letter, table), table, in_bracket and letter == "w")


def property_class(name: str, table: str, *, in_bracket: bool) -> unicode.Ranges:
    """Return the class of the property of a name, as :func:`tokdfa.regex.unicode.ranges` does, or of a POSIX class."""
    if unicode.library_of(table) == "llama.cpp":
        if name not in _OF_LLAMA_CPP:
            raise PatternError("llama.cpp has no such category", value=name)
        return unicode.ranges(_OF_LLAMA_CPP[name], table)
    key = name.translate({ord(symbol): None for symbol in " _-"}).lower()
    if key in _PROPERTIES[unicode.library_of(table)]:
        symbols = unicode.ranges("P", table) if key == "punct" else _unicode(key, table)
        return _in_bracket(symbols, table, in_bracket and key == "word")
    return unicode.ranges(name, table)


def posix_class(name: str, table: str) -> unicode.Ranges | None:
    """Return the class of ``[[:name:]]`` in a library; None if it has none of that name.

    That of Rust, which tiktoken uses, has ASCII only; Oniguruma and `regex` have Unicode, and differ in digits and
    punctuation.
    """
    if name not in _ASCII:
        return None
    library = unicode.library_of(table)
    if library == "tiktoken" or name in ("ascii", "xdigit"):
        return _ASCII[name]
    if library == "regex":
        alphabetic = unicode.ranges("alphabetic", table)
        if name == "digit":
            return _ASCII["digit"]
        if name == "alnum":
            return unicode.union(alphabetic, _ASCII["digit"])
        if name == "punct":
            return unicode.difference(_unicode("punct", table), alphabetic)
    return _in_bracket(_unicode(name, table), table, name == "word")


@cache
def _unicode(name: str, table: str) -> unicode.Ranges:
    """Return the Unicode class of the name of a POSIX class."""
    if name in ("alpha", "upper", "lower"):
        return unicode.ranges({"alpha": "alphabetic", "upper": "uppercase", "lower": "lowercase"}[name], table)
    if name in ("ascii", "xdigit"):
        return _ASCII[name]
    if name == "alnum":
        return unicode.union(unicode.ranges("alphabetic", table), unicode.ranges("Nd", table))
    if name == "blank":
        return unicode.union(unicode.ranges("Zs", table), ((9, 9),))
    if name == "punct":
        return unicode.union(unicode.ranges("P", table), unicode.ranges("S", table))
    if name in ("graph", "print"):
        blank = unicode.union(*(unicode.ranges(part, table) for part in (r"\s", "Cc", "Cn", "Cs")))
        graph = unicode.complement(blank, unicode.universe(table))
        return graph if name == "graph" else unicode.union(graph, unicode.ranges("Zs", table))
    return unicode.ranges({"cntrl": "Cc", "digit": "Nd", "space": r"\s", "word": r"\w"}[name], table)


def _in_bracket(symbols: unicode.Ranges, table: str, is_word: bool) -> unicode.Ranges:
    is_of_oniguruma = is_word and unicode.library_of(table) == "tokenizers"
    return unicode.difference(symbols, _NO_WORD_IN_BRACKETS) if is_of_oniguruma else symbols


MAX_NESTING = 100
"""The maximum nesting depth of groups and brackets."""

_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7}
_REFUSED_ESCAPES = {
    "K": "\\K, which moves the start of a match", "R": "the line break \\R here",
    "X": "the grapheme \\X", "N": "\\N", "O": "\\O", "h": "\\h", "H": "\\H", "k": "a back-reference",
    "g": "a back-reference",
    "m": "the word boundary \\m", "M": "the word boundary \\M", "y": "\\y", "Y": "\\Y", "L": "a named list",
}  # fmt: skip
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
# A bracket that `regex` reads as a POSIX class, or refuses.
_POSIX_OF_REGEX = re.compile(r"\[:\^?[\w &.:=/-]+:\]")
_PROPERTY = re.compile(r"\{(\^?)(?:(gc|General_Category|sc|Script)=)?([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags in effect at the current offset of the pattern."""

    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False


class AtomReader:
    """Reads single symbols and sets of symbols of a pattern, from the offset `at` on; `depth` counts the open groups.

    The argument `table` names a library or, with a version, one of its tables. The attribute `table` is the library,
    for the dialect, and `classes` the table for the character classes.
    """

    def __init__(self, pattern: str, table: str, budget: Budget) -> None:
        self.pattern = pattern
        self.budget = budget
        self.table: unicode.Table = unicode.library_of(table)
        self.classes = table
        self.universe = unicode.universe(table)
        self.at = 0
        self.depth = 0
        self.flags = Flags()

    @property
    def folds_items(self) -> bool:
        """Whether the case of each item of a bracket is ignored; Oniguruma ignores the case of the whole bracket."""
        return self.flags.ignore_case and self.table != "tokenizers"

    def refuse(self, what: str, at: int, hint: str | None = None) -> NoReturn:
        """Raise a PatternError about an offset of the pattern."""
        raise PatternError(what, value=self.pattern[at : at + 40], where=f"pattern, offset {at}", hint=hint)

    def class_escape(self, at: int, *, in_bracket: bool = False) -> tuple[unicode.Ranges, bool] | None:
        r"""Read \s, \p{…} and the like; return the class, and whether it is not negated."""
        symbol = self.pattern[self.at]
        if symbol in "sSdDwW" or (symbol in "hH" and (symbol == "h" or self.table != "regex")):
            self.at += 1
            symbols = escaped_class(symbol.lower(), self.classes, in_bracket=in_bracket)
            return (symbols, True) if symbol.islower() else (unicode.complement(symbols, self.universe), False)
        if symbol not in "pP":
            return None
        name = _PROPERTY.match(self.pattern, self.at + 1)
        if not name:
            self.refuse(r"a property is written \p{…}", at)
        self.at = name.end()
        kind = {"gc": "category", "General_Category": "category", "sc": "script", "Script": "script", None: ""}[name[2]]
        try:
            if kind and (self.table in ("tokenizers", "llama.cpp") or unicode.kind_of(name[3], self.classes) != kind):
                raise PatternError(f"{self.table} has no {kind} of that name", value=name[0])
            symbols = property_class(name[3], self.classes, in_bracket=in_bracket)
        except PatternError:
            self.refuse(f"{self.table} has no class of that name, or it is not supported", at)
        negated = (symbol == "P") != (name[1] == "^")
        return (unicode.complement(symbols, self.universe), False) if negated else (symbols, True)

    def code_point(self, at: int) -> int:
        """Read an escape for one code point, from after the backslash."""
        symbol = self.pattern[self.at]
        self.at += 1
        if self.table == "llama.cpp" and symbol.isalnum() and symbol not in "tnvfr":
            self.refuse("this escape of ECMAScript is not supported", at)
        if symbol in _CONTROLS:
            return _CONTROLS[symbol]
        if symbol == "e" and self.table != "regex":
            return 27
        if symbol == "0" and self.table != "tiktoken" and not self.pattern[self.at : self.at + 1].isdigit():
            return 0
        if symbol in "123456789":
            self.refuse("a back-reference is not regular", at)
        digits = {"x": r"[0-9A-Fa-f]{2}", "u": r"[0-9A-Fa-f]{4}", "U": r"[0-9A-Fa-f]{8}"}
        braced = {"regex": "", "tokenizers": "x", "tiktoken": "xu", "llama.cpp": ""}[self.table]
        if symbol in digits and not (symbol == "U" and self.table == "tokenizers"):
            number = re.compile(digits[symbol]).match(self.pattern, self.at)
            if symbol in braced and not number:
                number = re.compile(r"\{([0-9A-Fa-f]{1,6})\}").match(self.pattern, self.at)
            if number:
                self.at = number.end()
                value = int(number[number.lastindex or 0], 16)
                if not unicode.contains(self.universe, value):
                    self.refuse("no text has this code point", at)
                # Without braces, Oniguruma reads \xHH as a byte of UTF-8.
                if value < 0x80 or symbol != "x" or number.lastindex or self.table != "tokenizers":
                    return value
        if symbol in _REFUSED_ESCAPES:
            self.refuse(f"{_REFUSED_ESCAPES[symbol]} is not supported", at)
        if symbol.isascii() and symbol.isalnum():
            self.refuse("this escape is unknown or not supported", at)
        return ord(symbol)

    # Brackets

    def bracket(self, at: int, depth: int = 0) -> unicode.Ranges:
        """Read a bracket from after its [. The depth is bounded, so recursion is safe."""
        if depth + self.depth >= MAX_NESTING:
            raise LimitExceededError(f"brackets are nested more than {MAX_NESTING} deep", where=f"pattern, offset {at}")
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        start = self.at
        operands: list[list[unicode.Ranges]] = [[]]
        while True:
            self.budget.check_time()
            here = self.at
            if here >= len(self.pattern):
                self.refuse("the bracket is not closed", at)
            symbol = self.pattern[here]
            if symbol == "]" and here > start:
                self.at += 1
                break
            if self.table == "llama.cpp" and symbol == "[":
                self.refuse("a bracket in a bracket is not supported", here, "to match the symbol itself, escape it")
            if posix := _POSIX.match(self.pattern, here):
                self.at = posix.end()
                operands[-1].append(self.posix(posix, here))
            elif self.table == "regex" and _POSIX_OF_REGEX.match(self.pattern, here):
                self.refuse("this POSIX class is not supported", here, r"write \p{…}")
            elif symbol == "[" and self.table != "regex":
                self.at += 1
                operands[-1].append(self.bracket(here, depth + 1))
            elif self.pattern.startswith(("&&", "--", "~~", "||"), here):
                if symbol != "&" or self.table in ("regex", "llama.cpp"):
                    self.refuse("this set operation is not supported", here, "to match the symbol itself, escape it")
                self.at += 2
                operands.append([])
            else:
                operands[-1].append(self.bracket_item(here, start))
        sets = [unicode.union(*operand) for operand in operands]
        if len(sets) > 1 and not all(operands):
            self.refuse("the intersection has an empty side", at)
        symbols = sets[0]
        for other in sets[1:]:
            symbols = unicode.intersection(symbols, other)
        return unicode.complement(symbols, self.universe) if negated else symbols

    def posix(self, name: re.Match[str], here: int) -> unicode.Ranges:
        """Return the POSIX class of a name."""
        symbols = posix_class(name[2], self.classes)
        if symbols is None:
            self.refuse(f"{self.table} has no POSIX class of that name", here)
        if self.folds_items and unicode.case_variants(symbols, self.classes) != symbols:
            if name[1]:
                self.refuse("a negated POSIX class is not supported when case is ignored", here)
            symbols = unicode.case_variants(symbols, self.classes)
        return unicode.complement(symbols, self.universe) if name[1] else symbols

    def bracket_item(self, here: int, start: int) -> unicode.Ranges:
        """Read a class, a symbol or a range of symbols."""
        if self.pattern[here] == "\\":
            if here + 1 >= len(self.pattern):
                self.refuse("the pattern ends with a backslash", here)
            self.at = here + 1
            found = self.class_escape(here, in_bracket=True)
            if found is not None:
                symbols, positive = found
                if self.pattern[self.at : self.at + 1] == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                    self.refuse("the range begins with a class", here)
                if self.folds_items and unicode.case_variants(symbols, self.classes) != symbols:
                    if not positive:
                        self.refuse("a negated class in a bracket is not supported when case is ignored", here)
                    symbols = unicode.case_variants(symbols, self.classes)
                return symbols
        elif self.pattern[here] == "-" and here > start and self.pattern[here + 1 : here + 2] != "]":
            self.refuse("the hyphen may or may not mean a range", here, "escape it, or write it last")
        first = last = self.bracket_symbol(here)
        follow = self.pattern[self.at : self.at + 2]
        if len(follow) == 2 and follow[0] == "-" and follow[1] != "]":
            if follow == "--":
                self.refuse("the hyphen may or may not mean a range", self.at, "escape it")
            self.at += 1
            at = self.at
            if self.pattern[at] == "[" and self.table != "regex":
                self.refuse("the range ends in a bracket", here)
            last = self.bracket_symbol(at)
            if last < first:
                self.refuse("the range ends before it begins", here)
        symbols = unicode.intersection(((first, last),), self.universe)
        return unicode.case_variants(symbols, self.classes) if self.folds_items else symbols

    def bracket_symbol(self, here: int) -> int:
        """Read one symbol of a bracket, written as it is or escaped."""
        if self.pattern[here] != "\\":
            self.at = here + 1
            code_point = ord(self.pattern[here])
        else:
            if self.pattern[here + 1 : here + 2] in tuple("sSdDwWpPhH"):
                self.refuse("the range ends in a class", here)
            self.at = here + 1
            if self.pattern.startswith("b", self.at):
                self.at += 1
                return 8
            if self.at >= len(self.pattern):
                self.refuse("the pattern ends with a backslash", here)
            code_point = self.code_point(here)
        if not unicode.contains(self.universe, code_point):
            self.refuse(f"texts of {self.table} have no surrogates", here)
        return code_point
