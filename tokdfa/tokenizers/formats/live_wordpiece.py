"""Tokenizers of transformers that take the longest entries of words in Python, as BERT's does.

They cut special tokens out of the text, clean it, and cut it into words, by the Unicode tables of this Python. The
longest entries of each word follow.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from tokdfa.base.errors import AlphabetError, FileFormatError, LimitExceededError
from tokdfa.regex.unicode.normalization import Normalizer
from tokdfa.tokenizers.decoding import DecodeStep
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.by_piece import ByPieceContents
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Rewriting
from tokdfa.tokenizers.formats.live_merging import check_no_format
from tokdfa.tokenizers.formats.live_object import IN_RUST, NOT_SPECIAL, Live
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.python import BasicText, SplitText
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.word_decoding import DecodeWordPiece, DecodeWordPieceApart

# Classes with BERT's code, and the class of all tokenizers in Python of transformers 4 and 5.
_AS_BERT = {
    *("BertTokenizer", "BertTokenizerLegacy", "ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"),
    *("FunnelTokenizer", "LayoutLMTokenizer", "LxmertTokenizer", "MPNetTokenizer", "MobileBertTokenizer"),
    "SqueezeBertTokenizer",
}
_OF_BERT = ("_tokenize", "_convert_token_to_id", "convert_tokens_to_string")
_OF_4, _OF_5 = "PreTrainedTokenizer", "PythonBackend"
GENERAL = {_OF_4, _OF_5}
"""The classes of transformers 4 and 5 that have the code of all tokenizers in Python."""

_HINT = f"load its vocab.txt, or {IN_RUST}"
_PREFIX = "##"
# White space, nothing, or half of a surrogate pair.
_BLANK = re.compile(r"\s|^$|[\ud800-\udfff]")
# Every option of the normalizer changes it.
_PROBE = "\u0130ΑΣ \u212bE\u0301x\x00\u200by don't 中\u9fff\u2b820é\u2028z\u3000[A]! \u0344\u0378a"


def read_longest(source: Live, entries: Any, format: str | None) -> ByPieceContents:
    """Read such a tokenizer: its vocabulary (`entries`), options and special tokens."""
    check_no_format(source, format)
    general = ""
    for name in (*_OF_BERT, "prepare_for_tokenization", "tokenize"):
        what = f"a tokenizer in Python whose method {name} may do something else than BERT's"
        kinds = _AS_BERT if name in _OF_BERT else GENERAL
        general = source.defined_by(name, kinds, what, _HINT)
    source.check_off("split_special_tokens")
    vocabulary = _vocabulary(source, source.checked(entries, dict, "vocab"))
    specials = read_specials(source)
    for special in specials:
        own, other = vocabulary.id(special.content), vocabulary.entry(special.id)
        if own not in (None, special.id) or other not in (None, special.content):
            what = "a special token with the id of another entry"
            raise source.fault(what, FileFormatError, value=special.content)
    return ByPieceContents(
        format="vocab.txt",
        algorithm="WordPiece by piece",
        vocabulary=vocabulary,
        is_found=np.ones(vocabulary.n_ids, dtype=np.bool_),
        splitting=Splitting("tokenizers", (Split(" ", "removed", literal=True),)),
        specials=specials,
        finds_specials=True,
        rewriting=Rewriting(
            _normalizer(source, vocabulary, specials, general), (_decoding(source, specials, general),)
        ),
    )


def _decoding(source: Live, specials: tuple[Special, ...], general: str) -> DecodeStep:
    """Return how ids become a text. Transformers 4 spells the text between some of the special tokens by itself."""
    if general != _OF_4:
        return DecodeWordPiece(_PREFIX, ())
    named, n_entries = source.of("all_special_tokens", list), source.of("vocab_size", int)
    more = source.of("additional_special_tokens", list)
    apart = (
        special.content
        for special in specials
        if special.content not in named or (special.content in more and special.id >= n_entries)
    )
    return DecodeWordPieceApart(_PREFIX, tuple(apart))


def _vocabulary(source: Live, entries: dict[Any, Any]) -> WordPieceVocabulary:
    longest = source.part("wordpiece_tokenizer")
    what = "a wordpiece_tokenizer that is not transformers' own"
    longest.defined_by("tokenize", {"WordpieceTokenizer"}, what, _HINT)
    unknown = longest.of("unk_token", str)
    if longest.get("vocab") is not entries or source.get("unk_token") != unknown or unknown not in entries:
        raise source.fault("unknown words do not get the id of an entry", value=unknown)
    try:
        vocabulary = WordPieceVocabulary(
            entries, prefix=_PREFIX, unknown=unknown, longest_word=longest.of("max_input_chars_per_word", int)
        )
    except (AlphabetError, LimitExceededError) as error:
        raise source.fault(error.what, FileFormatError, value=error.value) from None
    for entry, id in vocabulary.items():
        if id > LARGEST_ID:
            raise source.fault(f"an id must be from 0 to {LARGEST_ID}", FileFormatError, value=id)
        if _BLANK.search(entry):
            # It is in no word, and decoding removes it at the ends of a text.
            raise source.fault("an entry with white space, or without text, is not modelled", value=entry, hint=_HINT)
    return vocabulary


def read_specials(source: Live) -> tuple[Special, ...]:
    """Return the special tokens that are found in texts, no two of which overlap there.

    White space next to them, which some of them strip, is not in words anyway.
    """
    found = []
    decoder = source.of("added_tokens_decoder", dict)
    for id, text, is_special in source.added_tokens():
        if not is_special:
            raise source.fault(NOT_SPECIAL, value=text)
        if not 0 <= id <= LARGEST_ID:
            raise source.fault(f"an id must be from 0 to {LARGEST_ID}", FileFormatError, value=id)
        if Live(decoder[id], source.path).get("single_word") or _BLANK.search(text):
            what = "a special token that is a single word, has white space, or has no text is not modelled"
            raise source.fault(what, value=text)
        found.append(Special(id, text))
    for one, other in product(found, repeat=2):
        a, b = one.content, other.content
        if (one is not other and a in b) or any(a.endswith(b[:n]) for n in range(1, min(len(a), len(b)))):
            raise source.fault("special tokens that may overlap in a text are not modelled", value=[a, b])
    named = source.of("all_special_tokens", list)
    if missing := {*named}.difference(special.content for special in found):
        raise source.fault("a special token that is not an added token is not modelled", value=min(missing))
    return tuple(found)


def _normalizer(
    source: Live, vocabulary: WordPieceVocabulary, specials: tuple[Special, ...], general: str
) -> Normalizer:
    """Return what is done to the text between special tokens; `general` is the class that splits the text at them."""
    if not source.of("do_basic_tokenize", bool):
        return SplitText()
    basic, named = source.part("basic_tokenizer"), source.of("all_special_tokens", list)
    normalizer = read_basic(basic, named)
    for word in basic.of("never_split", set):
        # It is looked up as a whole, and so is the longest entry of it.
        if vocabulary.id(word) is None or len(word) > (vocabulary.longest_word or 0):
            raise source.fault("a word in never_split that is not an entry is not modelled", value=word)
    if not normalizer.lowers or general != _OF_4:
        return normalizer
    for special in specials:
        if special.content == special.content.lower() or special.content not in named:
            what = "a special token that is also found in other case is not modelled where texts become lower case"
            raise source.fault(what, value=special.content)
    return replace(normalizer, lowers_first=True)


def read_basic(basic: Live, named: Sequence[str]) -> BasicText:
    """Return what a BasicTokenizer does to a text; `named` are the special tokens that it leaves alone."""
    what = "a basic tokenizer that is not transformers' own"
    basic.defined_by("tokenize", {"BasicTokenizer"}, what, _HINT)
    lowers, strips = basic.of("do_lower_case", bool), basic.get("strip_accents")
    kept = {basic.checked(word, str, "word that is never split") for word in (*named, *basic.of("never_split", set))}
    normalizer = BasicText(
        lowers_first=False,
        lowers=lowers,
        strips_accents=bool(strips) or (lowers and strips is None),
        spaces_ideographs=basic.of("tokenize_chinese_chars", bool),
        splits_punctuation=basic.of("do_split_on_punc", bool),
        kept=tuple(sorted(kept)),
    )
    words = basic.ask(lambda: basic.value.tokenize(_PROBE, never_split=[*named]), "words")
    if " ".join(words) != normalizer(_PROBE):
        raise basic.fault("this version of transformers is not modelled", value=words, hint=_HINT)
    return normalizer
