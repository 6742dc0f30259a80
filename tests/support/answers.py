"""Everything that a tokenizer is asked for in tests that compare two of them; importable in a spawned process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tokdfa
from tokdfa.base.errors import TokdfaError

TEXTS = ["", "a ab the the", "  x\n\tthe 12%", "é A\u0301 中", "<|end|>a[SEP] \u2581b"]
PATTERNS = [r"t?he|\s+"]


def answers(tokenizer: Any) -> list[object]:
    """Return what a tokenizer makes of some texts and ids, refusals as they are spelled."""
    return [attempt(lambda ask=ask, value=value: ask(tokenizer, value)) for ask in ASKED for value in values(ask)]


def attempt(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except TokdfaError as error:
        return f"{type(error).__name__}: {error}"


def values(ask: Callable[[Any, Any], object]) -> list[Any]:
    return [[0, 1, 2, 5], [3], []] if ask in (decode, validate) else [*TEXTS]


def encode(tokenizer: Any, text: str) -> object:
    return tokenizer.encode(text).tolist()


def encode_piece(tokenizer: Any, text: str) -> object:
    return tokenizer.encode_piece(text).tolist() if hasattr(tokenizer, "encode_piece") else None


def encode_in_batch(tokenizer: Any, text: str) -> object:
    from tokdfa.tokenizers.encoding.batches import encode_batch

    return encode_batch(tokenizer, [text, "a", text], threads=2).ids.tolist()


def stream(tokenizer: Any, text: str) -> object:
    if not hasattr(tokenizer, "stream"):
        return None
    fed = tokenizer.stream()
    return [part.tolist() for part in (*(fed.feed(text[i : i + 2]) for i in range(0, len(text), 2)), fed.finish())]


def decode(tokenizer: Any, ids: list[int]) -> object:
    return tokenizer.decode(ids)


def validate(tokenizer: Any, ids: list[int]) -> object:
    verdict = tokenizer.validate(ids, all=True)
    return bool(verdict), [(found.index, found.ids, found.canonical_ids, found.reason) for found in verdict.violations]


def validate_often(tokenizer: Any, value: tuple[list[int], int]) -> object:
    """Ask about a long stream, and about a short one, which what was made for the long one judges."""
    ids, times = value
    return bool(tokenizer.validate(ids * times)), validate(tokenizer, ids), validate(tokenizer, ids[::-1])


def validate_text(tokenizer: Any, text: str) -> object:
    ids = tokenizer.encode(text).tolist()
    return validate(tokenizer, ids), validate(tokenizer, ids[::-1]), validate(tokenizer, ids[1:])


def search(tokenizer: Any, text: str) -> object:
    ids = tokenizer.encode(text)
    return [[tuple(match) for match in tokenizer.search(pattern, ids)] for pattern in PATTERNS]


ASKED: list[Callable[[Any, Any], object]] = [
    encode,
    encode_piece,
    encode_in_batch,
    stream,
    decode,
    validate,
    validate_text,
    search,
]


def answers_of_pickled(data: bytes) -> tuple[list[object], str]:
    """Return the answers of a tokenizer that comes from another process, and its description."""
    import pickle

    tokenizer = pickle.loads(data)
    return answers(tokenizer), f"{type(tokenizer).__name__} {tokenizer.fingerprint} {tokdfa.__name__}"
