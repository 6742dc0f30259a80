"""Ranks in any order, so that rules are improper more often than not: against merging straight from the ranks."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.by_ranks import merge_by_queue
from tests.support.tokenizer_files import ranks, tiktoken_lines


def random_ranks(draw: random.Random) -> dict[bytes, int]:
    words = {"".join(draw.choices("abc ", k=draw.randrange(2, 6))).encode() for _ in range(draw.randrange(1, 40))}
    words |= {b"a" * n for n in draw.sample(range(2, 80), 3)}
    return ranks(draw.sample(sorted(words), len(words)))


@pytest.mark.parametrize("pretokenizer", ["gpt2", "none"])
def test_ids_are_those_of_merging_by_rank(pretokenizer: str, tmp_path: Path) -> None:
    draw = random.Random(1)
    n_improper = 0
    for _ in range(60):
        table = random_ranks(draw)
        path = tmp_path / "ranks.tiktoken"
        path.write_bytes(tiktoken_lines(table))
        tokenizer = tokdfa.load(path, pretokenizer=pretokenizer)
        n_improper += not tokenizer.dictionary.properness() or tokenizer.merges is not None
        for _ in range(12):
            text = "".join(draw.choices(["a", "b", "c", " ", "aaaaaaaa", "é", "abc", "ab"], k=draw.randrange(40)))
            pieces = [text] if tokenizer.pretokenizer is None else tokenizer.pretokenizer.split(text)
            expected: list[int] = []
            for piece in map(str.encode, pieces):
                expected += [table[piece]] if piece in table else merge_by_queue(table, piece)
            assert tokenizer.encode(text).tolist() == expected
            assert tokenizer.encode_pieces(pieces).ids.tolist() == expected
            stream = tokenizer.stream()
            parts = [stream.feed(text[at : at + 3]) for at in range(0, len(text), 3)]
            assert np.concatenate((*parts, stream.finish())).tolist() == expected
    assert n_improper > 20
