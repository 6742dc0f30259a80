"""The definition, on examples worked out by hand and compared with both libraries."""

from __future__ import annotations

import json
import random
from itertools import pairwise, product

import numpy as np
import pytest

from tests.support.viterbi import best_path, encode_by_definition
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.unigram.model import Arithmetic, UnigramModel


def model(
    pieces: dict[str, float],
    arithmetic: Arithmetic = "tokenizers",
    *,
    unknown: int | None = 0,
    byte_ids: tuple[int, ...] | None = None,
) -> UnigramModel:
    scores = np.array([*pieces.values()])
    found = np.ones(len(pieces), dtype=np.bool_)
    found[:1] = arithmetic == "tokenizers"
    return UnigramModel(tuple(pieces), scores, found, unknown, float(scores.min()) - 10, arithmetic, byte_ids)


def test_of_equal_sums_the_longest_last_piece_counts() -> None:
    pieces = {"?": 0.0, "a": -1.0, "ab": -2.0, "b": -2.0, "bc": -2.0, "c": -2.0}
    for arithmetic in ("tokenizers", "sentencepiece"):
        assert encode_by_definition(model(pieces, arithmetic), "abc") == [1, 4]


def test_a_sum_is_compared_before_or_after_it_is_rounded() -> None:
    # -1 + 2**-26 is greater than -1, and rounded to -1.
    pieces = {"?": -3.0, "ab": -1.0, "a": -1.0, "b": 2.0**-26}
    assert encode_by_definition(model(pieces, "sentencepiece"), "ab") == [1]
    assert encode_by_definition(model(pieces, "sentencepiece 0.2.1"), "ab") == [2, 3]
    assert encode_by_definition(model(pieces, "tokenizers"), "ab") == [2, 3]


def test_a_piece_depends_on_the_sum_before_it() -> None:
    pieces = {"?": -3.0, "ab": -1.0, "a": -1.0, "b": 2.0**-12, "x": -1000.0}
    of = model(pieces, "sentencepiece")
    assert encode_by_definition(of, "ab") == [2, 3]
    assert encode_by_definition(of, "x" * 10 + "ab")[-1] == 1
    assert [edge.id for edge in best_path(of, "ab", -10000.0)] == [1]
    assert encode_by_definition(model(pieces), "x" * 10 + "ab")[-2:] == [2, 3]


def test_unknown_characters() -> None:
    pieces = {"?": 0.0, "a": -1.0}
    assert encode_by_definition(model(pieces, "sentencepiece"), "xya??") == [0, 1, 0]
    assert encode_by_definition(model(pieces), "xya??") == [0, 1, 0]
    # With great scores two unknown characters are better than the piece of both, and are then looked up as a piece.
    assert encode_by_definition(model({"?": 30.0, "a": 30.0, "xy": 30.0}), "axya") == [1, 2, 1]
    byte_ids = tuple(range(100, 356))
    assert encode_by_definition(model(pieces, "sentencepiece", byte_ids=byte_ids), "éa") == [100 + 0xC3, 100 + 0xA9, 1]
    some = tuple(id if id != 100 + 0xC3 else -1 for id in byte_ids)
    assert encode_by_definition(model(pieces, byte_ids=some), "xéax") == [0, 1, 100 + ord("x")]
    with pytest.raises(
        AlphabetError, match=r"^character 1: a character that is no piece, and there is no unknown piece"
    ):
        encode_by_definition(model(pieces, unknown=None), "ax")


def test_beside_tokenizers() -> None:
    from tokenizers import Tokenizer

    drawn = random.Random(3)
    for _ in range(60):
        words = {"".join(drawn.choices("abc", k=drawn.randrange(1, 5))) for _ in range(12)}
        pieces = {"?": -1.0} | {word: -float(drawn.randrange(1, 5)) for word in sorted(words)}
        fields = {"type": "Unigram", "unk_id": 0, "vocab": [*pieces.items()]}
        peer = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": fields}))
        of = model(pieces)
        for _ in range(20):
            text = "".join(drawn.choices("abcx?", k=drawn.randrange(12)))
            assert encode_by_definition(of, text) == peer.encode(text).ids


def is_canonical(of: UnigramModel, ids: tuple[int, ...]) -> bool:
    return encode_by_definition(of, "".join(of.pieces[id] for id in ids)) == [*ids]


def decided_by_pairs(of: UnigramModel, longest: int) -> bool:
    """Return whether streams with all neighbours from canonical streams are canonical, up to a length."""
    tokens = range(1, len(of.pieces))
    streams = [stream for n in range(1, longest + 1) for stream in product(tokens, repeat=n)]
    canonical = {stream for stream in streams if is_canonical(of, stream)}
    pairs = {pair for stream in canonical for pair in pairwise(stream)}
    live = {stream[0] for stream in canonical if len(stream) == 1}
    return all(
        stream in canonical
        for stream in streams
        if all(pair in pairs for pair in pairwise(stream)) and live.issuperset(stream)
    )


def test_the_smallest_example_that_neighbours_do_not_decide() -> None:
    # One letter and two pieces: a≀a is right, and a≀a≀a is not.
    assert not decided_by_pairs(model({"?": 0.0, "a": -1.0, "aaa": -2.5}), 3)
    # With one piece, or with a and aa, with any scores, they do.
    assert decided_by_pairs(model({"?": 0.0, "a": -1.0}), 6)
    for score in (-3.0, -2.5, -2.0, -1.5, -0.5, 1.0):
        assert decided_by_pairs(model({"?": 0.0, "a": -1.0, "aa": score}), 6)
