"""The only upward imports: methods of values that modules in higher layers carry out.

``tokenizer.validate(ids)`` calls :func:`tokdfa.validate`, ``dfa.to_dot()`` makes a drawing, and a notebook asks a value
to display itself. The value is in a low layer and the code that it needs is in a high one, so the imports of such
methods would run against the layers. They all go through this module, which imports each function on first use. It is
below all others, and its imports are the only ones that the contract in ``pyproject.toml`` ignores. A test enforces it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from pathlib import Path
    from typing import Any, TypeVar

    import networkx as nx
    import numpy.typing as npt

    from tokdfa.alphabet import TokenAlphabet
    from tokdfa.automata.protocol import TokenAutomaton
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.dictionary import Dictionary
    from tokdfa.guiding.api import Guide
    from tokdfa.guiding.bans import Ban
    from tokdfa.patterns.finder import Wanted
    from tokdfa.searching.matches import Matches
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.transducers.transducer import Transducer
    from tokdfa.validation.result import Validation

    S = TypeVar("S", bound=Hashable)

__all__ = [
    "dfa_to_dot",
    "from_networkx",
    "guide",
    "search",
    "show",
    "to_networkx",
    "transducer_to_dot",
    "validate",
    "write_dictionary",
    "write_out",
]


def search(
    tokenizer: AnyTokenizer,
    pattern: str | Iterable[str | bytes],
    ids: npt.ArrayLike,
    *,
    wanted: Wanted,
    aligned: bool,
    table: str,
    max_seconds: float,
) -> Matches:
    """Call :func:`tokdfa.search`."""
    return _search()(tokenizer, pattern, ids, wanted=wanted, aligned=aligned, table=table, max_seconds=max_seconds)


def guide(
    tokenizer: AnyTokenizer,
    language: str | TokenDFA | None,
    *,
    end: int | Iterable[int] | None,
    vocab_size: int | None,
    ban: Ban | None,
) -> Guide:
    """Call :func:`tokdfa.guide`."""
    from tokdfa.guiding.api import guide

    return guide(tokenizer, language, end=end, vocab_size=vocab_size, ban=ban)


# Even an import that is already done takes a microsecond or two, of the few that a short stream takes.


@cache
def validate() -> Callable[..., Validation]:
    """Return :func:`tokdfa.validate`."""
    from tokdfa.validation.api import validate

    return validate


@cache
def _search() -> Callable[..., Matches]:
    from tokdfa.searching.api import search

    return search


def show(value: object) -> dict[str, str]:
    """Call :func:`tokdfa.draw.display.bundle`."""
    from tokdfa.draw.display import bundle

    return bundle(value)


def write_dictionary(dictionary: Dictionary, path: str | Path, *, pretokenizer: str, suffix: str | None) -> list[Path]:
    """Call :func:`tokdfa.training.output.write_dictionary`."""
    from tokdfa.training.output import write_dictionary

    return write_dictionary(dictionary, path, pretokenizer=pretokenizer, suffix=suffix)


def dfa_to_dot(dfa: TokenDFA, *, max_labels: int | None) -> str:
    """Call :func:`tokdfa.draw.automaton.dfa_to_dot`."""
    from tokdfa.draw.automaton import dfa_to_dot

    return dfa_to_dot(dfa, max_labels=max_labels)


def transducer_to_dot(transducer: Transducer) -> str:
    """Call :func:`tokdfa.draw.automaton.transducer_to_dot`."""
    from tokdfa.draw.automaton import transducer_to_dot

    return transducer_to_dot(transducer)


def write_out(automaton: TokenAutomaton[S], alphabet: TokenAlphabet, max_states: int, max_transitions: int) -> TokenDFA:
    """Call :func:`tokdfa.automata.explicit.write_out`."""
    from tokdfa.automata.explicit import write_out

    return write_out(automaton, alphabet, max_states, max_transitions)


def to_networkx(dfa: TokenDFA) -> nx.MultiDiGraph[int]:
    """Call :func:`tokdfa.automata.graph.to_networkx`."""
    from tokdfa.automata.graph import to_networkx

    return to_networkx(dfa)


def from_networkx(graph: nx.MultiDiGraph[Any]) -> TokenDFA:
    """Call :func:`tokdfa.automata.graph.from_networkx`."""
    from tokdfa.automata.graph import from_networkx

    return from_networkx(graph)
