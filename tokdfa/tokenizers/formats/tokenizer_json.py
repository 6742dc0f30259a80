"""tokenizer.json of the library `tokenizers`: byte pairs, and the readers of other models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.regex.unicode.utf8 import BYTE_OF, is_spelled
from tokdfa.tokenizers.decoding import BYTE_TOKENS, bytes_of
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.contents import AnyContents, Contents, Rewriting, has_bytes
from tokdfa.tokenizers.formats.json_text import JsonObject, as_serde_json, parse_object
from tokdfa.tokenizers.formats.merges import VERSION, before_skipping
from tokdfa.tokenizers.formats.text_steps import read_decoder
from tokdfa.tokenizers.formats.top_level import read_left_out, read_specials, read_steps
from tokdfa.tokenizers.formats.vocabulary import over_bytes, over_characters
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary, check_vocabulary, joined, read_plain
from tokdfa.tokenizers.word_decoding import DecodeSuffix


def read_tokenizer_json(data: bytes, path: Path, *, of_object: bool = False) -> AnyContents:
    """Read a tokenizer.json by the kind of its model; `of_object` is whether a library has just written it."""
    # A plain search first, because it is much faster; decoders and tokens may have these names as well.
    kinds = [kind for kind in ("WordPiece", "Unigram", "WordLevel") if f'"{kind}"'.encode("ascii") in data]
    # The numbers that the library has just written are its numbers in memory; it reads those in files otherwise.
    number = float if of_object else as_serde_json
    read = ((kind, read_plain(data, path, kind, number)) for kind in kinds)
    plain = next((plain for kind, plain in read if plain is not None and _kind_of_model(plain.top) == kind), None)
    top = plain.top if plain is not None else parse_object(data, path, number=number) if kinds else None
    kind = _kind_of_model(top) if top is not None else None
    if top is None or kind not in kinds:
        return _read_byte_pairs(data, path, of_object)
    if kind == "WordPiece":
        from tokdfa.tokenizers.formats.wordpiece import read_wordpiece_json

        return read_wordpiece_json(top, plain, of_object=of_object)
    if kind == "WordLevel":
        from tokdfa.tokenizers.formats.by_piece import read_wordlevel_json

        return read_wordlevel_json(top, plain, of_object=of_object)
    from tokdfa.tokenizers.formats.unigram import read_unigram_json

    return read_unigram_json(top, plain, of_object=of_object)


def _kind_of_model(top: JsonObject) -> str | None:
    """Return the kind of the model, if the file gives one."""
    model = top.fields.get("model")
    kind = model.get("type") if isinstance(model, dict) else None
    return kind if isinstance(kind, str) else None


def _read_byte_pairs(data: bytes, path: Path, of_object: bool) -> Contents:
    plain = read_plain(data, path)
    top = parse_object(data, path) if plain is None else plain.top
    normalizer, splitting, is_bytewise = read_steps(top)
    model = _model(top)
    suffix = model.get_or_none("end_of_word_suffix", str) or None
    prefix = model.get_or_none("continuing_subword_prefix", str) or ""
    whole = bool(model.get_or_none("ignore_merges", bool))
    if plain is None:
        vocabulary = check_vocabulary(model.get("vocab", dict), model.at("vocab"))
        pairs = _read_merges(model)
    else:
        vocabulary = plain.vocabulary
        pairs = plain.pairs(lambda: _read_merges(_model(parse_object(data, path))))
    if is_bytewise and prefix:
        raise model.unmodelled("continuing_subword_prefix", "continuing_subword_prefix with ByteLevel is not modelled")
    if suffix in vocabulary:
        # Then a symbol by itself cannot be distinguished from the end of a word.
        raise model.unmodelled("end_of_word_suffix", "an end_of_word_suffix that is itself a token")
    is_whole = has_bytes(BYTE_OF[letter] for letter in vocabulary.ids_of(BYTE_OF))
    over_all_bytes = is_bytewise and not suffix and is_whole
    if over_all_bytes:
        # All bytes have tokens, so nothing is ever unknown, and unk_token, fuse_unk and byte_fallback have no effect.
        contents = over_bytes(vocabulary, pairs, path, "tokenizer.json", whole_piece=whole)
    else:
        for spelling in vocabulary.spellings if is_bytewise else ():
            # Neither decoding nor encoding may meet anything but bytes.
            if not is_spelled(spelling.removesuffix(suffix or "")):
                what = "a token with a character outside GPT-2's byte alphabet, beside a suffix or without some bytes"
                raise UnsupportedFeatureError(what, value=spelling, where=f"{model.at('vocab')}.{spelling}")
        fallback = _read_fallback(model, vocabulary, is_affixed=bool(prefix or suffix))
        if whole and (suffix or prefix or fallback):
            what = "ignore_merges is modelled only without suffix, prefix and unknown symbols"
            raise model.unmodelled("ignore_merges", what)
        contents = over_characters(
            vocabulary, pairs, "tokenizer.json", prefix=prefix, suffix=suffix, whole_piece=whole, fallback=fallback
        )
        # The library drops symbols that nothing replaces.
        drops = fallback is None or (fallback.unknown is None and None in (fallback.bytes or ()))
        contents = replace(contents, spelled_bytes=is_bytewise, drops_unknown=drops)
    specials = read_specials(
        top, vocabulary, normalizer, is_bytewise=is_bytewise, may_mistake=over_all_bytes, of_object=of_object
    )
    mistaken = [each for each in specials if each.is_mistaken and each.content not in vocabulary]
    if mistaken:
        contents = replace(
            contents,
            foreign=(*contents.foreign, *(bytes_of(each.text) for each in mistaken)),
            ids=np.append(contents.ids, np.array([each.id for each in mistaken], dtype=np.int32)),
        )
    decoding = read_decoder(top, is_bytewise=is_bytewise, suffix=suffix, normalizer=normalizer)
    # The decoder may find the suffix not only at the ends of tokens, but within them or in added ones.
    texts = (*(text[:-1] for text in vocabulary.spellings), *(added.text for added in specials)) if suffix else ()
    if decoding is None and suffix and any(suffix in text for text in texts):
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
        ignored=read_left_out(top, specials),
    )


def _read_fallback(model: JsonObject, vocabulary: Vocabulary, *, is_affixed: bool) -> Fallback | None:
    """Return the replacement of unknown symbols; None if the file does not say.

    Bytes that no unknown symbol has need no tokens: a character of ASCII that is a token itself, as the tab is in
    Gemma's vocabularies, never becomes its byte. Symbols with a prefix or a suffix (`is_affixed`) may be others.
    """
    unknown = model.get_or_none("unk_token", str)
    known = vocabulary.ids_of([*BYTE_TOKENS, *map(chr, range(0x80)), *(() if unknown is None else (unknown,))])
    spelled = tuple(name if name in known else None for name in BYTE_TOKENS)
    as_bytes = bool(model.get_or_none("byte_fallback", bool)) and any(spelled)
    needless = () if is_affixed else (byte for byte in range(0x80) if chr(byte) in known)
    if as_bytes and has_bytes([*needless, *(byte for byte in range(256) if spelled[byte])]):
        return Fallback(bytes=BYTE_TOKENS)
    if unknown is not None and unknown not in known:
        raise model.wrong("unk_token", "the unknown token is not in the vocabulary")
    if unknown is None and not as_bytes:
        return None
    fuses = bool(model.get_or_none("fuse_unk", bool)) and unknown is not None
    return Fallback(bytes=spelled if as_bytes else None, unknown=unknown, fuses=fuses)


def _model(top: JsonObject) -> JsonObject:
    model = top.required("model", "the model is missing")
    model.refuse_unless("type", ("BPE",), "only BPE models can be read")
    model.get_or_none("unk_token", str)
    for flag in ("fuse_unk", "byte_fallback"):
        model.get_or_none(flag, bool)
    model.refuse_unless("dropout", (None, 0, 0.0), "with dropout the ids are random")
    return model


def _read_merges(model: JsonObject) -> Pairs:
    rows = model.get("merges", list)
    skipped: list[int] = []
    if set(map(type, rows)) == {str}:
        skipped = [index for index, row in enumerate(rows) if row.startswith(VERSION)]
        rows = [row for row in rows if not row.startswith(VERSION)]

    def where(index: int) -> str:
        return f"{model.at('merges')}[{before_skipping(index, skipped)}]"

    def columns() -> tuple[list[str], list[str]]:
        _find_fault(rows, where)
        parts = " ".join(rows).split(" ") if rows and isinstance(rows[0], str) else [*chain.from_iterable(rows)]
        return parts[::2], parts[1::2]

    in_pairs = bool(rows) and isinstance(rows[0], list)
    if in_pairs and (set(map(type, rows)) != {list} or set(map(len, rows)) != {2}):
        _find_fault(rows, where)
    try:
        text, separator = joined([*chain.from_iterable(rows)] if in_pairs else rows)
    except TypeError:
        _find_fault(rows, where)
        raise
    # Rows that are strings have one space each, or whoever reads them finds that they do not.
    return Pairs(text, len(rows), separator if in_pairs else ord(" "), separator, columns, where)


def _find_fault(rows: list[object], where: Callable[[int], str]) -> None:
    """Raise for the first row that is not a rule."""
    as_strings = bool(rows) and isinstance(rows[0], str)
    for index, row in enumerate(rows):
        if isinstance(row, str) != as_strings and isinstance(row, (str, list)):
            raise FileFormatError("strings and pairs are mixed in one list of rules", value=row, where=where(index))
        if isinstance(row, str):
            if row.count(" ") != 1:
                raise FileFormatError("a rule must be two parts separated by one space", value=row, where=where(index))
        elif not isinstance(row, list) or [*map(type, row)] != [str, str]:
            raise FileFormatError("a rule must be a pair of strings", value=row, where=where(index))
