"""CLIP's tokenizer of transformers 4 in Python, written again over its own code for words."""

from __future__ import annotations

import random
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
import regex

import tokdfa
from tests.support.editing import edited
from tests.support.live import any_text, apart
from tests.support.tokenizer_files import SPELLED
from tokdfa.base.errors import UnsupportedFeatureError

START, END = "<|startoftext|>", "<|endoftext|>"
PATTERN = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
RULES = ["t h", "th e</w>", "th e", "< |", "| ></w>", "s t", "o f", "e x", "a a", "aa a</w>", "' s</w>"]
PARTS = [
    *(
        START,
        END,
        START.upper(),
        "<|EndOfText|>",
        "!<|ENDOFTEXT|>",
        "<|\u017ftartoftext|>",
        "<|\0startoftext|>",
        "</w>",
    ),
    *(
        "the",
        " THE ",
        "aaa",
        "'\u017f",
        "'S",
        "ΑΣ",
        "\u0345",
        "e\u0301",
        "\u212a",
        "ⅷ",
        "\u2028",
        "\0",
        "中",
        " ",
        "12",
    ),
]


class CLIPTokenizer:
    """The class of transformers."""

    def __init__(self) -> None:
        legacy = pytest.importorskip("transformers.models.bert.tokenization_bert_legacy", reason="needs transformers 5")
        self.nlp = legacy.BasicTokenizer(strip_accents=False, do_split_on_punc=False)
        self.fix_text: Any = None
        self.errors = "replace"
        letters = [*SPELLED.values()]
        tokens = [*letters, *(f"{letter}</w>" for letter in letters), *(rule.replace(" ", "") for rule in RULES)]
        self.encoder = {token: id for id, token in enumerate([*tokens, START, END])}
        self.bpe_ranks = {(*rule.split(),): rank for rank, rule in enumerate(RULES)}
        self.cache = {START: START, END: END}
        self.byte_encoder = dict(SPELLED)
        self.pat: Any = regex.compile(PATTERN, regex.IGNORECASE)
        self.all_special_tokens = [START, END]
        self.added_tokens_decoder = {
            self.encoder[text]: SimpleNamespace(content=text, special=True, single_word=False) for text in (START, END)
        }

    def tokenize(self) -> None: ...

    def prepare_for_tokenization(self) -> None: ...

    def convert_tokens_to_ids(self, tokens: list[str]) -> list[int]:
        return [self._convert_token_to_id(token) for token in tokens]

    def _convert_token_to_id(self, token: str) -> int:
        return self.encoder.get(token, self.encoder[END])

    def bpe(self, token: str) -> list[str]:
        if token in self.cache:
            return [token]
        word = [*token[:-1], token[-1] + "</w>"]
        while pairs := [pair for pair in pairwise(word) if pair in self.bpe_ranks]:
            best, merged = min(pairs, key=self.bpe_ranks.__getitem__), []
            while word:
                size = 2 if tuple(word[:2]) == best else 1
                merged.append("".join(word[:size]))
                word = word[size:]
            word = merged
        return word

    def _tokenize(self, text: str) -> list[str]:
        pieces = regex.findall(self.pat, " ".join(self.nlp.tokenize(text)))
        return [token for piece in pieces for token in self.bpe("".join(SPELLED[byte] for byte in piece.encode()))]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        letters = {letter: byte for byte, letter in SPELLED.items()}
        data = bytes(letters[letter] for letter in "".join(tokens))
        return data.decode("utf-8", self.errors).replace("</w>", " ").strip()

    def encode(self, text: str) -> list[int]:
        parts = regex.split(r"(<\|(?:start|end)oftext\|>)", text)
        tokens = [token for part in parts for token in ([part] if part in self.cache else self._tokenize(part))]
        return self.convert_tokens_to_ids(tokens)


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> CLIPTokenizer:
    for name, method in vars(CLIPTokenizer).items():
        if callable(method):
            monkeypatch.setattr(method, "__module__", "transformers.models.clip.tokenization_clip")
            if name in ("tokenize", "prepare_for_tokenization"):
                monkeypatch.setattr(method, "__qualname__", f"PreTrainedTokenizer.{name}")
    return CLIPTokenizer()


def test_texts_and_streams_of_clip(peer: CLIPTokenizer) -> None:
    tokenizer = tokdfa.load(peer)
    tokens = {id: token for token, id in peer.encoder.items()}
    wrong = 0
    for number in range(600):
        drawn = random.Random(number)
        parts = [any_text(drawn, number), *drawn.choices(PARTS, k=drawn.randrange(6))]
        text = "".join(drawn.sample(parts, len(parts)))
        ids = peer.encode(text)
        assert tokenizer.encode(text).tolist() == ids, text
        stream = edited(drawn, ids, [*tokens], exchanges=0.3)
        decoded = peer.convert_tokens_to_string([tokens[id] for id in stream])
        assert tokenizer.decode(stream) == decoded
        verdict, again = tokenizer.validate(stream), peer.encode(decoded)
        assert (None if verdict else verdict.index) == apart(stream, again), stream
        wrong += not verdict
    assert wrong > 100
    # Without the pieces that a pattern finds in other case, the rules for special tokens would not be needed.
    assert tokenizer.encode(START.upper()).tolist() == [peer.encoder[START]]


def test_changes_of_clip_are_refused(peer: CLIPTokenizer) -> None:
    for name, value, message in (
        ("fix_text", str.strip, "repairs texts with ftfy"),
        ("errors", "strict", "only as replaced: 'strict'"),
        ("pat", regex.compile("a|b", regex.IGNORECASE), "a pattern that is not CLIP's"),
        ("pat", regex.compile(PATTERN), "flags of the pattern"),
        ("cache", {}, "a special token that its pattern finds is missing"),
        ("nlp", SimpleNamespace(tokenize=len), "a basic tokenizer that is not transformers' own"),
    ):
        spoiled = CLIPTokenizer()
        setattr(spoiled, name, value)
        with pytest.raises(UnsupportedFeatureError) as caught:
            tokdfa.load(spoiled)
        assert message in str(caught.value)
