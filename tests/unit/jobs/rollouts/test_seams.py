"""Seams count every span once, by the roles that the mask and special tokens give to both sides."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.rollouts.result import Tally
from tokdfa.jobs.rollouts.spans import SpanClass


@pytest.fixture
def chat(tmp_path: Path) -> tokdfa.AnyTokenizer:
    """A tokenizer that merges `ab` and `{}`, with the special tokens of ChatML."""
    fields = tokenizer_json([(b"a", b"b"), (b"{", b"}")])
    last = max(fields["model"]["vocab"].values())
    names = "<|im_start|>", "<|im_end|>"
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    fields["added_tokens"] = [
        {"id": last + 1 + k, "content": name, "special": True, **flags} for k, name in enumerate(names)
    ]
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), encoding="utf-8")
    return tokdfa.load(tmp_path)


def test_roles_come_from_special_tokens_and_the_mask(chat: tokdfa.AnyTokenizer) -> None:
    parts = [("<|im_start|>user\na", 0), ("b<|im_end|>", 0), ("<|im_start|>assistant\n", 0), ("xa", 1), ("b", 1),
             ("a", 1), ("b<|im_end|><|im_start|>tool\n{", 0), ("}<|im_end|>", 0)]  # fmt: skip
    encoded = [(chat.encode(text), flag) for text, flag in parts]
    ids = np.concatenate([own for own, _ in encoded])
    mask = np.repeat([flag for _, flag in encoded], [len(own) for own, _ in encoded])
    tally = Tally()
    for number in range(3):
        tally.add(tokdfa.check_rollout(chat, ids, mask), f"r.jsonl, line {number + 1}")
    found = [(seam.span_class.value, seam.before, seam.after, seam.count) for seam in tally.seams.seams(9)]
    assert found == [
        ("bugs", "user", "user", 3), ("drift", "sampled", "sampled", 3), ("junctions", "sampled", "assistant", 3),
        ("bugs", "tool", "tool", 3),
    ]  # fmt: skip
    (seam,) = (each for each in tally.seams.seams(9) if each.before == "tool")
    assert (seam.left[-3:], seam.right, seam.source) == ("l\n{", "}<|im_end|>", "r.jsonl, line 1")
    assert seam.to_dict()["class"] == "bugs"
    # Without special tokens, by the mask alone.
    plain = Tally()
    pairs = [*chat.encode("a"), *chat.encode("b")] * 3
    plain.add(tokdfa.check_rollout(chat, pairs, [0, 0, 1, 1, 0, 0]))
    assert [(seam.before, seam.after) for seam in plain.seams.seams(9)] == [
        ("prompt", "prompt"), ("sampled", "sampled"), ("inserted", "inserted")
    ]  # fmt: skip


@pytest.mark.parametrize(
    "seeds", [range(2, 4), pytest.param(range(4, 16), marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_span_is_at_one_seam(family: str, seeds: range) -> None:
    n_found = 0
    for seed in seeds:
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        tally, expected = Tally(), Counter[tuple[object, ...]]()
        for _ in range(5):
            ids = member.stream(drawn, 12)
            mask = [drawn.randrange(2) for _ in ids]
            try:
                check = tokdfa.check_rollout(member.tokenizer, ids, mask)
            except TokdfaError:
                continue
            tally.add(check)
            for each in SpanClass:
                for found in check.of_class(each):
                    right = found.canonical_ids
                    expected[each, found.kind.value, found.ids[:16], None if right is None else right[:16]] += 1
        seams = tally.seams.seams(1 << 20)
        counts = Counter[tuple[object, ...]]()
        for seam in seams:
            counts[seam.span_class, seam.kind, seam.ids, seam.canonical_ids] += seam.count
        assert counts == expected, seed
        assert tally.seams.error == 0
        n_found += len(seams)
    assert n_found > len(seeds)
