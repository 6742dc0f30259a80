"""The machine that a search runs: the automaton of a pattern, and the effect of every id on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Literal

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search import search as kernels
from tokdfa.kernels.search.search import ALIGNED, KINDS, Search
from tokdfa.regex.finder import Finder, Wanted, finder
from tokdfa.regex.utf8 import BOUNDARY, EDGE
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.protocol import AnyTokenizer

# The plans of this many patterns are kept with a tokenizer.
_KEPT = 4


@dataclass(frozen=True, eq=False)
class Words:
    """The bytes of ids.

    If the first or the last id of a stream is spelled differently from the others, it is treated as another id, larger
    by `n_ids`.
    """

    # The number of ids; the ids of a stream are smaller.
    n_ids: int
    spelled: Spellings
    # For each id whether its token is a control token, or it is unused.
    cuts: BoolArray
    holes: BoolArray
    # Which id of a stream is spelled differently.
    varies: Literal["", "first", "last"]
    # For each id whether the id after it still counts as the first one.
    silent: BoolArray

    @cached_property
    def plan(self) -> Callable[..., SearchPlan]:
        """The function :func:`plan_of` for these words; the last plans are kept, ready to be used again."""
        return lru_cache(_KEPT)(partial(plan_of, self))

    @cached_property
    def text(self) -> Struct:
        """The bytes of each id, in the form that the kernels take."""
        return kernels.spelled_of(*self.spelled, self.cuts)

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


_NO_STARTS: Int64Array = np.zeros(0, dtype=np.int64)


class Placed:
    """The ids of a stream in any chunks; ids that are spelled differently where they are become larger by `n_ids`.

    Example: in the stream 1, 7, 5 with a control piece 1 and 7 = "▁a", where the first space is not part of the text, 1
    and 7 become 1 + `n_ids` and 7 + `n_ids`.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._has_begun = words.varies != "first"
        self._held: Int32Array = np.empty(0, dtype=np.int32)

    def read(self, ids: Int32Array, starts: Int64Array = _NO_STARTS) -> Int32Array:
        """Return the ids that are known not to be the last one; further texts begin at `starts` if the first differ."""
        if self._words.varies == "first" and (len(starts) or not self._has_begun):
            return self._with_firsts(ids, starts if self._has_begun else np.append(0, starts))
        if self._words.varies == "last":
            ids = np.concatenate((self._held, ids))
            ids, self._held = ids[:-1], ids[-1:]
        return ids

    def _with_firsts(self, ids: Int32Array, starts: Int64Array) -> Int32Array:
        """Return ids with the first ones of texts larger; all texts at once, first their first ids, and so on."""
        placed, has_begun = ids.copy(), np.zeros(len(starts), dtype=np.bool_)
        at, ends = starts.copy(), np.append(starts[1:], len(ids))
        left = np.flatnonzero(at < ends)
        while len(left):
            placed[at[left]] += np.int32(self._words.n_ids)
            has_begun[left] = ~self._words.silent[ids[at[left]]]
            at[left] += 1
            left = left[~has_begun[left] & (at[left] < ends[left])]
        self._has_begun = bool(has_begun[-1])
        return placed

    def finish(self) -> Int32Array:
        """Return the last id, if it was held back."""
        return self._held + np.int32(self._words.n_ids)


