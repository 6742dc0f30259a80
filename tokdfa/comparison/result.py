"""The result of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tokdfa.alphabet import Word
from tokdfa.comparison import wording
from tokdfa.comparison.findings import Outcome, Part
from tokdfa.verdict import Verdict

__all__ = ["Comparison", "Difference"]


class Difference(NamedTuple):
    """A text that the two treat differently, and its tokens under each; None where it cannot be tokenized.

    The tokens are words for dictionaries, and ids for tokenizers.

    Examples
    --------
    >>> found = tokdfa.compare(tokdfa.Dictionary([("a", "b")]), tokdfa.Dictionary([("b", "a")]))
    >>> found.witness.text, found.witness.tokens_a, found.witness.tokens_b
    ('ab', ('ab',), ('a', 'b'))
    """

    text: Word
    tokens_a: tuple[Any, ...] | None
    tokens_b: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Comparison(Verdict[Difference]):
    """Whether two dictionaries or tokenizers are equivalent, and how they differ.

    Attributes
    ----------
    holds, witness
        See :class:`~tokdfa.verdict.Verdict`; the witness is a :class:`Difference`.
    reason : str
        The result in words, made from the other attributes.
    tokens_only_a, tokens_only_b : tuple of words
        The first live tokens, in the order of length and then of spelling, that only one of them has.
    n_tokens_only_a, n_tokens_only_b : int
        The number of such tokens.
    n_dead_a, n_dead_b : int
        The number of tokens of each dictionary that occur in no tokenization.
    pairs_only_a, pairs_only_b : int
        The number of pairs of common live tokens that are neighbours in tokenizations of only one dictionary.
    n_other_ids : int or None
        The number of common tokens that have different ids; None if they were not counted.
    checked : mapping from Part to Outcome
        The outcome for each part that was compared. The keys and the values are strings as well:
        ``found.checked["pretokenizer"] == "same"``. If the two differ, ``"shortest"`` is among the parts.

    Examples
    --------
    >>> a, b = (tokdfa.Dictionary([("a", "b"), (u, v)]) for u, v in (("ab", "c"), ("c", "c")))
    >>> found = tokdfa.compare(a, b)
    >>> bool(found), found.witness.text, found.tokens_only_a, found.tokens_only_b
    (False, 'cc', ('abc',), ('cc',))
    """

    reason: str = field(init=False, compare=False)
    tokens_only_a: tuple[Word, ...] = ()
    tokens_only_b: tuple[Word, ...] = ()
    n_tokens_only_a: int = 0
    n_tokens_only_b: int = 0
    n_dead_a: int = 0
    n_dead_b: int = 0
    pairs_only_a: int = 0
    pairs_only_b: int = 0
    n_other_ids: int | None = None
    checked: Mapping[Part, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", wording.reason(self))
