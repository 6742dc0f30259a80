"""Random tokenizer.json files over characters and bytes, with every step of `random_steps`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.support.random_steps import (
    SYMBOLS,
    added_tokens,
    as_one,
    byte_step,
    decoder,
    normalizer,
    of_letters,
    pre_tokenizer,
    splitting_step,
    text,
    word,
)
from tests.support.tokenizer_files import added_token, spell, tokenizer_json


def character_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over characters."""
    suffix = drawn.choice([None, None, None, "</w>"])
    prefix = drawn.choice([None, None, None, "##"])
    rewriting = normalizer(drawn)
    singles = drawn.sample(SYMBOLS, drawn.randrange(6, len(SYMBOLS)))
    has_letters = '"ByteLevel"' in json.dumps(rewriting)
    if has_letters:
        letters = {letter for symbol in SYMBOLS for letter in spell(symbol.encode())}
        singles = [*singles, *(letter for letter in sorted(letters) if letter not in singles)]
    vocab: dict[str, int] = {}

    def put(token: str) -> str:
        vocab.setdefault(token, len(vocab))
        return token

    if drawn.random() < 0.5:
        put("<unk>")
    as_bytes = drawn.random() < 0.5
    # Some or many bytes may be missing, among them ASCII bytes that are symbols (as in Gemma's vocabularies).
    share = drawn.choice([1, 1, 0.9, 0.5])
    lacks = drawn.random() < 0.3
    for byte in range(256) if as_bytes else ():
        if drawn.random() < share and not (lacks and byte < 0x80 and chr(byte) in singles):
            put(f"<0x{byte:02X}>")
    inner = [(prefix or "") + single for single in singles]
    for token in [*singles, *inner]:
        put(token)
        if suffix:
            put(token + suffix)
    rules: list[tuple[str, str]] = []
    firsts, rests = list(singles), list(inner)
    for _ in range(drawn.randrange(20)):
        pool = drawn.choice([firsts, rests])
        left = drawn.choice(pool)
        right = drawn.choice(rests)
        ends = suffix is not None and drawn.random() < 0.4
        if ends:
            assert suffix is not None
            right += suffix
        product = left + right[len(prefix or "") :]
        if (left, right) in rules or right not in vocab:
            continue
        rules.append((left, right))
        put(product)
        if not ends:
            firsts.append(product) if pool is firsts else rests.append(product)
    # Tokens that nothing makes, some of symbols that there are none of.
    for _ in range(drawn.choice([0, 0, 1, 3])):
        put(drawn.choice(["", prefix or "", "##"]) + word(drawn, SYMBOLS) + drawn.choice(["", suffix or ""]))
    if drawn.random() < 0.2:
        put(f"<0x{drawn.choice([0x3D, 0x61, 0xC3]):02X}>")
    if drawn.random() < 0.2:
        drawn.shuffle(rules)
    fields = tokenizer_json([])
    fields["model"] |= {
        "vocab": vocab,
        "merges": [list(rule) for rule in rules],
        "unk_token": "<unk>" if "<unk>" in vocab and drawn.random() < 0.8 else None,
        "fuse_unk": drawn.random() < 0.5,
        "byte_fallback": drawn.random() < 0.7,
        "end_of_word_suffix": suffix,
        "continuing_subword_prefix": prefix,
        "ignore_merges": drawn.random() < 0.2,
    }
    fields |= {
        "normalizer": rewriting,
        "pre_tokenizer": pre_tokenizer(drawn),
        "decoder": of_letters(drawn) if has_letters and drawn.random() < 0.7 else decoder(drawn, suffix),
        "added_tokens": added_tokens(drawn, vocab),
    }
    return fields


