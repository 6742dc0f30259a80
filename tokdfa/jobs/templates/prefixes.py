"""Whether the text that a template writes for the first turns is kept when turns are added, for any contents.

A rendering is a sequence of texts and slots, say ``["<user>", user 1, "<end>"]``; a longer conversation gives
``["<user>", user 1, "<end><bot>", assistant 2]``. If the first is a prefix of the second part by part, it is a prefix
for every content; if not, there are contents for which it is not. Where the template decides by contents, only these
are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from tokdfa.base.errors import LimitExceededError
from tokdfa.base.verdict import Displayed
from tokdfa.jobs.splices.api import SplitTexts
from tokdfa.jobs.splices.parts import Part
from tokdfa.jobs.templates.rendering import Rendering, Shape, Unkept, unkept

__all__ = ["Pair", "TemplatePrefix", "pairs_of", "prefixes_of", "rest_of"]

Kind: TypeAlias = Literal["turn", "prompt"]
Decide: TypeAlias = Callable[[Sequence[Part], Sequence[Part]], tuple[str, SplitTexts | None, str]]
"""A function that decides a seam: "safe", "splits" or "undecided", with two texts where it splits, or the reason."""


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
    template: str,
    pairs: Sequence[Pair],
    renderings: Mapping[Shape, Rendering],
    variables: Mapping[str, str],
    max_seconds: int,
    decide: Decide,
) -> tuple[TemplatePrefix, ...]:
    """Return the decisions about pairs of conversations, those that are alike once; `decide` decides seams."""
    rendered = [pair for pair in pairs if not (renderings[pair.short].refused or renderings[pair.long].refused)]
    found: dict[Pair, TemplatePrefix] = {pair: _by_parts(pair, renderings, decide) for pair in rendered}
    open_pairs = [pair for pair, prefix in found.items() if prefix.answer == "undecided"]
    for pair, texts in zip(open_pairs, _tried(template, open_pairs, variables, max_seconds), strict=True):
        if texts is not None:
            roles = (name.split()[0] for name in pair.long.slots)
            messages = tuple(zip(roles, texts.contents, strict=True))
            found[pair] = TemplatePrefix(
                pair.kind, pair.long.name, "changes", messages, texts.before, texts.after, line=found[pair].line
            )
    return tuple(_alike(found))


def _by_parts(pair: Pair, renderings: Mapping[Shape, Rendering], decide: Decide) -> TemplatePrefix:
    """Return the answer by the parts of both renderings; it is open where these are not a prefix for every content."""
    short, long = renderings[pair.short], renderings[pair.long]
    kind, name = pair.kind, pair.long.name
    for note in (*short.notes, *long.notes):
        return TemplatePrefix(kind, name, "undecided", reason=note.what, line=note.line)
    rest = rest_of(short.parts, long.parts)
    if rest is None:
        return TemplatePrefix(kind, name, "undecided", reason="no contents were found for which it is not a prefix")
    answer, witness, reason = decide(short.parts, rest) if short.parts and rest else ("safe", None, "")
    meaning = {"safe": "kept", "splits": "changes"}
    return TemplatePrefix(kind, name, meaning.get(answer, answer), witness=witness, reason=reason)


def _tried(
    template: str, pairs: Sequence[Pair], variables: Mapping[str, str], max_seconds: int
) -> Sequence[Unkept | None]:
    if not pairs:
        return ()
    try:
        return unkept(template, [(pair.short, pair.long) for pair in pairs], variables, max_seconds)
    except LimitExceededError:
        # Trials are not part of a proof: without them it is not decided.
        return [None] * len(pairs)


def _alike(found: Mapping[Pair, TemplatePrefix]) -> Iterator[TemplatePrefix]:
    """Yield the first of those that have the same answer for the same reason, with their number."""
    groups: dict[object, list[TemplatePrefix]] = {}
    for pair, prefix in found.items():
        added = pair.long.roles[-1] if prefix.answer == "changes" else ""
        key = prefix.kind, prefix.answer, added, prefix.witness is None, prefix.reason, prefix.line
        groups.setdefault(key, []).append(prefix)
    for alike in groups.values():
        yield replace(alike[0], count=len(alike))
