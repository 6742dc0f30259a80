"""Tests for `tokdfa.jobs.splices.tokens`: the levels spell the words and nothing else."""

from __future__ import annotations

from random import Random

import numpy as np

from tokdfa.jobs.splices.tokens import trie_levels


def test_levels_spell_the_words() -> None:
    random = Random(0)
    for _ in range(50):
        words = sorted({bytes(random.choices(b"ab\x80", k=random.randint(1, 5))) for _ in range(random.randrange(20))})
        levels = trie_levels(words)
        spelled = {}
        nodes = [(bytes([byte]), number) for number, byte in enumerate(levels[0].byte.tolist())] if levels else []
        for depth, level in enumerate(levels):
            assert [word for word, _ in nodes] == sorted({word[: depth + 1] for word in words if len(word) > depth})
            spelled |= {word: int(level.word[number]) for word, number in nodes if level.word[number] >= 0}
            assert (np.diff(level.below) >= 0).all()
            nodes = [
                (word + bytes([levels[depth + 1].byte[child]]), child)
                for word, number in nodes
                for child in range(level.below[number], level.below[number + 1])
            ]
        assert not nodes
        assert spelled == {word: number for number, word in enumerate(words)}
