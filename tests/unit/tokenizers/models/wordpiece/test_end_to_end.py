"""From text to ids in one pass: BERT's rules on small examples, offsets, batches and bad input."""

from __future__ import annotations

import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tokdfa.base.errors import AlphabetError, TokdfaError
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

ENTRIES = ["[UNK]", "[SEP]", "a", "b", "##a", "##b", "##bc", "c", "##c", "z", ",", "!", "中", "e", "##e", "ab1"]
ENTRIES += ["ᄒ", "##ᅡ", "##ᆫ", "A", "##B", "é", "i", "##i", "##\u0307", "[", "]", "="]


def _tokens(text: str, normalizer: BertNormalizer | None = None, **settings: object) -> str:
    vocabulary = WordPieceVocabulary(ENTRIES, **settings)  # type: ignore[arg-type]
    return " ".join(vocabulary.spell(EndToEnd(vocabulary, normalizer, {"[SEP]": 1}).encode(text).ids.tolist()))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        (" \t\r\n\u3000\u00a0", ""),
        ("abc", "a ##bc"),
        ("ABC", "a ##bc"),
        ("a bc\tab\u2003c", "a b ##c a ##b c"),
        ("a,b!", "a , b !"),
        ("ab,", "a ##b ,"),
        ("a\u0000b\u200bc\ufffd", "a ##bc"),
        ("a中b", "a 中 b"),
        ("a国b", "a [UNK] b"),
        ("é e\u0301 ÉE\u0301", "e e e ##e"),
        ("\u0301a", "a"),
        ("한", "ᄒ ##ᅡ ##ᆫ"),
        ("a≠b", "a = b"),
        ("q ab?", "[UNK] a ##b [UNK]"),
        ("ab1", "ab1"),
        ("ab12", "[UNK]"),
        ("a[SEP]b", "a [SEP] b"),
        ("[SEP] [sep]", "[SEP] [ [UNK] ]"),
        ("a" * 101, "[UNK]"),
        ("\ud7ff\ue000", "[UNK]"),
    ],
)
def test_bert_s_rules(text: str, tokens: str) -> None:
    assert _tokens(text) == tokens


@pytest.mark.parametrize(
    ("setting", "text", "kept", "dropped"),
    [
        ("clean_text", "a\u0000b", "a ##b", "[UNK]"),
        ("chinese", "a中", "a 中", "[UNK]"),
        ("strip_accents", "é", "e", "é"),
        ("lowercase", "AB", "a ##b", "A ##B"),
    ],
)
def test_each_setting(setting: str, text: str, kept: str, dropped: str) -> None:
    assert _tokens(text, BertNormalizer(**{setting: True})) == kept
    assert _tokens(text, BertNormalizer(**{setting: False})) == dropped


def test_a_lower_case_of_two_characters() -> None:
    assert _tokens("İ") == "i"
    assert _tokens("İ", BertNormalizer(strip_accents=False)) == "i ##\u0307"


def test_the_limit_counts_normalized_characters() -> None:
    assert _tokens("é" * 4, longest_word=4) == "e ##e ##e ##e"
    assert _tokens("e\u0301" * 5, longest_word=4) == "[UNK]"
    assert _tokens("한", longest_word=2) == "[UNK]"
    assert _tokens("a!", longest_word=0) == "[UNK] [UNK]"
    assert _tokens("a" * 1000, longest_word=None) == " ".join(["a"] + ["##a"] * 999)


def test_words_of_every_length_around_the_fast_path() -> None:
    entries = ["[UNK]", *("ab" * 20)[:20], *("x" * n for n in range(1, 21)), *("##" + "x" * n for n in (1, 2))]
    vocabulary = WordPieceVocabulary(dict.fromkeys(entries).keys(), longest_word=None)
    machine = EndToEnd(vocabulary)
    for length in range(1, 40):
        for before in range(3):
            for after in ("", " ", ",", ", x", "é"):
                text = " " * before + "X" * length + after
                ids = machine.encode(text).ids.tolist()
                spelled = "".join(vocabulary.spell(ids)).replace("##", "")
                wanted = "[UNK]" if after == "é" else "x" * length + after.replace(" ", "").replace(",", "[UNK]")
                assert spelled == wanted, (length, before, after)


