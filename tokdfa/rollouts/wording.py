"""The sentences about rollouts. No other module words them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tokdfa.alphabet import show
from tokdfa.rollouts.stretch_class import Counts, Shares
from tokdfa.validation.kind import ViolationKind
from tokdfa.validation.wording import MOST_NAMED

if TYPE_CHECKING:
    from tokdfa.rollouts.prefix import PrefixCheck
    from tokdfa.validation.violation import Cause

__all__ = ["prefix_sentence", "summary"]


def summary(tokens: int, sampled: int, counts: Counts, shares: Shares, *, rollouts: int | None = None) -> str:
    """Return the answer in one line, which a trainer can log.

    Examples
    --------
    >>> summary(2000, 1500, Counts(0, 12, 1), Shares(0.0, 0.016, 0.0015), rollouts=4)
    '4 rollouts, 2,000 ids, 1,500 sampled: 0 bugs, drift 1.6000 % (12 stretches), 1 junction'
    """
    head = "" if rollouts is None else f"{_number(rollouts, 'rollout')}, "
    return (
        f"{head}{_number(tokens, 'id')}, {sampled:,} sampled: {_number(counts.bugs, 'bug')}, "
        f"drift {100 * shares.drift:.4f} % ({_number(counts.drift, 'stretch', 'es')}), "
        f"{_number(counts.junctions, 'junction')}"
    )


def _number(count: int, noun: str, plural: str = "s") -> str:
    return f"{count:,} {noun}{plural * (count != 1)}"


def prefix_sentence(check: PrefixCheck) -> str:
    """Return in one sentence whether ids b begin with ids a, and if not, where and why."""
    match check.kind.value:
        case "holds":
            return f"b begins with a: {_number(check.index, 'id')}"
        case "too-short":
            return f"b ends after {_number(check.index, 'id')}, and a goes on with {_ids(check.ids_a)}"
        case "text":
            return (
                f"the text itself differs from byte {check.byte_offset} on: "
                f"a goes on with {_quoted(check.text_a)}, b with {_quoted(check.text_b)}"
            )
    sides = {
        "a": "a is canonical there",
        "b": "b is canonical there",
        "both": "both are canonical in their own text",
        "neither": "neither is canonical there",
    }
    reason = "" if check.cause is None else _because(check.cause, check.canonical)
    return (
        f"token {check.index} differs, in the same text: a has {_ids(check.ids_a)}, b has {_ids(check.ids_b)}; "
        f"{sides[check.canonical]}{reason}"
    )


def _because(cause: Cause, canonical: str) -> str:
    where = {"a": " in b", "b": " in a", "both": " when a is followed by the rest of b", "neither": " in a"}[canonical]
    match cause.kind:
        case ViolationKind.PAIR if cause.rule is not None and cause.merge is not None:
            left, right = cause.merge
            return f", rule {cause.rule}, {show(left)}≀{show(right)}, merges{where}"
        case ViolationKind.BORDER:
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
