"""N-grams of words are counted as in the decoded documents, which plain Python splits and compares."""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.standing.laws.finding import segments_of
from tests.support.commands import run
from tests.support.families import FAMILIES
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.searching.ngrams import FoundItem, FoundNgram, NgramCounter, WordRule
from tokdfa.stores.store import Chunk

# White space of one to three bytes, characters that begin like some, punctuation and capitals.
SYMBOLS = [" ", "\n", "\t", "\x1c", "\x85", "\xa0", "\u1680", "\u2003", "\u205f", "\u3000", " ", " "]
SYMBOLS += ["a", "b", "A", "B", "Ä", "É", "。", "\u2014", "\u1681", "\u2060", "\u3001", "ä", ".", ",", "-", "'"]

# The table of lm_eval.decontamination.janitor.
JANITOR = str.maketrans(string.ascii_lowercase + string.ascii_uppercase, string.ascii_lowercase * 2, string.punctuation)


def ngrams(text: str, n: int, rule: str) -> list[tuple[str, ...]]:
    words = (text if rule == "exact" else text.translate(JANITOR)).split()
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]


def expected(
    files: list[list[list[str]]], items: list[str], n: int, rule: str
) -> tuple[list[FoundItem], set[FoundNgram]]:
    """Count in files of documents of texts: no n-gram reaches from one text to another."""
    documents = [[Counter(gram for text in each for gram in ngrams(text, n, rule)) for each in file] for file in files]
    everywhere = [each for file in documents for each in file]
    of_items = []
    for item in items:
        own = ngrams(item, n, rule)
        hit = [[not each.keys().isdisjoint(own) for each in file] for file in documents]
        found = sum(any(gram in each for each in everywhere) for gram in own)
        of_items.append(FoundItem(len(own), found, sum(map(sum, hit)), sum(map(any, hit))))
    wanted = {gram for item in items for gram in ngrams(item, n, rule)}
    of_ngrams = {
        FoundNgram(
            " ".join(gram),
            sum(each[gram] for each in everywhere),
            sum(gram in each for each in everywhere),
            sum(any(gram in each for each in file) for file in documents),
        )
        for gram in wanted
        if any(gram in each for each in everywhere)
    }
    return of_items, of_ngrams


def chunks_of(drawn: random.Random, documents: list[list[int]]) -> list[Chunk]:
    """The ids of documents, in chunks cut anywhere."""
    ids = np.array([id for document in documents for id in document], dtype=drawn.choice([np.int32, np.int64]))
    starts = np.cumsum([0, *map(len, documents)])[:-1].astype(np.int64)
    whole = Chunk(ids, starts, np.arange(len(starts)))
    cuts = sorted({0, len(ids), *(drawn.randint(0, len(ids)) for _ in range(drawn.choice([0, 3, 30])))})
    return [whole.part(low, high) for low, high in pairwise(cuts)] if len(ids) else [whole]


def assert_counted(
    drawn: random.Random,
    tokenizer: tokdfa.AnyTokenizer,
    files: list[list[tuple[list[int], list[str]]]],
    met: Counter[str],
) -> None:
    """The n-grams of items made of the documents' words are counted as in their texts."""
    texts = [text for file in files for _, each in file for text in each]
    n, rule = drawn.choice([1, 1, 2, 3]), drawn.choice(["exact", "lm-eval"])
    items = []
    for _ in range(drawn.randint(1, 5)):
        words = [word for text in drawn.choices(texts, k=2) for word in text.split()] if texts else []
        begin = drawn.randint(0, max(len(words) - 1, 0))
        item = drawn.choice([" ", "\n", "\u3000"]).join(words[begin : begin + drawn.randint(1, 6)])
        items.append(drawn.choice([item, item, item.upper(), f"'{item}.", f"{item} {item}"]))
    counter = NgramCounter(tokenizer, items, n, rule)
    totals = counter.totals()
    for file in files:
        counter.add(totals, counter.count(chunks_of(drawn, [ids for ids, _ in file])))
    of_items, of_ngrams = expected([[each for _, each in file] for file in files], items, n, rule)
    assert counter.found_items(totals) == of_items, (items, n, rule, files)
    assert {*counter.found_ngrams(totals)} == of_ngrams, (items, n, rule, files)
    met[rule] += bool(of_ngrams)
    met["in several documents"] += any(found.documents > 1 for found in of_ngrams)
    met["in part"] += any(0 < found.found < found.ngrams for found in of_items)
    met["more than one word"] += bool(of_ngrams) and n > 1


@pytest.mark.parametrize("family", FAMILIES)
def test_ngrams_are_counted_as_in_the_text_that_the_library_decodes(family: str) -> None:
    met: Counter[str] = Counter()
    for seed in range(9):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        try:
            NgramCounter(member.tokenizer, [])
        except UnsupportedFeatureError:
            met["refused"] += 1
            continue
        for _ in range(4):
            streams = [[member.stream(drawn) for _ in range(drawn.randint(1, 4))] for _ in range(drawn.randint(1, 2))]
            files = [
                [
                    (ids, [text for text, special in found if not special])
                    for ids, found in documents
                    if found is not None
                ]
                for documents in ([(ids, segments_of(member, ids)) for ids in file] for file in streams)
            ]
            assert_counted(drawn, member.tokenizer, files, met)
    assert met["refused"] > 4 or met["exact"] + met["lm-eval"] > 5, met


