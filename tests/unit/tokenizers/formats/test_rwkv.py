"""Vocabularies of RWKV: literals of Python, the longest token first, and the same tokens in GGUF files."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

import tokdfa
from tests.support.commands import run
from tests.support.families import of_longest_match
from tests.support.family_files import ranks
from tests.support.gguf_files import Typed, gguf, prefixed
from tests.support.seeds import seeds
from tests.support.tokenizer_files import rwkv_lines
from tokdfa.base.errors import AlphabetError, FileFormatError, UnsupportedFeatureError

BYTES = {bytes([byte]): byte + 1 for byte in range(256)}
TOKENS = BYTES | {b"ab": 300, b"abc": 301, "é".encode(): 302, b"\xa9a": 303, b"'\"\\\n": 304, b" a": 305}
TEXTS = ["".join(text) for n in range(5) for text in product("abcé ", repeat=n)]


def of_gguf(known: dict[bytes, int], **changes: Typed) -> dict[str, Typed]:
    """Return the keys of a GGUF file, as llama.cpp's converter writes them; ids without a token are made up."""
    words = {id: repr(token)[2:-1] for token, id in known.items()}
    n_ids = max(words) + 1
    texts = ["<s>", *(words.get(id, f"<unused {id}>") for id in range(1, n_ids))]
    fields = {
        "general.architecture": Typed("string", "rwkv6"),
        "model": Typed("string", "rwkv"),
        "tokens": Typed("string", texts),
        "token_type": Typed("i32", [3, *[1] * (n_ids - 1)]),
    }
    return prefixed({**fields, **changes})


def test_the_longest_token_is_taken_at_each_offset() -> None:
    tokenizer = tokdfa.load(rwkv_lines(TOKENS))
    assert tokenizer.encode("abcab").tolist() == [301, 300]
    assert tokenizer.encode("éa").tolist() == [302, 98]
    assert tokenizer.algorithm == tokenizer.semantics == "longest match"
    assert tokenizer.facts()["longest_token"] == 4
    assert not tokenizer.validate([98, 99])
    assert tokenizer.validate([98, 99]).index == 0
    assert not tokenizer.validate([0xC3 + 1, 303])


@pytest.mark.parametrize("shift", range(3))
def test_texts_of_a_megabyte_are_matched_in_parts(shift: int) -> None:
    # Wherever a part ends, it does not cut a token in two.
    ids = tokdfa.load(rwkv_lines(TOKENS)).encode("b" * shift + "abc" * 400_000).tolist()
    assert ids == [99] * shift + [301] * 400_000


def test_sides_of_a_cut_are_encoded_separately() -> None:
    tokenizer = tokdfa.load(rwkv_lines(TOKENS))
    cuts = 0
    for left, right in product([text for text in TEXTS if len(text) in (1, 2)], repeat=2):
        apart = [*tokenizer.encode(left).tolist(), *tokenizer.encode(right).tolist()]
        is_cut = tokenizer.boundaries.is_cut(left[-1], right[0])
        assert not is_cut or tokenizer.encode(left + right).tolist() == apart
        cuts += is_cut
        stream = tokenizer.stream()
        parts = [*stream.feed(left).tolist(), *stream.feed(right).tolist(), *stream.finish().tolist()]
        assert parts == tokenizer.encode(left + right).tolist()
    assert cuts > 100


def test_gguf_files_have_the_same_tokens() -> None:
    merged = 0
    for seed in seeds(4):
        drawn = random.Random(seed)
        tokens = {word: id + 1 for word, id in ranks(drawn, proper=False).items() if word}
        member = of_longest_match("longest match", tokens)
        tokenizer = tokdfa.load(gguf(of_gguf(tokens)))
        for _ in range(40):
            text = member.text(drawn)
            ids = member.encode(text)
            assert ids is not None
            if "<s>" not in text and "<unused" not in text:
                assert tokenizer.encode(text).tolist() == ids
                merged += len(ids) < len(text.encode())
            assert tokenizer.decode_bytes(ids) == text.encode()
        assert tokenizer.encode("a<s>").tolist()[-1] == 0
    assert merged > 40


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"1 'a' 1\n\n", "line 2: a line must be"),
        (b"1 'a' 2\n", "line 1: the token has 1 bytes"),
        (b"1 '' 0\n", "line 1: the token has 0 bytes"),
        (b"1 'a' 1\n1 'b' 1\n", "line 2: the id or the token is there twice"),
        (b"1 'a' 1\n2 b'a' 1\n", "line 2: the id or the token is there twice"),
        (b"1 'a' 1\n2 f'{a}' 1\n", "line 2: a line must be"),
        (b"1 'a' 1\n2 '\\ud800' 3\n", "line 2: not a literal of Python"),
        (b"1 'a' 1\n2 '\\N{nothing}' 1\n", "line 2: not a literal of Python"),
        (b"1 'a' 1\n99999999 'b' 1\n", "an id must be at most"),
        (b"1 'a' 1\n2 '\xff' 1\n", "not UTF-8"),
        (b"1 'a' 1\n", "of the bytes that text can have are not tokens"),
    ],
)
def test_spoiled_vocabularies_name_the_line(lines: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rwkv_vocab.txt"
    path.write_bytes(lines)
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(path, format="rwkv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\\", "an escape"),
        ("\\xAB", "an escape"),
        ("\\x9", "an escape"),
        ("\\x61", "the same token as"),
    ],
)
def test_gguf_tokens_that_are_refused(text: str, message: str) -> None:
    fields = of_gguf(BYTES)
    words = fields["tokenizer.ggml.tokens"].value
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(gguf(of_gguf(BYTES, tokens=Typed("string", [*words, text]), token_type=Typed("i32", [1] * 258))))


def test_fingerprints_tell_the_parts_that_differ() -> None:
    one, other = (tokdfa.load(rwkv_lines(tokens)) for tokens in (TOKENS, {**TOKENS, b"ab": 299}))
    assert one.fingerprint == tokdfa.load(rwkv_lines(TOKENS)).fingerprint
    assert tokdfa.fingerprint(one).changed(tokdfa.fingerprint(other)) == ("ids",)


def test_commands_describe_and_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rwkv_vocab_v20230424.txt"
    path.write_bytes(rwkv_lines(TOKENS))
    for command, more in (("info", []), ("fingerprint", []), ("compare", [str(path)]), ("encode", ["abc"])):
        assert run(command, str(path), *more) == 0, command
    assert "longest match" in capsys.readouterr().out


def test_options_without_effect_are_refused() -> None:
    data = rwkv_lines(TOKENS)
    with pytest.raises(UnsupportedFeatureError, match="texts that are not split"):
        tokdfa.load(data, pretokenizer="gpt2")
    with pytest.raises(UnsupportedFeatureError, match="follows rwkv"):
        tokdfa.load(data, unicode="tokenizers==0.20.3")
    with pytest.raises(AlphabetError, match="half of a surrogate pair"):
        tokdfa.load(data).encode("a\ud800")
