"""The tables against the installed libraries, on every code point."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

import pytest

from tokdfa.base.errors import PatternError
from tokdfa.regex.unicode import (
    LAST,
    TABLES,
    Table,
    case_variants,
    complement,
    contains,
    ranges,
    union,
    universe,
    version,
)
from tokdfa.regex.unicode.tables import CATEGORIES, fold_expansions

# Which of the characters of a text, all different, does a pattern match?
Finder = Callable[[str, str], set[str]]
LEAVES = [name for name in CATEGORIES if len(name) == 2 and name != "LC"]
UNIONS = [name for name in CATEGORIES if name not in LEAVES]
PERL = [r"\s", r"\w", r"\d"]


def find_regex(pattern: str, text: str) -> set[str]:
    import regex

    return set(text) - set(regex.sub(pattern, "", text))


def find_tokenizers(pattern: str, text: str) -> set[str]:
    from tokenizers import Regex, pre_tokenizers

    # Without case one symbol may match two, so they are kept apart.
    spaced = "\n".join(text) if "(?i" in pattern else text
    split = pre_tokenizers.Split(Regex(f"({pattern})+"), "removed")
    return set(text).difference(*(piece for piece, _ in split.pre_tokenize_str(spaced)))


def find_tiktoken(pattern: str, text: str) -> set[str]:
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return set(encoding.decode(encoding.encode_ordinary(text)))


FINDERS: dict[Table, Finder] = {"regex": find_regex, "tokenizers": find_tokenizers, "tiktoken": find_tiktoken}


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Table:
    name: Table = request.param
    try:
        if installed(name) != version(name):
            pytest.skip(f"the table is of {name} {version(name)}, installed is {installed(name)}")
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    return name


def spell(name: str) -> str:
    return name if name.startswith("\\") else rf"\p{{{name}}}"


def text_of(members: tuple[tuple[int, int], ...]) -> str:
    return "".join(chr(c) for first, last in members for c in range(first, last + 1))


def assert_class_by_library(table: Table, name: str) -> None:
    assert FINDERS[table](spell(name), text_of(universe(table))) == set(text_of(ranges(name, table))), name


def test_general_categories_partition_the_code_points(table: Table) -> None:
    # Each library has one category for a code point, so it is enough to look where the table says it is.
    assert sum(last + 1 - first for name in LEAVES for first, last in ranges(name, table)) == len(
        text_of(universe(table))
    )
    for name in LEAVES:
        text = text_of(ranges(name, table))
        assert FINDERS[table](spell(name), text) == set(text), name


@pytest.mark.parametrize("name", PERL)
def test_perl_classes(table: Table, name: str) -> None:
    assert_class_by_library(table, name)


@pytest.mark.slow
def test_unions_and_properties(table: Table) -> None:
    for name in [*UNIONS, "Alphabetic", "Uppercase", "Lowercase", "White_Space", "Any", "ASCII", "Assigned"]:
        assert_class_by_library(table, name)


@pytest.mark.slow
def test_scripts_are_those_of_the_library(table: Table) -> None:
    # Each library has one script for a code point, so two checks suffice: the script's own code points in the table,
    # and the code points without a script.
    from tokdfa.regex.unicode.tables import _data

    others = {*LEAVES, "alphabetic", "uppercase", "lowercase", "whitespace"}
    names = [n for n in _data(table)["classes"] if n not in others and n[0] != "\\" and "_" not in n]
    assert len(names) > 150
    for name in names:
        text = text_of(ranges(name, table))
        assert FINDERS[table](spell(name), text) == set(text), name
    rest = text_of(complement(union(*(ranges(name, table) for name in names)), universe(table)))
    assert not rest or FINDERS[table](f"[{''.join(map(spell, names))}]", rest) == set()


def test_surrogates_are_in_no_class() -> None:
    assert ranges("Cs", "regex") == ((0xD800, 0xDFFF),)
    for table in ("tokenizers", "tiktoken"):
        assert ranges("Cs", table) == ()
        assert not any(contains(ranges(name, table), c) for name in LEAVES for c in (0xD800, 0xDFFF))


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("is_numeric", lambda p: p.Digits(individual_digits=True)),
        ("is_punctuation", lambda p: p.Punctuation()),
        ("is_bert_punctuation", lambda p: p.BertPreTokenizer()),
    ],
)
def test_isolated_classes_of_the_tokenizers_library(name: str, build: Callable[[object], object]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    if tokenizers.__version__ != version("tokenizers"):
        pytest.skip(f"the table is of tokenizers {version('tokenizers')}, installed is {tokenizers.__version__}")
    members = ranges(name, "tokenizers")
    pre_tokenizer = build(tokenizers.pre_tokenizers)
    alone = pre_tokenizer.pre_tokenize_str("a".join(text_of(members)))
    assert len(alone) == 2 * len(text_of(members)) - 1
    if name == "is_bert_punctuation":
        members = union(members, ranges("is_whitespace", "tokenizers"))
    rest = text_of(complement(members))
    assert [span for _, span in pre_tokenizer.pre_tokenize_str(rest)] == [(0, len(rest))]


@pytest.mark.slow
def test_spaces_of_the_tokenizers_library() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    if tokenizers.__version__ != version("tokenizers"):
        pytest.skip(f"the table is of tokenizers {version('tokenizers')}, installed is {tokenizers.__version__}")
    split, words = tokenizers.pre_tokenizers.WhitespaceSplit(), tokenizers.pre_tokenizers.Whitespace()
    for name, pre_tokenizer in (("is_whitespace", split), ("whitespace_space", words)):
        spaces = ranges(name, "tokenizers")
        assert pre_tokenizer.pre_tokenize_str(text_of(spaces)) == []
        rest = text_of(complement(spaces))
        assert sum(end - start for _, (start, end) in pre_tokenizer.pre_tokenize_str(rest)) == len(rest)
    word = text_of(ranges("whitespace_word", "tokenizers"))
    assert len(words.pre_tokenize_str(word)) == 1
    assert (
        len(
            words.pre_tokenize_str(
                "a".join(
                    text_of(
                        complement(union(*(ranges(f"whitespace_{kind}", "tokenizers") for kind in ("word", "space"))))
                    )
                )
            )
        )
        % 2
        == 1
    )


def cased(table: Table) -> list[int]:
    from tokdfa.regex.unicode.tables import _data

    return sorted({member for group in _data(table)["case"] for member in group})


def assert_case_by_library(table: Table, code_points: list[int]) -> None:
    everything = "".join(map(chr, cased(table)))
    for code_point in code_points:
        expected = text_of(case_variants(((code_point, code_point),), table))
        assert FINDERS[table](f"(?i:{chr(code_point)})", everything) == set(expected), hex(code_point)


def test_case_of_ascii_and_of_what_has_three_forms(table: Table) -> None:
    from tokdfa.regex.unicode.tables import _data

    several = {member for group in _data(table)["case"] if len(group) > 2 for member in group}
    ascii_letters = {*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1)}
    assert_case_by_library(table, sorted(several | ascii_letters)[::3])


def test_case_of_large_sets_is_that_of_their_members(table: Table) -> None:
    for code_points in (universe(table), ranges("L", table), ((ord("a"), ord("a")), (0x101, LAST))):
        # There are more of them than have case, and so these are gone through instead.
        assert sum(last - first + 1 for first, last in code_points) > len(cased(table))
        members = [member for member in cased(table) if contains(code_points, member)]
        expected = union(code_points, *(case_variants(((member, member),), table) for member in members))
        assert case_variants(code_points, table) == expected


@pytest.mark.slow
def test_case_of_all(table: Table) -> None:
    assert_case_by_library(table, cased(table))


@pytest.mark.slow
def test_nothing_else_has_case(table: Table) -> None:
    """Every other code point matches itself alone: asked in blocks, and inside a block for each bit."""
    left = complement(union((c, c) for c in cased(table)), universe(table))
    for start in range(0, LAST + 1, 4096):
        block = [c for first, last in left for c in range(max(first, start), min(last, start + 4095) + 1)]
        # Unassigned code points have no case; whole blocks of them are most of the time.
        block = [c for c in block if not contains(ranges("Cn", table), c) and not contains(ranges("Co", table), c)]
        block = [c for c in block if c != 10]
        if not block:
            continue
        text = "".join(map(chr, block))
        for bit in range(12):
            for half in ([c for c in block if c >> bit & 1 == value] for value in (0, 1)):
                members = "".join(f"\\x{{{c:x}}}" if table != "regex" else f"\\U{c:08x}" for c in half)
                assert not half or FINDERS[table](f"(?i:[{members}])", text) == set(map(chr, half))


def test_known_differences() -> None:
    assert contains(case_variants(((ord("s"), ord("s")),), "tiktoken"), 0x17F)
    assert contains(case_variants(((ord("I"), ord("I")),), "regex"), 0x131)
    assert not contains(case_variants(((ord("I"), ord("I")),), "tokenizers"), 0x131)
    assert fold_expansions("tokenizers")[0xDF] == "ss"
    assert fold_expansions("tiktoken") == fold_expansions("regex") == {}
    # Reclassified by Unicode 17, which of the three only `regex` has.
    assert contains(ranges("Lo", "regex"), 0x295)
    assert contains(ranges("Ll", "tiktoken"), 0x295)
    assert contains(ranges("Ll", "tokenizers"), 0x295)


@pytest.mark.parametrize("spelling", ["Lu", "lu", "Uppercase_Letter", "uppercase letter", "UPPERCASE-LETTER"])
def test_names_are_compared_loosely(spelling: str) -> None:
    assert ranges(spelling, "tiktoken") == ranges("Lu", "tiktoken")


@pytest.mark.parametrize("name", ["Lz", "", "\\q", "is_numeric"])
def test_unknown_classes_are_refused(name: str) -> None:
    with pytest.raises(PatternError, match="no such character class"):
        ranges(name, "tiktoken")


def test_unknown_tables_are_refused() -> None:
    with pytest.raises(PatternError, match="unknown table"):
        ranges("L", "icu")  # type: ignore[arg-type]
