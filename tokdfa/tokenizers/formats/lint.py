"""Oddities of a tokenizer file that its library accepts, or reads as something else than was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tokdfa.base.errors import FileFormatError
from tokdfa.base.files import open_named
from tokdfa.tokenizers.decoding import byte_of
from tokdfa.tokenizers.formats.gguf_head import MAGIC, GGUFHead, read_head
from tokdfa.tokenizers.formats.gguf_tokens import BYTE, CONTROL, MODEL, NORMAL, PRE, TOKENS, TYPES, UNUSED
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

Kind: TypeAlias = Literal[
    "pattern is a string",
    "no pre",
    "unknown pre",
    "merge without token",
    "duplicate token",
    "type contradicts",
    "scores not ordered",
    "key not read",
]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something odd in a file: the key or component that has it, the first case, and the number of cases."""

    kind: Kind
    where: str
    value: str
    count: int = 1


_WORDS: dict[Kind, str] = {
    "pattern is a string": "{where} splits at the text {value!r}, which looks like a regular expression ({count})",
    "no pre": "{where} is missing: llama.cpp takes the pre-tokenizer {value!r}, which is that of no model",
    "unknown pre": "{where} is {value!r}, which llama.cpp does not know",
    "merge without token": "{count:,} rules of {where} have a part or a result that is no token, first {value!r}",
    "duplicate token": "{count:,} tokens of {where} occur before, first {value!r}; llama.cpp aborts",
    "type contradicts": "{count:,} types of {where} contradict the token, first {value}",
    "scores not ordered": "{count:,} scores of {where} are not in falling order, first that of {value!r}",
    "key not read": "{where} has no effect: llama.cpp does not read it for {value!r}",
}


def words_of(finding: Finding) -> str:
    """Return a finding as a sentence without a full stop."""
    return _WORDS[finding.kind].format(where=finding.where, value=finding.value, count=finding.count)


# Classes, properties, groups with a mark, negated brackets, and repeated brackets: nobody splits at such texts.
_LOOKS_LIKE_PATTERN = re.compile(r"\\[pPsSdDwW]|\(\?[:!=<i]|\[\^|\][+*?]|\)[+*?]|\.\*|\.\+|\{\d+(?:,\d*)?\}")
# A file has its scores out of order if more than one in this number is.
_ONE_IN = 100
_READ_BY: dict[str, tuple[str, ...]] = {
    "tokenizer.ggml.precompiled_charsmap": ("t5",),
    "tokenizer.ggml.remove_extra_whitespaces": ("t5",),
    "tokenizer.ggml.merges": ("gpt2", "gemma4", "hybriddna", "whitespace"),
    "tokenizer.ggml.normalizer.lowercase": ("bert", "whitespace"),
    "tokenizer.ggml.normalizer.strip_accents": ("bert", "whitespace"),
}


def lint_file(path: Path) -> list[Finding]:
    """Return the oddities of a GGUF file, from its head alone; none for a file of another format."""
    if not path.is_file():
        return []
    with open_named(path) as file:
        if file.read(len(MAGIC)) != MAGIC:
            return []
        file.seek(0)
        return lint_head(GGUFHead(read_head(file, path, path.stat().st_size), path))


def lint_head(head: GGUFHead) -> list[Finding]:
    """Return the oddities of the head of a GGUF file. Keys of wrong types are left to its reader."""
    found: list[Finding] = []
    for rule in (_keys, _pre, _tokens, _types, _scores, _merges, _strings):
        try:
            found += rule(head)
        except FileFormatError:
            continue
    return found


def lint_tokenizer(tokenizer: AnyTokenizer) -> list[Finding]:
    """Return the steps of a pre-tokenizer that split at a text which looks like a regular expression."""
    splitting = getattr(getattr(tokenizer, "pretokenizer", None), "splitting", None)
    if splitting is None:
        return []
    texts = [step.pattern for step in splitting.all_steps if step.literal and looks_like_pattern(step.pattern)]
    return [Finding("pattern is a string", "pre_tokenizer", texts[0], len(texts))] if texts else []


def looks_like_pattern(text: str) -> bool:
    """Return whether a text is rather a regular expression than a text to split at."""
    return _LOOKS_LIKE_PATTERN.search(text) is not None


def _model(head: GGUFHead) -> str:
    return head.string(MODEL)


