"""Small files that could make much of little: each is refused by its budget, or read in linear time."""

from __future__ import annotations

import base64
import json
import tracemalloc
from pathlib import Path
from typing import Any, get_args

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.unicode.normalization import Form
from tokdfa.tokenizers.normalizers.steps import MOST_GROWTH, Chain, Replace, UnicodeForm

A_WORD = "aaaaéaaaa"


def replaced(pattern: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def steps(key: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", key: [*parts]}


def over_characters(**changes: Any) -> dict[str, Any]:
    fields = tokenizer_json([], pre_tokenizer=None, added_tokens=[], decoder={"type": "Fuse"})
    fields["model"] |= {"vocab": {letter: id for id, letter in enumerate("aéx")}, "merges": []}
    return {**fields, **changes}


NORMALIZERS = {
    "24 doublings": [replaced("a", "aa")] * 24,
    "40 doublings": [replaced("a", "aa")] * 40,
    "40 doublings by a pattern": [replaced("[a-c]", "aa", "Regex")] * 40,
    "bytes of bytes": [{"type": "ByteLevel"}] * 40,
    "one long replacement": [replaced("a", "a" * 1_000_000)],
    "one long replacement by a pattern": [replaced("[a-c]", "a" * 1_000_000, "Regex")],
    "a long beginning": [{"type": "Prepend", "prepend": "a" * 100_000}],
    "long beginnings, doubled": [{"type": "Prepend", "prepend": "a" * 4000}, *[replaced("a", "aa")] * 20],
}


@pytest.mark.parametrize("name", NORMALIZERS)
def test_a_text_does_not_become_long_without_end(name: str) -> None:
    tokenizer = tokdfa.load(over_characters(normalizer=steps("normalizers", *NORMALIZERS[name])))
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceededError, match=rf"make a text more than {MOST_GROWTH} times as long"):
            tokenizer.encode(A_WORD)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("fuses", [False, True])
@pytest.mark.parametrize("one", [replaced("a", "aa"), replaced("[ab]", "aa", "Regex")])
def test_ids_do_not_spell_a_long_text_without_end(one: dict[str, Any], fuses: bool) -> None:
    decoder = steps("decoders", *[one] * 40, *[{"type": "Fuse"}] * fuses)
    tokenizer = tokdfa.load(over_characters(decoder=decoder))
    with pytest.raises(LimitExceededError, match=rf"more than {MOST_GROWTH} times as long"):
        tokenizer.decode(tokenizer.encode(A_WORD))
    # Any number of others are read as ever.
    assert tokenizer.decode(tokenizer.encode("x" * 100)) == "x" * 100


def test_what_lengthens_a_text_within_the_budget_is_exact() -> None:
    peers = pytest.importorskip("tokenizers")
    parts = [replaced("a", "aa")] * 5 + [replaced("[é]", "x" * 40, "Regex"), {"type": "ByteLevel"}]
    for n in range(len(parts) + 1):
        fields = over_characters(normalizer=steps("normalizers", *parts[:n]))
        tokenizer, peer = tokdfa.load(fields), peers.Tokenizer.from_str(json.dumps(fields))
        for text in ("", "a", A_WORD * 30):
            given = peer.normalizer.normalize_str(text) if peer.normalizer is not None and n else text
            normalizer = Chain(()) if n == 0 else tokenizer.rewriting.normalizer  # type: ignore[attr-defined]
            assert normalizer(text) == given


def test_no_normalization_form_comes_near_the_budget() -> None:
    # The longest of Unicode, three letters of a syllable, and a letter with three marks.
    for character in ("\ufdfa", "\u0390", "\ud4db", "\u1f82"):
        for form in get_args(Form):
            text = character * 1000
            assert len(Chain((UnicodeForm(form),))(text)) <= 18 * len(text) < MOST_GROWTH * len(text)


def test_a_search_without_end_has_a_budget() -> None:
    step = Replace("(?:a|b|aa)*[cd]a", "x", literal=False, most_seconds=0.05)
    assert step("abacax") == "xx"
    with pytest.raises(LimitExceededError, match=r"the matches of a pattern that is replaced take more than 0\.05 s"):
        step("ab" * 40 + "c" + "aab" * 40)


def test_a_rule_of_a_character_table_does_not_make_a_word_long(tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    text = tmp_path / "rules.tsv"

    def charsmap(n: int) -> bytes:
        text.write_text("61\t" + " ".join(["78"] * n) + "\n")
        (tmp_path / "corpus").write_text("a b c\n" * 50)
        spm.SentencePieceTrainer.train(
            input=str(tmp_path / "corpus"), model_prefix=str(tmp_path / "m"), vocab_size=6, model_type="char",
            normalization_rule_tsv=str(text), minloglevel=2, hard_vocab_limit=False,
        )  # fmt: skip
        from sentencepiece import sentencepiece_model_pb2 as pb

        model = pb.ModelProto()  # type: ignore[attr-defined]
        model.ParseFromString((tmp_path / "m.model").read_bytes())
        found: bytes = model.normalizer_spec.precompiled_charsmap
        return found

    for n, is_read in ((MOST_GROWTH, True), (MOST_GROWTH + 1, False)):
        step = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(n)).decode()}
        fields = over_characters(normalizer=step)
        if is_read:
            assert len(tokdfa.load(fields).encode("aé")) == n + 1
        else:
            with pytest.raises(
                LimitExceededError, match=rf"\$\.normalizer\.precompiled_charsmap: .* {MOST_GROWTH} times"
            ):
                tokdfa.load(fields)


ENTRIES = {
    "one line": b"a" * 9_000_000,
    "many lines": b"\n".join(b"%06d" % i + b"a" * 80 for i in range(110_000)),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entries_have_a_budget(name: str, tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[UNK]\n" + ENTRIES[name])
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceededError) as caught:
            tokdfa.load(path)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value).startswith(f"{path}: the entries have more than 8,388,608 characters: ")


def test_ranks_have_a_budget() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {b"a" * n: 254 + n for n in range(2, 6000)}
    with pytest.raises(LimitExceededError, match="the tokens have more than 16,777,216 symbols in all"):
        tokdfa.load(ranks, pretokenizer="none")


def test_added_tokens_have_a_budget() -> None:
    added = [added_token(2 + n, "a" * n + "x") for n in range(1, 1500)]
    with pytest.raises(LimitExceededError, match="the added tokens have more than 1,048,576 characters"):
        tokdfa.load(over_characters(added_tokens=added)).encode("a")
    few = over_characters(added_tokens=added[:400])
    tokenizer = tokdfa.load(few)
    assert tokenizer.encode("a" * 300 + "x").tolist() == [302]
    assert tokenizer.validate([302, 0, 1, 302])


def test_tries_of_long_chains_are_built_in_linear_time(tmp_path: Path) -> None:
    # Searching each chain from the beginning took minutes for either.
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[UNK]\n" + b"\n".join(b"%06d" % i + b"a" * 50 for i in range(10_000)))
    assert tokdfa.load(path).encode("000007" + "a" * 50).tolist() == [8]
    path.write_bytes(b"[UNK]\n" + b"a" * 500_000)
    assert tokdfa.load(path).encode("aaa").tolist() == [0]
    vocab = [["?", 0], ["a", -1], ["a" * 500_000, -2]]
    unigram = over_characters(model={"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False})
    assert tokdfa.load(unigram).encode("aaa").tolist() == [1, 1, 1]
