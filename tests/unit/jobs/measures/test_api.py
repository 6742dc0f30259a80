"""check_bytes against brute force: random small tokenizers and tables, and all texts of a few bytes."""

from __future__ import annotations

import random
from itertools import pairwise, product

import numpy as np
import pytest

import tokdfa
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.canonical_by_definition import Definition
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.measures.byte_tables import ByteTable, of_formula, read_table, write_table
from tokdfa.tokenizers.tokenizer import Tokenizer

LONGEST = 4
# The first bytes of é, à and ä are the same, and the others have the last bytes of é and à in any order.
CHARACTERS = ["a", "b", "c", " ", "é", "à", "ä", "©", "\xa0", "\u0800", "\u0820", "\u0829", "\u1a60", "\u1a69"]
TEXTS = sorted(
    ("".join(text) for n in range(1, LONGEST + 1) for text in product(CHARACTERS, repeat=n)),
    key=lambda text: len(text.encode()),
)
TEXTS = [text for text in TEXTS if len(text.encode()) <= LONGEST]
RULES = [(b"a", b"b"), (b"b", b"a"), (b" ", b"a"), (b"\xc3", b"\xa9"), (b"ab", b"a"), (b"a", b"a"), (b"b", b"ab")]
PATTERNS = [None, " ?[ab]+|[^ab]+", "[a-z]| ?[^a-z]+", "a+|[^a]"]


def tokenizers(source: random.Random) -> tuple[Tokenizer, str | None]:
    """Return a random tokenizer and its pattern."""
    tokens, rules = {b"a", b"b", b" ", b"\xc3", b"\xa9"}, []
    for left, right in source.sample(RULES, len(RULES)):
        if {left, right} <= tokens and left + right not in tokens and source.random() < 0.6:
            rules.append((left, right))
            tokens.add(left + right)
    pattern = source.choice(PATTERNS)
    specials = source.choice([[], ["ba"], ["a c"]])
    return tokenizer_of(rules, pattern, specials, finds_specials=source.random() < 0.7), pattern


def random_table(tokenizer: Tokenizer, source: random.Random) -> ByteTable:
    """Return the right table with a few counts changed, often such that the changes cancel, and perhaps with flags."""
    table = of_formula(tokenizer, "bytes")
    id_of = {tokenizer.decode_bytes([id]): id for id in range(tokenizer.n_ids)}
    named = [id_of[word] for word in (b"a", b"b", b" ", b"\xc3", b"\xa9", b"\xa0")] + [*range(256, tokenizer.n_ids)]
    kind = source.randrange(4)
    if kind == 0:
        # The first byte of a symbol counts for all of its bytes.
        for word, id in id_of.items():
            if len(word) == 1 and word[0] >= 0x80:
                table.counts[id] = 0 if word[0] < 0xC0 else 2 + (word[0] >= 0xE0) + (word[0] >= 0xF0)
    if kind != 1 and source.random() < 0.7:
        table.counts[source.choice(named)] += 1
    if kind < 2:
        return table
    spaces, boundaries = np.zeros((2, tokenizer.n_ids), dtype=bool)
    spaces[source.sample(named, 2)] = True
    boundaries[source.sample(named, source.randrange(len(named)))] = True
    table.counts[spaces] = np.maximum(table.counts[spaces] - source.randrange(2), 0)
    return ByteTable(table.counts, spaces, boundaries)


def counted_by_hand(table: ByteTable, ids: list[int]) -> int:
    """Return the sum of the counts of ids."""
    total = int(table.counts[ids].sum())
    if table.spaces is not None:
        assert table.boundaries is not None
        total += sum(bool(table.spaces[b]) and not table.boundaries[a] for a, b in pairwise(ids))
    return total


def outcomes(seeds: range, tables: int) -> dict[tuple[bool, bool], int]:
    """Compare decisions with brute force; return how often they were yes, and how often a short text was found."""
    seen: dict[tuple[bool, bool], int] = {}
    for seed in seeds:
        source = random.Random(seed)
        tokenizer, pattern = tokenizers(source)
        definition = Definition(tokenizer, pattern)
        controls = {*tokenizer.control_ids.tolist()}
        streams = [(text, ids) for text in TEXTS if not controls & {*(ids := definition.encode(text))}]
        for _ in range(tables):
            table = random_table(tokenizer, source)
            wrong = (text for text, ids in streams if counted_by_hand(table, ids) != len(text.encode()))
            expected = next(wrong, None)
            found = tokdfa.check_bytes(tokenizer, table)
            if expected is not None:
                assert found.witness is not None, (seed, table)
                assert found.witness.bytes == len(expected.encode()), (seed, table)
            if found.witness is not None:
                witness = found.witness
                assert witness.shortest
                assert list(witness.ids) == definition.encode(witness.text)
                assert witness.counted == counted_by_hand(table, [*witness.ids]) != witness.bytes
                assert expected is not None or witness.bytes > LONGEST
            outcome = bool(found), expected is not None
            seen[outcome] = seen.get(outcome, 0) + 1
    return seen


def test_brute_force_agrees() -> None:
    seen = outcomes(range(20), 20)
    assert min(seen[True, False] * 2, seen[False, True]) >= 80, seen


