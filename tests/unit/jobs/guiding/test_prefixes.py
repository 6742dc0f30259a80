"""The moves of states that differ only in the last id, against the ids and targets of each state."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tokdfa
from tokdfa.jobs.guiding.prefixes import MoveTables, PrefixAutomaton, State, prefixes_of
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import tokens_of


def allowed_ids(prefixes: PrefixAutomaton, state: State) -> list[int]:
    """Return the ids of a mask."""
    return np.flatnonzero(np.unpackbits(prefixes.mask(state).view(np.uint8), bitorder="little")).tolist()


@pytest.mark.parametrize(
    ("language", "has_dead_ends"),
    [("[ a'é]{1,6}b", False), (r"[ a1.]{1,6}\n?b", True), ("( {1,3}(as|1|'s)?){1,4}", False)],
)
def test_moves_of_all_rows(language: str, has_dead_ends: bool) -> None:
    tokens = tokens_of(tokdfa.default_tokenizer())
    prefixes = prefixes_of(tokens, texts_of(tokens, language))
    tables = MoveTables(prefixes)
    source = random.Random(0)
    n_cut = n_dead = 0
    for _ in range(25):
        place = prefixes.initial
        for _ in range(6):
            moves, forbidden, taken = tables.ways(place)
            is_taken = np.isin(np.arange(len(moves.ids)), taken)
            allowed = allowed_ids(prefixes, place)
            assert moves.ids[is_taken].tolist() == allowed
            counts = tables.follow_sets.count_forbidding(moves.position, np.array([place.row, place.row, 0]))
            assert counts.tolist() == (2 * forbidden).tolist()
            for number in np.flatnonzero(is_taken).tolist():
                expected = prefixes.target(place, int(moves.ids[number]))
                assert moves.state(number, is_forbidden=bool(forbidden[number])) == expected
                assert moves.size[number] == len(tokens.bytes_of(int(moves.ids[number])))
            n_cut += int((forbidden & is_taken).sum())
            for number in np.flatnonzero(~is_taken).tolist():
                # A piece may begin there, but nothing continues from it.
                n_dead += prefixes.target(place, int(moves.ids[number])) is not None
            if not allowed:
                break
            target = prefixes.target(place, source.choice(allowed))
            assert target is not None
            place = target
    assert n_cut > 0
    assert (n_dead > 0) == has_dead_ends
