"""merges.txt, with and without vocab.json."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.tokenizer_files import RULES, merges_txt, vocabulary
from tokdfa import Tokenizer
from tokdfa.base.errors import AlphabetError, FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.merges import read_merges

HERE = Path("merges.txt")


def read(text: str, *, bytewise: bool | None = None) -> Tokenizer:
    return Tokenizer(read_merges(text.encode(), HERE, bytewise=bytewise))


def test_the_byte_alphabet_is_detected() -> None:
    tokenizer = read(merges_txt())
    assert tokenizer.is_bytewise
    assert list(tokenizer.dictionary) == RULES
    assert tokenizer.encode("the\n\né").tolist() == [83, 257, 262, 259]


@pytest.mark.parametrize(
    ("text", "bytewise"),
    [
        ("a b\nab c\n", True),
        ("Ġ t\n", True),
        ("Ã ©\nĠ t\n", True),
        ("é t\n", False),
        ("中 国\n", False),
        ("Ġ 国\n", False),
        ("e r</w>\n", False),
    ],
)
def test_which_alphabet_is_meant(text: str, bytewise: bool) -> None:
    assert read(text).is_bytewise is bytewise


def test_the_alphabet_can_be_named() -> None:
    assert read("Ã ©\n", bytewise=True).dictionary[0] == (b"\xc3", b"\xa9")
    assert read("a b\n", bytewise=False).dictionary[0] == ("a", "b")
    with pytest.raises(
        FileFormatError, match=r"line 2: the rule has a character outside GPT-2's byte alphabet: 'é 中'"
    ):
        read("a b\né 中\n", bytewise=True)


@pytest.mark.parametrize("text", ["a b\nab c", "a b\nab c\n", "#version: 0.2\na b\nab c\n"])
def test_header_and_last_newline_are_optional(text: str) -> None:
    assert [str(rule) for rule in read(text).dictionary] == ["a≀b", "ab≀c"]


def test_a_header_alone_is_a_dictionary_without_rules() -> None:
    tokenizer = read("#version: 0.2\n")
    assert (len(tokenizer.dictionary), tokenizer.n_ids) == (0, 256)
    assert tokenizer.encode("ab").tolist() == [64, 65]


def test_a_number_sign_begins_a_rule() -> None:
    assert [str(rule) for rule in read("#version: 0.2\n# #\n## #\n").dictionary] == ["#≀#", "##≀#"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\na  b\n", "line 2: a rule must be two parts separated by one space: 'a  b'"),
        ("#version: 0.2\na b c\n", "line 2: a rule must be two parts"),
        ("a b\n\nab c\n", "line 2: a rule must be two parts"),
        ("a b\nab\n", "line 2: a rule must be two parts"),
        ("a b\nb \n", "line 2: a rule must be two parts"),
        (" a\n", "line 1: a rule must be two parts"),
        ("a b\r\nab c\r\n", "line 1: a carriage return"),
        ("a b\nb c\na b\n", "line 3: the same rule as in line 1: 'a b'"),
        ("\ufeff#version: 0.2\na b\n", "line 1: the file begins with a byte order mark"),
        ("\n", "line 1: a rule must be two parts"),
        ("a</w> b\nc d</w>\n", "line 1: </w> occurs where no word ends"),
        ("b </w\nb</w >\nc d</w>\n", "line 2: </w> occurs where no word ends, or is merged from its characters"),
    ],
)
def test_what_is_no_merges_txt(text: str, message: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        read(text)
    assert str(caught.value).startswith("merges.txt")
    assert message in str(caught.value)


def test_bytes_that_are_not_utf8_are_named() -> None:
    with pytest.raises(FileFormatError, match=r"merges.txt, line 2, byte 4: not UTF-8: b'\\xff b\\n'"):
        read_merges(b"a b\n\xff b\n", HERE)


def test_an_improper_file_loads_and_says_so() -> None:
    tokenizer = read("ab c\na b\n")
    verdict = tokenizer.dictionary.properness()
    assert not verdict
    assert tokenizer.encode_piece("abc").tolist() == [256]
    with pytest.raises(tokdfa.TokdfaError, match="not proper"):
        _ = tokenizer.dfa


# Random rules over all bytes, written and read back. Some part always has a character that only the alphabet has.
PARTS = st.binary(min_size=1, max_size=4)


@given(st.lists(st.tuples(PARTS, PARTS), unique=True))
def test_what_is_written_is_read(rules: list[tuple[bytes, bytes]]) -> None:
    rules = [(b" ", b"\n"), *(rule for rule in rules if rule != (b" ", b"\n"))]
    assert list(read(merges_txt(rules)).dictionary) == rules


# Ends of words


def test_ends_of_words_belong_to_the_last_character() -> None:
    tokenizer = read("#version: 0.2\ne r</w>\nl o\nlo w\nlow er</w>\n")
    assert tokenizer.dictionary[0] == (("e",), ("r</w>",))
    assert tokenizer.dictionary.properness()
    ids = tokenizer.encode("lower")
    assert [tokenizer.token(tokenizer.id_to_token[id]) for id in ids] == [("l", "o", "w", "e", "r</w>")]
    assert tokenizer.decode(ids) == "lower"
    assert tokenizer.decode([*ids, *ids]) == "lower lower"
    with pytest.raises(AlphabetError, match=r"^character 2: the symbol is not in the base alphabet: 'w</w>'"):
        tokenizer.encode("low")


def test_the_oldest_files_have_the_end_of_a_word_as_a_symbol() -> None:
    tokenizer = read("r </w>\ne r</w>\n")
    assert tokenizer.dictionary[1] == (("e",), ("r", "</w>"))
    assert tokenizer.dictionary.properness()
    assert len(tokenizer.encode("er")) == 1
    assert tokenizer.decode(tokenizer.encode("er")) == "er"


def test_subword_nmt_agrees(data: Path, tmp_path: Path) -> None:
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    text = (data / "corpora/english.txt").read_text(encoding="utf-8")[:200_000].lower()
    corpus, codes = tmp_path / "corpus", tmp_path / "codes.merges"
    corpus.write_text(text, encoding="utf-8")
    with corpus.open(encoding="utf-8") as source, codes.open("w", encoding="utf-8") as target:
        learn_bpe.learn_bpe(source, target, 500)
    with codes.open(encoding="utf-8") as file:
        theirs = apply_bpe.BPE(file, separator="@@")
    tokenizer = tokdfa.load(codes)
    symbols = {word[0] for word in tokenizer.dictionary.alphabet.symbols}
    n_words = 0
    for word in sorted(set(text.split())):
        if not {*word[:-1], word[-1] + "</w>"} <= symbols:
            continue
        expected = theirs.segment_tokens([word])
        ids = tokenizer.encode_piece(word)
        mine = ["".join(tokenizer.token(tokenizer.id_to_token[id])).removesuffix("</w>") for id in ids]
        assert [*(token + "@@" for token in mine[:-1]), mine[-1]] == expected
        n_words += 1
    assert n_words > 2000


# CLIP


def test_clip_encodes_as_published(data: Path) -> None:
    tokenizer = tokdfa.load(data / "vocabs/clip_bpe_simple_vocab_16e6.txt.gz")
    assert (tokenizer.format, tokenizer.n_ids, len(tokenizer.dictionary)) == ("clip", 49408, 48894)
    # From openai/CLIP: tokenize("a diagram") is 49406, 320, 22697, 49407.
    ids = [tokenizer.encode_piece(word).tolist() for word in ("a", "diagram", "naïve")]
    assert ids[:2] == [[320], [22697]]
    assert tokenizer.decode([320, 22697]) == "a diagram"
    assert tokenizer.decode(ids[2]) == "naïve"


def test_clip_with_rules_missing(data: Path, tmp_path: Path) -> None:
    whole = gzip.decompress((data / "vocabs/clip_bpe_simple_vocab_16e6.txt.gz").read_bytes())
    cut = tmp_path / "bpe_simple_vocab_16e6.txt"
    cut.write_bytes(b"\n".join(whole.split(b"\n")[:1000]))
    with pytest.raises(FileFormatError, match="the file has too few rules: 999"):
        tokdfa.load(cut)


# vocab.json


def test_ids_are_those_of_the_vocabulary(tmp_path: Path) -> None:
    vocab = {spelling: 3 * id + 7 for spelling, id in vocabulary().items()}
    (tmp_path / "vocab.json").write_text(json.dumps({**vocab, "<s>": 0}))
    (tmp_path / "merges.txt").write_text(merges_txt())
    for path in (tmp_path, tmp_path / "vocab.json"):
        tokenizer = tokdfa.load(path)
        assert tokenizer.format == "merges+vocab"
        assert tokenizer.encode(" the").tolist() == [vocab["Ġthe"]]
        assert tokenizer.decode([0]) == "<s>"
        assert tokenizer.dead_tokens.tolist() == [len(tokenizer.dictionary.alphabet)]
    assert tokdfa.load(tmp_path / "merges.txt").encode(" the").tolist() == [vocabulary()["Ġthe"]]


def test_a_vocabulary_over_characters(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"a": 5, "b</w>": 6, "ab</w>": 7, "zz": 9, "b": 0}))
    (tmp_path / "merges.txt").write_text("a b</w>\n")
    tokenizer = tokdfa.load(tmp_path)
    assert tokenizer.encode("ab").tolist() == [7]
    assert tokenizer.encode("bab").tolist() == [0, 7]
    assert tokenizer.dead_tokens.tolist() == [4]


@pytest.mark.parametrize(
    ("vocab", "message"),
    [
        ({"ab": None}, r"vocab.json, \$.ab: an id must be an integer from 0 to 16777215: None"),
        ({"zz": 2**40}, r"\$.zz: an id must be an integer"),
        ({"zz": -1}, r"\$.zz: an id must be an integer"),
        ({"zz": True}, r"\$.zz: an id must be an integer"),
        ({"zz": 1.0}, r"\$.zz: an id must be an integer"),
        ({"zz": 5}, r"\$.zz: the same id as that of '&': 5"),
        ({"\ud800": 999}, r"\$: half of a surrogate pair"),
    ],
)
def test_what_is_no_vocabulary(vocab: dict[str, object], message: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({**vocabulary(), **vocab}))
    (tmp_path / "merges.txt").write_text(merges_txt())
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(tmp_path)


def test_a_rule_needs_tokens_of_the_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary()))
    (tmp_path / "merges.txt").write_text(merges_txt([*RULES, (b"q", b"q")]))
    with pytest.raises(FileFormatError, match=r"merges.txt, line 9: the rule q q needs a token .*: 'qq'"):
        tokdfa.load(tmp_path)


def test_files_of_two_alphabets_are_refused(tmp_path: Path) -> None:
    vocab = {**vocabulary(), "中": 900, "国": 901, "中国": 902}
    (tmp_path / "vocab.json").write_text(json.dumps({**vocab}))
    (tmp_path / "merges.txt").write_text(merges_txt([(b"a", b"a")]) + "中 国\n")
    tokenizer = tokdfa.load(tmp_path)
    assert not tokenizer.is_bytewise
    assert tokenizer.encode("aa中国").tolist() == [vocab["aa"], 902]


def test_unsupported_is_a_format_error() -> None:
    assert issubclass(UnsupportedFeatureError, FileFormatError)
