"""Extract the tables from the installed libraries: ``python -m tests.campaigns.tables.classes [TABLE…]``.

It rewrites ``data/`` of `tokdfa.regex.unicode`. Every class is tried on every code point. This needs the libraries
themselves (the extra ``test`` installs them) and takes a minute or two. For
other versions than those installed, see :mod:`tests.campaigns.tables.versions`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from itertools import chain, combinations
from math import comb
from typing import Any, Protocol

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.regex.unicode.ranges import LAST, SCALARS, Ranges, complement, contains
from tokdfa.regex.unicode.tables import CATEGORIES
from tokdfa.regex.unicode.versions import Table, data_file

__all__ = ["Library", "as_text", "libraries", "main", "probe"]

Mask = BoolArray

_LEAVES = tuple(short for short in CATEGORIES if len(short) == 2 and short != "LC")
_PROPERTIES = ("alphabetic", "uppercase", "lowercase", "whitespace")
_PERL = (r"\s", r"\w", r"\d")
_SEPARATOR = "\U0010ffff"
_BLOCK_BITS = 12


class Library(Protocol):
    """A library that can be asked which characters of a text match a one-symbol pattern."""

    @property
    def universe(self) -> Ranges:
        """The code points that its texts can hold."""
        ...

    def matches(self, pattern: str, text: str) -> Mask:
        """Return whether `pattern` matches each character of `text`, all different; ValueError if it is unsupported."""
        ...


class RegexModule:
    """The `regex` module."""

    universe: Ranges = ((0, LAST),)

    def matches(self, pattern: str, text: str) -> Mask:
        """See :class:`Library`."""
        import regex

        try:
            program = regex.compile(f"(?:{pattern})+")
        except regex.error as error:
            raise ValueError(str(error)) from error
        mask = np.zeros(len(text), dtype=np.bool_)
        for match in program.finditer(text):
            mask[match.start() : match.end()] = True
        return mask


class Tokenizers:
    """The Split pre-tokenizer of tokenizers, with Oniguruma as its engine."""

    universe: Ranges = SCALARS

    def matches(self, pattern: str, text: str) -> Mask:
        """See :class:`Library`."""
        split = _split(f"(?:{pattern})+")
        # When case is ignored, a character may match a sequence, so the characters are kept apart.
        step = 2 if "(?i" in pattern else 1
        mask = np.ones(len(text), dtype=np.bool_)
        for at, part in _parts(text):
            spaced = part if step == 1 else _SEPARATOR.join(part)
            found = np.ones(len(spaced), dtype=np.bool_)
            for _, (start, end) in split.pre_tokenize_str(spaced):
                found[start:end] = False
            mask[at : at + len(part)] = found[::step]
        return mask


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of a text with their places: the library takes several times as long for one long text."""
    for at in range(0, len(text), 1 << _BLOCK_BITS):
        yield at, text[at : at + (1 << _BLOCK_BITS)]


def _split(pattern: str) -> Any:
    from tokenizers import Regex, pre_tokenizers

    try:
        return pre_tokenizers.Split(Regex(pattern), "removed")
    except Exception as error:
        raise ValueError(str(error)) from error


class TikToken:
    """The splitter of tiktoken, which drops text that its pattern does not match."""

    universe: Ranges = SCALARS

    def matches(self, pattern: str, text: str) -> Mask:
        """See :class:`Library`."""
        import tiktoken

        ranks = {bytes([byte]): byte for byte in range(256)}
        try:
            encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        except Exception as error:
            raise ValueError(str(error)) from error
        kept = set(encoding.decode_bytes(encoding.encode_ordinary(text)).decode("utf-8"))
        return np.fromiter((symbol in kept for symbol in text), dtype=np.bool_, count=len(text))


def libraries() -> dict[Table, Library]:
    """Return the libraries by the names of their tables."""
    return {"regex": RegexModule(), "tokenizers": Tokenizers(), "tiktoken": TikToken()}


def _characters(ranges: Ranges) -> str:
    return "".join(map(chr, chain.from_iterable(range(first, last + 1) for first, last in ranges)))


def _deltas(mask: Mask, text: str) -> list[int]:
    """Return the encoding of a set that :func:`tokdfa.regex.unicode.ranges.decode` undoes."""
    members = np.zeros(LAST + 3, dtype=np.int8)
    members[np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)[mask] + 1] = 1
    edges = np.flatnonzero(np.diff(members))
    return [int(delta) for delta in np.diff(edges, prepend=0)]


def _scripts() -> list[str]:
    """Return the long names of the scripts that `regex` knows, in the form in which names are compared."""
    from regex import _regex_core

    names: dict[int, list[str]] = {}
    for name, value in _regex_core.PROPERTIES["SCRIPT"][1].items():
        names.setdefault(value, []).append(name.lower())
    # Some long names have four letters too, next to an alias of four letters.
    short = {"cham", "thai", "kawi", "modi", "newa", "lisu", "toto"}
    return sorted(n for several in names.values() for n in several if len(n) != 4 or len(several) == 1 or n in short)


