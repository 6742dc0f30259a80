"""Values of kinds that nobody means to pass: refused with a clear error, never taken for something else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import commands
from tests.support.tokenizer_files import as_bytes, tokenizer_json
from tokdfa.base.errors import PatternError, TokdfaError, TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.validation.validator import Validator
from tokdfa.tokenizers.encoding.batches import encode_batch


def shown(value: object) -> str:
    """Return a name for a value that is the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))[:60]


TEXTS = [None, b"the", bytearray(b"the"), memoryview(b"the"), 5, 1.5, True, ["the"], ("t",), np.array("the")]
IDS: list[tuple[Any, str]] = [
    (None, "integers in one dimension: None"),
    (5, "integers in one dimension: 5"),
    (True, "integers in one dimension: True"),
    ("12", "integers in one dimension: '12'"),
    (b"12", "not bytes"),
    (bytearray(b"12"), "not bytes"),
    ({1, 2}, "integers in one dimension"),
    ({1: 2}, "integers in one dimension"),
    (np.array(1), "integers in one dimension"),
    ([[1, 2]], r"one dimension: \(1, 2\)"),
    (np.zeros((2, 2), np.int32), r"one dimension: \(2, 2\)"),
    ([[1], [1, 2]], "integers in one dimension"),
    ([1.0, 2.0], "integers: 'float64'"),
    ([float("nan")], "integers: 'float64'"),
    (np.array([1, 2], np.float16), "integers: 'float16'"),
    ([True, False], "integers: 'bool'"),
    ([5, True], "token 1: ids must be integers: True"),
    ((5, np.True_), "token 1: ids must be integers"),
    (np.array([True]), "integers: 'bool'"),
    (["1"], "integers: 'str"),
    ([1, None], "token 1: ids must be integers of at most 64 bits: None"),
    ([1, 10**30], f"token 1: ids must be integers of at most 64 bits: {10**30}"),
    (np.array([1, 2], object), "integers: 'object'"),
    (np.array([1], "m8[s]"), "integers: 'timedelta64"),
    (np.ma.array([1, 2], mask=[0, 1]), "token 1: an id is masked"),
    (np.ma.array(np.int32([1, 2]), mask=[1, 0]), "token 0: an id is masked"),
]
UNKNOWN: list[tuple[Any, str]] = [
    ([2**63], f"token 0: id out of range: {2**63}"),
    ([3, -1], "token 1: negative id: -1"),
    (np.array([3, -1], np.int8), "token 1: negative id: -1"),
    ([3, 99999], "token 1: id out of range: 99999"),
]


