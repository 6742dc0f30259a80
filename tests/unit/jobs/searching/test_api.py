"""Searching ids: against the engines on the decoded text, cut into tokens in any way."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tokdfa
from tests.support.patterns import patterns, texts
from tests.support.streams import Vocabulary, cut, places
from tests.support.tuned import tuned
from tokdfa.base.errors import LimitExceededError, PatternError, TokenStreamError, UnsupportedFeatureError
from tokdfa.jobs.searching.api import Match, Matches, Searcher
from tokdfa.jobs.searching.plan import DEFAULT, Tuning

WANTED = ["longest", "first", "all"]
wanted_ones = st.sampled_from(WANTED)
common = settings(max_examples=25)


@pytest.fixture(
    scope="module",
    params=[Tuning(patience=10**9, step=3), Tuning(patience=-1, step=2), Tuning(patience=-1)],
    ids=["byte by byte", "token by token", "in long steps"],
)
def tuning(request: pytest.FixtureRequest) -> Tuning:
    given: Tuning = request.param
    return given


def search(vocabulary: Vocabulary, pattern, ids, *, tuning: Tuning = DEFAULT, **options) -> Matches:
    """Search with a tuning, which :func:`tokdfa.search` does not take."""
    return tuned(Searcher, tuning)(vocabulary, pattern, **options).search(ids)


def _spans(matches: Matches) -> list[tuple[int, int]]:
    return [(match.start_byte, match.end_byte) for match in matches]


def _bounds(text: str) -> list[int]:
    """The offset in bytes of every character, invalid bytes being surrogates, and of the end."""
    lengths = (len(character.encode("utf-8", "surrogateescape")) for character in text)
    return list(accumulate(lengths, initial=0))


def _found_by(engine: Iterator, text: str) -> list[tuple[int, int]]:
    """The spans in bytes of an engine's matches, empty matches left out."""
    at = _bounds(text)
    return [(at[match.start()], at[match.end()]) for match in engine if match.end() > match.start()]


def _by_definition(pattern: str, text: str, wanted: str, boundaries: set[int] | None = None) -> list[tuple[int, int]]:
    """The expected matches, by trying every segment of the text."""
    at = _bounds(text)
    n = len(text)
    broken = [0xDC80 <= ord(character) <= 0xDCFF for character in text]
    allowed = [boundaries is None or offset in boundaries for offset in at]

    def ends(start: int) -> list[int]:
        return [
            end
            for end in range(start + 1, n + 1)
            if allowed[start] and allowed[end] and not any(broken[start:end]) and _matches(pattern, text, start, [end])
        ]

    if wanted == "all":
        return sorted(((at[i], at[j]) for i in range(n) for j in ends(i)), key=lambda span: span[::-1])
    spans = []
    start = 0
    while start < n:
        possible = ends(start)
        if not possible:
            start += 1
            continue
        end = max(possible) if wanted == "longest" else _matches(pattern, text, start, possible)
        spans.append((at[start], at[end]))
        start = end
    return spans


def _matches(pattern: str, text: str, start: int, ends: list[int]) -> int | None:
    """The end, one of `ends`, of the match that a backtracking engine finds first."""
    behind = "|".join(f"(?s:.{{{len(text) - end}}})" for end in ends)
    match = re.compile(f"(?:{pattern})(?=(?:{behind})\\Z)").match(text, start)
    return match and match.end()


@common
@given(patterns(anchors=True, last_line=True, empty_turns=True), texts(30).filter(bool), places)
@example(r"a(?:c|(?!\S)|[^a])*", "a b", [])
@example(r"a(?:c|(?!\S)|[^a]){0,3}?b", "a b", [])
@example("(?:a$|.)*\n?", "ba\n", [1])
def test_first_is_what_re_finds(tuning: Tuning, pattern: str, text: str, boundaries: list[int]) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    found = search(vocabulary, pattern, ids, wanted="first", tuning=tuning)
    assert _spans(found) == _found_by(re.finditer(pattern, text), text)


@common
@given(patterns(lazy=False, last_line=True), texts(30), places)
@example("b?a$|b$\n|a", "aba\n", [3])
def test_longest_is_what_regex_finds_in_posix_mode(
    tuning: Tuning, pattern: str, text: str, boundaries: list[int]
) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    found = search(vocabulary, pattern, ids, wanted="longest", tuning=tuning)
    assert _spans(found) == _found_by(regex.finditer(f"(?p)(?:{pattern})", text), text)


