"""The tokenizer itself: ids, tokens, bytes, special tokens."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.dictionaries import proper_dictionaries
from tests.support.tokenizer_files import RULES, added_token, as_bytes, tiktoken_lines, tokenizer_json, vocabulary
from tokdfa import Dictionary, Tokenizer, tokenize_leftmost
from tokdfa.automata.protocol import accepts
from tokdfa.base.errors import AlphabetError, FileFormatError, ImproperDictionaryError, TokenStreamError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

SPLITTER_FREE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(pre_tokenizer=SPLITTER_FREE)))
    return tokdfa.load(tmp_path)


WORDS = PreTokenizer(Splitting("tokenizers", (Split(" ", "merged_with_next"),)))


def test_ids_and_tokens_are_inverse(tokenizer: Tokenizer) -> None:
    has_id = np.flatnonzero(tokenizer.token_to_id >= 0)
    assert tokenizer.id_to_token[tokenizer.token_to_id[has_id]].tolist() == has_id.tolist()
    assert tokenizer.n_ids == 264
    assert tokenizer.n_tokens == 263
    assert tokenizer.special_ids.tolist() == [263]
    assert tokenizer.id_to_token[263] == -1
    assert tokenizer.token(int(tokenizer.id_to_token[257])) == b"he"


def test_arrays_are_read_only(tokenizer: Tokenizer) -> None:
    arrays = (tokenizer.token_to_id, tokenizer.id_to_token, *tokenizer.spellings, *tokenizer.id_spellings)
    assert not any(array.flags.writeable for array in arrays)


def test_spellings_are_those_of_tokens(tokenizer: Tokenizer) -> None:
    text, offsets = tokenizer.spellings
    for number in range(len(tokenizer.token_to_id)):
        assert text[offsets[number] : offsets[number + 1]].tobytes() == tokenizer.token(number)
    text, offsets = tokenizer.id_spellings
    assert text[offsets[263] :].tobytes() == b"<|end|>"


@given(st.text())
def test_decoding_undoes_encoding(text: str) -> None:
    contents = _contents()
    tokenizer = Tokenizer(contents, WORDS)
    ids = tokenizer.encode(text)
    assert ids.dtype == np.int32
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode_bytes(ids) == text.encode()
    expected = [
        tokenizer.token_to_id[contents.dictionary.alphabet.number(token)]
        for piece in WORDS.split(text)
        for token in tokenize_leftmost(contents.dictionary, piece.encode())
    ]
    assert ids.tolist() == expected


def _contents(**changes: Any) -> Contents:
    dictionary = Dictionary(RULES)
    fields = {"format": "test", "dictionary": dictionary, "ids": np.arange(len(dictionary.alphabet), dtype=np.int32)}
    return Contents(**{**fields, **changes})


@given(proper_dictionaries(), st.text("abc", max_size=20))
def test_dictionaries_over_characters(dictionary: Dictionary, text: str) -> None:
    tokenizer = Tokenizer(
        Contents(format="test", dictionary=dictionary, ids=np.arange(len(dictionary.alphabet), dtype=np.int32))
    )
    text = "".join(symbol for symbol in text if symbol in dictionary.alphabet)
    ids = tokenizer.encode(text)
    assert dictionary.alphabet.spell(ids.tolist()) == tokenize_leftmost(dictionary, text)
    assert tokenizer.decode(ids) == text


@given(proper_dictionaries(max_rules=6))
def test_dead_tokens_are_those_that_no_live_rule_makes(dictionary: Dictionary) -> None:
    tokenizer = Tokenizer(
        Contents(format="test", dictionary=dictionary, ids=np.arange(len(dictionary.alphabet), dtype=np.int32))
    )
    assert tuple(map(tokenizer.token, tokenizer.dead_tokens.tolist())) == dictionary.dead_tokens


def test_pieces_keep_their_places(tokenizer: Tokenizer) -> None:
    ids, offsets = tokenizer.encode_pieces(["the", "", " the", b"\xff\xc3\xa9"])
    assert [ids[a:b].tolist() for a, b in pairwise(offsets)] == [[83, 257], [], [258], [187, 259]]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("<|end|>", [263]),
        ("<|end|><|end|>", [263, 263]),
        ("a<|end|>aa<|end|", [64, 263, 260, 27, 91, 68, 77, 67, 91]),
    ],
)
def test_specials_are_found(text: str, ids: list[int], tokenizer: Tokenizer) -> None:
    assert tokenizer.encode(text).tolist() == ids


def test_specials_are_not_found_where_the_library_does_not() -> None:
    tokenizer = Tokenizer(_contents(specials=(Special(900, "aa"),)))
    assert tokenizer.encode("aa").tolist() == [260]
    assert tokenizer.decode([900, 260]) == "aaaa"
    assert tokenizer.n_ids == 901


def test_of_specials_at_one_place_the_longest_is_meant() -> None:
    specials = (Special(900, "aa"), Special(901, "aab"), Special(902, "bt", level=1))
    tokenizer = Tokenizer(_contents(specials=specials, finds_specials=True))
    assert tokenizer.encode("xaaby").tolist() == [120, 901, 121]
    assert tokenizer.encode("aaabt").tolist() == [900, 97, 902]
    assert tokenizer.encode("aabt").tolist() == [901, 116]


def test_a_token_that_is_special_is_no_token(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    fields = tokenizer_json(pre_tokenizer=SPLITTER_FREE, added_tokens=[added_token(257, "he")])
    path.write_bytes(as_bytes(fields))
    tokenizer = tokdfa.load(path)
    assert tokenizer.id_to_token[257] == -1
    assert tokenizer.encode("the").tolist() == [83, 257]
    assert not len(tokenizer.dead_tokens)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([-1], "token 0: negative id: -1"),
        ([0, 264], "token 1: id out of range: 264 (ids go from 0 to 263)"),
        ([2**63], "token 0: id out of range: 9223372036854775808"),
        ([2**70], "token 0: ids must be integers of at most 64 bits"),
        ([0.0], "ids must be integers"),
        ([True], "ids must be integers"),
        (["a"], "ids must be integers"),
        ([[0]], "ids must be in one dimension"),
        ([[0], []], "ids must be integers in one dimension"),
        (5, "ids must be integers in one dimension: 5"),
        (None, "ids must be integers in one dimension: None"),
    ],
)
def test_what_are_no_ids(ids: Any, message: str, tokenizer: Tokenizer) -> None:
    for decode in (tokenizer.decode, tokenizer.decode_bytes):
        with pytest.raises(TokenStreamError) as caught:
            decode(ids)
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.uint32, np.int64, np.uint64])
def test_ids_of_any_integer_type(dtype: type, tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(np.array([83, 64], dtype=dtype)) == "ta"
    assert tokenizer.decode([]) == ""


def test_bytes_that_are_not_utf8(tokenizer: Tokenizer) -> None:
    ids = [*tokenizer.encode("the "), *tokenizer.encode_piece(b"\xc3"), 64]
    assert tokenizer.decode_bytes(ids) == b"the \xc3a"
    with pytest.raises(TokenStreamError, match=r"token 3, byte 4: the bytes of the ids are not UTF-8: b'\\xc3a'"):
        tokenizer.decode(ids)


def test_half_of_a_surrogate_pair_is_no_text(tokenizer: Tokenizer) -> None:
    with pytest.raises(AlphabetError, match=r"^character 1: half of a surrogate pair: '\\ud800'"):
        tokenizer.encode("a\ud800")
    with pytest.raises(AlphabetError, match=r"half of a surrogate pair: '\\ud800'"):
        Tokenizer(_contents(), WORDS).encode("a\ud800")
    with pytest.raises(AlphabetError, match=r"^character 1: a symbol without an id"):
        Tokenizer(_contents(ids=np.where(np.arange(263) == 98, -1, np.arange(263)).astype(np.int32)), WORDS).encode(
            "a b"
        )


def test_the_automaton(tokenizer: Tokenizer) -> None:
    numbers = tokenizer.id_to_token[tokenizer.encode("the thenaaa")]
    assert accepts(tokenizer.dfa, numbers.tolist())
    assert not accepts(tokenizer.dfa, tokenizer.id_to_token[[83, 71, 68]].tolist())
    assert tokenizer.dfa.states_built == len(RULES) + 1


def test_an_improper_dictionary_has_no_automaton(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(tiktoken_lines({**{bytes([byte]): byte for byte in range(256)}, b"abc": 256, b"ab": 257}))
    with pytest.raises(ImproperDictionaryError):
        _ = tokdfa.load(path, pretokenizer="none").dfa


def test_tokenizers_made_of_other_things_are_told_apart() -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"whole_piece": True},
        {"specials": (Special(900, "x"),)},
        {"specials": (Special(900, "x"),), "finds_specials": True},
        {"ids": np.arange(1, 264, dtype=np.int32)},
        {"dictionary": Dictionary(RULES[::-1])},
    ]
    assert len({Tokenizer(_contents(**changes)).made_of for changes in settings}) == len(settings)
    assert Tokenizer(_contents()).made_of == Tokenizer(_contents(format="other")).made_of


# Which file of a folder


def test_a_folder_is_searched_in_order(tmp_path: Path) -> None:
    files = {
        "merges.txt": b"a b\n",
        "vocab.json": as_bytes(vocabulary([(b"a", b"b")])),
        "x.tiktoken": tiktoken_lines(),
        "tokenizer.json": as_bytes(tokenizer_json(pre_tokenizer=SPLITTER_FREE)),
    }
    found = []
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        found.append(tokdfa.load(tmp_path).format)
    assert found == ["merges", "merges+vocab", "merges+vocab", "tokenizer.json"]
    assert tokdfa.load(tmp_path, format="merges").format == "merges"
    assert tokdfa.load(tmp_path, format="tiktoken", pretokenizer="none").format == "tiktoken"


@pytest.mark.parametrize(
    ("names", "format", "message"),
    [
        ([], None, r"there is no tokenizer in this folder"),
        (["merges.txt"], "tekken", "there is no file of the format tekken in this folder"),
        (["a.tiktoken", "b.tiktoken"], None, r"several .tiktoken files: \['a.tiktoken', 'b.tiktoken'\]"),
        (["merges.txt"], "pickle", "unknown format: 'pickle'"),
    ],
)
def test_folders_without_a_tokenizer(names: list[str], format: str | None, message: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"a b\n")
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(tmp_path, format=format)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("merges.txt", b"", "the file is empty"),
        ("merges.txt", b"\x1f\x8b\x08garbage", "damaged gzip"),
        ("some.file", b"a b\n", "the format cannot be recognised from the content or the name of the file"),
        ("tokenizer.model", b"\n\x0e\n\x05<unk>", "not a SentencePiece model|needs more packages"),
    ],
)
def test_files_that_are_no_tokenizer(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(tmp_path / name)


def test_missing_files_are_os_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tokdfa.load(tmp_path / "merges.txt")
    (tmp_path / "vocab.json").write_bytes(as_bytes(vocabulary()))
    with pytest.raises(FileNotFoundError):
        tokdfa.load(tmp_path / "vocab.json")


def test_a_tokenizer_goes_to_another_process(tokenizer: Tokenizer) -> None:
    tokenizer.encode("the")
    twin = pickle.loads(pickle.dumps(tokenizer))
    assert twin.made_of == tokenizer.made_of
    assert twin.encode("the then").tolist() == tokenizer.encode("the then").tolist()


def test_threads_share_a_tokenizer(tokenizer: Tokenizer) -> None:
    texts = [f"{i} the then aaaa{i}" * 50 for i in range(40)]
    alone = [tokenizer.encode(text).tolist() for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert [ids.tolist() for ids in pool.map(tokenizer.encode, texts)] == alone
