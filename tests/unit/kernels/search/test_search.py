"""Searching in chunks, with any knowledge of the tokens, against trying every segment of the text."""

from __future__ import annotations

import re
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.searching import words_with_cuts
from tests.support.streams import Vocabulary
from tokdfa.jobs.searching.plan import SearchPlan, Words
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search import search as kernels
from tokdfa.regex.finder import Wanted, finder

PATTERNS = [
    "a",
    "ab",
    "a b",
    "b+",
    "a[ab]*b",
    "[ab]+|é+",
    "(?:ab)+",
    " ?b",
    "é",
    "[^a]b",
    "a{2,3}",
    "(?:a| )+é",
    "a*b",
    " *é",
]
WORDS = st.lists(st.lists(st.sampled_from(["a", "b", " ", "é"]), min_size=1, max_size=4).map("".join), min_size=1)

Match = tuple[int, int, int, int]


def texts_of(words: list[tuple[bytes, bool]], ids: list[int]) -> list[tuple[int, bytes]]:
    """The stretches between special tokens, and where each begins."""
    position, begin, text, found = 0, 0, b"", []
    for number in ids:
        word, cut = words[number]
        position += len(word)
        text = text if cut else text + word
        if cut:
            found.append((begin, text))
            begin, text = position, b""
    return [*found, (begin, text)]


def spans(pattern: re.Pattern[str], texts: list[tuple[int, bytes]], *, wants_all: bool) -> list[tuple[int, int]]:
    """The expected matches: leftmost, longest and without overlaps, or all in order of their ends.

    Every segment is tried that begins and ends at a character.
    """
    found = []
    for begin, text in texts:
        read = text.decode("utf-8", "surrogateescape")
        bounds = list(accumulate((len(c.encode("utf-8", "surrogateescape")) for c in read), initial=0))
        n = len(read)
        broken = [0xDC80 <= ord(character) <= 0xDCFF for character in read]
        every = [
            (bounds[i], bounds[j])
            for j in range(n + 1)
            for i in range(j)
            if not any(broken[i:j]) and pattern.fullmatch(read, i, j)
        ]
        every = every if wants_all else sorted(every, key=lambda span: (span[0], -span[1]))
        end = 0
        for i, j in every:
            if wants_all or i >= end:
                found.append((begin + i, begin + j))
                end = j
    return found


def with_tokens(span: tuple[int, int], sizes: list[int]) -> Match:
    """A span, and the tokens that it has bytes of."""
    start, end = span
    ends = list(accumulate(sizes))
    first = next(token for token, stop in enumerate(ends) if stop > start)
    return start, end, first, next(token for token, stop in enumerate(ends) if stop >= end) + 1


def all_moves(machine: SearchPlan) -> list[Struct]:
    """All that may be known of tokens."""
    text, forward, back = machine.words.text, machine.forward, machine.backward
    moves = [kernels.NO_MOVES, kernels.moves_by_class(text, forward, *kernels.token_effects(text, forward, 5000), None)]
    if not machine.wants_all:
        moves.append(kernels.moves_by_class(text, forward, *kernels.token_effects(text, forward, 5000), back))
        moves.append(kernels.accelerated_moves(text, forward, back))
    return [Struct("tokdfa_machine", text=text, forward=forward, backward=back, moves=known) for known in moves]


def matches_of(
    machine: SearchPlan, known: Struct, ids: list[int], chunks: list[int], n_lines: int | None = None
) -> list[Match]:
    """Search ids that come in ever longer chunks, all of them kept, with `n_lines` lines of the cache if given."""
    search = machine.begin()
    find = search.all if machine.wants_all else search.leftmost
    if n_lines is not None:
        assert not next(iter(find(known, np.empty(0, dtype=np.int32), 0))).size
        assert search.at.n_cache > 8 * n_lines
        search.at.n_cache = 8 * n_lines
    found = []
    for stop in [*(stop for stop in chunks if stop < len(ids)), len(ids)]:
        options = kernels.FINAL if stop == len(ids) else 0
        for block in find(known, np.array(ids[:stop], dtype=np.int32), options):
            found += [tuple(row) for row in block.reshape(-1, 4).tolist()]
    if n_lines is None:
        machine.end(search)
    return found


def matches_in_copy(
    machine: SearchPlan, known: Struct, ids: list[int], done: int, step: int, room: int, longest: int = 0
) -> tuple[list[Match], int]:
    """Search ids that are copied meanwhile, after the first ones, to where there is little room.

    Returns the matches, and how often more room was needed.
    """
    search = machine.begin()
    source, own = np.array(ids, dtype=np.int32), np.full(max(room, done, 1), -1, dtype=np.int32)
    own[:done] = source[:done]
    copying = kernels.Copying(source, limit=9999, filled=done, done=done, step=step, longest=longest)
    found, grown = [], 0
    while True:
        for block in search.leftmost_in_copy(known, copying, own, kernels.FINAL):
            found += [tuple(row) for row in block.reshape(-1, 4).tolist()]
        filled, first = copying.pointer.filled, search.at.first
        assert own[:filled].tolist() == ids[first : first + filled]
        if not search.at.more:
            break
        own = np.concatenate((own, np.full_like(own, -1)))
        grown += 1
    assert copying.pointer.done == len(ids)
    machine.end(search)
    return found, grown


