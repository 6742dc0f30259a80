"""Small tokenizers of the libraries' own trainers: the campaign finds nothing, reaches its kinds and notices faults."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

import tokdfa
from tests.campaigns.families.__main__ import main
from tests.campaigns.families.asking import Family
from tests.campaigns.families.shrinking import shrunk
from tests.campaigns.families.spoiling import EDITS
from tests.campaigns.families.subjects import of_file
from tests.campaigns.families.texts import KINDS
from tests.campaigns.standing.texts import ENGLISH
from tests.support.tokenizer_files import tekken_json, tiktoken_lines
from tokdfa.tokenizers.tokenizer import Tokenizer

LINES = ["".join(random.Random(seed).choices([*ENGLISH, "中国", "é", " of the"], k=60)) for seed in range(60)]
SPECIALS = ["<|end|>", "[UNK]", "[CLS]", "[SEP]"]


def byte_level(folder: Path) -> Path:
    made = tokenizers.Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()  # type: ignore[assignment]
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    made.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return saved(made, trainers.BpeTrainer(vocab_size=600, special_tokens=SPECIALS, initial_alphabet=alphabet), folder)


def wordpiece(folder: Path) -> Path:
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()  # type: ignore[assignment]
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # type: ignore[assignment]
    made.decoder = decoders.WordPiece()  # type: ignore[assignment]
    return saved(made, trainers.WordPieceTrainer(vocab_size=400, special_tokens=SPECIALS), folder)


def unigram(folder: Path) -> Path:
    made = tokenizers.Tokenizer(models.Unigram())
    made.pre_tokenizer = pre_tokenizers.Metaspace()  # type: ignore[assignment]
    made.decoder = decoders.Metaspace()  # type: ignore[assignment]
    return saved(made, trainers.UnigramTrainer(vocab_size=200, special_tokens=SPECIALS, unk_token="[UNK]"), folder)


def saved(made: Any, trainer: Any, folder: Path) -> Path:
    trainer.show_progress = False
    made.train_from_iterator(LINES, trainer)
    path = folder / "tokenizer.json"
    made.save(str(path))
    return path


def model(kind: str, folder: Path) -> Path:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES), model_writer=written, model_type=kind, vocab_size=400, byte_fallback=True,
        hard_vocab_limit=False, minloglevel=2, num_threads=1, user_defined_symbols=["<x>"],
    )  # fmt: skip
    path = folder / "small.model"
    path.write_bytes(written.getvalue())
    return path


def tekken(folder: Path) -> Path:
    pytest.importorskip("mistral_common")
    path = folder / "tekken.json"
    path.write_text(json.dumps(tekken_json()))
    return path


def ranks(folder: Path) -> Path:
    path = folder / "small.tiktoken"
    path.write_bytes(tiktoken_lines())
    return path


def vocabulary(folder: Path) -> Path:
    written = json.loads(wordpiece(folder).read_bytes())["model"]["vocab"]
    path = folder / "vocab.txt"
    path.write_text("".join(f"{token}\n" for token in written), "utf-8")
    return path


SMALL: dict[str, Callable[[Path], Path]] = {
    "bytes": byte_level,
    "WordPiece": wordpiece,
    "vocab.txt": vocabulary,
    "Unigram": unigram,
    "BPE of SentencePiece": partial(model, "bpe"),
    "Unigram of SentencePiece": partial(model, "unigram"),
    "tekken": tekken,
    "ranks": ranks,
}


@pytest.mark.parametrize("name", SMALL)
def test_nothing_differs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = SMALL[name](tmp_path)
    status = main(
        ["--file", str(path), "--pretokenizer", "cl100k", "--texts", "400", "--streams", "200", "--changes", "400"]
    )
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert f"{path.name}: 400 texts, 200 streams, 400 changes, 0 differences" in printed
    reached = [f"texts: {kind}" for kind in KINDS] + [f"streams: {edit}" for edit in EDITS]
    reached += [f"changes: {way}" for way in ("append", "edit", "roll back", "ids")]
    missed = [kind for kind in [*reached, "streams: canonical", "streams: not canonical"] if kind not in printed]
    assert not missed


def test_a_rule_less_is_noticed_and_made_small(tmp_path: Path) -> None:
    path = byte_level(tmp_path)
    fields = json.loads(path.read_bytes())
    fields["model"]["merges"] = [rule for rule in fields["model"]["merges"] if [*rule] != ["h", "e"]]
    assert len(fields["model"]["merges"]) < len(json.loads(path.read_bytes())["model"]["merges"])
    spoiled = json.dumps(fields).encode()
    family = Family(replace(of_file(path), load=partial(tokdfa.load, spoiled)), seed=0)
    family.ask_texts(100)
    assert any(difference.startswith("text 'he': ") for difference in family.outcome.differences)
    family.outcome.differences.clear()
    family.ask_streams(200)
    assert family.outcome.differences
    assert family.outcome.differences[0].startswith("ids [")


def test_ways_that_do_not_agree_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = Family(of_file(byte_level(tmp_path)), seed=0)
    whole = Tokenizer.encode
    monkeypatch.setattr(Tokenizer, "encode", lambda self, text: whole(self, text)[: 3 if "the" in text else None])
    family.ask_texts(200)
    assert family.outcome.differences


def test_shrinking_leaves_what_differs() -> None:
    drawn = random.Random(0)
    text = "".join(drawn.choices("abcdef", k=300)) + "xy"
    assert shrunk(text, lambda part: "x" in part and "y" in part) == "xy"
    assert shrunk([1, 2, 3, 2], lambda part: part.count(2) == 2) == [2, 2]
    assert len(shrunk(text, lambda part: "x" in part, most=3)) > 1
