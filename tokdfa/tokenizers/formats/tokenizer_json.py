"""tokenizer.json of the library `tokenizers`, with a BPE model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path

import numpy as np

from tokdfa.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.byte_alphabet import is_spelled
from tokdfa.tokenizers.formats.contents import Contents, Special
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object
from tokdfa.tokenizers.formats.merges import Pairs
from tokdfa.tokenizers.formats.pre_tokenizer import flatten, read_byte_level, read_pre_tokenizer
from tokdfa.tokenizers.formats.vocabulary import Vocabulary, check_vocabulary, over_bytes, over_characters

__all__ = ["TOP_FIELDS", "read_added_tokens", "read_tokenizer_json"]

TOP_FIELDS = [
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
]
_MODEL_FIELDS = [
    "type",
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "vocab",
    "merges",
]
_ADDED_FIELDS = ["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"]


def read_tokenizer_json(data: bytes, path: Path) -> Contents:
    """Read a tokenizer.json.

    Raises
    ------
    FileFormatError
        If it is not JSON, lacks a field or has one of the wrong type, or contradicts itself.
    UnsupportedFeatureError
        If it asks for what is not modelled exactly; names the JSON path and the value.
    """
    top = parse_object(data, path)
    top.only(TOP_FIELDS)
    top.refuse_unless("version", ("1.0",), "a version of the format that is not known here")
    for key in ("truncation", "padding"):
        top.refuse_unless(key, (None,), f"{key} changes the ids")
    normalizer = top.object("normalizer")
    for step in flatten(normalizer, "normalizers") if normalizer else ():
        raise UnsupportedFeatureError("normalizers are not modelled", value=step.fields, where=step.place("type"))
    splitting, is_bytewise = read_pre_tokenizer(top)
    model = _model(top)
    suffix = model.get_or_none("end_of_word_suffix", str) or None
    _check_post_processor(top)
    vocabulary = check_vocabulary(model.get("vocab", dict), model.place("vocab"))
    pairs = _read_merges(model)
    whole_piece = bool(model.get_or_none("ignore_merges", bool))
    if is_bytewise:
        if suffix:
            raise UnsupportedFeatureError(
                "a suffix together with ByteLevel", value=suffix, where=model.place("end_of_word_suffix")
            )
        # All bytes have tokens, so that nothing is ever unknown and unk_token, fuse_unk and byte_fallback are idle.
        contents = over_bytes(vocabulary, pairs, path, "tokenizer.json", whole_piece=whole_piece)
    else:
        model.refuse_unless("unk_token", (None,), "unknown symbols are not modelled")
        model.refuse_unless("byte_fallback", (None, False), "byte fallback is not modelled")
        if suffix and whole_piece:
            raise UnsupportedFeatureError(
                "whole pieces are looked up without the suffix", value=True, where=model.place("ignore_merges")
            )
        contents = over_characters(vocabulary, pairs, "tokenizer.json", suffix=suffix, whole_piece=whole_piece)
    _check_decoder(top, is_bytewise, suffix)
    specials = read_added_tokens(top, vocabulary, is_bytewise)
    return replace(contents, splitting=splitting, specials=specials, finds_specials=True)


def _model(top: JsonObject) -> JsonObject:
    model = top.object("model")
    if model is None:
        raise FileFormatError("no model", where=top.place("model"))
    model.refuse_unless("type", ("BPE",), "only BPE models are read")
    model.only(_MODEL_FIELDS)
    model.get_or_none("unk_token", str)
    model.get_or_none("fuse_unk", bool)
    model.get_or_none("byte_fallback", bool)
    model.refuse_unless("dropout", (None, 0, 0.0), "with dropout the ids are random")
    model.refuse_unless("continuing_subword_prefix", (None, ""), "a prefix of continuing subwords is not modelled")
    return model


def _read_merges(model: JsonObject) -> Pairs:
    rows = model.get("merges", list)

    def where(index: int) -> str:
        return f"{model.place('merges')}[{index}]"

    # The usual cases are found out in bulk; whatever is odd is then looked for row by row.
    kinds = set(map(type, rows))
    if kinds == {str} and set(map(str.count, rows, repeat(" "))) == {1}:
        parts = " ".join(rows).split(" ")
    else:
        parts = list(chain.from_iterable(rows)) if kinds == {list} and set(map(len, rows)) == {2} else []
        if len(parts) != 2 * len(rows) or not set(map(type, parts)) <= {str}:
            _find_fault(rows, where)
    return Pairs(parts[::2], parts[1::2], where)


def _find_fault(rows: list[object], where: Callable[[int], str]) -> None:
    """Raise for the first row that is no rule."""
    as_strings = isinstance(rows[0], str)
    for index, row in enumerate(rows):
        if isinstance(row, str) != as_strings and isinstance(row, (str, list)):
            raise FileFormatError("strings and pairs in one list of rules", value=row, where=where(index))
        if isinstance(row, str) and row.count(" ") != 1:
            raise FileFormatError("a rule is two parts with one space between", value=row, where=where(index))
        if not isinstance(row, str) and not (
            isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], str)
        ):
            raise FileFormatError("a rule is a pair of strings", value=row, where=where(index))


def _check_post_processor(top: JsonObject) -> None:
    """Refuse what adds ids; ByteLevel only moves offsets, which are not modelled."""
    root = top.object("post_processor")
    for step in flatten(root, "processors") if root else ():
        kind = step.get("type", str)
        if kind == "ByteLevel":
            read_byte_level(step)
        else:
            raise UnsupportedFeatureError("a post-processor that adds ids", value=kind, where=step.place("type"))


def _check_decoder(top: JsonObject, is_bytewise: bool, suffix: str | None) -> None:
    """Refuse decoders that do not give back the text that was encoded."""
    root = top.object("decoder")
    steps = list(flatten(root, "decoders")) if root else []
    kinds = [step.get("type", str) for step in steps]
    # Fusing joins the tokens to one, which ByteLevel does already.
    wanted = "ByteLevel" if is_bytewise else "BPEDecoder" if suffix else "Fuse"
    if not kinds or kinds[0] != wanted or any(kind != "Fuse" for kind in kinds[1:]):
        what = f"the decoder that undoes the encoding is {wanted}"
        raise UnsupportedFeatureError(what, value=kinds or None, where=top.place("decoder"))
    if is_bytewise:
        read_byte_level(steps[0])
    if suffix and steps[0].get("suffix", str) != suffix:
        raise UnsupportedFeatureError(
            f"the suffix of the model is {suffix}", value=steps[0].fields["suffix"], where=steps[0].place("suffix")
        )


def read_added_tokens(top: JsonObject, vocabulary: Vocabulary, is_bytewise: bool) -> tuple[Special, ...]:
    """Return the added tokens of a tokenizer.json, checked; `is_bytewise` if it spells bytes as letters."""
    tokens = top.objects("added_tokens", [])
    if not tokens:
        return ()
    id_of = dict(zip(vocabulary.spellings, vocabulary.ids.tolist(), strict=True))
    is_taken = np.zeros(max(len(id_of), int(vocabulary.ids.max()) + 1) + len(tokens), dtype=np.bool_)
    is_taken[vocabulary.ids] = True
    specials: list[Special] = []
    contents: set[str] = set()
    last = -1
    for token in tokens:
        token.only(_ADDED_FIELDS)
        content = token.get("content", str)
        for flag in ("single_word", "lstrip", "rstrip"):
            if token.get(flag, bool):
                raise UnsupportedFeatureError(f"{flag} is not modelled", value=content, where=token.place(flag))
        if not content or content in contents:
            raise FileFormatError(
                "an added token that is empty or there already", value=content, where=token.place("content")
            )
        if is_bytewise and not content.isascii() and is_spelled(content):
            raise UnsupportedFeatureError(
                "decoding takes these letters for bytes of the byte alphabet",
                value=content,
                where=token.place("content"),
            )
        # The library does not read the ids of added tokens but assigns them; a file that says otherwise is wrong.
        next_id = last + 1 if last >= len(id_of) else len(id_of)
        assigned = id_of.get(content, next_id)
        if token.get("id", int) != assigned or (content not in id_of and is_taken[assigned]):
            raise FileFormatError(
                f"tokenizers gives {content!r} the id {assigned}", value=token.fields["id"], where=token.place("id")
            )
        is_taken[assigned] = True
        last = max(last, assigned)
        contents.add(content)
        token.get("special", bool)
        specials.append(Special(assigned, content, level=int(token.get("normalized", bool))))
    return tuple(specials)
