"""One pass over UTF-8 against the steps it is made of: clean, split, match the longest entry first."""

from __future__ import annotations

import random
import re
import unicodedata
from itertools import pairwise

import numpy as np
import pytest

from tokdfa.kernels.wordpiece.end_to_end import LONGEST_SHORT, Buffers, encode, encode_text, index_words
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.maxmatch import max_match
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.models.wordpiece.words import Words

SYMBOLS = "abcABC019 ,-\t\x00\x7fÉéü\u0301\u0316\u200b中한ß😀[]"


def words_of(text: str, lowercase: bool) -> list[str]:
    cleaned = []
    for symbol in text:
        if symbol in "\t\n\r" or unicodedata.category(symbol) == "Zs":
            cleaned.append(" ")
        elif unicodedata.category(symbol) not in ("Cc", "Cf", "Co"):
            cleaned.append(f" {symbol} " if "\u4e00" <= symbol <= "\u9fff" else symbol)
    joined = "".join(cleaned)
    if lowercase:
        decomposed = unicodedata.normalize("NFD", joined)
        joined = "".join(symbol for symbol in decomposed if unicodedata.category(symbol) != "Mn").lower()
    spaced = "".join(f" {s} " if s in "[]" or unicodedata.category(s).startswith("P") else s for s in joined)
    return spaced.split()


def by_definition(text: str, vocabulary: WordPieceVocabulary, added: dict[str, int], lowercase: bool) -> list[int]:
    ids: list[int] = []
    longest_first = sorted(added, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, longest_first))})", text) if added else [text]
    for part in parts:
        if part in added:
            ids.append(added[part])
            continue
        for word in words_of(part, lowercase):
            ids += max_match(vocabulary, word)
    return ids


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("names", [(), ("[c]", "[ca]"), ("9b", "-")])
def test_ids_are_those_of_the_steps(lowercase: bool, names: tuple[str, ...]) -> None:
    dice = random.Random(f"{lowercase} {names}")
    normalizer = BertNormalizer(strip_accents=lowercase, lowercase=lowercase)
    n_unknown = n_known = 0
    for _ in range(12):
        drawn = ["".join(dice.choices("abcAé019", k=dice.choice([1, 1, 2, 3, 8, 9, 16, 17]))) for _ in range(60)]
        entries = ["[UNK]", *(dice.choice(["", "##"]) + word for word in drawn), *dice.sample(",-中[ß😀é", 4)]
        limit = dice.choice([None, 100, 16, 8, 3, 0])
        vocabulary = WordPieceVocabulary(list(dict.fromkeys(entries)), longest_word=limit)
        added = {name: 1000 + i for i, name in enumerate(names)}
        machine = EndToEnd(vocabulary, normalizer, added)
        texts = []
        for _ in range(90):
            pieces = [dice.choice([*drawn, *SYMBOLS, *names, " ", " "]) for _ in range(dice.randint(0, 14))]
            texts.append("".join(pieces))
        expected = [by_definition(text, vocabulary, added, lowercase) for text in texts]
        assert [machine.encode_ids(text).tolist() for text in texts] == expected
        for offsets in (None, "characters", "bytes"):
            tokens, rows = machine.encode_batch(texts, offsets)  # type: ignore[arg-type]
            assert [tokens.ids[a:b].tolist() for a, b in pairwise(rows.tolist())] == expected
            if offsets is None:
                assert len(tokens.begins) == len(tokens.ends) == 0
                continue
            for text, (a, b) in zip(texts, pairwise(rows.tolist()), strict=True):
                size = len(text) if offsets == "characters" else len(text.encode())
                begins, ends = tokens.begins[a:b].tolist(), tokens.ends[a:b].tolist()
                assert all(0 <= begin < end <= size for begin, end in zip(begins, ends, strict=True))
        n_unknown += sum(ids.count(0) for ids in expected)
        n_known += sum(len(ids) - ids.count(0) for ids in expected)
    assert n_unknown > 1000
    assert n_known > 200


