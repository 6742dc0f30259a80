"""Texts in a normalization form, as two automata over bytes that a text passes side by side.

"e" with U+0323 and U+0301 is in NFC only as one character, U+1EB9, with U+0301 after it. The automaton of *orders* has
the combining class of the last mark for its state, and refuses a mark of a lower class: U+0301 and then U+0323. The
automaton of *compositions* has the characters that would still join the last starter: after "e" among others U+0301 and
U+0323; after "e" and a mark of class 220, which blocks all up to this class, U+0301 but no longer U+0323. It also
refuses the characters that the form changes by themselves. The Unicode Standard, section 3.11.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache, partial
from typing import NamedTuple, TypeVar

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int32Array, Uint16Array
from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine
from tokdfa.jobs.guiding.splits import Cuts
from tokdfa.regex.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, Form, joining, normalize, tables

_State = TypeVar("_State", bound=Hashable)

_LEADS = frozenset(map(chr, range(0x1100, 0x1113)))
_VOWELS = frozenset(map(chr, range(0x1161, 0x1176)))
_TAILS = frozenset(map(chr, range(0x11A8, 0x11C3)))


class FormMachines(NamedTuple):
    """The automata of the texts in a form: those that both accept; each has a state 1 that accepts most."""

    orders: ByteMachine
    compositions: ByteMachine


class _Character(NamedTuple):
    """How a form treats a character."""

    order: int = 0  # Its combining class
    joins: str = ""  # The character if it composes with some starters before it; vowels and tails of Hangul are alike
    joined_by: frozenset[str] = frozenset()  # The characters that it composes with, marks of its own included
    is_kept: bool = True  # Whether the form keeps it by itself


@cache
def form_machines(form: Form) -> FormMachines:
    """Return the automata of the texts in a form."""
    kinds, kind_of = _kinds(form)
    cuts = Cuts(kind_of)
    orders = over_bytes(cuts, _rows(kinds, 0, _next_order), kind_of)
    return FormMachines(orders, over_bytes(cuts, _rows(kinds, frozenset[str](), _next_joining), kind_of))


def _next_order(order: int, kind: _Character) -> int | None:
    """Return the combining class of the last mark after a character; None if the mark is out of order."""
    return None if 0 < kind.order < order else kind.order


def _next_joining(forbidden: frozenset[str], kind: _Character) -> frozenset[str] | None:
    """Return the characters that would join the last starter after one more; None if it joins, or is not kept."""
    if kind.joins in forbidden or not kind.is_kept:
        return None
    if not kind.order:
        return kind.joined_by
    return frozenset(each for each in forbidden if tables().combining.get(each, 0) > kind.order)


@cache
def _kinds(form: Form) -> tuple[list[_Character], Uint16Array]:
    """Return the kinds of characters that a form treats alike, and the kind of each code point."""
    data = tables()
    joined_by = _joined_by() if form in ("NFC", "NFKC") else {}
    joins = {each: each for each in joining()} if joined_by else {}
    joins |= {each: min(alike) for alike in (_VOWELS, _TAILS) for each in alike if joins}
    changed = {*data.decompositions, *map(chr, range(HANGUL_FIRST, HANGUL_LAST + 1))}
    changed |= {*data.compatibility} if form in ("NFKC", "NFKD") else set()
    changed = {each for each in changed if normalize(each, form) != each}
    numbers = {_Character(): 0}
    found = np.zeros(0x110000, dtype=np.uint16)
    for each in {*data.combining, *joins, *joined_by, *changed}:
        kind = _Character(
            data.combining.get(each, 0), joins.get(each, ""), joined_by.get(each, frozenset()), each not in changed
        )
        found[ord(each)] = numbers.setdefault(kind if kind.is_kept else _Character(is_kept=False), len(numbers))
    return [*numbers], found


def _joined_by() -> dict[str, frozenset[str]]:
    """Return the characters that compose with each starter after it has been decomposed, in any text.

    A mark goes before the starter's own marks of higher classes: "é" is joined by U+0323, because "e" is.
    """
    data = tables()
    seconds: dict[str, list[str]] = {}
    for pair in data.compositions:
        seconds.setdefault(pair[0], []).append(pair[1])
    found = dict.fromkeys(_LEADS, frozenset((min(_VOWELS),)))
    found |= dict.fromkeys(map(chr, range(HANGUL_FIRST, HANGUL_LAST + 1, 28)), frozenset((min(_TAILS),)))
    for starter in {*seconds, *data.compositions.values()}:
        parts = data.decompose(starter)
        n_head = 1 + max((n for n, part in enumerate(parts) if part not in data.combining), default=0)
        head, low, joins = normalize(parts[:n_head], "NFC"), 0, set()
        for mark in parts[n_head:]:
            order = data.combining[mark]
            joins |= {each for each in seconds.get(head, ()) if low <= data.combining.get(each, -1) < order}
            head, low = data.compose(head, mark) or head, order
        last = (each for each in seconds.get(head, ()) if data.combining.get(each, low) >= low)
        found[starter] = frozenset(joins.union(last))
    return found


def _rows(kinds: list[_Character], initial: _State, after: Callable[[_State, _Character], _State | None]) -> Int32Array:
    """Return an automaton over kinds of characters: int32[states, kinds], with states numbered from 1 on."""
    numbers = Numbering(initial)
    rows: list[list[int]] = []
    for state in numbers.states:  # It grows during the loop.
        targets = map(partial(after, state), kinds)
        rows.append([NOWHERE if target is None else numbers[target] + 1 for target in targets])
    return np.array(rows, dtype=np.int32)


def over_bytes(cuts: Cuts, rows: Int32Array, kind_of: Uint16Array) -> ByteMachine:
    """Return an automaton over kinds of characters as one over bytes; all its states are final.

    After its states come those within a character; equal ones are one. The initial state stands for an unknown part of
    a character, too.
    """
    n = len(rows) + 1
    # One entry a cut and a state before its character: the state within the character.
    within = np.full((cuts.n_cuts, n - 1), NOWHERE, dtype=np.int32)
    number_of = {np.full(64, NOWHERE, dtype=np.int32).tobytes(): NOWHERE}
    for cut, completions in enumerate(cuts.following.reshape(-1, 64)):
        kinds, inner = np.maximum(-1 - completions, 0), np.maximum(completions, 0)
        targets = np.where(completions < 0, rows[:, kinds], within[inner].T)
        within[cut] = [number_of.setdefault(each.tobytes(), n + len(number_of) - 1) for each in targets]
    table = np.full((n + len(number_of) - 1, 256), NOWHERE, dtype=np.int32)
    table[1:n, :0x80] = rows[:, kind_of[:0x80]]
    table[1:n, 0x80:] = within[cuts.leads[0x80:]].T
    table[n:, 0x80:0xC0] = np.frombuffer(b"".join([*number_of][1:]), dtype=np.int32).reshape(-1, 64)
    table[1, 0x80:0xC0] = 1
    final: BoolArray = np.arange(len(table)) > NOWHERE
    return ByteMachine(table, np.arange(256, dtype=np.int32), final, 1)
