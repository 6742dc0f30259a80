"""What is walked over and not looked at twice, and a table that grows while it is walked by."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tokdfa import Dictionary
from tokdfa.tokenizers.formats.contents import Contents, Special, Split, Splitting
from tokdfa.tokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.validation.model import Model
from tokdfa.validation.walk import WalkJudge

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def tokenizer_of(pattern: str) -> Tokenizer:
    rules = [(b"a", b"b"), (b"b", b"a"), (b" ", b"a"), (b" a", b"b")]
    dictionary = Dictionary(rules, bytes(range(256)))
    n = len(dictionary.alphabet)
    contents = Contents(
        format="tiktoken",
        dictionary=dictionary,
        ids=np.arange(n, dtype=np.int32),
        specials=(Special(n, "<e>"),),
        finds_specials=True,
    )
    return Tokenizer(contents, PreTokenizer(Splitting("tiktoken", (Split(pattern),))))


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_what_is_canonical_is_looked_at_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    look_closely = WalkJudge._look_closely

    def counted(judge: WalkJudge, place: int) -> np.ndarray:
        looks.append(place)
        return look_closely(judge, place)

    monkeypatch.setattr(WalkJudge, "_look_closely", counted)
    tokenizer = tokenizer_of(r" ?[ab]+| ?[^\sab]+|\s+(?!\S)|\s+")
    model = Model(tokenizer)
    dice = random.Random(4)
    for _ in range(50):
        ids = tokenizer.encode(
            "".join(dice.choices(["ab", "ba", " a", "  ", "?", "<e>", "b"], k=dice.randrange(1, 40)))
        )
        for spoiled in (False, True):
            if spoiled:
                ids = np.append(ids, np.array([*b"ab"], dtype=np.int32))
            judge = WalkJudge(model)
            violations = [v for i in range(0, len(ids), size) for v in judge.feed(ids[i : i + size])]
            violations += judge.finish()
            assert bool(violations) == bool(looks) == (ids.tolist() != tokenizer.encode(tokenizer.decode(ids)).tolist())
            assert bool(violations) == spoiled
            looks.clear()


def test_what_is_known_of_states_is_kept_when_the_table_grows() -> None:
    # A state for every letter that a run may be of: more states than there is room for at first.
    others = LETTERS[1:] + "a"
    runs = [f"{one}{one}{other}{one}" for one, other in zip(LETTERS, others, strict=True)]
    tokenizer = tokenizer_of("|".join([*runs, "[^z]", "z"]))
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
    for state in seen:
        found = table._states[state]
        assert found is not None
        assert table.is_final(state) == table.lifted.is_final(found)
