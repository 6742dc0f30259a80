"""SentencePiece models: trained on a few lines, written by hand, and changed at random."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from functools import cache
from typing import Any

LINES = [
    *("the cat and the hat, the bat and the mat", "abcabc aabbcc abab", "1 22 333 4444", "don't won't can't"),
    *(
        "Ünïcödé \ufb01ne \u212b ½ cafe\u0301 가각 \uff46\uff55\uff4c\uff4c",
        "tabs\tand\u00a0more  spaces",
        "日本語のテキスト",
    ),
    *("a\u200bb\u00adc", "HELLO World hello WORLD", "x" * 9),
]
RULES = ("identity", "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")
SYMBOLS = [
    *"abchet  \u2581\n\tAé1'\ufb01\u212b가\u1100\u1161\uff46½日\u200b\U0001f600\x00\ufffd",
    "e\u0301",
]


@cache
def trained(rule: str, byte_fallback: bool, kind: str = "bpe", control: tuple[str, ...] = ("c", "\u20ac")) -> bytes:
    """Return a small model of a type: bpe, unigram, char or word; `control` symbols are unknown to all but bpe."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 3),
        model_writer=written,
        model_type=kind,
        vocab_size=(60 if kind == "word" else 150) + 256 * byte_fallback,
        normalization_rule_name=rule,
        byte_fallback=byte_fallback,
        character_coverage=0.98,
        hard_vocab_limit=False,
        user_defined_symbols=["<sep>", "ab\u2581", "日"],
        control_symbols=["<ctl>", *(control if kind != "bpe" else ())],
        minloglevel=2,
    )
    return written.getvalue()


def changed(drawn: random.Random, rules: tuple[str, ...] = RULES, kind: str = "bpe") -> bytes:
    """Return a model with other settings, scores and pieces."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(trained(drawn.choice([*rules, *rules[:1] * 15]), drawn.random() < 0.5, kind))
    for name in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(model.normalizer_spec, name, drawn.random() < (0.85 if name == "escape_whitespaces" else 0.5))
    if drawn.random() < 0.3:
        model.trainer_spec.unk_surface = drawn.choice(["", "?", " x ", "\u2047"])
    type_of = model.pieces[0]
    normal = [piece for piece in model.pieces if piece.type == type_of.NORMAL]
    mode = drawn.randrange(4)
    for piece in normal:
        if mode == 1:
            piece.score = -float(drawn.randrange(10))
        elif mode == 2:
            piece.score = drawn.random()
    there = {piece.piece for piece in model.pieces}
    characters = [piece.piece for piece in normal if len(piece.piece) == 1] if kind != "word" else SYMBOLS[:9]
    for _ in range(drawn.randrange(15) if kind != "char" else 0):
        text = "".join(drawn.choices(characters, k=drawn.randrange(2, 5)))
        if text not in there:
            there.add(text)
            model.pieces.add(piece=text, score=-float(drawn.randrange(200)), type=type_of.NORMAL)
    for text in drawn.sample(["  ", " a", "a b", "\u2581\u2581", "\n", "A", "aa", "\u2581the"], drawn.randrange(3)):
        if text not in there:
            there.add(text)
            model.pieces.add(piece=text, score=0, type=type_of.USER_DEFINED)
    model.trainer_spec.treat_whitespace_as_suffix = drawn.random() < 0.2
    data: bytes = model.SerializeToString()
    return data


def text(drawn: random.Random) -> str:
    return "".join(drawn.choices([*SYMBOLS, *"the ab  ", "<sep>", "<ctl>", "the ", "ab\u2581"], k=drawn.randrange(14)))


def oracle(data: bytes) -> tuple[Callable[[str], list[int]], Callable[[list[int]], str], set[int], int]:
    """Return the library's encode and decode, the ids of control pieces, and the number of ids."""
    import sentencepiece

    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    control = {id for id in range(len(peer)) if peer.is_control(id)}
    return peer.encode, peer.decode, control, len(peer)
