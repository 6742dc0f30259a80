"""Patterns are read as the libraries read them, or refused."""

from __future__ import annotations

from importlib.metadata import version as installed

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.splitting import pieces_of_tiktoken, pieces_of_tokenizers
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.atoms import MAX_NESTING
from tokdfa.regex.backtracking import compile_backtracking
from tokdfa.regex.syntax import (
    Alternate,
    Anchor,
    Assertion,
    Atomic,
    Concat,
    LookAhead,
    Node,
    Repeat,
    Symbols,
    is_nullable,
    parse,
)
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


def one(symbols: str) -> Symbols:
    return Symbols(union((ord(symbol), ord(symbol)) for symbol in symbols))


@pytest.mark.parametrize(
    ("pattern", "tree"),
    [
        ("", Concat(())),
        ("a", one("a")),
        ("ab", Concat((one("a"), one("b")))),
        ("a|b", one("ab")),
        ("a|bb|", Alternate((one("a"), Concat((one("b"), one("b"))), Concat(())))),
        ("(?:a)(b)(?<n>c)(?#d)", Concat((one("a"), one("b"), one("c")))),
        ("a*?", Repeat(one("a"), 0, None, "lazy")),
        ("a{2,3}", Repeat(one("a"), 2, 3)),
        ("a{2}", Repeat(one("a"), 2, 2)),
        ("a{,2}", Repeat(one("a"), 0, 2)),
        ("a++", Repeat(one("a"), 1, None, "possessive")),
        ("(?>a|bb)", Atomic(Alternate((one("a"), Concat((one("b"), one("b"))))))),
        ("(?=a)", LookAhead(((97, 97),), False)),
        ("(?!a)", LookAhead(complement(((97, 97),)), True, at_broken=True)),
        (r"(?=a|\z)", LookAhead(((97, 97),), True)),
        (r"(?!a|\z)", LookAhead(complement(((97, 97),)), False, at_broken=True)),
        ("(?=)a", Concat((Assertion(Concat(()), False, False), one("a")))),
        ("(?=ab)", Assertion(Concat((one("a"), one("b"))), behind=False, negated=False)),
        ("(?!a+)", Assertion(Repeat(one("a"), 1, None), behind=False, negated=True)),
        ("(?<=a)b", Concat((Assertion(one("a"), behind=True, negated=False), one("b")))),
        ("(?<!a|bc)", Assertion(Alternate((one("a"), Concat((one("b"), one("c"))))), behind=True, negated=True)),
        ("(?!)", Assertion(Concat(()), behind=False, negated=True)),
        (r"\Ga", Concat((Anchor("start of search"), one("a")))),
        (r"\h", Symbols(((48, 57), (65, 70), (97, 102)))),
        ("[[:digit:]]", Symbols(((48, 57),))),
        (r"(?!(?!\S))", LookAhead(complement(ranges(r"\s", "tiktoken")), False)),
        ("[a-c]", one("abc")),
        ("[]^-]", one("]^-")),
        ("[^a]", Symbols(complement(((97, 97),)))),
        (r"[\]\-\x41\u{42}\u0043]", one("]-ABC")),
        ("[a-z&&[^b-y]]", one("az")),
        (r"[\p{L}--]", None),
        (".", Symbols(complement(((10, 10),)))),
        ("(?s:.)", Symbols(complement(()))),
        ("(?s).", Symbols(complement(()))),
        (r"\p{Lu}", Symbols(ranges("Lu", "tiktoken"))),
        (r"\P{Lu}", Symbols(complement(ranges("Lu", "tiktoken")))),
        (r"\p{^Lu}", Symbols(complement(ranges("Lu", "tiktoken")))),
        (r"[^\s\p{L}]", Symbols(complement(union(ranges("L", "tiktoken"), ranges(r"\s", "tiktoken"))))),
        ("(?i:s)", one("sSſ")),
        ("(?i:a(?-i:a))", Concat((one("aA"), one("a")))),
        ("(?i)k", one("kK\u212a")),
        ("a$", Concat((one("a"), Anchor("end of text")))),
        ("(?m)^a", Concat((Anchor("start of line"), one("a")))),
        (r"\ba", Concat((Anchor("word boundary", ranges(r"\w", "tiktoken")), one("a")))),
        ("{", one("{")),
        ("a{b}", Concat((one("a"), one("{"), one("b"), one("}")))),
    ],
)
def test_trees_in_the_dialect_of_tiktoken(pattern: str, tree: Node | None) -> None:
    if tree is None:
        with pytest.raises(PatternError):
            parse(pattern, "tiktoken")
    else:
        assert parse(pattern, "tiktoken") == tree


