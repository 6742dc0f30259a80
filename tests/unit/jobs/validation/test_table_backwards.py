"""Contents of special tokens, found in words from their ends."""

from __future__ import annotations

import random

from tokdfa.jobs.validation.table import Backwards


def test_what_ends_within_a_word_and_begins_before_it() -> None:
    dice = random.Random(3)
    whole = inside = 0
    for _ in range(400):
        contents = [bytes(dice.choices(b"abc", k=dice.randint(1, 5))) for _ in range(dice.randint(0, 3))]
        # Of two contents that end alike the shorter one is found wherever the longer one is.
        kept = [one for one in contents if not any(one != other and one.endswith(other) for other in contents)]
        machine = Backwards(contents)
        for _ in range(20):
            word = bytes(dice.choices(b"abc", k=dice.randint(0, 6)))
            nodes = machine.nodes(word)
            if any(content in word for content in contents):
                assert nodes is None
                whole += 1
                continue
            assert nodes is not None
            ends = [end for end in range(1, len(word) + 1) if any(content.endswith(word[:end]) for content in kept)]
            assert len(nodes) == len(ends)
            inside += bool(ends)
            # A node continues to a beginning exactly by the byte that precedes the word's part of a content.
            for node, end in zip(nodes, ends, strict=True):
                for before in range(256):
                    completes = any(content == bytes([before]) + word[:end] for content in kept)
                    assert (machine.children[256 * node + before] == -1) == completes
    assert whole > 500
    assert inside > 500