@pytest.mark.parametrize("wanted", ["longest", "all"])
@given(
    st.one_of(st.sampled_from(PATTERNS), WORDS),
    words_with_cuts().filter(lambda words: any(word for word, _ in words)),
    st.data(),
)
def test_by_definition(
    wanted: Wanted, what: str | list[str], words: list[tuple[bytes, bool]], data: st.DataObject
) -> None:
    # A token without text is never the first or the last one of a match.
    ids = data.draw(st.lists(st.sampled_from([i for i, (word, _) in enumerate(words) if word]), max_size=30))
    vocabulary = Vocabulary([word for word, _ in words], [i for i, (_, cut) in enumerate(words) if cut])
    spelled = what if isinstance(what, str) else "|".join(map(re.escape, what))
    pattern = re.compile(spelled)
    wants_all = wanted == "all"
    found = finder(what, wanted)
    machine = SearchPlan(found, Words.of(vocabulary), wants_all=wants_all, aligned=False)
    sizes = [len(words[i][0]) for i in ids]
    expected = [with_tokens(span, sizes) for span in spans(pattern, texts_of(words, ids), wants_all=wants_all)]
    chunks = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=3)))
    for known in all_moves(machine):
        assert matches_of(machine, known, ids, chunks) == expected
        if known.pointer.moves.n_runs:
            assert matches_of(machine, known, ids, chunks, n_lines=1) == expected
        if not wants_all:
            done, step = data.draw(st.integers(0, len(ids))), data.draw(st.integers(1, 5))
            assert matches_in_copy(machine, known, ids, done, step, len(ids)) == (expected, 0)
            room = data.draw(st.integers(1, 9))
            assert matches_in_copy(machine, known, ids, 0, step, room, found.longest)[0] == expected


