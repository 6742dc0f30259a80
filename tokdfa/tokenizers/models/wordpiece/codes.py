"""Normalization, splitting and symbol numbers of every code point, compiled into one table."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint16Array, Uint32Array
from tokdfa.kernels.wordpiece.end_to_end import (
    ALONE,
    BLOCK_BITS,
    CONTINUES,
    KIND_BITS,
    REORDER,
    SEQUENCE,
    SKIP,
    SPACE,
    SYMBOL,
)
from tokdfa.regex.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, syllables, tables
from tokdfa.regex.unicode.ranges import LAST
from tokdfa.regex.unicode.utf8 import code_points
from tokdfa.tokenizers.models.wordpiece.normalizer import WordNormalizer
from tokdfa.tokenizers.models.wordpiece.words import Words

ASCII = 128
"""Smaller code points are symbols with their own numbers, in a trie or not."""


class CodeTable(NamedTuple):
    """The meaning of each code point to the end-to-end tokenizer, in a two-stage table.

    The code of c is ``blocks[pages[c >> 8] * 256 + c % 256]``: a kind, a flag and a payload, as
    `tokdfa.kernels.wordpiece.end_to_end` describes them. `pool` has the codes of the sequences, each after its length.
    `marks` has the code points with a combining mark that stays in their normal form, and all other marks, ascending.
    The decomposition of mark i is ``mark_parts[mark_pointer[i]:mark_pointer[i + 1]]``, each part as combining class and
    symbol number; the number is -1 if the part is removed.
    """

    pages: Uint16Array
    blocks: Uint32Array
    pool: Uint32Array
    marks: Int32Array
    mark_pointer: Int32Array
    mark_parts: Int32Array

    @classmethod
    def of(cls, normalizer: WordNormalizer, points: Int32Array, alone: Words, other: int) -> CodeTable:
        """Compile `normalizer`.

        `points` are the code points beyond ASCII that are symbols of the trie, ascending; their numbers come after
        ASCII. `alone` are the words of one character, and `other` the id of such words that are not entries.
        """
        forms = _forms(normalizer)
        words = np.full(LAST + 1, _code(ALONE, other + 1), np.uint32)
        words[alone.codes] = (alone.ids.astype(np.uint32) + 1) << KIND_BITS | ALONE
        # The code of each code point in a normalized text, and of its normal form.
        items = np.full(LAST + 1, _code(SYMBOL, ASCII + len(points)), np.uint32)
        symbols = np.append(np.arange(ASCII, dtype=np.int32), points)
        items[symbols] = np.arange(len(symbols), dtype=np.uint32) << KIND_BITS | SYMBOL
        items[forms.punctuation] = words[forms.punctuation]
        items[forms.spaces] = _code(SPACE, 0)
        codes = items.copy()
        for first, last in normalizer.ideographs:
            codes[first : last + 1] = words[first : last + 1]
        codes[forms.odd] = forms.odd_codes
        codes[forms.changed] = items[forms.changed_to]
        codes[forms.parted] = words[forms.parted_to]
        codes[forms.several] = forms.several_codes
        for first, last in normalizer.removed:
            codes[first : last + 1] = _code(SKIP, 0) | CONTINUES
        pool = items[forms.pool]
        pool[forms.pool_lengths] = forms.pool[forms.pool_lengths]
        parts = forms.mark_parts.copy()
        # -1 stays.
        stays = parts[:, 1] >= 0
        parts[stays, 1] = items[parts[stays, 1]] >> KIND_BITS
        return cls(*_in_pages(codes), pool, forms.marks, forms.mark_pointer, parts.ravel())


@cache
def is_kept(normalizer: WordNormalizer) -> BoolArray:
    """Return for each code point whether it is kept unchanged, inside a word."""
    forms = _forms(normalizer)
    kept = np.ones(LAST + 1, dtype=np.bool_)
    for first, last in normalizer.ideographs:
        kept[first : last + 1] = False
    kept[np.concatenate((forms.odd, forms.changed, forms.parted, forms.several))] = False
    # A mark that stays may be moved, but is not changed.
    kept[np.append(forms.changed[forms.changed == forms.changed_to], forms.moved)] = True
    kept[np.append(forms.punctuation, forms.spaces)] = False
    for first, last in normalizer.removed:
        kept[first : last + 1] = False
    kept.flags.writeable = False
    return kept


class _Forms(NamedTuple):
    """The effects of a normalizer on code points, for any vocabulary; arrays of code points unless stated otherwise."""

    # As the normalizer has them.
    spaces: Int32Array
    punctuation: Int32Array
    # Those that are removed or put in order, with their codes; of these, those that are put in order and not changed.
    odd: Int32Array
    odd_codes: Uint32Array
    moved: Int32Array
    # Those that become one code point, or stay; and those that become one with spaces around it.
    changed: Int32Array
    changed_to: Int32Array
    parted: Int32Array
    parted_to: Int32Array
    # Those that become several, with their codes. The pool has the number of code points, and these; the last array has
    # where these numbers are.
    several: Int32Array
    several_codes: Uint32Array
    pool: Int32Array
    pool_lengths: Int64Array
    # As in `CodeTable`, but with code points for symbol numbers.
    marks: Int32Array
    mark_pointer: Int32Array
    mark_parts: Int32Array


@cache
def _forms(normalizer: WordNormalizer) -> _Forms:
    data = tables()
    spaces, punctuation = normalizer.spaces, normalizer.punctuation
    odd: dict[str, int] = {}
    moved: list[str] = []
    changed: dict[str, str] = {}
    parted: dict[str, str] = {}
    several: dict[str, str] = {}
    combining, decompositions = data.combining, data.decompositions
    surviving = combining.keys() - data.mark
    for character, text in normalizer.effects.items():
        flags = 0
        if normalizer.reorders:
            parts = decompositions.get(character, character)
            if parts[0] in combining:
                flags = CONTINUES
            if not surviving.isdisjoint(parts):
                odd[character] = _code(REORDER, 0) | flags
                if text == character:
                    moved.append(character)
                continue
        if not text:
            odd[character] = _code(SKIP, 0) | flags
        elif len(text) == 1:
            changed[character] = text
        elif len(text) == 3 and text[0] == text[2] == " " and text[1] not in spaces:
            parted[character] = text[1]
        else:
            # No character makes more symbols than it has bytes, which bounds the number of tokens. Only its last symbol
            # may end a word.
            assert len(text) <= len(character.encode("utf-8"))
            assert punctuation.isdisjoint(text[:-1])
            assert spaces.isdisjoint(text[:-1])
            several[character] = text
    lengths = np.fromiter(map(len, several.values()), np.int64, len(several))
    pool, starts = _pool(code_points("".join(several.values())), lengths)
    sources = code_points("".join(several))
    if normalizer.reorders:
        syllables, offsets = _syllables()
        sources = np.append(sources, np.arange(HANGUL_FIRST, HANGUL_LAST + 1, dtype=np.int32))
        starts = np.append(starts, offsets + len(pool))
        pool = np.append(pool, syllables)
    marks, mark_pointer, mark_parts = _marks(normalizer, surviving) if normalizer.reorders else _NO_MARKS
    return _Forms(
        spaces=code_points("".join(sorted(spaces))),
        punctuation=code_points("".join(sorted(punctuation))),
        odd=code_points("".join(odd)),
        odd_codes=np.fromiter(odd.values(), np.uint32, len(odd)),
        moved=code_points("".join(moved)),
        changed=code_points("".join(changed)),
        changed_to=code_points("".join(changed.values())),
        parted=code_points("".join(parted)),
        parted_to=code_points("".join(parted.values())),
        several=sources,
        several_codes=(starts << KIND_BITS | SEQUENCE).astype(np.uint32),
        pool=pool,
        pool_lengths=starts,
        marks=marks,
        mark_pointer=mark_pointer,
        mark_parts=mark_parts,
    )


_NO_MARKS = (np.empty(0, np.int32), np.zeros(1, np.int32), np.empty((0, 2), np.int32))


def _marks(normalizer: WordNormalizer, surviving: set[str]) -> tuple[Int32Array, Int32Array, Int32Array]:
    data = tables()
    assert not surviving & (normalizer.spaces | normalizer.punctuation)
    lower = data.lowercase if normalizer.lowercase else {}
    pointer, rows = [0], []
    marks = sorted(
        {
            *data.combining,
            *(c for c, text in data.decompositions.items() if text[0] in data.combining),
            *(c for c, text in data.decompositions.items() if not surviving.isdisjoint(text)),
        }
    )
    for character in marks:
        for part in data.decompositions.get(character, character):
            code = -1 if part in data.mark else ord(lower.get(part, part))
            rows.append((data.combining.get(part, 0), code))
        pointer.append(len(rows))
    return code_points("".join(marks)), np.array(pointer, np.int32), np.array(rows, np.int32).reshape(-1, 2)


@cache
def _syllables() -> tuple[Int32Array, Int64Array]:
    """Return the decompositions of the Hangul syllables as `_pool` does."""
    parts = syllables()
    is_there = parts > 0
    return _pool(parts[is_there], is_there.sum(axis=1))


def _pool(parts: Int32Array, lengths: Int64Array) -> tuple[Int32Array, Int64Array]:
    """Return sequences of these lengths, one after the other, each after its length; and where each length is."""
    starts = np.cumsum(lengths + 1) - lengths - 1
    pool = np.empty(len(parts) + len(lengths), np.int32)
    is_part = np.ones(len(pool), np.bool_)
    is_part[starts] = False
    pool[starts], pool[is_part] = lengths, parts
    return pool, starts


def _in_pages(codes: Uint32Array) -> tuple[Uint16Array, Uint32Array]:
    """Return the number of the block of each page, and the different blocks."""
    rows = codes.reshape(-1, 1 << BLOCK_BITS)
    # Most pages have one code throughout, and to compare these is faster.
    is_constant = (rows == rows[:, :1]).all(axis=1).tolist()
    blocks: dict[bytes | int, int] = {}
    firsts: list[int] = []
    pages = []
    for page, (constant, code) in enumerate(zip(is_constant, rows[:, 0].tolist(), strict=True)):
        number = blocks.setdefault(code if constant else rows[page].tobytes(), len(blocks))
        if number == len(firsts):
            firsts.append(page)
        pages.append(number)
    return np.array(pages, np.uint16), rows[firsts].ravel()


def _code(kind: int, payload: int) -> int:
    return payload << KIND_BITS | kind
