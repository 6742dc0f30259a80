"""Searching ids with added tokens of every kind: they are text, as `regex` reads the decoded text, or cut it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import finding
from tests.support import normalized, random_files, unigrams
from tests.support.families import of_tokenizer_json
from tests.support.gguf_files import byte_level, gguf
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json

FILES = {**random_files.KINDS, "normalized": normalized.normalized_file, "unigram": unigrams.any_tokenizers}


def met_by_files(kind: str, chosen: Iterable[int]) -> Counter[str]:
    """Search in ids of random files with added tokens of both kinds; return the cases that were met."""
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        fields = FILES[kind](drawn)
        for token in fields["added_tokens"]:
            token["special"] = drawn.random() < 0.4
        member = of_tokenizer_json(kind, fields)
        if member is not None:
            met += finding.check(member, drawn) + finding.check(member, drawn)
    return met


@pytest.mark.parametrize("kind", FILES)
def test_matches_are_those_of_regex_in_the_decoded_text(kind: str) -> None:
    met = met_by_files(kind, range(22))
    for case in ("a match", "within an added token", "across an added token", "special tokens"):
        assert met[case] > 1, (case, met)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_many_random_files(kind: str, tally: Tally) -> None:
    met = met_by_files(kind, seeds(1000))
    print(kind, met)
    assert met["a match"] > len(seeds(1000)) // 4
    tally("searching", "random cases", 6 * len(seeds(1000)))


def test_matches_span_an_added_token_and_its_neighbours() -> None:
    fields = tokenizer_json()
    first = len(fields["model"]["vocab"])
    fields["added_tokens"] = [added_token(first, "<|end|>"), added_token(first + 1, "\n\n", special=False)]
    tokenizer = tokdfa.load(as_bytes(fields))
    ids = tokenizer.encode("a\n\nb<|end|>b")
    assert ids[1] == first + 1
    assert [*tokenizer.search("\n", ids)] == [(1, 2, 1, 2), (2, 3, 1, 2)]
    assert [*tokenizer.search(r"a\s+b", ids)] == [(0, 4, 0, 3)]
    assert [*tokenizer.search("end|b<|>b", ids)] == []
    assert tokenizer.control_ids.tolist() == [first]
    assert tokenizer.facts()["text_specials"] == 1


@pytest.mark.parametrize(
    ("content", "type", "is_text"),
    [
        ("<think>", 4, True),
        ("<think>", 3, False),
        ("<think>", 2, False),
        ("<|im_end|>", 4, False),
        ("<|channel|>", 3, True),
    ],
)
def test_user_defined_tokens_of_a_gguf_file_are_text(content: str, type: int, is_text: bool) -> None:
    """As llama.cpp shows them, or makes control tokens of those that end a generation."""
    tokenizer = tokdfa.load(gguf(byte_level(specials=[(content, type)])))
    (special,) = tokenizer.specials
    ids = [65, special.id, 66]
    assert special.is_text == is_text
    assert len(tokenizer.search(content[1:4], ids)) == is_text
    assert tokenizer.control_ids.tolist() == [special.id][is_text:]