@common
@given(patterns(anchors=True), texts(8), places, wanted_ones, st.booleans())
@example(r"\b(?:a|ab)\b", "ab", [1], "longest", True)
@example(r"(?m:^)a", "a\na", [2], "all", False)
@example(r"(?:a|\baa)", "aa", [1], "longest", True)
def test_by_definition(tuning: Tuning, pattern: str, text: str, boundaries: list[int], wanted, aligned: bool) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    ends = {0, *accumulate(len(vocabulary.words[i]) for i in ids)}
    expected = _by_definition(pattern, text, wanted, ends if aligned else None)
    assert _spans(search(vocabulary, pattern, ids, wanted=wanted, aligned=aligned, tuning=tuning)) == expected


@common
@given(
    patterns(anchors=True),
    st.lists(
        st.sampled_from([b"a", b"b", b" ", b"\n", b"\xc3", b"\xa9", b"\xff", b"\xf0\x9f\x98", b"\x80"]), max_size=8
    ),
    wanted_ones,
)
@example(r"a\b", [b"a", b"\xc3"], "longest")
@example(r"a\b", [b"a", b"\xf0\x9f\x98", b"b"], "first")
@example(r"a\b", [b"a", b"\xc3", b"a"], "all")
@example("a+(?!a|b)", [b"a", b"a", b"\xc3", b"a"], "longest")
def test_what_is_not_utf8_matches_nothing(tuning: Tuning, pattern: str, words: list[bytes], wanted) -> None:
    vocabulary = Vocabulary(list(dict.fromkeys([b"a", *words])))
    ids = [vocabulary.words.index(word) for word in words]
    text = b"".join(words).decode("utf-8", "surrogateescape")
    if wanted == "first":
        wanted = "all"  # an engine that prefers to match a broken byte does not show its other matches
    assert _spans(search(vocabulary, pattern, ids, wanted=wanted, tuning=tuning)) == _by_definition(
        pattern, text, wanted
    )


@common
@given(patterns(anchors=True), texts(40), places, wanted_ones, st.booleans(), st.lists(st.integers(1, 5)))
def test_chunks_make_no_difference(
    tuning: Tuning, pattern, text, boundaries, wanted, aligned: bool, sizes: list[int]
) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    searcher = tuned(Searcher, tuning)(vocabulary, pattern, wanted=wanted, aligned=aligned)
    bounds = [0, *accumulate(sizes), len(ids)]
    chunks = [ids[start:stop] for start, stop in pairwise(bounds)]
    found = [match for matches in searcher.iter_matches(chunks) for match in matches]
    assert found == list(searcher.search(ids))


@common
@given(patterns(anchors=True), st.lists(texts(8), min_size=1, max_size=4), wanted_ones)
def test_special_tokens_cut_the_text(tuning: Tuning, pattern: str, stretches: list[str], wanted) -> None:
    special = b"a<special>b"
    words = list(dict.fromkeys(character.encode() for character in "".join(stretches)))
    vocabulary = Vocabulary([*words, special], [len(words)])
    ids, expected, position = [], [], 0
    for stretch in stretches:
        part = [words.index(character.encode()) for character in stretch]
        expected += [
            (position + i, position + j)
            for i, j in _spans(search(vocabulary, pattern, part, wanted=wanted, tuning=tuning))
        ]
        ids += [*part, len(words)]
        position += len(stretch.encode()) + len(special)
    assert _spans(search(vocabulary, pattern, ids, wanted=wanted, tuning=tuning)) == expected


words_of_bytes = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b"c", b"\xff"]), min_size=1, max_size=4).map(b"".join), max_size=8
)


@settings(max_examples=60)
@given(words_of_bytes, st.lists(st.sampled_from([b"a", b"b", b"c", b"\xff"]), max_size=20).map(b"".join), places)
@example([b"abcd", b"bc", b"c"], b"abcxabcd", [])
@example([b"b", b"bcd", b"abcx"], b"abcdabc", [])
def test_words_are_found_as_an_alternation_finds_them(
    tuning: Tuning, words: list[bytes], text: bytes, boundaries: list[int]
) -> None:
    vocabulary, ids = cut(text, boundaries)
    alternation = b"|".join(map(re.escape, words)) if words else b"(?!)"
    first = [match.span() for match in re.finditer(alternation, text)]
    assert _spans(search(vocabulary, words, ids, wanted="first", tuning=tuning)) == first
    longest = b"|".join(map(re.escape, sorted(words, key=len, reverse=True))) if words else b"(?!)"
    assert _spans(search(vocabulary, words, ids, tuning=tuning)) == [
        match.span() for match in re.finditer(longest, text)
    ]
    every = sorted(
        {(i, i + len(w)) for w in words for i in range(len(text)) if text[i:].startswith(w)}, key=lambda s: s[::-1]
    )
    assert _spans(search(vocabulary, words, ids, wanted="all", tuning=tuning)) == every


