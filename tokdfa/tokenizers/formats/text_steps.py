"""The normalizer, the pre-tokenizer and the decoder of a tokenizer.json, as steps."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import cast, get_args

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import Form
from tokdfa.tokenizers import decoding
from tokdfa.tokenizers.formats.charsmap import read_charsmap
from tokdfa.tokenizers.formats.json_text import JsonObject
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.normalizers import steps as normalizers
from tokdfa.tokenizers.normalizers.sentencepiece import Precompiled
from tokdfa.tokenizers.pretokenizers import steps as patterns
from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split, Splitting

_BEHAVIORS: dict[str, Behavior] = {
    "".join(word.title() for word in behavior.split("_")): behavior for behavior in get_args(Behavior)
}
_PREPEND_SCHEMES = ("always", "first", "never")
# The machine counts up to a thousand or so characters; with longer pieces a text is split as a whole.
_LONGEST_PIECE = 1 << 20
_LARGEST_COUNT = (1 << 63) - 1
_SIMPLE: dict[str, Callable[[], normalizers.Normalizer]] = {
    "Lowercase": normalizers.Lowercase,
    "StripAccents": normalizers.StripAccents,
    "Nmt": normalizers.Nmt,
    "ByteLevel": normalizers.ByteLetters,
}


def flatten(step: JsonObject, key: str) -> Iterator[JsonObject]:
    """Yield the steps of a processor, and the steps of sequences one by one."""
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


def read_normalizer(top: JsonObject) -> normalizers.Normalizer | None:
    """Return the normalizer of a tokenizer.json; None if it has none or one without steps."""
    root = top.object("normalizer")
    steps = tuple(_read_normalizer(step) for step in flatten(root, "normalizers")) if root else ()
    return normalizers.Chain(steps) if steps else None


def _read_normalizer(step: JsonObject) -> normalizers.Normalizer:
    kind = step.get("type", str)
    if kind in get_args(Form):
        return normalizers.UnicodeForm(cast(Form, kind))
    if kind == "Strip":
        return normalizers.Strip(step.get("strip_left", bool), step.get("strip_right", bool))
    if kind == "Prepend":
        prefix = step.get("prepend", str)
        if not prefix:
            # The library then loses track of the origin of characters, and drops some.
            raise step.unmodelled("prepend", "the text to prepend is empty")
        return normalizers.Prepend(prefix)
    if kind == "Replace":
        return _read_replace(step)
    if kind == "Precompiled":
        return _read_precompiled(step)
    if kind == "BertNormalizer":
        return read_bert_normalizer(step)
    if kind in _SIMPLE:
        return _SIMPLE[kind]()
    raise step.unmodelled("type", "a normalizer that tokenizers does not have")


def read_bert_normalizer(step: JsonObject) -> BertNormalizer:
    """Return BERT's normalizer with the settings of a step."""
    lowercase = step.get("lowercase", bool)
    strip_accents = step.get_or_none("strip_accents", bool)
    return BertNormalizer(
        clean_text=step.get("clean_text", bool),
        chinese=step.get("handle_chinese_chars", bool),
        strip_accents=lowercase if strip_accents is None else strip_accents,
        lowercase=lowercase,
    )


def _read_precompiled(step: JsonObject) -> Precompiled:
    spelled, place = step.get("precompiled_charsmap", str), step.place("precompiled_charsmap")
    try:
        blob = base64.b64decode(spelled, validate=True)
    except ValueError:
        blob = b""
    if base64.b64encode(blob).decode() != spelled:
        raise FileFormatError("not base64", value=spelled, where=place)
    return Precompiled(read_charsmap(blob, place, is_text=True), hashlib.sha256(blob).hexdigest())


def _read_replace(step: JsonObject) -> normalizers.Replace:
    pattern, literal = read_pattern(step)
    if not pattern:
        raise UnsupportedFeatureError("the pattern to replace is empty", value=pattern, where=step.place("pattern"))
    replace = normalizers.Replace(pattern, step.get("content", str), literal)
    if not literal:
        replace.check()
    return replace


