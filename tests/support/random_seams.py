"""Random small tokenizers and questions about their seams, with the answers by brute force."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

import tokenizers

from support.tokenizer_files import added_token, spell, tokenizer_json, vocabulary

__all__ = ["Question", "least_pair", "random_question"]

_PATTERNS = (
    None,
    r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    r"\s+(?!\S)|\s+|\S+",
    r"a+(?!b)|b",
    r"ab|a|[^a]+",
    r"\w+|\s",
    r"a(?=b)|ba?|.",
    r"[ab]+?(?= )|\s|.",
)
_ALPHABETS = ("ab", "a ", "a b", "a\n ", "a'b", "aé", "a1b", "'s ", "ab\n")


@dataclass(frozen=True)
class Question:
    """A question about a seam: a tokenizer.json, what the texts end and begin with, their symbols, how many at most."""

    content: str
    before: str
    after: str
    symbols: str
    longest: int

    @property
    def within(self) -> str:
        """A pattern of the texts."""
        return f"[{self.symbols}]{{0,{self.longest}}}".replace("\n", r"\n")


def random_question(random: Random, longest: int) -> Question:
    """Return a random question about texts of up to `longest` symbols."""
    symbols = random.choice(_ALPHABETS)
    words = [bytes([byte]) for byte in sorted({byte for symbol in symbols for byte in symbol.encode()})]
    rules: list[tuple[bytes, bytes]] = []
    for _ in range(random.randrange(9)):
        pair = random.choice(words), random.choice(words)
        if pair not in rules and len(b"".join(pair)) <= 5:
            rules.append(pair)
            words.append(b"".join(pair))
    random.shuffle(rules)
    vocab = vocabulary(rules)
    content = tokenizer_json(rules, added_tokens=[])
    content["model"] |= {"ignore_merges": random.random() < 0.3, "vocab": vocab}
    if content["model"]["ignore_merges"]:
        for _ in range(random.randrange(3)):
            word = spell(b"".join(random.choice(words) for _ in range(random.randint(2, 3))))
            vocab.setdefault(word, len(vocab))
    if random.random() < 0.4:
        for _ in range(random.randint(1, 3)):
            text = "".join(random.choice(symbols) for _ in range(random.randint(1, 3)))
            known = {token["content"] for token in content["added_tokens"]}
            if text not in known and text.isascii() and text not in vocab:
                content["added_tokens"].append(added_token(len(vocab) + len(known), text))
    steps: list[dict[str, Any]] = [{**content["pre_tokenizer"], "use_regex": False}]
    pattern = random.choice(_PATTERNS)
    if pattern is not None:
        steps.insert(0, {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    before, after = ("".join(random.choice(symbols) for _ in range(random.randrange(3))) for _ in range(2))
    return Question(json.dumps(content), before, after, symbols, longest)


def least_pair(question: Question) -> tuple[str, str] | None:
    """Return the least two texts that are split otherwise, by trying all; None if there are none."""
    library = tokenizers.Tokenizer.from_str(question.content)

    @cache
    def encode(text: str) -> tuple[int, ...]:
        return tuple(library.encode(text, add_special_tokens=False).ids)

    texts = ["".join(some) for n in range(question.longest + 1) for some in product(question.symbols, repeat=n)]
    pairs = (
        (len((u + v).encode()), len(u.encode()), (u + v).encode(), u, v)
        for u in texts
        if u.endswith(question.before)
        for v in texts
        if v.startswith(question.after)
    )
    found = next((row for row in sorted(pairs) if encode(row[3]) + encode(row[4]) != encode(row[3] + row[4])), None)
    return None if found is None else found[3:]
