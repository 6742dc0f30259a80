"""A long text is searched for stop strings as it is walked character by character."""

from __future__ import annotations

import random

import pytest

from tokdfa.tokenizers.stop_strings import StopStrings

# Common and rare characters, of one to four bytes.
LETTERS = ["ab", "e t", "aé€", "ab.\n", "z😀q"]


@pytest.mark.parametrize("letters", LETTERS)
def test_search_finds_the_stop_that_a_walk_finds(letters: str) -> None:
    drawn, n_found = random.Random(letters), 0
    for _ in range(400):
        strings = ["".join(drawn.choices(letters, k=drawn.randrange(2, 9))) for _ in range(drawn.randrange(1, 5))]
        stops = StopStrings(strings)
        text = "".join(drawn.choices(letters, k=drawn.randrange(200)))
        (node, found), (expected_node, expected) = stops.search(text), stops.walk(0, text)
        assert found == expected, (strings, text)
        assert found or node == expected_node, (strings, text)
        n_found += found is not None
    assert 100 < n_found < 400