_FEW_CLASSES = 8
# The number of ended searches that leave their memory to later ones.
_SPARE = 8


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of searching. They change the cost of a search, never its findings."""

    # Ids that are searched at once. The data kept for them must stay in the second-level cache.
    block: int = 1 << 18
    # Ids that are copied at a time, to be searched while they are in that cache. The longer a run is, the earlier the
    # next one is fetched.
    step: int = 1 << 15
    # Ids, of all streams together, after which it pays to compute the effect of every token on the automaton of the
    # pattern; before that, tokens are read byte by byte.
    patience: int = 1 << 16
    # Entries that the table of effects may have, by states and classes of tokens. For an automaton that is too large,
    # the outcomes of tokens are stored as they are met.
    max_entries: int = 1 << 24


DEFAULT = Tuning()


class SearchPlan:
    """The automata of a pattern, and the effects of ids on them, in the structs that the kernels read."""

    def __init__(
        self,
        found: Finder,
        words: Words,
        *,
        wants_all: bool,
        aligned: bool,
        tuning: Tuning = DEFAULT,
        names: Sequence[str] | None = None,
    ) -> None:
        self.finder = found
        self.words = words
        self.wants_all = wants_all
        self.tuning = tuning
        self.options = ALIGNED * aligned | KINDS * (names is not None and not found.longest)
        # The name of each pattern, if there are several.
        self.names = names
        self._spare: list[Search] = []
        # The number of ids in all streams that have ended; about, if several threads search.
        self.n_read = 0

    def machine_for(self, n_ids: int) -> Struct:
        """Return the machine for a stream of so many ids: the faster one, if it is there or pays by now."""
        if "tokenwise" in self.__dict__ or self.n_read + n_ids > self.tuning.patience:
            return self.tokenwise
        return self.bytewise

    @cached_property
    def bytewise(self) -> Struct:
        """The machine used before the effects of tokens are known: each token is read byte by byte."""
        return self._machine(kernels.NO_MOVES)

    @cached_property
    def tokenwise(self) -> Struct:
        """The machine used once the effects are known."""
        return self._machine(self._moves)

    def _machine(self, moves: Struct) -> Struct:
        return Struct("tokdfa_machine", text=self.words.text, forward=self.forward, backward=self.backward, moves=moves)

    @property
    def _moves(self) -> Struct:
        """The effects of tokens."""
        text, forward, dfa = self.words.text, self.forward, self.finder.forward
        simple = not (self.wants_all or self.options or self.finder.backward.delayed)
        if self.words.lengths.max(initial=0) > kernels.LONGEST_IN_CLASS:
            return kernels.NO_MOVES
        most = min(kernels.MOST_CLASSES - 1, self.tuning.max_entries // dfa.n_states)
        # For an automaton so large that the table has capacity for a few effects only, such as a long list of words,
        # this is not even tried.
        effect, effects = kernels.token_effects(text, forward, most if most > _FEW_CLASSES else 0)
        if not len(effects):
            return kernels.accelerated_moves(text, forward, self.backward) if simple else kernels.NO_MOVES
        return kernels.moves_by_class(text, forward, effect, effects, self.backward if simple else None)

    @cached_property
    def forward(self) -> Struct:
        """The searching automaton."""
        found, dfa = self.finder, self.finder.forward
        info = np.zeros((dfa.n_states, len(kernels.STATE_INFO)), dtype=np.int64)
        what = {
            "delay": dfa.delay,
            "restart": dfa.restart,
            "right": dfa.right,
            "fixed": found.length,
            "shorter": found.shorter,
            "ending": np.where(dfa.end_delay < 0, -1, dfa.end_delay + 16 * dfa.end_right),
            "end_restart": dfa.end_restart,
        }
        for name, values in what.items():
            info[:, kernels.STATE_INFO.index(name)] = values
        # Without assertions there is one state to start again from, and it is this one.
        info[0, kernels.STATE_INFO.index("restart")] = self._idle
        boundary = int(dfa.column[BOUNDARY]) if self.options & ALIGNED else -1
        return kernels.forward_of(dfa.table, dfa.column[: EDGE + 1], boundary, info, self._idle)

    @cached_property
    def backward(self) -> Struct:
        """The automaton that finds where matches begin."""
        back = self.finder.backward
        return Struct(
            "tokdfa_backward", table=np.ascontiguousarray(back.table).reshape(-1),
            accepts=np.ascontiguousarray(back.accepts), initial=np.ascontiguousarray(back.initial),
            class_of=back.partition.dense, n_classes=back.table.shape[1] - 3, delayed=int(back.delayed),
        )  # fmt: skip

    @cached_property
    def _idle(self) -> int:
        """The state in which most of a text is read: after a letter, when nothing has begun to match."""
        dfa = self.finder.forward
        state = dfa.initial
        for byte in b" a":
            state = int(dfa.table[state, dfa.column[byte]])
        starts = dfa.starts.tolist()
        return state if state in starts else starts[0]

    def begin(self) -> Search:
        """Return a search that begins with a new stream."""
        try:
            search = self._spare.pop()
        except IndexError:
            search = Search()
        search.begin(self.finder.forward.initial)
        return search

    def end(self, search: Search) -> None:
        """Take back the buffer of a search that has ended."""
        if len(self._spare) < _SPARE:
            self._spare.append(search)


def plan_of(
    words: Words,
    pattern: str | Iterable[str | bytes] | Mapping[str, str],
    wanted: Wanted,
    aligned: bool,
    table: str,
    max_states: int,
    max_seconds: float,
    tuning: Tuning | None,
) -> SearchPlan:
    """Return the plan of a pattern in the text of ids; see :class:`tokdfa.Searcher`."""
    found = finder(pattern, wanted, aligned=aligned, table=table, budget=Budget(max_states, max_seconds))
    names = [*pattern.values()] if isinstance(pattern, Mapping) else None
    options = {"wants_all": wanted == "all", "aligned": aligned}
    return SearchPlan(found, words, **options, tuning=tuning or DEFAULT, names=names)
