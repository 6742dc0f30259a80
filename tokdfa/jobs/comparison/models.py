"""Compare two Unigram or two WordPiece tokenizers, and texts on which to try two of any kind if no search decides."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, pairwise, product
from typing import Literal, TypeAlias

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import AlphabetError, AutomatonError, LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison import result
from tokdfa.jobs.comparison.dictionaries import by_length
from tokdfa.jobs.comparison.parts import as_text, same_normalizers, splitting_of
from tokdfa.jobs.comparison.rounding import texts_of_near_sums
from tokdfa.regex.unicode import Ranges, characters_of, difference, library_of, ranges, union
from tokdfa.tokenizers.models.wordpiece.difference import first_difference, is_shortest, same_words
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.tokenizer import Tokenizer, UnigramTokenizer, WordPieceTokenizer


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of comparing tokenizers.

    They limit the texts that are tried. So they decide which of several separating texts is found, and how often it is
    left open whether a shorter one exists; never whether two tokenizers are equivalent.
    """

    # Up to so many bytes, 0 to 2, all texts are tried: 128 of one byte, and 18,304 more of two. Most pairs that differ
    # do so on one of them, which spares them the rest of the search.
    longest_tried: int = 2
    # Separating texts of the least length among which the least is looked for, for so many seconds at most. Without a
    # search, each kind of texts is tried for these.
    max_texts: int = 20_000
    max_seconds: float = 5.0
    # Special tokens of only one of the two that are tried next to other text.
    max_specials: int = 200


DEFAULT = Tuning()

_PARCEL = 256
"""The number of texts encoded at once."""

# Classes that patterns have, with the corresponding tables of the pre-tokenizers of tokenizers for some.
_CLASSES = {"L": "", "M": "", "N": "is_numeric", "P": "is_punctuation", "S": "", "Z": "", r"\s": "is_whitespace"}

_CONTEXTS = ("", " ", "a", "\n", "  ", "!", "1")
_BESIDE_RULES = ("", ".", "a", "e", " ", "\n", "1", "T", "\u00e9")
# Texts that splittings, normalizers and decoders treat differently.
_SYMBOLS = (
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\x1c", "\u00a0", "\u3000", "\u2581", "\x00"),
    *("'", "'s", "'S", "'ll", "\u017f", "\u2019", "!", "?!", "...", "_", "-", "<", ">", "|", "/"),
    *("a", "A", "Ab", "AB", "the", " The", "\u00e9", "e\u0301", "\u0301", "\u0130", "\u00df", "\ufb01", "\u0295"),
    *("1", "12", "1234", "\u0661", "\u00bd", "\u4e2d", "\u4e2d\u6587", "\ud55c", "\u1100\u1161", "\u094d", "\u200d"),
    *("\U0001f600", "\ufe0f", "\ufffd", "\ue000"),
)


def short_texts(longest: Literal[1, 2]) -> Iterator[str]:
    """Yield all texts of up to `longest` bytes, with the empty one, before which a tokenizer may put something."""
    yield ""
    of_one_byte = [*map(chr, range(0x80))]
    yield from of_one_byte
    if longest == 2:
        yield from map("".join, product(of_one_byte, repeat=2))
        yield from map(chr, range(0x80, 0x800))


def texts_of_tokens(a: Tokenizer, b: Tokenizer) -> list[str]:
    """Return the tokens of two that are texts, the shortest first."""
    mine, theirs = (side.derived(_texts_of_tokens) for side in (a, b))
    # PERF: sorting what consists of two sorted parts merges them, and sorting by a number keeps the order of equals.
    both = mine if mine == theirs else sorted([*mine, *theirs])
    return sorted(dict.fromkeys(both), key=len)


def _texts_of_tokens(tokenizer: Tokenizer) -> list[str]:
    text, offsets = tokenizer.spellings
    data = text.tobytes()
    shown = _space_of(tokenizer)
    words = {as_text(data[begin:end]) for begin, end in pairwise(offsets.tolist())}
    return sorted(word if shown is None else word.replace(shown, " ") for word in words if word)


def _space_of(tokenizer: Tokenizer) -> str | None:
    """Return the symbol that stands for a space in tokens; None for the space itself."""
    return None if tokenizer.why_not("bytes") is None else splitting_of(tokenizer).metaspace or SPACE


