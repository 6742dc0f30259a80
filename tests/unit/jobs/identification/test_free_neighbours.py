"""Ids of Unigram that were shifted: the shift is named or the answer is undecided, and never another one."""

from __future__ import annotations

import io
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import tokenizers

import tokdfa
from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.identification.free_neighbours import told_shift
from tokdfa.jobs.identification.result import Identification, groups_of


@cache
def model_of(data: Path, kind: str, corpus: str) -> tuple[tokdfa.AnyTokenizer, IntegerArray]:
    """Return a model trained on a corpus, and the ids of its text, without characters that the model does not know."""
    text = (data / "corpora" / f"{corpus}.txt").read_text("utf-8")[:400_000]
    is_plain = str.isascii if corpus != "multilingual" else bool
    lines = [line for line in text.splitlines() if is_plain(line) and 0 < len(line) < 1000]
    if kind == "sentencepiece":
        model = io.BytesIO()
        fields: dict[str, Any] = {"model_type": "unigram", "vocab_size": 2000, "byte_fallback": True}
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=model, minloglevel=2, **fields
        )
        tokenizer = tokdfa.load(model.getvalue())
    else:
        peer = tokenizers.Tokenizer(tokenizers.models.Unigram())
        peer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        peer.decoder = tokenizers.decoders.Metaspace()
        specials = ["<pad>", "</s>", "<unk>"]
        trainer = tokenizers.trainers.UnigramTrainer(
            vocab_size=2000, special_tokens=specials, unk_token="<unk>", show_progress=False
        )
        peer.train_from_iterator(lines, trainer)
        tokenizer = tokdfa.load(peer.to_str().encode())
    return tokenizer, tokenizer.encode(" ".join(lines)).astype(np.int64)


def answer(path: Path, ids: IntegerArray, tokenizer: tokdfa.AnyTokenizer) -> tuple[bool, list[int | None], bool]:
    """Return whether the tokenizer is named, the shifts that are, and whether it is decided."""
    np.save(path, ids)
    (found,) = tokdfa.identify_each(path, {"unigram": tokenizer})
    assert isinstance(found, Identification)
    (group,) = groups_of([found])
    return bool(group.makers), [mistake.offset for mistake in group.mistakes], group.is_enough


def test_ids_as_they_are_and_shifted_by_two_are_told(data: Path, tmp_path: Path) -> None:
    tokenizer, ids = model_of(data, "tokenizers", "english")
    assert told_shift(tokenizer, ids[5000:25_000]).shift == 0
    assert told_shift(tokenizer, ids[5000:25_000] + 2).shift == -2
    for size in (400, 1500, 20_000):
        assert answer(tmp_path / "ids.npy", ids[5000 : 5000 + size], tokenizer) == (True, [], True)
    assert answer(tmp_path / "ids.npy", ids[5000:25_000] + 2, tokenizer) == (True, [2], True)


def test_ids_below_zero_are_read_as_their_type_counts(data: Path, tmp_path: Path) -> None:
    tokenizer, ids = model_of(data, "tokenizers", "english")
    ids = ids[5000:9000] - 6
    assert np.count_nonzero(ids < 0) > 100
    for dtype in (np.uint16, np.uint32, np.int64):
        assert answer(tmp_path / "ids.npy", ids.astype(dtype), tokenizer) == (True, [-6], True)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["english", "python_code", "multilingual"])
@pytest.mark.parametrize("kind", ["sentencepiece", "tokenizers"])
def test_no_other_shift_is_named_however_few_ids(kind: str, corpus: str, data: Path, tmp_path: Path) -> None:
    tokenizer, ids = model_of(data, kind, corpus)
    told: Counter[tuple[bool, int]] = Counter()
    for shift in (0, 1, 2, 3, 100, -1, 5000):
        for size in (50, 100, 300, 1000, 4000, 16_000):
            for begin in range(3000, 3000 + 4 * 700, 700):
                found = answer(tmp_path / "ids.npy", ids[begin : begin + size] + shift, tokenizer)
                expected = (True, [shift] if shift else [], True)
                assert found in (expected, (False, [], False)), (shift, size, begin, found)
                told[shift != 0, size] += found == expected
    assert told[False, 1000] + told[False, 4000] > 4
    assert told[True, 16_000] == 24, told