def test_common_prefixes_do_not_change_preference() -> None:
    # The parser of the standard library moves common prefixes out, but of single symbols only.
    tree = parse("(?:a*ab|a*b)", "tiktoken")
    assert isinstance(tree, Alternate)
    assert compile_backtracking(parse("a*ab?|a*b", "regex")).match("aab").end() == 3
    assert compile_backtracking(parse("ab?|abc", "regex")).match("abc").end() == 2


@pytest.mark.parametrize(
    ("pattern", "table", "what", "offset"),
    [
        (r"(a)\1", "tiktoken", "back-reference", 3),
        (r"(?<n>a)\k<n>", "tiktoken", "back-reference", 7),
        ("a(?P=n)", "regex", "back-reference", 1),
        ("a(?(1)b)", "regex", "conditional", 1),
        ("(?R)", "regex", "recursion", 0),
        ("(?~a)", "tokenizers", "absence", 0),
        ("ab)", "tiktoken", "closing parenthesis", 2),
        ("a(b", "tiktoken", "not closed", 1),
        ("a[b", "tiktoken", "not closed", 1),
        ("a[b\\", "tiktoken", "ends with a backslash", 3),
        ("a\\", "tiktoken", "ends with a backslash", 1),
        ("*a", "tiktoken", "nothing to repeat", 0),
        ("ab**", "tiktoken", "multiple repeat", 3),
        ("a{2,1}", "tiktoken", "min repeat", 1),
        ("a(?!b)*", "tiktoken", "an assertion is repeated", 1),
        ("ab(?:^|a)+", "tokenizers", "an assertion is repeated", 2),
        ("b(?<=a(?=b))", "tokenizers", "cannot look ahead", 6),
        (r"b(?<=\Za)", "tokenizers", r"a look-behind cannot contain \\Z", 5),
        (r"b(?<!a(?:c|\z))", "tokenizers", r"a look-behind cannot contain \\z", 11),
        ("b(?<!(a))", "tokenizers", "cannot capture", 5),
        ("b(?<!(?:(?<n>a)))", "tokenizers", "cannot capture", 8),
        ("b(?<=a*)", "tokenizers", "refuses a look-behind of any length", 1),
        ("b(?<=(?>a|ab))", "tiktoken", "in a look-behind", 1),
        ("b(?<=a(?:bc)++)", "tiktoken", "in a look-behind", 1),
        (r"b(?=a\G)", "tokenizers", r"\\G in a look-around", 1),
        (r"\H", "regex", r"\\H is not supported", 0),
        ("a[b[:nothing:]]", "tokenizers", "no POSIX class of that name", 3),
        ("(?i:[[:^upper:]])", "tiktoken", "negated POSIX class", 5),
        ("(?:ab){1}*", "tokenizers", "repeats the last symbol of the group only", 9),
        (r"\p{xdigit}", "tiktoken", "no class of that name", 0),
        ("a(?i)b", "tiktoken", "flags must be at the beginning", 1),
        ("a(?)", "tokenizers", "flags are missing", 1),
        ("(?)a", "tiktoken", "flags are missing", 0),
        ("(?x: a)", "tiktoken", "flag 'x'", 0),
        ("(?s:.)", "tokenizers", "flag 's'", 0),
        (r"a(?<=\R)", "tiktoken", r"\\R in a look-behind", 5),
        (r"\p{gc=Greek}", "tiktoken", "no class of that name", 0),
        (r"\p{Script=Greek}", "tokenizers", "no class of that name", 0),
        ("[a[:sc=Greek:]]", "regex", "this POSIX class", 2),
        (r"\p{Nonsense}", "tiktoken", "no class of that name", 0),
        (r"\pL", "tokenizers", "property is written", 0),
        ("[a~~b]", "tiktoken", "set operation", 2),
        ("[a--b]", "tiktoken", "hyphen", 2),
        (r"[\w-z]", "tiktoken", "range begins with a class", 1),
        (r"[a-\d]", "tiktoken", "range ends in a class", 3),
        ("[a-c-e]", "tiktoken", "hyphen", 4),
        ("[c-a]", "tiktoken", "ends before it begins", 1),
        (r"\ud800", "tiktoken", "no text has this code point", 0),
        ("\ud800", "tokenizers", "half of a surrogate pair", 0),
        (r"\u{110000}", "tiktoken", "no text has this code point", 0),
        (r"\q", "tiktoken", "escape is unknown", 0),
        ("(?i:(?:s)s)", "tokenizers", "'ss' may or may not match 'ß'", 9),
        ("(?i:s{1,1}?s)", "tokenizers", "'ss' may or may not match 'ß'", 11),
    ],
)
def test_refused_by_name_and_place(pattern: str, table: Table, what: str, offset: int | None) -> None:
    with pytest.raises(PatternError, match=what) as caught:
        parse(pattern, table)
    assert offset is None or f"offset {offset}:" in str(caught.value)


