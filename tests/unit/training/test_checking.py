"""Merges are checked as the trainer as printed makes them, counted by hand; and by five trainers of others."""

from __future__ import annotations

import json
import random
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.extra import write_tiktoken
from tests.support.seeds import seeds
from tests.support.tokenizer_files import ranks
from tokdfa import LikelyCause, TokdfaError, check_merges
from tokdfa.training.listed import ListedMerges
from tokdfa.training.naive import train_naive
from tokdfa.training.rules import COUNT_RULES, TIE_RULES

Pair = tuple[Any, Any]
_DICE = random.Random(0)
_WORDS = [
    "".join(_DICE.choices("etaoinshrdlu", k=_DICE.randint(1, 6))) + _DICE.choice(["", "", ",", "é", "'s", "12", "α"])
    for _ in range(150)
]
TEXT = "\n".join(" ".join(_WORDS[int(_DICE.random() ** 2 * 150)] for _ in range(12)) for _ in range(40)) + "\n"


def merged(text: list[Any], pair: Pair) -> list[Any]:
    out: list[Any] = []
    for token in text:
        if out and (out[-1], token) == pair and not isinstance(out[-1], list):
            out[-1] = [out[-1] + token]  # A product does not merge in the same round.
        else:
            out.append(token)
    return [token[0] if isinstance(token, list) else token for token in out]


def counted(pieces: dict[str, int], made: list[Pair], pair: Pair | None, count: str) -> int:
    """Return how often a pair occurs after some merges."""
    total = 0
    for piece, weight in pieces.items():
        text: list[Any] = list(piece)
        for each in made:
            text = merged(text, each)
        if pair is not None and count == "non-overlapping":
            total += weight * (len(text) - len(merged(text, pair)))
        else:
            total += weight * sum(each == pair for each in pairwise(text))
    return total


def random_pieces(dice: random.Random) -> dict[str, int]:
    symbols = dice.choice(["a", "ab", "abc", "abcdef"])
    words = ["".join(dice.choices(symbols, k=dice.randint(1, 9))) for _ in range(dice.randint(1, 7))]
    return {word: dice.randint(1, 5) for word in words}


def spoiled(merges: list[Pair], dice: random.Random) -> list[Pair]:
    """Return merges with one mistake at most."""
    found, at = list(merges), dice.randrange(len(merges)) if merges else 0
    mistake = dice.choice(["none", "swapped", "dropped", "twice", "reversed"])
    if mistake == "swapped" and len(found) > 1:
        other = dice.randrange(len(found))
        found[at], found[other] = found[other], found[at]
    elif mistake == "dropped" and found:
        del found[at]
    elif mistake == "twice" and found:
        found.insert(at, found[at])
    elif mistake == "reversed" and found:
        found[at] = found[at][::-1]
    return found


def assert_as_by_hand(seed: int) -> bool:
    """Check spoiled merges of random pieces; return whether a merge was wrong."""
    dice = random.Random(seed)
    pieces, tie, count = random_pieces(dice), dice.choice(TIE_RULES), dice.choice(COUNT_RULES)
    rules: dict[str, Any] = {"count": count, "min_frequency": dice.choice([1, 1, 2])}
    right = [(u, v) for u, v in train_naive(pieces, dice.randint(0, 12), tie=tie, **rules)]
    every = [(u, v) for u, v in train_naive(pieces, 13, tie=tie, **rules)]
    listed = spoiled(right, dice)
    index = next((i for i, pair in enumerate(listed) if i >= len(every) or every[i] != pair), None)
    found = check_merges(listed, pieces, tie=tie, **rules)
    assert bool(found) == (index is None), (seed, listed)
    if index is not None:
        assert found.witness is not None
        best = every[index] if index < len(every) else None
        assert (found.witness.index, found.witness.best) == (index, best), (seed, listed)
        assert found.witness.count == counted(pieces, every[:index], listed[index], count), (seed, listed)
        assert found.witness.best_count == (counted(pieces, every[:index], best, count) if best else 0), (seed, listed)
    return index is not None


