"""GGUF files made from other files, as the converter of llama.cpp does, and the texts for which both mean the same."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

from tests.support.gguf_files import Typed, gguf, prefixed

__all__ = ["converted", "is_alike"]

PRE = {"gpt2": "gpt-2", "llama3_1": "llama-bpe", "qwen2_5": "qwen2"}
NORMAL, UNKNOWN, CONTROL, USER, UNUSED = range(1, 6)


def converted(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return a GGUF file, and the contents that it finds in texts."""
    return _of_json(path) if path.suffix == ".json" else _of_model(path)


def _of_json(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """A byte-level tokenizer.json."""
    fields = json.loads(path.read_bytes())
    added = {token["id"]: token for token in fields["added_tokens"]}
    tokens = {id: token for token, id in fields["model"]["vocab"].items()} | {id: added[id]["content"] for id in added}
    names = [tokens.get(id, f"[PAD{id}]") for id in range(max(tokens) + 1)]
    types = [
        (CONTROL if added[id]["special"] else USER) if id in added else NORMAL if id in tokens else UNUSED
        for id in range(len(names))
    ]
    merges = [rule if isinstance(rule, str) else " ".join(rule) for rule in fields["model"]["merges"]]
    file: dict[str, Typed] = {
        "general.architecture": Typed("string", "llama"),
        "model": Typed("string", "gpt2"),
        "pre": Typed("string", PRE[_name(path)]),
        "tokens": Typed("string", names),
        "token_type": Typed("i32", types),
        "merges": Typed("string", merges),
    }
    return gguf(prefixed(file)), tuple(token["content"] for token in added.values())


def _name(path: Path) -> str:
    """Return the name of a family from the path of its file."""
    (name,) = (name for name in PRE if name in path.parts)
    return name


def _of_model(path: Path) -> tuple[bytes, tuple[str, ...]]:
    """A model of SentencePiece that merges; both formats number the types of pieces alike."""
    from sentencepiece import sentencepiece_model_pb2

    model: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(path.read_bytes())
    trained = model.trainer_spec
    file: dict[str, Typed] = {
        "general.architecture": Typed("string", "llama"),
        "model": Typed("string", "llama"),
        "tokens": Typed("string", [piece.piece for piece in model.pieces]),
        "scores": Typed("f32", [piece.score for piece in model.pieces]),
        "token_type": Typed("i32", [piece.type for piece in model.pieces]),
        "bos_token_id": Typed("u32", trained.bos_id),
        "eos_token_id": Typed("u32", trained.eos_id),
        "unknown_token_id": Typed("u32", trained.unk_id),
    }
    found = tuple(piece.piece for piece in model.pieces if piece.type in (UNKNOWN, CONTROL, USER))
    return gguf(prefixed(file)), found


def is_alike(text: str, contents: tuple[str, ...]) -> bool:
    """Whether llama.cpp and the library of the source cut a text alike.

    Each has its own tables of Unicode, which agree on the characters that have long been assigned; the long s after an
    apostrophe is the one known exception; and llama.cpp finds special tokens in texts.
    """
    if "\u017f" in text or any(content in text for content in contents):
        return False
    return text.isascii() or all(unicodedata.category(c) not in ("Cn", "Co", "Cs") for c in text)