@pytest.mark.parametrize("opening", ["(", "[", "(?:", "(?=", "(?>", "[^"])
def test_deep_nesting_is_refused_where_it_begins(opening: str) -> None:
    # The rest of the pattern is not read.
    with pytest.raises(LimitExceededError, match=rf"offset {100 * len(opening)}: .*nested"):
        parse(opening * 100_000, "tiktoken")


def test_nesting_to_the_limit_and_long_patterns_are_read() -> None:
    assert parse("(?:" * MAX_NESTING + "a" + ")" * MAX_NESTING, "tiktoken") == one("a")
    nested = parse("(" * MAX_NESTING + "a" + ")+" * MAX_NESTING, "tiktoken")
    assert isinstance(nested, Repeat)
    assert isinstance(parse("a" * 100_000, "tiktoken"), Concat)
    assert isinstance(parse("|".join(["ab"] * 10_000), "tiktoken"), Concat)


def test_repetition_numbers_beyond_the_parser() -> None:
    with pytest.raises(LimitExceededError):
        parse("a{99999999999}", "tiktoken")


@pytest.mark.parametrize(("pattern", "answer"), [("a*", True), ("a|", True), ("(?=a)", True), ("a+b*", False)])
def test_nullable_patterns_match_nothing_read(pattern: str, answer: bool) -> None:
    assert is_nullable(parse(pattern, "tiktoken")) == answer


# Against the libraries


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Table:
    name: Table = request.param
    pytest.importorskip(name)
    if installed(name) != version(name):
        pytest.skip(f"the table is of {name} {version(name)}, installed is {installed(name)}")
    return name


def matches_of_library(pattern: str, texts: list[str], table: Table) -> list[list[str]]:
    if table == "regex":
        import regex

        return [[match.group() for match in regex.finditer(pattern, text)] for text in texts]
    if table == "tokenizers":
        return [[piece for piece, matched in pieces_of_tokenizers(pattern, text) if matched] for text in texts]
    return pieces_of_tiktoken(pattern, texts)


def matches_of_tree(pattern: str, texts: list[str], table: Table) -> list[list[str]]:
    program = compile_backtracking(parse(pattern, table))
    return [[match.group() for match in program.finditer(text)] for text in texts]


DIALECT_TEXTS = [
    "aaaaaaa",
    "a\na\n",
    "abc\n\r\nab",
    "aAbBſsS kK\u212a",
    "12345 6\u0661\u00b2",
    "{a}{,2}a{1}]-[",
    "ß \t\x0b\x0c\x1c\x85",
]


