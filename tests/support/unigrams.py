"""Unigram models: trained on a few lines by both libraries, with all their options, and changed at random."""

from __future__ import annotations

import base64
import io
import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.sentencepieces import LINES, RULES, SYMBOLS

TEXTS = [*SYMBOLS, *"the ab  ", "<sep>", "<ctl>", "the ", "ab\u2581", "<unk>", "cat", "  ", "bat hat"]
SURFACES = ["", "?", " x ", "\u2047"]


def text(drawn: random.Random, most: int = 24) -> str:
    return "".join(drawn.choices(TEXTS, k=drawn.randrange(most)))


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
        model.trainer_spec.unk_surface = drawn.choice(SURFACES)
    _change_scores(model, drawn)
    data: bytes = model.SerializeToString()
    return data


def _change_scores(model: Any, drawn: random.Random) -> None:
    """Give the pieces of a model other scores, or let it not find some of them; or change nothing."""
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


def any_sentencepiece(drawn: random.Random) -> bytes:
    """Return a model that is trained with any options of the library; every other one has its scores changed.

    Few of them have one of the library's own tables of characters: reading those takes longer than all else.
    """
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as pb

    byte_fallback = drawn.random() < 0.4
    options: dict[str, Any] = {
        "byte_fallback": byte_fallback,
        "character_coverage": drawn.choice([0.98, 0.9995, 1.0]),
        "user_defined_symbols": drawn.sample(
            ["<sep>", "ab\u2581", "日", "\u2581", "the", "a", "\ufb01"], drawn.randrange(4)
        ),
        "control_symbols": drawn.sample(["<ctl>", "<mask>", "cat"], drawn.randrange(3)),
        "required_chars": drawn.choice(["", "", "xyzé"]),
        "pretokenization_delimiter": drawn.choice(["", "", "", "b"]),
        "max_sentencepiece_length": drawn.choice([1, 2, 4, 16]),
        "shrinking_factor": drawn.choice([0.5, 0.75, 0.9]),
        "num_sub_iterations": drawn.choice([1, 2]),
        "unk_surface": drawn.choice([*SURFACES, " \u2047 "]),
        "unk_piece": drawn.choice(["<unk>", "<unk>", "[UNK]"]),
        "pad_id": drawn.choice([-1, 3]),
        "bos_id": drawn.choice([-1, 1]),
    }
    options["eos_id"] = 2 if options["bos_id"] == 1 or options["pad_id"] == 3 else 1
    if options["bos_id"] == -1 and options["eos_id"] == 2:
        options["pad_id"] = 1
    for name in ("split_by_whitespace", "add_dummy_prefix", "remove_extra_whitespaces"):
        options[name] = drawn.random() < 0.7
    flags = (
        "split_by_number split_digits split_by_unicode_script treat_whitespace_as_suffix allow_whitespace_only_pieces"
    )
    for name in flags.split():
        options[name] = drawn.random() < 0.4
    chosen = drawn.sample(LINES, drawn.randrange(3, len(LINES) + 1))
    size = drawn.randrange(30, 300) + 256 * byte_fallback
    with tempfile.TemporaryDirectory() as folder:
        if drawn.random() < 0.03:
            options["normalization_rule_name"] = drawn.choice(RULES)
        elif drawn.random() < 0.5:
            options["normalization_rule_name"] = "identity"
        else:
            options["normalization_rule_tsv"] = f"{folder}/rules.tsv"
            Path(options["normalization_rule_tsv"]).write_text(_rules(drawn), encoding="utf-8")
        while True:
            written = io.BytesIO()
            try:
                sentencepiece.SentencePieceTrainer.train(
                    sentence_iterator=iter(chosen * 3),
                    model_writer=written,
                    model_type="unigram",
                    vocab_size=size,
                    hard_vocab_limit=False,
                    seed_sentencepiece_size=2000,
                    num_threads=1,
                    minloglevel=4,
                    **options,
                )
                break
            except RuntimeError as error:
                # It needs a piece for each character.
                if "maller than required_chars" not in str(error) or size > 1000:
                    raise
                size += 40
    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(written.getvalue())
    # The trainer insists on it.
    model.normalizer_spec.escape_whitespaces = drawn.random() < 0.9
    if drawn.random() < 0.5:
        _change_scores(model, drawn)
    data: bytes = model.SerializeToString()
    return data


def _rules(drawn: random.Random) -> str:
    """Return rules that replace characters, as the trainer of SentencePiece reads them."""
    from_texts = [
        "A",
        "é",
        "\ufb01",
        "½",
        "\t",
        "e\u0301",
        "\u200b",
        "\n",
        "ab",
        "b ",
        "\u2581",
        "日",
        " c",
        "hat",
        "\u00a0",
    ]
    to_texts = ["a", "e", "fi", " ", "", "1 2", "t", "\u2581", "日", "ba"]
    rows = []
    for old in drawn.sample(from_texts, drawn.randrange(1, 7)):
        # The trainer refuses a rule that changes nothing.
        new = drawn.choice([text for text in to_texts if text != old])
        rows.append("\t".join(" ".join(f"{ord(character):X}" for character in text) for text in (old, new)))
    return "\n".join(rows) + "\n"


