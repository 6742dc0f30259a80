"""The product of the parts of a guide, against its definition in Python: all states and the ids that continue."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.jobs.guiding.prefixes import PrefixAutomaton
from tokdfa.jobs.guiding.prefixes import State as GuideState
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import ALL, NONE, tokens_of
from tokdfa.kernels.guiding import product as kernels
from tokdfa.tokenizers.pretokenizers.token_lift import LiftState, TokenLift, TokenParts

SYMBOLS = ["a", "b", " ", "'", "s", "é", "ê", "中", "丮", "😀"]
LANGUAGES = ["(a|é|中)*b", "[b 's中]{1,3} ?é", "(😀|中|丮| 's)+", "a*(é|ê)"]

# Where pieces may begin, the last id, and the bytes so far of a symbol of the language.
State: TypeAlias = tuple[LiftState, int, int]


def allowed_ids(prefixes: PrefixAutomaton, state: GuideState, limit: int | None = None) -> list[int]:
    """Return the ids of a mask."""
    return np.flatnonzero(np.unpackbits(prefixes.mask(state, limit).view(np.uint8), bitorder="little")).tolist()


class Definition:
    """The states of the product by their meaning, from the pre-tokenizer's own step and the intervals of rows."""

    def __init__(self, tokenizer: tokdfa.Tokenizer, dfa: tokdfa.TokenDFA) -> None:
        self._tokens = tokens_of(tokenizer)
        pretokenizer = tokenizer.pretokenizer
        assert pretokenizer is not None
        self._lifted = TokenLift(pretokenizer.splitting)
        self._dfa = dfa
        self.ids = range(tokenizer.n_ids)
        self._parts: list[TokenParts | None] = [self._lifted.parts(self._tokens.bytes_of(id)) for id in self.ids]
        self.initial: State = (self._lifted.initial, -1, dfa.initial)

    def is_forbidden(self, before: int, id: int) -> bool:
        sets = self._tokens.follow_sets
        if before < 0:
            return False
        row, position = sets.row_of[before], sets.position[id]
        spans = range(sets.pointer[row], sets.pointer[row + 1])
        return any(sets.start[k] <= position < sets.stop[k] for k in spans)

    def step(self, state: State, id: int) -> State | None:
        lifted, before, text = state
        number: int | None = text
        for byte in self._tokens.bytes_of(id):
            number = None if number is None else self._dfa.step(number, byte)
        parts = self._parts[id]
        if number is None or parts is None or not self._tokens.usable[id]:
            return None
        after = self._lifted.step(lifted, parts, not self.is_forbidden(before, id))
        return None if after is None else (after, id, number)

    def is_final(self, state: State) -> bool:
        return self._lifted.is_final(state[0]) and self._dfa.is_final(state[2])


def random_tokenizer(source: random.Random, path: Path, name: str) -> tokdfa.Tokenizer:
    """A tokenizer with tokens that merging gives; some of them begin or end within a symbol."""
    text = "".join(SYMBOLS).encode()
    words = [bytes([byte]) for byte in range(256)]
    inner = sorted({text[at : at + 2] for at in range(len(text) - 1)})
    words += source.sample(inner, 12)
    for _ in range(60):
        left, right = source.choice(words[250:]), source.choice([bytes([byte]) for byte in text])
        if left + right in text * 2 and left + right not in words:
            words.append(left + right)
    path.write_bytes(tiktoken_lines({word: rank for rank, word in enumerate(words)}))
    tokenizer = tokdfa.load(path, pretokenizer=name)
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    return tokenizer if not len(tokenizer.whole_piece_tokens) else random_tokenizer(source, path, name)


