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
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.regex.unicode.versions import resolve
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, Rewriting
from tokdfa.tokenizers.formats.live_object import IN_RUST, NOT_SPECIAL, Live, installed
from tokdfa.tokenizers.formats.reading import read_as
from tokdfa.tokenizers.normalizers.steps import SpaceBeforeWord
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

# Classes with GPT-2's code: their methods split, spell and merge, and change nothing else.
_AS_GPT2 = {
    *("BartTokenizer", "BlenderbotTokenizer", "CodeGenTokenizer", "DebertaTokenizer", "GPT2Tokenizer", "LEDTokenizer"),
    *("LongformerTokenizer", "MvpTokenizer", "RobertaTokenizer", "WhisperTokenizer"),
}
# Those of them that can put a space before a text that begins with none.
_SPACE_BEFORE_WORD = {
    *("BartTokenizer", "BlenderbotTokenizer", "DebertaTokenizer", "LEDTokenizer", "LongformerTokenizer"),
    *("MvpTokenizer", "RobertaTokenizer"),
}


def read_merging(source: Live, ranks: Any, format: str | None) -> Contents:
    """Read such a tokenizer: its rules (`ranks`), the ids that it has for tokens, its pattern and special tokens."""
    if format is not None:
        raise source.fault("a tokenizer in Python has no format", FileFormatError, value=format)
    kinds: dict[str, str] = {}
    for name in ("_tokenize", "bpe", "prepare_for_tokenization", "_convert_token_to_id"):
        what = f"a tokenizer in Python whose method {name} may do something else than GPT-2's"
        kinds[name] = source.defined_by(name, _AS_GPT2, what, f"load its files, or {IN_RUST}")
    source.check_off("do_lower_case")
    puts_space = bool(source.get("add_prefix_space"))
    if puts_space and kinds["prepare_for_tokenization"] not in _SPACE_BEFORE_WORD:
        what = "add_prefix_space, which puts a space before every text here, so that no ids are canonical"
        raise source.fault(what, value=True, hint=f"set it to False, or load {IN_RUST}")
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
    contents = _merging(source, tokens, _pairs(source, source.checked(ranks, dict, "bpe_ranks")))
    if len(contents.dictionary.alphabet.symbols) < len(CHARACTER_OF):
        raise source.fault("bytes without a token, which become the unknown token")
    ids = source.ids(tokens, "token")
    if len(set(ids)) < len(ids):
        raise source.fault("two tokens share an id, or have none")
    if added.keys() & set(ids):
        raise source.fault("a special token has the id of a token")
    table = resolve(f"regex=={installed('regex')}").name
    number = contents.ids
    return replace(
        contents,
        format="merges+vocab",
        ids=np.where(number >= 0, np.array(ids, dtype=np.int32)[number], np.int32(-1)),
        splitting=Splitting("tiktoken", (Split(_pattern(source)),), unicode=table),
        specials=tuple(Special(id, text) for id, text in sorted(added.items())),
        finds_specials=False,
        rewriting=Rewriting(SpaceBeforeWord()) if puts_space else None,
    )


def _pairs(source: Live, ranks: Mapping[Any, Any]) -> list[list[str]]:
    """Return the rules in order."""
    for pair, rank in ranks.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        if not is_pair or type(rank) is not int:
            what = "a rule must be a pair of tokens, with an integer"
            raise source.fault(what, FileFormatError, value=(pair, rank))
    if len(set(ranks.values())) < len(ranks):
        raise source.fault("two rules with one priority are not modelled")
    return [[*pair] for pair in sorted(ranks, key=lambda pair: ranks[pair])]


def _merging(source: Live, tokens: list[str], pairs: list[list[str]]) -> Contents:
    """Return the contents with these tokens, numbered in their order, and rules; refuse merging that rounds change."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": pairs}
    fields = json.dumps({"model": model, "pre_tokenizer": level, "decoder": level}).encode("ascii")
    contents = cast("Contents", read_as(fields, source.path, "tokenizer.json"))
    if not contents.dictionary.properness() or not agrees_with_leftmost(contents.dictionary):
        what = "rules on which merging in rounds, as this tokenizer does it, may differ from leftmost merging"
        raise source.fault(what, hint=f"load {IN_RUST}")
    return contents


def _pattern(source: Live) -> str:
    compiled = source.part("pat")
    if type(compiled.value).__module__ not in ("_regex", "regex", "regex._regex"):
        raise source.fault("a pattern that is not one of the module regex", value=compiled.value)
    flags = compiled.checked(compiled.get("flags"), int, "flags of the pattern")
    import regex

    if flags != int(regex.UNICODE | regex.VERSION0):
        raise source.fault("flags of the pattern are not modelled", value=flags)
    return compiled.of("pattern", str)
