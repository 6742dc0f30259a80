"""A vocabulary in UTF-8 equals the vocabulary of the same strings."""

from __future__ import annotations

import pickle
import random

import numpy as np

from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.models.wordpiece.words import EntryTexts


def in_utf8(entries: dict[str, int]) -> EntryTexts:
    parts = [entry.encode() + b"\0" for entry in entries]
    text, offsets = np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0, *map(len, parts)])
    return EntryTexts(text, offsets, np.array([*entries.values()], np.int32), WordTable(text, offsets, 1))


def test_vocabularies_are_the_same() -> None:
    dice = random.Random(3)
    for _ in range(200):
        drawn = ("".join(dice.choices("ab#é中\U0001f600", k=dice.randint(1, 4))) for _ in range(20))
        words = {dice.choice(["", "##", "é#"]) + word for word in drawn}
        entries = dict(zip(sorted(words), dice.sample(range(99), len(words)), strict=True))
        settings = {"unknown": dice.choice([*entries, "?"]), "prefix": dice.choice(["##", "é#", ""])}
        plain = WordPieceVocabulary(entries, **settings)
        texts = WordPieceVocabulary(in_utf8(entries), **settings)
        probes = [*entries, "?", "", "\ud800", "zz"]
        # Before there is a dictionary, and after.
        for _ in range(2):
            assert [texts.id(probe) for probe in probes] == [plain.id(probe) for probe in probes]
            assert (texts.unknown_id, texts.n_ids, len(texts)) == (plain.unknown_id, plain.n_ids, len(plain))
            for mine, theirs in zip(texts.words, plain.words, strict=True):
                assert all((one == other).all() for one, other in zip(mine, theirs, strict=True))
            assert texts == plain
            assert hash(texts) == hash(plain)
        assert (texts.beginnings, texts.continuations) == (plain.beginnings, plain.continuations)
        assert [texts.entry(number) for number in range(99)] == [plain.entry(number) for number in range(99)]
        assert pickle.loads(pickle.dumps(WordPieceVocabulary(in_utf8(entries), **settings))) == plain
