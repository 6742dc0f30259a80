"""The table that validation walks by: a pre-tokenizer's machine lifted to ids, as far as streams have needed it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint16Array, Uint32Array, distinct
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.base.locks import SHARED
from tokdfa.kernels.library import Struct
from tokdfa.kernels.normalization.quick_check import no_form
from tokdfa.kernels.walk import parts as words
from tokdfa.kernels.walk import walk as kernels
from tokdfa.regex.unicode.quick_check import boundaries, form_tables
from tokdfa.tokenizers.boundaries.added import check_overlaps, spelled_specials
from tokdfa.tokenizers.pretokenizers.token_lift import LiftState, TokenLift, TokenParts

if TYPE_CHECKING:
    from tokdfa.jobs.validation.model import Model

MAX_ENTRIES = 1 << 25

_WHOLE = -1
"""The child of a node of `Backwards` at which a content is complete."""

CONTEXT = 8
"""This number of ids has more symbols than a look-ahead sees."""

LONGEST_STEP = 1 << 16
"""The most ids among which a certain cut is looked for at a time; arrays of so many are cheap to allocate."""


class _Class(NamedTuple):
    """The properties of all ids of a class: their parts, their parts of special tokens, their role in normalizing.

    None is the class of ids that no canonical stream has.
    """

    parts: TokenParts | Literal["special"] | None
    nodes: tuple[int, ...] = ()
    role: int = 0


class Backwards:
    """A tree of contents, each read from its end to its beginning; `longest` is the length of the longest in bytes.

    `children` has the node that follows node n on byte b at ``256 * n + b``: 0 for none, -1 for the beginning of a
    content. Node 0 is the end of all contents.
    """

    def __init__(self, contents: Sequence[bytes]) -> None:
        self._contents = contents
        self.longest = max(map(len, contents), default=0)
        rows: list[dict[int, int]] = [{}]
        for content in contents:
            node = 0
            for byte in reversed(content[1:]):
                if rows[node].get(byte, 0) == _WHOLE:
                    break  # A shorter content ends here.
                if byte not in rows[node]:
                    rows[node][byte] = len(rows)
                    rows.append({})
                node = rows[node][byte]
            else:
                rows[node][content[0]] = _WHOLE
        children = np.zeros((len(rows), 256), dtype=np.int32)
        for number, row in enumerate(rows):
            children[number, list(row)] = list(row.values())
        self.children: Int32Array = children.reshape(-1)

    def nodes(self, word: bytes) -> tuple[int, ...] | None:
        """Return the nodes of all contents that end within a word and begin before it; None if it has a whole one."""
        if not self._contents:
            return ()
        found = []
        for end in range(1, len(word) + 1):
            node = 0
            for byte in reversed(word[:end]):
                node = int(self.children[256 * node + byte])
                if node <= 0:
                    break
            if node == _WHOLE:
                return None
            if node > 0:
                found.append(node)
        return tuple(found)


class Table:
    """A table with a row for each state of a lifted pre-tokenizer, made on demand, and a column for each class of ids.

    Row i begins at the entry ``i * width``. For each id, `lengths` has the number of bytes, and `special` whether its
    token is special. UnsupportedFeatureError, PatternError or LimitExceededError is raised if the streams of the
    tokenizer cannot be walked.
    """

    def __init__(self, model: Model) -> None:
        tokenizer = model.tokenizer
        assert tokenizer.pretokenizer is not None
        if not model.boundaries.certain.any():
            raise UnsupportedFeatureError("there is no place where the pre-tokenizer certainly cuts")
        if int(model.lengths.max(initial=0)) > kernels.MOST:
            raise LimitExceededError("a token is too long for the walk", value=int(model.lengths.max()))
        contents = spelled_specials(tokenizer)
        check_overlaps(contents)
        # The parts of the model needed later; the model refers to the table.
        self.pairs = model.walked_pairs
        self.lengths = model.lengths
        self._spelled = tokenizer.id_spellings
        self._doubts = model.doubts
        self._boundaries = model.boundaries
        self.special = model.special
        self._parts = model.parts
        form = self._form_of_texts = model.form
        self.token_lift = _token_lift(tokenizer.pretokenizer.splitting)
        self._backwards = Backwards(contents)
        bounds = model.doubts.bounds
        # The number of preceding ids that are inspected when an id is walked over.
        self.reach = max(self._backwards.longest, 2 + int(np.diff(bounds).max(initial=0)))
        if form is not None:
            self.reach = max(self.reach, kernels.MOST_IDS)
        # A special token that the text spells goes back by fewer ids than this.
        self.margin = 1 + CONTEXT + self.reach
        # Row 0 and class 0 are empty.
        self._states: list[LiftState | None] = [None]
        self._number_of_state: dict[LiftState, int] = {}
        self._classes = [_Class(None)]
        self._number_of_class: dict[_Class, int] = {self._classes[0]: 0}
        self._class_of_id = self._classify(model)
        self.width = 64
        while self.width < len(self._classes):
            self.width *= 2
        self.length_of_id = model.lengths.astype(np.uint16)
        bounds = np.cumsum([0, *(len(known.nodes) for known in self._classes)]).astype(np.int32)
        nodes = np.array([node for known in self._classes for node in known.nodes], dtype=np.int32)
        self._specials = (bounds, nodes, self._backwards.children)
        self._role = np.array([known.role for known in self._classes], dtype=np.uint8)
        self._form = no_form() if form is None else form_tables(form)
        self._walker: tuple[Struct, Struct] | None = None
        self._is_final: Uint8Array = np.zeros(0, dtype=np.uint8)
        self._grow(1)
        self.initial = self._number(self.token_lift.initial, self.token_lift.is_final(self.token_lift.initial))

    def is_final(self, number: int) -> bool:
        """Return whether a stream may end in a state."""
        return bool(self._is_final[number])

    def walker(self, pairs: Struct) -> Struct:
        """Return the struct that the kernels walk by, with a pair test; a new one if the table has grown."""
        known = self._walker
        if known is None or known[0] is not pairs:
            with SHARED:
                rows = self._allowed, self._other, self._is_final
            doubts = self._doubts
            allowed, other, is_final = rows
            trigger, node_at, children = self._specials
            text, offsets = self._spelled
            walker = Struct(
                "tokdfa_walker", class_of=self._class_of_id, length_of=self.length_of_id, allowed=allowed, other=other,
                is_final=is_final, width=self.width, initial=self.initial * self.width, trigger=trigger,
                node_at=node_at, children=children, text=text, offsets=offsets, doubt_keys=doubts.keys,
                doubt_range=doubts.range, doubt_bounds=doubts.bounds, doubt_ids=doubts.ids, pairs=pairs,
                role=self._role, form=self._form,
            )  # fmt: skip
            known = pairs, walker
            with SHARED:
                if rows[0] is self._allowed:
                    self._walker = known
        return known[1]

    def learn(self, number: int, id: int) -> None:
        """Compute the transition of a state on an id; LimitExceededError is raised if the table becomes too large."""
        state = self._states[number]
        assert state is not None
        column = int(self._class_of_id[id])
        known = self._classes[column]
        # Row 0: a walk that guesses continues as a new text would.
        sources = ((state, True), (state, False), (self.token_lift.initial, True))
        targets = [self._following(source, known.parts, may_continue) for source, may_continue in sources]
        are_final = [target is not None and self.token_lift.is_final(target) for target in targets]
        with SHARED:
            allowed, other, again = map(self._number, targets, are_final)
            flags = kernels.LOOK if allowed != other or not allowed else 0
            if allowed and (known.nodes or known.role & kernels.JOINS):
                flags = kernels.LOOK | kernels.CLOSELY
            entry = number * self.width + column
            self._other[entry] = other * self.width << 2
            self._allowed[entry] = allowed * self.width << 2 | flags
            self._allowed[column] = again * self.width << 2 | kernels.LOOK

    def last_certain(self, ids: Int32Array, stop: int) -> int:
        """Return the last index up to `stop` where the text is always cut between two of `ids`; 0 if none is found.

        There must be an id at `stop`.
        """
        certain, first_symbol, last_symbol = self._cuts
        step = 64
        while stop > 0:
            low = max(stop - step, 0)
            last, first = last_symbol[ids[low:stop]], first_symbol[ids[low + 1 : stop + 1]]
            cuts = np.flatnonzero(certain[last, first])
            if len(cuts):
                return low + 1 + int(cuts[-1])
            stop = low
            step = min(4 * step, LONGEST_STEP)
        return 0

    def wrong_parts(
        self, ids: Int32Array, begins: Int64Array, ends: Int64Array, *, is_open: bool = False
    ) -> tuple[Int64Array, int | None]:
        """Return the parts of streams with something wrong in them, and the number of bytes of all if there are none.

        Stream k has the ids, all of the tokenizer, from ``begins[k]`` to ``ends[k]``; the last one continues after
        these if it `is_open`. Outside of the parts, an int64 array of shape (parts, 2), all is canonical. A part begins
        and ends where its stream does, or where its text is always cut, and no special token that the text spells
        crosses its ends. LimitExceededError is raised if the table becomes too large.
        """
        pairs = self.pairs.struct_for(len(ids))
        return kernels.wrong_parts(
            lambda: self.walker(pairs),
            self._where_cut,
            ids,
            (begins, ends),
            looks_back=(CONTEXT, self.reach),
            is_open=is_open,
            initial=self.initial * self.width,
            learn=lambda row, id: self.learn(row // self.width, id),
        )

    @cached_property
    def _where_cut(self) -> Struct:
        return kernels.cuts(*self._cuts)

    # For single ids

    @property
    def anywhere(self) -> LiftState:
        """The state between two symbols of any text."""
        return LiftState((1 << len(self.token_lift.split_nfa.moves)) - 1)

    def parts_of(self, id: int) -> TokenParts | Literal["special"] | None:
        """Return the class of an id; None if no canonical stream has it."""
        return self._classes[int(self._class_of_id[id])].parts

    def is_cut_between(self, left: int, right: int) -> bool:
        """Return whether the text is always cut between two ids."""
        certain, first_symbol, last_symbol = self._cuts
        return bool(certain[last_symbol[left], first_symbol[right]])

    # Making it

    def _following(
        self, state: LiftState, parts: TokenParts | Literal["special"] | None, may_continue: bool
    ) -> LiftState | None:
        """Return the state after an id with these parts; None if the id cannot follow."""
        if parts is None:
            return None
        if parts == "special":
            return self.token_lift.initial if self.token_lift.is_final(state) else None
        assert isinstance(parts, TokenParts)
        return self.token_lift.step(state, parts, may_continue)

    def _number(self, state: LiftState | None, is_final: bool) -> int:
        """Return the row of a state, a new one unless it has one; 0 for None."""
        if state is None:
            return 0
        number = self._number_of_state.get(state)
        if number is None:
            number = len(self._states)
            if number == len(self._is_final):
                self._grow(number + 1)
            self._states.append(state)
            self._is_final[number] = is_final
            self._number_of_state[state] = number
        return number

    def _grow(self, n_states: int) -> None:
        """Grow to this capacity in states; new entries are unknown."""
        capacity = 64
        while capacity < n_states:
            capacity *= 2
        if capacity * self.width > MAX_ENTRIES:
            raise LimitExceededError("the table of the pre-tokenizer is too large", value=(capacity, self.width))
        larger = np.full((2, capacity, self.width), kernels.UNKNOWN | kernels.LOOK, dtype=np.uint32)
        larger[:, 0, :] = larger[:, :, 0] = kernels.LOOK
        is_final = np.zeros(capacity, dtype=np.uint8)
        if len(self._states) > 1:
            n = len(self._is_final)
            larger[:, :n] = np.stack((self._allowed, self._other)).reshape(2, n, self.width)
            is_final[:n] = self._is_final
        self._allowed: Uint32Array = larger[0].reshape(-1)
        self._other: Uint32Array = larger[1].reshape(-1)
        self._is_final = is_final
        self._walker = None

    def _classify(self, model: Model) -> Uint16Array:
        """Determine the classes of ids, and return the class of each id."""
        split_nfa = self.token_lift.split_nfa
        text, offsets = self._spelled
        keys, told = words.take_apart(
            text,
            offsets,
            model.never_walked | model.special,
            split_nfa.class_of_code_point,
            split_nfa.n_classes,
            self._backwards.children,
            self._effect_after,
        )
        numbered = words.number_keys(keys, kernels.MOST)
        if numbered is None:
            raise LimitExceededError("the ids have too many classes", value=f"more than {kernels.MOST}")
        known_keys, number = numbered
        parts = [self.token_lift.joined(*words.parts_of_key(key)) for key in known_keys.tolist()]
        class_of_key = np.array([self._class(_Class(part)) for part in parts], dtype=np.uint32)
        found = class_of_key[number]
        found[told == words.BAD] = 0
        for id in np.flatnonzero(told == words.SPELLS).tolist():
            nodes = self._backwards.nodes(model.bytes_of(id))
            found[id] = 0 if nodes is None else self._class(_Class(parts[number[id]], nodes))
        found[model.special] = self._class(_Class("special"))
        for role, ids in (
            (kernels.JOINS, model.joins),
            (kernels.PARTS, model.parts & (self._form_of_texts is not None)),
        ):
            for number in distinct(found[ids & (found > 0)]).tolist():
                known = self._classes[number]
                found[ids & (found == number)] = self._class(known._replace(role=known.role | role))
        if len(self._classes) > kernels.MOST:
            raise LimitExceededError("the ids have too many classes", value=len(self._classes))
        return found.astype(np.uint16)

    def _effect_after(self, before: int | None, symbol: int) -> int:
        effect = self.token_lift.effect_after(before, symbol)
        if effect > words.MOST_EFFECTS:
            raise LimitExceededError("the ids have too many effects", value=effect)
        return effect

    def _class(self, known: _Class) -> int:
        number = self._number_of_class.setdefault(known, len(self._classes))
        if number == len(self._classes):
            self._classes.append(known)
        return number

    @cached_property
    def _cuts(self) -> tuple[BoolArray, Int32Array, Int32Array]:
        """The classes between which the text is always cut, and the classes of the first and last symbol of each id.

        There is one more class for symbols that are cut and for ids that no canonical stream has, and one for special
        tokens.
        """
        n = self._boundaries.n_classes
        certain = np.zeros((n + 2, n + 2), dtype=np.bool_)
        certain[:n, :n] = self._boundaries.certain
        certain[n + 1] = True
        outer = []
        for symbol in words.outer_symbols(*self._spelled):
            classes = np.where(symbol >= 0, self._boundaries.classes_of(symbol), n).astype(np.int32)
            if self._form_of_texts is not None:
                # Normalization may join other symbols to those before them, or change them.
                classes[~boundaries(self._form_of_texts)[np.maximum(symbol, 0)]] = n
            classes[self._class_of_id == 0] = n
            classes[self.special] = n
            outer.append(classes)
        outer[1][self.special & (self._parts | (self._form_of_texts is None))] = n + 1
        return certain, outer[0], outer[1]


_token_lift = lru_cache(maxsize=16)(TokenLift)  # Making one takes a tenth of a second.
