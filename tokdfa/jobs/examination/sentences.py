"""The words for findings, and what to do about each: the one place where they become sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Kind -> sentence, and what to do; values are put in by name.
_WORDS: dict[str, tuple[str, str]] = {
    # files
    "no tokenizer": ("there is no tokenizer among {files:,} files", "give the path of the tokenizer"),
    "tokenizer not read": ("{reason}", "repair the file, or write it again with the library that made it"),
    "file not read": ("{reason}", "repair the file"),
    "check not made": ("{check}: {reason}", ""),
    "tokenizers read": ("{count} loaded, the first is the standard for the other files", ""),
    # agreement
    "same ids": ("every text has the same ids", ""),
    "same rules": ("the rules and ids give every text the same ids, with the pre-tokenizer of {borrows}", ""),
    "other ids": ("{text!r} has the ids {ids_a} and {ids_b}", "keep the file that the model was trained with"),
    "other text": (
        "{text!r} has the ids {ids_a} and {ids_b}: {library_a} and {library_b} differ in Unicode",
        "expect other ids for such texts",
    ),
    "other algorithm": ("one is {algorithm_a}, the other {algorithm_b}", "remove the file of another model"),
    "undecided": ("{reason}", "compare both with tokdfa compare, which says more"),
    # ids
    "size fits": ("vocab_size {size:,} has room for all {ids:,} ids", ""),
    "size too small": (
        "vocab_size is {size:,}, but the tokenizer has {ids:,} ids, the last is {token!r}",
        "set vocab_size, and resize the embeddings",
    ),
    "rows fit": ("{tensor} has {rows:,} rows for {ids:,} ids", ""),
    "too few rows": ("{tensor} has {rows:,} rows, but the tokenizer has {ids:,} ids", "resize the embeddings"),
    "rows are not the size": ("{tensor} has {rows:,} rows, but vocab_size is {size:,}", "set vocab_size to the rows"),
    "id of no token": ("{role}_token_id is {id}, which is not a token", "name the id of a token, or null"),
    "ids of a role agree": ("the files agree that {role} is {tokens}", ""),
    "ids of a role differ": (
        "{role} is not the same id in each: {ids} ({tokens})",
        "name the same token in each file",
    ),
    "pad is eos": (
        "pad and eos are both {token!r}, so that a loss without padding ignores the end",
        "give pad its own token",
    ),
    "pad is unk": ("pad and unk are both {token!r}, so that unknown symbols are masked", "give pad its own token"),
    "gaps": ("{count:,} ids have no token, the first is {first}", "expect an error where a model samples one"),
    "no gaps": ("each of {ids:,} ids has a token", ""),
    "token with two ids": ("{token!r} has the ids {ids}", "keep one of them"),
    "id with two tokens": ("the id {id} has the tokens {tokens}", "give each token its own id"),
    # special tokens
    "special tokens with two ids": (
        "{count:,} special tokens have other ids, the first is {first!r}",
        "keep the file that the model was trained with",
    ),
    "not special": (
        "{count:,} special tokens are ordinary tokens in {in}, the first is {first!r}",
        "mark them as special in each file",
    ),
}


def sentence_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return a finding in words, without a full stop."""
    return _WORDS[kind][0].format_map({name: _shown(value) for name, value in values.items()})


def remedy_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return what to do about a finding; empty where there is nothing to do."""
    return _WORDS[kind][1].format_map({name: _shown(value) for name, value in values.items()})


class _List(list[Any]):
    """A list that is written as ``a, b``, or ``config.json 1 2, params.json 3`` if its members are lists."""

    def __str__(self) -> str:
        rows = [" ".join(map(_word, row)) if isinstance(row, list) else _word(row) for row in self]
        return (", " if any(isinstance(row, list) for row in self) else " ").join(rows) or "nothing"


def _shown(value: Any) -> Any:
    return "nothing" if value is None else _List(value) if isinstance(value, list) else value


def _word(value: object) -> str:
    return "no token" if value is None else str(value)
