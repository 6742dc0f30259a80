"""Each construct of tokenizer.json by itself: ids, texts and verdicts on texts from every corner of Unicode."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import decoding, streams, verdicts
from tests.campaigns.tables.graphemes import charsmap
from tests.support import random_files
from tests.support.editing import edited_bytes
from tests.support.families import of_tokenizer_json
from tests.support.limits import bounded
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, spell, tokenizer_json
from tests.support.unicode_texts import unicode_text
from tokdfa.base.errors import AlphabetError

tokenizers = pytest.importorskip("tokenizers")

# Of work: to load a spoiled file of a few kilobytes or to encode a short text, and to encode the first one. Then the
# machine of the pre-tokenizer is built, in 6 seconds and 140 MB where UnicodeScripts comes before a pattern.
SECONDS, AT_FIRST = 3, 15
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
WITHOUT_PATTERN = {**BYTE_LEVEL, "use_regex": False}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
RULES = [(b" ", b"t"), (b"h", b"e"), (b" t", b"he"), (b"\xc3", b"\xa9"), (b"\xe4", b"\xb8"), (b"\xe4\xb8", b"\xad")]
RULES += [(b"1", b"2"), (b"12", b"3"), (b"\xc2", b"\xb2"), (b"a", b"a"), (b"\n", b"\n"), (b"\xf0", b"\x9f")]
TABLE = charsmap(
    {"\ufb01": "fi", "\u212b": "Å", "e\u0301": "é", "\u1100\u1161": "가", "\u00bd": "1/2", "\u3000": " ", "a": "a"}
)


def over_bytes(*steps: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return tokenizer_json(RULES, pre_tokenizer={"type": "Sequence", "pretokenizers": [*steps]}, **changes)


def over_characters(model: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A file with byte fallback, a few characters and rules, as SentencePiece's vocabularies are converted."""
    singles = [*"\u2581abcdehit1234567890 \t\nAé中가ĠĊÃ©"]
    vocab = {token: id for id, token in enumerate(["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *singles])}
    merges = [["t", "h"], ["th", "e"], ["\u2581", "the"], ["a", "b"], ["1", "2"], ["Ġ", "t"], ["Ã", "©"]]
    for left, right in merges:
        vocab.setdefault(left + right, len(vocab))
    fields = tokenizer_json()
    fields["model"] |= {"vocab": vocab, "merges": merges, "unk_token": "<unk>", "byte_fallback": True, **(model or {})}
    llama = [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}]
    fields |= {"pre_tokenizer": None, "decoder": {"type": "Sequence", "decoders": [*llama, {"type": "Fuse"}]}}
    return fields | {"added_tokens": [added_token(0, "<unk>")]} | changes


def like_gemma(missing: Callable[[int], bool], **model: Any) -> dict[str, Any]:
    fields = over_characters(model, normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"})
    vocab = fields["model"]["vocab"]
    kept = [token for token in vocab if not (token.startswith("<0x") and missing(int(token[3:5], 16)))]
    fields["model"]["vocab"] = {token: id for id, token in enumerate(kept)}
    return fields


def like_mpnet() -> dict[str, Any]:
    fields = random_files.wordpiece_file(random.Random(0))
    entries = ["[UNK]", "the", "##e", "a", "##b", ".", "1", "##2", "e", "中", "<mask>"]
    fields["model"] |= {"vocab": {entry: id for id, entry in enumerate(entries)}, "unk_token": "[UNK]"}
    fields["model"] |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    fields["decoder"]["prefix"] = "##"
    return fields | {"added_tokens": [added_token(0, "[UNK]"), added_token(10, "<mask>", lstrip=True)]}


BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True}
KINDS: dict[str, dict[str, Any]] = {
    "truncation and padding": over_bytes(
        BYTE_LEVEL,
        truncation={"max_length": 1, "strategy": "LongestFirst", "stride": 0},
        padding={
            **{"strategy": {"Fixed": 9}, "direction": "Right", "pad_id": 0},
            **{"pad_type_id": 0, "pad_token": "x"},
        },
    ),
    "no decoder": over_bytes(BYTE_LEVEL, decoder=None),
    "ignored fields": over_bytes({**BYTE_LEVEL, "zz": 1}, post_processor={**BYTE_LEVEL, "zz": {"type": "NFC"}}),
    "byte fallback without tab": like_gemma(lambda byte: byte in (9, 0xC0, 0xFF)),
    "byte fallback without many": like_gemma(lambda byte: byte % 3 == 0, fuse_unk=True),
    "byte fallback without unknown": like_gemma(lambda byte: byte > 0xE0, unk_token=None),
    "after ByteLevel": over_bytes(
        {"type": "Punctuation", "behavior": "Contiguous"},
        BYTE_LEVEL,
        {"type": "Digits", "individual_digits": False},
        {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
    ),
    "Precompiled": over_characters(
        normalizer={"type": "Precompiled", "precompiled_charsmap": base64.b64encode(TABLE).decode()},
        pre_tokenizer=METASPACE,
    ),
    "WhitespaceSplit, Metaspace": over_characters(
        pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACE]}
    ),
    "BertNormalizer and BertPreTokenizer": over_bytes(
        {"type": "BertPreTokenizer"}, WITHOUT_PATTERN, normalizer={**BERT, "strip_accents": None}
    ),
    "Nmt": over_bytes(BYTE_LEVEL, normalizer={"type": "Nmt"}),
    "ByteLevel normalizer": over_characters(
        {"byte_fallback": False}, normalizer={"type": "ByteLevel"}, decoder=BYTE_LEVEL
    ),
    "UnicodeScripts": over_bytes({"type": "UnicodeScripts"}, WITHOUT_PATTERN),
    "FixedLength": over_bytes({"type": "FixedLength", "length": 3}, WITHOUT_PATTERN),
    "a mask that strips": like_mpnet(),
}


def met_in_texts(kind: str, chosen: Iterable[int]) -> Counter[str]:
    """Ask a file for the laws of texts, ids and verdicts, on parts of texts from every corner of Unicode."""
    made, met = of_tokenizer_json(kind, KINDS[kind]), Counter[str]()
    assert made is not None
    more = (" the", "é", "1234", "aa", "\n\n", "²", "½", "\u2581", *made.added.values())
    for seed in chosen:
        drawn = random.Random(seed)
        member = replace(made, parts=[part for _ in range(8) if (part := unicode_text(drawn, more))])
        for law in (streams, verdicts, decoding):
            met += law.check(member, drawn)
    return met


@pytest.mark.parametrize("kind", KINDS)
def test_random_texts(kind: str) -> None:
    met = met_in_texts(kind, range(16))
    assert min(met[case] for case in ("texts", "spoiled", "canonical")) > 10, met


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_texts(kind: str, tally: Tally) -> None:
    met = met_in_texts(kind, seeds(10_000))
    print(f"{kind}: {met}")
    assert met["texts"] > len(seeds(10_000))
    tally("encoding", "random cases", met["texts"])
    tally("validation", "spoiled inputs", met["spoiled"])


# Spoiled files


ODD_WORDS = [b"0", b'"', b"null", b"-1", b"{}", b"[]", b"\xff", b"e"]


def assert_spoiled_files_agree(kind: str, path: Path, chosen: range) -> int:
    """Load spoiled files, and return how many load.

    Each is refused in one line, or does what the library does, in bounded time and memory.
    """
    loaded = 0
    # The vocabulary would take most of the changes, so it is spoiled less often than its size would have it.
    small = json.dumps({key: value for key, value in KINDS[kind].items() if key != "model"})
    rest = json.dumps({"model": KINDS[kind]["model"]})
    for seed in chosen:
        drawn = random.Random(seed)
        inner = seed % 4 == 0
        parts = [small.encode()[:-1], rest.encode()[1:]]
        parts[inner] = edited_bytes(drawn, parts[inner], ODD_WORDS)
        data = parts[0] + b", " + parts[1]
        path.write_bytes(data)
        with bounded(SECONDS):
            try:
                ours = tokdfa.load(path)
            except tokdfa.TokdfaError as error:
                if "\n" in str(error):
                    raise
                continue
        theirs = tokenizers.Tokenizer.from_str(data.decode())
        theirs.no_truncation()
        theirs.no_padding()
        loaded += 1
        for number, text in enumerate((" the 123 é", spell(b" a"), "²ab\u0301 中\n", unicode_text(drawn))):
            try:
                with bounded(SECONDS) if number else bounded(AT_FIRST, 600):
                    ids = ours.encode(text).tolist()
            except AlphabetError:
                continue
            assert ids == theirs.encode(text, add_special_tokens=False).ids, (seed, text)
    return loaded


@pytest.mark.parametrize("kind", KINDS)
def test_spoiled_files(kind: str, tmp_path: Path) -> None:
    loaded = assert_spoiled_files_agree(kind, tmp_path / "tokenizer.json", range(100))
    assert 0 < loaded < 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_spoiled_files(kind: str, tmp_path: Path, tally: Tally) -> None:
    chosen = seeds(1000)
    print(kind, assert_spoiled_files_agree(kind, tmp_path / "tokenizer.json", chosen), "of", len(chosen), "load")
    tally("loading", "spoiled inputs", len(chosen))
