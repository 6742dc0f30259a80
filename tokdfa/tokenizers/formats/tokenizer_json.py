"""tokenizer.json of the library `tokenizers`, with a BPE model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.regex.unicode.utf8 import BYTE_OF, is_spelled
from tokdfa.tokenizers.decoding import DecodeSuffix
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.contents import Contents, Rewriting, has_bytes
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object
from tokdfa.tokenizers.formats.left_out import read_left_out
from tokdfa.tokenizers.formats.text_steps import read_decoder, read_normalizer, read_pre_tokenizer
from tokdfa.tokenizers.formats.vocabulary import over_bytes, over_characters
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary, check_vocabulary, joined, read_plain
from tokdfa.tokenizers.normalizers.steps import Normalizer
from tokdfa.tokenizers.pretokenizers.steps import Splitting

_TOP_FIELDS = [
    *("version", "truncation", "padding", "added_tokens", "normalizer"),
    *("pre_tokenizer", "post_processor", "decoder", "model"),
]
_LETTERS_FOR_BYTES = "decoding mistakes these letters for bytes of the byte alphabet"


def read_tokenizer_json(data: bytes, path: Path) -> Contents:
    """Read a tokenizer.json."""
    plain = read_plain(data, path)
    top = parse_object(data, path) if plain is None else plain.top
    normalizer, splitting, is_bytewise = read_steps(top)
    model = _model(top)
    suffix = model.get_or_none("end_of_word_suffix", str) or None
    ignored = read_left_out(top)
    if plain is None:
        vocabulary = check_vocabulary(model.get("vocab", dict), model.place("vocab"))
        pairs = _read_merges(model)
    else:
        vocabulary = plain.vocabulary
        pairs = plain.pairs(lambda: _read_merges(_model(parse_object(data, path))))
    whole_piece = bool(model.get_or_none("ignore_merges", bool))
    prefix = model.get_or_none("continuing_subword_prefix", str) or None
    if is_bytewise and prefix:
        where = model.place("continuing_subword_prefix")
        what = "continuing_subword_prefix with ByteLevel is not modelled"
        raise UnsupportedFeatureError(what, value=prefix, where=where)
    if suffix in vocabulary:
        # Then a symbol by itself cannot be distinguished from the end of a word.
        where = model.place("end_of_word_suffix")
        raise UnsupportedFeatureError("an end_of_word_suffix that is itself a token", value=suffix, where=where)
    is_whole = has_bytes(BYTE_OF[letter] for letter in vocabulary.ids_of(BYTE_OF))
    if is_bytewise and (suffix or not is_whole):
        _check_spelled(vocabulary, suffix or "", model)
    if is_bytewise and not suffix and is_whole:
        # All bytes have tokens, so nothing is ever unknown, and unk_token, fuse_unk and byte_fallback have no effect.
        contents = over_bytes(vocabulary, pairs, path, "tokenizer.json", whole_piece=whole_piece)
    else:
        fallback = _read_fallback(model, vocabulary, is_affixed=bool(prefix or suffix))
        if whole_piece and (suffix or prefix or fallback):
            what = "ignore_merges"
            raise model.unmodelled(what, "ignore_merges is modelled only without suffix, prefix and unknown symbols")
        contents = over_characters(
            vocabulary,
            pairs,
            "tokenizer.json",
            prefix=prefix,
            suffix=suffix,
            whole_piece=whole_piece,
            fallback=fallback,
        )
        contents = replace(contents, spelled_bytes=is_bytewise, drops_unknown=_may_drop(fallback))
    specials = read_specials(top, vocabulary, normalizer, is_bytewise)
    decoding = read_decoder(top, is_bytewise=is_bytewise, suffix=suffix, normalizer=normalizer)
    if decoding is None and suffix and _is_read_elsewhere(suffix, vocabulary, specials):
        decoding = (DecodeSuffix(suffix),)
    if decoding is None and not is_bytewise and (contents.fallback or prefix):
        decoding = (DecodeSuffix(suffix),) if suffix else ()
    rewriting = Rewriting(normalizer, decoding)
    return replace(
        contents,
        splitting=splitting,
        specials=specials,
        finds_specials=True,
        rewriting=rewriting if rewriting != Rewriting() else None,
        ignored=ignored,
    )


def _is_read_elsewhere(suffix: str, vocabulary: Vocabulary, specials: tuple[Special, ...]) -> bool:
    """Return whether the decoder finds the suffix not only at the ends of tokens, but within them or in added ones."""
    return any(suffix in text[:-1] for text in vocabulary.spellings) or any(suffix in added.text for added in specials)


def check_top(top: JsonObject) -> None:
    """Refuse fields of a tokenizer.json that the library does not know, on which it fails, and other versions."""
    top.only(_TOP_FIELDS)
    top.refuse_unless("version", ("1.0",), "an unknown version of the format")


def read_steps(top: JsonObject) -> tuple[Normalizer | None, Splitting | None, bool]:
    """Return the steps of a tokenizer.json before its model: normalizer, splitting, and whether that gives bytes."""
    check_top(top)
    normalizer = read_normalizer(top)
    splitting, is_bytewise = read_pre_tokenizer(top)
    _check_prefix_once(top, splitting, normalizer)
    return normalizer, splitting, is_bytewise


def read_specials(
    top: JsonObject, vocabulary: Vocabulary, normalizer: Normalizer | None, is_bytewise: bool
) -> tuple[Special, ...]:
    """Return the added tokens as they are looked for; refuse those on which the library fails."""
    specials = _normalized(top, read_added_tokens(top, vocabulary, is_bytewise), normalizer, is_bytewise)
    _check_strips(top, specials)
    return specials


def _check_prefix_once(top: JsonObject, splitting: Splitting | None, normalizer: Normalizer | None) -> None:
    """Refuse a character that is put before the first piece only, where it is not known which one is the first."""
    if splitting is not None and splitting.prefix_once and normalizer is not None and not normalizer.keeps_beginning:
        # Whether a text begins there then depends on the characters that the library thinks it has removed.
        what = "a character put before the first stretch only, in a text that may have lost its beginning"
        raise UnsupportedFeatureError(what, value=normalizer, where=top.place("normalizer"))
    if splitting is not None and splitting.prefix_once and splitting.metaspace_at and normalizer is not None:
        # To the library, every piece made of the first character begins the text; after normalization there may be
        # several.
        what = "a character put before the first piece only, of a text that a normalizer may have lengthened"
        hint = "put it before every piece, or none"
        raise UnsupportedFeatureError(what, value=normalizer, where=top.place("pre_tokenizer"), hint=hint)


def _check_spelled(vocabulary: Vocabulary, suffix: str, model: JsonObject) -> None:
    """Refuse a vocabulary of bytes with ends of words if decoding or encoding meets anything but its bytes."""
    for spelling in vocabulary.spellings:
        if not is_spelled(spelling.removesuffix(suffix)):
            what = "a token with a character outside GPT-2's byte alphabet, beside a suffix or without some bytes"
            raise UnsupportedFeatureError(what, value=spelling, where=model.place("vocab") + f".{spelling}")


def _read_fallback(model: JsonObject, vocabulary: Vocabulary, *, is_affixed: bool) -> Fallback | None:
    """Return the replacement of unknown symbols; None if the file does not say.

    Bytes that no unknown symbol has need no tokens: a character of ASCII that is a token itself, as the tab is in
    Gemma's vocabularies, never becomes its byte. Symbols with a prefix or a suffix (`is_affixed`) may be others.
    """
    unknown = model.get_or_none("unk_token", str)
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    known = vocabulary.ids_of([*names, *map(chr, range(0x80)), *(() if unknown is None else (unknown,))])
    spelled = tuple(name if name in known else None for name in names)
    as_bytes = bool(model.get_or_none("byte_fallback", bool)) and any(spelled)
    needless = () if is_affixed else (byte for byte in range(0x80) if chr(byte) in known)
    if as_bytes and has_bytes([*needless, *(byte for byte in range(256) if spelled[byte])]):
        return Fallback(bytes=tuple(names))
    if unknown is not None and unknown not in known:
        raise model.wrong("unk_token", "the unknown token is not in the vocabulary")
    if unknown is None and not as_bytes:
        return None
    fuses = bool(model.get_or_none("fuse_unk", bool)) and unknown is not None
    return Fallback(bytes=spelled if as_bytes else None, unknown=unknown, fuses=fuses)


def _may_drop(fallback: Fallback | None) -> bool:
    """Return whether the library drops some symbols."""
    if fallback is None:
        return True
    return fallback.unknown is None and fallback.bytes is not None and None in fallback.bytes


def _normalized(
    top: JsonObject, specials: tuple[Special, ...], normalizer: Normalizer | None, is_bytewise: bool
) -> tuple[Special, ...]:
    """Return added tokens as they are looked for; refuse those that become empty or equal to another one."""
    if normalizer is None:
        return specials
    seen: set[str] = set()
    found = []
    for index, special in enumerate(specials):
        text = normalizer(special.content) if special.level else special.content
        if special.level and (not text or text in seen):
            where = f"{top.place('added_tokens')}[{index}].content"
            what = "an added token that becomes empty or equal to another one when it is normalized"
            raise UnsupportedFeatureError(what, value=special.content, where=where)
        if text != special.content and is_bytewise and _reads_as_bytes(text):
            where = f"{top.place('added_tokens')}[{index}].content"
            raise UnsupportedFeatureError(_LETTERS_FOR_BYTES, value=special.content, where=where)
        if special.level:
            seen.add(text)
        found.append(special if text == special.content else replace(special, normalized=text))
    return tuple(found)


def _check_strips(top: JsonObject, specials: tuple[Special, ...]) -> None:
    """Refuse added tokens on which the library fails: one that strips the white space that another consists of."""
    blanks = "".join(spaces())
    for index, special in enumerate(specials):
        takes = any(other.rstrip and other.level == special.level for other in specials)
        if takes and special.lstrip and not special.rstrip and not special.text.strip(blanks):
            where = f"{top.place('added_tokens')}[{index}].rstrip"
            what = "an added token of white space that strips only on its left, beside one that strips on its right"
            raise UnsupportedFeatureError(what, value=special.content, where=where)


def _reads_as_bytes(content: str) -> bool:
    """Return whether decoding mistakes letters of an added token for bytes of the byte alphabet."""
    return not content.isascii() and is_spelled(content)


def _model(top: JsonObject) -> JsonObject:
    model = top.required("model", "the model is missing")
    model.refuse_unless("type", ("BPE",), "only BPE models can be read")
    model.get_or_none("unk_token", str)
    model.get_or_none("fuse_unk", bool)
    model.get_or_none("byte_fallback", bool)
    model.refuse_unless("dropout", (None, 0, 0.0), "with dropout the ids are random")
    model.get_or_none("continuing_subword_prefix", str)
    return model


def _read_merges(model: JsonObject) -> Pairs:
    rows = model.get("merges", list)

    def where(index: int) -> str:
        return f"{model.place('merges')}[{index}]"

    def columns() -> tuple[list[str], list[str]]:
        _find_fault(rows, where)
        parts = " ".join(rows).split(" ") if rows and isinstance(rows[0], str) else [*chain.from_iterable(rows)]
        return parts[::2], parts[1::2]

    try:
        # Rows that are strings have one space each, or whoever reads them finds that they do not.
        lines = joined(rows)
        return Pairs(lines.text, len(rows), ord(" "), lines.separator, columns, where)
    except TypeError:
        if set(map(type, rows)) != {list} or set(map(len, rows)) != {2}:
            _find_fault(rows, where)
    try:
        lines = joined([*chain.from_iterable(rows)])
    except TypeError:
        _find_fault(rows, where)
        raise
    return Pairs(lines.text, len(rows), lines.separator, lines.separator, columns, where)


def _find_fault(rows: list[object], where: Callable[[int], str]) -> None:
    """Raise for the first row that is not a rule."""
    as_strings = bool(rows) and isinstance(rows[0], str)
    for index, row in enumerate(rows):
        if isinstance(row, str) != as_strings and isinstance(row, (str, list)):
            raise FileFormatError("strings and pairs are mixed in one list of rules", value=row, where=where(index))
        if isinstance(row, str) and row.count(" ") != 1:
            raise FileFormatError("a rule must be two parts separated by one space", value=row, where=where(index))
        if not isinstance(row, str) and not (
            isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], str)
        ):
            raise FileFormatError("a rule must be a pair of strings", value=row, where=where(index))


def read_added_tokens(top: JsonObject, vocabulary: Vocabulary, is_bytewise: bool) -> tuple[Special, ...]:
    """Return the added tokens of a tokenizer.json, checked; `is_bytewise` if it spells bytes as letters."""
    tokens = top.objects("added_tokens", [])
    if not tokens:
        return ()
    id_of = vocabulary.ids_of(token.fields["content"] for token in tokens if type(token.fields.get("content")) is str)
    n_words = len(vocabulary)
    is_taken = np.zeros(max(n_words, int(vocabulary.ids.max()) + 1) + len(tokens), dtype=np.bool_)
    is_taken[vocabulary.ids] = True
    specials: list[Special] = []
    contents: set[str] = set()
    last = -1
    for token in tokens:
        content = token.get("content", str)
        flags: dict[str, Any] = {flag: token.get(flag, bool) for flag in ("single_word", "lstrip", "rstrip")}
        if not content or content in contents:
            raise token.wrong("content", "an added token that is empty or a duplicate")
        if is_bytewise and _reads_as_bytes(content):
            raise token.unmodelled("content", _LETTERS_FOR_BYTES)
        # The library does not read the ids of added tokens but assigns them; a file with other ids is wrong.
        next_id = last + 1 if last >= n_words else n_words
        assigned = id_of.get(content, next_id)
        if token.get("id", int) != assigned or (content not in id_of and is_taken[assigned]):
            raise token.wrong("id", f"tokenizers gives {content!r} the id {assigned}")
        is_taken[assigned] = True
        last = max(last, assigned)
        contents.add(content)
        is_text = not token.get("special", bool)
        specials.append(Special(assigned, content, level=int(token.get("normalized", bool)), is_text=is_text, **flags))
    return tuple(specials)
