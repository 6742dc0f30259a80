"""What a comparison finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tokdfa.alphabet import Word
from tokdfa.verdict import Verdict

__all__ = ["Comparison", "Difference"]


class Difference(NamedTuple):
    """A text that the two treat differently, and what each makes of it; None where it cannot be tokenized.

    For dictionaries the tokens are words, for tokenizers they are ids.
    """

    text: Word
    tokens_a: tuple[Any, ...] | None
    tokens_b: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Comparison(Verdict[Difference]):
    """Whether two dictionaries or tokenizers are equivalent, and how they differ.

    Attributes
    ----------
    holds, witness, reason
        See :class:`~tokdfa.verdict.Verdict`; the witness is a :class:`Difference`.
    tokens_only_a, tokens_only_b : tuple of words
        The first live tokens, in the order of length and then of spelling, that only one of them has.
    n_tokens_only_a, n_tokens_only_b : int
        How many there are.
    n_dead_a, n_dead_b : int
        How many tokens of the dictionaries occur in no tokenization.
    pairs_only_a, pairs_only_b : int
        How many pairs of common live tokens are neighbours in tokenizations of only one of the dictionaries.
    checked : mapping
        What was compared, part by part, and what came of it.
    """

    tokens_only_a: tuple[Word, ...] = ()
    tokens_only_b: tuple[Word, ...] = ()
    n_tokens_only_a: int = 0
    n_tokens_only_b: int = 0
    n_dead_a: int = 0
    n_dead_b: int = 0
    pairs_only_a: int = 0
    pairs_only_b: int = 0
    checked: Mapping[str, str] = field(default_factory=dict)
