"""The encodings that tiktoken has by name, the models that use them, and the packages that come with their files."""

from __future__ import annotations

from typing import NamedTuple

_HOST = "https://openaipublic.blob.core.windows.net"
# The rules of GPT-2 as they were first published, which tiktoken reads for the encoding gpt2.
GPT2_RULES = f"{_HOST}/gpt-2/encodings/main/vocab.bpe"


class Encoding(NamedTuple):
    """An encoding of tiktoken: its rank file, the name of its pre-tokenizer, and its special tokens with their ids.

    `sha256` is the hash of the published file, by which tiktoken knows it, too; `n_ranks` is the number of its lines.
    """

    file: str
    sha256: str
    n_ranks: int
    pretokenizer: str
    specials: dict[str, int]

    @property
    def url(self) -> str:
        """The address of the published file; the names in tiktoken's cache are made from it."""
        return f"{_HOST}/encodings/{self.file}"


_END, _PROMPT = "<|endoftext|>", "<|endofprompt|>"
_FILL_IN = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_R50K = Encoding(
    "r50k_base.tiktoken",
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    50256,
    "gpt2_tiktoken",
    {_END: 50256},
)
_P50K = Encoding(
    "p50k_base.tiktoken",
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    50280,
    "gpt2_tiktoken",
    {_END: 50256},
)
_CL100K = Encoding(
    "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    100256,
    "cl100k",
    {_END: 100257, **{name: id for id, name in enumerate(_FILL_IN, 100258)}, _PROMPT: 100276},
)
_O200K = Encoding(
    "o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    199998,
    "o200k",
    {_END: 199999, _PROMPT: 200018},
)
_HARMONY = {
    199998: "<|startoftext|>",
    199999: _END,
    200002: "<|return|>",
    200003: "<|constrain|>",
    200005: "<|channel|>",
    200006: "<|start|>",
    200007: "<|end|>",
    200008: "<|message|>",
    200012: "<|call|>",
}
_RESERVED = {_HARMONY.get(id, f"<|reserved_{id}|>"): id for id in range(199998, 201088)}

ENCODINGS: dict[str, Encoding] = {
    # gpt2 has the ranks of r50k_base; tiktoken computes them from other files.
    "gpt2": _R50K,
    "r50k_base": _R50K,
    "p50k_base": _P50K,
    "p50k_edit": _P50K._replace(specials={_END: 50256, **{name: id for id, name in enumerate(_FILL_IN, 50281)}}),
    "cl100k_base": _CL100K,
    "o200k_base": _O200K,
    # Two special tokens share id 200018.
    "o200k_harmony": _O200K._replace(specials={_PROMPT: 200018, **_RESERVED}),
}
"""The encodings of tiktoken, by name."""

PUBLISHED = {encoding.sha256: encoding for encoding in (_R50K, _P50K, _CL100K, _O200K)}
"""The encoding that tiktoken publishes a rank file for, by the SHA-256 of the file."""

# Models by the beginnings of their names, the longest that fits first.
MODELS = {
    "gpt-2": "gpt2",
    "gpt-oss": "o200k_harmony",
    **dict.fromkeys(("chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4o", "gpt-5", "o1", "o3", "o4-mini"), "o200k_base"),
    **dict.fromkeys(("gpt-3.5", "gpt-35", "gpt-4", "text-embedding-3", "text-embedding-ada-002"), "cl100k_base"),
}

# Where packages keep a cache of tiktoken's that comes with them.
SHIPPED = {
    "litellm": "litellm/litellm_core_utils/tokenizers",
    "llama-index-core": "llama_index/core/_static/tiktoken_cache",
}
