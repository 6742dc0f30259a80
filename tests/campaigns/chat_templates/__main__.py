"""Decide published chat templates, and write the table: ``python -m tests.campaigns.chat_templates FOLDER``.

FOLDER is the source distribution of llama-cpp-python, unpacked. ``TOKDFA_LLAMA_CPP`` names the library of llama.cpp,
and TOKDFA_EXTRA the folder with ``qwen/tokenizer.json``. The results are kept in ``results.json``, and as a table in
``notebooks/chat_templates.md``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.campaigns.chat_templates.sources import VARIABLES, templates
from tests.campaigns.chat_templates.tokenizers_of import Encode, tokenizer_of
from tests.support.generated_pages import page_with_table
from tokdfa.jobs.splices.injection import Attack
from tokdfa.jobs.templates.api import TemplateCheck, check_template

DATA = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[3] / "notebooks" / "chat_templates.md"
_ATTACKS = {"any text": "any_text", "spelling none": "spelling_none"}


def decide(folder: Path) -> list[dict[str, Any]]:
    """Return a row for each template, with the findings that its library confirmed."""
    rows = []
    by_tokenizer: dict[str, list[tuple[str, str, str]]] = {}
    for source, name, tokenizer, text in templates(folder):
        by_tokenizer.setdefault(tokenizer, []).append((source, name, text))
    with tempfile.TemporaryDirectory() as made:
        for name, own in by_tokenizer.items():
            tokenizer, rule, encode = tokenizer_of(name, folder, Path(made))
            for source, template, text in own:
                begun = time.process_time()
                given = VARIABLES.get(template, {})
                found = check_template(tokenizer, text, rule=rule, variables=given)  # type: ignore[arg-type]
                confirm(found, encode, puts_spaces=not tokenizer.is_plain)
                rows.append({"template": template, "source": source, "tokenizer": name, "rule": rule} | fields(found))
                print(f"{time.process_time() - begun:6.2f} s of CPU  {name}: {template}", flush=True)
    return rows


def confirm(found: TemplateCheck, encode: Encode, *, puts_spaces: bool) -> None:
    """Ask the library about all that is found to be wrong."""
    for seam in found.seams:
        texts = seam.witness
        if texts is not None:
            assert encode(texts.before) == [*texts.ids_before], texts
            assert encode(texts.before + texts.after) == [*texts.ids], texts
            assert texts.ids_before + texts.ids_after != texts.ids, texts
            # A library that puts spaces before texts cannot be asked about a text that follows another one.
            assert puts_spaces or encode(texts.after) == [*texts.ids_after], texts
    for attack in found.attacks.values():
        if isinstance(attack, Attack):
            assert encode(attack.text) == [*attack.ids], attack
            assert {*attack.made} <= {*attack.ids}, attack


def fields(found: TemplateCheck) -> dict[str, Any]:
    """Return what is decided as JSON values."""
    splits = [
        {
            "where": f"{seam.side} {seam.slot.split()[0]}",
            "before": seam.witness.before,
            "after": seam.witness.after,
            "shortest": seam.witness.shortest,
            "count": seam.count,
        }
        for seam in found.seams
        if seam.witness is not None
    ]
    undecided: Counter[str] = Counter()
    for seam in found.seams:
        if seam.answer == "undecided":
            undecided[f"line {seam.line}: {seam.reason}" if seam.line else seam.reason] += seam.count
    return {
        "safe": sum(seam.count for seam in found.seams if seam.answer == "safe"),
        "splits": splits,
        "undecided": dict(undecided),
        "rendered": len(found.rendered),
        "refused": len(found.refused),
        **{name: _attack(found.attacks[key]) for key, name in _ATTACKS.items()},
    }


def _attack(attack: Attack | str | None) -> dict[str, Any]:
    if attack is None:
        return {"answer": "safe"}
    if isinstance(attack, str):
        return {"answer": "undecided", "reason": attack}
    return {"answer": "attack", "values": attack.values, "names": attack.names, "shortest": attack.shortest}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table in Markdown, after their totals."""
    lines = [totals(rows), ""]
    lines += [
        "| template | tokenizer, rule | seams safe | seams that split | seams not decided | any text | put together |"
    ]
    lines += ["|---|---|---|---|---|---|---|"]
    for row in rows:
        where: dict[str, list[dict[str, Any]]] = {}
        for split in row["splits"]:
            where.setdefault(split["where"], []).append(split)
        splits = [*map(_split, where.values())]
        reasons = [f"{count}: {reason}" for reason, count in row["undecided"].items()]
        cells = [
            f"{row['template']}",
            f"{row['tokenizer']}, {row['rule']}",
            str(row["safe"]),
            "<br>".join(splits) or "none",
            "<br>".join(reasons) or "none",
            _shown(row["any_text"]),
            _shown(row["spelling_none"]),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def totals(rows: list[dict[str, Any]]) -> str:
    """Return the totals in words."""
    safe = sum(row["safe"] for row in rows)
    split = sum(part["count"] for row in rows for part in row["splits"])
    open_ones = sum(count for row in rows for count in row["undecided"].values())
    parts = [
        f"{len(rows)} templates with {len({row['tokenizer'] for row in rows})} tokenizers have "
        f"{safe + split + open_ones} seams: {safe} are safe, {split} split, and {open_ones} are not decided."
    ]
    for name, words in (("any_text", "any text"), ("spelling_none", "texts that spell no special token themselves")):
        answers = Counter(row[name]["answer"] for row in rows)
        parts.append(
            f"With {words}, {answers['attack']} templates are attacked, {answers['safe']} are proven safe, and "
            f"{answers['undecided']} are not decided."
        )
    return " ".join(parts)


def _split(splits: list[dict[str, Any]]) -> str:
    """Return the seams at the same side of the same content, with the texts of the first one."""
    first = splits[0]
    before, after = first["before"], first["after"]
    texts = f"{'…' if len(before) > 12 else ''}{before[-12:]!a} + {after[:12]!a}{'…' if len(after) > 12 else ''}"
    return f"{sum(split['count'] for split in splits)} {first['where']} content: `{texts}`" + _least(first)


def _least(found: dict[str, Any]) -> str:
    return "" if found["shortest"] else " (perhaps not the least)"


def _shown(attack: dict[str, Any]) -> str:
    if attack["answer"] == "safe":
        return "safe, proven"
    if attack["answer"] == "undecided":
        return f"not decided: {attack['reason']}"
    values = ", ".join(ascii(value) for value in attack["values"])
    return f"`{values}` makes `{', '.join(attack['names'])}`" + (
        "" if attack["shortest"] else " (perhaps not the least)"
    )


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page with the table in its place."""
    return page_with_table(PAGE, "templates", table(rows))


def main() -> None:
    """Decide, confirm and write."""
    rows = decide(Path(sys.argv[1]))
    DATA.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "ascii")
    PAGE.write_text(page(json.loads(DATA.read_text("ascii"))), "utf-8")
    print(totals(rows))


if __name__ == "__main__":
    main()
