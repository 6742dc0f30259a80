"""SentencePiece models: the ids and texts match the sentencepiece package."""

from __future__ import annotations

import random
import struct
from typing import Any, cast

import sentencepiece
from google.protobuf.message import DecodeError
from sentencepiece import sentencepiece_model_pb2

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import edited
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tokdfa.base.errors import TokdfaError

TEXTS = ["", "the cat and  the", " ab\u2581abc<sep>日", "\ufb01 \u212b½ é", "<ctl>aab\n\tx", "\U0001f600\0 \u200bA"]
# White space at either end, in runs, visible already, and such as tables turn into spaces.
TEXTS += [" ", "   the    ", "ab \u2581 ", "\u2581\u2581a\u2581", "\u00a0a\u3000 b\u2003"]
SCORES = (0.0, -0.0, -1.0, -2.0, 1e30, -1e-45, float("nan"), float("inf"), float("-inf"))
FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
NUMBERS = (0, 1, 255, 256, 1 << 10, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 8, 1 << 9)


def check(data: bytes) -> bool:
    path = folder() / "x.model"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path, format="sentencepiece")
    except TokdfaError:
        return False
    try:
        peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    except RuntimeError as error:
        raise AssertionError(f"the library refuses it: {error}") from None
    must_agree(lambda text: tokenizer.encode(text).tolist(), peer.encode, TEXTS)
    for text in TEXTS:
        ids = peer.encode(text)
        try:
            back = tokenizer.decode(ids)
        except TokdfaError:
            continue
        assert back == peer.decode(ids), (text, ids)
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    model: Any = cast(Any, sentencepiece_model_pb2).ModelProto()
    try:
        model.ParseFromString(data)
        for _ in range(drawn.choice((1, 1, 2, 4))):
            _change(model, drawn)
        changed: bytes = model.SerializeToString()
    except (DecodeError, ValueError, TypeError):
        changed = data
    if drawn.random() < 0.05:
        # A field that nobody knows, or one of another type.
        changed += bytes([drawn.randrange(256), drawn.randrange(128)])
    if drawn.random() < 0.03:
        at = drawn.randrange(len(changed) + 1)
        changed = changed[:at] + bytes([drawn.randrange(256)]) + changed[at + drawn.randrange(2) :]
    return changed


def _change(model: Any, drawn: random.Random) -> None:
    pieces = model.pieces
    kind = drawn.randrange(12)
    if kind < 7 and pieces:
        piece, other = drawn.choice(pieces), drawn.choice(pieces)
        if kind == 0:
            piece.piece = edited(piece.piece, drawn)
        elif kind == 1:
            piece.score = drawn.choice((*SCORES, other.score, drawn.random(), piece.score - 1))
        elif kind == 2:
            piece.type = drawn.choice((1, 1, 2, 3, 4, 4, 5, 6))
        elif kind == 3:
            pieces.add(
                piece=piece.piece + other.piece, score=-float(drawn.randrange(200)), type=drawn.choice((1, 1, 4))
            )
        elif kind == 4:
            del pieces[drawn.randrange(len(pieces))]
        elif kind == 5:
            piece.piece, other.piece = other.piece, piece.piece
        else:
            pieces.add().CopyFrom(piece)
    elif kind == 7:
        setattr(model.normalizer_spec, drawn.choice(FLAGS), drawn.random() < 0.5)
    elif kind == 8:
        trainer = model.trainer_spec
        field = drawn.choice(("model_type", "byte_fallback", "treat_whitespace_as_suffix", "unk_surface"))
        if field == "model_type":
            trainer.model_type = drawn.choice((1, 2, 2, 2, 3, 4))
        elif field == "unk_surface":
            trainer.unk_surface = edited(trainer.unk_surface, drawn)
        else:
            setattr(trainer, field, drawn.random() < 0.5)
    else:
        model.normalizer_spec.precompiled_charsmap = _charsmap(model.normalizer_spec.precompiled_charsmap, drawn)


def _charsmap(blob: bytes, drawn: random.Random) -> bytes:
    """Return a table of characters with a unit of its trie, its length or a byte changed."""
    if len(blob) < 8:
        return blob
    kind = drawn.randrange(5)
    if kind < 3:
        at = 4 * drawn.randrange(1 if kind == 0 else len(blob) // 4)
        (unit,) = struct.unpack_from("<I", blob, at)
        unit = drawn.choice((unit ^ 1 << drawn.randrange(32), unit + 1, *NUMBERS)) & 0xFFFFFFFF
        return blob[:at] + struct.pack("<I", unit) + blob[at + 4 :]
    at = drawn.randrange(len(blob))
    if kind == 3:
        return blob[:at] + bytes([drawn.choice((0, 0, 0xFF, 0xC3, 32, 97))]) + blob[at + drawn.randrange(2) :]
    return blob[:at] if drawn.random() < 0.2 else blob[:-1]


TARGET = Target(check, change, longest=1 << 15)
