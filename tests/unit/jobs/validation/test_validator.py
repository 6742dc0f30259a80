"""Validation of windows and of documents, and of everything after a violation, by brute force."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.byte_tokenizers import tokenizer_of
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa import Dictionary
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

RULES = [
    (b"a", b"b"),
    (b" ", b"a"),
    (b" ", b" "),
    (b"\n", b"\n"),
    (b" a", b"b"),
    (b"'", b"s"),
    (b"b", b"ab"),
    (b"\xc3", b"\xa9"),
]
PATTERNS = {
    "words": Splitting("tiktoken", (Split(r" ?[ab]+|\s+(?!\S)|\s+|[^ab\s]+"),)),
    "gpt2": NAMED["gpt2"],
    "cl100k": NAMED["cl100k"],
    "digits first": Splitting("tokenizers", (Split("[é1]"), *NAMED["llama3"].steps)),
}


FEW = Tuning(close_window=8, patience=8)


@cache
def split_by(name: str, finds_specials: bool = False) -> Tokenizer:
    return tokenizer_of(RULES, PATTERNS.get(name), ["<e>"], finds_specials)


def symbols_of(tokenizer: Tokenizer) -> list[int]:
    return [*b"ab \n's", 0xC3, 0xA9, *range(256, tokenizer.n_ids)]


def again(tokenizer: Tokenizer, ids: list[int]) -> list[int] | None:
    """Return encode(decode(ids)), between specials; None if no text has these ids."""
    encoded: list[int] = []
    special = tokenizer.n_ids - 1
    segment: list[int] = []
    for id in [*ids, special]:
        if id != special:
            segment.append(id)
            continue
        try:
            encoded += tokenizer.encode(tokenizer.decode_bytes(segment).decode()).tolist()
        except UnicodeDecodeError:
            return None
        encoded.append(special)
        segment = []
    return encoded[:-1]


@pytest.mark.parametrize("name", PATTERNS)
def test_every_window_of_a_canonical_stream_passes(name: str) -> None:
    tokenizer = split_by(name)
    factors = set()
    for length in range(7):
        for text in product("ab \né", repeat=length):
            ids = tokenizer.encode("".join(text)).tolist()
            factors.update(tuple(ids[i:j]) for i in range(len(ids)) for j in range(i, min(i + 4, len(ids)) + 1))
    for window in factors:
        verdict = validate_tuned(tokenizer, window, window=True, tuning=FEW)
        assert verdict, (window, verdict.reason)
    # Others may pass, if nothing but the last token before the window is in the way; most do not.
    ids = [id for id in symbols_of(tokenizer)[:-1] if id not in {*b"'s", tokenizer.n_ids - 4}]
    passed = sum(bool(validate_tuned(tokenizer, window, window=True, tuning=FEW)) for window in product(ids, repeat=2))
    known = sum(window in factors for window in product(ids, repeat=2))
    assert known <= passed < 0.8 * len(ids) ** 2


@pytest.mark.parametrize("name", ["gpt2", "cl100k"])
@given(data=st.data())
def test_what_a_window_condemns_is_wrong_in_every_context(name: str, data: st.DataObject) -> None:
    tokenizer = split_by(name)
    some = st.lists(st.sampled_from(symbols_of(tokenizer)), max_size=6)
    texts = st.text("ab \n'sé", max_size=8).map(lambda text: tokenizer.encode(text).tolist())
    before, window, behind = (data.draw(st.one_of(some, texts)) for _ in range(3))
    verdict = validate_tuned(tokenizer, window, window=True, tuning=FEW)
    for stream in ([*before, *window, *behind], [*before, *window], [*window, *behind], window):
        if again(tokenizer, stream) == stream:
            assert verdict
    if not verdict:
        assert verdict.detected_at is not None
        assert verdict.detected_at < len(window) or validate_tuned(tokenizer, window, tuning=FEW).index == verdict.index


def test_windows_cut_from_a_long_stream() -> None:
    tokenizer = split_by("gpt2")
    ids = tokenizer.encode("ab  a\n\n ab's é abab   b\nb 's\n" * 40)
    for begin in range(60):
        for end in range(len(ids) - 60, len(ids)):
            assert validate_tuned(tokenizer, ids[begin:end], window=True, tuning=FEW)
    wrong = np.concatenate((ids[5:400], [ord("a"), ord("b")], ids[400:-7]))
    plain = validate_tuned(tokenizer, np.concatenate((ids[:400], [ord("a"), ord("b")], ids[400:])), tuning=FEW).witness
    found = validate_tuned(tokenizer, wrong, window=True, tuning=FEW).witness
    assert plain is not None
    assert found is not None
    assert (found.index, found.ids, found.canonical_ids) == (plain.index - 5, plain.ids, plain.canonical_ids)
    assert len(validate_tuned(tokenizer, wrong, window=True, all=True, tuning=FEW).violations) == 1
    # Without window=True, ends look wrong.
    assert not validate_tuned(tokenizer, [0xA9, *ids], tuning=FEW)
    assert validate_tuned(tokenizer, [0xA9, *ids, 0xC3], window=True, tuning=FEW)


def test_the_bytes_before_each_violation_in_a_window() -> None:
    # Also before violations found where the window ends and its last piece may continue.
    tokenizer = split_by("gpt2")
    a, b, space, ab = ord("a"), ord("b"), ord(" "), 256
    ids = [ab, space, a, b, a, b, 97, 98, space, ab, space, a, ab, a, b, a, b, ab, b, a, b]
    several = 0
    for begin in range(len(ids)):
        for end in range(begin + 1, len(ids) + 1):
            window = ids[begin:end]
            found = validate_tuned(tokenizer, window, window=True, all=True, tuning=FEW).violations
            several += len(found) > 1
            assert all(one.start + len(one.ids) <= other.start for one, other in pairwise(found))
            for violation in found:
                assert violation.byte_offset == len(tokenizer.decode_bytes(window[: violation.index]))
                assert list(violation.ids) == window[violation.start : violation.start + len(violation.ids)]
    assert several > 20


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_what_the_walk_keeps_does_not_grow_with_the_stream(size: int) -> None:
    tokenizer = split_by("gpt2")
    ids = tokenizer.encode("ab  a\n\n ab's é abab   b\nb 's\n" * 300)
    validator = tuned_validator(tokenizer, tuning=FEW)
    kept = []
    for begin in range(0, len(ids), size):
        assert list(validator.feed(ids[begin : begin + size])) == []
        kept.append(validator.n_kept)
    assert list(validator.finish()) == []
    assert len(ids) > 5_000
    assert 0 < max(kept) < 200 + size


def parts(ids: list[int], starts: list[int]) -> list[tuple[int, list[int]]]:
    bounds = sorted({0, *(start for start in starts if start < len(ids)), len(ids)})
    return [(low, ids[low:high]) for low, high in pairwise(bounds)]


@given(data=st.data())
def test_documents_are_judged_apart(data: st.DataObject) -> None:
    tokenizer = split_by(data.draw(st.sampled_from([*PATTERNS, "no pattern"])), data.draw(st.booleans()))
    some = st.lists(st.sampled_from(symbols_of(tokenizer)), max_size=6)
    texts = st.text("ab \n'sé", max_size=8).map(lambda text: tokenizer.encode(text).tolist())
    documents: list[list[int]] = data.draw(st.lists(st.one_of(some, texts, texts, texts), max_size=8))
    separator = data.draw(st.sampled_from([ord("x"), 1 << 20, tokenizer.n_ids - 1]))
    documents = [[id for id in ids if id != separator] for ids in documents]
    cuts = data.draw(st.lists(st.integers(0, 30), max_size=4))
    # By a separator.
    stream, expected, at, byte = [], [], 0, 0
    size = len(tokenizer.decode_bytes([separator])) if separator < tokenizer.n_ids else 0
    for number, ids in enumerate(documents):
        stream += [separator] * (number > 0) + ids
        at, byte = at + (number > 0), byte + size * (number > 0)
        expected += [
            (violation.index + at, violation.byte_offset + byte, violation.ids, violation.canonical_ids)
            for violation in validate_tuned(tokenizer, ids, all=True, tuning=FEW).violations
        ]
        at, byte = at + len(ids), byte + len(tokenizer.decode_bytes(ids))
    chunks = iter([np.array(chunk, dtype=np.int64) for _, chunk in parts(stream, cuts)])
    verdict = validate_tuned(tokenizer, chunks, documents=separator, all=True, tuning=FEW)
    found = [(v.index, v.byte_offset, v.ids, v.canonical_ids) for v in verdict.violations]
    assert found == expected
    # By where they begin.
    stream = [id for ids in documents for id in ids]
    starts = np.cumsum([0, *map(len, documents)])[: len(documents)]
    verdict = validate_tuned(tokenizer, stream, documents=starts, all=True, tuning=FEW)
    bytes_before = np.cumsum([0, *(len(tokenizer.decode_bytes(ids)) for ids in documents)])
    bad = [
        (int(start) + violation.index, int(byte) + violation.byte_offset, violation.ids)
        for start, byte, ids in zip(starts, bytes_before[:-1], documents, strict=True)
        for violation in validate_tuned(tokenizer, ids, all=True, tuning=FEW).violations
    ]
    assert [(violation.index, violation.byte_offset, violation.ids) for violation in verdict.violations] == bad


@given(data=st.data())
def test_what_is_found_is_all_that_is_to_repair(data: st.DataObject) -> None:
    tokenizer = split_by(data.draw(st.sampled_from([*PATTERNS])), data.draw(st.booleans()))
    text = data.draw(st.text("ab \n'sé<e>", max_size=60))
    ids = tokenizer.encode(text).tolist()
    words = symbols_of(tokenizer)
    for place, id in data.draw(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(words)), max_size=4)):
        ids[place : place + data.draw(st.integers(0, 1))] = [id]
    violations = validate_tuned(tokenizer, ids, all=True, tuning=FEW).violations
    repaired: list[int] = []
    at = 0
    for violation in violations:
        assert violation.start >= at
        if violation.canonical_ids is None:
            return
        repaired += ids[at : violation.start] + list(violation.canonical_ids)
        at = violation.start + len(violation.ids)
    repaired += ids[at:]
    if tokenizer.finds_specials:
        assert repaired == tokenizer.encode(tokenizer.decode(ids)).tolist()
    else:
        assert repaired == again(tokenizer, ids)


def test_bad_arguments_are_refused() -> None:
    tokenizer = split_by("gpt2")
    with pytest.raises(TokenStreamError, match="ascend"):
        validate_tuned(tokenizer, [97], documents=[0, 5, 3], tuning=FEW)
    with pytest.raises(TokenStreamError, match="integers in one dimension"):
        validate_tuned(tokenizer, [97], documents=[0.5], tuning=FEW)
    dropping = Tokenizer(
        Contents(format="tiktoken", dictionary=tokenizer.dictionary, ids=tokenizer.token_to_id),
        PreTokenizer(Splitting("tokenizers", (Split(r"\s", "removed"),))),
    )
    with pytest.raises(UnsupportedFeatureError, match="its text is not split by an automaton over bytes"):
        tuned_validator(dropping, window=True, tuning=FEW)
    assert validate_tuned(dropping, [97, 98, 97], documents=98, tuning=FEW)


def test_windows_take_a_pattern() -> None:
    cut = split_by("gpt2")
    whole = Tokenizer(Contents(format="tiktoken", dictionary=cut.dictionary, ids=cut.token_to_id))
    assert validate_tuned(cut, [97, 98], window=True, tuning=FEW) is not None
    with pytest.raises(
        UnsupportedFeatureError, match=r"a pre-tokenizer cuts the text, and this tokenizer has none .name"
    ):
        validate_tuned(whole, [97, 98], window=True, tuning=FEW)


def test_windows_take_tokens_over_bytes() -> None:
    contents = Contents(
        format="tokenizer.json", dictionary=Dictionary([("a", "b")], "ab "), ids=np.arange(4, dtype=np.int32)
    )
    characters = Tokenizer(contents, PreTokenizer(Splitting("tokenizers", (Split(" ?[ab]+"),))))
    assert [bool(validate_tuned(characters, ids, tuning=FEW)) for ids in ([3], [0, 1], [2, 3, 2, 0])] == [
        True,
        False,
        True,
    ]
    with pytest.raises(UnsupportedFeatureError, match="its text is not split by an automaton over bytes"):
        tuned_validator(characters, window=True, tuning=FEW)
