"""check_bytes for real tokenizers: right tables are written and add up, and libraries confirm the witnesses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import sentencepiece
import tokenizers

import tokdfa
from tests.support import commands
from tests.support.real_tokenizers import family_files
from tokdfa.base.errors import UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.measures.byte_tables import FORMULAS, of_formula, read_table, write_table
from tokdfa.tokenizers.protocol import AnyTokenizer

SPACE = "\u2581"


class Library(NamedTuple):
    """A tokenizer as its own library has it."""

    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]
    piece: Callable[[int], str]


def by_tokenizers(path: Path) -> Library:
    library = tokenizers.Tokenizer.from_file(str(path))
    library.no_padding()
    return Library(
        lambda text: library.encode(text, add_special_tokens=False).ids,
        lambda ids: library.decode(ids, skip_special_tokens=False),
        lambda id: library.id_to_token(id) or "",
    )


def by_sentencepiece(path: Path) -> Library:
    library = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return Library(library.encode, library.decode, library.id_to_piece)


def opened(name: str, data: Path) -> tuple[Path, AnyTokenizer, Library]:
    own = {
        "gpt2": data / "vocabs" / "gpt2" / "tokenizer.json",
        "bert": data / "vocabs" / "bert_uncased_tokenizer.json",
        "mistral": data / "vocabs" / "mistral_v3.model",
    }
    files = own | family_files()
    if name not in files:
        pytest.skip(f"TOKDFA_FAMILIES has no {name}")
    path = files[name]
    return path, tokdfa.load(path), (by_sentencepiece if path.suffix == ".model" else by_tokenizers)(path)


def counted(formula: str, library: Library, ids: list[int]) -> int:
    """Return the sum of the counts of ids by a public convention, as published code has it."""
    if formula == "decoded":
        return sum(len(library.decode([id]).encode()) for id in ids)
    total = 0
    for index, piece in enumerate(map(library.piece, ids)):
        if piece.startswith("<0x") and len(piece) == 6:
            of_byte = {"sentencepiece": 1, "sentencepiece-twice": 6}
            total += of_byte.get(formula, 1 if int(piece[3:5], 16) < 0x80 else 3)
            continue
        has_space = piece.startswith(SPACE)
        total += len(piece.removeprefix(SPACE).encode()) + (has_space and formula == "sentencepiece-twice")
        total += has_space and index > 0
    return total


CHARACTERS = ("llama2", "yi", "internlm2", "baichuan2", "chatglm3", "gemma2", "gemma3", "mistral")
BYTES = ("gpt2", "claude", "command_r_plus", "deepseek_v3", "gpt4o", "llama3_1", "mistral_nemo", "qwen2_5", "qwen3")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BYTES, *CHARACTERS, "bert"])
def test_public_mistakes_are_found_again_and_confirmed(name: str, data: Path, tmp_path: Path) -> None:
    _, tokenizer, library = opened(name, data)
    table = of_formula(tokenizer, "bytes")
    # The right table is read as it was written, and adds up; one number an id is not enough if texts lose a space.
    for suffix in ("npz", "npy", "json"):
        path = tmp_path / f"right.{suffix}"
        if suffix != "npz" and table.spaces is not None:
            with pytest.raises(WrongTypeError, match=r"name a \.npz"):
                write_table(path, table)
            continue
        write_table(path, table)
        assert tokdfa.check_bytes(tokenizer, read_table(path, tokenizer.n_ids))
    # One token counts one more.
    longer = table._replace(counts=table.counts.copy())
    longer.counts[library.encode("on the")[-1]] += 1
    formulas = [*FORMULAS][1:] if name in CHARACTERS else ["decoded"]
    for tried in (longer, *formulas):
        witness = tokdfa.check_bytes(tokenizer, tried).witness
        assert witness is not None, tried
        assert library.encode(witness.text) == [*witness.ids]
        assert library.decode([*witness.ids]) == witness.text
        by_hand = longer.count(np.array(witness.ids)) if tried is longer else counted(tried, library, [*witness.ids])
        assert (by_hand, len(witness.text.encode())) == (witness.counted, witness.bytes), (tried, witness)
        assert witness.counted != witness.bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama2", "qwen2_5", "bert", "mistral"])
def test_the_table_that_the_command_writes_is_right(
    name: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, right = opened(name, data)[0], tmp_path / "right.npz"
    assert commands.run("bytes", path, "decoded", "-o", right, "--json") == 1
    assert json.loads(capsys.readouterr().out)["witness"] is not None
    assert commands.run("bytes", path, right, "--json") == 0
    assert json.loads(capsys.readouterr().out)["adds_up"]


def test_mistral_counts_runs_of_spaces_wrongly(data: Path) -> None:
    # The piece of two spaces counts one of them as U+2581, three bytes.
    _, tokenizer, library = opened("mistral", data)
    assert tokdfa.check_bytes(tokenizer, "bytes")
    witness = tokdfa.check_bytes(tokenizer, "sentencepiece").witness
    assert witness is not None
    assert (witness.text, witness.counted, witness.bytes) == (" ", 3, 1)
    assert library.encode(witness.text) == [*witness.ids]


def test_the_spaces_of_bert_are_not_in_decoded_words(data: Path) -> None:
    _, tokenizer, library = opened("bert", data)
    assert tokdfa.check_bytes(tokenizer, "bytes")
    witness = tokdfa.check_bytes(tokenizer, "decoded").witness
    assert witness is not None
    assert library.encode(witness.text) == [*witness.ids]
    assert library.decode([*witness.ids]) == witness.text
    assert witness.counted != witness.bytes == len(witness.text.encode())
    with pytest.raises(UnsupportedFeatureError, match="write a space as"):
        tokdfa.check_bytes(tokenizer, "sentencepiece")