@pytest.fixture(params=["byte pairs", "rewriting", "WordPiece"])
def tokenizer(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "WordPiece":
        path = tmp_path / "vocab.txt"
        path.write_text("[UNK]\nt\n##he\nthe\n", encoding="utf-8")
    else:
        path = tmp_path / "tokenizer.json"
        changes = {"normalizer": {"type": "Lowercase"}} if request.param == "rewriting" else {}
        path.write_bytes(as_bytes(tokenizer_json(**changes)))
    return tokdfa.load(path)


@pytest.mark.parametrize("text", TEXTS, ids=shown)
def test_odd_texts_are_refused(tokenizer: Any, text: Any) -> None:
    takes_bytes = isinstance(tokenizer, tokdfa.WordPieceTokenizer)
    calls: list[Callable[[], object]] = [lambda: encode_batch(tokenizer, ["the", text], threads=1)]
    calls.append(lambda: encode_batch(tokenizer, ["the", text], threads=2))
    if not takes_bytes:
        calls.append(lambda: tokenizer.encode(text))
    for call in calls:
        if takes_bytes and isinstance(text, bytes):
            call()
            continue
        with pytest.raises(WrongTypeError, match=rf"not an? {type(text).__name__}"):
            call()
    if not takes_bytes and not isinstance(text, bytes):
        for call in (lambda: tokenizer.encode_piece(text), lambda: tokenizer.stream().feed(text)):
            with pytest.raises(WrongTypeError, match="a text must be a str or bytes"):
                call()


def test_an_error_of_a_type_is_a_type_error(tokenizer: Any) -> None:
    with pytest.raises(TypeError):
        tokenizer.encode(None)
    with pytest.raises(TokdfaError, match="document 1: a text must be"):
        encode_batch(tokenizer, ["the", None])  # type: ignore[list-item]


@pytest.mark.parametrize("texts", ["the", b"the", bytearray(b"the")], ids=shown)
def test_one_text_is_not_several(tokenizer: Any, texts: Any) -> None:
    with pytest.raises(WrongTypeError, match="expected several texts, not one"):
        encode_batch(tokenizer, texts)


@pytest.mark.parametrize("texts", [None, 3, encode_batch], ids=["None", "3", "a function"])
def test_what_is_no_texts(tokenizer: Any, texts: Any) -> None:
    for encode in (encode_batch, tokdfa.iter_encoded):
        with pytest.raises(WrongTypeError, match="expected several texts, an iterable of str, not a"):
            list(encode(tokenizer, texts))


@pytest.mark.parametrize("threads", [0, -3, 1.5, True, "2"], ids=shown)
def test_numbers_of_threads(tokenizer: Any, threads: Any) -> None:
    with pytest.raises(WrongTypeError, match="threads must be a positive integer"):
        encode_batch(tokenizer, ["the"], threads=threads)


@pytest.mark.parametrize(("ids", "message"), IDS, ids=shown)
def test_odd_ids_are_refused(tokenizer: Any, ids: Any, message: str) -> None:
    calls = {
        "decode": lambda: tokenizer.decode(ids),
        "decode_bytes": lambda: tokenizer.decode_bytes(ids),
        "validate": lambda: tokenizer.validate(ids),
        "validate chunks": lambda: tokenizer.validate(iter([ids])),
        "feed": lambda: [*Validator(tokenizer).feed(ids)],
        "skip": lambda: Validator(tokenizer).skip(ids),
        "search": lambda: tokenizer.search("the", ids),
        "report": lambda: tokdfa.validation_report(tokenizer, ids),
    }
    for call in calls.values():
        with pytest.raises(TokenStreamError, match=message):
            call()


@pytest.mark.parametrize(("ids", "message"), UNKNOWN, ids=shown)
def test_ids_that_the_tokenizer_lacks_are_violations_and_have_no_text(tokenizer: Any, ids: Any, message: str) -> None:
    index = len(ids) - 1
    verdicts = [
        tokenizer.validate(ids),
        tokenizer.validate(iter([ids])),
        tokdfa.validation_report(tokenizer, ids).verdict,
    ]
    found = [verdict.violations[-1] for verdict in verdicts] + Validator(tokenizer).feed(ids)[-1:]
    for violation in found:
        assert (violation.kind, violation.index, violation.ids) == ("id-out-of-range", index, (int(ids[-1]),))
    for call in (tokenizer.decode, tokenizer.decode_bytes, lambda ids: tokenizer.search("the", ids)):
        with pytest.raises(TokenStreamError, match=message):
            call(ids)


@pytest.mark.parametrize(
    "ids", [[1, 2], (1, 2), range(1, 3), np.ma.array([1, 2]), np.array([1, 2], ">u8"), memoryview(np.array([1, 2]))]
)
def test_whatever_holds_integers_is_taken(tokenizer: Any, ids: Any) -> None:
    assert tokenizer.validate(ids) == tokenizer.validate(np.array([1, 2]))
    assert tokenizer.decode(ids) == tokenizer.decode(np.array([1, 2]))


@pytest.mark.parametrize("ids", [[], (), np.zeros(0), np.zeros(0, np.uint16), range(0)], ids=shown)
def test_no_ids_at_all_are_canonical(tokenizer: Any, ids: Any) -> None:
    assert tokenizer.validate(ids)
    assert tokenizer.decode(ids) == ""


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (True, "by an id or by their beginnings: True"),
        (np.False_, "by an id or by their beginnings"),
        (-1, "must not be negative: -1"),
        (np.int64(-1), "must not be negative: -1"),
        (10**30, "must not be negative: 1000"),
        (5.0, "the beginnings of documents must be integers in one dimension: 5.0"),
        ("3", "the beginnings of documents must be integers in one dimension: '3'"),
        ([0.0], "the beginnings of documents must be integers in one dimension: 'float64'"),
        ([0, True], "document 1: the beginnings of documents must be integers"),
        (np.array([False, True]), "the beginnings of documents must be integers in one dimension: 'bool'"),
        ([[0, 1]], "the beginnings of documents must be integers in one dimension"),
        (np.ma.array([0, 1], mask=[0, 1]), "document 1: the beginnings of documents must be integers"),
        ([-1, 0], "document 0: the beginnings of documents must ascend: -1"),
        ([0, 2, 1], "document 2: the beginnings of documents must ascend: 1"),
        (np.array([0, 2**63], np.uint64), f"document 1: the beginning has more than 63 bits: {2**63}"),
        ([0, 1, 4, 5], r"document 2: a document begins after the end of the stream: 4 \(the stream has 3 tokens\)"),
    ],
    ids=shown,
)
def test_odd_documents_are_refused(tmp_path: Path, documents: Any, message: str) -> None:
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(tokenizer_json()))
    tokenizer = tokdfa.load(tmp_path)
    # The second stream has a violation, after which nothing more is judged unless all are wanted.
    for ids in ([83, 257, 83], [256, 257, 83]):
        for every in (False, True):
            with pytest.raises(TokenStreamError, match=message):
                tokenizer.validate(ids, documents=documents, all=every)
        with pytest.raises(TokenStreamError, match=message):
            tokdfa.validation_report(tokenizer, ids, documents=documents)


