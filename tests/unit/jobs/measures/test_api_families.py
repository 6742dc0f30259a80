"""check_bytes against texts that libraries encode and decode: small tokenizers of several families, random tables."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES, Member
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.measures.byte_tables import ByteTable, of_formula
from tokdfa.tokenizers.decoding import byte_of

NAMES = {
    "ranks": 4, "bytes, added tokens": 10, "bytes, NFC": 5, "Llama-2": 20, "Gemma": 12, "BPE of SentencePiece": 16,
    "WordPiece": 40,
}  # fmt: skip
"""The number of tokenizers of each family, of which some are refused."""
OTHERS = ["improper ranks", "bytes", "bytes, whole words", "bytes, other forms"]
REFUSED = [
    "longest match", "bytes, prefix space", "bytes, NFC, prefix space", "bytes, other forms, prefix space", "CLIP",
    "suffix", "prefix", "Unigram of SentencePiece",
]  # fmt: skip
"""The families of which all are refused."""
MOST_TEXTS = 600


def texts(member: Member, drawn: random.Random) -> list[str]:
    """Return texts of few characters, among them all short ones over a few of those that the tokenizer knows."""
    known = sorted({char for id in member.ids for char in member.decode([id]) if char != "\ufffd"})
    chosen = [" ", "\u00e9", *drawn.sample(known, min(4, len(known)))]
    short = ["".join(text) for size in range(1, 4) for text in product(chosen, repeat=size)]
    return [*short[:MOST_TEXTS], *(member.text(drawn, 4) for _ in range(60))]


def canonical(member: Member, drawn: random.Random) -> dict[tuple[int, ...], bytes]:
    """Return canonical streams of ordinary ids with the bytes of their texts, as the library decodes them."""
    found = {}
    for text in texts(member, drawn):
        ids = member.encode(text)
        if not ids or {*ids} & {*member.tokenizer.control_ids.tolist()}:
            continue
        decoded = member.decode(ids)
        if member.encode(decoded) == ids:
            found[tuple(ids)] = decoded.encode()
    return found


def byte_of_id(member: Member, id: int) -> int | None:
    """Return the byte for which an id stands, if it stands for one."""
    if member.tokenizer.why_not("bytes") is None:
        spelled = member.spell([id])
        return spelled[0] if spelled is not None and len(spelled) == 1 else None
    return byte_of(member.tokenizer.token_strings[id])


def random_table(member: Member, ids: list[int], drawn: random.Random) -> ByteTable:
    """Return the right table with the counts of a few ids changed, such that the changes may cancel, or with flags."""
    table = of_formula(member.tokenizer, "bytes")
    counts, kind = table.counts, drawn.randrange(5)
    if kind == 0:
        # The first byte of a character counts for all of its bytes.
        for id in member.ids:
            byte = byte_of_id(member, id)
            if byte is not None and byte >= 0x80 and counts[id] == 1:
                counts[id] = 0 if byte < 0xC0 else 2 + (byte >= 0xE0) + (byte >= 0xF0)
    if kind > 1 or drawn.random() < 0.3:
        counts[drawn.choice(ids)] += 1
    if kind == 4:
        spaces, boundaries = np.zeros((2, len(counts)), dtype=bool)
        spaces[drawn.choices(ids, k=2)] = True
        boundaries[drawn.choices(ids, k=drawn.randrange(4))] = True
        return ByteTable(counts, spaces, boundaries)
    return ByteTable(counts, *table[1:])


def counted(table: ByteTable, ids: tuple[int, ...]) -> int:
    """Return the sum of the counts of ids, one by one."""
    total, before = 0, None
    for id in ids:
        total += int(table.counts[id])
        if table.spaces is not None and before is not None and table.spaces[id]:
            total += table.boundaries is None or not table.boundaries[before]
        before = id
    return total


def outcomes(name: str, seeds: range, tables: int) -> Counter[str]:
    """Compare answers with the library; return how often they were yes, no or undecided, or refused."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        drawn = random.Random(seed)
        member = FAMILIES[name](drawn)
        try:
            of_formula(member.tokenizer, "bytes")
        except UnsupportedFeatureError:
            seen["refused"] += 1
            continue
        streams = canonical(member, drawn)
        given = sorted({id for ids in streams for id in ids})
        others = sorted({*member.ids} - {*member.tokenizer.control_ids.tolist()})
        for _ in range(tables):
            table = random_table(member, given if given and drawn.random() < 0.8 else others, drawn)
            sizes = [len(data) for ids, data in streams.items() if counted(table, ids) != len(data)]
            try:
                found = tokdfa.check_bytes(member.tokenizer, table)
            except UnsupportedFeatureError:
                seen["refused"] += 1
                break
            except LimitExceededError:
                seen["undecided"] += 1
                continue
            witness = found.witness
            assert witness is not None or not sizes, (seed, table)
            if witness is not None:
                assert member.encode(witness.text) == [*witness.ids], (seed, table)
                assert member.decode([*witness.ids]) == witness.text, (seed, table)
                assert witness.bytes == len(witness.text.encode())
                assert witness.counted == counted(table, witness.ids) != witness.bytes
                assert not witness.shortest or witness.bytes <= min(sizes, default=witness.bytes), (seed, table)
            seen["yes" if found else "no" if sizes else "no, beyond"] += 1
    return seen


@pytest.mark.parametrize("name", NAMES)
def test_libraries_agree(name: str) -> None:
    seen = outcomes(name, range(NAMES[name]), 6)
    assert min(seen["yes"] * 5, seen["no"]) >= 10, seen
    assert seen["undecided"] <= sum(seen.values()) // 20, seen


@pytest.mark.parametrize("name", REFUSED)
def test_models_that_are_not_known_id_by_id_are_refused(name: str) -> None:
    assert outcomes(name, range(3), 1) == {"refused": 3}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *OTHERS])
def test_libraries_agree_10_000_times(name: str) -> None:
    seen = outcomes(name, range(1000, 1250), 10)
    print(name, dict(seen))
    assert min(seen["yes"] * 5, seen["no"]) >= 200, seen
    assert seen["undecided"] <= sum(seen.values()) // 20, seen
