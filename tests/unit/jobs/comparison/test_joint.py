"""The effects of many words at once, compared with the effects of one word at a time."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.seeds import seeds
from tokdfa.jobs.comparison.joint import Joint
from tokdfa.kernels.walk.parts import MOST_EFFECTS
from tokdfa.regex.unicode.utf8 import cut_apart
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.steps import NAMED

PIECES = [*"aZ 1\n'é中\U0001f600s", "\u0301", "  ", "'ll"]
BYTES = [b"\x80", b"\xbf\xbf", b"\xe4", b"\xe4\xb8", b"\xf0\x9f", b"\xff", b"\xc3"]


def words_of(seed: int) -> list[bytes]:
    drawn = random.Random(seed)
    words = [b"", b"\x80\x80\x80\x80a"]
    for _ in range(300):
        head = drawn.choice(BYTES) if drawn.random() < 0.2 else b""
        tail = drawn.choice(BYTES) if drawn.random() < 0.3 else b""
        words.append(head + "".join(drawn.choices(PIECES, k=drawn.randrange(4))).encode() + tail)
    return words


@pytest.mark.parametrize("how", ["kernel", "too many classes", "too many effects"])
@pytest.mark.parametrize("seed", seeds(2))
def test_effects_of_all_words(seed: int, how: str) -> None:
    hypotheses = [find_split_nfa(NAMED[name]) for name in ("cl100k", "qwen2")]
    one, other = Joint(*hypotheses), Joint(*hypotheses)
    words = words_of(seed)
    n_classes = len(one._by_class)
    most = {"kernel": MOST_EFFECTS, "too many classes": n_classes - 1, "too many effects": n_classes}[how]
    effects, heads = one.effects_of(words, most=most)
    assert len(one.effects) > n_classes + 1
    n_bad = n_heads = n_tails = 0
    for place, word in enumerate(words):
        cut = cut_apart(word)
        n_bad += cut is None
        assert heads.get(place, b"") == (b"" if cut is None else cut.head), word
        if cut is None:
            assert effects[place] == -1, word
            continue
        n_heads += bool(cut.head)
        n_tails += bool(cut.tail and not cut.head)
        expected = other.effects[other.effect_of(cut.text, cut.tail, inside=bool(cut.head))]
        assert _by_symbols(one, one.effects[int(effects[place])]) == _by_symbols(other, expected), word
    assert min(n_bad, n_heads, n_tails) > 5


def _by_symbols(joint: Joint, effect: Any) -> Any:
    """An effect in which states within symbols are given by their content and not by their ids."""
    n = joint.n_states
    named: dict[int, Any] = {n + at: within for at, within in enumerate(joint.within)}
    return [{target._replace(state=named.get(target.state, target.state)) for target in targets} for targets in effect]
