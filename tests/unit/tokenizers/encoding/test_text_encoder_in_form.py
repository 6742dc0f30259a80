"""Texts in a normalization form around added tokens: encoded at once, against stretch by stretch."""

from __future__ import annotations

import random
from ctypes import string_at
from typing import get_args

import numpy as np
import pytest

from tests.support.added_tokens import added_stretches
from tests.support.byte_tokenizers import tokenizer_of
from tests.support.normalized import SYMBOLS
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.regex.unicode.normalization import Form, normalize
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.text_encoder import InForm, OverlapError
from tokdfa.tokenizers.formats.contents import Rewriting
from tokdfa.tokenizers.normalizers.steps import UnicodeForm
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.tokenizer import Tokenizer

FORMS: tuple[Form, ...] = get_args(Form)
RULES = [(b"e", b"\xcc"), (b"\xcc", b"\x81"), (b"\xc3", b"\xa9"), (b" ", b"a"), (b"<", b"|")]
# The Kelvin sign becomes K, the first two letters with a mark after them another letter.
SPECIALS = [
    *(Special(300 + at, content) for at, content in enumerate(["<|K|>", "<e", "\u212a", "n>s", "é"])),
    *(Special(320 + at, content, level=1) for at, content in enumerate(["K<", "Å", "  ", "e\u0323"])),
]


def tokenizer_in(form: Form, specials: list[Special]) -> Tokenizer:
    rewriting = Rewriting(UnicodeForm(form), None)
    return tokenizer_of(RULES, NAMED["cl100k"], specials, finds_specials=True, rewriting=rewriting)


def by_stretches(tokenizer: Tokenizer, form: Form, specials: list[Special], text: str) -> list[int]:
    assert tokenizer.pretokenizer is not None
    parts = added_stretches(specials, text, lambda part: normalize(part, form))
    ids = [
        [part.id] if isinstance(part, Special) else tokenizer.encode_pieces(tokenizer.pretokenizer.split(part)).ids
        for part, _ in parts
    ]
    return [int(id) for some in ids for id in some]


def text_of(found: FoundTexts) -> list[str]:
    """Return the texts at the places where they were found."""
    sizes = np.diff(found.offsets).tolist()
    return [string_at(place, size).decode() for place, size in zip(found.addresses.tolist(), sizes, strict=True)]


def some_text(drawn: random.Random, longest: int) -> str:
    symbols = [*SYMBOLS, *(special.content for special in SPECIALS), "<|\u212a|>", "<\u0338", "K", "x" * 70]
    return "".join(drawn.choices(symbols, k=drawn.randrange(longest)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("longest", [4, 30, 4_000])
def test_texts_are_brought_into_a_form_between_added_tokens(form: Form, longest: int) -> None:
    drawn = random.Random(longest)
    n_changed = 0
    for _ in range(max(3, 300 // longest)):
        specials = drawn.sample(SPECIALS, drawn.randrange(len(SPECIALS) + 1))
        tokenizer = tokenizer_in(form, specials)
        texts = [some_text(drawn, longest) for _ in range(5)]
        expected = [by_stretches(tokenizer, form, specials, text) for text in texts]
        for text, ids in zip(texts, expected, strict=True):
            # The interpreter keeps the UTF-8 of a string that is encoded again.
            for _ in range(2):
                assert tokenizer.encode(text).tolist() == ids, text
            n_changed += normalize(text, form) != text
        together = tokenizer.encode_side_by_side(texts, 2)
        if together is not None:
            assert together.ids.tolist() == [id for ids in expected for id in ids]
            assert together.offsets.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        plain = tokenizer_in(form, [])
        together = plain.encode_side_by_side(texts, 1)
        assert together is not None
        assert together.ids.tolist() == [id for text in texts for id in by_stretches(plain, form, [], text)]
    assert n_changed > 5


def test_a_token_that_only_the_form_has_is_text() -> None:
    specials = SPECIALS[:1]
    tokenizer = tokenizer_in("NFC", specials)
    text = "a<|\u212a|>b<|K|>é\u0301"
    assert tokenizer.encode(text).tolist().count(300) == 1
    in_form = InForm("NFC", AddedTokens(specials))
    made = in_form(text.encode())
    assert made is not None
    assert bytes(made[0]).decode() == normalize(text, "NFC")
    assert made[1].tolist() == [[7, 12, 0]]
    assert in_form.of_all(["a", text]) is None
    assert tokenizer.encode_side_by_side(["a", text], 1) is None
    found = in_form.of_all(["a<|K|>", "e\u0301<|K|>", "é"])
    assert found is not None
    assert text_of(found) == ["a<|K|>", "é<|K|>", "é"]


def test_half_of_a_surrogate_pair_is_refused_where_it_is() -> None:
    tokenizer = tokenizer_in("NFC", SPECIALS)
    for text, place in (("e\u0301<e\ud800", 4), ("\udfff", 0), ("a<|K|>\ud800e\u0301", 6)):
        with pytest.raises(AlphabetError, match=f"character {place}"):
            tokenizer.encode(text)
        with pytest.raises(UnicodeEncodeError):
            InForm("NFC", AddedTokens()).of_all([text])
        assert tokenizer.encode_side_by_side([text], 1) is None


def test_tokens_that_strip_before_a_form() -> None:
    specials = [Special(300, "<e", rstrip=True), Special(301, "  "), Special(302, "K", lstrip=True)]
    tokenizer = tokenizer_in("NFC", specials)
    in_form = InForm("NFC", AddedTokens(specials))
    for text in ("e\u0301 <e \u00a0  é", "<e    e\u0301", "é<e  ", "<e a   K\u0301é\u0301 \u2003K"):
        assert tokenizer.encode(text).tolist() == by_stretches(tokenizer, "NFC", specials, text)
    # The white space of the first one begins with the second one.
    with pytest.raises(OverlapError):
        in_form("<e    e\u0301".encode())
    with pytest.raises(OverlapError):
        in_form.of_all(["a", "<e    e\u0301"])
    assert tokenizer.encode_side_by_side(["a", "<e    e\u0301"], 1) is None
    drawn = random.Random(0)
    for _ in range(300):
        text = "".join(drawn.choices(["<e", " ", "\u00a0", "K", "e\u0301", "\u0301", "é", "a", "x" * 70], k=12))
        assert tokenizer.encode(text).tolist() == by_stretches(tokenizer, "NFC", specials, text)
