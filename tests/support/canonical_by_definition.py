"""Which ids are canonical, by the definition: those that encoding what they spell gives again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tokdfa.automata.bpe import tokenize_leftmost
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Definition"]


class Definition:
    """encode(decode(ids)) by the slow means: merging literally, the `re` module, and a search for specials."""

    def __init__(self, tokenizer: Tokenizer, pattern: str | None) -> None:
        self.tokenizer = tokenizer
        self.pattern = pattern
        words = tokenizer.dictionary.alphabet
        self.id_of = {word: int(tokenizer.token_to_id[number]) for number, word in enumerate(words)}
        self.word_of = {id: word for word, id in self.id_of.items()}
        # The ids of the pieces met so far.
        self.known: dict[str, list[int]] = {}
        self.content_of = {special.id: special.content for special in tokenizer.specials}

    def decode(self, ids: Sequence[int]) -> bytes:
        return b"".join(self.content_of[id].encode() if id in self.content_of else self.word_of[id] for id in ids)

    def encode(self, text: str) -> list[int]:
        if not self.tokenizer.finds_specials or not self.content_of:
            return self.encode_stretch(text)
        id_of = {content: id for id, content in self.content_of.items()}
        contents = "|".join(map(re.escape, sorted(id_of, key=len, reverse=True)))
        ids: list[int] = []
        for part in re.split(f"({contents})", text):
            ids += [id_of[part]] if part in id_of else self.encode_stretch(part)
        return ids

    def encode_stretch(self, text: str) -> list[int]:
        pieces = [text] if self.pattern is None else re.findall(self.pattern, text)
        return [id for piece in pieces for id in self.encode_piece(piece)]

    def encode_piece(self, piece: str) -> list[int]:
        if piece not in self.known:
            words = tokenize_leftmost(self.tokenizer.dictionary, piece.encode())
            self.known[piece] = [self.id_of[word] for word in words]
        return self.known[piece]

    def canonical(self, ids: Sequence[int]) -> list[int]:
        if self.tokenizer.finds_specials:
            return self.encode(self.decode(ids).decode())
        again: list[int] = []
        stretch: list[int] = []
        for id in [*ids, None]:
            if id is None or id in self.content_of:
                again += self.encode_stretch(self.decode(stretch).decode())
                again += [] if id is None else [id]
                stretch = []
            else:
                stretch.append(id)
        return again
