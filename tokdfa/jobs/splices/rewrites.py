"""The rewriting of the characters of a text before they are merged: spaces, and characters without a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.utf8 import BYTE_OF, BYTES_OF_UTF8, CHARACTER_OF
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from tokdfa.tokenizers.normalizers.steps import Chain, Normalizer, Prepend, Replace
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

_N_POINTS = 0x110000


@dataclass(frozen=True)
class Prefix:
    """The space that is put before texts."""

    always: bool  # Whether it is also put before texts that begin with a space
    everywhere: bool  # Whether it is also put after each special token, and not only at the beginning of a text
    before_specials: bool = False  # Whether it is also put before a special token that begins the text


@dataclass(frozen=True)
class Rewrites:
    """The rewriting of spaces."""

    space: str = " "  # The character that they become
    prefix: Prefix | None = None

    @staticmethod
    def of(tokenizer: Tokenizer, splitting: Splitting) -> Rewrites:
        """Return the rewriting of spaces by a tokenizer."""
        normalizer = tokenizer.rewriting.normalizer
        space, put = " ", ""
        always = False
        for step in _steps(normalizer):
            if isinstance(step, Prepend):
                put, always = step.prefix + put, True
            elif isinstance(step, Replace) and step.literal and step.pattern == " " and len(step.content) == 1:
                space, put = (step.content if space == " " else space), put.replace(" ", step.content)
            elif isinstance(step, SentencePieceNormalizer) and step.table is None and not step.trims_spaces:
                shown = SPACE if step.shows_spaces else " "
                always |= step.puts_space
                put = (" " * step.puts_space + put).replace(" ", shown)
                space = shown if space == " " else space
            else:
                raise UnsupportedFeatureError("the normalizer does more than replace spaces", value=step)
        if splitting.metaspace is not None:
            put = put.replace(" ", splitting.metaspace)
            space = splitting.metaspace if space == " " else space
            if space != splitting.metaspace:
                raise UnsupportedFeatureError("spaces become one character and then another", value=splitting)
        if put not in ("", space):
            raise UnsupportedFeatureError("more than a space is put before texts", value=put)
        within = [special for special in tokenizer.found_specials if special.text and special.level]
        if put and within:
            what = "a special token is found only after a space was put before the text"
            raise UnsupportedFeatureError(what, value=within[0].content)
        atoms = tokenizer.rewrites[2]
        if put:
            return Rewrites(space, Prefix(True, not atoms, bool(atoms)))
        if splitting.prefix_space is not None:
            return Rewrites(space, Prefix(False, not splitting.prefix_once))
        return Rewrites(space)

    @property
    def spaces(self) -> str:
        """The characters that become the space."""
        return " " if self.space == " " else f" {self.space}"

    def spelled(self, text: str) -> str | None:
        """Return the text that a token represents; None if it is in no text."""
        if self.space == " ":
            return text
        return None if " " in text else text.replace(self.space, " ")


PLAIN_TEXT = Rewrites()
"""What does nothing to texts."""


def _steps(normalizer: Normalizer | None) -> Sequence[Normalizer]:
    if normalizer is None:
        return ()
    return normalizer.steps if isinstance(normalizer, Chain) else (normalizer,)


class Symbols:
    """Which characters a tokenizer has symbols for; refused where that depends on their neighbours."""

    def __init__(self, tokenizer: Tokenizer, rewrites: Rewrites) -> None:
        self._alphabet = tokenizer.dictionary.alphabet
        self._rewrites = rewrites
        _, fallback, self.atoms, self._prefix = tokenizer.rewrites
        self._suffix = tokenizer.suffix
        self._spells = None if fallback is None or fallback.bytes is None else fallback.bytes
        self._replaced = None if fallback is None else fallback.unknown
        # Whether the last symbol of a piece is marked, and whether all but the first one are.
        self.marks = bool(self._suffix), bool(self._prefix)
        self.is_marked = any(self.marks)
        # Of shape (0x110000,): the code points without a symbol of their own, which become the same wherever they are
        # and never merge; and those among them that no encoded text has.
        self.unknown: BoolArray = np.zeros(_N_POINTS, dtype=np.bool_)
        self.refused: BoolArray = self.unknown
        # Whether several such symbols side by side become one.
        self.fuses = False
        if fallback is not None and fallback.drops:
            raise UnsupportedFeatureError("characters without a token are dropped")
        # Whether the symbols are letters that represent bytes.
        is_bytewise = tokenizer.why_not("bytes") is None
        self.of_bytes = tokenizer.why_not("letters") is None and not is_bytewise
        if self.of_bytes:
            self._check_bytes()
        if is_bytewise or self.of_bytes:
            return
        self.unknown = self._unknown()
        if self.is_marked:
            self._check_marks()
        if self._spells is not None and None not in self._spells:
            # A character that is spelled by its bytes and a mark is not the one without a mark.
            return
        if self._spells is not None and self._replaced is not None and any(self._spells):
            raise UnsupportedFeatureError("only some bytes have tokens, and other symbols one for unknown ones")
        if self._replaced is not None:
            self.fuses = bool(fallback and fallback.fuses)
            return
        self.refused = self.unknown.copy()
        if self._spells is not None:
            points = np.flatnonzero(self.refused)
            known = {byte for byte, symbol in enumerate(self._spells) if symbol is not None}
            spelled = [point for point in points.tolist() if known.issuperset(_utf8(point))]
            self.refused[spelled] = False
            if self.is_marked and spelled:
                # With a mark they have other bytes than without, so they are not the same wherever they are.
                if not all(known.issuperset(part.encode()) for mark in self._marks for part in mark):
                    raise UnsupportedFeatureError("only some bytes have tokens, and symbols are marked by others")
                self.unknown[spelled] = False

    def _check_bytes(self) -> None:
        letters = [CHARACTER_OF[byte] for byte in sorted(BYTES_OF_UTF8)]
        for before, after in [("", ""), *self._marks]:
            missing = next((letter for letter in letters if before + letter + after not in self._known), None)
            if missing is not None:
                raise UnsupportedFeatureError("a byte has no token", value=BYTE_OF[missing])

    @property
    def _marks(self) -> list[tuple[str, str]]:
        """The marks put before and after a symbol, except none."""
        suffix = self._suffix if self._suffix and self._suffix not in self._known else ""
        prefix = self._prefix or ""
        return [mark for mark in {(prefix, ""), ("", suffix), (prefix, suffix)} if any(mark)]

    @cached_property
    def _known(self) -> frozenset[str]:
        symbols = self._alphabet.symbols
        return frozenset("".join(cast("tuple[str, ...]", word)) for word in symbols)

    def _unknown(self, before: str = "", after: str = "") -> BoolArray:
        found: BoolArray = np.ones(_N_POINTS, dtype=np.bool_)
        for symbol in self._known:
            core = symbol[len(before) : len(symbol) - len(after)]
            if len(core) == 1 and symbol == before + core + after:
                found[ord(core)] = False
        if self._rewrites.space != " ":
            found[ord(" ")] = found[ord(self._rewrites.space)]
        return found

    def _check_marks(self) -> None:
        if self._spells is not None and None not in self._spells:
            self.unknown = np.zeros(_N_POINTS, dtype=np.bool_)
            return
        for mark in self._marks:
            odd = np.flatnonzero(self._unknown(*mark) != self.unknown)
            if len(odd):
                what = "a character has a token only at the end of a piece, or only elsewhere"
                raise UnsupportedFeatureError(what, value=chr(int(odd[0])))


def _utf8(point: int) -> bytes:
    return chr(point).encode("utf-8", "surrogatepass")
