"""Small tokenizers that normalize texts, and texts at which normalization forms differ."""

from __future__ import annotations

import random
from typing import Any

from tests.support.editing import edited
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.tokenizers.pretokenizers.steps import NAMED

# Marks of several classes, in and out of order, singletons, composition exclusions, jamo, characters that decompose to
# marks, long words, and parts of special tokens.
SYMBOLS = [
    *(
        "a",
        "e",
        "o",
        "s",
        " ",
        "  ",
        "\n",
        "é",
        "e\u0301",
        "\u0301",
        "\u0323",
        "\u0302",
        "\u0345",
        "ệ",
        "12",
        "'s",
        ".",
    ),
    *("\u0958", "\u093c", "\u0915", "\u0915\u093c", "\u212b", "Å", "\uf900", "中", "\u0344", "\u1e9b\u0323"),
    *("\u1100", "\u1161", "\u11a8", "가", "각", "\u09c7", "\u09be", "\u09cb", "\u3099", "か", "が"),
    *("\u05b4\u05bc", "\u05bc\u05b4", "\U0001d15e", "\U0001f600", "\u0e38\u0e48", "<e>", "<", "n>", "<|x|>"),
]
SPECIALS = ("<e>", "<|x|>", "n>s", "\u0301x", "<a", "\u1161z", "é?", "<e\u0301>", "가", "\u1100\u1161")


def text(drawn: random.Random, longest: int = 20) -> str:
    return "".join(drawn.choices(SYMBOLS, k=drawn.randrange(longest)))


def normalized_file(drawn: random.Random) -> dict[str, Any]:
    """Return a tokenizer.json over bytes with a form, mostly NFC, and rules that make parts of symbols."""
    known = {bytes([byte]) for byte in range(256)}
    rules: list[tuple[bytes, bytes]] = []
    for _ in range(drawn.randrange(150)):
        data = "".join(drawn.choices(SYMBOLS, k=4)).encode()
        i = drawn.randrange(len(data))
        j = drawn.randrange(i + 1, i + 5)
        left, right = data[i:j], data[j : drawn.randrange(j + 1, j + 5)]
        if left in known and right in known and left + right not in known:
            rules.append((left, right))
            known.add(left + right)
    file = tokenizer_json(
        rules, normalizer={"type": drawn.choice(["NFC"] * 3 + ["NFD"] * 2 + ["NFKC", "NFKD"])}, added_tokens=[]
    )
    first = len(file["model"]["vocab"])
    for id, content in enumerate(drawn.sample(SPECIALS, drawn.randrange(4)), first):
        fields = {"normalized": drawn.random() < 0.4, "special": drawn.random() < 0.5, "lstrip": drawn.random() < 0.1}
        file["added_tokens"].append(added_token(id, content, **fields))
    if drawn.random() < 0.8:
        pattern = NAMED[drawn.choice(["qwen2", "llama3", "o200k"])].steps[0].pattern
        split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, level]}
    file["model"]["ignore_merges"] = drawn.random() < 0.2
    return file


def spoiled(drawn: random.Random, words: list[bytes], encoded: list[int], spelled: bytes) -> list[int]:
    """Return the ids of a text, the ids with a few edits, or any ids that spell it."""
    way = drawn.randrange(4)
    if way == 0:
        return encoded
    if way == 1:
        return edited(drawn, encoded, range(len(words)), range(1, 3))
    ids = []
    at = 0
    while at < len(spelled):
        fitting = [id for id, word in enumerate(words) if word and spelled.startswith(word, at)]
        # Mostly the longest, so that much is right.
        longest = max(fitting, key=lambda id: len(words[id]))
        ids.append(longest if drawn.random() < 0.9 else drawn.choice(fitting))
        at += len(words[ids[-1]])
    return ids
