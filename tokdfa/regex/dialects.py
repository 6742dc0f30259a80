r"""Translation of patterns from the dialect of their library into one form.

The dialects differ in escapes, anchors, flags, brackets and classes. Here every atom of a pattern (a literal, an
escape, a bracket, a dot, an anchor) is replaced by one character that represents its meaning, and every group by a
plain one. Only operators remain, which a parser for any dialect understands. A construct is refused if it is not known
how the library reads it.
"""

from __future__ import annotations

import re

from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.regex import unicode
from tokdfa.regex.atoms import MAX_NESTING, AtomReader, Flags
from tokdfa.regex.operators import AnchorKind, Atom, Folded, Operators

_MAX_ATOMS = 0xF0000
# The parser of the standard library cannot be interrupted. It reads this much in a second or two.
_MAX_LENGTH = 1 << 19

_SEGMENTS: dict[str, AnchorKind] = {"X": "grapheme", "y": "grapheme boundary", "Y": "inside a grapheme"}
_REFUSED_GROUPS = {
    "?(": "a conditional group", "?P=": "a back-reference",
    "?P>": "recursion", "?R": "recursion", "?&": "recursion", "?|": "a branch reset", "?~": "an absence operator",
    "?1": "recursion", "?0": "recursion",
}  # fmt: skip
_LOOKS = ("?<=", "?<!", "?=", "?!")
_PASSED_GROUPS = (*_LOOKS, "?:", "?>")

_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME = re.compile(r"\?P?<[A-Za-z_]\w*>")
_COMMENT = re.compile(r"\?#[^()\\]*\)")
# The beginning of the number of errors allowed, in the dialect of regex.
_FUZZY = re.compile(r"\{(?:[deis]|\d+(?:<|[dis]))")
_INTERVAL = re.compile(r"\{(?:(\d+)(,?)(\d*)|,(\d+))\}")


def read_dialect(pattern: str, table: str, budget: Budget | None = None) -> Operators:
    """Return the operators and atoms of `pattern`, read in the dialect of the library of `table`.

    A PatternError says which construct the dialect lacks or automata cannot express, and where; a LimitExceededError,
    that it is too long, nested too deeply or has too many different atoms, or takes longer than `budget` allows.
    """
    if not isinstance(pattern, str):
        raise WrongTypeError("a pattern must be a str", value=pattern)
    if half := _SURROGATE.search(pattern):
        raise PatternError(
            "half of a surrogate pair, which cannot occur in a text",
            value=half[0],
            where=f"pattern, offset {half.start()}",
            hint="on a command line, bytes that are not UTF-8",
        )
    if len(pattern) > _MAX_LENGTH:
        what = f"the pattern has more than {_MAX_LENGTH:,} characters"
        raise LimitExceededError(what, value=len(pattern), hint="search for parts of it, or for a list of words")
    return _Reader(pattern, table, Budget() if budget is None else budget).run()


_SURROGATE = re.compile("[\ud800-\udfff]")
# The beginnings of groups of std::regex, without the parenthesis.
_STD_GROUPS = ("?:", "?=", "?!")


def _with_spaces_read_alike(symbols: unicode.Ranges, table: str) -> unicode.Ranges:
    """Return the symbols that match a class if white space outside ASCII is read as a vertical tab."""
    blank = unicode.intersection(unicode.ranges(r"\s", table), ((0x80, unicode.LAST),))
    other = unicode.difference(symbols, blank)
    return unicode.union(other, blank) if unicode.contains(symbols, 0x0B) else other