def test_the_first_wrong_merge_is_the_one_found_by_hand() -> None:
    wrong = [assert_as_by_hand(seed) for seed in seeds(400)]
    assert sum(wrong) >= len(wrong) // 4
    assert wrong.count(False) >= len(wrong) // 4


@pytest.mark.slow
def test_the_first_wrong_merge_10_000_times(tally: Tally) -> None:
    wrong = [assert_as_by_hand(seed) for seed in range(1000, 11_000)]
    assert min(sum(wrong), wrong.count(False)) >= 2500
    tally("training", "random cases", len(wrong))


def test_any_tie_accepts_each_maximum_and_nothing_else() -> None:
    for seed in seeds(150):
        dice = random.Random(seed)
        pieces = random_pieces(dice)
        made: list[Pair] = []
        wrong = None
        while wrong is None and len(made) < 9:
            texts = [list(piece) for piece in pieces]
            for pair in made:
                texts = [merged(text, pair) for text in texts]
            pairs = sorted({pair for text in texts for pair in pairwise(text)})
            if not pairs:
                break
            counts = {pair: counted(pieces, made, pair, "overlapping") for pair in pairs}
            best = [pair for pair in pairs if counts[pair] == max(counts.values())]
            others = [pair for pair in pairs if pair not in best]
            if others and dice.random() < 0.1:
                wrong = len(made)
            made.append(dice.choice(best if wrong is None else others))
        found = check_merges(made, pieces, tie="any", count="overlapping")
        assert bool(found) == (wrong is None), (seed, made)
        assert wrong is None or found.witness.index == wrong


def trained_in(dtype: str, pieces: dict[str, int], merges: int) -> list[Pair]:
    """Train with counts that are such integers; pairs with counts below 1 are not merged."""
    made: list[Pair] = []
    while len(made) < merges:
        texts = [list(piece) for piece in pieces]
        for pair in made:
            texts = [merged(text, pair) for text in texts]
        pairs = {pair: None for text in texts for pair in pairwise(text)}
        counts = {pair: int(np.array(counted(pieces, made, pair, "overlapping")).astype(dtype)) for pair in pairs}
        most = max(counts.values(), default=0)
        if most < 1:
            break
        made.append(next(pair for pair, count in counts.items() if count == most))
    return made


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16", "uint16"])
def test_an_overflow_is_found_where_it_happened_and_named(dtype: str) -> None:
    large = np.iinfo(dtype).max // 3 + 1
    seen = 0
    for seed in seeds(60):
        dice = random.Random(seed)
        pieces = {
            piece: count * dice.choice([1, 1, large]) + dice.randrange(3)
            for piece, count in random_pieces(dice).items()
        }
        honest, listed = trained_in("int64", pieces, 5), trained_in(dtype, pieces, 5)
        index = next((i for i, pair in enumerate(listed) if honest[i] != pair), None)
        found = check_merges(listed, pieces, count="overlapping")
        assert bool(found) == (index is None), (seed, pieces)
        if index is not None and found.witness.count != found.witness.best_count:
            assert found.witness.index == index
            assert found.witness.cause == LikelyCause.OVERFLOW, (seed, pieces)
            seen += 1
    assert seen >= 8


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_another_normalization_is_named(form: str, tmp_path: Path) -> None:
    other = "NFD" if form == "NFC" else "NFC"
    corpus, normal = tmp_path / "corpus.txt", tmp_path / "normal.txt"
    text = unicodedata.normalize(other, ("ﬁn ﬁsh " if form == "NFKC" else "") + "é à ü ö thé é à") * 3
    corpus.write_text(text, encoding="utf-8")
    normal.write_text(unicodedata.normalize(form, text), encoding="utf-8")
    listed = tokdfa.train(normal, 12, min_frequency=1)
    assert check_merges(listed, normal)
    found = check_merges(listed, corpus)
    assert found.witness.cause == LikelyCause.NORMALIZATION
    assert found.witness.detail == form


