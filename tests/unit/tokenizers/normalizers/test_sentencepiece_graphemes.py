"""The normalizers of tokenizers that are tables, compared with the library's own."""

from __future__ import annotations

import json
import pickle
import random
from contextlib import nullcontext
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tokdfa.regex.unicode
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.tables.graphemes import charsmap
from tests.support import sentencepieces
from tests.support.seeds import seeds
from tests.support.unicode_texts import character, unicode_text
from tokdfa.base.errors import FileFormatError, TokdfaError
from tokdfa.regex.unicode.ranges import characters_of, decode
from tokdfa.tokenizers.formats.charsmap import read_charsmap
from tokdfa.tokenizers.formats.writers.text_steps import normalizer_fields
from tokdfa.tokenizers.formats.writers.tokenizer_json import tokenizer_json
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.normalizers.sentencepiece import (
    LlamaCppUnigramNormalizer,
    Precompiled,
    SentencePieceNormalizer,
)
from tokdfa.tokenizers.normalizers.steps import ByteLetters, Chain, Nmt, Normalizer

tokenizers = pytest.importorskip("tokenizers")
library = tokenizers.normalizers
GRAPHEMES = json.loads(
    (Path(tokdfa.regex.unicode.__file__).parent / "data" / "graphemes.json").read_text(encoding="utf-8")
)
MEMBERS = [[*characters_of(decode(deltas))] for deltas in GRAPHEMES.values() if isinstance(deltas, list)]


def nasty_rules(drawn: random.Random) -> dict[str, str]:
    """Rules for characters of all classes that matter to graphemes, and for some sequences of them."""
    rules = {}
    for members in MEMBERS:
        for chosen in drawn.sample(members, min(8, len(members))):
            rules[chosen] = drawn.choice(["X", "", "YZ", "é", chosen + "\u0301"])
    rules |= {"a": "b", "a\u0301": "Q", "\u00a9": "P", "\uac00": "H", "\u0915": "k", "\r": "CR", "\n": "LF"}
    return {word: replacement for word, replacement in rules.items() if "\0" not in word}


def trained_table(rule: str) -> bytes:
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(sentencepieces.trained(rule, False))
    return bytes(model.normalizer_spec.precompiled_charsmap)


def pairs() -> list[tuple[Normalizer, Any]]:
    tables = [charsmap(nasty_rules(random.Random(seed))) for seed in range(3)]
    tables += [trained_table(rule) for rule in ("nmt_nfkc", "nfkc_cf")]
    made: list[tuple[Normalizer, Any]] = [
        (Precompiled(read_charsmap(table, "here", is_text=True), table), library.Precompiled(table)) for table in tables
    ]
    for number in range(16):
        flags = [bool(number >> bit & 1) for bit in range(4)]
        names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
        made.append((BertNormalizer(*flags), library.BertNormalizer(**dict(zip(names, flags, strict=True)))))
    return [*made, (Nmt(), library.Nmt()), (ByteLetters(), library.ByteLevel())]


def text(drawn: random.Random) -> str:
    symbols = [drawn.choice(drawn.choice(MEMBERS)) if drawn.random() < 0.5 else character(drawn) for _ in range(8)]
    return "".join(drawn.sample([*symbols, "a", "\u0301", "\r\n"], drawn.randrange(1, 9)))


def assert_normalized_alike(seed: int, made: list[tuple[Normalizer, Any]]) -> None:
    drawn = random.Random(seed)
    for written in (text(drawn), unicode_text(drawn)):
        for ours, theirs in made:
            assert ours(written) == theirs.normalize_str(written), (seed, ours, ascii(written))


def test_random_texts() -> None:
    made = pairs()
    for seed in range(100):
        assert_normalized_alike(seed, made)


@pytest.mark.slow
def test_many_random_texts(tally: Tally) -> None:
    made = pairs()
    for seed in seeds(50_000):
        assert_normalized_alike(seed, made)
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        for ours, theirs in made:
            written = f"a{chr(code)}b"
            assert ours(written) == theirs.normalize_str(written), (ours, hex(code))
    tally("encoding", "random cases", len(seeds(50_000)))


def test_equality_and_copies() -> None:
    one = Precompiled({"a": "b"}, b"x")
    twin = pickle.loads(pickle.dumps(one))
    assert twin == one
    assert hash(twin) == hash(one)
    assert twin("a\u0301c") == "bc"
    assert one != Precompiled({"a": "c"}, b"y")
    assert repr(one) == f"Precompiled({sha256(b'x').hexdigest()})"


