"""The tables of a search: the spellings of ids, the automata of the pattern, and the effects of tokens on states."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array, Uint16Array
from tokdfa.kernels.library import Struct, call, check_memory, ffi, lib

__all__ = [
    "LONGEST_IN_CLASS",
    "MOST_CLASSES",
    "NO_MOVES",
    "TOLD",
    "backward_of",
    "classes_of",
    "forward_of",
    "glances_of",
    "idle_outcomes",
    "machine_of",
    "moves_at_rest",
    "moves_by_class",
    "spelled_of",
    "token_effects",
]

TOLD = ("delay", "restart", "right", "fixed", "shorter", "ending", "alive", "end_restart")
"""What is recorded for a state: the fields of ``tokdfa_told``, each a column of an int64 array."""
assert [name for name, _ in ffi.typeof("tokdfa_told").fields] == list(TOLD)

MOST_CLASSES = 1 << 16
"""The numbers of classes of tokens are smaller than this."""
LONGEST_IN_CLASS = 0x7FFF
"""The maximum length of tokens that have classes or marks."""

_N_SYMBOLS = 257
_MOST_COLUMNS = 258
_N_ROWS = 33


def spelled_of(text: Uint8Array, offsets: Int64Array, cuts: BoolArray) -> Struct:
    """Return the spellings of ids as C reads them.

    The bytes of id i are ``text[offsets[i]:offsets[i + 1]]``, ascending from 0 to the length of the text; `cuts` says
    whether it is that of a special token.
    """
    starts = offsets << 1
    starts[:-1] |= cuts
    return Struct("tokdfa_spelled", bytes=np.ascontiguousarray(text), starts=starts)


def forward_of(table: Int32Array, column_of: IntegerArray, boundary: int, told: Int64Array, idle: int) -> Struct:
    """Return the searching automaton.

    `table`, of shape (states, columns), has targets; state 0 is the sink. `column_of` has those of the bytes, and that
    of the edge of the text; the column `boundary` comes after every token, -1 for none. `told`, of shape (states, 8),
    has the fields `TOLD` of every state, of which `alive` is filled here. Most of a text is read in the state `idle`.
    """
    n_states, n_columns = table.shape
    if len(column_of) != _N_SYMBOLS or n_columns > _MOST_COLUMNS or told.shape != (n_states, len(TOLD)):
        raise TypeError("these arrays are not those of one searching automaton")
    column_of = np.ascontiguousarray(column_of, dtype=np.uint16)
    table = np.ascontiguousarray(table).reshape(-1)
    told = told.reshape(-1)
    call(lib.tokdfa_alive_columns, table, n_states, n_columns, column_of, out=(told,))
    return Struct(
        "tokdfa_forward", column_of=column_of, table=table, n_columns=n_columns, boundary=boundary, told=told, idle=idle
    )


def backward_of(
    table: Int32Array, accepts: BoolArray, initial: Int32Array, class_of: Uint16Array, delayed: bool
) -> Struct:
    """Return the automaton that finds where matches begin.

    `table`, of shape (states, classes + 3), is that of :class:`tokdfa.regex.class_dfa.ClassDFA`; `accepts` says
    which states do; `initial` has the state for each kind of the symbol after a match, `class_of` the class of every
    code point. If `delayed`, it takes the symbol before a match to know that it begins after that symbol.
    """
    return Struct(
        "tokdfa_backward",
        table=np.ascontiguousarray(table).reshape(-1),
        accepts=np.ascontiguousarray(accepts),
        initial=np.ascontiguousarray(initial),
        class_of=class_of,
        n_classes=table.shape[1] - 3,
        delayed=int(delayed),
    )


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("properties", "entries", "runs"), np.zeros(0, dtype=np.int32)),
    **dict.fromkeys(("glances", "rows"), np.zeros(0, dtype=np.uint16)),
    **dict.fromkeys(("marks", "groups"), np.zeros(0, dtype=np.uint64)),
    "outcomes": np.zeros(0, dtype=np.int64),
    "n_classes": 0,
    "second": -1,
}

NO_MOVES = Struct("tokdfa_moves", **_NOTHING)
"""What is known of the effects of tokens at first: nothing. Each token is read symbol by symbol."""


def token_effects(text: Struct, forward: Struct, max_effects: int) -> tuple[Int32Array, Int32Array]:
    """Return the number of each token's effect on all states at once, 0 being that of reading nothing; and the effects.

    An effect maps states to entries: an int32 array of shape (effects, states) has four times the state reached from a
    state, plus 1 if a match has ended or the search has died on the way, plus 2 if it has died on the first symbol. It
    is empty if there are more than `max_effects`, at most 2^29 divided by the number of states.

    Equal effects are shared, and the effect of one more symbol is computed once, so each symbol of a token takes one
    look-up.
    """
    n_ids, n_states = text.pointer.n_starts - 1, forward.pointer.n_told // len(TOLD)
    if max_effects < 1:
        return np.empty(0, dtype=np.int32), np.empty((0, n_states), dtype=np.int32)
    effect: Int32Array = np.empty(n_ids, dtype=np.int32)
    # The parts of this that are never written take no memory.
    effects: Int32Array = np.empty((max_effects + 1, n_states), dtype=np.int32)
    n_effects = check_memory(
        call(lib.tokdfa_token_effects, text.pointer, forward.pointer, max_effects, out=(effect, effects))
    )
    return effect, effects[:n_effects]


def classes_of(
    text: Struct, forward: Struct, effect: Int32Array, effects: Int32Array
) -> tuple[Int32Array, Int32Array, int]:
    """Return the classes of tokens with equal effects, of :func:`token_effects`.

    The states times the classes are at most 2^29, no token is longer than `LONGEST_IN_CLASS`. Returns `properties`, the
    class of each id, in bits 0 to 15, and its length; `entries`, in which that of state q and class c is ``entries[q *
    n_classes + c]``, see ``search.h``; and the number of classes.
    """
    n_effects, n_states = effects.shape
    class_of: Int32Array = np.empty(n_effects, dtype=np.int32)
    n_classes = call(lib.tokdfa_number_classes, effect, len(effect), n_effects, out=(class_of,))
    properties: Int32Array = np.empty(len(effect), dtype=np.int32)
    entries: Int32Array = np.empty(n_states * n_classes, dtype=np.int32)
    call(
        lib.tokdfa_fill_classes,
        text.pointer,
        forward.pointer,
        effect,
        effects,
        n_effects,
        class_of,
        n_classes,
        out=(properties, entries),
    )
    return properties, entries, n_classes


def glances_of(
    properties: Int32Array, entries: Int32Array, n_classes: int, n_states: int, idle: int
) -> tuple[Uint16Array, Uint16Array, int]:
    """Return what a search that looks at many tokens at a time has to know of each, given :func:`classes_of`.

    `idle` is the state in which most of a text is read. Returns the `glances`, a uint16 number an id: its row, its
    column and its length; see ``search.h``. Then 33 `rows` of bits: bit c of row r is clear only if tokens of column c
    are at rest after tokens of row r that are: they lead to where they lead from the idle state, and nothing happens.
    Bit c of row 16 + r is clear only if they lead to the second state, and nothing happens; and bit c of the last row,
    only if they are at rest after the second state. Last that `second` state: one that many tokens lead to that are not
    at rest; -1 for none.
    """
    glances: Uint16Array = np.empty(len(properties), dtype=np.uint16)
    rows: Uint16Array = np.empty(_N_ROWS, dtype=np.uint16)
    second = check_memory(
        call(
            lib.tokdfa_fill_glances,
            properties,
            len(properties),
            entries,
            n_classes,
            n_states,
            idle,
            out=(glances, rows),
        )
    )
    return glances, rows, second


def idle_outcomes(text: Struct, forward: Struct, backward: Struct, *, with_runs: bool) -> tuple[Int64Array, Int32Array]:
    """Return the effects of tokens on the idle state, see ``search.h``; and the states after each byte, if wanted.

    The pattern has no assertions and is not aligned, so that a search begins anew in the idle state.
    """
    outcomes: Int64Array = np.empty(text.pointer.n_starts - 1, dtype=np.int64)
    runs: Int32Array = np.empty(text.pointer.n_bytes if with_runs else 0, dtype=np.int32)
    call(
        lib.tokdfa_idle_outcomes,
        text.pointer,
        forward.pointer,
        backward.pointer,
        out=(outcomes, runs if with_runs else None),
    )
    return outcomes, runs


def moves_by_class(
    text: Struct, forward: Struct, effect: Int32Array, effects: Int32Array, backward: Struct | None
) -> Struct:
    """Return the effects of tokens that have classes.

    Outcomes from the idle state are included if the pattern has no assertions and is not aligned; otherwise `backward`
    is None.
    """
    properties, entries, n_classes = classes_of(text, forward, effect, effects)
    n_states = len(entries) // n_classes
    glances, rows, second = glances_of(properties, entries, n_classes, n_states, forward.pointer.idle)
    found = {"properties": properties, "entries": entries, "n_classes": n_classes, "glances": glances, "rows": rows}
    if backward is not None:
        found["outcomes"] = idle_outcomes(text, forward, backward, with_runs=False)[0]
    return Struct("tokdfa_moves", **_NOTHING | found | {"second": second})


def moves_at_rest(text: Struct, forward: Struct, backward: Struct) -> Struct:
    """Return the effects of tokens if there are too many classes; no token is longer than `LONGEST_IN_CLASS`."""
    outcomes, runs = idle_outcomes(text, forward, backward, with_runs=True)
    groups = np.empty(2 * (forward.pointer.n_told // len(TOLD)), dtype=np.uint64)
    marks = np.empty(len(outcomes), dtype=np.uint64)
    call(lib.tokdfa_mark_groups, text.pointer, forward.pointer, outcomes, out=(groups, marks))
    found = {"outcomes": outcomes, "runs": runs, "marks": marks, "groups": groups}
    return Struct("tokdfa_moves", **_NOTHING | found)


def machine_of(text: Struct, forward: Struct, backward: Struct, moves: Struct) -> Struct:
    """Return the machine that a search runs."""
    return Struct("tokdfa_machine", text=text, forward=forward, backward=backward, moves=moves)
