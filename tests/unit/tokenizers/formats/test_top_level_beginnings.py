"""A space that Metaspace puts before the first piece only, after normalizers that remove or add characters."""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from typing import Any

import pytest
import tokenizers

import tokdfa
from tests.support import sentencepieces
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token
from tokdfa.base.errors import UnsupportedFeatureError

pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")

TEXTS = [*"abch  \u2581\n\tAé1½ﬁÅ\u200b\u00ad\u0001\u0300…\u3000", "  ", "e\u0301", "<x>", "ab"]
PIECES = ["<unk>", "\u2581", *"abch1/2\u2044Aék.", "\u2581a", "\u2581b", "ab", "\u2581ab", "12", ".."]


def _precompiled() -> dict[str, Any]:
    model = pb.ModelProto()
    model.ParseFromString(sentencepieces.trained("nmt_nfkc", True))
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    return {"type": "Precompiled", "precompiled_charsmap": charsmap}


def _replace(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


STEPS = [
    {"type": "Strip", "strip_left": False, "strip_right": True},
    {"type": "NFKC"},
    {"type": "Lowercase"},
    {"type": "Prepend", "prepend": "c"},
    _replace("a", "bc"),
]
LAST = [_replace(" {2,}", content, "Regex") for content in (" ", "\u2581", "\u2581b")] + [_replace("ab", " ")]


def _unigram(drawn: random.Random, steps: list[dict[str, Any]]) -> dict[str, Any]:
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": drawn.random() < 0.8}
    special = added_token(len(PIECES), "<x>", special=True) | {"normalized": False, "rstrip": drawn.random() < 0.5}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [[piece, -float(id)] for id, piece in enumerate(PIECES)]},
    }


def test_texts_begin_where_they_do_in_the_library() -> None:
    first, reached = _precompiled(), Counter[str]()
    for seed in seeds(30):
        drawn = random.Random(seed)
        steps = [*drawn.sample(STEPS, drawn.randrange(3)), *drawn.sample([first], drawn.randrange(2))]
        fields = _unigram(drawn, [*steps, *drawn.sample(LAST, drawn.randrange(3))])
        tokenizer, peer = tokdfa.load(fields), tokenizers.Tokenizer.from_str(json.dumps(fields))
        for _ in range(40):
            text = "".join(drawn.choices(TEXTS, k=drawn.randrange(8)))
            ids = tokenizer.encode(text).tolist()
            assert ids == peer.encode(text, add_special_tokens=False).ids, (seed, text)
            reached["removed" if text[:1] in ("\u00ad", "\u0001") else "kept"] += first in steps
    assert min(reached["removed"], reached["kept"]) > 10


@pytest.mark.parametrize(
    "step",
    [
        _replace("``", '"'),
        _replace("a", ""),
        {"type": "StripAccents"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
    ],
)
def test_a_text_that_may_lose_its_beginning_is_refused(step: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedFeatureError, match="a text that may have lost its beginning"):
        tokdfa.load(_unigram(random.Random(0), [step]))


def test_a_token_in_a_lengthened_beginning_is_refused() -> None:
    # The library takes both the "." and the rest of "…" for the beginning.
    fields = _unigram(random.Random(0), [{"type": "NFKC"}])
    inner = added_token(PIECES.index("."), ".", special=False) | {"normalized": True}
    with pytest.raises(UnsupportedFeatureError, match="that a normalizer may have lengthened"):
        tokdfa.load(fields | {"added_tokens": [*fields["added_tokens"], inner]})
