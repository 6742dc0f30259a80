"""The effects of ids by state: the product of a decoder and an automaton of stop strings, built where streams go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.tokenizers.stop_strings import EVERYTHING, Found, StopStrings

if TYPE_CHECKING:
    from tokdfa.tokenizers.text_states import TextStates

_N_STATE = 4
_LONGEST_KEPT = 64

MOST_ENTRIES = 1 << 18
"""So many ids are kept with their texts, by state; speed and memory depend on it, but no text."""


class Entry(NamedTuple):
    """The effect of an id in a row, or of more ids.

    `given` is the text that is given out, without the held text of the row if `first`, the first two characters of the
    `text` of the id, do not continue a stop string there. `after` is the next row.
    """

    given: str
    after: Row
    ids: int | Int32Array
    first: str = ""
    text: str = ""


class Row(dict[int, Entry]):
    """The effect of each id in a state.

    `state` belongs to the decoder, and `node` to the stop strings: some texts may continue the `held` text to one. Ids
    with other texts have the effect that they have in the `base`, the row of the state where nothing is held. A long
    text is not kept here, and all texts may continue it. `end` is why no id follows.
    """

    __slots__ = ("base", "continues", "end", "held", "node", "rows", "state", "stop")

    def __init__(self, rows: Rows, state: Any, node: int, stop: int = -1, end: str = "") -> None:
        self.rows, self.state, self.node, self.stop, self.end = rows, state, node, stop, end
        is_long = rows.stops.size(node) > _LONGEST_KEPT
        self.held = "" if is_long else rows.stops.held(node)
        self.continues = EVERYTHING if is_long else rows.stops.continues(node)
        self.base = rows.row(state, 0) if node and not end else self

    def __missing__(self, id: int) -> Entry:
        return self.rows.entry(self, id)

    def given(self, entry: Entry) -> str:
        """Return the text that is given out by an entry of this row or its base."""
        return entry.given if entry.first in self.continues else self.held + entry.given


class Rows:
    """The product of a decoder and an automaton of stop strings, built where streams go.

    At most `most_entries` entries are kept; then all of them are forgotten, and built again where they are used.
    """

    def __init__(self, states: TextStates, stops: StopStrings, is_id: BoolArray, dropped: BoolArray | None) -> None:
        self.states, self.stops, self.dropped = states, stops, dropped
        self._is_id = is_id
        self.most_entries = MOST_ENTRIES
        self._rows: dict[tuple[Any, int], Row] = {}
        self._n_entries = 0

    @property
    def initial(self) -> Row:
        """The row where a stream begins."""
        return self.row(self.states.initial, 0)

    def row(self, state: Any, node: int) -> Row:
        """Return the row of two states."""
        if not self.states.is_kept(state):
            return Row(self, state, node)
        row = self._rows.get((state, node))
        if row is None:
            row = self._rows[state, node] = Row(self, state, node)
            self._n_entries += _N_STATE
        return row

    def entry(self, row: Row, id: int) -> Entry:
        """Return the effect of an id in a row, and keep it there; KeyError if no id follows, or it is none."""
        if row.end or not (0 <= id < len(self._is_id) and self._is_id[id]):
            raise KeyError(id)
        if self.dropped is not None and self.dropped[id]:
            entry = Entry("", row, id)
        elif row.node:
            usual = row.base[id]
            text, after = usual.text, usual.after
            found = None
            if after.stop >= 0:
                found = Found(after.stop, len(usual.given) + len(self.stops.strings[after.stop]))
            node, found = self.stops.walk(row.node, text, (after.node, found))
            entry = Entry(*self.given(row, text, after.state, node, found), id, usual.first, text)
        else:
            text, state = self.states.read(row.state, id)
            node, found = self.stops.walk(0, text)
            entry = Entry(*self.given(row, text, state, node, found), id, text[:2], text)
        if self.states.is_kept(row.state):
            if self._n_entries >= self.most_entries:
                self._forget()
            self._n_entries += 1
            row[id] = entry
        return entry

    def _forget(self) -> None:
        for row in self._rows.values():
            row.clear()
        self._rows.clear()
        self._n_entries = 0

    def given(self, row: Row, text: str, state: Any, node: int, found: Found | None) -> tuple[str, Row]:
        """Return the text to give out after some more was decided, and the next row.

        The stop strings have reached `node` after it, and `found` is a stop string in it.
        """
        whole = self.stops.held(row.node) + text
        if found is None:
            return whole[: len(whole) - self.stops.size(node)], self.row(state, node)
        begin = len(whole) - len(text) + found.end - len(self.stops.strings[found.stop_index])
        return whole[:begin], self.stopped(state, node, found)

    def stopped(self, state: Any, node: int, found: Found) -> Row:
        """Return a row after a stop string, which no id follows."""
        return Row(self, state, node, found.stop_index, "the stream has come to a stop string")

    def finish(self, row: Row) -> tuple[str, Row]:
        """Return the rest of the text in a row, and a row that no id follows."""
        text = self.states.finish(row.state)
        node, found = self.stops.walk(row.node, text)
        given, after = self.given(row, text, row.state, node, found)
        if found is not None:
            return given, after
        return given + self.stops.held(node), Row(self, row.state, 0, end="the stream is finished")
