"""Random small tokenizers and questions about their seams, with the answers by brute force."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

import tokenizers

from tests.support.tokenizer_files import added_token, spell, tokenizer_json, vocabulary

__all__ = [
    *("Oracle", "Question", "is_over_bytes", "least_pair", "over_bytes", "over_characters", "random_question"),
    "without_prefix",
]

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
_SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
_REFUSED = "<?>"
_CHARACTERS = ("ab", "a ", "a b", "a\u2581 ", "aé", "a1 ", "a\n ", "é a")
_ALPHABETS = ("ab", "a ", "a b", "a\n ", "a'b", "aé", "a1b", "'s ", "ab\n")


@dataclass(frozen=True)
class Question:
    """A question about a seam.

    Attributes
    ----------
    content : str
        A tokenizer.json.
    before, after : str
        The strings that the texts end and begin with.
    symbols : str
        The symbols of the texts.
    longest : int
        The number of symbols that a text may have.
    starts : bool
        Whether the text after the seam is encoded as the start of a text.
    """

    content: str
    before: str
    after: str
    symbols: str
    longest: int
    starts: bool = False

    @property
    def within(self) -> str:
        """A pattern of the texts."""
        return f"[{self.symbols}]{{0,{self.longest}}}".replace("\n", r"\n")


def random_question(random: Random, longest: int) -> Question:
    """Return a random question about texts of up to `longest` symbols."""
    content, symbols = over_characters(random) if random.random() < 0.5 else over_bytes(random)
    before, after = ("".join(random.choice(symbols) for _ in range(random.randrange(3))) for _ in range(2))
    return Question(json.dumps(content), before, after, symbols, longest, random.random() < 0.3)


def over_bytes(random: Random) -> tuple[dict[str, Any], str]:
    """Return a tokenizer.json over bytes, and its symbols."""
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
    _add_specials(random, content, symbols)
    spaced = random.random() < 0.2
    steps: list[dict[str, Any]] = [{**content["pre_tokenizer"], "use_regex": False, "add_prefix_space": spaced}]
    pattern = random.choice(_PATTERNS)
    if pattern is not None and not spaced:
        steps.insert(0, {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})
    if spaced:
        steps[0]["use_regex"] = random.random() < 0.5
    elif random.random() < 0.15 and not content["added_tokens"]:
        content["normalizer"] = {"type": "NFC"}
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    return content, symbols


def is_over_bytes(content: str) -> bool:
    """Return whether a tokenizer is over bytes and puts nothing before a text."""
    split = json.dumps(json.loads(content)["pre_tokenizer"])
    return "ByteLevel" in split and '"add_prefix_space": true' not in split


def _add_specials(random: Random, content: dict[str, Any], symbols: str) -> None:
    vocab = content["model"]["vocab"]
    for _ in range(random.randint(1, 3) if random.random() < 0.4 else 0):
        text = "".join(random.choice(symbols) for _ in range(random.randint(1, 3)))
        known = {token["content"] for token in content["added_tokens"]}
        if text not in known and text.isascii() and text not in vocab:
            content["added_tokens"].append(added_token(len(vocab) + len(known), text))


def over_characters(random: Random) -> tuple[dict[str, Any], str]:
    """Return a tokenizer.json over characters, such as a converted SentencePiece model, and its symbols."""
    symbols = random.choice(_CHARACTERS)
    shows = random.random() < 0.7
    spelled = symbols.replace(" ", "\u2581") if shows else symbols
    known = [symbol for symbol in dict.fromkeys(spelled) if random.random() < 0.85] or [spelled[0]]
    words, rules = list(known), []
    suffix = "</w>" if random.random() < 0.2 else None
    if suffix:
        words += [symbol + suffix for symbol in known]
    for _ in range(random.randrange(9)):
        left = random.choice([word for word in words if not (suffix and word.endswith(suffix))])
        right = random.choice(words)
        if [left, right] not in rules and len(left + right) <= 5 + 4 * bool(suffix):
            rules.append([left, right])
            words.append(left + right)
    random.shuffle(rules)
    vocab: dict[str, int] = {}
    how = random.choice(("bytes", "unknown", "fused", "whole", "nothing"))
    if how == "bytes":
        vocab |= {f"<0x{byte:02X}>": byte for byte in range(256)}
    elif how in ("unknown", "fused"):
        vocab["<unk>"] = 0
    for word in [*words, *map("".join, rules)]:
        vocab.setdefault(word, len(vocab))
    if how == "whole" and not suffix:
        for _ in range(random.randrange(3)):
            vocab.setdefault("".join(random.choice(known) for _ in range(random.randint(2, 3))), len(vocab))
    decoders = [
        {**_SPACES, "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    content = tokenizer_json([], added_tokens=[], decoder={"type": "Sequence", "decoders": decoders})
    if suffix:
        content["decoder"] = {"type": "BPEDecoder", "suffix": suffix}
    content["model"] |= {
        "vocab": vocab,
        "merges": rules,
        "byte_fallback": how == "bytes",
        "unk_token": "<unk>" if how in ("unknown", "fused") else None,
        "fuse_unk": how == "fused",
        "ignore_merges": how == "whole" and not suffix,
        "end_of_word_suffix": suffix,
    }
    content["pre_tokenizer"] = None
    _add_specials(random, content, symbols)
    style = random.choice(("prepend", "replace", "metaspace"))
    if shows and style == "metaspace":
        scheme, split = random.choice(("always", "first", "never")), random.random() < 0.5
        content["pre_tokenizer"] = {
            "type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split
        }  # fmt: skip
    elif shows:
        first = [{"type": "Prepend", "prepend": "\u2581"}] if style == "prepend" else []
        content["normalizer"] = {"type": "Sequence", "normalizers": [*first, _SPACES]}
    if content["pre_tokenizer"] is None and random.random() < 0.4:
        pattern = random.choice([pattern for pattern in _PATTERNS if pattern is not None])
        content["pre_tokenizer"] = {
            "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False
        }  # fmt: skip
    return content, symbols


def without_prefix(content: dict[str, Any]) -> dict[str, Any]:
    """Return the file without what puts spaces before texts."""

    def plain(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        parts = {
            key: [plain(step) for step in value if step.get("type") != "Prepend"] if isinstance(value, list) else value
            for key, value in part.items()
        }
        changes = {"prepend_scheme": "never", "add_prefix_space": False}
        return parts | {key: value for key, value in changes.items() if key in parts}

    return content | {"normalizer": plain(content["normalizer"]), "pre_tokenizer": plain(content["pre_tokenizer"])}


class Oracle:
    """The library, asked for the ids of starts and of continuations.

    Parameters
    ----------
    question : Question
    """

    def __init__(self, question: Question) -> None:
        content = json.loads(question.content)
        model = content["model"]
        if "\u0100" not in model["vocab"] and not model["byte_fallback"] and not model["unk_token"]:
            # The library drops what has no token. Texts with such symbols are refused, so here they get a token.
            vocab = model["vocab"] | {_REFUSED: len(model["vocab"]) + len(content["added_tokens"])}
            content["model"] = model | {"unk_token": _REFUSED, "vocab": vocab}
        self._library = tokenizers.Tokenizer.from_str(json.dumps(content))
        self._later = tokenizers.Tokenizer.from_str(json.dumps(without_prefix(content)))
        self._specials = [token["content"] for token in content["added_tokens"]]
        self._starts = question.starts

        # These are gone with the oracle.
        self.starts = cache(self._starts_of)
        self.continues = cache(self._continues_of)

    def _starts_of(self, text: str) -> tuple[str, ...]:
        """Return the tokens of a text."""
        return tuple(self._library.encode(text, add_special_tokens=False).tokens)

    def _continues_of(self, text: str) -> tuple[str, ...]:
        """Return the tokens of a text that follows another one."""
        places = [(text.find(special), -len(special)) for special in self._specials if special in text]
        place = min(places)[0] if places else len(text)
        first = tuple(self._later.encode(text[:place], add_special_tokens=False).tokens)
        return first + (self.starts(text[place:]) if place < len(text) else ())

    def differ(self, before: str, after: str) -> bool:
        """Return whether the tokens of both texts differ from the tokens of their joined text, and none is refused."""
        second = self.starts(after) if self._starts or not before else self.continues(after)
        apart, whole = self.starts(before) + second, self.starts(before + after)
        return apart != whole and _REFUSED not in apart + whole


def least_pair(question: Question) -> tuple[str, str] | None:
    """Return the least two texts that are split otherwise, by trying all; None if there are none."""
    oracle = Oracle(question)
    texts = ["".join(some) for n in range(question.longest + 1) for some in product(question.symbols, repeat=n)]
    pairs = (
        (len((u + v).encode()), len(u.encode()), (u + v).encode(), u, v)
        for u in texts
        if u.endswith(question.before)
        for v in texts
        if v.startswith(question.after)
    )
    found = next((row for row in sorted(pairs) if oracle.differ(row[3], row[4])), None)
    return None if found is None else found[3:]
