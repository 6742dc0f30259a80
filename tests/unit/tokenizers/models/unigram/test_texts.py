"""Normalizing and segmenting in one pass compared with the two steps."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.seeds import seeds
from tests.support.segmented import segmented
from tests.support.viterbi import encode_by_definition
from tokdfa.tokenizers.models.unigram.character_rules import CharacterTable
from tokdfa.tokenizers.models.unigram.model import UnigramModel, unknown_score
from tokdfa.tokenizers.models.unigram.segmenter import BEGINNING, Segmenter
from tokdfa.tokenizers.models.unigram.texts import TextSegmenter, text_segmenter
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer

PARTS = ["a", "b", "c", "ab", "é", "日", " ", " ", "  ", "\n", "e\u0301", "…", "x" * 20, "\x01", "\U0001f600"]


def random_parts(drawn: random.Random) -> tuple[UnigramModel, SentencePieceNormalizer]:
    letters = ["a", "b", "c", "é", "日", "x", "."]
    words = {"".join(drawn.choices(letters, k=drawn.randrange(1, 6))) for _ in range(drawn.randrange(1, 30))}
    words = {drawn.choice(["", SPACE]) + word for word in words} | ({SPACE} if drawn.random() < 0.8 else set())
    pieces = ("<unk>", *sorted(words))
    long = drawn.choice([1.0, 1.0, 3e4])
    scores = np.array([-long * drawn.randrange(1, 9) * drawn.choice([1.0, 0.25, drawn.random()]) for _ in pieces])
    scores = scores.astype(np.float32).astype(np.float64)
    found = np.arange(len(pieces)) > 0
    arithmetic = drawn.choice(["sentencepiece", "sentencepiece 0.2.1"])
    byte_ids = tuple(range(1000, 1256)) if drawn.random() < 0.3 else None
    least = unknown_score(float(scores.min()), single=True)
    model = UnigramModel(pieces, scores, found, 0, least, arithmetic, byte_ids)  # type: ignore[arg-type]
    keys = ["\n", "\x01", "…", "e\u0301", "ab", "é", "A", "日", SPACE, "bc\n"]
    texts = [" ", "", "...", "é", "b a", "  ", "c", "xx"]
    rules = {key: drawn.choice(texts) for key in drawn.sample(keys, drawn.randrange(len(keys)))}
    kept = tuple(drawn.sample(["a…", "bc", "日日", "\n", "c"], drawn.choice([0, 0, 1, 3])))
    table = CharacterTable(rules, kept, b"") if rules or kept else None
    return model, SentencePieceNormalizer(table, drawn.random() < 0.6, drawn.random() < 0.6, True)


def assert_texts_by_definition(chosen: range, n_texts: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        model, normalizer = random_parts(drawn)
        segmenter = Segmenter(model)
        texts = text_segmenter(segmenter, normalizer)
        assert texts is not None
        given = ["".join(drawn.choices([*PARTS, SPACE] if drawn.random() < 0.1 else PARTS, k=drawn.randrange(20)))
                 for _ in range(n_texts)]  # fmt: skip
        expected = [encode_by_definition(model, normalizer(text)) for text in given]
        for text, ids in zip(given, expected, strict=True):
            found = texts.encode_whole(text)
            counts["normalized first" if found is None else "texts"] += 1
            assert found is None or found.tolist() == ids, (seed, text)
            assert found is not None or SPACE in text
        # All of them in one call.
        data = [text.encode("utf-8") for text in given]
        at = 0
        while at < len(data):
            ids_of_all, ends = texts.encode_texts(data, at)
            bounds = [0, *ends.tolist()]
            rows = [ids_of_all[bounds[i] : bounds[i + 1]].tolist() for i in range(len(ends))]
            assert rows == expected[at : at + len(ends)], (seed, at)
            at += len(ends) + 1
        check_continued(drawn, segmenter, normalizer, texts, given, counts)
    return counts


def check_continued(
    drawn: random.Random,
    segmenter: Segmenter,
    normalizer: SentencePieceNormalizer,
    texts: TextSegmenter,
    given: list[str],
    counts: Counter[str],
) -> None:
    """Check a text that continues another one."""
    first, second = (drawn.choice(given).replace(SPACE, "") for _ in range(2))
    second = " " + second.lstrip(" \n")
    later = replace(normalizer, puts_space=False, continues=True)
    ends = [np.array([len(part.encode("utf-8"))]) for part in (normalizer(first), later(second))]
    ids, before = segmenter.encode_on(normalizer(first).encode("utf-8"), ends[0], BEGINNING)
    found = texts.encode(first.encode("utf-8"))
    assert found is not None
    assert (found[0].tolist(), found[1]) == (ids.tolist(), before)
    ids, after = segmenter.encode_on(later(second).encode("utf-8"), ends[1], before)
    found = texts.encode(second.encode("utf-8"), before)
    assert found is not None
    assert (found[0].tolist(), found[1].score) == (ids.tolist(), after.score)
    counts["continued"] += 1


def test_random_models() -> None:
    counts = assert_texts_by_definition(range(200), 8)
    assert counts["texts"] > 1000
    assert counts["normalized first"] > 5


@pytest.mark.slow
def test_many_random_models() -> None:
    print(assert_texts_by_definition(seeds(20_000), 20))


def test_ways_that_lead_by_little() -> None:
    # Ways through words differ by powers of two that rounding takes away, or not, as the sum before them grows.
    n_rounded = 0
    for seed in range(30):
        drawn = random.Random(seed)
        words = {"".join(drawn.choices("ab", k=drawn.randrange(2, 5))) for _ in range(7)} | {"a", "b"}
        pieces = ("<unk>", SPACE, f"{SPACE}c", *sorted(words))
        steps = [-2.0 * len(piece) + drawn.choice([-1, 1]) * 2.0 ** -drawn.randrange(4, 17) for piece in pieces[3:]]
        scores = np.array([0.0, -1.0, -drawn.choice([97.3, 1501.7]), *steps], dtype=np.float32).astype(np.float64)
        arithmetic: Any = drawn.choice(["sentencepiece", "sentencepiece 0.2.1"])
        least = unknown_score(float(scores.min()), single=True)
        model = UnigramModel(pieces, scores, np.arange(len(pieces)) > 0, 0, least, arithmetic)
        normalizer = SentencePieceNormalizer(None, True, True, True)
        texts = text_segmenter(Segmenter(model), normalizer)
        assert texts is not None
        some = ["".join(drawn.choices("abz", (9, 9, 1), k=drawn.randrange(1, 9))) for _ in range(40)]
        parts = [part for _ in range(6) for part in (*drawn.sample(some, 40), *["c"] * drawn.randrange(60))]
        text = " ".join(parts)
        expected = encode_by_definition(model, normalizer(text))
        for _ in range(2):
            assert texts.encode_whole(text).tolist() == expected, seed  # type: ignore[union-attr]
        alone = [encode_by_definition(model, normalizer(part)) for part in parts]
        n_rounded += expected != [id for ids in alone for id in ids]
    # The ids of some words depend on the text before them.
    assert n_rounded > 10


def test_what_needs_more_room() -> None:
    model, _ = random_parts(random.Random(1))
    segmenter = Segmenter(model)
    normalizer = SentencePieceNormalizer(CharacterTable({"é": "x" * 30}, (), b""), True, True, True)
    texts = text_segmenter(segmenter, normalizer)
    assert texts is not None
    # A long word, ids that are more than the bytes of the text, and a word that is normalized elsewhere.
    for text in ("ab" * 9000, "é" * 2000 + " é" * 3000, "a " * 40_000, "éa" * 300_000):
        expected = segmented(segmenter, [normalizer(text)]).tolist()
        found = texts.encode_whole(text)
        assert (found is None) == (text == "éa" * 300_000)
        assert found is None or found.tolist() == expected
        # An unfinished call leaves no trace.
        assert texts.encode_whole("ab c").tolist() == segmented(segmenter, [normalizer("ab c")]).tolist()  # type: ignore[union-attr]


def owned_bytes(texts: TextSegmenter) -> int:
    """Return the bytes of the arrays that this thread's calls write."""
    own = texts._of_thread
    structs = (own.buffers.struct, own.writer._struct)
    return sum(field.nbytes for struct in structs for field in struct.fields.values() if isinstance(field, np.ndarray))


