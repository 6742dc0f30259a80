"""Character classes of the tokenizers' own libraries, one table per library and range of versions."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from tokdfa.base.errors import PatternError
from tokdfa.regex.unicode.ranges import LAST, SCALARS, Ranges, complement, decode, union
from tokdfa.regex.unicode.versions import library_of, patched, read_data, resolve

_MAJOR = ("L", "M", "N", "P", "S", "Z", "C")
CATEGORIES = {
    "L": "letter", "Lu": "uppercaseletter", "Ll": "lowercaseletter", "Lt": "titlecaseletter",
    "LC": "casedletter", "Lm": "modifierletter", "Lo": "otherletter",
    "M": "mark", "Mn": "nonspacingmark", "Mc": "spacingmark", "Me": "enclosingmark",
    "N": "number", "Nd": "decimalnumber", "Nl": "letternumber", "No": "othernumber",
    "P": "punctuation", "Pc": "connectorpunctuation", "Pd": "dashpunctuation", "Ps": "openpunctuation",
    "Pe": "closepunctuation", "Pi": "initialpunctuation", "Pf": "finalpunctuation", "Po": "otherpunctuation",
    "S": "symbol", "Sm": "mathsymbol", "Sc": "currencysymbol", "Sk": "modifiersymbol", "So": "othersymbol",
    "Z": "separator", "Zs": "spaceseparator", "Zl": "lineseparator", "Zp": "paragraphseparator",
    "C": "other", "Cc": "control", "Cf": "format", "Cs": "surrogate", "Co": "privateuse", "Cn": "unassigned",
}  # fmt: skip
"""The general categories: short name -> long name, as names are compared."""
_PROPERTIES = ("alphabetic", "uppercase", "lowercase", "whitespace")
_SHORT = {short.lower(): short for short in CATEGORIES} | {long: short for short, long in CATEGORIES.items()}


_read = cache(patched)


def _data(table: str) -> dict[str, Any]:
    library = library_of(table)
    return _read(library if "==" not in table else resolve(table).name)


def content(name: str) -> dict[str, Any]:
    """Return the data of a table, `normalization` included, without the library that they are of and its version."""
    data = read_data(name) if name == "normalization" else _data(name)
    return {key: value for key, value in data.items() if key not in ("library", "version")}


def version(table: str) -> str:
    """Return the version of the library that has the classes of `table`."""
    return str(_data(table)["version"])


def universe(table: str) -> Ranges:
    """Return the code points that a text of this library can hold.

    The libraries in Rust read UTF-8, in which surrogates do not exist; `regex` reads Python strings, in which they do.
    """
    return ((0, LAST),) if library_of(table) == "regex" else SCALARS


@cache
def ranges(name: str, table: str = "tiktoken") -> Ranges:
    r"""Return a character class of a library as ranges of code points: ascending, inclusive, disjoint.

    The name is the text between the braces of ``\p{…}``: a general category by its short or long name (``Lu``,
    ``Letter``, ``LC`` for cased letters), a script by its long name (``Han``), ``Alphabetic``, ``Uppercase``,
    ``Lowercase``, ``White_Space``, ``Any``, ``ASCII`` or ``Assigned``; case, spaces, hyphens and underscores do not
    matter. Or one of ``\s``, ``\w``, ``\d``, with the backslash. The table ``tokenizers`` also has the classes of its
    own pre-tokenizers: ``is_numeric`` (Digits), ``is_punctuation`` (Punctuation), ``is_bert_punctuation``,
    ``is_whitespace`` (WhitespaceSplit), ``whitespace_word`` and ``whitespace_space``, the two classes of Whitespace,
    and the classes of UnicodeScripts: ``unicode_script_any``, which has no script, and ``unicode_script_000`` and so
    on, one for each script.

    The table is a library, with its newest table, or one of its versions, as in ``tokenizers==0.20.3``; libraries use
    different versions of Unicode. Surrogates occur only in the table ``regex``, where they are ``Cs``; the texts of the
    others are UTF-8. A class or a library that does not exist is a PatternError, a version whose tables are not known
    an UnsupportedFeatureError. The tables were extracted from the installed libraries by ``python -m
    tests.campaigns.tables.classes``, which tries all code points, and ``….versions``.
    """
    classes: dict[str, list[int]] = _data(table)["classes"]
    if name in classes:
        return decode(classes[name])
    key = _key(name)
    if _SHORT.get(key) == "Cs" and key != "cs" and library_of(table) == "tiktoken":
        raise PatternError("tiktoken has no class of surrogates", value=name)
    if key in _SHORT:
        return _category(_SHORT[key], table, classes)
    if key in classes:
        return decode(classes[key])
    if key == "any":
        return universe(table)
    if key == "ascii":
        return ((0, 127),)
    if key == "assigned":
        return complement(ranges("Cn", table), universe(table))
    raise PatternError("no such character class", value=name, where=f"table {table} {version(table)}")


def kind_of(name: str, table: str) -> str:
    """Return whether a name that :func:`ranges` knows is one of a "category" or a "script", or "" for other classes."""
    key = _key(name)
    if key in _SHORT:
        return "category" if _SHORT[key] != "Cs" or library_of(table) == "regex" else ""
    return "script" if key in _data(table)["classes"] and key[0].isalpha() and key not in _PROPERTIES else ""


def _key(name: str) -> str:
    """Return a name as names are compared."""
    return name.translate({ord(symbol): None for symbol in " _-"}).lower()


def names(table: str) -> tuple[str, ...]:
    """Return the names of the classes that a table lists, in its order."""
    return tuple(_data(table)["classes"])


def _category(short: str, table: str, classes: dict[str, list[int]]) -> Ranges:
    if short == "LC":
        parts = ["Lu", "Ll", "Lt"]
    elif short in _MAJOR:
        parts = [leaf for leaf in CATEGORIES if len(leaf) == 2 and leaf[0] == short and leaf != "LC"]
    else:
        return decode(classes.get(short, []))
    return union(*(ranges(part, table) for part in parts))


@cache
def _variants(table: str) -> dict[int, Ranges]:
    """Return the matches of each cased code point; in the files they are the union of the sets that contain it."""
    found: dict[int, Ranges] = {}
    for members in _data(table)["case"]:
        group = union([(member, member) for member in members])
        for member in members:
            found[member] = union(found[member], group) if member in found else group
    return found


@lru_cache(maxsize=256)
def case_variants(code_points: Ranges, table: str = "tiktoken") -> Ranges:
    """Return `code_points` with everything that they match when case is ignored.

    One code point matches one: :func:`fold_expansions` has the matches of sequences (Oniguruma lets ``ss`` match ß).
    """
    variants = _variants(table)
    if sum(last - first + 1 for first, last in code_points) < len(variants):
        cased = [member for first, last in code_points for member in range(first, last + 1) if member in variants]
    else:
        # A member of the set comes after as many first code points as ranges that do not end before it.
        first_ones, last_ones = np.array(code_points, dtype=np.int64).T
        members = np.fromiter(variants, dtype=np.int64, count=len(variants))
        begun, ended = np.searchsorted(first_ones, members, side="right"), np.searchsorted(last_ones, members)
        cased = members[begun > ended].tolist()
    return union(code_points, *(variants[member] for member in cased))


@cache
def fold_expansions(table: str = "tiktoken") -> dict[int, str]:
    """Return the code points that match a sequence of several when case is ignored, each with the sequence."""
    expansions: dict[str, str] = _data(table)["expansions"]
    return {ord(symbol): sequence for symbol, sequence in expansions.items()}
