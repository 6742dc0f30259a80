"""Whether ids begin with other ids, and if not, where, why and who is right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.display import Displayed
from tokdfa.rollouts.cause import cause_of
from tokdfa.rollouts.finding import finder_of
from tokdfa.rollouts.stretches import Stretches
from tokdfa.rollouts.wording import prefix_sentence
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.validation.violation import Cause, common_prefix

__all__ = ["PrefixCheck", "PrefixKind", "check_prefix"]


class PrefixKind(StrEnum):
    """The ways in which ids begin, or do not begin, with other ids. The values are stable.

    Attributes
    ----------
    HOLDS
        They begin with them.
    TOO_SHORT
        They are a proper prefix of them.
    TOKENIZATION
        The same text has other ids.
    TEXT
        The text is another one.

    Examples
    --------
    >>> tokdfa.check_prefix(tokdfa.default_tokenizer(), [64, 261], [64, 2513]).kind.value
    'tokenization'
    """

    HOLDS = "holds"
    TOO_SHORT = "too-short"
    TOKENIZATION = "tokenization"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixCheck(Displayed):
    """Whether ids b begin with ids a, and the first place where they do not; truthy if they do.

    Attributes
    ----------
    kind : PrefixKind
    index : int
        The number of ids that are the same; where a ends if b begins with it.
    byte_offset : int
        The byte offset at which the first differing ids begin, or for another text the first byte that differs.
    ids_a, ids_b : tuple of int
        The differing ids up to the next border that both share, or up to the end of a; none if the text differs.
    text_a, text_b : bytes
        What the ids spell from `byte_offset` on, some bytes of it.
    canonical : {"a", "b", "both", "neither", ""}
        Which of them are canonical there, each in its own stream. Both are if only what follows a makes the
        difference. Empty if b begins with a, or the text is another one.
    cause : Cause or None
        Why those that are not canonical are not; why a cannot stay as it is before what follows if both are canonical.

    Examples
    --------
    >>> check = tokdfa.check_prefix(tokdfa.default_tokenizer(), [64, 261, 1193], [64, 2513, 462])
    >>> bool(check), check.index, check.canonical, check.cause.rule
    (False, 1, 'b', 2257)
    """

    kind: PrefixKind
    index: int
    byte_offset: int
    ids_a: tuple[int, ...] = ()
    ids_b: tuple[int, ...] = ()
    text_a: bytes = b""
    text_b: bytes = b""
    canonical: str = ""
    cause: Cause | None = None

    def __bool__(self) -> bool:
        return self.kind == PrefixKind.HOLDS

    @property
    def holds(self) -> bool:
        """Whether b begins with a."""
        return self.kind == PrefixKind.HOLDS

    @property
    def same_text(self) -> bool:
        """Whether one text begins with the other."""
        return self.kind != PrefixKind.TEXT

    @property
    def reason(self) -> str:
        """The answer in one sentence."""
        return prefix_sentence(self)


def check_prefix(tokenizer: AnyTokenizer, a: npt.ArrayLike, b: npt.ArrayLike) -> PrefixCheck:
    """Decide whether ids b begin with ids a, and if not, say where, why, and which of them are canonical there.

    Trainers that keep what was sampled rely on this: the ids of a turn must begin with the ids of the turns before it.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    a, b : array_like of int

    Returns
    -------
    PrefixCheck
        Truthy if b begins with a.

    Raises
    ------
    TokenStreamError
        If they are not ids of the tokenizer; the error says which.
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.

    Notes
    -----
    The comparison costs what comparing the arrays costs; only if they differ is anything decoded.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> check = tokdfa.check_prefix(tokenizer, [64, 261, 1193], [64, 2513, 462])  # a≀ s≀ingle, a≀ single≀ man
    >>> print(check.reason)
    token 1 differs, in the same text: a has 261 1193, b has 2513; b is canonical there, rule 2257,  s≀ingle, merges
    in a
    """
    left, right = (tokenizer.decoder.check(ids) for ids in (a, b))
    index = common_prefix(left, right)
    spelled = tokenizer.round_trip.spelled
    if index == min(len(left), len(right)):
        byte = len(spelled(left[:index])[0]) if index else 0
        kind = PrefixKind.HOLDS if index == len(left) else PrefixKind.TOO_SHORT
        ids = left[index:].tolist()
        return PrefixCheck(kind=kind, index=index, byte_offset=byte, ids_a=tuple(ids))
    (text_a, ends_a), (text_b, ends_b) = spelled(left), spelled(right)
    begin = int(ends_a[index - 1]) if index else 0
    size = min(len(text_a), len(text_b))
    same = common_prefix(np.frombuffer(text_a[:size], np.uint8), np.frombuffer(text_b[:size], np.uint8))
    if same < size:
        shown = slice(same, same + _SHOWN)
        return PrefixCheck(
            kind=PrefixKind.TEXT, index=index, byte_offset=same, text_a=text_a[shown], text_b=text_b[shown]
        )
    stop_a, stop_b = _meeting(ends_a, ends_b, begin, len(text_a))
    part_a, part_b = left[index:stop_a], right[index:stop_b]
    shown = slice(begin, begin + _SHOWN)
    wrong_a, wrong_b = (_wrong(tokenizer, ids, index, stop) for ids, stop in ((left, stop_a), (right, stop_b)))
    which = {(False, False): "both", (False, True): "a", (True, False): "b", (True, True): "neither"}
    cause = wrong_a or wrong_b
    if cause is None:
        # Each is right by itself, so it is what follows a in b that merges with it.
        after = text_b[int(ends_a[stop_a - 1]) : int(ends_b[stop_b - 1])].decode("utf-8", "ignore")
        joined: Int32Array = np.concatenate((left[:stop_a], tokenizer.encode(after), right[stop_b:]))
        cause = _wrong(tokenizer, joined, index, stop_a + 1)
    return PrefixCheck(
        kind=PrefixKind.TOKENIZATION,
        index=index,
        byte_offset=begin,
        ids_a=tuple(part_a.tolist()),
        ids_b=tuple(part_b.tolist()),
        text_a=text_a[shown],
        text_b=text_b[shown],
        canonical=which[wrong_a is not None, wrong_b is not None],
        cause=cause,
    )


_SHOWN = 48


def _meeting(ends_a: Int64Array, ends_b: Int64Array, begin: int, size: int) -> tuple[int, int]:
    """Return the ends of the ids up to the first border after `begin` that both share, or up to the end of a."""
    shared = np.intersect1d(ends_a[ends_a > begin], ends_b[ends_b > begin])
    border = int(shared[0]) if len(shared) else size
    stop_b = int(np.searchsorted(ends_b, border)) + 1
    return int(np.searchsorted(ends_a, border)) + 1, min(stop_b, len(ends_b))


def _wrong(tokenizer: AnyTokenizer, ids: Int32Array, begin: int, stop: int) -> Cause | None:
    """Return why the ids from `begin` to `stop` are not canonical in their stream; None if they are."""
    found: Stretches = tokenizer.derived(finder_of).find(ids, np.array([0]), np.array([len(ids)]))
    for at in np.flatnonzero((found.bounds[:, 0] < stop) & (found.bounds[:, 1] > begin)).tolist():
        stretch = found.chosen(at, at + 1)
        low, high = stretch.bounds[0].tolist()
        cause, _ = cause_of(tokenizer, ids[low:high], stretch.canonical, int(stretch.outcomes[0]))
        return cause
    return None
