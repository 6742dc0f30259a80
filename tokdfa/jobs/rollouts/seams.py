"""Where the parts of rollouts meet: spans counted by their seam, which are the roles and the text on both sides.

A tool's output `]}` and the newline that the template writes after it are one token to the tokenizer, if both are
encoded together: 292 spans at the seam "tool + inserted" are one mistake of a program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.jobs.rollouts.spans import ENCODED, OUT_OF_RANGE, SpanClass, cause_of
from tokdfa.jobs.validation.groups import CONTEXT, MOST_GROUPS, MOST_IDS, merge_of, texts_of
from tokdfa.jobs.validation.violation import ViolationKind
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer

if TYPE_CHECKING:
    from tokdfa.jobs.rollouts.result import RolloutCheck

SAMPLED, PROMPT, INSERTED = "sampled", "prompt", "inserted"
"""The parts of a rollout by its mask: ids that the model sampled, the ids before the first of them, and all others."""

_ROLES = frozenset(
    ("system", "developer", "user", "human", "assistant", "model", "gpt", "tool", "tool_results", "tool_response",
     "function", "observation", "ipython", "environment", "available_tools", "inst")
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]+")
_FAR = 1 << 12
_HEADER = 24
"""The number of ids after a special token that may name a role."""


@dataclass(frozen=True, slots=True)
class Seam:
    """Spans of a class between the same roles, with the same ids and canonical ids.

    Attributes
    ----------
    count : int
        The number of spans.
    span_class : SpanClass
    before, after : str
        The roles of the parts that meet in the span, or that it is in: a role that a special token opens, such as
        ``tool``, or else ``sampled``, ``prompt`` or ``inserted``.
    left, right : str
        The text before and after the place where they meet: of the span, and of up to 8 ids on each side of it.
    ids, canonical_ids : tuple of int, the second or None
        The ids of the span and the ids that belong there, at most 16 of each.
    kind : str
        The value of their :class:`~tokdfa.ViolationKind`.
    rule : int or None
        The rule that merges across their boundary.
    merge : tuple of two str or None
        The two words that this rule merges, quoted.
    source : str
        The rollout with the first of them.
    token : int
        The first id of that span in it.
    """

    count: int
    span_class: SpanClass
    before: str
    after: str
    left: str
    right: str
    ids: tuple[int, ...]
    canonical_ids: tuple[int, ...] | None
    kind: str
    rule: int | None
    merge: tuple[str, str] | None
    source: str
    token: int

    def to_dict(self) -> dict[str, Any]:
        """Return the seam as JSON values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"class": values.pop("span_class").value} | values


class Roles(OfTokenizer["AnyTokenizer"]):
    """The roles in rollouts: whether an id was sampled, and which role the last special token before it opens."""

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        super().__init__(tokenizer)
        self._is_special: BoolArray = np.zeros(len(tokenizer.id_spellings.offsets) - 1, dtype=np.bool_)
        self._is_special[tokenizer.special_ids] = True
        self._known: dict[bytes, str | None] = {}

    def of(self, ids: Int32Array, sampled: BoolArray | None, indices: list[int]) -> list[str]:
        """Return the role of each of some ids of a rollout."""
        if sampled is None:
            return [SAMPLED] * len(indices)
        first = int(np.argmax(sampled)) if sampled.any() else len(ids)
        return [
            SAMPLED if sampled[at] else self._opened(ids, at) or (PROMPT if at < first else INSERTED) for at in indices
        ]

    def _opened(self, ids: Int32Array, at: int) -> str | None:
        """Return the role that the last special token before an id opens, or at most so many ids before it."""
        low = max(at - _FAR, 0)
        specials = np.flatnonzero(self._is_special[ids[low : at + 1]])
        if not len(specials):
            return None
        header = low + int(specials[-1])
        return self._role(ids[header : header + _HEADER])

    def _role(self, header: Int32Array) -> str | None:
        """Return the role that a special token and the ids after it name; None for none."""
        key = header.tobytes()
        if key not in self._known:
            (text,) = texts_of(self.tokenizer, header[1:].tolist())
            word = _WORD.match(text.lstrip())
            names = [] if word is None else [word[0].lower()]
            names += _WORD.findall(self.tokenizer.name_of(int(header[0])).decode("utf-8", "replace").lower())
            self._known[key] = next((name for name in names if name.removeprefix("im_") in _ROLES), None)
        return self._known[key]


