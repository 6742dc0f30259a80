"""Words and token alphabets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import TokenAlphabet
from tokdfa.automata.alphabet import concatenate, iter_symbols, show
from tokdfa.base.errors import AlphabetError

ABC = TokenAlphabet("abc", ["ab", "bc", "abc"])
BYTES = TokenAlphabet(bytes(range(256)), [b"\x00\x01"])
SYMBOLS = TokenAlphabet(["lo", "w", "</w>"], [("lo", "w"), ("lo", "w", "</w>")])


def test_symbols_come_first_and_tokens_are_numbered_in_order() -> None:
    assert list(ABC) == ["a", "b", "c", "ab", "bc", "abc"]
    assert ABC.symbols == ("a", "b", "c")
    assert (ABC.kind, ABC.n_symbols, len(ABC), ABC.longest) == ("characters", 3, 6, 3)
    assert (BYTES.kind, BYTES.n_symbols, len(BYTES), BYTES[256]) == ("bytes", 256, 257, b"\x00\x01")
    assert (SYMBOLS.kind, SYMBOLS.symbols, SYMBOLS.longest) == ("symbols", (("lo",), ("w",), ("</w>",)), 3)
    assert TokenAlphabet("").longest == 0


@pytest.mark.parametrize("alphabet", [ABC, BYTES, SYMBOLS])
def test_numbers_and_words_are_inverse(alphabet: TokenAlphabet) -> None:
    assert [alphabet.number(word) for word in alphabet] == list(range(len(alphabet)))
    assert alphabet.spell(range(len(alphabet))) == tuple(alphabet)
    assert alphabet.numbers(alphabet) == alphabet.numbers(range(len(alphabet))) == tuple(range(len(alphabet)))


@pytest.mark.parametrize(
    ("alphabet", "tokens", "text"),
    [
        (ABC, ["abc", "a", "ab"], "abcaab"),
        (ABC, [5, "a", 3], "abcaab"),
        (ABC, [], ""),
        (BYTES, [256, b"\xff"], b"\x00\x01\xff"),
        (BYTES, [], b""),
        (SYMBOLS, [("lo", "w"), ("</w>",)], ("lo", "w", "</w>")),
        (SYMBOLS, [], ()),
    ],
)
def test_the_text_of_a_tokenization(alphabet: TokenAlphabet, tokens, text) -> None:
    assert alphabet.text(tokens) == text


def test_base_tokenizations() -> None:
    assert ABC.base_tokenization("cab") == (2, 0, 1)
    assert BYTES.base_tokenization(b"\xff\x00") == (255, 0)
    assert SYMBOLS.base_tokenization(["w", "lo"]) == SYMBOLS.base_tokenization(("w", "lo")) == (1, 0)


@pytest.mark.parametrize(
    ("alphabet", "word", "message"),
    [
        (ABC, "abxc", "offset 2: the symbol is not in the base alphabet: 'x'"),
        (ABC, b"ab", "expected a word over characters, not bytes"),
        (ABC, ["a"], "not list"),
        (BYTES, "\ud800", "expected a word over bytes, not str"),
        (BYTES, ["ab"], "expected a word over bytes, not list"),
        (SYMBOLS, "low", "expected a word over symbols, not str"),
        (SYMBOLS, ["l"], "offset 0: the symbol is not in the base alphabet"),
    ],
)
def test_words_that_are_not_over_the_alphabet(alphabet: TokenAlphabet, word, message: str) -> None:
    with pytest.raises(AlphabetError, match=message):
        alphabet.base_tokenization(word)


def test_over_bytes_strings_are_their_utf8() -> None:
    alphabet = TokenAlphabet(bytes(range(256)), ["é".encode(), b" s", " sé".encode()])
    assert alphabet.number("é") == alphabet.number("é".encode()) == 256
    assert alphabet.numbers(["a", " s", b" s", 5]) == (97, 257, 257, 5)
    assert alphabet.base_tokenization("é") == (0xC3, 0xA9)
    assert alphabet.text(["é", " s"]) == "é s".encode()
    for word in ("\ud800", "ab", "Ġs", 1.5):
        with pytest.raises(AlphabetError, match="not a token of this alphabet"):
            alphabet.number(word)  # type: ignore[arg-type]
    with pytest.raises(AlphabetError, match="write the space itself: ' s'; Ġ stands for it"):
        alphabet.number("Ġs")
    # Σ may be any bytes, and then some strings have no token.
    assert TokenAlphabet(b"ab").number("a") == 0
    with pytest.raises(AlphabetError, match="not a token of this alphabet"):
        TokenAlphabet(b"ab").number("é")


def test_where_strings_are_the_words_bytes_are_not() -> None:
    with pytest.raises(AlphabetError, match="the tokens here are over characters"):
        ABC.number(b"a")


@pytest.mark.parametrize("token", ["x", "", "cb", b"a", ("a",), None, 1.5, ["a"]])
def test_what_is_not_a_token(token) -> None:
    with pytest.raises(AlphabetError, match="not a token of this alphabet"):
        ABC.number(token)
    assert not isinstance(token, str) or token not in ABC


@pytest.mark.parametrize("number", [-1, 6, 10**20])
def test_numbers_out_of_range(number: int) -> None:
    with pytest.raises(AlphabetError, match=r"token number out of range.*0 to 5 are tokens"):
        ABC.numbers([0, number])


@pytest.mark.parametrize(
    ("symbols", "tokens", "message"),
    [
        ("aba", (), "the symbol is given twice: 'a'"),
        (["lo", ""], (), "a symbol must be a non-empty string or a single byte: ''"),
        ([b"ab"], (), "one byte"),
        ([b"a", "b"], (), "all bytes or all strings"),
        ([1], (), "a symbol must be a non-empty string"),
        ([("a", "b")], (), "all bytes or all strings"),
        ("ab", ["ab", "ab"], "the token is given twice: 'ab'"),
        ("ab", ["a"], "two symbols or more: 'a'"),
        ("ab", [""], "two symbols or more: ''"),
        ("ab", ["abc"], "token 'abc' uses a symbol that is not in the base alphabet: 'c'"),
        ("ab", [b"ab"], "a token over characters is a str"),
        (b"ab", ["ab"], "a token over bytes is a bytes"),
        (["lo", "w"], ["low"], "a token over symbols is a tuple"),
    ],
)
def test_what_is_not_an_alphabet(symbols, tokens, message: str) -> None:
    with pytest.raises(AlphabetError, match=message):
        TokenAlphabet(symbols, tokens)


def test_extension_keeps_the_numbers() -> None:
    wider = ABC.extended("ca")
    assert list(wider) == [*ABC, "ca"]
    assert wider.extended("ca") is wider
    assert ABC.extended("a") is ABC
    with pytest.raises(AlphabetError):
        ABC.extended("cx")


def test_equal_alphabets() -> None:
    same = TokenAlphabet(["a", "b", "c"], ["ab", "bc", "abc"])
    assert same == ABC
    assert hash(same) == hash(ABC)
    assert TokenAlphabet("abc", ["bc", "ab", "abc"]) != ABC
    assert TokenAlphabet("abc") != TokenAlphabet(b"abc")
    assert list(ABC) != ABC


@given(st.one_of(st.binary(), st.text(), st.lists(st.text(min_size=1)).map(tuple)))
def test_a_word_is_the_concatenation_of_its_symbols(word) -> None:
    kind = {bytes: "bytes", str: "characters", tuple: "symbols"}[type(word)]
    symbols = list(iter_symbols(word))
    assert all(len(symbol) == 1 and type(symbol) is type(word) for symbol in symbols)
    assert concatenate(symbols, kind) == word


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("low", "low"),
        ("a\nb", r"a\nb"),
        ("\u200f", r"\u200f"),
        ("é".encode(), "é"),
        (b"\xc3", r"\xc3"),
        (b"\x00a", r"\x00a"),
        (("lo", "w</w>"), "low</w>"),
        (("\n",), r"\n"),
        ("", ""),
    ],
)
def test_words_are_shown_on_one_printable_line(word, shown: str) -> None:
    assert show(word) == shown
