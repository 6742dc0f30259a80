"""The table of statements is up to date."""

from __future__ import annotations

import pytest

from tests.paper import table


@pytest.mark.parametrize(
    ("name", "statement", "says"),
    [
        ("test_lemma_1_runs_correspond", "Lemma 1", "runs correspond"),
        ("test_example_2_and_figure_3", "Example 2, Figure 3", ""),
        ("test_def_2_5_and_2_6_utility_and_gain", "Definition 2.5 and 2.6", "utility and gain"),
        ("test_lemma_a_1_some_merge", "Lemma A.1", "some merge"),
        ("test_example_6_figure_6a", "Example 6, Figure 6a", ""),
        ("test_aaabdaaabace", "", "aaabdaaabace"),
    ],
)
def test_names_say_which_statement(name: str, statement: str, says: str) -> None:
    assert table.statement(name) == (statement, says)


def test_the_table_is_that_of_the_tests() -> None:
    assert table.TABLE.read_text(encoding="utf-8") == table.table(), "run python -m tests.paper.table"
