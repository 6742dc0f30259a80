"""Dictionaries over characters from words with scores: the word with the highest score is made first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tokdfa.alphabet import Word
from tokdfa.dictionary import Dictionary
from tokdfa.encoding.merges import Merges
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.tokenizers.formats.ranks import rules_of_words

__all__ = ["over_scored"]


def over_scored(normal: Mapping[str, tuple[int, float]], atoms: Mapping[str, int], where: str) -> dict[str, Any]:
    """Return dictionary, further tokens, ids and merges of words with scores, as fields of Contents.

    Parameters
    ----------
    normal : mapping of str to (int, float)
        The words that merge, with ids and scores.
    atoms : mapping of str to int
        Symbols of several characters, which never merge, with their ids.
    where : str
        For messages.

    Raises
    ------
    UnsupportedFeatureError
        If a word has a character that is not a word itself.
    """
    # Strongest first; ties go to the leftmost pair.
    ranked = sorted((-score, id, text) for text, (id, score) in normal.items() if len(text) > 1)
    words = [text for _, _, text in ranked]
    characters = {text: number for number, text in enumerate(text for text in normal if len(text) == 1)}
    foreign = set("".join(words)).difference(characters)
    if foreign:
        text = next(text for text in words if not foreign.isdisjoint(text))
        raise UnsupportedFeatureError("a piece has a character that is not a piece itself", value=text, where=where)
    scores = np.array([score for score, _, _ in ranked])
    changes = np.concatenate(([0], np.cumsum(np.diff(scores) != 0))) if len(words) else np.empty(0)
    priority = changes.astype(np.int32)
    rules, splits = rules_of_words(words, characters, priority)
    spelled: list[Word] = [*((text,) for text in characters), *map(tuple, words)]
    symbols: list[Word] = [*spelled[: len(characters)], *((text,) for text in atoms)]
    dictionary = Dictionary(((spelled[left], spelled[right]) for left, right, _ in rules.tolist()), symbols)
    known = dictionary.alphabet
    extra = tuple(word for word in spelled if word not in known)
    place = {word: number for number, word in enumerate((*known, *extra))}
    merges = None
    if splits is not None:
        number = np.array([place[word] for word in spelled], dtype=np.int32)
        left, right, product = splits.T
        merges = Merges(number[left], number[right], priority[product - len(characters)], number[product])
    id_of = {text: id for text, (id, _) in normal.items()} | dict(atoms)
    return {
        "dictionary": dictionary,
        "extra": extra,
        "ids": np.array([id_of["".join(word)] for word in place], dtype=np.int32),
        "merges": merges,
    }
