"""From ids to text where that is more than one spelling after the other: decoders of tokenizers, and SentencePiece.

Every step maps the spelling of each token to another one, so the token that a text comes from stays known. Steps that
join tokens leave their result with the last of them.
"""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal, NamedTuple, cast

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

REPLACEMENT = "\ufffd"
# The texts of the bytes before the last one of a character of two, three and four bytes.
_BEFORE_LAST = ([""], ["", ""], ["", "", ""])
# So many tokens are replaced in as one text, with this between them if none has it.
_MANY, _APART = 64, "\0"
_SPACE = "\u2581"
_LONGEST_PATTERN = 64


class DecodeStep(ABC):
    """A function from the spellings of tokens to the same number of others.

    It is a subsequential transducer: `read` returns the spellings that no later token can change. ByteFallback, for
    example, returns none for ``<0xC3>`` and both "" and "é" for ``<0xA9>`` and any token after it.
    """

    is_separate = False
    """Whether it spells each token by itself, except at the beginning of a text."""

    settled: Hashable = None
    """The state in which nothing is undecided, after the beginning of a text."""

    @property
    def initial(self) -> Hashable:
        """The state at the beginning of a text."""
        return self.settled

    @abstractmethod
    def read(self, state: Any, token: str) -> tuple[list[str], Hashable]:
        """Return the spellings that are decided with one more token, in the order of tokens, and the new state."""

    def finish(self, state: Any) -> list[str]:
        """Return the spellings that are undecided in a state, if the text ends there."""
        return []

    def is_open(self, state: Any) -> bool:
        """Return whether spellings are undecided in a state."""
        return bool(self.finish(state))

    def held(self, state: Any) -> int:
        """Return the number of bytes at the end of the last token that come with the spelling of a later one."""
        return 0

    def __call__(self, tokens: list[str]) -> list[str]:
        """Return the new spellings."""
        return self.run(self.initial, tokens)

    def run(self, state: Hashable, tokens: list[str]) -> list[str]:
        """Return the new spellings of tokens with which a text continues, and ends."""
        if not tokens:
            return []
        read, spelled = self.read, list[str]()
        for token in tokens:
            decided, state = read(state, token)
            spelled += decided
        spelled += self.finish(state)
        last = len(tokens) - 1
        return [*spelled[:last], "".join(spelled[last:])]

    @property
    def later(self) -> DecodeStep | None:
        """The step for the text after the beginning, from which it removes nothing."""
        return self


class _TokenByToken(DecodeStep):
    """A step that spells each token by itself."""

    is_separate = True

    @abstractmethod
    def spell(self, token: str) -> str:
        """Return the new spelling of a token."""

    def read(self, state: None, token: str) -> tuple[list[str], None]:
        return [self.spell(token)], None


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
class NoDecoder(_TokenByToken):
    """The decoder of a file that has none, so that ids have no text; see :meth:`AnyTokenizer.why_not`."""

    def __str__(self) -> str:
        return "none, so ids have no text"

    def spell(self, token: str) -> str:
        return token


@dataclass(frozen=True)
class DecodeReplace(_TokenByToken):
    """Replace in each token separately."""

    replace: Replace

    def spell(self, token: str) -> str:
        return self.replace(token)

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
    settled = ""

    @property
    def is_streamed(self) -> bool:
        """Whether a text is read token by token: little of it can be the beginning of a match."""
        return self.replace.literal and len(self.replace.pattern) <= _LONGEST_PATTERN

    def read(self, state: str, token: str) -> tuple[list[str], str]:
        pattern, text = self.replace.pattern, state + token
        # The next match may begin at the end of the text, after the last match.
        done = len(text) - len(text.split(pattern)[-1])
        ends = range(max(done, len(text) - len(pattern) + 1), len(text))
        at = next((at for at in ends if pattern.startswith(text[at:])), len(text))
        return [self.replace(text[:at])], text[at:]

    def finish(self, state: str) -> list[str]:
        return [state] if state else []

    def held(self, state: str) -> int:
        return len(state.encode("utf-8"))

    def __call__(self, tokens: list[str]) -> list[str]:
        if self.is_streamed:
            return super().__call__(tokens)
        whole = self.replace("".join(tokens))
        spelled = [self.replace(token) for token in tokens]
        return spelled if "".join(spelled) == whole else [*[""] * (len(tokens) - 1), whole]


@dataclass(frozen=True)
class DecodeByteLevel(DecodeStep):
    """Read letters of GPT-2's byte alphabet as bytes, and these as UTF-8; invalid UTF-8 becomes U+FFFD."""

    settled = b""

    def read(self, state: bytes, token: str) -> tuple[list[str], bytes]:
        data = state + bytes_of(token)
        text, n = codecs.utf_8_decode(data, "replace", False)
        return [text], data[n:]

    def finish(self, state: bytes) -> list[str]:
        return [state.decode("utf-8", "replace")] if state else []

    def held(self, state: bytes) -> int:
        return len(state)


def bytes_of(token: str) -> bytes:
    """Return the bytes that a token spells in the byte alphabet; in UTF-8 where a letter is not in it."""
    if all(letter in BYTE_OF for letter in token):
        return bytes(BYTE_OF[letter] for letter in token)
    return token.encode("utf-8")


