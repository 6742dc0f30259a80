"""Random steps of tokenizer.json files: normalizers, pre-tokenizers, decoders, and added tokens; and texts for them."""

from __future__ import annotations

import base64
import random
from typing import Any

from tests.campaigns.tables.graphemes import charsmap
from tests.support.tokenizer_files import added_token

LETTERS = "abcAé\u0301 \u2581"
SYMBOLS = [
    *LETTERS,
    *"\u00e9e☃İ가1!#\t\n\r\x7f\u200b\u200d中©",
    "\ufb01",
    "\u212b",
    "\u1100",
    "\u1161",
    "\u0345",
    "\ufffd",
]


def text(drawn: random.Random, longest: int = 12, extra: tuple[str, ...] = ()) -> str:
    return "".join(drawn.choices([*SYMBOLS, *"ab " * 3, *extra], k=drawn.randrange(longest)))


def word(drawn: random.Random, symbols: str | list[str] = LETTERS, most: int = 3) -> str:
    return "".join(drawn.choices(symbols, k=drawn.randrange(1, most + 1)))


NORMALIZERS = [
    *("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Prepend", "Replace"),
    *("BertNormalizer", "Nmt", "Precompiled", "ByteLevel"),
]


def rewriting_rules(drawn: random.Random) -> dict[str, str]:
    """The rules of a table of characters: of single ones and of several, with marks after them or not."""
    keys = [*(symbol for symbol in SYMBOLS if symbol != "\ufffd"), "a\u0301", "ab", "\u1100\u1161", "\r\n", "e\u0301"]
    chosen = drawn.sample(keys, drawn.randrange(1, 8))
    return {key: drawn.choice(["a", "", " ", "bb", "é", "\u2581", key]) for key in chosen}


def normalizer(drawn: random.Random) -> dict[str, Any] | None:
    def one() -> dict[str, Any]:
        kind = drawn.choice([*NORMALIZERS, "Replace"])
        if kind == "Strip":
            return {"type": kind, "strip_left": drawn.random() < 0.5, "strip_right": drawn.random() < 0.5}
        if kind == "Prepend":
            return {"type": kind, "prepend": drawn.choice(["\u2581", " ", "a", ""])}
        if kind == "Replace":
            strings = [{"String": spelled} for spelled in (" ", "ab", "\n")]
            pattern = drawn.choice([*strings, *({"Regex": spelled} for spelled in (r" {2,}", r"\s+", r"[^\p{L} ]"))])
            return {"type": kind, "pattern": pattern, "content": drawn.choice(["\u2581", "", " ", "a", "bb"])}
        if kind == "BertNormalizer":
            flags = {flag: drawn.random() < 0.6 for flag in ("clean_text", "handle_chinese_chars", "lowercase")}
            return {"type": kind, **flags, "strip_accents": drawn.choice([None, True, False])}
        if kind == "Precompiled":
            return {"type": kind, "precompiled_charsmap": base64.b64encode(charsmap(rewriting_rules(drawn))).decode()}
        return {"type": kind}

    steps = [one() for _ in range(drawn.choice([0, 0, 1, 1, 2, 3]))]
    if not steps:
        return drawn.choice([None, {"type": "Sequence", "normalizers": []}])
    return steps[0] if len(steps) == 1 else {"type": "Sequence", "normalizers": steps}


def added_tokens(drawn: random.Random, vocab: dict[str, int], *, bytewise: bool = False) -> list[dict[str, Any]]:
    tokens: list[dict[str, Any]] = []
    taken: set[str] = set()
    often = drawn.choice([0.1, 0.25, 0.6])
    options = [
        "<x>",
        "<xy>",
        "a<",
        "x",
        "[b]",
        " a",
        "a ",
        "\u2581<",
        "é",
        "AB",
        "  ",
        " ",
        "\n",
        "\u2581\u2581",
        "<x",
        "x>",
    ]
    for _ in range(drawn.choice([0, 1, 2, 4])):
        content = drawn.choice([*options, word(drawn)])
        if content in taken or (bytewise and "é" in content):
            continue
        taken.add(content)
        flags = {flag: drawn.random() < often for flag in ("lstrip", "rstrip", "single_word")}
        flags["normalized"] = drawn.random() < 0.5
        number = vocab.get(content)
        if number is None:
            last = max((token["id"] for token in tokens), default=-1)
            number = last + 1 if last >= len(vocab) else len(vocab)
        tokens.append(added_token(number, content, special=drawn.random() < 0.5, **flags))
    return tokens


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
PATTERNS: list[dict[str, str]] = [
    *({"Regex": spelled} for spelled in (r"\s+|[0-9]", r"\p{L}+", r" ?\S+", r"[ab ]+x", r"\s+(?!\S)|\s")),
    *({"String": spelled} for spelled in (" ", "ab", "\u2581")),
]


