"""The engine that encodes again: the parts that differ, and the ids that it forgets."""

from __future__ import annotations

import numpy as np

from tests.support.tuned import tuned_validator
from tokdfa import Dictionary
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer


def test_special_tokens_that_cut_let_the_judge_forget() -> None:
    contents = Contents(
        format="tiktoken",
        dictionary=Dictionary([(b"a", b"b")], bytes(range(256))),
        ids=np.arange(257, dtype=np.int32),
        specials=(Special(257, "<e>"),),
        finds_specials=False,
    )
    tokenizer = Tokenizer(contents, PreTokenizer(Splitting("tokenizers", (Split(r"\s", "removed"),))))
    document = [256, 97, 97, 257]
    validator = tuned_validator(tokenizer, tuning=Tuning(window=16, max_ids=64))
    kept = []
    found = []
    for number in range(100):
        found += [
            violation.index for violation in validator.feed([97, 98, *document] if number % 10 == 9 else document)
        ]
        kept.append(validator.n_kept)
    found += [violation.index for violation in validator.finish()]
    assert found == [42 * ten + 36 for ten in range(10)]
    assert max(kept) < 32
