"""The canonical language of whole tokenizers is the set of sequences that encoding gives back."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.canonical_automaton import CanonicalAutomaton
from tests.support.tokenizer_files import as_bytes, tiktoken_lines, tokenizer_json
from tokdfa.automata.protocol import accepts
from tokdfa.base.errors import ImproperDictionaryError, TokenStreamError, UnsupportedFeatureError
from tokdfa.tokenizers.pretokenizers.steps import NAMED

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt")
WORDS = [b"ab", b"abc", b" a", b" ab", b"\n\n", b"  ", b"\xc3\xa9", b"a\xc3", b"\xaaa", b"\xaa ", b"'s", b"12", b"x'"]


def oracle(pattern: str, ranks: dict[bytes, int]) -> Any:
    """Return the encoding of tiktoken and a function that decides whether ids are canonical."""
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("oracle", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    def is_canonical(ids: list[int]) -> bool:
        try:
            text = encoding.decode_bytes(ids).decode("utf-8")
        except UnicodeDecodeError:
            return False
        return bool(encoding.encode_ordinary(text) == ids)

    return encoding, is_canonical


@pytest.mark.parametrize("name", ["gpt2_tiktoken", "cl100k", "o200k"])
def test_all_short_streams(name: str, tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(WORDS)}
    path.write_bytes(tiktoken_lines(ranks))
    automaton = CanonicalAutomaton(tokdfa.load(path, pretokenizer=name))
    _, is_canonical = oracle(NAMED[name].steps[0].pattern, ranks)
    ids = [ranks[word] for word in (b"a", b"b", b" ", b"\n", b"'", b"1", b"\xc3", b"\xa9", b"\xaa", *WORDS)]
    canonical = 0
    for length in range(4):
        for stream in product(ids, repeat=length):
            expected = is_canonical(list(stream))
            assert accepts(automaton, stream) == expected, stream
            canonical += expected
    assert canonical > 1_000
    source = random.Random(0)
    for _ in range(5_000):
        stream = tuple(source.choices(ids, k=source.randint(4, 8)))
        assert accepts(automaton, stream) == is_canonical(list(stream)), stream


def load_real(data: Path, name: str) -> tuple[CanonicalAutomaton, Any, Any]:
    import base64

    path = data / "vocabs" / f"{name}_base.tiktoken"
    rows = (line.split() for line in path.read_bytes().splitlines())
    encoding, is_canonical = oracle(
        NAMED[name].steps[0].pattern, {base64.b64decode(word): int(rank) for word, rank in rows}
    )
    return CanonicalAutomaton(tokdfa.load(path, pretokenizer=name)), encoding, is_canonical


@pytest.mark.parametrize(("name", "effects"), [("cl100k", 30), ("o200k", 83)])
def test_real_streams_and_spoiled_ones(name: str, effects: int, data: Path) -> None:
    automaton, encoding, is_canonical = load_real(data, name)
    source = random.Random(0)
    accepted = 0
    for corpus in CORPORA:
        text = (data / "corpora" / corpus).read_text("utf-8")[100_000:140_000]
        ids = encoding.encode_ordinary(text)
        assert accepts(automaton, ids)
        for _ in range(500):
            stream = spoiled(ids, source)
            expected = is_canonical(stream)
            assert accepts(automaton, stream) == expected, stream
            accepted += expected
    assert 300 < accepted < 1_400
    assert automaton.n_effects == effects


def spoiled(ids: list[int], source: random.Random) -> list[int]:
    """Return a window of a stream with one edit: replace, drop, swap, or repeat."""
    at = source.randrange(len(ids) - 12)
    stream = ids[at : at + source.randint(2, 12)]
    place = source.randrange(len(stream) - 1)
    kind = source.randrange(4)
    if kind == 0:
        stream[place] = source.choice((source.randrange(256), source.choice(ids)))
    elif kind == 1:
        del stream[place]
    elif kind == 2:
        stream[place], stream[place + 1] = stream[place + 1], stream[place]
    else:
        stream.insert(place, stream[place])
    return stream


def test_gpt2_with_its_special_token(data: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = data / "vocabs" / "gpt2" / "tokenizer.json"
    library = tokenizers.Tokenizer.from_file(str(path))
    automaton = CanonicalAutomaton(tokdfa.load(path))
    spelled_out = [27, 91, 437, 11205, 2302, 91, 29]
    assert library.decode(spelled_out) == "<|endoftext|>"
    assert not accepts(automaton, spelled_out)
    assert not accepts(automaton, [50256, *spelled_out])
    text = (data / "corpora" / "english.txt").read_text("utf-8")[:20_000]
    ids = library.encode(text).ids
    assert accepts(automaton, ids)
    assert accepts(automaton, [*ids, 50256, *ids, 50256])
    source = random.Random(1)
    for _ in range(500):
        stream = spoiled(ids, source)
        if source.random() < 0.3:
            stream.insert(source.randrange(len(stream)), 50256)
        words = library.decode(stream, skip_special_tokens=False)
        expected = "\ufffd" not in words and library.encode(words).ids == stream
        assert accepts(automaton, stream) == expected, stream


def test_moves_are_steps(tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(WORDS)}
    path.write_bytes(tiktoken_lines(ranks))
    automaton = CanonicalAutomaton(tokdfa.load(path, pretokenizer="gpt2_tiktoken"))
    states = {automaton.initial}
    for _ in range(2):
        found = set()
        for state in states:
            moves = dict(automaton.moves(state))
            assert list(moves) == sorted(moves)
            assert all(moves.get(id) == automaton.step(state, id) for id in range(automaton.tokenizer.n_ids))
            found.update(moves.values())
        states |= set(random.Random(0).sample(sorted(found, key=repr), 20))


def test_improper_ranks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.tiktoken"
    ranks = {bytes([byte]): byte for byte in range(256)}
    path.write_bytes(tiktoken_lines(ranks | {b"abc": 256}))
    with pytest.raises((UnsupportedFeatureError, ImproperDictionaryError)):
        CanonicalAutomaton(tokdfa.load(path, pretokenizer="cl100k"))
    path.write_bytes(tiktoken_lines(ranks))
    with pytest.raises(UnsupportedFeatureError, match="leave out text"):
        CanonicalAutomaton(tokdfa.load(path, pretokenizer="a+"))
    automaton = CanonicalAutomaton(tokdfa.load(path, pretokenizer="cl100k"))
    for id in (-1, 256, 10**9):
        with pytest.raises(TokenStreamError, match="no token has this id"):
            automaton.step(automaton.initial, id)
    spaced = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(pre_tokenizer=spaced)))
    with pytest.raises(UnsupportedFeatureError, match="inserts spaces"):
        CanonicalAutomaton(tokdfa.load(path))
