"""Write the table of the effects of upgrades: ``python -m tests.campaigns.upgrades FOLDER``.

FOLDER is made by ``python -m tests.campaigns.tables.versions`` and has a copy of every version. For each pattern and
each two neighbouring tables a shortest text that is cut differently is found, or it is proven that there is none. Each
text is split by both versions, in processes of their own. The results are kept in ``upgrades.json``, and as a table in
``notebooks/unicode_versions.md``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.campaigns.tables.versions import installed_copy
from tests.support.cut_differences import first_text_cut_differently
from tests.support.generated_pages import code, page_with_table
from tokdfa.regex.unicode.versions import Range, Table, ranges_of
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Splitting

DATA = Path(__file__).with_name("upgrades.json")
PAGE = Path(__file__).parents[3] / "notebooks" / "unicode_versions.md"
PATTERNS = {
    "gpt2": "GPT-2", "llama3": "Llama-3", "qwen2": "Qwen", "cl100k": "cl100k", "o200k": "o200k", "tekken": "Tekken",
    "kimi": "Kimi",
}  # fmt: skip


def ask(library: Table, number: str, folder: Path, question: dict[str, Any]) -> Any:
    """Return the answer of a version of a library."""
    environment = {**os.environ, "PYTHONPATH": str(installed_copy(library, number, folder))}
    script = Path(__file__).with_name("ask.py")
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps({"library": library, **question}),
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return json.loads(done.stdout)


def with_table(name: str, part: Range) -> Splitting:
    """Return a named splitting with a table."""
    return replace(NAMED[name], unicode=None if part.name == part.library else part.name)


def upgrades() -> list[dict[str, Any]]:
    """Return what each change of a table changes for each pattern."""
    found = []
    for name in PATTERNS:
        parts = ranges_of(NAMED[name].library)
        for new, old in pairwise(parts):
            both = with_table(name, old), with_table(name, new)
            text = first_text_cut_differently(*both)
            found.append(
                {
                    "pattern": name,
                    "library": new.library,
                    "from": old.versions[-1],
                    "to": new.versions[0],
                    "text": text,
                    "pieces": None if text is None else [pretokenizer(side).split(text) for side in both],
                }
            )
    return found


def confirm(row: dict[str, Any], folder: Path) -> None:
    """Raise AssertionError unless both versions split the text of a row as it says."""
    (step,) = NAMED[row["pattern"]].steps
    question = {"what": "pieces", "pattern": step.pattern, "texts": [row["text"]]}
    found = [ask(row["library"], row[side], folder, question)[0] for side in ("from", "to")]
    assert found == row["pieces"], (row, found)


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown."""
    lines = [
        "| pattern | upgrade | shortest text cut differently | pieces before | pieces after |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        upgrade = f"{row['library']} {row['from']} → {row['to']}"
        cells = ["none: every text is cut alike", "", ""]
        if row["text"] is not None:
            cells = [code([row["text"]]), *map(code, row["pieces"])]
        lines.append(f"| {PATTERNS[row['pattern']]} | {upgrade} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page with the table in its place."""
    return page_with_table(PAGE, "upgrades", table(rows))


def main() -> None:
    """Prove, confirm and write."""
    folder = Path(sys.argv[1]).absolute()
    rows = upgrades()
    for row in rows:
        if row["text"] is not None:
            confirm(row, folder)
            print(f"confirmed: {row}")
    DATA.write_text(json.dumps(rows, indent=1) + "\n", "ascii")
    PAGE.write_text(page(rows), "utf-8")


if __name__ == "__main__":
    main()
