"""Extract text normalization from the installed tokenizers: ``python -m tests.campaigns.tables.normalization``.

Every step is tried on every code point, and every combining mark against marks of every class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import chain, pairwise
from typing import Any

from tokdfa.regex.unicode.ranges import SCALARS, characters_of, encode
from tokdfa.regex.unicode.versions import data_file

__all__ = ["main", "probe"]

_HANGUL = range(0xAC00, 0xD7A4)


def probe() -> dict[str, Any]:
    """Return the tables; :mod:`tokdfa.regex.unicode.normalization` describes them."""
    from tokenizers import normalizers

    steps = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")

    def only(step: str) -> Callable[[str], str]:
        return normalizers.BertNormalizer(**{name: name == step for name in steps}).normalize_str

    clean, chinese, strip, lower = (dict(_changes(only(step))) for step in steps)
    decompositions = dict(_changes(normalizers.NFD().normalize_str))
    marks = {c for c, text in strip.items() if not text}
    hangul = {c: decompositions.pop(c) for c in list(decompositions) if ord(c) in _HANGUL}

    assert set(clean.values()) == {"", " "}
    assert all(text == f" {c} " for c, text in chinese.items())
    assert all(
        strip.get(c, c) == "".join(d for d in decompositions.get(c, hangul.get(c, c)) if d not in marks)
        for c in characters_of(SCALARS)
    )
    assert all(text == "".join(_jamo(ord(c))) for c, text in hangul.items())
    assert len(hangul) == len(_HANGUL)
    compatibility = {
        c: text
        for c, text in _changes(normalizers.NFKD().normalize_str)
        if text != decompositions.get(c, hangul.get(c, c))
    }
    accents = {c for c, text in _changes(normalizers.StripAccents().normalize_str) if not text}
    # The library has only one lower case, whichever step uses it.
    assert lower == dict(_changes(normalizers.Lowercase().normalize_str))
    combining = _combining()
    # Otherwise cleaning might remove a mark that is reordered.
    assert not clean.keys() & set(chain.from_iterable(combining.values()))
    return {
        "library": "tokenizers",
        "version": version("tokenizers"),
        "control": encode(ord(c) for c, text in clean.items() if not text),
        "space": encode(ord(c) for c, text in clean.items() if text),
        "chinese": encode(map(ord, chinese)),
        "mark": encode(map(ord, marks)),
        "accent": encode(map(ord, accents)),
        "combining": {order: encode(map(ord, members)) for order, members in sorted(combining.items())},
        "decompositions": decompositions,
        "compatibility": compatibility,
        "compositions": dict(_compositions(decompositions)),
        "lowercase": lower,
    }


def _changes(step: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield the characters that `step` changes, with the results."""
    for character in characters_of(SCALARS):
        # Letters around it, so that nothing is lost at an edge.
        text = step(f"a{character}b")
        assert text[0] == "a"
        assert text[-1] == "b"
        if text[1:-1] != character:
            yield character, text[1:-1]


def _jamo(code: int) -> Iterator[str]:
    """Yield the parts of a Hangul syllable; the Unicode Standard, section 3.12."""
    index = code - 0xAC00
    yield chr(0x1100 + index // 588)
    yield chr(0x1161 + index % 588 // 28)
    if index % 28:
        yield chr(0x11A7 + index % 28)


def _compositions(decompositions: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of characters that compose, with the result."""
    from tokenizers import normalizers

    compose = normalizers.NFC().normalize_str
    for whole, parts in decompositions.items():
        # Marks of a lower class come first, so the last part is the one that was joined last.
        pair = compose(parts[:-1]) + parts[-1]
        if len(pair) == 2 and compose(parts) == whole:
            assert compose(pair) == whole
            yield pair, whole


def _combining() -> dict[int, list[str]]:
    """Return the characters that are reordered after a starter, by their canonical combining class."""
    from unicodedata import combining

    from tokenizers import normalizers

    def swaps(left: str, right: str) -> bool:
        return bool(normalizers.NFD().normalize_str(f"a{left}{right}") != f"a{left}{right}")

    # The overlay tilde has the lowest class, 1, and the iota below the highest, 240.
    marks = [
        character
        for character in characters_of(SCALARS)
        if normalizers.NFD().normalize_str(character) == character
        and (swaps("\u0345", character) or swaps(character, "\u0334"))
    ]
    # One mark for each class of Python's tables; the order of classes is checked against the library.
    samples: dict[int, str] = {}
    for character in marks:
        samples.setdefault(combining(character), character)
    orders = sorted(samples)
    assert orders[0] > 0
    assert all(swaps(samples[b], samples[a]) for a, b in pairwise(orders))
    found: dict[int, list[str]] = {}
    for character in marks:
        exact = [
            order for order in orders if not swaps(samples[order], character) and not swaps(character, samples[order])
        ]
        assert len(exact) == 1, hex(ord(character))
        found.setdefault(exact[0], []).append(character)
    return found


def main() -> None:
    """Write the tables."""
    path = data_file("normalization")
    path.write_text(json.dumps(probe(), ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
