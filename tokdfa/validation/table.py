"""The table that validation walks by: a pre-tokenizer's machine lifted to ids, as far as streams have needed it."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.kernels import canonical as kernels
from tokdfa.tokenizers.canonical import check_overlaps, spelled_specials
from tokdfa.tokenizers.formats.contents import Splitting
from tokdfa.tokenizers.lifted import Lifted, LiftedState, Parts
from tokdfa.validation.model import Model
from tokdfa.validation.spelled import Backwards

__all__ = ["Snapshot", "Table"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Uint32Array: TypeAlias = npt.NDArray[np.uint32]

MAX_ENTRIES = 1 << 25
_CLASS = (1 << kernels.SIZE_SHIFT) - 1


class Snapshot(NamedTuple):
    """The table at some time, as :func:`tokdfa.kernels.canonical.walk` takes it; row r of it begins at ``r * width``.

    Of later ones only entries that were unknown differ; `info`, `trigger` and `node_at` never change.
    """

    width: int
    info: Uint32Array
    allowed: Uint32Array
    other: Uint32Array
    trigger: Int32Array
    node_at: Int32Array
    children: Int32Array


class _Class(NamedTuple):
    """What all ids of a class have in common: their parts, and what they have of special tokens.

    None is for what no canonical stream has.
    """

    parts: Parts | Literal["special"] | None
    nodes: tuple[int, ...] = ()


class Table:
    """Rows for the states of a lifted pre-tokenizer, columns for classes of ids; both are made when they are needed.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    lifted : Lifted
        The lifted pre-tokenizer.
    reach : int
        So many ids before one are looked at when it is walked over.
    now : Snapshot
        What the table has by now.
    initial : int
        The initial state.

    Raises
    ------
    UnsupportedFeatureError, PatternError, LimitExceededError
        If the tokenizer is none whose streams can be walked through.
    """

    def __init__(self, model: Model) -> None:
        tokenizer = model.tokenizer
        assert tokenizer.pretokenizer is not None
        if not model.borders.certain.any():
            raise UnsupportedFeatureError("the pre-tokenizer cuts nowhere for certain")
        if int(model.lengths.max(initial=0)) >= 1 << (32 - kernels.SIZE_SHIFT):
            raise LimitExceededError("a token is too long to be walked over", value=int(model.lengths.max()))
        contents = spelled_specials(tokenizer)
        check_overlaps(contents)
        self._model = model
        self.lifted = _lifted(tokenizer.pretokenizer.splitting)
        self._backwards = Backwards(contents)
        bounds = model.doubts.bounds
        self.reach = max(self._backwards.longest, 2 + int(np.diff(bounds).max(initial=0)))
        self._lock = Lock()
        # Row 0 and class 0 are those of nothing, and of ids not met yet.
        self._states: list[LiftedState | None] = [None]
        self._number_of_state: dict[LiftedState, int] = {}
        self._classes = [_Class(None)]
        self._number_of_class: dict[_Class, int] = {}
        # The classes of the first and last symbol of an id, as the borders have them; of a cut one, and of a special.
        n = model.borders.n_classes
        self._none, self._special = n, n + 1
        self._first_symbol: Int32Array = np.full(len(model.lengths), self._none, dtype=np.int32)
        self._last_symbol = self._first_symbol.copy()
        self._certain = np.zeros((n + 2, n + 2), dtype=np.bool_)
        self._certain[:n, :n] = model.borders.certain
        self._certain[self._special] = True
        self.now = self._snapshot(
            64, (model.lengths << kernels.SIZE_SHIFT).astype(np.uint32), *np.zeros((2, 0), dtype=np.uint32)
        )
        self.initial = self._state(self.lifted.initial)

    def is_final(self, number: int) -> bool:
        """Tell whether a stream may end in a state."""
        state = self._states[number]
        return state is not None and self.lifted.is_final(state)

    def learn(self, number: int, ids: Int32Array) -> None:
        """Work out what the first of `ids` does in a state, and of what class all of them are.

        Raises
        ------
        LimitExceededError
            If the table gets too large.
        """
        with self._lock:
            state = self._states[number]
            assert state is not None
            unknown = np.unique(ids[self.now.info[ids] & _CLASS == 0])
            if len(unknown):
                self._classify(unknown)
            column = int(self.now.info[ids[0]] & _CLASS)
            allowed, other = (self._following(state, column, may_continue) for may_continue in (True, False))
            now = self.now
            entry = number * now.width + column
            look = allowed != other or not allowed or bool(self._classes[column].nodes)
            now.other[entry] = other * now.width << 2
            now.allowed[entry] = allowed * now.width << 2 | (kernels.LOOK if look else 0)

    def last_certain(self, ids: Int32Array, stop: int) -> int:
        """Return the last place up to `stop` where the text is certainly cut between two of `ids`; 0 if none is found.

        The ids must have been walked over; there must be one at `stop`.
        """
        step = 64
        while stop > 0:
            low = max(stop - step, 0)
            last, first = self._last_symbol[ids[low:stop]], self._first_symbol[ids[low + 1 : stop + 1]]
            places = np.flatnonzero(self._certain[last, first])
            if len(places):
                return low + 1 + int(places[-1])
            stop = low
            step *= 4
        return 0

    # For single ids

    @property
    def anywhere(self) -> LiftedState:
        """The state of being in any text, between two symbols."""
        return LiftedState((1 << len(self.lifted.hypotheses.moves)) - 1)

    def parts_of(self, id: int) -> Parts | Literal["special"] | None:
        """Return what an id is made of; None for what no canonical stream has."""
        with self._lock:
            if not self.now.info[id] & _CLASS:
                self._classify(np.array([id], dtype=np.int32))
        return self._classes[int(self.now.info[id] & _CLASS)].parts

    def is_cut_between(self, left: int, right: int) -> bool:
        """Tell whether the text is certainly cut between two ids."""
        self.parts_of(left)
        self.parts_of(right)
        return bool(self._certain[self._last_symbol[left], self._first_symbol[right]])

    # Making it

    def _following(self, state: LiftedState, column: int, may_continue: bool) -> int:
        parts = self._classes[column].parts
        if parts is None:
            return 0
        if parts == "special":
            return self.initial if self.lifted.is_final(state) else 0
        assert isinstance(parts, Parts)
        target = self.lifted.step(state, parts, may_continue)
        return 0 if target is None else self._state(target)

    def _state(self, state: LiftedState) -> int:
        if state not in self._number_of_state:
            self._number_of_state[state] = len(self._states)
            self._states.append(state)
            now = self.now
            if len(self._states) * now.width > len(now.allowed):
                self.now = self._snapshot(now.width, now.info, now.allowed, now.other)
        return self._number_of_state[state]

    def _snapshot(self, old_width: int, info: Uint32Array, *tables: Uint32Array) -> Snapshot:
        """Return a table with room for all classes and states; what is new in it is unknown."""
        width = old_width
        while width < len(self._classes):
            width *= 2
        room = 64
        while room < len(self._states):
            room *= 2
        if room * width > MAX_ENTRIES:
            raise LimitExceededError("the table of the pre-tokenizer is too large", value=(room, width))
        n_rows = len(tables[0]) // old_width
        larger = []
        for table in tables:
            entries = table.reshape(n_rows, old_width)
            new = np.full((room, width), kernels.UNKNOWN | kernels.LOOK, dtype=np.uint32)
            # Entries lead to the beginnings of rows.
            new[:n_rows, :old_width] = ((entries >> 2) // old_width * width) << 2 | (entries & 3)
            new[0] = kernels.LOOK
            larger.append(new.reshape(-1))
        bounds = np.zeros(width + 1, dtype=np.int32)
        bounds[1 : len(self._classes) + 1] = np.cumsum([len(known.nodes) for known in self._classes])
        bounds[len(self._classes) + 1 :] = bounds[len(self._classes)]
        nodes = np.array([node for known in self._classes for node in known.nodes], dtype=np.int32)
        return Snapshot(width, info, larger[0], larger[1], bounds, nodes, self._backwards.children)

    def _classify(self, ids: Int32Array) -> None:
        """Find out of what classes ids are."""
        info = self.now.info.copy()
        for id in ids.tolist():
            known = self._class_of(id)
            if known not in self._number_of_class:
                self._number_of_class[known] = len(self._classes)
                self._classes.append(known)
            info[id] |= self._number_of_class[known]
        if len(self._classes) > _CLASS:
            raise LimitExceededError("the ids have too many classes", value=len(self._classes))
        self.now = self._snapshot(self.now.width, info, self.now.allowed, self.now.other)

    def _class_of(self, id: int) -> _Class:
        model = self._model
        if model.special[id]:
            self._last_symbol[id] = self._special
            return _Class("special")
        word = model.bytes_of(id)
        parts = None if model.never_walked[id] or not word else self.lifted.parts(word)
        nodes = self._backwards.nodes(word)
        if parts is None or nodes is None:
            return _Class(None)
        text = word.decode("utf-8", "replace")
        first, last = model.borders.classes(text[0] + text[-1]).tolist()
        # A symbol that is cut does not come back from decoding.
        self._first_symbol[id] = first if word.startswith(text[0].encode()) else self._none
        self._last_symbol[id] = last if word.endswith(text[-1].encode()) else self._none
        return _Class(parts, nodes)


@lru_cache(maxsize=16)
def _lifted(splitting: Splitting) -> Lifted:
    """Return the lifted pre-tokenizer, made once, for it takes a tenth of a second."""
    return Lifted(splitting)
