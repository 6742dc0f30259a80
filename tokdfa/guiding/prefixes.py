"""The prefix automaton: which ids can come next so that some canonical stream goes on.

A state is a product: what the pre-tokenizer leaves open, the row of the last id, the special token that the text may be
spelling, and the state of the language of texts. Whether a canonical stream goes on from a state is found by a search
for one, and remembered. The next ids of two states that differ only in the last id differ only in what that id forbids,
so they share one pair of masks.
"""

from __future__ import annotations

from collections import OrderedDict
from operator import lt
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Uint32Array
from tokdfa.errors import LimitExceededError, WrongTypeError
from tokdfa.guiding.texts import Texts, texts_of
from tokdfa.guiding.tokens import NONE, Tokens, tokens_of
from tokdfa.kernels.guiding import product as kernels
from tokdfa.kernels.library import Struct
from tokdfa.locks import SHARED
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Place", "PrefixAutomaton", "prefixes_of"]


MAX_BASES = 1 << 10
MAX_SLOTS = 1 << 21


class Place(NamedTuple):
    """A state of the prefix automaton."""

    split: int  # The state of the pre-tokenizer
    row: int  # The row of the last id: what may not follow it within a piece
    spelled: int  # The state of the search for special tokens in the text
    text: int  # The state of the language of texts


class Base(NamedTuple):
    """The next ids of all states that differ only in the row."""

    allowed: Uint32Array  # One bit an id: those that go on if the row does not forbid them
    fragile: Uint32Array  # One bit an id: those of them that do not go on if the row forbids them


