"""Violations depend neither on how a stream is cut into chunks nor on how much of it is judged at once."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES, of_tokenizer_json
from tests.support.family_files import byte_fields, byte_level
from tests.support.tokenizer_files import added_token
from tests.support.tuned import tuned_validator
from tokdfa.base.errors import ImproperDictionaryError, UnsupportedFeatureError
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.window import DEFAULT, Tuning

TUNINGS = [
    Tuning(chunk=3, window=2, close_window=1, patience=1, head=1),
    Tuning(chunk=4, window=7, close_window=3, patience=3, head=2, walks=False),
    Tuning(window=16),
]


def fed(
    tokenizer: tokdfa.AnyTokenizer, ids: list[int], sizes: list[int], tuning: Tuning, *, window: bool = False
) -> list[Violation]:
    """Return the violations of ids that are fed in chunks of the given sizes; all remaining ids are the last chunk."""
    validator = tuned_validator(tokenizer, tuning=tuning, window=window)
    found: list[Violation] = []
    at = 0
    for size in sizes:
        found += validator.feed(ids[at : at + size])
        at += size
    return found + validator.feed(ids[at:]) + validator.finish()


@pytest.mark.parametrize("family", FAMILIES)
def test_violations_do_not_depend_on_chunks_and_windows(family: str) -> None:
    n_wrong = 0
    for seed in range(8):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        for _ in range(5):
            ids = member.stream(drawn, drawn.choice([4, 12, 24]))
            whole = [*tokdfa.validate(member.tokenizer, ids, all=True).violations]
            for tuning in TUNINGS:
                sizes = drawn.choices([1, 2, 5], k=len(ids))
                assert fed(member.tokenizer, ids, sizes, tuning) == whole, (ids, sizes, tuning)
            n_wrong += bool(whole)
    assert n_wrong > 3


@pytest.mark.parametrize(
    "family", [name for name in FAMILIES if name.endswith("prefix space")] + ["Llama-2", "Unigram of tokenizers"]
)
def test_a_space_put_before_a_text_is_a_violation_without_ids(family: str) -> None:
    n_first = 0
    for seed in range(12):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        ids = (member.encode("the ab ab") or [])[1:]
        again = member.again(ids)
        if again is None or again[1:] != ids:
            continue
        (found,) = tokdfa.validate(member.tokenizer, ids, all=True).violations
        assert (found.start, found.ids, found.canonical_ids) == (0, (), tuple(again[:1]))
        n_first += 1
    assert n_first


def test_texts_in_a_form_are_cut_though_added_tokens_strip() -> None:
    """So a stream needs little memory, and a violation in one part says nothing about the others."""
    fields = byte_fields(random.Random(0))
    fields["normalizer"] = {"type": "NFC"}
    fields["pre_tokenizer"] = byte_level(regex=True)
    size = len(fields["model"]["vocab"])
    fields["added_tokens"] = [added_token(size, "<e>", special=False) | {"lstrip": True, "rstrip": True}]
    member = of_tokenizer_json("flagged", fields)
    assert member is not None
    words = [" the", "  <e>  ", " a\u0301", "e\u0301"]
    ids = [id for word in random.Random(1).choices(words, k=2000) for id in member.encode(word) or ()]
    validator = tuned_validator(member.tokenizer, tuning=Tuning(window=16))
    violations, n_kept = [], []
    for at in range(0, len(ids), 8):
        violations += validator.feed(ids[at : at + 8])
        n_kept.append(validator.n_kept)
    violations += validator.finish()
    assert max(n_kept) < 200 < len(ids) / 10
    assert violations == [*tokdfa.validate(member.tokenizer, ids, all=True).violations]
    assert len(violations) > 100
    for each in violations[::-1]:
        ids[each.start : each.start + len(each.ids)] = each.canonical_ids or ()
    assert ids == member.again(ids)


def lone_bytes(tokenizer: tokdfa.AnyTokenizer) -> list[int]:
    """Return the ids of single bytes that are not symbols alone."""
    text, offsets = tokenizer.id_spellings
    single = np.flatnonzero(np.diff(offsets) == 1)
    return single[text[offsets[single]] >= 0x80].tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_offsets_in_windows_do_not_depend_on_chunks(family: str) -> None:
    """Also where the stream begins within a symbol, or with bytes that are not UTF-8."""
    n_found = 0
    for seed in range(12):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        tokenizer = member.tokenizer
        lone = lone_bytes(tokenizer)
        for _ in range(4):
            head = [id for id in drawn.choices([*lone[:3], *member.ids], k=drawn.randrange(8)) if drawn.random() < 0.8]
            head += drawn.choices(lone, k=drawn.randrange(6)) if lone else []
            ids = [*head, *member.stream(drawn)]
            try:
                validator = tokdfa.Validator(tokenizer, window=True)
            except (UnsupportedFeatureError, ImproperDictionaryError):
                continue
            whole = validator.feed(ids) + validator.finish()
            sizes = drawn.choices([1, 2, 3], k=len(ids))
            assert fed(tokenizer, ids, sizes, DEFAULT, window=True) == whole, (seed, ids, sizes)
            n_found += len(whole)
    if family in ("ranks", "bytes", "bytes, NFC", "Llama-2", "Gemma", "BPE of SentencePiece"):
        assert n_found > 15
