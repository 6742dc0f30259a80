"""The spelling of ids, as a search sees it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.locks import SHARED
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search.search import spelled_of
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.protocol import AnyTokenizer

T = TypeVar("T")

# The plans of this many patterns are kept with a tokenizer.
_KEPT = 4


class RecentlyMade(Generic[T]):
    """The values asked for last, `size` of them, by their keys."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._kept: dict[Hashable, T] = {}

    def find(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, made now unless it is kept."""
        with SHARED:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found
                return found
        made = make()
        with SHARED:
            self._kept[key] = made
            while len(self._kept) > self.size:
                self._kept.pop(next(iter(self._kept)))
        return made


@dataclass(frozen=True, eq=False)
class Words:
    """The bytes of ids.

    If the first or the last id of a stream is spelled differently from the others, it is treated as another id, larger
    by `n_ids`.
    """

    # The number of ids; those of a stream are smaller.
    n_ids: int
    spelled: Spellings
    # For each id whether it is that of a control token, or unused.
    cuts: BoolArray
    holes: BoolArray
    # Which id of a stream is spelled differently.
    varies: Literal["", "first", "last"]
    # For each id whether the id after it still counts as the first one.
    silent: BoolArray
    # The machines of the last searches, ready to be used again.
    plans: RecentlyMade[Any] = field(default_factory=lambda: RecentlyMade(_KEPT))

    @cached_property
    def text(self) -> Struct:
        """The bytes of each id, in the form that the kernels take."""
        return spelled_of(*self.spelled, self.cuts)

    @cached_property
    def lengths(self) -> Int64Array:
        """The number of bytes of each id."""
        return np.diff(self.spelled.offsets)

    @cached_property
    def first_hole(self) -> int:
        """The least unused id; the number of ids if there is none."""
        return int(np.argmax(self.holes)) if self.holes.any() else len(self.holes)

    @classmethod
    def of(cls, tokenizer: AnyTokenizer) -> Words:
        """Return the words of a tokenizer, which are computed once; it must spell ids as :class:`Words` does."""
        return tokenizer.derived(cls._of)

    @classmethod
    def _of(cls, tokenizer: AnyTokenizer) -> Words:
        n_ids = tokenizer.n_ids
        cuts = np.zeros(n_ids, dtype=np.bool_)
        cuts[tokenizer.control_ids] = True
        holes = ~tokenizer.means_something
        (text, offsets), varies, other, silent = tokenizer.spelled
        if silent is None:
            silent = np.zeros(n_ids, dtype=np.bool_)
        if other is None:
            return cls(n_ids, Spellings(text, offsets), cuts, holes, "", silent)
        spelled = Spellings(np.append(text, other.text), np.append(offsets, other.offsets[1:] + offsets[-1]))
        return cls(n_ids, spelled, np.tile(cuts, 2), np.tile(holes, 2), varies, silent)


class Placed:
    """The ids of a stream in any chunks, those that are spelled differently where they are larger by `n_ids`.

    Example: in the stream 1, 7, 5 with a control piece 1 and 7 = "▁a", whose first space is not part of the text, 1 and
    7 become 1 + `n_ids` and 7 + `n_ids`.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._has_begun = words.varies != "first"
        self._held: Int32Array = np.empty(0, dtype=np.int32)

    def read(self, ids: Int32Array) -> Int32Array:
        """Return the ids that are known not to be the last one."""
        if not self._has_begun and len(ids):
            silent = self._words.silent[ids]
            self._has_begun = not silent.all()
            first = int(np.argmin(silent)) + 1 if self._has_begun else len(ids)
            return np.concatenate((ids[:first] + np.int32(self._words.n_ids), ids[first:]))
        if self._words.varies == "last":
            ids = np.concatenate((self._held, ids))
            ids, self._held = ids[:-1], ids[-1:]
        return ids

    def finish(self) -> Int32Array:
        """Return the last id, if it was held back."""
        return self._held + np.int32(self._words.n_ids)
