"""Tokenizers that leave out bytes within symbols: their ids may spell what is not UTF-8."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import tokenizers
from support.tokenizer_files import tokenizer_json

import tokdfa


def test_ids_are_canonical_where_the_library_gives_them_again() -> None:
    fields = tokenizer_json([], added_tokens=[])
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    # The second byte of U+FFFD, EF BF BD, is spelled by a mark of punctuation.
    removed = {"type": "Punctuation", "behavior": "Removed"}
    fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [level, removed]}
    written = json.dumps(fields)
    tokenizer = tokdfa.load(written.encode())
    library = tokenizers.Tokenizer.from_str(written)
    library.decoder = tokenizers.decoders.ByteLevel()  # type: ignore[assignment]
    letters = [library.token_to_id(letter) for letter in "ï¿½aÂ"]
    n_canonical = 0
    for size in (1, 2, 3):
        for ids in map(list, product(letters, repeat=size)):
            again = library.encode(library.decode(ids), add_special_tokens=False).ids == ids
            assert bool(tokenizer.validate(ids, all=True)) == again, ids
            assert bool(tokdfa.validate(tokenizer, iter([np.array([id]) for id in ids]))) == again, ids
            n_canonical += again
    assert n_canonical > 3  # More than a, aa and aaa: those of U+FFFD too.
