"""Long streams are decoded by the bytes of their ids, as the steps of the decoder do it token by token."""

from __future__ import annotations

import random

import numpy as np
import pytest
import tokenizers

import tokdfa
from tests.support.families import FAMILIES
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.decoding import _characters, decode_tokens
from tokdfa.tokenizers.whole_decoder import WholeDecoder


@pytest.mark.parametrize("family", FAMILIES)
def test_long_streams_are_decoded_as_by_the_steps(family: str) -> None:
    n_by_bytes = n_replaced = 0
    for seed in range(12):
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
        assert n_by_bytes > 12
        assert n_replaced > 4


def test_each_byte_in_no_character_is_replaced() -> None:
    drawn = random.Random(7)
    known = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBD, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5]
    for _ in range(20_000):
        data = bytes(drawn.choices(known, k=drawn.randint(1, 8)))
        data = drawn.choice([b"", "\u00e9".encode(), "\ufffd".encode(), "\U0001f600".encode()]) + data
        found, is_whole = _characters(data)
        assert len(found) == len(data)
        expected: list[str] = []
        while len(expected) < len(data):
            following = (data[len(expected) :][:size] for size in range(1, 5))
            whole = next((each for each in following if is_utf8(each)), b"")
            expected += [*[""] * (len(whole) - 1), whole.decode()] if whole else ["\ufffd"]
        assert found == expected, data
        assert is_whole == is_utf8(data)


def test_a_token_without_text_ends_a_run_of_byte_tokens() -> None:
    strings = [*(f"<0x{byte:02X}>" for byte in range(256)), "a", ""]
    vocab = {string: id for id, string in enumerate(strings)}
    model = {"type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": True, "fuse_unk": True}
    tokenizer, peer = (
        tokdfa.load({"model": model, "decoder": {"type": "ByteFallback"}}),
        tokenizers.decoders.ByteFallback(),
    )
    decoder, drawn, n_split = tokenizer.decoder, random.Random(1), 0
    assert isinstance(decoder, WholeDecoder)
    stream = tokdfa.StreamDecoder(tokenizer)
    for _ in range(60):
        ids = drawn.choices([0xC3, 0xA9, 0x41, 256, 257], [9, 9, 1, 9, 1], k=200)
        ids += [256, 0xC3, 257, 0xA9, 256] if drawn.random() < 0.5 else [0xC3, 0xA9, 257]
        ids = [256, *("\u00e9".encode() * 100), *ids[drawn.choice([0, 200]) :]]
        text = peer.decode([strings[id] for id in ids])
        decoder._n_read = len(tokenizer)
        assert tokenizer.decode(ids) == text, ids
        stream.reset()
        assert stream.feed(ids) + stream.finish() == text, ids
        data = bytes(0x61 if id == 256 else id for id in ids if id != 257)
        n_split += is_utf8(data) and data.decode() != text
    assert n_split > 10
