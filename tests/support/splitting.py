"""The pieces into which the libraries split text, made visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def pieces_of_tokenizers(pattern: str, text: str) -> list[tuple[str, bool]]:
    """Return what Split(Isolated) of tokenizers makes of `text`, and for each piece whether the pattern matched it."""
    from tokenizers import Regex, pre_tokenizers

    isolated = pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str(text)
    kept = {span for _, span in pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str(text)}
    return [(piece, span not in kept) for piece, span in isolated]


def pieces_of_tiktoken(pattern: str, texts: Sequence[str]) -> list[list[str]]:
    """Return the pieces that tiktoken makes of short texts.

    It gives only ids. But a piece that is a token as a whole becomes that token, so a vocabulary of all factors of all
    texts shows the pieces.
    """
    import tiktoken

    factors = {
        text[start:end].encode()
        for text in texts
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
    }
    encoding = tiktoken.Encoding("factors", pat_str=pattern, mergeable_ranks=_ranks(factors), special_tokens={})
    return [[encoding.decode([token]) for token in encoding.encode_ordinary(text)] for text in texts]


def tiktoken_agrees(pattern: str, texts: Sequence[str], pieces: Sequence[Sequence[str]]) -> bool:
    """Return whether tiktoken splits every text into these pieces, which together are the whole text.

    Of any number of texts of any length. Merging starts with two bytes. Where no token has two bytes, it never starts,
    and a token of three or more bytes is a whole piece; the text between them is then looked at in two further ways: as
    factors of three or more bytes, none of which may show up, and as pieces of two bytes.
    """
    import tiktoken

    expected = [[piece.encode() for piece in split] for split in pieces]
    words = {piece for split in expected for piece in split}
    between = {stretch for split in expected for stretch in _short_stretches(split)}
    factors = {
        stretch[start:end]
        for stretch in between
        for start in range(len(stretch))
        for end in range(start + 3, len(stretch) + 1)
    }

    def encode(vocabulary: Iterable[bytes]) -> list[list[bytes]]:
        encoding = tiktoken.Encoding("", pat_str=pattern, mergeable_ranks=_ranks(vocabulary), special_tokens={})
        return [encoding.decode_tokens_bytes(encoding.encode_ordinary(text)) for text in texts]

    def in_bytes(piece: bytes) -> list[bytes]:
        return [piece[i : i + 1] for i in range(len(piece))]

    long = [
        [part for piece in split for part in ([piece] if len(piece) > 2 else in_bytes(piece))] for split in expected
    ]
    if encode(factors | {word for word in words if len(word) > 2}) != long:
        return False
    # All pieces of three or more bytes are right and the others have two or one, which the second vocabulary shows.
    pairs = {stretch[i : i + 2] for stretch in between for i in range(len(stretch) - 1)}
    seen = encode(pairs)
    return all(_agree_between(split, tokens) for split, tokens in zip(expected, seen, strict=True))


def _short_stretches(split: Sequence[bytes]) -> list[bytes]:
    stretches = [b""]
    for piece in split:
        if len(piece) > 2:
            stretches.append(b"")
        else:
            stretches[-1] += piece
    return [stretch for stretch in stretches if len(stretch) > 1]


def _agree_between(split: Sequence[bytes], tokens: Sequence[bytes]) -> bool:
    """Return whether the pieces of one or two bytes are tokens; inside longer ones the tokens do not matter."""
    ends = {0}
    at = 0
    for token in tokens:
        at += len(token)
        ends.add(at)
    at = 0
    for piece in split:
        if at not in ends or at + len(piece) not in ends:
            return False
        if len(piece) == 2 and at + 1 in ends:
            return False
        at += len(piece)
    return True


def _ranks(words: Iterable[bytes]) -> dict[bytes, int]:
    ranks = {bytes([byte]): byte for byte in range(256)}
    for word in sorted(word for word in words if len(word) > 1):
        ranks[word] = len(ranks)
    return ranks


REPRESENTATIVES = {
    "gpt2": "'slrea1 \n!",
    "gpt2_tiktoken": "'slrea1 \n!",
    "cl100k": "'slSa1 \n\t!",
    "llama3": "'slSa1 \n\t!",
    "qwen2": "'slSa1 \n\t!",
    "o200k": "'slA中\u03011 \n!/",
    "tekken": "'aA中\u03011 \n\t!/",
    "kimi": "'slA中ひ\u03011 \n!",
    "deepseek": "1中aé\u0301!€ \n\t\0",
}
"""For each named pattern a symbol of every kind that it distinguishes; letters of contractions are of several kinds."""