def _keys(head: GGUFHead) -> Iterator[Finding]:
    for key, models in _READ_BY.items():
        if key in head and _model(head) not in models:
            yield Finding("key not read", key, _model(head))


def _pre(head: GGUFHead) -> Iterator[Finding]:
    name = head.string(PRE, default="")
    if _model(head) == "gpt2" and name not in PRE_TOKENIZERS:
        yield Finding("unknown pre" if name else "no pre", PRE, name or "default")


def _tokens(head: GGUFHead) -> Iterator[Finding]:
    ids: dict[str, int] = {}
    again = (word for id, word in enumerate(head.strings(TOKENS)) if ids.setdefault(word, id) != id)
    yield from _first("duplicate token", TOKENS, again)


def _types(head: GGUFHead) -> Iterator[Finding]:
    if TYPES not in head:
        return
    words = head.strings(TOKENS)
    types: list[int] = head.numbers(TYPES, ("i32",)).tolist()
    odd = _contradictions(head, words, types)
    yield from _first("type contradicts", TYPES, (f"{word} is {type}" for word, type in odd))


def _contradictions(head: GGUFHead, words: list[str], types: list[int]) -> Iterator[tuple[str, int]]:
    ends = {head.number(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos", "eot", "eom")}
    has_byte_tokens = _model(head) == "llama"
    for id, (word, type) in enumerate(zip(words, types, strict=False)):
        is_byte = byte_of(word) is not None
        looks_special = word[:1] == "<" and re.fullmatch(r"<\|.+\|>|<\uff5c.+\uff5c>", word) is not None
        if (
            not NORMAL <= type <= BYTE
            or (has_byte_tokens and is_byte != (type == BYTE))
            or (type == BYTE and not is_byte)
            or (type in (NORMAL, UNUSED) and (id in ends or looks_special))
            or (type == CONTROL and not word.strip())
        ):
            yield word, type


def _scores(head: GGUFHead) -> Iterator[Finding]:
    key = "tokenizer.ggml.scores"
    if _model(head) != "llama":
        return
    words = head.strings(TOKENS)
    if key not in head:
        yield Finding("scores not ordered", key, "none", len(words))
        return
    scores = head.numbers(key, ("f32", "i32"))
    types = head.numbers(TYPES, ("i32",)) if TYPES in head else np.full(len(words), NORMAL)
    n = min(len(words), len(scores), len(types))
    long = np.fromiter(map(len, words[:n]), dtype=np.int64, count=n) > 1
    merging = np.flatnonzero((types[:n] == NORMAL) & long)
    rising = merging[1:][~(scores[merging[1:]] <= scores[merging[:-1]])].tolist()
    # Models have a few that are out of order on purpose, such as the runs of spaces of Llama-2.
    if len(rising) > len(merging) // _ONE_IN:
        yield from _first("scores not ordered", key, (words[id] for id in rising))


def _merges(head: GGUFHead) -> Iterator[Finding]:
    key = "tokenizer.ggml.merges"
    if key not in head:
        return
    known, odd = set(head.strings(TOKENS)), []
    for rule in head.strings(key):
        at = rule.find(" ", 1)
        left, right = rule[: max(at, 0)], rule[at + 1 :]
        if at < 0 or not known.issuperset((left, right, left + right)):
            odd.append(rule)
    yield from _first("merge without token", key, odd)


def _strings(head: GGUFHead) -> Iterator[Finding]:
    key = "tokenizer.huggingface.json"
    if key not in head:
        return
    try:
        fields = json.loads(head.string(key))
    except (ValueError, RecursionError):
        return
    parts: list[Any] = [fields.get("pre_tokenizer") if isinstance(fields, dict) else None]
    texts = []
    for part in parts:  # grows during the loop
        if isinstance(part, dict):
            pattern = part.get("pattern")
            text = pattern.get("String") if isinstance(pattern, dict) else None
            if isinstance(text, str) and looks_like_pattern(text):
                texts.append(text)
            parts.extend(value for name, value in part.items() if name != "pattern")
        elif isinstance(part, list):
            parts.extend(part)
    yield from _first("pattern is a string", f"{key}, pre_tokenizer", texts)


def _first(kind: Kind, where: str, values: Iterable[str]) -> Iterator[Finding]:
    """Yield one finding for all values, if there are any."""
    found = list(values)
    if found:
        yield Finding(kind, where, found[0], len(found))
