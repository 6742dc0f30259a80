"""Random tokenizer.json files over characters and bytes, with every step that is modelled."""

from __future__ import annotations

import random
from typing import Any

from support.tokenizer_files import added_token, spell, tokenizer_json

LETTERS = "abcAé\u0301 \u2581"
SYMBOLS = [*LETTERS, *"\u00e9e☃İ가1!#\t\n", "\ufb01", "\u212b", "\u1100", "\u1161", "\u0345", "\ufffd"]


def text(drawn: random.Random, longest: int = 12, extra: tuple[str, ...] = ()) -> str:
    return "".join(drawn.choices([*SYMBOLS, *"ab " * 3, *extra], k=drawn.randrange(longest)))


def word(drawn: random.Random, symbols: str | list[str] = LETTERS, most: int = 3) -> str:
    return "".join(drawn.choices(symbols, k=drawn.randrange(1, most + 1)))


def normalizer(drawn: random.Random) -> dict[str, Any] | None:
    def one() -> dict[str, Any]:
        kind = drawn.choice(
            ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Prepend", "Replace", "Replace"]
        )
        if kind == "Strip":
            return {"type": kind, "strip_left": drawn.random() < 0.5, "strip_right": drawn.random() < 0.5}
        if kind == "Prepend":
            return {"type": kind, "prepend": drawn.choice(["\u2581", " ", "a", ""])}
        if kind == "Replace":
            strings = [{"String": spelled} for spelled in (" ", "ab", "\n")]
            pattern = drawn.choice([*strings, *({"Regex": spelled} for spelled in (r" {2,}", r"\s+", r"[^\p{L} ]"))])
            return {"type": kind, "pattern": pattern, "content": drawn.choice(["\u2581", "", " ", "a", "bb"])}
        return {"type": kind}

    steps = [one() for _ in range(drawn.choice([0, 0, 1, 1, 2, 3]))]
    if not steps:
        return drawn.choice([None, {"type": "Sequence", "normalizers": []}])
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": steps}


def added_tokens(drawn: random.Random, vocab: dict[str, int], *, bytewise: bool = False) -> list[dict[str, Any]]:
    tokens: list[dict[str, Any]] = []
    taken: set[str] = set()
    for _ in range(drawn.choice([0, 1, 2, 4])):
        content = drawn.choice(["<x>", "<xy>", "a<", "x", "[b]", " a", "a ", "\u2581<", "é", "AB", word(drawn)])
        if content in taken or (bytewise and "é" in content):
            continue
        taken.add(content)
        flags = {flag: drawn.random() < 0.25 for flag in ("lstrip", "rstrip", "single_word")}
        flags["normalized"] = drawn.random() < 0.5
        number = vocab.get(content)
        if number is None:
            last = max((token["id"] for token in tokens), default=-1)
            number = last + 1 if last >= len(vocab) else len(vocab)
        tokens.append(added_token(number, content, special=drawn.random() < 0.5, **flags))
    return tokens


def pre_tokenizer(drawn: random.Random) -> dict[str, Any] | None:
    metaspace = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": drawn.choice(["always", "first", "never"]),
        "split": drawn.random() < 0.5,
    }
    split = {"type": "Split", "pattern": {"Regex": r"\s+|[0-9]"}, "behavior": "Isolated", "invert": False}
    whitespace = drawn.choice([{"type": "Whitespace"}, {"type": "WhitespaceSplit"}])
    sequence = {"type": "Sequence", "pretokenizers": [metaspace, {"type": "Digits", "individual_digits": True}]}
    return drawn.choice([None, metaspace, metaspace, split, whitespace, sequence])


def decoder(drawn: random.Random, suffix: str | None) -> dict[str, Any]:
    replace = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    strip = {"type": "Strip", "content": drawn.choice(" a"), "start": drawn.randrange(3), "stop": 0}
    metaspace = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": drawn.choice(["always", "first", "never"]),
        "split": True,
    }
    llama = [replace, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]
    options: list[Any] = [
        {"type": "Fuse"},
        replace,
        metaspace,
        {"type": "Sequence", "decoders": llama},
        {"type": "Sequence", "decoders": llama[:3]},
        {"type": "Sequence", "decoders": [strip, replace, {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, metaspace]},
        {"type": "Sequence", "decoders": [metaspace, {"type": "ByteFallback"}]},
        {"type": "WordPiece", "prefix": "##", "cleanup": drawn.random() < 0.5},
    ]
    if suffix:
        options += [{"type": "BPEDecoder", "suffix": suffix}] * 6
    return dict(drawn.choice(options))


def character_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over characters."""
    suffix = drawn.choice([None, None, None, "</w>"])
    prefix = drawn.choice([None, None, None, "##"])
    singles = drawn.sample(SYMBOLS, drawn.randrange(6, len(SYMBOLS)))
    vocab: dict[str, int] = {}

    def put(token: str) -> str:
        vocab.setdefault(token, len(vocab))
        return token

    if drawn.random() < 0.5:
        put("<unk>")
    as_bytes = drawn.random() < 0.5
    for byte in range(256) if as_bytes else ():
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
    fields = tokenizer_json([])
    fields["model"] |= {
        "vocab": vocab,
        "merges": [list(rule) for rule in rules],
        "unk_token": "<unk>" if "<unk>" in vocab and drawn.random() < 0.8 else None,
        "fuse_unk": drawn.random() < 0.5,
        "byte_fallback": drawn.random() < 0.7,
        "end_of_word_suffix": suffix,
        "continuing_subword_prefix": prefix,
        "ignore_merges": drawn.random() < 0.1,
    }
    fields |= {
        "normalizer": normalizer(drawn),
        "pre_tokenizer": pre_tokenizer(drawn),
        "decoder": decoder(drawn, suffix),
        "added_tokens": added_tokens(drawn, vocab),
    }
    return fields


def byte_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over bytes."""
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
    fields |= {
        "normalizer": normalizer(drawn),
        "pre_tokenizer": byte_level,
        "post_processor": drawn.choice([None, template]),
        "added_tokens": added_tokens(drawn, vocab, bytewise=True),
    }
    fields["model"]["ignore_merges"] = drawn.random() < 0.2
    return fields
