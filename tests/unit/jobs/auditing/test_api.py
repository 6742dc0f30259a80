"""Audits of engines' shortcuts: proofs and counterexamples, checked with the libraries on texts of every family."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any, cast

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.audits import Library, assert_audited, assert_confirmed, brute_force, long_texts
from tests.support.families import FAMILIES, of_tokenizer_json
from tests.support.seeds import seeds
from tests.support.tokenizer_files import tokenizer_json
from tokdfa.jobs.auditing.back_off import why_not_resumed
from tokdfa.jobs.auditing.schemes import BackOff

NAMES = ("added-token", "turns", "before-space", "after-space", "characters", "characters=ab", "text-prefix", "turns=a")
BACK_OFFS = ("back-off=1,1", "back-off=4,4", "back-off=6,5", "back-off=9,8", "back-off=16,16", "back-off=24,16")
OWN = (
    {"texts": "added", "cut": "before", "which": "last"},
    {"texts": ["a ", "b"], "cut": "after", "which": "every"},
    {"texts": ["\n", " a"], "cut": "before", "which": "last"},
)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_proven_holds_and_what_is_wrong_is_wrong_in_the_library(family: str) -> None:
    drawn = random.Random(f"audit {family}")
    member, met = FAMILIES[family](drawn), Counter[str]()
    for described in (*drawn.sample(NAMES, 2), drawn.choice(BACK_OFFS), drawn.choice(OWN)):
        met += assert_audited(drawn, member, described, 150, 0.1)
    assert met.total() >= 4


PROVEN = ("ranks", "bytes", "bytes, added tokens", "bytes, odd parts", "Gemma")


def test_ids_that_are_proven_to_come_again_are_followed_by_the_ids_of_the_library() -> None:
    met = Counter[str]()
    for family, seed in product(PROVEN, seeds(12)):
        drawn = random.Random(f"back off {family} {seed}")
        member = FAMILIES[family](drawn)
        library, back = Library(member), drawn.choice([1, 2, 3, 4, 6, 9, 12])
        scheme = BackOff("", back, max(1, back - drawn.choice([0, 0, 1, 4])))
        if why_not_resumed(member.tokenizer, scheme.back, scheme.agree) is not None:
            continue
        for old, new in (*brute_force(drawn, member, 500), *long_texts(drawn, member, 500)):
            resumed = scheme.resumed(cast(Any, library), old) if library.ids(old) is not None else None
            if resumed is None or not new or library.ids(old + new) is None:
                continue
            found, right = scheme.continued(cast(Any, library), resumed, new), library.ids(old + new)
            met["agree"] += found is not None
            met["old ids change"] += found is not None and (right or [])[: len(library.encode(old))] != library.ids(old)
            assert found in (None, right), (family, seed, scheme, old, new)
    assert met["agree"] > 1000
    assert met["old ids change"] > 10, met


def test_digits_in_groups_of_three_are_not_resumed_rightly_however_many_ids_come_again() -> None:
    steps = [
        {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}|\P{N}+"}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
    ]
    fields = tokenizer_json([(b"1", b"2")], pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    member = of_tokenizer_json("groups of digits", fields)
    assert member is not None
    found = tokdfa.audit(member.tokenizer, "back-off=20,20")
    assert found.answer == "wrong"
    assert assert_confirmed(member, "back-off=20,20", found, ())


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_audits_of_many_tokenizers_are_what_the_library_says(family: str, tally: Tally) -> None:
    met, chosen = Counter[str](), seeds(40)
    for seed in chosen:
        drawn = random.Random(f"audit {family} {seed}")
        member = FAMILIES[family](drawn)
        for described in (*drawn.sample(NAMES, 4), *drawn.sample(BACK_OFFS, 3), drawn.choice(OWN)):
            met += assert_audited(drawn, member, described, 3000, 2)
            tally("audits", "random cases", 1)
    assert any(name.startswith(("wrong", "holds")) for name in met)
