"""A long text is cut at the stop string that a walk character by character finds."""

from __future__ import annotations

import random
from collections import Counter

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


@pytest.mark.parametrize("letters", LETTERS)
def test_a_text_that_does_not_continue_leads_where_it_leads_alone(letters: str) -> None:
    drawn, met = random.Random(letters), Counter[bool]()
    for _ in range(60):
        strings = ["".join(drawn.choices(letters, k=drawn.randrange(1, 7))) for _ in range(drawn.randrange(1, 9))]
        stops = StopStrings(strings)
        for _ in range(40):
            text = "".join(drawn.choices(letters, k=drawn.randrange(6)))
            node, found = stops.walk(0, "".join(drawn.choices(letters, k=drawn.randrange(6))))
            if found is not None:
                continue
            alone, expected = stops.walk(0, text), stops.walk(node, text)
            assert stops.walk(node, text, alone) == expected, (strings, text)
            continues = text[:2] in stops.continues(node)
            assert continues or expected == alone, (strings, stops.held(node), text)
            met[continues] += 1
    assert min(met.values()) > 100, met
