"""The automaton of correct id streams accepts exactly those that decoding and encoding leaves as they are."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from tokdfa.automata.protocol import accepts
from tokdfa.base.errors import AutomatonError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
from tokdfa.tokenizers.loading import load
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

LETTERS = ["a", "ab", "##a", "##b", "##ba", "##bab", "b"]


def _tokenizer(
    entries: list[str], normalizer: BertNormalizer, specials: list[str], longest_word: int | None = 100
) -> WordPieceTokenizer:
    vocabulary = WordPieceVocabulary(entries, longest_word=longest_word)
    special = tuple(Special(entries.index(name), name) for name in specials)
    return WordPieceTokenizer(WordPieceContents("test", vocabulary, normalizer, special, cleanup=True))


@pytest.mark.parametrize(
    ("entries", "settings", "specials", "limit"),
    [
        ([*LETTERS, "[UNK]"], {}, [], 100),
        ([*LETTERS, "[UNK]"], {}, ["[UNK]"], 3),
        (["a", "##a", "A", "##A", "é", "##é", ".", "##.", "[UNK]"], {}, ["[UNK]"], 100),
        (["a", "##a", "A", "##A", "é", "##é", ".", "##.", "[UNK]"], {"lowercase": False}, ["[UNK]"], 100),
        (["a", "##a", "!", ",", "'", "s", "中", "##中", "[UNK]", "[a]"], {}, ["[UNK]"], 100),
        (["a", "##a", "中", "##中", "a中", "[UNK]"], {"chinese": False}, ["[UNK]"], 100),
        (["a", "##a", "\u302e", "##\u302e", "##\u08d4", "##\u302ea", "##\u08d4\u302e", "[UNK]"], {}, ["[UNK]"], 100),
        (["a", "##a", "\u302e", "##\u302e", "##\u08d4", "[UNK]"], {"strip_accents": False}, ["[UNK]"], 100),
        (["a", "##a", "##", "#", "", " ", "a b", "[UNK]"], {}, ["[UNK]"], 100),
        (["a", "##a", ".", "[UNK]", "<s>", "A"], {}, ["[UNK]", "<s>", "A"], 100),
        (["a", ".", "##a", "[UNK]"], {}, ["[UNK]"], 0),
    ],
)
def test_it_accepts_what_encoding_gives_back(
    entries: list[str], settings: dict[str, bool], specials: list[str], limit: int
) -> None:
    tokenizer = _tokenizer(entries, BertNormalizer(**settings), specials, limit)
    language = tokenizer.language
    longest = 4 if len(entries) > 8 else 5
    accepted = 0
    streams = [ids for length in range(longest + 1) for ids in product(range(len(entries)), repeat=length)]
    tokens, rows = tokenizer.end_to_end.encode_batch([tokenizer.decode(ids) for ids in streams])
    for ids, start, stop in zip(streams, rows[:-1], rows[1:], strict=True):
        expected = tokens.ids[start:stop].tolist() == list(ids)
        assert accepts(language, ids) == expected, tokenizer.vocabulary.spell(ids)
        accepted += expected
    assert accepted > 1
    seen = {token for ids in streams if accepts(language, ids) for token in ids}
    assert language.dead == set(range(len(entries))) - seen


def test_moves_are_steps_in_order() -> None:
    language = _tokenizer([*LETTERS, ".", "[UNK]"], BertNormalizer(), ["[UNK]"]).language
    queue = [language.initial]
    seen = {*queue}
    for state in queue:
        moves = list(language.moves(state))
        stepped = ((token, language.step(state, token)) for token in range(12))
        assert moves == [move for move in stepped if move[1] is not None]
        queue += [target for _, target in moves if target not in seen and target.length < 5]
        seen.update(queue)


@pytest.mark.parametrize("special", ["a", "a b", "ab.", ".", "中", "a.!", "a 中 b", "a ."])
def test_specials_that_other_tokens_spell_are_refused(special: str) -> None:
    with pytest.raises(AutomatonError, match="other tokens can spell a special token"):
        StreamLanguage(WordPieceVocabulary(["a"]), BertNormalizer(), {special: 1})


@pytest.mark.parametrize("special", ["[a]", "<s>", "A", "a中b", "[UNK]", "a-b", "- -x", "a.b"])
def test_specials_that_nothing_spells_are_accepted(special: str) -> None:
    language = StreamLanguage(WordPieceVocabulary(["a"]), BertNormalizer(), {special: 1})
    assert accepts(language, [0, 1, 1, 0])


def test_specials_that_decoding_spoils_are_refused() -> None:
    with pytest.raises(AutomatonError, match=r"decoding does not give a special token back: '<a .>'"):
        _ = _tokenizer(["a", "<a .>"], BertNormalizer(), ["<a .>"]).language


def test_a_prefix_that_words_begin_with_is_refused() -> None:
    with pytest.raises(AutomatonError, match="words can begin with the prefix: 'x'"):
        StreamLanguage(WordPieceVocabulary(["a"], prefix="x"), BertNormalizer(), {})
    with pytest.raises(AutomatonError, match="words can begin with the prefix: ''"):
        StreamLanguage(WordPieceVocabulary(["a"], prefix=""), BertNormalizer(), {})


def test_real_streams_are_accepted_and_spoiled_ones_judged_as_encoding_does(data: Path) -> None:
    tokenizer = load(data / "vocabs" / "bert_uncased_tokenizer.json")
    assert isinstance(tokenizer, WordPieceTokenizer)
    language = tokenizer.language
    dice = random.Random(2)
    for corpus in ("english.txt", "multilingual.txt"):
        text = (data / "corpora" / corpus).read_text("utf-8")
        for _ in range(40):
            start = dice.randrange(len(text))
            ids = tokenizer.encode(text[start : start + 400]).tolist()
            assert accepts(language, ids)
            for _ in range(10):
                spoiled = list(ids)
                for _ in range(dice.randint(1, 2)):
                    spoiled[dice.randrange(len(spoiled))] = dice.choice([dice.randrange(30522), dice.choice(ids)])
                assert accepts(language, spoiled) == (tokenizer.encode(tokenizer.decode(spoiled)).tolist() == spoiled)
    assert language.words.local_from == 6
    assert len(language.dead) == 1331