def oracle_of_sentencepiece(data: bytes) -> tuple[Callable[[str], list[int]], Callable[[list[int]], list[int]], int]:
    """Return the library's encode, a function that decodes and encodes ids between control pieces, and the size."""
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
    _change_rows(fields["model"], drawn)
    fields["added_tokens"] = fields["added_tokens"] if drawn.random() < 0.5 else []
    return fields


def _change_rows(model: dict[str, Any], drawn: random.Random) -> None:
    """Give a model of tokenizers other scores, pieces for bytes, an empty piece, and another unknown piece."""
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


NORMALIZERS: tuple[dict[str, Any], ...] = (
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "StripAccents")),
    *({"type": "Strip", "strip_left": left, "strip_right": not left} for left in (True, False)),
    {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    {"type": "Replace", "pattern": {"String": "b"}, "content": "ab"},
    {"type": "Prepend", "prepend": "\u2581"},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
)
SPLITS: tuple[dict[str, Any], ...] = (
    *({"type": name} for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts")),
    {"type": "Punctuation", "behavior": "Isolated"},
    {"type": "Digits", "individual_digits": True},
    {"type": "CharDelimiterSplit", "delimiter": "b"},
    {"type": "FixedLength", "length": 3},
    {"type": "Split", "pattern": {"Regex": "[a-c]+"}, "behavior": "MergedWithPrevious", "invert": False},
    *(
        {"type": "ByteLevel", "add_prefix_space": space, "trim_offsets": True, "use_regex": space}
        for space in (True, False)
    ),
)


def _normalizer(drawn: random.Random) -> dict[str, Any] | None:
    """Return a normalizer of tokenizers, or none."""
    if drawn.random() < 0.3:
        return None
    steps = drawn.sample(NORMALIZERS, drawn.choice([1, 1, 1, 2, 3]))
    if drawn.random() < 0.2:
        from sentencepiece import sentencepiece_model_pb2 as pb

        model: Any = pb.ModelProto()  # type: ignore[attr-defined]
        model.ParseFromString(any_sentencepiece(drawn))
        table = model.normalizer_spec.precompiled_charsmap
        if table:
            steps.insert(0, {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()})
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": steps}


def _metaspace(drawn: random.Random) -> dict[str, Any]:
    replacement, scheme = drawn.choice("\u2581\u2581\u2581_"), drawn.choice(["always", "first", "never"])
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": drawn.random() < 0.7}


def any_tokenizers(drawn: random.Random) -> dict[str, Any]:
    """Return the fields of a tokenizer.json that is trained with any options of the library; half of them are changed.

    The changes are to scores, pieces and the treatment of unknown characters.
    """
    from tokenizers import Tokenizer, models, trainers

    metaspace = _metaspace(drawn)
    splits = drawn.choice([[], [metaspace], [metaspace], [{"type": "WhitespaceSplit"}, metaspace],
                           drawn.sample(SPLITS, drawn.choice([1, 1, 2]))])  # fmt: skip
    if any(step["type"] == "ByteLevel" for step in splits):
        decoders: list[dict[str, Any]] = [SPLITS[-1]]
    else:
        shown: dict[str, Any] = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
        strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
        decoders = drawn.choice(
            [
                [metaspace],
                [{"type": "Fuse"}],
                [{"type": "ByteFallback"}, {"type": "Fuse"}],
                [{"type": "ByteFallback"}, {"type": "Fuse"}, shown, strip],
                [strip],
                [shown, {"type": "Fuse"}],
            ]
        )
    parts = {
        "normalizer": _normalizer(drawn),
        "pre_tokenizer": splits[0]
        if len(splits) == 1
        else {"type": "Sequence", "pretokenizers": splits}
        if splits
        else None,
        "decoder": decoders[0] if len(decoders) == 1 else {"type": "Sequence", "decoders": decoders},
    }
    empty = json.loads(Tokenizer(models.Unigram()).to_str()) | parts
    tokenizer = Tokenizer.from_str(json.dumps(empty))
    special = drawn.sample(["<s>", "<sep>", "cat", "the "], drawn.randrange(3))
    alphabet = drawn.sample("xyzé日\u0300", drawn.randrange(4))
    options: dict[str, Any] = {
        "vocab_size": drawn.randrange(30, 300),
        "special_tokens": ["<unk>", *special],
        "unk_token": drawn.choice([*["<unk>"] * 9, None]),
        "initial_alphabet": alphabet,
        "max_piece_length": drawn.choice([1, 2, 5, 16]),
        "shrinking_factor": drawn.choice([0.5, 0.75, 0.9]),
        "n_sub_iterations": drawn.choice([1, 2]),
    }
    chosen = drawn.sample(LINES, drawn.randrange(3, len(LINES) + 1))
    while True:
        try:
            tokenizer.train_from_iterator(chosen * 3, trainers.UnigramTrainer(show_progress=False, **options))
            break
        except Exception as error:
            # It needs a piece for each character.
            if "vocabulary is not large enough" not in str(error) or options["vocab_size"] > 1000:
                raise
            options["vocab_size"] += 40
    fields: dict[str, Any] = json.loads(tokenizer.to_str())
    if drawn.random() < 0.5:
        _change_rows(fields["model"], drawn)
    if drawn.random() < 0.3:
        fields["added_tokens"] = []
    for row in fields["added_tokens"]:
        for name in ("lstrip", "rstrip", "single_word", "normalized"):
            row[name] = drawn.random() < 0.1
    return fields
