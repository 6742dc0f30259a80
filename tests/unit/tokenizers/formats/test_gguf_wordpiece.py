"""GGUF files with a WordPiece tokenizer: recorded ids, refusals, decoding, and comparison with BERT's own."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import pytest

import tokdfa
from tests.support.gguf_files import ENTRIES, WORD_TEXTS, Typed, gguf, recorded_file, wordpiece
from tokdfa.base.errors import AlphabetError, FileFormatError, UnsupportedFeatureError
from tokdfa.jobs.comparison.result import Outcome, Part

RECORDED: dict[str, list[list[int]]] = json.loads(
    Path(__file__).parents[3].joinpath("campaigns", "conversions", "recorded.json").read_text("ascii")
)
TEXTS = ["".join(text) for length in range(6) for text in product("ab ,", repeat=length)]


def load(fields: dict[str, Typed]) -> tokdfa.WordPieceTokenizer:
    tokenizer = tokdfa.load(gguf(fields))
    assert isinstance(tokenizer, tokdfa.WordPieceTokenizer)
    return tokenizer


@pytest.mark.parametrize("name", ["wordpiece", "wordpiece, cased"])
def test_recorded_ids(name: str) -> None:
    tokenizer = load(recorded_file(name))
    for text, ids in zip(WORD_TEXTS, RECORDED[name], strict=True):
        assert tokenizer.encode(text).tolist() == ids, text
        stream = tokenizer.stream()
        parts = [stream.feed(part) for part in (text[:3], text[3:])]
        assert [id for part in (*parts, stream.finish()) for id in part.tolist()] == ids, text
    assert RECORDED["wordpiece"] != RECORDED["wordpiece, cased"]


def test_decoding_and_what_is_left_out() -> None:
    tokenizer = load(wordpiece())
    assert tokenizer.decode([5, 7, 10, 2, 13]) == " aa ab[CLS] !"
    assert tokenizer.name_of(10) == "\u2581ab".encode()
    assert tokenizer.ignored == ("add_bos_token", "add_sep_token")
    assert tokenizer.facts()["opening"] == "\u2581"
    assert tokenizer.facts()["longest_word"] is None
    types = [1] * len(ENTRIES)
    types[7] = 5  # llama.cpp leaves out tokens of the type unused
    assert load(wordpiece(token_type=Typed("i32", types))).decode([5, 7, 8]) == " ab"


@pytest.mark.parametrize("unknown", [None, 1 << 20])
def test_the_token_for_unknown_words(unknown: int | None) -> None:
    key = None if unknown is None else Typed("u32", unknown)
    with pytest.raises(AlphabetError, match="a word has no tokenization"):
        load(wordpiece(unknown_token_id=key)).encode("q")
    many = (*ENTRIES, *(f"\u2581n{number}" for number in range(100)))
    assert load(wordpiece(many, unknown_token_id=key)).encode("q").tolist() == [100]
    assert load(wordpiece(many, unknown_token_id=Typed("u32", 7))).encode("q a").tolist() == [7, 5]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            wordpiece(("\u2581a", "\u2581")),
            r"tokens\[1\], byte \d+: a token that is the sign for the beginning of a word",
        ),
        (wordpiece(token_type=Typed("i32", [6] * len(ENTRIES))), r"tokens\[0\], byte \d+: a byte token in a WordPiece"),
        (wordpiece(("[AB", "BC]", "[A]"), token_type=Typed("i32", [3] * 3)), "a special token that overlaps with"),
        (
            wordpiece(**{"tokenizer.ggml.normalizer.lowercase": Typed("u32", 1)}),
            "lowercase, byte .*: the value must be bool",
        ),
        (wordpiece(unknown_token_id=Typed("string", "x")), "unknown_token_id, byte .*: the value must be u32"),
        (wordpiece(("a", "a")), "the same token as"),
    ],
)
def test_refused_with_the_key(fields: dict[str, Typed], message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load(fields)


def test_tables_of_other_libraries_have_no_effect() -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"this tokenizer follows llama\.cpp"):
        tokdfa.load(gguf(wordpiece()), unicode="tokenizers==0.23.3")


def bert(folder: Path, entries: list[str]) -> tokdfa.AnyTokenizer:
    path = folder / "vocab.txt"
    path.write_text("".join(f"{entry}\n" for entry in entries), "utf-8")
    return tokdfa.load(path)


def converted(entries: list[str]) -> tokdfa.WordPieceTokenizer:
    """Return the file that llama.cpp's converter writes of the entries of a vocab.txt."""

    def new(entry: str) -> str:
        if entry == "[UNK]":
            return entry
        return entry[2:] if entry.startswith("##") else f"\u2581{entry}"

    return load(wordpiece([*map(new, entries)], unknown_token_id=Typed("u32", 0)))


def test_compared_with_the_file_that_was_converted(tmp_path: Path) -> None:
    entries = ["[UNK]", "a", "b", "##a", "##ab", "ab", ",", "##bb"]
    found = tokdfa.compare(bert(tmp_path, entries), converted(entries))
    # The first character that they treat differently: a mark that encloses, which BERT keeps.
    assert found.witness == ("\u0488", (0,), ())
    assert found.checked[Part.WORDS] == found.checked[Part.IDS] == Outcome.SAME
    assert found.checked[Part.SHORTEST] == Outcome.PROVEN
    assert found.checked[Part.LONGEST_WORD] == Outcome.DIFFERENT
    other = tokdfa.compare(bert(tmp_path, entries), converted([*entries, "##b"]))
    assert other.checked[Part.WORDS] == Outcome.DIFFERENT
    renumbered = tokdfa.compare(bert(tmp_path, entries), converted([entries[0], *entries[:0:-1]]), ignore_ids=True)
    assert renumbered.checked[Part.WORDS] == Outcome.SAME


def test_random_files_judged_by_all_short_texts() -> None:
    drawn = random.Random(9)
    pieces = [prefix + piece for prefix in ("", "##") for piece in ("a", "b", "ab", "ba", "aa", "aab", "bb")]
    answers = []
    for _ in range(16):
        base = ["[UNK]", *drawn.sample([*pieces, ",", "##a\u2581b"], drawn.randrange(4, 12))]
        other = [entry if drawn.random() < 0.93 else f"{entry}z" for entry in base]
        a, b = converted(base), converted(other)
        found = tokdfa.compare(a, b)
        differing = [text for text in TEXTS if a.encode(text).tolist() != b.encode(text).tolist()]
        if found.witness is None:
            assert not differing
        else:
            text = found.witness.text
            assert (found.witness.tokens_a, found.witness.tokens_b) == tuple(
                tuple(side.encode(text).tolist()) for side in (a, b)
            )
            assert not differing or len(text) <= len(differing[0])
        answers.append(bool(found))
    assert 0 < sum(answers) < 16
