"""Searching: matches equal `regex`'s in the text that the library decodes, cut at special tokens."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
import regex

import tokdfa
from tests.campaigns.standing.laws.parts import in_parts
from tests.support.families import Member
from tests.support.tuned import tuned
from tests.support.utf8 import is_utf8
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.jobs.searching.plan import Tuning

__all__ = ["REFUSALS", "SECONDS", "check", "check_named", "pattern_of", "segments_of"]

REFUSALS = (UnsupportedFeatureError, PatternError, LimitExceededError)
TUNINGS = [Tuning(block=16, step=5, patience=-1), Tuning(), Tuning(block=100, step=40, patience=10**9)]
TUNINGS += [Tuning(max_entries=1, patience=-1), Tuning(step=70, max_entries=1, patience=-1)]
# Read alike by both, lazy and possessive repeats aside.
ATOMS = ["a", "[a-z]", "[^a]", r"\d", r"\w", r"\s", ".", "the", " ", r"\n", "é", "[A-Z]", r"\p{L}", "中", "x"]
ATOMS += ["a(?=b)", r"\S(?!\s)", r"\bt"]
# An engine that backtracks may take forever.
SECONDS = 0.5

Segments: TypeAlias = list[tuple[str, bool]]
Spans: TypeAlias = list[tuple[int, int]]


def pattern_of(drawn: random.Random, text: str, depth: int = 2) -> str:
    """Return a pattern that often matches somewhere in a text."""

    def atom() -> str:
        begin = drawn.randrange(len(text) + 1)
        word = text[begin : begin + drawn.randrange(1, 5)]
        return regex.escape(word) if word and drawn.random() < 0.6 else drawn.choice(ATOMS)

    if depth == 0 or drawn.random() < 0.5:
        return "".join(atom() for _ in range(drawn.choice([1, 1, 2])))
    parts = [pattern_of(drawn, text, depth - 1) for _ in range(2)]
    form = drawn.choice(["{}{}", "(?:{}|{})", "(?:{}x?)+{}", "(?:a{})?{}", "(?:{}b?){{1,2}}{}"])
    return form.format(*parts)


def segments_of(member: Member, ids: list[int]) -> Segments | None:
    """Return the text of ids cut at special tokens, with whether each segment is one; None if it is not UTF-8.

    A special token adds as much as it adds after itself, with a space before it for WordPiece; where the last id loses
    the end of a word, as much as it adds before itself: `a</w>` is `a ` there.
    """
    whole, cuts = member.spell(ids), [0]
    for at in (at for at, id in enumerate(ids) if id in member.special):
        data, alone, twice = (member.spell(each) for each in (ids[: at + 1], ids[at : at + 1], [ids[at]] * 2))
        if data is None or alone is None or twice is None or not data.endswith(alone):
            return None
        own = len(twice) - len(alone)
        begin = len(data) - (len(alone) if at == 0 or member.ends_differ else own)
        cuts += [begin, begin + own if member.ends_differ and at + 1 < len(ids) else len(data)]
    if whole is None or cuts != sorted(cuts):
        return None
    try:
        texts = [whole[begin:end].decode() for begin, end in pairwise([*cuts, len(whole)])]
    except UnicodeDecodeError:
        return None
    return [(text, index % 2 == 1) for index, text in enumerate(texts)]


def some_streams(member: Member, drawn: random.Random, met: Counter[str]) -> Iterator[tuple[list[int], Segments, str]]:
    """Yield random streams that are UTF-8, some with many added tokens, with their segments and text."""
    for _ in range(3):
        ids = member.stream(drawn)
        if member.added and drawn.random() < 0.4:
            among = drawn.choices(
                [id for id in member.ids if is_utf8(member.spell([id]) or b"\xff")] or member.ids, k=9
            )
            ids = drawn.choices([*among, *[*member.added] * 3], k=drawn.randrange(1, 10))
        segments = segments_of(member, ids)
        if segments is None:
            met["not UTF-8"] += 1
        else:
            yield ids, segments, "".join(segment for segment, _ in segments)


def spans_in(segments: Segments, engine: regex.Pattern[str]) -> Spans:
    """Return the spans in bytes of the matches of `regex`, empty ones left out."""
    spans, begin = Spans(), 0
    for segment, special in segments:
        ends = [begin, *(begin + end for end in accumulate(len(symbol.encode()) for symbol in segment))]
        matches = () if special else engine.finditer(segment, timeout=SECONDS)
        spans += [(ends[match.start()], ends[match.end()]) for match in matches if match.end() > match.start()]
        begin = ends[-1]
    return spans


def words_of(drawn: random.Random, segments: Segments) -> list[bytes]:
    """Return words of a text, in bytes, and one that is not in it."""
    data = "".join(segment for segment, special in segments if not special).encode()
    words = {data[at : at + drawn.randrange(1, 9)] for at in drawn.choices(range(len(data) + 1), k=12)} - {b""}
    return drawn.sample([*sorted(words), b"zq"], len(words) + 1)


def spans_of_words(segments: Segments, words: list[bytes], wanted: str) -> Spans:
    """Return the spans of words in bytes; the longest at an offset, or the first that is listed."""
    ordered = sorted(words, key=len, reverse=True) if wanted == "longest" else words
    engine, spans, begin = regex.compile(b"|".join(map(regex.escape, ordered))), Spans(), 0
    for data, special in ((segment.encode(), special) for segment, special in segments):
        matches = () if special else engine.finditer(data)
        spans += [(begin + match.start(), begin + match.end()) for match in matches]
        begin += len(data)
    return spans


def check(member: Member, drawn: random.Random) -> Counter[str]:
    """Search for a pattern and for words in streams."""
    met: Counter[str] = Counter()
    for ids, segments, text in some_streams(member, drawn, met):
        pattern = pattern_of(drawn, text)
        wanted = drawn.choice(["longest", "first"])
        engine = regex.compile(f"(?p)(?:{pattern})" if wanted == "longest" else pattern)
        words = words_of(drawn, segments)
        try:
            assert_found(member, drawn, met, ids, (pattern, wanted), spans_in(segments, engine))
            assert_found(member, drawn, met, ids, (words, wanted), spans_of_words(segments, words, wanted))
        except (*REFUSALS, TimeoutError):
            met["refused"] += 1
            continue
        met["special tokens"] += len(segments) > 1
        met["added tokens that are text"] += not (member.added.keys() - member.special).isdisjoint(ids)
    return met


def assert_found(
    member: Member, drawn: random.Random, met: Counter[str], ids: list[int],
    asked: tuple[str | list[bytes], str], expected: Spans,
) -> None:  # fmt: skip
    """Assert that searching ids, at once and in chunks, gives these spans, and the tokens that have them."""
    searched, wanted = asked
    tuning = drawn.choice(TUNINGS)
    searcher = tuned(tokdfa.Searcher, tuning)(member.tokenizer, searched, wanted=wanted)  # type: ignore[arg-type]
    found = searcher.search(ids)
    assert [(match.start_byte, match.end_byte) for match in found] == expected, (asked, ids, tuning)
    met["words" if isinstance(searched, list) else "streams"] += 1
    met["a match"] += len(expected) > 0
    met[f"wanted {wanted}"] += 1
    met["blocks"] += len(ids) > tuning.block
    chunks = [np.array(part, dtype=np.int32) for part in in_parts(drawn, ids)]
    again = [match for matches in searcher.iter_matches(iter(chunks)) for match in matches]
    assert again == [*found], (asked, ids, chunks)
    ends = ends_of(member, ids)
    if ends is None:
        return
    texts = member.added.keys() - member.special
    for match in found:
        tokens = np.searchsorted(ends, match.start_byte, "right"), np.searchsorted(ends, match.end_byte - 1, "right")
        assert (match.start_token, match.end_token) == (tokens[0], tokens[1] + 1), (asked, ids, match)
        within = {*ids[match.start_token : match.end_token]}
        met["a match over several tokens"] += tokens[0] < tokens[1]
        met["a match within a token"] += not {match.start_byte, match.end_byte} <= {0, *ends}
        met["within an added token"] += within <= texts
        met["across an added token"] += bool(within & texts and within - texts)


def ends_of(member: Member, ids: list[int]) -> list[int] | None:
    """Return the end of each id in the bytes of the text; None if the first ids have another text alone."""
    parts = [member.spell(ids[:n]) for n in range(1, len(ids) + 1)]
    if member.ends_differ or not all(part is not None and (parts[-1] or b"").startswith(part) for part in parts):
        return None
    ends = [len(part or b"") for part in parts]
    return ends if ends == sorted(ends) else None


def check_named(member: Member, drawn: random.Random) -> Counter[str]:
    """Search for several patterns with names; `regex` tells by the group of a pattern which one has matched."""
    met: Counter[str] = Counter()
    for ids, segments, text in some_streams(member, drawn, met):
        patterns = {drawn.choice(["", r"\b", r"\B"]) + pattern_of(drawn, text) for _ in range(drawn.randrange(2, 4))}
        names = {pattern: f"name {drawn.randrange(3)}" for pattern in patterns}
        engine = regex.compile("|".join(f"({pattern})" for pattern in names))
        try:
            chunks = [np.array(part, dtype=np.int32) for part in in_parts(drawn, ids)]
            found = tokdfa.Searcher(member.tokenizer, names).iter_spelled(chunks)
            told = [each for spelled in found for each in zip(spelled.texts, spelled.names, strict=True)]
            expected = [
                (match.group().encode(), names[[*names][(match.lastindex or 0) - 1]])
                for segment, special in segments
                for match in (() if special else engine.finditer(segment, timeout=SECONDS))
            ]
        except (*REFUSALS, TimeoutError):
            met["refused"] += 1
            continue
        assert told == expected, (names, ids, text)
        alone = [[own for own in names if regex.fullmatch(own, each.decode())] for each, _ in expected]
        met["a match"] += len(expected) > 0
        met["by its context"] += any(
            not own or names[own[0]] != name for own, (_, name) in zip(alone, expected, strict=True)
        )
        met["special tokens"] += len(segments) > 1
    return met
