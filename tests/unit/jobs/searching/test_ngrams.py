"""N-grams are counted as in the decoded documents, or their ids, which plain Python splits and compares."""

from __future__ import annotations

import json
import random
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

import tokdfa
from tests.campaigns.standing.laws.finding import segments_of
from tests.support.commands import run
from tests.support.families import FAMILIES, Member
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.searching.ngram_units import NgramRule
from tokdfa.jobs.searching.ngrams import FoundItem, NgramCounter, Totals
from tokdfa.jobs.shards.stream import IdStream
from tokdfa.stores.parts import iter_parts
from tokdfa.stores.store import Chunk

Unit: TypeAlias = str | int

# White space of one to three bytes, characters that begin like some, punctuation and capitals.
SYMBOLS = [" ", "\n", "\t", "\x1c", "\x85", "\xa0", "\u1680", "\u2003", "\u205f", "\u3000", " ", " "]
SYMBOLS += ["a", "b", "A", "B", "Ä", "É", "。", "\u2014", "\u1681", "\u2060", "\u3001", "ä", ".", ",", "-", "'"]

# The table of lm_eval.decontamination.janitor.
JANITOR = str.maketrans(string.ascii_lowercase + string.ascii_uppercase, string.ascii_lowercase * 2, string.punctuation)


def units(text: str, rule: str) -> list[Unit]:
    return [*(text if rule == "exact" else text.translate(JANITOR)).split()]


def ngrams(units: Sequence[Unit], n: int) -> list[tuple[Unit, ...]]:
    return [tuple(units[at : at + n]) for at in range(len(units) - n + 1)]


def expected(
    files: list[list[list[list[Unit]]]], items: list[list[Unit]], n: int
) -> tuple[list[FoundItem], set[tuple[tuple[Unit, ...], int, int, int]]]:
    """Count in files of documents of texts: no n-gram reaches from one text to another."""
    documents = [[Counter(gram for text in each for gram in ngrams(text, n)) for each in file] for file in files]
    everywhere = [each for file in documents for each in file]
    of_items = []
    for item in items:
        own = ngrams(item, n)
        hit = [[not each.keys().isdisjoint(own) for each in file] for file in documents]
        found = sum(any(gram in each for each in everywhere) for gram in own)
        of_items.append(FoundItem(len(own), found, sum(map(sum, hit)), sum(map(any, hit))))
    of_ngrams = {
        (
            gram,
            sum(each[gram] for each in everywhere),
            sum(gram in each for each in everywhere),
            sum(any(gram in each for each in file) for file in documents),
        )
        for gram in {gram for item in items for gram in ngrams(item, n)}
        if any(gram in each for each in everywhere)
    }
    return of_items, of_ngrams


def found_by(counter: NgramCounter, totals: Totals) -> set[tuple[tuple[Unit, ...], int, int, int]]:
    """Return the n-grams that were found, as :func:`expected` does."""
    return {
        ((*each.text.split(" "),) if each.ids is None else each.ids, each.count, each.documents, each.files)
        for each in counter.found_ngrams(totals)
    }


def chunks_of(drawn: random.Random, documents: list[list[int]]) -> list[Chunk]:
    """The ids of documents, in chunks cut anywhere."""
    ids = np.array([id for document in documents for id in document], dtype=drawn.choice([np.int32, np.int64]))
    starts = np.cumsum([0, *map(len, documents)])[:-1].astype(np.int64)
    whole = Chunk(ids, starts, np.arange(len(starts)))
    cuts = sorted({0, len(ids), *(drawn.randint(0, len(ids)) for _ in range(drawn.choice([0, 3, 30])))})
    return [whole.part(low, high) for low, high in pairwise(cuts)] if len(ids) else [whole]


@dataclass
class Document:
    """The ids of a document, their texts between special tokens, and the ids between these."""

    ids: list[int]
    texts: list[str]
    between: list[list[int]]

    def units(self, rule: str) -> list[list[Unit]]:
        return [[*each] for each in self.between] if rule == "ids" else [units(text, rule) for text in self.texts]


