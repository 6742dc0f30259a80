"""Comparing Unigram tokenizers: proofs, texts, and no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.commands import run
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.comparison.models import Tuning, compare_unigrams
from tokdfa.jobs.comparison.result import Outcome, Part

VOCABULARY: list[list[Any]] = [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5], ["ba", -3]]


def tokenizer(vocabulary: list[list[Any]] = VOCABULARY, **changes: Any) -> tokdfa.UnigramTokenizer:
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocabulary}
    loaded = tokdfa.load({"added_tokens": [], "decoder": {"type": "Fuse"}, "model": model, **changes})
    assert isinstance(loaded, tokdfa.UnigramTokenizer)
    return loaded


def test_the_same_model_is_proved_alike() -> None:
    assert tokdfa.compare(tokenizer(), tokenizer()).checked == {Part.EVERYTHING: Outcome.SAME}
    # Decoding does not matter to texts.
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": True}
    found = tokdfa.compare(tokenizer(), tokenizer(decoder=metaspace))
    assert found
    assert found.checked[Part.SEARCH] == Outcome.COMPLETE


def test_pieces_and_scores() -> None:
    found = tokdfa.compare(tokenizer(), tokenizer([*VOCABULARY[:3], ["ab", -2.5], *VOCABULARY[4:]]))
    assert not found
    assert found.witness is not None
    assert (found.witness.text, found.witness.tokens_a, found.witness.tokens_b) == ("ab", (3,), (1, 2))
    found = tokdfa.compare(tokenizer(), tokenizer([*VOCABULARY, ["bb", -1]]))
    assert (found.tokens_only_b, found.witness and found.witness.text) == (("bb",), "bb")


def test_ids_that_differ_are_counted() -> None:
    moved = [VOCABULARY[0], VOCABULARY[2], VOCABULARY[1], *VOCABULARY[3:]]
    found = tokdfa.compare(tokenizer(), tokenizer(moved))
    assert not found
    assert found.n_other_ids == 2
    again = tokdfa.compare(tokenizer(), tokenizer(moved), ignore_ids=True)
    assert again
    assert again.checked[Part.IDS] == Outcome.IGNORED


def test_normalizers() -> None:
    found = tokdfa.compare(tokenizer(), tokenizer(normalizer={"type": "Lowercase"}))
    assert not found
    assert found.checked[Part.NORMALIZER] == Outcome.DIFFERENT


def test_neither_a_proof_nor_a_text(tmp_path: Path) -> None:
    # The piece is never the best way.
    a, b = tokenizer(), tokenizer([*VOCABULARY[:4], ["ba", -4]])
    with pytest.raises(UnsupportedFeatureError, match=r"^neither a difference nor equivalence could be established"):
        compare_unigrams(a, b, tuning=Tuning(max_seconds=0.2))
    paths = []
    for number, each in enumerate((VOCABULARY, [*VOCABULARY[:4], ["ba", -4]])):
        fields = {"added_tokens": [], "decoder": {"type": "Fuse"}}
        fields["model"] = {"type": "Unigram", "unk_id": 0, "vocab": each}
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(fields))
    assert run("locality", paths[0]) == 2
    assert run("compare", paths[0], paths[0]) == 0
