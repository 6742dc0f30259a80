"""The pre-tokenizer of a tokenizer.json, as steps that split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from tokdfa.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.splitting import named as patterns
from tokdfa.splitting.steps import Behavior, Split, Splitting
from tokdfa.tokenizers.formats.json_text import JsonObject

__all__ = ["flatten", "read_byte_level", "read_metaspace", "read_pattern", "read_pre_tokenizer"]

_BEHAVIORS: dict[str, Behavior] = {
    "".join(word.title() for word in behavior.split("_")): behavior for behavior in get_args(Behavior)
}
_PREPEND_SCHEMES = ("always", "first", "never")
# The machine counts up to a thousand or so characters; with longer pieces a text is split as a whole.
_LONGEST_PIECE = 1 << 20


def flatten(step: JsonObject, key: str) -> Iterator[JsonObject]:
    """Yield the steps of a processor, those of sequences one by one."""
    stack = [step]
    while stack:
        inner = stack.pop()
        if inner.get("type", str) == "Sequence":
            if key not in inner.fields:
                raise FileFormatError(f"the field {key!r} is missing", where=f"{inner.path}, {inner.where}")
            stack.extend(reversed(inner.objects(key)))
        else:
            yield inner


def read_pre_tokenizer(top: JsonObject) -> tuple[Splitting | None, bool]:
    """Return the splitting of a tokenizer.json, and whether it ends in bytes."""
    root = top.object("pre_tokenizer")
    if root is None:
        return None, False
    splits: list[Split] = []
    byte_steps: list[Split] = []
    prefix_space = metaspace = None
    prefix_once = is_bytewise = False
    metaspace_at = 0
    for step in flatten(root, "pretokenizers"):
        kind = step.get("type", str)
        if kind in ("ByteLevel", "Metaspace") and (is_bytewise or metaspace is not None):
            what = f"{kind} after {'ByteLevel' if is_bytewise else 'Metaspace'} is not modelled"
            hint = "one of the two is enough: letters for bytes, or a letter for spaces"
            raise UnsupportedFeatureError(what, value=kind, where=f"{step.path}, {step.where}", hint=hint)
        if kind == "ByteLevel":
            is_bytewise = True
            puts_space, uses_pattern = read_byte_level(step)
            if puts_space:
                prefix_space = len(splits)
            if uses_pattern:
                splits.extend(patterns.NAMED["gpt2"].steps)
        elif kind == "Metaspace":
            metaspace, scheme, splits_there = read_metaspace(step)
            metaspace_at = len(splits)
            if scheme != "never":
                prefix_space = metaspace_at
            prefix_once = scheme == "first"
            if splits_there:
                splits.append(Split(metaspace, "merged_with_next", literal=True))
        else:
            # After ByteLevel a step sees letters for bytes.
            (byte_steps if is_bytewise else splits).extend(_read_splits(step, kind))
    steps = (tuple(splits), prefix_space, metaspace, prefix_once, metaspace_at, tuple(byte_steps))
    return Splitting("tokenizers", *steps), is_bytewise


def read_byte_level(step: JsonObject) -> tuple[bool, bool]:
    """Return whether a ByteLevel step puts a space before the text, and whether it splits."""
    step.get("trim_offsets", bool)
    return step.get("add_prefix_space", bool), step.get("use_regex", bool, True)


def read_metaspace(step: JsonObject) -> tuple[str, str, bool]:
    """Return the replacement of spaces, where one is put before the text, and whether the text is split before each."""
    replacement = step.get("replacement", str)
    if len(replacement) != 1 or step.get("str_rep", str, replacement) != replacement:
        raise step.wrong("replacement", "the replacement must be one character")
    scheme = step.get("prepend_scheme", str, "always")
    if scheme not in _PREPEND_SCHEMES:
        raise step.wrong("prepend_scheme", "unknown scheme")
    # Files older than the schemes have a flag instead, which the library still compares with the scheme.
    if not step.get("add_prefix_space", bool, True) and scheme != "never":
        raise step.wrong("add_prefix_space", "the flag contradicts prepend_scheme")
    return replacement, scheme, step.get("split", bool, True)


def _read_splits(step: JsonObject, kind: str) -> Sequence[Split]:
    if kind == "Split":
        return (_read_split(step),)
    if kind == "Digits":
        return (patterns.digits(step.get("individual_digits", bool)),)
    if kind == "Punctuation":
        return (patterns.punctuation(_read_behavior(step, "Isolated")),)
    if kind == "CharDelimiterSplit":
        delimiter = step.get("delimiter", str)
        if len(delimiter) != 1:
            raise step.wrong("delimiter", "a delimiter must be one character")
        return (Split(delimiter, "removed", literal=True),)
    if kind == "FixedLength":
        length = step.get("length", int, 5)
        if not 1 <= length <= _LONGEST_PIECE:
            raise step.unmodelled("length", f"a length must be from 1 to {_LONGEST_PIECE}")
        return (patterns.fixed_length(length),)
    simple = {
        "Whitespace": patterns.whitespace,
        "WhitespaceSplit": patterns.whitespace_split,
        "UnicodeScripts": patterns.unicode_scripts,
    }
    if kind in simple:
        return (simple[kind](),)
    if kind == "BertPreTokenizer":
        return patterns.bert()
    raise step.unmodelled("type", "a pre-tokenizer that tokenizers does not have")


def _read_split(step: JsonObject) -> Split:
    text, literal = read_pattern(step)
    return Split(text, _read_behavior(step), step.get("invert", bool), literal=literal)


def read_pattern(step: JsonObject) -> tuple[str, bool]:
    """Return the pattern of a step, and whether it is a string and not a regular expression."""
    pattern = step.get("pattern", dict)
    spelled = [(key, value) for key, value in pattern.items() if key in ("Regex", "String")]
    if len(pattern) != 1 or len(spelled) != 1 or not isinstance(spelled[0][1], str):
        raise step.wrong("pattern", 'a pattern must be {"Regex": …} or {"String": …}')
    ((key, text),) = spelled
    return text, key == "String"


def _read_behavior(step: JsonObject, *default: str) -> Behavior:
    behavior = step.get("behavior", str, *default)
    if behavior not in _BEHAVIORS:
        raise step.wrong("behavior", "unknown behavior")
    return _BEHAVIORS[behavior]
