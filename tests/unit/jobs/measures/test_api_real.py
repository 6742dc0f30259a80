"""check_bytes for real tokenizers: the right table adds up, and witnesses are confirmed by the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import tokenizers

import tokdfa
from tests.support.real_tokenizers import family_files
from tokdfa.jobs.measures.byte_tables import FORMULAS, of_formula

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
@pytest.mark.parametrize("name", ["llama2", "yi", "internlm2", "baichuan2", "chatglm3", "gemma2"])
def test_witnesses_over_characters_are_confirmed_by_the_library(name: str) -> None:
    files = family_files()
    if name not in files:
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    tokenizer, library = tokdfa.load(files[name]), tokenizers.Tokenizer.from_file(str(files[name]))
    assert tokdfa.check_bytes(tokenizer, "bytes")
    for formula in [*FORMULAS][1:]:
        table, witness = of_formula(tokenizer, formula), tokdfa.check_bytes(tokenizer, formula).witness
        assert witness is not None
        assert tuple(library.encode(witness.text, add_special_tokens=False).ids) == witness.ids
        assert library.decode([*witness.ids], skip_special_tokens=False) == witness.text
        assert (table.count(np.array(witness.ids)), len(witness.text.encode())) == (witness.counted, witness.bytes)
        assert witness.counted != witness.bytes


def test_mistral_counts_runs_of_spaces_wrongly(data: Path) -> None:
    # The piece of two spaces counts one of them as U+2581, three bytes.
    path = data / "vocabs" / "mistral_v3.model"
    tokenizer, library = tokdfa.load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert tokdfa.check_bytes(tokenizer, "bytes")
    witness = tokdfa.check_bytes(tokenizer, "sentencepiece").witness
    assert witness is not None
    assert (witness.text, witness.counted, witness.bytes) == (" ", 3, 1)
    assert tuple(library.encode(witness.text)) == witness.ids


def test_the_spaces_of_bert_are_not_in_decoded_words(data: Path) -> None:
    path = data / "vocabs" / "bert_uncased_tokenizer.json"
    tokenizer, library = tokdfa.load(path), tokenizers.Tokenizer.from_file(str(path))
    library.no_padding()
    assert tokdfa.check_bytes(tokenizer, "bytes")
    witness = tokdfa.check_bytes(tokenizer, "decoded").witness
    assert witness is not None
    assert tuple(library.encode(witness.text, add_special_tokens=False).ids) == witness.ids
    assert library.decode([*witness.ids], skip_special_tokens=False) == witness.text
    assert witness.counted != witness.bytes == len(witness.text.encode())
