"""Each pair of tokenizers has one finding, which holds in their library, also if it follows from others."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest

import tokdfa
from tests.support.tokenizer_files import RULES, TEXTS, as_bytes, tokenizer_json
from tokdfa.jobs.examination.agreement import check_agreement
from tokdfa.jobs.examination.folder import Loaded

# The second has the ids of the first: an added token changes no text but its own, which is compared as text.
_FILES = (
    tokenizer_json(),
    tokenizer_json(added_tokens=[]),
    tokenizer_json([*RULES[2:], *RULES[:2]]),
    tokenizer_json(normalizer={"type": "Replace", "pattern": {"String": "a"}, "content": "b"}),
)
_SAME = {0: 0, 1: 0, 2: 2, 3: 3}


def test_each_pair_has_a_finding_that_holds_in_the_library() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    libraries = [tokenizers.Tokenizer.from_buffer(as_bytes(file)) for file in _FILES]
    loaded = [tokdfa.load(file) for file in _FILES]
    followed = set()
    for chosen in Random(5).sample([*product(range(len(_FILES)), repeat=4)], 16):
        names = [f"{place} {number}" for place, number in enumerate(chosen)]
        every = [Loaded(name, loaded[number]) for name, number in zip(names, chosen, strict=True)]
        found = [finding for finding in check_agreement(every) if finding.group == "agreement"]
        assert sorted(tuple(sorted(finding.where)) for finding in found) == [*combinations(names, 2)]
        for finding in found:
            a, b = (int(name.split()[1]) for name in finding.where)
            followed |= {finding.kind} if "by" in finding.values else set()
            assert (finding.kind == "same ids") == (_SAME[a] == _SAME[b])
            texts = TEXTS if finding.kind == "same ids" else [finding.values["text"]]
            ids = [
                [libraries[number].encode(text, add_special_tokens=False).ids for text in texts] for number in (a, b)
            ]
            if finding.kind == "same ids":
                assert all("<|end|>" in text or x == y for text, x, y in zip(texts, *ids, strict=True))
            else:
                assert [row[0] for row in ids] == [finding.values["ids_a"], finding.values["ids_b"]]
    assert followed == {"same ids", "other ids"}