def _edge(sampled: BoolArray, shown_by: int) -> int:
    """Return where two parts meet in a span: where sampled ids begin or end, or else at the id that shows the fault."""
    changes = np.flatnonzero(sampled[1:] != sampled[:-1])
    return int(changes[0]) + 1 if len(changes) else min(shown_by, len(sampled))


class _First(NamedTuple):
    """The first span at a seam: the ids on both sides of the place where the parts meet, and the rest of the seam."""

    parts: tuple[list[int], list[int]]
    ids: tuple[int, ...]
    canonical_ids: tuple[int, ...] | None
    kind: str
    rule: int | None
    source: str
    token: int

    @property
    def shown(self) -> dict[str, Any]:
        """The attributes of the seam that are known already."""
        values = self._asdict()
        del values["parts"]
        return values


class SeamCounter:
    """Counts spans by their seam; `error` is by how much a count may be too low, as there were too many seams."""

    def __init__(self) -> None:
        self.error = 0
        self._counts: dict[tuple[Any, ...], int] = {}
        self._first: dict[tuple[Any, ...], _First] = {}
        self._tokenizer: AnyTokenizer | None = None

    def add(self, tokenizer: AnyTokenizer, check: RolloutCheck, source: object) -> None:
        """Count the spans of a rollout."""
        self._tokenizer, roles = tokenizer, tokenizer.derived(Roles)
        for span_class, start, ids, canonical, outcome in check.iter_spans():
            cause, shown_by = cause_of(tokenizer, ids, canonical, outcome)
            given = check.part(start, start + len(ids)) if outcome == OUT_OF_RANGE else ids.tolist()
            edge = _edge(check.sampled_within(start, start + len(ids)), shown_by)
            last = min(start + len(ids), check.tokens) - 1
            sides = roles.of(*check.given, [min(max(start + edge - 1, start), last), min(start + edge, last)])
            key = (span_class, *sides, edge, outcome, *given, -1, *canonical.tolist())
            count = self._counts[key] = self._counts.get(key, 0) + 1
            if count > 1:
                continue
            at, stop = start + edge, start + len(ids)
            self._first[key] = _First(
                (check.part(max(start - CONTEXT, 0), at), check.part(at, stop + CONTEXT)),
                ids=tuple(given[:MOST_IDS]),
                canonical_ids=tuple(canonical.tolist()[:MOST_IDS]) if outcome == ENCODED else None,
                kind=(ViolationKind.ID_OUT_OF_RANGE if outcome == OUT_OF_RANGE else cause.kind).value,
                rule=cause.rule,
                source=str(source),
                token=start,
            )
        if len(self._counts) > 4 * MOST_GROUPS:
            ordered = sorted(self._counts, key=lambda key: -self._counts[key])
            self.error += self._counts[ordered[2 * MOST_GROUPS]]
            for key in ordered[2 * MOST_GROUPS :]:
                del self._counts[key], self._first[key]

    def seams(self, most: int, span_class: SpanClass | None = None) -> list[Seam]:
        """Return the seams with the most spans, of a class or of all; of equal ones the first."""
        keys = [key for key in self._counts if span_class in (None, key[0])]
        return [self._seam(key) for key in sorted(keys, key=lambda key: -self._counts[key])[:most]]

    def _seam(self, key: tuple[Any, ...]) -> Seam:
        """Return a seam; only here its texts are made."""
        assert self._tokenizer is not None
        first = self._first[key]
        left, right = texts_of(self._tokenizer, *first.parts)
        merge = None if first.rule is None else merge_of(self._tokenizer, first.rule)
        span_class, before, after = key[:3]
        return Seam(self._counts[key], span_class, before, after, left, right, merge=merge, **first.shown)
