"""Hostile texts: of one kind, and of many that follow one another."""

from __future__ import annotations

import random

# Parts from which small tokenizers make tokens.
ENGLISH = [*("the", "The", "ing", " of", " a", "tion", "e", "s", "ab", "it's", "I'LL", "ſ", "'s"), *(" ",) * 8]
ENGLISH += [*(". ", ", ", "\n", "\r\n", "2024", "7", " (", ")", "??", "-")]
CODE = ["    ", "\t", "def ", "self.", "(", "):\n", "\n\n", " = ", "0x1F", "_", "__init__", "{", "}\n", "//", '"', "x"]
SCRIPTS = ["中", "国", "の", "한국", "дом", "ия ", "é", "e\u0301", "ß", "ا", "क", "ि", " ", "。", "İ", "ǅ", "ʕ", "𝔘"]
ODD = ["\x00", "\x7f", "\x85", "\xa0", "\u2028", "\u3000", "\ufeff", "\ufffd", "\U000e0067", "😀", "👩\u200d👧"]
ODD += ["\u1c89", "\U0010ffff", "²", "½", "Ⅷ", "٣", "\x1c", "\u200b", "\u0345"]
SPACES = [" ", "  ", "      ", "\n", "\r", "\r\n", "\t", "\n \n", "\u3000", "a", "1"]
DIGITS = [*"0123456789", " ", ".", "٣", "%"]
SPECIALS = ("<|end|>", "<s>")
ALMOST = ["<|end", "|>", "<s", "<", *SPECIALS]
KINDS = {"english": ENGLISH, "code": CODE, "scripts": SCRIPTS, "odd": ODD, "spaces": SPACES, "digits": DIGITS}
EVERYTHING = [part for parts in KINDS.values() for part in parts]


def noise(drawn: random.Random, n: int) -> str:
    """Return any code points that are not surrogates."""
    return "".join(chr(drawn.choice([drawn.randrange(0xD800), drawn.randrange(0xE000, 0x110000)])) for _ in range(n))


def long_piece(drawn: random.Random, n: int) -> str:
    """Return what most patterns keep in one piece: letters, spaces, line feeds or signs without end."""
    return "".join(drawn.choices(drawn.choice(["ab", "x", " ", "\n", "!", "é", "中国", "the"]), k=n))


def new_words(drawn: random.Random, n: int) -> str:
    """Return words that hardly ever repeat."""
    return " ".join("".join(drawn.choices("abcdehint", k=drawn.randrange(3, 12))) for _ in range(n // 6 + 1))


def stretch(drawn: random.Random, n: int) -> str:
    """Return a text of one kind, of about `n` parts."""
    kind = drawn.choice([*KINDS, *KINDS, "all", "noise", "long", "new", "lines", "almost"])
    if kind == "noise":
        return noise(drawn, min(n, 200))
    if kind == "long":
        return long_piece(drawn, min(n, 600))
    if kind == "new":
        return new_words(drawn, n)
    if kind == "lines":
        lines = ["".join(drawn.choices(ENGLISH, k=drawn.randrange(12))) + "\n" for _ in range(3)]
        return "".join(drawn.choices(lines, k=n // 6 + 1))
    if kind == "almost":
        return "".join(drawn.choices([*ALMOST, *ENGLISH], k=min(n, 60)))
    return "".join(drawn.choices(KINDS.get(kind, EVERYTHING), k=n))


def text(drawn: random.Random, shortest: float = 0, longest: float = 11) -> str:
    """Return a text of ``2 ** shortest`` to ``2 ** longest`` parts, short ones as often as long ones."""
    n = int(2 ** drawn.uniform(shortest, longest)) - 1
    if drawn.random() < 0.5:
        return stretch(drawn, n)
    texts = []
    while n > 0:
        part = drawn.randrange(1, n + 2)
        texts.append(stretch(drawn, part))
        n -= part
    return "".join(texts)
