"""The language of correct id streams of a WordPiece tokenizer, as a token automaton."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from tokdfa.base.errors import AutomatonError
from tokdfa.base.verdict import Displayed
from tokdfa.regex.unicode.normalization import tables
from tokdfa.tokenizers.models.wordpiece.language import WordLanguage
from tokdfa.tokenizers.models.wordpiece.normalizer import WordNormalizer
from tokdfa.tokenizers.models.wordpiece.trie import ROOT
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

# Decoding may put these directly after the token before them.
_GLUED = frozenset(".?!,")
# The automaton takes a thousand bytes for each.
_MOST_CHARACTERS = 1 << 22
# No text has it inside a word, so it can mark the entries that continue one.
_CONTINUES = "\0"


class StreamState(NamedTuple):
    """The state within a stream.

    `node` and `length` are the state within the current word, the root and 0 between words; `order` is the combining
    class of its last character.
    """

    node: int
    length: int
    order: int


class Characters:
    """The characters that normalization keeps, inside words or as separate words."""

    def __init__(self, normalizer: WordNormalizer) -> None:
        self._normalizer = normalizer
        self._kind: dict[str, str] = {}

    def is_inner(self, character: str) -> bool:
        """Return whether `character` is kept unchanged inside words."""
        return self._of(character) == "inner"

    def is_alone(self, character: str) -> bool:
        """Return whether `character` is kept unchanged as a separate word."""
        return self._of(character) == "alone"

    def order(self, character: str) -> int:
        """Return the combining class by which `character` is ordered; 0 if it stays in place."""
        return tables().combining.get(character, 0) if self._normalizer.reorders else 0

    def are_inner(self, text: str) -> bool:
        """Return whether `text` is kept unchanged inside a word."""
        orders = [self.order(character) for character in text]
        in_order = all(not 0 < after < before for before, after in pairwise(orders))
        return in_order and all(map(self.is_inner, text))

    def _of(self, character: str) -> str:
        kind = self._kind.get(character)
        if kind is None:
            text = self._normalizer.effect(character)
            punctuation, spaces = self._normalizer.punctuation, self._normalizer.spaces
            apart = text == f" {character} " or (text == character and character in punctuation)
            if apart and character not in spaces:
                kind = "alone"
            else:
                kind = "inner" if text == character and character not in spaces else "changed"
            self._kind[character] = kind
        return kind


class StreamLanguage(Displayed):
    """The id streams that decoding and encoding map to themselves, as a deterministic automaton over ids.

    It implements :class:`tokdfa.automata.protocol.TokenAutomaton`. A stream is a sequence of words, of characters that
    are separate words, and of special tokens. Words are as in
    :class:`tokdfa.tokenizers.models.wordpiece.language.WordLanguage` over the entries that normalization keeps. All
    states are final.

    BERT's decoding puts a space before every token but those that continue a word. With an opening, as in llama.cpp, it
    writes a space for each opening, wherever it is, and nothing before a special token.

    Tokens of `specials` are cut out of the raw text. `single` has their ids, and the ids of separate characters.

    Raises
    ------
    AutomatonError
        If words could begin with an entry that has the prefix, or other tokens could spell a special token: the meaning
        of a token would then depend on more than the tokens before it. Or if the entries have more than 2²² characters.
    """

    def __init__(
        self, vocabulary: WordPieceVocabulary, normalizer: WordNormalizer, specials: Mapping[str, int]
    ) -> None:
        self.vocabulary = vocabulary
        self.specials = dict(specials)
        self._characters = Characters(normalizer)
        if not vocabulary.opening and all(map(self._characters.is_inner, vocabulary.prefix)):
            raise AutomatonError("words can begin with the prefix", value=vocabulary.prefix)
        can_be_spelled = self._can_be_glued if vocabulary.opening else self._can_be_spelled
        for special in specials:
            if can_be_spelled(special):
                raise AutomatonError("other tokens can spell a special token", value=special)
        special_ids = frozenset(specials.values())
        mark = _CONTINUES if vocabulary.opening else vocabulary.prefix
        inner: dict[str, int] = {}
        self.single = set(special_ids)
        self._orders: dict[int, tuple[int, int]] = {}
        for entry, number in vocabulary.items():
            text, begins = vocabulary.role(entry)
            # Decoding writes a space for every opening.
            if number in special_ids or not text or (vocabulary.opening and vocabulary.opening in text):
                continue
            if self._characters.are_inner(text):
                inner[text if begins else mark + text] = number
                self._orders[number] = (self._characters.order(text[0]), self._characters.order(text[-1]))
            elif begins and len(text) == 1 and self._characters.is_alone(text) and vocabulary.longest_word != 0:
                self.single.add(number)
        n = sum(map(len, inner))
        if n > _MOST_CHARACTERS:
            raise AutomatonError(f"the entries have more than {_MOST_CHARACTERS:,} characters", value=n)
        self.words = WordLanguage(WordPieceVocabulary(inner, prefix=mark, longest_word=vocabulary.longest_word))

    def _can_be_glued(self, special: str) -> bool:
        """Return whether other tokens might spell `special` where decoding puts spaces before words only."""
        characters = self._characters
        if (
            " " in special
            or all(map(characters.is_inner, special))
            or (len(special) == 1 and characters.is_alone(special))
        ):
            return True
        ends = (special[cut:] for cut in range(1, len(special)))
        return any(end.startswith(other) or other.startswith(end) for end in ends for other in self.specials)

    def _can_be_spelled(self, special: str) -> bool:
        """Return whether the decoded text of other tokens could contain `special`; True when in doubt."""
        characters = self._characters
        for before, here in zip(f" {special}", special, strict=False):
            if here == " ":
                continue
            if not characters.is_alone(here) and not characters.is_inner(here):
                return False
            # A separate character has a space on both sides, unless decoding removes it.
            if characters.is_alone(before) and here not in _GLUED:
                return False
            if characters.is_alone(here) and before != " " and here not in _GLUED:
                return False
        return True

    @property
    def initial(self) -> StreamState:
        """The state at the beginning of a stream."""
        return StreamState(ROOT, 0, 0)

    def step(self, state: StreamState, token: int) -> StreamState | None:
        """Return the state reached on an id, or None if no correct stream continues this way."""
        if token in self.single:
            return self.initial
        orders = self._orders.get(token)
        if orders is None:
            return None
        target = None
        if state.node != ROOT and not 0 < orders[0] < state.order:
            target = self.words.step(state[:2], token)
        if target is None and self.words.begins(token):
            target = self.words.step(self.words.initial, token)
        return None if target is None else StreamState(*target, orders[1])

    def is_final(self, state: StreamState) -> bool:
        """Return True: a stream may end in every state."""
        return True

    def moves(self, state: StreamState) -> Iterator[tuple[int, StreamState]]:
        """Yield the ids that may follow, ascending, with the states reached."""
        for token in self._tokens:
            target = self.step(state, token)
            if target is not None:
                yield token, target

    @cached_property
    def _tokens(self) -> list[int]:
        return sorted({*self.single, *self._orders})

    @cached_property
    def dead(self) -> frozenset[int]:
        """The ids of entries that occur in no correct stream."""
        live = {*self.single, *self.words.live}
        return frozenset(number for _, number in self.vocabulary.items() if number not in live)

    def __repr__(self) -> str:
        return f"<StreamLanguage of {len(self.vocabulary)} entries>"
