"""Searching ids with added tokens of every kind: they are text, as `regex` reads the decoded text, or cut it."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
import regex

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import normalized, random_files, unigrams
from tests.support.gguf_files import byte_level, gguf
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import FileFormatError, PatternError, UnsupportedFeatureError

tokenizers = pytest.importorskip("tokenizers")

FILES = {**random_files.KINDS, "normalized": normalized.normalized_file, "unigram": unigrams.any_tokenizers}


def pattern_of(drawn: random.Random, text: str) -> str:
    """A pattern that often matches somewhere in a text."""
    parts = []
    for _ in range(drawn.choice([1, 2, 3])):
        begin = drawn.randrange(len(text) + 1)
        word = regex.escape(text[begin : begin + drawn.randrange(1, 5)]) or r"\s"
        parts.append(drawn.choice(["", "", r"\b", "[a-z<]"]) + word + drawn.choice(["", "", r"\b", "+", "(?!a)"]))
    return "|".join(parts)


def ends_of(peer: Any, ids: list[int], suffix: str | None) -> list[int] | None:
    """The end of each id in the bytes of the text that the library decodes; None if its parts do not add up to it."""
    whole = peer.decode(ids, skip_special_tokens=False)
    parts = [peer.decode(ids[: number + 1], skip_special_tokens=False) for number in range(len(ids))]
    if suffix is not None:
        # A space follows a word, except the last one.
        parts[:-1] = [part + " " * (suffix in peer.id_to_token(id)) for part, id in zip(parts[:-1], ids, strict=False)]
    if "\ufffd" in whole or not all(whole.startswith(part) for part in parts):
        return None
    ends = [len(part.encode()) for part in parts]
    return ends if ends == sorted(ends) else None


def expected_matches(data: bytes, ids: list[int], ends: list[int], controls: set[int], pattern: str) -> list[Any]:
    """The matches of `regex` between control tokens, in bytes and in ids."""
    found = []
    begin = 0
    for number in [*(number for number, id in enumerate(ids) if id in controls), len(ids)]:
        stop = ends[number - 1] if number else 0
        text = data[begin:stop].decode()
        for match in regex.finditer(pattern, text):
            start, end = (begin + len(text[:at].encode()) for at in match.span())
            if start < end:
                first = int(np.searchsorted(ends, start, side="right"))
                found.append((start, end, first, int(np.searchsorted(ends, end - 1, side="right")) + 1))
        if number < len(ids):
            begin = ends[number]
    return found


def assert_found_by_definition(kind: str, chosen: range) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        fields = FILES[kind](drawn)
        for token in fields["added_tokens"]:
            token["special"] = drawn.random() < 0.4
        try:
            peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
            tokenizer = tokdfa.load(as_bytes(fields))
        except (UnsupportedFeatureError, FileFormatError, PatternError):
            continue
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            continue
        peer.no_truncation()
        peer.no_padding()
        if fields["decoder"] is None and kind == "bytes":
            peer.decoder = tokenizers.decoders.ByteLevel()
        controls = {token["id"] for token in fields["added_tokens"] if token["special"]}
        texts = {token["id"] for token in fields["added_tokens"]} - controls
        steps = fields["decoder"] or {}
        suffix = next((step["suffix"] for step in [steps, *steps.get("decoders", [])] if "suffix" in step), None)
        every = np.flatnonzero(tokenizer.means_something).tolist()
        known = [id for id in every if "\ufffd" not in peer.decode([id], skip_special_tokens=False)] or every
        for _ in range(8):
            pool = drawn.choices(known, k=9) + [*controls, *texts] * 3
            ids = drawn.choices(pool, k=drawn.randrange(1, 10))
            ends = ends_of(peer, ids, suffix)
            if ends is None:
                met["the parts are not known"] += 1
                continue
            data = peer.decode(ids, skip_special_tokens=False).encode()
            pattern, size = pattern_of(drawn, data.decode()), drawn.choice([1, 2, 3])
            try:
                searcher = tokdfa.Searcher(tokenizer, pattern, wanted="first")
            except (UnsupportedFeatureError, PatternError):
                met["refused"] += 1
                continue
            expected = expected_matches(data, ids, ends, controls, pattern)
            shown = (seed, pattern, ids, data)
            assert [*searcher.search(ids)] == expected, shown
            chunks = [ids[begin : begin + size] for begin in range(0, len(ids), size)]
            assert [match for matches in searcher.iter_matches(chunks) for match in matches] == expected, shown
            met["streams"] += 1
            met["matches"] += len(expected) > 0
            inside = [set(ids[first:stop]) for _, _, first, stop in expected]
            met["within an added token"] += any(part <= texts for part in inside)
            met["across an added token"] += any(part & texts and part - texts for part in inside)
            met["with control tokens"] += bool(expected and controls & {*ids})
    return met


@pytest.mark.parametrize("kind", FILES)
def test_matches_are_those_of_regex_in_the_decoded_text(kind: str) -> None:
    met = assert_found_by_definition(kind, range(22))
    for case in ("matches", "within an added token", "across an added token", "with control tokens"):
        assert met[case] > 1, (case, met)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_many_random_files(kind: str, tally: Tally) -> None:
    print(kind, assert_found_by_definition(kind, seeds(1000)))
    tally("searching", "random cases", 8 * len(seeds(1000)))


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
