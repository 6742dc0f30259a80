"""Live objects of other libraries, and stand-ins with their attributes."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tokdfa
from tests.support import sentencepieces
from tests.support.tokenizer_files import (
    RANKS,
    TEXTS,
    added_token,
    as_bytes,
    merges_txt,
    tekken_json,
    tiktoken_lines,
    tokenizer_json,
)
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError

JSON = tokenizer_json()
PATTERN = r"\p{L}+|[^\p{L}]+"


def tokenizers_object(fields: dict[str, Any] = JSON) -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(fields))


def encoding(**changes: Any) -> Any:
    parts = {"pat_str": PATTERN, "mergeable_ranks": dict(RANKS), "special_tokens": {"<|end|>": 900}, **changes}
    return pytest.importorskip("tiktoken").Encoding("x", **parts)


def tekkenizer(tmp_path: Path) -> Any:
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    path = tmp_path / "tekken.json"
    path.write_bytes(as_bytes(tekken_json()))
    return tekken.Tekkenizer.from_file(path)


def processor(data: bytes | None = None) -> Any:
    library = pytest.importorskip("sentencepiece")
    return library.SentencePieceProcessor(model_proto=data or sentencepieces.trained("identity", True))


# What they give


def test_a_tokenizer_is_its_file() -> None:
    peer = tokenizers_object()
    tokenizer = tokdfa.load(peer)
    assert tokenizer.made_of == tokdfa.load(as_bytes(JSON)).made_of
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == peer.encode(text).ids
    assert tokdfa.compare(tokenizer, tokdfa.load(JSON))


def test_a_tokenizer_is_taken_as_it_is_now() -> None:
    peer = tokenizers_object()
    before = tokdfa.load(peer)
    peer.add_special_tokens(["<|new|>"])
    after = tokdfa.load(peer)
    assert [special.content for special in before.specials] == ["<|end|>"]
    assert [special.content for special in after.specials] == ["<|end|>", "<|new|>"]
    assert after.encode("the<|new|>").tolist() == peer.encode("the<|new|>").ids


def test_an_encoding() -> None:
    peer = encoding()
    tokenizer = tokdfa.load(peer)
    assert tokenizer.format == "tiktoken"
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == peer.encode_ordinary(text)
    assert tokenizer.decode([900]) == "<|end|>"
    expected = tokdfa.load(tiktoken_lines(), format="tiktoken", pretokenizer=PATTERN, specials={"<|end|>": 900})
    assert tokenizer.made_of == expected.made_of
    assert tokdfa.load(peer, pretokenizer="none").pretokenizer is None


def test_a_tekkenizer_and_what_has_one(tmp_path: Path) -> None:
    peer = tekkenizer(tmp_path)
    expected = tokdfa.load(tmp_path)
    within = SimpleNamespace(instruct_tokenizer=SimpleNamespace(tokenizer=peer))
    for source in (peer, within, SimpleNamespace(tokenizer=within)):
        tokenizer = tokdfa.load(source)
        assert tokenizer.made_of == expected.made_of
        for text in TEXTS:
            assert tokenizer.encode(text).tolist() == peer.encode(text, bos=False, eos=False)


def test_a_processor_and_what_has_one() -> None:
    peer = processor()
    expected = tokdfa.load(sentencepieces.trained("identity", True))
    model = SimpleNamespace(_model=peer, n_words=1)  # as mistral-common has it
    for source in (peer, model, SimpleNamespace(instruct_tokenizer=SimpleNamespace(tokenizer=model))):
        tokenizer = tokdfa.load(source)
        assert tokenizer.made_of == expected.made_of
        for text in TEXTS:
            assert tokenizer.encode(text).tolist() == peer.encode(text)


FILES: list[tuple[bytes, dict[str, str], str]] = [
    (as_bytes(JSON), {}, "tokenizer.json"),
    (as_bytes(tekken_json()), {}, "tekken"),
    (tiktoken_lines(), {"pretokenizer": "none"}, "tiktoken"),
    (merges_txt().encode(), {}, "merges"),
    (merges_txt().encode(), {"format": "merges-characters"}, "merges"),
    (b"[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\nthe\n##re", {"format": "vocab.txt"}, "vocab.txt"),
]


@pytest.mark.parametrize(("data", "options", "format"), FILES)
def test_the_content_of_a_file(data: bytes, options: dict[str, str], format: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    expected = tokdfa.load(path, **options)  # type: ignore[arg-type]
    assert expected.format == format
    sources: list[Any] = [data, bytearray(data), memoryview(data), io.BytesIO(data), io.StringIO(data.decode())]
    with path.open("rb") as file:
        for source in (*sources, file):
            assert tokdfa.load(source, **options).made_of == expected.made_of


@pytest.mark.parametrize("fields", [JSON, tekken_json()])
def test_the_fields_of_a_file(fields: dict[str, Any]) -> None:
    assert tokdfa.load(fields).made_of == tokdfa.load(as_bytes(fields)).made_of


def test_ranks_in_a_dict() -> None:
    assert tokdfa.load(RANKS, pretokenizer="none").made_of == tokdfa.load(tiktoken_lines(), pretokenizer="none").made_of


def test_the_name_of_a_file_object_counts(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_text("a b\nab c\n")
    with path.open("rb") as file:
        assert tokdfa.load(file).format == "merges"


# transformers' attributes, without transformers


def test_a_tokenizer_of_transformers_is_its_backend() -> None:
    backend = tokenizers_object()
    assert tokdfa.load(SimpleNamespace(backend_tokenizer=backend)).made_of == tokdfa.load(backend).made_of
    with pytest.raises(UnsupportedFeatureError, match="split_special_tokens"):
        tokdfa.load(SimpleNamespace(backend_tokenizer=backend, split_special_tokens=True))
    with pytest.raises(UnsupportedFeatureError, match=r"a backend that is no tokenizers\.Tokenizer"):
        tokdfa.load(SimpleNamespace(backend_tokenizer=3))


class LlamaTokenizer:
    """The attributes of a tokenizer in Python that `load` uses, with ids shifted as fairseq's are."""

    legacy = True
    unk_token_id = 3
    fairseq_offset = 1

    def __init__(self, model: Any, **changes: Any) -> None:
        self.sp_model = model
        self.first = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        self.added_tokens_decoder = {
            id: SimpleNamespace(content=text, special=True) for text, id in {**self.first, "<lang>": 9000}.items()
        }
        vars(self).update(changes)

    def _tokenize(self, text: str) -> list[str]:
        pieces: list[str] = self.sp_model.encode(text, out_type=str)
        return pieces

    def convert_tokens_to_ids(self, pieces: list[str]) -> list[int]:
        ids = (self.sp_model.piece_to_id(piece) for piece in pieces)
        return [self.first.get(p, id + self.fairseq_offset if id else 3) for p, id in zip(pieces, ids, strict=True)]


