"""check_bytes for real tokenizers: the right table adds up, and witnesses are confirmed by the library."""

from __future__ import annotations

import pytest
import tokenizers

import tokdfa
from tests.support.real_tokenizers import family_files
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.measures.byte_tables import of_formula

BYTES = ("claude", "command_r_plus", "deepseek_v3", "gpt4o", "llama3_1", "mistral_nemo", "qwen2_5", "qwen3")


@pytest.mark.slow
@pytest.mark.parametrize("name", BYTES)
def test_public_mistakes_are_found_again(name: str) -> None:
    files = family_files()
    if name not in files:
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    tokenizer, library = tokdfa.load(files[name]), tokenizers.Tokenizer.from_file(str(files[name]))
    assert tokdfa.check_bytes(tokenizer, "bytes")
    # One token counts one more.
    right = of_formula(tokenizer, "bytes").counts
    longer = right.copy()
    longer[library.encode(" the", add_special_tokens=False).ids[-1]] += 1
    for table in ("decoded", longer):
        counts = of_formula(tokenizer, table).counts if isinstance(table, str) else table
        witness = tokdfa.check_bytes(tokenizer, table).witness
        assert witness is not None
        assert tuple(library.encode(witness.text, add_special_tokens=False).ids) == witness.ids
        assert (int(counts[[*witness.ids]].sum()), len(witness.text.encode())) == (witness.counted, witness.bytes)
        assert witness.counted != witness.bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama2", "gemma2"])
def test_characters_are_refused_by_name(name: str) -> None:
    files = family_files()
    if name not in files:
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    with pytest.raises(UnsupportedFeatureError, match="not over bytes"):
        tokdfa.check_bytes(tokdfa.load(files[name]), "bytes")
