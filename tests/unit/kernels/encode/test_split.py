"""The kernel that splits, against a plain run of the same machine."""

from __future__ import annotations

import random

import pytest

from tests.support.machines import events, spans_of_events
from tokdfa.tokenizers.pretokenizers.splitter import Splitter, Tuning
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

SYMBOLS = "  \n\n\r\t'slvaAé中\u0301\U0001f600\x1c12!/"


@pytest.mark.parametrize(
    "splitting",
    [
        *NAMED.values(),
        Splitting("tiktoken", (Split(r"[a-z]+!|\s+(?!\S)|1"),)),
        # More hypotheses than a machine word has bytes.
        Splitting("tiktoken", (Split(r"s{12}!|s"),)),
        Splitting("tokenizers", (Split("a.*!|é"), Split(r"\s", "removed"), Split("l", "merged_with_next"))),
    ],
)
@pytest.mark.parametrize(
    "tuning",
    [Tuning(), Tuning(max_pairs=0), Tuning(least_chain=3), Tuning(block=4), Tuning(block=53, least_chain=3)],
)
def test_split_is_that_of_the_machine(splitting: Splitting, tuning: Tuning) -> None:
    splitter = Splitter(splitting, tuning=tuning)
    assert (splitter.tables.fields["pair_bits"] > 0) == (tuning.max_pairs > 0)
    source = random.Random(1)
    for _ in range(400):
        symbols = source.sample(SYMBOLS, source.randint(1, len(SYMBOLS)))
        text = "".join(source.choices(symbols, k=source.choice((10, 30, 150))))
        offset = [len(text[:at].encode()) for at in range(len(text) + 1)]
        plain = [[offset[start], offset[end]] for start, end in spans_of_events(events(splitter.machine, text))]
        data = text.encode()
        assert splitter.spans(data).tolist() == plain
        stream = splitter.stream()
        cut = source.randint(0, len(data))
        assert stream.feed(data[:cut]).tolist() + stream.feed(data[cut:]).tolist() + stream.finish().tolist() == plain
