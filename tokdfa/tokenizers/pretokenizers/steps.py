"""Pre-tokenizers as files define them: splitting steps, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["Behavior", "Library", "Split", "Splitting"]

Behavior: TypeAlias = Literal["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
Library: TypeAlias = Literal["tokenizers", "tiktoken", "llama.cpp"]


@dataclass(frozen=True, slots=True)
class Split:
    """One splitting step: a pattern, whether it is inverted, and what happens to the matches."""

    pattern: str
    behavior: Behavior = "isolated"
    invert: bool = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Splitting:
    """The pre-tokenizer of a file: a name or the steps, in order, with the library whose character classes they use.

    With `prefix_space`, a stretch that does not begin with a space gets one before the step of that index; with
    `prefix_once`, only a stretch that begins the text does. If `metaspace` is a character, it replaces all spaces
    before the step of index `metaspace_at`; then `prefix_space` is None or the same index and adds this character
    instead of a space. Last, `byte_steps` split the pieces, spelled in GPT-2's byte alphabet, and may so cut a
    character apart. `unicode` is the name of the table that the classes are of, such as ``tokenizers==0.21.1``; None is
    the newest one of the library.
    """

    library: Library
    steps: tuple[Split, ...] = ()
    prefix_space: int | None = None
    metaspace: str | None = None
    prefix_once: bool = False
    metaspace_at: int = 0
    byte_steps: tuple[Split, ...] = ()
    unicode: str | None = field(default=None, repr=False)

    @property
    def table(self) -> str:
        """The name of the table that the classes are of; see :mod:`tokdfa.regex.unicode.versions`."""
        return self.unicode or self.library

    @property
    def is_nothing(self) -> bool:
        """Whether every text is one piece and stays unchanged."""
        return not self.steps and not self.byte_steps and self.prefix_space is None and self.metaspace is None

    @property
    def all_steps(self) -> tuple[Split, ...]:
        """The steps, those that split bytes last."""
        return (*self.steps, *self.byte_steps)