def texts_of_rules(tokenizer: Tokenizer, rules: Iterable[tuple[int, Word, Word]]) -> Iterator[str]:
    """Yield texts in which rules may merge: alone, and next to symbols that keep other rules from merging before."""
    shown = _space_of(tokenizer)
    for _, left, right in rules:
        # As one: each part may be half a character.
        text = as_text(left + right)  # type: ignore[operator]
        if text is not None:
            text = text if shown is None else text.replace(shown, " ")
            for before, after in product(_BESIDE_RULES, repeat=2):
                yield before + text + after


def around(specials: Iterable[str]) -> Iterator[str]:
    """Yield special tokens with something next to them."""
    for special in specials:
        for before, behind in product(_CONTEXTS, repeat=2):
            yield before + special + behind


def texts_of_tables(table: str, other: str) -> Iterator[str]:
    """Yield short texts with the characters that two Unicode tables classify differently."""
    if table == other:
        return
    changed: Ranges = ()
    for name, own in _CLASSES.items():
        sets = {ranges(name, side) for side in (table, other)}
        sets |= {ranges(own, side) for side in (table, other) if own and library_of(side) == "tokenizers"}
        changed = union(changed, *(difference(one, two) for one in sets for two in sets))
    for character in characters_of(changed):
        yield from (before + character for before in _CONTEXTS)
        yield from (character + after for after in ("a", "!", "1"))


def random_texts(words: Sequence[str], specials: Sequence[str], *, longest: int = 6) -> Iterator[str]:
    """Yield texts of symbols that tokenizers differ on, of some words and special tokens, without an end."""
    source = random.Random(0)
    while True:
        pool = [*_SYMBOLS, *source.sample(specials, min(len(specials), 5)), *source.sample(words, min(len(words), 20))]
        for _ in range(100):
            yield "".join(source.choices(pool, k=source.randint(1, longest)))


def unlike(a: Tokenizer, b: Tokenizer, texts: Iterable[str], *, ignore_ids: bool) -> Iterator[str]:
    """Leave out texts that two tokenizers encode alike, as far as encoding many texts at once shows it."""
    if not (_takes_texts_as_pieces(a) and _takes_texts_as_pieces(b)):
        yield from texts
        return
    names_a, names_b = np.arange(a.n_ids), np.arange(b.n_ids)
    if ignore_ids:
        numbers: dict[bytes, int] = {}
        names_a, names_b = _numbered(a, numbers), _numbered(b, numbers)
    remaining = iter(texts)
    while parcel := [*islice(remaining, _PARCEL)]:
        try:
            of_a, of_b = a.encode_pieces(parcel), b.encode_pieces(parcel)
        except AlphabetError:
            yield from parcel
            continue
        are_same = np.array_equal(names_a[of_a.ids], names_b[of_b.ids])
        if not (are_same and np.array_equal(of_a.offsets, of_b.offsets)):
            yield from parcel


def _takes_texts_as_pieces(tokenizer: Tokenizer) -> bool:
    """Return whether every text is one piece, in which no special token is looked for."""
    return tokenizer.pretokenizer is None and tokenizer.why_not("spelling") is None and not tokenizer.added_tokens


def _numbered(tokenizer: Tokenizer, numbers: dict[bytes, int]) -> Int64Array:
    """Return for each id the number of its spelling, as known or the next one."""
    text, offsets = tokenizer.id_spellings
    data = text.tobytes()
    return np.array([numbers.setdefault(data[low:high], len(numbers)) for low, high in pairwise(offsets.tolist())])


def within(seconds: float, texts: Iterable[str]) -> Iterator[str]:
    """Yield texts while there is time."""
    deadline = time.monotonic() + seconds
    for text in texts:
        if time.monotonic() > deadline:
            return
        yield text


