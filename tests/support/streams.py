"""Vocabularies of any bytes, and streams over them, for searching."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.derived import DerivedTables
from tokdfa.tokenizers.spelled import Spelled


class Vocabulary:
    """The facts that a search needs of a tokenizer: words by id, None being a hole, and which of them are special."""

    def __init__(self, words: Sequence[bytes | None], specials: Sequence[int] = ()) -> None:
        self.words = list(words)
        self.n_ids = len(words)
        self.special_ids = self.control_ids = np.array(sorted(specials), dtype=np.int32)
        self.means_something = np.array([word is not None for word in words], dtype=np.bool_)
        self.means_something[self.special_ids] = True
        spelled = [word or b"" for word in words]
        text = np.frombuffer(b"".join(spelled), dtype=np.uint8)
        self.id_spellings = Spellings(text, np.cumsum([0, *map(len, spelled)], dtype=np.int64))
        self.spelled = Spelled(self.id_spellings)
        self._tables = DerivedTables()

    def derived(self, factory: Callable[..., Any], *key: Hashable) -> Any:
        """A table that a search keeps with it."""
        return self._tables.get(self, factory, key)

    @property
    def round_trip(self) -> None:
        """By this name a tokenizer is told from other arguments; a search does not ask for its value."""
        raise AssertionError("a search asked for what decides whether ids are canonical")

    def decode_bytes(self, ids: npt.ArrayLike) -> bytes:
        """The bytes of ids."""
        return b"".join(self.words[i] or b"" for i in np.asarray(ids).tolist())


def cut(text: bytes, places: Sequence[int]) -> tuple[Vocabulary, list[int]]:
    """A vocabulary of the stretches of `text` between some places, and the ids that spell it."""
    bounds = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    words = [text[start:stop] for start, stop in pairwise(bounds) if start < stop]
    distinct = list(dict.fromkeys(words)) or [b"a"]
    return Vocabulary(distinct), [distinct.index(word) for word in words]


places = st.lists(st.integers(0, 60), max_size=25)
