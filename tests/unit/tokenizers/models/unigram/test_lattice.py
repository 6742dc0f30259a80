"""The sums of two segmentations, compared with the sums by the definition."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

import tokdfa
from tests.support import unigrams
from tests.support.editing import edited
from tests.support.seeds import seeds
from tests.support.viterbi import best_path, ids_of_path
from tests.unit.tokenizers.models.unigram.test_segmenter import random_model
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.unigram.accepted import is_usual
from tokdfa.tokenizers.models.unigram.lattice import RecordedText, lattice
from tokdfa.tokenizers.models.unigram.model import UnigramModel
from tokdfa.tokenizers.models.unigram.segmenter import Segmenter
from tokdfa.tokenizers.tokenizer import UnigramTokenizer


def added(model: UnigramModel, text: str, stops: list[int], scores: list[float]) -> list[float]:
    """Return the sums along a way through a text, in the arithmetic of a library without its long sums."""
    total, sums = 0.0, []
    for _, score in zip(stops, scores, strict=True):
        total += score
        total = float(np.float32(total)) if model.is_single else total
        sums.append(total)
    return sums


def another_way(drawn: random.Random, model: UnigramModel, text: str) -> list[tuple[int, int]] | None:
    """Return a random segmentation of a text into pieces, as ids and ends; None if that goes wrong."""
    found = [(model.pieces[id], id) for id in np.flatnonzero(model.is_found).tolist()]
    at = 0
    way: list[tuple[int, int]] = []
    while at < len(text):
        options = [(id, at + len(piece)) for piece, id in found if text.startswith(piece, at)]
        if not options:
            return None
        way.append(drawn.choice(options))
        at = way[-1][1]
    return way


def assert_lattice_by_definition(chosen: range, n_texts: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        model, parts = random_model(drawn)
        segmenter = Segmenter(model)
        for _ in range(n_texts):
            text = "".join(drawn.choices(parts, k=drawn.randrange(1, 20)))
            data = text.encode("utf-8")
            recorded = RecordedText(segmenter)
            try:
                path = best_path(model, text)
            except AlphabetError:
                counts["refused"] += 1
                continue
            recorded.add(data, np.array([len(data)]))
            ids = ids_of_path(model, text, path)
            way = another_way(drawn, model, text) or []
            given = [id for id, _ in way]
            scores = recorded.compare(given, 0, len(ids))
            assert scores is not None
            assert (scores.before, scores.best, scores.text) == (0.0, path[-1].score, text), (seed, text)
            for place in range(1, len(text)):
                assert scores.sums[place] == best_path(model, text[:place])[-1].score, (seed, text, place)
                assert scores.starts[place] == best_path(model, text[:place])[-1].start, (seed, text, place)
            check_lattice(segmenter, text, recorded, len(ids))
            if max(map(abs, scores.sums)) > 9e4:
                counts["subtracted"] += 1
                continue
            if way:
                expected = added(model, text, [stop for _, stop in way], [float(model.scores[id]) for id in given])[-1]
                assert scores.given == expected, (seed, text, given)
                assert scores.margin is not None
                assert scores.margin >= 0
                counts["equal" if not scores.margin else "compared"] += 1
            else:
                counts["no way"] += 1
            # A part between two places of the best way; ids of unknown characters may be joined across these.
            if len(path) > 2 and len(ids) == len(path):
                low, high = sorted(drawn.sample(range(len(path) + 1), 2))
                part = recorded.compare(ids[low:high], low, high)
                assert part is not None
                assert part.before == (path[low - 1].score if low else 0.0)
                assert part.best == path[high - 1].score
                is_usual = all(edge.id is not None for edge in path[low:high])
                assert part.given == (part.best if is_usual else part.given)
                counts["parts"] += 1
    return counts


def check_lattice(segmenter: Segmenter, text: str, recorded: RecordedText, n_ids: int) -> None:
    """Check that the lattice has all pieces in a text, and the best way to each place."""
    model = segmenter.model
    scores = recorded.compare([], 0, n_ids)
    assert scores is not None
    assert scores.given is None
    ways = [*lattice(segmenter, scores)]
    assert [(way.stop, way.start) for way in ways] == sorted((way.stop, way.start) for way in ways)
    pieces = {model.pieces[id] for id in np.flatnonzero(model.is_found).tolist()}
    found = {(way.start, way.stop) for way in ways}
    for start in range(len(text)):
        for stop in range(start + 1, len(text) + 1):
            is_unknown = stop == start + 1 and text[start] not in pieces
            assert ((start, stop) in found) == (text[start:stop] in pieces or is_unknown)
    best = [way for way in ways if way.is_best]
    assert [way.stop for way in best] == [*range(1, len(text) + 1)]
    for way in best:
        assert way.sum == scores.sums[way.stop]
    assert all(way.sum <= scores.sums[way.stop] for way in ways)


def test_random_models() -> None:
    counts = assert_lattice_by_definition(range(120), 4)
    assert min(counts[what] for what in ("compared", "equal", "no way", "parts", "subtracted")) > 10, counts


@pytest.mark.slow
def test_many_random_models() -> None:
    print(assert_lattice_by_definition(seeds(4000), 10))


def test_sums_that_are_subtracted() -> None:
    # Far on, SentencePiece subtracts the best sum; both sums are those after that.
    pieces = ("?", "a", "aa", "x")
    model = UnigramModel(pieces, np.array([0.0, -1.0, -1.5, -6e4]), np.arange(4) > 0, 0, -6e4 - 10, "sentencepiece")
    segmenter = Segmenter(model)
    recorded = RecordedText(segmenter)
    text = "xxaaxaa"
    recorded.add(text.encode(), np.array([len(text)]))
    path = best_path(model, text)
    ids = ids_of_path(model, text, path)
    assert ids == [3, 3, 2, 3, 2]
    first, last = recorded.compare([1, 1], 2, 3), recorded.compare([1, 1], 4, 5)
    assert first is not None
    assert last is not None
    # -120,000 is subtracted after the second x.
    assert (first.before, first.best, first.given) == (0.0, -1.5, -2.0)
    assert (last.before, last.best, last.given) == (-60001.5, -60003.0, -60003.5)


def cut_otherwise(drawn: random.Random, tokenizer: UnigramTokenizer, ids: list[int]) -> list[int]:
    """Return ids in which some pieces are cut into two others."""
    id_of = tokenizer.segmenter.id_of
    others: list[int] = []
    for id in ids:
        piece = tokenizer.token_strings[id]
        cuts = [at for at in range(1, len(piece)) if piece[:at] in id_of and piece[at:] in id_of]
        at = drawn.choice(cuts) if cuts and drawn.random() < 0.5 else 0
        others += [id_of[piece[:at]], id_of[piece[at:]]] if at else [id]
    return others


def test_the_witness_beside_both_libraries() -> None:
    drawn = random.Random(2)
    n = n_margins = 0
    for seed in range(16):
        data: bytes | dict[str, object] = unigrams.changed_sentencepiece(random.Random(seed))
        if seed % 2:
            data = unigrams.changed_tokenizers(random.Random(seed))
        tokenizer = tokdfa.load(data)
        assert isinstance(tokenizer, UnigramTokenizer)
        for _ in range(8):
            try:
                ids = tokenizer.encode(unigrams.text(drawn)).tolist()
            except AlphabetError:
                continue
            streams = edited(drawn, ids, range(len(tokenizer)), range(4)), cut_otherwise(drawn, tokenizer, ids)
            for violation in (each for stream in streams for each in tokenizer.validate(stream, all=True).violations):
                scores = violation.scores
                if scores is None or violation.canonical_ids is None:
                    continue
                n += 1
                usual = is_usual(tokenizer)[[*violation.canonical_ids]]
                if len(scores.text) < 40 and usual.all():
                    pieces = [tokenizer.model.pieces[id] for id in violation.canonical_ids]
                    assert any(piece.startswith("<0x") for piece in pieces) or "".join(pieces) == scores.text
                if scores.margin is not None:
                    assert scores.margin >= 0
                    assert "sum of scores up to there is" in violation.reason
                    n_margins += 1
    assert n > 60
    assert n_margins > 10


def test_the_sentences() -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["aaa", -2.5], ["b", -3], ["ab", -4]]}
    tokenizer = tokdfa.load({"decoder": {"type": "Fuse"}, "model": model})
    reasons = [violation.reason for violation in tokenizer.validate([1, 1, 1, 1, 3], all=True).violations]
    reasons += [violation.reason for violation in tokenizer.validate([1, 3], all=True).violations]
    assert reasons == [
        "the text is encoded as 'aaa' (2), not as 'a' (1) 'a' (1) 'a' (1): "
        "the sum of scores up to there is -2.5, and with these ids -3",
        "the text is encoded as 'ab' (4), not as 'a' (1) 'b' (3): "
        "the sum of scores up to there is -6.5 for both, and the last piece of the first is longer",
        "the text is encoded as 'ab' (4), not as 'a' (1) 'b' (3): "
        "the sum of scores up to there is -4 for both, and the last piece of the first is longer",
    ]
