"""How long units of real tokenizers of different families can become: their own libraries confirm the texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import sentencepiece
import tiktoken
import tokenizers
from tiktoken.load import load_tiktoken_bpe

import tokdfa
from tests.support.real_tokenizers import family_files
from tokdfa.tokenizers.pretokenizers.steps import NAMED

# Each has the ends of the tokens of a text; those within characters are left out.
Ends = Callable[[str], set[int]]


def decoded_ends(ids: list[int], decode: Callable[[list[int]], str], text: str) -> set[int]:
    found = [decode(ids[:n]) for n in range(len(ids) + 1)]
    assert found[-1] == text
    return {len(part.encode()) for part in found if text.startswith(part)}


def of_tokenizers(path: Path) -> Ends:
    library = tokenizers.Tokenizer.from_file(str(path))
    return lambda text: decoded_ends(library.encode(text, add_special_tokens=False).ids, library.decode, text)


def of_sentencepiece(path: Path) -> Ends:
    library = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return lambda text: decoded_ends(library.encode(text), library.decode, text)


def of_tiktoken(path: Path) -> Ends:
    pattern = NAMED["cl100k"].steps[0].pattern
    library = tiktoken.Encoding("", pat_str=pattern, mergeable_ranks=load_tiktoken_bpe(str(path)), special_tokens={})
    return lambda text: decoded_ends(library.encode(text), library.decode, text)


def paths() -> dict[str, Path]:
    if "TOKDFA_DATA" not in os.environ:
        return {}
    data = Path(os.environ["TOKDFA_DATA"], "vocabs")
    own = {"cl100k": "cl100k_base.tiktoken", "bert": "bert_uncased_tokenizer.json", "mistral_v3": "mistral_v3.model"}
    return {
        "gpt2": data / "gpt2" / "tokenizer.json",
        **{name: data / file for name, file in own.items()},
        **family_files(),
    }


def ends_of(name: str, path: Path) -> Ends:
    """Return the ends of tokens by the library of a file."""
    return {"cl100k": of_tiktoken, "mistral_v3": of_sentencepiece}.get(name, of_tokenizers)(path)


def longest_of(text: str, ends: list[Ends]) -> int:
    return max(b - a for a, b in pairwise(sorted(ends[0](text) & ends[1](text))))


PAIRS = [
    ("gpt2", "llama2"),
    ("cl100k", "llama2"),
    ("cl100k", "mistral_v3"),
    ("llama2", "mistral_v3"),
    ("gpt2", "yi"),
    ("gemma2", "gpt2"),
    ("gemma2", "llama2"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_units_of_real_families_grow_as_their_libraries_say(one: str, other: str) -> None:
    files = paths()
    if not {one, other} <= files.keys():
        pytest.skip(f"TOKDFA_DATA or TOKDFA_FAMILIES lacks {one} or {other}")
    found = tokdfa.longest_unit(*(tokdfa.load(files[name]) for name in (one, other)))
    assert found.witness is not None
    assert found.witness.pump is not None
    ends = [ends_of(name, files[name]) for name in (one, other)]
    before, part, after = found.witness.pump
    lengths = [longest_of(before + n * part + after, ends) for n in (1, 10, 100)]
    size = len(part.encode())
    assert lengths == [lengths[0], lengths[0] + 9 * size, lengths[0] + 99 * size]


@pytest.mark.slow
@pytest.mark.parametrize("other", ["gpt2", "cl100k", "llama2", "mistral_v3", "gemma2"])
def test_units_with_word_pieces_are_bounded_by_words_of_100_characters(other: str) -> None:
    files = paths()
    if not {"bert", other} <= files.keys():
        pytest.skip(f"TOKDFA_DATA or TOKDFA_FAMILIES lacks bert or {other}")
    found = tokdfa.longest_unit(*(tokdfa.load(files[name]) for name in ("bert", other)), max_seconds=1)
    unit = found.witness
    assert unit is not None
    assert found.most is not None
    assert found.most < 400
    ends = [ends_of(name, files[name]) for name in ("bert", other)]
    assert longest_of(unit.text, ends) == unit.stop - unit.start == 100


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("llama2", 25), ("bert", 19), ("gpt2", 128)])
def test_units_of_a_real_tokenizer_with_itself_are_its_longest_token(name: str, most: int) -> None:
    files = paths()
    if name not in files:
        pytest.skip(f"TOKDFA_DATA or TOKDFA_FAMILIES lacks {name}")
    tokenizer = tokdfa.load(files[name])
    found = tokdfa.longest_unit(tokenizer, tokenizer)
    assert found.witness is not None
    assert found.is_exact
    assert found.most == most
    assert longest_of(found.witness.text, [ends_of(name, files[name])] * 2) >= most
