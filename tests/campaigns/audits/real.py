"""Real tokenizers next to their libraries: from the folders TOKDFA_DATA and TOKDFA_FAMILIES."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.support.families import Member, of_model, of_ranks, of_tokenizer_json
from tests.support.libraries import ranks
from tests.support.real_tokenizers import family_files

__all__ = ["NAMES", "member"]

OF_DATA = {
    "GPT-2": "gpt2/tokenizer.json",
    "cl100k": "cl100k_base.tiktoken",
    "o200k": "o200k_base.tiktoken",
    "Mistral v3": "mistral_v3.model",
    "BERT": "bert_uncased_tokenizer.json",
}
OF_FAMILIES = {
    "Llama-2": "llama2", "Llama-3.1": "llama3_1", "Yi": "yi", "Mistral-Nemo": "mistral_nemo", "Gemma-2": "gemma2",
    "Gemma-3": "gemma3", "Qwen2.5": "qwen2_5", "Qwen3": "qwen3", "DeepSeek-V3": "deepseek_v3",
    "Command-R+": "command_r_plus", "GPT-4o": "gpt4o", "Claude": "claude", "InternLM-2": "internlm2",
    "Baichuan-2": "baichuan2", "ChatGLM-3": "chatglm3",
}  # fmt: skip
NAMES = (*OF_DATA, *OF_FAMILIES)


def member(name: str) -> Member | None:
    """Return a tokenizer by its name; None if its file is not at hand."""
    if name in OF_FAMILIES:
        path = family_files().get(OF_FAMILIES[name])
    else:
        path = Path(os.environ.get("TOKDFA_DATA", "/nowhere")) / "vocabs" / OF_DATA[name]
    if path is None or not path.exists():
        return None
    if path.suffix == ".json":
        return of_tokenizer_json(name, json.loads(path.read_bytes()))
    return of_model(name, path.read_bytes()) if path.suffix == ".model" else of_ranks(name, ranks(path), name)
