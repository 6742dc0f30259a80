"""From ids to text where that is more than one spelling after the other: decoders of tokenizers, and SentencePiece.

Every step maps the spelling of each token to another one, so the token that a text comes from stays known. Steps that
join tokens leave their result with the last of them.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from tokdfa.regex.unicode.utf8 import BYTE_OF
from tokdfa.tokenizers.decoder import Decoded
from tokdfa.tokenizers.normalizers.steps import Replace, check_growth, most_characters

_BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
BYTE_TOKENS = (*_BYTES,)
"""The tokens that represent bytes, in their order; see :func:`byte_of`."""

# tokenizers reads more spellings as hexadecimal than it writes.
_DIGITS = "0123456789abcdefABCDEF"
_LOOSE_BYTES = {f"<0x{high}{low}>": int(high + low, 16) for high in f"+{_DIGITS}" for low in _DIGITS}
# The replacements by the decoder of tokenizers if asked to clean up, in this order.
CLEANUP = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m")),
    *((" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)

REPLACEMENT = "\ufffd"
# The texts of the bytes before the last one of a character of two, three and four bytes.
_BEFORE_LAST = ([""], ["", ""], ["", "", ""])
# So many tokens are replaced in as one text, with this between them if none has it.
_MANY, _APART = 64, "\0"
_SPACE = "\u2581"


class DecodeStep(ABC):
    """A function from the spellings of tokens to the same number of others."""

    is_separate = False
    """Whether it spells each token by itself, except at the beginning of a text."""

    @abstractmethod
    def __call__(self, tokens: list[str]) -> list[str]:
        """Return the new spellings."""

    @property
    def later(self) -> DecodeStep | None:
        """The step for the text after the beginning, from which it removes nothing."""
        return self


def decode_tokens(tokens: Sequence[str], steps: Sequence[DecodeStep]) -> Decoded:
    """Return the text that steps make of tokens."""
    spelled = list(tokens)
    for step in steps:
        spelled = step(spelled)
        if isinstance(step, DecodeReplace | ReplaceWhole) and step.replace.lengthens:
            check_growth(sum(map(len, spelled)), most_characters(sum(map(len, tokens))), step)
    text = "".join(spelled)
    lengths = map(len, spelled) if text.isascii() else (len(part.encode("utf-8")) for part in spelled)
    return Decoded(text, np.fromiter(accumulate(lengths), dtype=np.int64, count=len(spelled)))


def byte_of(token: str) -> int | None:
    """Return the byte that a token such as ``<0x0A>`` represents; None for other tokens."""
    return _BYTES.get(token)


def loose_byte_of(token: str) -> int | None:
    """Return the byte that tokenizers reads a token as, which takes more spellings than it writes; None for others."""
    return _LOOSE_BYTES.get(token)


@dataclass(frozen=True)
class NoDecoder(DecodeStep):
    """The decoder of a file that has none, so that ids have no text; see :meth:`AnyTokenizer.why_not`."""

    is_separate = True

    def __str__(self) -> str:
        return "none, so ids have no text"

    def __call__(self, tokens: list[str]) -> list[str]:
        return tokens


@dataclass(frozen=True)
class DecodeReplace(DecodeStep):
    """Replace in each token separately."""

    replace: Replace
    is_separate = True

    def __call__(self, tokens: list[str]) -> list[str]:
        replace = self.replace
        if len(tokens) >= _MANY and replace.literal and replace.pattern and not replace.lengthens:
            joined = _APART.join(tokens)
            if joined.count(_APART) == len(tokens) - 1 and _APART not in replace.pattern + replace.content:
                return joined.replace(replace.pattern, replace.content).split(_APART)
        return [replace(token) for token in tokens]


@dataclass(frozen=True)
class ReplaceWhole(DecodeStep):
    """Replace in the whole text; the replacement of a match across tokens stays with the last of them."""

    replace: Replace

    def __call__(self, tokens: list[str]) -> list[str]:
        whole = self.replace("".join(tokens))
        spelled = [self.replace(token) for token in tokens]
        return spelled if "".join(spelled) == whole else [*[""] * (len(tokens) - 1), whole]


@dataclass(frozen=True)
class DecodeByteLevel(DecodeStep):
    """Read letters of GPT-2's byte alphabet as bytes, and these as UTF-8; invalid UTF-8 becomes U+FFFD."""

    def __call__(self, tokens: list[str]) -> list[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        spelled = [decoder.decode(bytes_of(token)) for token in tokens]
        if spelled:
            spelled[-1] += decoder.decode(b"", final=True)
        return spelled


def bytes_of(token: str) -> bytes:
    """Return the bytes that a token spells in the byte alphabet; in UTF-8 where a letter is not in it."""
    if all(letter in BYTE_OF for letter in token):
        return bytes(BYTE_OF[letter] for letter in token)
    return token.encode("utf-8")


@dataclass(frozen=True)
class DecodeStrip(DecodeStep):
    """Remove up to a number of copies of a character from the beginning of each token."""

    character: str
    count: int
    is_separate = True

    def __call__(self, tokens: list[str]) -> list[str]:
        return [token[_run(token, self.character, self.count) :] for token in tokens]


@dataclass(frozen=True)
class StripWhole(DecodeStep):
    """Remove up to a number of copies of a character from the beginning of the whole text."""

    character: str
    count: int
    is_separate = True

    def __call__(self, tokens: list[str]) -> list[str]:
        stripped = tokens.copy()
        left = self.count
        for index, token in enumerate(tokens):
            taken = _run(token, self.character, left)
            stripped[index] = token[taken:]
            left -= taken
            if left == 0 or stripped[index]:
                break
        return stripped

    @property
    def later(self) -> None:
        return None


@dataclass(frozen=True)
class StripText(DecodeStep):
    """Remove white space, as Python knows it, from both ends of the whole text."""

    def __call__(self, tokens: list[str]) -> list[str]:
        stripped = tokens.copy()
        for order, strip in ((range(len(tokens)), str.lstrip), (reversed(range(len(tokens))), str.rstrip)):
            for index in order:
                stripped[index] = strip(stripped[index])
                if stripped[index]:
                    break
        return stripped


def _run(token: str, character: str, most: int) -> int:
    """Return the number of copies of a character with which a token begins, up to a maximum."""
    return min(len(token) - len(token.lstrip(character)), most)


@dataclass(frozen=True)
class ByteFallback(DecodeStep):
    """Read runs of byte tokens as UTF-8; if a run is not UTF-8, each of its tokens becomes U+FFFD."""

    is_separate = True

    def __call__(self, tokens: list[str]) -> list[str]:
        read = tokens.copy()
        run: list[int] = []
        for index, token in enumerate([*tokens, ""]):
            byte = _LOOSE_BYTES.get(token)
            if byte is not None:
                run.append(byte)
            elif run:
                characters, is_whole = _characters(run)
                read[index - len(run) : index] = characters if is_whole else [REPLACEMENT] * len(run)
                run = []
        return read


@dataclass(frozen=True)
class DecodeMetaspace(DecodeStep):
    """Read the visible character as a space, and drop it from the first token if one is put before texts."""

    replacement: str
    drops_first: bool
    is_separate = True

    def __call__(self, tokens: list[str]) -> list[str]:
        spelled = [token.replace(self.replacement, " ") for token in tokens]
        if tokens and self.drops_first:
            spelled[0] = tokens[0].replace(self.replacement, "")
        return spelled

    @property
    def later(self) -> DecodeStep:
        return replace(self, drops_first=False)


@dataclass(frozen=True)
class DecodeSuffix(DecodeStep):
    """Read the suffix of words as a space, except at the end of the text."""

    suffix: str

    def __call__(self, tokens: list[str]) -> list[str]:
        spelled = [token.replace(self.suffix, " ") for token in tokens]
        if tokens:
            spelled[-1] = tokens[-1].replace(self.suffix, "")
        return spelled


@dataclass(frozen=True)
class DecodeWordPiece(DecodeStep):
    """Put a space before tokens that do not begin with a prefix, and remove the prefix from those that do."""

    prefix: str
    cleanups: tuple[tuple[str, str], ...]

    def __call__(self, tokens: list[str]) -> list[str]:
        return [self._spell(token, index) for index, token in enumerate(tokens)]

    def _spell(self, token: str, index: int) -> str:
        if index:
            token = token[len(self.prefix) :] if token.startswith(self.prefix) else f" {token}"
        for old, new in self.cleanups:
            token = token.replace(old, new)
        return token


@dataclass(frozen=True)
class DecodeWordPieceApart(DecodeStep):
    """Remove a prefix, as `DecodeWordPiece` does, but not from tokens that are `apart`, and not right after one."""

    prefix: str
    apart: tuple[str, ...]

    def __call__(self, tokens: list[str]) -> list[str]:
        spelled = DecodeWordPiece(self.prefix, ())(tokens)
        for index, (previous, token) in enumerate(pairwise(tokens), 1):
            if previous in self.apart or token in self.apart:
                spelled[index] = f" {token}"
        return spelled


@dataclass(frozen=True)
class DecodeSpaced(DecodeStep):
    """Put a space before each token but the first, as tokenizers does without a decoder."""

    def __call__(self, tokens: list[str]) -> list[str]:
        return [*tokens[:1], *(f" {token}" for token in tokens[1:])]


@dataclass(frozen=True)
class DecodeSentencePiece(DecodeStep):
    """SentencePiece: the visible space becomes a space, and the one put before the text is removed.

    Byte tokens are read as UTF-8 character by character; a byte that begins no character becomes U+FFFD. The visible
    space remains in tokens that are `kept` as they are.
    """

    drops_first: bool
    drops_all: bool
    unknown: str
    surface: str
    kept: frozenset[str] = frozenset()
    is_separate = True

    def __call__(self, tokens: list[str]) -> list[str]:
        spelled: list[str] = []
        at_begin = self.drops_first or self.drops_all
        dropped = is_text = False
        run: list[int] = []
        for token in tokens:
            byte = _BYTES.get(token)
            if byte is not None:
                run.append(byte)
                continue
            spelled += _characters(run)[0]
            is_text = is_text or bool(run)
            run = []
            if dropped or is_text:
                at_begin = False
            dropped = False
            if token == self.unknown:
                spelled.append(self.surface)
                is_text = is_text or bool(self.surface)
                continue
            is_kept = token in self.kept
            if at_begin and token.startswith(_SPACE) and not is_kept:
                token = token[1:]
                dropped = not self.drops_all
            spelled.append(token if is_kept else token.replace(_SPACE, " "))
            is_text = is_text or bool(token)
        return spelled + _characters(run)[0]

    @property
    def later(self) -> DecodeStep:
        return replace(self, drops_first=False, drops_all=False)


def _characters(run: list[int]) -> tuple[list[str], bool]:
    """Return the texts of byte tokens: each character at its last byte, and U+FFFD for each byte in none.

    And whether every byte is in a character.
    """
    spelled: list[str] = []
    is_whole = True
    # A byte in no character becomes half of a surrogate pair, which no character is.
    for letter in bytes(run).decode("utf-8", "surrogateescape"):
        if letter < "\x80":
            spelled.append(letter)
        elif "\ud800" <= letter <= "\udfff":
            spelled.append(REPLACEMENT)
            is_whole = False
        else:
            spelled += _BEFORE_LAST[(letter > "\u07ff") + (letter > "\uffff")]
            spelled.append(letter)
    return spelled, is_whole
