"""Small folders of models: a sound one, and edits of its files; each plants one fault."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.support.gguf_files import Typed, byte_level, gguf
from tests.support.tokenizer_files import RULES, added_token, as_bytes, merges_txt, tokenizer_json, vocabulary

SPECIALS = ("<s>", "<|end|>", "<pad>")
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content | trim }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
N = len(vocabulary())
SIZE = N + 8  # padded


def safetensors(rows: int, columns: int = 2) -> bytes:
    """Return weights with embeddings of so many rows."""
    tensors = {
        "model.embed_tokens.weight": {"dtype": "U8", "shape": [rows, columns], "data_offsets": [0, rows * columns]}
    }
    head = json.dumps(tensors).encode()
    return struct.pack("<Q", len(head)) + head + bytes(rows * columns)


def tokenizer_file(rules: Sequence[tuple[bytes, bytes]] = RULES, **changes: Any) -> bytes:
    n = len(vocabulary(rules))
    added = [added_token(n + index, text) for index, text in enumerate(SPECIALS)]
    return as_bytes(tokenizer_json(rules, **{"added_tokens": added, **changes}))


def gguf_file(rules: Sequence[tuple[bytes, bytes]] = RULES, **changes: Typed | None) -> bytes:
    ids = {"bos_token_id": N, "eos_token_id": N + 1, "padding_token_id": N + 2}
    keys = {name: Typed("u32", id) for name, id in ids.items()}
    return gguf(byte_level(rules, specials=[(text, 3) for text in SPECIALS], **{**keys, **changes}))


def write_sound(folder: Path, *, template: bool = False) -> Path:
    """Write a folder in which everything agrees; with a chat template, which takes longer to check."""
    roles = {"bos_token": "<s>", "eos_token": "<|end|>", "pad_token": "<pad>"}
    ids = {"bos_token_id": N, "eos_token_id": N + 1, "pad_token_id": N + 2}
    added = {text: N + index for index, text in enumerate(SPECIALS)}
    config = {
        **roles,
        "added_tokens_decoder": {str(id): {"content": text, "special": True} for text, id in added.items()},
        "clean_up_tokenization_spaces": False,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    files: dict[str, Any] = {
        "tokenizer_config.json": config,
        "special_tokens_map.json": roles,
        "added_tokens.json": added,
        "config.json": {**ids, "vocab_size": SIZE},
        "generation_config.json": {**ids, "eos_token_id": [N + 1, N]},
        "vocab.json": vocabulary(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, fields in files.items():
        folder.joinpath(name).write_bytes(as_bytes(fields))
    folder.joinpath("tokenizer.json").write_bytes(tokenizer_file())
    folder.joinpath("merges.txt").write_text(merges_txt(), encoding="utf-8")
    folder.joinpath("model.gguf").write_bytes(gguf_file())
    folder.joinpath("model.safetensors").write_bytes(safetensors(SIZE))
    if template:
        folder.joinpath("chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return folder


def edited(name: str, **changes: Any) -> Callable[[Path], object]:
    """Return an edit of a JSON file: fields replaced, or left out if they are None."""

    def edit(folder: Path) -> None:
        path = folder / name
        fields = {**json.loads(path.read_bytes()), **changes}
        path.write_bytes(as_bytes({key: value for key, value in fields.items() if value is not None}))

    return edit


def written(name: str, content: bytes | str) -> Callable[[Path], object]:
    """Return an edit that writes a file anew."""
    data = content.encode() if isinstance(content, str) else content
    return lambda folder: folder.joinpath(name).write_bytes(data)
