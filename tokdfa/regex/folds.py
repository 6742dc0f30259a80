"""Sequences of letters that Oniguruma matches with one letter when case is ignored, such as ss with ß.

A sequence is looked for in each run of literals, from left to right and the longest first: ``(?i)sss`` is ss, then s,
so it matches "ßs" and not "sß", and ``(?i)office`` matches "oﬃce" and not "oﬀice". A quantifier takes the last literal
away from its run. In a look-behind no sequence is looked for. A bracket matches the sequences of its letters, too, if
none of its symbols leads to a match; a negated one does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeAlias

from tokdfa.base.errors import PatternError
from tokdfa.regex.operators import Folded, Operators
from tokdfa.regex.unicode import Ranges, case_variants, contains, fold_expansions

Options: TypeAlias = list[list[Ranges]]
"""The ways to match a part of a pattern, the preferred one first: sets for one symbol after the other."""

_LONGEST = 3
_QUANTIFIERS = ("*", "+", "?", "{")
_ONCE = ("{1,1}?", "{1,1}", "{1}")


def expand_folds(operators: Operators, pattern: str, table: str) -> Operators:
    """Return the operators with sets of symbols in place of literals and brackets without case."""
    if not any(isinstance(atom, Folded) for atom in operators.atoms):
        return operators
    return _Expansion(operators, pattern, table).run()


def _options(symbols: Ranges, table: str) -> Options:
    """Return what one of these symbols matches if case is ignored."""
    symbols = case_variants(symbols, table)
    sequences = {sequence for symbol, sequence in fold_expansions(table).items() if contains(symbols, symbol)}
    return [[symbols], *(_spelled(sequence, table) for sequence in sorted(sequences, key=lambda s: (len(s), s)))]


def _spelled(sequence: str, table: str) -> list[Ranges]:
    """Return the sets of symbols that match the letters of a sequence."""
    return [case_variants(((ord(letter), ord(letter)),), table) for letter in sequence]


@cache
def _letters(table: str) -> dict[int, str]:
    """Return the letters of all sequences, by the symbols that match them."""
    letters = {letter for sequence in fold_expansions(table).values() for letter in sequence}
    return {
        symbol: letter
        for letter in letters
        for first, last in _spelled(letter, table)[0]
        for symbol in range(first, last + 1)
    }


@cache
def _symbols(table: str) -> dict[str, Ranges]:
    """Return the symbols that match each sequence."""
    found: dict[str, list[int]] = {}
    for symbol, sequence in fold_expansions(table).items():
        found.setdefault(sequence, []).append(symbol)
    return {sequence: tuple((symbol, symbol) for symbol in sorted(found[sequence])) for sequence in found}


def _read(literals: Sequence[int], table: str) -> Iterator[tuple[int, Options]]:
    """Yield the parts of a run of literals: how many they are, and what they match."""
    letters, symbols = _letters(table), _symbols(table)
    at = 0
    while at < len(literals):
        words = ("".join(letters.get(each, "\0") for each in literals[at : at + n]) for n in range(_LONGEST, 1, -1))
        if word := next((word for word in words if word in symbols), None):
            yield len(word), [_spelled(word, table), [symbols[word]]]
            at += len(word)
        else:
            yield 1, _options(((literals[at], literals[at]),), table)
            at += 1


class _Expansion:
    """The expansion of the literals of one pattern; `runs` are read on their own, from and up to these indices.

    Neighbouring runs may be one run for Oniguruma, which drops some groups and repetitions: `joined` says of each
    whether it may be one with the run before it.
    """

    def __init__(self, operators: Operators, pattern: str, table: str) -> None:
        self.operators, self.pattern, self.table = operators, pattern, table
        self.atoms = list(operators.atoms)
        self.numbers = {atom: number for number, atom in enumerate(self.atoms)}
        self.text: list[str] = []
        self.offsets: list[int] = []
        self.runs: list[tuple[int, int]] = []
        self.joined: list[bool] = []

    def run(self) -> Operators:
        """Replace every run, and every bracket."""
        self.find_runs()
        self.check_joined()
        operators, done = self.operators, 0
        for start, end in self.runs:
            self.copy(done, start)
            at = start
            for n_literals, options in _read(self.literals(start, end), self.table):
                self.emit(options, operators.offsets[at])
                at += n_literals
            done = end
        self.copy(done, len(operators.text))
        return Operators("".join(self.text), self.atoms, self.offsets, operators.looks, operators.repeats)

    def copy(self, start: int, end: int) -> None:
        for symbol, at in zip(self.operators.text[start:end], self.operators.offsets[start:end], strict=True):
            atom = self.operators.atom(ord(symbol)) if Operators.is_stand_in(symbol) else None
            if isinstance(atom, Folded):
                self.emit(_options(atom.symbols, self.table), at)
            else:
                self.text.append(symbol)
                self.offsets.append(at)

    def emit(self, options: Options, at: int) -> None:
        ways = ["".join(map(self.stand_in, sets)) for sets in options]
        text = ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"
        self.text.append(text)
        self.offsets += [at] * len(text)

    def stand_in(self, symbols: Ranges) -> str:
        if symbols not in self.numbers:
            self.numbers[symbols] = len(self.atoms)
            self.atoms.append(symbols)
        return Operators.stand_in(self.numbers[symbols])

    def literals(self, start: int, end: int) -> list[int]:
        atoms = [self.operators.atom(ord(each)) for each in self.operators.text[start:end]]
        return [atom.symbols[0][0] for atom in atoms if isinstance(atom, Folded) and atom.is_literal]

    def is_literal(self, at: int) -> bool:
        text = self.operators.text
        return at < len(text) and Operators.is_stand_in(text[at]) and bool(self.literals(at, at + 1))

    def find_runs(self) -> None:
        text, dropped = self.operators.text, self.dropped_groups()
        at, joined = 0, False
        while at < len(text):
            if not self.is_literal(at):
                # The edge of a group that Oniguruma may drop, or a repetition that it drops, is not the end of a run.
                once = next((once for once in _ONCE if text.startswith(once, at)), "")
                joined = joined and bool(at in dropped or once)
                at += dropped.get(at, len(once) or 1)
                continue
            end = at
            while self.is_literal(end):
                end += 1
            quantified = text.startswith(_QUANTIFIERS, end)
            for first, last in ((at, end - 1), (end - 1, end)) if quantified else ((at, end),):
                if first < last:
                    self.runs.append((first, last))
                    self.joined.append(joined)
                    joined = not quantified or text.startswith(_ONCE, end)
            at = end

    def dropped_groups(self) -> dict[int, int]:
        """Return the edges of groups of one option that are not repeated, with their lengths."""
        text = self.operators.text
        found: dict[int, int] = {}
        open_groups: list[tuple[int, bool]] = []  # where they begin, and whether they have several options
        for at, symbol in enumerate(text):
            if symbol == "(":
                open_groups.append((at, False))
            elif symbol == "|" and open_groups:
                open_groups[-1] = (open_groups[-1][0], True)
            elif symbol == ")":
                start, several = open_groups.pop()
                repeated = text.startswith(_QUANTIFIERS, at + 1) and not text.startswith(_ONCE, at + 1)
                if text.startswith("(?:", start) and not several and not repeated:
                    found |= {start: 3, at: 1}
        return found

    def check_joined(self) -> None:
        """Refuse sequences that lie in several runs that may be one."""
        letters, symbols = _letters(self.table), _symbols(self.table)
        before = ""
        for (start, end), joined in zip(self.runs, self.joined, strict=True):
            word = "".join(letters.get(each, "\0") for each in self.literals(start, end))
            before = before[1 - _LONGEST :] if joined else ""
            ends = (before[at:] for at in range(len(before)))
            across = (last + word[: n - len(last)] for last in ends for n in (2, _LONGEST) if len(last) < n)
            if sequence := next((sequence for sequence in across if sequence in symbols), None):
                at = self.operators.offsets[start]
                other = chr(symbols[sequence][0][0])
                raise PatternError(
                    f"ignoring case, {sequence!r} may or may not match {other!r} across a group or repetition",
                    value=self.pattern[at : at + 40],
                    where=f"pattern, offset {at}",
                    hint="write the letters side by side",
                )
            before += word
