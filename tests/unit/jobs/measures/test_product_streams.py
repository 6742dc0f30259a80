"""Graphs of canonical streams have no dead ends: a path from the beginning can be continued to its end."""

from __future__ import annotations

import random

import pytest

from tests.support.families import FAMILIES
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.streams import Streams

MOST_STATES = 400
LANGUAGES = ["(ab|é)c?", "a{3}b", "[^a]{2} ?"]


def dead_ends(streams: Streams) -> tuple[int, int]:
    """Return the number of states from which no path ends, and the number of all, found one by one."""
    before: dict[tuple[int, int], set[tuple[int, int]]] = {(0, 0): set()}
    waiting = [(0, 0)]
    for base, row in waiting:  # It grows during the loop.
        labels = streams.edges(base).labels
        for label, target in zip(labels.tolist(), streams.after(base, row, labels).tolist(), strict=True):
            state = target, int(streams.sets.row_of[label])
            if target < 0:
                continue
            if state not in before:
                waiting.append(state)
            before.setdefault(state, set()).add((base, row))
        if len(waiting) > MOST_STATES:
            return 0, 0
    ending = [state for state in before if streams.is_final(state[0])]
    found = {*ending}
    for state in ending:  # It grows during the loop.
        new = before[state] - found
        found |= new
        ending += new
    # No path may begin at all.
    return len(before.keys() - found - {(0, 0)}), len(before)


@pytest.mark.parametrize(
    ("family", "seeds"), [("Llama-2", 4), ("Gemma", 4), ("BPE of SentencePiece", 5), ("WordPiece", 40)]
)
def test_some_path_ends_from_every_state(family: str, seeds: int) -> None:
    n_states = 0
    for seed in range(seeds):
        member = FAMILIES[family](random.Random(seed))
        for language in LANGUAGES:
            try:
                streams = streams_of(member.tokenizer, language)
            except TokdfaError:
                continue
            n_dead, n_reached = dead_ends(streams)
            assert n_dead == 0, (seed, language)
            n_states += n_reached
    assert n_states > 20