@pytest.fixture
def as_of_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LlamaTokenizer._tokenize, "__module__", "transformers.models.llama", raising=True)


@pytest.mark.usefixtures("as_of_transformers")
@pytest.mark.parametrize("byte_fallback", [False, True])
def test_shifted_ids_are_applied(byte_fallback: bool) -> None:
    peer = LlamaTokenizer(processor(sentencepieces.trained("identity", byte_fallback)))
    tokenizer = tokdfa.load(peer)
    drawn = random.Random(5)
    for text in (*TEXTS, *(sentencepieces.text(drawn) for _ in range(200))):
        ids = peer.convert_tokens_to_ids(peer._tokenize(text))
        assert tokenizer.encode(text).tolist() == ids
        assert tokenizer.validate([0, *tokenizer.encode(tokenizer.decode(ids)), 9000])
        shifted = [id - 1 for id in ids]
        if not {0, 1, 2, 9000, *peer.convert_tokens_to_ids(["<ctl>"])}.intersection(shifted):
            assert not tokenizer.validate(shifted) or tokenizer.encode(tokenizer.decode(shifted)).tolist() == shifted
    assert {special.id: special.content for special in tokenizer.specials} == {
        **{0: "<s>", 1: "<pad>", 2: "</s>", 9000: "<lang>"},
        peer.convert_tokens_to_ids(["<ctl>"])[0]: "<ctl>",
    }


