"""Compare two Unigram tokenizers, or two WordPiece tokenizers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

import numpy as np

from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison import result
from tokdfa.jobs.comparison.dictionaries import by_length
from tokdfa.jobs.comparison.trials import DEFAULT, Tuning, around, random_texts, shrunk, within
from tokdfa.tokenizers.models.wordpiece.difference import first_difference, is_shortest, same_words
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.tokenizer import UnigramTokenizer, WordPieceTokenizer

_SHOWN = 10
# The score and the id of each piece that is found in texts.
_Scores: TypeAlias = dict[str, tuple[float, int]]


def compare_unigrams(
    a: UnigramTokenizer, b: UnigramTokenizer, *, ignore_ids: bool = False, tuning: Tuning = DEFAULT
) -> result.Comparison:
    """Compare two Unigram tokenizers.

    They are equivalent if all that a text meets on its way to ids is the same. Otherwise texts are tried: the pieces
    that only one of them has, those with other scores, and random ones. No automaton decides it. If no text that was
    tried separates them, an error says so.
    """
    if a.made_of == b.made_of:
        return result.Comparison(True, checked={result.Part.EVERYTHING: result.Outcome.SAME}, **result.NOTHING_APART)
    mine, theirs = _scores(a), _scores(b)
    only_a, only_b = sorted(mine.keys() - theirs, key=by_length), sorted(theirs.keys() - mine, key=by_length)
    others = {piece for piece in mine.keys() & theirs.keys() if mine[piece][1] != theirs[piece][1]}
    found = partial(
        result.Comparison,
        tokens_only_a=tuple(only_a[:_SHOWN]),
        tokens_only_b=tuple(only_b[:_SHOWN]),
        n_tokens_only_a=len(only_a),
        n_tokens_only_b=len(only_b),
        n_other_ids=len(others),
    )
    parts = _parts(a, b, mine, theirs, ids=result.Outcome.IGNORED if ignore_ids else result.Outcome.of(not others))
    if {*parts.values()} <= {result.Outcome.SAME, result.Outcome.IGNORED}:
        return found(True, checked={**parts, result.Part.SEARCH: result.Outcome.COMPLETE})
    names = partial(_pieces, a), partial(_pieces, b)
    difference = partial(result.confirmed, a, b, names=names if ignore_ids else None)
    texts = chain(_texts_of_pieces(a, b, mine, theirs, others), _random_texts(a, b, mine, theirs))
    text = next(filter(difference, within(tuning.max_seconds, texts)), None)
    if text is None:
        raise UnsupportedFeatureError(result.undecided_words(result.Obstacle.NO_TEXT_FOUND))
    witness = difference(shrunk(text, lambda text: difference(text) is not None))
    return found(False, witness, checked={**parts, result.Part.SHORTEST: result.Outcome.UNPROVEN})


def _parts(
    a: UnigramTokenizer, b: UnigramTokenizer, mine: _Scores, theirs: _Scores, *, ids: result.Outcome
) -> dict[result.Part, result.Outcome]:
    """Return which parts that a text meets are the same."""
    # Without the ids.
    dictionaries = [
        ({piece: score for piece, (score, _) in of.items()}, side.model.arithmetic, side.model.unknown_score)
        for side, of in ((a, mine), (b, theirs))
    ]
    symbols = [
        (unknown is None, [id < 0 for id in byte_ids or ()], spells_bytes)
        if ids is result.Outcome.IGNORED
        else (unknown, byte_ids, spells_bytes)
        for unknown, byte_ids, spells_bytes in (side.model.symbols for side in (a, b))
    ]
    splittings = [None if side.pretokenizer is None else side.pretokenizer.splitting for side in (a, b)]
    parts = {
        result.Part.DICTIONARY: result.Outcome.SAME if dictionaries[0] == dictionaries[1] else result.Outcome.UNKNOWN,
        result.Part.IDS: ids,
        result.Part.PRETOKENIZER: result.Outcome.SAME if splittings[0] == splittings[1] else result.Outcome.UNKNOWN,
        result.Part.NORMALIZER: result.Outcome.of(a.rewriting.normalizer == b.rewriting.normalizer),
        result.Part.SPECIALS: result.Outcome.of(a.found_specials == b.found_specials),
    }
    if symbols[0] != symbols[1]:
        parts[result.Part.SYMBOLS] = result.Outcome.DIFFERENT
    return parts


def _scores(side: UnigramTokenizer) -> _Scores:
    model = side.model
    return {model.pieces[id]: (float(model.scores[id]), id) for id in np.flatnonzero(model.is_found).tolist()}


def _pieces(side: UnigramTokenizer, ids: Sequence[int]) -> list[str]:
    return [side.token_strings[id] for id in ids]


def _texts_of_pieces(
    a: UnigramTokenizer, b: UnigramTokenizer, mine: _Scores, theirs: _Scores, others: set[str]
) -> Iterator[str]:
    """Yield texts of the pieces that are not the same in both, the shortest first, and of special tokens."""
    unlike = others.union(mine.keys() ^ theirs.keys())
    unlike |= {piece for piece in mine.keys() & theirs.keys() if mine[piece][0] != theirs[piece][0]}
    for piece in sorted(unlike, key=by_length):
        text = piece.replace(SPACE, " ")
        yield from (text, text.strip(), f"a{text}", f"{text}a")
    yield from around(special.content for side in (a, b) for special in side.found_specials)


def _random_texts(a: UnigramTokenizer, b: UnigramTokenizer, mine: _Scores, theirs: _Scores) -> Iterator[str]:
    """Yield random texts without an end: of a few pieces, and of symbols that tokenizers differ on."""
    words = sorted({piece.replace(SPACE, " ") for piece in (*mine, *theirs)})
    specials = sorted({special.content for side in (a, b) for special in side.specials})
    drawn = random.Random(0)
    for text in random_texts(words, specials):
        yield text
        yield "".join(drawn.choices(words, k=drawn.randrange(2, 9)))


def compare_wordpieces(a: WordPieceTokenizer, b: WordPieceTokenizer, *, ignore_ids: bool = False) -> result.Comparison:
    """Compare two WordPiece tokenizers by their live entries, which decide; see :func:`first_difference`."""
    if a.made_of == b.made_of:
        return result.Comparison(True, checked={result.Part.EVERYTHING: result.Outcome.SAME}, **result.NOTHING_APART)
    sides = (a.end_to_end, b.end_to_end)
    roles = _roles(a), _roles(b)
    spelled = _by_spelling((a, b), roles) if ignore_ids else sides
    try:
        found = first_difference(*spelled)
    except LimitExceededError as error:
        raise UnsupportedFeatureError(result.unclaimed_words(error.what)) from None
    live_a, live_b = (
        {role: id for role, id in of.items() if id not in side.language.dead}
        for side, of in zip((a, b), roles, strict=True)
    )
    only_a = tuple(sorted((a.spelling(id) for role, id in live_a.items() if role not in live_b), key=by_length))
    only_b = tuple(sorted((b.spelling(id) for role, id in live_b.items() if role not in live_a), key=by_length))
    n_other_ids = sum(roles[1].get(role, id) != id for role, id in roles[0].items())
    ids = result.Outcome.IGNORED if ignore_ids else result.Outcome.of(n_other_ids == 0)
    names = partial(_named, roles[0]), partial(_named, roles[1])
    witness = None if found is None else result.confirmed(a, b, found.text, names if ignore_ids else None)
    if found is not None and witness is None:
        raise UnsupportedFeatureError("encoding does not confirm the text that a search found", value=found.text)
    # The witness is shortest in characters after normalization, which does not make it shortest in bytes.
    is_proven = found is not None and not ignore_ids and is_shortest(*sides, found.text)
    shortest = result.Outcome.PROVEN if is_proven else result.Outcome.UNPROVEN
    return result.Comparison(
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
            result.Part.LIVE_ENTRIES: result.Outcome.of(not (only_a or only_b)),
            **({} if a.normalizer == b.normalizer else {result.Part.WORDS: result.Outcome.of(same_words(*spelled))}),
            result.Part.LONGEST_WORD: result.Outcome.of(a.vocabulary.longest_word == b.vocabulary.longest_word),
            result.Part.IDS: ids,
            result.Part.NORMALIZER: result.Outcome.of(a.normalizer == b.normalizer),
            result.Part.SPECIALS: result.Outcome.of(a.end_to_end.added.keys() == b.end_to_end.added.keys()),
            **({result.Part.SEARCH: result.Outcome.COMPLETE} if witness is None else {result.Part.SHORTEST: shortest}),
        },
    )


# An entry without its spelling, which marks either beginnings of words or all other positions: its text, and whether it
# begins a word, or None for a special token.
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
