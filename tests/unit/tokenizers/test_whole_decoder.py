"""Long streams are decoded by the bytes of their ids, as the steps of the decoder do it token by token."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.families import FAMILIES
from tokdfa.tokenizers.decoding import decode_tokens
from tokdfa.tokenizers.whole_decoder import WholeDecoder


@pytest.mark.parametrize("family", FAMILIES)
def test_long_streams_are_decoded_as_by_the_steps(family: str) -> None:
    n_by_bytes = n_replaced = 0
    for seed in range(25):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        for tokenizer in (member.tokenizer, member.tokenizer.later):
            decoder = tokenizer.decoder
            if not isinstance(decoder, WholeDecoder):
                continue
            for _ in range(4):
                ids = [id for _ in range(12) for id in member.stream(drawn, 20)]
                ids += drawn.choices(member.ids, k=64)
                # Any beginning may be what is removed from texts.
                ids = ids[drawn.randrange(8) :] if drawn.random() < 0.5 else [*drawn.choices(ids[:4], k=3), *ids]
                strings = tokenizer.token_strings
                expected = decode_tokens([strings[id] for id in ids], decoder._steps)
                decoder._n_read = len(tokenizer)
                found = decoder.text_of(np.array(ids, dtype=np.int32))
                assert found.text == expected.text, (seed, ids)
                assert found.ends.tolist() == expected.ends.tolist(), (seed, ids)
                n_by_bytes += tokenizer.strings.texts.spelled is not None
                n_replaced += "\ufffd" in found.text
    if family in ("Llama-2", "Gemma", "BPE of SentencePiece", "Unigram of SentencePiece"):
        assert n_by_bytes > 30
        assert n_replaced > 10
