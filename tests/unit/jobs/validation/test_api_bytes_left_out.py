"""Tokenizers that leave out bytes within symbols: their ids may spell what is not UTF-8."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
import tokenizers

import tokdfa
from tests.support.tokenizer_files import tokenizer_json


@pytest.mark.parametrize("how", ["removed", "without a token", "no letter has a token"])
def test_ids_are_canonical_where_the_library_gives_them_again(how: str) -> None:
    fields = tokenizer_json([], added_tokens=[])
    # The second byte of U+FFFD, EF BF BD, is spelled by a mark of punctuation.
    if how == "removed":
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        removed = {"type": "Punctuation", "behavior": "Removed"}
        fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [level, removed]}
    else:
        lacking = "¿" if how == "without a token" else "ï¿½"
        vocab = [token for token in fields["model"]["vocab"] if token.isascii() or not {*token} & {*lacking}]
        merges = [rule for rule in fields["model"]["merges"] if not {*"".join(rule)} & {*lacking}]
        fields["model"] |= {"vocab": {token: id for id, token in enumerate(vocab)}, "merges": merges}
    written = json.dumps(fields)
    tokenizer = tokdfa.load(written.encode())
    library = tokenizers.Tokenizer.from_str(written)
    library.decoder = tokenizers.decoders.ByteLevel()  # type: ignore[assignment]
    found = [library.token_to_id(letter) for letter in "ï¿½aÂ"]
    letters = [id for id in found if id is not None]
    n_canonical = 0
    for size in (1, 2, 3):
        for ids in map(list, product(letters, repeat=size)):
            again = library.encode(library.decode(ids), add_special_tokens=False).ids == ids
            assert bool(tokenizer.validate(ids, all=True)) == again, ids
            assert bool(tokdfa.validate(tokenizer, iter([np.array([id]) for id in ids]))) == again, ids
            n_canonical += again
    # Besides a, aa and aaa the texts with U+FFFD, where it has some letter.
    assert (n_canonical > 3) == (how != "no letter has a token")
