"""Validation against its definition: canonical iff encode(decode(ids)) = ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.canonical_by_definition import Definition
from tests.support.dictionaries import proper_dictionaries
from tests.support.tokenizer_files import tokenizer_json
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa import Dictionary
from tokdfa.automata.bpe import tokenize_leftmost
from tokdfa.base.errors import ImproperDictionaryError, TokdfaError, TokenStreamError
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.violation import Violation, ViolationKind
from tokdfa.jobs.validation.violations import Validation
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.encoding.symbols import Merges
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer as pretokenizer_of
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

BYTES = bytes(range(256))
SYMBOLS = "ab \n"
# Understood alike by `re` and by tokdfa on the symbols used here; the second one leaves out what is neither.
PATTERNS = [None, r" ?[ab]+|\s+(?!\S)|\s+|[^ab\s]+", r"[ab]b?|\s*\n|\s+$|\s", r"a|b+| +"]
END, AB, LONG = "<e>", "ab", "<e>a"


@pytest.fixture(scope="module", params=["walk", pytest.param("pieces", marks=pytest.mark.slow)])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    """Check by a walk with many closer looks, or piece by piece only, as is usual only without a table."""
    return Tuning(close_window=4, patience=4, walks=request.param == "walk")


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def first_bad_byte(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


@st.composite
def tokenizers(draw: st.DrawFn) -> tuple[Tokenizer, Definition]:
    rules = [(u.encode(), v.encode()) for u, v in draw(proper_dictionaries(SYMBOLS + "<e>", max_rules=10))]
    pattern = draw(st.sampled_from(PATTERNS))
    specials = draw(st.lists(st.sampled_from([END, AB, LONG, " "]), unique=True))
    tokenizer = tokenizer_of(rules, pattern, specials, draw(st.booleans()))
    return tokenizer, Definition(tokenizer, pattern)


@st.composite
def streams(draw: st.DrawFn, definition: Definition, symbols: str = SYMBOLS + "<e>") -> list[int]:
    """Mostly canonical ids: the ids of a text, some of them replaced by others."""
    text = draw(st.text(symbols, max_size=30))
    ids = definition.encode(text)
    some = st.sampled_from(sorted({*map(ord, symbols), *range(256, definition.tokenizer.n_ids)}))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(ids)))
        ids[place : place + draw(st.integers(0, 2))] = draw(st.lists(some, max_size=2))
    return ids


windows = pytest.mark.parametrize("window", [1, 3, 1 << 15])


@windows
@given(st.data(), tokenizers())
def test_verdict_and_index_are_those_of_the_definition(
    tuning: Tuning, window: int, data: st.DataObject, tokenizer: tuple[Tokenizer, Definition]
) -> None:
    tuning = replace(tuning, window=window)
    loaded, definition = tokenizer
    ids = data.draw(streams(definition))
    canonical = definition.canonical(ids)
    verdict = validate_tuned(loaded, ids, tuning=tuning)
    assert verdict.tokens == len(ids)
    assert bool(verdict) == (ids == canonical)
    if not verdict:
        first = verdict.witness
        assert first is not None
        assert verdict.violations == (first,)
        assert first.index == verdict.index == common_prefix(ids, canonical)
        assert first.byte_offset == len(definition.decode(ids[: first.index]))
        assert first.start <= first.index <= first.detected_at <= len(ids)
        assert list(first.ids) == ids[first.start : first.start + len(first.ids)]
        assert first.reason


@given(st.data(), tokenizers())
def test_chunks_do_not_matter(tuning: Tuning, data: st.DataObject, tokenizer: tuple[Tokenizer, Definition]) -> None:
    loaded, definition = tokenizer
    ids = np.array(data.draw(streams(definition)), dtype=np.int64)
    whole_verdict = validate_tuned(loaded, ids, all=True, tuning=tuning)
    for size in (1, 2, 5):
        chunks = (ids[begin : begin + size] for begin in range(0, len(ids), size))
        assert validate_tuned(loaded, chunks, all=True, tuning=tuning) == whole_verdict
    assert validate_tuned(loaded, iter([ids]), tuning=tuning).violations == whole_verdict.violations[:1]


@windows
@given(st.data(), proper_dictionaries(SYMBOLS, max_rules=10), st.sampled_from(PATTERNS[:3]))
def test_repairing_all_violations_gives_the_canonical_ids(
    tuning: Tuning, window: int, data: st.DataObject, rules: Dictionary, pattern: str | None
) -> None:
    tuning = replace(tuning, window=window)
    tokenizer = tokenizer_of([(u.encode(), v.encode()) for u, v in rules], pattern, [END])
    definition = Definition(tokenizer, pattern)
    ids = data.draw(streams(definition, SYMBOLS))
    repaired: list[int] = []
    place = 0
    for violation in validate_tuned(tokenizer, ids, all=True, tuning=tuning).violations:
        assert violation.canonical_ids is not None
        assert list(violation.ids) == ids[violation.start : violation.start + len(violation.ids)]
        assert definition.decode(violation.ids) == definition.decode(violation.canonical_ids)
        assert violation.index - violation.start == common_prefix(violation.ids, violation.canonical_ids)
        repaired += ids[place : violation.start] + list(violation.canonical_ids)
        place = violation.start + len(violation.ids)
    assert repaired + ids[place:] == definition.canonical(ids)


@windows
@given(st.data(), st.sampled_from(PATTERNS[:2]), st.booleans())
def test_bytes_that_are_not_utf8(
    tuning: Tuning, window: int, data: st.DataObject, pattern: str | None, finds: bool
) -> None:
    tuning = replace(tuning, window=window)
    rules = [(b"\xc3", b"\xa9"), (b"a", b"\xc3"), (b"\xa9", b"b"), (b"a", b"b"), (b" ", b"a"), (b"\xe2", b"\x82")]
    tokenizer = tokenizer_of(rules, pattern, [END], finds)
    definition = Definition(tokenizer, pattern)
    some = sorted({*b"ab \xc3\xa9\xe2\x82\xac\xff", *range(256, tokenizer.n_ids)})
    ids = data.draw(st.lists(st.sampled_from(some), max_size=20))
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    data_of_ids = definition.decode(ids)
    start = first_bad_byte(data_of_ids)
    if start is None:
        assert bool(verdict) == (ids == definition.canonical(ids))
    elif verdict.canonical_ids is None:
        first = next(n for n in range(len(ids)) if len(definition.decode(ids[: n + 1])) > start)
        assert (verdict.index, verdict.byte_offset) == (first, start)
    elif finds or not any(id in definition.content_of for id in ids):
        # An id before is wrong for any replacement of the bad bytes.
        assert verdict.index is not None
        for more in ("", "a", " ", "\n", "é", "€", "<", "!"):
            assert common_prefix(definition.encode(data_of_ids[:start].decode() + more), ids) <= verdict.index


@cache
def improper_ranks() -> Tokenizer:
    # abc is stronger than ab: abcx is abc·x, although no rule list in that order could make abc.
    words = {b"abc": 0, b"ab": 1, b"bc": 2, b"abcbc": 3}
    pairs = [
        (word[:cut], word[cut:], rank)
        for word, rank in words.items()
        for cut in range(1, len(word))
        if all(len(part) == 1 or part in words for part in (word[:cut], word[cut:]))
    ]
    dictionary = Dictionary([pair[:2] for pair in pairs], BYTES)
    assert not dictionary.properness()
    number = dictionary.alphabet.number
    columns = [[number(u), number(v), rank, number(u + v)] for u, v, rank in pairs]
    merges = Merges(*np.array(columns, dtype=np.int32).T.copy())
    return tokenizer_of([pair[:2] for pair in pairs], " |[^ ]+", merges=merges)


@given(st.data())
def test_improper_ranks_are_judged_by_encoding_again(tuning: Tuning, data: st.DataObject) -> None:
    tokenizer = improper_ranks()
    alphabet = tokenizer.dictionary.alphabet
    ids = data.draw(st.lists(st.sampled_from([*b"abc ", *range(256, len(alphabet))]), max_size=12))
    text = b"".join(alphabet[id] for id in ids).decode()
    canonical = tokenizer.encode(text).tolist()
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    assert bool(verdict) == (ids == canonical)
    assert verdict.index == (None if verdict else common_prefix(ids, canonical))
    if not verdict:
        assert "encoded differently" in verdict.reason or "goes past" in verdict.reason


@pytest.mark.parametrize("pattern", [None, "[ab]+| "])
def test_pairs_do_not_decide_where_a_later_rule_brings_a_part_to_life(tuning: Tuning, pattern: str | None) -> None:
    # Algorithm 1 gives baba·bab, for it is past rule 3 when the last rule makes baba.
    rules = [(b"b", b"a"), (b"ba", b"b"), (b"bab", b"a"), (b"baba", b"bab"), (b"ba", b"ba")]
    tokenizer = tokenizer_of(rules, pattern)
    baba, bab, whole_word = map(tokenizer.dictionary.alphabet.number, (b"baba", b"bab", b"bababab"))
    assert validate_tuned(tokenizer, [whole_word], tuning=tuning)
    verdict = validate_tuned(tokenizer, [baba, bab], tuning=tuning)
    assert (verdict.index, verdict.canonical_ids) == (0, (whole_word,))


def test_improper_rules_of_an_unknown_library_are_refused(tuning: Tuning) -> None:
    tokenizer = tokenizer_of([(b"ab", b"a"), (b"a", b"b")], format="merges")
    with pytest.raises(ImproperDictionaryError, match="not proper"):
        validate_tuned(tokenizer, [97], tuning=tuning)


@cache
def with_whole_pieces(pattern: str | None) -> Tokenizer:
    # Merging makes ab·c and never abc or cab, which are tokens all the same.
    ids = np.arange(259, dtype=np.int32)
    return tokenizer_of([(b"a", b"b")], pattern, whole_piece=True, extra=(b"abc", b"cab"), ids=ids)


@given(st.data(), st.sampled_from([None, " |[^ ]+"]))
def test_whole_pieces(tuning: Tuning, data: st.DataObject, pattern: str | None) -> None:
    tokenizer = with_whole_pieces(pattern)
    dictionary = tokenizer.dictionary
    n = len(dictionary.alphabet)
    ids = data.draw(st.lists(st.sampled_from([*b"abc ", n - 1, n, n + 1]), max_size=8))
    words = {id: bytes([id]) for id in b"abc "} | {n - 1: b"ab", n: b"abc", n + 1: b"cab"}
    text = b"".join(map(words.__getitem__, ids)).decode()
    canonical: list[int] = []
    for piece in re.findall(pattern or r"[^\0]+", text):
        if piece in ("abc", "cab"):
            canonical.append(n + (piece == "cab"))
        else:
            canonical += [dictionary.alphabet.number(word) for word in tokenize_leftmost(dictionary, piece.encode())]
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    assert bool(verdict) == (ids == canonical)
    assert verdict.index == (None if verdict else common_prefix(ids, canonical))


def reason_of(tuning: Tuning, tokenizer: Tokenizer, ids: Sequence[int]) -> Violation:
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    assert verdict.witness is not None
    return verdict.witness


def test_reasons_name_the_rule(tuning: Tuning) -> None:
    rules = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc"), (b" ", b"a")]
    tokenizer = tokenizer_of(rules, r" ?[a-z]+|\s+|[<>]+", [END], finds_specials=True)
    number = tokenizer.dictionary.alphabet.number
    a, b, ab, bc, abc, space_a = (number(word) for word in (b"a", b"b", b"ab", b"bc", b"abc", b" a"))
    pair = reason_of(tuning, tokenizer, [ab, a, bc])
    assert (pair.kind, pair.pair, pair.rule, pair.merge) == (ViolationKind.PAIR, (a, bc), 0, (b"a", b"b"))
    assert pair.spellings == ((a, b"a"), (bc, b"bc"))
    assert (pair.index, pair.detected_at, pair.byte_offset, pair.start) == (1, 2, 2, 0)
    assert (pair.ids, pair.canonical_ids) == ((ab, a, bc), (ab, ab, ord("c")))
    assert reason_of(tuning, tokenizer, [ab, abc]).reason == "merging never gives 'abc' (258)"
    crossing = tokenizer_of([(b"a", b" ")], r"[a-z]+|\s+")
    violation = reason_of(tuning, crossing, [ord("b"), 256, ord(" ")])
    assert violation.reason == "'a ' (256) goes past the end of the piece 'ba'"
    assert (violation.index, violation.detected_at, violation.ids) == (1, 1, (ord("b"), 256, ord(" ")))
    assert violation.canonical_ids == tuple(b"ba  ")
    spelled = reason_of(tuning, tokenizer, [space_a, *b"<e>", b])
    assert spelled.reason == f"the text spells the special token '<e>' ({tokenizer.n_ids - 1})"
    assert (spelled.index, spelled.detected_at, spelled.byte_offset) == (1, 3, 2)
    assert spelled.canonical_ids == (space_a, tokenizer.n_ids - 1)
    bad = reason_of(tuning, tokenizer, [a, 0xFF])
    assert bad.reason == "the bytes ff are not UTF-8, so no text has these ids"
    assert (bad.canonical_ids, bad.ids, bad.start) == (None, (0xFF,), 1)
    assert reason_of(tuning, tokenizer, [a, 0xE2, 0x82]).reason.startswith("the bytes e2 82 are not UTF-8")


def test_no_ids_are_canonical(tuning: Tuning) -> None:
    for pattern in PATTERNS:
        verdict = validate_tuned(tokenizer_of([(b"a", b"b")], pattern), [], tuning=tuning)
        assert verdict == Validation(True, None, "the ids are exactly those that their text is encoded as", 0, ())
        assert (verdict.index, verdict.byte_offset, verdict.canonical_ids, verdict.ids) == (None, None, None, None)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_ids_that_no_token_has_are_violations_wherever_they_stand(tuning: Tuning, pattern: str | None) -> None:
    ids = np.arange(300, dtype=np.int32)
    ids[ids >= 256] += 7
    tokenizer = tokenizer_of([(b"a", b"b")], pattern, ids=ids[:257])
    # a and b merge; the ids on both sides of a missing id are checked by themselves.
    for missing in (-1, 999, 258, 2**40):
        for stream in ([97, missing], [97, 98, 97, missing, 98, 97, 98, 97, missing]):
            parts = [[]]
            for id in stream:
                if id == missing:
                    parts.append([])
                else:
                    parts[-1].append(id)
            wanted, at = [], 0
            for part in parts:
                wanted += [at + violation.index for violation in validate(tokenizer, part, all=True).violations]
                wanted += [at + len(part)] * (at + len(part) < len(stream))
                at += len(part) + 1
            sizes = [[stream], [[id] for id in stream], [stream[:5], stream[5:]]]
            for chunks in ([np.array(chunk) for chunk in chunks] for chunks in sizes):
                verdict = validate_tuned(tokenizer, iter(chunks), all=True, tuning=tuning)
                assert [violation.index for violation in verdict.violations] == wanted
                assert validate_tuned(tokenizer, iter(chunks), tuning=tuning).violations == verdict.violations[:1]
                assert verdict.tokens == len(stream)
                for violation in verdict.violations:
                    assert (violation.kind == "id-out-of-range") == (stream[violation.index] == missing)
                    known = [id for id in stream[: violation.index] if id != missing]
                    assert violation.byte_offset == len(tokenizer.decode_bytes(known))
    with pytest.raises(TokenStreamError, match="ids must be integers"):
        validate_tuned(tokenizer, [0.5], tuning=tuning)


@pytest.mark.parametrize("pattern", [None, "gpt2"])
def test_long_streams_are_judged_in_constant_memory(tuning: Tuning, pattern: str | None) -> None:
    tuning = replace(tuning, window=1024, history=128)
    dictionary = tokdfa.default_dictionary()
    split = None if pattern is None else pretokenizer_of(pattern)
    numbers = np.arange(len(dictionary.alphabet), dtype=np.int32)
    tokenizer = Tokenizer(Contents(format="tiktoken", dictionary=dictionary, ids=numbers), split)
    ids = tokenizer.encode("It was the best of times, it was the worst of times;\n\n  1859 and so on … \n" * 20)
    validator = tuned_validator(tokenizer, tuning=tuning)
    kept = []
    for _ in range(60):
        assert list(validator.feed(ids)) == []
        kept.append(validator.n_kept)
    assert list(validator.finish()) == []
    assert validator.tokens == 60 * len(ids) > 20 * tuning.window
    assert max(kept) < 2 * tuning.window


def test_violations_come_as_soon_as_they_are_certain(tuning: Tuning) -> None:
    tuning = replace(tuning, window=8)

    def chunks() -> Iterator[list[int]]:
        yield [*b"a a a a a a a a a a "]
        yield [*b"ab a a a a a a a a a a a a a a a a"]
        pytest.fail("the violation was certain before")

    tokenizer = tokenizer_of([(b"a", b"b")], " |[^ ]+")
    validator = tuned_validator(tokenizer, tuning=tuning)
    assert next(chain.from_iterable(map(validator.iter_feed, chunks()))).index == 20


def test_history_is_bounded(tuning: Tuning) -> None:
    tuning = replace(tuning, window=4, history=2)
    # A b far to the right decides how the text before it is cut.
    rules = [(b"a", b"b"), (b"a", b"ab"), (b"a", b"aab"), (b"a", b"aaab"), (b"a", b"aaaab")]
    tokenizer = tokenizer_of(rules)
    with pytest.raises(TokdfaError, match="begins more than 2 tokens earlier"):
        validate_tuned(tokenizer, [*b"aaaaaaaaaaab"], tuning=tuning)


RULES_WITH_SPACES = [(b"a", b"b"), (b" ", b"a"), (b"b", b"b"), (b" a", b"b")]


@cache
def with_splitting(splitting: Splitting) -> Tokenizer:
    return tokenizer_of(RULES_WITH_SPACES, splitting, [END], finds_specials=True, format="tokenizer.json")


def through_encode(tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    """encode(decode(ids)) by the tokenizer itself, which other tests compare with its library."""
    return tokenizer.encode(tokenizer.decode(ids)).tolist()


@pytest.mark.parametrize(
    "splitting",
    [
        Splitting("tokenizers", (Split(r"[ab]+|\s+"),), prefix_space=0),
        Splitting("tokenizers", (Split(r"\s", "removed"),)),
        Splitting("tiktoken", (Split("[ab]+"),)),
        Splitting("tokenizers", (Split(" ", "merged_with_next"), Split("b+", "contiguous"))),
        Splitting("tokenizers", (Split("b", "merged_with_previous"), Split("a", "isolated", invert=True))),
    ],
    ids=["space put in", "removed", "dropped", "merged with next", "merged with previous"],
)
@given(data=st.data())
def test_splitting_of_every_kind(tuning: Tuning, splitting: Splitting, data: st.DataObject) -> None:
    tokenizer = with_splitting(splitting)
    some = st.sampled_from([*b"ab ", *range(256, tokenizer.n_ids)])
    ids = data.draw(
        st.one_of(st.lists(some, max_size=10), st.text("ab ").map(lambda text: tokenizer.encode(text).tolist()))
    )
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    expected = through_encode(tokenizer, ids)
    assert bool(verdict) == (ids == expected)
    assert verdict.index == (None if verdict else common_prefix(ids, expected))
    assert validate_tuned(tokenizer, ids, all=True, tuning=tuning).violations[:1] == verdict.violations


@cache
def with_suffix() -> Tokenizer:
    words = ["a", "b", "a</w>", "b</w>"]
    dictionary = Dictionary([(("a",), ("b</w>",)), (("b",), ("a</w>",)), (("a",), ("b",))], words)
    numbers = np.arange(len(dictionary.alphabet), dtype=np.int32)
    contents = Contents(format="clip", dictionary=dictionary, ids=numbers, suffix="</w>")
    return Tokenizer(contents, PreTokenizer(Splitting("tokenizers", (Split(r"\s", "removed"),))))


@given(st.data())
def test_words_with_a_suffix(tuning: Tuning, data: st.DataObject) -> None:
    tokenizer = with_suffix()
    ids = data.draw(st.lists(st.integers(0, tokenizer.n_ids - 1), max_size=8))
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    expected = through_encode(tokenizer, ids)
    assert bool(verdict) == (ids == expected)
    assert verdict.index == (None if verdict else common_prefix(ids, expected))


def test_streams_that_are_judged_as_a_whole_have_a_limit(tuning: Tuning) -> None:
    tuning = replace(tuning, max_ids=5)
    tokenizer = with_splitting(Splitting("tiktoken", (Split("[ab]+"),)))
    assert validate_tuned(tokenizer, [*b"aaaa "], tuning=tuning).index == 4
    with pytest.raises(TokdfaError, match="too long to be judged as a whole"):
        validate_tuned(tokenizer, [*b"aaaaa "], tuning=tuning)


def test_a_window_is_refused_in_one_sentence_without_the_pattern() -> None:
    # "ab" is a token that no rule makes, so pairs do not decide; a library takes it for a whole piece.
    pattern = {"type": "Split", "pattern": {"Regex": r"\p{L}+|[^\p{L}]+"}, "behavior": "Isolated", "invert": False}
    plain = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    steps = {"type": "Sequence", "pretokenizers": [pattern, plain]}
    file = tokenizer_json([(b"a", b"b"), (b"c", b"d")], pre_tokenizer=steps)
    file["model"] |= {"ignore_merges": True, "merges": file["model"]["merges"][1:]}
    tokenizer = tokdfa.load(file)
    with pytest.raises(tokdfa.TokdfaError, match="a window cannot be judged for this tokenizer: pairs of") as found:
        tokdfa.validate(tokenizer, tokenizer.encode("ab cd"), window=True)
    assert len(str(found.value)) < 200
    assert "p{L}" not in str(found.value)