def read_decoder(
    top: JsonObject, *, is_bytewise: bool, suffix: str | None, normalizer: normalizers.Normalizer | None = None
) -> tuple[decoding.DecodeStep, ...] | None:
    """Return the steps of the decoder of a tokenizer.json.

    None means that no steps are needed: tokens spell the text one after the other, in GPT-2's byte alphabet if
    `is_bytewise`, or over characters with a space for the `suffix` of words. Without a decoder, a pre-tokenizer or
    `normalizer` ByteLevel tells the bytes; the library's own `decode` then puts spaces between tokens.
    """
    root = top.object("decoder")
    read = list(flatten(root, "decoders")) if root else []
    kinds = [step.get("type", str) for step in read]
    of_bytes = kinds[:1] == ["ByteLevel"]
    if root is None:
        if is_bytewise and suffix is None:
            return None
        if (
            isinstance(normalizer, normalizers.Chain)
            and normalizer.steps[-1] == normalizers.ByteLetters()
            and suffix is None
        ):
            return (decoding.DecodeByteLevel(),)
        hint = "set the decoder that belongs to the model, such as ByteLevel, Metaspace, ByteFallback or BPEDecoder"
        raise top.unmodelled("decoder", "the decoder is missing, so ids have no text", hint=hint)
    behind = {"Fuse"} if is_bytewise and suffix is None else {"Fuse", "Replace", "Strip"}
    if (is_bytewise and not of_bytes) or ("ByteLevel" in kinds[1:]) or (of_bytes and set(kinds[1:]) - behind):
        what = f"the decoder of {'bytes is' if is_bytewise else 'characters is not'} ByteLevel"
        if of_bytes:
            what = f"after the decoder ByteLevel only {', '.join(sorted(behind))} are modelled"
        raise UnsupportedFeatureError(what, value=kinds, where=top.place("decoder"))
    if of_bytes:
        for flag, *default in (("add_prefix_space",), ("trim_offsets",), ("use_regex", True)):
            read[0].get(flag, bool, *default)
        if is_bytewise and suffix is None:
            return None
    steps: list[decoding.DecodeStep] = [decoding.DecodeByteLevel()] if of_bytes else []
    is_fused = is_joined = False
    for step, kind in zip(read[of_bytes:], kinds[of_bytes:], strict=True):
        if kind == "Fuse":
            is_fused = True
            continue
        if of_bytes and kind == "Replace":
            steps.append(decoding.ReplaceWhole(_read_replace(step)))
            continue
        made = _read_strip(step, is_fused or of_bytes) if kind == "Strip" else _reader(step, kind)(step)
        if is_fused and not _is_by_character(made):
            raise step.unmodelled("type", "a step after Fuse is not modelled")
        if is_joined and not _is_by_character(made):
            # A run of bytes is one token by now, which such a step would treat as a whole.
            raise step.unmodelled("type", "this step after ByteFallback is not modelled")
        steps.append(made)
        is_joined |= kind == "ByteFallback"
    return None if steps == ([] if suffix is None else [decoding.DecodeSuffix(suffix)]) else tuple(steps)


def _is_by_character(step: decoding.DecodeStep) -> bool:
    """Return whether the result of a step is the same for every cut of a text into tokens."""
    if isinstance(step, decoding.DecodeReplace):
        return step.replace.literal and len(step.replace.pattern) == 1
    return isinstance(step, decoding.StripWhole)


def _read_strip(step: JsonObject, is_fused: bool) -> decoding.DecodeStep:
    character = step.get("content", str)
    if len(character) != 1:
        raise step.wrong("content", "the content must be one character")
    start, stop = step.get("start", int), step.get("stop", int)
    if not 0 <= start <= _LARGEST_COUNT:
        raise step.wrong("start", f"a count must be from 0 to {_LARGEST_COUNT}")
    if stop:
        # The library fails if a token is shorter than the part removed from it.
        raise step.unmodelled("stop", "removing characters from the end is not modelled")
    return decoding.StripWhole(character, start) if is_fused else decoding.DecodeStrip(character, start)


def _read_decode_metaspace(step: JsonObject) -> decoding.DecodeStep:
    replacement, scheme, _ = read_metaspace(step)
    return decoding.DecodeMetaspace(replacement, scheme != "never")


def _read_suffix(step: JsonObject) -> decoding.DecodeStep:
    suffix = step.get("suffix", str)
    if not suffix:
        raise step.unmodelled("suffix", "the suffix is empty")
    return decoding.DecodeSuffix(suffix)


def _read_wordpiece(step: JsonObject) -> decoding.DecodeStep:
    return decoding.DecodeWordPiece(step.get("prefix", str), decoding.CLEANUP if step.get("cleanup", bool) else ())


_DECODERS: dict[str, Callable[[JsonObject], decoding.DecodeStep]] = {
    "Replace": lambda step: decoding.DecodeReplace(_read_replace(step)),
    "ByteFallback": lambda _: decoding.ByteFallback(),
    "Metaspace": _read_decode_metaspace,
    "BPEDecoder": _read_suffix,
    "WordPiece": _read_wordpiece,
}


def _reader(step: JsonObject, kind: str) -> Callable[[JsonObject], decoding.DecodeStep]:
    if kind not in _DECODERS:
        raise step.unmodelled("type", "this decoder is not modelled")
    return _DECODERS[kind]
