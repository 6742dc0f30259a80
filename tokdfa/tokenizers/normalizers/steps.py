"""The normalizers of the library tokenizers, which rewrite a text before it is split into pieces."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.unicode.normalization import (
    Form,
    Normalizer,
    Sides,
    Substitution,
    lowercase,
    normalize,
    spaces,
    strip_accents,
)
from tokdfa.regex.unicode.quick_check import boundaries, composites, in_form, is_normal
from tokdfa.regex.unicode.utf8 import spell
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

MOST_GROWTH = 64
"""How many times as long a text may become. A character of Unicode becomes 18 at most in any normalization form, but 24
steps that double one character make 16 million of it."""

_ALWAYS = 1 << 12


def most_characters(n: int) -> int:
    """Return the number of characters that a text of n characters may have after all steps."""
    return MOST_GROWTH * n + _ALWAYS


def check_growth(n: int, most: int, step: object) -> None:
    """Raise LimitExceededError for a text of n characters, which a step makes, if that is more than `most`."""
    if n > most:
        what = f"the steps of the file make a text more than {MOST_GROWTH} times as long"
        raise LimitExceededError(what, value=step, hint=f"it would have {n:,} characters or more")


class _OneByOne(Normalizer):
    """A normalizer that replaces each character independently of its neighbours."""

    is_local = True

    def sides(self, left: str, right: str) -> Sides | None:
        """See :meth:`Normalizer.sides`; None where a character is dropped."""
        before, after = self(left), self(right)
        return Sides(before[-1], after[0]) if before and after else None

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        return frozenset(character for character in characters if self(character) != character)


@dataclass(frozen=True)
class UnicodeForm(Normalizer):
    """NFC, NFD, NFKC or NFKD."""

    form: Form
    keeps_beginning = True
    is_local = True

    @property
    def only_form(self) -> Form:
        return self.form

    def __call__(self, text: str) -> str:
        """Return `text` normalized; only segments that change are looked at closely."""
        if text.isascii():
            return text
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            return normalize(text, self.form)
        return text if is_normal(data, self.form) else in_form(data, self.form).tobytes().decode()

    def sides(self, left: str, right: str) -> Sides | None:
        steady = self._steady
        if not (steady[ord(left)] and steady[ord(right)]):
            return None
        return Sides(left, right, composites(right, self.form))

    def touched(self, characters: frozenset[str]) -> frozenset[str]:
        steady = self._steady
        return frozenset(character for character in characters if not steady[ord(character)])

    @property
    def _steady(self) -> BoolArray:
        """For each code point, whether every text has a boundary of the form before it."""
        return boundaries(self.form)


@dataclass(frozen=True)
class Lowercase(_OneByOne):
    """Each character in lower case, independently of its neighbours."""

    keeps_beginning = True

    def __call__(self, text: str) -> str:
        return lowercase(text)


@dataclass(frozen=True)
class StripAccents(_OneByOne):
    """Without combining marks."""

    def __call__(self, text: str) -> str:
        return strip_accents(text)


@dataclass(frozen=True)
class Nmt(_OneByOne):
    """Without control characters, and with spaces for other white space and for invisible characters."""

    def __call__(self, text: str) -> str:
        return text.translate(_NMT)


_NMT_REMOVED = (*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)
_NMT_SPACES = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
_NMT = dict.fromkeys(_NMT_REMOVED, "") | dict.fromkeys(_NMT_SPACES, " ")


@dataclass(frozen=True)
class ByteLetters(Normalizer):
    """The bytes of the text as letters of GPT-2's alphabet."""

    keeps_beginning = True

    def __call__(self, text: str) -> str:
        return spell(text.encode("utf-8"))


@dataclass(frozen=True)
class Strip(Normalizer):
    """Without white space at the left, the right, or both ends."""

    left: bool
    right: bool
    is_local = touches_ends = True

    @property
    def keeps_beginning(self) -> bool:
        return not self.left

    def __call__(self, text: str) -> str:
        blanks = _blanks()
        text = text.lstrip(blanks) if self.left else text
        return text.rstrip(blanks) if self.right else text

    def sides(self, left: str, right: str) -> Sides | None:
        return None if left in spaces() else Sides(left, right)

    @property
    def later(self) -> Normalizer:
        return replace(self, left=False)

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        # After a special token, it removes a space from the left.
        return None if self.left else characters & spaces() - {" "}


@lru_cache(maxsize=1)
def _blanks() -> str:
    return "".join(sorted(spaces()))


@dataclass(frozen=True)
class _Before(Normalizer):
    """A normalizer that only puts something before a text."""

    keeps_beginning = is_local = touches_ends = True

    def sides(self, left: str, right: str) -> Sides | None:
        return Sides(left, right)

    @property
    def later(self) -> None:
        return None


@dataclass(frozen=True)
class Prepend(_Before):
    """A string put before every text that is not empty."""

    prefix: str

    def __call__(self, text: str) -> str:
        return self.prefix + text if text else text

    @property
    def substitution(self) -> Substitution:
        return Substitution(self.prefix, {})


@dataclass(frozen=True)
class SpaceBefore(_Before):
    """A space put before every text, the empty one included; if `only_words`, only before one that begins with a word.

    That is a text whose first character is not white space, as Python knows it.
    """

    only_words: bool = False

    def __call__(self, text: str) -> str:
        return text if self.only_words and (not text or text[0].isspace()) else " " + text


