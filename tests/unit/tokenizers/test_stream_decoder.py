"""Streams of ids are decoded as the library decodes all ids, each text at once, and up to the first stop string."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
import tokenizers

import tokdfa
from tests.support.families import FAMILIES, Member
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa import StreamDecoder
from tokdfa.base.errors import LimitExceededError, TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.tokenizers.stream_decoder import Tuning
from tokdfa.tokenizers.word_decoding import StripText

BYTES = {bytes((byte,)): byte for byte in range(256)}
# Decoders of small vocabularies whose states differ: bytes, runs of byte tokens, SentencePiece's, ends of words.
OF_STEPS = {
    "ByteFallback": [
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
    "Metaspace": [{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}],
    "WordPiece": [{"type": "WordPiece", "prefix": "##", "cleanup": True}],
    "Replace": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}],
}
WORDS = ["a", "▁", "<0xC3>", "<0xA9>", "<0x41>", "##b", "."]


def chunked(drawn: random.Random, ids: list[int]) -> list[Any]:
    parts: list[Any] = []
    while ids:
        size = drawn.choice([1, 1, 1, 2, 5, 30, 200])
        parts.append(ids[0] if size == 1 and drawn.random() < 0.8 else ids[:size])
        ids = ids[size:]
    return parts


def read(decoder: StreamDecoder, parts: list[Any]) -> str:
    """Return the text up to a stop string, or of all ids."""
    texts = []
    for part in parts:
        texts.append(decoder.feed(part))
        if decoder.stopped is not None:
            return "".join(texts)
    return "".join([*texts, decoder.finish()])


def first_stop(text: str, stops: list[str]) -> tuple[str, int] | None:
    """Return the stop string that is the first to end in a text, and where it begins; the longer one of two."""
    for end in range(1, len(text) + 1):
        ending = [stop for stop in stops if text[:end].endswith(stop)]
        if ending:
            longest = max(ending, key=len)
            return longest, end - len(longest)
    return None


def drawn_stops(drawn: random.Random, text: str) -> list[str]:
    stops = []
    for _ in range(drawn.randrange(1, 4)):
        begin = drawn.randrange(len(text))
        stops.append(text[begin : begin + drawn.randrange(1, 8)] + drawn.choice(["", "", "x"]))
    return stops


def without(member: Member, ids: list[int], special: str) -> list[int]:
    return [id for id in ids if special == "keep" or id not in member.special]


@pytest.mark.parametrize("family", FAMILIES)
def test_chunks_give_the_text_of_the_library_up_to_the_first_stop(family: str) -> None:
    met: Counter[str] = Counter()
    for seed in range(8):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        for _ in range(4):
            ids = member.stream(drawn, drawn.choice([4, 12, 40])) * drawn.choice([1, 1, 1, 20])
            for special in ("keep", "drop"):
                text = member.decode(without(member, ids, special))
                assert read(StreamDecoder(member.tokenizer, special=special), chunked(drawn, ids)) == text, ids  # type: ignore[arg-type]
                if not text:
                    continue
                stops = drawn_stops(drawn, text)
                try:
                    decoder = StreamDecoder(member.tokenizer, stops, special)  # type: ignore[arg-type]
                except WrongTypeError:
                    met["a special token would be dropped"] += 1
                    continue
                given, expected = read(decoder, chunked(drawn, ids)), first_stop(text, stops)
                met["no stop" if expected is None else "stop"] += 1
                assert given == (text if expected is None else text[: expected[1]]), (ids, stops)
                stopped = decoder.stopped
                assert (stopped and (stopped.text, stops[stopped.stop_index])) == (expected and expected[:1] * 2)
                if stopped is not None:
                    before = member.decode(without(member, ids[: stopped.n_ids], special))
                    is_exact = len(before.encode()) + stopped.n_bytes == len(given.encode())
                    met["exact" if given.startswith(before) and is_exact else "within a character or a word"] += 1
    assert min(met[name] for name in ("stop", "no stop", "exact")) > 3, met


@pytest.mark.parametrize("stop", ["AB", "€", "A", "�", "\ufffdA"])
def test_a_stop_is_counted_in_ids_and_bytes(stop: str) -> None:
    words = [b"A", b"B", "€".encode(), "€".encode()[:1], "€".encode()[1:], "€".encode()[1:] + b"AB", b"\xff", b"BA"]
    ranks = BYTES | {word: 300 + number for number, word in enumerate(words) if len(word) > 1}
    tokenizer = tokdfa.load(tiktoken_lines(ranks), pretokenizer="gpt2", specials={}, format="tiktoken")
    n_stopped = 0
    for chosen in product(words, repeat=3):
        ids = [ranks[word] for word in chosen]
        decoder = StreamDecoder(tokenizer, stop)
        given = read(decoder, ids)
        if decoder.stopped is None:
            assert stop not in b"".join(chosen).decode("utf-8", "replace")
            continue
        # The number of bytes whose text is given: all of it, and nothing else.
        data = b"".join(chosen)
        n = next(n for n in range(len(data) + 1) if data[:n].decode("utf-8", "replace") == given)
        ends = np.cumsum([len(word) for word in chosen])
        n_ids = int(np.searchsorted(ends, n, side="right"))
        assert decoder.stopped.n_ids == n_ids, chosen
        if "\ufffd" not in given:
            assert decoder.stopped.n_bytes == n - (int(ends[n_ids - 1]) if n_ids else 0), chosen
        n_stopped += 1
    assert n_stopped > 100


@pytest.mark.parametrize("name", OF_STEPS)
def test_text_is_given_out_as_soon_as_no_later_id_changes_it(name: str) -> None:
    fields = {
        "model": {"type": "WordLevel", "vocab": {word: id for id, word in enumerate(WORDS)}, "unk_token": "a"},
        "pre_tokenizer": {"type": "Whitespace"},
        "decoder": {"type": "Sequence", "decoders": OF_STEPS[name]},
    }
    tokenizer = tokdfa.load(fields)
    peer = tokenizers.Tokenizer(tokenizers.models.WordLevel(fields["model"]["vocab"], unk_token="a"))  # type: ignore[index]
    peer.decoder = tokenizers.Tokenizer.from_str(
        tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a")).to_str().replace(
            '"decoder":null', f'"decoder":{__import__("json").dumps(fields["decoder"])}'
        )
    ).decoder  # fmt: skip
    futures = [list(ids) for n in range(4) for ids in product(range(len(WORDS)), repeat=n)]
    n_held = 0
    for ids in ([*some] for n in range(3) for some in product(range(len(WORDS)), repeat=n)):
        decoder = StreamDecoder(tokenizer)
        given = "".join(map(decoder.feed, ids))
        texts = {peer.decode(ids + more, skip_special_tokens=False) for more in futures}
        least, most = min(texts), max(texts)
        same = next((n for n, (a, b) in enumerate(zip(least, most, strict=False)) if a != b), len(least))
        assert given == least[:same], ids
        n_held += given != peer.decode(ids, skip_special_tokens=False)
    assert n_held or name not in ("ByteFallback", "Replace")


def test_special_tokens_are_dropped_as_the_library_skips_them() -> None:
    for seed in range(30):
        drawn = random.Random(seed)
        member = FAMILIES["Llama-2"](drawn)
        peer = tokenizers.Tokenizer.from_str(member.load.args[0].decode())  # type: ignore[attr-defined]
        ids = drawn.choices([*member.ids, *member.special], k=12)
        for first in (*sorted(member.special), ids[0]):
            text = peer.decode([first, *ids], skip_special_tokens=True)
            assert read(StreamDecoder(member.tokenizer, special="drop"), [first, *ids]) == text


def test_a_forgotten_table_and_long_streams_change_nothing() -> None:
    drawn = random.Random(4)
    for family in ("bytes", "Llama-2", "suffix", "WordPiece", "BPE of SentencePiece"):
        member = FAMILIES[family](drawn)
        ids = drawn.choices(member.ids, k=600)
        text = member.decode(ids)
        stops, found = [text[300:330], text[:5] + "\0"], []
        for parts in (chunked(drawn, ids), ids):
            decoder = StreamDecoder(member.tokenizer, stops)
            decoder._tuning, decoder._rows.most_entries = Tuning(noted=8, block=50), 40
            assert read(decoder, parts) == text[: text.index(stops[0])]
            assert decoder._rows._n_entries <= 60
            found.append(decoder.stopped)
        assert found[0] is not None
        assert found[0] == found[1]


def test_what_is_noted_is_as_long_as_what_is_held() -> None:
    tokenizer = tokdfa.default_tokenizer()
    decoder = StreamDecoder(tokenizer, ["aaaa!"])
    id = tokenizer.encode("a").tolist()[0]
    assert "".join(decoder.feed(id) for _ in range(5000)) == "a" * 4996
    assert len(decoder._noted) <= 520
    assert decoder.feed(tokenizer.encode("!")) == ""
    assert decoder.stopped == ("aaaa!", 0, 4996, 0)


def test_a_long_run_of_byte_tokens_takes_linear_time_and_no_table() -> None:
    vocab = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"a": 256}
    fields = {
        "model": {"type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": True, "fuse_unk": True},
        "decoder": {"type": "ByteFallback"},
    }
    decoder = StreamDecoder(tokdfa.load(fields))
    data = "é" * 20_000
    assert not any(map(decoder.feed, data.encode()))
    assert decoder._rows._n_entries < 1000
    assert decoder.feed(256) == data + "a"


@pytest.mark.parametrize(
    ("stop", "special", "message"),
    [
        ([""], "keep", "stop string 0: a stop string is a text that is not empty: ''"),
        (["a", 5], "keep", "stop string 1: a stop string is a text that is not empty: 5"),
        (["\ud800"], "keep", "half of a surrogate pair"),
        (["a<x>b"], "drop", "a stop string with a special token in it, which is dropped from the text: 'a<x>b'"),
        (["a"], "skip", "special tokens are kept or dropped: 'skip'"),
    ],
)
def test_stops_that_are_never_found_are_refused(stop: list[Any], special: Any, message: str) -> None:
    tokenizer = tokdfa.load(tiktoken_lines(BYTES), pretokenizer="gpt2", specials={"<x>": 256}, format="tiktoken")
    with pytest.raises(WrongTypeError) as caught:
        StreamDecoder(tokenizer, stop, special)
    assert message in str(caught.value)


def test_ids_that_are_none_are_refused_and_change_nothing() -> None:
    tokenizer = tokdfa.load(tiktoken_lines(BYTES), pretokenizer="gpt2", specials={"<x>": 300}, format="tiktoken")
    decoder = StreamDecoder(tokenizer, "<x>y")
    for wrong in (-1, 256, 1 << 40, [97, 299], [[97]], 1.5, "a", True):
        assert decoder.feed(97) == "a"
        with pytest.raises(TokenStreamError):
            decoder.feed(wrong)  # type: ignore[arg-type]
    with pytest.raises(TokenStreamError, match="token 8: no token has this id: 256"):
        decoder.feed(256)
    assert decoder.feed(np.int64(98)) == "b"
    assert decoder.feed(300) == ""
    assert decoder.feed(ord("y")) == ""
    assert decoder.stopped == ("<x>y", 0, 9, 0)
    for ids in (97, [97]):
        with pytest.raises(TokenStreamError, match="has come to a stop string"):
            decoder.feed(ids)
    assert decoder.finish() == ""
    decoder.reset()
    assert (decoder.feed(0xC3), decoder.stopped, decoder.finish()) == ("", None, "\ufffd")
    with pytest.raises(TokenStreamError, match="is finished"):
        decoder.feed(97)


def test_the_end_of_a_stream_may_be_a_stop() -> None:
    tokenizer = tokdfa.load(tiktoken_lines(BYTES), pretokenizer="gpt2", specials={}, format="tiktoken")
    decoder = StreamDecoder(tokenizer, "a\ufffd")
    assert (decoder.feed([98, 97, 0xC3]), decoder.stopped, decoder.finish()) == ("b", None, "")
    assert decoder.stopped == ("a\ufffd", 0, 1, 0)


def test_a_stop_after_broken_bytes_is_counted_before_further_steps() -> None:
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    strip = {"type": "Strip", "content": "z", "start": 1, "stop": 0}
    words = ["\u00e2", "\u0124", "a", "bST", "OPc"]  # The letters of the bytes E2 and 82, and text.
    fields = {
        "model": {"type": "WordLevel", "vocab": {word: id for id, word in enumerate(words)}, "unk_token": "a"},
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": [level, strip]},
    }
    decoder = StreamDecoder(tokdfa.load(fields), "STOP")
    # Two bytes of a character that never comes, split over ids: one replacement.
    for ids in ([0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [0, 0, 1, 3, 4]):
        n_broken = 1 if ids[:2] == [0, 1] else 2
        decoder.reset()
        given = "".join(map(decoder.feed, ids))
        assert given == "\ufffd" * n_broken + "a" * (2 in ids) + "b"
        assert decoder.stopped == ("STOP", 0, 3, 1)


def test_a_pattern_that_is_replaced_across_ids_is_refused() -> None:
    replace = {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    fields = {
        "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"},
        "pre_tokenizer": None,
        "decoder": {"type": "Sequence", "decoders": [level, replace]},
    }
    with pytest.raises(UnsupportedFeatureError, match=r"replaces matches of a pattern across ids.*'a\+'"):
        StreamDecoder(tokdfa.load(fields))


def test_too_long_stop_strings_are_refused() -> None:
    with pytest.raises(LimitExceededError):
        StreamDecoder(tokdfa.default_tokenizer(), "a" * (1 << 21))


def test_white_space_at_the_end_comes_with_the_next_word() -> None:
    step, drawn = StripText(), random.Random(5)
    for _ in range(300):
        tokens = drawn.choices([" ", "a", " a ", "", "\t", "b  c ", "\u3000"], k=drawn.randrange(8))
        state, given = step.initial, ""
        for number, token in enumerate(tokens):
            texts, state = step.read(state, token)
            given += "".join(texts)
            assert given == "".join(tokens[: number + 1]).strip(), tokens
        assert given == "".join(step(tokens)), tokens