@pytest.mark.usefixtures("as_of_transformers")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"legacy": False}, "only a model that leaves its texts as they are is modelled: 'LlamaTokenizer'"),
        ({"do_lower_case": True}, "do_lower_case is not modelled"),
        ({"fairseq_offset": 0}, "a control piece has the id of another piece"),
        ({"convert_tokens_to_ids": lambda pieces: [7] * len(pieces)}, "two pieces share an id"),
        ({"unk_token_id": 5}, "unknown text does not get the id of the unknown piece"),
        ({"sp_model": object()}, "its sp_model is no SentencePieceProcessor"),
        ({"added_tokens_decoder": {9000: SimpleNamespace(content="x", special=False)}}, "that is not special"),
        ({"added_tokens_decoder": {1 << 24: SimpleNamespace(content="x", special=True)}}, "has the id of another"),
        ({"added_tokens_decoder": {9000: SimpleNamespace(content="\u4e00", special=True)}}, "unknown to the model"),
        ({"added_tokens_decoder": []}, "must be of type dict"),
        ({"convert_tokens_to_ids": lambda pieces: [None] * len(pieces)}, "the id of a piece of the object"),
        ({"convert_tokens_to_ids": None}, "the object cannot give its ids"),
    ],
)
def test_slow_tokenizers_that_are_refused(changes: dict[str, Any], message: str) -> None:
    peer = LlamaTokenizer(processor(sentencepieces.trained("identity", False)), **changes)
    with pytest.raises(FileFormatError) as caught:
        tokdfa.load(peer)
    assert message in str(caught.value)


@pytest.mark.usefixtures("as_of_transformers")
def test_a_unigram_model_without_legacy_is_refused() -> None:
    model = processor(sentencepieces.trained("nmt_nfkc", False, "unigram", control=()))
    with pytest.raises(UnsupportedFeatureError, match="a Unigram model may split the two as one: 'LlamaTokenizer'"):
        tokdfa.load(LlamaTokenizer(model, legacy=False))


def test_python_may_change_texts() -> None:
    # It is not transformers' own.
    with pytest.raises(UnsupportedFeatureError, match="may change texts before its SentencePiece model sees them"):
        tokdfa.load(LlamaTokenizer(processor()))
    with pytest.raises(
        UnsupportedFeatureError, match="in Python with neither a SentencePiece model, nor byte pairs, nor words as BERT"
    ):
        tokdfa.load(SimpleNamespace(convert_tokens_to_ids=list))


@pytest.mark.parametrize(
    ("name", "parts", "reason"),
    [
        ("XLNetTokenizer", ("sp_model",), "changes quotes, strips accents"),
        ("AlbertTokenizer", ("sp_model",), "changes quotes, strips accents by the Unicode"),
    ],
)
def test_a_class_in_python_is_refused_with_its_reason(name: str, parts: tuple[str, ...], reason: str) -> None:
    def method(_: object) -> None: ...

    method.__qualname__, method.__module__ = f"{name}._tokenize", "transformers.models"
    peer = type(name, (), {**dict.fromkeys(parts, 1), "_tokenize": method, "convert_tokens_to_ids": list})()
    with pytest.raises(UnsupportedFeatureError) as caught:
        tokdfa.load(peer)
    assert f"a tokenizer in Python that {reason}" in str(caught.value)
    assert f"'{name}' (load {name}Fast, and encode with it)" in str(caught.value)


# What is refused


def raising(name: str) -> object:
    def fail(_: object) -> Any:
        raise RuntimeError("not today")

    return type("Odd", (), {name: property(fail)})()


@pytest.mark.parametrize("source", [None, 3, 1.5, object(), int, [1], (b"a", 1), iter(()), len, LlamaTokenizer])
def test_what_is_not_a_tokenizer(source: Any) -> None:
    with pytest.raises(WrongTypeError) as caught:
        tokdfa.load(source)
    assert isinstance(caught.value, TypeError)
    for name in (
        "a path",
        "bytes",
        "a file object",
        "a dict",
        "tokenizers",
        "transformers",
        "tiktoken",
        "mistral-common",
    ):
        assert name in str(caught.value)


def unserializable() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    peer = tokenizers_object()
    peer.pre_tokenizer = tokenizers.pre_tokenizers.PreTokenizer.custom(SimpleNamespace(pre_tokenize=lambda _: None))
    return peer


def splitting_specials() -> Any:
    peer = tokenizers_object()
    peer.encode_special_tokens = True
    return peer


def reversing() -> Any:
    # As an older version with an extra option does it.
    peer = processor()
    parts = {name: getattr(peer, name) for name in ("serialized_model_proto", "id_to_piece")}
    return SimpleNamespace(**parts, encode=lambda text: [1, *peer.encode(text)[::-1]])


