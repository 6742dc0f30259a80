"""Special tokens: ids that represent a span of text as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

_CONTROL: Final = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")


@dataclass(frozen=True, slots=True)
class Special:
    """A special token: an id that represents `content` as a whole.

    `level` is the order in which `tokenizers` looks for such tokens in a text: 0 before, 1 after its normalizer. White
    space to the left (`lstrip`) or right (`rstrip`) of a token that strips belongs to it; with `strips_ascii`, only
    white space of ASCII does. A `single_word` touches no other word. `normalized` is the content that is looked for in
    normalized text, if it differs.

    With `is_text` it is a part of the text like any other token: the library always decodes it, as tokenizers does with
    added tokens that have ``"special": false``. All others are control tokens, which may be left out.

    If it `is_mistaken`, decoding reads its letters as GPT-2's letters for bytes: "õ" is found in texts, but its id
    decodes to the byte 0xF5. In ids it is then an ordinary token with these bytes.
    """

    id: int
    content: str
    level: int = 0
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: str | None = None
    strips_ascii: bool = False
    # Neither ids nor the text that `decode` returns depend on it, so comparisons of tokenizers ignore it.
    is_text: bool = field(default=False, compare=False, repr=False)
    is_mistaken: bool = field(default=False, repr=False)

    @property
    def text(self) -> str:
        """The text by which it is found and to which it decodes."""
        return self.content if self.normalized is None else self.normalized

    @property
    def is_plain(self) -> bool:
        """Whether it is found wherever its content occurs, and nothing else belongs to it."""
        return not (self.lstrip or self.rstrip or self.single_word) and self.normalized is None


def odd_ones(specials: Iterable[Special]) -> tuple[Special, ...]:
    """Return the special tokens that are not plain: the text next to them may decide whether they are found."""
    return tuple(special for special in specials if not special.is_plain)


def looks_like_control(text: str) -> bool:
    """Return whether a text has the form of control tokens, such as ``</s>``, ``<|end|>`` or ``[INST]``."""
    return _CONTROL.fullmatch(text) is not None
