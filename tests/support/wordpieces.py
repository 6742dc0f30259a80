"""Small and random WordPiece vocabularies, for property tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


def all_small_vocabularies(step: int = 1, offset: int = 0) -> Iterator[WordPieceVocabulary]:
    """Every set of beginnings and continuations of up to two symbols over {a, b}, or every `step`-th of them."""
    pieces = ["".join(word) for length in (1, 2) for word in product("ab", repeat=length)]
    entries = [prefix + piece for prefix in ("", "##") for piece in pieces]
    for number in range(offset, 1 << len(entries), step):
        chosen = [entry for i, entry in enumerate(entries) if number >> i & 1]
        yield WordPieceVocabulary(["[UNK]", *chosen], longest_word=None)


def random_vocabulary(dice: random.Random) -> tuple[WordPieceVocabulary, str]:
    """A vocabulary and the symbols of its words; prefixes that occur inside words are among them."""
    symbols = dice.choice(["a", "ab", "ab#", "abc", "aé中😀", "#@"])
    prefix = dice.choice(["##", "##", "#", "", "@@", "a"])
    longest = dice.randrange(1, 9)
    entries = {"?": 0}
    for _ in range(dice.randrange(40)):
        entry = "".join(dice.choices(symbols, k=dice.randint(1, longest)))
        entries.setdefault(dice.choice(["", prefix]) + entry, len(entries))
    limit = dice.choice([None, None, 0, 1, 5, 100])
    return WordPieceVocabulary(entries, prefix=prefix, unknown="?", longest_word=limit), symbols
