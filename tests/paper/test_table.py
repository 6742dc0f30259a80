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


NUMBERED = {
    "dfa": {
        "Definition": "1 2 3 4 5 6 7",
        "Remark": "1 2 3",
        "Example": "1 2 3 4 5 6 7 8 9",
        "Figure": "1 3 4 5 6a 6b",
        "Algorithm": "1 2",
        "Lemma": "1 2 3 4 5 6 7",
        "Theorem": "1 2 3 4",
        "Corollary": "1 2 3",
        "Observation": "1 2 3",
        "Section": "1 7",
    },
    "formal": {
        "Definition": "2.1 2.3 2.4 2.5 2.6 3.9 5.2 5.3 5.4 5.6",
        "Example": "2.2 3.5 4.1",
        "Figure": "1 2 5",
        "Table": "1",
        "Algorithm": "1 2 3",
        "Proposition": "3.2 3.4 3.8 5.1 5.5",
        "Lemma": "A.1",
        "Theorem": "3.10 4.2",
        "Equation": "11",
    },
    "blog": {"Example": "1 2 3"},
}


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_statement_has_a_test(paper: str) -> None:
    found = {
        f"{kind.removesuffix('s')} {number}"
        for file in table.FOLDER.glob(f"test_{paper}_*.py")
        for row in table.rows(file)
        for part in row.statement.split(", ")
        if part
        for kind, _, numbers in [part.partition(" ")]
        for number in numbers.split(" and ")
    }
    wanted = {f"{kind} {number}" for kind, numbers in NUMBERED[paper].items() for number in numbers.split()}
    assert wanted <= found, f"no test for {', '.join(sorted(wanted - found))}"