@pytest.mark.slow
def test_brute_force_agrees_10_000_times() -> None:
    seen = outcomes(range(1000, 1200), 50)
    assert min(seen[True, False], seen[False, True]) >= 1000, seen


def test_ids_of_no_stream_may_count_anything() -> None:
    # Within a piece, b follows a only as the token ab; the third rule is dead.
    tokenizer = tokenizer_of([(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")])
    table = of_formula(tokenizer, "bytes").counts
    table[258] = 17
    found = tokdfa.check_bytes(tokenizer, table)
    assert found
    assert found.n_wrong == 0


@pytest.mark.parametrize("wrong", [-1, 0.5, float("nan"), 1 << 40])
def test_counts_that_are_no_counts_are_refused(wrong: float) -> None:
    tokenizer = tokdfa.default_tokenizer()
    table = np.ones(tokenizer.n_ids)
    table[7] = wrong
    with pytest.raises(FileFormatError, match="id 7"):
        tokdfa.check_bytes(tokenizer, table)


def test_tables_of_another_length_are_refused() -> None:
    tokenizer = tokdfa.default_tokenizer()
    others = ["a"] * tokenizer.n_ids, np.ones(tokenizer.n_ids, dtype=bool)
    for table in (np.ones(tokenizer.n_ids + 1, dtype=int), np.ones((2, 2), dtype=int), *others):
        with pytest.raises(FileFormatError):
            tokdfa.check_bytes(tokenizer, table)
    with pytest.raises(WrongTypeError, match=r"no such formula or file: 'letters' \(formulas are bytes, "):
        tokdfa.check_bytes(tokenizer, "letters")
    with pytest.raises(WrongTypeError, match="did you mean decoded"):
        tokdfa.check_bytes(tokenizer, "decode")


@pytest.mark.parametrize(
    ("flags", "match"),
    [
        (np.ones(9, dtype=bool), r"table, has_leading_space: a table has a flag for each of the 4096 ids: \(9,\)"),
        (np.full(4096, 2), "table, has_leading_space, id 0: a flag is 0 or 1: 2"),
    ],
)
def test_flags_that_are_not_one_an_id_are_refused(flags: np.ndarray, match: str) -> None:
    with pytest.raises(FileFormatError, match=match):
        tokdfa.check_bytes(tokdfa.default_tokenizer(), ByteTable(np.ones(4096, dtype=int), flags))


def test_tables_are_read_as_they_were_written(tmp_path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    table = of_formula(tokenizer, "bytes")
    write_table(tmp_path / "table.npy", table)
    (tmp_path / "table.json").write_text(str(table.counts.tolist()))
    flags = np.zeros(tokenizer.n_ids, dtype=bool)
    np.savez(tmp_path / "table.npz", base_bytes=table.counts, has_leading_space=flags, is_boundary_token=flags)
    for name in ("table.npy", "table.json", "table.npz"):
        read = read_table(tmp_path / name, tokenizer.n_ids)
        assert read.counts.tolist() == table.counts.tolist()
        assert tokdfa.check_bytes(tokenizer, read)
    (tmp_path / "table.json").write_text("\n" + str(table.counts.tolist()))
    assert read_table(tmp_path / "table.json", tokenizer.n_ids).counts.tolist() == table.counts.tolist()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "table: the file is empty"),
        (b"\x80\x02}q\x00.", "is not a table"),
        (b"PK\x03\x04", "is not a table"),
        (b'{"a": 1}', "in JSON is a list"),
        (b"[1, 1, true]", "^[^:]*table, id 2: .* from 0 to 2147483647: True"),
        (b"[1, -1]", "id 1: .* -1$"),
        (b"[2147483648]", "id 0: .* 2147483648$"),
        (b"[NaN]", "id 0: .* nan$"),
    ],
)
def test_files_without_counts_are_refused_with_the_reason(data: bytes, reason: str, tmp_path) -> None:
    (tmp_path / "table").write_bytes(data)
    with pytest.raises(FileFormatError, match=reason):
        read_table(tmp_path / "table", tokdfa.default_tokenizer().n_ids)


def test_a_space_that_is_counted_twice_is_found() -> None:
    # The count of a token has its space, and the flag counts it again: a public mistake of 2026.
    tokenizer = tokdfa.default_tokenizer()
    right = of_formula(tokenizer, "bytes").counts
    spaces = np.array([tokenizer.decode_bytes([id]).startswith(b" ") for id in range(tokenizer.n_ids)])
    twice = tokdfa.check_bytes(tokenizer, ByteTable(right, spaces, np.zeros_like(spaces)))
    assert twice.witness is not None
    assert (twice.witness.counted, twice.witness.bytes) == (3, 2)
    # A space taken off first is right everywhere but at the beginning of a text.
    begins = tokdfa.check_bytes(tokenizer, ByteTable(right - spaces, spaces, np.zeros_like(spaces)))
    assert begins.witness is not None
    assert (begins.witness.text, begins.witness.counted) == (" ", 0)


def test_other_models_are_refused_by_name() -> None:
    tokenizer = tokenizer_of([(b"a", b"b")], suffix="</w>")
    with pytest.raises(UnsupportedFeatureError, match="suffix"):
        tokdfa.check_bytes(tokenizer, "bytes")
