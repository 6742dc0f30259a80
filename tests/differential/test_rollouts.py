"""Spans of rollouts match brute force: encoding the decoded text with the library, and comparing."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import rollouts as laws
from tests.support import normalized, random_files, real_tokenizers, rollouts
from tests.support.editing import edited
from tests.support.families import of_tokenizer_json
from tests.support.real_tokenizers import CORPORA, Real, extra
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.tokenizers.tokenizer import Tokenizer

QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
NAMES = ("gpt2", "cl100k", "qwen", "llama3", "mistral v3")


class Peer:
    """A tokenizer, and its library's answers."""

    def __init__(self, real: Real, word_of: Callable[[int], bytes] | None = None) -> None:
        self.real = real
        self.is_padded = word_of is not None
        known = {} if word_of is None else {word_of(id): id for id in reversed(real.ids)}
        self.spell: Callable[[bytes], list[int]] = lambda word: (
            [known[word]] if self.is_padded else real.encode(word.decode())
        )
        self.tokenizer = real.tokenizer
        self.word_of = word_of or cache(lambda id: bytes(self.tokenizer.decode_bytes([id])))
        self.cuts = () if self.tokenizer.finds_specials else {*self.tokenizer.special_ids.tolist()}


@cache
def peer(name: str, data: Path, folder: Path) -> Peer:
    vocabs = data / "vocabs"
    if name == "gpt2":
        return Peer(real_tokenizers.by_tokenizers(name, vocabs / "gpt2" / "tokenizer.json"))
    if name == "cl100k":
        pattern = json.loads((vocabs / "patterns.json").read_text(encoding="utf-8"))[name]
        return Peer(real_tokenizers.by_tiktoken(name, vocabs / "cl100k_base.tiktoken", pattern))
    if name == "qwen":
        path = extra("dashscope", "resources", "qwen.tiktoken")
        return Peer(real_tokenizers.by_tiktoken(name, path, QWEN_PATTERN))
    if name == "llama3":
        return Peer(real_tokenizers.by_tokenizers(name, real_tokenizers.llama3(folder)[0]))
    real = real_tokenizers.by_sentencepiece(name, vocabs / "mistral_v3.model")
    return Peer(real, sentencepiece_words(vocabs / "mistral_v3.model"))


def sentencepiece_words(path: Path) -> Callable[[int], bytes]:
    library = pytest.importorskip("sentencepiece")
    pieces = library.SentencePieceProcessor(model_file=str(path))

    @cache
    def word_of(id: int) -> bytes:
        if pieces.is_byte(id):
            return bytes([int(pieces.id_to_piece(id)[3:-1], 16)])
        word: str = pieces.id_to_piece(id).replace("\u2581", " ")
        return word.encode()

    return word_of


def check_rollout(peer: Peer, ids: list[int], drawn: random.Random, counts: Counter[str]) -> None:
    mask = rollouts.sampled(drawn, len(ids))
    # SentencePiece puts a space before a text, and takes it away again.
    given = ids
    if peer.is_padded:
        if not ids or not peer.word_of(ids[0])[1:] or not peer.word_of(ids[0]).startswith(b" "):
            return
        if rollouts.without_text([peer.word_of(id) for id in ids]):
            return

        def encode(text: str) -> list[int]:
            return peer.real.encode(text[1:])
    else:
        encode = peer.real.encode
    expected = rollouts.spans(encode, peer.word_of, given, mask, peer.cuts)
    prompt = next((at for at, flag in enumerate(mask) if flag), len(mask))
    if drawn.random() < 0.5:
        check = tokdfa.check_rollout(peer.tokenizer, given, mask)
    else:
        check = tokdfa.check_rollout(peer.tokenizer, given, mask[prompt:], prompt)
    assert rollouts.found(check) == expected, (peer.real.name, given, mask)
    assert bool(check) == (not any(row.name == "bugs" for row in expected))
    assert check.sampled == sum(mask)
    counts.update(row.name for row in expected)
    counts["no text"] += sum(row.canonical is None for row in expected)
    counts["canonical"] += not expected
    counts["rollouts"] += 1


