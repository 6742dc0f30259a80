"""Tests for `tokdfa.splices.proof`: what is proven quickly is true, and most of what is true is proven."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

from support.random_seams import random_question

import tokdfa
from tokdfa.splices.decision import ground_of
from tokdfa.splices.edges import EdgeFinder
from tokdfa.splices.languages import language_of, literal, regular
from tokdfa.splices.proof import never_merge
from tokdfa.splices.seam import Seam
from tokdfa.splices.search import Search
from tokdfa.tokenizers.tokenizer import Tokenizer


def test_what_is_proven_is_found_by_no_search() -> None:
    met: Counter[str] = Counter()
    for seed in range(100):
        question = random_question(Random(seed), 3)
        content = json.loads(question.content)
        if "\u0100" not in content["model"]["vocab"] or content["added_tokens"] or content["normalizer"]:
            continue
        tokenizer = tokdfa.load(content)
        assert isinstance(tokenizer, Tokenizer)
        ground = ground_of(tokenizer)
        some = regular(question.within, "regex", "within")
        before = language_of("before", some, literal(question.before, "before"))
        after = language_of("after", literal(question.after, "after"), some)
        seam = Seam(ground.hypotheses, before, after, rewrites=ground.rewrites)
        tokens = ground._tokens(seam)
        search = Search(seam, tokens)
        search._tries_to_prove = False
        found = search.least()
        is_proven = never_merge(seam, tokens, EdgeFinder(seam, tokens))
        assert not is_proven or found is None, (seed, question)
        met["proven"] += is_proven
        met["not proven"] += not is_proven and found is None
        met["separated"] += found is not None
    assert met["proven"] > 2, met
    assert met["separated"] > 2, met
