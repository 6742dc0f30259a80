"""The tokenizers that templates belong to, each with its library."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tokdfa
from tests.support.gguf_files import Typed, gguf, sentencepiece
from tests.support.llama_cpp import LlamaCpp

# In llama.cpp's folder of vocabularies.
_VOCABULARIES = {
    "Llama-3": "llama-bpe",
    "Qwen2": "qwen2",
    "Qwen3.5": "qwen35",
    "Phi-3": "phi-3",
    "Command-R": "command-r",
    "DeepSeek-Coder": "deepseek-coder",
    "Llama-2": "llama-spm",
}
# In the package mistral-common.
_MISTRAL = {
    "Mistral v1": "tokenizer.model.v1",
    "Mistral v3": "mistral_instruct_tokenizer_240323.model.v3",
    "Mistral v7": "mistral_instruct_tokenizer_241114.model.v7",
    "Tekken 240718": "tekken_240718.json",
}

Encode = Callable[[str], list[int]]


def tokenizer_of(name: str, folder: Path, made: Path) -> tuple[tokdfa.AnyTokenizer, str, Encode]:
    """Return a tokenizer, the rule of its library, and its library; files that must be made are made in `made`."""
    if name == "Qwen3, tokenizer.json":
        import tokenizers

        text = (Path(os.environ["TOKDFA_EXTRA"]) / "qwen" / "tokenizer.json").read_text("utf-8")
        peer = tokenizers.Tokenizer.from_str(text)
        return tokdfa.load(json.loads(text)), "transformers", lambda t: peer.encode(t, add_special_tokens=False).ids
    if name.startswith("Tekken"):
        content = json.loads((_mistral() / _MISTRAL[name]).read_text("utf-8"))
        return tokdfa.load(_mistral() / _MISTRAL[name]), "tiktoken", _tekken(content)
    if name in _VOCABULARIES:
        path = folder / "vendor" / "llama.cpp" / "models" / f"ggml-vocab-{_VOCABULARIES[name]}.gguf"
    else:
        path = made / f"{name}.gguf"
        path.write_bytes(_converted(_mistral() / _MISTRAL[name]))
    return tokdfa.load(path), "llama.cpp", LlamaCpp(path).encode


def _mistral() -> Path:
    found = find_spec("mistral_common")
    assert found is not None, "pip install mistral-common"
    assert found.origin is not None
    return Path(found.origin).parent / "data"


def _converted(model: Path) -> bytes:
    """Return a SentencePiece model as a GGUF file, as llama.cpp's script converts it."""
    from sentencepiece import sentencepiece_model_pb2

    fields = sentencepiece_model_pb2.ModelProto()
    fields.ParseFromString(model.read_bytes())
    changes = {
        "tokens": Typed("string", [piece.piece for piece in fields.pieces]),
        "scores": Typed("f32", [piece.score for piece in fields.pieces]),
        "token_type": Typed("i32", [piece.type for piece in fields.pieces]),
    }
    return gguf(sentencepiece(**changes))


def _tekken(content: dict[str, Any]) -> Encode:
    """Return tiktoken with a Tekken file: the special tokens have the first ids."""
    import tiktoken

    config = content["config"]
    n_specials = config["default_num_special_tokens"]
    size = config["default_vocab_size"] - n_specials
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in content["vocab"][:size]}
    specials = {entry["token_str"]: entry["rank"] for entry in content.get("special_tokens") or _specials(n_specials)}
    encoding = tiktoken.Encoding(
        "tekken",
        pat_str=config["pattern"],
        mergeable_ranks=ranks,
        special_tokens={special: size + rank for special, rank in specials.items()},
    )
    return lambda text: [
        id + n_specials if id < size else id - size for id in encoding.encode(text, allowed_special="all")
    ]


def _specials(count: int) -> list[dict[str, Any]]:
    """Return the special tokens of files that do not name them."""
    names = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"]
    names += ["[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]"]
    names += ["[PREFIX]", "[MIDDLE]", "[SUFFIX]"]
    names += [f"<SPECIAL_{number}>" for number in range(len(names), count)]
    return [{"token_str": name, "rank": rank} for rank, name in enumerate(names)]
