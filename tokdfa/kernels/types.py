"""The array types that kernels take, for numba and for the type checker.

Arrays are contiguous and only read, so that a kernel accepts read-only ones; what it returns is its own.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

__all__ = ["INTS", "LONGS", "Ints", "Longs"]

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]

INTS = nb.types.Array(nb.int32, 1, "C", readonly=True)
LONGS = nb.types.Array(nb.int64, 1, "C", readonly=True)
