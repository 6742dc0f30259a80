"""The machine of a splitting: its size, its streams, its refusals. Its pieces are tested in differential/."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.kernels.encode.split import BLOCK_BITS
from tokdfa.tokenizers.pretokenizers.building import build_machine
from tokdfa.tokenizers.pretokenizers.machine import Machine, Runs
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter, split_tables
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

# States, classes, most hypotheses at once.
SIZES = {
    "gpt2": (12, 10, 2),
    "gpt2_tiktoken": (12, 10, 2),
    "cl100k": (20, 11, 3),
    "llama3": (20, 11, 3),
    "qwen2": (18, 11, 3),
    "o200k": (25, 19, 3),
    "tekken": (18, 10, 3),
    "kimi": (26, 21, 3),
    "deepseek": (22, 12, 3),
}
TEXT = "I've  got 12345 Straßen,\r\n\n \t中文x's!! \n    \n  x \U0001f600 "


@cache
def splitter_named(name: str) -> Splitter:
    return Splitter(NAMED[name])


def pieces(splitter: Splitter, text: str) -> list[str]:
    data = text.encode()
    return [data[start:end].decode() for start, end in splitter.spans(text).tolist()]


@pytest.mark.parametrize("name", NAMED)
def test_sizes_of_named_machines_are_known(name: str) -> None:
    machine = build_machine(NAMED[name])
    assert (machine.n_states, machine.target.shape[1], machine.parent.shape[2]) == SIZES[name]


def assert_pages_give_classes(machine: Machine) -> None:
    """Check that the tables give every code point the class that it has."""
    fields = split_tables(machine).fields
    classes = fields["classes"].reshape(-1, 1 << BLOCK_BITS)[fields["pages"]].reshape(-1)
    assert np.array_equal(classes, machine.class_of_code_point)
    assert np.array_equal(fields["ascii_class"], machine.class_of_code_point[:0x80])


@pytest.mark.parametrize("name", NAMED)
def test_classes_in_pages(name: str) -> None:
    assert_pages_give_classes(splitter_named(name).machine)


@settings(max_examples=30)
@given(st.dictionaries(st.integers(0, 0x10FFFF) | st.integers(0, 600), st.integers(0, 9), max_size=20), st.booleans())
def test_classes_in_pages_of_any_runs(changes: dict[int, int], ends_with_a_run_of_one: bool) -> None:
    classes = np.zeros(0x110000, dtype=np.uint8)
    for start in sorted(changes):
        classes[start:] = changes[start]
    if ends_with_a_run_of_one:
        classes[-1] = 10
    assert_pages_give_classes(replace(splitter_named("cl100k").machine, runs=Runs.of(classes)))


@pytest.mark.parametrize("name", NAMED)
def test_wherever_a_stream_is_cut_the_pieces_are_the_same(name: str) -> None:
    splitter = pretokenizer(name).splitter
    assert splitter is not None
    data = TEXT.encode()
    whole = splitter.spans(data).tolist()
    assert pieces(splitter, TEXT) == pretokenizer(name).split_backtracking(TEXT)
    source = random.Random(0)
    cuts = [[at] for at in range(len(data) + 1)]
    cuts += [sorted(source.choices(range(len(data) + 1), k=source.randint(2, 30))) for _ in range(100)]
    cuts.append(list(range(len(data))))
    for places in cuts:
        stream = splitter.stream()
        found = [stream.feed(data[a:b]) for a, b in zip([0, *places], [*places, len(data)], strict=True)]
        found.append(stream.finish())
        assert np.concatenate(found).tolist() == whole


@pytest.mark.parametrize("name", NAMED)
def test_what_has_been_given_out_is_certain_and_nothing_certain_is_held_back_long(name: str) -> None:
    splitter = Splitter(NAMED[name])
    data = TEXT.encode()
    stream = splitter.stream()
    given_out: list[list[int]] = []
    for at in range(len(TEXT)):
        given_out += stream.feed(TEXT[at].encode()).tolist()
        end = len(TEXT[: at + 1].encode())
        # The spans given out stay for any continuation.
        for continuation in ("", "x", " ", "\n", "'s", "1", "!"):
            spans = splitter.spans(data[:end] + continuation.encode()).tolist()
            assert spans[: len(given_out)] == given_out
    assert len(given_out) >= len(splitter.spans(data)) - 3


def test_a_stretch_that_stays_unsettled_for_long() -> None:
    splitter = Splitter(NAMED["llama3"])
    blank = "\n" + " " * 3_000_000
    for end, beginnings in (("\n", [0]), ("x", [0, 1, 3_000_000]), ("", [0, 1])):
        assert splitter.spans(blank + end)[:, 0].tolist() == beginnings
    stream = splitter.stream()
    for start in range(0, len(blank), 1000):
        assert len(stream.feed(blank[start : start + 1000].encode())) == 0
    assert stream.feed(b"\nx").tolist() == [[0, len(blank) + 1]]


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"ab\xff", "byte 2"),
        (b"ab\xc0\x80", "byte 2"),
        (b"\xed\xa0\x80", "byte 0"),
        (b"a\xf4\x90\x80\x80", "byte 1"),
        (b"a\xe0\x80\x80", "byte 1"),
        (b"a\xf0\x8f\x80\x80", "byte 1"),
        (b"a\x80", "byte 1"),
        (b"a\xe4\xb8a", "byte 1"),
        (b"a\xe4\xb8", "byte 1"),
        (b"\xf0\x9f\x98", "byte 0"),
        (b" " * 300_000 + b"\xff", "byte 300000"),
    ],
)
def test_what_is_not_utf8_is_refused_with_its_place(data: bytes, where: str) -> None:
    splitter = Splitter(NAMED["gpt2"])
    with pytest.raises(PatternError, match=f"{where}:"):
        splitter.spans(data)
    stream = splitter.stream()

    def feed_bytewise() -> None:
        for byte in data:
            stream.feed(bytes([byte]))
        stream.finish()

    if len(data) < 100:
        with pytest.raises(PatternError, match=f"{where}:"):
            feed_bytewise()


@given(
    st.sampled_from(sorted(NAMED)),
    st.lists(st.lists(st.sampled_from(["a", "É", "中", "7", " ", "\n", "\r", "'s", "'"]), max_size=6), max_size=12),
)
def test_texts_are_split_separately(name: str, texts: list[list[str]]) -> None:
    splitter = splitter_named(name)
    data = [*map(str.encode, map("".join, texts))]
    ends = np.cumsum([0, *map(len, data)])
    starts = zip(ends[:-1].tolist(), data, strict=True)
    expected = [[start + a, start + b] for start, text in starts for a, b in splitter.spans(text).tolist()]
    found = splitter.spans_of_texts(b"".join(data), ends[1:])
    assert found is not None
    assert found.tolist() == expected


@pytest.mark.parametrize("data", [b"\xff", b"a\n\xc3", b"\xc3\n\xa9"])
def test_texts_that_are_not_utf8_have_no_pieces(data: bytes) -> None:
    ends = np.cumsum([len(line) for line in data.splitlines(keepends=True)])
    assert Splitter(NAMED["gpt2"]).spans_of_texts(data, ends) is None


def test_every_code_point_is_read() -> None:
    splitter = Splitter(NAMED["o200k"])
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    spans = splitter.spans(text)
    assert spans[0, 0] == 0
    assert spans[-1, 1] == len(text.encode())
    assert (spans[1:, 0] == spans[:-1, 1]).all()


def test_whether_text_may_be_left_out() -> None:
    assert not any(Splitter(splitting).drops_text for splitting in NAMED.values())
    assert Splitter(Splitting("tiktoken", (Split("a+"),))).drops_text
    assert not Splitter(Splitting("tokenizers", (Split("a+"),))).drops_text
    assert not Splitter(Splitting("tiktoken", (Split(r"a+|[^a]"),))).drops_text


def test_half_a_surrogate_pair() -> None:
    with pytest.raises(PatternError, match="character 1: half of a surrogate pair"):
        Splitter(NAMED["gpt2"]).spans("a\ud800")


def test_empty_texts() -> None:
    splitter = Splitter(NAMED["gpt2"])
    assert splitter.spans("").shape == splitter.spans(b"").shape == (0, 2)
    assert splitter.stream().finish().shape == (0, 2)
    assert Splitter(Splitting("tokenizers")).spans("a b").tolist() == [[0, 3]]


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (r"(a)\1", "back-reference"),
        ("b(?>(?:a|ab){2})c", "offset 1: an atomic group"),
        ("(?:ab?c|a*b){2,}+", "offset 0: a possessive repetition"),
    ],
)
def test_what_automata_cannot_do_is_refused(pattern: str, what: str) -> None:
    with pytest.raises(PatternError, match=what):
        Splitter(Splitting("tiktoken", (Split(pattern),)))


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("(?:a|b)*a(?:a|b){25}c", "more than"),
        ("x(?=c(?:a|b){25}a(?:a|b)*)", "more than"),
        ("(?<=a(?:a|b){25})x", "more than"),
        ("(?:(?:a{60}){60}){60}", "offset 0: .*counts to 60"),
        ("(?:(?:a{90}){90}){90}", "more than"),
        ("b(?:(?:a{40}b?){40}c?){40}", "offset 1: .*counts to 40"),
        ("|".join(f"a(?!b{{{count}}}c)" for count in range(1, 80)), "more than 64 look-arounds"),
        ("x(?!(?=" + "(?:" * 99 + "a", "offset .*nested"),
    ],
)
def test_patterns_that_explode_are_refused_in_bounded_time(pattern: str, what: str) -> None:
    start = time.process_time()
    with pytest.raises((PatternError, LimitExceededError), match=what):
        Splitter(Splitting("tokenizers", (Split(pattern),)), max_seconds=0.3)
    assert time.process_time() - start < 3.0


def test_what_automata_cannot_do_is_done_by_backtracking() -> None:
    assert pretokenizer("(?>(?:a|ab){2})c?|b").splitter is None
    assert pretokenizer("(?>(?:a|ab){2})c?|b").split("aabac") == ["aa", "b"]


def test_budgets_of_machines_are_kept() -> None:
    with pytest.raises(LimitExceededError):
        Splitter(Splitting("tiktoken", (Split("(?:a|b)*a(?:a|b){18}c"),)))
    with pytest.raises(LimitExceededError):
        Splitter(NAMED["cl100k"], max_states=10)
    with pytest.raises(LimitExceededError):
        Splitter(Splitting("tiktoken", (Split("a+|b"),)), max_seconds=0)


def test_a_look_behind_within_a_match_is_fine() -> None:
    for pattern in (r"a+\bb*|.", r"a+\B|.", r"(?:a|\n)+(?m:^)b|[^q]"):
        splitting = Splitting("tokenizers" if "m:" not in pattern else "tiktoken", (Split(pattern),))
        assert_split_by_definition(splitting, [" ".join(("aab", "a b", "\naba", "qab"))])


def assert_split_by_definition(splitting: Splitting, texts: list[str]) -> None:
    splitter = Splitter(splitting)
    definition = PreTokenizer(splitting)
    for text in texts:
        assert pieces(splitter, text) == definition.split_backtracking(text), text


quantifiers = st.sampled_from(["", "", "", "*", "+", "?", "{1,2}", "{2}", "*?", "+?", "??"])
atoms = st.one_of(
    st.tuples(st.sampled_from(["a", "b", "[ab]", "[^a]", "c", r"\s"]), quantifiers).map("".join),
    st.sampled_from([r"(?!\S)", "(?=b)", "(?!a)", "a++", "[ab]{1,2}+", "b?+", r"\b", "$"]),
    st.sampled_from(
        [
            "(?=ab)",
            "(?!ba)",
            "(?<=a)",
            "(?<!ab|c)",
            "(?=(?:aa)+(?!a))",
            "(?!a*c)",
            "(?<=a+b)",
            r"\A",
            "(?:ab)++",
            "(?>a|ab)",
        ]
    ),
)
anchors_of_tokenizers = st.sampled_from(["^", r"\G", r"\Z", r"\z", "(?=b*$)"])


def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(inner, min_size=2, max_size=3)
    # An assertion is not repeated.
    repeated = st.tuples(inner, quantifiers).map(lambda pair: f"(?:c|{pair[0]}){pair[1]}")
    return st.one_of(repeated, parts.map("".join), parts.map(lambda options: f"(?:{'|'.join(options)})"))


patterns = st.recursive(atoms, grow, max_leaves=8)
behaviors = st.sampled_from(
    ["isolated", "isolated", "removed", "contiguous", "merged_with_previous", "merged_with_next"]
)
steps = st.builds(
    Split,
    st.one_of(
        patterns, st.tuples(anchors_of_tokenizers, patterns).map("".join), st.builds("|".join, st.lists(patterns))
    ),
    behaviors,
    st.booleans(),
)
words = st.text("aab c\n", max_size=12)


@settings(max_examples=60)
@given(st.lists(steps, min_size=1, max_size=3), st.lists(words, min_size=20, max_size=20))
def test_random_splittings(chosen: list[Split], texts: list[str]) -> None:
    splitting = Splitting("tokenizers", tuple(chosen))
    try:
        splitter = PreTokenizer(splitting).splitter
    except PatternError:  # repeats what may be empty
        return
    if splitter is not None:
        assert_split_by_definition(splitting, texts)


@settings(max_examples=40)
@given(patterns, st.lists(words, min_size=20, max_size=20))
def test_random_patterns_of_tiktoken(pattern: str, texts: list[str]) -> None:
    try:
        splitter = pretokenizer(pattern + "|a").splitter
    except PatternError:
        return
    if splitter is not None:
        assert_split_by_definition(Splitting("tiktoken", (Split(pattern + "|a"),)), texts)


SPACED = [
    PreTokenizer(Splitting("tokenizers", (Split(pattern),), prefix_space=0))
    for pattern in (r" ?\w+|\s", r" +|\S+", r"\s+(?!\S)|\s+|\S")
]


@given(words)
def test_a_space_put_before_the_text(text: str) -> None:
    for spaced in SPACED:
        assert spaced.splitter is not None
        assert spaced.split(text) == spaced.split_backtracking(text)
        assert spaced.spans(text) == spaced.spans_backtracking(text)
