"""GGUF files with special tokens of spaces, as Gemma's: found before spaces are written as their sign, merged after."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest

import tokdfa
from tests.support.gguf_files import Typed, gguf, sentencepiece
from tests.support.llama_cpp import LlamaCpp, library
from tests.support.seeds import seeds
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError

SIGN = "\u2581"
PARTS = ["a", "b", " ", "  ", "   ", SIGN, SIGN * 2, f"<{SIGN}>", "é", "<s>", "\n"]


class Defined:
    """What llama.cpp does with a vocabulary of its kind llama, step by step."""

    def __init__(self, drawn: random.Random) -> None:
        pieces = [SIGN, "a", "b"]
        for _ in range(drawn.randint(2, 8)):
            pieces.append(drawn.choice(pieces) + drawn.choice(pieces))
        self.pieces = list(dict.fromkeys([*pieces, SIGN * 2, f"<{SIGN}>"]))
        self.special = {piece for piece in self.pieces if len(piece) > 1 and not piece.strip(SIGN)}
        self.special |= {f"<{SIGN}>"} | {piece for piece in self.pieces[3:] if drawn.random() < 0.15}
        self.puts = drawn.random() < 0.5
        scores = [-float(drawn.randrange(9)) for _ in self.pieces]
        self.scores = dict(zip(self.pieces, scores, strict=True))
        types = [4 if piece in self.special else 1 for piece in self.pieces]
        self.fields = sentencepiece(
            self.pieces,
            token_type=Typed("i32", [2, 3, 3, *[6] * 256, *types]),
            scores=Typed("f32", [0.0] * 259 + scores),
            add_space_prefix=Typed("bool", self.puts),
        )
        self.words: list[str] = self.fields["tokenizer.ggml.tokens"].value

    def merge(self, text: str) -> list[str]:
        symbols = [*text]
        while found := [
            (-self.scores[u + v], at) for at, (u, v) in enumerate(pairwise(symbols)) if u + v in self.scores
        ]:
            at = min(found)[1]
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        return symbols

    def encode(self, text: str) -> list[int]:
        found = sorted({*self.special, "<s>", "</s>", "<unk>"}, key=len, reverse=True)
        ids: list[int] = []
        begins = True
        for part in re.split(f"({'|'.join(found)})", text):
            if part in found:
                ids.append(self.words.index(part))
            elif part:
                for symbol in self.merge((" " * (begins and self.puts) + part).replace(" ", SIGN)):
                    bytewise = [f"<0x{byte:02X}>" for byte in symbol.encode()]
                    ids += map(self.words.index, [symbol] if symbol in self.words else bytewise)
            begins = part in found if part else begins
        return ids

    def decode(self, ids: list[int]) -> str:
        shown = [word if word in self.special else word.replace(SIGN, " ") for word in (self.words[id] for id in ids)]
        shown[0] = shown[0].removeprefix(" " * self.puts)
        return re.sub("(<0x..>)+", lambda run: bytes.fromhex(re.sub("<0x|>", "", run[0])).decode(), "".join(shown))


def check(seed: int) -> tuple[int, int]:
    """Return how many special tokens are merged, and how many streams are wrong; none if the file is refused."""
    drawn = random.Random(seed)
    defined = Defined(drawn)
    try:
        tokenizer = tokdfa.load(gguf(defined.fields))
    except FileFormatError as error:
        if "overlaps with" not in str(error):
            raise
        return 0, 0
    n_merged = n_wrong = 0
    for _ in range(20):
        text = "".join(drawn.choices(PARTS, k=drawn.randint(1, 7)))
        ids = defined.encode(text)
        assert tokenizer.encode(text).tolist() == ids, (seed, text)
        assert tokenizer.decode(ids) == defined.decode(ids), (seed, ids)
        spoiled = [*ids, drawn.randrange(259, len(defined.words))]
        spoiled[drawn.randrange(len(ids))] = drawn.randrange(259, len(defined.words))
        for stream in (ids, spoiled):
            try:
                again = defined.encode(defined.decode(stream))
            except UnicodeDecodeError:
                continue
            assert bool(tokenizer.validate(stream)) == (again == stream), (seed, stream)
            n_wrong += again != stream
        n_merged += sum(defined.words[id] in defined.special and defined.words[id] not in text for id in ids)
    return n_merged, n_wrong


def test_special_tokens_of_spaces_are_found_merged_and_shown() -> None:
    n_merged, n_wrong = map(sum, zip(*map(check, seeds(30)), strict=True))
    assert n_merged > 40
    assert n_wrong > 100


def test_special_tokens_of_spaces_in_a_unigram_file_are_refused() -> None:
    fields = sentencepiece(
        [SIGN, "a"], model=Typed("string", "t5"), token_type=Typed("i32", [2, 3, 3, *[6] * 256, 4, 1])
    )
    with pytest.raises(FileFormatError, match="sign for a space"):
        tokdfa.load(gguf(fields))


def test_a_character_that_is_a_token_needs_no_token_for_its_byte(tmp_path: Path) -> None:
    # As in the files of Gemma: the tab is a token in the place of the token of its byte.
    def written(place: int) -> bytes:
        keys = sentencepiece()
        words = [*keys["tokenizer.ggml.tokens"].value]
        words[3 + place] = "\t"
        kinds = keys["tokenizer.ggml.token_type"].value
        types = [1 if word == "\t" else kind for word, kind in zip(words, kinds, strict=True)]
        return gguf(sentencepiece(tokens=Typed("string", words), token_type=Typed("i32", types)))

    path = tmp_path / "x.gguf"
    path.write_bytes(written(ord("\t")))
    tokenizer = tokdfa.load(path)
    peer = None if library() is None else LlamaCpp(path)
    for text in ("\t", "a\tthe\t\t\n", "\u4e2d\t"):
        ids = tokenizer.encode(text).tolist()
        assert tokenizer.decode(ids) == text
        assert peer is None or peer.encode(text) == ids
    with pytest.raises(UnsupportedFeatureError, match="some byte that text can have has no token"):
        tokdfa.load(written(0xC3))
