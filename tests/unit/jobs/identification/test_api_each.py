"""Which tokenizer made each of many stores: makers and mistakes, mixed stores, groups, folders of tokenizers."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import sentencepiece

import tokdfa
from tests.support.commands import run
from tests.support.real_tokenizers import family_files
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.base.errors import TokenStreamError, WrongTypeError
from tokdfa.jobs.identification.result import Identification, MistakeKind, groups_of
from tokdfa.stores.store import Problem

Tokenizers = dict[str, tokdfa.AnyTokenizer]
SIZE = 6000


@pytest.fixture(scope="module")
def real(data: Path) -> Tokenizers:
    vocabs = data / "vocabs"
    return {
        "gpt2": tokdfa.load(vocabs / "gpt2"),
        "cl100k": tokdfa.load(vocabs / "cl100k_base.tiktoken", pretokenizer="cl100k"),
        "bert": tokdfa.load(vocabs / "bert_uncased_tokenizer.json"),
    }


@pytest.fixture(scope="module")
def streams(data: Path, real: Tokenizers) -> dict[str, np.ndarray]:
    text = (data / "corpora" / "english.txt").read_text("utf-8")[300_000:500_000]
    return {name: tokenizer.encode(text) for name, tokenizer in real.items()}


def answers(folder: Path, tokenizers: Tokenizers) -> dict[str, Identification]:
    found = [*tokdfa.identify_each(folder, tokenizers)]
    return {Path(each.path).stem: each for each in found if isinstance(each, Identification)}


def said(found: Identification) -> tuple[list[str], list[str]]:
    mistakes = found.makers[0].mistakes if found.makers else ()
    return sorted(maker.name for maker in found.makers), [mistake.kind.value for mistake in mistakes]


def test_each_store_has_its_maker_and_its_mistake(
    tmp_path: Path, real: Tokenizers, streams: dict[str, np.ndarray]
) -> None:
    expected = {}
    for name, ids in streams.items():
        for kind, changed in (
            ("right", ids[:SIZE]),
            ("shifted-ids", ids[SIZE : 2 * SIZE] + 3),
            ("byte-order", ids[:SIZE].astype(">u4").view("<u4")),
        ):
            np.save(tmp_path / f"{name}-{kind}.npy", changed)
            expected[f"{name}-{kind}"] = [name], [kind] if kind != "right" else []
    np.save(tmp_path / "random.npy", np.random.default_rng(1).integers(0, 30_000, SIZE))
    found = answers(tmp_path, real)
    assert said(found.pop("random")) == ([], [])
    assert {name: said(each) for name, each in found.items()} == expected


@pytest.mark.slow
def test_stores_of_every_family_have_their_makers_and_mistakes(tmp_path: Path, data: Path) -> None:
    # With NFC, improper ranks, words that begin with a visible space, and Gemma's 256,000 pieces; and Unigram.
    names = ["qwen2_5", "llama3_1", "mistral_nemo", "llama2", "gemma2", "deepseek_v3"]
    files = {name: path for name, path in family_files().items() if name in names}
    if len(files) < len(names):
        pytest.skip("TOKDFA_FAMILIES does not name a folder with these families")
    text = (data / "corpora" / "multilingual.txt").read_text("utf-8")
    model = io.BytesIO()
    lines = [line[:1000] for line in text[:2_000_000].splitlines() if line]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=8000, model_type="unigram", minloglevel=2
    )
    tokenizers: Tokenizers = {name: tokdfa.load(path) for name, path in files.items()}
    tokenizers["unigram"] = tokdfa.load(model.getvalue())
    folder = tmp_path / "stores"
    folder.mkdir()
    expected = {}
    for name, tokenizer in tokenizers.items():
        ids = tokenizer.encode(text[300_000:340_000])[:SIZE].astype(np.uint32)
        for kind, changed in (
            ("right", ids),
            ("shifted-ids", ids + 3),
            ("byte-order", ids.astype(">u4").view("<u4")),
            ("dtype", ids.view(np.uint16)),
        ):
            np.save(folder / f"{name}-{kind}.npy", changed)
            expected[f"{name}-{kind}"] = [name], [kind] if kind != "right" else []
    assert {name: said(each) for name, each in answers(folder, tokenizers).items()} == expected


@pytest.mark.parametrize("first", ["gpt2", "cl100k", "bert"])
def test_parts_of_several_tokenizers_begin_where_they_do(
    tmp_path: Path, real: Tokenizers, streams: dict[str, np.ndarray], first: str
) -> None:
    second = "cl100k" if first == "gpt2" else "gpt2"
    np.save(tmp_path / "raw.npy", np.concatenate([streams[first][: 2 * SIZE], streams[second][:SIZE]]))
    rows = [streams[first][at : at + 500].tolist() for at in range(0, SIZE, 500)]
    rows += [streams[second][at : at + 500].tolist() for at in range(0, SIZE, 500)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"input_ids": row}) + "\n" for row in rows))
    found = answers(tmp_path, real)
    for stem, begin in (("raw", 2 * SIZE), ("rows", SIZE // 500 + 1)):
        (mistake,) = found[stem].makers[0].mistakes
        assert mistake.kind is MistakeKind.MIXED
        (one, _), (other, where) = mistake.parts
        assert (one, other) == (first, second)
        # The window in which the other one begins may be of either.
        at, size = (where.token, 512) if stem == "raw" else (where.number, 2)
        assert begin - size <= at <= begin + size


def test_streams_of_one_maker_are_not_called_mixed(
    tmp_path: Path, real: Tokenizers, streams: dict[str, np.ndarray]
) -> None:
    source = np.random.default_rng(2)
    for name, ids in streams.items():
        damaged = ids[: 4 * SIZE].copy()
        places = source.choice(len(damaged), len(damaged) // 100, replace=False)
        damaged[places] = source.integers(0, 30_000, len(places))
        np.save(tmp_path / f"{name}.npy", damaged)
    for name, found in answers(tmp_path, real).items():
        assert said(found) == ([name], [])


def test_special_tokens_alone_make_no_maker(tmp_path: Path, data: Path, streams: dict[str, np.ndarray]) -> None:
    """Special tokens have no violations among themselves, and say nothing."""
    specials = {f"<{number}>": 100_300 + number for number in range(4000)}
    other = tokdfa.load(data / "vocabs" / "cl100k_base.tiktoken", pretokenizer="cl100k", specials=specials)
    ids = streams["cl100k"][:SIZE] % 4000 + 100_300
    assert tokdfa.validate(other, ids)
    np.save(tmp_path / "ids.npy", ids)
    (found,) = answers(tmp_path, {"other": other}).values()
    assert said(found) == ([], [])


def test_groups_are_of_equal_answers_the_largest_first(
    tmp_path: Path, real: Tokenizers, streams: dict[str, np.ndarray]
) -> None:
    for number in range(3):
        np.save(tmp_path / f"gpt2-{number}.npy", streams["gpt2"][number * SIZE : (number + 1) * SIZE])
    np.save(tmp_path / "shifted.npy", streams["gpt2"][:SIZE] + 1)
    np.save(tmp_path / "few.npy", [83, 71, 68] * 2)
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY")
    found = [*tokdfa.identify_each(tmp_path, {name: real[name] for name in ("gpt2", "cl100k")})]
    (problem,) = (each for each in found if isinstance(each, Problem))
    assert "cut.npy" in problem.where
    groups = groups_of(each for each in found if isinstance(each, Identification))
    assert [len(group.paths) for group in groups] == [3, 1, 1]
    assert groups[0].said == "gpt2"
    assert {group.said for group in groups[1:]} == {
        "gpt2; the ids are shifted: 1 was added to each", "undecided: too few ids to tell"
    }  # fmt: skip


def test_a_folder_of_tokenizers_has_a_candidate_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizers, shards = tmp_path / "tokenizers", tmp_path / "shards"
    for folder in (tokenizers / "one", tokenizers / "two", shards):
        folder.mkdir(parents=True)
    tokdfa.default_dictionary().save(tokenizers / "one" / "merges.txt")
    (tokenizers / "two" / "ranks.tiktoken").write_bytes(tiktoken_lines())
    (tokenizers / "README.md").write_text("two tokenizers")
    np.save(shards / "ids.npy", tokdfa.default_tokenizer().encode("a single man in possession of a good fortune"))
    assert run("guess", tokenizers, shards, "--each", "--pretokenizer", "gpt2") == 0
    out = capsys.readouterr().out
    assert f"{tokenizers / 'one'}" in out
    # A file of ranks that is not known needs a pre-tokenizer: refused, and the others are candidates all the same.
    assert run("guess", tokenizers, shards, "--each", "--json") == 0
    (answer,) = json.loads(capsys.readouterr().out)["files"]
    assert {candidate["name"]: candidate["error"] is None for candidate in answer["candidates"]} == {
        str(tokenizers / "one"): True, str(tokenizers / "two"): False
    }  # fmt: skip


def test_a_candidate_that_is_far_is_judged_only_for_one_store(tmp_path: Path) -> None:
    near = tokdfa.default_tokenizer()
    far = tokdfa.load(tiktoken_lines(), pretokenizer="gpt2")
    text = Path(__file__).parents[4].joinpath("README.md").read_text("utf-8")
    np.save(tmp_path / "ids.npy", near.encode(text))
    (each,) = tokdfa.identify_each(tmp_path, {"far": far, "near": near})
    alone = tokdfa.identify(tmp_path / "ids.npy", {"far": far, "near": near})
    assert not isinstance(each, Problem)
    assert [maker.name for maker in each.makers] == [maker.name for maker in alone.makers] == ["near"]
    assert [candidate.per_million is None for candidate in each.candidates] == [False, True]
    assert [candidate.per_million is None for candidate in alone.candidates] == [False, False]


def test_all_tokenizers_that_fit_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of dictionaries with fewer and fewer rules, those that give the same ids for a text are all its makers."""
    tokdfa.default_dictionary().save(tmp_path / "merges.txt")
    rules = (tmp_path / "merges.txt").read_text("utf-8").splitlines(keepends=True)
    tokenizers, shards = tmp_path / "tokenizers", tmp_path / "shards"
    shards.mkdir()
    candidates = {}
    for n in (3840, 3839, 3000, 1000, 400):
        (tokenizers / str(n)).mkdir(parents=True)
        (tokenizers / str(n) / "merges.txt").write_text("".join(rules[: n + 1]), "utf-8")
        candidates[str(tokenizers / str(n))] = tokdfa.load(tokenizers / str(n), pretokenizer="gpt2")
    words = Path(__file__).parents[4].joinpath("README.md").read_text("utf-8").split()
    rng = np.random.default_rng(5)
    by_name = {}
    for name, tokenizer in candidates.items():
        for size in (3, 40, 900):
            text = " ".join(rng.choice([word for word in words if len(tokenizer.encode(word)) < 3], size))
            path = shards / f"{Path(name).name}-{size}.npy"
            np.save(path, tokenizer.encode(text))
            by_name[str(path)] = {other for other, each in candidates.items() if each.validate(np.load(path))}
    found = {each.path: each for each in tokdfa.identify_each(shards, candidates) if not isinstance(each, Problem)}
    assert {*found} == {*by_name}
    assert all({maker.name for maker in each.makers} >= by_name[path] for path, each in found.items())
    assert sum(len(makers) > 1 for makers in by_name.values()) >= 5
    assert run("guess", tokenizers, shards, "--each", "--pretokenizer", "gpt2", "--json") == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert all({*group["makers"]} >= by_name[path] for group in groups for path in group["paths"])


def test_trouble_has_status_2_and_the_rest_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tok = tmp_path / "merges.txt"
    tokdfa.default_dictionary().save(tok)
    shards = tmp_path / "shards"
    shards.mkdir()
    np.save(shards / "ids.npy", tokdfa.default_tokenizer().encode("a single man in possession of a good fortune"))
    (shards / "cut.npy").write_bytes(b"\x93NUMPY")
    assert run("guess", tok, shards, "--each", "--pretokenizer", "gpt2") == 2
    captured = capsys.readouterr()
    assert str(tok) in captured.out
    assert "broken: " in captured.out
    assert "1 file could not be read" in captured.err


def test_arguments_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenStreamError):
        next(tokdfa.identify_each(tmp_path, {"default": tokdfa.default_tokenizer()}))
    np.save(tmp_path / "ids.npy", np.zeros(3, dtype=np.int32))
    with pytest.raises(WrongTypeError):
        next(tokdfa.identify_each(tmp_path, {}))
