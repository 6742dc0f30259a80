"""The published answers about real tokenizers: as they are kept, and as the libraries confirm them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import tokdfa
from tests.campaigns.audits.__main__ import DATA, MAX_SECONDS, PAGE, cell, table
from tests.campaigns.audits.real import NAMES, member
from tests.support.audits import assert_confirmed, long_texts
from tests.support.generated_pages import page_with_table
from tokdfa.jobs.auditing.schemes import SCHEMES

ROWS: dict[str, dict[str, Any]] = {row["tokenizer"]: row["answers"] for row in json.loads(DATA.read_text("utf-8"))}


def test_the_page_shows_the_answers_that_are_kept() -> None:
    rows = [{"tokenizer": name, "answers": ROWS[name]} for name in NAMES]
    assert page_with_table(PAGE, "audits", table(rows)) == PAGE.read_text("utf-8")
    assert all(answers.keys() == SCHEMES.keys() for answers in ROWS.values())


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("", "a|", r"nothing + `'a\|'`"),
        ("a" + " " * 1007, "x", "`'a'` `' '`×1,007 + `'x'`"),
        ("é", "\n", r"`'\xe9'` + `'\n'`"),
    ],
)
def test_a_cell_shows_texts_with_wrong_ids(old: str, new: str, shown: str) -> None:
    assert cell({"answer": "wrong", "old": old, "new": new}) == shown


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_library_confirms_the_answers_about_a_real_tokenizer(name: str) -> None:
    real = member(name)
    if real is None:
        pytest.skip(f"TOKDFA_DATA and TOKDFA_FAMILIES have no {name}")
    for scheme, kept in ROWS[name].items():
        found = tokdfa.audit(real.tokenizer, scheme, max_seconds=MAX_SECONDS)
        texts = long_texts(random.Random(f"{scheme} again"), real, 1000, 600)
        assert assert_confirmed(real, scheme, found, texts).total()
        assert (found.answer, found.is_trivial) == (kept["answer"], kept["is_trivial"]), scheme
