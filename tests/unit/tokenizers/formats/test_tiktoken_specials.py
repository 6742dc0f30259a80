"""Special tokens given for rank files."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.commands import run
from tests.support.tokenizer_files import RANKS, as_bytes, tiktoken_lines, tokenizer_json
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError
from tokdfa.tokenizers.formats.tiktoken_encodings import ENCODINGS

N = len(RANKS)


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(tiktoken_lines())
    return path


def encoding(specials: Mapping[str, int], words: Mapping[bytes, int] = RANKS) -> Any:
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks=dict(words), special_tokens=dict(specials))


def test_they_split_a_stream_and_are_not_found_in_a_text(ranks: Path) -> None:
    tokenizer = tokdfa.load(ranks, pretokenizer="none", specials={"<a>": N, "<b>": N + 5})
    assert [(special.content, special.id) for special in tokenizer.specials] == [("<a>", N), ("<b>", N + 5)]
    assert tokenizer.decode([N, *tokenizer.encode("the"), N + 5]) == "<a>the<b>"
    assert not np.isin([N, N + 5], tokenizer.encode("<a><b>")).any()
    assert tokenizer.validate([N, *tokenizer.encode("the the"), N + 5])
    with pytest.raises(tokdfa.TokdfaError, match="no token has this id"):
        tokenizer.decode([N + 1])


def test_a_file_of_texts_and_ids(ranks: Path, tmp_path: Path) -> None:
    plain, config = tmp_path / "specials.json", tmp_path / "tokenizer_config.json"
    plain.write_text(json.dumps({"<a>": N, "<b>": N + 1}))
    rows = {str(N + i): {"content": text, "special": True} for i, text in enumerate(("<a>", "<b>"))}
    config.write_text(json.dumps({"added_tokens_decoder": rows, "model_max_length": 9}))
    expected = tokdfa.load(ranks, pretokenizer="none", specials={"<a>": N, "<b>": N + 1})
    for path in (plain, config, str(plain)):
        assert tokdfa.load(ranks, pretokenizer="none", specials=path).made_of == expected.made_of


@pytest.fixture
def with_text(ranks: Path, tmp_path: Path) -> tokdfa.Tokenizer:
    """A rank file with the special tokens of a tokenizer_config.json; two of them are text."""
    config = tmp_path / "tokenizer_config.json"
    rows = {
        N: {"content": "<|end|>", "special": True},
        N + 1: {"content": "tool", "special": False},
        # As AddedToken of tokenizers has it.
        N + 2: {"content": "</tool>"},
    }
    config.write_text(json.dumps({"added_tokens_decoder": rows}))
    tokenizer = tokdfa.load(ranks, pretokenizer="gpt2_tiktoken", specials=config)
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    return tokenizer


def test_those_that_are_not_special_are_searched_and_banned_as_text(with_text: tokdfa.Tokenizer) -> None:
    assert [special.content for special in with_text.specials if special.is_text] == ["tool", "</tool>"]
    assert with_text.control_ids.tolist() == [N]
    x = int(with_text.encode("x")[0])
    ids = [x, N + 1, x, N, N + 2]
    assert [tuple(match) for match in tokdfa.search(with_text, "olx|tool>", ids)] == [(3, 6, 1, 3), (15, 20, 4, 5)]
    assert tokdfa.ban(with_text, ["tool"]).banned().tolist() == [N + 1, N + 2]
    assert with_text.validate(ids)


@pytest.mark.parametrize("seed", range(4))
def test_those_that_are_not_special_stay_unless_they_match(seed: int, with_text: tokdfa.Tokenizer) -> None:
    drawn = random.Random(seed)
    for _ in range(20):
        ids, expected = [], []
        for _ in range(drawn.randrange(5)):
            text = "".join(drawn.choices(["the", " ", "x", "to", "ab"], k=drawn.randrange(4)))
            special = drawn.choice([N, N + 1, N + 2])
            ids += [*with_text.encode(text), special]
            expected += [*with_text.encode(text.replace("x", "the")), special]
        assert tokdfa.replace(with_text, "x", "the", ids).ids.tolist() == expected, ids
    x, ol, y = (with_text.encode(text).tolist() for text in ("x", "tooly", "y"))
    assert tokdfa.replace(with_text, "xt", "t", [*x, N + 1, *y]).ids.tolist() == ol


def test_info_says_how_many_are_text(ranks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "tokenizer_config.json"
    rows = {str(N + i): {"content": f"<{i}>", "special": i == 0} for i in range(3)}
    config.write_text(json.dumps({"added_tokens_decoder": rows}))
    assert run("info", ranks, "--pretokenizer", "gpt2_tiktoken", "--specials", config, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["specials"], told["text_specials"], told["specials_policy"]) == (3, 2, "ignored")


def test_the_encodings_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    for name in ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"):
        monkeypatch.setattr(public, name, lambda *_, **__: {})
    assert {name: make()["special_tokens"] for name, make in public.ENCODING_CONSTRUCTORS.items()} == {
        name: ours.specials for name, ours in ENCODINGS.items()
    }
    assert len(ENCODINGS["o200k_harmony"].specials) == 1091


def test_harmony_decodes_as_tiktoken_does() -> None:
    harmony = ENCODINGS["o200k_harmony"].specials
    # Whatever order they are inserted in.
    for specials in (harmony, dict(reversed(harmony.items()))):
        peer = encoding(specials)
        tokenizer = tokdfa.load(peer._mergeable_ranks, pretokenizer="none", specials=specials)
        ids = sorted(set(harmony.values()))
        assert tokenizer.decode(ids) == peer.decode(ids)
        assert len(tokenizer.specials) == 1091
        assert len(tokenizer.special_ids) == 1090
        named = tokdfa.load(dict(peer._mergeable_ranks), pretokenizer="none", specials="o200k_harmony")
        assert tokenizer.made_of == named.made_of


@pytest.mark.parametrize("n", range(6))
def test_a_shared_id_of_a_live_encoding_decodes_as_it_does(n: int) -> None:
    specials = {"<a>": 900, "<b>": 900, **{f"<{i}>": 901 + i for i in range(7 * n)}}
    peer = encoding(specials)
    assert tokdfa.load(peer).decode([900]) == peer.decode([900])


def test_a_published_file_can_be_given_others(data: Path) -> None:
    path = data / "vocabs" / "o200k_base.tiktoken"
    tokenizer = tokdfa.load(path, pretokenizer="o200k", specials="o200k_harmony")
    text = "<|start|>assistant<|channel|>final<|message|>Hi<|return|>"
    ids = [200006, *tokenizer.encode("assistant"), 200005, *tokenizer.encode("final"), 200008, 12194, 200002]
    assert tokenizer.decode(ids) == text
    assert tokenizer.validate(ids)


@pytest.mark.parametrize(
    ("specials", "error", "message"),
    [
        ({"<a>": 5}, FileFormatError, "specials: the id of the special token '<a>' is that of a token: 5"),
        ({"": N}, FileFormatError, "must be a string of one character or more: ''"),
        ({3: N}, FileFormatError, "must be a string of one character or more: 3"),
        ({"\ud800": N}, FileFormatError, "half of a surrogate pair"),
        ({"<a>": -1}, FileFormatError, "must be an integer from 0 to 16777215: -1"),
        ({"<a>": 1 << 24}, FileFormatError, "must be an integer from 0 to 16777215"),
        ({"<a>": True}, FileFormatError, "must be an integer from 0 to 16777215: True"),
        ({"<a>": 300.0}, FileFormatError, "must be an integer"),
        ({"<a>": N, "<b>": N}, UnsupportedFeatureError, "'<a>' and '<b>' share an id"),
        ("o200k", FileFormatError, "neither a file nor the name of an encoding: 'o200k' (the encodings are gpt2, "),
        (["<a>"], WrongTypeError, "a dict of texts and ids, a file, or the name of an encoding"),
    ],
)
def test_what_is_refused(ranks: Path, specials: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        tokdfa.load(ranks, specials=specials)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "$: a JSON object is expected"),
        ('{"<a>": "1"}', "must be an integer"),
        ('{"<a>": 300, "<a>": 301}', "a duplicate key"),
        ('{"added_tokens_decoder": {"x": {"content": "a"}}}', "$.added_tokens_decoder.x: an id and its token"),
        ('{"added_tokens_decoder": {"300": {"text": "a"}}}', "300: the field 'content' is missing"),
        ('{"added_tokens_decoder": {"300": {"content": "a"}, "301": {"content": "a"}}}', "a duplicate special token"),
        ('{"added_tokens_decoder": {"300": {"content": "a", "special": 1}}}', "300.special: true or false is expected"),
        ('{"added_tokens_decoder": {"99999999999": {"content": "a"}}}', "must be an integer from 0"),
    ],
)  # fmt: skip
def test_files_that_are_refused(ranks: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "specials.json"
    path.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        tokdfa.load(ranks, specials=path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_other_formats_have_their_own(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json()))
    with pytest.raises(UnsupportedFeatureError, match=r"rank files only; this one has its own: 'tokenizer\.json'"):
        tokdfa.load(path, specials={"<a>": 999})


def test_every_command_takes_them(ranks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specials, ids = tmp_path / "specials.json", tmp_path / "ids.txt"
    specials.write_text(json.dumps({"<a>": N}))
    ids.write_text(f"{N} 32 {N}")
    given = ("--specials", specials)
    split = ("--pretokenizer", "gpt2")
    assert run("validate", ranks, ids, *given, *split, "--json") == 0
    assert run("search", ranks, " ", ids, *given, "--json") == 0
    assert run("info", ranks, *given, *split, "--json") == 0
    assert run("encode", ranks, "the", *given, *split, "--json") == 0
    assert run("compare", ranks, ranks, *given, *split, "--specials-b", specials, "--json") == 0
    assert run("locality", ranks, "--rules", "2", *given, "--json") == 0
    assert run("draw", ranks, "--rules", "2", "-o", tmp_path / "x.dot", *given, "--json") == 0
    capsys.readouterr()
    assert run("decode", ranks, ids, *given) == 0
    assert capsys.readouterr().out.strip() == "<a> <a>"
    assert run("decode", ranks, ids, "--specials", "o200k") == 2
    assert "neither a file nor the name of an encoding" in capsys.readouterr().err