CAUSES: list[tuple[str, list[Pair], dict[str, int], dict[str, Any], str]] = [
    ("tie", [("c", "d")], {"ab": 2, "cd": 2, "d": 1}, {}, "subword-nmt"),
    ("count", [("a", "a")], {"aaaa": 2, "bc": 5}, {}, "overlapping"),
    ("length", [("ab", "c"), ("b", "c")], {"abc": 2}, {"max_token_length": 2}, "2"),
    ("min-frequency", [("a", "b")], {"ab": 2}, {"min_frequency": 3}, "3"),
    ("order", [("c", "d"), ("a", "b")], {"ab": 3, "cd": 2}, {}, "merge 1"),
    ("dropped", [("c", "d")], {"ab": 3, "cd": 2}, {}, ""),
    ("absent", [("x", "y")], {"ab": 3}, {}, ""),
]


@pytest.mark.parametrize(("cause", "listed", "pieces", "options", "detail"), CAUSES, ids=[each[0] for each in CAUSES])
def test_each_likely_cause_is_named(
    cause: str, listed: list[Pair], pieces: dict[str, int], options: dict[str, Any], detail: str
) -> None:
    found = check_merges(listed, pieces, **options)
    assert not found
    assert found.witness.cause.value == cause
    assert detail in found.witness.detail
    assert found.witness.cause.meaning in found.reason


def test_tokens_that_nothing_makes_and_symbols_that_are_left_out(tmp_path: Path) -> None:
    path = write_tiktoken(ranks([b"abc"]), tmp_path / "x.tiktoken")
    found = check_merges(path, {b"abc": 3})
    assert found.witness.cause == LikelyCause.NO_PARTS
    assert (found.witness.pair, found.witness.product) == (None, b"abc")


def test_merges_over_bytes_are_not_replayed_on_characters() -> None:
    with pytest.raises(TokdfaError, match="level"):
        check_merges([(b"a", b"b")], {"ab": 2})
    with pytest.raises(TokdfaError, match="no text"):
        check_merges([(b"a", b"b")], {})


# Honest runs of trainers.


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(TEXT, encoding="utf-8", newline="\n")
    return path


def assert_honest(found: tokdfa.MergeCheck, at_least: int) -> None:
    assert found, found.reason
    assert found.n_merges >= at_least


