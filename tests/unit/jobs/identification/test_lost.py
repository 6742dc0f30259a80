"""Streams with unknown characters: their ids are held against no tokenizer."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.seeds import seeds
from tests.support.unknown_symbols import KINDS, Unknowing, as_tokenizers, of_tokenizers, text_of, trained
from tokdfa.jobs.identification.result import Identification

ROOT = Path(__file__).parents[4]


@cache
def lines() -> list[str]:
    """Return the lines of the project's pages, as far as they are plain English."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "notebooks").glob("*/*.md"))]
    every = (line for page in pages for line in page.read_text("utf-8").splitlines())
    return [line for line in every if line.isascii() and len(line) > 40]


def identified(folder: Path, ids: list[int], tokenizers: dict[str, tokdfa.AnyTokenizer]) -> Identification:
    np.save(folder / "ids.npy", np.array(ids))
    (found,) = tokdfa.identify_each(folder / "ids.npy", tokenizers)
    assert isinstance(found, Identification)
    return found


def candidates_of(kind: str, drawn: random.Random) -> dict[str, Unknowing]:
    """Return a tokenizer, nearly equal ones, and another one."""
    found = {"own": trained(kind, lines()[:700], drawn), "other": trained("wordpiece", lines()[700:1400], drawn)}
    if kind == "unigram.model":
        peer = as_tokenizers(found["own"].data, drawn)
        found |= {f"near {is_special}": of_tokenizers(peer, is_special=is_special) for is_special in (True, False)}
    elif not kind.endswith(".model"):
        found["near"] = trained(kind, lines()[:700], random.Random(drawn.random()))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_maker_of_a_stream_with_unknown_characters_is_named(kind: str, tmp_path: Path) -> None:
    for seed in seeds(1):
        drawn = random.Random(f"{kind} {seed}")
        candidates = candidates_of(kind, drawn)
        tokenizers = {name: each.load() for name, each in candidates.items()}
        for every in (8, 40, 300):
            text = text_of(drawn.sample(lines(), 150), drawn, every)
            ids = candidates["own"].encode(text)
            unknown = ids.count(candidates["own"].unknown)
            assert unknown > 1
            found = identified(tmp_path, ids, tokenizers)
            makers = {maker.name: maker.mistakes for maker in found.makers}
            if 8 * unknown > len(ids) and not makers:
                assert not found.is_enough
            else:
                assert makers.get("own") == (), (every, unknown, found.candidates)
                # Single characters are also the ids of words of one letter each.
                assert "other" not in makers or kind == "char.model"
                for name, each in candidates.items():
                    assert name in makers or each.encode(text) != ids, name
