"""Tokenizers of transformers 4 that merge byte pairs in Python, as GPT-2's does.

They split by a pattern of the module `regex`, spell the bytes of a piece in GPT-2's alphabet, and merge in rounds: all
occurrences of the best pair, then again from the top. On proper dictionaries whose parts never meet too late that is
leftmost merging.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.errors import FileFormatError
from tokdfa.regex.unicode.normalization import Normalizer
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.regex.unicode.versions import resolve
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, Rewriting
from tokdfa.tokenizers.formats.live_object import IN_RUST, NOT_SPECIAL, Live, installed
from tokdfa.tokenizers.formats.reading import read_as
from tokdfa.tokenizers.normalizers.python import PythonForm
from tokdfa.tokenizers.normalizers.steps import SpaceBefore
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

# Classes with GPT-2's code: their methods split, spell and merge, and change nothing else.
_AS_GPT2 = {
    *("BartTokenizer", "BlenderbotTokenizer", "CodeGenTokenizer", "DebertaTokenizer", "GPT2Tokenizer", "LEDTokenizer"),
    *("LongformerTokenizer", "MvpTokenizer", "Qwen2Tokenizer", "RobertaTokenizer", "WhisperTokenizer"),
}
# Those of them that can put a space before every text, or before one that begins with none.
_SPACE_BEFORE = {"CodeGenTokenizer", "GPT2Tokenizer", "WhisperTokenizer"}
_SPACE_BEFORE_WORD = {
    *("BartTokenizer", "BlenderbotTokenizer", "DebertaTokenizer", "LEDTokenizer", "LongformerTokenizer"),
    *("MvpTokenizer", "RobertaTokenizer"),
}


def read_merging(source: Live, _: Any, format: str | None) -> Contents:
    """Read such a tokenizer: its rules, the ids that it has for tokens, its pattern and special tokens."""
    check_no_format(source, format)
    kinds: dict[str, str] = {}
    for name in ("_tokenize", "bpe", "prepare_for_tokenization", "_convert_token_to_id"):
        what = f"a tokenizer in Python whose method {name} may do something else than GPT-2's"
        kinds[name] = source.defined_by(name, _AS_GPT2, what, f"load its files, or {IN_RUST}")
    source.check_off("do_lower_case")
    normalizer = _normalizer(source, kinds["prepare_for_tokenization"])
    contents = merging(source, read_rules(source), {})
    return replace(
        contents,
        splitting=splitting_of(source, ""),
        rewriting=None if normalizer is None else Rewriting(normalizer),
    )


def check_no_format(source: Live, format: str | None) -> None:
    """Refuse the name of a format."""
    if format is not None:
        raise source.fault("a tokenizer in Python has no format", FileFormatError, value=format)


def merging(source: Live, rules: list[list[str]], more: Mapping[str, int], suffix: str | None = None) -> Contents:
    """Return the contents of byte pairs, without normalizer and pattern; special tokens are not found in texts.

    The tokens in `more`, which rules make, have ids of their own.
    """
    if source.get("byte_encoder") != CHARACTER_OF:
        raise source.fault("a byte alphabet that is not GPT-2's is not modelled")
    added: dict[int, str] = {}
    for id, text, is_special in source.added_tokens():
        if not is_special:
            raise source.fault(NOT_SPECIAL, value=text)
        if not 0 <= id <= LARGEST_ID:
            raise source.fault(f"an id must be from 0 to {LARGEST_ID}", FileFormatError, value=id)
        added[id] = text
    texts = {*added.values()}
    tokens = [source.checked(token, str, "token") for token in source.of("encoder", dict) if token not in texts]
    ids = source.ids(tokens, "token")
    if len(set(ids)) < len(ids):
        raise source.fault("two tokens share an id, or have none")
    if added.keys() & set(ids):
        raise source.fault("a special token has the id of a token")
    # All that rules make are tokens; the steps to those in `more` have no ids.
    later = sorted({*map("".join, rules)}.difference(tokens)) if more else []
    contents = _merging(source, [*tokens, *later], rules, suffix)
    if len(contents.dictionary.alphabet.symbols) < len(CHARACTER_OF) * (1 if suffix is None else 2):
        raise source.fault("bytes without a token, which become the unknown token")
    number, every = contents.ids, [*ids, *(more.get(token, -1) for token in later)]
    return replace(
        contents,
        format="merges+vocab",
        ids=np.where(number >= 0, np.array(every, dtype=np.int32)[number], np.int32(-1)),
        specials=tuple(Special(id, text) for id, text in sorted(added.items())),
        finds_specials=False,
    )


def _normalizer(source: Live, kind: str) -> Normalizer | None:
    """Return what the class `kind` does to a text before it is split."""
    if kind == "Qwen2Tokenizer":
        return PythonForm("NFC")
    if not source.get("add_prefix_space"):
        return None
    if kind not in (*_SPACE_BEFORE, *_SPACE_BEFORE_WORD):
        raise source.fault("add_prefix_space is not modelled for this class", value=kind, hint=f"load {IN_RUST}")
    return SpaceBefore(only_words=kind in _SPACE_BEFORE_WORD)


def read_rules(source: Live) -> list[list[str]]:
    """Return the rules in order."""
    ranks = source.of("bpe_ranks", dict)
    for pair, rank in ranks.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        if not is_pair or type(rank) is not int:
            what = "a rule must be a pair of tokens, with an integer"
            raise source.fault(what, FileFormatError, value=(pair, rank))
    if len(set(ranks.values())) < len(ranks):
        raise source.fault("two rules with one priority are not modelled")
    return [[*pair] for pair in sorted(ranks, key=lambda pair: ranks[pair])]


def _merging(source: Live, tokens: list[str], pairs: list[list[str]], suffix: str | None) -> Contents:
    """Return the contents with these tokens, numbered in their order, and rules; refuse merging that rounds change."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model: dict[str, Any] = {
        "type": "BPE",
        "vocab": {token: number for number, token in enumerate(tokens)},
        "merges": pairs,
    }
    model["end_of_word_suffix"] = suffix
    fields = json.dumps({"model": model, "pre_tokenizer": level, "decoder": level}).encode("ascii")
    contents = cast("Contents", read_as(fields, source.path, "tokenizer.json"))
    if not contents.dictionary.properness() or not agrees_with_leftmost(contents.dictionary):
        what = "rules on which merging in rounds, as this tokenizer does it, may differ from leftmost merging"
        raise source.fault(what, hint=f"load {IN_RUST}")
    return contents


def splitting_of(source: Live, flags: str) -> Splitting:
    """Return the splitting by the pattern of the object, which must have these flags, by the tables of `regex`."""
    import regex

    compiled = source.part("pat")
    if type(compiled.value).__module__ not in ("_regex", "regex", "regex._regex"):
        raise source.fault("a pattern that is not one of the module regex", value=compiled.value)
    found = compiled.checked(compiled.get("flags"), int, "flags of the pattern")
    if found != int(regex.UNICODE | regex.VERSION0 | (regex.IGNORECASE if flags else 0)):
        raise source.fault("flags of the pattern are not modelled", value=found)
    table = resolve(f"regex=={installed('regex')}").name
    return Splitting("tiktoken", (Split(flags + compiled.of("pattern", str)),), unicode=table)
