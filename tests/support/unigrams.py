"""Unigram models: trained on a few lines by both libraries, with all their options, and changed at random."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from support.sentencepieces import LINES, RULES, SYMBOLS

TEXTS = [*SYMBOLS, *"the ab  ", "<sep>", "<ctl>", "the ", "ab\u2581", "<unk>", "cat", "  ", "bat hat"]


def text(drawn: random.Random, most: int = 24) -> str:
    return "".join(drawn.choices(TEXTS, k=drawn.randrange(most)))


def spoiled(drawn: random.Random, ids: list[int], n_ids: int) -> list[int]:
    """Return ids with some of them removed, inserted or replaced."""
    ids = ids.copy()
    for _ in range(drawn.randrange(4)):
        place = drawn.randrange(len(ids) + 1)
        ids[place : place + drawn.randrange(2)] = [drawn.randrange(n_ids) for _ in range(drawn.randrange(3))]
    return ids


# SentencePiece


@cache
def trained_by_sentencepiece(rule: str, byte_fallback: bool, number: int) -> bytes:
    """Return a small model; `number` chooses the options of the trainer."""
    import sentencepiece

    drawn = random.Random(number)
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 3),
        model_writer=written,
        model_type="unigram",
        # The characters of the lines and the special pieces need some 65.
        vocab_size=max(66, drawn.randrange(60, 120)) + 256 * byte_fallback,
        normalization_rule_name=rule,
        byte_fallback=byte_fallback,
        character_coverage=drawn.choice([0.98, 1.0]),
        hard_vocab_limit=False,
        user_defined_symbols=["<sep>", "ab\u2581", "日"] if drawn.random() < 0.7 else [],
        control_symbols=["<ctl>"] if drawn.random() < 0.7 else [],
        split_by_whitespace=drawn.random() < 0.7,
        split_by_number=drawn.random() < 0.5,
        split_digits=drawn.random() < 0.5,
        split_by_unicode_script=drawn.random() < 0.5,
        seed_sentencepiece_size=2000,
        max_sentencepiece_length=drawn.choice([2, 4, 16]),
        shrinking_factor=drawn.choice([0.5, 0.75]),
        num_sub_iterations=drawn.choice([1, 2]),
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def changed_sentencepiece(drawn: random.Random, n_trained: int = 2) -> bytes:
    """Return a model with other settings and scores, of one of that many for each setting of the trainer.

    Training takes most of the time, so that with few there is one table of characters.
    """
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    number = drawn.randrange(n_trained)
    rule = drawn.choice([*RULES, *RULES[:1] * 4]) if n_trained > 2 else RULES[drawn.random() < 0.1]
    model.ParseFromString(trained_by_sentencepiece(rule, drawn.random() < 0.4, number))
    for name in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(model.normalizer_spec, name, drawn.random() < (0.85 if name == "escape_whitespaces" else 0.6))
    if drawn.random() < 0.3:
        model.trainer_spec.unk_surface = drawn.choice(["", "?", " x ", "\u2047"])
    kind = model.pieces[0]
    mode = drawn.randrange(5)
    for piece in model.pieces:
        if piece.type != kind.NORMAL:
            continue
        if mode == 1:
            piece.score = -float(drawn.randrange(6))
        elif mode == 2:
            piece.score = drawn.random()
        elif mode == 3:
            piece.score = drawn.choice([-1e6, -1e-6, 3e4]) * drawn.random()
        if mode == 4 and drawn.random() < 0.1:
            piece.type = kind.UNUSED
    data: bytes = model.SerializeToString()
    return data


def oracle_of_sentencepiece(data: bytes) -> tuple[Callable[[str], list[int]], Callable[[list[int]], list[int]], int]:
    """Return the library's encode, and what it makes of ids between control pieces; and the number of ids."""
    import sentencepiece

    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    control = {id for id in range(len(peer)) if peer.is_control(id)}

    def again(ids: list[int]) -> list[int]:
        bounds = [-1, *(place for place, id in enumerate(ids) if id in control), len(ids)]
        found: list[int] = []
        for start, stop in pairwise(bounds):
            found += peer.encode(peer.decode(ids[start + 1 : stop])) + ids[stop : stop + 1]
        return found

    return peer.encode, again, len(peer)


# tokenizers


@cache
def trained_by_tokenizers(number: int) -> str:
    """Return the JSON of a small tokenizer; `number` chooses its parts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    drawn = random.Random(number)
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = drawn.choice(  # type: ignore[assignment]
        [pre_tokenizers.Metaspace(), pre_tokenizers.Whitespace(), pre_tokenizers.ByteLevel(), None]
    )
    trainer = trainers.UnigramTrainer(
        vocab_size=drawn.randrange(150, 260),
        special_tokens=["<unk>", "<s>"],
        unk_token="<unk>",
        show_progress=False,
        max_piece_length=drawn.choice([2, 5, 16]),
        shrinking_factor=drawn.choice([0.5, 0.75]),
        n_sub_iterations=drawn.choice([1, 2]),
    )
    tokenizer.train_from_iterator(LINES * 3, trainer)
    return tokenizer.to_str()


def changed_tokenizers(drawn: random.Random, n_trained: int = 8) -> dict[str, Any]:
    """Return the fields of a tokenizer.json with other parts, scores and pieces."""
    fields: dict[str, Any] = json.loads(trained_by_tokenizers(drawn.randrange(n_trained)))
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": drawn.choice(["always", "never"])}
    fields["normalizer"] = drawn.choice(
        [
            None,
            None,
            {"type": "NFKC"},
            {"type": "Lowercase"},
            {"type": "Nmt"},
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ]
    )
    splits = [{"type": "WhitespaceSplit"}, {**metaspace, "split": True}]
    fields["pre_tokenizer"] = drawn.choice(
        [
            None,
            {**metaspace, "split": True},
            {**metaspace, "split": False},
            {"type": "Sequence", "pretokenizers": splits},
            {"type": "WhitespaceSplit"},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": drawn.random() < 0.5},
        ]
    )
    is_bytewise = (fields["pre_tokenizer"] or {}).get("type") == "ByteLevel"
    of_bytes = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    fields["decoder"] = of_bytes if is_bytewise else drawn.choice(
        [{**metaspace, "split": True}, {"type": "Fuse"},
         {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}]
    )  # fmt: skip
    model = fields["model"]
    vocab = model["vocab"]
    mode = drawn.randrange(4)
    for row in vocab:
        if mode == 1:
            row[1] = -float(drawn.randrange(6))
        elif mode == 2:
            row[1] = drawn.uniform(-2, 40)
        elif drawn.random() < 0.1:
            row[1] = drawn.uniform(-20, 0)
    if drawn.random() < 0.3:
        there = {piece for piece, _ in vocab}
        vocab += [[name, -9.0] for byte in range(256) if (name := f"<0x{byte:02X}>") not in there]
        model["byte_fallback"] = True
        del vocab[-drawn.choice([1, 100]) :]
    if drawn.random() < 0.2:
        vocab.append(["", -1.0])
    if drawn.random() < 0.2:
        model["unk_id"] = drawn.choice([None, 2])
    fields["added_tokens"] = fields["added_tokens"] if drawn.random() < 0.5 else []
    return fields
