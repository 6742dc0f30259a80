"""Safe cuts: whatever follows, the ids of a text begin with the ids of the part before the cut, and the rest stays."""

from __future__ import annotations

import random
from collections import Counter
from typing import cast

import tokdfa
from tests.support.families import Member
from tokdfa.tokenizers.boundaries.texts import TextBoundaries
from tokdfa.tokenizers.encoding.special import odd_ones

__all__ = ["check"]

CONTINUATIONS = 40


def check(member: Member, drawn: random.Random, continuations: int = CONTINUATIONS) -> Counter[str]:
    """Cut a text where it is said to be safe, and encode it with many nasty continuations."""
    met: Counter[str] = Counter()
    tokenizer = member.tokenizer
    if tokenizer.algorithm == "Unigram":
        # The sum of scores continues across a cut, so the part after it is not encoded as a text of its own.
        return met + Counter(["refused"])
    text = member.text(drawn)
    cuts = tokenizer.safe_cuts(text).tolist()
    met["texts"] += 1
    met["safe"] += len(cuts)
    met["not safe"] += max(len(text) - 1, 0) - len(cuts)
    parts = {cut: (member.encode(text[:cut]), member.encode(text[cut:])) for cut in cuts}
    for _ in range(continuations if cuts else 0):
        rest = member.text(drawn, drawn.choice([1, 2, 6]))
        whole = member.encode(text + rest)
        if whole is None:
            continue
        for cut, (before, _) in parts.items():
            if before is None:
                continue
            assert whole[: len(before)] == before, (text, cut, rest)
            if member.begins_alike:
                assert whole[len(before) :] == member.encode(text[cut:] + rest), (text, cut, rest)
                met["both parts"] += 1
            met["continuations"] += 1
    of_ids(member, tokenizer, drawn, met, text)
    return met


def of_ids(member: Member, tokenizer: tokdfa.Tokenizer, drawn: random.Random, met: Counter[str], text: str) -> None:
    """Cut ids where it is said to be safe: whatever text follows, they remain."""
    ids = member.encode(text)
    if ids is None or member.again(ids) != ids:
        return
    cuts = tokenizer.safe_cuts(ids).tolist()
    met["safe for ids"] += len(cuts)
    if isinstance(tokenizer.boundaries, TextBoundaries) and member.begins_alike and not odd_ones(tokenizer.specials):
        assert_alike(member, text, ids, cuts, met)
    for stop in range(len(ids) + 1):
        assert tokenizer.last_safe_cut(ids, stop) == max((cut for cut in cuts if cut <= stop), default=0), (ids, stop)
    shown = member.decode(ids)
    for _ in range(5 if cuts else 0):
        rest = member.text(drawn, 3)
        whole = member.encode(shown + rest)
        if whole is not None:
            assert whole[: cuts[-1]] == ids[: cuts[-1]], (ids, cuts, rest)


def assert_alike(member: Member, text: str, ids: list[int], cuts: list[int], met: Counter[str]) -> None:
    """A text has the cuts of its ids, except where one character became several."""
    tokenizer = cast(tokdfa.Tokenizer, member.tokenizer)
    sizes = {len(member.encode(text[:cut]) or ()) for cut in tokenizer.safe_cuts(text).tolist()}
    assert sizes <= {*cuts}, (text, ids, sizes, cuts)
    met["alike"] += len(sizes)
    for cut in {*cuts} - sizes:
        parts = [[member.encode(text[:at]), member.encode(text[at:])] for at in range(1, len(text))]
        assert [ids[:cut], ids[cut:]] not in parts, (text, ids, cut)
