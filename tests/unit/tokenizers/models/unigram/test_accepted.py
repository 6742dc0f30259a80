"""Checking streams of Unigram tokenizers word by word, compared with encoding their text again."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import unigrams
from tests.support.editing import edited
from tests.support.seeds import seeds
from tokdfa import UnigramTokenizer
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.kernels.unigram.accept import ASKED, SAME
from tokdfa.tokenizers.models.unigram.segmenter import BEGINNING


def first_difference(ids: list[int], again: list[int]) -> int:
    different = (place for place, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
    return next(different, min(len(ids), len(again)))


def usual_tokenizers(drawn: random.Random) -> dict[str, Any]:
    """Return the fields of a tokenizer.json as published models have them, with other scores and pieces."""
    fields = unigrams.changed_tokenizers(drawn, 2)
    scheme = drawn.choice(["always", "always", "first", "never"])
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme}
    alone = {**metaspace, "split": True}
    fields["decoder"] = alone
    split = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, alone]}
    fields["pre_tokenizer"] = drawn.choice([alone, split])
    runs = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": drawn.choice([" ", "\u2581"])}
    strip = {"type": "Strip", "strip_left": False, "strip_right": True}
    fields["normalizer"] = drawn.choice(
        [None, {"type": "NFKC"}, {"type": "Lowercase"}, runs, {"type": "Sequence", "normalizers": [strip, runs]}]
    )
    if drawn.random() < 0.5:
        tokens = drawn.sample(["</s>", "<sep>", "the</s>", "<the>", "e<"], 2)
        flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
        vocab = fields["model"]["vocab"]
        there = {piece for piece, _ in vocab}
        vocab += [[token, 0.0] for token in tokens if token not in there]
        ids = {piece: id for id, (piece, _) in enumerate(vocab)}
        fields["added_tokens"] = [{"id": ids[token], "content": token, **flags} for token in tokens]
    return fields


def spaced_text(drawn: random.Random) -> str:
    words = ["the", "cat", "hat", "ab", "a", "bat", "the", "1", "and"]
    odd = ["THE", "<unk>", "日", "é", "\ufb01x", "e\u0301", "</s>", "<", " ", "e</s>"]
    chosen = words + odd if drawn.random() < 0.4 else words
    return " ".join("".join(drawn.choices(chosen, k=drawn.choice([1, 1, 2]))) for _ in range(drawn.randrange(1, 12)))


def assert_accepted_by_encoding(chosen: range, n_texts: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        if seed % 2:
            data = json.dumps(usual_tokenizers(drawn)).encode()
        else:
            data = unigrams.changed_sentencepiece(drawn)
        try:
            tokenizer = tokdfa.load(data)
        except UnsupportedFeatureError:
            counts["refused"] += 1
            continue
        assert isinstance(tokenizer, UnigramTokenizer)
        acceptor = tokenizer.acceptor
        counts["with" if acceptor else "without"] += 1
        for _ in range(n_texts):
            text = spaced_text(drawn)
            try:
                ids = tokenizer.encode(text)
            except AlphabetError:
                continue
            streams = [ids.tolist(), edited(drawn, ids.tolist(), range(len(tokenizer)), range(4))]
            for stream in streams:
                again = tokenizer.encode(tokenizer.decode(stream)).tolist() if control_free(tokenizer, stream) else None
                if again is None:
                    continue
                verdict = tokenizer.validate(stream)
                assert bool(verdict) == (again == stream), (seed, stream)
                assert verdict or verdict.index == first_difference(stream, again), (seed, stream)
                counts["canonical"] += again == stream
                counts["streams"] += 1
                if acceptor is None or not stream:
                    continue
                array = np.array(stream, dtype=np.int32)
                n, size, after = acceptor.accept(array)
                assert n < len(stream) or again == stream, (seed, stream)
                counts["accepted"] += n == len(stream)
                judged, _, _, words = tokenizer.round_trip.wrong_words(array)
                assert judged >= n
                assert (again == stream) == (not len(words.bounds)) or judged < len(stream)
                if judged == len(stream):
                    # Mending each wrong word gives the canonical ids.
                    for place in range(len(words.bounds) - 1, -1, -1):
                        right = words.right[slice(*words.right_bounds[place : place + 2])]
                        stream[slice(*words.bounds[place])] = right.tolist()
                    assert stream == again, seed
                    counts["wrong words"] += len(words.bounds)
                if n == len(array):
                    assert size == len(tokenizer.decode(array).encode("utf-8")), (seed, stream)
                    if not (tokenizer.finds_specials and tokenizer.specials):
                        text = tokenizer.decode(stream)
                        assert after.score == tokenizer.model.encode_on(tokenizer, text, BEGINNING)[1].score
    return counts


def control_free(tokenizer: UnigramTokenizer, stream: list[int]) -> bool:
    """Return whether no id splits a stream, and the text of all can be encoded."""
    if not tokenizer.finds_specials and not {*tokenizer.special_ids.tolist()}.isdisjoint(stream):
        return False
    try:
        tokenizer.encode(tokenizer.decode(stream))
    except AlphabetError:
        return False
    return True


def test_random_models() -> None:
    counts = assert_accepted_by_encoding(range(40), 6)
    assert counts["with"] > 15
    assert counts["without"] > 2
    assert counts["canonical"] > counts["accepted"] > 40, counts
    assert counts["wrong words"] > 40, counts


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_the_unknown_piece_of_tokenizers(byte_fallback: bool) -> None:
    from tokenizers import Tokenizer

    # It is decoded to its piece, found in texts by its score, and joined with unknown characters next to it.
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    vocab = [["?", -1.5], ["\u2581", -2.0], ["a", -1.0], ["\u2581a", -2.5], ["b?", -3.0], ["\u2581?", -4.0]]
    vocab += [["<0x3F>", -9.0]] if byte_fallback else [["??", -2.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": byte_fallback}
    data = {"version": "1.0", "added_tokens": [], "pre_tokenizer": metaspace, "decoder": metaspace, "model": model}
    data |= dict.fromkeys(("truncation", "padding", "normalizer", "post_processor"))
    peer, tokenizer = Tokenizer.from_str(json.dumps(data)), tokdfa.load(data)
    assert isinstance(tokenizer, UnigramTokenizer)
    assert tokenizer.acceptor is not None
    n_accepted = 0
    for length in range(1, 5):
        for stream in product(range(len(vocab)), repeat=length):
            again = peer.encode(peer.decode([*stream], skip_special_tokens=False), add_special_tokens=False).ids
            assert bool(tokenizer.validate([*stream])) == (again == [*stream]), stream
            n, _, _ = tokenizer.acceptor.accept(np.array(stream, dtype=np.int32))
            assert n < length or again == [*stream], stream
            n_accepted += n == length and 0 in stream
    assert n_accepted > 5


@pytest.mark.slow
def test_many_random_models() -> None:
    print(assert_accepted_by_encoding(seeds(6000), 25))


def test_streams_that_need_more_than_one_call() -> None:
    tokenizer = tokdfa.load(unigrams.trained_by_sentencepiece("identity", False, 0))
    assert isinstance(tokenizer, UnigramTokenizer)
    assert tokenizer.acceptor is not None
    text = " ".join(["the cat and the hat"] * 300_000)
    ids = tokenizer.encode(text)
    n, size, after = tokenizer.acceptor.accept(ids)
    assert (n, size) == (len(ids), len(text))
    assert after.score == tokenizer.model.encode_on(tokenizer, text, BEGINNING)[1].score
    # The second time all words are known.
    assert tokenizer.acceptor.accept(ids) == (n, size, after)
    # A word that is too long for the room is judged by its text.
    long = tokenizer.encode("ab" * 5000)
    assert tokenizer.acceptor.accept(long)[0] == 0
    assert tokenizer.validate(long)
    for unknown in (-1, 1 << 40, len(tokenizer)):
        (violation,) = tokenizer.validate(np.array([*long.tolist(), unknown]), all=True).violations
        assert (violation.index, violation.ids) == (len(long), (unknown,))


def test_what_normalizers_touch() -> None:
    from tokdfa.tokenizers.normalizers.steps import Chain, Lowercase, Prepend, Replace, Strip, UnicodeForm

    def found(normalizer: Any, characters: str) -> list[bool] | None:
        marks = normalizer.touched(frozenset(characters))
        return None if marks is None else [character in marks for character in characters]

    assert found(Lowercase(), "aA \u0130") == [False, True, False, True]
    assert found(UnicodeForm("NFKC"), "a\u0301\ufb01") == [False, True, True]
    assert found(Replace("``", '"', True), "`a") == [True, False]
    assert found(Replace(" ", "_", True), "a") is None
    assert found(Replace("  ", " ", True), "a ") == [False, False]
    assert found(Replace(" {2,}", " ", False), "a ") == [False, False]
    assert found(Replace("a+", "b", False), "a") is None
    assert found(Strip(True, False), "a") is None
    assert found(Strip(False, True), "a\u00a0 ") == [False, True, False]
    assert found(Prepend("x"), "a") is None
    assert found(Chain((Lowercase(), Replace("``", '"', True))), "aA`") == [False, True, True]


def test_units_are_the_same_in_the_kernel_and_by_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()
    for seed in range(120):
        drawn = random.Random(seed)
        try:
            tokenizer = tokdfa.load(unigrams.changed_sentencepiece(drawn))
        except UnsupportedFeatureError:
            continue
        assert isinstance(tokenizer, UnigramTokenizer)
        acceptor = tokenizer.acceptor
        if acceptor is None or acceptor._texts is None:
            continue
        for _ in range(8):
            try:
                ids = tokenizer.encode(" ".join(spaced_text(drawn) for _ in range(drawn.choice([1, 3])))).tolist()
            except AlphabetError:
                continue
            stream = np.array(edited(drawn, ids, range(len(tokenizer)), range(4)), dtype=np.int32)
            if not control_free(tokenizer, stream.tolist()):
                continue
            n, size, after, words = tokenizer.round_trip.wrong_words(stream)
            with monkeypatch.context() as patch:
                patch.setattr(acceptor, "_texts", None)
                by_text = tokenizer.round_trip.wrong_words(stream)
            assert (n, size, after._before) == (*by_text[:2], by_text[2]._before), (seed, stream)
            for name in ("bounds", "right", "right_bounds", "byte", "sums", "is_unknown"):
                assert np.array_equal(getattr(words, name), getattr(by_text[3], name)), (seed, name, stream)
            told = np.flatnonzero(words.text != ASKED)
            for place in told.tolist():
                one = words.chosen(np.arange(len(words.bounds)) == place)
                spans = stream[slice(*one.bounds[0])], one.right
                given, right = (tokenizer.round_trip.decode(side, begins=False).text for side in spans)
                assert (words.text[place] == SAME) == (given == right), (seed, stream)
                assert words.text[place] == SAME or given.replace(" ", "") != right.replace(" ", ""), (seed, stream)
                counts["same" if given == right else "other"] += 1
            counts["units"] += int((by_text[3].text == ASKED).sum() - (words.text == ASKED).sum())
    assert min(counts[kind] for kind in ("same", "other", "units")) > 8, counts
