"""tiktoken's encodings by name, from rank files that are already on this machine; nothing is downloaded."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tokdfa.regex.unicode.utf8 import BYTE_OF, GPT2_ORDER

_HOST = "https://openaipublic.blob.core.windows.net"
# The rules of GPT-2 as they were first published, which tiktoken reads for the encoding gpt2.
_GPT2_RULES = f"{_HOST}/gpt-2/encodings/main/vocab.bpe"
_LARGEST_FILE = 1 << 24


@dataclass(frozen=True, slots=True)
class Encoding:
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
    "p50k_edit": replace(_P50K, specials={_END: 50256, **{name: id for id, name in enumerate(_FILL_IN, 50281)}}),
    "cl100k_base": _CL100K,
    "o200k_base": _O200K,
    # Two special tokens share id 200018.
    "o200k_harmony": replace(_O200K, specials={_PROMPT: 200018, **_RESERVED}),
}
"""The encodings of tiktoken, by name."""

PUBLISHED = {encoding.sha256: encoding for encoding in (_R50K, _P50K, _CL100K, _O200K)}
"""The encoding that tiktoken publishes a rank file for, by the SHA-256 of the file."""

# Models by the beginnings of their names, the longest that fits first.
_MODELS = {
    "gpt-2": "gpt2",
    "gpt-oss": "o200k_harmony",
    **dict.fromkeys(("chatgpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4o", "gpt-5", "o1", "o3", "o4-mini"), "o200k_base"),
    **dict.fromkeys(("gpt-3.5", "gpt-35", "gpt-4", "text-embedding-3", "text-embedding-ada-002"), "cl100k_base"),
}

# Where packages keep a cache of tiktoken's that comes with them.
_SHIPPED = {
    "litellm": "litellm/litellm_core_utils/tokenizers",
    "llama-index-core": "llama_index/core/_static/tiktoken_cache",
}


def published_file(name: str) -> tuple[Path, bytes] | None:
    """Return the rank file of an encoding, its path and its content; None if it is not on this machine.

    Files are looked for in tiktoken's cache (the folder that ``TIKTOKEN_CACHE_DIR`` or ``DATA_GYM_CACHE_DIR`` names,
    otherwise ``data-gym-cache`` in the folder for temporary files), in the caches that come with installed packages,
    in the folder that ``TIKTOKEN_ENCODINGS_BASE`` names, and in the working folder. Only the published file counts: its
    SHA-256 is checked, as tiktoken does.
    """
    encoding = ENCODINGS[name]
    for path, data in _candidates(encoding):
        if hashlib.sha256(data).hexdigest() == encoding.sha256:
            return path, data
    return None


def encoding_of_model(name: str) -> str | None:
    """Return the encoding that a model of OpenAI's uses, by the beginning of its name; None for other names."""
    return next((_MODELS[start] for start in sorted(_MODELS, key=len, reverse=True) if name.startswith(start)), None)


def how_to_get(name: str) -> str:
    """Return the command that fetches the file of an encoding to where :func:`published_file` finds it."""
    if _place("tiktoken", "tiktoken") is not None and os.environ.get("TIKTOKEN_CACHE_DIR") != "":
        return f"""python -c "import tiktoken; tiktoken.get_encoding('{name}')\""""
    return f"curl -O {ENCODINGS[name].url}"


def _candidates(encoding: Encoding) -> Iterator[tuple[Path, bytes]]:
    """Yield candidates for the file of an encoding, with their content."""
    key = hashlib.sha1(encoding.url.encode(), usedforsecurity=False).hexdigest()
    caches = list(_caches())
    base = os.environ.get("TIKTOKEN_ENCODINGS_BASE")
    places = [folder / key for folder in caches]
    for path in (*places, *([Path(base, encoding.file)] if base else ()), Path(encoding.file)):
        if (data := _content(path)) is not None:
            yield path, data
    if encoding is _R50K:
        rules = hashlib.sha1(_GPT2_RULES.encode(), usedforsecurity=False).hexdigest()
        for folder in caches:
            if (data := _content(folder / rules)) is not None:
                yield folder / rules, _ranked(data)


def _caches() -> Iterator[Path]:
    chosen = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if chosen is None:
        import tempfile

        yield Path(tempfile.gettempdir(), "data-gym-cache")
    elif chosen:
        yield Path(chosen)
    for package, folder in _SHIPPED.items():
        if (place := _place(package, folder)) is not None:
            yield place


def _place(package: str, name: str) -> Path | None:
    """Return where a file or folder of an installed package is, which is not imported; None without the package."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return Path(str(distribution(package).locate_file(name)))
    except PackageNotFoundError:
        return None


def _content(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST_FILE)
    except OSError:
        return None


def _ranked(rules: bytes) -> bytes:
    """Return the rank file that GPT-2's rules amount to: the bytes, and then the products; nothing for other files."""
    import base64

    try:
        pairs = [line.split() for line in rules.decode().split("\n")[1:-1]]
        words = [bytes(BYTE_OF[letter] for letter in left + right) for left, right in pairs]
    except (ValueError, KeyError):
        return b""
    ranked = enumerate([*(bytes([byte]) for byte in GPT2_ORDER), *words])
    return b"".join(b"%s %d\n" % (base64.b64encode(word), rank) for rank, word in ranked)
