"""Merges of five trainers of others, and ours, on random corpora: honest lists are right, and spoiled ones are not."""

from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.extra import write_tiktoken
from tests.support.seeds import seeds
from tokdfa import check_merges
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.training.rules import TIE_RULES

_DICE = random.Random(0)
_WORDS = [
    "".join(_DICE.choices("etaoinshrdlu", k=_DICE.randint(1, 6))) + _DICE.choice(["", "", ",", "é", "'s", "12", "α"])
    for _ in range(150)
]
TEXT = "\n".join(" ".join(_WORDS[int(_DICE.random() ** 2 * 150)] for _ in range(12)) for _ in range(40)) + "\n"


class Trained(NamedTuple):
    """The merges of a trainer in their order, how others are written to its file, and the rules to check them by."""

    merges: list[Any]
    write: Callable[[list[Any]], Path]
    rules: dict[str, Any]


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


def random_corpus(dice: random.Random, most: int = 30) -> str:
    letters = dice.choice(["ab", "abc ", "abcdeé ", "aAbB\t ", "abé, "])
    lines = ["a", *("".join(dice.choices(letters, k=dice.randint(0, 12))) for _ in range(dice.randint(1, most)))]
    return "\n".join(lines) + dice.choice(["", "\n"])


KINDS_OF_TOKENIZERS = (
    "bytes", "bytes after a space", "characters", "Metaspace always", "Metaspace first", "Llama", "lines joined",
    "prefixed", "suffixed", "both", "WordPiece",
)  # fmt: skip


def by_tokenizers(corpus: Path, folder: Path, dice: random.Random, kind: str = "bytes") -> Trained:
    path = folder / "tokenizer.json"
    options = trained_by_tokenizers(corpus, path, kind, dice)
    file = json.loads(path.read_text(encoding="utf-8"))
    model = file["model"]
    is_wordpiece = model["type"] == "WordPiece"
    if is_wordpiece:
        entries = sorted(model["vocab"], key=model["vocab"].get)
        made = [entry for entry in entries if len(entry.removeprefix("##")) > 1 and entry != "[UNK]"]
        others = [entry for entry in entries if entry not in made]
    else:
        made = model["merges"]

    def write(merges: list[Any]) -> Path:
        if is_wordpiece:
            model["vocab"] = {entry: id for id, entry in enumerate([*others, *merges])}
        else:
            model["merges"] = merges
        path.write_text(json.dumps(file), encoding="utf-8")
        return path

    return Trained(made, write, {"like": "tokenizers", "min_frequency": options.get("min_frequency")})


def by_sentencepiece(corpus: Path, folder: Path, dice: random.Random) -> Trained:
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    options: dict[str, Any] = dice.choice(
        [
            {},
            {"split_by_unicode_script": False, "split_by_number": False, "byte_fallback": True},
            {"split_digits": True, "normalization_rule_name": "nfkc_cf", "character_coverage": 0.98},
            {"max_sentencepiece_length": 4, "split_by_number": False},
            {"normalization_rule_name": "identity", "max_sentence_length": 9},
        ]
    )
    size = 256 * ("byte_fallback" in options) + dice.randint(10, 25)
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "m"), vocab_size=size, model_type="bpe", minloglevel=2,
        hard_vocab_limit=False, **options,
    )  # fmt: skip
    path = folder / "m.model"
    file: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    file.ParseFromString(path.read_bytes())
    is_merged = [piece.type == piece.NORMAL and len(piece.piece) > 1 for piece in file.pieces]
    made = [piece.piece for piece, merged in zip(file.pieces, is_merged, strict=True) if merged]

    def write(merges: list[Any]) -> Path:
        changed = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
        changed.CopyFrom(file)
        places = [piece for piece, merged in zip(changed.pieces, is_merged, strict=True) if merged]
        for place, merge in zip(places, merges, strict=False):
            place.piece = merge
        for place in places[len(merges) :]:
            changed.pieces.remove(place)
        path.write_bytes(changed.SerializeToString())
        return path

    return Trained(made, write, {"like": "sentencepiece"})


def by_subword_nmt(corpus: Path, folder: Path, dice: random.Random) -> Trained:
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    path = folder / "merges.txt"
    with corpus.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        learn_bpe.learn_bpe(lines, out, dice.randint(5, 40), min_frequency=2)
    version, *made = path.read_text(encoding="utf-8").splitlines()

    def write(merges: list[Any]) -> Path:
        path.write_text("\n".join([version, *merges, ""]), encoding="utf-8")
        return path

    return Trained(made, write, {"like": "subword-nmt", "pretokenizer": "[^ \n]+"})


def of_ranks(made: dict[bytes, int], folder: Path, like: str) -> Trained:
    path = folder / "x.tiktoken"
    tokens = sorted(made, key=lambda token: made[token])

    def write(merges: list[Any]) -> Path:
        return write_tiktoken({token: rank for rank, token in enumerate([*tokens[:256], *merges])}, path)

    return Trained(tokens[256:], write, {"like": like})


