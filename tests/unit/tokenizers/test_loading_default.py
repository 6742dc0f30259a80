"""The embedded dictionary is as its README says."""

from __future__ import annotations

from pathlib import Path

import tokdfa
from tests.support.pieces import count_pieces
from tokdfa.training.naive import train_naive


def test_it_is_proper_and_never_makes_a_token_twice() -> None:
    d = tokdfa.default_dictionary()
    assert len(d) == 3840
    assert d.alphabet.symbols == tuple(bytes([byte]) for byte in range(256))
    assert d.properness()
    assert len({rule.product for rule in d}) == len(d)
    assert b" the" in d.alphabet


def test_its_first_rules_come_from_the_english_books(data: Path) -> None:
    pieces = count_pieces([(data / "corpora/english.txt").read_text(encoding="utf-8")])
    assert tokdfa.default_dictionary().prefix(3) == train_naive(pieces, 3)


def test_the_tokenizer_cuts_by_gpt_2s_pattern() -> None:
    tok = tokdfa.default_tokenizer()
    assert tok.dictionary == tokdfa.default_dictionary()
    assert [tok.token(int(token)) for token in tok.id_to_token[tok.encode("a single man\n\nin")]] == [
        b"a",
        b" single",
        b" man",
        b"\n",
        b"\n",
        b"in",
    ]
