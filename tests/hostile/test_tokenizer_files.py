"""Spoiled tokenizer files: each is one clear error, or a model that does what the file's own library does."""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokdfa
from tests.support.tokenizer_files import (
    RULES,
    TEXTS,
    added_token,
    as_bytes,
    merges_txt,
    spell,
    tekken_json,
    tiktoken_lines,
    tokenizer_json,
    vocabulary,
)
from tokdfa.base.errors import FileFormatError, LimitExceededError, PatternError
from tokdfa.tokenizers.encoding.piece_ids import ForeignSymbolError

Oracle = Callable[[bytes, Path], "Callable[[str], list[int]] | None"]

TEXTS = [*TEXTS, "aaa the é", "\x01 ~", "they're 12"]


def assert_agrees_or_refused(data: bytes, path: Path, oracle: Oracle) -> bool:
    """Load a file; return whether it loads. Then the library must load it, too, and both must agree."""
    path.write_bytes(data)
    try:
        split = "none" if path.suffix == ".tiktoken" else None
        tokenizer = tokdfa.load(path, format=FORMATS.get(path.name), pretokenizer=split)
    except (FileFormatError, PatternError, LimitExceededError) as error:
        message, is_of_the_file = str(error), not isinstance(error, PatternError)
    else:
        encode = oracle(data, path)
        assert encode is not None, "the library refuses it"
        for text in TEXTS:
            try:
                ids = tokenizer.encode(text).tolist()
            except ForeignSymbolError as error:
                foreign = str(error.value)
            else:
                assert ids == encode(text)
                continue
            # The library leaves such a symbol out, so its ids have another text.
            assert foreign in text
            assert encode(foreign) == []
        return True
    assert "\n" not in message
    assert len(message) < 600
    assert message.startswith(str(path)) or not is_of_the_file
    return False


# The libraries


def by_tokenizers(data: bytes, _: Path) -> Callable[[str], list[int]] | None:
    library = pytest.importorskip("tokenizers")
    try:
        tokenizer = library.Tokenizer.from_str(data.decode())
    except Exception:
        return None
    return lambda text: tokenizer.encode(text).ids  # type: ignore[no-any-return]


def by_tiktoken(data: bytes, _: Path) -> Callable[[str], list[int]] | None:
    tiktoken = pytest.importorskip("tiktoken")
    rows = (line.split() for line in data.splitlines() if line)
    ranks = {base64.b64decode(word): int(rank) for word, rank in rows}
    encoding = tiktoken.Encoding("spoiled", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})
    return encoding.encode_ordinary  # type: ignore[no-any-return]


def by_mistral_common(_: bytes, path: Path) -> Callable[[str], list[int]] | None:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    try:
        tokenizer = tekken.Tekkenizer.from_file(path)
    except Exception:
        return None
    return lambda text: tokenizer.encode(text, bos=False, eos=False)  # type: ignore[no-any-return]


def by_rules(data: bytes, _: Path) -> Callable[[str], list[int]] | None:
    # The meaning of a merges.txt of GPT-2's kind: its rules with GPT-2's numbering, in the tokenizers library.
    library = pytest.importorskip("tokenizers")
    lines = data.decode().split("\n")
    if "#version" in lines[0]:
        del lines[0]
    rules = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
    vocab = vocabulary([])
    for u, v in rules:
        vocab.setdefault(u + v, len(vocab))
    for part in (part for rule in rules for part in rule):
        vocab.setdefault(part, len(vocab))
    model = library.models.BPE(vocab, rules)
    tokenizer = library.Tokenizer(model)
    tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return lambda text: tokenizer.encode(text).ids  # type: ignore[no-any-return]


FILES: dict[str, tuple[bytes, Oracle]] = {
    "tokenizer.json": (as_bytes(tokenizer_json()), by_tokenizers),
    "x.tiktoken": (tiktoken_lines(), by_tiktoken),
    "tekken.json": (as_bytes(tekken_json()), by_mistral_common),
    "merges.txt": (merges_txt().encode(), by_rules),
}


