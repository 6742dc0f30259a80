"""Places where texts over characters are cut: both sides, and streams in parts, are judged as a whole text is."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import random_files, random_steps, sentencepieces
from tests.support.editing import edited
from tests.support.seeds import seeds
from tests.support.tokenizer_files import tokenizer_json
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa.base.errors import AlphabetError, TokdfaError, TokenStreamError
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.engines.reencoding import TextComparison
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.boundaries.characters import CharacterBoundaries
from tokdfa.tokenizers.boundaries.protocol import CUT, Boundaries
from tokdfa.tokenizers.tokenizer import Tokenizer

ONE = Tuning(window=1 << 40)


class Peer(NamedTuple):
    """A tokenizer that cuts, the same one judged as a whole, and the library's encode and decode."""

    tokenizer: Tokenizer
    whole: Tokenizer
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    control: set[int]
    text: Callable[[random.Random], str]


def peer(path: Path, *rest: Any) -> Peer | None:
    try:
        tokenizer = tokdfa.load(path)
    except TokdfaError:
        return None
    if not isinstance(tokenizer, Tokenizer) or not isinstance(tokenizer.boundaries, CharacterBoundaries):
        return None
    whole = copy.copy(tokenizer)
    whole.boundaries = Boundaries("as asked")
    return Peer(tokenizer, whole, *rest)