class _Reader(AtomReader):
    def __init__(self, pattern: str, table: str, budget: Budget) -> None:
        super().__init__(pattern, table, budget)
        self.outer: list[tuple[int, Flags, str]] = []  # where open groups begin in the text, flags around them, kinds
        self.pieces: list[str] = []
        self.offsets: list[int] = []
        self.looks: list[int] = []
        self.repeats: list[tuple[int, int, int]] = []  # where the item begins in the text, order, where in the pattern
        self.interval_text = ""  # the last interval
        self.quantified = -1  # the length of the text after the last quantifier
        self.numbers: dict[Atom, int] = {}
        self.last_atom: int | None = None  # where it begins in `pieces`

    def run(self) -> Operators:
        """Read the pattern."""
        if self.table == "llama.cpp" and "\\p{" in self.pattern and not self.pattern.isascii():
            self.refuse("llama.cpp refuses a pattern with a category and a character outside ASCII", 0)
        while self.at < len(self.pattern):
            self.budget.check_time()
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
            elif symbol == "{" and self.table == "regex" and _FUZZY.match(self.pattern, at):
                self.refuse("matching with errors, such as {e<=1}, is not supported", at)
            elif self.table == "regex" and self.pattern.startswith("{,}", at):
                self.refuse("{,} is not supported (it can be written *)", at)
            elif symbol == "^":
                self.begin_line(at)
            elif symbol == "$":
                self.end_line(at)
            elif symbol == "\\":
                self.escape(at)
            elif symbol == "[":
                self.whole_bracket(at)
            elif symbol == "." and self.table == "llama.cpp":
                self.refuse("the dot of std::regex is not supported", at)
            elif symbol == ".":
                self.add(self.universe if self.flags.dot_all else unicode.complement(((10, 10),), self.universe), at)
            else:
                self.literal(ord(symbol), at)
        if self.outer:
            self.refuse("the group is not closed", self.offsets[self.outer[-1][0]])
        repeats = [at for *_, at in sorted(self.repeats)]
        return Operators("".join(self.pieces), list(self.numbers), self.offsets, self.looks, repeats)

    # Output

    def emit(self, text: str, at: int) -> None:
        self.pieces.extend(text)
        self.offsets.extend([at] * len(text))

    def operator(self, text: str, at: int) -> None:
        self.emit(text, at)
        self.last_atom = None

    def repeat(self, start: int | None, at: int) -> None:
        """Record a repeated part, or an atomic group, that begins in the text at `start`."""
        if start is not None and start < len(self.offsets):
            at = self.offsets[start]
        # Of two that begin at one offset, the later one is the outer one.
        self.repeats.append((-1 if start is None else start, -len(self.repeats), at))

    def add(self, atom: Atom, at: int) -> None:
        if self.table == "llama.cpp" and isinstance(atom, tuple):
            atom = _with_spaces_read_alike(atom, self.classes)
        self.last_atom = len(self.pieces)
        number = self.numbers.setdefault(atom, len(self.numbers))
        if number >= _MAX_ATOMS:
            raise LimitExceededError("the pattern has too many different symbols", value=number)
        self.emit(Operators.stand_in(number), at)

    # Groups

    def open_group(self, at: int) -> None:
        if self.depth >= MAX_NESTING:
            raise LimitExceededError(f"groups are nested more than {MAX_NESTING} deep", where=f"pattern, offset {at}")
        start, flags = len(self.pieces), self.flags
        kind = "?:"
        rest = self.pattern[self.at : self.at + 3]
        if self.table == "llama.cpp" and rest.startswith("?") and not rest.startswith(_STD_GROUPS):
            self.refuse("std::regex has no such group", at)
        for prefix, what in _REFUSED_GROUPS.items():
            if rest.startswith(prefix):
                self.refuse(f"{what} is not supported, or not regular", at)
        if passed := next((prefix for prefix in _PASSED_GROUPS if rest.startswith(prefix)), None):
            kind = passed
            self.at += len(kind)
            if kind in _LOOKS:
                self.looks.append(at)
        elif name := _NAME.match(self.pattern, self.at):
            self.at = name.end()
        elif comment := _COMMENT.match(self.pattern, self.at):
            self.at = comment.end()
            return
        elif rest.startswith("?)") and self.table != "regex":
            self.refuse("flags are missing", at)
        elif flag := _FLAGS.match(self.pattern, self.at):
            inner = self.with_flags(flag[1], flag[2] or "", at)
            self.at = flag.end()
            if flag[3] == ")":
                if self.pieces:
                    self.refuse("flags must be at the beginning of the pattern", at, "write (?flags:…)")
                self.flags = inner
                return
            self.flags = inner
        elif rest.startswith(("?", "*")):
            self.refuse("this kind of group is not supported", at)
        if self.table == "tokenizers":
            self.check_look_behind(kind, at)
        if kind == "?>":
            self.repeat(start, at)
        is_plain = kind != "?:" or passed is not None
        self.operator("(" + kind if is_plain else "(", at)
        self.outer.append((start, flags, kind))
        self.depth += 1

    def check_look_behind(self, kind: str, at: int) -> None:
        """Refuse look-aheads in a look-behind, and captures in a negative one, as Oniguruma does."""
        captures = self.pattern[at : at + 2] != "(?" or self.pattern[at + 2 : at + 3] in ("<", "P")
        if kind in ("?=", "?!") and self.is_within_look_behind:
            self.refuse("a look-behind cannot look ahead", at)
        if kind == "?:" and captures and "?<!" in [outer for *_, outer in self.outer]:
            self.refuse("a negative look-behind cannot capture", at, "write (?:…)")

    @property
    def is_within_look_behind(self) -> bool:
        return any(outer in ("?<=", "?<!") for *_, outer in self.outer)

    def with_flags(self, on: str, off: str, at: int) -> Flags:
        names = {"i": "ignore_case", "s": "dot_all", "m": "multiline"}
        if self.table == "tokenizers":
            names = {"i": "ignore_case", "m": "dot_all"}
        values = {name: getattr(self.flags, name) for name in ("ignore_case", "dot_all", "multiline")}
        for letter in on + off:
            if letter not in names:
                self.refuse(f"the flag {letter!r} is not supported here", at)
        values |= dict.fromkeys((names[letter] for letter in on), True)
        values |= dict.fromkeys((names[letter] for letter in off), False)
        return Flags(**values)

    def close_group(self, at: int) -> None:
        if not self.outer:
            self.refuse("the closing parenthesis has no opening one", at)
        start, self.flags, _ = self.outer.pop()
        self.depth -= 1
        self.operator(")", at)
        self.last_atom = start

    # Repetition

    def quantifier(self, symbol: str, at: int) -> None:
        before = self.pattern[at - 1] if at else ""
        if self.table == "llama.cpp" and symbol != "?" and self.quantified == len(self.pieces):
            self.refuse("std::regex has no possessive quantifiers", at)
        if self.table == "tokenizers" and self.last_atom is not None and before == "}" and self.pieces[-1] == "}":
            # After an interval, Oniguruma reads a quantifier as one more repetition, except ? after {n,m}: fewer first.
            if symbol != "?" or "," not in self.interval_text:
                if self.interval_text in ("{1}", "{1,1}") and self.pieces[self.last_atom] == "(":
                    self.refuse(
                        "Oniguruma repeats the last symbol of the group only, or the group", at, "leave {1} out"
                    )
                self.repeat(self.last_atom, at)
                self.pieces[self.last_atom : self.last_atom] = "(?:"
                self.offsets[self.last_atom : self.last_atom] = self.offsets[self.last_atom : self.last_atom + 1] * 3
                self.emit(")", at)
        elif self.quantified != len(self.pieces):
            self.repeat(self.last_atom, at)
        self.emit(symbol, at)
        self.quantified = len(self.pieces)

    def interval(self, match: re.Match[str], at: int) -> None:
        least, comma, most, at_most = match.groups()
        self.repeat(self.last_atom, at)
        self.interval_text = f"{{{least or 0},{at_most or most}}}" if comma or at_most else f"{{{least}}}"
        self.emit(self.interval_text, at)
        self.quantified = len(self.pieces)

    # Atoms

    def begin_line(self, at: int) -> None:
        if self.table == "tokenizers":
            self.add("start of line with text", at)
        else:
            self.add("start of line" if self.flags.multiline else "start of text", at)

    def end_line(self, at: int) -> None:
        if self.table == "tokenizers" or self.flags.multiline:
            self.add("end of line", at)
        else:
            ends = self.table in ("tiktoken", "llama.cpp")
            self.add("end of text" if ends else "end of last line", at)

    def whole_bracket(self, at: int) -> None:
        negated = self.pattern.startswith("^", self.at)
        symbols = self.bracket(at)
        if not self.flags.ignore_case or self.folds_items:
            self.add(symbols, at)
        elif negated:
            folded = unicode.case_variants(unicode.complement(symbols, self.universe), self.classes)
            self.add(unicode.complement(folded, self.universe), at)
        else:
            self.add(Folded(symbols, is_literal=False), at)

    def literal(self, code_point: int, at: int) -> None:
        if not unicode.contains(self.universe, code_point):
            self.refuse(f"texts of {self.table} have no surrogates", at)
        symbols: unicode.Ranges = ((code_point, code_point),)
        if self.flags.ignore_case and self.table == "tokenizers" and not self.is_within_look_behind:
            self.add(Folded(symbols, is_literal=True), at)
        else:
            self.add(unicode.case_variants(symbols, self.classes) if self.flags.ignore_case else symbols, at)

    def line_break(self, at: int) -> None:
        r"""Add \R: a carriage return and a line feed, which it never parts, or one other symbol that ends a line."""
        if self.is_within_look_behind:
            self.refuse(r"\R in a look-behind is not supported", at)
        start = len(self.pieces)
        self.operator("(?:", at)
        self.add(((13, 13),), at)
        self.add(((10, 10),), at)
        self.operator("|", at)
        self.add(((13, 13),), at)
        self.looks.append(at)
        self.operator("(?!", at)
        self.add(((10, 10),), at)
        self.operator(")", at)
        self.operator("|", at)
        self.add(((10, 12), (0x85, 0x85), (0x2028, 0x2029)), at)
        self.operator(")", at)
        self.last_atom = start

    def escape(self, at: int) -> None:
        if self.at >= len(self.pattern):
            self.refuse("the pattern ends with a backslash", at)
        symbol = self.pattern[self.at]
        if self.table == "llama.cpp" and symbol in "AzGZbBhH":
            self.refuse("std::regex does not have this escape, or it is not supported", at)
        if self.table == "tokenizers" and symbol in "zZ" and self.is_within_look_behind:
            self.refuse(f"a look-behind cannot contain \\{symbol}", at)
        anchors: dict[str, AnchorKind] = {"A": "start of text", "z": "end of text", "G": "start of search"}
        if self.table == "regex":
            anchors |= {"Z": "end of text"}
        elif self.table == "tokenizers":
            anchors |= {"Z": "end of last line"}
        if symbol in anchors:
            self.at += 1
            self.add(anchors[symbol], at)
        elif symbol == "Z":
            # For fancy-regex, any number of line feeds may follow the offset.
            self.at += 1
            self.looks.append(at)
            self.operator("(?=", at)
            self.add(((10, 10),), at)
            self.operator("*", at)
            self.add("end of text", at)
            self.operator(")", at)
        elif symbol == "R" and self.table != "llama.cpp":
            self.at += 1
            self.line_break(at)
        elif self.table == "tokenizers" and symbol in _SEGMENTS:
            self.at += 1
            if self.is_within_look_behind:
                self.refuse(f"\\{symbol} in a look-behind is not supported", at)
            self.add(_SEGMENTS[symbol], at)
        elif self.table == "tokenizers" and symbol in "ON":
            self.at += 1
            self.add(self.universe if symbol == "O" else unicode.complement(((10, 10),), self.universe), at)
        elif symbol in "bB":
            self.at += 1
            self.add("word boundary" if symbol == "b" else "inside a word", at)
        elif (found := self.class_escape(at)) is not None:
            symbols, fold_first = found
            folded = unicode.case_variants(symbols, self.classes)
            if self.flags.ignore_case and folded != symbols and self.table != "tokenizers":
                others = unicode.case_variants(unicode.complement(symbols, self.universe), self.classes)
                symbols = folded if fold_first else unicode.complement(others, self.universe)
            self.add(symbols, at)
        else:
            self.literal(self.code_point(at), at)
