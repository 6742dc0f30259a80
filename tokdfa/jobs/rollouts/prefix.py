"""Whether ids begin with other ids, and if not, where, why and who is right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import quoted
from tokdfa.base.arrays import Int32Array
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.rollouts.finding import finder_of
from tokdfa.jobs.rollouts.result import counted
from tokdfa.jobs.rollouts.spans import Spans, cause_of
from tokdfa.jobs.validation.violation import MOST_NAMED, Cause, ViolationKind, common_prefix
from tokdfa.tokenizers.protocol import AnyTokenizer

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
    """Whether ids b begin with ids a, and the first index where they do not; truthy if they do.

    Attributes
    ----------
    kind : PrefixKind
    index : int
        The number of ids that are the same; where a ends if b begins with it.
    byte_offset : int
        The byte offset at which the first differing ids begin, or for another text the first byte that differs.
    ids_a, ids_b : tuple of int
        The differing ids up to the next boundary that both share, or up to the end of a; none if the text differs.
    text_a, text_b : bytes
        Some of the bytes that the ids spell from `byte_offset` on.
    canonical : {"a", "b", "both", "neither", ""}
        Which of them are canonical there, each in its own stream. Both are if only the ids after a make the difference.
        Empty if b begins with a, or the text is another one.
    cause : Cause or None
        Why the ids that are not canonical are not; if both are canonical, why a cannot stay as it is before the next
        ids.

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
        match self.kind.value:
            case "holds":
                return f"b begins with a: {counted(self.index, 'id')}"
            case "too-short":
                return f"b ends after {counted(self.index, 'id')}, and a goes on with {_ids(self.ids_a)}"
            case "text":
                return (
                    f"the text itself differs from byte {self.byte_offset} on: "
                    f"a goes on with {_quoted(self.text_a)}, b with {_quoted(self.text_b)}"
                )
        reason = "" if self.cause is None else _because(self.cause, self.canonical)
        return (
            f"token {self.index} differs, in the same text: a has {_ids(self.ids_a)}, b has {_ids(self.ids_b)}; "
            f"{_SIDES[self.canonical]}{reason}"
        )


def check_prefix(tokenizer: AnyTokenizer, a: npt.ArrayLike, b: npt.ArrayLike) -> PrefixCheck:
    """Decide whether ids b begin with ids a, and if not, say where, why, and which of them are canonical there.

    Trainers that keep the sampled ids rely on this: the ids of a turn must begin with the ids of the turns before it.

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
        If the dictionary is not proper and its format does not say how libraries merge with it.

    Notes
    -----
    The cost is a comparison of the arrays; only if they differ is anything decoded.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> check = tokdfa.check_prefix(tokenizer, [64, 261, 1193], [64, 2513, 462])  # a≀ s≀ingle, a≀ single≀ man
    >>> print(check.reason)
    token 1 differs, in the same text: a has 261 1193, b has 2513; b is canonical there, rule 2257 (' s' +
    'ingle') merges in a
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
    # Up to the first boundary after `begin` that both share, or up to the end of a.
    shared = np.intersect1d(ends_a[ends_a > begin], ends_b[ends_b > begin])
    boundary = int(shared[0]) if len(shared) else len(text_a)
    stop_a, stop_b = (min(int(np.searchsorted(ends, boundary)) + 1, len(ends)) for ends in (ends_a, ends_b))
    shown = slice(begin, begin + _SHOWN)
    wrong_a, wrong_b = (_wrong(tokenizer, ids, index, stop) for ids, stop in ((left, stop_a), (right, stop_b)))
    which = {(False, False): "both", (False, True): "a", (True, False): "b", (True, True): "neither"}
    cause = wrong_a or wrong_b
    if cause is None:
        # Each is right by itself, so the text after a in b merges with it.
        after = text_b[int(ends_a[stop_a - 1]) : int(ends_b[stop_b - 1])].decode("utf-8", "ignore")
        joined: Int32Array = np.concatenate((left[:stop_a], tokenizer.encode(after), right[stop_b:]))
        cause = _wrong(tokenizer, joined, index, stop_a + 1)
    return PrefixCheck(
        kind=PrefixKind.TOKENIZATION,
        index=index,
        byte_offset=begin,
        ids_a=tuple(left[index:stop_a].tolist()),
        ids_b=tuple(right[index:stop_b].tolist()),
        text_a=text_a[shown],
        text_b=text_b[shown],
        canonical=which[wrong_a is not None, wrong_b is not None],
        cause=cause,
    )


_SHOWN = 48
_SIDES = {
    "a": "a is canonical there",
    "b": "b is canonical there",
    "both": "both are canonical in their own text",
    "neither": "neither is canonical there",
}


def _wrong(tokenizer: AnyTokenizer, ids: Int32Array, begin: int, stop: int) -> Cause | None:
    """Return why the ids from `begin` to `stop` are not canonical in their stream; None if they are."""
    found: Spans = tokenizer.derived(finder_of).find(ids, np.array([0]), np.array([len(ids)]))
    for low, high, canonical, outcome in found.where((found.bounds[:, 0] < stop) & (found.bounds[:, 1] > begin)).rows():
        return cause_of(tokenizer, ids[low:high], canonical, outcome)[0]
    return None


def _because(cause: Cause, canonical: str) -> str:
    where = {"a": " in b", "b": " in a", "both": " when a is followed by the rest of b", "neither": " in a"}[canonical]
    match cause.kind:
        case ViolationKind.PAIR if cause.rule is not None and cause.merge is not None:
            left, right = cause.merge
            return f", rule {cause.rule} ({quoted(left)} + {quoted(right)}) merges{where}"
        case ViolationKind.BOUNDARY:
            return f", a token goes past a place where the text is cut into pieces{where}"
        case ViolationKind.NOT_UTF8:
            return f", the bytes {(cause.bad_bytes or b'').hex(' ')} are not UTF-8{where}"
        case ViolationKind.SPECIAL_TOKEN:
            return f", the text spells the special token {cause.text!r} ({cause.special}){where}"
    return f", the text is encoded as other ids{where}"


def _quoted(text: bytes) -> str:
    return repr(text.decode("utf-8", "backslashreplace")) if text else "nothing"


def _ids(ids: Iterable[int]) -> str:
    named = [*ids]
    return " ".join(map(str, named[:MOST_NAMED])) + " …" * (len(named) > MOST_NAMED) if named else "nothing"
