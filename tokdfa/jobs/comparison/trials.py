"""Texts on which to try two tokenizers if no search decides, how long, and shortening one that separates them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import Literal

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import AlphabetError
from tokdfa.jobs.comparison.parts import as_text, splitting_of
from tokdfa.regex.unicode import Ranges, characters_of, difference, library_of, ranges, union
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of comparing tokenizers.

    They limit the texts that are tried. So they decide which of several separating texts is found, and how often it is
    left open whether a shorter one exists; never whether two tokenizers are equivalent.
    """

    # Up to so many bytes, 0 to 2, all texts are tried: 128 of one byte, and 18,304 more of two. Most pairs that differ
    # do so on one of them, which spares them the rest of the search.
    longest_tried: int = 2
    # Separating texts of the least length among which the least is looked for, for so many seconds at most. Without a
    # search, each kind of texts is tried for these.
    max_texts: int = 20_000
    max_seconds: float = 5.0
    # Special tokens of only one of the two that are tried next to other text.
    max_specials: int = 200


DEFAULT = Tuning()

_PARCEL = 256
"""The number of texts encoded at once."""

# Classes that patterns have, with the corresponding tables of the pre-tokenizers of tokenizers for some.
_CLASSES = {"L": "", "M": "", "N": "is_numeric", "P": "is_punctuation", "S": "", "Z": "", r"\s": "is_whitespace"}

_CONTEXTS = ("", " ", "a", "\n", "  ", "!", "1")
_BESIDE_RULES = ("", ".", "a", "e", " ", "\n", "1", "T", "\u00e9")
# Texts that splittings, normalizers and decoders treat differently.
_SYMBOLS = (
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\x1c", "\u00a0", "\u3000", "\u2581", "\x00"),
    *("'", "'s", "'S", "'ll", "\u017f", "\u2019", "!", "?!", "...", "_", "-", "<", ">", "|", "/"),
    *("a", "A", "Ab", "AB", "the", " The", "\u00e9", "e\u0301", "\u0301", "\u0130", "\u00df", "\ufb01", "\u0295"),
    *("1", "12", "1234", "\u0661", "\u00bd", "\u4e2d", "\u4e2d\u6587", "\ud55c", "\u1100\u1161", "\u094d", "\u200d"),
    *("\U0001f600", "\ufe0f", "\ufffd", "\ue000"),
)


def short_texts(longest: Literal[1, 2]) -> Iterator[str]:
    """Yield all texts of up to `longest` bytes."""
    of_one_byte = [*map(chr, range(0x80))]
    yield from of_one_byte
    if longest == 2:
        yield from map("".join, product(of_one_byte, repeat=2))
        yield from map(chr, range(0x80, 0x800))


def texts_of_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the tokens that are texts."""
    text, offsets = tokenizer.spellings
    data, bounds = text.tobytes(), offsets.tolist()
    shown = _space_of(tokenizer)
    for begin, end in pairwise(bounds):
        word = as_text(data[begin:end])
        if word:
            yield word if shown is None else word.replace(shown, " ")


def _space_of(tokenizer: Tokenizer) -> str | None:
    """Return the symbol that stands for a space in tokens; None for the space itself."""
    return None if tokenizer.why_not("bytes") is None else splitting_of(tokenizer).metaspace or SPACE


def texts_of_rules(tokenizer: Tokenizer, rules: Iterable[tuple[int, Word, Word]]) -> Iterator[str]:
    """Yield texts in which rules may merge: alone, and next to symbols that keep other rules from merging before."""
    shown = _space_of(tokenizer)
    for _, left, right in rules:
        both = as_text(left), as_text(right)
        if both[0] is not None and both[1] is not None:
            text = both[0] + both[1]
            text = text if shown is None else text.replace(shown, " ")
            for before, after in product(_BESIDE_RULES, repeat=2):
                yield before + text + after


def around(specials: Iterable[str]) -> Iterator[str]:
    """Yield special tokens with something next to them."""
    for special in specials:
        for before, behind in product(_CONTEXTS, repeat=2):
            yield before + special + behind


def texts_of_tables(table: str, other: str) -> Iterator[str]:
    """Yield short texts with the characters that two Unicode tables classify differently."""
    if table == other:
        return
    changed: Ranges = ()
    for name, own in _CLASSES.items():
        sets = {ranges(name, side) for side in (table, other)}
        sets |= {ranges(own, side) for side in (table, other) if own and library_of(side) == "tokenizers"}
        changed = union(changed, *(difference(one, two) for one in sets for two in sets))
    for character in characters_of(changed):
        yield from (before + character for before in _CONTEXTS)
        yield from (character + after for after in ("a", "!", "1"))


def random_texts(words: Sequence[str], specials: Sequence[str], *, longest: int = 6) -> Iterator[str]:
    """Yield texts of symbols that tokenizers differ on, of some words and special tokens, without an end."""
    source = random.Random(0)
    while True:
        pool = [*_SYMBOLS, *source.sample(specials, min(len(specials), 5)), *source.sample(words, min(len(words), 20))]
        for _ in range(100):
            yield "".join(source.choices(pool, k=source.randint(1, longest)))


def unlike(a: Tokenizer, b: Tokenizer, texts: Iterable[str], *, ignore_ids: bool) -> Iterator[str]:
    """Leave out texts that two tokenizers encode alike, as far as encoding many texts at once shows it."""
    if not (_takes_texts_as_pieces(a) and _takes_texts_as_pieces(b)):
        yield from texts
        return
    names_a, names_b = np.arange(a.n_ids), np.arange(b.n_ids)
    if ignore_ids:
        numbers: dict[bytes, int] = {}
        names_a, names_b = _numbered(a, numbers), _numbered(b, numbers)
    remaining = iter(texts)
    while parcel := [*islice(remaining, _PARCEL)]:
        try:
            of_a, of_b = a.encode_pieces(parcel), b.encode_pieces(parcel)
        except AlphabetError:
            yield from parcel
            continue
        are_same = np.array_equal(names_a[of_a.ids], names_b[of_b.ids])
        if not (are_same and np.array_equal(of_a.offsets, of_b.offsets)):
            yield from parcel


def _takes_texts_as_pieces(tokenizer: Tokenizer) -> bool:
    """Return whether every text is one piece, in which no special token is looked for."""
    return tokenizer.pretokenizer is None and tokenizer.why_not("spelling") is None and not tokenizer.added_tokens


def _numbered(tokenizer: Tokenizer, numbers: dict[bytes, int]) -> Int64Array:
    """Return for each id the number of its spelling, as known or the next one."""
    text, offsets = tokenizer.id_spellings
    data = text.tobytes()
    return np.array([numbers.setdefault(data[low:high], len(numbers)) for low, high in pairwise(offsets.tolist())])


def within(seconds: float, texts: Iterable[str]) -> Iterator[str]:
    """Yield texts while there is time."""
    deadline = time.monotonic() + seconds
    for text in texts:
        if time.monotonic() > deadline:
            return
        yield text


def shrunk(text: str, separates: Callable[[str], bool]) -> str:
    """Return a part of a separating text, shortened as far as leaving parts out allows."""
    size = max(len(text) // 2, 1)
    while size:
        cuts = (text[:at] + text[at + size :] for at in range(len(text) - size + 1))
        shorter = next(filter(separates, cuts), None)
        if shorter is None:
            size //= 2
        else:
            text = shorter
            size = min(size, max(len(text) // 2, 1))
    return text