def metaspace(drawn: random.Random) -> dict[str, Any]:
    return {
        "type": "Metaspace",
        "replacement": drawn.choice(["\u2581", "\u2581", "\u2581", "b"]),
        "prepend_scheme": drawn.choice(["always", "first", "never"]),
        "split": drawn.random() < 0.5,
    }


def splitting_step(drawn: random.Random) -> dict[str, Any]:
    """A step that splits and spells nothing otherwise."""
    kind = drawn.choice(["Split", "Split", "Digits", "Punctuation", "CharDelimiterSplit", "FixedLength", *SIMPLE])
    if kind == "Split":
        behavior = drawn.choice(BEHAVIORS)
        return {"type": kind, "pattern": drawn.choice(PATTERNS), "behavior": behavior, "invert": drawn.random() < 0.3}
    fields: dict[str, Any] = {
        "Digits": {"individual_digits": drawn.random() < 0.5},
        "Punctuation": {"behavior": drawn.choice(BEHAVIORS)},
        "CharDelimiterSplit": {"delimiter": drawn.choice(" ab!")},
        "FixedLength": {"length": drawn.randrange(1, 5)},
    }
    return {"type": kind, **fields.get(kind, {})}


def byte_step(drawn: random.Random) -> dict[str, Any]:
    """A step that splits letters for bytes; some are numeric, punctuation or of another script."""
    if drawn.random() < 0.5:
        return splitting_step(drawn)
    patterns = [*({"Regex": spelled} for spelled in ("[0-9][0-9]", "[Ġ²¹¼ªº]+", r"\p{Lu}+", r"\w(?!\w)", r".\z"))]
    behavior = drawn.choice(BEHAVIORS)
    return {"type": "Split", "pattern": drawn.choice(patterns), "behavior": behavior, "invert": drawn.random() < 0.3}


SIMPLE = ["Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"]


def pre_tokenizer(drawn: random.Random) -> dict[str, Any] | None:
    steps = [splitting_step(drawn) for _ in range(drawn.choice([0, 0, 0, 1, 1, 2]))]
    if drawn.random() < 0.5:
        steps.insert(drawn.choice([0, 0, len(steps)]), metaspace(drawn))
    return as_one(drawn, steps, "pretokenizers")


def as_one(drawn: random.Random, steps: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    if len(steps) == 1 and drawn.random() < 0.7:
        return steps[0]
    return {"type": "Sequence", key: steps} if steps or drawn.random() < 0.2 else None


def decoder(drawn: random.Random, suffix: str | None) -> dict[str, Any]:
    replace = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    strip = {"type": "Strip", "content": drawn.choice(" a"), "start": drawn.randrange(3), "stop": 0}
    of_space = metaspace(drawn)
    llama = [replace, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]
    options: list[Any] = [
        {"type": "Fuse"},
        replace,
        of_space,
        {"type": "Sequence", "decoders": llama},
        {"type": "Sequence", "decoders": llama[:3]},
        {"type": "Sequence", "decoders": [strip, replace, {"type": "Fuse"}]},
        {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, of_space]},
        {"type": "Sequence", "decoders": [of_space, {"type": "ByteFallback"}]},
        {"type": "WordPiece", "prefix": drawn.choice(["##", "##", "a", ""]), "cleanup": drawn.random() < 0.5},
        {"type": "BPEDecoder", "suffix": drawn.choice(["</w>", "a", " "])},
    ]
    if suffix:
        options += [{"type": "BPEDecoder", "suffix": suffix}] * 6
    odd = {"type": "Replace", "pattern": drawn.choice(PATTERNS), "content": drawn.choice(["", " ", "ab", "!"])}
    if drawn.random() < 0.25:
        steps = drawn.choices([replace, odd, strip, of_space, *options[-2:], *llama[1:3]], k=drawn.randrange(1, 4))
        return {"type": "Sequence", "decoders": steps}
    return dict(drawn.choice(options))


def of_letters(drawn: random.Random) -> dict[str, Any] | None:
    """A decoder for tokens over letters of the byte alphabet."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    strip = {"type": "Strip", "content": drawn.choice(" a"), "start": drawn.randrange(3), "stop": 0}
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": " "}
    after = drawn.sample([{"type": "Fuse"}, strip, replace], drawn.choice([0, 0, 1, 2]))
    return drawn.choice([None, byte_level, {"type": "Sequence", "decoders": [byte_level, *after]}])
