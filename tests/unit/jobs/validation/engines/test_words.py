"""Wrong words with canonical ids of another text are found where the stream engine finds them."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.sentencepieces import trained
from tests.support.tuned import validate_tuned
from tokdfa.jobs.validation.api import check
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.window import Tuning

# Normalization makes a space of the wide one, 1 of the circled digit, and nothing of the zero-width space.
PIECES = ["<unk>", "\u2581", "a", "b", "\u2581a", "ab", "\u3000", "1", "\u2460", "\u200b", "\u00a0\u2603"]
SPACE, SPACED_A, WIDE, CIRCLED, NOTHING, SNOWMAN = 1, 4, 6, 8, 9, 10


@cache
def tokenizer_of(pieces: tuple[str, ...]) -> tokdfa.AnyTokenizer:
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(trained("nmt_nfkc", False))
    model.trainer_spec.model_type = model.trainer_spec.UNIGRAM
    unknown = model.pieces[0].type
    del model.pieces[:]
    for number, piece in enumerate(pieces):
        model.pieces.add(piece=piece, score=-number / 2, type=1 if number else unknown)
    model.trainer_spec.vocab_size = len(pieces)
    return tokdfa.load(model.SerializeToString())


def assert_found_as_in_a_stream(ids: tuple[int, ...]) -> int:
    """Assert that all violations are the same, judged at once and one by one; return their number."""
    tokenizer, array = tokenizer_of(tuple(PIECES)), np.array(ids)
    expected = validate_tuned(tokenizer, array, all=True, tuning=Tuning()).violations
    assert check(tokenizer, array, all=True, tuning=Tuning(at_once=1)).violations == expected, ids
    return len(expected)


@pytest.mark.parametrize(
    "ids",
    [
        # The space before an unknown word in the middle of the text counts, and not the one at the beginning.
        (SPACE, CIRCLED, SPACED_A, SNOWMAN),
        (SPACE, CIRCLED, SPACED_A, SNOWMAN, SPACED_A, SNOWMAN),
        # The first word is blank once it is normalized, and the next one is a space.
        (WIDE, SPACE, SPACED_A, SNOWMAN),
        (NOTHING, SPACE, SPACED_A, CIRCLED),
        (NOTHING, SPACE),
        (WIDE, SPACE),
    ],
)
def test_words_at_the_beginning_of_a_text(ids: tuple[int, ...]) -> None:
    assert assert_found_as_in_a_stream(ids)


def test_all_short_streams() -> None:
    assert engine_of(tokenizer_of(tuple(PIECES))).name == "words"
    n_wrong = sum(assert_found_as_in_a_stream(ids) for n in (1, 2, 3) for ids in product(range(len(PIECES)), repeat=n))
    assert n_wrong > 500