@pytest.mark.parametrize("tie", TIE_RULES)
@pytest.mark.parametrize("suffix", [".txt", ".json", ".tiktoken"])
def test_our_runs_are_honest(tie: Any, suffix: str, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / f"made{suffix}"
    tokdfa.train(corpus, 40, tie=tie).save(path, pretokenizer="gpt2")
    assert_honest(check_merges(path, corpus, tie=tie), 40)


def trained_by_tokenizers(corpus: Path, path: Path, kind: str, dice: random.Random) -> dict[str, Any]:
    """Train a tokenizer of a kind, whose settings are chosen by dice; return the trainer's options."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    affixes = {
        "prefixed": {"continuing_subword_prefix": "##"},
        "suffixed": {"end_of_word_suffix": "</x>"},
        "both": {"continuing_subword_prefix": "##", "end_of_word_suffix": "</w>"},
    }.get(kind, {})
    options: dict[str, Any] = {"vocab_size": dice.randint(20, 60), "special_tokens": ["[UNK]"], **affixes}
    is_wordpiece = kind == "WordPiece"
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]") if is_wordpiece else models.BPE(**affixes))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer() if is_wordpiece else pre_tokenizers.Whitespace()
    if kind.startswith("bytes"):
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=kind == "bytes after a space")
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
        options["vocab_size"] += 256
    elif kind.startswith("Metaspace"):
        scheme: Any = kind.split()[1]
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=dice.random() < 0.7)
    elif kind == "Llama":
        tokenizer.pre_tokenizer = None  # type: ignore[assignment]
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    elif kind == "lines joined":
        tokenizer.pre_tokenizer = None  # type: ignore[assignment]
        tokenizer.normalizer = normalizers.Strip()
    elif not affixes:
        form = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase()])
        tokenizer.normalizer = normalizers.BertNormalizer() if is_wordpiece else form
    if dice.random() < 0.3:
        options["min_frequency"] = 2
    if dice.random() < 0.3 and not kind.startswith("bytes"):
        options["limit_alphabet"] = dice.randint(4, 12)
    trainer: Any = trainers.WordPieceTrainer if is_wordpiece else trainers.BpeTrainer
    tokenizer.train([str(corpus)], trainer(show_progress=False, **options))
    tokenizer.save(str(path))
    return options


def random_corpus(dice: random.Random) -> str:
    letters = dice.choice(["ab", "abc ", "abcdeé ", "aAbB\t ", "abé, "])
    lines = ["a", *("".join(dice.choices(letters, k=dice.randint(0, 12))) for _ in range(dice.randint(1, 30)))]
    return "\n".join(lines) + dice.choice(["", "\n"])


KINDS_OF_TOKENIZERS = (
    "bytes", "bytes after a space", "characters", "Metaspace always", "Metaspace first", "Llama", "lines joined",
    "prefixed", "suffixed", "both", "WordPiece",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS_OF_TOKENIZERS)
def test_runs_of_tokenizers_are_honest_and_spoiled_ones_are_not(kind: str, tmp_path: Path) -> None:
    corpus, path, n_spoiled = tmp_path / "corpus.txt", tmp_path / "tokenizer.json", 0
    for seed in seeds(25):
        dice = random.Random(f"{kind} {seed}")
        corpus.write_text(random_corpus(dice), encoding="utf-8", newline="\n")
        options = trained_by_tokenizers(corpus, path, kind, dice)
        rules: dict[str, Any] = {"like": "tokenizers", "min_frequency": options.get("min_frequency")}
        found = check_merges(path, corpus, **rules)
        assert found, (seed, found.reason)
        index = spoil(path)
        if index is not None:
            spoiled_one = check_merges(path, corpus, **rules)
            assert not spoiled_one, seed
            assert spoiled_one.witness.index == index
            n_spoiled += 1
    assert n_spoiled >= 5


def spoil(path: Path) -> int | None:
    """Exchange the last two of four merges or more, if no two orders of them can be right; return the first one."""
    file = json.loads(path.read_text(encoding="utf-8"))
    model = file["model"]
    if model["type"] == "WordPiece":
        made = sorted(model["vocab"], key=model["vocab"].get)
        made = [entry for entry in made if len(entry.removeprefix("##")) > 1 and entry != "[UNK]"]
        if len(made) < 4:
            return None
        first, second = made[-2:]
        model["vocab"][first], model["vocab"][second] = model["vocab"][second], model["vocab"][first]
    else:
        made = model["merges"]
        if len(made) < 4:
            return None
        made[-2:] = made[:-3:-1]
    path.write_text(json.dumps(file), encoding="utf-8")
    return len(made) - 2


def test_the_parts_of_an_entry_of_wordpiece_are_those_that_the_entries_before_leave(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK] t ##h ##e ##r ##he th the ther".replace(" ", "\n"), encoding="utf-8")
    assert ListedMerges.read(path).pairs[2:] == ((("t",), ("##h", "##e")), (("t", "##h", "##e"), ("##r",)))
    found = check_merges(path, {("t", "##h", "##e"): 3, ("##h", "##e"): 5, ("t", "##h"): 1})
    assert (found.witness.index, found.witness.pair) == (1, (("t",), ("##h",)))


def test_counts_of_32_bits_are_found_in_entries_of_wordpiece(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK] t o ##h ##e ##t ##r ##th oth".replace(" ", "\n"), encoding="utf-8")
    found = check_merges(path, {("t", "##h", "##e"): 3_000_000_000, ("o", "##t", "##h", "##e", "##r"): 1_000})
    assert (found.witness.cause, found.witness.detail) == (LikelyCause.OVERFLOW, "int32")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"split_by_unicode_script": False, "split_by_number": False, "byte_fallback": True},
        {"split_digits": True, "normalization_rule_name": "nfkc_cf", "character_coverage": 0.98},
        {"max_sentencepiece_length": 4, "split_by_number": False},
    ],
    ids=str,
)
def test_runs_of_sentencepiece_are_honest(options: dict[str, Any], corpus: Path, tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    size = 256 * ("byte_fallback" in options) + 75
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=size, model_type="bpe", minloglevel=2, **options
    )
    assert_honest(check_merges(tmp_path / "m.model", corpus, like="sentencepiece"), 25)


def test_lines_that_sentencepiece_leaves_out_are_not_counted(tmp_path: Path) -> None:
    """Those with more bytes than its limit, and those with the character of unknown pieces; not those at the limit."""
    sentencepiece = pytest.importorskip("sentencepiece")
    lines = ["lower newest", "x" * 9 + "é", "lw" * 6 + "l", "lw" * 5 + "lé", "▅ wide wide", "low"]
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(f"{line}\n" for line in lines * 3), encoding="utf-8")
    options = {"max_sentence_length": 12, "normalization_rule_name": "identity", "hard_vocab_limit": False}
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "m"), vocab_size=30, model_type="bpe", minloglevel=2, **options
    )
    found = check_merges(tmp_path / "m.model", corpus, like="sentencepiece")
    assert_honest(found, 10)
    corpus.write_text(corpus.read_text("utf-8").replace("lwlwl", "lw\nlw"), encoding="utf-8")
    assert not check_merges(tmp_path / "m.model", corpus, like="sentencepiece")


def test_a_wrong_merge_is_told_with_the_splitting_that_was_assumed(corpus: Path, tmp_path: Path) -> None:
    """subword-nmt splits at spaces only, which its file does not say."""
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    path = tmp_path / "merges.txt"
    with corpus.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        learn_bpe.learn_bpe(lines, out, 40)
    found = check_merges(path, corpus, like="subword-nmt")
    assert found.assumed == "gpt2"
    assert found.reason.endswith("does not say how texts are split, and gpt2 was assumed (pretokenizer)")
    assert check_merges(path, corpus, like="subword-nmt", pretokenizer="[^ \n]+").assumed is None
    assert check_merges([("a", "b")], {"ab": 1}).assumed is None


def test_runs_of_the_educational_tiktoken_are_honest(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    educational = pytest.importorskip("tiktoken._educational")
    from tokdfa.tokenizers.pretokenizers.steps import NAMED

    made = educational.bpe_train(TEXT, 300, NAMED["gpt2"].steps[0].pattern, visualise=None)
    path = write_tiktoken(made, tmp_path / "x.tiktoken")
    assert_honest(check_merges(path, corpus, like="minbpe"), 44)
    assert not check_merges(path, corpus, like="rustbpe")


def test_runs_of_rustbpe_are_honest(corpus: Path, tmp_path: Path) -> None:
    rustbpe = pytest.importorskip("rustbpe")
    from tokdfa.tokenizers.pretokenizers.steps import NAMED

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(TEXT.splitlines(keepends=True), 300, pattern=NAMED["gpt2"].steps[0].pattern)
    made = {bytes(word): rank for word, rank in tokenizer.get_mergeable_ranks()}
    assert_honest(check_merges(write_tiktoken(made, tmp_path / "x.tiktoken"), corpus, like="rustbpe"), 44)


def test_runs_of_subword_nmt_are_honest(corpus: Path, tmp_path: Path) -> None:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    path = tmp_path / "merges.txt"
    with corpus.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        learn_bpe.learn_bpe(lines, out, 40)
    assert_honest(check_merges(path, corpus, like="subword-nmt", pretokenizer="[^ \n]+"), 30)


def test_a_symbol_that_the_file_does_not_have_is_named(tmp_path: Path) -> None:
    small, large, path = tmp_path / "small.txt", tmp_path / "large.txt", tmp_path / "tokenizer.json"
    small.write_text("low low lower", encoding="utf-8")
    large.write_text("low low lower zz zz zz zz", encoding="utf-8")
    tokdfa.train(small, 2, level="character").save(path, pretokenizer="gpt2")
    found = check_merges(path, large)
    assert (found.witness.cause, found.witness.detail) == (LikelyCause.ALPHABET, "'z'")
