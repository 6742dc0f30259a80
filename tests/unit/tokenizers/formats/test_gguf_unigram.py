"""GGUF files of Unigram models: the best sum of scores, and the white space of llama.cpp."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

import tokdfa
from tests.support.gguf_files import Typed, gguf, prefixed
from tests.support.seeds import seeds
from tests.support.sentencepieces import trained
from tokdfa.base.errors import FileFormatError

TEXTS = ["".join(text) for n in range(5) for text in product("ab x", repeat=n)]
ODD = ["<unk>a", "a</s> b", "\u2581a \u2581", "é", "aéé b", "ab[unused]", "the a"]
KINDS = {"<pad>": 3, "</s>": 3, "<unk>": 2, "[unused]": 5, "the": 4}


def unigram(known: dict[str, float], **changes: Typed) -> dict[str, Typed]:
    """Return the keys of a file with these pieces after five of other types; `changes` replace or add keys."""
    pieces = [*KINDS, *known]
    fields = {
        "general.architecture": Typed("string", "t5"),
        "model": Typed("string", "t5"),
        "tokens": Typed("string", pieces),
        "scores": Typed("f32", [0.0, 0.0, 0.0, -1000.0, -3.0, *known.values()]),
        "token_type": Typed("i32", [*KINDS.values(), *[1] * len(known)]),
    }
    return prefixed({**fields, **changes})


def normalized(text: str, puts: bool, trims: bool) -> str:
    """Return the text that is segmented, as llama.cpp writes its spaces."""
    found, in_word, has_put = "", False, False
    for letter in text:
        if letter == " ":
            in_word = False
            found += "" if trims else "\u2581"
        else:
            if not in_word and (trims or (puts and not has_put)):
                found, has_put = found + "\u2581", True
            in_word = True
            found += letter
    return found


def segmented(scores: dict[str, float], ids: dict[str, int], text: str) -> list[int]:
    """Return the ids of the best segmentation; of equal sums the one that is found first, from the left."""
    rounded = {piece: float(np.float32(score)) for piece, score in scores.items()} | {"the": 0.0}
    unknown = float(np.float32(min(scores.values())) - np.float32(10))
    best: list[tuple[float, int, int]] = [(0.0, 0, -1), *[(float("-inf"), 0, -1)] * len(text)]
    for at in range(len(text)):
        for end in range(at + 1, len(text) + 1):
            piece = text[at:end]
            score = rounded.get(piece, unknown if end == at + 1 else None)
            if score is not None and best[at][0] + score > best[end][0]:
                best[end] = (best[at][0] + score, at, ids[piece] if piece in rounded else 2)
    found: list[int] = []
    at = len(text)
    while at:
        _, start, id = best[at]
        if not (id == 2 and found[-1:] == [2]):
            found.append(id)
        at = start
    return found[::-1]


def by_definition(scores: dict[str, float], text: str, puts: bool, trims: bool) -> list[int]:
    ids = {piece: id for id, piece in enumerate([*KINDS, *scores])}
    found: list[int] = []
    rest = text
    specials = ("<unk>", "</s>", "<pad>", "the")
    while rest:
        starts = [(rest.find(special), special) for special in specials if special in rest]
        at, special = min(starts, default=(len(rest), ""))
        found += segmented(scores, ids, normalized(rest[:at], puts, trims))
        found += [ids[special]] if special else []
        rest = rest[at + len(special) :]
    return found


@pytest.mark.parametrize("puts", [False, True])
@pytest.mark.parametrize("trims", [False, True])
def test_random_models_encode_decode_and_judge_as_defined(puts: bool, trims: bool) -> None:
    merged = unknown = 0
    for seed in seeds(5):
        drawn = random.Random(seed)
        words = drawn.sample(["a", "b", "ab", "ba", "\u2581", "\u2581a", "\u2581ab", "aab", "xb", "b\u2581"], 6)
        scores = {word: drawn.choice([-1.0, -1.5, -2.0, -0.1, -3.3]) for word in words}
        flags = {"add_space_prefix": Typed("bool", puts), "remove_extra_whitespaces": Typed("bool", trims)}
        tokenizer = tokdfa.load(gguf(unigram(scores, **flags)))
        for text in [*drawn.sample(TEXTS, 60), *ODD]:
            ids = by_definition(scores, text, puts, trims)
            assert tokenizer.encode(text).tolist() == ids, (seed, text)
            merged += len(ids) < len(text)
            unknown += 2 in ids
            spoiled = [*ids, 3]
            spoiled[drawn.randrange(len(spoiled))] = drawn.randrange(5, 5 + len(words))
            again = by_definition(scores, tokenizer.decode(spoiled), puts, trims)
            assert bool(tokenizer.validate(spoiled)) == (again == spoiled), (seed, spoiled)
    assert merged > 50
    assert unknown > 50


def test_the_table_of_characters_is_read() -> None:
    library = pytest.importorskip("sentencepiece")
    model = trained("nmt_nfkc", False)
    parsed = pytest.importorskip("sentencepiece.sentencepiece_model_pb2").ModelProto()
    parsed.ParseFromString(model)
    blob = Typed("u8", list(parsed.normalizer_spec.precompiled_charsmap))
    flags = {"remove_extra_whitespaces": Typed("bool", True)}
    tokenizer = tokdfa.load(
        gguf(unigram({"a": -1.0, "\u2581a": -1.5, "\u2581": -2.0, "1": -1.0}, precompiled_charsmap=blob, **flags))
    )
    assert tokenizer.encode("\uff41\u2460\u3000a").tolist() == tokenizer.encode("a1 a").tolist()
    # A user-defined token that only the table makes has the score 0, whatever the file says.
    letters = {"t": -0.5, "h": -0.5, "e": -0.5}
    tokenizer = tokdfa.load(gguf(unigram(letters, precompiled_charsmap=blob)))
    assert tokenizer.encode("\uff54\uff48\uff45").tolist() == [4]
    assert library.SentencePieceProcessor(model_proto=model).normalize("\uff41\u2460\u3000a") == "\u2581a1\u2581a"


def test_unused_tokens_show_nothing_and_the_end_is_left_out() -> None:
    tokenizer = tokdfa.load(gguf(unigram({"a": -1.0})))
    assert tokenizer.decode([3, 5, 3]) == "a"
    assert not tokenizer.validate([3])
    assert tokenizer.ignored == ("add_eos_token",)
    assert tokenizer.name_of(3) == b""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": Typed("f32", [0.0, 0.0, 0.0, -20.0, 0.0, -1.0])}, r"a token of this type.*: '\[unused\]'"),
        ({"scores": Typed("f32", [0.0, 0.0, 0.0, -1000.0, 0.0, 10.0])}, "a least score from which"),
        ({"token_type": Typed("i32", [3, 3, 1, 5, 4, 1])}, "an unknown token of another type: 2"),
        ({"token_type": Typed("i32", [3, 3, 2, 6, 4, 1])}, "a token of this type"),
        ({"token_type": Typed("i32", [3, 1, 2, 5, 4, 1])}, "a token of this type.*: '</s>'"),
        ({"precompiled_charsmap": Typed("u8", [0, 0, 0])}, "the character table is truncated"),
        ({"unknown_token_id": Typed("u32", 1)}, "an unknown token of another type: 1"),
    ],
)
def test_unigram_files_refused_with_the_key(changes: dict[str, Typed], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(gguf(unigram({"a": -1.0}, **changes)))
