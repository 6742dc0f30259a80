"""Special tokens in streams are where the bytes of the ids before them end, for every family and in any chunks."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
import tokenizers

import tokdfa
from tests.support.families import FAMILIES
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.searching.stream import iter_special_tokens
from tokdfa.tokenizers.protocol import AnyTokenizer

VARYING = ["BPE of SentencePiece", "Unigram of SentencePiece", "Llama-2", "WordPiece"]


def spans(tokenizer: AnyTokenizer, ids: list[int], drawn: random.Random) -> list[tuple[int, int, int, int]]:
    """The special tokens of a stream in two chunks."""
    cut = drawn.randrange(len(ids) + 1)
    chunks = [np.array(ids[:cut], dtype=np.int32), np.array(ids[cut:], dtype=np.int32)]
    return [tuple(match) for match, _ in iter_special_tokens(tokenizer, ["all"], chunks)]


@pytest.mark.parametrize("family", [*VARYING, "Gemma", "bytes"])
def test_offsets_are_the_lengths_of_what_the_library_decodes(family: str) -> None:
    n_found = n_varied = 0
    for seed in range(3):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        specials = sorted(special.id for special in member.tokenizer.specials)
        for _ in range(12 if specials else 0):
            ids = member.stream(drawn)
            for _ in range(drawn.randrange(1, 5)):
                ids.insert(drawn.choice([0, len(ids), drawn.randrange(len(ids) + 1)]), drawn.choice(specials))
            spelled = [member.spell(ids[:index]) for index in range(len(ids) + 1)]
            if None in spelled:
                continue
            ends = [len(data) for data in spelled if data is not None]
            expected = [
                (*pair, index, index + 1) for index, pair in enumerate(pairwise(ends)) if ids[index] in specials
            ]
            try:
                assert spans(member.tokenizer, ids, drawn) == expected, ids
            except UnsupportedFeatureError:
                continue
            n_found += len(expected)
            alone = sum(len(member.spell([id]) or b"") for id in ids)
            n_varied += alone != ends[-1]
    assert n_found > 20
    assert n_varied > 3 or family not in VARYING


def test_the_last_word_has_no_space_after_it() -> None:
    vocab = {name: number for number, name in enumerate(["a", "a</w>", "ab</w>", "b</w>"])}
    file = tokenizer_json(
        pre_tokenizer={"type": "WhitespaceSplit"},
        decoder={"type": "BPEDecoder", "suffix": "</w>"},
        added_tokens=[added_token(4, "<s>")],
    )
    file["model"] |= {"vocab": vocab, "merges": [["a", "b</w>"]], "end_of_word_suffix": "</w>"}
    tokenizer, library = tokdfa.load(as_bytes(file)), tokenizers.Tokenizer.from_str(as_bytes(file).decode())
    drawn = random.Random(0)
    for ids in ([1, 4, 2], [1, 2, 4], [4], [0, 4, 1, 1, 4], [1, 1]):
        data = library.decode(ids, skip_special_tokens=False).encode()
        found = spans(tokenizer, ids, drawn)
        assert [data[start:end] for start, end, *_ in found] == [b"<s>"] * ids.count(4)
