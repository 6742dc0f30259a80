"""Replacing in the ids of Unigram models: spaces after a boundary remain, as in the middle of a text."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import tokdfa
from tests.support.unigrams import trained_by_sentencepiece

sentencepiece = pytest.importorskip("sentencepiece")


@pytest.mark.parametrize("puts", [True, False])
@pytest.mark.parametrize("trims", [True, False])
def test_spaces_before_the_replaced_text_remain(puts: bool, trims: bool) -> None:
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(trained_by_sentencepiece("identity", False, 0))
    model.normalizer_spec.add_dummy_prefix, model.normalizer_spec.remove_extra_whitespaces = puts, trims
    data = model.SerializeToString()
    tokenizer, peer = tokdfa.load(data), sentencepiece.SentencePieceProcessor(model_proto=data)
    replacer = tokdfa.Replacer(tokenizer, "a", "the")
    n_spaces = 0
    for text in map("".join, product("ab ", repeat=5)):
        ids = peer.encode(text)
        if peer.encode(peer.decode(ids)) == ids:
            new = peer.decode(ids).replace("a", "the")
            assert replacer.replace(ids).ids.tolist() == peer.encode(new), text
            n_spaces += " the" in new
    assert n_spaces > 30
