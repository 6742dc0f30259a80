"""The normalizers of the library tokenizers, which rewrite a text before it is split into pieces."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from tokdfa.errors import LimitExceededError, PatternError
from tokdfa.splitting.steps import Split, Splitting
from tokdfa.tokenizers.growth import check_growth, most_characters
from tokdfa.unicode.byte_alphabet import spell
from tokdfa.unicode.normalization import Form, lowercase, normalize, spaces, strip_accents
from tokdfa.unicode.quick_check import changes

__all__ = [
    "ByteLetters",
    "Chain",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Prepend",
    "Replace",
    "Strip",
    "StripAccents",
    "UnicodeForm",
]


class Normalizer(Protocol):
    """A function from text to text. Equal normalizers do the same."""

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        ...

    @property
    def keeps_beginning(self) -> bool:
        """Whether the beginning of the normalized text always comes from the beginning of the text."""
        ...


@dataclass(frozen=True)
class UnicodeForm:
    """NFC, NFD, NFKC or NFKD."""

    form: Form
    keeps_beginning = True

    def __call__(self, text: str) -> str:
        """Return `text` normalized; only stretches that change are looked at closely."""
        if text.isascii():
            return text
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            return normalize(text, self.form)
        parts: list[str] = []
        at = 0
        for change in changes(data, self.form):
            parts += (data[at : change.begin].decode("utf-8"), change.normalized)
            at = change.end
        return "".join(parts) + data[at:].decode("utf-8") if parts else text


@dataclass(frozen=True)
class Lowercase:
    """Each character in lower case, whatever its neighbours."""

    keeps_beginning = True

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        return lowercase(text)


@dataclass(frozen=True)
class StripAccents:
    """Without combining marks."""

    keeps_beginning = False

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        return strip_accents(text)


@dataclass(frozen=True)
class Nmt:
    """Without control characters, and with spaces for other white space and for what is invisible."""

    keeps_beginning = False

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        return text.translate(_NMT)


_NMT_REMOVED = (*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)
_NMT_SPACES = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
_NMT = dict.fromkeys(_NMT_REMOVED, "") | dict.fromkeys(_NMT_SPACES, " ")


@dataclass(frozen=True)
class ByteLetters:
    """The bytes of the text as letters of GPT-2's alphabet."""

    keeps_beginning = True

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        return spell(text.encode("utf-8"))


@dataclass(frozen=True)
class Strip:
    """Without white space at the left, the right, or both ends."""

    left: bool
    right: bool
    keeps_beginning = False

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        blanks = _blanks()
        text = text.lstrip(blanks) if self.left else text
        return text.rstrip(blanks) if self.right else text


@lru_cache(maxsize=1)
def _blanks() -> str:
    return "".join(sorted(spaces()))


@dataclass(frozen=True)
class Prepend:
    """Something put before every text that is not empty."""

    prefix: str
    keeps_beginning = True

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        return self.prefix + text if text else text


@dataclass(frozen=True)
class Replace:
    """Every match of a pattern, a string or a regular expression, replaced by a string.

    A regular expression must not match the empty text; `check` verifies this.

    Raises
    ------
    LimitExceededError
        If the text would become too long, or the matches of a regular expression take too long to find.
    """

    pattern: str
    content: str
    literal: bool
    # The engine tries one way after the other, of which there may be exponentially many.
    most_seconds: float = field(default=20.0, repr=False, compare=False)
    keeps_beginning = False

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
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
    def lengthens(self) -> bool:
        """Whether a text may become longer."""
        return len(self.content) > (len(self.pattern) if self.literal else 1)

    def check(self) -> None:
        """Raise PatternError unless the pattern can be used."""
        _program(self.pattern)


@lru_cache(maxsize=64)
def _program(pattern: str) -> Any:
    """Return a regular expression of the library, for the backtracking engine."""
    from tokdfa.patterns.backtracking import compile_backtracking
    from tokdfa.patterns.syntax import is_nullable
    from tokdfa.splitting.step_trees import step_tree

    step = Split(pattern)
    tree = step_tree(step, Splitting("tokenizers", (step,)))
    if is_nullable(tree):
        raise PatternError("a pattern that is replaced must not match the empty text", value=pattern)
    return compile_backtracking(tree)


@dataclass(frozen=True)
class Chain:
    """Normalizers one after the other.

    Raises
    ------
    LimitExceededError
        If they make a text too long.
    """

    steps: tuple[Normalizer, ...]

    @property
    def keeps_beginning(self) -> bool:
        """Whether the beginning of the normalized text always comes from the beginning of the text."""
        return all(step.keeps_beginning for step in self.steps)

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        most = most_characters(len(text))
        for step in self.steps:
            text = step(text)
            check_growth(len(text), most, step)
        return text
