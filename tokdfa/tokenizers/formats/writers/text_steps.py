"""The normalizer, the pre-tokenizer and the decoder of a tokenizer.json, written from steps."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import Normalizer
from tokdfa.tokenizers import decoding, word_decoding
from tokdfa.tokenizers.formats.writers.draft import unwritable
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.normalizers import steps as normalizers
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, Precompiled
from tokdfa.tokenizers.pretokenizers import steps as patterns
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

Fields = dict[str, Any]

_GPT2 = frozenset(step for name in ("gpt2", "gpt2_tiktoken") for step in NAMED[name].steps)
# A counted repetition with a possessive mark, which Oniguruma reads as a repetition of it.
_COUNTED = re.compile(r"(?<!\\)(\{\d+(?:,\d*)?\})\+")
# The flag with which a dot is any character.
_DOTALL = re.compile(r"(\(\?i?)s(i?[:)])")


def _sequence(kind: str, steps: Iterable[Fields]) -> Fields | None:
    """Return steps as one: none, the only one, or a sequence of them."""
    each = [*steps]
    if len(each) > 1:
        return {"type": "Sequence", kind: each}
    return each[0] if each else None


def byte_level(*, add_prefix_space: bool = False, use_regex: bool = False) -> Fields:
    """Return a step ByteLevel."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def pre_tokenizer_fields(splitting: Splitting, *, is_bytewise: bool, drops_text: bool = False) -> Fields | None:
    """Return the pre-tokenizer; `drops_text` is whether text that a pattern of tiktoken does not match is dropped."""
    steps = [*splitting.steps]
    byte_steps = [_split_fields(step, splitting.library) for step in splitting.byte_steps]
    space_at = splitting.prefix_space
    if splitting.metaspace is not None:
        return _sequence("pretokenizers", _with_metaspace(splitting))
    if not is_bytewise:
        if space_at is not None:
            raise unwritable("tokenizers puts spaces before texts of bytes only", splitting)
        return _sequence("pretokenizers", _steps(steps, splitting, drops_text=drops_text))
    uses_regex = bool(steps) and steps[-1] in _GPT2 and not drops_text and space_at in (None, len(steps) - 1)
    if uses_regex:
        del steps[-1]
    if space_at not in (None, len(steps)):
        raise unwritable("tokenizers cannot put spaces before the pieces of this step", space_at)
    last = byte_level(add_prefix_space=space_at is not None, use_regex=uses_regex)
    return _sequence("pretokenizers", [*_steps(steps, splitting, drops_text=drops_text), last, *byte_steps])


def _with_metaspace(splitting: Splitting) -> Iterator[Fields]:
    """Yield the steps with one that shows spaces."""
    steps, at = [*splitting.steps], splitting.metaspace_at
    yield from _steps(steps[:at], splitting)
    shown = Split(str(splitting.metaspace), "merged_with_next", literal=True)
    splits = steps[at : at + 1] == [shown]
    scheme = "first" if splitting.prefix_once else "never" if splitting.prefix_space is None else "always"
    yield {"type": "Metaspace", "replacement": splitting.metaspace, "prepend_scheme": scheme, "split": splits}
    yield from _steps(steps[at + splits :], splitting)


def _steps(steps: list[Split], splitting: Splitting, *, drops_text: bool = False) -> Iterator[Fields]:
    at = 0
    while at < len(steps):
        if tuple(steps[at : at + 2]) == patterns.BERT:
            yield {"type": "BertPreTokenizer"}
            at += 2
        else:
            yield _split_fields(steps[at], splitting.library, drops_text=drops_text)
            at += 1


def _split_fields(step: Split, library: str, *, drops_text: bool = False) -> Fields:
    behavior = "".join(word.title() for word in step.behavior.split("_"))
    if step.pattern == r"\p{is_numeric}" and step.behavior in ("isolated", "contiguous"):
        return {"type": "Digits", "individual_digits": step.behavior == "isolated"}
    if step.pattern == r"\p{is_punctuation}":
        return {"type": "Punctuation", "behavior": behavior}
    if step in _NAMES:
        return {"type": _NAMES[step]}
    pattern = step.pattern if library == "tokenizers" or step.literal else respelled(step.pattern)
    behavior, invert = ("Removed", True) if drops_text else (behavior, step.invert)
    kind = "String" if step.literal else "Regex"
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


_NAMES = {
    patterns.WHITESPACE: "Whitespace",
    patterns.WHITESPACE_SPLIT: "WhitespaceSplit",
    Split(patterns.ONE_SCRIPT, "removed", invert=True): "UnicodeScripts",
}


