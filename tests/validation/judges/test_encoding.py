"""The judge by encoding: the parts that differ, and what it forgets."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import Dictionary
from tokdfa.encoding.special import Special
from tokdfa.splitting.pretokenizer import PreTokenizer
from tokdfa.splitting.steps import Split, Splitting
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.validation.api import Validator
from tokdfa.validation.judges.encoding import _differences
from tokdfa.validation.tuning import Tuning

# A token is its id and how many bytes it adds to the text.
TOKENS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=9)


def naive(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """The parts between bounds that both have once each, if their ids differ."""
    bounds, others = ([0, *accumulate(size for _, size in side)] for side in (left, right))
    common = [end for end in sorted({*bounds}) if end and bounds.count(end) == others.count(end) == 1]
    lefts, rights = ([*map(side.index, common), len(side) - 1] for side in (bounds, others))
    found = []
    start = low = 0
    for stop, high in zip(lefts, rights, strict=True):
        if [id for id, _ in left[start:stop]] != [id for id, _ in right[low:high]]:
            found.append((start, stop, low, high))
        start, low = stop, high
    return found


@given(TOKENS, TOKENS)
def test_the_parts_that_differ(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    ids, canonical = (np.array([id for id, _ in side], dtype=np.int32) for side in (left, right))
    ends, others = (np.cumsum([size for _, size in side], dtype=np.int64) for side in (left, right))
    found = [*_differences(ids, ends, canonical, others)]
    assert found == naive(left, right)
    # What is put in their place gives the canonical ids.
    repaired: list[int] = []
    place = 0
    for start, stop, low, high in found:
        repaired += [*ids[place:start].tolist(), *canonical[low:high].tolist()]
        place = stop
    assert repaired + ids[place:].tolist() == canonical.tolist()


def test_special_tokens_that_cut_let_the_judge_forget() -> None:
    contents = Contents(
        format="tiktoken",
        dictionary=Dictionary([(b"a", b"b")], bytes(range(256))),
        ids=np.arange(257, dtype=np.int32),
        specials=(Special(257, "<e>"),),
        finds_specials=False,
    )
    tokenizer = Tokenizer(contents, PreTokenizer(Splitting("tokenizers", (Split(r"\s", "removed"),))))
    document = [256, 97, 97, 257]
    validator = Validator(tokenizer, tuning=Tuning(window=16, max_ids=64))
    kept = []
    found = []
    for number in range(100):
        found += [
            violation.index for violation in validator.feed([97, 98, *document] if number % 10 == 9 else document)
        ]
        kept.append(validator.n_kept)
    found += [violation.index for violation in validator.finish()]
    assert found == [42 * ten + 36 for ten in range(10)]
    assert max(kept) < 32
