"""Streams that are decoded to symbols without a token: the library leaves these out, and merges what is left."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.byte_pair_texts import is_closed

METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
FUSE = {"type": "Fuse"}
SUFFIXED = {"end_of_word_suffix": "</w>"}


def fields_of(
    tokens: str, merges: str, decoder: dict[str, Any] = FUSE, added: tuple[str, ...] = (), **model: Any
) -> dict[str, Any]:
    vocab = {token: id for id, token in enumerate(tokens.split())}
    fields = tokenizer_json([])
    fields["model"] |= {"vocab": vocab, "merges": [rule.split("+") for rule in merges.split()], **model}
    specials = [added_token(len(vocab) + i, content) for i, content in enumerate(added)]
    return fields | {"pre_tokenizer": None, "decoder": decoder, "added_tokens": specials}


# The first stream is canonical, though its text has a symbol without a token or is one for which none is needed.
FILES: dict[str, tuple[dict[str, Any], list[int]]] = {
    "put in front": (fields_of("a b ab", "a+b", METASPACE) | {"pre_tokenizer": METASPACE}, [2]),
    "put in front and not taken away": (fields_of("a b ab", "a+b") | {"pre_tokenizer": METASPACE}, [2]),
    "a prefix spelled out": (fields_of("a ##b ab", "a+##b", continuing_subword_prefix="##"), [1]),
    "a byte as a whole": (fields_of("a <0x3D> ab b", "a+b", ignore_merges=True), [1]),
    "between two that merge": (fields_of("a b ab a?b", "a+b"), [2]),
    "a space for the end of a word": (
        fields_of("a a</w> ab</w> b</w> b", "a+b</w>", {"type": "BPEDecoder", "suffix": "</w>"}, **SUFFIXED),
        [0, 4, 2],
    ),
    "a special token that takes a part of another": (fields_of("a b ab", "a+b", added=("<x>", "a<")), [2, 3]),
    "a token in parts": (fields_of("a b ab ?a b?", "a+b"), [2, 2]),
}


@pytest.mark.parametrize("name", FILES)
def test_verdicts_are_those_of_the_library(name: str, tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers")
    fields, canonical = FILES[name]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    tokenizer = tokdfa.load(path)
    peer = library.Tokenizer.from_file(str(path))
    assert tokenizer.validate(canonical)
    n_lost = 0
    for length in (1, 2, 3):
        for ids in map(list, product(range(tokenizer.n_ids), repeat=length)):
            text = peer.decode(ids, skip_special_tokens=False)
            again = peer.encode(text, add_special_tokens=False).ids
            verdict = tokenizer.validate(ids)
            assert bool(verdict) == (again == ids), (ids, text, again)
            if not verdict:
                common = next((i for i, (u, v) in enumerate(zip(ids, again, strict=False)) if u != v), None)
                assert verdict.index == (min(len(ids), len(again)) if common is None else common), (ids, text, again)
            try:
                assert tokenizer.encode(text).tolist() == again
            except AlphabetError:
                n_lost += 1
    assert n_lost > 0


def test_where_nothing_can_be_lost_pairs_decide(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    closed = {
        "all symbols are tokens": fields_of("a b ab", "a+b"),
        "special tokens are found as a whole": fields_of("a b ab", "a+b", added=("<x>", "<x>y")),
        "special tokens have no other symbols": fields_of("a b ab", "a+b", added=("bab", "ba")),
    }
    opened = {
        "a token of another symbol": fields_of("a b ab ab?", "a+b"),
        "special tokens that overlap": fields_of("a b ab", "a+b", added=("<x>", ">y<")),
        "a special token that overlaps itself": fields_of("a b ab", "a+b", added=("<x<",)),
    }
    inside = fields_of("a b ab", "a+b", added=("<x>", "x"))
    inside["added_tokens"][0]["normalized"] = True
    opened["special tokens within others that are looked for later"] = inside
    for expected, files in ((True, closed), (False, opened)):
        for name, fields in files.items():
            path.write_text(json.dumps(fields), encoding="utf-8")
            assert is_closed(tokdfa.load(path)) == expected, name