def drawn_rollout(peer: Peer, corpus: str, drawn: random.Random) -> list[int]:
    parts: list[int] = []
    for _ in range(drawn.randrange(1, 5)):
        at = drawn.randrange(len(corpus))
        text = corpus[at : at + drawn.choice([5, 40, 150, 400])]
        if drawn.random() < 0.2:
            text = real_tokenizers.text(drawn, peer.real.specials)
        parts += peer.real.encode(text)
        if peer.real.specials and drawn.random() < 0.4:
            parts += peer.real.encode(drawn.choice(peer.real.specials))
    if drawn.random() < 0.8:
        parts = rollouts.drifted(drawn, parts, peer.spell, peer.word_of)
    if peer.real.specials and drawn.random() < 0.2:
        # A special token spelled by ordinary ones.
        content = drawn.choice(peer.real.specials)
        cut = drawn.randrange(1, max(len(content), 2))
        at = drawn.randrange(len(parts) + 1)
        parts[at:at] = peer.real.encode(content[:cut]) + peer.real.encode(content[cut:])
    if drawn.random() < 0.2:
        parts = edited(drawn, parts, peer.real.ids, range(1, 3))
    return parts


def assert_rollouts_agree(peer: Peer, data: Path, n: int, seed: int) -> Counter[str]:
    drawn = random.Random(f"{peer.real.name} {seed}")
    corpora = [(data / "corpora" / name).read_text(encoding="utf-8")[:1_000_000] for name in CORPORA]
    counts: Counter[str] = Counter()
    for _ in range(n):
        check_rollout(peer, drawn_rollout(peer, drawn.choice(corpora), drawn), drawn, counts)
    return counts


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("llama3")


@pytest.mark.parametrize("name", NAMES)
def test_rollouts_of_real_tokenizers(name: str, data: Path, folder: Path) -> None:
    counts = assert_rollouts_agree(peer(name, data, folder), data, 60, 0)
    assert min(counts["bugs"], counts["drift"], counts["junctions"]) > 20, counts
    assert counts["canonical"] > 0, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_rollouts_of_real_tokenizers(name: str, data: Path, folder: Path, tally: Tally) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds(10):
        counts += assert_rollouts_agree(peer(name, data, folder), data, 1000, seed + 1)
    print(name, dict(counts))
    tally("rollouts", "random cases", 1000 * len(seeds(10)))


# Qwen with NFC, from a tokenizer.json that is in TOKDFA_EXTRA: ids may spell a text that is not normalized.


def check_normalized(peer: Peer, ids: list[int], drawn: random.Random, counts: Counter[str]) -> None:
    mask = rollouts.sampled(drawn, len(ids))
    words = [peer.word_of(id) for id in ids]
    bad = rollouts.without_text(words)
    as_form = pytest.importorskip("tokenizers").normalizers.NFC().normalize_str
    again: list[int] = []
    is_normal = True
    for is_bad, run in groupby(range(len(ids)), key=bad.__contains__):
        places = [*run]
        text = "" if is_bad else b"".join(words[at] for at in places).decode()
        is_normal &= as_form(text) == text
        again += [ids[at] for at in places] if is_bad else peer.real.encode(text)
    spans = rollouts.found(tokdfa.check_rollout(peer.tokenizer, ids, mask))
    if is_normal:
        assert spans == rollouts.spans(peer.real.encode, peer.word_of, ids, mask), (ids, mask)
    repaired, at = [], 0
    for row in spans:
        assert row.start >= at, (ids, mask)
        own = ids[row.start : row.stop]
        assert row.canonical is None or [*row.canonical] != own, (ids, mask)
        repaired += [*ids[at : row.start], *(own if row.canonical is None else row.canonical)]
        at = row.stop
        flags = {*mask[row.start : row.stop]}
        if flags:
            name = "junctions" if len(flags) > 1 else "drift" if flags == {1} else "bugs"
            assert row.name == name, (ids, mask)
        counts[row.name] += 1
        counts["no text"] += row.canonical is None
    assert repaired + ids[at:] == again, (ids, mask)
    counts["canonical"] += not spans
    counts["not normalized"] += not is_normal
    counts["rollouts"] += 1


def assert_normalized_rollouts(data: Path, n: int, seed: int) -> Counter[str]:
    own = Peer(real_tokenizers.by_tokenizers("qwen with NFC", extra("qwen", "tokenizer.json")))
    assert isinstance(own.tokenizer, Tokenizer)
    assert not own.tokenizer.is_plain
    assert own.tokenizer.form == "NFC"
    drawn = random.Random(f"{own.real.name} {seed}")
    corpora = [(data / "corpora" / name).read_text(encoding="utf-8")[:1_000_000] for name in CORPORA]
    counts: Counter[str] = Counter()
    for _ in range(n):
        ids = drawn_rollout(own, drawn.choice(corpora), drawn)
        if drawn.random() < 0.4:
            at = drawn.randrange(len(ids) + 1)
            ids[at:at] = own.tokenizer.read_in_form[0].encode(normalized.text(drawn)).tolist()
        check_normalized(own, ids, drawn, counts)
    return counts


