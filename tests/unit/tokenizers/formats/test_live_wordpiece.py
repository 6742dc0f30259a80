"""BERT's tokenizer in Python, spoiled: refused with a reason, or read exactly."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tokdfa
from tokdfa.base.errors import FileFormatError, TokdfaError

ENTRIES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "b",
    "##a",
    "##b",
    "the",
    "un",
    "##aff",
    "##able",
    ",",
    "!",
    "é",
    "e",
]
ODD: list[Any] = [None, True, 0, -1, 2**24, 2**70, 1.5, "", "x", "\ud800", b"a", [], (), {}, ("a",), {"a"}, {1}, [1]]
TEXTS = ("un the unaffable, é", "[MA\0SK] [SEP]a Éa!", "aéΣ 中x")


def made(folder: Path, **options: Any) -> Any:
    legacy = pytest.importorskip("transformers.models.bert.tokenization_bert_legacy", reason="needs transformers 5")
    path = folder / "vocab.txt"
    path.write_text("\n".join([*ENTRIES, *options.pop("more", ())]) + "\n", encoding="utf-8")
    return legacy.BertTokenizerLegacy(str(path), **options)


def add(id: int, text: str, **flags: Any) -> Callable[[Any], None]:
    token = SimpleNamespace(content=text, special=True, **flags)
    return lambda peer: peer._added_tokens_decoder.update({id: token})


def of_its_own(peer: Any) -> None:
    peer.__class__ = type("Own", (type(peer),), {"_tokenize": lambda _, text: text.split()})


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            add(30, "[X", single_word=True),
            {},
            "is a single word, has white space, or has no text is not modelled: '[X'",
        ),
        (add(30, "[SEP][SEP]"), {}, "special tokens that may overlap in a text are not modelled"),
        (add(30, "]["), {}, "special tokens that may overlap in a text are not modelled"),
        (add(5, "[X]"), {}, "a special token with the id of another entry: '[X]'"),
        (of_its_own, {}, "whose method _tokenize may do something else than BERT's"),
        (id, {"more": ("a b",)}, "an entry with white space, or without text, is not modelled: 'a b'"),
        (id, {"never_split": ["no entry"]}, "a word in never_split that is not an entry is not modelled: 'no entry'"),
        (id, {"unk_token": "[NO]"}, "unknown words do not get the id of an entry: '[NO]'"),
        (lambda peer: setattr(peer, "split_special_tokens", True), {}, "split_special_tokens is not modelled"),
    ],
)
def test_spoiled_words_are_refused_with_a_reason(
    change: Callable[[Any], Any], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    peer = made(tmp_path, **options)
    change(peer)
    with pytest.raises(FileFormatError) as caught:
        tokdfa.load(peer)
    assert message in str(caught.value)


def spoil(drawn: random.Random, peer: Any) -> None:
    """Change an attribute or an entry of a tokenizer."""
    hashable = [odd for odd in ODD if odd.__hash__ is not None]
    basic, words = peer.basic_tokenizer, peer.wordpiece_tokenizer
    owner, names = drawn.choice(
        [
            (peer, ("vocab", "wordpiece_tokenizer", "basic_tokenizer", "do_basic_tokenize", "_added_tokens_decoder")),
            (basic, ("do_lower_case", "never_split", "tokenize_chinese_chars", "strip_accents", "do_split_on_punc")),
            (words, ("vocab", "unk_token", "max_input_chars_per_word")),
        ]
    )
    if drawn.random() < 0.5:
        setattr(owner, drawn.choice(names), drawn.choice(ODD))
    else:
        part = drawn.choice([peer.vocab, peer._added_tokens_decoder])
        part[drawn.choice([*part, *hashable])] = drawn.choice([*ODD, *part.values()])


def test_spoiled_words_are_refused_or_read_exactly(tmp_path: Path) -> None:
    read = 0
    for seed in range(300):
        drawn = random.Random(seed)
        peer = made(tmp_path, do_lower_case=seed % 2 == 0)
        spoil(drawn, peer)
        try:
            tokenizer = tokdfa.load(peer)
        except TokdfaError as error:
            if "\n" in str(error):
                raise
            continue
        read += 1
        for text in TEXTS:
            assert tokenizer.encode(text).tolist() == peer.encode(text, add_special_tokens=False), seed
    assert read > 5
