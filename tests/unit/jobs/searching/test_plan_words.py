"""Searching ids that do not spell the text one after the other: the decoded text is searched."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import regex

import tokdfa
from tests.support.sentencepieces import LINES, trained
from tests.support.tuned import tuned
from tokdfa.jobs.searching.api import Searcher
from tokdfa.jobs.searching.plan import Tuning

PATTERNS = ["[a-z]+", " ", " [a-z]", r"\A[^a]", r"\A ", r"[a-z]\Z", r" \Z", r"\w+ \w+", "é|日", "^.*$", r"(?s).\b."]


@pytest.fixture(
    scope="module",
    params=[Tuning(patience=10**9, step=3), Tuning(patience=-1, step=2), Tuning(patience=-1)],
    ids=["byte by byte", "token by token", "in long steps"],
)
def tuning(request: pytest.FixtureRequest) -> Tuning:
    given: Tuning = request.param
    return given


def searchers(tokenizer: tokdfa.Tokenizer, tuning: Tuning) -> dict[str, Searcher]:
    return {pattern: tuned(Searcher, tuning)(tokenizer, pattern, wanted="first") for pattern in PATTERNS}


def assert_found_by_regex(by_pattern: dict[str, Searcher], ids: list[int], text: str, chunks: list[int]) -> None:
    """The matches in ids are the matches of `regex` in a text."""
    lengths = np.cumsum([0, *(len(symbol.encode()) for symbol in text)])
    for pattern, searcher in by_pattern.items():
        expected = [
            (lengths[m.start()], lengths[m.end()]) for m in regex.finditer(pattern, text) if m.end() > m.start()
        ]
        bounds = sorted({0, len(ids), *(chunk % (len(ids) + 1) for chunk in chunks)})
        found = [
            row[:2]
            for matches in searcher.iter_matches(np.array(ids[i:j], dtype=np.int32) for i, j in pairwise(bounds))
            for row in matches
        ]
        assert found == expected, (pattern, text)


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_sentencepiece(tuning: Tuning, tmp_path: Path, byte_fallback: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    dice = random.Random(byte_fallback)
    for prefix, removes, surface in ((True, False, " ⁇ "), (False, False, "?"), (True, True, ""), (False, True, " x")):
        model = pb.ModelProto()
        model.ParseFromString(trained("identity", byte_fallback))
        model.normalizer_spec.add_dummy_prefix = prefix
        model.normalizer_spec.remove_extra_whitespaces = removes
        model.trainer_spec.unk_surface = surface
        path = tmp_path / f"{prefix}{removes}.model"
        path.write_bytes(model.SerializeToString())
        library = sentencepiece.SentencePieceProcessor(model_file=str(path))
        by_pattern = searchers(tokdfa.load(path), tuning)
        shown = [
            id for id, piece in enumerate(model.pieces) if piece.type not in (piece.CONTROL, piece.BYTE, piece.UNKNOWN)
        ]
        control = library.piece_to_id("<ctl>")
        for _ in range(10):
            line = "".join(dice.choice([" ", ""]) + dice.choice(" ".join(LINES).split(" ")) for _ in range(4))
            for ids in (library.encode(line), dice.choices(shown, k=dice.randint(0, 8))):
                lead = [control] * dice.randint(0, 2)
                sizes = [dice.randrange(9) for _ in range(2)]
                assert_found_by_regex(by_pattern, lead + ids, library.decode(lead + ids), sizes)


def test_words_that_end_with_a_suffix(tuning: Tuning, tmp_path: Path, data: Path) -> None:
    tokenizer: tokdfa.Tokenizer = tokdfa.load(data / "vocabs/clip_bpe_simple_vocab_16e6.txt.gz", pretokenizer="none")
    ids = tokenizer.encode("a photo of a cat").tolist()
    assert tokenizer.decode(ids) == "a photo of a cat"
    by_pattern = searchers(tokenizer, tuning)
    for chunks in ([], [1, 2, 3]):
        assert_found_by_regex(by_pattern, ids, "a photo of a cat", chunks)
        assert_found_by_regex(by_pattern, ids[:1], "a", chunks)
        assert_found_by_regex(by_pattern, [], "", chunks)
