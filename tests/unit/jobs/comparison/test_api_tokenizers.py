"""Comparing whole tokenizers: against all short texts, and on real ones against their libraries."""

from __future__ import annotations

import base64
import contextlib
import json
import random
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.extra import extra_file, llama3_json, ranks_of, write_json, write_tiktoken
from tests.support.tokenizer_files import as_bytes, tiktoken_lines, tokenizer_json
from tokdfa import Tokenizer, compare
from tokdfa.base.errors import AlphabetError, LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison import api as comparison
from tokdfa.jobs.comparison.api import compare_tokenizers
from tokdfa.jobs.comparison.models import DEFAULT, Tuning
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.tokenizers.pretokenizers.steps import NAMED

# Short texts are tried anyway; here the search is to find them.
SEARCH = Tuning(longest_tried=0)
SYMBOLS = ("a", "b", "é", " ", "ſ", "s", "'", "1", "\n")
PATTERNS = (
    *(NAMED[name].steps[0].pattern for name in ("gpt2_tiktoken", "cl100k", "o200k", "tekken", "llama3", "qwen2")),
    *("'(?:[sS])| ?[a-z]+|.|\n", ".|\n", "(?:.|\n)+", "[ab]+|[^ab]+", "a+b?|[^a]", "(?i:s)+|é+|(?:.|\n)"),
    *("a(?!b)|[^a]|a", "'(?i:s)|'?[a-zſé]+|[^a-zſé]"),
)


def write(path: Path, words: list[bytes], pattern: str) -> Tokenizer:
    ranks = {bytes([byte]): byte for byte in range(256)}
    for word in words:
        ranks.setdefault(word, len(ranks))
    path.write_bytes(tiktoken_lines(ranks))
    return tokdfa.load(path, pretokenizer=pattern)


def random_words(source: random.Random) -> list[bytes]:
    symbols = source.sample(SYMBOLS, source.randint(2, 4))
    tokens = [*(symbol.encode() for symbol in symbols), *(bytes([byte]) for byte in "é ſ".encode())]
    words = []
    for _ in range(source.randint(1, 7)):
        word = source.choice(tokens) + source.choice(tokens)
        if len(word) <= 6:
            words.append(word)
            tokens.append(word)
    return words


def key(found) -> tuple[int, int, bytes]:
    text = found.text.encode()
    return len(text), len(found.tokens_a) + len(found.tokens_b), text


def check(a: Tokenizer, b: Tokenizer, texts: list[str], *, ignore_ids: bool, tuning: Tuning = DEFAULT) -> str:
    """Fail if the answer is wrong on one of the texts, or a shorter one shows a difference; return the answer."""
    try:
        found = compare_tokenizers(a, b, ignore_ids=ignore_ids, tuning=tuning)
    except UnsupportedFeatureError:
        return "undecided"

    def ids(side: Tokenizer, text: str) -> list[object]:
        encoded = side.encode(text).tolist()
        return [side.decode_bytes([i]) for i in encoded] if ignore_ids else encoded

    separating = [text for text in texts if ids(a, text) != ids(b, text)]
    if found:
        assert not separating, separating[0]
        return "equivalent"
    text, ids_a, ids_b = found.witness
    assert (ids_a, ids_b) == (tuple(a.encode(text).tolist()), tuple(b.encode(text).tolist()))
    assert ids(a, text) != ids(b, text)
    if found.checked[Part.SHORTEST] is not Outcome.PROVEN:
        return "different"
    differences = [tokdfa.Difference(t, a.encode(t).tolist(), b.encode(t).tolist()) for t in separating]
    least = min(map(key, differences), default=None)
    assert least is None or key(found.witness) <= least
    return "different, shortest"


def random_pairs(
    folder: Path, source: random.Random, n: int, *, shuffled: bool = False
) -> Iterator[tuple[Tokenizer, Tokenizer]]:
    for trial in range(n):
        words = random_words(source)
        if shuffled:
            source.shuffle(words)
        other = list(words)
        change = source.random()
        if change < 0.2:
            other.pop()
        elif change < 0.4 and len(other) > 1:
            other[-1], other[-2] = other[-2], other[-1]
        patterns = source.choices(PATTERNS, k=2)
        if source.random() < 0.2:
            patterns[1] = patterns[0]
        yield (
            write(folder / f"a{trial}.tiktoken", words, patterns[0]),
            write(folder / f"b{trial}.tiktoken", other, patterns[1]),
        )


