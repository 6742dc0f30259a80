"""Byte pairs over characters (Llama-2, Yi): how their ids spell texts, and which characters have a token.

In Llama-2, "Hi €" is encoded as "▁Hi▁€"; a character without a token becomes the ids of its bytes, `<0xE2>` first. Ids
spell " Hi €"; decoding removes the first space, which the normalizer puts before every text but the empty one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.decoding import ByteFallback, DecodeReplace, StripWhole
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.normalizers.steps import Replace
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.tokenizer import Tokenizer

_SPACE = "\u2581"


class Characters(NamedTuple):
    """How the ids of a tokenizer over characters spell texts."""

    spellings: Spellings  # The bytes of ids within a text
    is_known: BoolArray  # For each code point, whether it is a symbol, so that the ids of bytes do not spell it
    usable: BoolArray  # For each id, whether some text may have it as far as its characters go
    puts_space: bool  # Whether a space is put before every text, and removed again

    def split_nfa(self) -> SplitNFA:
        """Return the automaton by which texts are one piece; characters of class 1 are symbols."""
        first, later = ((1, 1),), ((1, 0),)
        return SplitNFA(self.is_known.astype(np.uint16), ((first, first), (later, later)), (True, True))


def characters_of(tokenizer: Tokenizer) -> Characters:
    """Return how the ids of a tokenizer over characters spell texts; refuse what would do more to them."""
    normalizer, contents = tokenizer.rewriting.normalizer, tokenizer.contents
    done = None if normalizer is None else normalizer.substitution
    fallback = () if contents.fallback is None else contents.fallback.bytes or ()
    puts_space = done is not None and bool(done.prefix)
    steps = (DecodeReplace(Replace(_SPACE, " ", literal=True)), ByteFallback())
    shown = (*steps, StripWhole(" ", 1)) if puts_space else steps
    specials = tokenizer.found_specials
    reasons = {
        "texts are normalized by more than spaces": done is None
        or done.prefix not in ("", _SPACE)
        or done.becomes != {" ": _SPACE},
        "texts are decoded by more than spaces and bytes": tokenizer.rewriting.decoding != shown,
        "the pre-tokenizer splits texts over characters": tokenizer.pretokenizer is not None,
        "tokens have a prefix or a suffix": tokenizer.suffix is not None or contents.prefix is not None,
        "symbols have several characters": bool(contents.atoms),
        "some bytes have no token": None in fallback or len(fallback) != 256,
        "some tokens are given only for whole texts": len(tokenizer.whole_piece_tokens) > 0,
        "an added token has spaces, or depends on the text next to it": bool(odd_ones(specials))
        or any({" ", _SPACE} & {*special.content} or special.level for special in specials),
        "the symbol for spaces is missing": _SPACE not in contents.characters,
    }
    for why, holds in reasons.items():
        if holds:
            raise UnsupportedFeatureError(f"{why}: its streams are judged as a whole, not id by id")
    is_known = np.zeros(0x110000, dtype=np.bool_)
    is_known[[ord(character) for character in (*contents.characters, " ")]] = True
    strings = tokenizer.token_strings
    usable = np.array([" " not in string for string in strings], dtype=np.bool_)
    byte_of = {symbol: byte for byte, symbol in enumerate(fallback)}
    for id, string in enumerate(strings):
        usable[id] &= not (string in byte_of and byte_of[string] < 0x80 and is_known[byte_of[string]])
    return Characters(tokenizer.spelled.usual, is_known, usable, puts_space)
