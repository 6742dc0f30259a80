"""A bound for units of WordPiece, without the states of a product: its words have a limited number of characters.

Example: in BERT's texts a word begins before each space, and before `.`, `?`, `!` and `,`. GPT-2 has tokens such as
`).` with the beginning of a word within them. Each of these ends where a token of BERT ends, so the boundary after it
is shared. Then a unit has at most one whole word, and the part of such a token after it.
"""

from __future__ import annotations

from tokdfa.jobs.measures.side import Side, proper_prefixes
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer


def most_by_words(tokenizer: WordPieceTokenizer, streams: Side, other: Side) -> int | None:
    """Return a bound for the bytes of a unit; None if words are not limited, or units may have several of them."""
    limit, language = tokenizer.vocabulary.longest_word, tokenizer.language
    if limit is None:
        return None
    begins = {streams.words[id] for id in (*language.words.beginnings, *language.single)}
    labels = _Labels(begins & streams.labels.keys(), {*streams.labels})
    tails = [labels.after_boundary(word) for word in other.labels]
    if None in tails:
        return None
    widest = max(len(character.encode()) for word in streams.labels for character in word.decode())
    word = max(1 + limit * widest, *map(len, streams.labels))
    return word + max(tail for tail in tails if tail is not None)


class _Labels:
    """The words of labels: those that begin a word within a text, and all of them."""

    def __init__(self, begins: set[bytes], words: set[bytes]) -> None:
        self._begins, self._words = begins, words
        self._unfinished_begins = proper_prefixes(begins)
        self._unfinished = proper_prefixes(words)
        self._ends = {word[at:] for word in words for at in range(len(word))}

    def after_boundary(self, word: bytes) -> int | None:
        """Return the most bytes from a beginning of a word, within another tokenizer's token, to the end of the token.

        0 if no text has such a beginning; None if the last label within the token may be unfinished.
        """
        # For each offset, the first boundary of words before it on a path of labels; its own length for none.
        n = len(word)
        first = {at: n for at in range(1, n) if word[:at] in self._ends}
        most = 0
        for at in range(1, n):
            if at not in first:
                continue
            rest = word[at:]
            if rest in self._unfinished_begins or (first[at] < n and rest in self._unfinished):
                return None
            for end in range(at + 1, n + 1):
                part = word[at:end]
                boundary = min(first[at], at) if part in self._begins else first[at]
                if part in self._words and boundary < n:
                    most = max(most, n - boundary) if end == n else most
                if part in self._words and end < n:
                    first[end] = min(boundary, first.get(end, n))
        return most
