"""Rank files of tiktoken."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import RANKS, TEXTS, tiktoken_lines
from tokdfa import Tokenizer
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.tiktoken import read_tiktoken
from tokdfa.tokenizers.pretokenizers.steps import NAMED

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


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
def test_published_ranks_are_the_encoding_however_they_come(name: str, data: Path, tmp_path: Path) -> None:
    file = data / f"vocabs/{name}_base.tiktoken"
    lines = file.read_bytes().splitlines()
    ranks = {base64.b64decode(word): int(rank) for word, rank in map(bytes.split, lines)}
    tiktoken = pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: ranks)
        peer = tiktoken.Encoding(**public.ENCODING_CONSTRUCTORS[f"{name}_base"]())
    random.Random(1).shuffle(lines)
    texts = ["it's 1234 THE\n\n  x", " a\u0301b e\u0301  ", "don'T 中AAAA\r\n\t"]
    expected = [peer.encode_ordinary(text) for text in texts]
    assert expected != [tokdfa.load(file, pretokenizer="none").encode(text).tolist() for text in texts]
    for source in (file, b"\n".join(lines), dict(reversed(ranks.items()))):
        tokenizer = tokdfa.load(source)
        assert [tokenizer.encode(text).tolist() for text in texts] == expected
        assert {special.content: special.id for special in tokenizer.specials} == peer._special_tokens


def test_other_ranks_need_a_pretokenizer(data: Path) -> None:
    lines = (data / "vocabs/cl100k_base.tiktoken").read_bytes().splitlines(keepends=True)
    # As many as published, but not the same.
    lines[-1] = base64.b64encode(b"no such token") + b" 100255\n"
    for source in (RANKS, LINES, b"".join(lines), b"".join(lines[:-1])):
        with pytest.raises(UnsupportedFeatureError) as caught:
            tokdfa.load(source)
        assert caught.value.hint is not None
        for name in (*NAMED, "a pattern", "or none"):
            assert name in caught.value.hint
        assert tokdfa.load(source, pretokenizer="none").pretokenizer is None


def test_what_does_not_depend_on_the_pattern_needs_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.tiktoken"
    file.write_bytes(LINES)
    (tmp_path / "ids.txt").write_text("116 104")
    assert run("decode", file, tmp_path / "ids.txt") == 0
    assert run("search", file, "th", tmp_path / "ids.txt") == 0
    assert run("locality", file, "--rules", "2") == 0
