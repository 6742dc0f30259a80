"""The prefix automaton: which ids can come next so that some canonical stream continues.

A state is a product: the state of the pre-tokenizer, the row of the last id, the special token that the text may be
spelling or the character that a form may compose, and the state of the language of texts. Whether a canonical stream
continues from a state is found by a search for one, and cached. The next ids of two states that differ only in the last
id differ only in the ids that it forbids, so they share one pair of masks: they have one *base*. After an id, the state
depends on the row only by whether it forbids the id: the id then begins a piece. So the moves of a base are found once
for all rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from operator import lt
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint32Array
from tokdfa.base.errors import LimitExceededError, WrongTypeError
from tokdfa.base.locks import SHARED
from tokdfa.base.recent import Recent
from tokdfa.jobs.guiding.texts import Texts
from tokdfa.jobs.guiding.tokens import NONE, Tokens
from tokdfa.kernels.guiding import product as kernels
from tokdfa.kernels.library import Struct
from tokdfa.regex.unicode.normalization import Form
from tokdfa.tokenizers.tokenizer import Tokenizer

MAX_BASES = 1 << 10
MAX_SLOTS = 1 << 21

_Answer = TypeVar("_Answer", bound="tuple[Any, ...]")


class State(NamedTuple):
    """A state of the prefix automaton."""

    split: int  # The state of the pre-tokenizer
    row: int  # The row of the last id: the ids that may not follow it within a piece
    spelled: int  # The state of the scan of the text: for special tokens, and for changes by a normalization form
    text: int  # The state of the language of texts


class PrefixAutomaton:
    """The canonical streams of a tokenizer with their texts in a language, without dead ends.

    `any` is the automaton of all texts, unless it is this one: states from which no text continues are found there once
    for all languages. Methods refuse states of other automata, and searches through `MOST_SEARCHED` states without an
    answer.
    """

    _most_late: ClassVar[int] = kernels.MOST_LATE
    _most_tried: ClassVar[int] = kernels.MOST_TRIED

    def __init__(self, tokens: Tokens, texts: Texts, any: PrefixAutomaton | None = None) -> None:
        self.tokens = tokens
        self.texts = texts
        self.initial = State(tokens.splits.initial, NONE, 0, texts.initial)
        self._n_words = -(-tokens.n_ids // 32)
        self._n_rows = len(tokens.follow_sets.pointer) - 1
        self._final_text: list[bool] = texts.final.tolist()
        # The masks of bases; under a base and a limit, for streams that must end within it after the next id.
        self._bases: OrderedDict[tuple[int, ...], kernels.Masks] = OrderedDict()
        self._knows_least = False
        self._cache = kernels.cache_of(1 << 12, 1 << 10, int(tokens.trie.depth.max(initial=0)), texts.n_states + 1)
        self._answers = self._cache.pointer
        self._any = any
        self._guide: Struct = Struct(
            "tokdfa_guide", splits=tokens.splits.struct, followers=tokens.follow_sets.struct,
            forbidding=tokens.follow_sets.forbidding, ids=tokens.struct, texts=texts.struct, cache=self._cache,
            any=None if any is None else any._guide,
        )  # fmt: skip

    def is_final(self, state: State) -> bool:
        """Return whether a stream may end in a state."""
        state = self.checked(state)
        return self.tokens.splits.is_final(state.split) and self._final_text[state.text]

    def checked(self, state: tuple[int, ...]) -> State:
        """Return a state of this automaton; refuse anything else."""
        if isinstance(state, tuple) and len(state) == 4 and all(isinstance(part, (int, np.integer)) for part in state):
            found = State(*state)
            splits, scan = self.tokens.splits, self.tokens.scan
            limits = splits.n_states, self._n_rows, scan.n_states, self.texts.n_states + 1
            if min(found) >= 0 and found.split and found.text and all(map(lt, found, limits)):
                return found
        raise WrongTypeError("the guide has no such state", value=state)

    def target(self, state: State, id: int) -> State | None:
        """Return the state after an id, whether or not any stream continues from there; None if there is none."""
        return self._after(kernels.target, state, id)

    def step(self, state: State, id: int) -> State | None:
        """Return the state after an id; None if no stream continues from there."""
        return self._after(kernels.step, state, id)

    def _after(self, find: Callable[[Struct, State, int], int], state: State, id: int) -> State | None:
        """Return the state after an id, which a kernel finds; None if there is none."""
        found = self._answers
        while True:
            with SHARED:
                status = find(self._guide, state, id)
                if status > 0:
                    return State(found.found_split, found.found_row, found.found_spelled, found.found_text)
                missing = found.missing_core, found.missing_column
            if not status:
                return None
            self._help(status, state, missing)

    def _asked(self, ask: Callable[..., _Answer], state: State, *arguments: object) -> _Answer:
        """Return the answer of a kernel, status first, once it lacks nothing."""
        while True:
            with SHARED:
                answer = ask(self._guide, *arguments)
                missing = self._answers.missing_core, self._answers.missing_column
            if answer[0] >= 0:
                return answer
            self._help(answer[0], state, missing)

    def targets(self, state: State, ids: Int32Array) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
        """Return the parts of the states after each of some ids, for any row of a state.

        The first two are of the pre-tokenizer, if the row does not forbid the id, and if it does; 0 for none.
        """
        return self._asked(kernels.targets, state, state.split, state.spelled, state.text, ids)[1]

    def goes_on(self, state: State) -> bool:
        """Return whether a canonical stream continues from a state, or ends there."""
        return bool(self._asked(kernels.goes_on, state, state)[0])

    def ends_within(self, state: State, limit: int) -> bool:
        """Return whether some stream ends within `limit` ids after a state."""
        self._find_least()
        return bool(self._asked(kernels.within, state, state, min(limit, kernels.MOST_IDS))[0])

    def least(self, state: State) -> int:
        """Return the fewest ids up to the end of a stream, from a state that is no dead end."""
        self._find_least()
        limit = int(self._cache.fields["least_ids"][state.text])
        while not self.ends_within(state, limit):
            limit += 1
        return limit

    def _find_least(self) -> None:
        """Find the fewest ids up to an end, canonical or not, from each state of the texts, and which lead nearer."""
        if self._knows_least:
            return
        with SHARED:
            kernels.find_fewest(self._cache, self.texts.struct, *self.texts.backwards(), self._most_tried)
            self._knows_least = True

    def base(self, state: State, limit: int | None = None) -> kernels.Masks:
        """Return the next ids of the states that differ only in the row; all streams end within `limit` ids, if given.

        With a limit, only few ids are looked at, mostly: the others of the masks without one do not need so many.
        """
        key = state.split, state.spelled, state.text
        plain = self._bases.get(key)
        if limit is None:
            return plain or self._found(key, state, self.tokens.scan.differing(state.spelled))
        self._find_least()
        left = min(limit, kernels.MOST_IDS) - 1
        is_tight = left < self._cache.fields["least_ids"][state.text]
        if plain is None and not is_tight:
            plain = self.base(state)
        if plain is not None and left >= plain.most:
            return plain
        known = self._bases.get((*key, left))
        if known is None and plain is not None and left >= plain.floor and not is_tight:
            return self._found((*key, left), state, plain.late[plain.enough > left], plain)
        return known or self._found((*key, left), state, self.tokens.scan.differing(state.spelled))

    def _found(
        self, key: tuple[int, ...], state: State, ids: Int32Array, of: kernels.Masks | None = None
    ) -> kernels.Masks:
        """Find the masks of a base, or of a base and a limit, and keep them."""
        left = key[3] if len(key) > 3 else kernels.NO_LIMIT
        found = self._asked(kernels.find_next, state, *key[:3], left, ids, of or self._n_words, self._most_late)[1]
        with SHARED:
            self._bases[key] = found
            if len(self._bases) > MAX_BASES:
                self._bases.popitem(last=False)
        return found

    def mask(self, state: State, limit: int | None = None) -> Uint32Array:
        """Return the mask of the ids with which a stream continues, and ends within `limit` ids; a new array."""
        state = self.checked(state)
        if limit is not None and limit <= 0:
            return np.zeros(self._n_words, dtype=np.uint32)
        base = self.base(state, limit)
        bits = base.allowed.copy()
        kernels.forbid(self.tokens.follow_sets.struct, state.row, base.fragile, bits)
        return bits

    def is_enough(self, state: State, limit: int) -> bool:
        """Return whether the mask with a limit is known to be the one without."""
        known = self._bases.get((state[0], state[2], state[3]))
        return known is not None and known.most < limit

    def _help(self, status: int, state: State, missing: tuple[int, int]) -> None:
        """Provide the kernels with a `missing` cell or a larger cache, or say why it cannot be provided.

        No lock is held meanwhile: a missing cell may need tables that another thread builds, waiting for this one.
        """
        self.checked(state)
        if status == kernels.MISSING:
            self.tokens.splits.fill(*missing)
        elif status == kernels.TABLE_FULL:
            self._enlarge()
        elif status == kernels.TABLE_OF_ANY_FULL and self._any is not None:
            self._any._enlarge()
        elif status == kernels.TOO_MANY:
            what = f"{kernels.MOST_SEARCHED} states did not show whether any canonical stream goes on"
            raise LimitExceededError(what, hint="use a narrower language")
        else:
            raise AssertionError(f"the kernels know this state, but not the id: {state}")

    def _enlarge(self) -> None:
        """Give the cache more slots, or allow a longer search."""
        with SHARED:
            cache = self._cache
            n_slots, n_searched = len(cache.fields["values"]), len(cache.fields["trail"])
            if 2 * self._answers.n_known >= n_slots:
                # At the most slots, the known answers are dropped, to be found anew.
                kernels.resize_slots(cache, min(4 * n_slots, MAX_SLOTS), keep=n_slots < MAX_SLOTS)
            else:
                kernels.resize_search(cache, min(4 * n_searched, kernels.MOST_SEARCHED))


def _of_all_texts(tokenizer: Tokenizer, form: Form | None) -> PrefixAutomaton:
    """Return the prefix automaton of all texts of a tokenizer, or of those in a form."""
    tokens = tokenizer.derived(Tokens) if form is None else tokenizer.derived(Tokens, form)
    return PrefixAutomaton(tokens, Texts(tokens, tokens.beginnings.machine("start", tokens.are_apart)))


def prefixes_of(tokens: Tokens, texts: Texts | None = None) -> PrefixAutomaton:
    """Return the prefix automaton of a language of texts; by default of all of them."""
    every = tokens.tokenizer.derived(_of_all_texts, tokens.form)
    return every if texts is None else PrefixAutomaton(tokens, texts, every)


MAX_IDS = 1 << 23

BaseKey: TypeAlias = tuple[int, int, int]
"""The split, the spelled special token and the text of a state, without its row."""


def base_of(state: State) -> BaseKey:
    """Return the base of a state."""
    return state.split, state.spelled, state.text


class Moves(NamedTuple):
    """The ids with which a stream continues from a base, ascending, and their targets: arrays with an entry an id."""

    ids: Int32Array
    # The state of the pre-tokenizer after an id that the row does not forbid, and after one that it forbids; 0 where no
    # stream continues from it.
    free: Int32Array
    cut: Int32Array
    # The other parts of the state after the id.
    row: Int32Array
    spelled: Int32Array
    text: Int32Array
    size: Int64Array  # The number of bytes
    position: Int32Array  # The position of each id in the rows; -1 for ids that none forbids

    def state(self, number: int, *, is_forbidden: bool) -> State:
        """Return the state after the id at an index."""
        split = self.cut if is_forbidden else self.free
        return State(*(int(part[number]) for part in (split, self.row, self.spelled, self.text)))


class MoveTables:
    """The moves of a prefix automaton; those asked for last are kept."""

    def __init__(self, prefixes: PrefixAutomaton) -> None:
        self._prefixes = prefixes
        self.follow_sets = prefixes.tokens.follow_sets
        self._sizes = np.diff(prefixes.tokens.spellings.offsets)
        self._known: Recent[BaseKey, Moves] = Recent(MAX_IDS, lambda moves: moves.ids)

    def of(self, key: BaseKey) -> Moves:
        """Return the moves of a base."""
        return self._known.get(key, self._made)

    def _made(self, key: BaseKey) -> Moves:
        """Return the moves of a base, made anew."""
        prefixes, sets = self._prefixes, self.follow_sets
        state = State(key[0], 0, *key[1:])
        base = prefixes.base(state)
        allowed, fragile = (np.unpackbits(bits.view(np.uint8), bitorder="little") for bits in base[:2])
        ids = np.flatnonzero(allowed).astype(np.int32)
        free, cut, spelled_after, text_after = prefixes.targets(state, ids)
        cut[fragile[ids] != 0] = 0
        rows, sizes = sets.row_of[ids], self._sizes[ids].astype(np.int64)
        return Moves(ids, free, cut, rows, spelled_after, text_after, sizes, sets.position[ids])

    def ways(self, state: State) -> tuple[Moves, BoolArray, Int64Array]:
        """Return the moves of the base of a state, which of them its row forbids, and the indices of those it has."""
        moves = self.of(base_of(state))
        forbidden = self.follow_sets.count_forbidding(moves.position, np.array([state.row])) > 0
        return moves, forbidden, np.flatnonzero(~forbidden | (moves.cut > 0))

    def spans(self, moves: Moves, rows: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
        """Return which of the ids of some moves each of `rows` forbids, as spans of them by their positions.

        `order` has the indices of the ids that a row may forbid to some effect, by their positions. A span has the
        index of its row, and the first and the last index in `order`, exclusively.
        """
        sets = self.follow_sets
        order = np.flatnonzero((moves.position >= 0) & (moves.free != moves.cut))
        order = order[np.argsort(moves.position[order], kind="stable")]
        positions = moves.position[order]
        spans, lengths = sets.spans_of(rows)
        low = np.searchsorted(positions, sets.start[spans])
        high = np.searchsorted(positions, sets.stop[spans])
        which = np.repeat(np.arange(len(rows)), lengths)
        is_any = low < high
        return order, which[is_any], low[is_any], high[is_any]