def check_random_pairs(folder: Path, seed: int, n: int, longest: int, *, shuffled: bool = False) -> dict[str, int]:
    texts = ["".join(text) for length in range(1, longest + 1) for text in product(SYMBOLS, repeat=length)]
    source = random.Random(seed)
    outcomes: dict[str, int] = {}
    for a, b in random_pairs(folder, source, n, shuffled=shuffled):
        outcome = check(a, b, texts, ignore_ids=source.random() < 0.5, tuning=SEARCH)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    return outcomes


def test_random_tokenizers_against_all_short_texts(tmp_path: Path) -> None:
    outcomes = check_random_pairs(tmp_path, 1, 9, 3)
    assert min(outcomes["equivalent"], outcomes["different, shortest"]) > 2


def test_random_improper_tokenizers_against_all_short_texts(tmp_path: Path) -> None:
    outcomes = check_random_pairs(tmp_path, 2, 7, 3, shuffled=True)
    assert min(outcomes["equivalent"], outcomes["different, shortest"]) > 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_many_random_improper_tokenizers_against_all_short_texts(tmp_path: Path, seed: int, tally: Tally) -> None:
    outcomes = check_random_pairs(tmp_path, 200 + seed, 60, 3, shuffled=True)
    print(outcomes)
    assert min(outcomes["equivalent"], outcomes["different, shortest"]) > 10
    tally("comparison", "random cases", sum(outcomes.values()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_many_random_tokenizers_against_all_short_texts(tmp_path: Path, seed: int, tally: Tally) -> None:
    outcomes = check_random_pairs(tmp_path, 100 + seed, 50, 3)
    assert min(outcomes["equivalent"], outcomes["different, shortest"]) > 10
    tally("comparison", "random cases", sum(outcomes.values()))


@pytest.mark.parametrize(
    ("words", "patterns", "expected"),
    [
        # The long s is an s where case is ignored: the pieces differ, and the ids where a token spans their boundary.
        ([b"\xc5\xbf", b"\xc5\xbfa"], ("'(?i:s)|'?[a-zſ]+|(?s:.)", "'[sS]|'?[a-zſ]+|(?s:.)"), "'ſa"),
        ([b"\xc5\xbf", b"'\xc5\xbf"], ("'(?i:s)|'?[a-zſ]+|(?s:.)", "'[sS]|'?[a-zſ]+|(?s:.)"), None),
        # A token within a symbol.
        ([b"\xa9a"], (".|\n", "(?:.|\n)+"), "©a"),
        ([b"\xa9\xc3"], (".|\n", "(?:.|\n)+"), "©À"),
        ([b"11", b"111"], (r"\p{N}{1,2}|\P{N}", r"\p{N}{1,3}|\P{N}"), "111"),
        ([b"11", b"1111"], (r"\p{N}{1,2}|\P{N}", r"\p{N}{1,3}|\P{N}"), "011"),
        ([b"ab", b"abab"], (r"\p{N}{1,2}|\P{N}+", r"\p{N}{1,3}|\P{N}+"), None),
    ],
)
def test_what_only_some_dictionaries_tell(tmp_path: Path, words, patterns, expected: str | None) -> None:
    a, b = (write(tmp_path / f"{i}.tiktoken", words, pattern) for i, pattern in enumerate(patterns))
    found = compare(a, b)
    assert bool(found) == (expected is None)
    if expected is None:
        assert found.checked[Part.SEARCH] is Outcome.COMPLETE
    else:
        assert found.witness.text == expected
        assert found.checked[Part.SHORTEST] is Outcome.PROVEN
    assert bool(compare(b, a)) == bool(found)


def test_ids_that_differ_are_counted(tmp_path: Path) -> None:
    a, b = (
        write(tmp_path / "a.tiktoken", [b"ab", b"cd"], "gpt2"),
        write(tmp_path / "b.tiktoken", [b"cd", b"ab"], "gpt2"),
    )
    found = compare(a, b)
    assert found.witness == ("ab", (256,), (257,))
    assert (found.checked[Part.IDS], found.n_other_ids) == (Outcome.DIFFERENT, 2)
    ignored = compare(a, b, ignore_ids=True)
    assert ignored
    assert (ignored.checked[Part.IDS], ignored.n_other_ids) == (Outcome.IGNORED, 2)


def test_improper_ranks(tmp_path: Path) -> None:
    # abc is made through ab, which is weaker.
    improper = [b"abc", b"ab"]
    a, b = (write(tmp_path / f"{name}.tiktoken", improper, name) for name in ("cl100k", "llama3"))
    assert not a.dictionary.properness()
    assert compare(a, b).checked[Part.SEARCH] is Outcome.COMPLETE
    assert compare(a, write(tmp_path / "same.tiktoken", improper, "cl100k"))
    found = compare(a, write(tmp_path / "more.tiktoken", [*improper, b"abcd"], "cl100k"))
    assert found.witness.text == "abcd"
    assert found.checked[Part.SHORTEST] is Outcome.PROVEN
    assert found.checked[Part.DICTIONARY] is Outcome.DIFFERENT


def test_what_cannot_be_decided_is_not_claimed(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise LimitExceededError("more states than are looked at")

    a, b = (write(tmp_path / f"{name}.tiktoken", [b"ab"], name) for name in ("cl100k", "llama3"))
    quick = partial(compare_tokenizers, tuning=Tuning(max_seconds=0.1))
    monkeypatch.setattr(comparison, "_joint", refuse)
    with pytest.raises(
        UnsupportedFeatureError,
        match="neither a difference nor equivalence could be established: a pre-tokenizer has no automaton: more",
    ):
        quick(a, b)
    more = write(tmp_path / "more.tiktoken", [b"ab", b"abc"], "cl100k")
    found = quick(a, more)
    assert found.witness.text == "abc"
    # All texts of two bytes are tried.
    assert found.checked[Part.SHORTEST] is Outcome.PROVEN
    found = quick(more, write(tmp_path / "most.tiktoken", [b"ab", b"abc", b"abcd"], "cl100k"))
    assert found.witness.text == "abcd"
    assert found.checked[Part.SHORTEST] is Outcome.UNPROVEN
    with pytest.raises(AlphabetError, match="only two dictionaries, or two tokenizers, can"):
        compare(a, a.dictionary)


@pytest.fixture(scope="module")
def cl100k(data: Path):
    """tiktoken with cl100k's ranks under any pattern, and the ranks' file."""
    tiktoken = pytest.importorskip("tiktoken")
    path = data / "vocabs" / "cl100k_base.tiktoken"
    ranks = {base64.b64decode(word): int(rank) for word, rank in map(bytes.split, path.read_bytes().splitlines())}

    def encoding(pattern: str):
        return tiktoken.Encoding("cl100k", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    return path, encoding


def test_cl100k_and_the_spelling_of_its_pattern_for_tokenizers(cl100k) -> None:
    # Their splits differ on many texts, their ids never.
    path, encoding = cl100k
    found = compare(tokdfa.load(path, pretokenizer="cl100k"), tokdfa.load(path, pretokenizer="llama3"))
    assert found
    assert found.checked[Part.SEARCH] is Outcome.COMPLETE
    sides = [encoding(NAMED[name].steps[0].pattern) for name in ("cl100k", "llama3")]
    texts = ["".join(text) for length in range(1, 5) for text in product("'sa1 \n\t!", repeat=length)]
    assert sides[0].encode_ordinary_batch(texts) == sides[1].encode_ordinary_batch(texts)


@pytest.mark.slow
def test_cl100k_and_the_other_spelling_on_short_strings(cl100k, tally: Tally) -> None:
    from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer

    _, encoding = cl100k
    texts = ["".join(text) for length in range(1, 7) for text in product("'sa1 \n!", repeat=length)]
    pretokenizers = [pretokenizer(name) for name in ("cl100k", "llama3")]
    parted = sum(pretokenizers[0].split(text) != pretokenizers[1].split(text) for text in texts)
    assert parted > 0
    sides = [encoding(NAMED[name].steps[0].pattern) for name in ("cl100k", "llama3")]
    assert sides[0].encode_ordinary_batch(texts) == sides[1].encode_ordinary_batch(texts)
    tally("comparison", "exhaustive cases", len(texts))


@pytest.mark.parametrize(
    "other",
    [
        "digits by two",
        pytest.param("gpt2_tiktoken", marks=pytest.mark.slow),
        pytest.param("qwen2", marks=pytest.mark.slow),
        pytest.param("o200k", marks=pytest.mark.slow),
    ],
)
def test_cl100k_under_other_patterns(cl100k, other: str) -> None:
    path, encoding = cl100k
    pattern = NAMED["cl100k"].steps[0].pattern
    changed = pattern.replace("{1,3}", "{1,2}") if other == "digits by two" else NAMED[other].steps[0].pattern
    found = compare(tokdfa.load(path, pretokenizer="cl100k"), tokdfa.load(path, pretokenizer=changed))
    assert not found
    text, *ids = found.witness
    assert [tuple(encoding(p).encode_ordinary(text)) for p in (pattern, changed)] == ids
    assert ids[0] != ids[1]


@pytest.mark.slow
def test_cl100k_with_the_long_s(cl100k, tally: Tally) -> None:
    # No token of cl100k has a long s next to other symbols, so that a rewriting that forgets it changes no ids.
    path, encoding = cl100k
    pattern = NAMED["cl100k"].steps[0].pattern
    rewritten = pattern.replace("(?i:[sdmt]|ll|ve|re)", "(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])")
    assert rewritten != pattern
    assert compare(tokdfa.load(path, pretokenizer="cl100k"), tokdfa.load(path, pretokenizer=rewritten))
    texts = ["".join(text) for length in range(1, 5) for text in product("'ſsSa t", repeat=length)]
    assert encoding(pattern).encode_ordinary_batch(texts) == encoding(rewritten).encode_ordinary_batch(texts)
    tally("comparison", "exhaustive cases", len(texts))


@pytest.mark.slow
def test_llama3_is_its_rank_file(tmp_path: Path) -> None:
    # Its ranks are improper: 107 tokens are made through weaker ones, and 588 only as whole pieces.
    file = llama3_json()
    written = write_json({**file, "added_tokens": []}, tmp_path / "tokenizer.json")
    ranks = write_tiktoken(ranks_of(file["model"]["vocab"]), tmp_path / "llama3.tiktoken")
    a, b, c = (tokdfa.load(ranks, pretokenizer=name) for name in ("llama3", "cl100k", "o200k"))
    found = compare(tokdfa.load(written), a)
    assert found
    assert found.checked[Part.DICTIONARY] is Outcome.EQUIVALENT
    assert found.checked[Part.SEARCH] is Outcome.COMPLETE
    assert compare(a, b)
    found = compare(a, c)
    tiktoken = pytest.importorskip("tiktoken")
    rows = (line.split() for line in ranks.read_bytes().splitlines())
    table = {base64.b64decode(word): int(rank) for word, rank in rows}
    patterns = (NAMED[name].steps[0].pattern for name in ("llama3", "o200k"))
    sides = [tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=table, special_tokens={}) for pattern in patterns]
    assert [tuple(side.encode_ordinary(found.witness.text)) for side in sides] == [*found.witness[1:]]


@pytest.mark.slow
def test_versions_of_mistral_are_compared() -> None:
    names = ("tokenizer.model.v1", "*240216.model.v2", "*240323.model.v3", "*241114.model.v7")
    sides = [tokdfa.load(extra_file(name)) for name in names]
    found = compare(*sides[:2], ignore_ids=True)
    assert found
    assert not compare(*sides[:2])
    for one, other, piece in ((sides[1], sides[2], "[REFERENCE_DOC_0]"), (sides[2], sides[3], "[REF]")):
        found = compare(one, other)
        assert found.witness.text == piece
        assert found.checked[Part.SYMBOLS] is Outcome.DIFFERENT


def test_gpt2_and_its_spelling_for_tiktoken(data: Path) -> None:
    folder = data / "vocabs" / "gpt2"
    a, b = (tokdfa.load(folder / "merges.txt", pretokenizer=name) for name in ("gpt2", "gpt2_tiktoken"))
    assert compare(a, b)
    found = compare(a, tokdfa.load(data / "vocabs" / "cl100k_base.tiktoken", pretokenizer="cl100k"), ignore_ids=True)
    assert not found
    assert found.checked[Part.SHORTEST] is Outcome.PROVEN


@pytest.mark.parametrize(
    ("merges_a", "merges_b", "text"),
    [
        ([], [["ca", "c"]], None),
        ([["c", "a"]], [["c", "a"], ["cac", "a"]], None),
        ([["ca", "c"]], [["cac", "c"]], None),
        ([["c", "a"]], [["ca", "c"]], "ca"),
        ([["ca", "c"], ["c", "a"]], [["c", "a"], ["ca", "c"]], "caca"),
    ],
)
def test_rules_whose_parts_no_rule_makes(tmp_path: Path, merges_a, merges_b, text: str | None) -> None:
    sides = []
    for name, merges in (("a", merges_a), ("b", merges_b)):
        rules = tokenizer_json([], added_tokens=[])
        symbols = len(rules["model"]["vocab"])
        rules["model"]["vocab"] |= {"ca": symbols, "cac": symbols + 1, "cacc": symbols + 2, "caca": symbols + 3}
        rules["model"]["merges"] = merges
        path = tmp_path / name / "tokenizer.json"
        path.parent.mkdir()
        path.write_bytes(as_bytes(rules))
        sides.append(tokdfa.load(path))
    for one, other in (sides, sides[::-1]):
        found = compare(one, other)
        assert found.holds == (text is None)
        assert text is None or found.witness.text == text


def over_characters(merges: list[tuple[str, str]], tokens: list[str]) -> Tokenizer:
    vocab = {word: id for id, word in enumerate([*"abdegT1.", *tokens])}
    fields = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[])
    fields["model"] |= {"vocab": vocab, "merges": [*map(list, merges)]}
    return tokdfa.load(fields)


def test_a_rule_that_is_lost_is_found_by_its_own_texts_without_a_clock() -> None:
    source = random.Random(5)
    found = differing = 0
    while differing < 40:
        merges: list[tuple[str, str]] = []
        while len(merges) < 12:
            pair = tuple(source.choice([*"abdeg", *map("".join, merges)]) for _ in "uv")
            if pair not in merges and len("".join(pair)) < 6 and "".join(pair) not in map("".join, merges):
                merges.append(pair)
        lost = [*merges]
        lost.pop(source.randrange(4, 12))
        a, b = (over_characters(rules, [*map("".join, merges)]) for rules in (merges, lost))
        texts = ("".join(source.choices("abdeg", k=source.randrange(3, 9))) for _ in range(400))
        if not any(a.encode(text).tolist() != b.encode(text).tolist() for text in texts):
            continue
        differing += 1
        with contextlib.suppress(UnsupportedFeatureError):
            answer = compare_tokenizers(a, b, ignore_ids=True, tuning=Tuning(longest_tried=0, max_seconds=0.0))
            assert not answer
            text = answer.witness.text
            assert [a.name_of(id) for id in a.encode(text)] != [b.name_of(id) for id in b.encode(text)]
            found += 1
    assert found >= 38


def test_a_tokenizer_of_any_algorithm_is_the_same_as_itself(tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"},
    }  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps(fields))
    fields["model"]["vocab"]["c"] = 3
    (tmp_path / "b.json").write_text(json.dumps(fields))
    a, same, b = (tokdfa.load(tmp_path / name) for name in ("a.json", "a.json", "b.json"))
    assert tokdfa.compare(a, same)
    with pytest.raises(UnsupportedFeatureError, match="cannot be compared: 'WordLevel'"):
        tokdfa.compare(a, b)
