"""Contents with rules that are found when something asks for them."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.tokenizers.formats.contents import Contents, LateContents


class Finding:
    """A function that finds the contents of a small tokenizer and counts its calls; at first it runs out of memory."""

    def __init__(self, n_failures: int = 0) -> None:
        self.n_calls, self.n_failures = 0, n_failures
        contents: Contents = tokdfa.default_tokenizer().contents
        self.found = {name: getattr(contents, name) for name in ("dictionary", "ids", "extra", "merges")}

    def __call__(self) -> dict[str, Any]:
        self.n_calls += 1
        if self.n_calls <= self.n_failures:
            raise MemoryError
        return self.found


def test_rules_are_found_once_when_something_asks_for_them() -> None:
    finding = Finding()
    contents = LateContents.of(finding, {"format": "sentencepiece"})
    assert (contents.format, contents.algorithm, contents.atoms, contents.says_splitting) == (
        "sentencepiece", "byte pair", (), True,
    )  # fmt: skip
    assert finding.n_calls == 0
    with ThreadPoolExecutor(4) as pool:
        assert len({id(found) for found in pool.map(lambda _: contents.dictionary, range(8))}) == 1
    assert contents.ids is finding.found["ids"]
    assert (contents.extra, contents.merges) == (finding.found["extra"], None)
    assert finding.n_calls == 1


def test_loading_does_not_ask_for_them(data: Path) -> None:
    tokenizer: Any = tokdfa.load(data / "vocabs" / "mistral_v3.model")
    assert isinstance(tokenizer.contents, LateContents)
    assert tokenizer.contents._find is not None
    assert len(tokenizer.encode("Some words")) > 0
    assert tokenizer.contents._find is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given)), replace])
def test_copies_have_the_rules(copied: Any) -> None:
    contents = LateContents.of(Finding(), {"format": "sentencepiece"})
    twin = copied(contents)
    assert [*twin.dictionary] == [*contents.dictionary]
    assert np.array_equal(twin.ids, contents.ids)


def test_what_fails_is_tried_again() -> None:
    contents = LateContents.of(Finding(1), {"format": "sentencepiece"})
    with pytest.raises(MemoryError):
        _ = contents.merges
    assert contents.merges is None
    with pytest.raises(AttributeError, match="nothing"):
        _ = contents.nothing
