"""Vocabularies of RWKV: the ids match the longest tokens of the lines, read as RWKV's own tokenizer reads them."""

from __future__ import annotations

import ast
import random

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import edited
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tokdfa.base.errors import TokdfaError

TEXTS = ["", "the then a", "aaaaaaab\n\n  1é", "abcabcabx", "中\U0001f600 \0", "'\"\\\n\r\t"]
LITERALS = ("'a'", "b'\\xff'", '"\'"', "'\\x41'", "'\\u00e9'", "''", "'\\ud800'", "'\\\\'", "b'\\101'")


def check(data: bytes) -> bool:
    path = folder() / "x.txt"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path, format="rwkv")
    except TokdfaError:
        return False
    ids: dict[bytes, int] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            first, last = line.index(" "), line.rindex(" ")
            token = ast.literal_eval(line[first:last].strip())
            token = token.encode() if isinstance(token, str) else token
            assert len(token) == int(line[last:])
            ids[token] = int(line[:first])
    longest = max(map(len, ids))

    def encode(text: str) -> list[int] | None:
        data, at, found = text.encode(), 0, []
        while at < len(data):
            token = next(data[at:end] for end in range(at + longest, at, -1) if data[at:end] in ids)
            found.append(ids[token])
            at += len(token)
        return found

    must_agree(lambda text: tokenizer.encode(text).tolist(), encode, TEXTS)
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text)) == text
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(drawn.choice((1, 1, 2, 4))):
        at, other = drawn.randrange(len(lines)), drawn.randrange(len(lines))
        kind = drawn.randrange(8)
        id, _, rest = lines[at].partition(" ")
        token, _, length = rest.rpartition(" ")
        if kind == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 1 and len(lines) > 1:
            del lines[at]
        elif kind == 2:
            lines.insert(at, lines[other])
        elif kind == 3:
            lines[at] = f"{drawn.choice(('0', '300', '99999999', '-1', '007', id))} {rest}"
        elif kind == 4:
            literal = drawn.choice(LITERALS)
            lines[at] = f"{id} {literal} {drawn.choice((1, 2, length))}"
        elif kind == 5:
            lines.insert(at, f"{drawn.randrange(400)} {token[:-1]}a{token[-1:]} {drawn.choice((2, 3, length))}")
        else:
            lines[at] = edited(lines[at], drawn)
    return "\n".join(lines).encode("utf-8", "replace")


TARGET = Target(check, change)
