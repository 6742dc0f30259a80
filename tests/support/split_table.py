"""The table of the collected split patterns and their machines: ``PYTHONPATH=tests python -m support.split_table``.

It needs TOKDFA_DATA, the folder with the collection, and writes ``notebooks/split_patterns.md``.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.split_patterns import Case, cases
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

TABLE = Path(__file__).parents[2] / "notebooks" / "split_patterns.md"
INTRODUCTION = """# Split patterns in use

The {count} split patterns that the fixtures of tokenizers.js hold: `hub-…` were collected from published
tokenizers, the others are corner cases. Each is read in the dialect of tokenizers, whose engine is Oniguruma. A
pattern that is read has a machine, unless the machine would be too large; then the `regex` module splits, with
the same result and more slowly, and a stream of ids is judged as a whole.

*Classes* are the kinds of symbols that the machine distinguishes, *states* its states, and *guesses* the most
hypotheses that it pursues at once. A machine with one guess never waits for later symbols. Classes and states
are counted for the split with matches isolated.

A look-behind costs a few states, a look-ahead of any length a few guesses: `\\d{{1,3}}(?=(?:\\d{{3}})*\\b)`
guesses the length of a run of digits modulo three. Machines cannot refer back to the match of a
group, and they need many states to count far. These constructs are refused in a split pattern, with their
offset: back-references, recursion, conditional groups, `\\K`, absence operators, a repetition of something that
may be empty (`(?:a?)*`), `\\G` in a look-around, `\\R`, `\\X`, an atomic group or possessive repetition in a
look-behind, and in the dialect of tiktoken a pattern that may match the empty text, on which tiktoken itself
fails.

| name | pattern | classes | states | guesses | why there is no machine |
|---|---|--:|--:|--:|---|
"""
LONGEST = 60


def row(case: Case) -> str:
    """Return the row of a pattern."""
    try:
        machine = Splitter(Splitting("tokenizers", (Split(case.pattern),)), max_seconds=120.0).machine
    except TokdfaError as error:
        return f"| {case.name} | {_code(case.pattern)} | | | | {_escaped(str(error))} |"
    _, n_classes, n_guesses = machine.parent.shape
    return f"| {case.name} | {_code(case.pattern)} | {n_classes} | {machine.n_states} | {n_guesses} | |"


def _code(pattern: str) -> str:
    visible = "".join(
        symbol if symbol.isprintable() else symbol.encode("unicode_escape").decode() for symbol in pattern
    )
    if not visible:
        return "(empty)"
    short = visible if len(visible) <= LONGEST else visible[: LONGEST - 1] + "…"
    fence = "``" if "`" in short else "`"
    pad = " " if short[0] in " `" or short[-1] in " `" else ""
    return fence + pad + _escaped(short) + pad + fence


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


def table(data: Path) -> str:
    """Return the page."""
    found = [case for case in cases(data) if case.name.startswith(("hub", "problematic", "edge"))]
    return INTRODUCTION.format(count=len(found)) + "\n".join(map(row, found)) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(Path(os.environ["TOKDFA_DATA"])), encoding="utf-8")
