"""The page of published templates is made from the kept results, and these are of all templates that are listed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.campaigns.chat_templates import __main__ as published
from tests.campaigns.chat_templates.sources import CONSTANTS, FILES, TESTED


def test_the_page_is_made_from_the_kept_results() -> None:
    rows = json.loads(published.DATA.read_text("ascii"))
    assert {(row["template"], row["tokenizer"]) for row in rows} == {*(FILES | TESTED | CONSTANTS).items()}
    assert published.page(rows) == published.PAGE.read_text("utf-8")


@pytest.mark.slow
def test_the_results_are_what_is_decided() -> None:
    folder = os.environ.get("TOKDFA_LLAMA_CPP_PYTHON")
    if folder is None:
        pytest.skip("TOKDFA_LLAMA_CPP_PYTHON names no source distribution of llama-cpp-python")
    rows = json.loads(json.dumps(published.decide(Path(folder))))
    assert rows == json.loads(published.DATA.read_text("ascii"))
