"""Cuts where a normalizer composes characters: text after a cut changes nothing before it, by the library."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import tokenizers

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.composed import KINDS, Composing, composing
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, tokenizer_json
from tests.support.tuned import validate_tuned
from tokdfa.jobs.validation.window import Tuning
from tokdfa.regex.unicode.normalization import Form, joining
from tokdfa.regex.unicode.quick_check import boundaries, composites

ACUTE = "\u0301"


def members(kind: str, chosen: range) -> Iterator[tuple[int, random.Random, Composing]]:
    for seed in chosen:
        drawn = random.Random(f"{kind} {seed}")
        member = composing(kind, drawn)
        if member is not None:
            yield seed, drawn, member


def streamed(tokenizer: tokdfa.Tokenizer, parts: list[str]) -> tuple[list[int], int]:
    """Return the ids of a text in parts, and the number of those that come before its end."""
    stream = tokenizer.stream()
    early = [id for part in parts for id in stream.feed(part).tolist()]
    return [*early, *stream.finish().tolist()], len(early)


def assert_streams_agree(kind: str, chosen: range, n_texts: int) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed, drawn, member in members(kind, chosen):
        for _ in range(n_texts):
            text = member.text(drawn)
            expected = member.encode(text)
            for size in (1, 2, drawn.randrange(3, 8)):
                ids, n_early = streamed(member.tokenizer, [text[at : at + size] for at in range(0, len(text), size)])
                assert ids == expected, (seed, text, size)
                met["early"] += n_early > 0
                met["late"] += n_early == 0
                met["early beside tokens with flags"] += n_early > 0 and member.n_flags > 0
    return met


def assert_cuts_are_safe(kind: str, chosen: range, n_texts: int) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed, drawn, member in members(kind, chosen):
        for _ in range(n_texts):
            text, begins, ends = member.text(drawn), drawn.random() < 0.8, drawn.random() < 0.2
            cuts = member.tokenizer.safe_cuts(text, begins=begins, ends=ends).tolist()
            for stop in range(len(text) + 1):
                last = member.tokenizer.last_safe_cut(text, stop, begins=begins, ends=ends)
                assert last == max((cut for cut in cuts if cut <= stop), default=0), (seed, text, stop)
            met["cuts beside tokens with flags"] += len(cuts) * (member.n_flags > 0)
            for _ in range(6):
                first = "" if begins else member.text(drawn, 4)
                rest = "" if ends else member.text(drawn, 5)
                whole = member.encode(first + text + rest)
                for cut in cuts:
                    left, right = first + text[:cut], text[cut:] + rest
                    before = member.encode(left)
                    assert whole[: len(before)] == before, (seed, left, right)
                    met["cuts"] += 1
                    if member.is_alike:
                        assert whole[len(before) :] == member.encode(right), (seed, left, right)
                        met["both parts"] += 1
    return met


def assert_ids_are_judged(kind: str, chosen: range, n_texts: int) -> Counter[str]:
    met: Counter[str] = Counter()
    for seed, drawn, member in members(kind, chosen):
        every = np.flatnonzero(member.tokenizer.means_something).tolist()
        for _ in range(n_texts):
            text = member.text(drawn)
            # Of the text, of its symbols one by one, or of either with an edit.
            ids = [id for part in drawn.choice([[text], text]) for id in member.encode(part)]
            if drawn.random() < 0.2:
                at = drawn.randrange(len(ids) + 1)
                ids[at : at + drawn.randrange(2)] = drawn.choices([*every, *ids * 9], k=drawn.randrange(1, 3))
            cuts = member.tokenizer.safe_cuts(ids).tolist()
            for stop in range(len(ids) + 1):
                last = member.tokenizer.last_safe_cut(ids, stop)
                assert last == max((cut for cut in cuts if cut <= stop), default=0), (seed, ids, stop)
            try:
                decoded = member.tokenizer.decode(ids)
            except tokdfa.TokdfaError:
                continue
            again = member.encode(decoded)
            canonical = ids == again
            size, array = drawn.randrange(1, 4), np.array(ids, dtype=np.int32)
            chunks = iter([array[at : at + size] for at in range(0, len(ids), size)])
            verdict = validate_tuned(member.tokenizer, chunks, tuning=Tuning(window=drawn.choice([1, 3, 64])))
            different = (at for at, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
            first = None if canonical else next(different, min(len(ids), len(again)))
            assert (bool(verdict), verdict.index) == (canonical, first), (seed, ids)
            met["canonical" if canonical else "not canonical"] += 1
            for cut in cuts if canonical else ():
                rest = member.text(drawn, 5)
                assert member.encode(decoded + rest)[:cut] == ids[:cut], (seed, ids, cut, rest)
                met["cuts of ids"] += 1
    return met


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_gives_the_ids_of_the_whole_text(kind: str) -> None:
    met = assert_streams_agree(kind, seeds(40), 4)
    assert min(met[name] for name in ("early", "late", "early beside tokens with flags")) > 20, met


@pytest.mark.parametrize("kind", KINDS)
def test_every_cut_of_a_text_survives_what_follows(kind: str) -> None:
    met = assert_cuts_are_safe(kind, seeds(40), 4)
    assert min(met[name] for name in ("cuts", "both parts", "cuts beside tokens with flags")) > 30, met


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_cut_and_judged_in_chunks_as_the_library_encodes(kind: str) -> None:
    met = assert_ids_are_judged(kind, seeds(40), 3)
    assert min(met[name] for name in ("canonical", "not canonical", "cuts of ids")) > 20, met


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_tokenizers(kind: str, tally: Tally) -> None:
    chosen = seeds(1000)
    met = assert_streams_agree(kind, chosen, 4) + assert_cuts_are_safe(kind, chosen, 3)
    print(kind, met + assert_ids_are_judged(kind, chosen, 4))
    tally("encoding", "random cases", len(chosen))


def over_characters(merges: list[list[str]], **token: Any) -> dict[str, Any]:
    """A tokenizer.json over a few characters that composes them; with an added token "é", if it has flags."""
    fields = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, normalizer={"type": "NFC"})
    symbols = ["\n", "a", "b", " ", "e", ACUTE, "é", *map("".join, merges)]
    fields["model"] |= {"vocab": {symbol: id for id, symbol in enumerate(symbols)}, "merges": merges}
    return fields | {"added_tokens": [added_token(6, "é", **token)] if token else []}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (tokenizer_json([], normalizer={"type": "NFC"}), "x>"),
        (over_characters([["a", "é"]]), "a" + "e" + ACUTE),
        (over_characters([], lstrip=True, normalized=True), "\ne" + ACUTE),
        (over_characters([], single_word=True, normalized=True), "ae" + ACUTE),
    ],
    ids=["a space before texts", "a token across", "a token that strips", "a single word"],
)
def test_a_character_that_becomes_another_one(fields: dict[str, Any], text: str) -> None:
    if fields["decoder"]["type"] == "ByteLevel":
        fields["pre_tokenizer"]["add_prefix_space"] = True
    expected = tokenizers.Tokenizer.from_str(json.dumps(fields)).encode(text, add_special_tokens=False).ids
    tokenizer = tokdfa.load(json.dumps(fields).encode())
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    assert streamed(tokenizer, list(text))[0] == expected
    assert 1 not in tokenizer.safe_cuts(text)


def test_the_first_id_that_differs_is_the_one_that_a_token_strips() -> None:
    tokenizer = tokdfa.load(json.dumps(over_characters([], lstrip=True, normalized=True)).encode())
    verdict = tokdfa.validate(tokenizer, iter([np.array([id], dtype=np.int32) for id in (0, 4, 5)]))
    assert (verdict.index, verdict.canonical_ids) == (0, (6,))


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_form_leaves_the_cuts_of_texts_and_ids(form: Form) -> None:
    plain, composed = (tokdfa.load(tokenizer_json(normalizer=step)) for step in (None, {"type": form}))
    assert isinstance(plain, tokdfa.Tokenizer)
    assert isinstance(composed, tokdfa.Tokenizer)
    text = "one two, 3 four  five's "
    assert composed.safe_cuts(text).tolist() == plain.safe_cuts(text).tolist() == [3, 7, 8, 10, 15, 16, 21, 23]
    ids = plain.encode(text)
    assert composed.safe_cuts(ids).tolist() == plain.safe_cuts(ids).tolist()
    assert len(composed.safe_cuts(ids)) == 8
    assert composed.last_safe_cut(text, 9) == 8


def test_a_text_that_is_not_in_the_form_is_cut_like_one_that_is() -> None:
    tokenizer = tokdfa.load(tokenizer_json(normalizer={"type": "NFC"}))
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    assert tokenizer.safe_cuts("one two's caf" + "e" + ACUTE + " one two's x").tolist() == [3, 7, 9, 15, 19, 23, 25]


def test_a_part_of_the_ids_is_cut_like_the_whole() -> None:
    # Later text may make ">" another character, before which every text is cut as well. Only the whole is not in NFC.
    token = added_token(256, "e" + ACUTE, special=True, normalized=False)
    fields = tokenizer_json([], normalizer={"type": "NFC"}, added_tokens=[token])
    tokenizer, theirs = tokdfa.load(json.dumps(fields).encode()), tokenizers.Tokenizer.from_str(json.dumps(fields))
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    text = "e" + ACUTE + " a!a>"
    ids = theirs.encode(text, add_special_tokens=False).ids
    assert len(ids) == 6
    cuts = tokenizer.safe_cuts(ids).tolist()
    assert 5 in cuts
    for stop in range(len(ids) + 1):
        assert tokenizer.last_safe_cut(ids, stop) == max((cut for cut in cuts if cut <= stop), default=0), stop
    for rest in ("", ">", "\u0338", ACUTE, "a"):
        whole = theirs.encode(text + rest, add_special_tokens=False).ids
        after = theirs.encode(text[-1] + rest, add_special_tokens=False).ids
        assert whole == ids[:5] + after, rest


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_what_a_character_may_become(form: Form) -> None:
    normalize = getattr(tokenizers.normalizers, form)().normalize_str
    steady = boundaries(form)
    met = 0
    marks = [*random.Random(form).sample(sorted(joining()), 20), ACUTE, "\u0323", "\u0334", "\u1161", "\u11a8"]
    for character in "aeésAoΑиئ=<가각\u1100\u09c7かḗỘ中 \u2581":
        if not steady[ord(character)]:
            continue
        for some in product(marks, repeat=2):
            found = normalize(character + "".join(some))[0]
            assert found == character or found in composites(character, form), (character, some)
            met += found != character
    assert met > 100 if form in ("NFC", "NFKC") else met == 0
