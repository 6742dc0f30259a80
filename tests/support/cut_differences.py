"""A shortest text that two pre-tokenizers cut differently, for any merges in the pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.base.budget import Budget
from tokdfa.kernels.encode.events import CONTINUES, DROPPED
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.steps import Splitting

__all__ = ["first_text_cut_differently"]

_SURROGATES = range(0xD800, 0xE000)
_FIRST_VISIBLE = 0x21


class _State(NamedTuple):
    """A hypothesis of each splitting, whether each is in text that is dropped, and whether they differ already."""

    hypotheses: tuple[int, int]
    drops: tuple[bool, bool] = (False, False)
    differs: bool = False


def first_text_cut_differently(one: Splitting, other: Splitting) -> str | None:
    """Return a text with the fewest symbols that two splittings cut differently; None if they cut every text alike.

    Raises
    ------
    PatternError, LimitExceededError
        If a splitting cannot be expressed by an automaton, or one within the budget.

    Notes
    -----
    Breadth-first search through the product of two unambiguous automata: each confirms exactly one hypothesis about a
    text, so that the texts that are cut differently are those on which the confirmed ones differ in some event.

    Examples
    --------
    >>> from tests.support.cut_differences import first_text_cut_differently
    >>> from tokdfa.tokenizers.pretokenizers.steps import NAMED
    >>> first_text_cut_differently(NAMED["llama3"], NAMED["qwen2"])
    '00'
    >>> first_text_cut_differently(NAMED["gpt2"], NAMED["gpt2"]) is None
    True
    """
    if one == other:
        return None
    automata = find_split_nfa(one), find_split_nfa(other)
    symbols = _symbols(*automata)
    budget = Budget(what="the comparison of two split patterns")
    start = _State((0, 0))
    came: dict[_State, tuple[_State, str] | None] = {start: None}
    level = [start]
    while level:
        following: list[_State] = []
        for state in level:
            first, second = state.hypotheses
            if state.differs and automata[0].ends[first] and automata[1].ends[second]:
                return _spelled(came, state)
            budget.check_time()
            for symbol, classes in symbols:
                for target in _successors(automata, state, classes):
                    if target not in came:
                        came[target] = state, symbol
                        following.append(target)
        budget.check_states(len(came))
        level = following
    return None


def _symbols(one: SplitNFA, other: SplitNFA) -> list[tuple[str, tuple[int, int]]]:
    """Return a symbol of each pair of classes that some symbol has, with the pair: the first one that can be seen."""
    pairs = one.class_of_code_point.astype(np.int64) << 16 | other.class_of_code_point
    pairs[_SURROGATES.start : _SURROGATES.stop] = -1
    found, first = np.unique(np.roll(pairs, -_FIRST_VISIBLE), return_index=True)
    examples = sorted((at, pair) for pair, at in zip(found.tolist(), first.tolist(), strict=True) if pair >= 0)
    return [(chr((at + _FIRST_VISIBLE) % len(pairs)), (pair >> 16, pair & 0xFFFF)) for at, pair in examples]


def _successors(automata: tuple[SplitNFA, SplitNFA], state: _State, classes: tuple[int, int]) -> Iterator[_State]:
    one, other = (
        automaton.moves[at][of] for automaton, at, of in zip(automata, state.hypotheses, classes, strict=True)
    )
    for first, event in one:
        for second, other_event in other:
            # Text dropped together with text dropped before is as good as dropped by itself.
            effects = [
                DROPPED if does == CONTINUES and dropped else does
                for does, dropped in zip((event, other_event), state.drops, strict=True)
            ]
            drops = effects[0] == DROPPED, effects[1] == DROPPED
            yield _State((first, second), drops, state.differs or effects[0] != effects[1])


def _spelled(came: dict[_State, tuple[_State, str] | None], state: _State) -> str:
    text = []
    while (step := came[state]) is not None:
        state, symbol = step
        text.append(symbol)
    return "".join(reversed(text))