def with_option(**options: bool) -> Any:
    library = pytest.importorskip("sentencepiece")
    return library.SentencePieceProcessor(model_proto=sentencepieces.trained("identity", True), **options)


def subject(**changes: Any) -> Any:
    parts = {"_mergeable_ranks": dict(RANKS), "_special_tokens": {}, "_pat_str": PATTERN, **changes}
    return SimpleNamespace(**parts)


def tekken_rows(rows: Any) -> Any:
    model = SimpleNamespace(_mergeable_ranks=dict(RANKS), _pat_str=PATTERN)
    return SimpleNamespace(_all_special_tokens=rows, num_special_tokens=2, _model=model)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: b"", "<bytes>: there is nothing in it"),
    (lambda: b"xyz", "<bytes>: the format cannot be recognised"),
    (lambda: b"\x1f\x8b", "<bytes>: damaged gzip"),
    (lambda: {}, "<dict>, $.model: the model is missing"),
    (lambda: {"a": {1}}, "<dict>: neither the fields of a JSON file nor bytes and ranks"),
    (lambda: {b"a": 1, "b": 2}, "<dict>: neither the fields of a JSON file nor bytes and ranks"),
    (lambda: {"model": float("nan")}, "<dict>: neither the fields"),
    (lambda: {"model": "\ud800"}, "<dict>, $.model: half of a surrogate pair"),
    (lambda: {**JSON, 1: 2, "1": 3}, "<dict>, $: a duplicate key in an object: '1'"),
    (lambda: {**RANKS, "": 900}, "<dict>: neither the fields of a JSON file nor bytes and ranks"),
    (lambda: {**RANKS, b"zz": True}, "the rank of b'zz' must be an integer from 0"),
    (lambda: {**RANKS, b"zz": 7}, r"b'zz' has the same rank as b'\x07': 7"),
    (lambda: {b"a": 7}, "<dict>: 242 of the bytes that text can have are not tokens"),
    (lambda: io.StringIO("\ud800"), "<_io.StringIO>: the format cannot be recognised"),
    (lambda: SimpleNamespace(read=lambda n: 3), "the content of the object must be of type bytes: 3"),
    (lambda: raising("to_str"), "the object cannot give its to_str: not today"),
    (lambda: raising("backend_tokenizer"), "the object cannot give its backend_tokenizer: not today"),
    (lambda: SimpleNamespace(to_str=lambda: 3), "the JSON of the object must be of type str: 3"),
    (lambda: SimpleNamespace(to_str=lambda: "\ud800"), "not UTF-8"),
    (unserializable, "<tokenizers.Tokenizer>: the object cannot give its JSON"),
    (splitting_specials, "by encode_special_tokens, are not modelled"),
    (reversing, "the extra option reverse is not modelled"),
    (lambda: with_option(reverse=True), "the option reverse is not modelled"),
    (lambda: with_option(enable_sampling=True), "the option enable_sampling is not modelled"),
    (lambda: pytest.importorskip("sentencepiece").SentencePieceProcessor(), "SentencePieceProcessor>: "),
    (lambda: SimpleNamespace(serialized_model_proto=lambda: b"", _reverse=True), "the option reverse is not modelled"),
    (lambda: SimpleNamespace(serialized_model_proto=lambda: b""), "no model has been loaded into the processor"),
    (lambda: subject(_pat_str=None), "the _pat_str of the object must be of type str: None"),
    (lambda: subject(_special_tokens={"<a>": 3}), "the id of the special token '<a>' is that of a token: 3"),
    (lambda: subject(_special_tokens={"<a>": 900, "<b>": 900}), "the object cannot give its text of 900"),
    (lambda: subject(_mergeable_ranks=[]), "the _mergeable_ranks of the object must be of type dict"),
    (lambda: subject(_mergeable_ranks={}), "there are no ranks"),
    (lambda: tekken_rows([]), "2 special tokens are expected: 0"),
    (lambda: tekken_rows([{"rank": 1, "token_str": "a"}]), "the special token of rank 0 is expected here"),
    (lambda: tekken_rows([{"rank": i, "token_str": "a"} for i in range(2)]), "the special token of rank 1 is expected"),
    (lambda: tekken_rows([3]), "the special token of rank 0 is expected here"),
    (lambda: SimpleNamespace(instruct_tokenizer=3), "not a tokenizer, nor the content of a tokenizer file"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_objects_that_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(tokdfa.TokdfaError) as caught:
        tokdfa.load(make())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ids_at_the_ends_are_named_and_left_out() -> None:
    peer = with_option(add_bos=True, add_eos=True)
    tokenizer = tokdfa.load(peer)
    assert tokenizer.ignored == ("bos and eos",)
    assert [1, *tokenizer.encode("the cat"), 2] == peer.encode("the cat")


def test_a_format_that_is_not_theirs() -> None:
    with pytest.raises(FileFormatError, match=r"the object is of the format tokenizer\.json: 'tiktoken'"):
        tokdfa.load(tokenizers_object(), format="tiktoken")
    with pytest.raises(FileFormatError, match="this format has two files"):
        tokdfa.load(b"x", format="merges+vocab")
    with pytest.raises(FileFormatError, match="unknown format: 'json'"):
        tokdfa.load(JSON, format="json")
    assert tokdfa.load(RANKS, format="tiktoken", pretokenizer="none").format == "tiktoken"


def test_specials_go_with_ranks() -> None:
    assert tokdfa.load(RANKS, pretokenizer="none", specials={"<a>": 900}).decode([900]) == "<a>"
    assert tokdfa.load(encoding(), specials={"<a>": 901}).decode([901]) == "<a>"
    with pytest.raises(UnsupportedFeatureError, match="rank files only"):
        tokdfa.load(JSON, specials={"<a>": 900})


def test_added_tokens_that_are_found(tmp_path: Path) -> None:
    fields = tokenizer_json(added_tokens=[added_token(264, "<|x|>", normalized=True, special=False)])
    peer = tokenizers_object(fields)
    assert tokdfa.load(peer).encode("a<|x|>b").tolist() == peer.encode("a<|x|>b").ids


def every_import() -> Iterator[str]:
    yield from ("tokenizers", "transformers", "tiktoken", "mistral_common", "sentencepiece")


def test_nothing_is_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, tokdfa; from types import SimpleNamespace as N; ranks = {bytes([i]): i for i in range(256)}\n"
        "tokdfa.load(N(_mergeable_ranks=ranks, _special_tokens={}, _pat_str='a+|[^a]+'))\n"
        f"tokdfa.load(N(backend_tokenizer=N(to_str=lambda: {json.dumps(JSON)!r})))\n"
        f"print([name for name in {list(every_import())} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout.strip() == "[]"


# The version of the library


def test_the_version_of_the_library_is_recorded(tmp_path: Path) -> None:
    for name, source in (("tokenizers", tokenizers_object()), ("tiktoken", encoding())):
        tokenizer = tokdfa.load(source)
        version = pytest.importorskip(name).__version__
        assert tokenizer.library == tokenizer.facts()["library"] == f"{name}=={version}"
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(JSON), encoding="utf-8")
    of_file = tokdfa.load(path)
    assert of_file.library is None
    assert "library" not in of_file.facts()


