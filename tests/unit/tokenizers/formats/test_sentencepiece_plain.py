"""Compiled code reads models as the packages of protocol buffers do, and refuses them with the same words."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

import tokdfa
from tests.support import sentencepieces, unigrams
from tests.support.seeds import seeds
from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats import sentencepiece
from tokdfa.tokenizers.formats.sentencepiece import read_plain_model

pb: Any = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")


def _answer(data: bytes) -> object:
    try:
        tokenizer = tokdfa.load(data, format="sentencepiece")
    except FileFormatError as error:
        return type(error), str(error)
    return tokenizer.made_of, tokenizer.n_ids, tokenizer.specials, tokenizer.rewriting


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], object]:
    def answer(data: bytes) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(sentencepiece, "read_plain_model", lambda _: None)
            return _answer(data)

    return answer


@pytest.mark.parametrize("make", [sentencepieces.changed, unigrams.changed_sentencepiece, unigrams.any_sentencepiece])
def test_random_models(make: Callable[[random.Random], bytes], slowly: Callable[[bytes], object]) -> None:
    n_plain = 0
    for seed in seeds(25):
        data = make(random.Random(seed))
        n_plain += read_plain_model(data) is not None
        assert _answer(data) == slowly(data)
    assert n_plain > 15


@pytest.mark.parametrize("make", [sentencepieces.changed, unigrams.any_sentencepiece])
def test_spoiled_models(make: Callable[[random.Random], bytes], slowly: Callable[[bytes], object]) -> None:
    n_plain = n_odd = 0
    for seed in seeds(12):
        dice = random.Random(seed)
        data = make(dice)
        message = pb.ModelProto.FromString(data)
        message.normalizer_spec.precompiled_charsmap = b""
        data = message.SerializeToString()
        for _ in range(25):
            spoiled = bytearray(data)
            for _ in range(dice.randint(1, 2)):
                # The settings come last.
                at = dice.choice([dice.randrange(len(data)), dice.randrange(max(0, len(data) - 120), len(data))])
                usual = [0, 1, 2, 8, 10, 13, 18, 24, 0x80, 0xFF, dice.randrange(256)]
                what = bytes(dice.choices(usual, k=dice.randint(0, 2)))
                spoiled[at : at + dice.randint(0, 2)] = what
            given = bytes(spoiled)
            n_plain += read_plain_model(given) is not None
            n_odd += read_plain_model(given) is None
            assert _answer(given) == slowly(given)
        assert _answer(data[: dice.randrange(len(data))]) is not None
    assert min(n_plain, n_odd) > 20


def field(number: int, form: int, value: bytes) -> bytes:
    return bytes([number << 3 | form]) + (bytes([len(value)]) if form == 2 else b"") + value


def piece(text: bytes, score: float | None = None, kind: int | None = None, *more: bytes) -> bytes:
    parts = field(1, 2, text)
    parts += b"" if score is None else field(2, 5, struct.pack("<f", score))
    parts += b"" if kind is None else field(3, 0, bytes([kind]))
    return field(1, 2, parts + b"".join(more))


PIECES = piece(b"<unk>", 0, 2) + piece(b"a", -1) + piece(b"b") + piece(b"ab", -0.5, 1)
PARTS = field(2, 2, b"") + field(3, 2, b"")


@pytest.mark.parametrize(
    ("data", "is_plain"),
    [
        (PIECES + PARTS, True),
        (PARTS + PIECES + field(4, 2, b"xy") + field(5, 2, b""), True),
        (PIECES + field(2, 2, field(3, 0, b"\2")) + field(3, 2, field(1, 2, b"x")), True),
        (PIECES + PARTS + field(15, 0, b"\x80\1") + field(14, 1, b"12345678") + field(13, 5, b"1234"), True),
        (PIECES, False),
        (PIECES + field(2, 2, b""), False),
        (PARTS, False),
        (b"", False),
        (PIECES + PARTS + PARTS, False),
        (PIECES + PARTS + b"\x0b\x0c", False),
        (PIECES + PARTS + b"\0", False),
        (PIECES + PARTS[:-1], False),
        (PIECES + PARTS + field(15, 0, b"\x80"), False),
        (PIECES + PARTS + field(14, 1, b"1"), False),
        (PIECES + PARTS + piece(b""), False),
        (PIECES + PARTS + piece(b"c\0"), False),
        (PIECES + PARTS + piece(b"\xff"), True),
        (PIECES + PARTS + piece(b"c", 0, 7), False),
        (PIECES + PARTS + piece(b"c", 0, 0), False),
        (PIECES + PARTS + piece(b"c", 0, 1, field(2, 5, b"1234")), False),
        (PIECES + PARTS + piece(b"c", 0, 1, field(1, 2, b"d")), False),
        (PIECES + PARTS + piece(b"c", 0, 1, field(3, 0, b"\1")), False),
        (PIECES + PARTS + piece(b"c", 0, 1, field(4, 0, b"\1")), False),
        (PIECES + PARTS + piece(b"c", 0, 1, b"\x15\0\0"), False),
        (PIECES + PARTS + piece(b"c", float("nan")), True),
        (PIECES + PARTS + piece(b"c", 3e38), True),
        (PIECES + PARTS + piece(b"a"), True),
        (PIECES + PARTS + piece(b"c", 0, 2), True),
        (PIECES + PARTS + piece(b"c", 0, 5), True),
        (PIECES + field(2, 2, field(3, 0, b"\3")) + field(3, 2, b""), True),
        (PIECES + field(2, 2, field(3, 0, b"\5")) + field(3, 2, b""), False),
        (PIECES + field(2, 2, field(3, 0, b"\1") * 2) + field(3, 2, b""), False),
        (PIECES + field(2, 2, field(3, 2, b"\1")) + field(3, 2, b""), False),
        (PIECES + field(2, 2, b"\xe0\2" + b"\1\xff") + field(3, 2, b""), False),
        (PIECES + field(2, 2, b"\x98\2\2") + field(3, 2, b""), False),
        (PIECES + field(2, 2, b"") + field(3, 2, field(7, 0, b"\1")), False),
        (PIECES + field(2, 2, b"") + field(3, 2, field(3, 0, b"\2")), False),
        (PIECES + PARTS + field(5, 2, field(2, 2, b"1234")), False),
    ],
)
def test_messages_are_those_of_the_slow_reader(data: bytes, is_plain: bool, slowly: Callable[[bytes], object]) -> None:
    assert (read_plain_model(data) is not None) == is_plain
    assert _answer(data) == slowly(data)
