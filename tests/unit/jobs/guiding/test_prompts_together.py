"""Prompts, healing, bans, ends and budgets together, compared with all streams of small random tokenizers.

``TOKDFA_SEEDS=1000:3999 pytest -s`` runs as many tokenizers of each family, and prints the cases they reach.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support.guided import (
    Guided,
    guided,
    guided_by_sentencepiece,
    guided_in_form,
    guided_over_characters,
    guided_with_any_parts,
    guided_with_runs,
    guided_with_strips,
    some_languages,
)
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import PatternError, UnsupportedFeatureError

Streams = set[tuple[int, ...]]


def finished(guide: tokdfa.Guide, state: tokdfa.State, remaining: int | None) -> Streams:
    """Return the sequences that masks lead to from a state; each mask that is met has a way to an end."""
    found = set()
    stack: list[tuple[tuple[int, ...], tokdfa.State, int | None]] = [((), state, remaining)]
    while stack:
        ids, state, left = stack.pop()
        every = {*guide.allowed(state, remaining=left).tolist()}
        allowed = every.difference(guide.end)
        assert (allowed != every) == (guide.is_final(state) and len(guide.end) > 0), ids
        assert allowed or guide.is_final(state), ids
        if guide.is_final(state):
            found.add(ids)
        for id in allowed:
            target = guide.step(state, id)
            assert target is not None, (ids, id)
            stack.append(((*ids, id), target, None if left is None else left - 1))
    return found


def has_banned(made: Guided, ids: list[int], n_before: int, words: list[str]) -> bool:
    """Return whether a word occurs after the first characters of the text, between control tokens."""
    text, controls = made.tokenizer.decode(ids), {*made.tokenizer.control_ids.tolist()}
    spans, begin = [], 0
    for at, id in enumerate(ids):
        if id in controls:
            spans.append((begin, len(made.tokenizer.decode(ids[:at]))))
            begin = len(made.tokenizer.decode(ids[: at + 1]))
    parts = [text[max(begin, n_before) : end] for begin, end in (*spans, (begin, len(text)))]
    return any(word in part for word in words for part in parts)


def check(made: Guided, source: random.Random) -> Counter[str]:
    """Compare a guide with all of its features, each chosen at random, with the ids of the texts of a language."""
    met: Counter[str] = Counter()
    language, texts = source.choice(some_languages(source, made.symbols))
    prompt, heal = made.prompt(source), source.random() < 0.5
    before = made.tokenizer.decode(prompt)
    words = [
        "".join(source.choices(made.symbols, k=source.randrange(1, 3))) for _ in range(source.choice([0, 0, 1, 2]))
    ]
    end = made.tokenizer.n_ids if source.random() < 0.5 else None
    wholes = [made.encode(before + text) for text in texts if made.keeps(before + text)]
    streams = [ids for ids in wholes if not has_banned(made, ids, len(before), words)]
    n_kept = len(prompt)
    if heal:
        differing = (n for n, id in enumerate(prompt) if any(ids[n : n + 1] != [id] for ids in streams))
        n_kept = next(differing, n_kept)
    rests = {tuple(ids[n_kept:]) for ids in streams if ids[:n_kept] == prompt[:n_kept]}
    given: dict[str, Any] = {
        "ban": tokdfa.ban(made.tokenizer, words) if words else None,
        "end": end,
        "vocab_size": made.tokenizer.n_ids + 1,
    }
    if not rests:
        with pytest.raises(PatternError):
            tokdfa.guide(made.tokenizer, language, prompt=prompt, heal=heal, **given)
        return met + Counter(["refused"])
    guide = tokdfa.guide(made.tokenizer, language, prompt=prompt, heal=heal, **given)
    assert guide.kept.tolist() == prompt[:n_kept]
    starts = [(guide, guide.initial)]
    alone = (made.encode(text) for text in texts if made.keeps(text))
    if not heal and not all(has_banned(made, ids, 0, words) for ids in alone):
        other = tokdfa.guide(made.tokenizer, language, **given)
        starts.append((other, other.after_prompt(prompt)))
    shortest, longest = min(map(len, rests)), max(map(len, rests))
    for one, state in starts:
        assert one.least(state) == shortest
        for left in (None, *source.sample(range(shortest, longest + 2), min(3, longest + 2 - shortest))):
            expected = {ids for ids in rests if left is None or len(ids) <= left}
            assert finished(one, state, left) == expected, (language, prompt, words, left)
            met["narrower"] += len(expected) < len(rests)
            met["sequences"] += len(expected)
        assert not shortest or not one.mask(state, remaining=shortest - 1).any()
    is_given_back, is_banned = n_kept < len(prompt), len(streams) < len(wholes)
    met["prompts"] += len(prompt) > 0
    met["given back"] += is_given_back
    met["banned"] += is_banned
    met["all of them"] += is_given_back and is_banned and longest > shortest
    met["special"] += any({*ids} & {*made.tokenizer.special_ids.tolist()} for ids in rests)
    return met


MAKERS = [
    guided,
    guided_in_form,
    guided_over_characters,
    guided_with_runs,
    guided_with_strips,
    guided_with_any_parts,
    guided_by_sentencepiece,
]


@pytest.mark.parametrize("make", MAKERS)
def test_all_features_together_leave_the_sequences_of_brute_force(
    make: Callable[[int, Path], Guided], tmp_path: Path
) -> None:
    met: Counter[str] = Counter()
    for seed in seeds(6):
        made, source = make(seed, tmp_path), random.Random(seed)
        try:
            made.tokenizer.guide()
        except UnsupportedFeatureError as error:
            assert make == guided_with_any_parts, seed
            met[str(error).partition(":")[0]] += 1
            continue
        for _ in range(3):
            met += check(made, source)
    print(make.__name__, dict(met))
    assert met["sequences"] > 500, met
    assert met["narrower"] > 15, met
    assert met["prompts"] > 2, met


def test_a_text_that_becomes_a_special_token_loses_the_space_before_it(tmp_path: Path) -> None:
    made = guided_over_characters(0, tmp_path)
    prompt = made.encode("<")
    guide = tokdfa.guide(made.tokenizer, "s>|b", prompt=prompt, heal=True)
    assert guide.kept.tolist() == []
    assert finished(guide, guide.initial, None) == {tuple(made.encode(text)) for text in ("<s>", "<b")}
    assert made.encode("<s>") == [0]


@pytest.mark.parametrize("late", ["ab", "b"])
def test_late_added_tokens_are_found_between_the_others(late: str) -> None:
    file = tokenizer_json([])
    first, early = len(file["model"]["vocab"]), "b" if late == "ab" else "ab"
    file["added_tokens"] = [added_token(first, early), added_token(first + 1, late, normalized=True)]
    tokenizer, library = tokdfa.load(as_bytes(file)), tokenizers.Tokenizer.from_str(as_bytes(file).decode())
    texts = ["".join(letters) for n in range(5) for letters in product("abc", repeat=n)]
    guide = tokenizer.guide("[abc]{0,4}")
    assert finished(guide, guide.initial, None) == {tuple(library.encode(text).ids) for text in texts}
