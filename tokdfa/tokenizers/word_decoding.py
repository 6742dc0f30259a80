"""The steps of decoders that tell words apart: by spaces between tokens, marks of words, or white space at the ends."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

from tokdfa.tokenizers.decoding import DecodeStep

# The replacements by the decoder of tokenizers if asked to clean up, in this order.
CLEANUP = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m")),
    *((" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)


class _OtherFirst(DecodeStep):
    """A step that spells the first token of a text in another way than the rest."""

    settled = True

    @property
    def initial(self) -> bool:
        return False

    @abstractmethod
    def spell(self, token: str, begun: bool) -> str:
        """Return the new spelling of a token; `begun` is whether one came before it."""

    def read(self, state: bool, token: str) -> tuple[list[str], bool]:
        return [self.spell(token, state)], True


@dataclass(frozen=True)
class DecodeMetaspace(_OtherFirst):
    """Read the visible character as a space, and drop it from the first token if one is put before texts."""

    replacement: str
    drops_first: bool
    is_separate = True

    def spell(self, token: str, begun: bool) -> str:
        return token.replace(self.replacement, " " if begun or not self.drops_first else "")

    @property
    def later(self) -> DecodeStep:
        return replace(self, drops_first=False)


@dataclass(frozen=True)
class DecodeSuffix(DecodeStep):
    """Read the suffix of words as a space, except at the end of the text.

    A state is the last token, if it has a suffix.
    """

    suffix: str

    def read(self, state: str | None, token: str) -> tuple[list[str], str | None]:
        decided = [] if state is None else [state.replace(self.suffix, " ")]
        return (decided, token) if self.suffix in token else ([*decided, token], None)

    def finish(self, state: str | None) -> list[str]:
        return [] if state is None else [state.replace(self.suffix, "")]


@dataclass(frozen=True)
class DecodeWordPiece(_OtherFirst):
    """Put a space before tokens that do not begin with a prefix, and remove the prefix from those that do."""

    prefix: str
    cleanups: tuple[tuple[str, str], ...]

    def spell(self, token: str, begun: bool) -> str:
        if begun:
            token = token[len(self.prefix) :] if token.startswith(self.prefix) else f" {token}"
        for old, new in self.cleanups:
            token = token.replace(old, new)
        return token


@dataclass(frozen=True)
class DecodeWordPieceApart(DecodeStep):
    """Remove a prefix, as `DecodeWordPiece` does, but not from tokens that are `apart`, and not right after one.

    A state is whether the last token is one of them; None before the first token.
    """

    prefix: str
    apart: tuple[str, ...]
    settled = False

    @property
    def initial(self) -> None:
        return None

    def read(self, state: bool | None, token: str) -> tuple[list[str], bool]:
        is_apart = token in self.apart
        if state is None:
            return [token], is_apart
        joins = not (state or is_apart) and token.startswith(self.prefix)
        return [token[len(self.prefix) :] if joins else f" {token}"], is_apart


@dataclass(frozen=True)
class DecodeSpaced(_OtherFirst):
    """Put a space before each token but the first, as tokenizers does without a decoder."""

    def spell(self, token: str, begun: bool) -> str:
        return f" {token}" if begun else token


@dataclass(frozen=True)
class StripText(DecodeStep):
    """Remove white space, as Python knows it, from both ends of the whole text.

    A state is whether the text has begun, and the white space at its end.
    """

    settled = (True, "")

    @property
    def initial(self) -> tuple[bool, str]:
        return False, ""

    def read(self, state: tuple[bool, str], token: str) -> tuple[list[str], tuple[bool, str]]:
        begun, space = state
        text = token.rstrip()
        if not text:
            return [""], (begun, space + token if begun else "")
        return [space + text if begun else text.lstrip()], (True, token[len(text) :])

    def is_open(self, state: tuple[bool, str]) -> bool:
        return bool(state[1])

    def held(self, state: tuple[bool, str]) -> int:
        return len(state[1].encode("utf-8"))

    def __call__(self, tokens: list[str]) -> list[str]:
        stripped = tokens.copy()
        for order, strip in ((range(len(tokens)), str.lstrip), (reversed(range(len(tokens))), str.rstrip)):
            for index in order:
                stripped[index] = strip(stripped[index])
                if stripped[index]:
                    break
        return stripped
