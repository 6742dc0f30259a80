"""tokdfa formats lists the formats that are read; the README lists the same ones."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import gguf_files, random_files, sentencepieces, unigrams
from tests.support.commands import run
from tests.support.schemas import schema
from tests.support.tokenizer_files import (
    RANKS,
    SPELLED,
    as_bytes,
    merges_txt,
    rwkv_lines,
    tekken_json,
    tiktoken_lines,
    tokenizer_json,
    vocabulary,
)
from tests.support.tuned import tuned_validator
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.formats.reading import AS_THE_FILE, FORMATS, IN_PARTS, OBJECTS, READ, WHOLE

ROOT = Path(__file__).parents[3]


def test_every_format_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert {name for row in READ for name in row.formats} == set(FORMATS)
    assert {name for row in OBJECTS for name in row.formats} <= set(FORMATS)
    assert schema("formats")["$defs"]["readable"]["properties"]["formats"]["items"]["enum"] == list(FORMATS)
    assert run("formats") == 0
    shown = capsys.readouterr().out
    # A narrow terminal wraps the columns.
    assert all(row.what.split()[-1] in shown and row.standard in shown for row in (*READ, *OBJECTS))
    assert run("formats", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["what"] for row in printed["files"]] == [row.what for row in READ]


def test_the_readme_lists_them_too() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## Formats")[1].split("\n## ")[0].replace("`", "")
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", table, re.MULTILINE)[1:]
    assert rows == [(row.what, row.standard, row.streams) for row in READ]


# What is said of streams

LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def steps(*before: dict[str, Any], then: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return tokenizer_json(pre_tokenizer={"type": "Sequence", "pretokenizers": [*before, LEVEL, *then]})


def over_characters() -> dict[str, Any]:
    fields = random_files.character_file(random.Random(0))
    vocab = {token: id for id, token in enumerate([*(f"<0x{byte:02X}>" for byte in range(256)), *"\u2581thea"])}
    fields["model"] |= {"vocab": vocab, "merges": [], "byte_fallback": True, "unk_token": None}
    fields["model"] |= {"end_of_word_suffix": None, "continuing_subword_prefix": None, "ignore_merges": False}
    fields["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    back = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    decoder = {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    return fields | {"added_tokens": [], "pre_tokenizer": None, "decoder": decoder}


def word_pieces() -> dict[str, Any]:
    fields = random_files.wordpiece_file(random.Random(0))
    fields["model"] |= {"vocab": {"[UNK]": 0, "the": 1, "a": 2}, "unk_token": "[UNK]"}
    fields["model"]["continuing_subword_prefix"] = fields["decoder"]["prefix"] = "##"
    return fields | {"added_tokens": []}


def samples(what: str, folder: Path) -> list[Any]:
    """Return what is loaded for a row of the table, by the words that the row begins with."""
    if what.endswith("Unigram"):
        return [unigrams.trained_by_sentencepiece("nmt_nfkc", True, 0)]
    if what.endswith("WORD"):
        return [sentencepieces.trained("nmt_nfkc", True, "word")]
    if what.startswith(".model"):
        return [sentencepieces.trained("nmt_nfkc", True, kind) for kind in ("bpe", "char")]
    if what.startswith("CLIP"):
        pairs = [f"{left} {right}" for left in SPELLED.values() for right in SPELLED.values()]
        lines = ['"bpe_simple_vocab_16e6.txt#version: 0.2', *pairs[:48_894]]
        (folder / "bpe_simple_vocab_16e6.txt").write_text("\n".join(lines) + "\n", "utf-8")
        return [folder / "bpe_simple_vocab_16e6.txt"]
    if what.startswith("merges.txt with"):
        (folder / "merges.txt").write_text(merges_txt(), "utf-8")
        (folder / "vocab.json").write_bytes(as_bytes(vocabulary()))
        return [folder]
    if what.startswith("vocab.txt"):
        (folder / "vocab.txt").write_text("[UNK]\nthe\na\n", "utf-8")
        return [folder / "vocab.txt"]
    forms = [tokenizer_json(normalizer={"type": form}) for form in ("NFC", "NFKD")]
    digits = {"type": "Digits", "individual_digits": True}
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    after_spaces = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}
    by_content: dict[str, list[Any]] = {
        "tokenizer.json, BPE over bytes": [tokenizer_json(), *forms],
        "tokenizer.json, BPE over characters": [over_characters()],
        "tokenizer.json, BPE with steps": [
            tokenizer_json(normalizer={"type": "Lowercase"}),
            tokenizer_json(normalizer={"type": "Nmt"}),
            steps({"type": "BertPreTokenizer"}),
            steps({"type": "UnicodeScripts"}),
            steps(then=(digits,)),
            over_characters() | {"normalizer": None, "pre_tokenizer": after_spaces},
        ],
        "tokenizer.json, Unigram": [
            json.loads(unigrams.trained_by_tokenizers(2)) | {"pre_tokenizer": metaspace, "decoder": metaspace}
        ],
        "tokenizer.json, WordPiece (": [word_pieces()],
        "tokenizer.json, WordPiece with": [
            word_pieces() | {"normalizer": None},
            word_pieces() | {"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"the": 0, "a": 1}}},
        ],
        ".tiktoken": [tiktoken_lines(), RANKS],
        "a name": [tiktoken_lines()],
        "tekken.json": [tekken_json()],
        ".gguf": [
            gguf_files.gguf(fields())
            for fields in (gguf_files.byte_level, gguf_files.sentencepiece, gguf_files.wordpiece)
        ],
        "rwkv_vocab": [rwkv_lines({word: rank + 1 for word, rank in RANKS.items()})],
        "merges.txt": [merges_txt().encode()],
    }
    return next(found for begin, found in by_content.items() if what.startswith(begin))


@pytest.mark.parametrize("row", READ, ids=[row.what for row in READ])
def test_streams_are_judged_as_it_says(row: Any, tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    for source in samples(row.what, tmp_path):
        is_ranked = source in (RANKS, tiktoken_lines())
        tokenizer = tokdfa.load(source, pretokenizer="none" if is_ranked else None)
        validator = tuned_validator(tokenizer, tuning=Tuning(window=64, patience=64, history=64))
        parts = np.array_split(tokenizer.encode("the a the " * 600), 16)
        kept = []
        for part in parts:
            assert not [*validator.feed(part)]
            kept.append(validator.n_kept)
        streams = IN_PARTS if kept[-1] < 4 * len(parts[0]) else WHOLE
        assert streams == row.streams, (row.what, kept)
        # info says the same of each.
        facts = tokenizer.facts()
        if "rewriting" in facts:
            said = facts["rewriting"].get("judged_as_a_whole")
            assert (said is not None) == (streams == WHOLE), said


def test_objects_are_judged_as_it_says() -> None:
    said = {row.what: {other.streams for other in READ if set(other.formats) & set(row.formats)} for row in OBJECTS}
    assert all(row.streams == AS_THE_FILE or said[row.what] == {row.streams} for row in OBJECTS)
    assert all(row.streams != AS_THE_FILE or len(said[row.what]) == 2 for row in OBJECTS)
