"""Tests for `tokdfa.jobs.splices.edges`: without any no search finds texts, and no texts are less than they say."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import tokdfa
from tests.support.random_seams import random_question
from tokdfa.automata.texts import language_of, literal, regular
from tokdfa.base.budget import Budget
from tokdfa.jobs.splices.decision import ground_of
from tokdfa.jobs.splices.edges import EdgeFinder, partings
from tokdfa.jobs.splices.seam import Seam
from tokdfa.jobs.splices.search import Search
from tokdfa.tokenizers.tokenizer import Tokenizer

_FAR = 1 << 30


def test_texts_differ_only_where_partings_are() -> None:
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
        seam = Seam(ground.split_nfa, before, after, rewrites=ground.rewrites)
        tokens = ground._tokens(seam)
        # Without any, so that it goes everywhere.
        search = Search(seam, tokens)
        found = search._within(_FAR - 1, Budget())
        places = partings(seam, tokens, EdgeFinder(seam, tokens))
        assert places or found is None, (seed, question)
        search._direct(places)
        least = search._to_parting[0]
        assert (least >= _FAR) == (not places and not any(m.parts for row in seam.moves for c in row for m in c))
        if found is not None:
            assert least <= len(found.before + found.after), (seed, question)
            met["as long as it says"] += least == len(found.before + found.after)
        assert search._within(_FAR - 1, Budget()) == found
        met["proven"] += not places
        met["separated"] += found is not None
    assert met["proven"] > 2, met
    assert met["separated"] > 2, met
    assert met["as long as it says"] > 2, met
