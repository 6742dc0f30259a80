r"""Classes of symbols that are not in the tables of the libraries: POSIX classes, \h, and the properties named alike.

Each is an expression over classes that are, in the meaning of the library of the table.
"""

from __future__ import annotations

from functools import cache

from tokdfa.errors import PatternError
from tokdfa.unicode import Ranges, complement, difference, library_of, ranges, union, universe

__all__ = ["escaped_class", "posix_class", "property_class"]

_HEX_DIGITS: Ranges = ((48, 57), (65, 70), (97, 102))
_ASCII: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)), "alpha": ((65, 90), (97, 122)), "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 31), (127, 127)), "digit": ((48, 57),), "graph": ((33, 126),),
    "lower": ((97, 122),), "print": ((32, 126),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "upper": ((65, 90),), "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "xdigit": _HEX_DIGITS,
}  # fmt: skip
# In a bracket, Oniguruma asks for these symbols of Latin-1 another table, which calls them no letters of words.
_NO_WORD_IN_BRACKETS: Ranges = ((0xB2, 0xB3), (0xB9, 0xB9), (0xBC, 0xBE))
_PROPERTIES = {
    "tokenizers": tuple(_ASCII),
    "tiktoken": ("alnum", "alpha", "blank", "cntrl", "digit", "lower", "punct", "space", "upper", "word"),
    "regex": (
        *("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word"),
    ),
}


# The categories that llama.cpp knows by name; it takes those of letters for all letters.
_OF_LLAMA_CPP = {name: name[0] for name in ("N", "L", "P", "M", "S", "Lu", "Ll", "Lt", "Lm", "Lo")} | {"Han": "han"}


def escaped_class(letter: str, table: str, *, in_bracket: bool) -> Ranges:
    r"""Return the class of \s, \d, \w or \h in a library, outside brackets or in one.

    In Oniguruma and fancy-regex \h is a hexadecimal digit; in `regex` it is a horizontal space. In llama.cpp \d and \w
    have ASCII only.
    """
    if letter == "h":
        return _unicode("blank", table) if library_of(table) == "regex" else _HEX_DIGITS
    return _in_bracket(ranges("\\" + letter, table), table, in_bracket and letter == "w")


def property_class(name: str, table: str, *, in_bracket: bool) -> Ranges:
    r"""Return the class of the property of a name, as :func:`tokdfa.unicode.ranges` does, or of a POSIX class.

    Raises
    ------
    PatternError
        If the library has no such property, or it is not supported.
    """
    if library_of(table) == "llama.cpp":
        if name not in _OF_LLAMA_CPP:
            raise PatternError("llama.cpp has no such category", value=name)
        return ranges(_OF_LLAMA_CPP[name], table)
    key = name.translate({ord(symbol): None for symbol in " _-"}).lower()
    if key in _PROPERTIES[library_of(table)]:
        symbols = ranges("P", table) if key == "punct" else _unicode(key, table)
        return _in_bracket(symbols, table, in_bracket and key == "word")
    return ranges(name, table)


def posix_class(name: str, table: str) -> Ranges | None:
    """Return the class of ``[[:name:]]`` in a library; None if it has none of that name.

    That of Rust, which tiktoken uses, has ASCII only; Oniguruma and `regex` have Unicode, and differ in digits and
    punctuation.
    """
    if name not in _ASCII:
        return None
    library = library_of(table)
    if library == "tiktoken" or name in ("ascii", "xdigit"):
        return _ASCII[name]
    if library == "regex":
        alphabetic = ranges("alphabetic", table)
        if name == "digit":
            return _ASCII["digit"]
        if name == "alnum":
            return union(alphabetic, _ASCII["digit"])
        if name == "punct":
            return difference(_unicode("punct", table), alphabetic)
    return _in_bracket(_unicode(name, table), table, name == "word")


@cache
def _unicode(name: str, table: str) -> Ranges:
    """Return the Unicode class of the name of a POSIX class."""
    if name in ("alpha", "upper", "lower"):
        return ranges({"alpha": "alphabetic", "upper": "uppercase", "lower": "lowercase"}[name], table)
    if name in ("ascii", "xdigit"):
        return _ASCII[name]
    if name == "alnum":
        return union(ranges("alphabetic", table), ranges("Nd", table))
    if name == "blank":
        return union(ranges("Zs", table), ((9, 9),))
    if name == "punct":
        return union(ranges("P", table), ranges("S", table))
    if name in ("graph", "print"):
        blank = union(*(ranges(part, table) for part in (r"\s", "Cc", "Cn", "Cs")))
        graph = complement(blank, universe(table))
        return graph if name == "graph" else union(graph, ranges("Zs", table))
    return ranges({"cntrl": "Cc", "digit": "Nd", "space": r"\s", "word": r"\w"}[name], table)


def _in_bracket(symbols: Ranges, table: str, is_word: bool) -> Ranges:
    return difference(symbols, _NO_WORD_IN_BRACKETS) if is_word and library_of(table) == "tokenizers" else symbols
