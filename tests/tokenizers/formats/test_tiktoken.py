"""Rank files of tiktoken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.tokenizer_files import RANKS, TEXTS, tiktoken_lines

import tokdfa
from tokdfa import Tokenizer
from tokdfa.errors import FileFormatError
from tokdfa.tokenizers.formats.tiktoken import read_tiktoken

HERE = Path("ranks.tiktoken")
LINES = tiktoken_lines()


def read(data: bytes) -> Tokenizer:
    return Tokenizer(read_tiktoken(data, HERE))


def test_the_order_of_the_lines_does_not_matter() -> None:
    lines = LINES.splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    one, other = read(LINES), read(b"\n".join(lines))
    assert one.made_of == other.made_of
    for text in TEXTS:
        assert one.encode(text).tolist() == other.encode(text).tolist()


def test_ids_are_ranks_with_holes() -> None:
    tokenizer = read(tiktoken_lines({word: 2 * rank + 5 for word, rank in RANKS.items()}))
    plain = read(LINES)
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == (2 * plain.encode(text) + 5).tolist()
    with pytest.raises(tokdfa.TokdfaError, match="token 1: no token has this id: 6"):
        tokenizer.decode([5, 6])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xef\xbb\xbf" + LINES, "line 1: the file begins with a byte order mark"),
        (LINES.replace(b"\n", b"\r\n"), "line 1, byte 6: a carriage return; lines must end with a line feed alone"),
        (LINES + b"\xff 7", r"byte 2265: not a character of base64: b'\xff 7'"),
        (LINES[:-5], "line 263, byte 2260: no rank after the token"),
        (LINES + b"YWFhYWE 999", "line 264, byte 2265: base64 of the wrong length: b'YWFhYWE 999'"),
        (LINES + b"YWFhYWE= x", "line 264, byte 2274: a rank must be written in decimal digits: b'x'"),
        (LINES + b"YWFhYWE= 9 9", "byte 2275: unexpected text after the rank"),
        (LINES + b"YWFhYWE= 99999999999", "byte 2274: a rank must be at most 4294967295: b'99999999999'"),
        (LINES + b"YWFhYWE= 4294967295", "the rank is too large: 4294967295 (ids up to 16777215 are supported)"),
        (LINES + b"YWFhYWE= 5", "line 264: the same rank as in line 6: 5"),
        (LINES + b"YWFhYWE= 262", "line 264: the same rank as in line 263: 262"),
        (LINES + b"YWE= 999", "line 264: the same token as in line 261: b'aa'"),
        (LINES + b" 999", "line 264, byte 2265: a rank without a token"),
        (
            LINES[7:],
            "1 of the bytes that text can have are not tokens, the first of them 0x00",
        ),
        (
            b"\n\n",
            "the file has no tokens",
        ),
    ],
)
def test_what_is_no_rank_file(data: bytes, message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(data)
    assert str(caught.value).startswith("ranks.tiktoken")
    assert message in str(caught.value)


@pytest.mark.parametrize(("name", "rules", "special"), [("cl100k", 100_000, 100_257), ("o200k", 199_742, 199_999)])
def test_published_files(name: str, rules: int, special: int, data: Path) -> None:
    tokenizer = tokdfa.load(data / f"vocabs/{name}_base.tiktoken")
    assert (tokenizer.format, len(tokenizer.dictionary)) == ("tiktoken", rules)
    assert tokenizer.dictionary.properness()
    assert len(tokenizer.dictionary.live_rules) == rules
    assert not len(tokenizer.dead_tokens)
    assert not len(tokenizer.whole_piece_tokens)
    assert tokenizer.decode([special]) == "<|endoftext|>"
    assert not tokenizer.finds_specials
    assert special not in tokenizer.encode("<|endoftext|>")
