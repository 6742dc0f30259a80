"""Rank files: the ids match tiktoken."""

from __future__ import annotations

import base64
import random

import tiktoken

import tokdfa
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tokdfa.base.errors import TokdfaError

PATTERN = r"[\s\S]+"
TEXTS = ["", "the then a", "aaaaaaab\n\n  1é", "abcabcabx", "中\U0001f600 \0"]


def check(data: bytes) -> bool:
    path = folder() / "x.tiktoken"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path, format="tiktoken", pretokenizer="none")
    except TokdfaError:
        return False
    # As tiktoken.load does, which keeps files by their names.
    rows = (line.split() for line in data.splitlines() if line)
    ranks = {base64.b64decode(word): int(rank) for word, rank in rows}
    try:
        peer = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return True
        raise AssertionError(f"the library refuses it: {error}") from None
    must_agree(lambda text: tokenizer.encode(text).tolist(), peer.encode_ordinary, TEXTS)
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(drawn.choice((1, 1, 2, 4))):
        at, other = drawn.randrange(len(lines)), drawn.randrange(len(lines))
        kind = drawn.randrange(9)
        word, _, rank = lines[at].partition(b" ")
        if kind == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 1:
            lines[at] = word + b" " + lines[other].partition(b" ")[2]
            lines[other] = lines[other].partition(b" ")[0] + b" " + rank
        elif kind == 2 and len(lines) > 1:
            del lines[at]
        elif kind == 3:
            number = drawn.choice((0, 2**24, 2**31 - 1, 2**32, 2**63, 2**64, drawn.randrange(400), len(lines)))
            lines[at] = word + b" %d" % number
        elif kind == 4:
            lines.insert(at, _joined(word, lines[other].partition(b" ")[0]) + b" %d" % drawn.randrange(256, 300))
        elif kind == 5:
            letters = bytes(drawn.choices(b"ab the\xc3\xa9\n", k=drawn.randrange(7)))
            lines.append(base64.b64encode(letters) + b" %d" % (len(lines) + drawn.randrange(2)))
        elif kind == 6:
            place = drawn.randrange(len(lines[at]) + 1)
            put = drawn.choice((b" ", b"\t", b"\r", b"=", b"==", b"-", b"+", b"0", b"_", b"\xff", b"\0", b"1e3", b"A"))
            lines[at] = lines[at][:place] + put + lines[at][place + drawn.randrange(2) :]
        elif kind == 7:
            lines.insert(at, lines[other])
        else:
            drawn.shuffle(lines)
    return b"\n".join(lines)


def _joined(one: bytes, other: bytes) -> bytes:
    try:
        return base64.b64encode(base64.b64decode(one) + base64.b64decode(other))
    except ValueError:
        return one + other


TARGET = Target(check, change)
