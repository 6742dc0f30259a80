"""vocab.txt of WordPiece: entries and ids match the tokenizers library."""

from __future__ import annotations

import random
from zlib import crc32

import tokenizers

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import edited
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tokdfa.base.errors import TokdfaError

TEXTS = ["", "un a able unaffable", "A, b.'s é e\u0301 [SEP] x", "中a国 \t[MASK]a", "straße İ \0\u0345", "##a [unk]"]
# White space, to the library or to Python, and characters that only look like it.
BLANKS = (*" \t\r\v\f\u3000\u00a0\u1680\u2003\u2028\u205f", *"\x1c\x1d\x1e\x1f\x85", *"\u200b\ufeff\u180e\0")
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def check(data: bytes) -> bool:
    path = folder() / "vocab.txt"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path)
    except TokdfaError:
        return False
    peer = tokenizers.Tokenizer(tokenizers.models.WordPiece.from_file(str(path), unk_token="[UNK]"))
    peer.normalizer = tokenizers.normalizers.BertNormalizer()
    peer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    there = peer.get_vocab(with_added_tokens=False)
    assert dict(tokenizer.vocabulary.items()) == there
    peer.add_special_tokens([tokenizers.AddedToken(name, special=True) for name in SPECIALS if name in there])

    def encode(text: str) -> list[int] | None:
        try:
            ids: list[int] = peer.encode(text, add_special_tokens=False).ids
        except Exception:  # no entry for unknown words
            return None
        return ids

    # Building the tables for the first text takes a hundred times as long as reading.
    if crc32(data) % 8:
        return True
    must_agree(lambda text: tokenizer.encode(text).tolist(), encode, TEXTS)
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    lines = data.decode("utf-8", "replace").split("\n")
    for _ in range(drawn.choice((1, 1, 2, 4))):
        at, other = drawn.randrange(len(lines)), drawn.randrange(len(lines))
        kind = drawn.randrange(8)
        if kind == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 1 and len(lines) > 1:
            del lines[at]
        elif kind == 2:
            lines.insert(at, drawn.choice(("", "##")) + lines[at].removeprefix("##") + lines[other].removeprefix("##"))
        elif kind == 3:
            lines.insert(at, lines[other])
        elif kind == 4:
            lines[at] += "".join(drawn.choices(BLANKS, k=drawn.choice((1, 1, 2))))
        elif kind == 5:
            place = drawn.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + drawn.choice(BLANKS) + lines[at][place:]
        else:
            lines[at] = edited(lines[at], drawn)
    return "\n".join(lines).encode("utf-8", "replace")


TARGET = Target(check, change)
