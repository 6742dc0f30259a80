"""Checking rollouts: classes, counts and shares, documents, batches, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa import Rollout, SpanClass, ViolationKind
from tokdfa.base.errors import TokenStreamError, WrongTypeError
from tokdfa.jobs.rollouts.api import iter_outcomes


@pytest.fixture(scope="module")
def tokenizer() -> tokdfa.AnyTokenizer:
    return tokdfa.default_tokenizer()


SPOILED = [64, 261, 1193]  # a≀ s≀ingle


@pytest.mark.parametrize(
    ("mask", "name"),
    [
        ([0, 0, 0], "bugs"),
        ([1, 0, 0], "bugs"),
        ([0, 1, 1], "drift"),
        ([1, 0, 1], "junctions"),
        ([0, 1, 0], "junctions"),
    ],
)
def test_the_mask_decides_the_class(tokenizer: tokdfa.AnyTokenizer, mask: list[int], name: str) -> None:
    for given in (mask, np.array(mask), np.array(mask, dtype=np.bool_), np.array(mask, dtype=np.float32)):
        check = tokdfa.check_rollout(tokenizer, SPOILED, given)
        assert check.counts == tokdfa.Counts(**{name: 1})
        assert check.ids_in == tokdfa.Counts(**{name: 2})
        assert bool(check) == check.holds == (name != "bugs")
        (violation,) = check.of_class(SpanClass[{"bugs": "BUG", "drift": "DRIFT", "junctions": "JUNCTION"}[name]])
        assert (violation.index, violation.ids, violation.canonical_ids) == (1, (261, 1193), (2513,))
        assert (violation.kind, violation.pair, violation.rule) == (ViolationKind.PAIR, (261, 1193), 2257)
        assert check.witness == (violation if name == "bugs" else None)


def test_a_mask_may_begin_after_the_prompt(tokenizer: tokdfa.AnyTokenizer) -> None:
    assert tokdfa.check_rollout(tokenizer, SPOILED, [1, 1], 1).counts.drift == 1
    assert tokdfa.check_rollout(tokenizer, SPOILED, [1], 2).counts.junctions == 1
    assert tokdfa.check_rollout(tokenizer, SPOILED, prompt=3).counts.bugs == 1
    assert tokdfa.check_rollout(tokenizer, SPOILED).sampled == 3
    # A mask for all ids decides alone.
    assert tokdfa.check_rollout(tokenizer, SPOILED, [1, 1, 1], 3).counts.drift == 1


def test_shares_are_of_sampled_ids(tokenizer: tokdfa.AnyTokenizer) -> None:
    check = tokdfa.check_rollout(tokenizer, [*SPOILED, *SPOILED], [0, 0, 0, 0, 1, 1])
    assert check.shares == (2 / 4, 2 / 2, 0.0)
    assert tokdfa.check_rollout(tokenizer, []).shares == (0.0, 0.0, 0.0)
    assert "1 bug," in check.reason


def test_canonical_rollouts(tokenizer: tokdfa.AnyTokenizer) -> None:
    ids = tokenizer.encode("a single man")
    check = tokdfa.check_rollout(tokenizer, ids, [0, 1, 1])
    assert check
    assert (check.tokens, check.sampled, check.counts, check.drift, check.bugs) == (3, 2, (0, 0, 0), (), ())


def test_ids_without_a_text(tokenizer: tokdfa.AnyTokenizer) -> None:
    ids = [*tokenizer.encode("a single"), 0xC3 if tokenizer.decode_bytes([0xC3]) == b"\xc3" else 127]
    half = next(id for id in range(300) if tokenizer.decode_bytes([id]) == b"\xe2")
    check = tokdfa.check_rollout(tokenizer, [*ids[:-1], half, half], [0, 0, 1, 1])
    (violation,) = check.drift
    assert (violation.kind, violation.canonical_ids, violation.ids) == (ViolationKind.NOT_UTF8, None, (half, half))
    assert violation.byte_offset == len("a single")


def test_documents_are_judged_apart(tokenizer: tokdfa.AnyTokenizer) -> None:
    ids = [*SPOILED, *SPOILED]
    assert tokdfa.check_rollout(tokenizer, ids, documents=[0, 2, 3]).counts.drift == 1
    assert tokdfa.check_rollout(tokenizer, [261, 99_999_999, 1193], documents=99_999_999).counts.drift == 0
    rollouts = [Rollout(ids, documents=[2]), Rollout(ids), Rollout(SPOILED, [0, 0, 0])]
    checks = [*tokdfa.iter_rollout_checks(tokenizer, rollouts)]
    assert [check.counts for check in checks] == [(0, 1, 0), (0, 2, 0), (1, 0, 0)]
    with pytest.raises(TokenStreamError, match="begins after the end"):
        tokdfa.check_rollout(tokenizer, ids, documents=[9])


def test_documents_of_tokenizers_that_are_judged_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(normalizer={"type": "Lowercase"})))
    tokenizer = tokdfa.load(path)
    ids = tokenizer.encode("the the").tolist()
    assert tokdfa.check_rollout(tokenizer, [*ids, *ids], documents=[len(ids)]).counts == (0, 0, 0)
    capital = next(id for id in range(300) if tokenizer.decode_bytes([id]) == b"T")
    assert tokdfa.check_rollout(tokenizer, [capital, *ids], [0] + [1] * len(ids)).counts.bugs == 1


@pytest.mark.parametrize("parcel", [1, 7, 1 << 20])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_are_single_checks(tokenizer: tokdfa.AnyTokenizer, parcel: int, threads: int) -> None:
    source = np.random.default_rng(0)
    good = tokenizer.encode("It is a truth universally acknowledged, that a single man. " * 5)
    rollouts = []
    for _ in range(60):
        ids = good[: source.integers(len(good))].copy()
        ids[source.integers(len(ids) + 1) :][:1] = 261
        rollouts.append(Rollout(ids, source.integers(0, 2, len(ids))))
    single = [tokdfa.check_rollout(tokenizer, *rollout) for rollout in rollouts]
    outcomes = iter_outcomes(tokenizer, enumerate(rollouts), threads=threads, n_ids=parcel)
    checks = [check for _, check in outcomes]
    assert [(each.counts, each.ids_in, each.sampled) for each in checks] == [
        (each.counts, each.ids_in, each.sampled) for each in single
    ]
    assert [(each.bugs, each.drift, each.junctions) for each in checks] == [
        (each.bugs, each.drift, each.junctions) for each in single
    ]
    together = tokdfa.check_rollouts(tokenizer, [each.ids for each in rollouts], [each.mask for each in rollouts])
    assert together.counts == tuple(map(sum, zip(*(each.counts for each in single), strict=True)))
    assert len(together) == 60
    assert together[3].counts == single[3].counts
    assert len(together[2:5]) == 3
    assert together.counts.bugs
    assert not together


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([64, 261], [1]), "the mask has another length than the ids: 1"),
        (([64, 261], [1, 1], 3), "the prompt is longer than the ids: 3"),
        (([64, 261], [1, 2]), "token 1 of the mask: the mask must be 0 and 1: 2"),
        (([64, 261], [[1, 1]]), "the mask must be in one dimension"),
        (([64, 261], ["a", "b"]), "the mask must be 0 and 1"),
        (([64, 261], None, -1), "the length of the prompt must be an integer"),
        (([64, 261], None, True), "the length of the prompt must be an integer"),
        (([[64]], None), "ids must be in one dimension"),
        (([64, None], None), "ids must be integers"),
    ],
)
def test_what_is_refused(tokenizer: tokdfa.AnyTokenizer, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(TokenStreamError, match=message):
        tokdfa.check_rollout(tokenizer, *arguments)  # type: ignore[arg-type]
    rollouts = [Rollout([64]), Rollout(*arguments)]  # type: ignore[arg-type]
    with pytest.raises(TokenStreamError, match="rollout 1"):
        [*tokdfa.iter_rollout_checks(tokenizer, rollouts)]


def test_masks_and_prompts_have_to_be_as_many_as_rollouts(tokenizer: tokdfa.AnyTokenizer) -> None:
    with pytest.raises(TokenStreamError, match="fewer masks"):
        tokdfa.check_rollouts(tokenizer, [[64], [64]], [[1]])
    with pytest.raises(TokenStreamError, match="more prompts"):
        tokdfa.check_rollouts(tokenizer, [[64]], prompts=[0, 0])
    with pytest.raises(WrongTypeError):
        tokdfa.check_rollouts(tokenizer, [[64]], threads=0)


@pytest.mark.parametrize("path", ["rollouts.jsonl", Path("rollouts.jsonl")])
def test_a_file_is_read_by_the_command(tokenizer: tokdfa.AnyTokenizer, path: object) -> None:
    with pytest.raises(WrongTypeError, match="tokdfa rollouts TOK FILE reads a file"):
        tokdfa.check_rollouts(tokenizer, path)  # type: ignore[arg-type]
