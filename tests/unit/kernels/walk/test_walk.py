"""The walk over ids equals the automaton's own walk, one id after the other."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.canonical_automaton import CanonicalAutomaton, CanonicalState
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.automata.protocol import accepts
from tokdfa.jobs.validation.engine import model_of
from tokdfa.jobs.validation.engines.walk import PairWalk
from tokdfa.jobs.validation.model import Model
from tokdfa.kernels.walk import walk as kernels
from tokdfa.tokenizers.tokenizer import Tokenizer

WORDS = [b"ab", b"abc", b" a", b" ab", b"\n\n", b"  ", b"\xc3\xa9", b"a\xc3", b"\xaaa", b"\xaa ", b"'s", b"12", b"x'"]


@pytest.fixture(scope="module", params=["gpt2_tiktoken", "cl100k", "o200k", "deepseek"])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("ranks") / "small.tiktoken"
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *WORDS])}
    path.write_bytes(tiktoken_lines(ranks))
    return tokdfa.load(path, pretokenizer=request.param)


@cache
def automaton_of(tokenizer: Tokenizer) -> CanonicalAutomaton:
    return CanonicalAutomaton(tokenizer)


def first_refused(automaton: CanonicalAutomaton, ids: list[int]) -> int | None:
    """Return the first id at which the automaton stops; None if it does not."""
    state: CanonicalState | None = automaton.initial
    for place, id in enumerate(ids):
        assert state is not None
        state = automaton.step(state, id)
        if state is None:
            return place
    return None


@pytest.mark.parametrize("table", [False, True])
def test_the_walk_stops_where_the_automaton_does(tokenizer: Tokenizer, table: bool) -> None:
    automaton = automaton_of(tokenizer)
    model = Model(tokenizer)
    model.pairs._tested = 10**9 if table else -(10**9)
    source = np.random.default_rng(0)
    text = "ab  a\n\n abc's é ab12 12345\t\n xx's\r\nabc ab  "
    good = tokenizer.encode("".join(source.choice(text.split(" "), 4_000)) + text * 200)
    for _ in range(8):
        # From a few ids to many blocks of lanes, with a spoiled id near the end or anywhere.
        ids = good[: int(source.integers(1, len(good)))].copy()
        wrong = int(source.integers(max(len(ids) - 40, 0), len(ids)))
        if source.random() < 0.7:
            ids[wrong] = source.integers(256 + len(WORDS))
        judge = PairWalk(model)
        expected = first_refused(automaton, ids.tolist())
        assert judge._walk(ids) == (len(ids) if expected is None else expected)
        if expected is None:
            assert judge._here.size == len(tokenizer.decode_bytes(ids))
            assert judge._table.is_final(judge._state) == accepts(automaton, ids.tolist())


@given(data=st.data())
def test_short_streams(tokenizer: Tokenizer, data: st.DataObject) -> None:
    automaton = automaton_of(tokenizer)
    some = st.sampled_from([*b"abx '1\n\xc3\xa9\xaa", *range(256, 256 + len(WORDS))])
    ids = data.draw(st.lists(some, max_size=12))
    judge = PairWalk(model_of(tokenizer))
    expected = first_refused(automaton, ids)
    assert judge._walk(np.array(ids, dtype=np.int32)) == (len(ids) if expected is None else expected)
    assert bool(tokenizer.validate(ids)) == accepts(automaton, ids)


def test_lanes_that_begin_wrong_are_walked_again(tokenizer: Tokenizer) -> None:
    # The index of a digit within its group is settled thousands of ids before.
    lane = kernels.LANE
    for extra in range(4):
        ids = tokenizer.encode("a" + "1" * (5 * lane + extra) + " ab" * 3 * lane)
        judge = PairWalk(model_of(tokenizer))
        assert judge._walk(ids) == len(ids)
        spoiled = ids.copy()
        spoiled[3 * lane] = ord("2") if spoiled[3 * lane] != ord("2") else ord("3")
        assert bool(tokenizer.validate(spoiled)) == accepts(automaton_of(tokenizer), spoiled.tolist())


def test_real_streams_in_chunks_of_any_size(data: Path) -> None:
    tokenizer = tokdfa.load(data / "vocabs" / "cl100k_base.tiktoken", pretokenizer="cl100k")
    text = (data / "corpora" / "multilingual.txt").read_text("utf-8")[:60_000]
    ids = tokenizer.encode(text)
    source = np.random.default_rng(1)
    spoiled = ids.copy()
    spoiled[source.choice(len(ids), 150, replace=False)] = source.integers(0, 100_000, 150)
    expected = [tokenizer.validate(stream, all=True).violations for stream in (ids, spoiled)]
    assert not expected[0]
    assert len(expected[1]) >= 8
    for size in (3, 1000, 9999):
        for stream, violations in zip((ids[:12_000], spoiled), expected, strict=True):
            chunks = iter([stream[at : at + size] for at in range(0, len(stream), size)])
            assert tokenizer.validate(chunks, all=True).violations == violations


def test_specials_that_a_text_spells(data: Path) -> None:
    tokenizer = tokdfa.load(data / "vocabs" / "gpt2" / "tokenizer.json")
    spelled = [27, 91, 437, 11205, 2302, 91, 29]
    text = tokenizer.encode("It was the best of times, it was <| endoftext |> the worst of times;\n\n" * 40).tolist()
    assert tokenizer.validate([*text, 50256, *text])
    for at in (0, 5, 300, len(text)):
        for stream in ([*text[:at], *spelled, *text[at:]], [*text[:at], 50256, *spelled, 50256, *text[at:]]):
            expected = tokenizer.encode(tokenizer.decode(stream)).tolist()
            verdict = tokenizer.validate(stream)
            place = next(place for place, (a, b) in enumerate(zip(stream, expected, strict=False)) if a != b)
            assert verdict.index == place
            assert "spells the special token" in verdict.reason
            for size in (1, 3):
                chunks = iter([np.array(stream[at : at + size]) for at in range(0, len(stream), size)])
                assert tokenizer.validate(chunks).witness == verdict.witness