def byte_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over bytes."""
    suffix = drawn.choice([None, None, None, None, "</w>"])
    rules: list[tuple[bytes, bytes]] = []
    words = [symbol.encode()[i : i + 1] for symbol in [*SYMBOLS, *"ab  "] for i in range(len(symbol.encode()))]
    for _ in range(drawn.randrange(25)):
        rule = (drawn.choice(words), drawn.choice(words))
        if rule not in rules:
            rules.append(rule)
            words.append(rule[0] + rule[1])
    fields = tokenizer_json(rules)
    vocab = fields["model"]["vocab"]
    assert spell(b" ") in vocab
    if suffix:
        # Half of the rules make ends of words; their parts are there, and so are most bytes at the end of a word.
        merges = [[spell(u), spell(v) + drawn.choice(["", suffix])] for u, v in rules]
        fields["model"] |= {"merges": merges, "end_of_word_suffix": suffix}
        single = [character + suffix for character in vocab if len(character) == 1 and drawn.random() < 0.995]
        for token in [*single, *(v for _, v in merges), *(u + v for u, v in merges)]:
            vocab.setdefault(token, len(vocab))
    for _ in range(drawn.choice([0, 0, 1, 3])):
        # Tokens that nothing makes; those outside the byte alphabet among them.
        extra = drawn.choice([spell(word(drawn, SYMBOLS).encode()), spell(word(drawn).encode()), word(drawn, SYMBOLS)])
        vocab.setdefault(extra + drawn.choice(["", suffix or ""]), len(vocab))
    if drawn.random() < 0.15:
        # Some bytes have no token, as the rarest have none in Falcon's vocabulary.
        needed = {letter for rule in fields["model"]["merges"] for part in rule for letter in part}
        kept = [token for token in vocab if len(token) > 1 or token in needed or drawn.random() < 0.95]
        vocab = fields["model"]["vocab"] = {token: id for id, token in enumerate(kept)}
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": drawn.random() < 0.3,
        "trim_offsets": True,
        "use_regex": drawn.random() < 0.7,
    }
    template = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<x>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<x>": {"id": "<x>", "ids": [7], "tokens": ["<x>"]}},
    }
    steps = [splitting_step(drawn) for _ in range(drawn.choice([0, 0, 0, 1, 2]))]
    # Steps that see letters for bytes, as in Falcon.
    after_bytes = [byte_step(drawn) for _ in range(drawn.choice([0, 0, 0, 1, 2]))]
    after = [
        {"type": "Fuse"},
        {"type": "Replace", "pattern": {"String": suffix or "a"}, "content": " "},
        {"type": "Strip", "content": drawn.choice(" a"), "start": drawn.randrange(3), "stop": 0},
    ]
    decoders = [
        fields["decoder"],
        *drawn.choices(after, k=drawn.randrange(3) if suffix else drawn.choice([0, 0, 0, 1])),
    ]
    fields |= {
        "normalizer": normalizer(drawn),
        "pre_tokenizer": as_one(drawn, [*steps, byte_level, *after_bytes], "pretokenizers"),
        "decoder": None if suffix is None and drawn.random() < 0.1 else as_one(drawn, decoders, "decoders"),
        "post_processor": drawn.choice([None, template]),
        "added_tokens": added_tokens(drawn, vocab, bytewise=True),
    }
    fields["model"] |= {
        "ignore_merges": drawn.random() < 0.2,
        "unk_token": drawn.choice([None, None, None, drawn.choice([*vocab])]),
        "byte_fallback": drawn.random() < 0.1,
        "fuse_unk": drawn.random() < 0.1,
    }
    return fields


# Characters that BERT's normalizer changes, splits at, takes away or puts in order.
BERT_PARTS = [
    *"abcAB #-,.!'[]",
    "é",
    "e\u0301",
    "\u0316",
    "中",
    "\u00df",
    "\u0130",
    "\t",
    "\u00a0",
    "\u200d",
    "\x00",
    "\ufffd",
]
BERT_PARTS += ["n't", "'s", "do not", "##", "ab", "abc", "\u3000", "한", "½", "\U0001f600", "\u0345"]


def bert_text(drawn: random.Random, extra: tuple[str, ...] = ()) -> str:
    return "".join(drawn.choices([*BERT_PARTS, *"ab  " * 3, *extra], k=drawn.randrange(12)))


def wordpiece_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json with a WordPiece model, as BERT has it, with odd vocabularies and settings."""
    prefix = drawn.choice(["##", "##", "##", "#", "@@", "a", ""])
    unknown = drawn.choice(["[UNK]", "[UNK]", "[UNK]", "a", "?"])
    symbols = drawn.choice(
        ["ab", "abcé中#", [*"abc", "é", "e\u0301", "中", ",", ".", "!", "'", "A", "한", "\u00df"], BERT_PARTS]
    )
    entries: dict[str, int] = {}
    if drawn.random() < 0.9:
        entries[unknown] = 0
    for single in drawn.sample(BERT_PARTS, drawn.randrange(len(BERT_PARTS))):
        for spelled in drawn.choice([(single,), (single, prefix + single), (prefix + single,)]):
            entries.setdefault(spelled, len(entries))
    for _ in range(drawn.randrange(25)):
        entries.setdefault(drawn.choice(["", prefix]) + word(drawn, symbols, 4), len(entries))
    if drawn.random() < 0.2:
        entries.setdefault(prefix, len(entries))
    if not entries:
        entries["a"] = 0
    if drawn.random() < 0.3:
        numbers = drawn.sample(range(len(entries)), len(entries))
        entries = dict(zip(entries, numbers, strict=True))
    added: list[dict[str, Any]] = []
    strips = drawn.random() < 0.4
    options = ["[SEP]", "[MASK]", "[b]", "a", "ab", ".", " a", "é", "##a", "[S", "E", "n't"]
    for content in dict.fromkeys(drawn.choices(options, k=drawn.choice([0, 1, 2, 3]))):
        number = entries.get(content)
        if number is None:
            last = max((token["id"] for token in added), default=-1)
            number = last + 1 if last >= len(entries) else len(entries)
        flags = {flag: strips and drawn.random() < 0.5 for flag in ("lstrip", "rstrip")}
        added.append(added_token(number, content, special=drawn.random() < 0.7, **flags))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": drawn.random() < 0.7,
            "handle_chinese_chars": drawn.random() < 0.7,
            "strip_accents": drawn.choice([None, None, True, False]),
            "lowercase": drawn.random() < 0.6,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": prefix, "cleanup": drawn.random() < 0.5},
        "model": {
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": drawn.choice([100, 100, 100, 3, 1, 0]),
            "vocab": entries,
        },
    }


