"""Texts encoded by real tokenizers of six families, aligned in pairs: their libraries decode the same boundaries."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import pytest
import tokenizers

import tokdfa
from tests.support.real_tokenizers import family_files

NAMES = ["gpt2", "qwen2_5", "llama2", "gemma2", "bert", "yi"]
# BERT lowers and strips texts, so that only some are decoded as they were.
PLAIN = "this sentence is spelled alike by all of the tokenizers including bert in 2026"
RICH = "  Der Fluß, 漢字を読む — naïve café\n\n\tdef f(x):\n        return x*1000  # 🎉👩‍🚀 हिन्दी ё"


def files() -> dict[str, Path]:
    if "TOKDFA_DATA" not in os.environ:
        return {}
    data = Path(os.environ["TOKDFA_DATA"], "vocabs")
    return {"gpt2": data / "gpt2" / "tokenizer.json", "bert": data / "bert_uncased_tokenizer.json"} | family_files()


def ends(library: tokenizers.Tokenizer, ids: list[int], text: str) -> set[int]:
    """Return the ends of ids in bytes, except for those within characters, by decoding each beginning."""
    found = (library.decode(ids[:n], skip_special_tokens=True) for n in range(len(ids) + 1))
    return {len(part.encode()) for part in found if text.startswith(part)}


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [*combinations(NAMES, 2)])
def test_boundaries_of_real_pairs_are_those_that_libraries_decode(one: str, other: str) -> None:
    paths = files()
    if not {one, other} <= paths.keys():
        pytest.skip(f"TOKDFA_FAMILIES lacks {one} or {other}")
    libraries = [tokenizers.Tokenizer.from_file(str(paths[name])) for name in (one, other)]
    both = [tokdfa.load(paths[name]) for name in (one, other)]
    for text in (PLAIN,) if "bert" in (one, other) else (PLAIN, RICH):
        # The control tokens that a library adds have no bytes.
        ids = [library.encode(text).ids for library in libraries]
        decoded = libraries[0].decode(ids[0])
        assert decoded == libraries[1].decode(ids[1])
        found = tokdfa.align(both[0], ids[0], both[1], ids[1])
        assert found.text.decode() == decoded
        shared = ends(libraries[0], ids[0], decoded) & ends(libraries[1], ids[1], decoded)
        assert {*found.offsets[~found.within_characters].tolist()} == shared
        assert len(shared) > 5