@pytest.mark.parametrize("n_lines", [None, 1, 8])
@pytest.mark.parametrize("seed", range(4))
def test_many_pairs_are_remembered(seed: int, n_lines: int | None) -> None:
    """They are told apart, whether each has room or pairs that came before must make some."""
    dice = np.random.default_rng(seed)

    def strings(n: int, longest: int) -> list[str]:
        return sorted({"".join(dice.choice([*"abc"], size)) for size in dice.integers(1, longest + 1, n)})

    tokens, words = strings(200, 5), [word for word in strings(100, 9) if len(word) > 4]
    vocabulary = Vocabulary([token.encode() for token in tokens])
    machine = SearchPlan(finder(words, "longest"), Words.of(vocabulary), wants_all=False, aligned=False)
    ids = dice.integers(0, len(tokens), 6000).tolist()
    expected = matches_of(machine, machine.bytewise, ids, [])
    assert len(expected) > 500
    known = all_moves(machine)[-1]
    assert known.pointer.moves.n_runs
    # The entries cached in the first half are used in the other one.
    assert matches_of(machine, known, ids, [len(ids) // 2], n_lines) == expected


@pytest.mark.parametrize("n_ids", [63, 64, 65, 128, 191, 1023, 1024, 1025, 2200])
@pytest.mark.parametrize("often", [0, 0.1, 1])
def test_tokens_of_all_lengths_are_looked_over(n_ids: int, often: float) -> None:
    """Blocks are scanned a word of 64 tokens at a time; few, some or all of the tokens may be active."""
    dice = np.random.default_rng(n_ids)
    quiet = [b"", b"x", b"yy", b"z" * 7, b"x" * 255, b"y" * 300, b"z" * 70000, b"<cut>"]
    active = [b"a", b"b", b"ab", b"xa", b"bab", b"cx", b"c", b"y" * 300 + b"a"]
    vocabulary = Vocabulary(quiet + active, [len(quiet) - 1])
    machine = SearchPlan(
        finder(["ab", "bca", "abcab"], "longest"), Words.of(vocabulary), wants_all=False, aligned=False
    )
    known = all_moves(machine)[-1]
    assert known.pointer.moves.n_runs
    chosen = dice.random(n_ids) < often
    ids = np.where(
        chosen, dice.integers(len(quiet), len(quiet) + len(active), n_ids), dice.integers(0, len(quiet), n_ids)
    )
    ids[n_ids // 2] = len(quiet) + 2  # a match; its position depends on the lengths of all tokens before
    expected = matches_of(machine, machine.bytewise, ids.tolist(), [])
    assert expected
    for chunks in ([], [n_ids // 3], [n_ids - 64, n_ids - 1]):
        assert matches_of(machine, known, ids.tolist(), [stop for stop in chunks if stop > 0]) == expected


@pytest.mark.parametrize("wrong", [-1, 2, -(1 << 31), (1 << 31) - 1])
def test_copying_ends_before_what_is_not_an_id(wrong: int) -> None:
    machine = SearchPlan(finder("ab", "longest"), Words.of(Vocabulary([b"a", b"b"])), wants_all=False, aligned=False)
    source = np.array([0, 1, 0, 1, 0, wrong, 1], dtype=np.int32)
    for step, n_copied, n_found in ((1, 5, 2), (2, 4, 2), (4, 4, 2), (7, 0, 0)):
        for known in all_moves(machine):
            search, own = machine.begin(), np.zeros_like(source)
            copying = kernels.Copying(source, limit=2, step=step)
            found = [*search.leftmost_in_copy(known, copying, own, kernels.FINAL)]
            assert copying.pointer.done == copying.pointer.filled == n_copied
            assert sum(map(len, found)) == 4 * n_found
            assert not search.at.more
    for done, step in ((8, 1), (-1, 1), (0, 0)):
        with pytest.raises(TypeError, match=r"^these are not places in the ids$"):
            kernels.Copying(source, limit=2, done=done, step=step)
    for filled, room in ((8, own), (-1, own), (0, own[:0])):
        copying = kernels.Copying(source, limit=2, filled=filled, step=1)
        with pytest.raises(TypeError, match=r"^there is no room for ids$"):
            next(search.leftmost_in_copy(known, copying, room, kernels.FINAL))


@pytest.mark.parametrize(("pattern", "n_grown"), [("ab", 0), ("a[ab]{9}b", 0), ("a[ab]*c", 6)])
def test_ids_are_kept_as_long_as_a_match_may_need_them(pattern: str, n_grown: int) -> None:
    """The room for them does not grow with the stream, unless a match does."""
    words = Words.of(Vocabulary([b"a", b"b", b"c"]))
    machine = SearchPlan(finder(pattern, "longest"), words, wants_all=False, aligned=False)
    ids = np.random.default_rng(0).integers(0, 2, 2500).tolist()
    for known in all_moves(machine):
        expected = matches_of(machine, known, ids, [])
        found, grown = matches_in_copy(machine, known, ids, 0, 8, 64, machine.finder.longest)
        assert found == expected
        assert grown == n_grown


def test_there_is_no_room_for_all_matches_at_once() -> None:
    n = 3000
    vocabulary = Vocabulary([b"a"])
    machine = SearchPlan(finder("a+", "all"), Words.of(vocabulary), wants_all=True, aligned=False)
    for known in all_moves(machine):
        search = machine.begin()
        rows = np.concatenate(list(search.all(known, np.zeros(n, dtype=np.int32), kernels.FINAL))).reshape(-1, 4)
        assert len(rows) == n * (n + 1) // 2
        ends = np.repeat(np.arange(1, n + 1), np.arange(1, n + 1))
        assert (rows[:, 1] == ends).all()
        assert (rows[:, 0] == np.arange(len(rows)) - ends * (ends - 1) // 2).all()


@pytest.mark.parametrize("n", [4096 * 16 + 5, 3])
def test_there_is_no_room_for_the_leftmost_matches(n: int) -> None:
    vocabulary = Vocabulary([b"ab", b"b"])
    machine = SearchPlan(finder(["ab"], "longest"), Words.of(vocabulary), wants_all=False, aligned=False)
    ids = np.tile(np.array([0, 1], dtype=np.int32), n)
    for known in all_moves(machine):
        search = machine.begin()
        rows = np.concatenate(list(search.leftmost(known, ids, kernels.FINAL))).reshape(-1, 4)
        assert rows[:, 0].tolist() == [3 * i for i in range(n)]
        assert rows[:, 2].tolist() == [2 * i for i in range(n)]
        copying = kernels.Copying(ids, limit=2, step=4096)
        copied = machine.begin().leftmost_in_copy(known, copying, np.empty_like(ids), kernels.FINAL)
        assert (np.concatenate(list(copied)).reshape(-1, 4) == rows).all()


@pytest.mark.parametrize("wanted", ["longest", "all"])
def test_positions_beyond_two_to_the_32(wanted: Wanted) -> None:
    """Long tokens are passed over without reading them, so that five gigabytes take no time."""
    vocabulary = Vocabulary([b"x" * 32_000, b"a", b"b", b"xab"])
    machine = SearchPlan(finder("ab", wanted), Words.of(vocabulary), wants_all=wanted == "all", aligned=False)
    n = (1 << 32) // 32_000 + 1
    ids = np.array([0] * n + [1, 2] + [0] * 20_000 + [3, 1, 2, 0], dtype=np.int32)
    first, second = 32_000 * n, 32_000 * (n + 20_000) + 2
    assert first > 1 << 32
    expected = [
        (first, first + 2, n, n + 2),
        (second + 1, second + 3, n + 20_002, n + 20_003),
        (second + 3, second + 5, n + 20_003, n + 20_005),
    ]
    known_moves = all_moves(machine)[1:]
    assert known_moves
    for known in known_moves:
        # Also in two parts; the last one begins beyond.
        assert matches_of(machine, known, ids.tolist(), []) == expected
        search = machine.begin()
        find = search.all if wanted == "all" else search.leftmost
        found = []
        for options, chunk in ((0, ids[: n + 1]), (kernels.FINAL, ids)):
            for block in find(known, chunk, options):
                found += [tuple(row) for row in block.reshape(-1, 4).tolist()]
        machine.end(search)
        assert found == expected