def test_offsets_count_characters_or_bytes() -> None:
    vocabulary = WordPieceVocabulary(ENTRIES)
    machine = EndToEnd(vocabulary, added={"[SEP]": 1})
    text = " É中abc, e\u0301a한[SEP]é𝒳!"
    tokens = machine.encode(text, "characters")
    pieces = [text[begin:end] for begin, end in zip(tokens.begins.tolist(), tokens.ends.tolist(), strict=True)]
    assert pieces == ["É", "中", "a", "bc", ",", "[UNK]", "[SEP]", "é𝒳", "!"][:5] + pieces[5:]
    assert pieces[5:] == ["e\u0301a한", "[SEP]", "é𝒳", "!"]
    data = text.encode()
    for given in (text, data):
        wide = machine.encode(given, "bytes")
        assert wide.ids.tolist() == tokens.ids.tolist()
        assert [data[begin:end].decode() for begin, end in zip(wide.begins, wide.ends, strict=True)] == pieces
    assert len(machine.encode(text).begins) == 0
    with pytest.raises(TokdfaError, match="characters or in bytes: 'words'"):
        machine.encode(text, "words")  # type: ignore[arg-type]


def test_a_batch_is_its_texts() -> None:
    vocabulary = WordPieceVocabulary(ENTRIES)
    machine = EndToEnd(vocabulary, added={"[SEP]": 1})
    dice = random.Random(3)
    for _ in range(300):
        symbols = dice.choice(["abc ,", "ab é中\u0301 ", "[SEP] ab\n"])
        texts = ["".join(dice.choices(symbols, k=dice.randint(0, 20))) for _ in range(dice.randint(1, 6))]
        tokens, rows = machine.encode_batch(texts, "characters")
        assert len(rows) == len(texts) + 1
        for text, start, stop in zip(texts, rows[:-1], rows[1:], strict=True):
            alone = machine.encode(text, "characters")
            assert machine.encode_ids(text).tolist() == machine.encode(text.encode()).ids.tolist() == alone.ids.tolist()
            for ours, theirs in zip(alone, tokens, strict=True):
                assert ours.tolist() == theirs[start:stop].tolist()
    assert machine.encode_batch([])[1].tolist() == [0]


@pytest.mark.parametrize("limit", [None, 0, 3, 100, 5_000, 1 << 40])
def test_one_text_of_any_length_and_its_words(limit: int | None) -> None:
    machine = EndToEnd(WordPieceVocabulary(ENTRIES, longest_word=limit), added={"[SEP]": 1})
    dice = random.Random(5)
    for size in (0, 1, 7, 8, 15, 16, 17, 4_094, 4_095, 4_096, 4_097, 9_000):
        for symbols in ("ab", "abc é", "中é\u0301"):
            text = "".join(dice.choices(symbols, k=size))
            tokens, _ = machine.encode_batch([text])
            assert machine.encode_ids(text).tolist() == tokens.ids.tolist()