def by_rustbpe(corpus: Path, folder: Path, dice: random.Random) -> Trained:
    rustbpe = pytest.importorskip("rustbpe")
    tokenizer, lines = rustbpe.Tokenizer(), corpus.read_text(encoding="utf-8").splitlines(keepends=True)
    tokenizer.train_from_iterator(lines, dice.randint(260, 300), pattern=NAMED["gpt2"].steps[0].pattern)
    return of_ranks({bytes(word): rank for word, rank in tokenizer.get_mergeable_ranks()}, folder, "rustbpe")


def by_educational_tiktoken(corpus: Path, folder: Path, dice: random.Random) -> Trained:
    educational = pytest.importorskip("tiktoken._educational")
    text, pattern = corpus.read_text(encoding="utf-8"), NAMED["gpt2"].steps[0].pattern
    return of_ranks(educational.bpe_train(text, dice.randint(258, 275), pattern, visualise=None), folder, "minbpe")


TRAINERS: dict[str, Callable[[Path, Path, random.Random], Trained]] = {
    **{
        f"tokenizers, {kind}": lambda corpus, folder, dice, kind=kind: by_tokenizers(corpus, folder, dice, kind)  # type: ignore[misc]
        for kind in KINDS_OF_TOKENIZERS
    },
    "SentencePiece": by_sentencepiece,
    "subword-nmt": by_subword_nmt,
    "rustbpe": by_rustbpe,
    "tiktoken": by_educational_tiktoken,
}
OVER_BYTES = ("tokenizers, bytes", "rustbpe", "tiktoken")


def spoiled(merges: list[Any], dice: random.Random) -> list[Any]:
    """Return merges with one mistake: two exchanged, or one dropped."""
    first, second = sorted(dice.sample(range(len(merges)), 2))
    if dice.random() < 0.5:
        return [*merges[:first], *merges[first + 1 :]]
    return [*merges[:first], merges[second], *merges[first + 1 : second], merges[first], *merges[second + 1 :]]


def first_wrong(listed: list[Any], honest: list[Any]) -> int | None:
    return next((at for at, each in enumerate(listed) if at >= len(honest) or each != honest[at]), None)


def assert_wrong_at(found: tokdfa.MergeCheck, index: int | None, case: object) -> None:
    assert (None if found.witness is None else found.witness.index) == index, (case, found.reason)


def assert_as_trained(trainer: str, folder: Path, seed: int) -> Counter[str]:
    """Check the merges of a trainer on a random corpus, spoiled ones, and merges of another form of the corpus.

    Nothing is checked where SentencePiece or tiktoken refuses a corpus of few pairs.
    """
    dice, seen = random.Random(f"{trainer} {seed}"), Counter[str]()
    corpus, normal = folder / "corpus.txt", folder / "normal.txt"
    text = random_corpus(dice, 300 if trainer == "SentencePiece" else 30)
    if trainer == "SentencePiece" and len(text) < 500:
        return seen  # Where no pair is left, it lists others.
    corpus.write_text(text, encoding="utf-8", newline="\n")
    state = dice.getstate()
    try:
        honest = TRAINERS[trainer](corpus, folder, dice)
    except (RuntimeError, ValueError):
        return seen
    assert_wrong_at(check_merges(honest.write(honest.merges), corpus, **honest.rules), None, seed)
    seen["honest"] += 1
    if len(honest.merges) > 2:
        listed = spoiled(honest.merges, dice)
        index = first_wrong(listed, honest.merges)
        assert_wrong_at(check_merges(honest.write(listed), corpus, **honest.rules), index, (seed, listed))
        seen["spoiled" if index is not None else "shortened"] += 1
    if trainer in OVER_BYTES:
        normal.write_text(unicodedata.normalize("NFD", text), encoding="utf-8", newline="\n")
        dice.setstate(state)
        try:
            other = TRAINERS[trainer](normal, folder, dice)
        except ValueError:
            return seen
        index = first_wrong(other.merges, honest.merges)
        if index is None or index < len(honest.merges):
            found = check_merges(other.write(other.merges), corpus, **other.rules)
            assert_wrong_at(found, index, seed)
            seen["normalized" if index is not None else "alike"] += 1
            seen["normalization named"] += found.witness is not None and found.witness.detail == "NFD"
    return seen


@pytest.mark.parametrize("trainer", TRAINERS)
def test_runs_of_trainers_are_honest_and_spoiled_ones_are_not(trainer: str, tmp_path: Path) -> None:
    seen = sum((assert_as_trained(trainer, tmp_path, seed) for seed in seeds(12)), Counter[str]())
    assert seen["honest"] >= 8
    assert seen["spoiled"] >= 4


@pytest.mark.slow
@pytest.mark.parametrize("trainer", TRAINERS)
def test_runs_of_trainers_10_000_times(trainer: str, tmp_path: Path, tally: Tally) -> None:
    seen = sum((assert_as_trained(trainer, tmp_path, seed) for seed in range(1000, 1400)), Counter[str]())
    print(trainer, dict(seen))
    assert min(seen["honest"], seen["spoiled"]) >= 200
    tally("training", "random cases", seen["honest"] + seen["spoiled"] + seen["normalized"])


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
