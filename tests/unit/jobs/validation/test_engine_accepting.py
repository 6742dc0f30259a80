"""Streams in an array, which one call walks over: the answers equal the answers for the same ids in chunks."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from tests.support.byte_tokenizers import tokenizer_of
from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.validation.engine import SHORT, WHOLE, Rest, _has_learned, _rest, engine_of, unjudged_by_walk
from tokdfa.jobs.validation.validator import Validator
from tokdfa.jobs.validation.violations import Validation
from tokdfa.kernels.walk.walk import MOST_REACH
from tokdfa.tokenizers.tokenizer import Tokenizer

KINDS = [np.uint16, np.int32, np.uint32, np.int64, np.uint64]
WORDS = ["ab", "ba", " a", "  ", "?", "b", "é ", "<e>", "中"]


RULES = [(b"a", b"b"), (b"b", b"a"), (b" ", b"a"), (b" a", b"b")]


@cache
def with_special(special: str = "<e>") -> Tokenizer:
    return tokenizer_of(RULES, r" ?[ab]+|[^\sab]+|\s+", [special], finds_specials=True)


def special_of(length: int) -> str:
    return f"<{''.join(random.Random(length).choices('cdefghijkl', k=length))}>"


def in_chunks(tokenizer: Tokenizer, ids: IntegerArray, *, all: bool) -> Validation:
    size = 1_237
    return tokenizer.validate(iter([ids[at : at + size] for at in range(0, len(ids), size)]), all=all)


def stream_of(tokenizer: Tokenizer, dice: random.Random, n: int) -> IntegerArray:
    ids = tokenizer.encode("".join(dice.choices(WORDS, k=n)))
    return ids[: len(ids) - dice.randrange(3)]


def test_the_answer_is_that_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = []
    skip_to = Validator._skip_to

    def counted(validator: Validator, rest: Rest) -> None:
        skipped.append(rest.first)
        skip_to(validator, rest)

    monkeypatch.setattr(Validator, "_skip_to", counted)
    tokenizer = with_special()
    dice = random.Random(3)
    n_wrong = 0
    for number in range(40):
        ids = stream_of(tokenizer, dice, dice.choice([SHORT // 4, SHORT, 4 * SHORT]))
        for _ in range(number % 4):
            # A byte too many, a merge left out, or the text of the special token.
            at = dice.randrange(len(ids))
            ids = np.insert(ids, at, dice.choice([[*b"\x80"], [*b"ab"], [*b"<e>"]]))
        for all in (False, True):
            verdict = tokenizer.validate(ids.astype(KINDS[number % 5]), all=all)
            assert verdict == in_chunks(tokenizer, ids, all=all)
            n_wrong += not verdict
    assert 20 < n_wrong < 75
    # The canonical ids before the first violation are not checked again.
    assert sum(first > SHORT // 2 for first in skipped) > 10


def test_what_is_left_begins_where_the_text_is_cut() -> None:
    tokenizer = with_special()
    walk = engine_of(tokenizer).walk
    assert walk is not None
    dice = random.Random(5)
    good = tokenizer.encode("".join(dice.choices(WORDS, k=2 * SHORT)) + "?")
    assert unjudged_by_walk(walk, good) is None
    wrong = np.concatenate((good, tokenizer.encode("?"), np.array([*b"ab"], dtype=np.int32)))
    rest = unjudged_by_walk(walk, wrong)
    assert rest is not None
    assert len(good) - 60 < rest.first < len(good)
    assert rest.byte == len(tokenizer.decode_bytes(good[: rest.first]))
    # Where nothing is cut, all is judged again.
    assert (
        unjudged_by_walk(walk, np.concatenate((tokenizer.encode("ab" * SHORT * 2), tokenizer.encode("a"), wrong[-2:])))
        == WHOLE
    )


@pytest.mark.parametrize("place", [5, SHORT - 1, SHORT, 2 * SHORT + 17])
@pytest.mark.parametrize("wrong", [-1, 1 << 16, (1 << 31) - 1, 1 << 40, 1 << 63])
def test_values_that_are_no_ids(place: int, wrong: int) -> None:
    tokenizer = with_special()
    good = tokenizer.encode("ab? " * (SHORT - 1000))
    kinds = [kind for kind in KINDS if np.iinfo(kind).min <= wrong <= np.iinfo(kind).max]
    assert kinds
    for kind in kinds:
        ids = good.astype(kind)
        ids[place] = wrong
        (violation,) = tokenizer.validate(ids, all=True).violations
        assert (violation.kind, violation.index, violation.ids) == ("id-out-of-range", place, (wrong,))
        assert violation.byte_offset == len(tokenizer.decode_bytes(good[:place]))
        # Something that is wrong before it is found first, and changes nothing.
        ids[place // 2] = 0x80
        first, second = tokenizer.validate(ids, all=True).violations
        assert (first.kind, first.index, second.kind, second.index) == (
            "not-utf8", place // 2, "id-out-of-range", place,
        )  # fmt: skip


def test_a_special_token_that_is_longer_than_what_is_kept() -> None:
    special = special_of(MOST_REACH)
    tokenizer = with_special(special)
    walk = engine_of(tokenizer).walk
    assert walk is not None
    good = tokenizer.encode("ab? " * SHORT)
    assert unjudged_by_walk(walk, good) == WHOLE
    assert tokenizer.validate(good)
    spelled = np.concatenate((good, np.array([*special.encode()], dtype=np.int32), good))
    verdict = tokenizer.validate(spelled)
    assert verdict == in_chunks(tokenizer, spelled, all=False)
    assert verdict.index == len(good)


@pytest.mark.parametrize("length", [2, 9, 700, 1_000])
def test_a_special_token_across_the_ids_that_are_taken_at_once(length: int) -> None:
    special = special_of(length)
    tokenizer = with_special(special)
    dice = random.Random(length)
    for _ in range(2):
        good = stream_of(tokenizer, dice, 3 * SHORT)
        # Blocks end at multiples of 4,096.
        for at in (4_096 - length, 4_096 - 1, 8_192 - length // 2):
            ids = np.concatenate((good[:at], np.array([*special.encode()], dtype=np.int32), good[at:]))
            verdict = tokenizer.validate(ids)
            assert not verdict
            assert verdict == in_chunks(tokenizer, ids, all=False)


def test_an_array_that_changes_meanwhile_is_no_danger() -> None:
    tokenizer = with_special()
    walk = engine_of(tokenizer).walk
    assert walk is not None
    ids = tokenizer.encode("ab? " * SHORT).astype(np.int64)
    # As if another thread had written this after the walk.
    ids[:] = 1 << 40
    assert _rest(walk, ids, len(ids)) == WHOLE
    assert not _has_learned(walk, 0, 1 << 40)
    ids[:] = -1
    assert _rest(walk, ids, len(ids)) == WHOLE
    assert not _has_learned(walk, 0, -1)
    assert isinstance(WHOLE, Rest)
