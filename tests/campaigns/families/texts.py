"""Texts of many kinds, drawn for one tokenizer: nasty characters, its markers, and parts of its tokens."""

from __future__ import annotations

import os
import random
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.campaigns.families.peers import Peer
from tests.campaigns.standing.texts import ENGLISH, long_piece
from tests.campaigns.standing.texts import text as hostile_text
from tests.support.families import PARTS
from tests.support.live import N_BLOCKS, any_text
from tests.support.real_tokenizers import CORPORA, SYMBOLS

__all__ = ["KINDS", "Texts"]

BLANKS = [" ", "  ", "   ", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\xa0"]
BLANKS += ["\u1680", "\u2003", "\u2028", "\u202f", "\u3000", "\u200b", "\ufeff", "\u2581", " \n", "\n ", "a", "1", "."]
# Looks like what files write for bytes, ends of words and markers.
LOOKALIKES = [
    "<0x0A>",
    "<0xE4>",
    "<0x",
    "\u2581",
    "\u2581\u2581",
    "##",
    "##a",
    "</w>",
    "\ufffd",
    "\ufffd\ufffd",
    "<unk>",
]
LOOKALIKES += ["<s>", "</s>", "<|", "|>", "<|endoftext|>", "[UNK]", "[CLS]", "\u2047", " \u2047 ", "\u0120", "\u010a"]
JAMO = [*"\u1100\u1112\u1161\u1175\u11a8\u11c2", "가", "각", "한"]


@cache
def _marks() -> list[str]:
    return [chr(code) for code in range(0x110000) if unicodedata.combining(chr(code))]


@cache
def _composing() -> list[str]:
    """Return characters that a form of Unicode writes otherwise."""
    forms = ("NFC", "NFKC", "NFD", "NFKD")
    characters = map(chr, [*range(0xD800), *range(0xE000, 0x30000)])
    return [c for c in characters if any(not unicodedata.is_normalized(form, c) for form in forms)]


@cache
def _corpora() -> list[str]:
    folder = os.environ.get("TOKDFA_DATA")
    if not folder:
        return [" ".join(ENGLISH * 20)]
    return [(Path(folder) / "corpora" / name).read_text("utf-8") for name in CORPORA]


class Texts:
    """Texts for a library's file. Each call draws the next one; the numbers visit every block of Unicode."""

    def __init__(self, peer: Peer, drawn: random.Random) -> None:
        self._drawn = drawn
        self._number = drawn.randrange(N_BLOCKS)
        ids = drawn.sample(sorted(peer.tokens), min(len(peer.tokens), 4000))
        shown = peer.decode([[id] for id in ids if id not in peer.cuts])
        written = [peer.tokens[id] for id in ids[:500]]
        self._tokens = [text for text in [*shown, *written] if text and len(text) < 200]
        self._added = [content for content in dict.fromkeys(peer.added.values()) if content]
        if len(self._added) > 300:
            self._added = [*self._added[:50], *drawn.sample(self._added, 200)]

    def next(self) -> tuple[str, str]:
        """Return a text and the name of its kind."""
        (kind,) = self._drawn.choices([*KINDS], weights=WEIGHTS)
        text = KINDS[kind](self)
        return kind, text.encode("utf-8", "ignore").decode()

    def _parts(self, parts: list[str], most: int) -> str:
        return "".join(self._drawn.choices(parts, k=self._drawn.randrange(1, most)))

    def nasty(self) -> str:
        return self._parts(self._drawn.choice([SYMBOLS, PARTS, LOOKALIKES, [*SYMBOLS, *LOOKALIKES]]), 13)

    def hostile(self) -> str:
        return hostile_text(self._drawn, 0, 6)

    def unicode(self) -> str:
        self._number += 1
        return any_text(self._drawn, self._number, tuple(self._added))

    def marks(self) -> str:
        drawn = self._drawn
        parts: list[str] = []
        for _ in range(drawn.randrange(1, 6)):
            parts.append(drawn.choice(["a", "e", "A", " ", "\n", "中", *JAMO, drawn.choice(_composing())]))
            parts += drawn.choices(_marks() if drawn.random() < 0.5 else _marks()[:40], k=drawn.choice([0, 1, 1, 2, 3]))
        return "".join(parts)

    def markers(self) -> str:
        drawn = self._drawn
        contents = self._added or LOOKALIKES
        parts = []
        for _ in range(drawn.randrange(1, 7)):
            content = drawn.choice(contents)
            cut = drawn.randrange(len(content) + 1)
            parts.append(drawn.choice([content, content, content, content[:cut], content[cut:], content.upper()]))
            parts.append(
                drawn.choice(["", "", " ", "  ", "\n", "a", " a", drawn.choice(SYMBOLS), drawn.choice(self._tokens)])
            )
        return "".join(parts)

    def blanks(self) -> str:
        return self._parts(BLANKS, 12)

    def real(self) -> str:
        text = self._drawn.choice(_corpora())
        begin = self._drawn.randrange(len(text))
        part = text[begin : begin + self._drawn.choice([20, 60, 150, 400])]
        return part.replace("\n", "\r\n") if self._drawn.random() < 0.2 else part

    def of_tokens(self) -> str:
        return self._parts(self._tokens, 9)

    def near_tokens(self) -> str:
        """Halves of tokens, and tokens with one character changed: texts that almost merge."""
        drawn, parts = self._drawn, []
        for _ in range(drawn.randrange(1, 8)):
            one, other = drawn.choices(self._tokens, k=2)
            cut = drawn.randrange(len(one) + 1)
            joined = one[:cut] + other[drawn.randrange(len(other)) :]
            changed = one[:cut] + drawn.choice(one) + one[cut + 1 :]
            parts.append(drawn.choice([one, one[:cut], one[cut:], joined, changed, one + one[cut:]]))
        return "".join(parts)

    def long_word(self) -> str:
        drawn = self._drawn
        length = drawn.choice([50, 200, 600]) if drawn.random() < 0.95 else 5000
        if drawn.random() < 0.5:
            return long_piece(drawn, length)
        letters = [token for token in drawn.choices(self._tokens, k=40) if token.strip().isalpha()] or ["ab"]
        return "".join(drawn.choices([letter.strip() for letter in letters], k=length // 5))

    def noise(self) -> str:
        codes = (self._drawn.randrange(0x110000) for _ in range(self._drawn.randrange(1, 10)))
        return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)

    def empty(self) -> str:
        return self._drawn.choice(["", "", " ", "\n", "\x00"])


KINDS: dict[str, Callable[[Texts], str]] = {
    "nasty symbols": Texts.nasty,
    "hostile": Texts.hostile,
    "blocks of Unicode": Texts.unicode,
    "marks": Texts.marks,
    "markers": Texts.markers,
    "blanks and line ends": Texts.blanks,
    "corpora": Texts.real,
    "tokens": Texts.of_tokens,
    "nearly tokens": Texts.near_tokens,
    "long words": Texts.long_word,
    "any code points": Texts.noise,
    "empty": Texts.empty,
}
WEIGHTS = [16, 10, 14, 8, 12, 8, 8, 10, 10, 2, 3, 1]
