"""tekken.json, on files that mistral-common carries and on small ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import RANKS, TEXTS, as_bytes, tekken_json, tiktoken_lines
from tokdfa import Tokenizer
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.tekken import read_tekken
from tokdfa.tokenizers.formats.tiktoken import read_tiktoken

HERE = Path("tekken.json")


def read(fields: dict[str, Any]) -> Tokenizer:
    return Tokenizer(read_tekken(json.dumps(fields).encode(), HERE))


def config(**changes: Any) -> dict[str, Any]:
    return {"config": {**tekken_json()["config"], **changes}}


def vocab(index: int, **changes: Any) -> dict[str, Any]:
    entries = tekken_json()["vocab"]
    entries[index] = {**entries[index], **changes}
    return {"vocab": entries}


def special(rank: int, content: str) -> dict[str, Any]:
    return {"rank": rank, "token_str": content, "is_control": True}


def test_tokens_stand_behind_the_specials() -> None:
    plain = Tokenizer(read_tiktoken(tiktoken_lines(), HERE))
    tokenizer = read(tekken_json())
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == (plain.encode(text) + 20).tolist()
    assert tokenizer.decode([1, 2]) == "<s></s>"
    assert len(tokenizer.special_ids) == 20


def test_as_many_tokens_are_used_as_the_configuration_says() -> None:
    tokenizer = read(tekken_json(**config(default_vocab_size=258 + 20)))
    assert (tokenizer.n_ids, len(tokenizer.dictionary)) == (278, 2)


def test_listed_specials_come_before_fillers() -> None:
    fields = tekken_json(special_tokens=[special(0, "<a>"), special(1, "<b>")], **config(version="v11"))
    assert [token.content for token in read(fields).specials[:3]] == ["<a>", "<b>", "<SPECIAL_2>"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": None}, "$.config: the configuration is missing"),
        (config(default_vocab_size=9999), "$.config.default_vocab_size: 20 special tokens and 263 ranked ones do not"),
        (config(default_vocab_size=-1), "$.config.default_vocab_size"),
        (config(default_num_special_tokens=-5), "$.config.default_vocab_size"),
        (config(default_num_special_tokens="9"), "$.config.default_num_special_tokens: an integer is expected: '9'"),
        (config(pattern=None), "$.config.pattern: a string is expected: None"),
        (config(version="v13"), "$.special_tokens: a file of version v13 must list its special tokens"),
        ({"vocab": {}}, "$.vocab: an array is expected"),
        ({"vocab": []}, "$.config.default_vocab_size"),
        (vocab(3, rank=4), "$.vocab[3].rank: the rank 3 is expected here: 4"),
        (vocab(3, rank=True), "$.vocab[3].rank"),
        (vocab(3, token_bytes="AA=="), "$.vocab[3].token_bytes: the byte 3 is expected here: b'\\x00'"),
        (vocab(260, token_bytes="A"), "$.vocab[260].token_bytes: not base64: 'A'"),
        (vocab(260, token_bytes="é"), "$.vocab[260].token_bytes: not base64: 'é'"),
        (vocab(260, token_bytes=5), "$.vocab[260].token_bytes: not base64: 5"),
        (vocab(260, token_bytes=""), "$.vocab[260].token_bytes: an empty token"),
        (vocab(260, token_bytes="aGU="), "$.vocab[260].token_bytes: the same token as that of rank 257: b'he'"),
        (vocab(260, more=1), "$.vocab[260]: a token must have the fields rank, token_bytes, token_str"),
        (
            {"special_tokens": [special(0, "<a>")] * 2},
            "$.special_tokens[1].rank: the special token of rank 1 is expected",
        ),
        ({"special_tokens": [special(0, "<a>"), special(1, "")]}, "$.special_tokens[1].token_str: a special token"),
        (
            {"special_tokens": [special(0, "<a>"), special(1, "<a>")]},
            "$.special_tokens: a duplicate special token: '<a>'",
        ),
        (
            {"special_tokens": [special(i, f"<{i}>") for i in range(21)]},
            "$.special_tokens: more than 20 special tokens",
        ),
    ],
)
def test_what_is_no_tekken(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(tekken_json(**changes))
    assert str(caught.value).startswith(f"tekken.json, {message}")


@pytest.mark.parametrize("where", ["", "config"])
def test_unknown_fields_are_refused(where: str) -> None:
    fields = tekken_json()
    (fields[where] if where else fields)["mode"] = 1
    with pytest.raises(UnsupportedFeatureError, match="mode: an unknown field"):
        read(fields)


def test_it_is_recognised_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_bytes(as_bytes(tekken_json()))
    assert tokdfa.load(path, pretokenizer="none").format == "tekken"


@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_real_files_have_known_counts(name: str) -> None:
    mistral_common = pytest.importorskip("mistral_common")
    tokenizer = tokdfa.load(Path(mistral_common.__file__).parent / "data" / name, pretokenizer="none")
    assert (tokenizer.n_ids, len(tokenizer.dictionary), len(tokenizer.specials)) == (131_072, 129_816, 1000)
    assert tokenizer.dictionary.properness()
    assert not len(tokenizer.dead_tokens)
    assert [special.content for special in tokenizer.specials[:3]] == ["<unk>", "<s>", "</s>"]
    assert len(RANKS) < tokenizer.n_tokens
