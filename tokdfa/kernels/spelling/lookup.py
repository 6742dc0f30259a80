"""Finding words by their spelling: the rules of a file, looked up in its vocabulary."""

from __future__ import annotations

import os

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.kernels.library import Struct, lib

__all__ = ["WordTable"]


class WordTable:
    """Words by their spelling.

    Parameters
    ----------
    text : bytes
        Distinct words, each but the last followed by the separator, which none of them contains.
    n_words : int
        The number of words: less than 2**31, and one at least.
    separator : int
        A byte.

    Raises
    ------
    ValueError
        If the text has another number of words.

    Notes
    -----
    The key of the hash is drawn anew for each table, so that no file can be written whose words collide.
    """

    def __init__(self, text: bytes, n_words: int, separator: int) -> None:
        data = np.frombuffer(text + bytes([separator]), dtype=np.uint8)
        places = np.flatnonzero(data == separator)
        if not 0 < len(places) == n_words < 1 << 31:
            raise ValueError(f"there are {len(places)} words, not {n_words}")
        offsets = np.zeros(n_words + 1, dtype=np.int64)
        offsets[1:] = places + 1
        n_slots = 4
        while n_slots < 2 * n_words:
            n_slots *= 2
        keys = np.frombuffer(os.urandom(16), dtype=np.uint64).tolist()
        self._table = Struct(
            "tokdfa_word_table",
            text=data,
            offsets=offsets,
            slots=np.zeros(n_slots, dtype=np.uint64),
            key_0=keys[0],
            key_1=keys[1],
        )
        lib.tokdfa_enter_words(self._table.pointer)

    def find_rules(self, text: bytes, n_rules: int, inner: int, outer: int, skipped: int = 0) -> tuple[Int32Array, int]:
        """Look up the parts of rules and the words that they make.

        Parameters
        ----------
        text : bytes
            The rules, separated by `outer`; each is two parts, not empty, separated by `inner`. No part contains
            either.
        n_rules : int
        inner, outer : int
            Bytes, which may be the same.
        skipped : int
            The number of bytes at the beginning of each right part that the word lacks.

        Returns
        -------
        found : int32 array of shape (rules, 3)
            The numbers of the left part, the right part and the word.
        n_found : int
            The number of rules up to the first one that is not written so, or that needs a word that there is not.
            The rows from there on have no meaning.
        """
        found: Int32Array = np.zeros((n_rules, 3), dtype=np.int32)
        if not (n_rules and text):
            return found, 0
        lines = Struct(
            "tokdfa_rule_lines",
            text=np.frombuffer(text, dtype=np.uint8),
            inner=inner,
            outer=outer,
            skipped=skipped,
            found=found,
            n_rules=n_rules,
        )
        n_found = int(lib.tokdfa_find_rules_in(self._table.pointer, lines.pointer))
        return found, n_found
