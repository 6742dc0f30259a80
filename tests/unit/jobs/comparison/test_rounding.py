"""Texts on which only the rounding of sums tells two libraries apart."""

from __future__ import annotations

import random
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

import tokdfa
from tests.support import unigrams
from tokdfa.jobs.comparison.rounding import texts_of_near_sums
from tokdfa.tokenizers.formats.writers.gguf_file import draft_of


def of_random_scores() -> bytes:
    """Return a model with all pieces of up to three of five letters."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(unigrams.trained_by_sentencepiece("identity", False, 1))
    del model.pieces[3:]
    drawn = random.Random(0)
    for letters in chain(*(product("abcde", repeat=n) for n in (1, 2, 3)), "\u2581"):
        model.pieces.add(piece="".join(letters), score=-drawn.uniform(10, 11))
    data: bytes = model.SerializeToString()
    return data


def test_sums_of_32_and_of_64_bits_are_told_apart(tmp_path: Path) -> None:
    data = of_random_scores()
    tokenizer, peer = tokdfa.load(data), sentencepiece.SentencePieceProcessor(model_proto=data)
    assert isinstance(tokenizer, tokdfa.UnigramTokenizer)
    path = tmp_path / "x.gguf"
    path.write_bytes(draft_of(tokenizer, path.name).files[path.name])
    of_64_bits, model = tokdfa.load(path), tokenizer.model
    scores = {model.pieces[id]: float(model.scores[id]) for id in np.flatnonzero(model.is_found).tolist()}
    texts = [*texts_of_near_sums(scores)]
    differing = [text for text in texts if peer.encode(text) != of_64_bits.encode(text).tolist()]
    assert 0 < len(differing) < len(texts)
    assert all(tokenizer.encode(text).tolist() == peer.encode(text) for text in texts)