@pytest.mark.parametrize("documents", [[], [0], [0, 1, 1, 3], [3], 0, 99999, np.uint16(5)], ids=shown)
def test_documents_that_are_taken(tmp_path: Path, documents: Any) -> None:
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(tokenizer_json()))
    assert tokdfa.load(tmp_path).validate([83, 257, 83], documents=documents)


@pytest.mark.parametrize(
    ("pattern", "error", "message"),
    [
        (None, WrongTypeError, "a pattern must be a str or an iterable of words: None"),
        (5, WrongTypeError, "a pattern must be a str or an iterable of words: 5"),
        (b"the", WrongTypeError, "a pattern must be a str or an iterable of words: b'the'"),
        (["the", None], WrongTypeError, "word 1: a word must be a str or bytes: None"),
        ([b"the", 3], WrongTypeError, "word 1: a word must be a str or bytes: 3"),
        ("t\udcffe", PatternError, "pattern, offset 1: half of a surrogate pair"),
        ("[\ud800-\udfff]", PatternError, "pattern, offset 1: half of a surrogate pair"),
        (["the", "\udcff"], PatternError, "word 1: half of a surrogate pair"),
    ],
    ids=shown,
)
def test_odd_patterns_are_refused(tokenizer: Any, pattern: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tokenizer.search(pattern, [1])
    if not isinstance(pattern, list):
        with pytest.raises(error, match=message.replace(" or an iterable of words", "")):
            tokdfa.language(pattern, "the")


def test_bytes_that_are_no_text_on_a_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "merges.txt").write_text("#version: 0.2\nt h\n", encoding="utf-8")
    (tmp_path / "ids.txt").write_text("1 2")
    for arguments in (
        ["info", tmp_path / "merges.txt", "--language", "a\udcff"],
        ["locality", tmp_path / "merges.txt", "--language", "a\udcff"],
        ["draw", tmp_path / "merges.txt", "--language", "a\udcff", "-o", tmp_path / "x.dot"],
        ["search", tmp_path / "merges.txt", "a\udcff", tmp_path / "ids.txt"],
        ["validate", tmp_path / "merges.txt", tmp_path / "ids.txt", "--pretokenizer", "a+\udcff"],
    ):
        assert commands.run(*arguments) == 2, arguments
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "half of a surrogate pair" in captured.err


@pytest.mark.parametrize("splitting", [5, b"gpt2", ["gpt2"]], ids=shown)
def test_pretokenizers(tmp_path: Path, splitting: Any) -> None:
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(tokenizer_json()))
    with pytest.raises(WrongTypeError, match="a pre-tokenizer must be a name or a pattern"):
        tokdfa.load(tmp_path, pretokenizer=splitting)


@pytest.mark.parametrize("of", ["pre_tokenizer", "decoder", "token"])
def test_byte_pairs_are_not_taken_for_wordpiece(tmp_path: Path, of: str) -> None:
    rules = tokenizer_json()
    if of == "token":
        rules["added_tokens"][0]["content"] = "WordPiece"
    elif of == "decoder":
        rules["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    else:
        rules |= {"pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##"}}
        rules["decoder"]["cleanup"] = True
    (tmp_path / "tokenizer.json").write_bytes(as_bytes(rules))
    if of == "decoder":
        with pytest.raises(UnsupportedFeatureError, match=r"\$.decoder: the decoder of bytes is ByteLevel"):
            tokdfa.load(tmp_path)
        return
    tokenizer = tokdfa.load(tmp_path)
    assert isinstance(tokenizer, tokdfa.Tokenizer)
    library = pytest.importorskip("tokenizers").Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("the then", "(the)", "aaaa the"):
        assert tokenizer.encode(text).tolist() == library.encode(text, add_special_tokens=False).ids
