"""Findings of comparisons in words: every outcome has some, and the reason names the outcome that was found."""

from __future__ import annotations

import pytest

import tokdfa
from tokdfa import Comparison, Dictionary, Difference
from tokdfa.jobs.comparison.result import (
    Obstacle,
    Outcome,
    Part,
    Stage,
    Step,
    part_rows,
    stage_words,
    undecided_words,
)


@pytest.mark.parametrize("part", Part)
@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_of_every_part_has_words(part: Part, outcome: Outcome) -> None:
    ((name, words),) = part_rows(Comparison(True, checked={part: outcome}))
    assert name == part.value.replace("_", " ")
    assert words
    assert "_" not in words


def test_outcomes_of_a_part_are_told_apart() -> None:
    for part in Part:
        said = [words for outcome in Outcome for _, words in part_rows(Comparison(True, checked={part: outcome}))]
        assert len(set(said)) == len(Outcome)


def test_the_number_of_other_ids() -> None:
    def words(outcome: Outcome, n: int | None) -> str:
        ((_, said),) = part_rows(Comparison(False, checked={Part.IDS: outcome}, n_other_ids=n))
        return said

    assert words(Outcome.DIFFERENT, 1) == "different for 1 token"
    assert words(Outcome.DIFFERENT, 1234) == "different for 1,234 tokens"
    assert words(Outcome.DIFFERENT, None) == "different"
    assert words(Outcome.IGNORED, 2) == "ignored, different for 2 tokens"
    assert words(Outcome.IGNORED, 0) == "ignored"
    assert words(Outcome.SAME, 0) == "the same"


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (Comparison(True, checked={Part.EVERYTHING: Outcome.SAME}), "the tokenizers are the same"),
        (Comparison(True, checked={Part.RULES: Outcome.SAME}), "the dictionaries are the same"),
        (Comparison(True, checked={Part.LIVE_TOKENS: Outcome.SAME, Part.SEARCH: Outcome.COMPLETE}), "tokens"),
        (Comparison(True, checked={Part.IDS: Outcome.SAME, Part.SEARCH: Outcome.COMPLETE}), "ids"),
        (Comparison(True, checked={Part.IDS: Outcome.IGNORED, Part.SEARCH: Outcome.COMPLETE}), "tokens"),
        (Comparison(True, checked={Part.IDS: Outcome.SAME}), "their parts are the same"),
        (
            Comparison(False, Difference("a\n", (1,), None), checked={Part.IDS: Outcome.SAME}),
            r"'a\n' has different ids",
        ),
        (Comparison(False, Difference(b"\xff", (b"\xff",), None)), r"'\xff' has different tokens"),
    ],
)
def test_the_reason_says_the_outcome(found: Comparison, reason: str) -> None:
    assert found.reason == (f"every text has the same {reason}" if reason in ("ids", "tokens") else reason)


def test_a_reason_is_that_of_what_was_found() -> None:
    a, b = Dictionary([("a", "b"), ("b", "c")]), Dictionary([("b", "c"), ("a", "b")])
    assert tokdfa.compare(a, b).reason == "'abc' has different tokens"
    assert tokdfa.compare(a, a).reason == "the dictionaries are the same"


@pytest.mark.parametrize("obstacle", Obstacle)
def test_every_obstacle_has_words(obstacle: Obstacle) -> None:
    words = undecided_words(obstacle, "too large")
    assert words.startswith("neither a difference nor equivalence could be established: ")
    assert ": too large" in words
    searched = obstacle in (Obstacle.NO_TEXT_FOUND, Obstacle.SPECIALS, Obstacle.WHOLE_PIECES)
    assert searched != words.endswith(", and no text was found that separates them")
    assert undecided_words(obstacle) == words.replace(": too large", "")


@pytest.mark.parametrize("step", Step)
def test_every_step_has_words(step: Step) -> None:
    assert stage_words(Stage(step))
    assert "{" not in stage_words(Stage(step))


def test_the_length_of_the_texts_that_are_searched() -> None:
    assert stage_words(Stage(Step.SEARCH, 1)) == "searching texts of 1 byte and more"
    assert stage_words(Stage(Step.SEARCH, 12)) == "searching texts of 12 bytes and more"