class PrefixAutomaton:
    """The canonical streams of a tokenizer whose texts are in a language, without dead ends.

    `any` is the automaton of all texts, unless it is this one: what no text goes on from is found there once for all
    languages. Methods refuse states of other automata, and searches through `MOST_SEARCHED` states without an answer.
    """

    def __init__(self, tokens: Tokens, texts: Texts, any: PrefixAutomaton | None = None) -> None:
        self.tokens = tokens
        self.texts = texts
        self.initial = Place(tokens.splits.initial, NONE, 0, texts.initial)
        self._n_words = -(-tokens.n_ids // 32)
        self._n_rows = len(tokens.followers.pointer) - 1
        self._final_text: list[bool] = texts.final.tolist()
        self._bases: OrderedDict[tuple[int, int, int], Base] = OrderedDict()
        self._room = kernels.room_of(1 << 12, 1 << 10, int(tokens.trie.depth.max(initial=0)), texts.n_states + 1)
        self._answers = self._room.pointer
        self._any = any
        self._guide: Struct = Struct(
            "tokdfa_guide", splits=tokens.splits.struct, followers=tokens.followers.struct, ids=tokens.struct,
            texts=texts.struct, room=self._room, any=None if any is None else any._guide,
        )  # fmt: skip

    def is_final(self, place: Place) -> bool:
        """Return whether a stream may end in a state."""
        place = self.checked(place)
        return self.tokens.splits.is_final(place.split) and self._final_text[place.text]

    def checked(self, place: tuple[int, ...]) -> Place:
        """Return a state of this automaton; refuse what is none."""
        if isinstance(place, tuple) and len(place) == 4 and all(isinstance(part, (int, np.integer)) for part in place):
            found = Place(*place)
            limits = self.tokens.splits.n_states, self._n_rows, self.tokens.spelled.n_states, self.texts.n_states + 1
            if min(found) >= 0 and found.split and found.text and all(map(lt, found, limits)):
                return found
        raise WrongTypeError("the guide has no such state", value=place)

    def target(self, place: Place, id: int) -> Place | None:
        """Return the state after an id, whether or not any stream goes on from there; None if there is none."""
        with SHARED:
            while (status := kernels.target(self._guide, place, id)) < 0:
                self._help(status, place)
            return self._found() if status else None

    def targets(self, place: Place, ids: Int32Array) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
        """Return the states of the parts after each of some ids, whatever the row of a state is.

        Returns
        -------
        free, cut, spelled, text : int32 arrays
            Those of the pre-tokenizer if the row does not forbid the id, and if it does; 0 for none.
        """
        with SHARED:
            while True:
                status, found = kernels.targets(self._guide, place.split, place.spelled, place.text, ids)
                if status >= 0:
                    return found
                self._help(status, place)

    def step(self, place: Place, id: int) -> Place | None:
        """Return the state after an id; None if no stream goes on from there."""
        with SHARED:
            while (status := kernels.step(self._guide, place, id)) < 0:
                self._help(status, place)
            return self._found() if status else None

    def goes_on(self, place: Place) -> bool:
        """Return whether a canonical stream goes on from a state, or ends there."""
        with SHARED:
            while (status := kernels.goes_on(self._guide, place)) < 0:
                self._help(status, place)
            return bool(status)

    def base(self, place: Place) -> Base:
        """Return the next ids of the states that differ only in the row."""
        key = place.split, place.spelled, place.text
        known = self._bases.get(key)
        if known is None:
            with SHARED:
                known = self._bases[key] = self._make_base(place)
                if len(self._bases) > MAX_BASES:
                    self._bases.popitem(last=False)
        return known

    def mask(self, place: Place) -> Uint32Array:
        """Return the mask of the ids with which a stream goes on; a new array."""
        place = self.checked(place)
        base = self.base(place)
        bits = base.allowed.copy()
        kernels.forbid(self.tokens.followers.struct, place.row, base.fragile, bits)
        return bits

    def allowed(self, place: Place) -> Int32Array:
        """Return the ids with which a stream goes on, ascending."""
        return np.flatnonzero(np.unpackbits(self.mask(place).view(np.uint8), bitorder="little")).astype(np.int32)

    def _make_base(self, place: Place) -> Base:
        differing = self.tokens.spelled.differing(place.spelled)
        arguments = place.split, place.spelled, place.text, differing, self._n_words
        while True:
            status, allowed, fragile = kernels.find_next(self._guide, *arguments)
            if status >= 0:
                return Base(allowed, fragile)
            self._help(status, place)

    def _found(self) -> Place:
        found = self._answers
        return Place(found.found_split, found.found_row, found.found_spelled, found.found_text)

    def _help(self, status: int, place: Place) -> None:
        """Provide what the kernels lack, or say why it cannot be provided."""
        found = self._answers
        self.checked(place)
        if status == kernels.MISSING:
            self.tokens.splits.fill(found.missing_core, found.missing_column)
        elif status == kernels.NO_ROOM:
            self._enlarge()
        elif status == kernels.NO_ROOM_FOR_ANY and self._any is not None:
            self._any._enlarge()
        elif status == kernels.TOO_MANY:
            what = f"{kernels.MOST_SEARCHED} states did not show whether any canonical stream goes on"
            raise LimitExceededError(what, hint="use a narrower language")
        else:
            raise AssertionError(f"the kernels know this state, but not the id: {place}")

    def _enlarge(self) -> None:
        """Make room for more places, or for a longer search."""
        room = self._room
        n_slots, n_searched = len(room.fields["values"]), len(room.fields["trail"])
        if 2 * self._answers.n_known >= n_slots:
            # Beyond the most slots, what is known is found anew.
            kernels.resize_slots(room, min(4 * n_slots, MAX_SLOTS), keep=n_slots < MAX_SLOTS)
        else:
            kernels.resize_search(room, min(4 * n_searched, kernels.MOST_SEARCHED))


def _of_all_texts(tokenizer: Tokenizer) -> PrefixAutomaton:
    """Return the prefix automaton of all texts of a tokenizer."""
    tokens = tokens_of(tokenizer)
    return PrefixAutomaton(tokens, texts_of(tokens, None))


def prefixes_of(tokens: Tokens, texts: Texts | None = None) -> PrefixAutomaton:
    """Return the prefix automaton of a language of texts; by default of all of them."""
    every = tokens.tokenizer.derived(_of_all_texts)
    return every if texts is None else PrefixAutomaton(tokens, texts, every)
