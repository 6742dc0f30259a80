"""The normalizer and the decoder of a tokenizer.json, as steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, get_args

from tokdfa.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.decoding import (
    CLEANUP,
    ByteFallback,
    DecodeByteLevel,
    DecodeMetaspace,
    DecodeReplace,
    DecodeStep,
    DecodeStrip,
    DecodeSuffix,
    DecodeWordPiece,
    ReplaceWhole,
    StripWhole,
)
from tokdfa.tokenizers.formats.json_text import JsonObject
from tokdfa.tokenizers.formats.pre_tokenizer import flatten, read_metaspace, read_pattern
from tokdfa.tokenizers.normalizers import (
    Chain,
    Lowercase,
    Normalizer,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeForm,
)
from tokdfa.unicode.normalization import Form

__all__ = ["read_decoder", "read_normalizer"]

_LARGEST_COUNT = (1 << 63) - 1


def read_normalizer(top: JsonObject) -> Normalizer | None:
    """Return the normalizer of a tokenizer.json; None if it has none or one without steps.

    Raises
    ------
    FileFormatError
        If a field is missing or wrong.
    UnsupportedFeatureError
        If a step is not modelled exactly; the error gives the JSON path and the value.
    PatternError
        If the pattern of a replacement cannot be read.
    """
    root = top.object("normalizer")
    steps = tuple(_read_normalizer(step) for step in flatten(root, "normalizers")) if root else ()
    return Chain(steps) if steps else None


def _read_normalizer(step: JsonObject) -> Normalizer:
    kind = step.get("type", str)
    if kind in get_args(Form):
        return UnicodeForm(cast(Form, kind))
    if kind == "Lowercase":
        return Lowercase()
    if kind == "StripAccents":
        return StripAccents()
    if kind == "Strip":
        return Strip(step.get("strip_left", bool), step.get("strip_right", bool))
    if kind == "Prepend":
        prefix = step.get("prepend", str)
        if not prefix:
            # The library then loses track of the origin of characters, and drops some.
            raise UnsupportedFeatureError("the text to prepend is empty", value=prefix, where=step.place("prepend"))
        return Prepend(prefix)
    if kind == "Replace":
        return _read_replace(step)
    raise UnsupportedFeatureError("a normalizer that is not modelled", value=kind, where=step.place("type"))


def _read_replace(step: JsonObject) -> Replace:
    pattern, literal = read_pattern(step)
    if not pattern:
        raise UnsupportedFeatureError("the pattern to replace is empty", value=pattern, where=step.place("pattern"))
    replace = Replace(pattern, step.get("content", str), literal)
    if not literal:
        replace.check()
    return replace


def read_decoder(top: JsonObject, *, is_bytewise: bool, suffix: str | None) -> tuple[DecodeStep, ...] | None:
    """Return the steps of the decoder of a tokenizer.json.

    None means that no steps are needed: tokens spell the text one after the other, in GPT-2's byte alphabet if
    `is_bytewise`, or over characters with a space for the `suffix` of words.

    Raises
    ------
    FileFormatError
        If a field is missing or wrong.
    UnsupportedFeatureError
        If a step, or their order, is not modelled exactly; the error gives the JSON path and the value.
    """
    root = top.object("decoder")
    read = list(flatten(root, "decoders")) if root else []
    kinds = [step.get("type", str) for step in read]
    if root is None:
        # The library then puts spaces between the tokens, although they are not in the text.
        if is_bytewise and suffix is None:
            return None
        raise UnsupportedFeatureError(
            "a decoder is missing, so ids have no text", value=None, where=top.place("decoder"), hint="set one"
        )
    behind = {"Fuse"} if suffix is None else {"Fuse", "Replace", "Strip"}
    if is_bytewise != ("ByteLevel" in kinds) or (is_bytewise and set(kinds[1:]) - behind):
        what = f"the decoder of {'bytes is' if is_bytewise else 'characters is not'} ByteLevel"
        raise UnsupportedFeatureError(what, value=kinds, where=top.place("decoder"))
    if is_bytewise:
        for flag, *default in (("add_prefix_space",), ("trim_offsets",), ("use_regex", True)):
            read[0].get(flag, bool, *default)
        if suffix is None:
            return None
    steps: list[DecodeStep] = [DecodeByteLevel()] if is_bytewise else []
    is_fused = is_joined = False
    for step, kind in zip(read[is_bytewise:], kinds[is_bytewise:], strict=True):
        if kind == "Fuse":
            is_fused = True
            continue
        if is_bytewise and kind == "Replace":
            steps.append(ReplaceWhole(_read_replace(step)))
            continue
        if is_fused and kind != "Strip":
            raise UnsupportedFeatureError("a step after Fuse is not modelled", value=kind, where=step.place("type"))
        made = _read_strip(step, is_fused or is_bytewise) if kind == "Strip" else _reader(step, kind)(step)
        if is_joined and not _is_by_character(made):
            # A run of bytes is one token by now, which such a step would treat as a whole.
            raise UnsupportedFeatureError(
                "this step after ByteFallback is not modelled", value=kind, where=step.place("type")
            )
        steps.append(made)
        is_joined |= kind == "ByteFallback"
    return None if steps == ([] if suffix is None else [DecodeSuffix(suffix)]) else tuple(steps)


def _is_by_character(step: DecodeStep) -> bool:
    """Return whether a step does the same to a text wherever it is cut into tokens."""
    if isinstance(step, DecodeReplace):
        return step.replace.literal and len(step.replace.pattern) == 1
    return isinstance(step, StripWhole)


def _read_strip(step: JsonObject, is_fused: bool) -> DecodeStep:
    character = step.get("content", str)
    if len(character) != 1:
        raise FileFormatError("the content must be one character", value=character, where=step.place("content"))
    start, stop = step.get("start", int), step.get("stop", int)
    if not 0 <= start <= _LARGEST_COUNT:
        raise FileFormatError(f"a count must be from 0 to {_LARGEST_COUNT}", value=start, where=step.place("start"))
    if stop:
        # The library fails if a token is shorter than the part removed from it.
        raise UnsupportedFeatureError(
            "removing characters from the end is not modelled", value=stop, where=step.place("stop")
        )
    return StripWhole(character, start) if is_fused else DecodeStrip(character, start)


def _read_decode_replace(step: JsonObject) -> DecodeStep:
    return DecodeReplace(_read_replace(step))


def _read_byte_fallback(step: JsonObject) -> DecodeStep:
    return ByteFallback()


def _read_decode_metaspace(step: JsonObject) -> DecodeStep:
    replacement, scheme, _ = read_metaspace(step)
    return DecodeMetaspace(replacement, scheme != "never")


def _read_suffix(step: JsonObject) -> DecodeStep:
    suffix = step.get("suffix", str)
    if not suffix:
        raise UnsupportedFeatureError("the suffix is empty", value=suffix, where=step.place("suffix"))
    return DecodeSuffix(suffix)


def _read_wordpiece(step: JsonObject) -> DecodeStep:
    return DecodeWordPiece(step.get("prefix", str), CLEANUP if step.get("cleanup", bool) else ())


_DECODERS = {
    "Replace": _read_decode_replace,
    "ByteFallback": _read_byte_fallback,
    "Metaspace": _read_decode_metaspace,
    "BPEDecoder": _read_suffix,
    "WordPiece": _read_wordpiece,
}


def _reader(step: JsonObject, kind: str) -> Callable[[JsonObject], DecodeStep]:
    if kind not in _DECODERS:
        raise UnsupportedFeatureError("a decoder that is not modelled", value=kind, where=step.place("type"))
    return _DECODERS[kind]
