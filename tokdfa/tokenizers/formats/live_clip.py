"""CLIP's tokenizer of transformers 4 in Python: byte pairs of cleaned words, the last symbol of each with ``</w>``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tokdfa.tokenizers.decoding import DecodeByteLevel, ReplaceWhole
from tokdfa.tokenizers.formats.contents import Contents, Rewriting
from tokdfa.tokenizers.formats.live_merging import check_no_format, merging, read_rules, splitting_of
from tokdfa.tokenizers.formats.live_object import IN_RUST, Live
from tokdfa.tokenizers.formats.live_wordpiece import GENERAL, read_basic, read_specials
from tokdfa.tokenizers.formats.merges import END_OF_WORD
from tokdfa.tokenizers.normalizers.steps import Replace
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.word_decoding import StripText

_SPECIALS = ("<|startoftext|>", "<|endoftext|>")
_TEXTS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d"
_CLASSES = r"[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
# A mark with a letter for a capital: the only character that is in no class if case is ignored.
_NEITHER = "\u0345"
_OWN = ("_tokenize", "bpe", "_convert_token_to_id", "convert_tokens_to_string")
_HINT = f"load {IN_RUST}"


def read_clip(source: Live, _: Any, format: str | None) -> Contents:
    """Read such a tokenizer: its rules, the ids that it has for tokens, and special tokens.

    Its two special tokens are found in texts, and are also the only pieces with a letter after a bar. So rules at the
    end of the list can make them.
    """
    check_no_format(source, format)
    _check(source)
    normalizer, splitting = read_basic(source.part("nlp"), ()), _splitting(source)
    encoder, cache = source.of("encoder", dict), source.of("cache", dict)
    specials = read_specials(source)
    for special in specials:
        if encoder.get(special.content) != special.id:
            raise source.fault("a special token that is not in the vocabulary", value=special.content, hint=_HINT)
    rules = read_rules(source)
    for text in _SPECIALS:
        if text not in encoder or cache.get(text) != text:
            raise source.fault("a special token that its pattern finds is missing", value=text)
        rules += _rules_for(text, {pair: rank for rank, pair in enumerate(map(tuple, rules))})
    contents = merging(source, rules, {text + END_OF_WORD: encoder[text] for text in _SPECIALS}, suffix=END_OF_WORD)
    steps = (DecodeByteLevel(), ReplaceWhole(Replace(END_OF_WORD, " ", literal=True)), StripText())
    return replace(
        contents,
        splitting=splitting,
        specials=specials,
        finds_specials=True,
        drops_unknown=False,
        rewriting=Rewriting(normalizer, steps),
    )


def _check(source: Live) -> None:
    """Refuse what is not transformers' own code, and options that are not modelled."""
    for name in (*_OWN, "prepare_for_tokenization", "tokenize"):
        what = f"a tokenizer in Python whose method {name} may do something else than CLIP's"
        source.defined_by(name, {"CLIPTokenizer"} if name in _OWN else GENERAL, what, _HINT)
    source.check_off("do_lower_case", "split_special_tokens")
    if source.get("fix_text") is not None:
        what = "a tokenizer that repairs texts with ftfy is not modelled"
        raise source.fault(what, hint="load CLIPTokenizerFast, or make it where ftfy is not installed")
    if (errors := source.get("errors")) != "replace":
        raise source.fault("bytes that are not UTF-8 are modelled only as replaced", value=errors)


def _splitting(source: Live) -> Splitting:
    """Return the splitting by CLIP's pattern, with the classes written as they are where case matters."""
    splitting = splitting_of(source, "(?i)")
    if (found := splitting.steps[0].pattern) != f"(?i){_TEXTS}|{_CLASSES}":
        raise source.fault("a pattern that is not CLIP's", value=found)
    find = source.part("pat").get("findall")
    is_dropped = source.ask(lambda: not find(_NEITHER), "pieces")
    classes = _CLASSES.replace("[^", f"[^{_NEITHER}") if is_dropped else _CLASSES
    return replace(splitting, steps=(Split(f"(?i:{_TEXTS})|{classes}"),))


def _rules_for(text: str, ranks: Mapping[tuple[str, ...], int]) -> list[list[str]]:
    """Return rules that merge a special token and apply to no other piece, for the end of the list."""
    word = [*text[:-1], text[-1] + END_OF_WORD]
    while pairs := [pair for pair in pairwise(word) if pair in ranks]:
        best, merged = min(pairs, key=ranks.__getitem__), []
        while word:
            size = 2 if tuple(word[:2]) == best else 1
            merged.append("".join(word[:size]))
            word = word[size:]
        word = merged
    # The first pair has a bar and a letter, which no other piece has side by side.
    at = next(n for n, symbol in enumerate(word) if symbol[0].isalpha()) - 1
    rules, whole = [], word[at]
    for symbol in word[at + 1 :]:
        rules.append([whole, symbol])
        whole += symbol
    for symbol in reversed(word[:at]):
        rules.append([symbol, whole])
        whole = symbol + whole
    return rules
