"""The compiled segmentation compared with the definition."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.seeds import seeds
from tests.support.segmented import segmented
from tests.support.viterbi import encode_by_definition
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.unigram.model import Arithmetic, UnigramModel, unknown_score
from tokdfa.tokenizers.models.unigram.segmenter import Segmenter

ARITHMETICS: tuple[Arithmetic, ...] = ("sentencepiece", "sentencepiece 0.2.1", "tokenizers")


def random_model(drawn: random.Random) -> tuple[UnigramModel, list[str]]:
    """Return a model, and the parts of texts that reach its pieces."""
    letters = "abcé日"[: drawn.randrange(1, 6)]
    words = {"".join(drawn.choices(letters, k=drawn.randrange(1, 6))) for _ in range(drawn.randrange(1, 25))}
    spaced = drawn.random() < 0.5
    if spaced:
        # Words begin with a visible space, so that they are remembered.
        words = {drawn.choice(["", "\u2581"]) + word for word in words}
    pieces = ("<unk>", *sorted(words))
    arithmetic = drawn.choice(ARITHMETICS)
    single = arithmetic != "tokenizers"
    kinds = [drawn.random, lambda: drawn.randrange(4), lambda: drawn.randrange(4) * 0.1, lambda: 1e6 * drawn.random()]
    scores = np.array([-float(drawn.choice(kinds)()) for _ in pieces])
    scores = scores.astype(np.float32).astype(np.float64) if single else scores
    found = np.ones(len(pieces), dtype=np.bool_)
    found[0] = not single and drawn.random() < 0.7
    byte_ids = tuple(range(1000, 1256)) if drawn.random() < 0.3 else None
    unknown = 0 if single or drawn.random() < 0.8 else None
    least = unknown_score(float(scores.min()), single=single)
    model = UnigramModel(pieces, scores, found, unknown, least, arithmetic, byte_ids)
    letters += "\u2581\u2581" if spaced else ""
    return model, [*letters, *["x", "ü", "<unk>", "\U0001f600"][: drawn.choice([0, 0, 2, 4])]]


def assert_segmented_by_definition(chosen: range, n_texts: int, longest: int) -> tuple[int, int]:
    """Return the number of texts, and of those that are refused."""
    n = n_refused = 0
    for seed in chosen:
        drawn = random.Random(seed)
        model, parts = random_model(drawn)
        segmenter = Segmenter(model)
        for _ in range(n_texts):
            texts = ["".join(drawn.choices(parts, k=drawn.randrange(longest))) for _ in range(drawn.choice([1, 1, 3]))]
            texts = texts[:1] if model.is_single else texts
            n += 1
            try:
                expected = [id for text in texts for id in encode_by_definition(model, text)]
            except AlphabetError:
                n_refused += 1
                with pytest.raises(AlphabetError, match=r"^byte .*: a character that is no piece"):
                    segmented(segmenter, texts)
                continue
            assert segmented(segmenter, texts).tolist() == expected, (seed, texts)
    return n, n_refused


def test_random_models() -> None:
    n, n_refused = assert_segmented_by_definition(range(150), 6, 30)
    assert n == 900
    assert 5 < n_refused < 300


def test_long_texts_with_few_places_that_all_ways_pass() -> None:
    # No piece is a letter, so that ways cross everywhere; and the sums of 32 bits lose digits.
    drawn = random.Random(7)
    for arithmetic in ARITHMETICS:
        words = ["".join(drawn.choices("ab", k=drawn.randrange(2, 7))) for _ in range(40)]
        pieces = ("?", *sorted(set(words)))
        scores = np.array([-float(np.float32(drawn.random() * 9)) for _ in pieces])
        found = np.arange(len(pieces)) > 0
        model = UnigramModel(pieces, scores, found, 0, float(scores.min()) - 10, arithmetic)
        text = "".join(drawn.choices("ab", k=6000))
        assert segmented(Segmenter(model), [text]).tolist() == encode_by_definition(model, text)


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_words_are_remembered_only_where_rounding_cannot_matter(arithmetic: Arithmetic) -> None:
    # Some words have segmentations that differ by less than sums far on can tell apart.
    drawn = random.Random(4)
    words = {drawn.choice(["", "\u2581"]) + "".join(drawn.choices("abc", k=drawn.randrange(1, 4))) for _ in range(60)}
    pieces = ("?", *sorted(words))
    scores = np.array([-3 - drawn.randrange(3) - drawn.choice([0.0, 1e-3, 1e-5]) * drawn.random() for _ in pieces])
    scores = scores.astype(np.float32).astype(np.float64)
    model = UnigramModel(pieces, scores, np.arange(len(pieces)) > 0, 0, float(scores.min()) - 10, arithmetic)
    chosen = ["\u2581" + "".join(drawn.choices("abcx", k=drawn.randrange(1, 7))) for _ in range(300)]
    parts = drawn.choices(chosen, k=4000 if model.is_single else 400)
    sentences = ["".join(parts)] if model.is_single else parts
    segmenter = Segmenter(model)
    expected = [id for sentence in sentences for id in encode_by_definition(model, sentence)]
    assert segmented(segmenter, sentences).tolist() == expected
    assert segmented(segmenter, sentences).tolist() == expected
    # The same words are encoded otherwise where the sum before them is larger.
    apart = [id for part in parts for id in encode_by_definition(model, part)]
    assert (apart == expected) is (arithmetic == "tokenizers")


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_long_words_are_not_mistaken_for_one_another(arithmetic: Arithmetic) -> None:
    letters = "aqxyz"
    pieces = ("?", "xxxxxxx", *letters)
    scores = np.array([-9.0, -2.0, *[-3.0] * len(letters)])
    model = UnigramModel(pieces, scores, np.arange(len(pieces)) > 0, 0, -19.0, arithmetic)
    segmenter = Segmenter(model)
    for length in range(12, 24):
        for space in ("", "\u2581"):
            # These two differ in one bit of the last byte.
            for last in "aq":
                text = space + "x" * length + last
                assert segmented(segmenter, [text]).tolist() == encode_by_definition(model, text), text


@pytest.mark.slow
def test_many_random_models(tally: Tally) -> None:
    print(assert_segmented_by_definition(seeds(10_000), 20, 60))
    tally("encoding", "random cases", 20 * len(seeds(10_000)))
