"""The result of a comparison, and the one place where a text becomes its witness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tokdfa.automata.alphabet import Word
from tokdfa.base.errors import AlphabetError
from tokdfa.base.verdict import Verdict
from tokdfa.jobs.comparison import findings
from tokdfa.jobs.comparison.findings import Outcome, Part

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Comparison", "Difference", "Names", "confirmed"]


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
        See :class:`~tokdfa.base.verdict.Verdict`; the witness is a :class:`Difference`.
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
        object.__setattr__(self, "reason", findings.reason(self))


# What ids are compared by, for one of the two: their spellings, where the ids themselves are ignored.
Names: TypeAlias = Callable[[Sequence[int]], object]


def confirmed(
    a: AnyTokenizer, b: AnyTokenizer, text: str, names: tuple[Names, Names] | None = None
) -> Difference | None:
    """Return the difference on a text, as encoding shows it; None if there is none.

    A text with a symbol that has no token is refused here, but its library may drop the symbol. If the other tokenizer
    gives the same ids, because it has the symbol removed, the libraries do not differ.
    """
    ids_a, ids_b = _ids(a, text), _ids(b, text)
    if _are_same(ids_a, ids_b, names):
        return None
    if ids_a is None or ids_b is None:
        given_a = _ids_of_library(a, text) if ids_a is None else ids_a
        given_b = _ids_of_library(b, text) if ids_b is None else ids_b
        if given_a is not None and _are_same(given_a, given_b, names):
            return None
    return Difference(text, ids_a, ids_b)


def _are_same(a: tuple[int, ...] | None, b: tuple[int, ...] | None, names: tuple[Names, Names] | None) -> bool:
    if names is None or a is None or b is None:
        return a == b
    return names[0](a) == names[1](b)


def _ids(side: AnyTokenizer, text: str) -> tuple[int, ...] | None:
    try:
        return tuple(side.encode(text).tolist())
    except AlphabetError:
        return None


def _ids_of_library(side: AnyTokenizer, text: str) -> tuple[int, ...] | None:
    """Return the ids without the symbols that the library drops; None if it is not known to drop any."""
    return None if side.leaving_out is None else _ids(side.leaving_out, text)