@common
@given(st.lists(st.text("aé", min_size=1, max_size=3), max_size=5), texts(8), places, wanted_ones)
def test_aligned_words(tuning: Tuning, words: list[str], text: str, boundaries: list[int], wanted) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    ends = {0, *accumulate(len(vocabulary.words[i]) for i in ids)}
    pattern = "|".join(words) if words else "[^\\s\\S]"
    expected = _by_definition(pattern, text, wanted, ends)
    assert _spans(search(vocabulary, words, ids, wanted=wanted, aligned=True, tuning=tuning)) == expected


@common
@given(patterns(), texts(30), places, wanted_ones)
def test_the_tokens_of_a_match_are_those_that_have_its_bytes(
    tuning: Tuning, pattern: str, text: str, boundaries, wanted
) -> None:
    vocabulary, ids = cut(text.encode(), boundaries)
    ends = np.cumsum([len(vocabulary.words[i]) for i in ids])
    for match in search(vocabulary, pattern, ids, wanted=wanted, tuning=tuning):
        assert match.start_token == np.searchsorted(ends, match.start_byte, side="right")
        assert match.end_token == np.searchsorted(ends, match.end_byte - 1, side="right") + 1


def test_tokens_without_text_are_harmless(tuning: Tuning) -> None:
    vocabulary = Vocabulary([b"a", b"", b"b"])
    for wanted in WANTED:
        for aligned in (False, True):
            found = search(vocabulary, "ab", [1, 0, 1, 1, 2, 1], wanted=wanted, aligned=aligned, tuning=tuning)
            assert _spans(found) == [(0, 2)]


def test_the_end_of_the_text(tuning: Tuning) -> None:
    vocabulary = Vocabulary([b"a", b"\n", b"\xe2\x82", b"<s>"], [3])
    assert _spans(search(vocabulary, "a$", [0, 0], tuning=tuning)) == [(1, 2)]
    assert _spans(search(vocabulary, "a$", [0, 0, 1], tuning=tuning)) == [(1, 2)]
    assert _spans(search(vocabulary, "a$", [0, 1, 1], tuning=tuning)) == []
    assert _spans(search(vocabulary, r"a\Z", [0, 1], tuning=tuning)) == []
    assert _spans(search(vocabulary, "a$|\n$|$\n", [0, 1, 3, 0], tuning=tuning)) == [(0, 1), (1, 2), (5, 6)]
    assert _spans(search(vocabulary, r"a(?m:$)", [0, 1, 0, 3, 0], tuning=tuning)) == [(0, 1), (2, 3), (6, 7)]
    assert _spans(search(vocabulary, r"a\b", [0, 2], tuning=tuning)) == [(0, 1)]
    assert _spans(search(vocabulary, r"^a", [0, 0, 3, 0], tuning=tuning)) == [(0, 1), (5, 6)]


def test_matches_are_a_sequence(tuning: Tuning) -> None:
    vocabulary = Vocabulary([b"ab", b"c"])
    found = search(vocabulary, "b|c", [0, 1, 0], tuning=tuning)
    assert list(found) == [Match(1, 2, 0, 1), Match(2, 3, 1, 2), Match(4, 5, 2, 3)]
    assert found[-1] == Match(4, 5, 2, 3)
    assert found[1:] == Matches(found.rows[1:])
    assert found.rows.dtype == np.int64
    assert repr(found) == "<3 matches>"
    assert not search(vocabulary, "b", [], tuning=tuning)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.uint32, np.int64, ">i4"])
def test_ids_of_any_width(tuning: Tuning, dtype) -> None:
    ids = np.array([0, 1, 0, 1], dtype=dtype)[::-1]
    assert _spans(search(Vocabulary([b"ab", b"c"]), "ca", ids, tuning=tuning)) == [(0, 2), (3, 5)]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0, 3], "token 1: id out of range: 3"),
        ([-1], "negative id"),
        ([0, 1], "token 1: no token has this id: 1"),
        (np.array([0, 1 << 31], dtype=np.uint32), f"token 1: id out of range: {1 << 31}"),
        ([0.5], "integers"),
        ([[0]], "one dimension"),
    ],
)
def test_what_is_no_stream_is_refused(tuning: Tuning, ids, message: str) -> None:
    with pytest.raises(TokenStreamError, match=message):
        search(Vocabulary([b"a", None, b"b"]), "a", ids, tuning=tuning)


