"""Pieces that are tokens by themselves, and special tokens, judged piece by piece and by the walk, by brute force."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.standing.laws import verdicts
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.families import Member, of_tokenizer_json
from tests.support.family_files import byte_fields
from tests.support.tokenizer_files import added_token, tokenizer_json
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa import Dictionary
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.symbols import Merges
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

WORDS = {97: "a", 98: "b", 99: "c", 32: " ", 256: "ab", 257: "bc", 258: "abc"}
CANONICAL = {"": [], "abc": [258], **{word: [id] for id, word in WORDS.items()}}


@pytest.fixture(scope="module", params=["walk", "pieces"])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    return Tuning(close_window=4, patience=4, walks=request.param == "walk")


def with_abc(specials: tuple[Special, ...] = (), *, first_id: int = 0) -> Tokenizer:
    # a≀bc is dead, so that abc is made only as a whole piece.
    rules = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    ids = np.arange(first_id, first_id + 256 + len(rules), dtype=np.int32)
    return tokenizer_of(rules, r" ?[abc]+|\s|[^abc\s]+", specials, True, ids=ids, whole_piece=True)


def encoded(text: str) -> list[int]:
    """Cut before every space; a piece that is a token is that token, others merge by the two live rules."""
    ids: list[int] = []
    pieces = text.replace(" ", "\0 ").split("\0")
    for piece in pieces:
        if piece in CANONICAL:
            ids += CANONICAL[piece]
            continue
        while piece:
            word = next(word for word in ("ab", "bc", piece[0]) if piece.startswith(word))
            ids.append(next(id for id, each in WORDS.items() if each == word))
            piece = piece[len(word) :]
    return ids


def test_every_short_stream(tuning: Tuning) -> None:
    tokenizer = with_abc()
    wrong = 0
    for length in range(5):
        for ids in product(WORDS, repeat=length):
            expected = encoded("".join(WORDS[id] for id in ids))
            verdict = validate_tuned(tokenizer, np.array(ids, dtype=np.int32), tuning=tuning)
            assert bool(verdict) == (list(ids) == expected), (ids, expected, verdict)
            if not verdict:
                wrong += 1
                assert verdict.index == next(i for i in range(length) if list(ids[: i + 1]) != expected[: i + 1])
    assert wrong > 1_500


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        ([256, 99], "the piece 'abc' is a token, and is emitted without merging"),
        ([258, 97], "'abc' (258) is emitted only as a whole piece"),
        ([32, 258], "'abc' (258) is emitted only as a whole piece"),
        ([97, 0xFF, 98, 99], "the bytes ff are not UTF-8, so no text has these ids"),
        ([97, 0xE2, 0x82, 98, 99], "the bytes e2 82 are not UTF-8, so no text has these ids"),
        ([*b"<e>", 98], "the text spells the special token '<e>' (300)"),
        ([300, 97], "the text spells the special token '<e>a' (301)"),
    ],
)
def test_the_reason_is_told(tuning: Tuning, ids: list[int], reason: str) -> None:
    verdict = validate_tuned(with_abc((Special(300, "<e>"), Special(301, "<e>a"))), ids, tuning=tuning)
    assert not verdict
    assert verdict.reason == reason


def test_a_token_that_spells_a_special_token_is_never_canonical(tuning: Tuning) -> None:
    # Be it the special token itself, or have more at either end; but not if it has a part of it only.
    rules = [(b"<", b"e"), (b"<e", b">"), (b"a", b"<e>"), (b"<e>", b"b"), (b"e", b">"), (b"e>", b"c"), (b"a", b"<")]
    dictionary = Dictionary(rules, bytes(range(256)))
    n = len(dictionary.alphabet)
    contents = Contents(
        format="tiktoken",
        dictionary=dictionary,
        ids=np.arange(n, dtype=np.int32),
        specials=(Special(n, "<e>"),),
        finds_specials=True,
    )
    tokenizer = Tokenizer(contents, PreTokenizer(Splitting("tiktoken", (Split(r"\S+|\s+"),))))
    of = {word: int(dictionary.alphabet.number(word)) for word in (b"a", b"b", b" ", *(u + v for u, v in rules))}
    spelling = [id for word, id in of.items() if b"<e>" in word]
    assert len(spelling) == 3
    passed = 0
    for before, behind in product([[], [of[b"a"]], [of[b" "]], [n]], [[], [of[b"b"]], [of[b" "]], [n]]):
        for id in spelling:
            verdict = validate_tuned(tokenizer, [*before, id, *behind], tuning=tuning)
            assert not verdict
            assert verdict.index is not None
            assert verdict.index <= len(before)
        passed += sum(
            bool(validate_tuned(tokenizer, [*before, of[word], *behind], tuning=tuning))
            for word in (b"<e", b"a<", b"e>", b"e>c")
        )
    assert passed > 20


def test_separators_that_are_no_ids_of_a_vocabulary_with_a_hole_in_front(tuning: Tuning) -> None:
    tokenizer = with_abc(first_id=5)
    for separator in (2, 1 << 20):
        assert validate_tuned(tokenizer, [102, separator, 263, separator], documents=separator, tuning=tuning)
        verdict = validate_tuned(tokenizer, [102, separator, 261, 104], documents=separator, tuning=tuning)
        assert (verdict.index, verdict.canonical_ids) == (2, (263,))


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_what_is_kept_does_not_grow_with_the_stream(tuning: Tuning, size: int) -> None:
    tuning = replace(tuning, window=64)
    validator = tuned_validator(with_abc(), tuning=tuning)
    ids = np.array([256, 32, 97, 32, 256, 99] * 1_000, dtype=np.int32)
    kept = []
    for begin in range(0, len(ids), size):
        assert list(validator.feed(ids[begin : begin + size])) == []
        kept.append(validator.n_kept)
    assert max(kept) < 200 + size
    assert list(validator.finish()) == []


def improper() -> Tokenizer:
    """Ranks abc, ab, bc, ca, cab: abc is stronger than the ab that it is made of; cab is never made."""
    pairs = [(b"a", b"bc", 0), (b"ab", b"c", 0), (b"a", b"b", 1), (b"b", b"c", 2), (b"c", b"a", 3), (b"ca", b"b", 4)]
    dictionary = Dictionary([pair[:2] for pair in pairs], bytes(range(256)))
    number = dictionary.alphabet.number
    columns = [[number(u), number(v), rank, number(u + v)] for u, v, rank in pairs]
    contents = Contents(
        format="tiktoken",
        dictionary=dictionary,
        ids=np.arange(len(dictionary.alphabet), dtype=np.int32),
        merges=Merges(*np.array(columns, dtype=np.int32).T.copy()),
    )
    return Tokenizer(contents, PreTokenizer(Splitting("tiktoken", (Split(" |[^ ]+"),))))


def test_of_two_equal_pieces_the_wrong_one_is_told(tuning: Tuning) -> None:
    tokenizer = improper()
    number = tokenizer.dictionary.alphabet.number
    a, b, c, ab, bc, abc, cab = (int(number(word)) for word in (b"a", b"b", b"c", b"ab", b"bc", b"abc", b"cab"))
    space = ord(" ")
    pieces = [[abc], [ab, c], [a, bc], [a, b], [bc, ab], [c, ab], [cab]]
    wrong = 0
    for chosen in product(pieces, repeat=3):
        ids = [id for piece in chosen for id in (*piece, space)]
        expected = tokenizer.encode(tokenizer.decode(ids)).tolist()
        verdict = validate_tuned(tokenizer, ids, tuning=tuning)
        assert bool(verdict) == (ids == expected)
        if not verdict:
            wrong += 1
            assert verdict.index == next(i for i in range(len(ids)) if ids[: i + 1] != expected[: i + 1])
            assert "encoded differently" in verdict.reason
    assert wrong > 200


@pytest.mark.parametrize("ignores_merges", [False, True])
def test_each_violation_of_an_improper_dictionary_differs_from_what_belongs_there(
    tmp_path: Path, ignores_merges: bool
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    # ab≀c comes before a≀b, so the rules are improper; (x goes past the end of a piece.
    rules = [(b"ab", b"c"), (b"a", b"b"), (b"!", b"("), (b"(", b"x"), (b" ", b"x")]
    fields = tokenizer_json(rules)
    fields["model"]["ignore_merges"] = ignores_merges
    (tmp_path / "tokenizer.json").write_text(json.dumps(fields), encoding="utf-8")
    tokenizer = tokdfa.load(tmp_path / "tokenizer.json")
    assert not tokenizer.dictionary.properness()
    theirs = tokenizers.Tokenizer.from_str(json.dumps(fields))
    words = [int(tokenizer.encode(symbol)[0]) for symbol in "!(x abc"] + [*range(256, 256 + len(rules))]
    drawn = random.Random(ignores_merges)
    beyond, wrong = 0, []
    for _ in range(200):
        ids = drawn.choices(words, k=drawn.randrange(1, 8))
        canonical = theirs.encode(tokenizer.decode(ids), add_special_tokens=False).ids
        validator = tuned_validator(
            tokenizer, tuning=drawn.choice([Tuning(), Tuning(close_window=4, patience=4, window=8)])
        )
        found = [violation for id in ids for violation in validator.feed([id])]
        found += validator.finish()
        repaired, at = [], 0
        for violation in found:
            assert violation.ids != violation.canonical_ids, ids
            assert violation.index < len(ids), ids
            repaired += [*ids[at : violation.start], *(violation.canonical_ids or ())]
            at = violation.start + len(violation.ids)
        assert repaired + ids[at:] == canonical, ids
        assert [*validate(tokenizer, ids, all=True).violations] == found, ids
        beyond += any(violation.kind == "boundary" for violation in found)
        wrong.append((ids, len(found)))
    assert beyond > 30
    # Each of them is a document of a file, and a part of a report.
    (tmp_path / "ids.jsonl").write_text("".join(f"{ids}\n" for ids, _ in wrong))
    report = tokdfa.check_shard(tokenizer, tmp_path / "ids.jsonl")
    assert (report.violations, report.wrong_documents) == (sum(n for _, n in wrong), sum(n > 0 for _, n in wrong))
    starts = np.cumsum([0, *(len(ids) for ids, _ in wrong[:-1])])
    stream = [id for ids, _ in wrong for id in ids]
    assert tokdfa.validation_report(tokenizer, stream, documents=starts).n_violations == report.violations


def with_plain_added_tokens(drawn: random.Random) -> Member:
    """Draw a tokenizer with added tokens of plain letters, so that ids spell them and continue within a token."""
    while True:
        fields = byte_fields(drawn)
        fields["added_tokens"] = []
        for content in drawn.sample(["the", "th", "ab", "b ", "a", " a", "aa", "e", "he", "é", "b\n", "ba"], 2):
            if content not in fields["model"]["vocab"]:
                id = len(fields["model"]["vocab"]) + len(fields["added_tokens"])
                fields["added_tokens"].append(added_token(id, content, special=drawn.random() < 0.5))
        member = of_tokenizer_json("plain added tokens", fields)
        if member is not None and fields["added_tokens"]:
            return member


def test_what_follows_an_added_token_that_ids_spell_is_repaired_with_it() -> None:
    met: Counter[str] = Counter()
    for seed in (*range(8), 39, 48, 55, 61, 66):
        member = with_plain_added_tokens(random.Random(seed))
        for number in range(4):
            met += verdicts.check(member, random.Random(f"{seed} {number}"))
    assert met["repaired"] > 10
    assert met["several violations"] > 10


@pytest.mark.parametrize(
    ("contents", "ids", "canonical"),
    [
        ([".l"], [".", "li", "ng"], [".l", "ing"]),
        ([".l", "i.l"], [".", "li", ".", "li", "ng"], [".l", "i.l", "ing"]),
        ([".l", "in"], [".", "li", "n", "g"], [".l", "in", "g"]),
        ([".l"], [".", "l\u00c3", "\u00a9a"], [".l", "\u00c3", "\u00a9a"]),
    ],
)
@pytest.mark.parametrize("splits", [True, False])
def test_a_token_goes_on_after_an_added_token(
    contents: list[str], ids: list[str], canonical: list[str], splits: bool
) -> None:
    rules = [(b"l", b"i"), (b"n", b"g"), (b"i", b"ng"), (b"l", b"\xc3"), (b"\xa9", b"a")]
    fields = tokenizer_json(rules)
    # Without its pattern, pairs of neighbours are judged without pieces.
    fields["pre_tokenizer"]["use_regex"] = splits
    number = dict(fields["model"]["vocab"])
    for content in contents:
        number[content] = len(number)
    fields["added_tokens"] = [added_token(number[content], content) for content in contents]
    tokenizer = tokdfa.load(json.dumps(fields).encode())
    given, wanted = [number[token] for token in ids], [number[token] for token in canonical]
    assert tokenizer.encode(tokenizer.decode(given)).tolist() == wanted
    verdict = tokenizer.validate(given, all=True)
    assert verdict.index == 0
    verdicts.check_repairs(given, wanted, verdicts.found(verdict.violations))
    assert verdict.violations[0].kind == "special-token"
