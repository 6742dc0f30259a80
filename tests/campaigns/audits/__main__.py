"""Audit engines' shortcuts for real tokenizers, and write the table: ``python -m tests.campaigns.audits``.

TOKDFA_DATA and TOKDFA_FAMILIES name the folders with the tokenizers. Each answer is checked with the library of the
tokenizer: wrong ids are the library's, and a scheme that is proven right has the library's ids for random texts. The
answers are kept in ``audits.json``, and as a table in ``notebooks/guides/audit_engines.md``.
"""

from __future__ import annotations

import json
import random
import time
from itertools import groupby
from pathlib import Path
from typing import Any

import tokdfa
from tests.campaigns.audits.real import NAMES, member
from tests.support.audits import assert_confirmed, long_texts
from tests.support.generated_pages import page_with_table
from tokdfa.jobs.auditing.schemes import SCHEMES

DATA = Path(__file__).with_name("audits.json")
PAGE = Path(__file__).parents[3] / "notebooks" / "guides" / "audit_engines.md"
MAX_SECONDS = 60
_MOST_TEXTS, _LONGEST = 400, 600
_LEAST_RUN = 6


def row(name: str) -> dict[str, Any]:
    """Return the answers for a tokenizer, confirmed by its library."""
    real = member(name)
    assert real is not None, f"{name} is not at hand"
    answers: dict[str, Any] = {}
    for scheme in SCHEMES:
        begun = time.process_time()
        found = tokdfa.audit(real.tokenizer, scheme, max_seconds=MAX_SECONDS)
        assert_confirmed(real, scheme, found, long_texts(random.Random(scheme), real, _MOST_TEXTS, _LONGEST))
        answers[scheme] = {"answer": found.answer, "is_trivial": found.is_trivial}
        if found.witness is not None:
            answers[scheme] |= {"old": found.witness.old, "new": found.witness.new}
        if found.answer == "undecided":
            answers[scheme] |= {"reason": found.reason}
        print(f"{time.process_time() - begun:6.1f} s of CPU  {name}, {found.scheme!r}: {found.answer}", flush=True)
    return {"tokenizer": name, "answers": answers}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        "| tokenizer | " + " | ".join(f"`{scheme}`" for scheme in SCHEMES) + " |",
        "|---" * (len(SCHEMES) + 1) + "|",
    ]
    for each in rows:
        cells = [each["tokenizer"], *(cell(each["answers"][scheme]) for scheme in SCHEMES)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(answer: dict[str, Any]) -> str:
    """Return an answer in a few words."""
    if answer["answer"] == "wrong":
        return f"{shown(answer['old'])} + {shown(answer['new'])}"
    return "right, none added" if answer["is_trivial"] else {"holds": "**right**"}.get(answer["answer"], "undecided")


def shown(text: str) -> str:
    """Return a text as code, with long runs of a symbol as numbers: ``a`` ``b``×12."""
    parts: list[str] = [""]
    for symbol, same in groupby(text):
        length = sum(1 for _ in same)
        if length < _LEAST_RUN:
            parts[-1] += symbol * length
        else:
            parts += [f"{_code(symbol)}×{length:,}", ""]
    return " ".join(_code(part) if at % 2 == 0 else part for at, part in enumerate(parts) if part) or "nothing"


def _code(text: str) -> str:
    return f"`{text!a}`".replace("|", "\\|")


def main() -> None:
    """Audit all, and write the data and the page."""
    rows = [row(name) for name in NAMES]
    DATA.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_with_table(PAGE, "audits", table(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
