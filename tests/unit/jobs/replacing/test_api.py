"""Replacing in streams: real texts, chunks, streams that are not canonical, and bad input."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import regex
import tokenizers

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.tokenizer_files import added_token, as_bytes, tiktoken_lines, tokenizer_json
from tests.support.tuned import tuned
from tests.support.utf8 import is_utf8
from tokdfa.base.errors import (
    AlphabetError,
    LimitExceededError,
    PatternError,
    TokenStreamError,
    WrongTypeError,
)
from tokdfa.jobs.replacing.rewriting import Tuning

TOKENIZER = tokdfa.default_tokenizer()
VOCABULARIES = {"gpt2": None, "cl100k_base.tiktoken": "cl100k", "o200k_base.tiktoken": "o200k"}
CORPORA = ["english.txt", "python_code.txt", "multilingual.txt"]
# Rare and frequent matches, at seams and inside tokens, empty ones, groups, and texts that join their neighbours.
PAIRS = [
    ("whale|import|Paris", "Xyzzy"),
    ("ing", ""),
    (r"(\w+)([,.;])", r"\2\1"),
    (r"[0-9]+", r"<\g<0>>"),
    (r"\s+", " "),
    ("(?m)^", "> "),
    (r"\b", ""),
    ("[aeiou]", "e"),
    (r"(?i)the(?= )", "a\n"),
    (r"[а-яё]{2,}+|中", "é"),
]


@cache
def tokenizer(folder: Path, name: str) -> tokdfa.AnyTokenizer:
    return tokdfa.load(folder / "vocabs" / name, pretokenizer=VOCABULARIES[name])


def check_real(folder: Path, name: str, corpus: str, size: int, pairs: list[tuple[str, str]], chunk: int) -> int:
    known = tokenizer(folder, name)
    text = (folder / "corpora" / corpus).read_text("utf-8")[:size]
    ids = known.encode(text)
    n_changed = 0
    for pattern, replacement in pairs:
        expected, count = regex.subn(pattern, replacement, text)
        replacer = tokdfa.Replacer(known, pattern, replacement)
        found = replacer.replace(ids)
        np.testing.assert_array_equal(found.ids, known.encode(expected), err_msg=pattern)
        assert found.count == count
        parts = [*replacer.iter_replaced(ids[begin : begin + chunk] for begin in range(0, len(ids), chunk))]
        np.testing.assert_array_equal(np.concatenate([part.ids for part in parts]), found.ids)
        assert [change for part in parts for change in part.changes] == [*found.changes]
        n_changed += len(found.changes)
    return n_changed


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("corpus", CORPORA)
def test_real_texts_are_replaced_as_by_regex(data: Path, name: str, corpus: str) -> None:
    assert check_real(data, name, corpus, 2_000, PAIRS, 50) > 150


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("corpus", CORPORA)
def test_long_real_texts(data: Path, name: str, corpus: str, tally: Tally) -> None:
    assert check_real(data, name, corpus, 1_000_000, PAIRS, 10_000) > 10_000
    tally("searching", "real texts", 1)


@pytest.mark.parametrize("chunk", [*range(1, 65, 7), 64])
def test_chunks_make_no_difference(chunk: int) -> None:
    text = "A single man of large fortune; four or five thousand a year. What a fine thing for our girls!\n" * 3
    ids = TOKENIZER.encode(text)
    for pattern, replacement in [("i", "in"), ("(f)(o)", r"\2\1"), ("$", "."), ([" a", "r"], "")]:
        replacer = tokdfa.Replacer(TOKENIZER, pattern, replacement)
        whole = replacer.replace(ids)
        parts = [*replacer.iter_replaced(ids[begin : begin + chunk] for begin in range(0, len(ids), chunk))]
        assert [id for part in parts for id in part.ids.tolist()] == whole.ids.tolist()
        assert sum(part.count for part in parts) == whole.count > 0
        assert [change for part in parts for change in part.changes] == [*whole.changes]


def test_little_is_held() -> None:
    """Settled ids are given out: of many chunks, only the last few ids are still missing."""
    ids = TOKENIZER.encode("a single man of fortune, " * 1000)
    replacer = tokdfa.Replacer(TOKENIZER, "man", "woman")
    parts = replacer.iter_replaced(ids[begin : begin + 100] for begin in range(0, len(ids), 100))
    n_read = n_given = 0
    for part in parts:
        n_read = min(n_read + 100, len(ids))
        rows = part.changes.rows
        n_given += len(part.ids) - int((rows[:, 3] - rows[:, 2] - rows[:, 1] + rows[:, 0]).sum())
        assert n_read - n_given < 200
    assert n_given == len(ids)


def test_every_match_of_every_word() -> None:
    """Dense matches are given out as well, and not held together."""
    text = "a single man of fortune, " * 300
    ids = TOKENIZER.encode(text)
    replacer = tokdfa.Replacer(TOKENIZER, r"\w+", "x", max_pending=500)
    parts = [*replacer.iter_replaced(ids[begin : begin + 10] for begin in range(0, len(ids), 10))]
    new = np.concatenate([part.ids for part in parts])
    assert TOKENIZER.decode(new) == regex.sub(r"\w+", "x", text)
    assert TOKENIZER.validate(new)


# Words


def test_words_are_replaced_as_by_regex() -> None:
    text = "a man, a woman and a house"
    found = tokdfa.replace(TOKENIZER, ["man", "woman", "a"], r"<\g<0>>", TOKENIZER.encode(text))
    assert TOKENIZER.decode(found.ids) == regex.sub("man|woman|a", r"<\g<0>>", text)
    assert found.count == 6
    given = tokdfa.replace(TOKENIZER, iter([b"man", "a.c"]), "x", TOKENIZER.encode("man a.c abc"))
    assert TOKENIZER.decode(given.ids) == "x x abc"


def test_limit_replaces_the_first_ones() -> None:
    text = "a man, a man, a man"
    for limit in range(5):
        expected, count = text.replace("man", "boy", limit), min(limit, 3)
        for pattern in ("man", "man|$"):
            found = tokdfa.replace(TOKENIZER, pattern, "boy", TOKENIZER.encode(text), limit=limit)
            if pattern == "man" or limit < 4:
                assert TOKENIZER.decode(found.ids) == expected
                assert found.count == count
        replacer = tokdfa.Replacer(TOKENIZER, "man", "boy", limit=limit)
        ids = TOKENIZER.encode(text)
        parts = [*replacer.iter_replaced([ids[:4], ids[4:]])]
        assert TOKENIZER.decode(np.concatenate([part.ids for part in parts])) == expected


def test_nothing_matches() -> None:
    ids = TOKENIZER.encode("a single man")
    found = tokdfa.replace(TOKENIZER, "zebra", "x", ids)
    assert found.ids.tolist() == ids.tolist()
    assert (found.count, len(found.changes), found.starts) == (0, 0, None)
    assert tokdfa.replace(TOKENIZER, "a", "b", []).ids.tolist() == []
    assert TOKENIZER.decode(tokdfa.replace(TOKENIZER, "", "b", []).ids) == "b"


@pytest.mark.parametrize(("pattern", "replacement"), [("zebra", "x"), ("man", r"\g<0>"), ("z*", ""), ("$", "")])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, ">i4"])
def test_ids_of_which_none_changes_are_not_copied(pattern: str, replacement: str, dtype: str) -> None:
    ids = TOKENIZER.encode("a single man").astype(dtype)
    for given in (ids, ids[::-1][::-1], np.repeat(ids, 2)[::2]):
        found = tokdfa.replace(TOKENIZER, pattern, replacement, given)
        assert found.ids.dtype == np.int32
        assert found.ids.tolist() == ids.tolist()
        assert not found.ids.flags.writeable
        assert found.ids.flags.contiguous
        assert np.shares_memory(found.ids, given) == (given.dtype == np.int32 and given.flags.contiguous)
        assert given.flags.writeable


@pytest.mark.parametrize("replacement", ["", "boy", " Xyzzy Xyzzy Xyzzy" * 9])
@pytest.mark.parametrize("every", [1, 2, 1000])
def test_new_ids_are_fewer_or_more(replacement: str, every: int) -> None:
    """They are moved within their own memory, as long as this has room."""
    text = " ".join("man" if number % every == 0 else f"x{number}" for number in range(3000))
    ids = TOKENIZER.encode(text)
    before = ids.copy()
    found = tokdfa.replace(TOKENIZER, "man", replacement, ids)
    assert (ids == before).all()
    assert found.ids.tolist() == TOKENIZER.encode(text.replace("man", replacement)).tolist()
    assert found.ids.flags.writeable
    removed = [id for change in found.changes for id in ids[change.start : change.stop].tolist()]
    assert found.changes.removed.tolist() == removed
    inserted = [id for change in found.changes for id in found.ids[change.new_start : change.new_stop].tolist()]
    assert found.changes.inserted.tolist() == inserted


@pytest.mark.parametrize("wrong", [-1, TOKENIZER.n_ids, -(1 << 31), (1 << 31) - 1])
@pytest.mark.parametrize("place", [0, 1, 9, 20, 40_000, 99_999])
def test_what_is_not_an_id_is_found_wherever_it_is(wrong: int, place: int) -> None:
    """Before the first match, after it, and in the part that is copied while it is searched."""
    ids = np.resize(TOKENIZER.encode("a single man of fortune, "), 100_000).astype(np.int32)
    ids[place] = wrong
    for pattern in ("man", "zebra"):
        with pytest.raises(TokenStreamError, match=rf"^token {place}: (negative id|id out of range): {wrong} "):
            tokdfa.replace(TOKENIZER, pattern, "boy", ids)


@pytest.mark.parametrize("place", [3, 50, 60_000])
def test_unused_ids_are_refused(tmp_path: Path, place: int) -> None:
    words = [*(bytes([byte]) for byte in range(256)), b"ab"]
    path = tmp_path / "ranks.tiktoken"
    path.write_text("".join(f"{b64encode(word).decode()} {rank}\n" for rank, word in enumerate(words)))
    tokenizer = tokdfa.load(path, pretokenizer="gpt2", specials={"<s>": 300})
    assert tokenizer.n_ids == 301
    ids = np.full(70_000, 300, dtype=np.int32)
    ids[:2] = tokenizer.encode("ac")
    assert tokenizer.decode(tokdfa.replace(tokenizer, "c", "b", ids).ids[:2]) == "ab<s>"
    ids[place] = 299
    with pytest.raises(TokenStreamError, match=rf"^token {place}: no token has this id: 299$"):
        tokdfa.replace(tokenizer, "c", "b", ids)


def test_changes_are_a_sequence() -> None:
    found = tokdfa.replace(TOKENIZER, "[ae]", "", TOKENIZER.encode("a single man"))
    assert len(found.changes) == len([*found.changes]) == len(found.changes[:])
    assert found.changes[-1] == [*found.changes][-1]
    assert found.changes == tokdfa.replace(TOKENIZER, "[ae]", "", TOKENIZER.encode("a single man")).changes
    assert found.changes != tokdfa.replace(TOKENIZER, "[ae]", "", TOKENIZER.encode("a man")).changes
    assert found.changes != 3
    with pytest.raises(IndexError):
        found.changes[9]


# Streams that are not canonical


@pytest.mark.parametrize(("pattern", "text"), [("[a-z]|<", "<abc"), ("[a-c]|x<", ".x<abc."), ("<|[a-z]", "a<a<a.")])
@pytest.mark.parametrize("tuning", [Tuning(), Tuning(block=2, first_block=1)])
def test_matches_that_touch(pattern: str, text: str, tuning: Tuning) -> None:
    """Between two of them there was a cut, and is none between what comes in their places."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"  ": 256, b"    ": 257}
    known = tokdfa.load(tiktoken_lines(ranks), pretokenizer=r"\p{L}+|\s+|[^\s\p{L}]+")
    replacer = tuned(tokdfa.Replacer, tuning)(known, pattern, " ")
    expected = known.encode(regex.sub(pattern, " ", text)).tolist()
    ids = known.encode(text)
    assert replacer.replace(ids).ids.tolist() == expected
    parts = replacer.iter_replaced(ids[at : at + 1] for at in range(len(ids)))
    assert [id for part in parts for id in part.ids.tolist()] == expected