def documents_of(drawn: random.Random, member: Member) -> list[Document]:
    """Return some documents with a text that the library knows."""
    found = []
    for _ in range(drawn.randint(1, 4)):
        ids = member.stream(drawn)
        segments = segments_of(member, ids)
        if segments is not None:
            marks = [-1, *(at for at, id in enumerate(ids) if id in member.special), len(ids)]
            between = [ids[begin + 1 : end] for begin, end in pairwise(marks)]
            found.append(Document(ids, [text for text, special in segments if not special], between))
    return found


def takes_words(member: Member) -> bool:
    """Return whether n-grams of words are counted for a member."""
    try:
        return bool(NgramCounter(member.tokenizer, []))
    except UnsupportedFeatureError:
        return False


def items_of(drawn: random.Random, files: list[list[Document]]) -> list[str]:
    """Return items made of the documents' words."""
    texts = [text for file in files for each in file for text in each.texts]
    items = []
    for _ in range(drawn.randint(1, 5)):
        words = [word for text in drawn.choices(texts, k=2) for word in text.split()] if texts else []
        begin = drawn.choice([0, drawn.randint(0, max(len(words) - 1, 0))])
        item = drawn.choice([" ", "\n", "\u3000"]).join(words[begin : begin + drawn.randint(1, 6)])
        items.append(drawn.choice([item, item, item.upper(), f"'{item}.", f"{item} {item}"]))
    return items


@pytest.mark.parametrize("family", FAMILIES)
def test_ngrams_are_counted_as_in_the_text_that_the_library_decodes_or_in_its_ids(family: str) -> None:
    met: Counter[str] = Counter()
    for seed in range(9):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        rules: list[NgramRule] = ["ids"]
        if takes_words(member):
            rules += ["exact", "lm-eval"]
            met["words"] += 1
        for _ in range(4):
            files = [documents_of(drawn, member) for _ in range(drawn.randint(1, 2))]
            n, rule, items = drawn.choice([1, 1, 2, 3]), drawn.choice(rules), items_of(drawn, files)
            wanted = [member.encode(item) if rule == "ids" else units(item, rule) for item in items]
            if None in wanted:
                continue
            try:
                counter = NgramCounter(member.tokenizer, items, n, rule)
            except TokdfaError as error:
                met[str(error)] += 1
                continue
            totals = counter.totals()
            for file in files:
                counter.add(totals, counter.count(chunks_of(drawn, [each.ids for each in file])))
            of_items, of_ngrams = expected([[each.units(rule) for each in file] for file in files], wanted, n)
            assert counter.found_items(totals) == of_items, (items, n, rule, files)
            assert found_by(counter, totals) == of_ngrams, (items, n, rule, files)
            met[rule] += bool(of_ngrams)
    assert met["ids"] > 2, met
    assert 2 * (met["exact"] + met["lm-eval"]) >= met["words"], met


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 7])
def test_the_first_piece_of_a_document_has_its_prefix(seed: int) -> None:
    drawn = random.Random(f"WordPiece {seed}")
    member = FAMILIES["WordPiece"](drawn)
    ids = [id for id in member.ids if id not in member.special]
    documents = [[id, *drawn.choices(ids, k=2)] for id in ids]
    texts = [member.decode(each) for each in documents]
    items = sorted({word for text in [*texts, *map(member.decode, ([id] for id in ids))] for word in text.split()})
    counter = NgramCounter(member.tokenizer, items, 1)
    totals = counter.totals()
    counter.add(totals, counter.count(chunks_of(drawn, documents)))
    _, of_ngrams = expected([[[units(text, "exact")] for text in texts]], [[item] for item in items], 1)
    assert found_by(counter, totals) == of_ngrams


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
            read = [[[units(text, rule) for text in each] for _, each in file] for file in files]
            of_items, of_ngrams = expected(read, [units(item, rule) for item in items], n)
            assert counter.found_items(totals) == of_items, files
            assert found_by(counter, totals) == of_ngrams, files
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


