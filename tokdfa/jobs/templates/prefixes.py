"""Whether the ids of a conversation are kept when a turn is added.

A rendering is a sequence of texts and slots, say ``["<user>", user 1, "<end>"]``; a longer conversation gives
``["<user>", user 1, "<end><bot>", assistant 2]``. If the first is a prefix of the second part by part, it is a prefix
for every content; if not, there are contents for which it is not. Where the template decides by contents, only these
are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from tokdfa.base.errors import LimitExceededError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.parts import Part
from tokdfa.jobs.splices.question import SplitTexts
from tokdfa.jobs.templates.contents import agree
from tokdfa.jobs.templates.rendering import Rendering, Shape, Unkept
from tokdfa.jobs.templates.seams import Answer, Decider

__all__ = ["TemplatePrefix"]

Kind: TypeAlias = Literal["turn", "prompt"]


@dataclass(frozen=True, slots=True)
class TemplatePrefix(Displayed):
    r"""Whether the ids of a conversation are kept when a turn is added.

    Attributes
    ----------
    kind : {"turn", "prompt"}
        Whether the conversation is rendered without or with the generation prompt. The longer one is rendered without.
    shape : str
        The longer conversation, the first that is alike.
    answer : {"kept", "changes", "undecided"}
        Whether the rendering is always a prefix of the rendering of the longer conversation, and the rest has the ids
        that it has alone.
    messages : tuple of (str, str)
        Roles and contents for which the rendering is not a prefix.
    before, after : str
        The renderings of the conversation and of the longer one, for these messages.
    witness : SplitTexts, optional
        Where the rendering is a prefix: two texts at its end that have other ids together than separately.
    reason : str
        Why it is undecided.
    line : int, optional
        The line of the template that does something to a content that is not modelled.
    count : int
        The number of conversations that are alike.

    Examples
    --------
    >>> found = tokdfa.TemplatePrefix("prompt", "user assistant", "changes", (("user", "a"),), "a<bot>\n", "a<bot>b")
    >>> found.messages, found.offset
    ((('user', 'a'),), 6)
    """

    kind: Kind
    shape: str
    answer: str
    messages: tuple[tuple[str, str], ...] = ()
    before: str = ""
    after: str = ""
    witness: SplitTexts | None = None
    reason: str = ""
    line: int | None = None
    count: int = 1

    @property
    def offset(self) -> int:
        """The number of characters in which `before` and `after` agree."""
        pairs = enumerate(zip(self.before, self.after, strict=False))
        return next((i for i, (a, b) in pairs if a != b), min(len(self.before), len(self.after)))


class Pair(NamedTuple):
    """A conversation, with or without the generation prompt, and the one with the next turn."""

    kind: Kind
    short: Shape
    long: Shape


def pairs_of(chains: Iterable[Shape]) -> list[Pair]:
    """Return the pairs of conversations that grow into `chains`, from the first turn of a user on."""
    pairs: dict[Pair, None] = {}
    for chain in chains:
        for n in range(1, len(chain.roles)):
            short, long = chain.first(n), chain.first(n + 1)
            if all(role == "system" for role in short.roles):
                continue
            pairs[Pair("turn", short, long)] = None
            if short.is_asked and not long.is_asked:
                pairs[Pair("prompt", chain.first(n, prompt=True), long)] = None
    return [*pairs]


def rest_of(short: Sequence[Part], long: Sequence[Part]) -> list[Part] | None:
    """Return the parts of `long` after the parts of `short`; None if for some contents it is not a prefix."""
    for index, part in enumerate(short):
        other = long[index] if index < len(long) else ""
        if part == other:
            continue
        is_last = index == len(short) - 1
        if is_last and isinstance(part, str) and isinstance(other, str) and other.startswith(part):
            return [other[len(part) :], *long[index + 1 :]]
        return None
    return [*long[len(short) :]]


def prefixes_of(
    pairs: Sequence[Pair],
    renderings: Mapping[Shape, Sequence[Rendering]],
    decider: Decider,
    tried: Callable[[Sequence[tuple[Shape, Shape]]], Sequence[Unkept | None]],
) -> tuple[TemplatePrefix, ...]:
    """Return the decisions about pairs of conversations, those that are alike once; `tried` tries contents."""
    found: dict[Pair, TemplatePrefix] = {}
    for pair in pairs:
        prefix = _by_parts(pair, renderings[pair.short], renderings[pair.long], decider)
        if prefix is not None:
            found[pair] = prefix
    open_pairs = [pair for pair, prefix in found.items() if prefix.answer == "undecided"]
    try:
        trials = tried([(pair.short, pair.long) for pair in open_pairs]) if open_pairs else ()
    except LimitExceededError:
        # Trials are not part of a proof: without them it is not decided.
        trials = [None] * len(open_pairs)
    for pair, texts in zip(open_pairs, trials, strict=True):
        if texts is not None:
            roles = (name.split()[0] for name in pair.long.slots)
            messages = tuple(zip(roles, texts.contents, strict=True))
            found[pair] = TemplatePrefix(
                pair.kind, pair.long.name, "changes", messages, texts.before, texts.after, line=found[pair].line
            )
    # Those that have the same answer for the same reason.
    groups: dict[object, list[TemplatePrefix]] = {}
    for pair, prefix in found.items():
        added = pair.long.roles[-1] if prefix.answer == "changes" else ""
        key = prefix.kind, prefix.answer, added, prefix.witness is None, prefix.reason, prefix.line
        groups.setdefault(key, []).append(prefix)
    return tuple(replace(alike[0], count=len(alike)) for alike in groups.values())


def _by_parts(
    pair: Pair, shorts: Sequence[Rendering], longs: Sequence[Rendering], decider: Decider
) -> TemplatePrefix | None:
    """Return the answer by the parts of renderings; it is open where these are not a prefix for every content.

    None if no contents give both conversations.
    """
    both = [
        (short, long)
        for short, long in product(shorts, longs)
        if not (short.refused or long.refused) and agree(short.conditions, long.conditions)
    ]
    if not both:
        return None
    kind, name = pair.kind, pair.long.name
    for note in (note for renderings in both for rendering in renderings for note in rendering.notes):
        return TemplatePrefix(kind, name, "undecided", reason=note.what, line=note.line)
    known: dict[object, Answer] = {}
    for short, long in both:
        rest = rest_of(short.parts, long.parts)
        if rest is None:
            reason = "no contents were found for which it is not a prefix"
            return TemplatePrefix(kind, name, "undecided", reason=reason)
        whole = long._replace(
            conditions=(*short.conditions, *long.conditions), origins={**short.origins, **long.origins}
        )
        key = short.parts, tuple(rest), whole.conditions
        if short.parts and rest and key not in known:
            known[key] = decider.answer(whole, short.parts, rest)
    answers = [*known.values()]
    texts = next((answer.witness for answer in answers if answer.witness is not None), None)
    if texts is not None:
        return TemplatePrefix(kind, name, "changes", witness=texts)
    reason = next((answer.reason for answer in answers if answer.reason), "")
    return TemplatePrefix(kind, name, "undecided" if reason else "kept", reason=reason)
