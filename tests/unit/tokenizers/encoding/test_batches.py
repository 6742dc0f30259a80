"""Whole texts and many documents, against pieces encoded one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.encoding import batches
from tokdfa.tokenizers.encoding.batches import encode_batch, iter_encoded

ALPHABET = ["a", "b", " ", "\n", "'s", "1", "23", "é", "中", "\U0001f600", "  ", "the", "x" * 70, "!?", "\t", "ing"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> tokdfa.Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "merges.txt"
    resource = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"
    path.write_bytes(resource.read_bytes())
    return tokdfa.load(path, pretokenizer="cl100k")


def random_text(draw: random.Random, n: int) -> str:
    return "".join(draw.choice(ALPHABET) for _ in range(n))


def by_pieces(tokenizer: tokdfa.Tokenizer, text: str) -> list[int]:
    assert tokenizer.pretokenizer is not None
    return [id for piece in tokenizer.pretokenizer.split(text) for id in tokenizer.encode_piece(piece).tolist()]


def test_texts_are_encoded_as_their_pieces(tokenizer: tokdfa.Tokenizer) -> None:
    draw = random.Random(1)
    for n in [0, 1, 2, 3, *[draw.randrange(200) for _ in range(200)]]:
        text = random_text(draw, n)
        assert tokenizer.encode(text).tolist() == by_pieces(tokenizer, text)


def test_texts_of_several_stretches(tokenizer: tokdfa.Tokenizer) -> None:
    draw = random.Random(2)
    text = random_text(draw, 12_000)
    # Enough spaces to make the trail of unsettled bytes grow.
    text = text + " " * 50_000 + "\n" + text + "中" * 9_000 + " " * 30_000
    assert tokenizer.encode(text).tolist() == by_pieces(tokenizer, text)


def test_documents_in_order_whatever_the_threads(tokenizer: tokdfa.Tokenizer) -> None:
    draw = random.Random(3)
    texts = [random_text(draw, draw.randrange(30)) for _ in range(2_000)]
    expected = [tokenizer.encode(text) for text in texts]
    for threads in (1, 2, 5):
        batch = encode_batch(tokenizer, texts, threads=threads)
        assert np.array_equal(batch.ids, np.concatenate(expected))
        assert np.array_equal(np.diff(batch.offsets), [len(ids) for ids in expected])
    assert [ids.tolist() for ids in iter_encoded(tokenizer, iter(texts[:5]))] == [x.tolist() for x in expected[:5]]
    empty = encode_batch(tokenizer, [])
    assert (len(empty.ids), empty.offsets.tolist()) == (0, [0])


@pytest.mark.parametrize("cut", [lambda texts: batches._cut(texts, 2), lambda texts: batches._gathered(iter(texts))])
@pytest.mark.parametrize("length", [1, 140, 1_000, 10_000, 300_000])
def test_documents_of_every_length_go_to_the_threads_in_parcels(
    length: int, cut: Callable[[list[str]], Iterator[batches.Parcel]]
) -> None:
    n = 6_000_000 // length
    texts = [str(i)[-length:].ljust(length) for i in range(n)]
    parcels = [*cut(texts)]
    assert [first for first, _ in parcels] == [*accumulate((len(part) for _, part in parcels[:-1]), initial=0)]
    assert [text for _, part in parcels for text in part] == texts
    assert len(parcels) >= min(n, 20)
    # One text more than is enough, or as many as are not looked at.
    most = max(length, length * n // batches._SAMPLE)
    assert all(sum(map(len, part)) <= batches._PARCEL + 2 * most for _, part in parcels)


@pytest.mark.parametrize(("n_threads", "n_parcels"), [(1, 4), (2, 8), (3, 12), (8, 16)])
def test_the_fewer_the_documents_the_smaller_the_parcels_of_threads(n_threads: int, n_parcels: int) -> None:
    parcels = [*batches._cut(["x" * 1_024] * 1_000, n_threads)]
    assert abs(len(parcels) - n_parcels) <= 1
    sizes = [len(part) for _, part in parcels]
    # Not all texts are looked at.
    assert max(sizes) - min(sizes[:-1]) <= 4


@pytest.mark.parametrize("n", [0, 1, 2, 999, 1_000, 5_000])
def test_every_document_is_in_one_parcel(n: int) -> None:
    draw = random.Random(n)
    texts = ["x" * draw.choice([0, 0, 7, 500, 60_000]) for _ in range(n)]
    for given in (texts, tuple(texts), [""] * n, [0] * n):
        found = [[*range(first, first + len(part))] for first, part in batches._cut(given, 2)]  # type: ignore[arg-type]
        assert [*chain(*found)] == [*range(n)]
        assert all(found)


def test_few_documents_are_asked_for_at_a_time() -> None:
    for length, most in ((100_000, 3), (100, 2 * batches._PARCEL // 100)):
        asked: list[int] = []
        texts = (asked.append(i) or "a" * length for i in range(10_000))  # type: ignore[func-returns-value]
        next(batches._gathered(texts))
        assert len(asked) <= most


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_in_any_form_are_the_same(tokenizer: tokdfa.Tokenizer, threads: int) -> None:
    """The room for all ids is guessed by the first, and grows."""
    texts = ["a man"] * 30_000 + ["b" * 90 + "\n"] * 5_000
    expected = [tokenizer.encode(text) for text in texts]
    for given in (texts, tuple(texts), iter(texts), dict(enumerate(texts)).values()):
        ids, offsets = encode_batch(tokenizer, given, threads=threads)
        assert np.array_equal(ids, np.concatenate(expected))
        assert np.array_equal(np.diff(offsets), [*map(len, expected)])
        assert ids.base is None
        assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)


def test_half_a_surrogate_pair_is_refused(tokenizer: tokdfa.Tokenizer) -> None:
    texts = ["fine"] * 300 + ["a\ud800b"]
    for threads in (1, 2):
        with pytest.raises(TokdfaError, match=r"^document 300, character 1: half of a surrogate pair"):
            encode_batch(tokenizer, texts, threads=threads)


def test_merging_decides_where_algorithm_1_differs(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_text("b a\nba b\nbab a\nbaba bab\nba ba\n", encoding="utf-8")
    tokenizer = tokdfa.load(path)
    assert len(tokenizer.encode("bababab")) == 1


@pytest.mark.parametrize("alphabet", [ALPHABET, ["a", " ", "the", "\n"]])
def test_documents_of_all_lengths_are_encoded_as_texts(tokenizer: tokdfa.Tokenizer, alphabet: list[str]) -> None:
    """Some are empty, some too long to be encoded together, some have pieces that are too long to be merged."""
    draw = random.Random(5)
    lengths = [draw.choice([0, 0, 1, 3, 40, 900, 9_000]) for _ in range(120)]
    texts = ["".join(draw.choice(alphabet) for _ in range(n)) for n in lengths]
    texts[7:7] = ["a" * 16_382, "a" * 16_381, "the " * 9_000, "", "x" * 700, " " * 20_000, " \n" * 8_191]
    expected = [tokenizer.encode(text).tolist() for text in texts]
    for threads in (1, 2):
        ids, offsets = encode_batch(tokenizer, texts, threads=threads)
        assert [ids[a:b].tolist() for a, b in pairwise(offsets.tolist())] == expected
    together = tokenizer.encode_together(texts)
    assert together is not None
    assert (together.ids.tolist(), together.offsets.tolist()) == (ids.tolist(), offsets.tolist())


def test_threads_that_come_later_find_what_others_remember(tokenizer: tokdfa.Tokenizer) -> None:
    for _ in range(3):
        encode_batch(tokenizer, ["a man"] * 2_000, threads=4)
    # Other tests of this tokenizer have used five threads.
    assert 1 <= len(tokenizer.piece_ids._idle) <= 5


def test_one_bad_document_is_named_among_many(tokenizer: tokdfa.Tokenizer) -> None:
    texts = [random_text(random.Random(6), 20) for _ in range(600)]
    for bad, error in (("a\ud800", "document 300, character 1"), (7, "document 300")):
        with pytest.raises(TokdfaError, match=error):
            encode_batch(tokenizer, [*texts[:300], bad, *texts[300:]], threads=1)  # type: ignore[list-item]


def test_what_only_the_end_of_a_document_settles(tokenizer: tokdfa.Tokenizer) -> None:
    ends = ["", " ", "  ", "   ", "\n", " \n", "\n ", "\n  ", "  \n  ", "'", "'s", "1", "1234"]
    texts = [word + end for word in ("", "a", "the man") for end in ends]
    together = tokenizer.encode_together([*texts, *texts[::-1]])
    assert together is not None
    found = [together.ids[a:b].tolist() for a, b in pairwise(together.offsets.tolist())]
    assert found == [tokenizer.encode(text).tolist() for text in [*texts, *texts[::-1]]]


def test_more_empty_documents_than_there_is_room_for() -> None:
    tokenizer = tokdfa.default_tokenizer()
    texts = ["a man", *[""] * 40_000, "a single man", ""]
    ids, offsets = tokdfa.encode_batch(tokenizer, texts, threads=1)
    assert ids.tolist() == [*tokenizer.encode(texts[0]).tolist(), *tokenizer.encode(texts[-2]).tolist()]
    assert offsets.tolist() == [0, *[2] * 40_001, 5, 5]
