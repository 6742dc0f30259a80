"""WordPiece vocabularies: entries with ids; those with the prefix continue a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.tokenizers.models.wordpiece.words import EntryTexts, Words

__all__ = ["WordPieceVocabulary"]

_LARGEST_ID = 2**28 - 2
# Their trie takes a hundred bytes for each; the vocabularies of a hundred languages have four million.
_MOST_CHARACTERS = 1 << 23
_State: TypeAlias = tuple[dict[str, int], tuple[tuple[str, int], ...], str, str, int | None, str]


def _is_sound(entries: Mapping[str, int]) -> bool:
    """Return whether entries are strings with ids of their own in range."""
    numbers = entries.values()
    if {*map(type, entries)} != {str} or {*map(type, numbers)} != {int}:
        return False
    return min(numbers) >= 0 and max(numbers) <= _LARGEST_ID and len({*numbers}) == len(entries)


class WordPieceVocabulary(SuggestsNames):
    """A WordPiece vocabulary: the pieces that may begin a word, and those that may continue it.

    Immutable. At the beginning of a word, only entries that start with `opening` are matched, with the opening removed;
    after the beginning, only entries that start with `prefix`, with the prefix removed. BERT has the prefix ``##`` and
    an empty opening, llama.cpp the opening ``▁`` and an empty prefix.

    Parameters
    ----------
    entries : iterable of str, mapping of str to int, or EntryTexts
        The entries in the order of their ids, or with their ids. If an iterable has equal entries, the last one counts,
        as in BERT's own reader, and the ids of the others have no entry.
    prefix : str, optional
        The prefix of entries that continue a word; may be empty.
    unknown : str, optional
        The entry for words that have no tokenization. The vocabulary may lack it.
    longest_word : int or None, optional
        All words with more characters than this are unknown; None for no limit.
    opening : str, optional
        The opening of entries that begin a word; may be empty.

    Raises
    ------
    AlphabetError
        If an entry is not a string, an id is not an integer from 0 to 2²⁸ - 2, or two entries share an id.
    LimitExceededError
        If the entries have more than 2²³ characters in all.

    Notes
    -----
    Devlin et al., *BERT*, 2019; Song et al., *Fast WordPiece Tokenization*, EMNLP 2021, section 3.

    Examples
    --------
    >>> vocabulary = tokdfa.WordPieceVocabulary(["[UNK]", "a", "ab", "##b", "##c"])
    >>> len(vocabulary), vocabulary.id("##b"), vocabulary.spell([2, 4])
    (5, 3, ['ab', '##c'])
    """

    def __init__(
        self,
        entries: Iterable[str] | Mapping[str, int] | EntryTexts,
        *,
        prefix: str = "##",
        unknown: str = "[UNK]",
        longest_word: int | None = 100,
        opening: str = "",
    ) -> None:
        if longest_word is not None and longest_word < 0:
            what = "the length of the longest word must not be negative"
            raise AlphabetError(what, value=longest_word, hint="None means no limit")
        self._texts: EntryTexts | None = None
        self.duplicates: tuple[tuple[str, int], ...] = ()
        if isinstance(entries, EntryTexts):
            self._texts = entries
        else:
            self._read(entries)
        n = sum(map(len, self._ids)) if self._texts is None else self._texts.n_characters
        if n > _MOST_CHARACTERS:
            raise LimitExceededError(f"the entries have more than {_MOST_CHARACTERS:,} characters", value=n)
        self.prefix = prefix
        self.unknown = unknown
        self.longest_word = longest_word
        self.opening = opening

    def _read(self, entries: Iterable[str] | Mapping[str, int]) -> None:
        self._ids, self._entries = {}, {}
        lost = []
        pairs: Iterable[tuple[Any, Any]]
        if not isinstance(entries, Mapping):
            entries = list(entries)
            distinct = set(entries) if {*map(type, entries)} == {str} else ()
            entries = dict(zip(entries, range(len(entries)), strict=True)) if len(distinct) == len(entries) else entries
        pairs = entries.items() if isinstance(entries, Mapping) else ((entry, i) for i, entry in enumerate(entries))
        if isinstance(entries, Mapping) and _is_sound(entries):
            # Nearly all are, and a check of all entries at once takes a fraction of the time.
            pairs = ()
            self._ids, self._entries = dict(entries), {number: entry for entry, number in entries.items()}
        for entry, number in pairs:
            if not isinstance(entry, str):
                raise AlphabetError("an entry of a WordPiece vocabulary must be a string", value=entry)
            if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _LARGEST_ID:
                raise AlphabetError(f"the id of {entry!r} is not an integer from 0 to {_LARGEST_ID}", value=number)
            if number in self._entries:
                raise AlphabetError(f"{self._entries[number]!r} and {entry!r} have the same id", value=number)
            if entry in self._ids:
                lost.append((entry, self._ids[entry]))
                del self._entries[self._ids[entry]]
            self._ids[entry] = number
            self._entries[number] = entry
        self.duplicates = tuple(lost)

    def __getstate__(self) -> _State:
        return self._ids, self.duplicates, self.prefix, self.unknown, self.longest_word, self.opening

    def __setstate__(self, state: _State) -> None:
        self._ids, self.duplicates, self.prefix, self.unknown, self.longest_word, self.opening = state
        self._texts = None

    @cached_property
    def _ids(self) -> dict[str, int]:
        assert self._texts is not None
        return self._texts.as_dict()

    @cached_property
    def _entries(self) -> dict[int, str]:
        return {number: entry for entry, number in self._ids.items()}

    @cached_property
    def beginnings(self) -> dict[str, int]:
        """The strings that can begin a word, without the opening, with their ids."""
        return self._after(self.opening)

    @cached_property
    def continuations(self) -> dict[str, int]:
        """The strings that can continue a word, without the prefix, with their ids."""
        return self._after(self.prefix)

    @cached_property
    def words(self) -> tuple[Words, Words]:
        """The strings that can begin a word, without the opening, and those that can continue it, as arrays."""
        entries = Words.of(self._ids, self._ids.values()) if self._texts is None else self._texts.as_words()
        return entries.after(self.opening), entries.after(self.prefix)

    def _after(self, sign: str) -> dict[str, int]:
        """Return the entries that start with a sign and are longer, without the sign."""
        skip = len(sign)
        return {
            entry[skip:]: number for entry, number in self._ids.items() if len(entry) > skip and entry.startswith(sign)
        }

    def role(self, entry: str) -> tuple[str, bool]:
        """Return the text that an entry adds to a word, and whether it begins one, by its opening or prefix."""
        if self.opening:
            begins = entry.startswith(self.opening)
            return entry[len(self.opening) :] if begins else entry, begins
        begins = not entry.startswith(self.prefix)
        return entry if begins else entry[len(self.prefix) :], begins

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if the vocabulary lacks it."""
        return self.id(self.unknown)

    def unknown_word(self, word: str, where: str | None = None) -> int:
        """Return the id of the unknown token, for `word`, which has no tokenization.

        Raises
        ------
        AlphabetError
            If the vocabulary has no unknown token; the message names the word.
        """
        number = self.unknown_id
        if number is None:
            what = "a word has no tokenization, and there is no entry for unknown words"
            raise AlphabetError(what, value=word, where=where, hint=f"add {self.unknown!r} to the vocabulary")
        return number

    @property
    def n_ids(self) -> int:
        """One more than the largest id; 0 without entries."""
        return 1 + (max(self._entries, default=-1) if self._texts is None else int(self._texts.ids.max()))

    @property
    def is_token(self) -> BoolArray:
        """Whether each id has an entry."""
        found = np.zeros(self.n_ids, dtype=np.bool_)
        found[[*self._ids.values()]] = True
        return found

    @property
    def strings(self) -> list[str]:
        """The entry of each id, including the prefix or the opening; empty for ids without one."""
        strings = [""] * self.n_ids
        for entry, number in self._ids.items():
            strings[number] = entry
        return strings

    def id(self, entry: str) -> int | None:
        """Return the id of `entry`, or None."""
        if self._texts is not None and "_ids" not in vars(self):
            return self._texts.id(entry)
        return self._ids.get(entry)

    def entry(self, number: int) -> str | None:
        """Return the entry with id `number`, or None if there is none."""
        return self._entries.get(number)

    def spell(self, ids: Iterable[int]) -> list[str]:
        """Return the entries of `ids`.

        Raises
        ------
        AlphabetError
            If an id has no entry.
        """
        try:
            return [self._entries[number] for number in ids]
        except KeyError as error:
            raise AlphabetError("no entry has this id", value=error.args[0]) from None

    def items(self) -> Iterable[tuple[str, int]]:
        """Return the entries with their ids, in the order given."""
        return self._ids.items()

    def __len__(self) -> int:
        return len(self._ids if self._texts is None else self._texts.ids)

    def __contains__(self, entry: object) -> bool:
        return entry in self._ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordPieceVocabulary):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.opening, self.prefix, self.unknown, self.longest_word, frozenset(self._ids.items())))

    def _key(self) -> tuple[object, ...]:
        return self._ids, self.opening, self.prefix, self.unknown, self.longest_word

    def __repr__(self) -> str:
        limit = "no limit" if self.longest_word is None else f"words of up to {self.longest_word}"
        sign = f"opening {self.opening!r}" if self.opening else f"prefix {self.prefix!r}"
        return f"<WordPieceVocabulary of {len(self)} entries, {sign}, {limit}>"