@pytest.mark.parametrize(
    "pattern",
    [
        "a$", r"a\z", r"\Aa", "a{1,3}", "a{1,3}+", "a{2,}", "a{2}", r"\d{1,2}+", "(?:ab?){1,2}+c?", "a{1,2}+b",
        "(?>a+)b?", "a?+a", "a*+b", ".", "[^a]", "(?i:s)", "(?i:[k-s])", "(?i:[^s])", "(?i)ab", r"(?i:a)b|B",
        "{", "}", "a{", "a{1", "]", "[]a]", "[a-]", "[-a]", "[a^]", r"[\]\[\-]", r"\x61", r"\u0061", r"\-\/\ \@",
        r"[\s\d]", r"\S", r"\W", r"[^\S]", r"\P{L}", r"[\P{L}a]", r"\p{Letter}", r"\p{Latin}",
        r"\r\n|\s", r"\t|\v|\f", r"[\b]|b", "(?:a|ab)(?:c|b)?", "a+?b?", "a??b", "(?#x)a", "(?<n>a)b", "(a)(b)",
        r"b(?!\S)", r"b(?=\n|\r)", r"\ba", r"\Bb", "a(?=bc)", "a(?!bc)", "(?<=a)b", "(?<!a)b", "(?<=b|aa)a", "(?=aa)a",
        r"\Ga|b", r"(?<=\b.)b", r"\d(?=(?:\d\d)*\b)", "[[:alpha:]]+", "[^[:space:]]", "(?>a|ab)c", "(?:ab)++c?",
        r"\R", r"\R+?a|b\R", r"\R\n", r"(?!\R)\s", "a{2,3}?b?", "(?:ab?){1,2}?[^a]", "a{1,}?b",
    ],
)  # fmt: skip
def test_dialects_match_as_the_libraries(pattern: str, table: Table) -> None:
    assert matches_of_tree(pattern, DIALECT_TEXTS, table) == matches_of_library(pattern, DIALECT_TEXTS, table)


@pytest.mark.parametrize(
    ("pattern", "table"),
    [
        ("[a-c&&[^b]]", "tokenizers"),
        ("[a-c&&[^b]]", "tiktoken"),
        ("[[ab]c]", "tokenizers"),
        ("[[ab]c]", "tiktoken"),
        ("[[ab]", "regex"),
        ("(?s:.)", "tiktoken"),
        ("(?s:.)", "regex"),
        ("(?m:.)", "tokenizers"),
        ("a(?m:$)", "tiktoken"),
        ("(?m)^a", "tiktoken"),
        ("(?m)^a|b$", "regex"),
        (r"\x{61}", "tokenizers"),
        (r"\x{61}|\u{62}", "tiktoken"),
        (r"\U00000061", "regex"),
        (r"\e|a", "tiktoken"),
        (r"(?i:\p{Lu})", "tiktoken"),
        (r"(?i:\p{Lu})", "regex"),
        (r"(?i:\p{Lu})", "tokenizers"),
        (r"(?i:\P{Lu})", "tiktoken"),
        (r"(?i:\P{Lu})", "regex"),
        (r"(?i:\P{Lu})", "tokenizers"),
        (r"(?i:[\p{Lu}])", "tokenizers"),
        (r"(?i:[^\p{Lu}])", "tokenizers"),
        (r"(?i:[^\p{Lu}])", "tiktoken"),
        (r"(?i:s{2})", "tokenizers"),
        (r"a\Z", "tokenizers"),
        (r"a\Z", "regex"),
        (r"s(?!S|$)", "tokenizers"),
        (r"s(?!S|$)", "tiktoken"),
        ("^a", "tokenizers"),
        (r"^\n|a$", "tokenizers"),
        (r"a\Z", "tiktoken"),
        (r"a(?=\Z)\n|c\Z\n", "tiktoken"),
        (r"[\h\n]+", "tokenizers"),
        (r"\h+|\H", "tiktoken"),
        (r"a\h*", "regex"),
        (r"[\w]+|[\W]", "tokenizers"),
        ("[[:word:]]", "tokenizers"),
        (r"[\p{Word}]|\p{Word}+", "tokenizers"),
        ("(?i:[[:upper:]]+)", "tokenizers"),
        ("(?i:[[:lower:]]+)", "tiktoken"),
        ("(?i:[[:^upper:]])", "tokenizers"),
        (r"(?i:[a&&A]|[A-C&&b]|[^\W_])", "tokenizers"),
        (r"(?i:[a&&A]|[A-C&&b])", "tiktoken"),
        ("(?i:(?:s)(s))", "tokenizers"),
        (r"\O\N|\X", "tokenizers"),
        ("(?<=a+)b", "tokenizers"),
        ("a{2}?b", "tokenizers"),
        ("a{2}??b", "tokenizers"),
        ("a{1,2}*b|a{1,3}+?", "tokenizers"),
        ("ba{1,2}?[^a]|b{1}?+a", "tokenizers"),
        ("(?<=a(?=b))b", "tiktoken"),
    ],
)
def test_what_dialects_do_not_share(pattern: str, table: Table) -> None:
    pytest.importorskip(table)
    assert matches_of_tree(pattern, DIALECT_TEXTS, table) == matches_of_library(pattern, DIALECT_TEXTS, table)


