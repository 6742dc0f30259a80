"""Small GGUF files, written from the description of the format."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tests.support.tokenizer_files import RULES, spell, vocabulary

NUMBERS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "f32": "f", "bool": "?"}
NUMBERS |= {"u64": "Q", "i64": "q", "f64": "d"}
TYPES = ("u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64")


class Typed(NamedTuple):
    """A value with its type; an array if it is a list."""

    type: str
    value: Any


def string(text: str | bytes, order: str = "<") -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(f"{order}Q", len(data)) + data


def _one(type: str, value: Any, order: str) -> bytes:
    return string(value, order) if type == "string" else struct.pack(order + NUMBERS[type], value)


def gguf(fields: dict[str, Typed], *, version: int = 3, n_tensors: int = 0, order: str = "<") -> bytes:
    """Return a file with these keys and nothing after them."""
    parts = [b"GGUF", struct.pack(f"{order}IQQ", version, n_tensors, len(fields))]
    for key, (type, value) in fields.items():
        parts.append(string(key, order))
        if isinstance(value, list):
            parts.append(struct.pack(f"{order}IIQ", 9, TYPES.index(type), len(value)))
            parts += [_one(type, one, order) for one in value]
        else:
            parts += [struct.pack(f"{order}I", TYPES.index(type)), _one(type, value, order)]
    return b"".join(parts)


def prefixed(fields: dict[str, Typed]) -> dict[str, Typed]:
    return {key if "." in key else f"tokenizer.ggml.{key}": value for key, value in fields.items()}


def byte_level(
    rules: Sequence[tuple[bytes, bytes]] = RULES,
    pre: str | None = "gpt-2",
    specials: Iterable[tuple[str, int]] = (("<|end|>", 3),),
    **changes: Typed | None,
) -> dict[str, Typed]:
    """Return the keys of a byte-level file; `changes` replace or add keys, or leave them out if None."""
    words = [*vocabulary(rules)]
    types = [1] * len(words)
    for text, type in specials:
        words.append(text)
        types.append(type)
    fields: dict[str, Typed | None] = {
        "general.architecture": Typed("string", "llama"),
        "model": Typed("string", "gpt2"),
        "pre": None if pre is None else Typed("string", pre),
        "tokens": Typed("string", words),
        "token_type": Typed("i32", types),
        "merges": Typed("string", [f"{spell(u)} {spell(v)}" for u, v in rules]),
        "bos_token_id": Typed("u32", 0),
        "eos_token_id": Typed("u32", 0),
        **changes,
    }
    return prefixed({key: value for key, value in fields.items() if value is not None})


PIECES = ("\u2581", "t", "h", "e", "a", "s", "\u2581t", "he", "\u2581the", "th", "aa", "\u2581\u2581", "the")


def sentencepiece(pieces: Sequence[str] = PIECES, **changes: Typed | None) -> dict[str, Typed]:
    """Return the keys of a SentencePiece file with all byte tokens; `changes` as above."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    words = ["<unk>", "<s>", "</s>", *names, *pieces]
    types = [2, 3, 3, *[6] * 256, *[1] * len(pieces)]
    scores = [0.0] * 259 + [-float(rank) for rank in range(len(pieces))]
    fields: dict[str, Typed | None] = {
        "general.architecture": Typed("string", "llama"),
        "model": Typed("string", "llama"),
        "tokens": Typed("string", words),
        "scores": Typed("f32", scores),
        "token_type": Typed("i32", types),
        "bos_token_id": Typed("u32", 1),
        "eos_token_id": Typed("u32", 2),
        "unknown_token_id": Typed("u32", 0),
        **changes,
    }
    return prefixed({key: value for key, value in fields.items() if value is not None})