def test_the_version_of_sentencepiece_is_recorded() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    processor = sentencepiece.SentencePieceProcessor(model_proto=sentencepieces.trained("identity", True))
    assert tokdfa.load(processor).library == f"sentencepiece=={sentencepiece.__version__}"


def test_tables_are_those_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {**JSON, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [by_letters(), JSON["pre_tokenizer"]]}}
    source = tokenizers_object(fields)
    newest = tokdfa.load(source)
    monkeypatch.setattr("tokenizers.__version__", "0.20.3")
    older = tokdfa.load(source)
    assert older.library == "tokenizers==0.20.3"
    data = json.dumps(fields).encode()
    as_file = tokdfa.load(data, unicode="tokenizers==0.20.3")
    assert older.facts()["unicode"] == as_file.facts()["unicode"] != newest.facts()["unicode"]
    assert older.fingerprint == as_file.fingerprint
    monkeypatch.setattr("tokenizers.__version__", "9.9")
    # Tables that are not known: the newest, as for a file, and the version is still shown.
    newer = tokdfa.load(source)
    assert newer.library == "tokenizers==9.9"
    assert newer.facts()["unicode"] == newest.facts()["unicode"]


def by_letters() -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": r"\p{L}+"}, "behavior": "Isolated", "invert": False}
