"""The pre-tokenizer read by ids: where pieces may begin, and which pieces are a single token.

Ids may end within a symbol; `Cuts` are incomplete symbols, as far as a pre-tokenizer can tell them apart: by the
classes of their completions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Uint8Array, Uint16Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.locks import SHARED
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk import parts as words
from tokdfa.regex.unicode import SURROGATES
from tokdfa.regex.utf8 import unique_rows
from tokdfa.tokenizers.pretokenizers.token_lift import LiftState, TokenLift, TokenParts


class Cuts:
    r"""The incomplete symbols of UTF-8, those with equal completions being one; cut 0 stands for none.

    If class 1 has é and €, and class 0 all others, the bytes C4, C5 and E2 83 are one cut: whatever completes them is
    of class 0. C3, the first byte of é, and E2 82, the first two of €, are others.

    >>> classes = np.zeros(0x110000, dtype=np.uint16)
    >>> classes[[ord("é"), ord("€")]] = 1
    >>> [Cuts(classes).of(data) for data in (b"\xc4", b"\xc5", b"\xe2\x83", b"\xc3", b"\xe2\x82", b"a")]
    [1, 1, 1, 2, 3, 0]
    """

    def __init__(self, class_of_code_point: Uint16Array) -> None:
        whole = -1 - class_of_code_point.astype(np.int32)
        for low, high in SURROGATES:
            whole[low : high + 1] = 0
        # The completions by one, two and three more bytes: rows of 64 code points, of 64 such rows, and of 64 of those.
        # The first rows would be of symbols in more bytes than they need, which is not UTF-8.
        levels: list[Int32Array] = [np.zeros((1, 64), dtype=np.int32)]
        n_cuts = 1
        blocks, numbers = whole, []
        for n_overlong in (0, 0x800 >> 6, 0x10000 >> 12):
            blocks[:n_overlong] = 0
            blocks = np.append(blocks, np.zeros(-len(blocks) % 64, dtype=np.int32)).reshape(-1, 64)
            rows, inverse = unique_rows(blocks)
            is_any = rows.any(axis=1)
            levels.append(rows[is_any])
            number = np.where(is_any, n_cuts + np.cumsum(is_any) - 1, 0).astype(np.int32)
            blocks = number[inverse]
            numbers.append(blocks.copy())
            n_cuts += int(is_any.sum())
        self.n_cuts = n_cuts
        # At 64 * cut + (byte & 63): the cut after one more byte of a symbol; 0 if no symbol has it there; -1 - c for a
        # whole symbol of class c.
        self.following: Int32Array = np.ascontiguousarray(np.concatenate(levels), dtype=np.int32).reshape(-1)
        # The cut of each first byte; 0 for others.
        self.leads = [0] * 0xC2
        for number, last, mask in zip(numbers, (0xE0, 0xF0, 0xF5), (0x1F, 0x0F, 0x07), strict=True):
            self.leads += [int(number[lead & mask]) for lead in range(len(self.leads), last)]
        self.leads += [0] * (256 - 0xF5)

    def of(self, data: bytes) -> int:
        """Return the cut of the first bytes of a symbol; 0 if no symbol begins with them, or if they are none."""
        if not data:
            return 0
        cut = self.leads[data[0]]
        for byte in data[1:]:
            cut = max(int(self.following[64 * cut + (byte & 0x3F)]), 0)
        return cut


DEAD = 0
"""The state from which no canonical stream continues."""

MAX_ENTRIES = 1 << 26
MAX_CLASSES = 1 << 15
MOST_AT_ONCE = 1 << 8
MOST_SINGLE = 2

# The states of the split NFA found for a core, by the other fields of their guess.
_Found: TypeAlias = dict[tuple[bool, bool, int], int]

_NOWHERE, _ROOT = 0, 1

_HAS_SYMBOLS, _IS_ALONE, _IS_SPECIAL = 1, 2, 4


class _Guess(NamedTuple):
    """States of the split NFA with equal progress."""

    states: int  # As bits
    is_inside: bool  # Whether the symbol that is not complete began within a token, so that no piece can begin with it
    must_begin: bool  # Whether the pair test forbids the boundary at which it began, so that a piece must begin with it
    node: int  # The part of a forbidden piece read so far: a node of their tree


_Core: TypeAlias = tuple[_Guess, ...]


class _Class(NamedTuple):
    """The common properties of all ids of a class."""

    parts: TokenParts | Literal["special"] | None  # None for ids that no canonical stream has
    alone: bool = False  # Whether the ids are given only for whole pieces
    label: int = -1  # The id, if a forbidden piece has it; otherwise -1


class IdKinds(NamedTuple):
    """Kinds of ids, with one entry an id, and the forbidden pieces as ids."""

    usable: BoolArray  # Some canonical stream has it, and it is not a special token
    special: BoolArray
    alone: BoolArray  # It is given only for whole pieces
    forbidden: Sequence[tuple[int, ...]]
    undivided: Collection[int] = ()  # The classes of the characters that never have several ids


class Splits:
    """The automaton of a pre-tokenizer over classes of ids, given the spellings of all ids.

    A state is a core, which is a set of guesses where pieces begin and which part of a forbidden piece has been read,
    and the incomplete symbol at the end, if there is one. A piece is forbidden if it is itself a token, and merging
    gives several tokens for it: it is given as the one token. The table over cores is filled where it is read.
    """

    def __init__(self, lift: TokenLift, text: np.ndarray, offsets: np.ndarray, kinds: IdKinds) -> None:
        self._lift, self._undivided = lift, kinds.undivided
        self._tree: list[dict[int, int]] = [{}, {}]
        self._ends: set[int] = set()
        for piece in kinds.forbidden:
            node = _ROOT
            for id in piece:
                if id not in self._tree[node]:
                    self._tree[node][id] = len(self._tree)
                    self._tree.append({})
                node = self._tree[node][id]
            self._ends.add(node)
        self._cuts = Cuts(lift.split_nfa.class_of_code_point)
        self._classes = [_Class(None)]
        # One entry an id; class 0 has the ids that no canonical stream has.
        self.class_of: Int32Array = self._classify(text, offsets, kinds)
        n_classes = len(self._classes)
        self._n_symbols = lift.split_nfa.n_classes
        self._width = 4 * n_classes + self._n_symbols
        self._cores: list[_Core] = [()]
        self._number_of: dict[_Core, int] = {(): DEAD}
        self._targets: Int32Array = np.full((8, self._width), -1, dtype=np.int32)
        self._targets[DEAD] = DEAD
        self._final: Uint8Array = np.zeros(8, dtype=np.uint8)
        head, tail, shape = (np.zeros(n_classes, dtype=np.uint32) for _ in range(3))
        for number, known in enumerate(self._classes):
            if isinstance(known.parts, TokenParts):
                head[number] = int.from_bytes(known.parts.head, "little") | len(known.parts.head) << 24
                tail[number] = self._cuts.of(known.parts.tail)
                shape[number] = _HAS_SYMBOLS * (known.parts.effect is not None) | _IS_ALONE * known.alone
            elif known.parts == "special":
                shape[number] = _IS_SPECIAL
        self.struct = Struct(
            "tokdfa_split_machine", targets=self._targets, final=self._final, next_cut=self._cuts.following, head=head,
            tail=tail.astype(np.int32), shape=shape.astype(np.uint8), n_classes=n_classes, n_cuts=self._cuts.n_cuts,
            width=self._width,
        )  # fmt: skip
        # Classes of one kind differ only in the symbols that they complete or cut off.
        numbers: dict[object, int] = {}
        self._kind_of: Int32Array = np.array(
            [numbers.setdefault(self._kind(known), len(numbers)) for known in self._classes]
        )
        self._of_kind: dict[tuple[int, int, int], int] = {}
        self._n_filled: Counter[tuple[int, int | None]] = Counter()
        self._initial_core = self._number({(False, False, _ROOT): 1})
        self.initial = self._initial_core * self._cuts.n_cuts
        every = (1 << len(lift.split_nfa.moves)) - 1
        # The state between two symbols of any text.
        self.anywhere = self._number({(False, False, _NOWHERE): every}) * self._cuts.n_cuts
        if not kinds.forbidden:
            self._fill_all()

    @property
    def n_states(self) -> int:
        """A number above all states found so far."""
        return len(self._cores) * self._cuts.n_cuts

    def is_final(self, state: int) -> bool:
        """Return whether a text may end in a state."""
        core, cut = divmod(state, self._cuts.n_cuts)
        return not cut and bool(self._final[core])

    def fill(self, core: int, column: int) -> None:
        """Find the entry of the table in some column; after a few of a core, all for ids that are read the same way."""
        columns: slice | int = column
        target: int | Int32Array = self._target(core, column)
        way = self._way_of(column)[0]
        self._n_filled[core, way] += 1
        if way is not None and self._n_filled[core, way] == MOST_SINGLE:
            columns, target = self._columns(way), self._all_targets(core, way)
        with SHARED:
            self._targets[core, columns] = target

    def _fill_all(self) -> None:
        """Fill the rows of the first cores; few tokenizers have more."""
        n = len(self._classes)
        core = 1
        while core < min(len(self._cores), MOST_AT_ONCE):
            for way in range(4):
                found = self._all_targets(core, way)
                self._targets[core, self._columns(way)] = found
            self._targets[core, 4 * n :] = [self._completed(core, symbol) for symbol in range(self._n_symbols)]
            core += 1

    def _way_of(self, column: int) -> tuple[int | None, int]:
        """Return the way in which ids are read, and their class, of a column; or no way, and the symbol completed."""
        n = len(self._classes)
        if column >= 4 * n:
            return None, column - 4 * n
        return (column & 1, column >> 1) if column < 2 * n else divmod(column, n)

    def _columns(self, way: int) -> slice:
        """Return the columns of all classes, read in one way."""
        n = len(self._classes)
        return slice(way, 2 * n, 2) if way < 2 else slice(way * n, (way + 1) * n)

    def _all_targets(self, core: int, way: int) -> Int32Array:
        """Return the cores after the ids of each class, read in one way."""
        columns = range(self._width)[self._columns(way)]
        firsts = np.unique(self._kind_of, return_index=True)[1].tolist()
        found: Int32Array = np.array([self._target(core, columns[number]) for number in firsts], dtype=np.int32)
        return found[self._kind_of]

    def _kind(self, known: _Class) -> object:
        """Return all that decides to which core an id of a class leads, if it leads anywhere."""
        parts = known.parts
        if not isinstance(parts, TokenParts):
            return parts
        is_dead = bool(parts.tail) and not self._cuts.of(parts.tail)
        return not parts.head, parts.effect, not parts.tail, is_dead, known.alone, known.label

    def _target(self, core: int, column: int) -> int:
        way, number = self._way_of(column)
        if way is None:
            return self._completed(core, number)
        key = core, way, int(self._kind_of[number])
        if key not in self._of_kind:
            self._of_kind[key] = self._target_by_way(core, way, self._classes[number])
        return self._of_kind[key]

    def _target_by_way(self, core: int, way: int, known: _Class) -> int:
        """Return the core after an id: one that begins with a symbol, within a piece (1) or not (0), or ends one."""
        parts = known.parts
        if parts == "special":
            return self._initial_core if way < 2 and self._final[core] else DEAD
        if parts is None or core == DEAD or (parts.tail and not self._cuts.of(parts.tail)):
            return DEAD
        if way < 2:
            return DEAD if parts.head else self._begun(core, known, parts, bool(way))
        if not parts.head or known.alone:
            return DEAD
        return self._inside(core, known, parts, way == 2)

    def _begun(self, core: int, known: _Class, parts: TokenParts, may_continue: bool) -> int:
        """Return the core after an id that begins with a symbol, if a piece may cross the boundary before it or not."""
        may_continue &= not known.alone
        found: _Found = {}
        first = self._tree[_ROOT].get(known.label, _NOWHERE)
        for guess in self._cores[core]:
            longer = self._tree[guess.node].get(known.label, _NOWHERE)
            may_begin = guess.node not in self._ends
            ways = [(may_continue, may_begin, longer)]
            if longer != first:
                # Apart for those pieces that the token continues and those that it begins.
                ways = [(True, False, longer)] * may_continue + [(False, True, first)] * may_begin
            for may_cross, may_start, node in ways:
                self._add(found, parts, guess.states, not may_start, not may_cross, node)
        return self._number(found)

    def _completed(self, core: int, symbol: int) -> int:
        """Return the core within a token, after it has completed a symbol of a class."""
        if symbol in self._undivided:
            return DEAD
        effect = self._lift.effect_after(None, symbol)
        found: _Found = {}
        for guess in self._cores[core]:
            states = self._lift.apply(guess.states, effect, not guess.must_begin, not guess.is_inside)
            if states:
                key = True, False, guess.node
                found[key] = found.get(key, 0) | states
        return self._number(found)

    def _inside(self, core: int, known: _Class, parts: TokenParts, completes: bool) -> int:
        """Return the core after an id that begins within a symbol, which it completes or not."""
        found: _Found = {}
        for guess in self._cores[core]:
            node = self._tree[guess.node].get(known.label, _NOWHERE)
            if completes:
                self._add(found, parts, guess.states, True, False, node)
            else:
                key = guess.is_inside, guess.must_begin, node
                found[key] = found.get(key, 0) | guess.states
        return self._number(found)

    def _add(self, found: _Found, parts: TokenParts, states: int, is_inside: bool, must_begin: bool, node: int) -> None:
        """Add the states of the split NFA after the whole symbols of a token, and after the symbol that it cuts off."""
        if parts.effect is not None:
            states = self._lift.apply(states, parts.effect, not must_begin, not is_inside)
            is_inside, must_begin = True, False
        if states:
            key = (is_inside, must_begin, node) if parts.tail else (False, False, node)
            found[key] = found.get(key, 0) | states

    def _number(self, found: _Found) -> int:
        """Return the number of a core."""
        core = tuple(_Guess(states, *key) for key, states in sorted(found.items()))
        number = self._number_of.get(core)
        if number is not None:
            return number
        is_final = any(self._lift.is_final(LiftState(guess.states)) and guess.node not in self._ends for guess in core)
        with SHARED:
            number = self._number_of.get(core, len(self._cores))
            if number == len(self._cores):
                self._enter(core, is_final)
        return number

    def _enter(self, core: _Core, is_final: bool) -> None:
        """Give a core the next number."""
        number = len(self._cores)
        if (number + 1) * self._width > MAX_ENTRIES:
            raise LimitExceededError("the pre-tokenizer has too many states over ids", value=number)
        if number == len(self._targets):
            self._targets = np.concatenate((self._targets, np.full_like(self._targets, -1)))
            self._final = np.concatenate((self._final, np.zeros_like(self._final)))
            self.struct.set("targets", self._targets)
            self.struct.set("final", self._final)
        self._final[number] = is_final
        self._cores.append(core)
        self._number_of[core] = number

    def _classify(self, text: np.ndarray, offsets: np.ndarray, kinds: IdKinds) -> Int32Array:
        usable, special, alone, forbidden, _ = kinds
        nfa = self._lift.split_nfa
        byte_classes = np.zeros(256, dtype=np.int32)
        keys, told = words.take_apart(
            text, offsets, ~usable, nfa.class_of_code_point, nfa.n_classes, byte_classes, self._effect_after
        )
        numbered = words.number_keys(keys, MAX_CLASSES)
        if numbered is None:
            raise LimitExceededError("the ids have too many classes", value=f"more than {MAX_CLASSES}")
        distinct, key_of = numbered
        parts = [self._lift.joined(*words.parts_of_key(key)) for key in distinct.tolist()]
        numbers: dict[_Class, int] = {self._classes[0]: 0}

        def number(known: _Class) -> int:
            if known not in numbers:
                numbers[known] = len(self._classes)
                self._classes.append(known)
            return numbers[known]

        class_of: Int32Array = np.array([number(_Class(part)) for part in parts], dtype=np.int32)[key_of]
        labels = {id for piece in forbidden for id in piece}
        for id in sorted({*np.flatnonzero(alone).tolist(), *labels}):
            class_of[id] = number(_Class(parts[key_of[id]], bool(alone[id]), id if id in labels else -1))
        class_of[(told == words.BAD) | ~usable] = 0
        class_of[special] = number(_Class("special"))
        return class_of

    def _effect_after(self, before: int | None, symbol: int) -> int:
        effect = self._lift.effect_after(before, symbol)
        if effect > words.MOST_EFFECTS:
            raise LimitExceededError("the ids have too many effects", value=effect)
        return effect
