"""Comparing two WordPiece tokenizers: the relation from text to ids."""

from __future__ import annotations

from tokdfa.comparison.findings import Outcome, Part
from tokdfa.comparison.result import Comparison, Difference
from tokdfa.comparison.wording import unclaimed_words
from tokdfa.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.wordpiece import WordPieceTokenizer
from tokdfa.wordpiece.difference import first_difference
from tokdfa.wordpiece.end_to_end import EndToEnd
from tokdfa.wordpiece.vocabulary import WordPieceVocabulary

__all__ = ["compare_wordpieces"]

_SHOWN = 10


def compare_wordpieces(a: WordPieceTokenizer, b: WordPieceTokenizer, *, ignore_ids: bool = False) -> Comparison:
    """Compare two WordPiece tokenizers by their live entries, which decide; see :func:`first_difference`."""
    if a.made_of == b.made_of:
        return Comparison(True, checked={Part.EVERYTHING: Outcome.SAME})
    sides = (a.end_to_end, b.end_to_end)
    try:
        found = first_difference(*(_by_spelling(a, b) if ignore_ids else sides))
    except LimitExceededError as error:
        raise UnsupportedFeatureError(unclaimed_words(error.what)) from None
    only_a, only_b = _only(a, b), _only(b, a)
    n_other_ids = _other_ids(a, b)
    ids = Outcome.IGNORED if ignore_ids else _outcome(n_other_ids == 0)
    witness = None if found is None else Difference(found.text, *(side.try_encode(found.text) for side in sides))
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
            Part.LIVE_ENTRIES: _outcome(not (only_a or only_b)),
            Part.LONGEST_WORD: _outcome(a.vocabulary.longest_word == b.vocabulary.longest_word),
            Part.IDS: ids,
            Part.NORMALIZER: _outcome(a.normalizer == b.normalizer),
            Part.SPECIALS: _outcome(a.end_to_end.added.keys() == b.end_to_end.added.keys()),
            # The witness is shortest in characters after normalization, which does not make it shortest in bytes.
            **({Part.SEARCH: Outcome.COMPLETE} if witness is None else {Part.SHORTEST: Outcome.UNPROVEN}),
        },
    )


def _outcome(is_same: bool) -> Outcome:
    return Outcome.SAME if is_same else Outcome.DIFFERENT


def _other_ids(a: WordPieceTokenizer, b: WordPieceTokenizer) -> int:
    """Return the number of common entries that have different ids."""
    ids = dict(b.vocabulary.items())
    return sum(ids.get(entry, number) != number for entry, number in a.vocabulary.items())


def _only(side: WordPieceTokenizer, other: WordPieceTokenizer) -> tuple[str, ...]:
    """Return the entries that are live in only one of the two, the shortest first."""
    mine, theirs = (
        {entry for entry, number in tokenizer.vocabulary.items() if number not in tokenizer.language.dead}
        for tokenizer in (side, other)
    )
    return tuple(sorted(mine - theirs, key=lambda entry: (len(entry), entry)))


def _by_spelling(a: WordPieceTokenizer, b: WordPieceTokenizer) -> tuple[EndToEnd, EndToEnd]:
    """Return the two with ids that are equal for equal entries."""
    numbers: dict[str, int] = {}
    for side in (a, b):
        for entry in (*(entry for entry, _ in side.vocabulary.items()), *side.end_to_end.added):
            numbers.setdefault(entry, len(numbers))

    def renumbered(side: WordPieceTokenizer) -> EndToEnd:
        old = side.vocabulary
        vocabulary = WordPieceVocabulary(
            {entry: numbers[entry] for entry, _ in old.items()},
            prefix=old.prefix,
            unknown=old.unknown,
            longest_word=old.longest_word,
        )
        return EndToEnd(vocabulary, side.normalizer, {token: numbers[token] for token in side.end_to_end.added})

    return renumbered(a), renumbered(b)