# One character outside the alphabet makes it a file of characters, which is another matter.
FORMATS = {"merges.txt": "merges-bytes"}


@pytest.fixture
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return tmp_path / str(request.param)


every_file = pytest.mark.parametrize("path", FILES, indirect=True)


@every_file
def test_unspoiled_files_load(path: Path) -> None:
    loaded = assert_agrees_or_refused(*spoiled(path), FILES[path.name][1])
    assert loaded


def spoiled(path: Path, spoil: Callable[[bytes], bytes] = bytes) -> tuple[bytes, Path]:
    return spoil(FILES[path.name][0]), path


# Bytes


@every_file
def test_cut_off_anywhere(path: Path) -> None:
    data, oracle = FILES[path.name]
    ends = range(0, len(data), max(len(data) // 150, 1))
    loaded = [assert_agrees_or_refused(data[:end], path, oracle) for end in ends]
    assert not all(loaded)
    if path.name.endswith("json"):
        assert not any(loaded)


@every_file
def test_a_byte_changed_anywhere(path: Path) -> None:
    data, oracle = FILES[path.name]
    choice = random.Random(7)
    for _ in range(300):
        at = choice.randrange(len(data))
        byte = choice.choice(b'\x00\t\n\r "\\[]{},:0159=+/Zaz\x7f\x80\xc3\xe2\xf0\xff')
        assert_agrees_or_refused(data[:at] + bytes([byte]) + data[at + 1 :], path, oracle)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(choice=st.data())
def test_bytes_inserted_and_removed(name: str, choice: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    data, oracle = FILES[name]
    begin = choice.draw(st.integers(0, len(data)))
    end = choice.draw(st.integers(begin, min(begin + 20, len(data))))
    inserted = choice.draw(st.one_of(st.binary(max_size=8), st.text(max_size=8).map(str.encode)))
    assert_agrees_or_refused(data[:begin] + inserted + data[end:], tmp_path_factory.getbasetemp() / name, oracle)


@every_file
@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b" ", b"\t"),
        lambda data: data.replace(b" ", b"  "),
        lambda data: data + data,
        lambda data: data + b"\x00",
        lambda data: data + b"\n" * 3,
        lambda data: b"\n" + data,
        lambda data: b"\x1f\x8b" + data,
        lambda data: b"\x80\x04\x95" + data,
        lambda data: data[::-1],
        lambda data: b"[" * 1_000_000,
        lambda data: b'{"a":' * 100_000,
        lambda data: b"\xff" * 1000,
    ],
)
def test_spoiled_as_a_whole(path: Path, spoil: Callable[[bytes], bytes]) -> None:
    assert_agrees_or_refused(*spoiled(path, spoil), FILES[path.name][1])


# Lines


@pytest.mark.parametrize("path", ["x.tiktoken", "merges.txt"], indirect=True)
def test_lines_moved(path: Path) -> None:
    data, oracle = FILES[path.name]
    lines = data.splitlines(keepends=True)
    choice = random.Random(8)
    for _ in range(100):
        moved = lines.copy()
        kind = choice.randrange(4)
        i, j = choice.randrange(len(lines)), choice.randrange(len(lines))
        if kind == 0:
            moved[i], moved[j] = moved[j], moved[i]
        elif kind == 1:
            moved.insert(i, moved[j])
        elif kind == 2:
            del moved[i]
        else:
            choice.shuffle(moved)
        assert_agrees_or_refused(b"".join(moved), path, oracle)


def test_rules_in_a_circle(tmp_path: Path) -> None:
    # Each rule needs what the other makes; nothing is ever made.
    path = tmp_path / "merges.txt"
    loaded = assert_agrees_or_refused(b"aba b\nab ab\nb ab\nbab a\n", path, by_rules)
    assert loaded
    assert not tokdfa.load(path).dictionary.properness()


