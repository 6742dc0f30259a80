"""The fewest ids up to an end of the texts, and the atoms that lead nearer, by the states after every id."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tokdfa
from tests.unit.kernels.guiding.test_product import random_tokenizer
from tokdfa.jobs.guiding.prefixes import PrefixAutomaton
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import tokens_of

PARTS = ["[a-z 's]{0,9}", "(é|中|ab)+", "'s ?", '"[^"]*"', "😀{2,4}", "(a|b|丮){3}", "x"]


def fewest_by_definition(targets: list[dict[int, int]], finals: list[bool]) -> list[int]:
    """Return the fewest moves to a final state; 0 where there is no way to one."""
    least = {state for state, is_final in enumerate(finals) if is_final}
    found = dict.fromkeys(least, 0)
    while more := {
        s for s, moves in enumerate(targets) if s not in found and not found.keys().isdisjoint(moves.values())
    }:
        found |= dict.fromkeys(more, max(found.values()) + 1)
    return [found.get(state, 0) for state in range(len(finals))]


@pytest.mark.parametrize("most_tried", [0, 3, 200])
def test_fewest_ids_and_those_that_lead_nearer(
    most_tried: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PrefixAutomaton, "_most_tried", most_tried)
    source = random.Random(most_tried)
    tokenizer = random_tokenizer(source, tmp_path / "small.tiktoken", "cl100k")
    tokens = tokens_of(tokenizer)
    n_listed = 0
    for _ in range(12):
        language = "".join(source.choices(PARTS, k=source.randint(1, 4)))
        prefixes = PrefixAutomaton(tokens, texts_of(tokens, language))
        texts = prefixes.texts
        states, ids = range(texts.n_states + 1), tokens.words.tolist()
        after = [{id: to for id in ids if (to := texts.after_id(state, id))} for state in states]
        prefixes.least(prefixes.initial)
        fields = prefixes._cache.fields
        for state in source.sample(states[1:], min(len(states) - 1, 10)):
            # The masks with the fewest ids left ask for those that lead nearer.
            prefixes.mask(prefixes.initial._replace(text=state), int(fields["least_ids"][state]))
        least = fewest_by_definition(after, texts.final.tolist())
        assert fields["least_ids"].tolist() == least
        atom_ids, begin = texts.struct.fields["atom_ids"], texts.struct.fields["atom_begin"]
        for state in states[1:]:
            entry, listed = int(fields["nearer"][state]), []
            if entry < 0:
                continue
            while entry:
                first, end, entry = fields["nearer_entries"][3 * entry : 3 * entry + 3].tolist()
                listed += atom_ids[begin[first] : begin[end]].tolist()
            assert sorted(listed) == [id for id in sorted(after[state]) if least[after[state][id]] < least[state]]
            n_listed += len(listed)
    assert n_listed > 50


def test_texts_of_three_bytes_of_any_kind() -> None:
    """All bytes are alike in the language, but not the numbers of them."""
    tokenizer = tokdfa.default_tokenizer()
    every = [bytes([byte]) for byte in range(256)]
    edges = [(state, byte, state + 1) for state in range(3) for byte in every]
    guide = tokdfa.guide(tokenizer, tokdfa.TokenDFA.from_edges(edges, finals=[3], symbols=bytes(range(256))))
    states = [guide.initial, guide.step(guide.initial, 64)]
    for state in states:
        assert state is not None
        expected = [id for id in range(tokenizer.n_ids) if guide.step(state, id) is not None]
        assert guide.allowed(state).tolist() == expected
        assert 50 < len(expected) < tokenizer.n_ids