def test_arrays_stay_bounded_over_1000_calls() -> None:
    model, _ = random_parts(random.Random(1))
    normalizer = SentencePieceNormalizer(CharacterTable({"é": "x" * 30}, (), b""), True, True, True)
    texts = text_segmenter(Segmenter(model), normalizer)
    assert texts is not None
    # Short; a word longer than the room for words, for nodes and for ids; more ids than bytes; all of them.
    kinds = ["ab c", "ab" * 2500, "b" * 40_000, "é" * 2000 + " é" * 300, "a b" * 9000]
    drawn = random.Random(0)
    at_first = owned_bytes(texts)
    tracemalloc.start()
    try:
        for call in range(1000):
            ids = texts.encode_whole(drawn.choice(kinds[: 1 + call // 200]))
            assert ids is not None
            assert owned_bytes(texts) <= at_first + (1 << 19), call
            # A result does not keep the room that it was made in.
            assert ids.base is None or ids.base.nbytes <= 2 * ids.nbytes
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert owned_bytes(texts) <= at_first + (1 << 19)


@pytest.mark.parametrize("word", ["ab" * 500_000, "é" * 30_000, "éab日" * 100_000])
def test_a_long_word_takes_linear_memory(word: str) -> None:
    model, _ = random_parts(random.Random(1))
    normalizer = SentencePieceNormalizer(CharacterTable({"é": "x" * 30}, (), b""), True, True, True)
    texts = text_segmenter(Segmenter(model), normalizer)
    assert texts is not None
    texts.encode_whole("ab")
    tracemalloc.start()
    try:
        ids = texts.encode_whole(word)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ids is not None
    assert most < 100 * len(normalizer(word).encode())


def test_which_tokenizers_have_it() -> None:
    model, normalizer = random_parts(random.Random(0))
    segmenter = Segmenter(model)
    assert text_segmenter(segmenter, replace(normalizer, table=None)) is not None
    for table in (
        CharacterTable({"a b": "c"}, (), b""),
        CharacterTable({"a": SPACE}, (), b""),
        CharacterTable({}, (SPACE,), b""),
    ):
        assert text_segmenter(segmenter, replace(normalizer, table=table)) is None
    assert text_segmenter(segmenter, replace(normalizer, shows_spaces=False)) is None
    assert text_segmenter(segmenter, None) is None
    inner = replace(model, pieces=(*model.pieces[:-1], f"a{SPACE}"))
    assert text_segmenter(Segmenter(inner), normalizer) is None
    assert text_segmenter(Segmenter(replace(model, arithmetic="tokenizers")), normalizer) is None


@pytest.mark.parametrize(
    "use",
    [
        lambda texts, text: texts.encode_whole(text),
        lambda texts, text: texts.encode(text.encode())[0],
        lambda texts, text: texts.encode_texts([b"b", text.encode(), b"ab"])[0],
    ],
)
def test_rules_are_added_when_a_text_may_need_one(use: Callable[[TextSegmenter, str], Any]) -> None:
    model, _ = random_parts(random.Random(1))
    table = CharacterTable({"é": "ab"}, (), b"")
    texts = text_segmenter(Segmenter(model), SentencePieceNormalizer(table, True, True, True))
    assert texts is not None
    lacking, plain = texts._tables, use(texts, "ab").tolist()

    def is_plain(text: str) -> bool:
        return bool(use(texts, text).tolist() == plain)

    # Another thread has tables of its own, with rules or without.
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(is_plain, ["ab"] * 4))
        assert texts._tables is lacking
        assert is_plain("é")
        assert texts._tables is not lacking
        assert all(pool.map(is_plain, ["é", "ab"] * 4))
    assert is_plain("ab")