def respelled(pattern: str) -> str:
    """Return a pattern of tiktoken or llama.cpp as tokenizers reads it, unless possessive counts matter.

    Examples
    --------
    >>> from tokdfa.tokenizers.formats.writers.text_steps import respelled
    >>> respelled(r"[a-z]++|[0-9]{1,3}+")
    '[a-z]++|[0-9]{1,3}'
    """
    return _DOTALL.sub(r"\1m\2", _COUNTED.sub(r"\1", pattern))


def normalizer_fields(normalizer: Normalizer | None) -> Fields | None:
    """Return the normalizer; UnsupportedFeatureError if tokenizers has no word for one of its steps."""
    steps = () if normalizer is None else getattr(normalizer, "steps", (normalizer,))
    table = getattr(normalizer, "table", None)
    made = (each for step in steps for each in _normalizer_steps(step))
    return _sequence("normalizers", ([_precompiled(table.blob)] if table else []) + [*made])


def _normalizer_steps(step: Normalizer) -> list[Fields]:
    match step:
        case normalizers.UnicodeForm(form):
            return [{"type": form}]
        case normalizers.Strip(left, right):
            return [{"type": "Strip", "strip_left": left, "strip_right": right}]
        case normalizers.Prepend(prefix):
            return [{"type": "Prepend", "prepend": prefix}]
        case normalizers.Replace():
            return [_replace_fields(step)]
        case normalizers.Lowercase() | normalizers.StripAccents() | normalizers.Nmt():
            return [{"type": type(step).__name__}]
        case normalizers.ByteLetters():
            return [{"type": "ByteLevel"}]
        case BertNormalizer(cleans, chinese, strips, lowers):
            fields = {"clean_text": cleans, "handle_chinese_chars": chinese, "strip_accents": strips}
            return [{"type": "BertNormalizer", **fields, "lowercase": lowers}]
        case Precompiled(blob=blob):
            return [_precompiled(blob)]
    raise unwritable("a normalizer for which tokenizers has no word", step)


def _precompiled(blob: bytes) -> Fields:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}


def _replace_fields(step: normalizers.Replace) -> Fields:
    kind = "String" if step.literal else "Regex"
    return {"type": "Replace", "pattern": {kind: step.pattern}, "content": step.content}


def decoder_fields(
    steps: Sequence[decoding.DecodeStep] | None, *, is_bytewise: bool, suffix: str | None
) -> Fields | None:
    """Return the decoder, None for none; by default the one of bytes, of a suffix, or the one that does nothing."""
    if steps == (decoding.NoDecoder(),):
        return None
    if steps is None:
        if suffix is not None:
            return {"type": "BPEDecoder", "suffix": suffix}
        return byte_level(add_prefix_space=True, use_regex=True) if is_bytewise else {"type": "Fuse"}
    made = [fields for step in steps for fields in _decoder_steps(step)]
    return _sequence("decoders", made) or {"type": "Fuse"}


def _decoder_steps(step: decoding.DecodeStep) -> list[Fields]:
    match step:
        case decoding.DecodeReplace(replace) | decoding.ReplaceWhole(replace):
            return [_replace_fields(replace)]
        case decoding.DecodeByteLevel():
            return [byte_level(add_prefix_space=True, use_regex=True)]
        case decoding.ByteFallback():
            return [{"type": "ByteFallback"}]
        case decoding.StripWhole(character, count):
            return [{"type": "Fuse"}, {"type": "Strip", "content": character, "start": count, "stop": 0}]
        case decoding.DecodeStrip(character, count):
            return [{"type": "Strip", "content": character, "start": count, "stop": 0}]
        case word_decoding.DecodeMetaspace(replacement, drops):
            scheme = "always" if drops else "never"
            return [{"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": True}]
        case word_decoding.DecodeSuffix(suffix):
            return [{"type": "BPEDecoder", "suffix": suffix}]
        case word_decoding.DecodeWordPiece(prefix, cleanups):
            return [{"type": "WordPiece", "prefix": prefix, "cleanup": bool(cleanups)}]
        case decoding.DecodeSentencePiece():
            steps: list[decoding.DecodeStep] = [
                decoding.DecodeReplace(normalizers.Replace(SPACE, " ", literal=True)),
                decoding.ByteFallback(),
                *([decoding.StripWhole(" ", 1)] if step.drops_first else []),
            ]
            return [fields for one in steps for fields in _decoder_steps(one)]
    raise UnsupportedFeatureError("a decoder for which tokenizers has no word", value=step)