@pytest.mark.parametrize("rules", [{}, {"a": "b"}, {"a": "b", "ab": "c", "\U0001f600": "", "é": "e"}])
def test_a_table_is_read_as_it_was_written(rules: dict[str, str]) -> None:
    table = charsmap({**rules, "z": "z"})
    assert read_charsmap(table, "here", is_text=True) == {**rules, "z": "z"}
    if rules:
        with pytest.raises(FileFormatError, match="not UTF-8"):
            read_charsmap(table[:-2] + b"\xff\0", "here", is_text=True)


def read_one_by_one(table: bytes) -> dict[str, str]:
    """The rules of a table, read node by node from its units."""
    size = int.from_bytes(table[:4], "little")
    units = [int.from_bytes(table[at : at + 4], "little") for at in range(4, 4 + size, 4)]
    replacements = table[4 + size :]
    rules = {}
    nodes = [(b"", (units[0] >> 10) << ((units[0] & 0x200) >> 6))]
    for key, below in nodes:
        for label in range(1, 256):
            place = below ^ label
            if place < len(units) and units[place] & 0x800000FF == label:
                word, after = key + bytes([label]), place ^ (units[place] >> 10) << ((units[place] & 0x200) >> 6)
                if units[place] & 0x100:
                    start = units[after] & 0x7FFFFFFF
                    rules[word.decode()] = replacements[start : replacements.index(0, start)].decode()
                nodes.append((word, after))
        if len(nodes) > 4000 or len(key) > 40:
            raise UnicodeError
    return rules


@pytest.mark.parametrize("seed", seeds(2))
def test_a_table_is_read_in_c_as_node_by_node(seed: int) -> None:
    drawn = random.Random(seed)
    table = charsmap(nasty_rules(drawn))
    assert list(read_charsmap(table, "here").items()) == sorted(read_one_by_one(table).items())
    size = int.from_bytes(table[:4], "little")
    n_read = 0
    for _ in range(60):
        spoiled = bytearray(table)
        for at in drawn.choices(range(8, 4 + size), k=3):
            spoiled[at] = drawn.randrange(256)
        try:
            found = read_charsmap(bytes(spoiled), "here")
        except TokdfaError as error:
            if "not UTF-8" in str(error):
                with pytest.raises(UnicodeError):
                    read_one_by_one(bytes(spoiled))
            continue
        assert list(found.items()) == sorted(read_one_by_one(bytes(spoiled)).items())
        n_read += 1
    assert n_read


@pytest.mark.parametrize("root", [0, 0x2001, 0x2100, 0x80000000])
def test_a_root_that_the_library_refuses(root: int) -> None:
    table = charsmap({"a": "b"})
    spoiled = table[:4] + root.to_bytes(4, "little") + table[8:]
    with pytest.raises(FileFormatError, match=f"here: the character table does not begin with a root: {root}"):
        read_charsmap(spoiled, "here")
    pytest.importorskip("sentencepiece")
    from sentencepiece import SentencePieceProcessor
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(sentencepieces.trained("identity", True))
    for blob, accepted in ((table, True), (spoiled, False)):
        model.normalizer_spec.precompiled_charsmap = blob
        processor = SentencePieceProcessor()
        with nullcontext() if accepted else pytest.raises(RuntimeError, match="precompiled_charsmap is invalid"):
            processor.LoadFromSerializedProto(model.SerializeToString())


SPACINGS: list[SentencePieceNormalizer | LlamaCppUnigramNormalizer] = [
    *(SentencePieceNormalizer(None, *flags) for flags in product((False, True), repeat=3)),
    *(LlamaCppUnigramNormalizer(None, *flags) for flags in product((False, True), repeat=2)),
]


@pytest.mark.parametrize("normalizer", SPACINGS, ids=str)
def test_steps_of_tokenizers_do_the_same_to_every_text(normalizer: Any) -> None:
    fields = normalizer_fields(normalizer)
    model = {"type": "BPE", "vocab": {}, "merges": []}
    written = tokenizer_json(model, pre_tokenizer=None, decoder=None, normalizer=fields)
    peer = tokenizers.Tokenizer.from_str(written.decode())
    texts = ["".join(parts) for n in range(6) for parts in product("a \u2581\n", repeat=n)]
    differing = []
    for text in texts:
        expected = normalizer(text)
        library = text if peer.normalizer is None else peer.normalizer.normalize_str(text)
        assert Chain(normalizer.steps)(text) == library, text
        differing += [text] if library != expected else []
    # llama.cpp puts no space before a text of spaces alone.
    assert differing == ([] if getattr(normalizer, "has_exact_steps", True) else [" " * n for n in range(1, 6)])
