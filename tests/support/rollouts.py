"""The spans of rollouts by their definition, in plain Python over a library's own encoder and decoder."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import tokdfa
from tokdfa.jobs.rollouts.spans import SpanClass

Encode = Callable[[str], list[int]]


class Expected(NamedTuple):
    """A span: its class, its first id, the one after its last, and the canonical ids; None if it has no text."""

    name: str
    start: int
    stop: int
    canonical: tuple[int, ...] | None


def found(check: tokdfa.RolloutCheck) -> list[Expected]:
    """Return the spans of a rollout in order."""
    rows = [
        Expected(each.value, violation.start, violation.start + len(violation.ids), violation.canonical_ids)
        for each in SpanClass
        for violation in check.of_class(each)
    ]
    # A span without ids is before the one that begins there.
    return sorted(rows, key=lambda row: (row.start, row.stop))


def _symbols(data: bytes) -> list[tuple[int, int, bool]]:
    """The symbols of bytes as first byte, byte after the last and whether it is UTF-8; other bytes one by one."""
    found, at = [], 0
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                if len(data[at : at + size].decode()) == 1:
                    found.append((at, at + size, True))
                    break
            except UnicodeDecodeError:
                continue
        else:
            size = 1
            found.append((at, at + 1, False))
        at += size
    return found


def without_text(words: Sequence[bytes]) -> set[int]:
    """The words that have a byte that is not UTF-8, and those that share a symbol with such a word, and so on."""
    owner = [number for number, word in enumerate(words) for _ in word]
    together = [({*owner[low:high]}, good) for low, high, good in _symbols(b"".join(words))]
    bad = {number for group, good in together if not good for number in group}
    while True:
        more = {number for group, _ in together if len(group) > 1 and group & bad for number in group}
        if more <= bad:
            return bad
        bad |= more


def spans(
    encode: Encode, word_of: Callable[[int], bytes], ids: Sequence[int], mask: Sequence[int], cuts: Collection[int] = ()
) -> list[Expected]:
    """The spans of ids; `cuts` are the ids of special tokens that `encode` never gives.

    `encode` and `word_of` belong to a tokenizer: its text is the words of its ids.
    """
    found: list[Expected] = []
    bad: set[int] = set()
    begin = 0
    for stop in [at for at, id in enumerate(ids) if id in cuts] + [len(ids)]:
        bad |= {begin + at for at in without_text([word_of(id) for id in ids[begin:stop]])}
        begin = stop + 1

    def named(start: int, stop: int, canonical: tuple[int, ...] | None) -> Expected:
        flags = {bool(flag) for flag in mask[start:stop]}
        name = "junctions" if len(flags) > 1 else "drift" if True in flags else "bugs"
        return Expected(name, start, stop, canonical)

    at = 0
    while at < len(ids):
        end = at
        if at in bad:
            while end < len(ids) and end in bad:
                end += 1
            found.append(named(at, end, None))
        elif ids[at] in cuts:
            end = at + 1
        else:
            while end < len(ids) and end not in bad and ids[end] not in cuts:
                end += 1
            given = ids[at:end]
            text = b"".join(map(word_of, given)).decode()
            canonical = encode(text)
            bounds = [0, *accumulate(len(word_of(id)) for id in given)]
            others = [0, *accumulate(len(word_of(id)) for id in canonical)]
            assert bounds[-1] == others[-1]
            shared = sorted({*bounds} & {*others})
            for low, high in pairwise(shared):
                start, stop = bounds.index(low), bounds.index(high)
                right = tuple(canonical[others.index(low) : others.index(high)])
                if tuple(given[start:stop]) != right:
                    found.append(named(at + start, at + stop, right))
        at = end
    return found


def sampled(drawn: random.Random, n: int) -> list[int]:
    """A mask of spans with edges anywhere."""
    mask: list[int] = []
    flag = drawn.randrange(2)
    while len(mask) < n:
        mask += [flag] * drawn.choice([1, 2, 3, 5, 20])
        flag = 1 - flag
    return mask[:n]


def drifted(
    drawn: random.Random, ids: Sequence[int], spell: Callable[[bytes], list[int]], word_of: Callable[[int], bytes]
) -> list[int]:
    """Ids for mostly the same text, spelled otherwise at some places: as models sample, and as texts are joined."""
    out: list[int] = []
    for id in ids:
        word = word_of(id)
        if drawn.random() < 0.9 or len(word) < 2:
            out.append(id)
            continue
        cut = drawn.randrange(1, len(word))
        try:
            out += spell(word[:cut]) + spell(word[cut:])
        except (UnicodeDecodeError, KeyError):
            out.append(id)
    return out