def shrunk(text: str, separates: Callable[[str], bool]) -> str:
    """Return a part of a separating text, shortened as far as leaving parts out allows."""
    size = max(len(text) // 2, 1)
    while size:
        cuts = (text[:at] + text[at + size :] for at in range(len(text) - size + 1))
        shorter = next(filter(separates, cuts), None)
        if shorter is None:
            size //= 2
        else:
            text = shorter
            size = min(size, max(len(text) // 2, 1))
    return text


_SHOWN = 10


def with_tokens(only_a: Sequence[Word], only_b: Sequence[Word], n_other_ids: int) -> partial[result.Comparison]:
    """Return a comparison with the tokens that only one side has, the first of them shown, and the number of ids."""
    return partial(
        result.Comparison,
        tokens_only_a=tuple(only_a[:_SHOWN]),
        tokens_only_b=tuple(only_b[:_SHOWN]),
        n_tokens_only_a=len(only_a),
        n_tokens_only_b=len(only_b),
        n_other_ids=n_other_ids,
    )


def found_by_trial(
    difference: Callable[[str], result.Difference | None], texts: Iterable[str], tuning: Tuning
) -> result.Difference | None:
    """Return the difference on a part of the first text that separates; raise if there is none in time."""
    text = next(filter(difference, within(tuning.max_seconds, texts)), None)
    if text is None:
        raise UnsupportedFeatureError(result.undecided_words(result.Obstacle.NO_TEXT_FOUND))
    return difference(shrunk(text, lambda text: bool(text) and difference(text) is not None))


_N_BEFORE_LONG = 2_000
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
    mine, theirs = _scores(a), _scores(b)
    only_a, only_b = sorted(mine.keys() - theirs, key=by_length), sorted(theirs.keys() - mine, key=by_length)
    others = {piece for piece in mine.keys() & theirs.keys() if mine[piece][1] != theirs[piece][1]}
    found = with_tokens(only_a, only_b, len(others))
    parts = _parts(a, b, mine, theirs, ids=result.Outcome.IGNORED if ignore_ids else result.Outcome.of(not others))
    if {*parts.values()} <= {result.Outcome.SAME, result.Outcome.IGNORED}:
        return found(True, checked={**parts, result.Part.SEARCH: result.Outcome.COMPLETE})
    names = partial(_pieces, a), partial(_pieces, b)
    difference = partial(result.confirmed, a, b, names=names if ignore_ids else None)
    near = texts_of_near_sums({piece: score for piece, (score, _) in mine.items()})
    near = near if a.model.arithmetic != b.model.arithmetic else iter(())
    drawn = _random_texts(a, b, mine, theirs)
    # The texts with near sums are long.
    texts = chain(_texts_of_pieces(a, b, mine, theirs, others), islice(drawn, _N_BEFORE_LONG), near, drawn)
    witness = found_by_trial(difference, texts, tuning)
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
        result.Part.NORMALIZER: result.Outcome.of(same_normalizers(a.rewriting.normalizer, b.rewriting.normalizer)),
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
    sides = (a.end_to_end, b.end_to_end)
    try:
        dead = [side.language.dead for side in (a, b)]
    except AutomatonError as error:
        raise UnsupportedFeatureError(result.unclaimed_words(error.what), value=error.value) from None
    roles = _roles(a), _roles(b)
    spelled = _by_spelling((a, b), roles) if ignore_ids else sides
    try:
        found = first_difference(*spelled)
    except LimitExceededError as error:
        raise UnsupportedFeatureError(result.unclaimed_words(error.what)) from None
    live_a, live_b = (
        {role: id for role, id in of.items() if id not in dead_ones} for dead_ones, of in zip(dead, roles, strict=True)
    )
    only_a = sorted((a.spelling(id) for role, id in live_a.items() if role not in live_b), key=by_length)
    only_b = sorted((b.spelling(id) for role, id in live_b.items() if role not in live_a), key=by_length)
    n_other_ids = sum(roles[1].get(role, id) != id for role, id in roles[0].items())
    ids = result.Outcome.IGNORED if ignore_ids else result.Outcome.of(n_other_ids == 0)
    names = partial(_named, roles[0]), partial(_named, roles[1])
    witness = None if found is None else result.confirmed(a, b, found.text, names if ignore_ids else None)
    if found is not None and witness is None:
        raise UnsupportedFeatureError("encoding does not confirm the text that a search found", value=found.text)
    # The witness is shortest in characters after normalization, which does not make it shortest in bytes.
    is_proven = found is not None and not ignore_ids and is_shortest(*sides, found.text)
    shortest = result.Outcome.PROVEN if is_proven else result.Outcome.UNPROVEN
    return with_tokens(only_a, only_b, n_other_ids)(
        witness is None,
        witness,
        n_dead_a=len(dead[0]),
        n_dead_b=len(dead[1]),
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