def _probe_classes(library: Library, scripts: Iterable[str]) -> dict[str, list[int]]:
    text = _characters(library.universe)
    patterns = {name: rf"\p{{{name}}}" for name in _PROPERTIES} | {name: name for name in _PERL}
    masks = {name: library.matches(pattern, text) for name, pattern in patterns.items() if _knows(library, pattern)}
    for disjoint in (_LEAVES, scripts):
        masks |= _probe_disjoint(library, [name for name in disjoint if _knows(library, rf"\p{{{name}}}")], text)
    return {name: _deltas(masks[name], text) for name in sorted(masks) if masks[name].any()}


def _knows(library: Library, pattern: str) -> bool:
    try:
        library.matches(pattern, "")
    except ValueError:
        return False
    return True


def _probe_disjoint(library: Library, names: list[str], text: str) -> dict[str, Mask]:
    """Return the masks of pairwise disjoint classes; that they are disjoint is checked.

    Each class has its own combination of unions that it is in, all of one size. So a character that is in a class is
    in as many unions, and one that were in two classes would be in more.
    """
    n_unions = next(n for n in range(1, len(names) + 2) if comb(n, n // 2) >= len(names))
    chosen = dict(zip(names, combinations(range(n_unions), n_unions // 2), strict=False))
    unions = np.zeros((n_unions, len(text)), dtype=np.bool_)
    for number in range(n_unions):
        members = "".join(rf"\p{{{name}}}" for name, of in chosen.items() if number in of)
        if members:
            unions[number] = library.matches(f"[{members}]", text)
    if not np.isin(unions.sum(axis=0), (0, n_unions // 2)).all():
        raise AssertionError(f"two of these classes have a character in common: {', '.join(names)}")
    return {name: np.logical_and.reduce(unions[list(of)], axis=0) for name, of in chosen.items()}


def _probe_own_classes() -> dict[str, list[int]]:
    """Return the classes of the pre-tokenizers of tokenizers that are not regular expressions of Oniguruma."""
    from tokenizers import pre_tokenizers

    text = _characters(SCALARS)

    def look(pre_tokenizer: Any) -> tuple[Mask, Mask]:
        dropped, separate = np.zeros((2, len(text)), dtype=np.bool_)
        for at, part in _parts(text):
            # Between two x, a character that is dropped is a space, and one that becomes a piece is in the class.
            spaced = "x" + "x".join(part) + "x"
            kept, alone = np.zeros((2, len(spaced)), dtype=np.bool_)
            for _, (start, end) in pre_tokenizer.pre_tokenize_str(spaced):
                kept[start:end] = True
                alone[start] = end == start + 1
            dropped[at : at + len(part)] = ~kept[1::2]
            separate[at : at + len(part)] = alone[1::2]
        return dropped, separate

    space, punctuation = look(pre_tokenizers.BertPreTokenizer())
    if (look(pre_tokenizers.WhitespaceSplit())[0] != space).any():
        raise AssertionError("BertPreTokenizer and WhitespaceSplit know different spaces")
    regex_space, regex_other = look(pre_tokenizers.Whitespace())
    masks = {
        "is_numeric": look(pre_tokenizers.Digits(individual_digits=True))[1],
        "is_punctuation": look(pre_tokenizers.Punctuation("isolated"))[1],
        "is_bert_punctuation": punctuation,
        "is_whitespace": space,
        "whitespace_space": regex_space,
        "whitespace_word": ~regex_space & ~regex_other,
    }
    return {name: _deltas(mask, text) for name, mask in (masks | _probe_scripts(text)).items()}


def _probe_scripts(text: str) -> dict[str, Mask]:
    """Return the scripts that UnicodeScripts distinguishes, by number, and the characters that belong to any."""
    from tokenizers import pre_tokenizers

    split = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    # A character without a script is dropped at the beginning of a text.
    of_any = np.fromiter((not split(character) for character in text), dtype=np.bool_, count=len(text))
    place = np.flatnonzero(~of_any)
    examples: list[str] = []
    masks: list[Mask] = []
    for run, (start, end) in split("".join(text[at] for at in place.tolist())):
        same = (number for number, example in enumerate(examples) if len(split(example + run[0])) == 1)
        number = next(same, len(examples))
        if number == len(examples):
            examples.append(run[0])
            masks.append(np.zeros(len(text), dtype=np.bool_))
        masks[number][place[start:end]] = True
    return {"unicode_script_any": of_any} | {f"unicode_script_{number:03}": mask for number, mask in enumerate(masks)}


def _bracket(members: Iterable[int]) -> str:
    """Return a class of these ascending code points, written as ranges so that only one escape is needed."""
    runs: list[list[int]] = []
    for member in members:
        if runs and runs[-1][1] + 1 == member:
            runs[-1][1] = member
        else:
            runs.append([member, member])
    return _bracket_of((first, last) for first, last in runs)


def _bracket_of(ranges: Iterable[tuple[int, int]]) -> str:
    return "[" + "".join(f"{_escape(first)}-{_escape(last)}" for first, last in ranges) + "]"


def _escape(code_point: int) -> str:
    return ("\\" if chr(code_point) in "[]^-&~\\" else "") + chr(code_point)


def _cased(library: Library, caseless: Ranges) -> list[int]:
    """Return every code point that matches another one when case is ignored.

    If c matches d ≠ c, the two differ in some bit. So for each bit, find the matches of the code points with it and
    of the code points without it: for high bits over all code points, for low bits block by block, but not within
    `caseless`.
    """
    blocks = [range(start, start + (1 << _BLOCK_BITS)) for start in range(0, LAST + 1, 1 << _BLOCK_BITS)]

    def keep(code_points: Iterable[int]) -> list[int]:
        return [c for c in code_points if contains(library.universe, c)]

    def both(bit: int, code_points: list[int]) -> Iterator[int]:
        halves: tuple[list[int], list[int]] = ([], [])
        for code_point in code_points:
            halves[code_point >> bit & 1].append(code_point)
        if not (halves[0] and halves[1]):
            return
        text = "".join(map(chr, code_points))
        first, second = (library.matches(f"(?i:{_bracket(half)})", text) for half in halves)
        yield from (code_points[index] for index in np.flatnonzero(first & second))

    everything = keep(range(LAST + 1))
    found = {c for bit in range(_BLOCK_BITS, LAST.bit_length()) for c in both(bit, everything)}
    if caseless:
        # Nothing in it matches anything outside.
        outside = complement(caseless, library.universe)
        for one, other in ((caseless, outside), (outside, caseless)):
            if library.matches(f"(?i:{_bracket_of(one)})", _characters(other)).any():
                raise AssertionError("a character without case matches another one when case is ignored")
    for block in blocks:
        members = [c for c in keep(block) if not contains(caseless, c)]
        for bit in range(_BLOCK_BITS):
            found.update(both(bit, members))
    return sorted(found)


def _probe_case(library: Library, caseless: Ranges) -> list[list[int]]:
    """Return sets of code points that match one another; the matches of c are the union of the sets that contain c."""
    cased = _cased(library, caseless)
    text = "".join(map(chr, cased))
    matched: dict[int, tuple[int, ...]] = {}
    for code_point in cased:
        mask = library.matches(f"(?i:{_escape(code_point)})", text)
        matched[code_point] = tuple(cased[index] for index in np.flatnonzero(mask))
    sets: set[tuple[int, ...]] = set()
    for code_point, group in matched.items():
        if any(code_point not in matched[member] for member in group):
            raise AssertionError(f"matching without case is not symmetric at {code_point:#x}")
        if all(matched[member] == group for member in group):
            sets.add(group)
        else:  # not transitive: in `regex` I matches ı and i, which matches İ
            sets.update((code_point, member) for member in group if member > code_point)
    return sorted(map(list, sets))


def _probe_expansions(library: Library) -> dict[str, str]:
    expansions: dict[str, str] = {}
    if not isinstance(library, Tokenizers):
        return expansions  # one code point matches one, asserted by the tests
    for code_point in range(LAST + 1):
        symbol = chr(code_point)
        sequence = symbol.casefold()
        if len(sequence) > 1 and not _split(f"(?i:{symbol})").pre_tokenize_str(sequence):
            expansions[symbol] = sequence
    return expansions


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def probe(table: Table, scripts: Iterable[str] | None = None, caseless: Ranges = ()) -> dict[str, Any]:
    """Return the table of an installed library.

    Parameters
    ----------
    table : str
        The library.
    scripts : iterable of str, optional
        The names of the scripts to try; those that the installed `regex` knows by default.
    caseless : ranges, optional
        Code points that are not expected to match each other when case is ignored. Within a block of them, that is not
        tried; that they match nothing else is.
    """
    library = libraries()[table]
    classes = _probe_classes(library, _scripts() if scripts is None else scripts)
    if table == "tokenizers":
        classes |= _probe_own_classes()
    return {
        "library": table,
        "version": version(table),
        "classes": classes,
        "case": _probe_case(library, caseless),
        "expansions": _probe_expansions(library),
    }


def as_text(table: dict[str, Any]) -> str:
    """Return a table as JSON, one line per class."""
    rows = ",\n".join(f"  {json.dumps(name)}: {_compact(deltas)}" for name, deltas in table["classes"].items())
    head = f'"library": "{table["library"]}", "version": "{table["version"]}"'
    case, expansions = _compact(table["case"]), _compact(table["expansions"])
    return f'{{{head},\n"classes": {{\n{rows}\n}},\n"case": {case},\n"expansions": {expansions}}}\n'


def main(names: list[str]) -> None:
    """Rewrite the tables of these names, all by default."""
    for table in libraries():
        if not names or table in names:
            data_file(table).write_text(as_text(probe(table)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
