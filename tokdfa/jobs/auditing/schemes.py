"""The shortcuts of engines that encode a growing text: each one a short description, which runs.

With "a b" as the old text and " c" as the new one, `before-space` cuts "a b c" before the last white space of the old
text: "a" and " b c" are encoded separately. In general, a scheme is right for a tokenizer if, for all texts
`old` and `new`, its ids are the ids of ``old + new``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tokdfa.base.errors import PatternError
from tokdfa.base.suggestions import nearest
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["SCHEMES", "BackOff", "Cuts", "Scheme", "scheme_of"]

MOST_BACK: Final = 9_999
"""The most ids at the end that a scheme may give up."""

ADDED: Final = "added"
"""The value of `texts` in a description that stands for all added tokens that the tokenizer finds in texts."""


class Seam(NamedTuple):
    """A question for `splice`: the end of the text before a cut, and the beginning of the text after it."""

    before: str
    after: str
    regex: bool


@dataclass(frozen=True)
class Cuts:
    """A scheme that cuts ``old + new`` next to some texts, and encodes the parts separately.

    It is cut before or after the `last` of these texts in `old`, or `every` one of them in ``old + new``. The texts of
    None are the added tokens of the tokenizer; :meth:`of` puts them there.
    """

    name: str
    texts: tuple[str, ...] | None
    cut: Literal["before", "after"]
    which: Literal["last", "every"]

    def of(self, tokenizer: AnyTokenizer) -> Cuts:
        """Return the scheme for a tokenizer, the longest texts first."""
        texts = self.texts
        if texts is None:
            texts = tuple(special.text for special in tokenizer.found_specials if special.text)
        return replace(self, texts=tuple(sorted({*texts}, key=lambda text: (-len(text), text))))

    def ids(self, tokenizer: AnyTokenizer, old: str, new: str) -> list[int]:
        """Return the ids of all parts, one after the other."""
        text = old + new
        bounds = sorted({0, *self._offsets(old, text), len(text)})
        return [id for start, stop in pairwise(bounds) for id in tokenizer.encode(text[start:stop]).tolist()]

    def seams(self) -> Iterator[Seam]:
        """Yield seams that include all cuts, the shortest first: the scheme is right if all of them may be cut."""
        texts = (self.texts or ())[::-1]
        # A text that is cut before the last such text of the old text has that one, and then the new text.
        more = r"[\s\S]" if self.which == "last" and self.cut == "before" else ""
        if not more and any(len(text) > 1 for text in texts):
            # An added token is decided at once if nothing else is asked.
            yield from (self._seam(text, regex=False) for text in texts)
        elif texts:
            yield self._seam(f"(?:{'|'.join(map(re.escape, texts))}){more}", regex=True)

    def _seam(self, text: str, *, regex: bool) -> Seam:
        return Seam("", text, regex) if self.cut == "before" else Seam(text, "", regex)

    def _offsets(self, old: str, text: str) -> list[int]:
        if self.which == "every":
            every = self._any.finditer(text) if self.texts else ()
            return [found.start() if self.cut == "before" else found.end() for found in every]
        found = ((old.rfind(each), len(each)) for each in self.texts or ())
        return [max((at + (self.cut == "after") * size for at, size in found if at >= 0), default=0)]

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.texts or ())))


class Resumed(NamedTuple):
    """The ids of a text that are kept, the last ids and the text of these."""

    kept: list[int]
    ids: list[int]
    text: str


@dataclass(frozen=True)
class BackOff:
    """A scheme that encodes the text of the last `back` ids again, with the new text; `agree` ids must come again.

    Otherwise, or if the ids before these do not decode to the beginning of the old text, all is encoded again.
    """

    name: str
    back: int
    agree: int

    def of(self, tokenizer: AnyTokenizer) -> BackOff:
        """Return the scheme itself: it is the same for all tokenizers."""
        return self

    def ids(self, tokenizer: AnyTokenizer, old: str, new: str) -> list[int]:
        """Return the ids that are kept and the fresh ones, or the ids of the whole text."""
        resumed = self.resumed(tokenizer, old)
        found = None if resumed is None else self.continued(tokenizer, resumed, new)
        return tokenizer.encode(old + new).tolist() if found is None else found

    def resumed(self, tokenizer: AnyTokenizer, old: str) -> Resumed | None:
        """Return where the encoding of a text is resumed; None if all of it is encoded again."""
        ids = tokenizer.encode(old)
        if len(ids) <= self.back:
            return None
        kept = ids[: -self.back]
        before = tokenizer.decode(kept, errors="replace")
        if not old.startswith(before):
            return None
        return Resumed(kept.tolist(), ids[-self.back :].tolist(), old[len(before) :])

    def continued(self, tokenizer: AnyTokenizer, resumed: Resumed, new: str) -> list[int] | None:
        """Return the ids of a text that is resumed; None if the ids do not agree."""
        fresh: list[int] = tokenizer.encode(resumed.text + new).tolist()
        return resumed.kept + fresh if fresh[: self.agree] == resumed.ids[: self.agree] else None


Scheme: TypeAlias = Cuts | BackOff

_SPACE = (" ", "\t", "\r", "\n")
SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Cuts("added-token", None, "after", "last"),
        Cuts("turns", None, "before", "every"),
        Cuts("before-space", _SPACE, "before", "last"),
        Cuts("after-space", _SPACE, "after", "last"),
        Cuts("characters", (".", "!", "?", "\n"), "after", "every"),
        Cuts("text-prefix", ("",), "after", "last"),
        BackOff("back-off", 64, 32),
    )
}
"""The schemes that have a name."""


def scheme_of(described: str | Mapping[str, Any]) -> Scheme:
    """Return the scheme of a name, perhaps with parameters, or of a description; see :func:`tokdfa.audit`."""
    if not isinstance(described, str):
        return _own(described)
    title, has_value, value = described.partition("=")
    if title not in SCHEMES:
        near = nearest(title, SCHEMES)
        hint = f"did you mean {near}?" if near else f"one of {', '.join(SCHEMES)}"
        raise PatternError("no such scheme", value=described, where="scheme", hint=hint)
    scheme = SCHEMES[title]
    if isinstance(scheme, BackOff):
        numbers = re.fullmatch("([0-9]{1,4}),([0-9]{1,4})", value or "64,32", re.ASCII)
        back, agree = map(int, numbers.groups()) if numbers else (0, 0)
        if 1 <= agree <= back and (value or not has_value):
            return BackOff(f"{title}={back},{agree}", back, agree)
    elif not has_value:
        return scheme
    elif value and title in ("characters", "turns"):
        return replace(scheme, name=described, texts=tuple(value) if title == "characters" else (value,))
    hint = f"write characters=.!?, turns=TEXT, or back-off=K,M with 1 ≤ M ≤ K ≤ {MOST_BACK}; others have no parameter"
    raise PatternError("not a parameter of the scheme", value=described, where="scheme", hint=hint)


def _own(described: Mapping[str, Any]) -> Scheme:
    """Return the scheme of a description."""
    fields = dict(described)
    name, texts = fields.pop("name", "own"), fields.get("texts")
    is_list = isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)
    if {*fields} == {"back", "agree"} and all(type(value) is int for value in fields.values()):
        good = 1 <= fields["agree"] <= fields["back"] <= MOST_BACK
    else:
        good = {*fields} == {"texts", "cut", "which"} and (is_list or texts == ADDED)
        good = good and fields["cut"] in ("before", "after") and fields["which"] in ("last", "every")
    if not good or not isinstance(name, str):
        hint = (
            f'texts (a list, or "{ADDED}"), cut (before or after), which (last or every); or back and agree (numbers)'
        )
        raise PatternError("not the description of a scheme", value=dict(described), where="scheme", hint=hint)
    if "back" in fields:
        return BackOff(name, **fields)
    return Cuts(name, **{**fields, "texts": tuple(texts) if isinstance(texts, list) else None})
