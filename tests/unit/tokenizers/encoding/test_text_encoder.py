"""Encoding whole texts at once equals encoding their pieces, for texts of any length after any other texts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.tokenizer_files import ranks, tiktoken_lines
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.library import lib, writable
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.special import Special


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> tokdfa.Tokenizer:
    path = tmp_path_factory.mktemp("files") / "x.tiktoken"
    path.write_bytes(tiktoken_lines(ranks([b"he", b" t", b" the", b"th", b"the", b"  ", b"    ", b"ll", b"hell"])))
    return tokdfa.load(path, pretokenizer="cl100k")


def by_pieces(tokenizer: tokdfa.Tokenizer, text: str) -> list[int]:
    assert tokenizer.pretokenizer is not None
    return tokenizer.encode_pieces(tokenizer.pretokenizer.split_backtracking(text)).ids.tolist()


WORDS = " the hell 123 a\n  b thé 中文 "


@pytest.mark.parametrize("size", [0, 1, 31, 4_095, 4_096, 4_097, 8_191, 8_192, 8_193, 20_000])
def test_texts_of_every_length(tokenizer: tokdfa.Tokenizer, size: int) -> None:
    # The bytes that a stretch ends with are in the middle of symbols, too.
    for shift in range(4):
        text = "x" * shift + (WORDS * (size // len(WORDS) + 1))[: max(size - shift, 0)]
        assert tokenizer.encode(text).tolist() == by_pieces(tokenizer, text)


@pytest.mark.parametrize("size", [100, 10_000, 40_000])
def test_what_waits_for_its_end(tokenizer: tokdfa.Tokenizer, size: int) -> None:
    # Only what follows the spaces decides whether the last one is a piece of its own; long pieces are merged elsewhere.
    for text in (" " * size, " " * size + "the", "the" + " " * size + "\n", "hell" * size):
        assert tokenizer.encode(text).tolist() == by_pieces(tokenizer, text)


def test_ids_stay_what_they_were(tokenizer: tokdfa.Tokenizer) -> None:
    first, second = tokenizer.encode("the hell"), tokenizer.encode("hell the")
    assert first.tolist() == by_pieces(tokenizer, "the hell")
    assert second.tolist() == by_pieces(tokenizer, "hell the")
    first[:] = 0
    assert tokenizer.encode("the hell").tolist() == by_pieces(tokenizer, "the hell")


def test_a_text_that_is_refused_leaves_nothing_behind(tokenizer: tokdfa.Tokenizer) -> None:
    for text in ("the \ud800", "the hell " * 1000 + "\udfff"):
        with pytest.raises(AlphabetError, match=f"character {len(text) - 1}"):
            tokenizer.encode(text)
        assert tokenizer.encode("hell the").tolist() == by_pieces(tokenizer, "hell the")


def test_threads_do_not_meet(tokenizer: tokdfa.Tokenizer) -> None:
    texts = [WORDS * n + "x" * (n % 5) for n in range(60)] * 8
    expected = [by_pieces(tokenizer, text) for text in texts[:60]] * 8
    with ThreadPoolExecutor(4) as pool:
        assert [ids.tolist() for ids in pool.map(tokenizer.encode, texts)] == expected


def finds_none(finder: AddedTokens, text: str) -> bool:
    return all(special is None for *_, special in finder.spans(text))


contents = st.lists(st.text("<|ab", min_size=1, max_size=4), min_size=1, max_size=4, unique=True)


@given(contents, st.text("<|ab", max_size=12), st.data())
def test_no_special_token_is_overlooked(contents: list[str], text: str, data: st.DataObject) -> None:
    specials = [Special(id, content, level=data.draw(st.integers(0, 1))) for id, content in enumerate(contents)]
    assert finds_none(AddedTokens(specials), text) == (not any(content in text for content in contents))


def test_special_tokens_are_found_beside_plain_texts(tokenizer: tokdfa.Tokenizer) -> None:
    finder = AddedTokens([Special(1, "<|a|>"), Special(2, "<|b|>")])
    assert finds_none(finder, "<a> |b|")
    assert not finds_none(finder, "x<|b|>")
    assert np.array_equal(tokenizer.encode("<|a|>"), by_pieces(tokenizer, "<|a|>"))


PAUSED = -7


def test_calls_that_pause_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(tiktoken_lines(ranks([b"he", b" t", b" the", b"th", b"the", b"aa", b"aaaa", b"ab", b"ba"])))
    tokenizer = tokdfa.load(path, pretokenizer="cl100k")
    assert tokenizer.pretokenizer is not None
    texts = [WORDS * 700, "ab" * 9_000, "a" * 20_001 + "b", " " * 9_000 + "the", ("the " + "aab" * 50) * 90]
    expected = [by_pieces(tokenizer, text) for text in texts]
    apart = {text: tokenizer.encode_pieces([text[:9_000], "the"]).ids.tolist() for text in texts}
    encoder = tokenizer.piece_ids.text_encoder(tokenizer.pretokenizer.splitter)
    pieces = encoder.run._pieces
    for at_a_time in (1, 2, 7, 100, 5_000):
        pieces.struct.pointer.at_a_time = at_a_time
        for text, ids in zip(texts, expected, strict=True):
            assert tokenizer.encode(text).tolist() == ids
            # A call that nobody continues leaves nothing behind.
            data = text.encode()
            out = np.empty(len(data) + 4, np.int32)
            pieces.grow_to(max(pieces.longest, len(data)))
            calls = 1
            status = lib.tokdfa_encode_text(encoder.run._pointer, data, len(data), writable(out, np.int32))
            while status == PAUSED and calls < 60:
                status = lib.tokdfa_encode_on(encoder.run._pointer, data, len(data), writable(out, np.int32))
                calls += 1
            assert calls > 1 or at_a_time == 5_000
            assert tokenizer.encode(WORDS).tolist() == by_pieces(tokenizer, WORDS)
            assert tokenizer.encode_pieces([text[:9_000], "the"]).ids.tolist() == apart[text]


@pytest.mark.parametrize("keeps", [True, False])
def test_long_texts_with_pieces_that_improper_rules_merge_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    """Whether the interpreter keeps the UTF-8 of a string, or it is copied."""
    path = tmp_path / "improper.tiktoken"
    path.write_bytes(tiktoken_lines(ranks([b"abc", b"ab"])))
    tokenizer = tokdfa.load(path, pretokenizer="cl100k")
    assert not tokenizer.dictionary.properness()
    text = ("é" + "abc" * 300 + " " + "ab" * 20) * 10
    if not keeps:
        monkeypatch.setattr("tokdfa.kernels.encode.texts.kept_utf8", lambda text: None)
    assert tokenizer.pretokenizer is not None
    expected = [id for piece in tokenizer.pretokenizer.split(text) for id in tokenizer.encode_piece(piece).tolist()]
    # CPython keeps the UTF-8 of a string that is encoded again.
    for _ in range(2):
        assert tokenizer.encode(text).tolist() == expected
    together = tokenizer.encode_together([text, "ab"])
    assert together is None or together.ids.tolist() == [*expected, 257]


def test_a_memory_grows_when_many_pieces_are_not_at_the_front_of_their_sets(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(tiktoken_lines(ranks([])))
    tokenizer = tokdfa.load(path, pretokenizer="cl100k")
    assert tokenizer.pretokenizer is not None
    letters = str.maketrans("0123456789", "ghijklmnop")
    text = "".join(f" {word:x}" for word in range(0x9000, 0xF000)).translate(letters)
    expected = by_pieces(tokenizer, text)
    memory = tokenizer.piece_ids.text_encoder(tokenizer.pretokenizer.splitter).run._pieces._cache
    sizes = []
    for _ in range(5):
        assert tokenizer.encode(text).tolist() == expected
        sizes.append(len(memory.fields["entries"]))
    # Nearly all are remembered from the beginning: not many of the others are counted.
    assert sizes[0] < sizes[-1]