def test_rollouts_of_a_real_tokenizer_with_nfc(data: Path) -> None:
    counts = assert_normalized_rollouts(data, 60, 0)
    assert min(counts[name] for name in ("bugs", "drift", "junctions")) > 20, counts
    assert min(counts["canonical"], counts["not normalized"]) > 0, counts


@pytest.mark.slow
def test_many_rollouts_of_a_real_tokenizer_with_nfc(data: Path, tally: Tally) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds(10):
        counts += assert_normalized_rollouts(data, 1000, seed + 1)
    print("qwen with NFC", dict(counts))
    tally("rollouts", "random cases", 1000 * len(seeds(10)))


# Small tokenizers, at random: rules over bytes, splits, special tokens that overlap and that ordinary ones spell.

SYMBOLS = [*"ab ab 1\n'<|>", "  ", "é", "☃", "<|x|>", "<|", "it's", "\n\n", "12"]
PATTERNS = [None, r"\p{L}+|[^\p{L}]+", r" ?\p{L}+| ?\d+|\s+(?!\S)|\s+|[^\s\p{L}\d]+", r"\s*[\r\n]+|\s+(?!\S)|\s+|\S+"]


def small_file(drawn: random.Random) -> dict[str, Any]:
    words = [symbol.encode()[i : i + 1] for symbol in SYMBOLS for i in range(len(symbol.encode()))]
    rules: list[tuple[bytes, bytes]] = []
    for _ in range(drawn.randrange(30)):
        rule = (drawn.choice(words), drawn.choice(words))
        if rule not in rules:
            rules.append(rule)
            words.append(rule[0] + rule[1])
    fields = tokenizer_json(rules)
    vocab = fields["model"]["vocab"]
    contents = drawn.sample(["<|x|>", "<|end|>", "<", "a b", "|>"], drawn.randrange(3))
    fields["added_tokens"] = [added_token(len(vocab) + at, content) for at, content in enumerate(contents)]
    fields["model"]["ignore_merges"] = drawn.random() < 0.3
    if drawn.random() < 0.3:
        fields["model"]["merges"] = drawn.sample(fields["model"]["merges"], len(rules))
    pattern = drawn.choice(PATTERNS)
    if pattern is not None:
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        byte_level = fields["pre_tokenizer"] | {"use_regex": False}
        fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    return fields


def assert_small_rollouts(seed: int, path: Path, n: int, counts: Counter[str]) -> None:
    drawn = random.Random(seed)
    path.write_text(json.dumps(small_file(drawn)), encoding="utf-8")
    try:
        own = Peer(real_tokenizers.by_tokenizers(f"seed {seed}", path))
    except (tokdfa.TokdfaError, ValueError):
        counts["refused"] += 1
        return
    ids = own.real.ids
    for _ in range(n):
        parts: list[int] = []
        for _ in range(drawn.randrange(1, 6)):
            parts += own.real.encode("".join(drawn.choices(SYMBOLS, k=drawn.randrange(12))))
            parts += drawn.choices(ids, k=drawn.choice([0, 0, 0, 1]))
        parts = rollouts.drifted(drawn, parts, own.spell, own.word_of)
        check_rollout(own, parts, drawn, counts)


def test_rollouts_of_small_tokenizers(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    counts: Counter[str] = Counter()
    for seed in range(80):
        assert_small_rollouts(seed, tmp_path / "tokenizer.json", 10, counts)
    assert min(counts[name] for name in ("bugs", "drift", "no text", "canonical")) > 50, counts
    assert counts["junctions"] > 10, counts
    assert counts["rollouts"] > 300, counts


@pytest.mark.slow
def test_many_rollouts_of_small_tokenizers(tmp_path: Path, tally: Tally) -> None:
    pytest.importorskip("tokenizers")
    counts: Counter[str] = Counter()
    for seed in seeds(2000):
        assert_small_rollouts(1000 + seed, tmp_path / "tokenizer.json", 12, counts)
    print(dict(counts))
    tally("rollouts", "random cases", 12 * len(seeds(2000)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", random_files.KINDS)
def test_repairing_gives_what_the_library_gives_many_times(kind: str, tally: Tally) -> None:
    counts, chosen = Counter[str](), seeds(1000)
    for seed in chosen:
        drawn = random.Random(seed)
        member = of_tokenizer_json(kind, random_files.KINDS[kind](drawn))
        if member is not None:
            counts += laws.check(member, drawn) + laws.check(member, drawn)
    print(kind, dict(counts))
    assert min(counts[name] for name in ("bugs", "drift", "junctions", "canonical")) > len(chosen) // 20
    tally("rollouts", "random cases", len(chosen))
