"""Answer for the version of a library that is on the path: JSON on standard input, JSON on standard output.

This imports nothing of tokdfa: it is the oracle.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def pieces(library: str, pattern: str, texts: list[str]) -> list[list[str]]:
    """Return the pieces of texts."""
    if library == "tokenizers":
        from tokenizers import Regex, pre_tokenizers

        split = pre_tokenizers.Split(Regex(pattern), "isolated")
        return [[piece for piece, _ in split.pre_tokenize_str(text)] for text in texts]
    return [_pieces_of_tiktoken(pattern, text) for text in texts]


def _pieces_of_tiktoken(pattern: str, text: str) -> list[str]:
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    # A piece that is a token is not merged, so that the ids show the pieces if every part of the text is one.
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            ranks.setdefault(text[start:end].encode(), len(ranks))
    encoding = tiktoken.Encoding("pieces", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return [encoding.decode_single_token_bytes(id).decode() for id in encoding.encode_ordinary(text)]


def matched(library: str, pattern: str) -> list[int]:
    """Return the edges of the ranges of code points that a pattern for one symbol matches."""
    text = "".join(chr(code) for code in range(0x110000) if library == "regex" or not 0xD800 <= code < 0xE000)
    found: set[str] = set()
    for at in range(0, len(text), 4096):
        found.update(_matched_in(library, pattern, text[at : at + 4096]))
    codes = sorted(map(ord, found))
    edges: list[int] = []
    for code in codes:
        if edges and edges[-1] == code:
            edges[-1] = code + 1
        else:
            edges += [code, code + 1]
    return edges


def _matched_in(library: str, pattern: str, text: str) -> set[str]:
    if library == "regex":
        import regex

        return set(regex.findall(pattern, text))
    if library == "tokenizers":
        from tokenizers import Regex, pre_tokenizers

        split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
        return {piece for piece, _ in split.pre_tokenize_str(text)}
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("classes", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return set(encoding.decode_bytes(encoding.encode_ordinary(text)).decode())


def main() -> None:
    """Answer one question."""
    question: dict[str, Any] = json.load(sys.stdin)
    answer: object
    if question["what"] == "pieces":
        answer = pieces(question["library"], question["pattern"], question["texts"])
    else:
        answer = [matched(question["library"], pattern) for pattern in question["patterns"]]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