@dataclass(frozen=True)
class Replace(Normalizer):
    """Every match of a pattern, a string or a regular expression, replaced by a string.

    A regular expression must not match the empty text; `check` verifies this. LimitExceededError is raised if the text
    would become too long, or the matches of a regular expression take too long to find.
    """

    pattern: str
    content: str
    literal: bool
    # The engine tries one way after the other; there may be exponentially many.
    most_seconds: float = field(default=20.0, repr=False, compare=False)

    def __call__(self, text: str) -> str:
        if self.literal:
            if self.lengthens:
                n = text.count(self.pattern) * (len(self.content) - len(self.pattern))
                check_growth(len(text) + n, most_characters(len(text)), self)
            return text.replace(self.pattern, self.content)
        most, written = most_characters(len(text)), 0

        def content(_: object) -> str:
            nonlocal written
            written += len(self.content)
            check_growth(written, most, self)
            return self.content

        try:
            replaced: str = _program(self.pattern).sub(content, text, timeout=self.most_seconds)
        except TimeoutError:
            what = f"the matches of a pattern that is replaced take more than {self.most_seconds:g} s to find"
            raise LimitExceededError(what, value=self.pattern) from None
        return replaced

    @property
    def substitution(self) -> Substitution | None:
        if not self.literal or len(self.pattern) != 1 or len(self.content) != 1:
            return None
        return Substitution("", {self.pattern: self.content})

    @property
    def keeps_beginning(self) -> bool:
        return self.literal and len(self.pattern) == 1 and bool(self.content)

    @property
    def is_local(self) -> bool:
        return self.literal

    def sides(self, left: str, right: str) -> Sides | None:
        pattern = self.pattern
        if not self.literal or left + right in pattern:
            return None
        if len(pattern) == 1:
            before, after = self(left), self(right)
            return Sides(before[-1], after[0]) if before and after else None
        # A match may end or begin here.
        is_beside = pattern.endswith(left) or pattern.startswith(right)
        return None if is_beside or not self.content else Sides(left, right)

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        if self.literal and {*self.pattern} != {" "}:
            return characters & {*self.pattern} - {" "}
        # Runs of spaces, which are not in such words.
        is_run = self.pattern in (" {2,}", "  +") if not self.literal else len(self.pattern) > 1
        return frozenset() if is_run else None

    @property
    def lengthens(self) -> bool:
        """Whether a text may become longer."""
        return len(self.content) > (len(self.pattern) if self.literal else 1)

    def check(self) -> None:
        """Raise PatternError unless the pattern can be used."""
        _program(self.pattern)


@lru_cache(maxsize=64)
def _program(pattern: str) -> Any:
    """Return a regular expression of the library, for the backtracking engine."""
    from tokdfa.regex.backtracking import compile_backtracking
    from tokdfa.regex.syntax import is_nullable
    from tokdfa.tokenizers.pretokenizers.step_trees import step_tree

    step = Split(pattern)
    tree = step_tree(step, Splitting("tokenizers", (step,)))
    if is_nullable(tree):
        raise PatternError("a pattern that is replaced must not match the empty text", value=pattern)
    return compile_backtracking(tree)


@dataclass(frozen=True)
class Chain(Normalizer):
    """Normalizers one after the other; LimitExceededError if they make a text too long."""

    steps: tuple[Normalizer, ...]

    @property
    def only_form(self) -> Form | None:
        return self.steps[0].only_form if len(self.steps) == 1 else None

    @property
    def keeps_beginning(self) -> bool:
        return all(step.keeps_beginning for step in self.steps)

    def __call__(self, text: str) -> str:
        most = most_characters(len(text))
        for step in self.steps:
            text = step(text)
            check_growth(len(text), most, step)
        return text

    @property
    def substitution(self) -> Substitution | None:
        done = Substitution("", {})
        for step in self.steps:
            each = step.substitution
            if each is None:
                return None
            done = done.then(each)
        return done

    @property
    def is_local(self) -> bool:
        return all(step.is_local for step in self.steps)

    @property
    def touches_ends(self) -> bool:
        return any(step.touches_ends for step in self.steps)

    def sides(self, left: str, right: str) -> Sides | None:
        found = Sides(left, right)
        for step in self.steps:
            if found.left is None:
                return None
            each = [step.sides(found.left, character) for character in (found.right, *sorted(found.others))]
            known = [one for one in each if one is not None]
            if len(known) < len(each) or any(one.left != known[0].left for one in known):
                return None
            others = frozenset().union(*(one.others for one in known), (one.right for one in known[1:]))
            found = Sides(known[0].left, known[0].right, others - {known[0].right})
        return found

    @property
    def later(self) -> Normalizer | None:
        steps = [step.later for step in self.steps]
        kept = tuple(step for step in steps if step is not None)
        return Chain(kept) if kept else None

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        found = [step.touched(characters) for step in self.steps]
        return frozenset().union(*(each for each in found if each is not None)) if None not in found else None


def steps_of(normalizer: Normalizer | None) -> tuple[Normalizer, ...]:
    """Return the steps of a normalizer, in order."""
    return normalizer.steps if isinstance(normalizer, Chain) else () if normalizer is None else (normalizer,)