def test_threads_do_not_share_room() -> None:
    machine = EndToEnd(WordPieceVocabulary(ENTRIES))
    texts = [symbol * 1_000 for symbol in ("a ", "b ", "c ", "z ")]
    wanted = [machine.encode_batch([text])[0].ids.tolist() for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for given in pool.map(lambda _: [machine.encode_ids(text).tolist() for text in texts], range(100)):
            assert given == wanted


def test_an_added_token_begins_with_the_space_behind_a_word() -> None:
    machine = EndToEnd(WordPieceVocabulary(["[UNK]", "a", "b", "##b"]), added={" a": 7})
    assert machine.encode_ids("a ab a").tolist() == [1, 7, 2, 7]
    assert machine.encode("a ab", "characters").begins.tolist() == [0, 1, 3]
    assert machine.encode_ids("a b").tolist() == [1, 2]


def test_added_tokens_are_found_leftmost_longest_and_inside_words() -> None:
    vocabulary = WordPieceVocabulary(["[UNK]", "a", "##a", "x", "##x", "xa", "é", "aé"])
    machine = EndToEnd(vocabulary, BertNormalizer(strip_accents=False), {"xa": 5, "x": 3, "aé": 7})
    assert machine.encode("axaax").ids.tolist() == [1, 5, 1, 3]
    assert machine.encode("XAaéa").ids.tolist() == [5, 7, 1]
    assert machine.encode("XAaÉa").ids.tolist() == [0]
    tokens = machine.encode("aéé", "characters")
    assert (tokens.ids.tolist(), tokens.begins.tolist(), tokens.ends.tolist()) == ([7, 6], [0, 2], [2, 3])


@pytest.mark.parametrize(
    ("token", "message"), [("", "must not be empty"), ("\u0301a", "combining mark"), ("\ud800", "surrogate")]
)
def test_added_tokens_that_cannot_be(token: str, message: str) -> None:
    with pytest.raises(AlphabetError, match=message):
        EndToEnd(WordPieceVocabulary(ENTRIES), added={token: 1})


def test_bad_text_is_refused_with_its_place() -> None:
    machine = EndToEnd(WordPieceVocabulary(ENTRIES))
    with pytest.raises(AlphabetError, match=r"^byte 2: the text is not UTF-8: b'.xff'"):
        machine.encode(b"ab\xff")
    with pytest.raises(AlphabetError, match=r"^byte 1: the text is not UTF-8"):
        machine.encode(b"a\xed\xa0\x80")
    with pytest.raises(AlphabetError, match=r"^character 3: the text has a lone surrogate"):
        machine.encode("aé \udc80")
    with pytest.raises(AlphabetError, match=r"^text 1, character 1: the text has a lone surrogate"):
        machine.encode_batch(["aé", "b\ud800"])


def test_unknown_words_without_a_token_for_them_are_refused_with_their_place() -> None:
    machine = EndToEnd(WordPieceVocabulary(["a"]))
    assert machine.encode("a a").ids.tolist() == [0, 0]
    with pytest.raises(AlphabetError, match=r"^byte 4: a word has no tokenization.*: 'bc' "):
        machine.encode("a a bc a")
    with pytest.raises(AlphabetError, match=r"^text 1, byte 4: a word has no tokenization.*: '中' "):
        machine.encode_batch(["a", "A a 中"])
    with pytest.raises(AlphabetError, match="'a'"):
        EndToEnd(WordPieceVocabulary([])).encode("a")


def test_a_word_of_a_million_letters() -> None:
    entries = ["[UNK]", "a", "##aa", "é", "##éé"]
    machine = EndToEnd(WordPieceVocabulary(entries, longest_word=None), BertNormalizer(strip_accents=False))
    assert machine.encode("A" * 1_000_001).ids.tolist() == [1] + [2] * 500_000
    assert machine.encode("É" * 1_000_001).ids.tolist() == [3] + [4] * 500_000
    assert machine.encode("A" * 1_000_000).ids.tolist() == [0]
    limited = EndToEnd(WordPieceVocabulary(entries))
    tokens = limited.encode("A" * 1_000_001 + " a", "characters")
    assert (tokens.ids.tolist(), tokens.ends.tolist()) == ([0, 1], [1_000_001, 1_000_003])


def test_a_million_combining_marks() -> None:
    # U+08D4 and U+302E are marks that the library puts in order but does not remove.
    machine = EndToEnd(WordPieceVocabulary(["[UNK]", "a", "##\u08d4", "##\u302e"], longest_word=None))
    n = 300_000
    tokens = machine.encode("a" + "\u08d4\u0301\u302e" * n, "characters")
    assert tokens.ids.tolist() == [1] + [3] * n + [2] * n
    # Sources are counted by position.
    assert tokens.ends[[0, 1, n, 2 * n]].tolist() == [1, 2, n + 1, 3 * n]


def test_it_goes_to_another_process() -> None:
    machine = EndToEnd(WordPieceVocabulary(ENTRIES), BertNormalizer(lowercase=False), {"[SEP]": 1})
    twin = pickle.loads(pickle.dumps(machine))
    for text in ("abc[SEP]", "ABC á"):
        assert twin.encode_ids(text).tolist() == machine.encode_ids(text).tolist()


@pytest.mark.parametrize(("data", "where"), [(b"a\xffb", "byte 1"), (b"\xc3", "byte 0"), (b"ab \xe2\x82", "byte 3")])
def test_bytes_that_are_not_utf8_are_refused_with_their_place(data: bytes, where: str) -> None:
    machine = EndToEnd(WordPieceVocabulary(["[UNK]", "a", "##b"]), BertNormalizer())
    for offsets in (None, "bytes", "characters"):
        with pytest.raises(AlphabetError, match=where):
            machine.encode(data, offsets)  # type: ignore[arg-type]
