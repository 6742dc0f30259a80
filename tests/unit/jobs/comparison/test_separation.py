"""The search for texts that separate two tokenizers, apart from its answers."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.jobs.comparison import models
from tokdfa.jobs.comparison.separation import Separation


def test_nothing_of_a_search_is_kept_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Short texts are tried anyway; here the search is to find them.
    monkeypatch.setattr(models, "short_texts", lambda longest: ())
    sides = []
    for name, words in (("a", [b"ab", b"abc"]), ("b", [b"bc", b"abc"])):
        ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(words)}
        (tmp_path / name).with_suffix(".tiktoken").write_bytes(tiktoken_lines(ranks))
        sides.append(tokdfa.load((tmp_path / name).with_suffix(".tiktoken"), pretokenizer=r"[a-c]+|[^a-c]"))
    searches = weakref.WeakSet[Separation]()
    made = 0
    begin = Separation.__init__

    def seen(self: Separation, *args: object, **kwargs: object) -> None:
        nonlocal made
        made += 1
        searches.add(self)
        begin(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Separation, "__init__", seen)
    assert not tokdfa.compare(*sides)
    gc.collect()
    assert made
    assert not searches
