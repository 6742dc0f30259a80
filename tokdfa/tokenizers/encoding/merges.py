"""All pairs that merge, with their priorities."""

from __future__ import annotations

from typing import NamedTuple

from tokdfa.base.arrays import Int32Array


class Merges(NamedTuple):
    """Every pair that merges, as int32 arrays of token numbers; smaller priorities are stronger."""

    left: Int32Array
    right: Int32Array
    priority: Int32Array
    product: Int32Array
