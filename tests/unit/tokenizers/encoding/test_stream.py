"""Texts that come in parts have the ids of the whole text; ids come when no continuation can change them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.libraries import pair
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa import Tokenizer
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.pretokenizers.steps import NAMED

TEXT = (
    "I've  got 12345 Straßen,\r\n\n \t中文x's!! \n    \n  x \U0001f600 the then\n\n\n" + "the" * 150 + " " * 300
    + "<|end|>the<|en<|end|><|end|>" + "aa" * 400 + "\u0301é\u00a0'll  "
)  # fmt: skip


def chunks(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        yield data[at : at + sizes[0]]
        at += sizes[0]
        sizes = [*sizes[1:], sizes[0]]


def streamed(tokenizer: Tokenizer, data: bytes, sizes: list[int]) -> list[int]:
    stream = tokenizer.stream()
    parts = []
    for part in chunks(data, sizes):
        parts.append(stream.feed(part))
        assert 0 <= stream.n_settled <= stream.n_read
    parts.append(stream.finish())
    return np.concatenate(parts).tolist()


def assert_streamed_as_whole(tokenizer: Tokenizer, text: str, sizes: range = range(1, 65)) -> None:
    expected = tokenizer.encode(text).tolist()
    data = text.encode()
    for size in sizes:
        assert streamed(tokenizer, data, [size]) == expected, size
    draw = random.Random(1)
    assert streamed(tokenizer, data, [draw.randrange(1, 40) for _ in range(100)]) == expected


def write(folder: Path, content: Any) -> Path:
    path = folder / "tokenizer.json"
    path.write_bytes(as_bytes(content))
    return path


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
PRE_TOKENIZERS: dict[str, Any] = {
    "byte level": {**BYTE_LEVEL, "use_regex": True},
    "space in front": {**BYTE_LEVEL, "use_regex": True, "add_prefix_space": True},
    "nothing": BYTE_LEVEL,
    "space later": [{"type": "Digits", "individual_digits": True}, {**BYTE_LEVEL, "add_prefix_space": True}],
    "digits": [{"type": "Digits", "individual_digits": False}, {**BYTE_LEVEL, "use_regex": True}],
    "drops": [{"type": "WhitespaceSplit"}, BYTE_LEVEL],
    "whitespace": [{"type": "Whitespace"}, BYTE_LEVEL],
    "bert": [{"type": "BertPreTokenizer"}, BYTE_LEVEL],
    "punctuation": [{"type": "Punctuation", "behavior": "MergedWithPrevious"}, BYTE_LEVEL],
    "delimiter": [{"type": "CharDelimiterSplit", "delimiter": "h"}, BYTE_LEVEL],
    "inverted": [
        {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Removed", "invert": True},
        BYTE_LEVEL,
    ],
    "fixed length": [{"type": "FixedLength", "length": 5}, BYTE_LEVEL],
}


@pytest.mark.parametrize("kind", PRE_TOKENIZERS)
@pytest.mark.parametrize("whole", [False, True])
def test_every_pre_tokenizer(kind: str, whole: bool, tmp_path: Path) -> None:
    steps = PRE_TOKENIZERS[kind]
    content = tokenizer_json(
        pre_tokenizer={"type": "Sequence", "pretokenizers": steps} if isinstance(steps, list) else steps,
        added_tokens=[
            added_token(263, "<|end|>"),
            added_token(264, "<|e"),
            added_token(265, "nd|>the", normalized=True),
        ],
    )
    content["model"]["ignore_merges"] = whole
    assert_streamed_as_whole(tokdfa.load(write(tmp_path, content)), TEXT, range(1, 65, 7))


@pytest.mark.parametrize("name", NAMED)
def test_every_named_pattern(name: str, tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_bytes((Path(tokdfa.__file__).parent / "tokenizers/data/default.merges.txt").read_bytes())
    assert_streamed_as_whole(tokdfa.load(path, pretokenizer=name), TEXT[:200] + "e" * 300 + TEXT[-80:])


METASPACES = ["always", "first", "never"]


def over_characters(scheme: str | None, suffix: str | None = None) -> dict[str, Any]:
    """A tokenizer over characters."""
    space = "▁" if scheme else " "
    symbols = sorted({*TEXT.replace(" ", space), space})
    words = [f"{space}t", "he", "aa", "aaaa", f"{space}the", "中文"]
    if suffix:
        symbols += [symbol + suffix for symbol in symbols]
    vocab = {word: id for id, word in enumerate([*symbols, *words])}
    merges = [[space, "t"], ["h", "e"], ["a", "a"], ["aa", "aa"], [f"{space}t", "he"], ["中", "文"]]
    content = tokenizer_json(
        pre_tokenizer=None
        if scheme is None
        else {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True},
        decoder={"type": "Fuse"},
        added_tokens=[added_token(len(vocab), "<|end|>")],
    )
    content["model"] |= {"vocab": vocab, "merges": merges, "end_of_word_suffix": suffix}
    return content


@pytest.mark.parametrize("scheme", [None, *METASPACES])
def test_symbols_that_are_characters(scheme: str | None, tmp_path: Path) -> None:
    content = over_characters(scheme)
    assert_streamed_as_whole(tokdfa.load(write(tmp_path, content)), TEXT, range(1, 65, 9))


def test_ends_of_words_are_marked(tmp_path: Path) -> None:
    content = over_characters(None, "</w>")
    content["decoder"] = {"type": "BPEDecoder", "suffix": "</w>"}
    content["pre_tokenizer"] = {"type": "Whitespace"}
    assert_streamed_as_whole(tokdfa.load(write(tmp_path, content)), TEXT, range(1, 65, 9))


def test_without_pre_tokenizer_tokens_come_as_they_are_settled(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_bytes((Path(tokdfa.__file__).parent / "tokenizers/data/default.merges.txt").read_bytes())
    tokenizer = tokdfa.load(path)
    assert_streamed_as_whole(tokenizer, TEXT, range(1, 65, 9))
    stream = tokenizer.stream()
    n_ids = sum(len(stream.feed(b"there is something here ")) for _ in range(100))
    assert stream.n_read == 2400
    assert n_ids > 100
    assert stream.delay < 64
    assert stream.longest_delay <= 256 + 24


def test_delay_is_what_is_not_settled(tmp_path: Path) -> None:
    tokenizer = tokdfa.load(write(tmp_path, tokenizer_json()))
    stream = tokenizer.stream()
    assert stream.feed("the").tolist() == []
    assert (stream.n_read, stream.n_settled, stream.delay) == (3, 0, 3)
    assert len(stream.feed(" th")) == 2
    assert (stream.n_settled, stream.delay, stream.longest_delay) == (3, 3, 3)
    assert len(stream.feed("e<|end|>")) == 2
    assert (stream.n_settled, stream.delay) == (14, 0)
    assert stream.feed(b"\xc3").tolist() == []
    assert len(stream.feed(b"\xa9 ")) == 1
    assert len(stream.feed(b"<|")) == 0
    assert stream.delay == 3
    assert len(stream.finish()) == 3
    assert (stream.n_read, stream.n_settled) == (0, 0)
    assert stream.feed("the ").tolist() == tokenizer.encode("the").tolist()


def test_a_long_piece_is_not_kept(tmp_path: Path) -> None:
    tokenizer = tokdfa.load(write(tmp_path, tokenizer_json()))
    stream = tokenizer.stream()
    n_ids = sum(len(stream.feed("a" * 1000)) for _ in range(50))
    assert n_ids == 50_000 // 4
    assert stream.longest_delay <= 4
    assert len(stream.finish()) == 0


def test_rules_that_are_improper_wait_for_the_end_of_a_piece(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_text("b a\nba b\nbab a\nbaba bab\nba ba\n", encoding="utf-8")
    tokenizer = tokdfa.load(path)
    text = "bababab" * 100
    assert streamed(tokenizer, text.encode(), [3]) == tokenizer.encode(text).tolist()


def slices(data: Path, size: int) -> str:
    corpora = [(data / f"corpora/{name}.txt").read_bytes() for name in ("english", "multilingual", "python_code")]
    return "".join(corpus[2_000_000 : 2_000_000 + size].decode("utf-8", "ignore") for corpus in corpora)


REAL = ["gpt2", "cl100k", "o200k", "tekken"]


@pytest.mark.parametrize("name", REAL)
def test_real_tokenizers(name: str, data: Path) -> None:
    text = slices(data, 1_000) + "<|endoftext|>" + "antidisestablishmentarianism" * 30
    assert_streamed_as_whole(pair(name, data).tokenizer, text, range(1, 65, 9))


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_tokenizers_in_parts_of_every_size(name: str, data: Path) -> None:
    tokenizer = pair(name, data).tokenizer
    assert_streamed_as_whole(tokenizer, slices(data, 10_000))
    text = slices(data, 300_000)
    assert streamed(tokenizer, text.encode(), [1, 64, 5, 4096, 17]) == tokenizer.encode(text).tolist()


@given(st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=6), st.text("ab", max_size=12), st.data())
def test_special_tokens_in_parts(contents: list[str], text: str, data: st.DataObject) -> None:
    specials = [Special(i, content, data.draw(st.integers(0, 1))) for i, content in enumerate(dict.fromkeys(contents))]
    finder = AddedTokens(specials)
    expected = [part if isinstance(part, Special) else part.encode() for part in finder.cut(text) if part != ""]
    stream = finder.stream()
    found: list[Special | bytes] = []
    for size in data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)):
        for part in [*(stream.feed(part) for part in chunks(text.encode(), [size])), stream.finish()]:
            for stretch in part:
                if isinstance(stretch, bytes) and found and isinstance(found[-1], bytes):
                    found[-1] += stretch
                else:
                    found.append(stretch)
        assert found == expected
        found = []


BAD = [
    (b"ab\xff", "byte 2: not UTF-8"),
    (b"the the\xc0\x80", "byte 7: not UTF-8"),
    (b"a\xed\xa0\x80", "byte 1: not UTF-8"),
    (b"the<|end|>\x80", "byte 10: not UTF-8"),
    (b"the <|end|>\xe4\xb8", "byte 11: the text ends within a symbol"),
]


@pytest.mark.parametrize(("data", "message"), BAD)
@pytest.mark.parametrize("pretokenizer", ["gpt2", "none"])
def test_bytes_that_are_not_utf8(data: bytes, message: str, pretokenizer: str, tmp_path: Path) -> None:
    tokenizer = tokdfa.load(write(tmp_path, tokenizer_json()), pretokenizer=pretokenizer)
    for size in (1, 2, 3, 100):
        with pytest.raises(AlphabetError, match=message):
            streamed(tokenizer, data, [size])


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    stream = tokdfa.load(write(tmp_path, tokenizer_json())).stream()
    stream.feed("thé ")
    with pytest.raises(AlphabetError, match="byte 7: half of a surrogate pair"):
        stream.feed("ab\udc80")


def test_symbols_without_token(tmp_path: Path) -> None:
    vocab = {symbol: id for id, symbol in enumerate(["a", "b", "é", "ab"])}
    content = tokenizer_json(pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[added_token(4, "<|end|>")])
    content["model"] |= {"vocab": vocab, "merges": [["a", "b"]]}
    for pre_tokenizer in (None, {"type": "Digits", "individual_digits": True}):
        content["pre_tokenizer"] = pre_tokenizer
        tokenizer = tokdfa.load(write(tmp_path, content))
        for text, character in (("abéx", 3), ("ab<|end|>é中a", 10), ("éab" * 200 + "x", 600), ("b" * 600 + "éX", 601)):
            with pytest.raises(AlphabetError, match=rf"^character {character}: the symbol is not in the base alphabet"):
                tokenizer.encode(text)
            byte = len(text[:character].encode())
            for size in (1, 5, 1000):
                with pytest.raises(AlphabetError, match=f"^byte {byte}: the symbol is not in the base alphabet"):
                    streamed(tokenizer, text.encode(), [size])
