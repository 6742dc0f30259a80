"""Safe cuts of ids are the safe cuts of their text between tokens, up to any index, also in long streams."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.sentencepieces import trained
from tests.support.tokenizer_files import TEXTS, tokenizer_json
from tokdfa.base.errors import TokenStreamError

TOKENIZER = tokdfa.load(tokenizer_json())
assert isinstance(TOKENIZER, tokdfa.Tokenizer)


def random_text(random: Random, n: int) -> str:
    return "".join(random.choice([*TEXTS, " ", "the", "  ", "'s", "12"]) for _ in range(n))


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("ends", [True, False])
def test_they_are_those_of_the_text(begins: bool, ends: bool) -> None:
    random, found = Random(1), 0
    for _ in range(40):
        text = random_text(random, 12)
        ids = TOKENIZER.encode(text)
        places = TOKENIZER.safe_cuts(ids, begins=begins, ends=ends).tolist()
        of_text = {*TOKENIZER.safe_cuts(text, begins=begins, ends=ends).tolist()}
        starts = [len(TOKENIZER.decode_bytes(ids[:place])) for place in range(len(ids))]
        at_byte = {len(text[:place].encode()) for place in of_text}
        assert places == [place for place in range(1, len(ids)) if starts[place] in at_byte]
        for stop in range(len(ids) + 1):
            last = max((place for place in places if place <= stop), default=0)
            assert TOKENIZER.last_safe_cut(ids, stop, begins=begins, ends=ends) == last
        found += len(places)
    assert found > 300


def test_long_streams_are_read_in_parts() -> None:
    text = random_text(Random(2), 60_000)
    ids = TOKENIZER.encode(text)
    assert len(ids) > 3 << 16
    places = TOKENIZER.safe_cuts(ids)
    ends_of_symbols = np.cumsum([len(symbol.encode()) for symbol in text])
    safe_bytes = ends_of_symbols[TOKENIZER.safe_cuts(text) - 1]
    starts = np.cumsum(np.diff(TOKENIZER.id_spellings.offsets)[ids])[:-1]
    assert places.tolist() == (np.flatnonzero(np.isin(starts, safe_bytes)) + 1).tolist()
    for stop in (70_000, 130_000, len(ids) - 1):
        assert TOKENIZER.last_safe_cut(ids, stop) == places[places <= stop][-1]


def test_beside_bytes_that_are_not_utf8_nothing_is_safe() -> None:
    lead = TOKENIZER.encode("é").tolist()
    ids = [*TOKENIZER.encode("the the").tolist(), 161, 161, *TOKENIZER.encode(" the the"), *lead]
    data = [TOKENIZER.decode_bytes([id]) for id in ids]
    places = TOKENIZER.safe_cuts(ids).tolist()
    assert all(data[place].startswith(b" ") for place in places)
    assert len(places) >= 2


def test_tokenizers_over_characters() -> None:
    tokenizer = tokdfa.load(trained("identity", byte_fallback=True))
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    ids = tokenizer.encode("a b")
    assert tokenizer.last_safe_cut(ids, len(ids)) in [0, *tokenizer.safe_cuts(ids).tolist()]


@pytest.mark.parametrize("not_ids", [5, None, ["a"], [1.5], [[1, 2]], [10**6], [-1]])
def test_what_is_not_ids_is_refused_alike_by_both(not_ids: Any) -> None:
    for ask in (TOKENIZER.safe_cuts, lambda ids: TOKENIZER.last_safe_cut(ids, 1)):
        with pytest.raises(TokenStreamError, match=r"ids? (must be|out of range)|negative id"):
            ask(not_ids)


def test_places_that_are_not_there() -> None:
    with pytest.raises(TokenStreamError, match="no such place"):
        TOKENIZER.last_safe_cut([0, 1], 3)
    with pytest.raises(TokenStreamError, match="no such place"):
        TOKENIZER.last_safe_cut("ab", -1)
    with pytest.raises(TokenStreamError):
        TOKENIZER.safe_cuts([10**6])
    assert TOKENIZER.safe_cuts([]).tolist() == []
    assert TOKENIZER.safe_cuts("").tolist() == []
