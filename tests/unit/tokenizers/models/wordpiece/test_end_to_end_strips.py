"""Added tokens that strip: the ids are the library's, and so are the places where those tokens come from."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import random_files
from tests.support.tokenizer_files import added_token
from tokdfa import WordPieceTokenizer
from tokdfa.jobs.validation.api import check
from tokdfa.jobs.validation.window import Tuning

tokenizers = pytest.importorskip("tokenizers")


def load(fields: dict[str, Any], folder: Path) -> WordPieceTokenizer:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    assert isinstance(tokenizer, WordPieceTokenizer)
    return tokenizer


def like_mpnet(*tokens: dict[str, Any]) -> dict[str, Any]:
    fields = random_files.wordpiece_file(random.Random(0))
    vocab = {"[UNK]": 0, "a": 1, "##b": 2, ".": 3, "<s>": 4, "<mask>": 5}
    fields["model"] |= {"vocab": vocab, "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    fields["decoder"]["prefix"] = "##"
    return fields | {"added_tokens": [added_token(4, "<s>"), *tokens]}


@pytest.mark.parametrize(("lstrip", "rstrip"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("unit", ["characters", "bytes"])
def test_a_mask_that_strips(lstrip: bool, rstrip: bool, unit: Any, tmp_path: Path) -> None:
    fields = like_mpnet(added_token(5, "<mask>", lstrip=lstrip, rstrip=rstrip))
    ours, theirs = load(fields, tmp_path), tokenizers.Tokenizer.from_str(json.dumps(fields))
    for text in ["ab <mask> .", "<mask>", "\u00a0\t<mask>\u3000 <mask>\n", "é <s> <mask><mask> é", "ab<mask>ab", ""]:
        expected = theirs.encode(text, add_special_tokens=False)
        tokens = ours.encode_with_offsets(text, unit)
        assert tokens.ids.tolist() == expected.ids
        places = zip(tokens.begins.tolist(), tokens.ends.tolist(), strict=True)
        for id, place, (start, stop) in zip(expected.ids, places, expected.offsets, strict=True):
            if id == 5:
                width = [len(text[:at].encode()) if unit == "bytes" else at for at in (start, stop)]
                assert list(place) == width, (text, expected.offsets)
        again = theirs.encode(theirs.decode(expected.ids, skip_special_tokens=False), add_special_tokens=False)
        assert bool(ours.validate(expected.ids)) == (again.ids == expected.ids)


@pytest.mark.parametrize(("lstrip", "rstrip"), [(True, False), (False, True), (True, True)])
def test_violations_beside_a_mask_that_strips(lstrip: bool, rstrip: bool, tmp_path: Path) -> None:
    """Ids of a mask end with its content: in the library's text the space after it belongs to the next word."""
    fields = like_mpnet(added_token(5, "<mask>", lstrip=lstrip, rstrip=rstrip))
    ours, theirs = load(fields, tmp_path), tokenizers.Tokenizer.from_str(json.dumps(fields))
    n_after_masks = 0
    for ids in (list(ids) for n in (2, 3, 4) for ids in product((1, 2, 3, 5), repeat=n)):
        text = theirs.decode(ids, skip_special_tokens=False)
        mended, at = [], 0
        for each in check(ours, np.array(ids), all=True, tuning=Tuning(at_once=1)).violations:
            before = theirs.decode(ids[: each.index], skip_special_tokens=False)
            assert text.startswith(before)
            assert each.byte_offset == len(before), (ids, text)
            mended += [*ids[at : each.start], *(each.canonical_ids or ())]
            at = each.start + len(each.ids)
            n_after_masks += 5 in ids[: each.index]
        assert mended + ids[at:] == theirs.encode(text, add_special_tokens=False).ids, (ids, text)
    assert n_after_masks > 50


def test_odd_added_tokens_have_texts_encoded_piece_by_piece() -> None:
    strips = added_token(5, "<mask>", lstrip=True)
    for odd in ([strips, added_token(6, "a b")], [added_token(5, "<mask>", single_word=True)]):
        fields = like_mpnet(*odd)
        tokenizer, peer = tokdfa.load(fields), tokenizers.Tokenizer.from_str(json.dumps(fields))
        assert not isinstance(tokenizer, WordPieceTokenizer)
        for text in ("a  <mask> b", "a b <mask>", "a<mask>b", "<mask> a  b", "a b<mask>"):
            assert tokenizer.encode(text).tolist() == peer.encode(text, add_special_tokens=False).ids, text
