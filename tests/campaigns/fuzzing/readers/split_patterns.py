r"""Patterns that split, as a tokenizer.json gives them: the pieces match the library and the slow twin.

The first byte of an input chooses the library, the behavior and whether the pattern is inverted.
"""

from __future__ import annotations

import random
from typing import get_args

from tokenizers import Regex, pre_tokenizers

from tests.campaigns.fuzzing.readers.target import Target
from tests.support.splitting import pieces_of_tiktoken
from tokdfa.base.errors import LimitExceededError, PatternError, TokdfaError
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import Behavior, Split, Splitting

BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)
TEXTS = ["", "ab 12", "a\n\n  b", "'sAé!", "aaaa", "中e\u0301\r\n_", "12345 ab\n", "²a1\n1234"]
SECONDS = 0.5
PIECES = [
    *(r"\p{L}", r"\p{N}", r"\s", r"\S", r"\w", r"\d", r"\D", r"\W", ".", "^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z"),
    *("(?:", "(", ")", "|", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?i)", "(?s:", "(?>", "(?#", "(?<a>", r"\1"),
    *("*", "+", "?", "*?", "+?", "++", "*+", "?+", "{2}", "{1,3}", "{,2}", "{2,}", "{0}", "{3}?", "{2}+"),
    *("[", "]", "[^", "[a-z]", "[^\\s\\p{L}]", "[\\r\\n]", "[a-", "&&", "[[:alpha:]]", "[^]", "-", "\\", "\\Q", "\\E"),
    *("a", "b", " ", "'", "é", "中", "\\x41", "\\u00e9", "\\x{1F600}", "\\n", "\\t", "\\p{Lu}", "\\p{Han}", "\\P{L}"),
    *("(?=ab)", "(?!\\r?\\n)", "(?<=[a-z])", "(?<!\\n)", "(?<!a|bc)", "(?=(?:\\d{2})*\\b)", "(?=(\\d{3})+(?!\\d))"),
    *("(?>a|ab)", "(?:ab)++", "[[:^digit:]]", "[[:word:]]", "\\p{Word}", "\\H", "(?!a*b)", "{10}"),
    *("\\p{^L}", "\\pL", "\\h", "\\R", "\\X", "\\K", "\\G", "0", "1", "A", "_", ",", ":", "#", "\n"),
]


def check(data: bytes) -> bool:
    if not data:
        return False
    try:
        pattern = data[1:].decode()
    except UnicodeDecodeError:
        return False
    if data[0] & 1:
        splitting = Splitting("tiktoken", (Split(pattern),))
    else:
        behavior = BEHAVIORS[(data[0] >> 2) % len(BEHAVIORS)]
        splitting = Splitting("tokenizers", (Split(pattern, behavior, bool(data[0] & 2)),))
    try:
        ours = PreTokenizer(splitting)
    except TokdfaError:
        return False
    try:
        machine = Splitter(splitting, max_seconds=SECONDS)
    except (PatternError, LimitExceededError):
        machine = None
    spans = [ours.spans_backtracking(text) for text in TEXTS]
    for text, expected in zip(TEXTS, spans, strict=True):
        if machine is not None:
            spelled = text.encode()
            found = [spelled[start:end].decode() for start, end in machine.spans(spelled).tolist()]
            assert found == [text[start:end] for start, end in expected], text
    if splitting.library == "tiktoken":
        pieces = [[text[start:end] for start, end in found] for text, found in zip(TEXTS, spans, strict=True)]
        if any("".join(found) != text for text, found in zip(TEXTS, pieces, strict=True)):
            return True  # text is dropped, which the ids of short texts do not show
        try:
            theirs = pieces_of_tiktoken(pattern, TEXTS)
        except ValueError as error:
            raise AssertionError(f"the library refuses it: {error}") from None
        assert pieces == theirs
        return True
    try:
        peer = pre_tokenizers.Split(Regex(pattern), splitting.steps[0].behavior, splitting.steps[0].invert)
    except Exception as error:
        raise AssertionError(f"the library refuses it: {error}") from None
    for text, found in zip(TEXTS, spans, strict=True):
        assert found == [span for _, span in peer.pre_tokenize_str(text)], text
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    text = data[1:].decode("utf-8", "replace")
    for _ in range(drawn.choice((1, 1, 2, 4))):
        at = drawn.randrange(len(text) + 1)
        end = min(len(text), at + drawn.choice((0, 0, 1, 2, 6)))
        kind = drawn.randrange(4)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:end] + text[at:end] + text[end:]
        else:
            text = text[:at] + drawn.choice(PIECES) + text[end:]
    first = data[0] if data and drawn.random() < 0.8 else drawn.randrange(256)
    return bytes([first]) + text.encode()


TARGET = Target(check, change, longest=48, seconds=5.0)
