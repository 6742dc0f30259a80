"""With a number of ids left, masks have exactly the ids after which some stream ends in time."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.guided import (
    Guided,
    continuations,
    guided,
    guided_in_form,
    guided_over_characters,
    guided_with_runs,
    some_languages,
)
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.guiding.prefixes import PrefixAutomaton
from tokdfa.kernels.guiding import product as kernels

TOKENIZER = tokdfa.default_tokenizer()
Streams = set[tuple[int, ...]]


def check_budgets(guide: tokdfa.Guide, streams: Streams, source: random.Random) -> int:
    """Compare masks, least numbers and shortest ends with all streams; return how many masks are narrower."""
    nexts = continuations(streams)
    longest = max(map(len, streams))
    states = {(): guide.initial}
    narrower = 0
    for prefix in nexts:
        if prefix:
            state = guide.step(states[prefix[:-1]], prefix[-1])
            assert state is not None
            states[prefix] = state
        state = states[prefix]
        ends = {stream[len(prefix) :] for stream in streams if stream[: len(prefix)] == prefix}
        least = min(map(len, ends))
        # In any order: what is known with one number must not change what is found with another.
        for left in source.sample(range(longest + 3), 4):
            expected = {end[0] for end in ends if end and len(end) <= left}
            assert set(guide.allowed(state, remaining=left).tolist()) == expected, (prefix, left)
            assert guide.ends_within(state, left) == (least <= left)
            narrower += expected < nexts[prefix]
        assert guide.least(state) == least
        assert tuple(guide.shortest(state).tolist()) == min(end for end in ends if len(end) == least)
    return narrower


@pytest.mark.parametrize(
    ("make", "seed"),
    [
        *((guided, seed) for seed in range(8)),
        (guided_in_form, 0),
        *((guided_over_characters, seed) for seed in range(5)),
        *((guided_with_runs, seed) for seed in range(2)),
    ],
)
def test_masks_with_a_budget_are_those_of_all_streams_in_time(
    make: Callable[[int, Path], Guided], seed: int, tmp_path: Path
) -> None:
    made, source = make(seed, tmp_path), random.Random(seed)
    narrower = 0
    for language, texts in some_languages(source, made.symbols)[::2]:
        streams = {tuple(made.encode(text)) for text in texts if made.keeps(text)}
        narrower += check_budgets(tokdfa.guide(made.tokenizer, language), streams, source)
        prompt = made.prompt(source)
        wholes = [made.tokenizer.decode(prompt) + text for text in texts]
        after = [made.encode(whole) for whole in wholes if made.keeps(whole)]
        guide = tokdfa.guide(made.tokenizer, language, prompt=prompt, heal=True)
        narrower += check_budgets(guide, {tuple(stream[len(guide.kept) :]) for stream in after}, source)
    assert narrower > 30


@pytest.mark.parametrize("seed", range(4))
def test_bans_and_budgets_together(seed: int, tmp_path: Path) -> None:
    tokenizer, encode, symbols, *_ = guided(2 * seed, tmp_path)
    source = random.Random(seed)
    language, texts = some_languages(source, symbols)[0]
    banned = source.choice(symbols)
    left = {tuple(encode(text)) for text in texts if banned not in text}
    guide = tokdfa.guide(tokenizer, language, ban=tokdfa.ban(tokenizer, [banned]))
    assert check_budgets(guide, left, source) > 10


@pytest.mark.parametrize("most", [1, 2])
def test_budgets_where_too_many_ids_are_late_to_note_them_all(
    most: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(PrefixAutomaton, "_most_late", most)
    tokenizer, encode, symbols, keeps, _ = guided(most, tmp_path)
    source = random.Random(most)
    narrower, floors = 0, set()
    for language, texts in some_languages(source, symbols):
        guide = tokdfa.guide(tokenizer, language)
        narrower += check_budgets(guide, {tuple(encode(text)) for text in texts if keeps(text)}, source)
        floors |= {base.floor for key, base in guide._prefixes._bases.items() if len(key) == 3}
    assert narrower > 50
    assert max(floors) > 0


@pytest.mark.parametrize("make", [guided, guided_over_characters])
def test_budgets_where_little_is_kept(
    make: Callable[[int, Path], Guided], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("N_VERDICT_SETS", "MOST_WAYS", "MOST_FORBIDDING"):
        monkeypatch.setattr(kernels, name, 1)
    made, source = make(3, tmp_path), random.Random(3)
    narrower = 0
    for language, texts in some_languages(source, made.symbols):
        streams = {tuple(made.encode(text)) for text in texts if made.keeps(text)}
        narrower += check_budgets(tokdfa.guide(made.tokenizer, language), streams, source)
    assert narrower > 30


@pytest.mark.parametrize("text", ["", "a man", "é ", "\n"])
def test_the_last_id_begins_no_character_that_another_must_complete(text: str) -> None:
    guide, ids = TOKENIZER.guide(), TOKENIZER.encode(text).tolist()
    canonical = set()
    for id in range(TOKENIZER.n_ids):
        with contextlib.suppress(UnicodeDecodeError):
            whole = TOKENIZER.decode_bytes([*ids, id]).decode()
            canonical |= {id} if TOKENIZER.encode(whole).tolist() == [*ids, id] else set()
    assert {*guide.allowed(guide.read(ids), remaining=1).tolist()} == canonical
    assert len(canonical) < guide.allowed(guide.read(ids)).size


PATTERNS = [r'"[^"\\]*"', r"(a|an|the)( [a-z]+){2,}\.", r"\{ ?\}|\[(é|1|'s| )*\]\n", "[a-z]{40}"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_whoever_follows_the_masks_ends_in_time(pattern: str) -> None:
    source = random.Random(pattern)
    guide = TOKENIZER.guide(pattern, end=TOKENIZER.n_ids, vocab_size=TOKENIZER.n_ids + 1)
    least = guide.least(guide.initial)
    assert not guide.allowed(guide.initial, remaining=least - 1).size
    for extra in range(12):
        matcher = tokdfa.Matcher(guide, remaining=least + extra)
        ids = []
        while not matcher.is_terminated():
            bitmask = np.zeros((1, (guide.vocab_size + 31) // 32), dtype=np.int32)
            matcher.fill_bitmask(bitmask)
            allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little"))
            ids.append(int(source.choice(allowed)))
            assert matcher.accept_tokens([ids[-1]])
        assert len(ids) - 1 <= least + extra
        assert TOKENIZER.encode(TOKENIZER.decode(ids[:-1])).tolist() == ids[:-1]


@pytest.mark.parametrize("remaining", range(1, 5))
def test_without_ids_of_end_a_sequence_has_ended_where_its_mask_is_empty(remaining: int) -> None:
    matcher = tokdfa.Matcher(TOKENIZER.guide("[a-z]{1,3}( [a-z]+)*"), remaining=remaining)
    while not matcher.is_terminated():
        allowed = matcher.guide.allowed(matcher.state, remaining=matcher.remaining)
        assert matcher.accept_tokens(allowed[:1].tolist())
    assert matcher.guide.is_final(matcher.state)
    assert matcher.n_accepted == remaining


@pytest.mark.parametrize(
    "pattern",
    [r'"[^"]*"(, ?"[^"]*")? ?\}', r"( ?[a-zé]{1,9}[.,]?){1,5}!?", r"[^ ]{2,}( [^ ]+){1,2}", r"[a-z]+(s|ed|ing|er)"],
)
def test_masks_of_many_last_ids_are_those_of_each_id_alone(pattern: str) -> None:
    source = random.Random(pattern)
    guide, judge = TOKENIZER.guide(pattern), TOKENIZER.guide(pattern)
    narrower = 0
    for _ in range(6):
        state = guide.initial
        for _ in range(5):
            every = judge.allowed(state).tolist()
            targets = {id: judge.step(state, id) for id in every}
            for left in range(judge.least(state), judge.least(state) + 4):
                in_time = (
                    id for id, target in targets.items() if target and left and judge.ends_within(target, left - 1)
                )
                expected = [*in_time]
                assert guide.allowed(state, remaining=left).tolist() == expected, (state, left)
                narrower += 0 < len(expected) < len(every)
            chosen = targets[source.choice(every)] if every else None
            if chosen is None:
                break
            state = chosen
    assert narrower > 10


def test_a_matcher_accepts_only_what_ends_in_time() -> None:
    guide = TOKENIZER.guide("(a single|[a-z]{1,30}) man")
    with pytest.raises(TokenStreamError, match=r"^no sequence ends within this number of ids: 1 \(the least .* is 2\)"):
        tokdfa.Matcher(guide, remaining=1)
    matcher = tokdfa.Matcher(guide, remaining=2)
    assert not matcher.accept_tokens(TOKENIZER.encode("a single man"))
    assert matcher.accept_tokens(TOKENIZER.encode("an man"))
    assert matcher.remaining == 0
    matcher.rollback(1)
    assert (matcher.remaining, matcher.copy().remaining) == (1, 1)
    assert matcher.find_jump_forward_ids().tolist() == TOKENIZER.encode(" man").tolist()


def test_numbers_that_are_refused() -> None:
    guide = TOKENIZER.guide("a man")
    for wrong in (-1, 1.5, True, "3"):
        with pytest.raises(WrongTypeError, match=r"^remaining: a number of ids is an integer that is not negative: "):
            guide.mask(guide.initial, remaining=wrong)  # type: ignore[arg-type]
    for wrong in (3, (1, 2), "abcd", (0, 0, 0, 0)):
        with pytest.raises(WrongTypeError, match=r"^the guide has no such state: "):
            guide.mask(wrong, remaining=3)  # type: ignore[arg-type]
    ban = tokdfa.ban(TOKENIZER, ["marr"])
    with pytest.raises(UnsupportedFeatureError, match=r"^remaining: a ban does not know when a text ends \(give"):
        ban.mask(ban.initial, remaining=3)
    with pytest.raises(UnsupportedFeatureError, match=r"^remaining: a ban does not know when a text ends"):
        tokdfa.Matcher(ban, remaining=3)
    assert guide.least(guide.ended) == 0
    assert not guide.mask(guide.ended, remaining=3).any()
