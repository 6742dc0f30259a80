"""Tests for `tokdfa.splices.result`: what a verdict says."""

from __future__ import annotations

from tokdfa.splices.result import Splice, SplitTexts


def test_a_verdict_says_what_it_found() -> None:
    texts = SplitTexts("a", "s", (64,), (82,), (289,))
    assert texts.text == "as"
    assert Splice(False, texts).reason == "the shortest texts for which not: 'a' + 's', ids 64 + 82, as one text 289"
    some = SplitTexts("a", "s", (64,), (82,), (289,), shortest=False)
    assert Splice(False, some).reason.startswith("texts for which not: 'a' + 's'")
    assert Splice(True).reason.startswith("the ids of both texts, one after the other, are always those")
    assert Splice(True)
    assert not Splice(False, texts)
