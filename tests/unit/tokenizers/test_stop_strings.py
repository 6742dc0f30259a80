"""A long text is cut at the stop string that a walk character by character finds."""

from __future__ import annotations

import random

import pytest

from tokdfa.tokenizers.stop_strings import StopStrings

# Common and rare characters, of one to four bytes.
LETTERS = ["ab", "e t", "aé€", "ab.\n", "z😀q"]


@pytest.mark.parametrize("letters", LETTERS)
def test_a_text_is_cut_where_a_walk_finds_a_stop(letters: str) -> None:
    drawn, n_found = random.Random(letters), 0
    for _ in range(400):
        strings = ["".join(drawn.choices(letters, k=drawn.randrange(2, 9))) for _ in range(drawn.randrange(1, 5))]
        stops = StopStrings(strings)
        text = "".join(drawn.choices(letters, k=drawn.randrange(200)))
        given, node, found = stops.cut(text.encode())
        expected_node, expected = stops.walk(0, text)
        assert (found and found.stop_index) == (expected and expected.stop_index), (strings, text)
        if expected is None:
            assert (given + stops.held(node), node) == (text, expected_node), (strings, text)
        else:
            assert given == text[: expected.end - len(strings[expected.stop_index])], (strings, text)
        n_found += found is not None
    assert 100 < n_found < 400
