"""Collecting violations with their context."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokdfa
from tokdfa.draw.report.collect import CONTEXT, Collection, Histogram, LastIds
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.violations import Spans


@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=9)), st.integers(0, 20), st.data())
def test_recent_ids_are_the_last_of_all(chunks: list[list[int]], kept: int, data: st.DataObject) -> None:
    recent = LastIds()
    stream: list[int] = []
    for chunk in chunks:
        recent.append(np.array(chunk, dtype=np.uint16))
        stream += chunk
        recent.keep(kept)
        assert recent.end == len(stream)
        assert recent.end - recent.first < kept + max(map(len, chunks)) or recent.first == 0
        assert recent.first <= max(recent.end - kept, 0)
        start, stop = sorted((data.draw(st.integers(0, len(stream))), data.draw(st.integers(0, len(stream) + 3))))
        assert recent.between(start, stop) == stream[max(start, recent.first) : max(stop, recent.first)]


@given(st.lists(st.lists(st.integers(0, 10_000), min_size=1)), st.integers(1, 20))
def test_histograms_are_counted_in_few_bins(parts: list[list[int]], most: int) -> None:
    tokens = [*chain.from_iterable(parts)]
    histogram = Histogram(most)
    for part in parts:
        histogram.add(np.array(part, dtype=np.int64))
    histogram.reach(12_000)
    assert len(histogram.counts) <= most
    assert histogram.width & (histogram.width - 1) == 0
    naive = Counter(token // histogram.width for token in tokens)
    assert {part: count for part, count in enumerate(histogram.counts) if count} == naive


WORDS = [
    b"\0",
    b"\xe2\x80",
    b"\n",
    b"\n\n",
    b" s",
    b"ingle",
    b" single",
    b"<",
    "\u05d0".encode(),
    b" t",
    b"he",
    b" the",
    b"a",
]


def ids_of_words(tokenizer: tokdfa.Tokenizer) -> list[int]:
    text, offsets = tokenizer.id_spellings
    words = [text[low:high].tobytes() for low, high in pairwise(offsets)]
    return [words.index(word) for word in WORDS if word in words]


@settings(max_examples=60)
@given(st.data())
def test_what_is_shown_is_the_stream(data: st.DataObject) -> None:
    tokenizer = tokdfa.default_tokenizer()
    ids = data.draw(st.lists(st.sampled_from(ids_of_words(tokenizer)), max_size=40))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=12)))
    chunks = [np.array(ids[low:high], dtype=np.int32) for low, high in zip([0, *cuts], [*cuts, len(ids)], strict=True)]
    collection = Collection(tokenizer, 1000)
    found = tuple(chain.from_iterable(collection.watch(iter(chunks))))
    assert found == validate(tokenizer, ids, all=True).violations
    assert collection.tokens == len(ids)
    counted = sum(collection.histogram.counts)
    assert collection.violations == len(collection.shown) == collection.kinds.total() == counted
    for violation, fields in zip(found, collection.shown, strict=True):
        lanes = fields["lanes"]
        left = [id for id, _ in lanes["left"]]
        shown = [*fields["before"], *left, *fields["behind"]]
        start = next(at for at in range(violation.index, -1, -1) if ids[at : at + len(left)] == left)
        low = start - len(fields["before"])
        if not lanes["left_more"]:
            assert ids[low : low + len(shown)] == shown
        assert len(fields["before"]) == min(start, CONTEXT)
        assert fields["begins"] == (low == 0)
        if not lanes["left_more"]:
            assert fields["ends"] == (low + len(shown) == len(ids))
            assert len(fields["behind"]) == min(len(ids) - start - len(left), CONTEXT)
        if violation.canonical_ids is not None and not (lanes["left_more"] or lanes["right_more"]):
            right = [id for id, _ in lanes["right"]]
            repaired = [*ids[:start], *right, *ids[start + len(left) :]]
            assert tokenizer.decode_bytes(repaired) == tokenizer.decode_bytes(ids)
        for id in (*shown, *(id for id, _ in lanes["right"])):
            assert str(id) in collection.spelling.table()


def test_the_piece_of_the_automaton() -> None:
    tokenizer = tokdfa.default_tokenizer()
    collection = Collection(tokenizer, 10)
    ((violation,),) = collection.watch([[64, 261, 1193]])
    (fields,) = collection.shown
    dfa = tokenizer.dfa
    assert violation.pair is not None
    (left, right), rule, allowed = violation.pair, violation.rule, fields["picture"]["allowed"]
    assert (fields["pair"], fields["rule"]) == (violation.pair, rule)
    assert (left, right) == (261, 1193) == violation.ids
    tokens = [int(tokenizer.id_to_token[id]) for id in (left, right)]
    assert rule == dfa.blocking_rule(*tokens)
    assert allowed == sum(1 for _ in dfa.moves(dfa.state_of(tokens[0])))
    assert fields["picture"]["states"]["261"] == dfa.state_of(tokens[0])
    assert collection.rules == {rule: 1}
    assert fields["picture"]["given"] == [[261, 1193], 0, []]
    assert fields["picture"]["right"] == [[2513], 0, []]


def test_what_is_kept_is_bounded() -> None:
    tokenizer = tokdfa.default_tokenizer()
    letters = np.concatenate([tokenizer.encode_piece(letter) for letter in "ingle"])
    collection = Collection(tokenizer, 2)
    # One piece, in thousands of wrong tokens, and many more.
    assert sum(len(part) for part in collection.watch([[*np.tile(letters, 1_000), *([261, 1193] * 50)]])) == 51
    assert collection.violations == 51
    assert len(collection.shown) == 2
    lanes = collection.shown[0]["lanes"]
    assert lanes["left_more"] > 4_000
    assert lanes["right_more"] > 500
    assert len(str(collection.shown[0])) < 3_000


def test_only_violations_that_are_shown_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are counted as arrays, and the counts include all violations."""
    tokenizer = tokdfa.default_tokenizer()
    words = tokenizer.encode(" man in want of a wife ").tolist()
    half = next(id for id in range(300) if tokenizer.decode_bytes([id]) == b"\xe2")
    ids = [*([*words, 261, 1193, *words, *words[:2], half, *words] * 3_000), 220, 64]
    every = validate(tokenizer, ids, all=True).violations
    kinds, rules = Counter(each.kind for each in every), Counter(each.rule for each in every if each.rule is not None)
    made: list[int] = []
    make = Spans.__getitem__

    def counted(self: Spans, number: int) -> Violation:
        made.append(number)
        return make(self, number)

    monkeypatch.setattr(Spans, "__getitem__", counted)
    collection = Collection(tokenizer, 5)
    n_in_parts = sum(len(part) for part in collection.watch([ids]))
    monkeypatch.undo()
    assert n_in_parts == collection.violations == len(every) > 6_000
    assert (collection.kinds, collection.rules) == (kinds, rules)
    assert len(kinds) > 1
    width = collection.histogram.width
    parts = Counter(each.index // width for each in every)
    assert {at: count for at, count in enumerate(collection.histogram.counts) if count} == parts
    assert [fields["index"] for fields in collection.shown] == [each.index for each in every[:5]]
    assert len(made) < 50


def test_sentences_are_in_parts() -> None:
    tokenizer = tokdfa.default_tokenizer()
    for ids, kind, named in (
        ([64, 261, 1193], "pair", ["ingle", "␣s", "␣s + ingle"]),
        (tokenizer.encode_piece(b"\xff"), "not-utf8", []),
    ):
        collection = Collection(tokenizer, 10)
        ((violation,),) = collection.watch([ids])
        ((*said,),) = (fields["said"] for fields in collection.shown)
        assert said[1::2] == named
        # The same sentence, but for how it shows tokens, rules and large numbers.
        words = re.sub(r"'[^']*'(?: \+ '[^']*')?", "", violation.reason).replace("2257", "2,257")
        assert "".join(said[::2]) == words
        assert collection.kinds == {violation.kind: 1} == {kind: 1}


def test_a_long_stream_is_not_kept() -> None:
    tokenizer = tokdfa.default_tokenizer()
    ids = np.tile(tokenizer.encode("A single man in want of a wife.\n"), 1_000)
    chunks = 60
    collection = Collection(tokenizer, 10)
    kept = 0

    def watched() -> Iterator[np.ndarray]:
        nonlocal kept
        for _ in range(chunks):
            yield ids
            kept = max(kept, collection._recent.end - collection._recent.first)

    assert list(collection.watch(watched())) == []
    assert collection.tokens == chunks * len(ids)
    assert kept < 200_000 < collection.tokens


def test_a_violation_names_its_document() -> None:
    tokenizer = tokdfa.default_tokenizer()
    stream = [[64], [64, 261, 1193], [], [261, 1193, 64], [64, 64, 261, 1193]]
    starts = np.cumsum([0, *map(len, stream[:-1])])
    flat = [id for each in stream for id in each]
    for documents, ids in ((starts, flat), (0, [id for each in stream for id in (*each, 0)][:-1])):
        for size in (1, 3, 100):
            collection = Collection(tokenizer, 10, documents=documents)
            for _ in collection.watch(np.array(ids[at : at + size]) for at in range(0, len(ids), size)):
                pass
            shown = [fields["document"] for fields in collection.shown]
            assert shown == [("document 1", 1), ("document 3", 0), ("document 4", 2)]