@pytest.mark.parametrize("pattern", ["(a", r"(a)\1", "(?<=a)b", [""], [b"\xff"]])
def test_what_cannot_be_searched_for_is_refused(tuning: Tuning, pattern) -> None:
    with pytest.raises(PatternError):
        tuned(Searcher, tuning)(Vocabulary([b"a"]), pattern, aligned=pattern == [b"\xff"])
    with pytest.raises(PatternError, match="longest, first, all"):
        tuned(Searcher, tuning)(Vocabulary([b"a"]), "a", wanted="shortest")


def test_all_matches_do_not_know_the_last_line(tuning: Tuning) -> None:
    with pytest.raises(PatternError, match="holds at two places"):
        tuned(Searcher, tuning)(Vocabulary([b"a"]), "a$", wanted="all")


@pytest.mark.parametrize("pattern", ["", "a{0}", "^", "[^\\s\\S]", "日本", []])
def test_what_is_nowhere_is_not_found(tuning: Tuning, pattern) -> None:
    for wanted in WANTED:
        assert len(search(Vocabulary([b"a", b"b"]), pattern, [0, 1, 0], wanted=wanted, tuning=tuning)) == 0


def test_what_is_read_beyond_a_match_is_not_read_again_and_again(tuning: Tuning) -> None:
    # After every a, all the rest is read in search of a b. If that were done for each a, it would take days.
    ids = np.zeros(100_000, dtype=np.int32)
    for pattern in ("a|a*b", "(?:a|ba)|(?:a|b)*c"):
        found = search(Vocabulary([b"aaaa"]), pattern, ids, tuning=tuning)
        assert len(found) == 400_000


def test_an_open_match_is_kept_within_limits(tuning: Tuning) -> None:
    vocabulary = Vocabulary([b"a", b'"'])
    searcher = tuned(Searcher, tuning)(vocabulary, '"[^"]*"', max_pending=1000)
    chunks = [[1], *[[0] * 100] * 8, [1]]
    assert [_spans(matches) for matches in searcher.iter_matches(chunks)] == [[(0, 802)]]
    with pytest.raises(LimitExceededError, match="more than 1000 tokens"):
        list(searcher.iter_matches([[1], *[[0] * 100] * 20]))


def test_explosions_are_refused(tuning: Tuning) -> None:
    with pytest.raises(LimitExceededError, match="states"):
        tuned(Searcher, tuning)(Vocabulary([b"a"]), "[ab]*a[ab]{30}", max_states=1000)


@settings(max_examples=60)
@given(words_of_bytes, st.lists(st.sampled_from([b"a", b"b", b"c", b"\xff", b" "]), max_size=20).map(b"".join), places)
def test_automata_too_large_for_a_table_of_tokens(
    tuning: Tuning, words: list[bytes], text: bytes, boundaries: list[int]
) -> None:
    vocabulary, ids = cut(text, boundaries)
    for wanted in WANTED:
        expected = list(search(vocabulary, words, ids, wanted=wanted, tuning=tuning))
        for pattern in (words, b"|".join(map(re.escape, words)).decode("latin-1") + "|a+b"):
            searcher = tuned(Searcher, tuning)(vocabulary, pattern, wanted=wanted)
            with_table = list(searcher.search(ids))
            searcher = tuned(Searcher, replace(tuning, max_entries=0))(vocabulary, pattern, wanted=wanted)
            assert list(searcher.search(ids)) == with_table
            assert pattern is not words or with_table == expected


