"""The words for findings, and what to do about each: the one place where they become sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from tokdfa.tokenizers.formats.lint import Kind

# Kind -> sentence, and what to do; values are put in by name.
_WORDS: dict[str, tuple[str, str]] = {
    # files
    "no tokenizer": ("there is no tokenizer; files looked at: {files:,}", "give the path of the tokenizer"),
    "tokenizer not read": ("{reason}", "repair the file, or write it again with the library that made it"),
    "file not read": ("{reason}", "repair the file"),
    "check not made": ("{check}: {reason}", "make it possible, or accept it with --known"),
    "tokenizers read": ("{count} loaded, the first is the standard for the other files", ""),
    # agreement
    "same ids": ("every text has the same ids", ""),
    "same rules": ("the rules and ids give every text the same ids, with the pre-tokenizer of {borrows}", ""),
    "other ids": ("{text!r} has the ids {ids_a} and {ids_b}", "keep the file that the model was trained with"),
    "other text": (
        "{text!r} has the ids {ids_a} and {ids_b}: {library_a} and {library_b} differ",
        "expect other ids for such texts",
    ),
    "other algorithm": ("one is {algorithm_a}, the other {algorithm_b}", "remove the file of another model"),
    "undecided": ("{reason}", "tokdfa compare searches longer, and says more"),
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
    "named tokens exist": ("each of {count} named tokens exists", ""),
    "token does not exist": (
        "{count:,} named tokens do not exist, the first is {first!r}: encoded, it is {ids} ids",
        "add the tokens to the tokenizer, or name others",
    ),
    "token is ordinary": (
        "{count:,} named tokens are ordinary tokens, the first is {first!r}",
        "add them as special tokens, so that they are found in texts",
    ),
    "token with another id": (
        "{count:,} tokens have another id, the first is {first!r}: {id} here, {ids} in the tokenizer",
        "write the file again from the tokenizer",
    ),
    "ids of tokens agree": ("all {count:,} added tokens have these ids", ""),
    "tokens of a role differ": ("{role} is not the same token: {tokens}", "name the same token in each file"),
    "token is split": (
        "{count:,} special tokens are not found in a text, the first is {first!r}: encoded, it is {ids} ids",
        "set normalized to false for them",
    ),
    "in words only": (
        "{count:,} special tokens are not found next to letters, the first is {first!r}",
        "set single_word to false for them",
    ),
    "tokens are found": ("all {count:,} special tokens are found in texts", ""),
    "special tokens with two ids": (
        "{count:,} special tokens have other ids, the first is {first!r}",
        "keep the file that the model was trained with",
    ),
    "not special": (
        "{count:,} special tokens are ordinary tokens in {in}, the first is {first!r}",
        "mark them as special in each file",
    ),
    # template
    "templates differ": ("they are not the same template", "keep one of them"),
    "templates agree": ("the templates are the same", ""),
    "control string of no token": (
        "the template writes {count} control strings that are not tokens, the first is {first!r}",
        "write tokens of the tokenizer, or add these",
    ),
    "nearly a token": ("the template writes {first!r}, which is not a token, but {token!r} is", "write {token!r}"),
    "control strings exist": ("all {count} control strings are tokens", ""),
    "turn without an end": ("no special token ends a turn of the assistant: {text!r} follows", "write the eos token"),
    "turn ends": ("a turn of the assistant ends with {token!r}, which ends a generation", ""),
    "end is not an eos": (
        "a turn of the assistant ends with {token!r} ({id}), but a generation ends with {ids}",
        "add {id} to eos_token_id",
    ),
    "end is another eos": (
        "a turn of the assistant ends with {token!r}, but eos is {first!r}",
        "write a generation_config.json with the ids that end a generation",
    ),
    "contents spell tokens": (
        "the contents {contents!r} make the control tokens {tokens!r}",
        "encode contents separately, or take special tokens out of them",
    ),
    "contents forge tokens": (
        "the contents {contents!r}, which spell no token by themselves, make the control tokens {tokens!r}",
        "encode contents separately",
    ),
    "no contents make tokens": ("no content makes a control token", ""),
    "contents forge nothing": ("no content makes a control token that it does not spell", ""),
    "template undecided": ("{check}: {reason}", "tokdfa template decides each seam, or says more"),
    "seams split": (
        "{count} seams have other ids if turns are encoded separately, first in {first}: {text!r}",
        "encode the whole conversation",
    ),
    "turns change": (
        "{count} conversations change when a turn is added, first {first}",
        "encode the whole conversation again after each turn",
    ),
    "conversations refused": (
        "{count} conversations are refused, and not checked, the first is {first}",
        "expect an error for such conversations",
    ),
    "seams are safe": ("turns may be encoded separately at all {count} seams", ""),
    "turns are kept": ("all {count} conversations are kept when a turn is added", ""),
    # dictionary
    "all tokens occur": ("each of {size:,} tokens occurs in some text", ""),
    "rules are missing": (
        "{count:,} of {size:,} tokens occur in no text, the last ones or very many: {tokens}",
        "compare the rules with the original file; some are missing",
    ),
    "control tokens are not added": (
        "{count:,} of {size:,} tokens are control tokens that are not added tokens, so that no text has them: {tokens}",
        "list them in added_tokens",
    ),
    "dead tokens": ("{count:,} of {size:,} tokens occur in no text: {tokens}", "expect that the model never saw them"),
    # decoding
    "texts are kept": ("decoding gives every text back", ""),
    "text is lost": ("{text!r} is decoded as {decoded!r}", "do not rely on offsets in such texts"),
    "clean-up loses text": (
        "clean_up_tokenization_spaces is true: {library} decodes {text!r} as {decoded!r}",
        "set clean_up_tokenization_spaces to false",
    ),
    "clean-up is set": (
        "clean_up_tokenization_spaces is true, which takes spaces before punctuation away ({reason})",
        "set clean_up_tokenization_spaces to false",
    ),
    # unicode
    "versions agree": ("{version_a} and {version_b} give every text the same ids", ""),
    "versions differ": (
        "{text!r} has the ids {ids_a} in {version_a} and {ids_b} in {version_b}",
        "use the version that the model was trained with",
    ),
}
for _kind in get_args(Kind):
    _WORDS[f"odd: {_kind}"] = "{reason}", "tokdfa info says more; write the file again"


def sentence_of(kind: str, values: Mapping[str, Any]) -> str:
    """Return a finding in words, without a full stop."""
    follows = f", which follows from {values['by']}" if "by" in values else ""
    return _WORDS[kind][0].format_map({name: _shown(value) for name, value in values.items()}) + follows


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
