"""Tokenizers of transformers 4 that merge byte pairs in Python, as GPT-2's does.

They split by a pattern of the module `regex`, spell the bytes of a piece in GPT-2's alphabet, and merge in rounds: all
occurrences of the best pair, then again from the top. On proper dictionaries whose parts never meet too late that is
leftmost merging; others are refused. The functions that ask objects for their attributes, which may be computed and
fail, are here too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.regex.unicode.versions import resolve
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents
from tokdfa.tokenizers.formats.reading import read_as
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

T = TypeVar("T")
# Classes with GPT-2's code: their methods split, spell and merge, and change nothing else.
_AS_GPT2 = {
    "BartTokenizer",
    "CodeGenTokenizer",
    "GPT2Tokenizer",
    "LEDTokenizer",
    "LongformerTokenizer",
    "MvpTokenizer",
    "RobertaTokenizer",
}
_METHODS = ("_tokenize", "bpe", "prepare_for_tokenization", "_convert_token_to_id")


def attribute(source: object, name: str, path: Path) -> Any:
    """Return an attribute; None if there is none. An object may compute it, and fail to."""
    return asked(lambda: getattr(source, name, None), name, path)


def asked(ask: Callable[[], T], name: str, path: Path) -> T:
    """Return the result of a function of an object, or raise UnsupportedFeatureError if it fails."""
    try:
        return ask()
    except Exception as error:
        raise UnsupportedFeatureError(f"the object cannot give its {name}: {error}", where=str(path)) from error


def given(value: object, kind: type[T], name: str, path: Path) -> T:
    """Return a value, or raise FileFormatError if it is of another type."""
    if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
        raise FileFormatError(f"the {name} of the object must be of type {kind.__name__}", value=value, where=str(path))
    return value


def read_merges(source: Any, ranks: Any, path: Path, format: str | None) -> Contents:
    """Read such a tokenizer: its rules, the ids that it has for tokens, its pattern and its special tokens.

    `ranks` are its rules, pairs of tokens, with their priorities.
    """
    if format is not None:
        raise FileFormatError("a tokenizer in Python has no format", value=format, where=str(path))
    for name in _METHODS:
        method = attribute(type(source), name, path)
        kind, _, _ = str(getattr(method, "__qualname__", "")).partition(".")
        if not str(getattr(method, "__module__", "")).startswith("transformers.") or kind not in _AS_GPT2:
            what = f"a tokenizer in Python whose method {name} may do something else than GPT-2's"
            hint = "load its files, or the tokenizer with a backend in Rust"
            raise UnsupportedFeatureError(what, value=kind or type(source).__name__, where=str(path), hint=hint)
    for name in ("add_prefix_space", "do_lower_case"):
        if attribute(source, name, path):
            raise UnsupportedFeatureError(f"{name} is not modelled for it", value=True, where=str(path))
    if attribute(source, "byte_encoder", path) != CHARACTER_OF:
        raise UnsupportedFeatureError("a byte alphabet that is not GPT-2's is not modelled", where=str(path))
    added = _added_tokens(source, path)
    vocab = given(attribute(source, "encoder", path), dict, "encoder", path)
    tokens = [given(token, str, "token", path) for token in vocab if token not in added.values()]
    contents = _merging(tokens, _pairs(given(ranks, dict, "bpe_ranks", path), path), path)
    if len(contents.dictionary.alphabet.symbols) < len(CHARACTER_OF):
        raise UnsupportedFeatureError("bytes without a token, which become the unknown token", where=str(path))
    ids = _ids(source, tokens, path)
    specials = tuple(Special(id, text) for id, text in sorted(added.items()))
    if added.keys() & set(ids):
        raise UnsupportedFeatureError("a special token has the id of a token", where=str(path))
    number = contents.ids
    pattern = _pattern(source, path)
    return replace(
        contents,
        format="merges+vocab",
        ids=np.where(number >= 0, np.array(ids, dtype=np.int32)[number], np.int32(-1)),
        splitting=Splitting("tiktoken", (Split(pattern),), unicode=_table()),
        specials=specials,
        finds_specials=False,
    )


def _added_tokens(source: Any, path: Path) -> dict[int, str]:
    added = {}
    found = given(attribute(source, "added_tokens_decoder", path), dict, "added_tokens_decoder", path)
    for id, token in found.items():
        text = given(attribute(token, "content", path), str, "added token", path)
        if not attribute(token, "special", path):
            what = "an added token that is not special, which is found in texts, is not modelled"
            raise UnsupportedFeatureError(what, value=text, where=str(path))
        if not 0 <= given(id, int, "id of an added token", path) <= LARGEST_ID:
            raise FileFormatError(f"an id must be from 0 to {LARGEST_ID}", value=id, where=str(path))
        added[id] = text
    return added


def _pairs(ranks: Mapping[Any, Any], path: Path) -> list[list[str]]:
    """Return the rules in order."""
    for pair, rank in ranks.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        if not is_pair or type(rank) is not int:
            what = "a rule must be a pair of tokens, with an integer"
            raise FileFormatError(what, value=(pair, rank), where=str(path))
    if len(set(ranks.values())) < len(ranks):
        raise UnsupportedFeatureError("two rules with one priority are not modelled", where=str(path))
    return [[*pair] for pair in sorted(ranks, key=lambda pair: ranks[pair])]


def _merging(tokens: list[str], pairs: list[list[str]], path: Path) -> Contents:
    """Return the contents with these tokens, numbered in their order, and rules; refuse merging that rounds change."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": pairs}
    fields = {"model": model, "pre_tokenizer": level, "decoder": level}
    contents = cast("Contents", read_as(json.dumps(fields).encode("ascii"), path, "tokenizer.json"))
    if not contents.dictionary.properness() or not agrees_with_leftmost(contents.dictionary):
        what = "rules on which merging in rounds, as this tokenizer does it, may differ from leftmost merging"
        raise UnsupportedFeatureError(what, where=str(path), hint="load the tokenizer with a backend in Rust")
    return contents


def _ids(source: Any, tokens: list[str], path: Path) -> list[int]:
    """Return the ids that the object gives for tokens."""
    number_of = attribute(source, "convert_tokens_to_ids", path)
    ids = [given(id, int, "id of a token", path) for id in asked(lambda: list(number_of(tokens)), "ids", path)]
    if len(ids) != len(tokens) or len(set(ids)) < len(ids):
        raise UnsupportedFeatureError("two tokens share an id, or have none", where=str(path))
    if not all(0 <= id <= LARGEST_ID for id in ids):
        raise FileFormatError(f"ids must be from 0 to {LARGEST_ID}", where=str(path))
    return ids


def _pattern(source: Any, path: Path) -> str:
    compiled = attribute(source, "pat", path)
    if type(compiled).__module__ not in ("_regex", "regex", "regex._regex"):
        raise UnsupportedFeatureError("a pattern that is not one of the module regex", value=compiled, where=str(path))
    flags = given(attribute(compiled, "flags", path), int, "flags of the pattern", path)
    import regex

    if flags != int(regex.UNICODE | regex.VERSION0):
        raise UnsupportedFeatureError("flags of the pattern are not modelled", value=flags, where=str(path))
    return given(attribute(compiled, "pattern", path), str, "pattern", path)


def _table() -> str:
    """Return the name of the Unicode table of the module regex that is installed."""
    from importlib.metadata import version

    return resolve(f"regex=={version('regex')}").name
