"""The automata of some patterns as C arrays for the search target, made by the package itself.

Its judge reads the patterns by a matcher of its own, in `search.c`; the constructs used here are those that it knows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.jobs.searching.plan import SearchPlan, Words
from tokdfa.regex.finder import Wanted, finder
from tokdfa.tokenizers.decoder import Spellings

PATTERNS = ["a", "ab", "a b", "b+", "a[ab]*b", "[ab]+|é+", "(?:ab)+", " ?b", "é", "[^a]b", "a{2,3}", "(?:a| )+é",
            "[a-z]+ [a-z]+", ".b", "(?:a|ab)(?:b|ba)?", "é|€|\U0001f600", "[é€]a*"]  # fmt: skip
ASSERTED = [r"\bab", r"a\b", r"^a+", r"\Ba", r"b+\b "]
WORDS = [["ab"], ["a", "ab", "b", "ba"], ["aba", "b b", "bab"], ["é", "aé", "éa"], ["aa", "aaa", "aaaaa"]]


def plans() -> list[tuple[str, str, bool, SearchPlan]]:
    """Return the pattern, which matches are wanted, whether they are aligned, and the plan of each machine."""
    wanted: tuple[Wanted, ...] = ("longest", "all", "first")
    chosen: list[tuple[Any, Wanted, bool]] = [(pattern, "longest", False) for pattern in PATTERNS + ASSERTED]
    chosen += [(pattern, "all", False) for pattern in [*PATTERNS[::2], *ASSERTED]]
    chosen += [(pattern, "longest", True) for pattern in [*PATTERNS[1::2], ASSERTED[0]]]
    chosen += [(pattern, "all", True) for pattern in PATTERNS[4::4]]
    chosen += [(pattern, "first", False) for pattern in PATTERNS[14:15]]
    chosen += [(words, what, False) for words in WORDS for what in wanted]
    found = []
    for pattern, what, aligned in chosen:
        spelled = pattern if isinstance(pattern, str) else "|".join(pattern)
        plan = SearchPlan(finder(pattern, what, aligned=aligned), _no_words(), wants_all=what == "all", aligned=aligned)
        found.append((spelled, what, aligned, plan))
    return found


def _no_words() -> Words:
    nothing = np.zeros(0, dtype=np.bool_)
    text = Spellings(np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int64))
    return Words(0, text, nothing, nothing, "", nothing)


def _array(kind: str, name: str, values: npt.NDArray[Any]) -> str:
    numbers = values.reshape(-1).astype(np.int64).tolist()
    lines = [",".join(map(str, numbers[i : i + 40])) for i in range(0, len(numbers), 40)] or ["0"]
    return f"static const {kind} {name}[] = {{\n" + ",\n".join(lines) + "\n};\n"


def _runs(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return where runs of equal values begin, and their values."""
    begins = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    return np.column_stack((begins, values[begins]))


def write(place: Path) -> None:
    """Write the header."""
    parts, rows = [], []
    for number, (pattern, wanted, aligned, plan) in enumerate(plans()):
        forward, backward = plan.forward.fields, plan.backward.fields
        assert isinstance(pattern, str)
        fields = {
            "table": ("int32_t", forward["table"]),
            "column_of": ("uint16_t", forward["column_of"]),
            "info": ("int64_t", forward["info"]),
            "back": ("int32_t", backward["table"]),
            "accepts": ("uint8_t", backward["accepts"]),
            "initial": ("int32_t", backward["initial"]),
            "runs": ("int32_t", _runs(backward["class_of"])),
        }
        for name, (kind, values) in fields.items():
            parts.append(_array(kind, f"{name}_{number}", values))
        names = ", ".join(f"{name}_{number}, {values.size}" for name, (_, values) in fields.items())
        spelled = "".join(f"\\{byte:03o}" for byte in pattern.encode())
        rows.append(
            f'    {{"{spelled}", {["longest", "all", "first"].index(wanted)}, {int(aligned)}, {names}, '
            f"{forward['n_columns']}, {forward['boundary']}, {forward['idle']}, {plan.finder.forward.initial}, "
            f"{backward['n_classes']}, {backward['delayed']}}},"
        )
    text = "\n".join(["#include <stdint.h>", *parts, "static const given machines[] = {", *rows, "};", ""])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="ascii")
