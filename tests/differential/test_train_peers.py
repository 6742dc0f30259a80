"""Merges equal to other trainers' merges, each under its own rule and fed with the same units."""

from __future__ import annotations

import io
import json
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.pieces import count_pieces
from tests.support.seeds import seeds
from tokdfa.regex.unicode.utf8 import BYTE_OF
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.training.api import Reading, count_corpus_pieces, train
from tokdfa.training.corpus import with_marks
from tokdfa.training.greedy import train_greedy

CORPORA = ["fra_eng_en.txt", "english.txt"]
PART = 300_000

Merges = list[tuple[Any, Any]]


@pytest.fixture(params=CORPORA)
def corpus(request: pytest.FixtureRequest, data: Path) -> Path:
    return data / "corpora" / str(request.param)


@pytest.fixture
def part(corpus: Path, tmp_path: Path) -> Path:
    path = tmp_path / corpus.name
    path.write_bytes(corpus.read_bytes()[:PART].rpartition(b"\n")[0] + b"\n")
    return path


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def by_tokenizers(path: Path, merges: int) -> Merges:
    tokenizers = pytest.importorskip("tokenizers")
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = byte_level
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=256 + merges, min_frequency=2, show_progress=False, initial_alphabet=byte_level.alphabet()
    )
    tokenizer.train([str(path)], trainer)
    rows = json.loads(tokenizer.to_str())["model"]["merges"]
    parts = [row if isinstance(row, list) else row.split(" ") for row in rows]
    return [(bytes(map(BYTE_OF.__getitem__, u)), bytes(map(BYTE_OF.__getitem__, v))) for u, v in parts]


def by_subword_nmt(path: Path, merges: int) -> Merges:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    out = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(text_of(path), newline="\n"), out, merges)
    return [tuple(line.split(" ")) for line in out.getvalue().splitlines()[1:]]


def by_rustbpe(path: Path, merges: int) -> list[bytes]:
    rustbpe = pytest.importorskip("rustbpe")
    tokenizer = rustbpe.Tokenizer()
    with path.open(encoding="utf-8", newline="\n") as lines:
        tokenizer.train_from_iterator(lines, 256 + merges, pattern=NAMED["gpt2"].steps[0].pattern)
    return [bytes(word) for word, rank in tokenizer.get_mergeable_ranks() if rank >= 256]


def by_sentencepiece(text: str, symbols: int, merges: int) -> list[str]:
    """Return the pieces made; with nothing normalized, and words parted by spaces alone."""
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.split("\n")), model_writer=model, vocab_size=3 + symbols + merges, model_type="bpe",
        character_coverage=1.0, normalization_rule_name="identity", split_by_unicode_script=False,
        split_by_number=False, max_sentencepiece_length=512, max_sentence_length=1 << 20, minloglevel=2,
    )  # fmt: skip
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    # Symbols come last, after <unk>, <s> and </s> and the pieces in the order in which they were made.
    return [processor.id_to_piece(number) for number in range(3, 3 + merges)]


def by_the_loop_of_minbpe(path: Path, merges: int) -> Merges:
    """Every chunk in order, overlapping counts afresh each round, the first of the most frequent pairs.

    The package minbpe is not on the registry, so this program, written from its definition, stands in for it.
    """
    words = {byte: bytes([byte]) for byte in range(256)}
    chunks = [list(piece.encode()) for piece in pretokenizer("gpt2").split(text_of(path))]
    made: Merges = []
    for new in range(256, 256 + merges):
        stats: dict[tuple[int, int], int] = {}
        for chunk in chunks:
            for pair in pairwise(chunk):
                stats[pair] = stats.get(pair, 0) + 1
        best = max(stats, key=lambda pair: stats[pair])
        for chunk in chunks:
            at = 0
            while at < len(chunk) - 1:
                if (chunk[at], chunk[at + 1]) == best:
                    chunk[at : at + 2] = [new]
                at += 1
        words[new] = words[best[0]] + words[best[1]]
        made.append((words[best[0]], words[best[1]]))
    return made


def assert_as_tokenizers(path: Path, merges: int) -> None:
    pieces = count_corpus_pieces(path, Reading(unit="line"))
    ours = train_greedy(pieces, merges, tie="huggingface", count="overlapping")
    assert list(ours) == by_tokenizers(path, merges)


def assert_as_subword_nmt(path: Path, merges: int) -> None:
    # It takes a line to end at a line feed alone, and words to be parted by spaces alone.
    words = Counter(
        word for line in io.StringIO(text_of(path), newline="\n") for word in line.strip("\r\n ").split(" ") if word
    )
    pieces = with_marks(words, "</w>", attached=True)
    ours = train_greedy(pieces, merges, tie="subword-nmt", count="overlapping")
    assert [("".join(rule.left), "".join(rule.right)) for rule in ours] == by_subword_nmt(path, merges)


def assert_as_rustbpe(path: Path, merges: int) -> None:
    # The least pair of ids wins, bytes being numbered by their values: as characters of Latin 1 they are in that order.
    pieces = {piece.decode("latin-1"): n for piece, n in count_corpus_pieces(path, Reading(unit="line")).items()}
    alphabet = bytes(range(256)).decode("latin-1")
    ours = train_greedy(pieces, merges, tie="huggingface", count="overlapping", min_frequency=1, alphabet=alphabet)
    assert [(u + v).encode("latin-1") for u, v in ours] == by_rustbpe(path, merges)


