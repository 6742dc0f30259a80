"""Comparing WordPiece tokenizers, judged by all short texts."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.jobs.comparison.result import Outcome, Part

SYMBOLS = "ab ,"
TEXTS = ["".join(text) for length in range(6) for text in product(SYMBOLS, repeat=length)]


def _load(folder: Path, entries: list[str]) -> tokdfa.WordPieceTokenizer:
    path = folder / "vocab.txt"
    path.write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    assert isinstance(tokenizer, tokdfa.WordPieceTokenizer)
    return tokenizer


def _spelled(tokenizer: tokdfa.WordPieceTokenizer, text: str) -> list[str]:
    return [tokenizer.spelling(number) for number in tokenizer.encode(text).tolist()]


def test_random_vocabularies(tmp_path: Path) -> None:
    dice = random.Random(8)
    pieces = [prefix + piece for prefix in ("", "##") for piece in ("a", "b", "ab", "ba", "aa", "aab", "bb")]
    answers = []
    for _ in range(24):
        base = dice.sample([*pieces, ","], dice.randrange(4, 12))
        other = [entry for entry in base if dice.random() < 0.9]
        dice.shuffle(other)
        a, b = (_load(tmp_path, ["[UNK]", *entries]) for entries in (base, other))
        found = tokdfa.compare(a, b, ignore_ids=True)
        differing = [text for text in TEXTS if _spelled(a, text) != _spelled(b, text)]
        if found.witness is None:
            assert not differing
        else:
            text = found.witness.text
            assert _spelled(a, text) != _spelled(b, text)
            assert found.witness[1:] == (tuple(a.encode(text).tolist()), tuple(b.encode(text).tolist()))
            assert not differing or len(text) <= len(differing[0])
        answers.append(bool(found))
    assert 0 < sum(answers) < 24


def test_order_changes_the_ids_alone(tmp_path: Path) -> None:
    a, b = _load(tmp_path, ["[UNK]", "a", "##b"]), _load(tmp_path, ["[UNK]", "##b", "a"])
    assert tokdfa.compare(a, b, ignore_ids=True)
    found = tokdfa.compare(a, b)
    assert found.witness == ("a", (1,), (2,))
    assert (found.checked[Part.LIVE_ENTRIES], found.checked[Part.IDS]) == (Outcome.SAME, Outcome.DIFFERENT)
    assert found.n_other_ids == 2


def test_only_live_entries_count(tmp_path: Path) -> None:
    a, b = _load(tmp_path, ["[UNK]", "a"]), _load(tmp_path, ["[UNK]", "a", "a b", "[unused0]"])
    found = tokdfa.compare(a, b)
    assert found
    assert (found.n_tokens_only_b, found.n_dead_b) == (0, 2)


def test_with_a_tokenizer_of_another_kind(tmp_path: Path) -> None:
    a = _load(tmp_path, ["[UNK]", "a"])
    with pytest.raises(AlphabetError, match=r"two tokenizers, can.*WordPieceTokenizer and CheckedDictionary"):
        tokdfa.compare(a, tokdfa.default_dictionary())


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_text("[UNK]\na\n##b\n")
    b.write_text("[UNK]\na\n##b\n##bb\n")
    for other, status in ((a, 0), (b, 1)):
        assert run("compare", a, other, "--format", "vocab.txt", "--json") == status
        fields = json.loads(capsys.readouterr().out)
    tokens = {"tokens_a": ["a", "##b", "##b"], "tokens_b": ["a", "##bb"]}
    assert fields["witness"] == {"text": "abb", "ids_a": [1, 2, 2], "ids_b": [1, 3], **tokens}


def test_the_two_files_of_bert(data: Path) -> None:
    a, b = (tokdfa.load(data / "vocabs" / f"bert_uncased_{name}") for name in ("vocab.txt", "tokenizer.json"))
    assert tokdfa.compare(a, b)


def test_words_that_can_begin_with_the_prefix_are_refused_by_name() -> None:
    fields = {"unk_token": "[UNK]", "continuing_subword_prefix": "cc", "max_input_chars_per_word": 100}
    steps = "clean_text", "handle_chinese_chars", "lowercase"
    a, b = (
        tokdfa.load(
            {
                "normalizer": {"type": "BertNormalizer", "strip_accents": None, **dict.fromkeys(steps, True)},
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "model": {"type": "WordPiece", "vocab": {entry: id for id, entry in enumerate(entries)}, **fields},
                "decoder": {"type": "WordPiece", "prefix": "cc", "cleanup": False},
            }
        )
        for entries in (["[UNK]", "a", "ccb"], ["[UNK]", "ccb", "a"])
    )
    assert tokdfa.compare(a, a)
    with pytest.raises(UnsupportedFeatureError, match="words can begin with the prefix: 'cc'"):
        tokdfa.compare(a, b)
