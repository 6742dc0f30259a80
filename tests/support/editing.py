"""Edits at random: streams of ids that are not canonical, and files that are not right."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

__all__ = ["edit_at", "edited", "edited_bytes"]

FEW = range(1, 4)


def edited(
    drawn: random.Random, ids: Sequence[int], among: Sequence[int], edits: range = FEW, *, exchanges: float = 0.0
) -> list[int]:
    """Return ids with a few of them left out, put in or replaced, or, by that share of the edits, two exchanged."""
    stream = [*ids]
    for _ in range(drawn.choice(edits)):
        at = drawn.randrange(len(stream) + 1)
        if exchanges and drawn.random() < exchanges and at + 1 < len(stream):
            stream[at : at + 2] = stream[at : at + 2][::-1]
        else:
            stream[at : at + drawn.randrange(2)] = drawn.choices(among, k=drawn.randrange(3))
    return stream


def edit_at(
    drawn: random.Random,
    ids: list[int],
    at: int,
    kind: str,
    words: Mapping[int, bytes] | Sequence[bytes],
    id_of: Mapping[bytes, int],
    among: Sequence[int] = (),
) -> list[int] | None:
    """Return ids with one edit of the token at an index; None if it has no such edit.

    It can "split" it into two tokens or "merge" it with the next one, of the same bytes; "swap" it with the next one;
    "repeat" it; "replace" it by one of some; or "drop" it.
    """
    before, after = ids[:at], ids[at + 1 :]
    if kind == "split":
        word = words[ids[at]]
        cuts = [cut for cut in range(1, len(word)) if word[:cut] in id_of and word[cut:] in id_of]
        if not cuts:
            return None
        cut = drawn.choice(cuts)
        return [*before, id_of[word[:cut]], id_of[word[cut:]], *after]
    if kind in ("merge", "swap") and not after:
        return None
    if kind == "merge":
        merged = id_of.get(words[ids[at]] + words[after[0]])
        return None if merged is None else [*before, merged, *after[1:]]
    if kind == "swap":
        return [*before, after[0], ids[at], *after[1:]]
    if kind == "repeat":
        return [*before, ids[at], ids[at], *after]
    return [*before, *([drawn.choice(among)] if kind == "replace" else []), *after]


def edited_bytes(drawn: random.Random, data: bytes, words: Sequence[bytes] = (), edits: range = FEW) -> bytes:
    """Return data with a few bytes replaced, removed or repeated, words put in, or cut off."""
    for _ in range(drawn.choice(edits)):
        at = drawn.randrange(len(data) + 1)
        end = min(len(data), at + drawn.choice([0, 1, 1, 1, 2, 8, 40]))
        kind = drawn.randrange(8)
        if kind == 0:
            return data[:at]
        put_in = (
            data[at:end] * 2 if kind == 1
            else drawn.randbytes(drawn.randrange(1, 4)) if kind < 4 or not words
            else b"" if kind == 4
            else drawn.choice(words)
        )  # fmt: skip
        data = data[:at] + put_in + data[end:]
    return data