def characters(
    rules: Sequence[tuple[str, str]], symbols: str = "ab\u2581\n", **changes: Typed | None
) -> dict[str, Typed]:
    """Return the keys of a file that merges characters, as Gemma 4's does, with all byte tokens; `changes` as above."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    words = [*dict.fromkeys(["<pad>", "<end>", *names, *"ab\u2581\n", *(left + right for left, right in rules)])]
    fields: dict[str, Typed | None] = {
        "general.architecture": Typed("string", "gemma4"),
        "model": Typed("string", "gemma4"),
        "tokens": Typed("string", words),
        "token_type": Typed("i32", [3, 3, *[6] * 256, *[1] * (len(words) - 258)]),
        "merges": Typed("string", [f"{left} {right}" for left, right in rules]),
        "bos_token_id": Typed("u32", 0),
        **changes,
    }
    return prefixed({key: value for key, value in fields.items() if value is not None})


# Entries as llama.cpp has them: those that begin a word have the sign, and continuations have none.
ENTRIES = (
    *(
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "\u2581a",
        "\u2581b",
        "a",
        "b",
        "ab",
        "\u2581ab",
        "bab",
        "\u2581bb",
    ),
    *(
        "\u2581!",
        "\u2581.",
        "\u2581\u4e2d",
        "\u2581$",
        "\u2581\u1112",
        "\u1161",
        "\u2581e",
        "e",
        "\u2581\u00e9",
        "\u00e9",
    ),
    *(
        "\u2581the",
        "\u2581\u2581",
        "\u2581hello",
        "wor",
        "ld",
        "\u2581w",
        "1",
        "\u25811",
        "\u2581o",
        "or",
        "\u2581s",
        "[unused0]",
    ),
)


def wordpiece(entries: Sequence[str] = ENTRIES, **changes: Typed | None) -> dict[str, Typed]:
    """Return the keys of a WordPiece file; entries in brackets are control tokens; `changes` as above."""
    is_control = [entry.startswith("[") and entry.isupper() for entry in entries]
    fields: dict[str, Typed | None] = {
        "general.architecture": Typed("string", "bert"),
        "model": Typed("string", "bert"),
        "pre": Typed("string", "jina-v2-en"),
        "tokens": Typed("string", list(entries)),
        "token_type": Typed("i32", [3 if control else 1 for control in is_control]),
        "unknown_token_id": Typed("u32", 1),
        **changes,
    }
    return prefixed({key: value for key, value in fields.items() if value is not None})


# Texts on which pre-tokenizers differ, and two special tokens, the longer one found first.
RECORDED_TEXTS = (
    *(
        "",
        " ",
        "   ",
        "\n\n  \n",
        " \t\r\n x",
        "Hello World'S they'LL we've",
        "'\u017fA 'reX",
        "A\u0300 e\u0301\u0301 \u0301",
    ),
    *(
        "1234567 12 3a 00\u09f4 \u00bd\u00b2\u0661",
        "\u4e2d\u6587\u3042\u30a2\u3000\u9fff\u3005!",
        "!!! ?x $+<=>^~|` _-/\\n",
        "a.b,c (d) [e]",
    ),
    *(
        "  two   three    four",
        "x\u00a0y\u2003z\u1680\u2028w",
        "\u0416\u0436\u05d0 \u0939\u093f\u0928 \u0e01\u0e33",
        "end  ",
        "end \n",
        "\x0b\x0c\x1c\x85",
    ),
    *(
        "\U0001f600\u200d\u2640\ufe0f \U00010d40",
        "IMGIMGABZ <sentinel:12>",
        "\u3001\u3002\uff01\uff0c\u2026 \u060c\u06d4",
        "camelCase HTTPServer iPhone",
    ),
    *("<|end|>>x<", "a<|end|>>><|end|> b", "the \u2581the\u2581 the", "\uac00\ud55c \u3131 \u1100\u1161 \u8c48\uf900"),
)
# And what WordPiece makes words of, drops or keeps: marks, ideographs, Hangul, private and unassigned characters.
WORD_TEXTS = (
    *(
        "",
        "ab abab bbab AB a!b..",
        "\u00c9e\u0301 e\u20dd \u0939\u093f \ud55c \u1112\u1161",
        "a\u4e2db \uf900 \U0002b820",
        "a\u2581b \u2581a",
    ),
    *(
        "a\x00b a\ufffdb a\u200bb a\ue000b a\u0378b",
        "a\u1680b\x85a\u3000b\x1ca",
        "a$b a\u20acb \u037e \u1fef",
        "x" * 101 + " " + "ab" * 60,
    ),
    *("[CLS]ab[SEP] [cls] [UNK]x", "Hello World \u0130 \u1e9e", "the1 w\u00f6rld", "[CLS][SEP]", "ab\u0345 \u0489a"),
)
_BYTES = sorted({byte for text in RECORDED_TEXTS for byte in text.encode()})
PAIRS = [(bytes([one]), bytes([other])) for one in _BYTES[::2] for other in _BYTES]
SPECIALS = (("<|end|>", 3), (">>><|end|", 4))


def recorded_file(name: str) -> dict[str, Typed]:
    """Return the keys of a file with recorded ids: by the name of a pre-tokenizer, or "sentencepiece"."""
    if name == "sentencepiece":
        return sentencepiece()
    if name.startswith("wordpiece"):
        return (
            wordpiece()
            if name == "wordpiece"
            else wordpiece(**{"tokenizer.ggml.normalizer.lowercase": Typed("bool", False)})
        )
    return byte_level(PAIRS, pre=name, specials=SPECIALS)
