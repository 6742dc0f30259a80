"""llama.cpp's normalization for WordPiece: each rule on examples, and one pass over a text against them."""

from __future__ import annotations

import pickle
import random

import pytest

from tests.support.gguf_files import ENTRIES
from tokdfa.base.errors import AutomatonError
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.maxmatch import max_match
from tokdfa.tokenizers.models.wordpiece.normalizer import LlamaCppNormalizer
from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

NORMALIZER = LlamaCppNormalizer()
SPECIALS = {"[CLS]": 2, "[SEP]": 3}
SYMBOLS = [*"abeABwor 1!.$\n", "ab", "bab", "the", "é", "e\u0301", "\u20dd", "\u093f", "한", "\u1161", "中", "\uf900"]
SYMBOLS += ["\u2581", "\u2581a", "\0", "\ufffd", "\u200b", "\ue000", "\u0378", "\u1680", "\x1c", "€", "[CLS]", "[cls]"]


def vocabulary(entries: tuple[str, ...] = ENTRIES) -> WordPieceVocabulary:
    return WordPieceVocabulary(entries, prefix="", opening="\u2581", longest_word=None)


@pytest.mark.parametrize(
    ("character", "stripped", "cased"),
    [
        *(("a", "a", "a"), ("A", "a", "A"), ("é", "e", "é"), ("É", "e", "É"), ("\u0301", "", "\u0301")),
        *(("\u20dd", "", "\u20dd"), ("\u093f", "", "\u093f"), ("한", "\u1112", "한"), ("İ", "i", "İ"), ("ß", "ß", "ß")),
        *((" ", " ", " "), ("\n", " ", " "), ("\x85", " ", " "), ("\u3000", " ", " "), ("\x1c", "", "")),
        *(("\0", "", ""), ("\ufffd", "", ""), ("\u200b", "", ""), ("\ue000", "", ""), ("\u0378", "\u0378", "\u0378")),
        *(("!", " ! ", " ! "), ("$", " $ ", " $ "), ("~", " ~ ", " ~ "), ("€", "€", "€"), ("«", " « ", " « ")),
        *(("\u037e", " ; ", " \u037e "), ("\u1fef", " ` ", "\u1fef"), ("中", " 中 ", " 中 ")),
        # A range of ideographs begins where HuggingFace's does, and compatible ones become those that they stand for.
        *(("\U0002b820", "\U0002b820", "\U0002b820"), ("\U0002b920", " \U0002b920 ", " \U0002b920 ")),
        ("\uf900", " 豈 ", " \uf900 "),
    ],
)
def test_one_character(character: str, stripped: str, cased: str) -> None:
    assert NORMALIZER.effect(character) == stripped
    assert LlamaCppNormalizer(strip_accents=False, lowercase=False).effect(character) == cased


@pytest.mark.parametrize("settings", [{}, {"lowercase": False}, {"strip_accents": False}])
def test_texts_in_one_pass(settings: dict[str, bool]) -> None:
    normalizer, entries = LlamaCppNormalizer(**settings), vocabulary()
    engine = EndToEnd(entries, normalizer, SPECIALS)
    drawn = random.Random(25)
    for _ in range(400):
        text = "".join(drawn.choices(SYMBOLS, k=drawn.randrange(12)))
        expected = []
        for number, part in enumerate(text.split("[CLS]")):
            expected += [2] if number else []
            # The words of one part: llama.cpp splits at the spaces that the normalizer has made.
            expected += [id for word in normalizer(part).split(" ") if word for id in max_match(entries, word)]
        tokens = engine.encode(text, "characters")
        assert tokens.ids.tolist() == expected == engine.encode(text).ids.tolist(), text
        assert (tokens.begins <= tokens.ends).all()
    assert pickle.loads(pickle.dumps(engine)).encode("Ab!").ids.tolist() == engine.encode("Ab!").ids.tolist()


def test_no_word_is_too_long() -> None:
    engine = EndToEnd(vocabulary(), NORMALIZER)
    assert engine.encode("a" * 5000).ids.tolist() == [5] + [7] * 4999


def test_streams_are_those_that_decoding_and_encoding_keep() -> None:
    entries = vocabulary(
        ("[UNK]", "[S]", "\u2581a", "a", "\u2581b", "ab", "\u2581ab", "bb", "\u2581!", "x\u2581a", "\u2581\u2581", "é")
    )
    specials = {"[UNK]": 0, "[S]": 1}
    engine, language = EndToEnd(entries, NORMALIZER, specials), StreamLanguage(entries, NORMALIZER, specials)
    ids = range(len(entries))
    answers = []
    for stream in [(), *((a,) for a in ids), *((a, b) for a in ids for b in ids), *zip(*[iter(ids)] * 3, strict=False)]:
        text = "".join(
            entry if id in specials.values() else entry.replace("\u2581", " ")
            for id, entry in zip(stream, entries.spell(stream), strict=True)
        )
        state = language.initial
        for id in stream:
            state = language.step(state, id) if state is not None else None
        assert (state is not None) == (tuple(engine.encode(text).ids.tolist()) == stream), stream
        answers.append(state is not None)
    assert 20 < sum(answers) < len(answers) - 20
    assert language.dead >= {9, 10, 11}


@pytest.mark.parametrize("special", ["ab", "!", "a b", "x[S"])
def test_special_tokens_that_others_may_spell(special: str) -> None:
    with pytest.raises(
        AutomatonError, match=f"^other tokens can spell a special token: {special!r}$".replace("[", r"\[")
    ):
        StreamLanguage(vocabulary(("[UNK]", "\u2581a")), NORMALIZER, {"[S]": 0, special: 5})