atoms = st.sampled_from(["a", "b", "[ab]", "[^a]", r"\s", " ", "(?i:a)"])
looks = st.sampled_from([r"(?!\S)", "(?=b)"])  # which the libraries do not let repeat
quantifiers = st.sampled_from(
    ["", "", "", "*", "+", "?", "{1,2}", "{1,2}?", "{2}?", "{1,2}*", "*?", "+?", "++", "*+", "?+"]
)


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantified = st.tuples(inner, quantifiers).map(lambda p: f"(?:{p[0]}){p[1]}")
    return st.one_of(
        quantified,
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda options: f"(?:{'|'.join(options)})"),
        inner.map(lambda body: f"(?>{body})"),
    )


random_patterns = st.recursive(st.one_of(st.tuples(atoms, quantifiers).map("".join), looks), grow, max_leaves=6)
short_texts = [
    "".join(text) for text in (lambda s: [*s, *(x + y for x in s for y in s)])(["a", "A", "b", " ", "ab", "aa", "b "])
]


@settings(max_examples=60)
@example(pattern="(?:a|ab)+?b?", name="tokenizers")
@given(random_patterns, st.sampled_from(TABLES))
def test_random_patterns(pattern: str, name: Table) -> None:
    pytest.importorskip(name)
    try:
        tree = parse(pattern, name)
    except PatternError:
        return
    if not is_nullable(tree):
        assert matches_of_tree(pattern, short_texts, name) == matches_of_library(pattern, short_texts, name)


NAMES = [
    *("Lu", "Letter", "LC", "Cased_Letter", "Punct", "punctuation", "Cs", "Surrogate", "Cn", "Unassigned", "Assigned"),
    *("Any", "ASCII", "Han", "greek", "Zyyy", "Unknown", "Common", "Old_Italic", "Alphabetic", "Alpha", "Uppercase"),
    *("upper", "White_Space", "WSpace", "Digit", "Alnum", "Word", "XDigit", "graph", "Blank", "Cntrl", "Nonsense"),
]
SAMPLE = "".join(chr(c) for c in [*range(0x460), *range(0x2000, 0x2070), 0x4E00, 0x10300, 0xE000, 0x10FFFF] if c != 10)


def symbols_of_library(pattern: str, table: Table) -> set[str] | None:
    """Return the symbols that match, or None if the library refuses the pattern."""
    try:
        texts = [*SAMPLE] if table == "tiktoken" else [SAMPLE]
        return {symbol for found in matches_of_library(pattern, texts, table) for match in found for symbol in match}
    except Exception:
        return None


@pytest.mark.parametrize("form", [r"\p{%s}", r"\p{gc=%s}", r"\P{sc=%s}", r"[\p{Script=%s}]", "[[:%s:]]", "[[:gc=%s:]]"])
def test_properties_are_those_of_the_library_or_refused(form: str, table: Table) -> None:
    accepted = 0
    for name in NAMES:
        try:
            tree = parse(form % name, table)
        except PatternError:
            continue
        if not form.startswith("[[") or symbols_of_library(form % name, table) is not None:
            assert isinstance(tree, Symbols), name
            matched = {symbol for symbol in SAMPLE if contains(tree.ranges, ord(symbol))}
            assert matched == symbols_of_library(form % name, table), name
        accepted += 1
    assert accepted or "=" in form


def test_universe_of_negations(table: Table) -> None:
    tree = parse("[^a]", table)
    assert tree == Symbols(complement(((97, 97),), universe(table)))
    assert (table == "regex") == (
        parse("(?m:.)" if table == "tokenizers" else "(?s:.)", table) == Symbols(((0, LAST),))
    )


def test_case_of_a_literal_is_that_of_the_table(table: Table) -> None:
    assert parse("(?i:i)", table) == Symbols(case_variants(((105, 105),), table))
