"""Extract how the installed tokenizers cuts texts into graphemes: ``python -m tests.campaigns.tables.graphemes``.

The library shows graphemes only through its normalizer Precompiled: one of several characters, of fewer than six bytes
in all, is replaced as a whole if its first character has a replacement, and otherwise character by character. So a
character that is lost, or not, says where a grapheme ends. Every class is tried on every code point.

Its split patterns have the graphemes of Oniguruma, which differ: those are asked by the pattern \\Y.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from tokdfa.regex.unicode.ranges import SCALARS, characters_of, encode
from tokdfa.regex.unicode.versions import data_file

__all__ = ["charsmap", "main", "probe"]

_BLOCK = 256
_LEAF, _VALUE = 1 << 8, 1 << 31

# One character of each class in which it matters, with few bytes.
_MARK, _JOINER, _PICTURE = "\u0301", "\u200d", "\u00a9"
_LEAD, _VOWEL, _TAIL = "\u1100", "\u1161", "\u11a8"
_CONSONANT, _LINKER = "\u0915", "\u094d"
_SYLLABLES = range(0xAC00, 0xD7A4)
_FLAGS = range(0x1F1E6, 0x1F200)


def charsmap(rules: Mapping[str, str]) -> bytes:
    """Return a table of characters as SentencePiece writes it, with these rules: a double-array trie and its values.

    Bytes that are not UTF-8 are written as those that Python's surrogateescape makes of them.
    """
    trie: dict[int, Any] = {}
    values: list[bytes] = []
    where = 0
    for word, replacement in rules.items():
        node = trie
        for byte in word.encode("utf-8", "surrogateescape"):
            node = node.setdefault(byte, {})
        node[0] = where
        values.append(replacement.encode() + b"\0")
        where += len(values[-1])
    # A node with children has a block of its own; nodes without any have their values in one row.
    blocks, leaves = [trie], list[dict[int, Any]]()
    for node in blocks:  # grows during the loop
        for label, child in node.items():
            if label:
                (blocks if child.keys() - {0} else leaves).append(child)
    place = {id(node): _BLOCK * index for index, node in enumerate(blocks)}
    place |= {id(node): _BLOCK * len(blocks) + index for index, node in enumerate(leaves)}
    units = np.full(-(-(len(blocks) * _BLOCK + len(leaves)) // _BLOCK) * _BLOCK + _BLOCK, _VALUE, dtype=np.uint32)
    units[0] = _unit(_BLOCK, 0, trie)
    shift = _BLOCK  # the root's unit has the first block to itself
    for node in blocks:
        base = place[id(node)] + shift
        for label, child in node.items():
            if label == 0:
                units[base] = _VALUE | child
            else:
                at = base ^ label
                units[at] = _unit(at ^ (place[id(child)] + shift), label, child)
    for node in leaves:
        units[place[id(node)] + shift] = _VALUE | node[0]
    data = units.astype("<u4").tobytes()
    return len(data).to_bytes(4, "little") + data + b"".join(values)


def _unit(offset: int, label: int, node: dict[int, Any]) -> int:
    assert offset < 1 << 21
    return offset << 10 | (_LEAF if 0 in node else 0) | label


def probe() -> dict[str, Any]:
    """Return the classes; :mod:`tokdfa.tokenizers.normalizers.sentencepiece` describes them."""
    letters = _replacer({"a": "A", _MARK: "M", _PICTURE: "P", _VOWEL: "V", _TAIL: "T", _LEAD: "L"})
    members = [*characters_of(SCALARS)]

    def those(holds: Callable[[str], bool]) -> set[str]:
        return {character for character in members if holds(character)}

    def keeps(before: str, kept: str) -> Callable[[str], bool]:
        """Return whether a character before a grapheme joins it, so that its mark is not lost."""
        return lambda c: letters(f"{c}{before}{_MARK}").endswith(f"{kept}M")

    after = those(lambda c: letters(f"a{c}") == "A")
    prepended = those(keeps("a", "A"))
    marks = _replacer({_MARK: "M"})
    control = those(lambda c: not marks(f"{c}{_MARK}{_MARK}").endswith("MM"))
    before_lead = those(keeps(_LEAD, "L")) - prepended
    before_vowel = those(keeps(_VOWEL, "V")) - prepended - before_lead
    before_tail = those(keeps(_TAIL, "T")) - prepended
    syllables = {*map(chr, _SYLLABLES)}
    vowels = (before_vowel & before_tail) - syllables
    tails = before_tail - before_vowel - syllables
    assert before_vowel - vowels == {*map(chr, range(_SYLLABLES.start, _SYLLABLES.stop, 28))}
    assert syllables <= before_tail
    pictures = those(lambda c: letters(f"{_PICTURE}{_JOINER}{c}").startswith(f"P{_JOINER}")) - after
    extending = {c for c in after if letters(f"{_PICTURE}{c}{_JOINER}{_PICTURE}{_MARK}").endswith("PM")}
    extending |= {_JOINER}

    # A conjunct shows only where its last consonant has a replacement.
    conjuncts = _replacer({c: "Y" for c in members if 0x800 <= ord(c) < 0x10000 and c not in after})

    def joins(text: str) -> bool:
        return conjuncts(text + _MARK).endswith(_MARK)

    ends = {c for c in members if 0x800 <= ord(c) < 0x10000 and c not in after | prepended and joins(_LINKED + c)}
    ends -= {c for c in ends if joins("a" + c)}
    linkers = {c for c in after if joins(_CONSONANT + c + _CONSONANT)}
    between = {c for c in after if joins(_LINKED + c + _CONSONANT)} - linkers
    begins = {c for c in members if c not in prepended and joins(c + _LINKER + _CONSONANT)}
    assert ends == {c for c in begins if ord(c) < 0x10000}
    return {
        "library": "tokenizers",
        "version": version("tokenizers"),
        "control": encode(map(ord, control)),
        "prepended": encode(map(ord, prepended)),
        "extending": encode(map(ord, extending)),
        "spacing": encode(map(ord, after - extending)),
        "lead": encode(map(ord, before_lead)),
        "vowel": encode(map(ord, vowels)),
        "tail": encode(map(ord, tails)),
        "flag": encode(_FLAGS),
        "picture": encode(map(ord, pictures)),
        "consonant": encode(map(ord, begins)),
        "linker": encode(map(ord, linkers)),
        "conjunct_extending": encode(map(ord, between)),
        "oniguruma": _probe_oniguruma(members),
    }


def _probe_oniguruma(members: list[str]) -> dict[str, list[int]]:
    """Return the classes of Oniguruma that are not those of the normalizer, its control characters apart."""
    from tokenizers import Regex, pre_tokenizers

    def inside(before: str, after: str) -> set[str]:
        """Return the characters with which there is no boundary before the last character of the three parts."""
        pattern = "(?m:.)" * len(before + after) + r"\Y(?m:.)"
        split = pre_tokenizers.Split(Regex(pattern), "removed")
        apart = [f"{before}{c}{after}" for c in members]
        return {c for c, text in zip(members, apart, strict=True) if not split.pre_tokenize_str(text)}

    after, prepended = inside("a", ""), inside("", "a")
    marks = after & inside(_PICTURE, _JOINER + _PICTURE)
    extending = (marks - {_JOINER}) | {_JOINER}
    return {
        "prepended": encode(map(ord, prepended)),
        "extending": encode(map(ord, extending)),
        "spacing": encode(map(ord, after - extending)),
        "picture": encode(map(ord, inside(_PICTURE + _JOINER, "") - after)),
    }


_LINKED = _CONSONANT + _LINKER


def _replacer(rules: Mapping[str, str]) -> Callable[[str], str]:
    from tokenizers import normalizers

    replace: Callable[[str], str] = normalizers.Precompiled(charsmap(rules)).normalize_str
    return replace


def main() -> None:
    """Write the classes."""
    path = data_file("graphemes")
    path.write_text(json.dumps(probe(), separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