def assert_as_sentencepiece(path: Path, merges: int) -> None:
    # Characters that its text format cannot hold apart, or that it leaves out, are left out for both.
    text = re.sub(r"[^A-Za-z0-9 .,!?'\n-]", " ", text_of(path))
    words = Counter("▁" + word for line in text.split("\n") for word in line.split(" ") if word)
    ours = train_greedy(words, merges, tie="sentencepiece", count="overlapping", min_frequency=1)
    assert ["".join(rule) for rule in ours] == by_sentencepiece(text, len(set("".join(words))), merges)


def test_merges_are_those_of_tokenizers(part: Path) -> None:
    assert_as_tokenizers(part, 3000)


@pytest.mark.slow
@pytest.mark.parametrize("merges", [10_000, 32_000])
def test_tokenizers_on_whole_corpora(corpus: Path, merges: int, tally: Tally) -> None:
    assert_as_tokenizers(corpus, merges)
    tally("training", "real texts", 1)


def test_subword_nmt(part: Path) -> None:
    assert_as_subword_nmt(part, 500)


@pytest.mark.slow
def test_subword_nmt_on_whole_corpora(corpus: Path, tally: Tally) -> None:
    assert_as_subword_nmt(corpus, 10_000)
    tally("training", "real texts", 1)


def test_merges_are_those_of_minbpe(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:60_000])
    ours = train_greedy(count_pieces([text_of(part)]), 60, tie="first-seen", count="overlapping")
    assert list(ours) == by_the_loop_of_minbpe(part, 60)


@pytest.mark.slow
def test_minbpe_on_whole_corpora(corpus: Path, tally: Tally) -> None:
    ours = train_greedy(count_corpus_pieces(corpus, Reading()), 60, tie="first-seen", count="overlapping")
    assert list(ours) == by_the_loop_of_minbpe(corpus, 60)
    tally("training", "real texts", 1)


def test_merges_are_those_of_rustbpe(part: Path) -> None:
    assert_as_rustbpe(part, 3000)


@pytest.mark.slow
@pytest.mark.parametrize("merges", [10_000, 32_000])
def test_rustbpe_on_whole_corpora(corpus: Path, merges: int, tally: Tally) -> None:
    assert_as_rustbpe(corpus, merges)
    tally("training", "real texts", 1)


def test_sentencepiece(part: Path) -> None:
    assert_as_sentencepiece(part, 1000)


@pytest.mark.slow
def test_sentencepiece_on_whole_corpora(corpus: Path, tally: Tally) -> None:
    assert_as_sentencepiece(corpus, 10_000)
    tally("training", "real texts", 1)


def test_merges_are_those_of_gigatoken(part: Path) -> None:
    gigatoken = pytest.importorskip("gigatoken")
    ours = train_greedy(count_corpus_pieces(part, Reading()), 3000, tie="huggingface", count="overlapping")
    assert list(ours) == gigatoken.train_bpe(part, 256 + 3000, [])[1]


# Whole trainers by name, on random corpora.


def random_corpus(seed: int, path: Path) -> Path:
    """Lines of words over few letters, so that ties, repetitions and rare pairs abound."""
    dice = random.Random(seed)
    letters = dice.choice(["ab", "abc", "aab", "abcdé", "aA0!ß"])
    words = ["".join(dice.choices(letters, k=dice.randint(1, 7))) for _ in range(dice.randint(1, 12))]
    lines = [" ".join(dice.choices(words, k=dice.randint(1, 9))) for _ in range(dice.randint(1, 8))]
    lines.append("ab")  # without a pair subword-nmt breaks off
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


def assert_alike(trainer: str, path: Path, merges: int) -> None:
    if trainer == "tokenizers":
        ours = list(train(path, merges, like="tokenizers", min_frequency=2))
        assert ours == by_tokenizers(path, merges)
    elif trainer == "rustbpe":
        made = train(path, merges, like="rustbpe")
        assert [u + v for u, v in made] == by_rustbpe(path, merges)
    elif trainer == "subword-nmt":
        # Space between words is not a piece of its own: words are parted by spaces alone.
        made = train(path, merges, like="subword-nmt", pretokenizer="[^ \n]+")
        assert [("".join(u), "".join(v)) for u, v in made] == by_subword_nmt(path, merges)
    else:
        made = train(path, merges, like="minbpe")
        assert list(made) == by_the_loop_of_minbpe(path, len(made))


@pytest.mark.parametrize("trainer", ["tokenizers", "rustbpe", "subword-nmt", "minbpe"])
def test_whole_trainers_on_random_corpora(trainer: str, tmp_path: Path) -> None:
    for seed in seeds(40):
        path = random_corpus(seed, tmp_path / f"{seed}.txt")
        assert_alike(trainer, path, random.Random(seed).choice([5, 20, 60]))


@pytest.mark.parametrize("trainer", ["tokenizers", "rustbpe", "subword-nmt", "minbpe"])
def test_whole_trainers(trainer: str, part: Path) -> None:
    part.write_bytes(part.read_bytes()[:60_000].rpartition(b"\n")[0] + b"\n")
    assert_alike(trainer, part, 60)


def test_sentencepiece_as_a_whole(part: Path) -> None:
    """On a text where words begin with the mark of a space."""
    text = re.sub(r"[^A-Za-z0-9 .,!?'\n-]", " ", text_of(part)[:60_000])
    marked = "\n".join(" ".join("▁" + word for word in line.split(" ") if word) for line in text.split("\n"))
    part.write_text(marked, encoding="utf-8", newline="\n")
    ours = train(part, 200, like="sentencepiece", pretokenizer="[^ \n]+")
    symbols = len({*marked} - {" ", "\n"})
    assert ["".join(rule) for rule in ours] == by_sentencepiece(text, symbols, 200)
