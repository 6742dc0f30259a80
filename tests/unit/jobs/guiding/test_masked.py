"""Matchers accept, roll back, and fill bitmasks; bitmasks of another kind are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError, WrongTypeError
from tokdfa.jobs.guiding.matchers import allocate_bitmask

TOKENIZER = tokdfa.default_tokenizer()
TEXT = "a single man"
IDS = TOKENIZER.encode(TEXT).tolist()


def test_accepting_and_rolling_back() -> None:
    matcher = tokdfa.Matcher(TOKENIZER.guide("a (single|married) man"))
    other = matcher.copy()
    assert not matcher.accept_tokens([*IDS, 64])
    assert matcher.n_accepted == 0
    assert matcher.validate_tokens([*IDS, 64, 64]) == IDS
    assert matcher.validate_tokens(IDS[:1]) == IDS[:1]
    assert matcher.validate_tokens([]) == []
    assert matcher.accept_tokens(IDS)
    assert matcher.is_terminated()
    matcher.rollback(2)
    assert matcher.n_accepted == 1
    assert not matcher.is_terminated()
    assert matcher.accept_tokens(TOKENIZER.encode("a married man")[1:].tolist())
    with pytest.raises(TokenStreamError, match=r"^3 ids are accepted, so this number cannot be taken back: 5$"):
        matcher.rollback(5)
    matcher.reset()
    assert matcher.n_accepted == other.n_accepted == 0


def test_the_end_of_a_sequence_is_an_id() -> None:
    end = TOKENIZER.n_ids + 3
    guide = TOKENIZER.guide("a( man)*", end=end, vocab_size=end + 10)
    state = guide.read(TOKENIZER.encode("a man"))
    assert guide.is_final(state)
    assert guide.allowed(state).tolist() == [TOKENIZER.encode(" man")[0], end]
    assert not guide.is_exhausted(state)
    ended = guide.step(state, end)
    assert ended == guide.ended
    assert guide.is_final(guide.ended)
    assert guide.allowed(guide.ended).tolist() == []
    assert guide.step(guide.ended, end) is None
    assert guide.step(guide.initial, end) is None
    matcher = tokdfa.Matcher(guide)
    assert matcher.accept_tokens([*TOKENIZER.encode("a").tolist(), end])
    assert matcher.is_terminated()
    assert matcher.find_jump_forward_ids().tolist() == []


def test_bitmasks_have_a_bit_for_each_id() -> None:
    guide = TOKENIZER.guide("[a-z ]+")
    matcher = tokdfa.Matcher(guide)
    bitmask = allocate_bitmask(3, TOKENIZER.n_ids)
    before = bitmask.copy()
    matcher.fill_bitmask(bitmask, 1)
    assert (bitmask[[0, 2]] == before[[0, 2]]).all()
    bits = np.unpackbits(bitmask[1].view(np.uint8), bitorder="little")[: TOKENIZER.n_ids]
    assert np.flatnonzero(bits).tolist() == guide.allowed(guide.initial).tolist()
    row = np.zeros(bitmask.shape[1], dtype=np.int32)
    matcher.fill_bitmask(row)
    assert (row == bitmask[1]).all()
    assert (guide.masks([guide.initial, guide.initial]) == bitmask[1]).all()


@pytest.mark.parametrize(
    "bitmask",
    [
        np.zeros((1, 2), dtype=np.int32),
        allocate_bitmask(1, TOKENIZER.n_ids).astype(np.int64),
        allocate_bitmask(1, TOKENIZER.n_ids).reshape(1, 1, -1),
        np.broadcast_to(np.int32(0), (1, allocate_bitmask(1, TOKENIZER.n_ids).shape[1])),
        [1, 2, 3],
        None,
    ],
    ids=["size", "dtype", "dimensions", "read-only", "list", "None"],
)
def test_other_bitmasks_are_refused(bitmask: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"^(a bitmask (is an|for \d+ ids is) int32|the bitmask cannot)"):
        tokdfa.Matcher(TOKENIZER.guide()).fill_bitmask(bitmask)


def test_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(TokenStreamError, match=r"^the bitmask has 2 rows, none with this number: 2$"):
        tokdfa.Matcher(TOKENIZER.guide()).fill_bitmask(allocate_bitmask(2, TOKENIZER.n_ids), 2)
