"""WordPiece tokenizers from their files: reading, refusals, and decoding as tokenizers does it."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.bert import random_text
from tokdfa.base.errors import AlphabetError, FileFormatError, TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.tokenizers.loading import load_byte_pairs
from tokdfa.tokenizers.models.wordpiece.difference import first_difference
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

ENTRIES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "a", "##s", ",", "'", ".", "!"]


def _added(number: int, content: str, **changes: Any) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": content, **flags, **changes}


FILE: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [_added(number, entry) for number, entry in enumerate(ENTRIES[:5])],
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": None,
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {entry: number for number, entry in enumerate(ENTRIES)},
    },
}


def _load(path: Path, content: dict[str, Any] | str | bytes, name: str = "tokenizer.json") -> WordPieceTokenizer:
    if isinstance(content, dict):
        content = json.dumps(content)
    (path / name).write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    tokenizer = tokdfa.load(path / name)
    assert isinstance(tokenizer, WordPieceTokenizer)
    return tokenizer


def test_both_formats_are_read(tmp_path: Path) -> None:
    for tokenizer in (_load(tmp_path, FILE), _load(tmp_path, "\n".join(ENTRIES) + "\n", "vocab.txt")):
        assert (tokenizer.n_ids, tokenizer.n_tokens) == (14, 9)
        assert tokenizer.special_ids.tolist() == [0, 1, 2, 3, 4]
        assert tokenizer.normalizer == BertNormalizer()
        ids = tokenizer.encode("Unaffable, [MASK]!")
        assert ids.tolist() == [5, 6, 7, 10, 4, 13]
        assert tokenizer.decode(ids) == "unaffable, [MASK]!"
        assert tokenizer.decode_bytes(ids) == b"unaffable, [MASK]!"
        assert tokenizer.encode(b"una").tolist() == [1]
        tokens = tokenizer.encode_with_offsets("a Unaffáble")
        assert (tokens.begins.tolist(), tokens.ends.tolist()) == ([0, 2, 4, 7], [1, 4, 7, 11])
    assert tokenizer.fingerprint != _load(tmp_path, FILE | {"added_tokens": []}).fingerprint
    assert _load(tmp_path, FILE).fingerprint == _load(tmp_path, json.dumps(FILE, indent=1)).fingerprint


def test_folders_prefer_tokenizer_json(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(ENTRIES))
    assert tokdfa.load(tmp_path).format == "vocab.txt"
    (tmp_path / "tokenizer.json").write_text(json.dumps(FILE))
    assert tokdfa.load(tmp_path).format == "tokenizer.json"
    assert tokdfa.load(tmp_path, format="vocab.txt").format == "vocab.txt"


def test_lines_of_vocab_txt_are_read_as_tokenizers_does(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    lines = "a\r\nb \n c\t\nd\u3000\n\ne\x1c\nf\u2028g\na\n\u00a0\nh\ri"
    path = tmp_path / "my-vocab.txt"
    path.write_bytes(lines.encode())
    ours = tokdfa.load(path)
    assert isinstance(ours, WordPieceTokenizer)
    assert dict(ours.vocabulary.items()) == tokenizers.models.WordPiece.read_file(str(path))
    assert ours.vocabulary.duplicates == (("a", 0), ("", 4))


CASED_TEXTS = ["今天ER", "Abc ABC é É İ", "[unk] <S> <s>", "中a国", "straße"]


@pytest.mark.parametrize("seed", range(40))
def test_case_is_that_of_the_library_unless_it_is_said(tmp_path: Path, seed: int) -> None:
    peers = pytest.importorskip("tokenizers")
    drawn = random.Random(seed)
    words = [*"今天国éei", "<S>", "<T>", "er", "ER", "Abc", "abc", "##É", "##e", "e\u0301", "[MASK2]"]
    path = tmp_path / "vocab.txt"
    entries = ["[UNK]", "[CLS]", "[SEP]", *drawn.sample(words, drawn.randrange(1, len(words)))]
    path.write_text("\n".join(entries), encoding="utf-8")
    values = {
        "do_lower_case": drawn.choice([None, True, False]),
        "strip_accents": drawn.choice([None, True, False]),
        "tokenize_chinese_chars": drawn.choice([None, True, False]),
    }
    # A field that is not there, or null, is as the library takes it by default.
    config = {key: value for key, value in values.items() if value is not None or drawn.random() < 0.3}
    has_config, lowercase = drawn.random() < 0.7, drawn.choice([None, None, True, False])
    if has_config:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 9, **config}))
    else:
        values = dict.fromkeys(values)
    tokenizer = tokdfa.load(path, lowercase=lowercase)
    assert isinstance(tokenizer, WordPieceTokenizer)
    says = values["do_lower_case"] if lowercase is None else lowercase
    peer = peers.BertWordPieceTokenizer(
        str(path),
        lowercase=says is not False,
        strip_accents=values["strip_accents"],
        handle_chinese_chars=values["tokenize_chinese_chars"] is not False,
    )
    for text in CASED_TEXTS:
        assert tokenizer.encode(text).tolist() == peer.encode(text, add_special_tokens=False).ids
    source = "lowercase=" if lowercase is not None else "default" if says is None else "tokenizer_config.json"
    n = sum(entry.lower() != entry for entry in entries[3:])
    assert tokenizer.facts()["case"] == {"source": source, "capitals": n}


def test_capitals_of_an_entry_do_not_change_the_case(tmp_path: Path) -> None:
    for entry in ("abc", "Abc", "<S>", "##É"):
        tokenizer = _load(tmp_path, f"[UNK]\n{entry}\n", "vocab.txt")
        assert tokenizer.normalizer == BertNormalizer()


def test_a_configuration_counts_only_next_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    monkeypatch.chdir(tmp_path)
    data = b"[UNK]\na\nA\n"
    assert tokdfa.load(data, format="vocab.txt").encode("A").tolist() == [1]
    Path("vocab.txt").write_bytes(data)
    with Path("vocab.txt").open("rb") as file:
        for source in ("vocab.txt", tmp_path / "vocab.txt", tmp_path, file):
            assert tokdfa.load(source).encode("A").tolist() == [2]
    assert tokdfa.load(tmp_path, lowercase=True).encode("A").tolist() == [1]


@pytest.mark.parametrize(
    ("config", "where", "error"),
    [
        ('{"do_basic_tokenize": false}', "$.do_basic_tokenize: WordPiece is modelled only", UnsupportedFeatureError),
        ('{"never_split": ["a"]}', "$.never_split: WordPiece is modelled only", UnsupportedFeatureError),
        ('{"word_tokenizer_type": "mecab"}', "$.word_tokenizer_type: ", UnsupportedFeatureError),
        ('{"do_lower_case": "no"}', "$.do_lower_case: true or false is expected: 'no'", FileFormatError),
        ("[]", "$: a JSON object is expected", FileFormatError),
    ],
)
def test_what_a_configuration_asks_for_is_refused(
    tmp_path: Path, config: str, where: str, error: type[Exception]
) -> None:
    (tmp_path / "tokenizer_config.json").write_text(config)
    with pytest.raises(error) as caught:
        _load(tmp_path, "a\n##b\n", "vocab.txt")
    assert str(caught.value).startswith(f"{tmp_path / 'tokenizer_config.json'}, {where}")


def test_case_is_said_only_for_a_vocab_txt(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"only for a vocab\.txt; this file says so itself: False"):
        tokdfa.load(FILE, lowercase=False)


def _change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        *way, last = path.split("/")
        for key in way:
            content = content[int(key)] if isinstance(content, list) else content[key]
        if value is ...:
            del content[last]
        else:
            content[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("version", "2.0", r"\$.version: an unknown version of the format"),
        ("surprise", 1, r"\$.surprise: an unknown field"),
        ("normalizer/type", "Shout", r"\$.normalizer.type: a normalizer that tokenizers does not have: 'Shout'"),
        ("normalizer/clean_text", ..., r"the field 'clean_text' is missing"),
        ("normalizer/lowercase", 1, r"\$.normalizer.lowercase: true or false is expected: 1"),
        ("pre_tokenizer/type", "Shout", r"\$.pre_tokenizer.type.*'Shout'"),
        ("decoder/type", "CTC", r"\$.decoder.type: this decoder is not modelled: 'CTC'"),
        ("model/type", "Words", r"\$.model.type: only BPE models can be read: 'Words'"),
        (
            "model/vocab",
            {},
            r"\$.model.vocab: the vocabulary has no tokens",
        ),
        ("model/vocab", [], r"\$.model.vocab: an object is expected"),
        ("model/vocab", {"a": 0, "b": 0}, r"\$.model.vocab: 'a' and 'b' have the same id: 0"),
        ("model/vocab", {"a": -1}, r"\$.model.vocab: the id of 'a' is not an integer.*: -1"),
        ("model/vocab", {"a": "1"}, r"\$.model.vocab: the id of 'a' is not an integer.*: '1'"),
        ("model/vocab", {"a": 1 << 24}, r"\$.model.vocab.a: an id above 16777215"),
        ("model/vocab", {"\ud800": 1}, r"\$.model.vocab: half of a surrogate pair"),
        ("model/max_input_chars_per_word", -1, r"a length must not be negative: -1"),
        ("model/max_input_chars_per_word", ..., r"the field 'max_input_chars_per_word' is missing"),
        ("model/unk_token", 7, r"\$.model.unk_token: a string is expected: 7"),
        ("added_tokens/1/id", -9, r"\$.added_tokens\[1\].id: an id must be from 0 to 16777215: -9"),
    ],
)
def test_what_is_not_modelled_is_refused_with_its_place(tmp_path: Path, path: str, value: Any, message: str) -> None:
    content = copy.deepcopy(FILE)
    _change(path, value)(content)
    with pytest.raises(FileFormatError, match=message):
        _load(tmp_path, content)


def test_bad_files_are_named(tmp_path: Path) -> None:
    for data, message in (
        (b"", "the file is empty"),
        (b"a\n\xff\n", "line 2, byte 2: not UTF-8"),
        (b"\xef\xbb\xbfa", "byte order"),
    ):
        with pytest.raises(FileFormatError, match=message):
            _load(tmp_path, data, "vocab.txt")
    with pytest.raises(FileFormatError, match="a duplicate key"):
        _load(tmp_path, json.dumps(FILE).replace('"un": 5', '"un": 5, "un": 6'))
    (tmp_path / "tokenizer.json").write_text(json.dumps(FILE))
    with pytest.raises(UnsupportedFeatureError, match="only with BERT's pre-tokenizer: 'gpt2'"):
        tokdfa.load(tmp_path / "tokenizer.json", pretokenizer="gpt2")
    with pytest.raises(UnsupportedFeatureError, match="this needs a byte pair tokenizer, but the file is WordPiece"):
        load_byte_pairs(tmp_path / "tokenizer.json")


@pytest.mark.parametrize("seed", range(3))
def test_spoiled_files_are_refused_or_read_never_a_traceback(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    data = json.dumps(FILE).encode()
    for _ in range(150):
        spoiled = bytearray(data)
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(spoiled))
            spoiled[at : at + dice.randint(0, 3)] = bytes(dice.choices(b'0{}[],"x\xff', k=dice.randint(0, 2)))
        (tmp_path / "tokenizer.json").write_bytes(spoiled)
        try:
            tokenizer = tokdfa.load(tmp_path / "tokenizer.json")
        except TokdfaError as error:
            message = str(error)
        else:
            message = repr(tokenizer.decode(tokenizer.encode("[UNK]")))
        assert "\n" not in message


def test_no_entry_for_unknown_words(tmp_path: Path) -> None:
    tokenizer = _load(tmp_path, "a\n##b\n", "vocab.txt")
    assert tokenizer.encode("ab a").tolist() == [0, 1, 0]
    with pytest.raises(AlphabetError, match=r"byte 3: a word has no tokenization, and there is no entry.*'abc'"):
        tokenizer.encode("ab abc")


def test_ids_that_mean_nothing(tmp_path: Path) -> None:
    tokenizer = _load(tmp_path, "a\nb\na\n", "vocab.txt")
    assert tokenizer.decode([]) == ""
    assert tokenizer.decode([2, 1]) == "a b"
    with pytest.raises(TokenStreamError, match="token 1: no token has this id: 0"):
        tokenizer.decode([1, 0])
    with pytest.raises(TokenStreamError, match="token 0: id out of range: 3"):
        tokenizer.decode([3])
    with pytest.raises(TokenStreamError, match="token 2: negative id"):
        tokenizer.decode([1, 1, -1])


@pytest.fixture(scope="module")
def bert(data: Path) -> tuple[WordPieceTokenizer, Any]:
    tokenizers = pytest.importorskip("tokenizers")
    path = data / "vocabs" / "bert_uncased_tokenizer.json"
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    ours = tokdfa.load(path)
    assert isinstance(ours, WordPieceTokenizer)
    return ours, theirs


def test_the_real_file(bert: tuple[WordPieceTokenizer, Any], data: Path) -> None:
    ours, _ = bert
    assert ours.ignored == ("truncation", "padding", "post_processor")
    other = tokdfa.load(data / "vocabs" / "bert_uncased_vocab.txt")
    assert isinstance(other, WordPieceTokenizer)
    assert other.vocabulary == ours.vocabulary
    assert other.normalizer == ours.normalizer
    assert other.specials == ours.specials


@pytest.mark.parametrize("cleanup", [True, False])
def test_decoding_is_that_of_tokenizers(bert: tuple[WordPieceTokenizer, Any], cleanup: bool) -> None:
    from tokenizers import decoders

    ours, theirs = bert
    contents = {slot: getattr(ours, slot) for slot in ("format", "vocabulary", "normalizer", "specials")}
    ours = WordPieceTokenizer(_contents(**contents, cleanup=cleanup))
    theirs.decoder = decoders.WordPiece(cleanup=cleanup)
    dice = random.Random(1)
    for _ in range(300):
        ids = [dice.randrange(30522) for _ in range(dice.randrange(30))]
        ids += ours.encode(random_text(dice) + "do not. isn't, 's ' a").tolist()
        dice.shuffle(ids)
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)


def _contents(**fields: Any) -> Any:
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents

    return WordPieceContents(**fields)


def test_spellings_are_what_ids_add(bert: tuple[WordPieceTokenizer, Any]) -> None:
    ours, _ = bert
    ids = ours.encode("The unaffable man's [MASK], 中文!").tolist()
    (text, offsets), (first, firsts) = ours.id_spellings, ours.model.first_spellings
    parts = [text[offsets[number] : offsets[number + 1]].tobytes() for number in ids]
    parts[0] = first[firsts[ids[0]] : firsts[ids[0] + 1]].tobytes()
    assert b"".join(parts) == ours.decode_bytes(ids)


def test_searching_is_done_on_the_decoded_text(bert: tuple[WordPieceTokenizer, Any], data: Path) -> None:
    ours, _ = bert
    text = (data / "corpora" / "english.txt").read_text("utf-8")[:20_000]
    ids = ours.encode(text)
    decoded = ours.decode_bytes(ids)
    ends = np.cumsum([len(ours.decode(ids[:1])), *np.diff(ours.id_spellings.offsets)[ids[1:]]])
    for pattern in ("^[a-z]+ [a-z]+", "whale", r"[a-z]+ing", r" the [a-z]{9,}", "l, m"):
        expected = [match.span() for match in re.finditer(pattern.encode(), decoded)]
        found = ours.search(pattern, ids)
        assert [(match.start_byte, match.end_byte) for match in found] == expected
        for match in found:
            assert match.start_token == np.searchsorted(ends, match.start_byte, "right")
            assert match.end_token == np.searchsorted(ends, match.end_byte) + 1
    assert len(ours.search("whale", [])) == 0
    with pytest.raises(TokenStreamError, match="token 1: id out of range: 30522"):
        ours.search("a", [1, 30522])


def test_streams_are_decoded_chunk_by_chunk(bert: tuple[WordPieceTokenizer, Any]) -> None:
    ours, _ = bert
    ids = [7592, 2088, 14477, 20961, 3468, 102, 999]
    for cut in range(len(ids) + 1):
        chunks = [ids[:cut], [], ids[cut:]]
        assert "".join(ours.decoder.iter_text(chunks)) == "hello world unaffable [SEP]!"
    assert ours.decode([20961]) == "##ffa"


def test_tokenizers_are_compared(tmp_path: Path) -> None:
    ours = _load(tmp_path, FILE)
    assert first_difference(ours.end_to_end, _load(tmp_path, "\n".join(ENTRIES), "vocab.txt").end_to_end) is None
    difference = first_difference(
        ours.end_to_end, _load(tmp_path, "\n".join([*ENTRIES, "##z"]), "vocab.txt").end_to_end
    )
    assert difference is not None
    assert (difference.text, difference.ids) == ("az", ((1,), (8, 14)))