def test_no_white_space_comes_of_letters_around_a_dot() -> None:
    # Without its dot this word of broken bytes is a thin space, E2 80 89.
    tokenizer = tokdfa.default_tokenizer()
    byte_of = {tokenizer.decode_bytes([id]): id for id in range(256)}
    ids = np.array([byte_of[bytes([byte])] for byte in b"a \xe2\x80.\x89 b\xe2\x80..\x89 a b"])
    counter = NgramCounter(tokenizer, ["a b", "abcd"], 2, "lm-eval")
    for cut in range(len(ids) + 1):
        assert counter.count([Chunk(ids[:cut]), Chunk(ids[cut:])]).counts.tolist() == [[1, 1]], cut


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
    # One of its tokens is "x y", and "xy" if it comes last.
    suffixed = FAMILIES["suffix"](random.Random("suffix 1")).tokenizer
    with pytest.raises(UnsupportedFeatureError, match=r"the last id of a text is spelled .*--rule ids"):
        NgramCounter(suffixed, ["a"], 1)


@pytest.mark.parametrize("family", ["bytes, added tokens", "WordPiece", "ranks"])
@pytest.mark.parametrize("has_documents", [True, False])
def test_threads_count_the_same_in_parts_of_a_file(family: str, has_documents: bool) -> None:
    n_parts = n_found = 0
    for seed in range(20):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        documents = [each for _ in range(20) for each in documents_of(drawn, member)]
        ids = np.array([id for each in documents for id in each.ids], dtype=np.uint32)
        starts = np.cumsum([0, *(len(each.ids) for each in documents)])[:-1]
        chunks = [ids[at : at + 7] for at in range(0, len(ids), 7)]
        store = IdStream("ids", chunks, starts if has_documents else None)  # type: ignore[arg-type]
        rules: list[NgramRule] = ["exact", "ids"]
        for rule in rules if takes_words(member) else rules[1:]:
            items = [item for item in items_of(drawn, [documents]) if member.encode(item) is not None]
            counter = NgramCounter(member.tokenizer, items, drawn.choice([1, 2]), rule)
            one, several = counter.count(store.read()), counter.count_store(store, 3, least=20)
            assert (one.counts == several.counts).all()
            assert (one.documents == several.documents).all()
            n_found += bool(one.counts.any())
        n_parts += len([*iter_parts(store, 20, None if has_documents else member.tokenizer.control_ids)])
    assert n_found > 20
    assert n_parts > 100 or (family == "ranks" and not has_documents), n_parts


def test_threads_name_the_first_damage_of_a_file() -> None:
    tokenizer = tokdfa.default_tokenizer()
    chunks = [np.full(10, 1_000_000 if at in (7, 9) else 5) for at in range(12)]
    store = IdStream("ids", chunks, np.arange(0, 120, 5))  # type: ignore[arg-type]
    with pytest.raises(TokenStreamError, match="token 70"):
        NgramCounter(tokenizer, ["a"], 1).count_store(store, 3, least=2)


def test_rules_of_words_are_named() -> None:
    tokenizer = tokdfa.default_tokenizer()
    text = "It's a Single-man, truly."
    rules: tuple[NgramRule, ...] = ("exact", "lm-eval")
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


def test_the_command_counts_ngrams_of_ids(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("search", files / "merges.txt", "--ngrams", files / "items.txt", "-n", 3, "--rule", "ids")
    assert run(*given, files / "shards", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    ids = tokdfa.default_tokenizer().encode(" single man in").tolist()
    assert {"text": " single man in", "ids": ids, "count": 2, "documents": 2, "files": 2} in answer["ngrams"]
    assert run(*given, files / "shards", "--threads", 8) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "1 of 3 items contaminated, by 3-grams of ids"
    assert err == "tokdfa: 1 item with fewer than 3 ids: not looked for\n"


def test_items_that_the_tokenizer_changes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0, "a": 1, "##b": 2}},
    }
    fields["model"] |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": [], "post_processor": None, **fields}))
    (tmp_path / "items.txt").write_text("ab a\nAB a\n")
    (tmp_path / "ids.json").write_text("[1, 2, 1, 2, 1]")
    given = ("search", tmp_path / "tokenizer.json", "--ngrams", tmp_path / "items.txt", tmp_path / "ids.json", "-n", 2)
    assert run(*given, "--json") == 0
    out, err = capsys.readouterr()
    assert [item["contaminated"] for item in json.loads(out)["items"]] == [True, False]
    assert err.startswith("tokdfa: the words of the item in line 2 are changed by encoding and decoding: ")
    assert run(*given, "--json", "--rule", "ids") == 0
    out, err = capsys.readouterr()
    assert [item["contaminated"] for item in json.loads(out)["items"]] == [True, True]
    assert err == ""


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
