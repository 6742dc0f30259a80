"""The pieces of texts with their offsets, against the pre-tokenizers of the library and the bytes of the ids."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import tokdfa
from tests.support import random_files, random_steps
from tests.support.tokenizer_files import added_token, as_bytes, spell, tokenizer_json
from tokdfa.base.errors import AlphabetError, TokdfaError, WrongTypeError
from tokdfa.tokenizers.pieces import Piece

TEXTS = ["", "a", "it's  2 e\u0301té\n\n", "  x", "中a1²", "<s>a b<s>", "\u2028\u200b!"]
RULES = [(b"a", b"b")]


def byte_level(*, prefix: bool) -> dict[str, object]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": True}


def load(fields: dict[str, object]) -> tokdfa.AnyTokenizer:
    return tokdfa.load(as_bytes(fields), format="tokenizer.json")


def test_pieces_of_the_default_tokenizer() -> None:
    tokenizer = tokdfa.default_tokenizer()
    pieces = tokenizer.split("it's  2é")
    assert [(piece.text, piece.start, piece.end) for piece in pieces] == [
        ("it", 0, 2), ("'s", 2, 4), (" ", 4, 5), (" 2", 5, 7), ("é", 7, 9),
    ]  # fmt: skip
    assert [piece.alternative for piece in pieces] == [7, 0, 10, 8, 7]
    assert [(piece.looked_ahead, piece.to_end) for piece in pieces][2:] == [(2, False), (1, False), (0, True)]
    (step,) = pieces.steps
    assert step.pieces == tuple(pieces)
    assert step.alternatives[7] == r" ?\p{L}+"
    plain = tokenizer.split("it's  2é", explain=False)
    assert plain.steps == ()
    assert [(piece.text, piece.start, piece.end) for piece in plain] == [(p.text, p.start, p.end) for p in pieces]
    assert {piece.alternative for piece in plain} == {None}
    assert plain.text == "it's  2é"
    assert repr(plain) == "<Pieces: 5 of 8 characters>"
    assert plain[:1] == (Piece("it", 0, 2),)
    assert list(tokenizer.split("")) == []


def test_specials_are_cuts() -> None:
    fields = tokenizer_json(RULES, added_tokens=[added_token(257, "<s>")])
    fields["pre_tokenizer"] = byte_level(prefix=False)
    tokenizer = load(fields)
    pieces = tokenizer.split("é<s> a<s>")
    assert [(piece.text, piece.start, piece.end, piece.special) for piece in pieces] == [
        ("é", 0, 2, None), ("<s>", 2, 5, 257), (" a", 5, 7, None), ("<s>", 7, 10, 257),
    ]  # fmt: skip
    # Each stretch ends a text of its own.
    assert [piece.to_end for piece in pieces] == [True, False, True, False]
    assert [piece.special for piece in pieces.steps[0].pieces] == [None, 257, None, 257]


def test_without_a_pre_tokenizer_a_stretch_is_a_piece() -> None:
    tokenizer = tokdfa.load(as_bytes(tokenizer_json(RULES)), format="tokenizer.json", pretokenizer="none")
    (piece,) = tokenizer.split("a b")
    assert piece == Piece("a b", 0, 3, looked_ahead=0, to_end=True)
    assert list(tokenizer.split("")) == []
    assert list(tokenizer.split("a", explain=False)) == [Piece("a", 0, 1)]


def test_inserted_spaces_have_no_width() -> None:
    fields = tokenizer_json(RULES)
    fields["pre_tokenizer"] = byte_level(prefix=True)
    pieces = load(fields).split("a b")
    assert [(piece.text, piece.start, piece.end) for piece in pieces] == [(" a", 0, 1), (" b", 1, 3)]
    assert [piece.alternative for piece in pieces] == [7, 7]


def test_digits_after_bytes_cut_characters_apart() -> None:
    fields = tokenizer_json(RULES)
    steps = [byte_level(prefix=False), {"type": "Digits", "individual_digits": True}]
    fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    pieces = load(fields).split("a²")
    # ² is C2 B2, and the letter of B2 is ², which is numeric.
    assert [(piece.text, piece.start, piece.end, piece.step) for piece in pieces] == [
        ("a", 0, 1, 0), ("\udcc2", 1, 2, None), ("\udcb2", 2, 3, 1),
    ]  # fmt: skip


def test_bad_input_is_named() -> None:
    tokenizer = tokdfa.default_tokenizer()
    with pytest.raises(AlphabetError, match="character 1: half of a surrogate pair"):
        tokenizer.split("a\ud800")
    with pytest.raises(WrongTypeError):
        tokenizer.split(b"a")  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [random_files.byte_file, random_files.character_file])
@pytest.mark.parametrize("seed", range(12))
def test_pieces_agree_with_the_library(make: object, seed: int) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    drawn = random.Random(seed)
    fields = make(drawn)  # type: ignore[operator]
    is_bytewise = make is random_files.byte_file
    library = tokenizers.Tokenizer.from_str(json.dumps(fields))
    try:
        tokenizer = load(fields)
    except TokdfaError:
        pytest.skip("the file has something that is not modelled")
    specials = [token["content"] for token in fields.get("added_tokens", [])]
    for text in [*TEXTS, *(random_steps.text(drawn) for _ in range(12))]:
        if any(special in text or special.strip() in text for special in specials):
            continue
        normalized = text if library.normalizer is None else library.normalizer.normalize_str(text)
        if any(special in normalized for special in specials):
            continue
        whole = [(normalized, (0, len(normalized)))] if normalized else []
        expected = whole if library.pre_tokenizer is None else library.pre_tokenizer.pre_tokenize_str(normalized)
        pieces = tokenizer.split(text)
        words = [piece for piece, _ in expected if piece]
        found = [piece.text for piece in pieces]
        if is_bytewise:
            joined = "".join(words)
            found = [spell(piece.encode("utf-8", "surrogateescape")) for piece in found]
            assert joined == "".join(found)
        assert found == words, (text, fields["pre_tokenizer"])
        assert pieces.text == normalized
        data = normalized.encode()
        assert all(0 <= piece.start <= piece.end <= len(data) for piece in pieces)
        assert [piece.start for piece in pieces] == sorted(piece.start for piece in pieces)


def test_pieces_of_wordpiece_agree_with_the_library(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n[CLS]\nun\n##aff\n##able\n")
    tokenizer = tokdfa.load(path)
    split = tokenizers.pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    normalizer = tokenizers.normalizers.BertNormalizer()
    for text in ("", "Unáffable!", " a-b  中文\n", "1²\u200b."):
        normalized = normalizer.normalize_str(text)
        pieces = tokenizer.split(text)
        assert pieces.text == normalized
        assert [piece.text for piece in pieces] == [word for word, _ in split(normalized)]
        assert len(pieces.steps) == 2
    assert [piece.special for piece in tokenizer.split("a [CLS]")] == [None, 1]


def test_pieces_encode_to_the_ids_of_the_text() -> None:
    tokenizer = tokdfa.default_tokenizer()
    drawn = random.Random(7)
    for _ in range(40):
        text = random_steps.text(drawn, 20)
        pieces = tokenizer.split(text, explain=False)
        assert "".join(piece.text for piece in pieces) == text
        ids = [id for piece in pieces for id in tokenizer.encode_piece(piece.text).tolist()]  # type: ignore[attr-defined]
        assert ids == tokenizer.encode(text).tolist()
