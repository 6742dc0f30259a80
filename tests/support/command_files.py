"""Small files that the commands are tried on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.support.tokenizer_files import (
    as_bytes,
    merges_txt,
    ranks,
    tiktoken_lines,
    tokenizer_json,
)

PAIRS = [(b"a", b"b"), (b"c", b"d"), (b"b", b"c"), (b"ab", b"c")]


class Files:
    """Writes small tokenizers and streams, each into a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.n = 0

    def write(self, name: str, content: bytes | str) -> Path:
        self.n += 1
        path = self.folder / str(self.n) / name
        path.parent.mkdir()
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def merges(self, pairs: list[tuple[bytes, bytes]] = PAIRS) -> Path:
        return self.write("merges.txt", merges_txt(pairs))

    def json(self, rules: list[tuple[bytes, bytes]] = PAIRS, **changes: Any) -> Path:
        return self.write("tokenizer.json", as_bytes(tokenizer_json(rules, **changes)))

    def characters(self, **model: Any) -> Path:
        """A tokenizer.json over characters; it has a, b and c."""
        vocab = {word: number for number, word in enumerate(["a", "b", "c", "ab", "<unk>"])}
        plain = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[])
        plain["model"] |= {"vocab": vocab, "merges": [["a", "b"]], **model}
        return self.write("tokenizer.json", as_bytes(plain))

    def ranks(self, words: list[bytes]) -> Path:
        return self.write("some.tiktoken", tiktoken_lines(ranks(words)))

    def entries(self, *entries: str) -> Path:
        return self.write("vocab.txt", "".join(f"{entry}\n" for entry in entries))

    def wordpiece(self, entries: tuple[str, ...] = ("[UNK]", "a", "##b"), **changes: Any) -> Path:
        model = {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {entry: number for number, entry in enumerate(entries)},
            **changes.pop("model", {}),
        }
        normalizer = {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        }
        whole = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {**normalizer, **changes.pop("normalizer", {})},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": None,
            "decoder": {"type": "WordPiece", "prefix": model["continuing_subword_prefix"], "cleanup": True},
            "model": model,
            **changes,
        }
        return self.write("tokenizer.json", as_bytes(whole))

    def unigram(self, **changes: Any) -> Path:
        fields = {
            "version": "1.0",
            "added_tokens": [],
            "decoder": {"type": "Fuse"},
            "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5]]},
        }
        return self.write("unigram.json", as_bytes({**fields, **changes}))

    def unigram_with_bytes(self) -> Path:
        """One with the bytes of xa, which is a piece, where x is none."""
        pieces = [["?", 0], ["a", -1], ["xa", -2], ["<0x61>", -1], ["<0x78>", -1]]
        decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
        model = {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": pieces}
        return self.unigram(model=model, decoder=decoder)

    def ids(self, *ids: int) -> Path:
        path = self.write("ids.npy", b"")
        np.save(path, np.array(ids))
        return path