def test_words_are_found_whatever_they_share() -> None:
    listed = [f"{7 * i:016d}" for i in range(3000)] + [str(i) for i in range(1, 3000)]
    rows = index_words(*Words.of(listed, range(len(listed)))).reshape(-1, 3)
    taken = rows[rows[:, 0] != 0]
    found = {row[:2].astype("<u8").tobytes().rstrip(b"\0").decode(): int(row[2]) for row in taken}
    assert found == {word: number for number, word in enumerate(listed)}


@pytest.mark.parametrize("words", [["a", ""], ["a" * 17], ["a", "é"], ["\0"]])
def test_words_that_cannot_be_looked_up_whole_do_not_reach_c(words: list[str]) -> None:
    with pytest.raises(ValueError, match="word"):
        index_words(*Words.of(words, range(len(words))))
    with pytest.raises(ValueError, match="ids of"):
        index_words(*Words.of(["a", "b"], range(2))._replace(ids=np.zeros(1, np.int32)))


def test_arrays_of_another_type_do_not_reach_c() -> None:
    with pytest.raises(TypeError, match="int32"):
        index_words(np.ones(1, np.int64), np.array([0, 1]), np.zeros(1, np.int32))


def test_room_for_one_word_is_for_the_longest_that_counts() -> None:
    assert [Buffers(n, limit).struct.pointer.n_symbols for n, limit in ((0, -1), (50, -1), (50, 20), (5, 100))] == [
        17,
        51,
        21,
        17,
    ]


@pytest.mark.parametrize("at_a_time", [1, 2, 5, 40])
def test_calls_that_pause_give_the_same(at_a_time: int) -> None:
    dice = random.Random(at_a_time)
    vocabulary = WordPieceVocabulary(["[UNK]", "a", "##b", "c", "##c", "é", "中", ",", "-", "ab", "b"])
    machine = EndToEnd(vocabulary, BertNormalizer(), {"[c]": 1000, "- a": 1001})
    for _ in range(40):
        texts = ["".join(dice.choices([*SYMBOLS, *"abc  ", "[c]", "- a"], k=dice.randrange(60))) for _ in range(3)]
        for offsets in ("characters", "bytes", None):
            expected, bounds = machine.encode_batch(texts, offsets)  # type: ignore[arg-type]
            data = " ".join(texts).encode()
            stops = np.cumsum([len(text.encode()) + 1 for text in texts]) - 1
            buffers = Buffers(len(data), -1, offsets=offsets is not None)
            buffers.pointer.at_a_time = at_a_time
            rows = encode(machine._tables, data, stops, offsets == "bytes", buffers)
            assert rows.tolist() == bounds.tolist()
            n = int(rows[-1])
            assert buffers.ids[:n].tolist() == expected.ids.tolist()
            if offsets is not None:
                assert buffers.begins[:n].tolist() == expected.begins.tolist()
                assert buffers.ends[:n].tolist() == expected.ends.tolist()
        data = texts[0].encode()
        buffers = Buffers(len(data), -1)
        buffers.pointer.at_a_time = at_a_time
        assert encode_text(machine._pointer, data, buffers).tolist() == machine.encode_ids(texts[0]).tolist()


@pytest.mark.parametrize("as_bytes", [False, True])
def test_results_of_short_texts_that_share_an_array_stay_what_they_were(as_bytes: bool) -> None:
    dice = random.Random(7)
    machine = EndToEnd(WordPieceVocabulary(["[UNK]", "a", "##b", "c", "##c", "é", "ab", "b"]), BertNormalizer())
    texts = ["".join(dice.choices("abc é", k=dice.choice([0, 1, 30, 700, 2000]))) for _ in range(150)]
    # A text of the greatest length that is short, one byte more, and as many tokens as bytes.
    texts += ["c " * (LONGEST_SHORT // 2), "c " * (LONGEST_SHORT // 2) + "a", "," * LONGEST_SHORT]
    dice.shuffle(texts)
    found = [machine.encode_ids(text.encode() if as_bytes else text) for text in texts]
    kept = [ids.tolist() for ids in found]
    assert kept == [machine.encode(text, "bytes").ids.tolist() for text in texts]
    assert len({id(ids.base) for ids in found if ids.base is not None}) > 2
    for ids in found[::2]:
        ids[:] = -7
    assert [ids.tolist() for ids in found[1::2]] == kept[1::2]
