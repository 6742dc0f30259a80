"""GGUF files: ids as llama.cpp recorded them, refusals that name the key, and the oddities that info lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import tokdfa
from tests.support.commands import run
from tests.support.gguf_files import RECORDED_TEXTS, Typed, byte_level, gguf, recorded_file, sentencepiece, wordpiece
from tokdfa.base.errors import FileFormatError, PatternError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.formats.lint import Kind, lint_head, looks_like_pattern
from tokdfa.tokenizers.pretokenizers.llama_cpp import PRE_TOKENIZERS
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

RECORDED: dict[str, list[list[int]]] = json.loads(
    Path(__file__).parents[3].joinpath("campaigns", "conversions", "recorded.json").read_text("ascii")
)


def load(fields: dict[str, Typed], **options: Any) -> Tokenizer:
    tokenizer = tokdfa.load(gguf(fields), **options)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def test_recorded_ids_of_every_pre_tokenizer() -> None:
    # One vocabulary for all; the patterns by the slow twin, because a machine takes a second for each.
    whole = {name: load(recorded_file(name), pretokenizer="none") for name in ("gpt-2", "llama3")}
    answers = set()
    for name, expected in RECORDED.items():
        if name not in PRE_TOKENIZERS:
            continue
        pre = PRE_TOKENIZERS[name]
        tokenizer = whole["llama3" if pre.whole_piece else "gpt-2"]
        split = PreTokenizer(pre.splitting).split_backtracking
        for text, ids in zip(RECORDED_TEXTS, expected, strict=True):
            found = []
            for stretch in tokenizer.added_tokens.cut(text):
                if isinstance(stretch, str):
                    found += [id for piece in split(stretch) for id in tokenizer.encode(piece).tolist()]
                else:
                    found.append(stretch.id)
            assert found == ids, (name, text)
        answers.add(str(expected))
    # Texts that no pre-tokenizer cuts differently would show nothing.
    assert len(answers) > 20


@pytest.mark.parametrize("name", ["gpt-2", "llama3", "sentencepiece"])
def test_recorded_ids_by_the_machine(name: str) -> None:
    tokenizer = load(recorded_file(name))
    for text, ids in zip(RECORDED_TEXTS, RECORDED[name], strict=True):
        assert tokenizer.encode(text).tolist() == ids, text
        if tokenizer.is_bytewise:
            assert tokenizer.decode(ids) == text
            assert tokenizer.validate(ids)


def test_every_name_has_the_pre_tokenizer_of_one_that_is_recorded() -> None:
    recorded = {(pre.splitting, pre.whole_piece) for name, pre in PRE_TOKENIZERS.items() if name in RECORDED}
    assert {(pre.splitting, pre.whole_piece) for pre in PRE_TOKENIZERS.values()} == recorded


def test_pre_tokenizers_by_name_and_with_other_tables() -> None:
    assert pretokenizer("llama.cpp:qwen2").split("a12") == ["a", "1", "2"]
    with pytest.raises(PatternError, match=r"llama\.cpp has no pre-tokenizer of this name: 'x'"):
        pretokenizer("llama.cpp:x")
    splits = [load(byte_level(), unicode=table).pretokenizer for table in (None, "tokenizers==0.23.3")]
    assert [split and split.split("!\u1c89") for split in splits] == [["!\u1c89"], ["!", "\u1c89"]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (byte_level(pre="new-one"), "tokenizer.ggml.pre, byte .*: llama.cpp of .* has no pre-tokenizer of this name"),
        (byte_level(model=Typed("string", "plamo2")), "ggml.model, byte .*: only the kinds gpt2 .* PLaMo-2: 'plamo2'"),
        (byte_level(model=Typed("string", "x")), "a kind of tokenizer that llama.cpp does not know: 'x'"),
        (byte_level(new_setting=Typed("bool", True)), "byte .*: an unknown key: 'tokenizer.ggml.new_setting'"),
        (byte_level(specials=(("中", 6),)), r"tokens\[263\], byte .*: a byte token in a byte-level vocabulary: 6"),
        (byte_level(specials=(("<fim_prefix>", 1), ("<PRE>", 1))), "one of these tokens a control token"),
        (byte_level(specials=(("ab<", 3), ("<cd", 3))), "a special token that overlaps with '<cd'"),
        (byte_level(specials=(("a\0b", 1),)), "a token with a zero character"),
        (byte_level(tokens=Typed("string", ["a", "a"])), r"tokens\[0\], byte .*: the same token as 1, at which"),
        (byte_level(merges=Typed("string", ["ab"])), r"merges\[0\], byte .*: a rule must be two parts"),
        (byte_level(merges=Typed("string", ["Ġ x"])), r"merges\[0\], byte \d+: the rule Ġ x needs a token that is not"),
        (byte_level(token_type=Typed("i32", [1])), "token_type, byte .*: fewer types than tokens: 1"),
        (byte_level(token_type=Typed("u32", [1])), "the value must be an array of i32: 'array of u32'"),
        (byte_level(merges=None), r"tokenizer\.ggml\.merges, byte \d+: the key is missing"),
        (sentencepiece(scores=Typed("f32", [float("nan")] * 300)), "scores, byte .*, element 0: the score is not"),
        (sentencepiece(scores=Typed("f32", [1.0])), "fewer scores than tokens: 1"),
        (sentencepiece(("h", "e", "hx")), "a piece has a character that is not a piece itself: 'hx'"),
        (sentencepiece(("<", "0", "<0", "x0A>")), "a byte token that llama.cpp makes of the characters of its name"),
    ],
)
def test_refused_with_the_key(fields: dict[str, Typed], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load(fields)


def test_without_a_key_for_the_pre_tokenizer() -> None:
    assert load(byte_level(pre=None)).pretokenizer == load(byte_level(pre="default")).pretokenizer


def test_what_is_left_out_and_space_prefix() -> None:
    assert load(byte_level()).ignored == ()
    assert load(byte_level(pre="llama-bpe")).ignored == ("add_bos_token",)
    assert load(byte_level(pre="llama-bpe", add_bos_token=Typed("bool", False))).ignored == ()
    assert load(sentencepiece()).ignored == ("add_bos_token",)
    assert load(sentencepiece()).encode("the").tolist() == [267]
    bare = load(sentencepiece(add_space_prefix=Typed("bool", False)))
    assert bare.encode("the").tolist() == [271]
    assert bare.decode([267]) == " the"


def test_white_space_beside_special_tokens_of_phi_3() -> None:
    specials = (("<s>", 3), ("</s>", 3), ("<unk>", 2), ("<|endoftext|>", 3), ("<|user|>", 3))
    plain = load(byte_level(specials=specials))
    phi = load({**byte_level(specials=specials), "general.name": Typed("string", "Phi-3 mini")})
    text = "<|user|> \n\u00a0a<s> b"
    assert phi.encode(text).tolist() == plain.encode("<|user|>\u00a0a<s> b").tolist()
    missing = {**byte_level(), "general.name": Typed("string", "phi3")}
    with pytest.raises(FileFormatError, match="a model of this name must have this token"):
        load(missing)


def kinds(fields: dict[str, Typed]) -> dict[str, tuple[str, int]]:
    return {found.kind: (found.value, found.count) for found in lint_head(GGUFHead(gguf(fields), Path("x")))}


NO_ENDS = {"bos_token_id": None, "eos_token_id": None, "specials": ()}


def without_ends(
    pre: str | None = "gpt-2", specials: Iterable[tuple[str, int]] = (), **changes: Typed
) -> dict[str, Typed]:
    return byte_level(pre=pre, specials=specials, bos_token_id=None, eos_token_id=None, **changes)


def merges(*rules: str) -> Typed:
    return Typed("string", [*rules])


def of_json(pattern: dict[str, str]) -> dict[str, Typed]:
    json_text = json.dumps({"pre_tokenizer": {"pretokenizers": [{"type": "Split", "pattern": pattern}]}})
    return {**without_ends(), "tokenizer.huggingface.json": Typed("string", json_text)}


def scored(scores: list[float] | None) -> dict[str, Typed]:
    return sentencepiece(scores=None if scores is None else Typed("f32", [*[0.0] * 259, *scores]))


@pytest.mark.parametrize(
    ("odd", "sound", "kind", "value", "count"),
    [
        (of_json({"String": r"\s+"}), of_json({"Regex": r"\s+"}), "pattern is a string", r"\s+", 1),
        (of_json({"String": "[^a]"}), of_json({"String": "a+b"}), "pattern is a string", "[^a]", 1),
        (without_ends(pre=None), without_ends(), "no pre", "default", 1),
        (without_ends(pre=""), without_ends(pre="default"), "no pre", "default", 1),
        (without_ends(pre="new"), without_ends(pre="qwen2"), "unknown pre", "new", 1),
        (
            without_ends(merges=merges("h e", "x y", "y")),
            without_ends(merges=merges("h e")),
            *("merge without token", "x y", 2),
        ),
        (
            without_ends(specials=(("[a]", 3), ("[a]", 3))),
            without_ends(specials=(("[a]", 3),)),
            *("duplicate token", "[a]", 1),
        ),
        (
            without_ends(specials=(("<|end|>", 1), ("[x]", 9))),
            without_ends(specials=(("<|end|>", 3), ("[x]", 1))),
            *("type contradicts", "<|end|> is 1", 2),
        ),
        # The end is an ordinary token; a byte is a normal token; or a control token is white space.
        (byte_level(), without_ends(), "type contradicts", "! is 1", 1),
        (
            sentencepiece(token_type=Typed("i32", [2, 3, 3, 1, *[6] * 255, *[1] * 13])),
            sentencepiece(),
            *("type contradicts", "<0x00> is 1", 1),
        ),
        (without_ends(specials=((" ", 3),)), without_ends(specials=((" ", 4),)), "type contradicts", "  is 3", 1),
        (
            wordpiece(cls_token_id=Typed("u32", 2), eos_token_id=Typed("u32", 6)),
            wordpiece(eos_token_id=Typed("u32", 3)),
            *("type contradicts", "\u2581b is 1", 1),
        ),
        (scored([float(n) for n in range(13)]), scored([-float(n) for n in range(13)]), "scores not ordered", "he", 6),
        (scored(None), scored([0.0] * 13), "scores not ordered", "none", 272),
        (sentencepiece(remove_extra_whitespaces=Typed("bool", True)), sentencepiece(), "key not read", "llama", 1),
        (
            byte_level(**{"tokenizer.ggml.normalizer.lowercase": Typed("bool", True), **NO_ENDS}),
            wordpiece(**{"tokenizer.ggml.normalizer.lowercase": Typed("bool", True)}),
            *("key not read", "gpt2", 1),
        ),
    ],
)
def test_each_finding_and_a_file_without_it(
    odd: dict[str, Typed], sound: dict[str, Typed], kind: str, value: str, count: int
) -> None:
    assert kinds(odd) == {kind: (value, count)}
    assert kinds(sound) == {}


def test_every_kind_of_finding_is_tried() -> None:
    (parameters,) = test_each_finding_and_a_file_without_it.pytestmark
    assert {row[2] for row in parameters.args[1]} == set(get_args(Kind))


def test_lint_of_a_loaded_tokenizer_and_in_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [looks_like_pattern(text) for text in (r"\d+", "[^a]", "(?:x)", " ", "</w>", ".", "a+b", "[INST]")] == [
        *(True, True, True, False, False, False, False, False)
    ]
    path = tmp_path / "x.gguf"
    path.write_bytes(gguf(byte_level(pre="new")))
    assert run("info", str(path)) == 2
    assert "tokenizer.ggml.pre is 'new', which llama.cpp does not know" in capsys.readouterr().err
    path.write_bytes(gguf(sentencepiece(scores=None)))
    assert run("info", str(path), "--json") == 0
    assert json.loads(capsys.readouterr().out)["lint"][0]["kind"] == "scores not ordered"


def test_bytes_without_a_token() -> None:
    fields = byte_level()
    words = [word for word in fields["tokenizer.ggml.tokens"].value if word != "\u010b"]  # the vertical tab
    tokenizer = load({**fields, "tokenizer.ggml.tokens": Typed("string", words)})
    assert tokenizer.decode(tokenizer.encode("the é")) == "the é"
    with pytest.raises(tokdfa.base.errors.AlphabetError, match=re.escape("character 1")):
        tokenizer.encode("a\x0b")
    assert np.array_equal(tokenizer.encode("").tolist(), [])


def test_refused_keys_are_unsupported() -> None:
    with pytest.raises(UnsupportedFeatureError):
        load(byte_level(new_setting=Typed("u32", 1)))


@pytest.mark.parametrize(
    ("fields", "is_found"),
    [
        (byte_level(specials=[("", 1), ("<|end|>", 3)]), False),
        (byte_level(specials=[("", 3), ("<|end|>", 3)]), True),
        (sentencepiece(["\u2581", "a", "", "b", *dict.fromkeys("[EMPTY_0123456789]")]), False),
    ],
)
def test_an_empty_token_has_the_name_that_llama_cpp_gives_it(fields: dict[str, Typed], is_found: bool) -> None:
    # It is found in texts only if its type says so.
    tokenizer = load(fields)
    id = fields["tokenizer.ggml.tokens"].value.index("")
    name = f"[EMPTY_{id}]"
    assert tokenizer.decode([id]) == name
    assert (tokenizer.encode(name).tolist() == [id]) is is_found
    assert bool(tokenizer.validate([id])) is is_found
