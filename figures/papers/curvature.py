"""The total backward curvature of short texts: Definition 3.9 of *A Formal Perspective on Byte-Pair Encoding*.

Three maxima over texts: σ as written, over sequences of at most M merges; over those with exactly M; and σ′ of Equation
11, over greedy sequences, under any tie rule. ``curvature.c`` enumerates all texts up to some length. English is the
different stretches of 12 characters of a text that TOKDFA_DATA names, case and punctuation as they are.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from fractions import Fraction
from pathlib import Path

from figures.chart import line_chart
from figures.table import Row

SOURCE = Path(__file__).with_suffix(".c")
# The merges, and all texts of so many symbols over so many.
RANGES = (
    *((merges, 10, 10) for merges in (1, 2, 3, 4)),
    *((merges, 3, 12) for merges in (1, 2, 3, 4)),
    *((merges, 2, 16) for merges in (1, 2, 3, 4)),
)
STRETCH = 12
ENGLISH = 100_000
KINDS = ("as_written", "exactly", "eq_11")


def compiled(folder: Path) -> Path:
    """Compile the enumeration into a folder."""
    program = folder / "curvature"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    subprocess.run([compiler, "-O2", "-o", str(program), str(SOURCE)], check=True)
    return program


def row(program: Path, texts: str, merges: int, symbols: int, longest: int, lines: list[str] | None = None) -> Row:
    """Return the maxima over some texts, and a text that attains each; enumerated unless they are given as lines."""
    ranges = [] if lines is not None else [str(symbols), str(longest)]
    answer = subprocess.run(
        [str(program), str(merges), *ranges],
        input=None if lines is None else "".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
    )
    count, *maxima = answer.stdout.rstrip("\n").split("\t")
    found: Row = {"texts": texts, "merges": merges, "symbols": symbols, "longest": longest, "measured": int(count)}
    for kind, (numerator, denominator, text) in zip(KINDS, zip(*[iter(maxima)] * 3, strict=True), strict=True):
        found |= {kind: str(Fraction(int(numerator), int(denominator))), f"{kind}_on": text}
    return found


def stretches(path: Path, length: int = STRETCH, most: int = ENGLISH) -> list[str]:
    """Return the first different stretches of a text within its lines, ASCII only."""
    found: dict[str, None] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.isascii():
            found |= dict.fromkeys(line[i : i + length] for i in range(len(line) - length + 1))
        if len(found) >= most:
            break
    return list(found)[:most]


def measure() -> list[Row]:
    """Enumerate: some minutes."""
    lines = stretches(Path(os.environ["TOKDFA_DATA"]) / "corpora" / "english.txt")
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        rows = [row(program, "all", *limits) for limits in RANGES]
        rows += [row(program, "English", merges, STRETCH, STRETCH, lines) for merges in (1, 2, 3, 4)]
    return rows


def draw(rows: list[Row]) -> str:
    def maxima(texts: str, kind: str) -> list[tuple[int, float]]:
        values: dict[int, Fraction] = {}
        for each in rows:
            if each["texts"] == texts and Fraction(str(each[kind])) > 0:
                value = Fraction(str(each[kind]))
                values[each["merges"]] = max(values.get(each["merges"], value), value)
        return [(merges, float(value)) for merges, value in sorted(values.items())]

    texts = sum(each["measured"] for each in rows if each["texts"] == "all")
    english = next(each["measured"] for each in rows if each["texts"] == "English")
    known = [(merges, 2 * merges - 1) for merges in (2, 3, 4)]
    return line_chart(
        {
            "σ, all texts": maxima("all", "as_written"),
            "σ at least, proved": known,
            "M + 1": [(merges, merges + 1) for merges in (1, 2, 3, 4)],
            "σ, English": maxima("English", "as_written"),
            "exactly M, all texts": maxima("all", "exactly"),
            "σ′, all texts": maxima("all", "eq_11"),
        },
        title="The total backward curvature",
        x_label="merges M",
        y_label="greatest curvature",
        note=f"All texts of up to 10 symbols; of up to 12 over three; of up to 16 over two: {texts:,} measurements.\n"
        f"English: {english:,} different stretches of {STRETCH} characters.",
    )