def of_file(drawn: random.Random, path: Path) -> Peer | None:
    """A random tokenizer.json over characters, with steps before which texts can be cut."""
    tokenizers = pytest.importorskip("tokenizers")
    fields = random_files.character_file(drawn)
    fields["model"] |= {"end_of_word_suffix": None, "continuing_subword_prefix": None, "ignore_merges": False}
    fields["normalizer"] = drawn.choice([fields["normalizer"], *LLAMAS])
    step = {"type": "Split", "pattern": {"String": drawn.choice(" \u2581a")}, "invert": False}
    step["behavior"] = drawn.choice(["Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
    fields["pre_tokenizer"] = drawn.choice([None, None, step, random_steps.metaspace(drawn)])
    fields["decoder"] = drawn.choice([fields["decoder"], *DECODERS])
    path = path / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    try:
        theirs = tokenizers.Tokenizer.from_str(json.dumps(fields))
    except BaseException as error:
        if type(error).__name__ not in ("PanicException", "Exception"):
            raise
        return None
    contents = tuple(token["content"] for token in fields["added_tokens"])

    def decode(ids: list[int]) -> str:
        text: str = theirs.decode(ids, skip_special_tokens=False)
        return text

    def encode(text: str) -> list[int]:
        ids: list[int] = theirs.encode(text, add_special_tokens=False).ids
        return ids

    def text(drawn: random.Random) -> str:
        return random_steps.text(drawn, 30, (*contents, "ab", "a", " a", "  "))

    return peer(path, encode, decode, set(), text)


REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
PREPEND = {"type": "Prepend", "prepend": "\u2581"}
LLAMAS = [REPLACE, {"type": "Sequence", "normalizers": [PREPEND, REPLACE]}]
BACK = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
FUSED = [BACK, {"type": "ByteFallback"}, {"type": "Fuse"}]
DECODERS = [
    {"type": "Sequence", "decoders": FUSED},
    {"type": "Sequence", "decoders": [*FUSED, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
]


def of_model(drawn: random.Random, path: Path) -> Peer | None:
    """A random SentencePiece model, with tables of characters and trimmed white space."""
    pytest.importorskip("sentencepiece")
    data = sentencepieces.changed(drawn, drawn.choice([sentencepieces.RULES, sentencepieces.RULES, ("nmt_nfkc",)]))
    path = path / "tokenizer.model"
    path.write_bytes(data)
    encode, decode, control, _ = sentencepieces.oracle(data)

    def text(drawn: random.Random) -> str:
        return "".join(sentencepieces.text(drawn) for _ in range(drawn.randrange(1, 4)))

    return peer(path, encode, decode, control, text)


def streams(peer: Peer, text: str, drawn: random.Random) -> Iterator[list[int]]:
    """Yield the ids of a text, the ids of two parts of it, and spoiled ones."""
    ids = peer.encode(text)
    yield ids
    at = drawn.randrange(len(text) + 1)
    yield [*peer.encode(text[:at]), *peer.encode(text[at:])]
    every = np.flatnonzero(peer.tokenizer.means_something).tolist()
    yield edited(drawn, ids, every)


def check_texts(peer: Peer, text: str) -> int:
    """Compare a text with its two sides at each place where it is cut; return the number of places."""
    cuts = peer.tokenizer.boundaries
    assert isinstance(cuts, CharacterBoundaries)
    places = [at for at in range(1, len(text)) if cuts.at(text[at - 1], text[at]) == CUT]
    with suppress(AlphabetError):
        ids = peer.tokenizer.encode(text).tolist()
        for at in places:
            sides = (peer.tokenizer.encode(text[:at]), peer.tokenizer.later.encode(text[at:]))
            assert [*sides[0].tolist(), *sides[1].tolist()] == ids, (text[:at], text[at:])
        stream = peer.tokenizer.stream()
        size = 1 + len(text) % 4
        parts = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert np.concatenate([*parts, stream.finish()]).tolist() == ids, text
    return len(places)


def check_stream(peer: Peer, ids: list[int], drawn: random.Random) -> bool | None:
    """Compare the verdict on a stream in chunks with that on all of it, and with the library's."""
    array = np.array(ids, dtype=np.int32)
    size, tuning = drawn.randrange(1, 65), Tuning(window=drawn.choice([1, 2, 5, 64]))
    chunks = (array[at : at + size] for at in range(0, len(array), size))
    found = validate_tuned(peer.tokenizer, chunks, tuning=tuning)
    judge = TextComparison(peer.whole.round_trip, tuning=ONE)
    first = next(iter([*judge.feed(array), *judge.finish()]), None)
    assert (bool(found), found.index) == (first is None, first.index if first else None), ids
    if first is not None:
        assert found.witness is not None
        assert found.witness.byte_offset == first.byte_offset, ids
    whole = validate(peer.tokenizer, array, all=True)
    chunks = (array[at : at + size] for at in range(0, len(array), size))
    assert validate_tuned(peer.tokenizer, chunks, all=True, tuning=tuning).violations == whole.violations, ids
    if not peer.control.isdisjoint(ids):
        return None
    back = peer.decode(ids)
    try:
        assert peer.tokenizer.decode(ids) == back
    except TokenStreamError:
        assert not found
        return False
    again = peer.encode(back)
    assert bool(found) == (again == ids), (ids, again)
    if not found:
        different = (i for i, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
        assert found.index == next(different, min(len(ids), len(again))), (ids, again)
    return bool(found)


def assert_cuts_and_verdicts(
    make: Callable[[random.Random, Path], Peer | None], path: Path, chosen: range, n_texts: int
) -> list[int]:
    """Return the numbers of tokenizers, of cuts in texts, of streams that are not canonical, of such windows."""
    met = [0, 0, 0, 0]
    for seed in chosen:
        drawn = random.Random(seed)
        made = make(drawn, path)
        if made is None:
            continue
        met[0] += 1
        for _ in range(n_texts):
            text = made.text(drawn)
            met[1] += check_texts(made, text)
            for ids in streams(made, text, drawn):
                canonical = check_stream(made, ids, drawn)
                met[2] += canonical is False
                met[3] += check_windows(made, ids, canonical, drawn)
    return met


def check_windows(peer: Peer, ids: list[int], canonical: bool | None, drawn: random.Random) -> int:
    """Check that windows of canonical streams pass; return the number of those that do not."""
    condemned = 0
    for _ in range(3):
        begin = drawn.randrange(len(ids) + 1)
        window = ids[begin : drawn.randrange(begin, len(ids) + 1)]
        size, tuning = drawn.randrange(1, 9), Tuning(window=drawn.choice([1, 5, 64]))
        chunks = [np.array(window[at : at + size], dtype=np.int32) for at in range(0, len(window), size)]
        found = validate_tuned(peer.tokenizer, iter(chunks), window=True, tuning=tuning)
        condemned += not found
        # Streams with control pieces are judged between them.
        whole = bool(validate(peer.tokenizer, ids)) if canonical is None else canonical
        assert found or not whole, (ids, window, found.reason)
        if not found:
            every = validate(peer.tokenizer, ids, all=True).violations
            near = any(v.start <= begin + found.index and begin < v.start + len(v.ids) + 1 for v in every)
            # Byte tokens that decode to their names may happen to be the ids of the prefix space.
            by_chance = not validate(peer.tokenizer, ids[: every[0].start])
            assert near or by_chance, (ids, window)
    return condemned


KINDS = {"tokenizer.json": of_file, "SentencePiece": of_model}


def test_no_more_of_a_long_stream_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    for rule, text in (("identity", "the cat  ab\t中 "), ("nmt_nfkc", "the cat, 가1 ")):
        path = tmp_path / "tokenizer.model"
        path.write_bytes(sentencepieces.trained(rule, True))
        tokenizer = tokdfa.load(path)
        validator = tuned_validator(tokenizer, tuning=Tuning(window=64))
        ids = tokenizer.encode(text * 50)
        kept = []
        for _ in range(40):
            assert not [*validator.feed(ids)]
            kept.append(validator.n_kept)
        assert not [*validator.finish()]
        assert max(kept) < len(ids), kept


def bytes_as_tokens(decoder: dict[str, Any], symbols: str) -> dict[str, Any]:
    """A tokenizer.json with a token for each byte, and a few for characters."""
    vocab = {token: id for id, token in enumerate([*(f"<0x{byte:02X}>" for byte in range(256)), *symbols])}
    fields = tokenizer_json()
    fields["model"] |= {"vocab": vocab, "merges": [], "byte_fallback": True}
    return fields | {"added_tokens": [], "pre_tokenizer": None, "normalizer": LLAMAS[1], "decoder": decoder}


STRAY = (DECODERS[0], "\u2581a", ([256, 257], [256, 0x81, 0x81], [257, 0xE2, 0x81, 0x81, 257]))
"""Bytes that are no text, after a token that is right."""
NAMES = (
    {"type": "Metaspace", "replacement": "b", "prepend_scheme": "always"},
    "<>x0E1a",
    ([0xE2], [0xE2, 0x96, 0x81], [0x96, 0x81, 262]),
)
"""Bytes that decode to their names, at the beginning of a text, which the bytes of U+2581 are put before."""


@pytest.mark.parametrize(("decoder", "symbols", "pieces"), [STRAY, NAMES], ids=["stray", "names"])
def test_violations_are_the_same_however_a_stream_is_cut(
    decoder: dict[str, Any], symbols: str, pieces: tuple[list[int], ...], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(bytes_as_tokens(decoder, symbols)), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    assert isinstance(tokenizer, Tokenizer)
    assert not tokenizer.is_plain
    assert isinstance(tokenizer.boundaries, CharacterBoundaries)
    later = 0
    for first, second in itertools.product(pieces, repeat=2):
        ids = np.array([*first, *second, *first], dtype=np.int32)
        whole = validate(tokenizer, ids, all=True).violations
        later += sum(violation.index > 2 for violation in whole)
        assert all(a.start + len(a.ids) <= b.start for a, b in itertools.pairwise(whole)), ids
        for size, window in itertools.product((1, 3), (1, 5)):
            chunks = (ids[at : at + size] for at in range(0, len(ids), size))
            found = validate_tuned(tokenizer, chunks, all=True, tuning=Tuning(window=window)).violations
            assert found == whole, (ids, size, window)
    assert later > 4


@pytest.mark.parametrize("bytes_", [(0x2E, 0xCB), (0xCB, 0x2E), (0x2E, 0xCB, 0x2E), (0xCB,)])
def test_bytes_that_are_no_text_and_have_no_token(bytes_: tuple[int, ...], tmp_path: Path) -> None:
    # ASCII in a run that is not UTF-8 becomes U+FFFD with it; where that is dropped, its neighbours merge.
    tokenizers = pytest.importorskip("tokenizers")
    fields = bytes_as_tokens(DECODERS[0], "ab")
    vocab = {token: id for token, id in fields["model"]["vocab"].items() if id < 0xE0 or id > 0xFF}
    fields["model"] |= {"vocab": vocab | {"ab": 300}, "merges": [["a", "b"]]}
    fields["normalizer"] = None
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    tokenizer = tokdfa.load(path)
    ids = [256, *bytes_, 257]
    for stream, index in ((ids, 0), ([257, *ids, 256], 1)):
        again = theirs.encode(theirs.decode(stream)).ids
        assert again == [*stream[:index], 300, *stream[len(ids) + index :]]
        for size, window in itertools.product((1, 2, 9), (1, 5)):
            array = np.array(stream, dtype=np.int32)
            chunks = (array[at : at + size] for at in range(0, len(array), size))
            found = validate_tuned(tokenizer, chunks, tuning=Tuning(window=window))
            assert (bool(found), found.index) == (False, index), (stream, size, window)
    # Runs that are text are cut off as before.
    assert isinstance(tokenizer, Tokenizer)
    assert not tokenizer.is_plain
    assert tokenizer.boundaries.always_cut(np.array([256, 0x2E, 257], dtype=np.int32)).tolist() == [True, True]
    assert tokenizer.validate([256, 0x2E, 257])


@pytest.mark.parametrize("kind", KINDS)
def test_random_tokenizers(kind: str, tmp_path: Path) -> None:
    met = assert_cuts_and_verdicts(KINDS[kind], tmp_path, seeds(9), 8)
    assert met[0] > 2, met
    assert met[1] > 100, met
    assert met[2] > 30, met
    assert met[3] > 10, met


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_tokenizers(kind: str, tmp_path: Path, tally: Tally) -> None:
    chosen = seeds(2000)
    print(kind, assert_cuts_and_verdicts(KINDS[kind], tmp_path, chosen, 12), "of", len(chosen))
    tally("validation", "random cases", len(chosen))
