"""Whether spellings of pieces are UTF-8, and made of characters that are pieces."""

from __future__ import annotations

import random

import numpy as np

from tokdfa.base.arrays import offsets_of
from tokdfa.kernels.spelling.model import check_spellings

NORMAL = 1
PARTS = [*"ab", "é", "\u07ff", "\u0800", "中", "\ud7ff", "\uffff", "\U00010000", "\U0010ffff"]
BROKEN = [
    b"\x80",
    b"\xc1\xbf",
    b"\xe0\x9f\xbf",
    b"\xed\xa0\x80",
    b"\xf0\x8f\xbf\xbf",
    b"\xf4\x90\x80\x80",
    b"\xff",
    b"\xe4\xb8",
]


def checked_slowly(words: list[bytes], kinds: list[int]) -> tuple[int, bool] | None:
    try:
        texts = [word.decode() for word in words]
    except UnicodeDecodeError:
        return None
    normal = [text for text, kind in zip(texts, kinds, strict=True) if kind == NORMAL]
    characters = {text for text in normal if len(text) == 1}
    return sum(map(len, texts)) + len(texts), all(characters.issuperset(text) for text in normal)


def test_spellings_are_checked_as_python_does() -> None:
    seen = {None: 0, False: 0, True: 0}
    for seed in range(3000):
        drawn = random.Random(seed)
        words = [
            "".join(drawn.choices(PARTS[: drawn.randint(1, 10)], k=drawn.randint(1, 3))).encode() for _ in range(8)
        ]
        words += [part.encode() for part in PARTS if drawn.random() < 0.9]
        drawn.shuffle(words)
        if drawn.random() < 0.2:
            at = drawn.randrange(len(words))
            words[at] += drawn.choice(BROKEN)
        kinds = [drawn.choice([NORMAL, NORMAL, NORMAL, 3, 4, 6]) for _ in words]
        ended = [word + b"\0" for word in words]
        text = np.frombuffer(b"".join(ended), dtype=np.uint8)
        found = check_spellings(text, offsets_of(ended), np.array(kinds, dtype=np.uint8))
        assert found == checked_slowly(words, kinds), seed
        seen[None if found is None else found[1]] += 1
    assert min(seen.values()) > 50, seen
