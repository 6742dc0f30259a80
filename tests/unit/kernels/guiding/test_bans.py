"""The masks of an automaton over bytes, against its states after each word."""

from __future__ import annotations

import random

import numpy as np

from tokdfa.kernels.guiding.product import ban_of, ban_step, mask_like
from tokdfa.regex.trie import TokenTrie


def test_masks_and_steps() -> None:
    source = random.Random(0)
    n_changed = 0
    for _ in range(100):
        n_states, n_columns = source.randint(2, 7), source.randint(1, 4)
        table = np.array([[source.randrange(n_states) for _ in range(n_columns)] for _ in range(n_states)], np.int32)
        table[0] = 0
        column = np.array([source.randrange(n_columns) for _ in range(256)], dtype=np.int32)
        alive = np.array([False, *(source.random() < 0.8 for _ in range(n_states - 1))])
        words = [bytes(source.choices(b"abcd", k=source.randint(1, 4))) for _ in range(source.randint(1, 70))]
        text = np.frombuffer(b"".join(words), dtype=np.uint8)
        offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
        ban = ban_of(table, column, alive, text, offsets, TokenTrie(text.astype(np.int32), offsets))
        expected = []
        for state in range(n_states):
            allowed = []
            for id, word in enumerate(words):
                here = state
                for byte in word:
                    here = int(table[here, column[byte]])
                allowed.append(bool(alive[here]))
                assert ban_step(ban, state, id) == (here if state and alive[here] else 0)
            expected.append(allowed)
        for like in range(n_states):
            for state in range(1, n_states):
                mask = np.zeros(3, dtype=np.uint32)
                if like:
                    mask_like(ban, like, 0, mask)
                mask_like(ban, state, like, mask)
                bits = np.unpackbits(mask.view(np.uint8), bitorder="little").astype(bool).tolist()
                assert bits[: len(words)] == expected[state]
                n_changed += expected[like] != expected[state]
        assert (
            ban_step(ban, n_states, 0)
            == ban_step(ban, -1, 0)
            == ban_step(ban, 1, len(words))
            == ban_step(ban, 1, -1)
            == 0
        )
    assert n_changed > 100
