"""What may complete the bytes of an incomplete symbol: which of them stand for which others."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Uint16Array
from tokdfa.kernels.library import lib, readable, writable

__all__ = ["Completions"]


class Completions:
    """The completions of incomplete symbols, as classes of symbols. Threads may share it.

    Parameters
    ----------
    class_of_code_point : uint16 array of shape (0x110000,)
    """

    def __init__(self, class_of_code_point: Uint16Array) -> None:
        if len(class_of_code_point) != 0x110000:
            raise ValueError("every code point has a class")
        self._class_of_code_point = class_of_code_point
        self._known: dict[bytes, bytes] = {}
        self._cut_of: dict[bytes, bytes] = {}

    def standing_for(self, cut: bytes) -> bytes:
        """Return the first incomplete symbol seen whose completions have the same classes in the same order.

        Parameters
        ----------
        cut : bytes
            The first bytes of a symbol, but not all, as :func:`tokdfa.unicode.utf8.cut_apart` gives them.
        """
        known = self._known.get(cut)
        if known is None:
            known = self._known[cut] = self._cut_of.setdefault(self.runs(cut), cut)
        return known

    def runs(self, cut: bytes) -> bytes:
        """Return the classes of all completions in order, as runs; -1 stands for what is no symbol.

        A run is a class and a number of symbols, two integers of four bytes.
        """
        length = 0 if not cut or not 0xC2 <= cut[0] <= 0xF4 else 2 if cut[0] < 0xE0 else 3 if cut[0] < 0xF0 else 4
        if len(cut) >= length or any(byte & 0xC0 != 0x80 for byte in cut[1:]):
            raise ValueError(f"not the beginning of a symbol: {cut!r}")
        runs = np.empty((64 ** (length - len(cut)) + 2, 2), dtype=np.int32)
        n = lib.tokdfa_completions(
            readable(self._class_of_code_point, np.uint16), int.from_bytes(cut), len(cut), writable(runs, np.int32)
        )
        return runs[:n].tobytes()
