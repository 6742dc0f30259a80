"""Random tokenizers with a normalizer that composes characters and added tokens of all flags, and texts of their parts.

Each draws a few symbols that compose with one another, and uses them in its rules, its added tokens and its texts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tokenizers

import tokdfa
from tests.support.random_steps import metaspace
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.pretokenizers.steps import NAMED

__all__ = ["KINDS", "Composing", "composing"]

# Symbols that compose or decompose, with the characters they may become.
GROUPS = (
    ["a", "e", "\u0301", "é", "ae", "ẹ", "\u0323"],
    ["=", "<", "\u0338", "≠", "a"],
    ["가", "\u1100", "\u1161", "각", "\u11a8"],
    ["か", "\u3099", "が", "a"],
    [" ", "\u2581", "\n", "e", "\u0301"],
    ["a", "b", "'", "e", "\u0301", "'e"],
)
CONTENTS = [
    *(
        "é",
        "e",
        "e\u0301",
        "<x>",
        "<é>",
        "<e>",
        " e",
        "e ",
        " ",
        "\n",
        "  ",
        "é<",
        "<x",
        "x>",
        "≠",
        "=",
        "가",
        "\u1100",
    ),
    *("か", "ab", "\u2581", "\u2581e", "=\u0338", "a b"),
]
FORMS = ("NFC", "NFC", "NFC", "NFKC", "NFD", "NFKD")
# Patterns that tell a letter from the one that it composes to.
PATTERNS = [
    *(
        r"[ae]+|[^ae]",
        r"'e|[é]|\s|[^\sé]",
        r"[=<]+|[^=<]+",
        r"\p{L}+|\P{L}",
        r"\S+|\s+",
        r"[\u1100-\u11ff]+|[가-힣]+|.",
    ),
    *(NAMED[name].steps[0].pattern for name in ("qwen2", "llama3")),
]
SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
BACK = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}


@dataclass(frozen=True)
class Composing:
    """A tokenizer, the ids that its library gives a text, and the parts of its texts.

    Attributes
    ----------
    is_alike : bool
        Whether a text is encoded as if it followed another one.
    n_flags : int
        The number of added tokens that strip or are single words.
    """

    tokenizer: tokdfa.Tokenizer
    encode: Callable[[str], list[int]]
    symbols: list[str]
    contents: list[str]
    is_alike: bool
    n_flags: int

    def text(self, drawn: random.Random, most: int = 12) -> str:
        halves = [part for content in self.contents for part in (content[:1], content[:-1], content[1:])]
        return "".join(drawn.choices([*self.symbols, *self.contents * 2, *halves], k=drawn.randrange(most)))


def over_bytes(drawn: random.Random, symbols: list[str]) -> dict[str, Any]:
    """A tokenizer.json over bytes with a form or none, and rules within and across symbols."""
    known, rules = {bytes([byte]) for byte in range(256)}, []
    for _ in range(drawn.randrange(40)):
        data = "".join(drawn.choices(symbols, k=3)).encode()
        start = drawn.randrange(len(data) - 1)
        middle = drawn.randrange(start + 1, len(data))
        left, right = data[start:middle], data[middle : middle + drawn.randrange(1, 4)]
        if {left, right} <= known and left + right not in known:
            rules.append((left, right))
            known.add(left + right)
    form = {"type": drawn.choice(FORMS)} if drawn.random() < 0.8 else None
    fields = tokenizer_json(rules, normalizer=form, added_tokens=[])
    level = {**fields["pre_tokenizer"], "add_prefix_space": drawn.random() < 0.3, "use_regex": drawn.random() < 0.3}
    if not level["use_regex"] and drawn.random() < 0.9:
        behavior = drawn.choice(["Isolated", "Isolated", "MergedWithNext", "MergedWithPrevious"])
        split = {"type": "Split", "pattern": {"Regex": drawn.choice(PATTERNS)}, "behavior": behavior, "invert": False}
        level["add_prefix_space"] = False
        fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, level]}
    else:
        fields["pre_tokenizer"] = level
    fields["model"]["ignore_merges"] = drawn.random() < 0.2
    return fields


def over_characters(drawn: random.Random, symbols: list[str]) -> dict[str, Any]:
    """A tokenizer.json over characters with several steps, one of them a form, as converted models have."""
    bytes_ = [f"<0x{byte:02X}>" for byte in range(256)] if drawn.random() < 0.4 else []
    words, rules = [*dict.fromkeys("".join(symbols) + "a▁")], []
    for _ in range(drawn.randrange(25)):
        rule = [drawn.choice(words), drawn.choice(words)]
        if rule not in rules:
            rules.append(rule)
            words.append("".join(rule))
    fields = tokenizer_json([], added_tokens=[])
    fields["model"] |= {
        "vocab": {token: id for id, token in enumerate(dict.fromkeys(["<unk>", *bytes_, *words]))},
        "merges": rules,
        "unk_token": "<unk>",
        "fuse_unk": drawn.random() < 0.5,
        "byte_fallback": bool(bytes_),
    }
    form = {"type": drawn.choice(FORMS)}
    odd = {"type": "Replace", "pattern": {"String": drawn.choice("e<=é\u0301")}, "content": drawn.choice("aé =\u2581")}
    strip = {"type": "Strip", "strip_left": drawn.random() < 0.5, "strip_right": drawn.random() < 0.5}
    prepend = {"type": "Prepend", "prepend": "\u2581"}
    steps: list[list[dict[str, Any]]] = [
        *([form], [form], [form, SPACES], [prepend, SPACES, form], [form, odd], [odd, form], [odd, form, SPACES]),
        *([{"type": "Lowercase"}, form], [strip, form], [{"type": "NFD"}, {"type": "StripAccents"}, form]),
    ]
    split = {"type": "Split", "pattern": {"String": drawn.choice(" \u2581aé")}, "invert": False}
    split["behavior"] = drawn.choice(["Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
    fields["normalizer"] = {"type": "Sequence", "normalizers": drawn.choice(steps)}
    fields["pre_tokenizer"] = drawn.choice([None, None, metaspace(drawn), split])
    fields["decoder"] = {"type": "Sequence", "decoders": [BACK, {"type": "ByteFallback"}, {"type": "Fuse"}]}
    return fields


KINDS = {"bytes": over_bytes, "characters": over_characters}


def composing(kind: str, drawn: random.Random) -> Composing | None:
    """Return a random tokenizer of a kind; None if it is refused here or by its library."""
    symbols = [*drawn.choice(GROUPS), *drawn.choice(GROUPS), *drawn.choice([[], [" "], [" ", " "]])]
    fields = KINDS[kind](drawn, symbols)
    vocab, often = fields["model"]["vocab"], drawn.choice([0.0, 0.2, 0.5])
    # Over bytes, "é" would be read as a letter that stands for one.
    contents = [content for content in CONTENTS if kind != "bytes" or content.strip("<") != "é"]
    for content in drawn.sample(contents, drawn.randrange(5)):
        n_new = sum(token["id"] >= len(vocab) for token in fields["added_tokens"])
        flags = {flag: drawn.random() < often for flag in ("lstrip", "rstrip", "single_word")}
        flags |= {"normalized": drawn.random() < 0.6, "special": drawn.random() < 0.4}
        fields["added_tokens"].append(added_token(vocab.get(content, len(vocab) + n_new), content, **flags))
    written = json.dumps(fields)
    try:
        tokenizer = tokdfa.load(written.encode())
        library = tokenizers.Tokenizer.from_str(written)
    except TokdfaError:
        return None
    assert isinstance(tokenizer, tokdfa.Tokenizer)

    def encode(text: str) -> list[int]:
        ids: list[int] = library.encode(text, add_special_tokens=False).ids
        return ids

    beginnings = ('"add_prefix_space": true', '"Prepend"', '"always"', '"first"', '"Strip"')
    n_flags = sum(token["lstrip"] or token["rstrip"] or token["single_word"] for token in fields["added_tokens"])
    contents = [token["content"] for token in fields["added_tokens"]]
    steps = json.dumps([fields["normalizer"], fields["pre_tokenizer"]])
    is_alike = not any(step in steps for step in beginnings)
    return Composing(tokenizer, encode, symbols, contents, is_alike, n_flags)