def with_what_is_ignored(make: Callable[[random.Random], dict[str, Any]]) -> Callable[[random.Random], dict[str, Any]]:
    """Return a maker of files with truncation, padding and unknown fields now and then."""

    def made(drawn: random.Random) -> dict[str, Any]:
        fields = make(drawn)
        # Drawn apart, so that the other parts of a file do not depend on it.
        odd = random.Random(drawn.random())
        if odd.random() < 0.3:
            fields["truncation"] = {"max_length": odd.randrange(3), "strategy": "LongestFirst", "stride": 0}
        if odd.random() < 0.3:
            fields["padding"] = {
                "strategy": odd.choice(["BatchLongest", {"Fixed": 20}]),
                "direction": odd.choice(["Left", "Right"]),
                "pad_id": odd.randrange(3),
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            }
        inner: Any = fields[odd.choice(["normalizer", "pre_tokenizer", "decoder", "model"])]
        if isinstance(inner, dict) and odd.random() < 0.3:
            inner["zz"] = odd.choice([None, 1, "x", {"type": "NFC"}])
        return fields

    return made


KINDS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "characters": with_what_is_ignored(character_file),
    "bytes": with_what_is_ignored(byte_file),
    "wordpiece": with_what_is_ignored(wordpiece_file),
}
TEXTS: dict[str, Callable[[random.Random, tuple[str, ...]], str]] = {
    "characters": lambda drawn, extra: text(drawn, extra=extra),
    "bytes": lambda drawn, extra: text(drawn, extra=extra),
    "wordpiece": bert_text,
}