@pytest.mark.parametrize("seed", range(12))
def test_long_streams_in_large_automata(tuning: Tuning, seed: int) -> None:
    """Matches in segments of tokens that are skipped, cached and read again are the matches of `re`."""
    dice = random.Random(seed)
    letters = "ab" if seed % 2 else "abc "
    tokens = sorted({"".join(dice.choices(letters, k=dice.randint(1, 5))) for _ in range(60)} | set(letters))
    vocabulary = Vocabulary([*(token.encode() for token in tokens), b"", b"<end>"], specials=[len(tokens) + 1])
    usual = dice.choices(range(len(tokens)), k=8)
    ids = [dice.choice(usual) if dice.random() < 0.8 else dice.randrange(len(tokens) + 2) for _ in range(4_000)]
    text = vocabulary.decode_bytes(ids).decode()
    words = ["".join(dice.choices(letters, k=dice.randint(2, 12))) for _ in range(30)]
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    tuning = replace(tuning, max_entries=0)
    for wanted in ("longest", "first"):
        listed = longest_first if wanted == "longest" else "|".join(words)
        for pattern, engine in ((words, listed), ("a+b|ba{3,}", "a+b|ba{3,}")):
            expected = [match.span() for match in re.finditer(engine, text)]
            searcher = tuned(Searcher, tuning)(vocabulary, pattern, wanted=wanted)  # type: ignore[arg-type]
            for _ in range(2):
                assert _spans(searcher.search(ids)) == expected
            sizes = iter(lambda: dice.randint(1, 700), 0)
            chunks, start = [], 0
            while start < len(ids):
                chunks.append(ids[start : start + next(sizes)])
                start += len(chunks[-1])
            assert [span for found in searcher.iter_matches(chunks) for span in _spans(found)] == expected


def test_the_time_for_the_pattern_is_passed_on() -> None:
    tokenizer = tokdfa.default_tokenizer()
    pattern = "(a|b|é|[c-ω])*x(.|\\n){1,40}[^q]{3,50}z"
    for call in (tokenizer.search, partial(tokdfa.search, tokenizer)):
        with pytest.raises(LimitExceededError, match="seconds"):
            call(pattern, [64], max_seconds=1e-9)


def test_classes_of_another_version_of_a_library() -> None:
    tokenizer = tokdfa.default_tokenizer()
    ids = tokenizer.encode("\u1c89")  # a letter since Unicode 16
    assert len(tokdfa.search(tokenizer, r"\p{L}", ids)) == 1
    assert len(tokdfa.search(tokenizer, r"\p{L}", ids, table="regex==2022.10.31")) == 0
    assert len(tokdfa.search(tokenizer, r"\P{L}", ids, table="tiktoken==0.7.0")) == 1
    with pytest.raises(UnsupportedFeatureError, match="are not known"):
        tokdfa.search(tokenizer, r"\p{L}", ids, table="regex==1")


@pytest.mark.parametrize("wanted", WANTED)
def test_aligned_matches_beside_broken_symbols(tuning: Tuning, wanted) -> None:
    """A boundary after an unfinished symbol counts if the next byte shows that the symbol is broken."""
    words = ["é", "€", "aé"]
    vocabulary = Vocabulary([b"\xc3", b"\xa9", b"\xe2", b"\x82", b"\xac", b"a", *(word.encode() for word in words)])
    searcher = tuned(Searcher, tuning)(vocabulary, words[:2], wanted=wanted, aligned=True)
    draw, n_after_broken = random.Random(4), 0
    for _ in range(1500):
        ids = draw.choices(range(len(vocabulary.words)), k=draw.randrange(1, 9))
        parts = [vocabulary.words[id] for id in ids]
        boundaries, text = {0, *accumulate(map(len, parts))}, b"".join(parts)
        spans = [match.span() for match in re.finditer("é|€".encode(), text)]
        expected = [span for span in spans if boundaries.issuperset(span)]
        assert _spans(searcher.search(ids)) == expected, parts
        n_after_broken += sum(start > 0 and text[start - 1] in b"\xc3\xe2\x82" for start, _ in expected)
    assert n_after_broken > 300


@pytest.mark.parametrize("pattern", ["a*b", " *b", "(?:a| )*b", "[^b]*b", "a*b|c"])
@pytest.mark.parametrize("wanted", ["longest", "first"])
def test_beginnings_that_repeat(tuning: Tuning, wanted, pattern: str) -> None:
    """After them the same may follow as where no match has begun; the beginning is found all the same."""
    vocabulary = Vocabulary([b"a", b"b", b" ", b"c", b"aa", b"  "])
    searcher = tuned(Searcher, tuning)(vocabulary, pattern, wanted=wanted)
    draw, n_long = random.Random(7), 0
    for _ in range(60):
        ids = draw.choices(range(6), weights=[9, 1, 6, 1, 3, 3], k=40)
        text = b"".join(vocabulary.words[id] for id in ids)
        expected = [match.span() for match in re.finditer(pattern.encode(), text)]
        assert _spans(searcher.search(ids)) == expected
        for size in (1, 7):
            chunks = (ids[start : start + size] for start in range(0, len(ids), size))
            assert [span for found in searcher.iter_matches(chunks) for span in _spans(found)] == expected
        n_long += sum(end - start > 1 for start, end in expected)
    assert n_long > 20
