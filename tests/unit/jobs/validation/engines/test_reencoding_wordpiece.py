"""Validation of WordPiece streams against its definition: canonical iff encode(decode(ids)) = ids."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.tuned import tuned_validator, validate_tuned
from tests.support.wordpieces import random_vocabulary
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.violation import Violation, ViolationKind, common_prefix
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

ENTRIES = ["[UNK]", "a", "ab", "##a", "##b", "##ba", ".", "É", "##É", "e", "##e", "\u0301", "[S]", "中", "##中"]


def _tokenizer(entries: list[str] = ENTRIES, specials: tuple[str, ...] = ("[UNK]", "[S]")) -> WordPieceTokenizer:
    special = tuple(Special(entries.index(name), name) for name in specials)
    contents = WordPieceContents("test", WordPieceVocabulary(entries), BertNormalizer(), special, cleanup=True)
    return WordPieceTokenizer(contents)


def assert_judged_by_encoding(tokenizer: WordPieceTokenizer, ids: list[int], violations: list[Violation]) -> None:
    text = tokenizer.decode(ids)
    canonical = tokenizer.encode(text).tolist()
    assert bool(violations) == (ids != canonical)
    if violations:
        first = violations[0]
        assert first.index == common_prefix(ids, canonical)
        assert first.detected_at >= first.index
        behind = tokenizer.decode(ids[: first.index]) if first.index else ""
        assert first.byte_offset == len(behind.encode())
    # Putting right what is wrong gives the encoding of the text.
    repaired: list[int] = []
    at = 0
    for violation in violations:
        assert violation.canonical_ids is not None
        assert tuple(ids[violation.start : violation.start + len(violation.ids)]) == violation.ids
        repaired += ids[at : violation.start]
        repaired += violation.canonical_ids
        at = violation.start + len(violation.ids)
    assert repaired + ids[at:] == canonical


@pytest.mark.parametrize("window", [1, 2, 5, 1 << 16])
def test_random_streams(window: int) -> None:
    tuning = Tuning(window=window)
    tokenizer = _tokenizer()
    dice = random.Random(window)
    bad = 0
    for _ in range(400):
        ids = [dice.randrange(len(ENTRIES)) for _ in range(dice.randint(0, 9))]
        if dice.random() < 0.5:
            ids = tokenizer.encode(tokenizer.decode(ids)).tolist()
            if ids and dice.random() < 0.5:
                ids[dice.randrange(len(ids))] = dice.randrange(len(ENTRIES))
        validator = tuned_validator(tokenizer, tuning=tuning)
        found: list[Violation] = []
        place = 0
        while place < len(ids):
            size = dice.randint(1, 4)
            found += validator.feed(np.array(ids[place : place + size]))
            place += size
        found += validator.finish()
        assert_judged_by_encoding(tokenizer, ids, found)
        bad += bool(found)
        verdict = validate_tuned(tokenizer, ids, all=True, tuning=tuning)
        assert bool(verdict) == (not found)
        assert verdict.tokens == len(ids)
    assert 100 < bad < 390


def test_random_vocabularies() -> None:
    dice = random.Random(3)
    for _ in range(20):
        vocabulary, _ = random_vocabulary(dice)
        contents = WordPieceContents("test", vocabulary, BertNormalizer(), (Special(0, "?"),), cleanup=False)
        tokenizer = WordPieceTokenizer(contents)
        for _ in range(20):
            ids = [dice.randrange(len(vocabulary)) for _ in range(dice.randint(1, 6))]
            assert_judged_by_encoding(tokenizer, ids, list(validate(tokenizer, ids, all=True).violations))


def test_what_is_said() -> None:
    tokenizer = _tokenizer()
    verdict = validate(tokenizer, [1, 4, 3, 6])
    assert not verdict
    assert verdict.witness == Violation(
        kind=ViolationKind.NOT_LONGEST_MATCH,
        token=1,
        spellings=((1, "a"), (2, "ab")),
        index=0,
        detected_at=1,
        byte_offset=0,
        start=0,
        ids=(1, 4),
        canonical_ids=(2,),
    )
    assert verdict.reason == "'a' (1) is not the longest match in its text, which is encoded as 'ab' (2)"
    assert tokenizer.validate([2, 3, 6])
    assert validate(tokenizer, []).holds
    verdict = validate(tokenizer, [1, 1, 7, 1])
    assert (verdict.index, verdict.byte_offset, verdict.canonical_ids) == (2, 3, (9,))
    verdict = validate(tokenizer, [2, 99])
    assert (verdict.index, verdict.ids, verdict.canonical_ids) == (1, (99,), None)
    verdict = validate(tokenizer, iter([np.array([2]), np.array([-1])]))
    assert (verdict.index, verdict.ids) == (1, (-1,))


def test_specials_with_spaces_are_looked_for_across_words() -> None:
    entries = [*ENTRIES, "a a"]
    tokenizer = _tokenizer(entries, ("[UNK]", "[S]", "a a"))
    verdict = validate(tokenizer, [1, 1, 1])
    assert (verdict.index, verdict.canonical_ids) == (0, (15,))
    assert verdict.witness is not None
    assert verdict.witness.ids == (1, 1)
    assert verdict.detected_at == 1


def test_a_text_that_cannot_be_encoded_is_a_violation_and_no_error() -> None:
    # Without a token for unknown words; the second entry is spelled with its prefix only at the very beginning.
    contents = WordPieceContents("test", WordPieceVocabulary(["a", "##b", "c"]), BertNormalizer(), (), cleanup=True)
    tokenizer = WordPieceTokenizer(contents)
    for ids, index in (([1], 0), ([1, 0], 0), ([0, 2, 2, 1], None), ([0, 1, 2], None)):
        violations = validate(tokenizer, ids, all=True).violations
        try:
            again = tokenizer.encode(tokenizer.decode(ids)).tolist()
        except AlphabetError:
            again = None
        assert [(found.index, found.ids) for found in violations] == ([] if index is None else [(index, (1,))])
        assert (again == ids) == (index is None)
        for found in violations:
            assert (found.kind, found.canonical_ids) == (ViolationKind.NOT_ENCODABLE, None)
            assert found.error is not None
            assert found.error in found.reason


def test_a_stream_without_a_cut_is_bounded() -> None:
    tuning = Tuning(window=16, max_ids=64)
    tokenizer = _tokenizer()
    with pytest.raises(LimitExceededError, match="nothing certainly cuts the text"):
        validate_tuned(tokenizer, [1, *[3] * 200], tuning=tuning)
    assert validate_tuned(tokenizer, [1, *[3] * 50], tuning=tuning)


def test_a_real_stream(data: Path) -> None:
    tokenizer = tokdfa.load(data / "vocabs" / "bert_uncased_tokenizer.json")
    assert isinstance(tokenizer, WordPieceTokenizer)
    text = (data / "corpora" / "multilingual.txt").read_text("utf-8")[:400_000]
    ids = tokenizer.encode(text)
    assert tokenizer.validate(ids)
    dice = random.Random(4)
    for _ in range(6):
        place = dice.randrange(len(ids))
        spoiled = ids.copy()
        spoiled[place] = dice.randrange(1000, 30_000)
        canonical = tokenizer.encode(tokenizer.decode(spoiled))
        verdict = tokenizer.validate(spoiled)
        assert bool(verdict) == np.array_equal(canonical, spoiled)
        if not verdict:
            assert verdict.index == common_prefix(spoiled, canonical)


@pytest.mark.parametrize("window", [1, 2, 3, 1 << 16])
def test_the_common_prefix_may_go_on_behind_what_is_wrong(window: int) -> None:
    tuning = Tuning(window=window)
    # The brackets are unknown as well, so that one unknown token is spelled by a text that has three.
    tokenizer = _tokenizer(["[UNK]", "a"], ())
    for ids in ([0, 0, 0, 1], [0, 0, 0], [1, 0, 0, 0, 0, 1, 1]):
        verdict = validate_tuned(tokenizer, ids, tuning=tuning)
        assert verdict.index == common_prefix(ids, tokenizer.encode(tokenizer.decode(ids)).tolist())