def test_ids_that_are_not_around_a_match_stay() -> None:
    split = [64, 261, 1193]  # a≀ s≀ingle
    ids = [*split, *TOKENIZER.encode(" man of large fortune").tolist(), *split]
    found = tokdfa.replace(TOKENIZER, "large", "small", ids)
    assert found.ids.tolist()[:3] == found.ids.tolist()[-3:] == split
    assert TOKENIZER.decode(found.ids) == "a single man of small fortune" + "a single"
    assert found.changes[0].start > 3


def test_streams_of_any_ids(data: Path) -> None:
    """For any ids the text is the new one, unless a match is not apart from bad bytes; chunks do not matter."""
    known = tokenizer(data, "gpt2")
    dice = random.Random(5)
    words = known.encode((data / "corpora" / "english.txt").read_text("utf-8")[:20_000])
    n_bad = n_refused = 0
    for pattern, replacement in [("e", "ee"), (r"(t)(h)", r"\2\1"), (" ", "_")]:
        replacer = tokdfa.Replacer(known, pattern, replacement)
        for _ in range(10):
            ids = dice.choices(words.tolist(), k=40)
            ids += dice.choices(range(256), k=dice.randrange(4))
            dice.shuffle(ids)
            data_before = known.decode_bytes(ids)
            n_bad += not is_utf8(data_before)
            if not is_utf8(data_before):
                try:
                    replacer.replace(ids)
                except TokenStreamError:
                    n_refused += 1
                    with pytest.raises(TokenStreamError, match="a match shares a token with bytes that are not UTF-8"):
                        replacer.replace(ids)
                    continue
            found = replacer.replace(ids)
            spelled = regex.sub(pattern.encode(), replacement.encode(), data_before)
            assert known.decode_bytes(found.ids) == spelled
            parts = replacer.iter_replaced([ids[begin : begin + 3] for begin in range(0, len(ids), 3)])
            assert [id for part in parts for id in part.ids.tolist()] == found.ids.tolist()
    assert n_bad - n_refused > 5


# Bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", b"b", ids),  # type: ignore[arg-type]
            WrongTypeError,
            r"^a replacement must be a str: b'b'$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", str.upper, ids),  # type: ignore[arg-type]
            WrongTypeError,
            r"^a replacement must be a str: .* \(a template such as r'\\1' refers to groups\)$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "(a)", r"\2", ids),
            PatternError,
            r"^the replacement is not a template for this pattern: no such group: '\\\\2' "
            r"\(a backslash is written \\\\\)$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "(?P<x>a)", r"\g<y>", ids),
            PatternError,
            r"^the replacement is not a template for this pattern: .*'\\\\g<y>' \(a backslash is written \\\\\)$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, ["a"], r"\1", ids),
            PatternError,
            r"^the replacement is not a template for this pattern: no such group",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", "\ud800", ids),
            PatternError,
            r"^character 0: the replacement has half of a surrogate pair, which cannot occur in a text: ",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, r"(a)\1", "b", ids),
            PatternError,
            r"^pattern, offset 3: a back-reference is not regular: ",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, [b"\xff"], "b", ids),
            PatternError,
            r"^a word that is not UTF-8 cannot be replaced: b'\\xff'$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", "b", [1, 2, 1 << 20]),
            TokenStreamError,
            r"^token 2: id out of range: 1048576 \(ids go from 0 to 4095\)$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", "b", [64, 261, 1193], check=True),
            TokenStreamError,
            r"^token 1: the ids are not canonical: .* \(without check, ids that are not around a match stay as they "
            r"are\)$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", "b", ids, limit=-1),
            WrongTypeError,
            r"^the number of matches to replace must be an integer, 0 or more: -1$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "a", "b", ids, documents=[0, 99]),
            TokenStreamError,
            r"^a document begins after the end of the stream: 99 \(the stream has 3 tokens\)$",
        ),
        (
            lambda ids: tokdfa.replace(TOKENIZER, "x*", "b", [*ids, 127]),
            TokenStreamError,
            r"^byte 12 of the text of tokens 0 to 4: not UTF-8, so this pattern cannot be searched for: b'",
        ),
    ],
)
def test_bad_input_is_named(call: Callable[[npt.NDArray[np.int32]], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(TOKENIZER.encode("a single man"))


def test_symbols_that_the_tokenizer_lacks(tmp_path: Path) -> None:
    fields = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[])
    fields["model"] |= {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(fields))
    known = tokdfa.load(path)
    assert tokdfa.replace(known, "b", "a", [2, 1]).ids.tolist() == [0, 0, 0]
    with pytest.raises(AlphabetError, match=r"^the new text of tokens 0 to 2: .*'c'"):
        tokdfa.replace(known, "b", "c", [2, 1])


def test_too_much_would_be_held() -> None:
    replacer = tokdfa.Replacer(TOKENIZER, "x*", "-", max_pending=10)
    with pytest.raises(LimitExceededError, match=r"^token 0: more than 10 tokens would have to be held "):
        [*replacer.iter_replaced(([64],) * 20)]
    assert replacer.replace([64] * 20).count == 21


def test_a_match_beside_bytes_that_are_not_utf8(data: Path) -> None:
    known = tokenizer(data, "gpt2")
    word = next(id for id in range(known.n_ids) if known.name_of(id) in (b" \xc3", b" \xe2", b" \xd0"))
    ids = [*known.encode("a b").tolist(), word, *known.encode(" b").tolist()]
    assert known.decode_bytes(tokdfa.replace(known, "b", "c", ids).ids) == known.decode_bytes(ids).replace(b"b", b"c")
    with pytest.raises(TokenStreamError, match=r"^token 2: a match shares a token with bytes that are not UTF-8"):
        tokdfa.replace(known, " ", "_", ids)


def test_captures_see_what_follows() -> None:
    """A path of the pattern that is allowed at the end of the text read so far may fail later."""
    text = "ab" + " man" * 200 + "z"
    ids = TOKENIZER.encode(text)
    for pattern in [r"(a[\s\S]*)\Z|(a)b", r"(a[^z]*)(?!z)$|(a)b", r"(a[^z]*+)z\Z|(a)b"]:
        replacer = tokdfa.Replacer(TOKENIZER, pattern, r"<\1|\2>")
        expected = TOKENIZER.encode(regex.sub(pattern, r"<\1|\2>", text)).tolist()
        assert replacer.replace(ids).ids.tolist() == expected, pattern
        found = replacer.iter_replaced(ids[at : at + 5] for at in range(0, len(ids), 5))
        assert [id for part in found for id in part.ids.tolist()] == expected, pattern


def test_pairwise_cuts_are_certain() -> None:
    """Each change begins and ends where the streams before and after agree, and nothing else differs."""
    ids = TOKENIZER.encode("a single man of large fortune " * 20)
    found = tokdfa.replace(TOKENIZER, "large|man", "small", ids)
    assert found.count == 40
    for one, other in pairwise(found.changes):
        between = ids[one.stop : other.start].tolist()
        assert between == found.ids[one.new_stop : other.new_start].tolist()


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "new"),
    [
        ("<a> x", "^( )", r"[\1]", "<a>[ ]x"),
        ("x <a>", "( )$", r"[\1]", "x[ ]<a>"),
        ("x<a>x", r"(x)\b", r"\1\1", "xx<a>xx"),
        ("<a>b", "a|b", "", "<a>"),
        ("c>b", "c", "<a", "<a>b"),
        ("c>b", r"c(>)", r"<a\1", "<a>b"),
    ],
)
def test_next_to_control_tokens_that_overlap_with_added_tokens(
    text: str, pattern: str, replacement: str, new: str
) -> None:
    """A text begins after one and ends before one; the text in between decides which of them is found."""
    fields = tokenizer_json()
    first = len(fields["model"]["vocab"])
    fields["added_tokens"] = [added_token(first, "<a>"), added_token(first + 1, ">b", special=False)]
    tokenizer = tokdfa.load(as_bytes(fields))
    peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
    found = tokdfa.replace(tokenizer, pattern, replacement, tokenizer.encode(text))
    assert found.ids.tolist() == peer.encode(new, add_special_tokens=False).ids
