"""Public conventions for counts of bytes and their mistakes, on models that SentencePiece trains; files of tables."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece

import tokdfa
from tests.support.sentencepieces import LINES
from tokdfa.base.errors import UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.measures.byte_tables import FORMULAS, check_writable, of_formula, read_table, write_table


def model(kind: str, keeps: Callable[[str], bool] = lambda piece: True) -> bytes:
    """Return a small model with byte tokens, without some of its pieces."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 3), model_writer=written, model_type=kind, vocab_size=400, byte_fallback=True,
        character_coverage=0.98, hard_vocab_limit=False, normalization_rule_name="identity", minloglevel=2,
    )  # fmt: skip
    found: Any = pb.ModelProto()  # type: ignore[attr-defined]
    found.ParseFromString(written.getvalue())
    kept = [piece for piece in found.pieces if keeps(piece.piece)]
    del found.pieces[:]
    found.pieces.extend(kept)
    data: bytes = found.SerializeToString()
    return data


@pytest.mark.parametrize("formula", FORMULAS)
def test_small_vocabularies_are_counted_rightly_by_two_formulas(formula: str) -> None:
    data = model("bpe")
    tokenizer, library = tokdfa.load(data), sentencepiece.SentencePieceProcessor(model_proto=data)
    found = tokdfa.check_bytes(tokenizer, formula)
    assert bool(found) == (formula in ("bytes", "sentencepiece"))
    if found.witness is not None:
        assert library.encode(found.witness.text) == [*found.witness.ids]
        assert library.decode([*found.witness.ids]) == found.witness.text


def test_byte_tokens_are_not_three_bytes_each() -> None:
    tokenizer = tokdfa.load(model("bpe"))
    witness = tokdfa.check_bytes(tokenizer, "sentencepiece-decoded").witness
    assert witness is not None
    assert (witness.bytes, witness.counted) == (2, 6)


def test_a_space_is_not_counted_with_its_piece_and_again() -> None:
    tokenizer = tokdfa.load(model("bpe"))
    right, twice = (of_formula(tokenizer, name) for name in ("sentencepiece", "sentencepiece-twice"))
    ids = tokenizer.encode("the cat and the hat")
    assert right.count(ids) == 19
    # Once more for each piece that begins with a space, the first one included.
    assert right.spaces is not None
    assert twice.count(ids) == 19 + np.count_nonzero(right.spaces[ids])


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_spaces_without_a_token_count_three_bytes(kind: str) -> None:
    data = model(kind, lambda piece: "\u2581" not in piece)
    tokenizer, library = tokdfa.load(data), sentencepiece.SentencePieceProcessor(model_proto=data)
    table = of_formula(tokenizer, "sentencepiece")
    # Two bytes too many a word.
    for text in ("a", "a b", "a b c"):
        assert table.count(np.array(library.encode(text))) == len(text) + 1 + 2 * (1 + text.count(" "))
    witness = tokdfa.check_bytes(tokenizer, table).witness
    assert witness is not None
    assert (witness.counted, witness.bytes, witness.shortest) == (4, 1, True)
    assert library.encode(witness.text) == [*witness.ids]
    with pytest.raises(UnsupportedFeatureError, match="no token \u2581"):
        tokdfa.check_bytes(tokenizer, "bytes")


def test_formulas_of_pieces_are_refused_by_name_elsewhere() -> None:
    with pytest.raises(UnsupportedFeatureError, match="write a space as"):
        tokdfa.check_bytes(tokdfa.default_tokenizer(), "sentencepiece")


def test_the_right_table_of_a_prefix_space_is_an_npz(tmp_path: Path) -> None:
    tokenizer = tokdfa.load(model("bpe"))
    table = of_formula(tokenizer, "bytes")
    write_table(tmp_path / "table.npz", table)
    read = read_table(tmp_path / "table.npz", tokenizer.n_ids)
    assert all(np.array_equal(a, b) for a, b in zip(table, read, strict=True))
    assert tokdfa.check_bytes(tokenizer, read)
    for name in ("table.npy", "table.json"):
        with pytest.raises(WrongTypeError, match=r"name a \.npz"):
            check_writable(tmp_path / name, table)
    with pytest.raises(WrongTypeError, match=r"\.npz, \.npy or \.json"):
        check_writable(tmp_path / "table.txt", table)


@pytest.mark.parametrize("name", ["table.npz", "table.npy", "table.json"])
def test_written_tables_are_read_back_and_right(tmp_path: Path, name: str) -> None:
    tokenizer = tokdfa.default_tokenizer()
    write_table(tmp_path / name, of_formula(tokenizer, "bytes"))
    assert tokdfa.check_bytes(tokenizer, read_table(tmp_path / name, tokenizer.n_ids))


def test_wordpiece_continues_no_word_that_has_a_longer_entry(tmp_path: Path) -> None:
    # The word cb is an entry, so ##b does not follow c, and the shortest text with ##b is cbb.
    (tmp_path / "vocab.txt").write_text("[UNK]\nc\ncb\n##b\n")
    tokenizer = tokdfa.load(tmp_path / "vocab.txt")
    table = of_formula(tokenizer, "bytes")
    table.counts[3] += 1
    witness = tokdfa.check_bytes(tokenizer, table).witness
    assert witness is not None
    assert (witness.text, witness.ids, witness.counted, witness.shortest) == ("cbb", (2, 3), 4, True)
