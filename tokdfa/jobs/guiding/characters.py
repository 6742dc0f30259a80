"""Byte pairs over characters (Llama-2, Yi): how their ids spell texts, and which characters have a token.

In Llama-2, "Hi €" is encoded as "▁Hi▁€"; a character without a token becomes the ids of its bytes, `<0xE2>` first. Ids
spell " Hi €"; decoding removes the first space, which the normalizer puts before every text but the empty one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.openings import AfterSpecial, Beginnings
from tokdfa.regex.unicode.normalization import Substitution
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.decoding import ByteFallback, DecodeReplace, DecodeSentencePiece, StripWhole
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.normalizers.steps import Replace
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer


class Characters(NamedTuple):
    """How the ids of a tokenizer over characters spell texts."""

    spellings: Spellings  # The bytes of ids within a text
    is_known: BoolArray  # For each code point, whether it is a symbol, so that the ids of bytes do not spell it
    usable: BoolArray  # For each id, whether some text may have it as far as its characters go
    beginnings: Beginnings
    splits_at_spaces: bool  # Whether a piece begins at each space
    atoms: dict[int, bytes]  # The ids and contents of symbols of several characters, which are found first

    def split_nfa(self) -> tuple[SplitNFA, set[int]]:
        """Return the automaton of the pieces of texts, and its classes of symbols."""
        splitting = Splitting("tokenizers", (_BEFORE_SPACES,) if self.splits_at_spaces else ())
        found = find_split_nfa(splitting)
        both = 2 * found.class_of_code_point + self.is_known
        distinct, classes = np.unique(both, return_inverse=True)
        moves = tuple(tuple(row[number // 2] for number in distinct.tolist()) for row in found.moves)
        symbols = set(np.flatnonzero(distinct % 2).tolist())
        return SplitNFA(classes.reshape(-1).astype(np.uint16), moves, found.ends), symbols


_BEFORE_SPACES = Split(" ", "merged_with_next", literal=True)


def characters_of(tokenizer: Tokenizer) -> Characters:
    """Return how the ids of a tokenizer over characters spell texts; refuse what would do more to them."""
    contents, splitting = tokenizer.contents, tokenizer.splitting
    fallback = () if contents.fallback is None else contents.fallback.bytes or ()
    beginnings = _beginnings(tokenizer)
    specials = tokenizer.found_specials
    becomes = _replaced(tokenizer)
    splits_at_spaces = splitting.steps == (replace(_BEFORE_SPACES, pattern=SPACE),)
    others = replace(splitting, prefix_space=None, prefix_once=False, metaspace=None)
    others = replace(others, steps=()) if splits_at_spaces else others.without({" "})
    reasons = {
        "texts are normalized by more than spaces": becomes != {" ": SPACE},
        "texts are decoded by more than spaces and bytes": beginnings is None,
        "the pre-tokenizer splits texts over characters": not others.is_nothing,
        "tokens have a prefix or a suffix": tokenizer.suffix is not None or contents.prefix is not None,
        "symbols of several characters have spaces": any({" ", SPACE} & {*atom} for atom in contents.atoms),
        "some bytes have no token": None in fallback or len(fallback) != 256,
        "some tokens are given only for whole texts": len(tokenizer.whole_piece_tokens) > 0,
        "an added token is found in normalized texts, or depends on the text next to it": bool(odd_ones(specials))
        or any(special.level for special in specials),
        "the symbol for spaces is missing": SPACE not in contents.characters,
    }
    for why, holds in reasons.items():
        if holds:
            raise UnsupportedFeatureError(f"{why}: its streams are judged as a whole, not id by id")
    assert beginnings is not None
    is_known = np.zeros(0x110000, dtype=np.bool_)
    is_known[[ord(character) for character in (*contents.characters, " ")]] = True
    strings = tokenizer.token_strings
    id_of = {string: id for id, string in enumerate(strings)}
    atoms = {id_of[atom]: atom.encode() for atom in contents.atoms}
    # No text needs the token for unknown symbols.
    gone = {step.unknown for step in tokenizer.rewriting.decoding or () if isinstance(step, DecodeSentencePiece)}
    usable = np.array([" " not in string and string not in gone for string in strings], dtype=np.bool_)
    byte_of = {symbol: byte for byte, symbol in enumerate(fallback)}
    for id, string in enumerate(strings):
        usable[id] &= not (string in byte_of and byte_of[string] < 0x80 and is_known[byte_of[string]])
    return Characters(tokenizer.spelled.usual, is_known, usable, beginnings, splits_at_spaces, atoms)


def _substitution(tokenizer: Tokenizer) -> Substitution | None:
    """Return the treatment of texts by the normalizer; None if it does more."""
    normalizer = tokenizer.rewriting.normalizer
    return Substitution("", {}) if normalizer is None else normalizer.substitution


def _replaced(tokenizer: Tokenizer) -> dict[str, str] | None:
    """Return the characters that the normalizer and the pre-tokenizer replace; None if they do more."""
    done, metaspace = _substitution(tokenizer), tokenizer.splitting.metaspace
    if done is None or done.prefix not in ("", SPACE):
        return None
    return done.then(Substitution("", {" ": metaspace})).becomes if metaspace else done.becomes


def _beginnings(tokenizer: Tokenizer) -> Beginnings | None:
    """Return how a tokenizer treats the beginnings of texts; None if it decodes more than spaces and bytes."""
    done, splitting, decoding = _substitution(tokenizer), tokenizer.splitting, tokenizer.rewriting.decoding or ()
    normalizes, splits = done is not None and bool(done.prefix), splitting.prefix_space is not None
    if len(decoding) == 1 and isinstance(decoding[0], DecodeSentencePiece):
        known = decoding[0].drops_first == normalizes and not decoding[0].drops_all and not decoding[0].kept
        if not known or splits or tokenizer.found_specials:
            return None
        # Control tokens are not in texts: one ends before them, and another begins after them.
        return Beginnings(puts_space=True, after_special="anew") if normalizes else Beginnings()
    steps = (DecodeReplace(Replace(SPACE, " ", literal=True)), ByteFallback())
    if decoding == steps and not normalizes and not splits:
        return Beginnings()
    if decoding != (*steps, StripWhole(" ", 1)):
        return None
    if normalizes:
        # A pre-tokenizer puts a space only where none is.
        return Beginnings(puts_space=True, after_special="none")
    after: AfterSpecial = "with space" if splits and not splitting.prefix_once else "all"
    return Beginnings(puts_space=splits, keeps_space=False, after_special=after)