# Values

ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    2**31,
    2**32,
    2**64,
    10**40,
    "",
    "x",
    "\ud800",
    "é",
    [],
    [None],
    [[]],
    {},
    {"type": "Sequence"},
    {"type": "ByteLevel"},
]


def places(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value; of long lists and objects the first and the last few only."""
    yield where
    if isinstance(value, (dict, list)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys if len(keys) < 30 else [*keys[:2], *keys[-3:]]:
            yield from places(value[key], (*where, key))


def replaced(value: Any, where: tuple[Any, ...], new: Any) -> Any:
    """Return a copy with the value at a path replaced, or removed when `new` is KeyError."""
    value = copy.deepcopy(value)
    inner = value
    for key in where[:-1]:
        inner = inner[key]
    if new is KeyError:
        del inner[where[-1]]
    else:
        inner[where[-1]] = new
    return value


LLAMA_LIKE = tokenizer_json(
    pre_tokenizer={
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": r"\p{L}+"}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        ],
    },
    added_tokens=[added_token(263, "<|end|>"), added_token(264, "<|x|>", normalized=True, special=False)],
)


@pytest.mark.parametrize(
    ("name", "fields", "oracle"),
    [
        ("tokenizer.json", tokenizer_json(), by_tokenizers),
        ("tokenizer.json", LLAMA_LIKE, by_tokenizers),
        ("tekken.json", tekken_json(), by_mistral_common),
        (
            "tekken.json",
            tekken_json(special_tokens=[{"rank": 0, "token_str": "<a>", "is_control": True}]),
            by_mistral_common,
        ),
    ],
    ids=["gpt2", "llama3", "tekken", "tekken with specials"],
)
def test_an_odd_value_anywhere(name: str, fields: dict[str, Any], oracle: Oracle, tmp_path: Path) -> None:
    choice = random.Random(9)
    loaded = 0
    for where in places(fields):
        for new in [KeyError, *choice.sample(ODD, 8)] if where else ODD:
            spoiled = replaced(fields, where, new) if where else new
            loaded += assert_agrees_or_refused(json.dumps(spoiled).encode(), tmp_path / name, oracle)
    assert loaded


@pytest.mark.parametrize("key", ["dropout", "unk_token", "fuse_unk", "byte_fallback", "ignore_merges"])
def test_odd_settings_of_the_model(key: str, tmp_path: Path) -> None:
    for new in ODD:
        fields = replaced(tokenizer_json(), ("model", key), new)
        assert_agrees_or_refused(json.dumps(fields).encode(), tmp_path / "tokenizer.json", by_tokenizers)


PARTS = st.sampled_from([b"a", b"b", b"aa", b"ab", b"ba", b"aba", b" t", b"he"])


@settings(max_examples=100)
@given(
    rules=st.lists(st.tuples(PARTS, PARTS), unique=True, max_size=8),
    text=st.text("ab the", max_size=12),
    ignore_merges=st.booleans(),
)
def test_any_rules_in_any_order(
    rules: list[tuple[bytes, bytes]], text: str, ignore_merges: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # Improper dictionaries, and tokens with several rules, are read as the library reads them.
    path = tmp_path_factory.getbasetemp() / "tokenizer.json"
    fields = tokenizer_json([*RULES, *(rule for rule in rules if rule not in RULES)], added_tokens=[])
    fields["model"]["merges"].reverse()
    fields["model"]["ignore_merges"] = ignore_merges
    vocab = fields["model"]["vocab"]
    for part in (spell(part) for rule in rules for part in rule):
        vocab.setdefault(part, len(vocab))
    data = as_bytes(fields)
    loaded = assert_agrees_or_refused(data, path, by_tokenizers)
    assert loaded
    encode = by_tokenizers(data, path)
    assert encode is not None
    assert tokdfa.load(path).encode(text).tolist() == encode(text)
