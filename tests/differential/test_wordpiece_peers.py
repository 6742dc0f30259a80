"""BERT's tokenization equals the tokenizers library's: ids and offsets, on real and on random text."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.bert import differences, pair, peer, random_text, spelling_vocabulary
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

tokenizers = pytest.importorskip("tokenizers")

CORPORA = ["english.txt", "fra_eng_en.txt", "multilingual.txt", "python_code.txt"]
SETTINGS = [BertNormalizer(*flags) for flags in product((True, False), repeat=4)]


@pytest.fixture(scope="module")
def bert(data: Path) -> tuple[EndToEnd, Any]:
    """BERT's uncased vocabulary: ours from the list of entries, theirs from the other file."""
    entries = (data / "vocabs" / "bert_uncased_vocab.txt").read_text("utf-8").splitlines()
    vocabulary = WordPieceVocabulary(entries)
    names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    ours = EndToEnd(vocabulary, added={name: entries.index(name) for name in names})
    theirs = tokenizers.Tokenizer.from_file(str(data / "vocabs" / "bert_uncased_tokenizer.json"))
    theirs.no_truncation()
    theirs.no_padding()
    return ours, theirs


def _chunks(path: Path, lines: int) -> list[str]:
    every = path.read_bytes().decode("utf-8").splitlines(keepends=True)
    return ["".join(every[at : at + lines]) for at in range(0, len(every), lines)]


@pytest.mark.parametrize("corpus", CORPORA)
def test_on_parts_of_the_corpora(bert: tuple[EndToEnd, Any], data: Path, corpus: str) -> None:
    assert differences(*bert, _chunks(data / "corpora" / corpus, 40)[::25]) == []


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_on_whole_corpora(bert: tuple[EndToEnd, Any], data: Path, corpus: str, tally: Tally) -> None:
    for lines in (1, 40):
        assert differences(*bert, _chunks(data / "corpora" / corpus, lines)) == []
    tally("encoding", "real texts", 2)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_on_corpora_as_one_text(bert: tuple[EndToEnd, Any], data: Path, corpus: str, tally: Tally) -> None:
    assert differences(*bert, [(data / "corpora" / corpus).read_bytes().decode("utf-8")]) == []
    tally("encoding", "real texts", 1)


def test_on_random_text(bert: tuple[EndToEnd, Any]) -> None:
    dice = random.Random(11)
    assert differences(*bert, [random_text(dice) for _ in range(3_000)]) == []


@pytest.mark.parametrize("normalizer", SETTINGS, ids=str)
def test_every_setting_on_random_text(normalizer: BertNormalizer) -> None:
    dice = random.Random(str(normalizer))
    ours, theirs = pair(spelling_vocabulary(dice), normalizer, dice.choice([6, 100]))
    assert differences(ours, theirs, [random_text(dice) for _ in range(500)]) == []


def test_added_tokens_end_combining_sequences() -> None:
    entries = spelling_vocabulary(random.Random(6))
    added = {"q\u0301": len(entries), "[SEP]": 1, "qq": len(entries) + 1}
    ours = EndToEnd(WordPieceVocabulary(entries), added=added)
    theirs = peer(entries, BertNormalizer(), added)
    dice = random.Random(7)
    symbols = ["q\u0301", "q", "a", "\u0316", "\u302e", "\u08d4", "[SEP]", " "]
    assert differences(ours, theirs, ["".join(dice.choices(symbols, k=8)) for _ in range(3_000)]) == []


@pytest.mark.slow
def test_on_a_million_random_texts(bert: tuple[EndToEnd, Any], tally: Tally) -> None:
    dice = random.Random()
    for _ in range(50):
        assert differences(*bert, [random_text(dice) for _ in range(10_000)]) == []
    for normalizer in SETTINGS:
        ours, theirs = pair(spelling_vocabulary(dice), normalizer, dice.choice([6, 100]))
        for _ in range(4):
            assert differences(ours, theirs, [random_text(dice) for _ in range(8_000)]) == []
    tally("encoding", "random cases", 500_000 + 32_000 * len(SETTINGS))


@pytest.mark.parametrize(
    "normalizer", [SETTINGS[0], *(pytest.param(setting, marks=pytest.mark.slow) for setting in SETTINGS[1:])]
)
def test_on_every_code_point(normalizer: BertNormalizer, tally: Tally) -> None:
    # The normalized character shows in the tokens of its neighbours and in the offsets.
    ours, theirs = pair(spelling_vocabulary(random.Random(5)), normalizer)
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(f"a{chr(code)}b " for code in codes[at : at + 512]) for at in range(0, len(codes), 512)]
    assert differences(ours, theirs, texts) == []
    tally("encoding", "exhaustive cases", len(codes))
