"""Dictionaries over characters from words with scores: the word with the highest score is made first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tokdfa.arrays import Float64Array, Int32Array
from tokdfa.encoding.merges import Merges
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.tokenizers.byte_dictionary import CheckedDictionary
from tokdfa.tokenizers.formats.contents import numbering
from tokdfa.tokenizers.formats.ranks import rules_of_words
from tokdfa.tokenizers.symbol_tokens import SymbolTokens

__all__ = ["over_scored"]


def over_scored(
    texts: Sequence[str], ids: Int32Array, scored: Float64Array, atoms: Mapping[str, int], where: str
) -> dict[str, Any]:
    """Return dictionary, further tokens, ids and merges of words with scores, as fields of Contents.

    Parameters
    ----------
    texts : sequence of str
        The words that merge, distinct and not empty.
    ids : int32 array, scored : float64 array
        The id and the score of each; the scores are finite.
    atoms : mapping of str to int
        Symbols of several characters, which never merge, with their ids.
    where : str
        For messages.

    Raises
    ------
    UnsupportedFeatureError
        If a word has a character that is not a word itself.
    """
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    longer, single = np.flatnonzero(lengths > 1), np.flatnonzero(lengths == 1)
    # Strongest first; ties go to the leftmost pair.
    ranked = longer[np.lexsort((ids[longer], -scored[longer]))]
    words = [texts[place] for place in ranked.tolist()]
    characters = {texts[place]: number for number, place in enumerate(single.tolist())}
    foreign = set("".join(words)).difference(characters)
    if foreign:
        text = next(text for text in words if not foreign.isdisjoint(text))
        raise UnsupportedFeatureError("a piece has a character that is not a piece itself", value=text, where=where)
    scores = -scored[ranked]
    changes = np.concatenate(([0], np.cumsum(np.diff(scores) != 0))) if len(words) else np.empty(0)
    priority = changes.astype(np.int32)
    rules, splits = rules_of_words(words, characters, priority)
    symbols = [*characters, *atoms]
    # The symbols first: the words come after the atoms.
    number = np.arange(len(characters) + len(words), dtype=np.int32)
    number[len(characters) :] += len(atoms)
    spelled = [*symbols, *words]
    mentioned, extra, numbered = numbering(number[rules], len(spelled), len(symbols))
    alphabet = SymbolTokens("symbols", symbols, [spelled[place] for place in mentioned.tolist()])
    numbered_ids = np.empty(len(spelled), dtype=np.int32)
    numbered_ids[numbered] = np.concatenate((ids[single], np.array([*atoms.values()], dtype=np.int32), ids[ranked]))
    merges = None
    if splits is not None:
        left, right, product = numbered[number[splits.T]]
        merges = Merges(left, right, priority[splits[:, 2] - len(characters)], product)
    return {
        "dictionary": CheckedDictionary(alphabet, *numbered[number[rules.T]]),
        "extra": tuple(tuple(spelled[place]) for place in extra.tolist()),
        "ids": numbered_ids,
        "merges": merges,
    }