@pytest.mark.parametrize("seed", range(100))
def test_white_space_in_pieces_and_broken_bytes(seed: int) -> None:
    drawn = random.Random(seed)
    tokenizer = tokdfa.default_tokenizer()
    byte_of = {tokenizer.decode_bytes([id]): id for id in range(256)}
    met: Counter[str] = Counter()
    files = []
    for _ in range(drawn.randint(1, 2)):
        file = []
        for _ in range(drawn.randint(1, 3)):
            text = "".join(drawn.choices(SYMBOLS, k=drawn.randint(0, 25)))
            ids = [byte_of[bytes([byte])] for byte in text.encode()]
            if drawn.random() < 0.5:
                ids = tokenizer.encode(text).tolist()
            if drawn.random() < 0.3:
                for _ in range(3):
                    ids.insert(drawn.randint(0, len(ids)), byte_of[bytes([drawn.choice(b"\xc2\xe1\xe2\x80\xe3\xff")])])
            data = tokenizer.decode_bytes(ids)
            file.append((ids, [data.decode("utf-8", "surrogateescape")]))
        files.append(file)
    # Items are made of whole characters.
    readable = [
        [(ids, [text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")]) for ids, [text] in file]
        for file in files
    ]
    items = [text for file in readable for _, [text] in file]
    for n in (1, 2):
        for rule in ("exact", "lm-eval"):
            counter = NgramCounter(tokenizer, items, n, rule)
            totals = counter.totals()
            for file in files:
                counter.add(totals, counter.count(chunks_of(drawn, [ids for ids, _ in file])))
            of_items, of_ngrams = expected([[each for _, each in file] for file in files], items, n, rule)
            assert counter.found_items(totals) == of_items, files
            assert {*counter.found_ngrams(totals)} == of_ngrams, files
            met[rule] += bool(of_ngrams)


def test_long_words_and_gaps_take_no_memory_from_chunk_to_chunk() -> None:
    tokenizer = tokdfa.default_tokenizer()
    for rule, gap in (("exact", " " * 300), ("lm-eval", ".,- " * 100)):
        text = f"one{gap}two{gap}{'x' * 500}{gap}one\u2003two three"
        counter = NgramCounter(tokenizer, ["one two", "two three", f"one {'x' * 9}"], 2, rule)
        ids = tokenizer.encode(text)
        totals = counter.totals()
        counter.add(totals, counter.count(Chunk(ids[at : at + 1]) for at in range(len(ids))))
        assert [found.count for found in counter.found_ngrams(totals)] == [2, 1]


def test_a_word_cut_at_the_end_of_a_chunk_does_not_end_there() -> None:
    # The thin space E2 80 89 is not there: its last byte comes after an em dash, E2 80 94, in the middle of a word.
    tokenizer = tokdfa.default_tokenizer()
    byte_of = {tokenizer.decode_bytes([id]): id for id in range(256)}
    ids = np.array([byte_of[bytes([byte])] for byte in b" abc\xe2\x80\x94\x89 "])
    for items in (["abc", "abcd"], ["abc"], ["abc", "abcde"]):
        counter = NgramCounter(tokenizer, items, 1)
        totals = counter.totals()
        counter.add(totals, counter.count([Chunk(ids[:-2]), Chunk(ids[-2:])]))
        assert counter.found_ngrams(totals) == []


def test_words_of_equal_hashes_are_told_apart() -> None:
    # Of Thue and Morse: the hashes of such words of 2,048 letters are equal for every odd factor, modulo 2**64.
    word = "a"
    for _ in range(11):
        word += word.translate({97: "b", 98: "a"})
    other = word.translate({97: "b", 98: "a"})
    tokenizer = tokdfa.default_tokenizer()
    for items, counts in (([word], [(word, 1)]), ([other], []), ([word, other], [(word, 1)])):
        counter = NgramCounter(tokenizer, items, 1)
        totals = counter.totals()
        counter.add(totals, counter.count([Chunk(tokenizer.encode(f"a {word} b"))]))
        assert [(found.text, found.count) for found in counter.found_ngrams(totals)] == counts


def test_what_cannot_be_counted_is_refused_by_name() -> None:
    tokenizer = tokdfa.default_tokenizer()
    with pytest.raises(TokdfaError, match="n is from 1 to"):
        NgramCounter(tokenizer, [], 0)
    with pytest.raises(TokdfaError, match="no such rule"):
        NgramCounter(tokenizer, [], 1, "datatrove")  # type: ignore[arg-type]
    with pytest.raises(TokenStreamError, match="item 2: half of a surrogate pair"):
        NgramCounter(tokenizer, ["a", "\ud800"], 1)
    with pytest.raises(TokenStreamError, match="token 70001"):
        NgramCounter(tokenizer, ["a"], 1).count([Chunk(np.zeros(70_001, np.int32)), Chunk(np.array([1 << 20]))])
    # ##b is b, unless it comes first.
    wordpiece = FAMILIES["WordPiece"](random.Random("WordPiece 0")).tokenizer
    with pytest.raises(UnsupportedFeatureError, match="the first id of a text is spelled with other letters"):
        NgramCounter(wordpiece, ["a"], 1)


def test_rules_of_words_are_named() -> None:
    tokenizer = tokdfa.default_tokenizer()
    text = "It's a Single-man, truly."
    rules: tuple[WordRule, ...] = ("exact", "lm-eval")
    found = []
    for rule in rules:
        counter = NgramCounter(tokenizer, [text], 2, rule)
        totals = counter.totals()
        counter.add(totals, counter.count([Chunk(tokenizer.encode(text))]))
        found.append({each.text for each in counter.found_ngrams(totals)})
    assert found == [{"It's a", "a Single-man,", "Single-man, truly."}, {"its a", "a singleman", "singleman truly"}]


TEXTS = ["He was a single man, in love.", "a single man in possession of a good fortune", "nothing of it"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    tokenizer = tokdfa.default_tokenizer()
    tokdfa.default_dictionary().save(tmp_path / "merges.txt")
    (tmp_path / "shards").mkdir()
    for name, texts in (("one", TEXTS[:2]), ("two", TEXTS[1:])):
        rows = [json.dumps({"input_ids": tokenizer.encode(text).tolist()}) + "\n" for text in texts]
        (tmp_path / "shards" / f"{name}.jsonl").write_text("".join(rows))
    (tmp_path / "items.txt").write_text("A single man in possession\n\nnobody at all\nshort\n")
    return tmp_path


def test_the_command_lists_contaminated_items(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("search", files / "merges.txt", "--ngrams", files / "items.txt", "-n", 3)
    assert run(*given, "--rule", "lm-eval", files / "shards", "--threads", 2) == 0
    out, err = capsys.readouterr()
    assert [line.split() for line in out.splitlines()[1:2]] == [
        ["line", "1", "3", "of", "3", "100%", "3", "2", "A", "single", "man", "in", "possession"]
    ]
    assert out.splitlines()[2:] == ["1 of 3 items contaminated, by 3-grams of lm-eval words"]
    assert err == "tokdfa: 1 item with fewer than 3 words: not looked for\n"
    assert run(*given, files / "shards", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["items"][0]["share"] == pytest.approx(2 / 3)
    assert answer["ngrams"][0] == {"text": "single man in", "count": 2, "documents": 2, "files": 2}
    assert [item["contaminated"] for item in answer["items"]] == [True, False, False]


def test_files_that_cannot_be_read_are_named_and_the_others_counted(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Its first line has an n-gram; what is read of a broken file counts for nothing.
    broken = files / "shards" / "three.jsonl"
    broken.write_text((files / "shards" / "two.jsonl").read_text() + '{"input_ids": [999999]}\n')
    given = ("search", files / "merges.txt", "--ngrams", files / "items.txt", "-n", 3, files / "shards", "--json")
    assert run(*given) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["items"][0]["files"] == 2
    assert "three.jsonl, token" in err


@pytest.mark.parametrize(
    ("lines", "field", "problem"),
    [
        ('{"text": "of a good fortune", "id": "7"}\n', None, None),
        ('{"question": "of a good fortune", "n": 7}\n', None, None),
        ('{"q": {"a": "of a good fortune"}}\n', "q.a", None),
        ('{"question": "of a good", "answer": "fortune"}\n', None, "give --item-field; texts are question, answer"),
        ('{"text": "of"}\n{"text": ', None, "items.jsonl, line 2: a line is not JSON"),
        ('{"text": 7}\n', "text", "the item is not a text"),
        ("[7]\n", None, "it is not clear which field has the item"),
    ],
)
def test_items_are_fields_of_records(
    files: Path, capsys: pytest.CaptureFixture[str], lines: str, field: str | None, problem: str | None
) -> None:
    items = files / "items.jsonl"
    items.write_text(lines)
    more = [] if field is None else ["--item-field", field]
    status = run("search", files / "merges.txt", "--ngrams", items, "-n", 4, files / "shards", *more)
    out, err = capsys.readouterr()
    assert status == (0 if problem is None else 2)
    assert "1 of 1 item contaminated" in out if problem is None else problem in err


@pytest.mark.parametrize(
    "options", [["--words", "x"], ["--count"], ["--aligned"], ["--token", "all"], ["--mask", "x"]], ids=" ".join
)
def test_options_of_other_searches_are_refused_with_items(files: Path, options: list[str]) -> None:
    assert run("search", files / "merges.txt", "--ngrams", files / "items.txt", files / "shards", *options) == 2
