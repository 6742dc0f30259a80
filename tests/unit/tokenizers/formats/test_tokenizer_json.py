"""tokenizer.json: a file is read as the library reads it, or refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import RULES, TEXTS, added_token, as_bytes, spell, tokenizer_json, vocabulary
from tokdfa import Tokenizer
from tokdfa.base.errors import AlphabetError, FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.tokenizer_json import read_tokenizer_json
from tokdfa.tokenizers.loading import tokenizer_of

HERE = Path("tokenizer.json")
WITHOUT_SPLITTING = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def read(fields: dict[str, Any]) -> Tokenizer:
    contents = read_tokenizer_json(as_bytes(fields), HERE)
    return tokenizer_of(contents)


def model(**changes: Any) -> dict[str, Any]:
    return {"model": {**tokenizer_json()["model"], **changes}}


def theirs(fields: dict[str, Any]) -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(fields))


def assert_agrees(fields: dict[str, Any]) -> None:
    tokenizer, library = read(fields), theirs(fields)
    for text in TEXTS:
        ids = library.encode(text).ids
        assert tokenizer.encode(text).tolist() == ids
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"version": None},
        {"normalizer": {"type": "Sequence", "normalizers": []}},
        {"post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}},
        {"decoder": {"type": "Sequence", "decoders": [tokenizer_json()["decoder"], {"type": "Fuse"}]}},
        model(merges=[f"{spell(u)} {spell(v)}" for u, v in RULES]),
        model(dropout=0.0),
        model(unk_token="a", fuse_unk=True, byte_fallback=True),
        model(end_of_word_suffix="", continuing_subword_prefix=""),
        model(ignore_merges=True),
        model(vocab={**vocabulary(), "then": 899, "Ġthen": 900, "\u4e2d": 901}, ignore_merges=True)
        | {"added_tokens": []},
        {"added_tokens": []},
        {"added_tokens": None},
        {"added_tokens": [added_token(263, "the"), added_token(264, "then"), added_token(265, "\u4e2d")]},
        {"added_tokens": [added_token(263, "en", normalized=True), added_token(264, "hen", special=False)]},
        {"added_tokens": [added_token(257, "he"), added_token(263, "ab")]},
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [WITHOUT_SPLITTING]}},
    ],
)
def test_what_is_read_means_the_same_to_the_library(changes: dict[str, Any]) -> None:
    fields = tokenizer_json(**{"pre_tokenizer": WITHOUT_SPLITTING, **changes})
    if fields["added_tokens"] is None or fields["version"] is None:
        fields = {key: value for key, value in fields.items() if value is not None or key in ("normalizer",)}
    assert_agrees(fields)


def test_the_type_of_the_model_may_be_left_out() -> None:
    fields = tokenizer_json(pre_tokenizer=WITHOUT_SPLITTING)
    del fields["model"]["type"]
    assert_agrees(fields)


def test_bytes_that_no_text_has_may_be_left_out() -> None:
    fields = tokenizer_json(pre_tokenizer=WITHOUT_SPLITTING)
    del fields["model"]["vocab"][spell(b"\xff")]
    fields["added_tokens"] = []
    assert_agrees(fields)


@pytest.mark.parametrize("whole", [False, True])
def test_a_piece_is_looked_up_by_the_letters_of_its_bytes(whole: bool) -> None:
    """The token é is the byte E9, and not the text é with the bytes C3 A9."""
    fields = tokenizer_json(**model(ignore_merges=whole), added_tokens=[])
    del fields["model"]["vocab"][spell(b"v")]
    tokenizer, library = read(fields), theirs(fields)
    assert fields["model"]["vocab"]["\xe9"] is not None
    for text in ("\xe9", "\xe9 the\xe9", "the"):
        assert tokenizer.encode(text).tolist() == library.encode(text).ids
    with pytest.raises(AlphabetError, match="surrogate"):
        tokenizer.encode("\ud800")


def nested(depth: int) -> dict[str, Any]:
    step: dict[str, Any] = WITHOUT_SPLITTING
    for _ in range(depth):
        step = {"type": "Sequence", "pretokenizers": [step]}
    return step


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"version": "2.0"}, "$.version: an unknown version of the format: '2.0'"),
    ({"normalizer": {"type": "Shout"}}, "$.normalizer.type: a normalizer that tokenizers does not have: 'Shout'"),
    ({"normalizer": {"type": "Prepend", "prepend": ""}}, "$.normalizer.prepend: the text to prepend is empty: ''"),
    ({"flavour": 1}, "$.flavour: an unknown field: 'flavour'"),
    (
        {"model": {**tokenizer_json()["model"], "type": "Words"}},
        "$.model.type: only BPE models can be read: 'Words'",
    ),
    (model(dropout=0.1), "$.model.dropout: with dropout the ids are random: 0.1"),
    (model(dropout=False), "$.model.dropout"),
    (
        model(continuing_subword_prefix="##"),
        "$.model.continuing_subword_prefix: continuing_subword_prefix with ByteLevel is not modelled",
    ),
    (
        {"pre_tokenizer": {"type": "Shout"}},
        "$.pre_tokenizer.type: a pre-tokenizer that tokenizers does not have: 'Shout'",
    ),
    (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [WITHOUT_SPLITTING, WITHOUT_SPLITTING]}},
        "$.pre_tokenizer.pretokenizers[1]: ByteLevel after ByteLevel is not modelled",
    ),
    (
        {"post_processor": {"type": "Shuffle"}},
        "$.post_processor.type: an unknown post-processor: 'Shuffle'",
    ),
    ({"decoder": {"type": "WordPiece"}}, "$.decoder: the decoder of bytes is ByteLevel: ['WordPiece']"),
    (
        {"added_tokens": [added_token(263, "É", normalized=True)], "normalizer": {"type": "Lowercase"}},
        "$.added_tokens[0].content: decoding mistakes these letters for bytes",
    ),
    (
        model(vocab={**vocabulary(), "zz": 264}) | {"added_tokens": [added_token(264, "xyz")]},
        "$.added_tokens[0].id: tokenizers gives 'xyz' the id 264, which another token has",
    ),
    (
        model(vocab={**vocabulary(), "": 264}, merges=[["", "a"]]),
        "$.model.merges[0]: a rule with an empty part: ' a'",
    ),
    (
        model(merges=[["a", "\u4e2d"]], vocab={**vocabulary(), "\u4e2d": 900, "a\u4e2d": 901}),
        "$.model.merges[0]: the rule has a character outside GPT-2's byte alphabet: 'a 中'",
    ),
]

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"normalizer": {"type": "Precompiled"}}, "$.normalizer: the field 'precompiled_charsmap' is missing"),
    (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": None}},
        "$.normalizer.precompiled_charsmap: a string is expected: None",
    ),
    (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AA="}},
        "$.normalizer.precompiled_charsmap: not base64: 'AA='",
    ),
    (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
        "$.normalizer.precompiled_charsmap: the character table is truncated: 0",
    ),
    ({"normalizer": {"type": "BertNormalizer"}}, "$.normalizer: the field 'lowercase' is missing"),
    ({"model": None}, "$.model: the model is missing"),
    ({"model": []}, "$.model: an object is expected: []"),
    ({"version": 1}, "$.version"),
    ({"added_tokens": {}}, "$.added_tokens: an array is expected"),
    ({"added_tokens": [3]}, "$.added_tokens[0]: an object is expected: 3"),
    ({"added_tokens": [{}]}, "$.added_tokens[0]: the field 'content' is missing"),
    ({"added_tokens": [added_token(263, "")]}, "$.added_tokens[0].content: an added token that is empty"),
    (
        {"added_tokens": [added_token(263, "xyz")] * 2},
        "$.added_tokens[1].content: an added token that is empty or a duplicate",
    ),
    ({"added_tokens": [added_token(-1, "x")]}, "$.added_tokens[0].id"),
    ({"added_tokens": [added_token(263, "\ud800")]}, "$.added_tokens[0].content: half of a surrogate pair"),
    (model(vocab=None), "$.model.vocab: an object is expected: None"),
    (
        model(vocab={}),
        "$.model.vocab: the vocabulary has no tokens",
    ),
    (model(vocab={**vocabulary(), "zz": 3}), "$.model.vocab.zz: the same id as that of '$': 3"),
    (model(vocab={**vocabulary(), "zz": 1e3}), "$.model.vocab.zz: an id must be an integer"),
    (model(merges=None), "$.model.merges: an array is expected: None"),
    (model(merges=[["a"]]), "$.model.merges[0]: a rule must be a pair of strings: ['a']"),
    (model(merges=[["a", 1]]), "$.model.merges[0]: a rule must be a pair of strings"),
    (model(merges=["a b c"]), "$.model.merges[0]: a rule must be two parts separated by one space: 'a b c'"),
    (model(merges=["a a", ["a", "a"]]), "$.model.merges[1]: strings and pairs are mixed in one list of rules"),
    (model(merges=[["a", "a"], "a a"]), "$.model.merges[1]: strings and pairs are mixed in one list of rules"),
    (model(merges=[["q", "q"]]), "$.model.merges[0]: the rule q q needs a token that is not in the vocabulary: 'qq'"),
    (model(ignore_merges=1), "$.model.ignore_merges: true or false is expected: 1"),
    ({"pre_tokenizer": {"type": "Sequence"}}, "$.pre_tokenizer: the field 'pretokenizers' is missing"),
    ({"pre_tokenizer": {"type": 3}}, "$.pre_tokenizer.type: a string is expected: 3"),
    ({"pre_tokenizer": {"type": "ByteLevel"}}, "$.pre_tokenizer: the field 'trim_offsets' is missing"),
    (
        {"pre_tokenizer": {"type": "Split", "pattern": {"Glob": "*"}, "behavior": "Isolated", "invert": False}},
        '$.pre_tokenizer.pattern: a pattern must be {"Regex": …} or {"String": …}',
    ),
    (
        {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x"}, "behavior": "Gone", "invert": False}},
        "$.pre_tokenizer.behavior: unknown behavior: 'Gone'",
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_is_not_modelled_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UnsupportedFeatureError) as caught:
        read(tokenizer_json(**changes))
    assert str(caught.value).startswith(f"tokenizer.json, {message}")


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        tokenizer_of(read_tokenizer_json(json.dumps(tokenizer_json(**changes)).encode(), HERE))
    assert str(caught.value).startswith(f"tokenizer.json, {message}")


def test_without_some_bytes_a_text_that_would_lose_them_is_refused() -> None:
    fields = tokenizer_json()
    vocab = fields["model"]["vocab"]
    del vocab["q"]
    fields["model"]["vocab"] = {token: id for id, token in enumerate(vocab)}
    fields["added_tokens"] = []
    tokenizer, library = read(fields), theirs(fields)
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == library.encode(text).ids
    with pytest.raises(tokdfa.TokdfaError, match="symbol is not in the base alphabet: 'q'"):
        tokenizer.encode("aqa")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[: len(text) // 2], r"tokenizer.json, line 1, column \d+: not JSON"),
        (lambda text: "\ufeff" + text, "line 1: the file begins with a byte order mark"),
        (lambda text: text.replace("null", "NaN", 1), "NaN is not JSON"),
        (lambda text: text.replace('"padding"', '"truncation"'), r"\$: a duplicate key in an object: 'truncation'"),
        (lambda text: text.replace('"he": 257', '"he": 257, "he": 3'), r"\$.model.vocab: a duplicate key in an object"),
        (lambda text: text.replace("257", "9" * 5000), "not JSON: Exceeds the limit"),
        (lambda text: text.replace("null", "[" * 100_000, 1), "JSON nested too deeply"),
        (lambda _: "[]", r"\$: a JSON object is expected: \[\]"),
    ],
)
def test_what_is_not_json(spoil: Callable[[str], str], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_tokenizer_json(spoil(json.dumps(tokenizer_json())).encode(), HERE)


@pytest.mark.parametrize("field", ["model", "added_tokens"])
def test_minus_zero_is_no_integer(field: str) -> None:
    first = next(token for token, id in tokenizer_json()["model"]["vocab"].items() if id == 0)
    text = json.dumps(tokenizer_json(added_tokens=[added_token(0, first)]))
    name = "id" if field == "added_tokens" else first
    spoiled = text.replace(f"{json.dumps(name)}: 0", f"{json.dumps(name)}: -0")
    assert spoiled != text
    tokdfa.load(text.encode())
    with pytest.raises(Exception, match=r"invalid type: floating point `-0\.0`"):
        pytest.importorskip("tokenizers").Tokenizer.from_str(spoiled)
    with pytest.raises(FileFormatError, match=rf"\$\.{field}.*integer.*: -0\.0"):
        tokdfa.load(spoiled.encode())


def test_sequences_in_sequences() -> None:
    assert read(tokenizer_json(pre_tokenizer=nested(200))).encode("the").tolist() == [83, 257]


# Pre-tokenizers

BYTES = {**WITHOUT_SPLITTING, "add_prefix_space": True}
FALCON: list[dict[str, Any]] = [
    {"type": "Punctuation", "behavior": "Contiguous"},
    tokenizer_json()["pre_tokenizer"],
    {"type": "Digits", "individual_digits": False},
    {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}, "behavior": "Isolated", "invert": False},
]
STEPS: list[list[dict[str, Any]]] = [
    [tokenizer_json()["pre_tokenizer"]],
    [{**tokenizer_json()["pre_tokenizer"], "add_prefix_space": True}],
    [BYTES],
    [{"type": "Digits", "individual_digits": True}, WITHOUT_SPLITTING],
    [{"type": "Digits", "individual_digits": False}, BYTES],
    [{"type": "Punctuation", "behavior": "Contiguous"}, BYTES],
    [{"type": "Punctuation"}, WITHOUT_SPLITTING],
    [{"type": "Whitespace"}, WITHOUT_SPLITTING],
    [{"type": "WhitespaceSplit"}, BYTES],
    [{"type": "BertPreTokenizer"}, WITHOUT_SPLITTING],
    [{"type": "Digits", "individual_digits": True}, tokenizer_json()["pre_tokenizer"]],
    [{"type": "UnicodeScripts"}, WITHOUT_SPLITTING],
    [{"type": "FixedLength"}, WITHOUT_SPLITTING],
    [{"type": "FixedLength", "length": 3}, BYTES],
    FALCON,
    [BYTES, {"type": "Digits", "individual_digits": True}],
    [{"type": "WhitespaceSplit"}, BYTES, {"type": "Punctuation", "behavior": "Removed"}, {"type": "FixedLength"}],
    [BYTES, {"type": "UnicodeScripts"}, {"type": "BertPreTokenizer"}],
    *(
        [{"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}, BYTES]
        for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
        for invert in (False, True)
        for pattern in ({"Regex": r"\p{L}|\s+(?!\S)"}, {"String": "a"})
    ),
]
SPLIT_TEXTS = [
    "",
    "a",
    " the then",
    "aa a\n\n  12 ½x!! ?<|end|> they're aaa-bb  ",
    "  \t<|end|>",
    "中文 aé\x1c\u0301ʕAb",
    "²a",
    "\u00b2\u00fc1234567²³ 12½\u4fb2\u00bc",
    "日本語 ひらがなカタカナー abc кириллица العربية\u0301 ☃",
]


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_pre_tokenizers(steps: list[dict[str, Any]]) -> None:
    fields = tokenizer_json(pre_tokenizer={"type": "Sequence", "pretokenizers": steps})
    tokenizer, library = read(fields), theirs(fields)
    for text in SPLIT_TEXTS:
        assert tokenizer.encode(text).tolist() == library.encode(text).ids


# Over characters


def over_characters(**changes: Any) -> dict[str, Any]:
    vocab = {"a": 0, "b": 1, "é": 2, "ab": 3, "中": 4, "abé": 5, " ": 6}
    fields = tokenizer_json(pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[added_token(7, "<|end|>")])
    fields["model"] |= {"vocab": vocab, "merges": [["a", "b"], ["ab", "é"]], **changes}
    return fields


def test_a_model_over_characters() -> None:
    fields = over_characters()
    tokenizer, library = read(fields), theirs(fields)
    for text in ("", "abé ab", "abéab", "中<|end|>ab", "é"):
        ids = library.encode(text).ids
        assert tokenizer.encode(text).tolist() == ids
        assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=False)


def test_unknown_characters_are_refused_not_dropped() -> None:
    with pytest.raises(tokdfa.TokdfaError, match=r"^character 1: the symbol is not in the base alphabet: 'x'"):
        read(over_characters()).encode("axb")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unk_token": "zz"}, "the unknown token is not in the vocabulary: 'zz'"),
        ({"end_of_word_suffix": "</w>", "ignore_merges": True}, "ignore_merges is modelled only without suffix"),
        (
            {"vocab": {"a": 0, "b": 1, "bc": 2, "abc": 3}, "merges": [["a", "bc"]]},
            r"\$\.model\.merges\[0\]: a rule with a symbol that is not in the vocabulary: a bc: 'c'",
        ),
    ],
)
def test_what_is_refused_over_characters(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read(over_characters(**changes))


@pytest.mark.parametrize("token", ["\u2581</w>", "a\u2581", "é漢</w>"])
def test_with_a_suffix_every_token_is_in_the_byte_alphabet(token: str) -> None:
    fields = tokenizer_json()
    fields["model"]["vocab"] |= {token: 264}
    fields["model"]["end_of_word_suffix"] = "</w>"
    with pytest.raises(UnsupportedFeatureError, match=rf"\$\.model\.vocab\.{token}: .*byte alphabet.*: '{token}'"):
        read(fields)


def test_a_suffix_ends_words() -> None:
    pytest.importorskip("tokenizers")
    fields = over_characters(end_of_word_suffix="</w>")
    fields["decoder"] = {"type": "BPEDecoder", "suffix": "</w>"}
    fields["model"]["vocab"] = {"a": 0, "b": 1, "b</w>": 2, "ab": 3, "ab</w>": 4, "a</w>": 5, "abab</w>": 6}
    fields["model"]["merges"] = [["a", "b</w>"], ["a", "b"], ["ab", "ab</w>"]]
    tokenizer, library = read(fields), theirs(fields)
    for text in ("", "a", "b", "ab", "abab", "bababa", "ab<|end|>ba"):
        ids = library.encode(text).ids
        assert tokenizer.encode(text).tolist() == ids
    assert tokenizer.decode([6]) == library.decode([6]) == "abab"
    fields["decoder"]["suffix"] = "@"
    assert read(fields).decode([6, 2]) == theirs(fields).decode([6, 2]) == "abab</w>b</w>"


@pytest.mark.parametrize("content", ["<e></w>", "x</w>y", "</w></w>", "a</w>", "<e>"])
def test_an_added_token_with_the_suffix_is_decoded_as_the_library_does(content: str) -> None:
    # The decoder reads the strings of tokens, whether they are added or not.
    pytest.importorskip("tokenizers")
    fields = over_characters(end_of_word_suffix="</w>", vocab={"a": 0, "a</w>": 1, "aa</w>": 2})
    fields["model"]["merges"] = [["a", "a</w>"]]
    fields["decoder"] = {"type": "BPEDecoder", "suffix": "</w>"}
    added = 1 if content == "a</w>" else 3
    fields["added_tokens"] = [added_token(added, content, special=False)]
    tokenizer, library = read(fields), theirs(fields)
    for length in range(4):
        for ids in map(list, itertools.product([0, 1, added], repeat=length)):
            text = library.decode(ids, skip_special_tokens=False)
            assert tokenizer.decode(ids) == "".join(tokenizer.decoder.iter_text([ids[:1], ids[1:]])) == text
            again = library.encode(text, add_special_tokens=False).ids
            assert bool(tokenizer.validate(ids)) == (again == ids)
            found = [match.start_byte for match in tokdfa.search(tokenizer, "[a ]", ids)]
            assert found == [index for index, letter in enumerate(text) if letter in "a "]


def test_a_suffix_that_is_a_token_is_refused() -> None:
    # The library never gives it by itself: it looks for the last character with the suffix, which is not there.
    for vocab in ({"a": 0, "b": 1, "é": 2}, {**vocabulary(), "é": 300}):
        fields = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"})
        fields["added_tokens"] = []
        fields["model"] |= {"vocab": vocab, "merges": [], "end_of_word_suffix": "é"}
        with pytest.raises(UnsupportedFeatureError, match=r"end_of_word_suffix: an end_of_word_suffix that is itself"):
            read_tokenizer_json(as_bytes(fields), Path("tokenizer.json"))