@dataclass(frozen=True)
class DecodeStrip(_TokenByToken):
    """Remove up to a number of copies of a character from the beginning of each token."""

    character: str
    count: int

    def spell(self, token: str) -> str:
        return token[_run(token, self.character, self.count) :]


@dataclass(frozen=True)
class StripWhole(DecodeStep):
    """Remove up to a number of copies of a character from the beginning of the whole text."""

    character: str
    count: int
    is_separate = True
    settled = 0

    @property
    def initial(self) -> int:
        return self.count

    def read(self, state: int, token: str) -> tuple[list[str], int]:
        taken = _run(token, self.character, state)
        left = token[taken:]
        return [left], 0 if left else state - taken

    @property
    def later(self) -> None:
        return None


def _run(token: str, character: str, most: int) -> int:
    """Return the number of copies of a character with which a token begins, up to a maximum."""
    return min(len(token) - len(token.lstrip(character)), most)


class Run(NamedTuple):
    """A run of byte tokens that are UTF-8 up to here, and may turn out not to be.

    `before` is the run without its last byte, None if that is the first one; so each byte is added in the same time.
    """

    before: Run | None
    byte: int
    size: int
    begun: bytes  # of a character

    @property
    def spelled(self) -> list[str]:
        """The texts of its tokens if it ends here."""
        if self.begun:
            return [REPLACEMENT] * self.size
        data, run = bytearray(), cast("Run | None", self)
        while run is not None:
            data.append(run.byte)
            run = run.before
        return _characters(data[::-1])[0]


@dataclass(frozen=True)
class ByteFallback(DecodeStep):
    """Read runs of byte tokens as UTF-8; if a run is not UTF-8, each of its tokens becomes U+FFFD.

    A state is the open run: None without one, and False if it is not UTF-8.
    """

    is_separate = True

    def read(self, state: Run | Literal[False] | None, token: str) -> tuple[list[str], Run | Literal[False] | None]:
        byte = _LOOSE_BYTES.get(token)
        if byte is None:
            return ([*state.spelled, token] if state else [token]), None
        if state is False:
            return [REPLACEMENT], False
        size, begun = (state.size + 1, state.begun) if state else (1, b"")
        begun += bytes((byte,))
        try:
            n = codecs.utf_8_decode(begun, "strict", False)[1]
        except UnicodeDecodeError:
            return [REPLACEMENT] * size, False
        return [], Run(state, byte, size, begun[n:])

    def finish(self, state: Run | Literal[False] | None) -> list[str]:
        return state.spelled if state else []

    def is_open(self, state: Run | Literal[False] | None) -> bool:
        return bool(state)

    def held(self, state: Run | Literal[False] | None) -> int:
        return len(state.begun) if state else 0


@dataclass(frozen=True)
class DecodeSentencePiece(DecodeStep):
    """SentencePiece: the visible space becomes a space, and the one put before the text is removed.

    Byte tokens are read as UTF-8 character by character; a byte that begins no character becomes U+FFFD. The visible
    space remains in tokens that are `kept` as they are. A state is whether a visible space is still removed, and the
    bytes of a character that has begun.
    """

    drops_first: bool
    drops_all: bool
    unknown: str
    surface: str
    kept: frozenset[str] = frozenset()
    is_separate = True
    settled = (False, b"")

    @property
    def initial(self) -> tuple[bool, bytes]:
        return self.drops_first or self.drops_all, b""

    def read(self, state: tuple[bool, bytes], token: str) -> tuple[list[str], tuple[bool, bytes]]:
        at_begin, begun = state
        byte = _BYTES.get(token)
        if byte is not None:
            begun += bytes((byte,))
            n = codecs.utf_8_decode(begun, "surrogateescape", False)[1]
            return _characters(begun[:n])[0], (False, begun[n:])
        spelled = [REPLACEMENT] * len(begun)
        if token == self.unknown:
            return [*spelled, self.surface], (at_begin and not self.surface, b"")
        is_kept = token in self.kept
        drops = at_begin and token.startswith(_SPACE) and not is_kept
        token = token[drops:]
        spelled.append(token if is_kept else token.replace(_SPACE, " "))
        return spelled, (at_begin and not token and (self.drops_all or not drops), b"")

    def finish(self, state: tuple[bool, bytes]) -> list[str]:
        return [REPLACEMENT] * len(state[1])

    def held(self, state: tuple[bool, bytes]) -> int:
        return len(state[1])

    @property
    def later(self) -> DecodeStep:
        return replace(self, drops_first=False, drops_all=False)


def _characters(run: bytes | bytearray) -> tuple[list[str], bool]:
    """Return the texts of byte tokens: each character at its last byte, and U+FFFD for each byte in none.

    And whether every byte is in a character.
    """
    spelled: list[str] = []
    is_whole = True
    # A byte in no character becomes half of a surrogate pair, which no character is.
    for letter in run.decode("utf-8", "surrogateescape"):
        if letter < "\x80":
            spelled.append(letter)
        elif "\ud800" <= letter <= "\udfff":
            spelled.append(REPLACEMENT)
            is_whole = False
        else:
            spelled += _BEFORE_LAST[(letter > "\u07ff") + (letter > "\uffff")]
            spelled.append(letter)
    return spelled, is_whole
