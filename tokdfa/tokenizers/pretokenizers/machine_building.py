"""Building the machine of a splitting: its hypotheses, determinized.

It is small, because a state is a few hypotheses and does not record how far back they diverge.
"""

from __future__ import annotations

import numpy as np

from tokdfa.automata.exploration import Numbering
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.budget import DEFAULT_MAX_SECONDS, Budget
from tokdfa.tokenizers.pretokenizers.hypotheses_finding import find_hypotheses
from tokdfa.tokenizers.pretokenizers.known_machines import is_known
from tokdfa.tokenizers.pretokenizers.machine import DEFAULT_MAX_STATES, Hypotheses, Machine, Runs, splitting_budget
from tokdfa.tokenizers.pretokenizers.step_trees import naming_counters
from tokdfa.tokenizers.pretokenizers.steps import Splitting

__all__ = ["build_machine"]

_MOST_HYPOTHESES = 255
_MOST_CLASSES = 256


def build_machine(
    splitting: Splitting, *, max_states: int = DEFAULT_MAX_STATES, max_seconds: float = DEFAULT_MAX_SECONDS
) -> Machine:
    """Return the machine of a splitting, determinized from :func:`find_hypotheses`, within these limits."""
    budget = splitting_budget(max_seconds)
    # Results within the usual time are shared. Those that are shipped are made here.
    is_shared = max_seconds == DEFAULT_MAX_SECONDS and not is_known(splitting)
    hypotheses = find_hypotheses(splitting, None if is_shared else budget)
    with naming_counters(splitting):
        return _determinize(hypotheses, max_states, budget)


def _determinize(hypotheses: Hypotheses, max_states: int, budget: Budget) -> Machine:
    """Return the machine whose states are the sets of hypotheses to pursue together."""
    states: Numbering[tuple[int, ...]] = Numbering((0,))
    targets: list[list[int]] = []
    origins: list[list[list[tuple[int, int]]]] = []
    for state in states.states:  # grows during the loop
        row, origin_row = [], []
        for symbol in range(hypotheses.n_classes):
            origin: dict[int, tuple[int, int]] = {}
            for place, hypothesis in enumerate(state):
                for target, event in hypotheses.moves[hypothesis][symbol]:
                    # Two paths to one hypothesis would be two splits of one text.
                    assert target not in origin
                    origin[target] = (place, event)
            assert origin
            key = tuple(sorted(origin))
            if len(key) > _MOST_HYPOTHESES:
                what = f"the split pattern takes more than {_MOST_HYPOTHESES} hypotheses at once"
                raise LimitExceededError(what, hint="simplify it")
            budget.spend(len(key))
            row.append(states[key])
            origin_row.append([origin[hypothesis] for hypothesis in key])
        targets.append(row)
        origins.append(origin_row)
        if len(states) > max_states:
            what = f"the automaton of the split pattern has more than {max_states} states"
            raise LimitExceededError(what, hint="simplify the pattern")
        budget.check_time()
    borne_out = []
    for state in states.states:
        (place,) = [place for place, hypothesis in enumerate(state) if hypotheses.ends[hypothesis]]
        borne_out.append(place)
    return _merge_classes(hypotheses, states.states, np.array(targets, dtype=np.int32), origins, borne_out, budget)


def _merge_classes(
    hypotheses: Hypotheses,
    states: list[tuple[int, ...]],
    target: Int32Array,
    origins: list[list[list[tuple[int, int]]]],
    borne_out: list[int],
    budget: Budget,
) -> Machine:
    """Return the machine over the classes that it distinguishes."""
    most = max(map(len, states))
    n_states, n_classes = target.shape
    budget.check_size(2 * most * n_states * n_classes, "hypotheses")
    padded = np.zeros((2, n_states, n_classes, most), dtype=np.uint8)
    for source, row in enumerate(origins):
        for symbol, pairs in enumerate(row):
            padded[:, source, symbol, : len(pairs)] = np.array(pairs, dtype=np.uint8).T
    columns = np.concatenate((target[..., None], *padded), axis=2).swapaxes(0, 1).reshape(n_classes, -1)
    _, first, merged = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    if len(first) > _MOST_CLASSES:
        raise LimitExceededError(f"the split pattern takes more than {_MOST_CLASSES} classes", value=len(first))
    return Machine(
        Runs.of(merged.reshape(-1).astype(np.uint8)[hypotheses.class_of_code_point]),
        target[:, first],
        np.array([len(state) for state in states], dtype=np.int32),
        np.ascontiguousarray(padded[0][:, first]),
        np.ascontiguousarray(padded[1][:, first]),
        np.array(borne_out, dtype=np.uint8),
    )
