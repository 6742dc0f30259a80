"""Units of streams of all families, by one tokenizer or by two, against the texts that libraries decode."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pytest

import tokdfa
from tests.support.families import FAMILIES, Member
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError

UNKNOWN = "\ufffd"


class Case(NamedTuple):
    """Two streams of ids, each with the byte of the text where each id begins, and where the last one ends."""

    a: list[int]
    b: list[int]
    starts_a: list[int]
    starts_b: list[int]
    special: str


class UncertainError(Exception):
    """The library does not tell a text, or not where its ids begin."""


def starts(member: Member, ids: Sequence[int], text: str) -> list[int]:
    """Return the byte where each id begins, and the last one ends, by decoding the ids before it."""
    data = text.encode()
    found = []
    for index in range(len(ids) + 1):
        if member.ends_differ:
            # Ids at the end are decoded otherwise.
            rest = member.decode([*ids[index:]]).encode()
            found.append(len(data) - len(rest))
            before = data[: -len(rest) or None] + rest
        else:
            spelled = member.spell([*ids[:index]])
            decoded = member.decode([*ids[:index]])
            whole = decoded.rstrip(UNKNOWN)
            if spelled is None and member.family in ("bytes, any steps", "characters, any steps"):
                # Bytes of a character may be one U+FFFD; elsewhere each of them is one.
                raise UncertainError
            before = whole.encode() if spelled is None else spelled
            found.append(len(before) + (len(decoded) - len(whole) if spelled is None else 0))
        if not data.startswith(before):
            raise UncertainError
    return found


def text_of(member: Member, ids: list[int], dropped: set[int]) -> str:
    """Return the text that the library decodes without some ids."""
    text = member.decode([id for id in ids if id not in dropped])
    if UNKNOWN in text:
        raise UncertainError
    return text


def draw(a: Member, b: Member, drawn: random.Random) -> tuple[Case, str, set[int]]:
    """Return a case, its text, and the control ids that do not count."""
    special = drawn.choice(["drop", "keep"])
    controls = [*map(set, (a.tokenizer.control_ids.tolist(), b.tokenizer.control_ids.tolist()))]
    ids = [id for id in a.stream(drawn, 6) if special == "keep" or id not in controls[0]]
    text = text_of(a, ids, set())
    others = b.again(ids) if a is b else b.encode(text)
    if others is None or text_of(b, others, set()) != text or (special == "drop" and controls[1] & {*others}):
        raise UncertainError
    both = []
    for member, stream, control in zip((a, b), (ids, others), controls, strict=True):
        begins, mixed = starts(member, stream, text), [*stream]
        for _ in range(drawn.randrange(3) if special == "drop" and control else 0):
            # Often at the beginning, as <s>.
            at = drawn.choice([0, drawn.randrange(len(mixed) + 1)])
            mixed.insert(at, drawn.choice([*control]))
            begins.insert(at, begins[at])
        both.append((mixed, begins))
    return Case(both[0][0], both[1][0], both[0][1], both[1][1], special), text, controls[1]


def units_by_hand(case: Case) -> tuple[list[int], list[int], list[int]]:
    """Return the bounds of the units in both streams and in the text."""
    found: list[tuple[int, int, int]] = []
    for byte in sorted({*case.starts_a} & {*case.starts_b}):
        # Ids without bytes at a shared boundary are a unit of their own.
        first, last = (
            [at(starts) for starts in (case.starts_a, case.starts_b)]
            for at in (lambda each: each.index(byte), lambda each: len(each) - 1 - each[::-1].index(byte))  # noqa: B023
        )
        found += [(*first, byte)] + [(*last, byte)] * (first != last)
    a, b, offsets = (list(each) for each in zip(*found, strict=True))
    return a, b, offsets


def first_difference(text: bytes, other: bytes) -> int:
    return next(
        (at for at, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), min(len(text), len(other))
    )


def assert_texts_part_where_they_differ(a: Member, b: Member, case: Case, text: str, drawn: random.Random) -> bool:
    """Spoil an id of B; return whether its text is another one."""
    others = [*case.b]
    if not others:
        return False
    others[drawn.randrange(len(others))] = drawn.choice(b.ids)
    dropped = {*b.tokenizer.control_ids.tolist()} if case.special == "drop" else set()
    try:
        other = text_of(b, others, dropped)
    except UncertainError:
        return False
    if other == text:
        return False
    with pytest.raises(TokenStreamError, match="different texts") as caught:
        tokdfa.align(a.tokenizer, case.a, b.tokenizer, others, special=case.special)  # type: ignore[arg-type]
    where = re.match(r"byte (\d+), tokens", caught.value.where or "")
    assert where is not None
    assert int(where[1]) == first_difference(text.encode(), other.encode()), (case, others)
    return True


def outcomes(families: tuple[str, str], seeds: range, tries: int) -> Counter[str]:
    """Compare units with the library; return how many cases there were of each kind."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        drawn = random.Random(f"{families} {seed}")
        a = FAMILIES[families[0]](drawn)
        b = a if families[0] == families[1] else FAMILIES[families[1]](drawn)
        for _ in range(tries):
            try:
                case, text, _ = draw(a, b, drawn)
            except UncertainError:
                continue
            try:
                found = tokdfa.align(a.tokenizer, case.a, b.tokenizer, case.b, special=case.special)  # type: ignore[arg-type]
            except UnsupportedFeatureError:
                seen["refused"] += 1
                break
            assert found.text == text.encode(), (seed, case)
            by_hand = units_by_hand(case)
            assert (found.a_bounds.tolist(), found.b_bounds.tolist(), found.offsets.tolist()) == by_hand, (seed, case)
            characters = {len(text[:at].encode()) for at in range(len(text) + 1)}
            assert found.within_characters.tolist() == [byte not in characters for byte in by_hand[2]], (seed, case)
            seen["aligned"] += 1
            seen["several ids"] += max(map(len, (unit.a for unit in found)), default=0) > 1
            seen["within characters"] += bool(found.within_characters.any())
            seen["control tokens"] += case.special == "drop" and len(set(by_hand[2])) < len(by_hand[2])
            seen["other texts"] += assert_texts_part_where_they_differ(a, b, case, text, drawn)
    return seen


MIXED = [
    ("bytes", "Llama-2"), ("ranks", "Gemma"), ("Llama-2", "BPE of SentencePiece"), ("WordPiece", "bytes, NFC"),
    ("Unigram of tokenizers", "longest match"), ("Unigram of SentencePiece", "improper ranks"), ("suffix", "bytes"),
    ("bytes, added tokens", "Gemma"),
]  # fmt: skip
PAIRS = [*((family, family) for family in FAMILIES), *MIXED]


@pytest.mark.parametrize("families", PAIRS, ids=" and ".join)
def test_units_are_those_that_libraries_decode(families: tuple[str, str]) -> None:
    seen = outcomes(families, range(2), 12)
    assert seen["aligned"] >= 5 or seen["refused"], seen


@pytest.mark.slow
@pytest.mark.parametrize("families", PAIRS, ids=" and ".join)
def test_units_are_those_that_libraries_decode_10_000_times(families: tuple[str, str]) -> None:
    seen = outcomes(families, range(1000, 1060), 20)
    print(families, dict(seen))
    assert seen["aligned"] >= 200 or seen["refused"] >= 50, seen
