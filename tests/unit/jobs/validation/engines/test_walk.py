"""Walks look at canonical ids once, also in a table that grows during the walk."""

from __future__ import annotations

import random
import sys
from collections import Counter

import numpy as np
import pytest

from tests.support.byte_tokenizers import tokenizer_of
from tokdfa.jobs.validation.engines.reencoding import TextComparison
from tokdfa.jobs.validation.engines.walk import PairWalk
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.table import Table
from tokdfa.jobs.validation.window import DEFAULT
from tokdfa.kernels.walk.walk import LOOK, UNKNOWN
from tokdfa.tokenizers.tokenizer import Tokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"


RULES = [(b"a", b"b"), (b"b", b"a"), (b" ", b"a"), (b" a", b"b")]


def in_pieces(pattern: str, special: str = "<e>") -> Tokenizer:
    return tokenizer_of(RULES, pattern, [special], finds_specials=True)


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_what_is_canonical_is_looked_at_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    look_closely = PairWalk._look_closely

    def counted(judge: PairWalk, place: int) -> np.ndarray:
        looks.append(place)
        return look_closely(judge, place)

    monkeypatch.setattr(PairWalk, "_look_closely", counted)
    tokenizer = in_pieces(r" ?[ab]+| ?[^\sab]+|\s+(?!\S)|\s+")
    model = Model(tokenizer)
    dice = random.Random(4)
    for _ in range(50):
        ids = tokenizer.encode(
            "".join(dice.choices(["ab", "ba", " a", "  ", "?", "<e>", "b"], k=dice.randrange(1, 40)))
        )
        for spoiled in (False, True):
            if spoiled:
                ids = np.append(ids, np.array([*b"ab"], dtype=np.int32))
            judge = PairWalk(model)
            violations = [v for i in range(0, len(ids), size) for v in judge.feed(ids[i : i + size])]
            violations += judge.finish()
            assert bool(violations) == bool(looks) == (ids.tolist() != tokenizer.encode(tokenizer.decode(ids)).tolist())
            assert bool(violations) == spoiled
            looks.clear()


@pytest.mark.parametrize("size", [1, 7, 700, 100_000])
def test_where_what_is_wrong_is_in_a_long_stream(size: int) -> None:
    tokenizer = in_pieces(r" ?[ab]+|[^\sab]+|\s+")
    dice = random.Random(8)
    ids: list[int] = []
    for number in range(12):
        ids += tokenizer.encode(
            "".join(dice.choices([" ab", " a", "é", "  ", "?"], k=dice.randrange(400, 1_200))) + "?"
        ).tolist()
        # Of some pieces more is kept than otherwise.
        ids += tokenizer.encode("ab" * (0, 300, 2_500)[number % 3]).tolist()
        ids += [ord("?"), *b"ab", ord("?")] if number % 2 else [*b"ab", ord("?")]
    stream = np.array(ids, dtype=np.int32)
    model = Model(tokenizer)
    closely = TextComparison(tokenizer.round_trip, 5, 11, pieces=model)
    expected = [*closely.feed(stream, sys.maxsize), *closely.finish()]
    judge = PairWalk(model, first=5, byte=11)
    violations = [v for i in range(0, len(stream), size) for v in judge.feed(stream[i : i + size])]
    violations += judge.finish()
    assert violations == expected
    assert len(violations) == 12
    for violation in violations:
        assert violation.byte_offset == 11 + len(tokenizer.decode_bytes(stream[: violation.index - 5]))
        assert violation.ids == tuple(ids[violation.start - 5 : violation.start - 5 + len(violation.ids)])


@pytest.mark.parametrize("size", [1, 10_000])
def test_what_begins_a_special_token_is_not_forgotten(size: int) -> None:
    # It is cut at many offsets. At each of them the ids before it may be forgotten; its last byte decides.
    special = "<a a a a a a a a a a e>"
    tokenizer = in_pieces(r" ?[ab]+|[^\sab]+|\s+", special)
    model = Model(tokenizer)
    spelled = tokenizer.encode(special[:-1]).tolist()
    filler = tokenizer.encode("ab? " * DEFAULT.patience).tolist()
    for n_read in range(1, len(spelled) + 1):
        # When this number of ids have been walked over, some of them are forgotten for the first time.
        before = filler[n_read - DEFAULT.patience :]
        stream = np.array([*before, *spelled, ord(">"), *tokenizer.encode(" ab")], dtype=np.int32)
        judge = PairWalk(model)
        for begin in range(0, DEFAULT.patience, size):
            assert not list(judge.feed(stream[begin : min(begin + size, DEFAULT.patience)]))
        assert judge.n_kept < 100
        (violation,) = [*judge.feed(stream[DEFAULT.patience :]), *judge.finish()]
        assert (violation.index, violation.byte_offset) == (len(before), len(tokenizer.decode_bytes(before)))
        assert violation.canonical_ids is not None
        assert tokenizer.special_ids[0] in violation.canonical_ids


