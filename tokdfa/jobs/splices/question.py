"""The question whether encoding may be cut at a seam, its answer, and two texts for which not."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice, product
from typing import cast

from tokdfa.automata.texts import Language, iter_least
from tokdfa.base.errors import AlphabetError, LimitExceededError, UnsupportedFeatureError
from tokdfa.base.verdict import Displayed, Verdict
from tokdfa.jobs.splices import decision
from tokdfa.jobs.splices.encoding import encode_after
from tokdfa.jobs.splices.normal_seam import joined, may_join
from tokdfa.jobs.splices.normal_texts import (
    is_ascii,
    normalized,
    other_spellings,
    spelled_otherwise,
    steady_texts,
)
from tokdfa.jobs.splices.search import Texts
from tokdfa.jobs.splices.tokens import Rewrites
from tokdfa.regex.unicode.normalization import Form
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.twins import twin_with

__all__ = ["Question", "Side", "Splice", "SplitTexts"]


@dataclass(frozen=True, slots=True)
class SplitTexts(Displayed):
    """Two texts that have other ids when they are encoded as one.

    Attributes
    ----------
    before, after : str
        The texts on both sides of the seam.
    ids_before, ids_after : tuple of int
        The ids of each, encoded separately, or the given ones.
    ids : tuple of int
        The ids of the two as one text.
    shortest : bool
        Whether it is proven that no such texts come before these: by fewer bytes of UTF-8 of both, then of the one
        before the seam, then in the order of bytes.

    Examples
    --------
    >>> found = tokdfa.splice(tokdfa.default_tokenizer(), before="a", after="s").witness
    >>> found.before, found.after, found.ids_before + found.ids_after, found.ids
    ('a', 's', (64, 82), (289,))
    """

    before: str
    after: str
    ids_before: tuple[int, ...]
    ids_after: tuple[int, ...]
    ids: tuple[int, ...]
    shortest: bool = True

    @property
    def text(self) -> str:
        """The two texts as one."""
        return self.before + self.after


@dataclass(frozen=True, slots=True, repr=False)
class Splice(Verdict[SplitTexts]):
    """Whether encoding separately gives the ids of the joined text, for all texts asked for on both sides of a seam.

    Attributes
    ----------
    holds, witness
        See :class:`~tokdfa.base.verdict.Verdict`; the witness is a :class:`SplitTexts`.
    reason : str
        The result in words.

    Examples
    --------
    >>> verdict = tokdfa.splice(tokdfa.default_tokenizer(), before="a", after=" ")
    >>> bool(verdict), verdict.witness
    (True, None)
    """

    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found = self.witness
        if found is None:
            words = "the ids of both texts, one after the other, are always those of the two as one text"
        else:
            kind = "the shortest texts for which not" if found.shortest else "texts for which not"
            apart = " ".join(map(str, found.ids_before)) + " + " + " ".join(map(str, found.ids_after))
            words = (
                f"{kind}: {found.before!r} + {found.after!r}, ids {apart}, as one text {' '.join(map(str, found.ids))}"
            )
        object.__setattr__(self, "reason", words)


_MOST_SPELLINGS = 4096


@dataclass(frozen=True)
class Side:
    """The texts on one side of a seam, and their ids if they are given."""

    language: Language
    ids: tuple[int, ...] | None = None
    is_canonical: bool = True


@dataclass(frozen=True)
class Question:
    """A question about the seam of a tokenizer."""

    tokenizer: Tokenizer
    before: Side
    after: Side
    starts: bool

    def answer(self) -> Splice:
        """Return the answer; raise as :func:`splice` does if there is none."""
        if not (self.before.is_canonical and self.after.is_canonical):
            return self.by_trials("the given ids are not those that encoding gives for their text", least=True)
        try:
            side = self.search()
        except (UnsupportedFeatureError, LimitExceededError) as error:
            return self.by_trials(error.what, least=False, cause=error)
        return side

    def search(self) -> Splice:
        """Answer by a search through all texts, without trials."""
        plain, form = self.tokenizer.read_in_form or (self.tokenizer, None)
        ground = decision.ground_of(plain, starts=self.starts)
        if form is not None:
            return self.in_form(ground, plain, form)
        found = decision.least_texts(ground, self.before.language, self.after.language)
        if found is None:
            return Splice(True)
        if (witness := self.witness(found, ground.rewrites, shortest=True)) is None:
            raise UnsupportedFeatureError("encoding does not confirm the texts that a search found", value=found)
        return Splice(False, witness)

    def in_form(self, ground: decision.Ground, plain: Tokenizer, form: Form) -> Splice:
        """Answer for a tokenizer that brings texts in a form, by the texts that the form makes of those asked for.

        Special tokens are found before. Where the form does not join the texts, and makes no special token of
        another text, two normalized texts are encoded as `plain` encodes them.
        """
        before, after = self.before.language, self.after.language
        specials = {special.text for special in ground.specials if special.level == 0}
        sides = normalized(form, before, specials), normalized(form, after, specials)
        found = decision.least_texts(ground, *sides)
        if found is not None:
            # Two ASCII characters are the least texts there can be.
            is_least = len(found.before + found.after) <= 2 or (is_ascii(before) and is_ascii(after))
            if (witness := self.witness(found, ground.rewrites, shortest=is_least)) is not None:
                return Splice(False, witness)
        for pair in joined(form, before, after):
            if (witness := self.confirmed(*pair, shortest=False)) is not None:
                return Splice(False, witness)
        if found is not None:
            u, v = steady_texts(form, before), steady_texts(form, after)
            least = None if u is None or v is None else decision.least_texts(ground, u, v)
            if least is not None and (witness := self.witness(least, ground.rewrites, shortest=False)) is not None:
                return Splice(False, witness)
            raise UnsupportedFeatureError("a text that changes when it is normalized may be split otherwise")
        if may_join(form, before, after):
            raise UnsupportedFeatureError("a normalization may cross the seam")
        others = spelled_otherwise(form, (before, after), specials)
        return self.by_texts(plain, form, others) if others else Splice(True)

    def by_texts(self, plain: Tokenizer, form: Form, others: set[str]) -> Splice:
        """Answer by the texts in which a form makes some special tokens, which are not found there."""
        what = "a special token may be the normalized text of others"
        least = min(others, key=lambda text: (len(text), text))
        kept = tuple(special for special in plain.specials if special.text not in others)
        unfound = decision.ground_of(plain.derived(twin_with, kept), starts=self.starts)
        if unfound.rewrites.prefix is not None:
            raise UnsupportedFeatureError(what, value=least)
        # Other special tokens, which may be found there, keep the text beyond them from mattering.
        before = normalized(form, self.before.language, (), part="end")
        after = normalized(form, self.after.language, (), part="beginning")
        found = decision.least_texts(unfound, before, after)
        if found is None:
            return Splice(True)
        u, v = (side.decode().translate(other_spellings(form)) for side in found)
        if (witness := self.confirmed(u, v, shortest=False)) is not None:
            return Splice(False, witness)
        raise UnsupportedFeatureError(what, value=least)

    def witness(self, found: Texts, rewrites: Rewrites, *, shortest: bool) -> SplitTexts | None:
        """Return two texts that a search found as a witness, if encoding confirms them."""
        before, after = found.before.decode(), found.after.decode()
        # Characters that become a space are spaces in these texts, which are the least ones, if the languages have
        # them.
        spellings = product(*(rewrites.spaces if symbol == " " else symbol for symbol in before + after))
        for text in map("".join, islice(spellings, _MOST_SPELLINGS)):
            u, v = text[: len(before)], text[len(before) :]
            witness = self.confirmed(u, v, shortest=shortest and u + v == before + after)
            if witness is not None:
                return witness
        return None

    def confirmed(self, before: str, after: str, *, shortest: bool) -> SplitTexts | None:
        """Return two texts as a witness, if they are of the languages and encoding confirms them."""
        if before not in self.before.language or after not in self.after.language:
            return None
        try:
            first = self.before.ids
            if first is None:
                first = tuple(self.tokenizer.encode(before).tolist())
            second = self.after.ids
            if second is None:
                encode = self.tokenizer.encode if self.starts or not before else None
                ids = encode(after) if encode is not None else encode_after(self.tokenizer, after)
                second = tuple(ids.tolist())
            whole = tuple(self.tokenizer.encode(before + after).tolist())
        except (AlphabetError, UnsupportedFeatureError):
            return None
        return None if first + second == whole else SplitTexts(before, after, first, second, whole, shortest)

    def by_trials(self, why: str, *, least: bool, cause: Exception | None = None) -> Splice:
        """Answer by trying the least texts of both languages; raise if none separates."""
        befores = [*iter_least(self.before.language, 40)]
        afters = [*iter_least(self.after.language, 40)]
        pairs = sorted(
            ((u, v) for u in befores for v in afters),
            key=lambda pair: (len((pair[0] + pair[1]).encode()), len(pair[0].encode()), (pair[0] + pair[1]).encode()),
        )
        for tried, (u, v) in enumerate(pairs):
            witness = self.confirmed(u, v, shortest=least and not tried)
            if witness is not None:
                return Splice(False, witness)
        error = cast("type[UnsupportedFeatureError]", type(cause) if cause is not None else UnsupportedFeatureError)
        raise error(f"neither a proof nor two texts were found: {why}")
