"""Seams between parts of texts: a special token that is always found keeps the text beyond it from mattering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from tokdfa.automata.texts import ANYTHING, Language, apart, iter_least, language_of
from tokdfa.base.errors import AlphabetError, LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.splices.encoding import encode_after
from tokdfa.jobs.splices.parts import Part, Slot, nodes
from tokdfa.jobs.splices.question import Question, Side, Splice, SplitTexts
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["near_seam", "next_to_seam", "seam_of"]


def seam_of(
    tokenizer: Tokenizer,
    before: Sequence[Part],
    after: Sequence[Part],
    *,
    quick: bool = False,
    known: dict[object, Splice] | None = None,
    starts: bool = False,
) -> Splice:
    """Return whether texts of the parts on both sides of a seam may be encoded separately.

    With `starts`, the text after it is encoded as the start of a text. With `quick`, two texts for which not need not
    be the shortest. Seams that share `known` share questions.
    """
    known = {} if known is None else known
    far_left, left = _parted(tokenizer, before, at_last=True)
    right, far_right = _parted(tokenizer, after, at_last=False)
    if (far_left and not left) or (far_right and not right):
        return Splice(True)
    # Texts beyond a content that may be any text are unknown: a proof for more texts is a proof.
    some_left, some_right = next_to_seam(left, right)
    dropped = left[: len(left) - len(some_left)], right[len(some_right) :]
    is_more = any(
        len(parts) > 1 or any(isinstance(part, str) or part != Slot(part.name) for part in parts) for parts in dropped
    )
    wider: Splice | None = None
    if is_more or any(dropped):
        free_left, free_right = len(some_left) < len(left), len(some_right) < len(right)
        wider = _answered(tokenizer, some_left, some_right, free_left, free_right, known, starts)
        if wider.witness is None:
            return wider
    far = [*far_left, *dropped[0]], [*dropped[1], *far_right]
    if wider is not None and quick:
        try:
            return _widened(tokenizer, wider, *far, is_more=is_more)
        except UnsupportedFeatureError:
            # Texts around those that are split may keep them from being split.
            if not is_more:
                raise
    if wider is None or is_more:
        try:
            answer = _answered(tokenizer, left, right, False, False, known, starts)
        except (UnsupportedFeatureError, LimitExceededError):
            if wider is None:
                raise
        else:
            if answer.witness is None or not (far_left or far_right):
                return answer
            return Splice(False, _completed(tokenizer, answer.witness, far_left, far_right))
    assert wider is not None
    return _widened(tokenizer, wider, *far, is_more=is_more)


def _widened(
    tokenizer: Tokenizer, wider: Splice, left: Sequence[Part], right: Sequence[Part], *, is_more: bool
) -> Splice:
    """Return the answer of a question about more texts, with the parts around these; not the shortest if it `is_more`.

    UnsupportedFeatureError is raised if the texts are not split next to these parts.
    """
    assert wider.witness is not None
    found = _completed(tokenizer, wider.witness, left, right)
    return Splice(False, replace(found, shortest=False) if is_more else found)


def _answered(
    tokenizer: Tokenizer,
    left: Sequence[Part],
    right: Sequence[Part],
    free_left: bool,
    free_right: bool,
    known: dict[object, Splice],
    starts: bool,
) -> Splice:
    """Return the answer about texts of parts, perhaps with anything around; slots of other names may have had it."""
    sides = (
        tuple(replace(part, name="") if isinstance(part, Slot) else part for part in side) for side in (left, right)
    )
    key = *sides, free_left, free_right, starts
    if key not in known:
        before = Side(language_of("before", *[ANYTHING] * free_left, *nodes(left, "before")))
        after = Side(language_of("after", *nodes(right, "after"), *[ANYTHING] * free_right))
        known[key] = Question(tokenizer, before, after, starts).answer()
    return known[key]


def _beside(parts: Sequence[Part], end: int) -> list[Part]:
    """Return the parts at one end that may matter next to it, up to a content that may be any text."""
    kept: list[Part] = []
    for part in parts[::-1] if end else parts:
        if isinstance(part, Slot) and part.is_any:
            strips = part.strips_right if end else part.strips_left
            if kept or not strips:
                break
        kept.append(part)
        if isinstance(part, str) and len(kept) > 1:
            break
    return kept[::-1] if end else kept


def near_seam(tokenizer: Tokenizer, before: Sequence[Part], after: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """Return the parts on both sides of a seam that may matter: up to special tokens that are always found."""
    return _parted(tokenizer, before, at_last=True)[1], _parted(tokenizer, after, at_last=False)[0]


def next_to_seam(before: Sequence[Part], after: Sequence[Part]) -> tuple[list[Part], list[Part]]:
    """Return the parts next to a seam that may matter with any texts beyond them."""
    return _beside(before, -1), _beside(after, 0)


def _completed(tokenizer: Tokenizer, found: SplitTexts, left: Sequence[Part], right: Sequence[Part]) -> SplitTexts:
    """Return two texts with the parts far from the seam, where the contents are the least."""
    before = "".join(map(_least, left)) + found.before
    after = found.after + "".join(map(_least, right))
    if (before, after) == (found.before, found.after):
        return found
    try:
        first, second = tokenizer.encode(before), encode_after(tokenizer, after)
        whole = tokenizer.encode(before + after)
    except AlphabetError as error:
        what = "neither a proof nor two texts were found: some texts are split, but a part far from the seam is refused"
        raise UnsupportedFeatureError(f"{what}: {error}") from None
    ids = [tuple(array.tolist()) for array in (first, second, whole)]
    if ids[0] + ids[1] == ids[2]:
        raise UnsupportedFeatureError("neither a proof nor two texts were found: some texts are split, but not these")
    return SplitTexts(before, after, ids[0], ids[1], ids[2], found.shortest)


@lru_cache(maxsize=64)
def _least(part: Part) -> str:
    if isinstance(part, str):
        return part
    language: Language = part.language()
    return next(iter_least(language, 1), "")


def _parted(tokenizer: Tokenizer, parts: Sequence[Part], *, at_last: bool) -> tuple[list[Part], list[Part]]:
    """Return the parts on both sides of the end of the last special token found everywhere, or of the first start."""
    numbers = range(len(parts))
    for number in reversed(numbers) if at_last else numbers:
        part = parts[number]
        if isinstance(part, str) and (spans := _certain_specials(tokenizer, part)):
            at = spans[-1][1] if at_last else spans[0][0]
            halves = [[text] if text else [] for text in (part[:at], part[at:])]
            return [*parts[:number], *halves[0]], [*halves[1], *parts[number + 1 :]]
    return ([], [*parts]) if at_last else ([*parts], [])


def _certain_specials(tokenizer: Tokenizer, text: str) -> list[tuple[int, int]]:
    """Return where special tokens are in a text that are found with any text around it.

    Those that are found before the normalizer part the text: each side is normalized and encoded alone.
    """
    normalizer, split = tokenizer.rewriting.normalizer, tokenizer.pretokenizer
    if not tokenizer.found_specials or tokenizer.rewrites[2]:
        return []
    if normalizer is not None and (normalizer.touches_ends or not normalizer.is_local):
        return []
    if split is not None and split.splitting.prefix_space is not None:
        return []
    lonely = tokenizer.derived(_lonely)
    found: list[tuple[int, int]] = []
    at = 0
    for segment in tokenizer.added_tokens.cut(text):
        size = len(segment.text if isinstance(segment, Special) else segment)
        if isinstance(segment, Special):
            if odd_ones((segment,)):
                return []
            if segment.text in lonely and (normalizer is None or not segment.level):
                found.append((at, at + size))
        at += size
    return found


def _lonely(tokenizer: Tokenizer) -> frozenset[str]:
    """Return the special tokens that overlap no other one, nor themselves."""
    return apart(special.text for special in tokenizer.specials if special.text)