@pytest.mark.parametrize("seed", range(4))
def test_places_and_what_goes_on(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    tokenizer = random_tokenizer(source, tmp_path / "small.tiktoken", ["gpt2_tiktoken", "cl100k"][seed % 2])
    language = LANGUAGES[seed]
    dfa = tokdfa.language(language, bytes(range(256)))
    twin = Definition(tokenizer, dfa)
    tokens = tokens_of(tokenizer)
    prefixes = PrefixAutomaton(tokens, texts_of(tokens, language))
    place_of: dict[State, GuideState] = {twin.initial: prefixes.initial}
    moves: dict[State, dict[int, State]] = {}
    for state in (queue := [twin.initial]):  # grows during the loop
        moves[state] = {}
        assert prefixes.is_final(place_of[state]) == twin.is_final(state)
        for id in twin.ids:
            after, target = twin.step(state, id), prefixes.target(place_of[state], id)
            assert (after is None) == (target is None), (state, id)
            if after is not None and target is not None:
                moves[state][id] = after
                if after not in place_of:
                    place_of[after] = target
                    queue.append(after)
                assert place_of[after] == target
    alive = {state for state in queue if twin.is_final(state)}
    while more := {s for s in queue if s not in alive and not alive.isdisjoint(moves[s].values())}:
        alive |= more
    assert 5 < len(alive) <= len(queue)
    fewest = {state: 0 for state in queue if twin.is_final(state)}
    while further := {s for s in queue if s not in fewest and not fewest.keys().isdisjoint(moves[s].values())}:
        fewest |= dict.fromkeys(further, max(fewest.values()) + 1)
    for state in source.sample(queue, len(queue)):
        place = place_of[state]
        for limit in source.sample(range(5), 2):
            assert prefixes.ends_within(place, limit) == (fewest.get(state, 99) <= limit)
            expected = [id for id in twin.ids if fewest.get(moves[state].get(id), 99) < limit]
            assert allowed_ids(prefixes, place, limit) == expected
        if state in alive:
            assert prefixes.least(place) == fewest[state]
        expected = [id for id in twin.ids if moves[state].get(id) in alive]
        assert allowed_ids(prefixes, place) == expected
        assert prefixes.goes_on(place) == (state in alive)
        ids = np.array(twin.ids, dtype=np.int32)
        free, cut, spelled, text = prefixes.targets(place, ids)
        for row, split in ((NONE, free), (ALL, cut)):
            for id in source.sample(twin.ids, 20):
                target = prefixes.target(place._replace(row=row), id)
                found = GuideState(int(split[id]), int(tokens.follow_sets.row_of[id]), int(spelled[id]), int(text[id]))
                assert target == found if target is not None else not (found.split and found.text)
        for id in source.sample(twin.ids, 20):
            assert (prefixes.step(place, id) is not None) == (id in expected)


def test_rooms_that_are_too_small_are_enlarged(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    tokens = tokens_of(tokenizer)
    expected = PrefixAutomaton(tokens, texts_of(tokens, "[^x]{1,9}"))
    small = PrefixAutomaton(tokens, texts_of(tokens, "[^x]{1,9}"))
    kernels.resize_slots(small._cache, 2, keep=False)
    kernels.resize_search(small._cache, 1)
    assert allowed_ids(small, small.initial) == allowed_ids(expected, expected.initial)
    assert len(small._cache.fields["values"]) > 2


def test_numbers_out_of_range_are_no_places() -> None:
    tokenizer = tokdfa.default_tokenizer()
    guide = tokenizer.guide("a*")
    for name, value in [("split", 0), ("split", 1 << 30), ("row", -1), ("row", 1 << 30), ("spelled", 99), ("text", 7)]:
        state = guide.initial._replace(**{name: value})
        with pytest.raises(tokdfa.base.errors.WrongTypeError, match=r"^the guide has no such state: "):
            guide.step(state, 64)
        with pytest.raises(tokdfa.base.errors.WrongTypeError, match=r"^the guide has no such state: "):
            guide.mask(state)
        with pytest.raises(tokdfa.base.errors.WrongTypeError, match=r"^the guide has no such state: "):
            guide.is_final(state)


@pytest.mark.parametrize("state", [None, 3, "abcd", (1, 2, 3), (1, 2, 3, "a"), (1.5, 0, 0, 1), (1 << 40, 0, 0, 1)])
def test_other_values_are_no_places(state: object) -> None:
    tokenizer = tokdfa.default_tokenizer()
    guide = tokenizer.guide("a*")
    for question in (guide.is_final, guide.mask, guide.is_exhausted, lambda state: guide.step(state, 64)):
        with pytest.raises(tokdfa.base.errors.WrongTypeError, match=r"^the guide has no such state: "):
            question(state)  # type: ignore[operator]
    for question in (guide.is_final, guide.mask):
        with pytest.raises(tokdfa.base.errors.WrongTypeError, match=r"^the guide has no such state: "):
            question([*guide.initial])  # type: ignore[operator]


def test_a_core_that_is_not_found_yet_is_no_place() -> None:
    tokenizer = tokdfa.default_tokenizer()
    guide = tokenizer.guide("a*")
    splits = tokens_of(tokenizer).splits
    state = guide.initial._replace(split=splits.n_states)
    assert splits.n_states < len(splits.struct.fields["final"]) * (splits.n_states // len(splits._cores))
    with pytest.raises(tokdfa.base.errors.WrongTypeError, match=r"^the guide has no such state: "):
        guide.step(state, 64)


def test_a_state_kept_as_a_plain_tuple_is_one() -> None:
    guide = tokdfa.default_tokenizer().guide("a*")
    state = tuple(guide.initial)
    assert guide.is_final(state)
    assert guide.step(state, 64) == guide.step(guide.initial, 64)
    assert guide.mask(state).tolist() == guide.mask(guide.initial).tolist()
