"""The normalizer, the pre-tokenizer and the decoder of a tokenizer.json, as steps."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar, get_args

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import Form, Normalizer
from tokdfa.tokenizers import decoding, word_decoding
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
# The machine counts up to a thousand or so characters; with longer pieces a text is split as a whole.
_LONGEST_PIECE = 1 << 20
_LARGEST_COUNT = (1 << 63) - 1
T = TypeVar("T")


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


def _read_as(step: JsonObject, table: Mapping[str, Callable[[JsonObject], T]], what: str) -> T:
    """Return a step, read as its type says; `what` is the error for types that are not in the table."""
    kind = step.get("type", str)
    if kind not in table:
        raise step.unmodelled("type", what)
    return table[kind](step)


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
            found = _read_as(step, _SPLITS, "a pre-tokenizer that tokenizers does not have")
            (byte_steps if is_bytewise else splits).extend(found)
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
    if scheme not in ("always", "first", "never"):
        raise step.wrong("prepend_scheme", "unknown scheme")
    # Files older than the schemes have a flag instead, which the library still compares with the scheme.
    if not step.get("add_prefix_space", bool, True) and scheme != "never":
        raise step.wrong("add_prefix_space", "the flag contradicts prepend_scheme")
    return replacement, scheme, step.get("split", bool, True)


def _read_split(step: JsonObject) -> Sequence[Split]:
    text, literal = _read_pattern(step)
    return (Split(text, _read_behavior(step), step.get("invert", bool), literal=literal),)


def _read_delimiter(step: JsonObject) -> Sequence[Split]:
    delimiter = step.get("delimiter", str)
    if len(delimiter) != 1:
        raise step.wrong("delimiter", "a delimiter must be one character")
    return (Split(delimiter, "removed", literal=True),)


def _read_length(step: JsonObject) -> Sequence[Split]:
    length = step.get("length", int, 5)
    if not 1 <= length <= _LONGEST_PIECE:
        raise step.unmodelled("length", f"a length must be from 1 to {_LONGEST_PIECE}")
    return (Split(rf"[\s\S]{{1,{length}}}"),)


_SPLITS: dict[str, Callable[[JsonObject], Sequence[Split]]] = {
    "Split": _read_split,
    "Digits": lambda step: (
        Split(r"\p{is_numeric}", "isolated" if step.get("individual_digits", bool) else "contiguous"),
    ),
    "Punctuation": lambda step: (Split(r"\p{is_punctuation}", _read_behavior(step, "Isolated")),),
    "CharDelimiterSplit": _read_delimiter,
    "FixedLength": _read_length,
    # These drop spaces, and UnicodeScripts those before the first character with a script.
    "Whitespace": lambda _: (patterns.WHITESPACE,),
    "WhitespaceSplit": lambda _: (patterns.WHITESPACE_SPLIT,),
    "UnicodeScripts": lambda _: (Split(patterns.ONE_SCRIPT, "removed", invert=True),),
    "BertPreTokenizer": lambda _: patterns.BERT,
}


def _read_pattern(step: JsonObject) -> tuple[str, bool]:
    """Return the pattern of a step, and whether it is a string and not a regular expression."""
    match step.get("pattern", dict):
        case {"Regex": str(text), **others} if not others:
            if name := patterns.OWN_CLASS.search(text):
                raise step.wrong("pattern", f"tokenizers has no class {name[0]}")
            return text, False
        case {"String": str(text), **others} if not others:
            return text, True
    raise step.wrong("pattern", 'a pattern must be {"Regex": …} or {"String": …}')


def _read_behavior(step: JsonObject, *default: str) -> Behavior:
    behavior = step.get("behavior", str, *default)
    if behavior not in _BEHAVIORS:
        raise step.wrong("behavior", "unknown behavior")
    return _BEHAVIORS[behavior]


def read_normalizer(top: JsonObject) -> Normalizer | None:
    """Return the normalizer of a tokenizer.json; None if it has none or one without steps."""
    root, what = top.object("normalizer"), "a normalizer that tokenizers does not have"
    steps = tuple(_read_as(step, _NORMALIZERS, what) for step in flatten(root, "normalizers")) if root else ()
    return normalizers.Chain(steps) if steps else None


def _read_prepend(step: JsonObject) -> Normalizer:
    prefix = step.get("prepend", str)
    if not prefix:
        # The library then loses track of the origin of characters, and drops some.
        raise step.unmodelled("prepend", "the text to prepend is empty")
    return normalizers.Prepend(prefix)


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
    spelled, where = step.get("precompiled_charsmap", str), step.at("precompiled_charsmap")
    try:
        blob = base64.b64decode(spelled, validate=True)
    except ValueError:
        blob = b""
    if base64.b64encode(blob).decode() != spelled:
        raise FileFormatError("not base64", value=spelled, where=where)
    return Precompiled(read_charsmap(blob, where, is_text=True), blob)


def _read_replace(step: JsonObject) -> normalizers.Replace:
    pattern, literal = _read_pattern(step)
    if not pattern:
        raise UnsupportedFeatureError("the pattern to replace is empty", value=pattern, where=step.at("pattern"))
    replace = normalizers.Replace(pattern, step.get("content", str), literal)
    if not literal:
        replace.check()
    return replace


_NORMALIZERS: dict[str, Callable[[JsonObject], Normalizer]] = {
    **{form: lambda step: normalizers.UnicodeForm(step.fields["type"]) for form in get_args(Form)},
    "Strip": lambda step: normalizers.Strip(step.get("strip_left", bool), step.get("strip_right", bool)),
    "Prepend": _read_prepend,
    "Replace": _read_replace,
    "Precompiled": _read_precompiled,
    "BertNormalizer": read_bert_normalizer,
    "Lowercase": lambda _: normalizers.Lowercase(),
    "StripAccents": lambda _: normalizers.StripAccents(),
    "Nmt": lambda _: normalizers.Nmt(),
    "ByteLevel": lambda _: normalizers.ByteLetters(),
}


def read_decoder(
    top: JsonObject, *, is_bytewise: bool, suffix: str | None, normalizer: Normalizer | None = None
) -> tuple[decoding.DecodeStep, ...] | None:
    """Return the steps of the decoder of a tokenizer.json.

    None means that no steps are needed: tokens spell the text one after the other, in GPT-2's byte alphabet if
    `is_bytewise`, or over characters with a space for the `suffix` of words. Without a decoder, a pre-tokenizer or
    `normalizer` ByteLevel tells the bytes, or ids have no text; the library's own `decode` then puts spaces between
    tokens.
    """
    root = top.object("decoder")
    read = list(flatten(root, "decoders")) if root else []
    kinds = [step.get("type", str) for step in read]
    of_bytes = kinds[:1] == ["ByteLevel"]
    spells_bytes = is_bytewise and suffix is None
    if root is None:
        if spells_bytes:
            return None
        last = normalizer.steps[-1] if isinstance(normalizer, normalizers.Chain) else None
        if last == normalizers.ByteLetters() and suffix is None:
            return (decoding.DecodeByteLevel(),)
        return (decoding.NoDecoder(),)
    later = {"Fuse"} if spells_bytes else {"Fuse", "Replace", "Strip"}
    if (is_bytewise and not of_bytes) or "ByteLevel" in kinds[1:] or (of_bytes and set(kinds[1:]) - later):
        what = f"the decoder of {'bytes is' if is_bytewise else 'characters is not'} ByteLevel"
        if of_bytes:
            what = f"after the decoder ByteLevel only {', '.join(sorted(later))} are modelled"
        raise UnsupportedFeatureError(what, value=kinds, where=top.at("decoder"))
    if of_bytes:
        read_byte_level(read[0])
        if spells_bytes:
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
        what = "this decoder is not modelled"
        made = _read_strip(step, is_fused or of_bytes) if kind == "Strip" else _read_as(step, _DECODERS, what)
        if is_fused and not _is_by_character(made):
            raise step.unmodelled("type", "a step after Fuse is not modelled")
        if is_joined and not _is_by_character(made):
            # A run of bytes is one token by now, which such a step would treat as a whole.
            raise step.unmodelled("type", "this step after ByteFallback is not modelled")
        steps.append(made)
        is_joined |= kind == "ByteFallback"
    return None if steps == ([] if suffix is None else [word_decoding.DecodeSuffix(suffix)]) else tuple(steps)


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


def _read_suffix(step: JsonObject) -> decoding.DecodeStep:
    suffix = step.get("suffix", str)
    if not suffix:
        raise step.unmodelled("suffix", "the suffix is empty")
    return word_decoding.DecodeSuffix(suffix)


_DECODERS: dict[str, Callable[[JsonObject], decoding.DecodeStep]] = {
    "Replace": lambda step: decoding.DecodeReplace(_read_replace(step)),
    "ByteFallback": lambda _: decoding.ByteFallback(),
    "Metaspace": lambda step: word_decoding.DecodeMetaspace(
        read_metaspace(step)[0], read_metaspace(step)[1] != "never"
    ),
    "BPEDecoder": _read_suffix,
    "WordPiece": lambda step: word_decoding.DecodeWordPiece(
        step.get("prefix", str), word_decoding.CLEANUP if step.get("cleanup", bool) else ()
    ),
}
