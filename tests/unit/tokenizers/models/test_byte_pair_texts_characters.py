"""Texts of characters, cut where nothing joins them, have the ids of the library and of plain Python."""

from __future__ import annotations

import json
import random
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support import random_files, sentencepieces
from tests.support.tokenizer_files import as_bytes
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.tokenizers.models.byte_pair_texts import character_splitter

SPACE = "\u2581"
SHOWS = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
PUTS = {"type": "Prepend", "prepend": SPACE}
SPLITS = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
NORMALIZERS = [
    None,
    SHOWS,
    {"type": "Sequence", "normalizers": [PUTS, SHOWS]},
    {"type": "Sequence", "normalizers": [SHOWS, PUTS]},
    {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": " "}, SHOWS]},
    {"type": "Sequence", "normalizers": [SHOWS, {"type": "Replace", "pattern": {"String": "a"}, "content": "é"}]},
    {"type": "Prepend", "prepend": "ab"},
]
METASPACES = [
    {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": splits}
    for scheme in ("always", "first", "never")
    for splits in (False, True)
]


def some_file(drawn: random.Random) -> dict[str, Any]:
    """A tokenizer.json over characters that rewrites texts only in ways that the tables support."""
    fields = random_files.character_file(drawn)
    vocab = fields["model"]["vocab"]
    for token in (SPACE, SPACE + "a", SPACE * 2, "a" + SPACE):
        vocab.setdefault(token, len(vocab))
    merges = fields["model"]["merges"]
    for pair in ([SPACE, "a"], [SPACE, SPACE], ["a", SPACE]):
        if drawn.random() < 0.6 and "a" in vocab and pair not in merges:
            merges.insert(drawn.randrange(len(merges) + 1), pair)
    fields["model"] |= {"continuing_subword_prefix": None, "end_of_word_suffix": None, "ignore_merges": False}
    fields["model"]["merges"] = [pair for pair in merges if "</w>" not in "".join(pair) and "##" not in "".join(pair)]
    fields["normalizer"] = drawn.choice(NORMALIZERS)
    fields["pre_tokenizer"] = drawn.choice([None, SPLITS, *METASPACES])
    fields["decoder"] = {"type": "Fuse"}
    new = [token["content"] for token in fields["added_tokens"] if token["content"] not in vocab]
    numbers = vocab | {content: len(vocab) + at for at, content in enumerate(dict.fromkeys(new))}
    for token in fields["added_tokens"]:
        token |= {"id": numbers[token["content"]], "normalized": drawn.random() < 0.1}
    return fields


def loaded(fields: dict[str, Any]) -> Any:
    try:
        return tokdfa.load(as_bytes(fields))
    except UnsupportedFeatureError:
        return None


def answer(tokenizer: Any, text: str) -> list[int] | str:
    try:
        ids: list[int] = tokenizer.encode(text).tolist()
    except AlphabetError as error:
        return str(error)
    return ids


def test_random_files_give_the_ids_of_plain_python_and_of_the_library() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    n_compiled = n_special = n_refused = n_long = 0
    for seed in range(90):
        drawn = random.Random(seed)
        fields = some_file(drawn)
        tokenizer, plain = loaded(fields), loaded(fields)
        if tokenizer is None or character_splitter(tokenizer) is None:
            continue
        n_compiled += 1
        plain.piece_ids.__dict__ |= {"_characters": None, "has_character_tables": False}
        peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
        contents = tuple(token["content"] for token in fields["added_tokens"])
        texts = [random_files.text(drawn, extra=contents) + SPACE * drawn.randrange(2) for _ in range(8)]
        # Over the end of a block, which may be in the middle of a symbol.
        texts.append("x" * drawn.randrange(4) + ("a b  é中😀" + texts[0]) * (9000 // (9 + len(texts[0]))))
        for text in texts:
            found = answer(tokenizer, text)
            assert found == answer(plain, text), (fields, text)
            n_special += any(content in text for content in contents)
            n_refused += isinstance(found, str)
            n_long += len(text) > 4096
            if not isinstance(found, str):
                assert found == peer.encode(text, add_special_tokens=False).ids, (fields, text)
        expected = {text: ids for text in texts if not isinstance(ids := answer(tokenizer, text), str)}
        whole = tokdfa.encode_batch(tokenizer, [*expected])
        assert whole.ids.tolist() == [id for ids in expected.values() for id in ids]
        assert whole.offsets.tolist() == [0, *accumulate(map(len, expected.values()))]
    assert n_compiled > 16
    assert min(n_special, n_refused, n_long) > 12


def sentencepiece_model(drawn: random.Random) -> bytes:
    """A model that neither drops spaces nor replaces anything else; if it puts one, few pieces of users have some."""
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(sentencepieces.changed(drawn, ("identity",)))
    unlike = {" ", SPACE} if model.normalizer_spec.add_dummy_prefix and drawn.random() < 0.8 else {" "}
    kept = [piece for piece in model.pieces if piece.type != piece.USER_DEFINED or not unlike & {*piece.piece}]
    del model.pieces[:]
    model.pieces.extend(kept)
    model.normalizer_spec.remove_extra_whitespaces = False
    model.trainer_spec.treat_whitespace_as_suffix = False
    data: bytes = model.SerializeToString()
    return data


def test_sentencepiece_models_give_the_ids_of_the_library(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    path = tmp_path / "x.model"
    n_compiled = n_defined = n_first = n_spaces = n_later = 0
    for seed in range(60):
        drawn = random.Random(seed)
        data = sentencepiece_model(drawn)
        path.write_bytes(data)
        tokenizer: Any = tokdfa.load(path)
        if character_splitter(tokenizer) is None:
            continue
        n_compiled += 1
        encode, *_ = sentencepieces.oracle(data)
        atoms = tokenizer.contents.atoms
        texts = [sentencepieces.text(drawn).replace("\x00", "") for _ in range(10)]
        texts = ["", *texts, *(atom + text for atom in atoms for text in texts[:2])]
        texts += ["x" * drawn.randrange(4) + "  the ab  日" * 1500, SPACE * 9000 + "ab "]
        for text in texts:
            assert tokenizer.encode(text).tolist() == encode(text), (seed, text)
            n_defined += any(atom in text for atom in atoms)
            n_first += text.startswith(atoms)
            n_spaces += any(SPACE in atom and atom.replace(SPACE, " ") in text for atom in atoms)
            # After a place where it is always cut, a text is encoded by the same loop.
            cut = tokenizer.boundaries.last_cut("", text[:100])
            if cut > 0 and atoms:
                assert character_splitter(tokenizer.later) is not None, seed
                n_later += 1
                parts = tokenizer.encode(text[:cut]), tokenizer.later.encode(text[cut:])
                assert [id for part in parts for id in part.tolist()] == encode(text), (seed, text, cut)
        encoded = tokdfa.encode_batch(tokenizer, texts)
        assert encoded.offsets.tolist() == [0, *accumulate(len(encode(text)) for text in texts)]
        assert encoded.ids.tolist() == [id for text in texts for id in encode(text)]
    assert n_compiled > 40
    assert min(n_defined, n_first, n_spaces, n_later) > 40
