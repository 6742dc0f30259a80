"""Byte pairs over characters (Llama-2, Yi): how their ids spell texts, and which characters have a token.

In Llama-2, "Hi €" is encoded as "▁Hi▁€"; a character without a token becomes the ids of its bytes, `<0xE2>` first. Ids
spell " Hi €"; decoding removes the first space, which the normalizer puts before every text but the empty one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.openings import AfterSpecial, Beginnings
from tokdfa.regex.unicode.normalization import Substitution
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.decoding import (
    ByteFallback,
    DecodeReplace,
    DecodeSentencePiece,
    StripWhole,
    loose_byte_of,
)
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.normalizers.steps import Replace
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.word_decoding import DecodeMetaspace


class Characters(NamedTuple):
    """How the ids of a tokenizer over characters spell texts."""

    spellings: Spellings  # The bytes of ids within a text
    is_known: BoolArray  # For each code point, whether it is a symbol, so that the ids of bytes do not spell it
    usable: BoolArray  # For each id, whether some text may have it as far as its characters go
    beginnings: Beginnings
    splits_at_spaces: bool  # Whether a piece begins at each space
    # The ids of the added tokens that are found in texts, and of symbols of several characters; their bytes
    found: dict[int, bytes]
    shows_spaces: bool  # Whether late added tokens are found in texts with U+2581 for spaces

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


SINGLE_WORD = "an added token is only found if no word is next to it"
"""Why tokenizers with special tokens that are single words are refused."""

JOINED = "the normalizer may join an added token with the text next to it"
"""Why tokenizers are refused that look for "<a>" in text in NFC: U+0338 after it changes its last character."""

CHANGED = "the normalizer changes an added token"
"""Why tokenizers are refused that look for special tokens in another form than the file has them."""

_NOT_NORMALIZED = 'in the file, set its "normalized" to false'
_REMEDIES = {
    SINGLE_WORD: 'in the file, set its "single_word" to false',
    JOINED: _NOT_NORMALIZED,
    CHANGED: _NOT_NORMALIZED,
    "the normalizer puts a space before the content of an added token": _NOT_NORMALIZED,
    "an added token begins with a space, where one is put before texts or removed": "in the file, leave out its space",
    "the pre-tokenizer inserts spaces": "in the file, set add_prefix_space to false",
}


def first_of(specials: Iterable[Special]) -> str | None:
    """Return the content of the first special token; None without one."""
    return next((special.content for special in specials), None)


def single_words(specials: Iterable[Special]) -> Iterator[Special]:
    """Yield the special tokens that are only found if no word is next to them."""
    return (special for special in specials if special.single_word)


def refuse_if(reasons: Mapping[str, bool | str | None]) -> None:
    """Refuse a tokenizer for the first reason that holds; the content of the added token at fault is shown."""
    for why, holds in reasons.items():
        if holds:
            what = f"{why}, so streams are judged as a whole, not id by id"
            value = {"value": holds} if isinstance(holds, str) else {}
            raise UnsupportedFeatureError(what, **value, hint=_REMEDIES.get(why, "validate judges a finished stream"))


def characters_of(tokenizer: Tokenizer) -> Characters:
    """Return how the ids of a tokenizer over characters spell texts; refuse what would do more to them."""
    contents, splitting = tokenizer.contents, tokenizer.splitting
    fallback = () if contents.fallback is None else contents.fallback.bytes or ()
    beginnings = _beginnings(tokenizer)
    becomes, done = _replaced(tokenizer), _substitution(tokenizer)
    shows_spaces = done is not None and " " in done.becomes
    found = _found(tokenizer, shows_spaces)
    splits_at_spaces = _splits_at_spaces(splitting)
    others = replace(splitting, prefix_space=None, prefix_once=False, metaspace=None)
    others = replace(others, steps=()) if splits_at_spaces else others.without({" "})
    reasons: dict[str, bool | str | None] = {
        "tokens have a prefix or a suffix": tokenizer.suffix is not None or contents.prefix is not None,
        "texts are normalized by more than spaces": becomes is None or not {*becomes} <= {" "},
        "spaces are not written as U+2581": becomes != {" ": SPACE},
        "texts are decoded by more than spaces and bytes": beginnings is None,
        "the pre-tokenizer splits texts over characters": not others.is_nothing,
        "symbols of several characters have spaces": any({" ", SPACE} & {*atom} for atom in contents.atoms),
        "the decoder does not read the tokens of bytes": bool(fallback) and not _reads_bytes(tokenizer),
        "some tokens are given only for whole texts": len(tokenizer.whole_piece_tokens) > 0,
        SINGLE_WORD: first_of(single_words(tokenizer.found_specials)),
        "the normalizer puts a space before the content of an added token": first_of(
            special
            for special in tokenizer.found_specials
            if special.text.replace(SPACE, " ") != special.content.replace(SPACE, " ")
        ),
        "an added token begins with a space, where one is put before texts or removed": beginnings is not None
        and not beginnings.are_plain
        and next((content.decode() for content in found.values() if content.startswith(b" ")), None),
        "the symbol for spaces is missing": SPACE not in contents.characters,
    }
    refuse_if(reasons)
    assert beginnings is not None
    is_known = np.zeros(0x110000, dtype=np.bool_)
    is_known[[ord(character) for character in (*contents.characters, " ")]] = True
    strings = tokenizer.token_strings
    # No text needs the token for unknown symbols.
    gone = {step.unknown for step in tokenizer.rewriting.decoding or () if isinstance(step, DecodeSentencePiece)}
    usable = np.array([" " not in string and string not in gone for string in strings], dtype=np.bool_)
    byte_of = {symbol: byte for byte, symbol in enumerate(fallback)}
    reads_bytes = _reads_bytes(tokenizer)
    for id, string in enumerate(strings):
        if string in byte_of:
            usable[id] &= not (byte_of[string] < 0x80 and is_known[byte_of[string]])
        elif reads_bytes and loose_byte_of(string) is not None:
            # Decoding reads a byte that encoding never writes.
            usable[id] = False
    return Characters(tokenizer.spelled.usual, is_known, usable, beginnings, splits_at_spaces, found, shows_spaces)


def _reads_bytes(tokenizer: Tokenizer) -> bool:
    """Return whether decoding reads the tokens of bytes."""
    return any(isinstance(step, (ByteFallback, DecodeSentencePiece)) for step in tokenizer.rewriting.decoding or ())


def _found(tokenizer: Tokenizer, shows_spaces: bool) -> dict[int, bytes]:
    """Return the ids that are found in texts before anything is merged, and their bytes.

    An added token with a visible space is only found if texts have visible spaces by then, after the normalizer.
    """
    found = {}
    for special in tokenizer.found_specials:
        content = special.content.replace(SPACE, " ") if special.level and shows_spaces else special.content
        if SPACE not in content:
            found[special.id] = content.encode()
    strings = tokenizer.token_strings
    atoms = tokenizer.contents.atoms
    return found | {id: string.encode() for id, string in enumerate(strings) if atoms and string in atoms}


def _splits_at_spaces(splitting: Splitting) -> bool:
    """Return whether a piece begins at each visible space."""
    return splitting.steps == (replace(_BEFORE_SPACES, pattern=SPACE),)


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
    shown = DecodeReplace(Replace(SPACE, " ", literal=True))
    steps = decoding[:1] + decoding[2:] if decoding[1:2] == (ByteFallback(),) else decoding
    if steps in ((shown,), (DecodeMetaspace(SPACE, drops_first=False),)) and not normalizes and not splits:
        return Beginnings()
    # This decoder removes all spaces of the first id: it must have no other than one at its beginning.
    removes_one = _splits_at_spaces(splitting) or not any(SPACE in string[1:] for string in tokenizer.token_strings)
    removing = (DecodeMetaspace(SPACE, drops_first=True),)
    if steps != (shown, StripWhole(" ", 1)) and not (steps == removing and removes_one):
        return None
    if normalizes:
        # A pre-tokenizer puts a space only where none is.
        return Beginnings(puts_space=True, after_special="none")
    after: AfterSpecial = "with space" if splits and not splitting.prefix_once else "all"
    return Beginnings(puts_space=splits, keeps_space=False, after_special=after)