@pytest.mark.parametrize("place", [0, 1, 500, 1_023, 1_024, 3_000, 4_999])
def test_special_tokens_are_found_where_no_pair_is_tested(place: int) -> None:
    # Each symbol is a piece, so nothing but the special token is looked at.
    tokenizer = in_pieces(r"[\s\S]")
    filler = tokenizer.encode("a?b " * 1_250).tolist()
    judge = PairWalk(Model(tokenizer))
    stream = np.array([*filler[:place], *b"<e>", *filler[place:]], dtype=np.int32)
    (violation,) = [*judge.feed(stream), *judge.finish()]
    assert violation.index == place
    assert violation.canonical_ids is not None
    assert violation.canonical_ids[-1] == tokenizer.special_ids[0]


def runs() -> list[str]:
    """Return a run for every letter: as a pattern they have more states than there is room for at first."""
    others = LETTERS[1:] + "a"
    return [f"{one}{one}{other}{one}" for one, other in zip(LETTERS, others, strict=True)]


@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_a_walk_goes_on_in_the_table_that_grows_under_it(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    learned: set[tuple[int, int]] = set()
    learn = Table.learn

    def learn_once(table: Table, number: int, id: int) -> None:
        entry = (number, int(table._class_of_id[id]))
        assert entry not in learned
        learned.add(entry)
        learn(table, number, id)

    def look_closely(judge: PairWalk, place: int) -> np.ndarray:
        raise AssertionError(place)

    monkeypatch.setattr(Table, "learn", learn_once)
    monkeypatch.setattr(PairWalk, "_look_closely", look_closely)
    tokenizer = in_pieces("|".join([*runs(), "[^z]", "z"]))
    model = Model(tokenizer)
    assert model.table is not None
    rows = len(model.table._is_final)
    # Every state on the way to a run, and from there every letter.
    beginnings = [run[:length] for run in runs() for length in range(len(run) + 1)]
    ids = tokenizer.encode("".join(beginning + letter for beginning in beginnings for letter in LETTERS))
    judge = PairWalk(model)
    for begin in range(0, len(ids), size):
        assert not list(judge.feed(ids[begin : begin + size]))
    assert not list(judge.finish())
    assert len({number for number, _ in learned}) > rows
    assert len(model.table._is_final) > rows


def test_what_is_known_of_states_is_kept_when_the_table_grows() -> None:
    tokenizer = in_pieces("|".join([*runs(), "[^z]", "z"]))
    table = Model(tokenizer).table
    assert table is not None
    rows = len(table._is_final)
    ids = {letter: ord(letter) for letter in LETTERS}
    known: dict[int, tuple[int, ...]] = {}
    waiting, seen = [table.initial], {table.initial}
    while waiting:
        state = waiting.pop(0)
        for id in ids.values():
            table.learn(state, id)
            entry = state * table.width + int(table._class_of_id[id])
            known[entry] = (int(table._allowed[entry]), int(table._other[entry]))
            for following in known[entry]:
                target = (following >> 2) // table.width
                if target and target not in seen:
                    seen.add(target)
                    waiting.append(target)
    assert len(seen) > rows
    assert len(table._is_final) > rows
    for entry, expected in known.items():
        assert (int(table._allowed[entry]), int(table._other[entry])) == expected
    # Row 0 and column 0 stand for nothing; all other entries are worked out when a walk gets there.
    for entries in (table._allowed, table._other):
        blank = np.delete(entries, [*range(table.width), *known]).tolist()
        of_nothing = len(table._is_final) - 1
        assert Counter(blank) == {LOOK: of_nothing, UNKNOWN | LOOK: len(blank) - of_nothing}
        assert {*entries.reshape(-1, table.width)[:, 0].tolist()} == {LOOK}
    assert {*table._other[: table.width].tolist()} == {LOOK}
    # Where nothing canonical continues, a walk that guesses continues as from the beginning of a text.
    for column in range(1, table.width):
        begins = int(table._allowed[table.initial * table.width + column])
        assert int(table._allowed[column]) == (
            LOOK if begins & UNKNOWN and not begins >> 2 else begins >> 2 << 2 | LOOK
        )
    for state in seen:
        found = table._states[state]
        assert found is not None
        assert table.is_final(state) == table.token_lift.is_final(found)
