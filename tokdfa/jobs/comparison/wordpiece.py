"""Comparing two WordPiece tokenizers: the relation from text to ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison.dictionaries import by_length
from tokdfa.jobs.comparison.findings import Outcome, Part
from tokdfa.jobs.comparison.result import Comparison, confirmed
from tokdfa.jobs.comparison.wording import unclaimed_words
from tokdfa.tokenizers.models.wordpiece.difference import first_difference, is_shortest, same_words
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer

__all__ = ["compare_wordpieces"]

_SHOWN = 10


def compare_wordpieces(a: WordPieceTokenizer, b: WordPieceTokenizer, *, ignore_ids: bool = False) -> Comparison:
    """Compare two WordPiece tokenizers by their live entries, which decide; see :func:`first_difference`."""
    if a.made_of == b.made_of:
        return Comparison(True, checked={Part.EVERYTHING: Outcome.SAME})
    sides = (a.end_to_end, b.end_to_end)
    roles = _roles(a), _roles(b)
    spelled = _by_spelling((a, b), roles) if ignore_ids else sides
    try:
        found = first_difference(*spelled)
    except LimitExceededError as error:
        raise UnsupportedFeatureError(unclaimed_words(error.what)) from None
    live_a, live_b = (
        {role: id for role, id in of.items() if id not in side.language.dead}
        for side, of in zip((a, b), roles, strict=True)
    )
    only_a = tuple(sorted((a.spelling(id) for role, id in live_a.items() if role not in live_b), key=by_length))
    only_b = tuple(sorted((b.spelling(id) for role, id in live_b.items() if role not in live_a), key=by_length))
    n_other_ids = sum(roles[1].get(role, id) != id for role, id in roles[0].items())
    ids = Outcome.IGNORED if ignore_ids else Outcome.of(n_other_ids == 0)
    names = partial(_named, roles[0]), partial(_named, roles[1])
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


def _named(roles: dict[_Role, int], ids: Sequence[int]) -> list[_Role]:
    named = {id: role for role, id in roles.items()}
    return [named[id] for id in ids]


def _by_spelling(sides: Sequence[WordPieceTokenizer], roles: Sequence[dict[_Role, int]]) -> list[EndToEnd]:
    """Return the two with ids that are equal for equal entries."""
    numbers = {role: number for number, role in enumerate(dict.fromkeys(chain(*roles)))}
    found = []
    for side, of in zip(sides, roles, strict=True):
        old, new = side.vocabulary, {id: numbers[role] for role, id in of.items()}
        vocabulary = WordPieceVocabulary(
            {entry: new[id] for entry, id in old.items()},
            prefix=old.prefix,
            unknown=old.unknown,
            longest_word=old.longest_word,
            opening=old.opening,
        )
        added = {token: new[id] for token, id in side.end_to_end.added.items()}
        found.append(EndToEnd(vocabulary, side.model.normalizer, added))
    return found
