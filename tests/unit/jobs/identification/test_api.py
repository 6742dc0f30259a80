"""Which tokenizer made a store: ranks, and each mistake planted and named; nothing is named where nothing fits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.identification.counts import count_violations
from tokdfa.jobs.identification.mistakes import is_cut_to_16_bits
from tokdfa.jobs.identification.result import Candidate, Identification, MistakeKind
from tokdfa.jobs.identification.sample import Segment
from tokdfa.stores.store import Location

END = 100257
Tokenizers = dict[str, tokdfa.AnyTokenizer]


@pytest.fixture(scope="module")
def real(data: Path) -> Tokenizers:
    vocabs = data / "vocabs"
    return {
        "gpt2": tokdfa.load(vocabs / "gpt2"),
        "cl100k": tokdfa.load(vocabs / "cl100k_base.tiktoken", pretokenizer="cl100k"),
        "o200k": tokdfa.load(vocabs / "o200k_base.tiktoken", pretokenizer="o200k"),
        "mistral": tokdfa.load(vocabs / "mistral_v3.model"),
        "bert": tokdfa.load(vocabs / "bert_uncased_tokenizer.json"),
    }


@pytest.fixture(scope="module")
def text(data: Path) -> str:
    corpora = data / "corpora"
    return (corpora / "english.txt").read_text("utf-8")[:250_000]


def saved(folder: Path, ids: np.ndarray) -> Path:
    np.save(folder / "ids.npy", ids)
    return folder / "ids.npy"


def only(found: Identification) -> Candidate:
    (candidate,) = found.candidates
    return candidate


def kinds(candidate: Candidate) -> list[str]:
    return [mistake.kind.value for mistake in candidate.mistakes]


SLOW = pytest.mark.slow


@pytest.mark.parametrize("name", ["cl100k", pytest.param("gpt2", marks=SLOW), pytest.param("bert", marks=SLOW)])
def test_the_maker_comes_first_and_nothing_is_named(tmp_path: Path, real: Tokenizers, text: str, name: str) -> None:
    path = saved(tmp_path, real[name].encode(text[:60_000]))
    found = tokdfa.identify(path, {each: real[each] for each in ("gpt2", "cl100k", "bert")})
    assert found
    assert found.best.name == name
    assert found.is_whole
    assert found.best.ids == found.read == found.ids
    rates = [candidate.per_million for candidate in found.candidates]
    assert rates == sorted(rates)
    assert rates[1] is not None
    assert rates[1] > 20_000
    assert not any(map(kinds, found.candidates))


def test_rates_are_those_of_validate(tmp_path: Path, real: Tokenizers, text: str) -> None:
    ids = real["cl100k"].encode(text[:9000])
    other = tokdfa.load(real_path(real), pretokenizer="gpt2")
    expected = other.validate(ids, all=True).violations
    candidate = only(tokdfa.identify(saved(tmp_path, ids), {"": other}))
    assert candidate.ids == len(ids) < 4096
    assert candidate.violations == len(expected) > 20


def real_path(real: Tokenizers) -> dict[bytes, int]:
    """Return the ranks of cl100k."""
    tokenizer = real["cl100k"]
    return {tokenizer.name_of(id): id for id in range(100_256)}


@pytest.mark.parametrize("offset", [pytest.param(1, marks=SLOW), -3, pytest.param(259, marks=SLOW), 32_000])
def test_shifted_ids(tmp_path: Path, real: Tokenizers, text: str, offset: int) -> None:
    path = saved(tmp_path, real["gpt2"].encode(text[:100_000]) + offset)
    candidate = only(tokdfa.identify(path, {"gpt2": real["gpt2"]}))
    (mistake,) = candidate.mistakes
    # Ids shifted below 0 are lost.
    assert (mistake.kind, mistake.offset) == (MistakeKind.SHIFTED_IDS, offset)
    assert mistake.per_million == 0
    assert candidate.per_million is not None
    assert candidate.per_million > 10_000


@pytest.mark.parametrize(
    ("written", "given", "kind", "meant"),
    [
        ("<u2", ">u2", "byte-order", "<u2"),
        (">u2", "<u2", "byte-order", ">u2"),
        ("<u4", "<u2", "dtype", "<u4"),
        ("<u2", "<u4", "dtype", "<u2"),
        ("<i8", "<i4", "dtype", "<u8"),
        (">u4", "<u4", "byte-order", ">u4"),
    ],
)
def test_integer_types(
    tmp_path: Path, real: Tokenizers, text: str, written: str, given: str, kind: str, meant: str
) -> None:
    ids = real["gpt2"].encode(text[:60_000])
    path = tmp_path / "ids.bin"
    ids[: len(ids) // 4 * 4].astype(written).tofile(path)
    for dtype in (given, None):
        found = tokdfa.identify(path, {"gpt2": real["gpt2"]}, dtype=dtype)
        (candidate,) = found.candidates
        if dtype is None:
            # Nothing is wrong: the type is not recorded.
            assert found
            assert not found.is_recorded
            assert found.read == len(ids) // 4 * 4
        else:
            (mistake,) = candidate.mistakes
            assert (mistake.kind.value, mistake.dtype, mistake.per_million) == (kind, meant, 0)


CORPORA = ("english", "multilingual", "python_code", "fra_eng_en")


@pytest.mark.parametrize("length", [3000, 20_000, pytest.param(200_000, marks=SLOW)])
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_ids_cut_to_16_bits(tmp_path: Path, data: Path, real: Tokenizers, name: str, corpus: str, length: int) -> None:
    text = (data / "corpora" / f"{corpus}.txt").read_text("utf-8")[1_000_000 : 1_000_000 + length]
    ids = real[name].encode(text)
    assert (ids >= 1 << 16).any()
    found = tokdfa.identify(saved(tmp_path, ids.astype(np.uint16)), {name: real[name], "gpt2": real["gpt2"]})
    assert not found
    by_name = {candidate.name: candidate for candidate in found.candidates}
    assert kinds(by_name[name]) == ["cut-to-16-bits"]
    assert kinds(by_name["gpt2"]) == []
    assert tokdfa.identify(saved(tmp_path, ids), {name: real[name]})


@pytest.mark.parametrize(
    ("corpus", "begin"), [("multilingual", 400_000), ("english", 600_000), ("fra_eng_en", 350_000)]
)
def test_ids_cut_to_16_bits_whose_violations_are_mostly_where_larger_ids_belong(
    tmp_path: Path, data: Path, real: Tokenizers, corpus: str, begin: int
) -> None:
    text = (data / "corpora" / f"{corpus}.txt").read_text("utf-8")[begin : begin + 4000]
    ids = real["o200k"].encode(text).astype(np.uint16)
    violations = tokdfa.validate(real["o200k"], ids, all=True).violations
    wanted = [max(violation.canonical_ids or (0,)) >= 1 << 16 for violation in violations]
    assert 0.5 < np.mean(wanted) < 0.8
    assert kinds(only(tokdfa.identify(saved(tmp_path, ids), {"o": real["o200k"]}))) == ["cut-to-16-bits"]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ids_cut_to_16_bits_and_widened(tmp_path: Path, real: Tokenizers, text: str, dtype: type) -> None:
    ids = real["o200k"].encode(text).astype(np.uint16)
    assert kinds(only(tokdfa.identify(saved(tmp_path, ids.astype(dtype)), {"o": real["o200k"]}))) == ["cut-to-16-bits"]
    # Whether a little text had ids from 65,536 on cannot be told.
    few = saved(tmp_path, ids[:60].astype(dtype))
    assert kinds(only(tokdfa.identify(few, {"o": real["o200k"]}))) == []


@pytest.mark.parametrize("corpus", ["english", pytest.param("python_code", marks=SLOW)])
def test_ids_of_16_bits_that_a_smaller_vocabulary_made_are_not_called_cut(
    tmp_path: Path, data: Path, real: Tokenizers, corpus: str
) -> None:
    text = (data / "corpora" / f"{corpus}.txt").read_text("utf-8")[1_000_000:1_100_000]
    ranks = real_path(real)
    smaller = tokdfa.load({word: rank for word, rank in ranks.items() if rank < 65_000}, pretokenizer="cl100k")
    cut = (real["cl100k"].encode(text).astype(np.uint16), True)
    for ids, is_cut in (cut, (smaller.encode(text).astype(np.uint16), False)):
        segments = (Segment(ids, 0, len(ids), None, Location("", "token", 0, 0)),)
        counts = count_violations(real["cl100k"], segments, 1000)
        assert is_cut_to_16_bits(real["cl100k"], segments, counts) == is_cut
    for maker in (smaller, real["gpt2"]):
        path = saved(tmp_path, maker.encode(text).astype(np.uint16))
        found = tokdfa.identify(path, {name: real[name] for name in ("cl100k", "o200k")})
        assert all("cut-to-16-bits" not in kinds(candidate) for candidate in found.candidates)


def test_special_ids_that_the_tokenizer_does_not_have(tmp_path: Path, real: Tokenizers, text: str) -> None:
    tokenizer = real["gpt2"]
    documents = [tokenizer.encode(sentence + ".") for sentence in text.split(". ")]
    byte = next(id for id in range(256) if tokenizer.name_of(id) == b"\x80")
    # One past the end, and one that is part of a symbol.
    for between in (50_300, byte):
        ids = np.concatenate([np.append(document, between) for document in documents])
        candidate = only(tokdfa.identify(saved(tmp_path, ids), {"gpt2": tokenizer}))
        (mistake,) = candidate.mistakes
        assert (mistake.kind.value, mistake.ids) == ("special-ids", (between,))
        assert mistake.per_million < 100 < (candidate.per_million or 0)


def test_specials_as_text(tmp_path: Path, real: Tokenizers, text: str) -> None:
    tokenizer = real["gpt2"]
    spelled = tokdfa.load(tokenizer_without_specials(tokenizer)).encode("<|endoftext|>")
    ids = tokenizer.encode(text[:60_000])
    for place in range(len(ids) // 400 * 400, 0, -400):
        ids = np.insert(ids, place, spelled)
    candidate = only(tokdfa.identify(saved(tmp_path, ids), {"gpt2": tokenizer}))
    assert "specials-as-text" in kinds(candidate)


def tokenizer_without_specials(tokenizer: tokdfa.AnyTokenizer) -> dict[bytes, int]:
    return {tokenizer.name_of(id): id for id in range(50_256)}


@pytest.mark.parametrize("what", ["splits", pytest.param("fewer rules", marks=SLOW)])
def test_another_version(tmp_path: Path, real: Tokenizers, text: str, what: str) -> None:
    ranks = real_path(real)
    if what == "splits":
        other = tokdfa.load(ranks, pretokenizer="qwen2")
    else:
        other = tokdfa.load({word: rank for word, rank in ranks.items() if rank < 90_000}, pretokenizer="cl100k")
    pairs = [(real["cl100k"], other), (other, real["cl100k"])]
    for maker, judge in pairs if what == "splits" else pairs[:1]:
        found = tokdfa.identify(saved(tmp_path, maker.encode(text)), {"other": judge, "gpt2": real["gpt2"]})
        assert not found
        by_name = {candidate.name: candidate for candidate in found.candidates}
        assert kinds(by_name["other"]) == ["another-version"]
        assert kinds(by_name["gpt2"]) == []


def test_what_is_no_mistake_is_not_named(tmp_path: Path, real: Tokenizers, text: str) -> None:
    tokenizer = real["gpt2"]
    source = np.random.default_rng(5)
    # Documents joined without anything between them, wherever they end.
    pieces = [text[at : at + int(source.integers(200, 900))] for at in range(0, len(text) - 1000, 1000)]
    joined = np.concatenate([tokenizer.encode(piece) for piece in pieces])
    # Ids that were damaged.
    damaged = tokenizer.encode(text[:150_000])
    places = source.choice(len(damaged), len(damaged) // 200, replace=False)
    damaged[places] = source.integers(0, 50_000, len(places))
    # One document again and again, and next to nothing.
    alike = np.tile(tokenizer.encode("a b"), 2000)
    for ids in (joined, damaged, alike, tokenizer.encode("a single man")):
        candidate = only(tokdfa.identify(saved(tmp_path, ids), {"gpt2": tokenizer}))
        assert kinds(candidate) == []
    assert only(tokdfa.identify(saved(tmp_path, damaged), {"gpt2": tokenizer})).violations > 20


@SLOW
def test_pretokenizers_that_are_not_recorded(tmp_path: Path, data: Path, text: str) -> None:
    file = data / "vocabs" / "gpt2" / "merges.txt"
    path = saved(tmp_path, tokdfa.load(file, pretokenizer="qwen2").encode(text[:60_000]))
    found = tokdfa.identify(path, [file])
    assert found
    assert found.best.pretokenizer == "qwen2"
    assert not tokdfa.identify(path, [file], pretokenizer="gpt2")


@SLOW
def test_published_ranks_have_their_pattern_alone(tmp_path: Path, data: Path, real: Tokenizers, text: str) -> None:
    files = [data / "vocabs" / f"{name}_base.tiktoken" for name in ("cl100k", "o200k")]
    for name, file in zip(("cl100k", "o200k"), files, strict=True):
        found = tokdfa.identify(saved(tmp_path, real[name].encode(text[:60_000])), files)
        assert found
        assert (found.best.name, found.best.pretokenizer) == (str(file), None)


def test_ranks_that_are_not_known_need_a_pretokenizer(tmp_path: Path) -> None:
    file = tmp_path / "cl100k_base.tiktoken"
    file.write_bytes(tiktoken_lines())
    path = saved(tmp_path, np.array([116, 104], dtype=np.int32))
    with pytest.raises(UnsupportedFeatureError, match=r"does not say how text is split.*gpt2, .*, or none"):
        tokdfa.identify(path, [file])
    assert only(tokdfa.identify(path, [file], pretokenizer="none")).pretokenizer == "none"


def test_a_sample_is_what_it_says(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    ids = np.tile(tokenizer.encode("a single man in possession of a good fortune. "), 20_000)[:200_000]
    # Only a part in the middle is wrong.
    ids[100_000:100_050] = 1193
    path = saved(tmp_path, ids.astype(np.uint16))
    found = tokdfa.identify(path, {"own": tokenizer}, most=40_000)
    assert not found.is_whole
    assert found.ids == len(ids)
    assert found.read == sum(n for _, n in found.segments) == 9 * 4096
    places = [place.token for place, _ in found.segments]
    assert places == sorted(places)
    assert places[0] == 0
    assert places[-1] >= len(ids) - 4096 - 8
    assert {place.file for place, _ in found.segments} == {str(path)}
    inside = [first for (place, n) in found.segments if (first := place.token) <= 100_000 < first + n]
    assert bool(found) == (not inside)
    assert json.loads(json.dumps(found.to_dict()))["read"] == found.read


def test_stores_of_documents(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    rows = [tokenizer.encode(text).tolist() for text in ("a sin", "gle man", "in want", "") * 3000]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"input_ids": row}) + "\n" for row in rows))
    n = sum(map(len, rows))
    found = tokdfa.identify(path, {"own": tokenizer})
    # As one stream "a sin" and "gle" would not be canonical.
    assert found
    assert found.read == n
    assert [place.unit for place, _ in found.segments] == ["line"] * len(found.segments)
    part = tokdfa.identify(path, {"own": tokenizer}, most=5000)
    assert part
    assert (part.read, part.is_whole, part.ids) == (5000, False, None)


def test_folders_and_broken_files(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(3):
        np.save(folder / f"{number}.npy", tokenizer.encode("a single man"))
    (folder / "1.npy").write_bytes(b"\x93NUMPY")
    found = tokdfa.identify(folder, {"own": tokenizer})
    assert (found.read, len(found.broken), found.is_whole) == (6, 1, False)
    with pytest.raises(TokenStreamError):
        tokdfa.identify(folder / "1.npy", {"own": tokenizer})
    np.save(folder / "0.npy", np.array([], np.uint16))
    with pytest.raises(TokenStreamError, match="no ids"):
        tokdfa.identify(folder / "0.npy", {"own": tokenizer})


def test_arguments_of_another_kind(tmp_path: Path) -> None:
    path = saved(tmp_path, np.array([64]))
    for wrong in ("gpt2", {"gpt2": "gpt2"}, []):
        with pytest.raises(WrongTypeError):
            tokdfa.identify(path, wrong)  # type: ignore[arg-type]
    own = tokdfa.default_tokenizer()
    for unnamed in (own, [own], [own, own]):
        with pytest.raises(WrongTypeError, match="give a mapping of names to tokenizers: "):
            tokdfa.identify(path, unnamed)  # type: ignore[arg-type]
        with pytest.raises(WrongTypeError, match="give a mapping of names to tokenizers: "):
            next(tokdfa.identify_each(path, unnamed))  # type: ignore[arg-type]


@SLOW
@pytest.mark.parametrize("corpus", ["english", "python_code", "multilingual", "fra_eng_en"])
def test_all_makers_and_candidates(tmp_path: Path, data: Path, real: Tokenizers, corpus: str) -> None:
    """No mistake is named for candidates of another vocabulary, with ids shifted or read in any way."""
    text = (data / "corpora" / f"{corpus}.txt").read_text("utf-8")[300_000:700_000]
    for name, maker in real.items():
        ids = maker.encode(text)
        others = {each: tokenizer for each, tokenizer in real.items() if each != name}
        found = tokdfa.identify(saved(tmp_path, ids), real)
        # Where encoding normalizes, the text of a window may differ at its ends.
        assert found.best.name == name
        assert (found.best.per_million or 0) < 100
        for changed in (ids, ids + 7, ids.astype(">u4"), ids.astype(np.uint32).view(np.uint16)):
            named = {each.name: kinds(each) for each in tokdfa.identify(saved(tmp_path, changed), others).candidates}
            assert not any(named.values()), (name, named)


def test_a_long_answer_is_shown_in_four_lines(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    path = saved(tmp_path, np.tile(tokenizer.encode("a single man in possession of a good fortune"), 20_000))
    found = tokdfa.identify(path, {"n" * 1000: tokenizer}, most=50_000)
    assert len(found.segments) > 10
    assert str(found) == repr(found)
    assert len(repr(found)) <= 4 * 80
    assert repr(found).startswith(f"Identification({bool(found)}: ")
