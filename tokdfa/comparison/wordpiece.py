"""Comparing two WordPiece tokenizers: the relation from text to ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from tokdfa.comparison.findings import Outcome, Part
from tokdfa.comparison.result import Comparison, confirmed
from tokdfa.comparison.wording import unclaimed_words
from tokdfa.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.wordpiece import WordPieceTokenizer
from tokdfa.wordpiece.difference import first_difference, is_shortest, same_words
from tokdfa.wordpiece.end_to_end import EndToEnd
from tokdfa.wordpiece.vocabulary import WordPieceVocabulary

__all__ = ["compare_wordpieces"]

_SHOWN = 10


def compare_wordpieces(a: WordPieceTokenizer, b: WordPieceTokenizer, *, ignore_ids: bool = False) -> Comparison:
    """Compare two WordPiece tokenizers by their live entries, which decide; see :func:`first_difference`."""
    if a.made_of == b.made_of:
        return Comparison(True, checked={Part.EVERYTHING: Outcome.SAME})
    sides = (a.end_to_end, b.end_to_end)
    spelled = _by_spelling(a, b) if ignore_ids else sides
    try:
        found = first_difference(*spelled)
    except LimitExceededError as error:
        raise UnsupportedFeatureError(unclaimed_words(error.what)) from None
    only_a, only_b = _only(a, b), _only(b, a)
    n_other_ids = _other_ids(a, b)
    ids = Outcome.IGNORED if ignore_ids else Outcome.of(n_other_ids == 0)
    names = partial(_named, _names(a)), partial(_named, _names(b))
    witness = None if found is None else confirmed(a, b, found.text, names if ignore_ids else None)
    if found is not None and witness is None:
        raise UnsupportedFeatureError("encoding does not confirm the text that a search found", value=found.text)
    # The witness is shortest in characters after normalization, which does not make it shortest in bytes.
    is_proven = found is not None and not ignore_ids and is_shortest(*sides, found.text)
    shortest = Outcome.PROVEN if is_proven else Outcome.UNPROVEN
    return Comparison(
        witness is None,
        witness,
        tokens_only_a=only_a[:_SHOWN],
        tokens_only_b=only_b[:_SHOWN],
        n_tokens_only_a=len(only_a),
        n_tokens_only_b=len(only_b),
        n_dead_a=len(a.language.dead),
        n_dead_b=len(b.language.dead),
        n_other_ids=n_other_ids,
        checked={
            Part.LIVE_ENTRIES: Outcome.of(not (only_a or only_b)),
            **({} if a.normalizer == b.normalizer else {Part.WORDS: Outcome.of(same_words(*spelled))}),
            Part.LONGEST_WORD: Outcome.of(a.vocabulary.longest_word == b.vocabulary.longest_word),
            Part.IDS: ids,
            Part.NORMALIZER: Outcome.of(a.normalizer == b.normalizer),
            Part.SPECIALS: Outcome.of(a.end_to_end.added.keys() == b.end_to_end.added.keys()),
            **({Part.SEARCH: Outcome.COMPLETE} if witness is None else {Part.SHORTEST: shortest}),
        },
    )


# What an entry is apart from its spelling, which marks either beginnings of words or all other places: its text, and
# whether it begins a word, or None for a special token.
_Role: TypeAlias = tuple[str, bool | None]


def _roles(side: WordPieceTokenizer) -> dict[_Role, int]:
    special = {special.id: (special.content, None) for special in side.specials}
    roles: dict[_Role, int] = {role: id for id, role in special.items()}
    for entry, number in side.vocabulary.items():
        if number not in special:
            roles[side.vocabulary.role(entry)] = number
    return roles


def _names(side: WordPieceTokenizer) -> dict[int, _Role]:
    return {id: role for role, id in _roles(side).items()}


def _named(names: dict[int, _Role], ids: Sequence[int]) -> list[_Role]:
    return [names[id] for id in ids]


def _other_ids(a: WordPieceTokenizer, b: WordPieceTokenizer) -> int:
    """Return the number of common entries that have different ids."""
    ids = _roles(b)
    return sum(ids.get(role, number) != number for role, number in _roles(a).items())


def _only(side: WordPieceTokenizer, other: WordPieceTokenizer) -> tuple[str, ...]:
    """Return the entries that are live in only one of the two, the shortest first."""
    mine, theirs = (
        {role: number for role, number in _roles(tokenizer).items() if number not in tokenizer.language.dead}
        for tokenizer in (side, other)
    )
    entries = (side.spelling(number) for role, number in mine.items() if role not in theirs)
    return tuple(sorted(entries, key=lambda entry: (len(entry), entry)))


def _by_spelling(a: WordPieceTokenizer, b: WordPieceTokenizer) -> tuple[EndToEnd, EndToEnd]:
    """Return the two with ids that are equal for equal entries."""
    numbers: dict[_Role, int] = {}
    for side in (a, b):
        for role in _roles(side):
            numbers.setdefault(role, len(numbers))

    def renumbered(side: WordPieceTokenizer) -> EndToEnd:
        old = side.vocabulary
        new = {id: numbers[role] for role, id in _roles(side).items()}
        vocabulary = WordPieceVocabulary(
            {entry: new[id] for entry, id in old.items()},
            prefix=old.prefix,
            unknown=old.unknown,
            longest_word=old.longest_word,
            opening=old.opening,
        )
        return EndToEnd(vocabulary, side.normalizer, {token: new[id] for token, id in side.end_to_end.added.items()})

    return renumbered(a), renumbered(b)
