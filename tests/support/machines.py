"""Running the machine of a split pattern plainly: the twin of the kernel, and for all texts of a length at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tokdfa.tokenizers.pretokenizers.machine import Machine


def events(machine: Machine, text: str) -> list[int]:
    """Return what each symbol of `text` does: 0 nothing, 1 begin a piece, 2 begin text that is left out."""
    classes = [int(machine.class_of_code_point[ord(symbol)]) for symbol in text]
    states = [0]
    for number in classes:
        states.append(int(machine.target[states[-1], number]))
    hypothesis = int(machine.borne_out[states[-1]])
    found = []
    for state, number in zip(reversed(states[:-1]), reversed(classes), strict=True):
        found.append(int(machine.event[state, number, hypothesis]))
        hypothesis = int(machine.parent[state, number, hypothesis])
    assert hypothesis == 0
    return found[::-1]


def spans_of_events(found: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pieces, given what each symbol does."""
    begun = [(at, event) for at, event in enumerate(found) if event]
    ends = [*(at for at, _ in begun), len(found)][1:]
    return [(at, end) for (at, event), end in zip(begun, ends, strict=True) if event == 1]


def all_beginnings(machine: Machine, symbols: str, length: int) -> npt.NDArray[np.int64]:
    """Return for all texts of that length, in lexicographic order, the places where pieces begin, as bits."""
    classes = machine.class_of_code_point[[ord(symbol) for symbol in symbols]]
    k = len(symbols)
    states = [np.zeros(1, dtype=np.int32)]
    for _ in range(length):
        states.append(machine.target[states[-1][:, None], classes[None, :]].reshape(-1))
    hypothesis = machine.borne_out[states[-1]]
    found = np.zeros(k**length, dtype=np.int64)
    text = np.arange(k**length)
    for place in range(length - 1, -1, -1):
        prefix = text // k ** (length - place - 1)
        state, number = states[place][prefix // k], classes[prefix % k]
        event = machine.event[state, number, hypothesis]
        assert event.max(initial=0) <= 1
        found |= (event == 1).astype(np.int64) << place
        hypothesis = machine.parent[state, number, hypothesis]
    assert not hypothesis.any()
    return found
