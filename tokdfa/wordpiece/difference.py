"""Deciding whether two WordPiece tokenizers give every text the same ids, with a short text as the witness if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tokdfa.errors import LimitExceededError
from tokdfa.unicode import SCALARS
from tokdfa.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, tables
from tokdfa.wordpiece.end_to_end import EndToEnd
from tokdfa.wordpiece.language import WordLanguage
from tokdfa.wordpiece.normalizer import effects
from tokdfa.wordpiece.stream import StreamLanguage

__all__ = ["SeparatingText", "first_difference"]

_MOST_STEPS = 1_000_000


class SeparatingText(NamedTuple):
    """A text to which two tokenizers give different ids; None for a tokenizer that refuses it for lack of a token."""

    text: str
    ids: tuple[tuple[int, ...] | None, tuple[int, ...] | None]


def first_difference(ours: EndToEnd, theirs: EndToEnd) -> SeparatingText | None:
    """Return a shortest text that two tokenizers encode differently, None if they encode all texts alike.

    It is shortest in characters after normalization, and the least of those that end with an entry that only one of the
    two has.

    Raises
    ------
    LimitExceededError
        If the question is not decided, because the tokenizers clean text differently or one has special tokens that
        the other lacks, and none of the texts tried shows a difference.
    AutomatonError
        If words can begin with a prefix, or other tokens can spell a special token.

    Notes
    -----
    An entry is live if some word has it in its tokenization. Tokenizers with the same live entries give all words the
    same tokens: at every place the longest match of one is live, so it is an entry of the other, whose match is then at
    least as long, and vice versa. Conversely, if only one of them has an entry, or they have it with different ids,
    they differ on the shortest word that ends with it. So the live entries are compared, and of those that differ, the
    one with the shortest word is taken.
    """
    best = _least(_candidates(ours, theirs), ours, theirs)
    if best is not None:
        return best
    undecided = _undecided(ours, theirs)
    if undecided:
        raise LimitExceededError(f"not decided: {undecided}, and none of the texts tried shows a difference")
    return None


def _least(texts: Iterable[str], ours: EndToEnd, theirs: EndToEnd) -> SeparatingText | None:
    best: tuple[tuple[int, int, str], SeparatingText] | None = None
    for text in texts:
        if best is None or len(text) <= best[0][0]:
            found = _compare(ours, theirs, text)
            if found is not None:
                key = (len(text), min(len(ids) for ids in found.ids if ids is not None), text)
                if best is None or key < best[0]:
                    best = key, found
    return None if best is None else best[1]


def _compare(ours: EndToEnd, theirs: EndToEnd, text: str) -> SeparatingText | None:
    ids = ours.try_encode(text), theirs.try_encode(text)
    return None if ids[0] == ids[1] else SeparatingText(text, ids)


def _candidates(ours: EndToEnd, theirs: EndToEnd) -> Iterator[str]:
    """Yield texts, among them a shortest one on which the two differ, if there is one and `_undecided` is empty."""
    if ours.normalizer != theirs.normalizer:
        yield from _by_character(ours, theirs)
        return
    yield from ours.added.keys() & theirs.added.keys()
    for special in sorted(ours.added.keys() ^ theirs.added.keys()):
        yield from (special, f"a{special}", f"{special}a", f"a{special}a")
    known = {entry for side in (ours, theirs) for entry in side.vocabulary.beginnings if len(entry) == 1}
    yield from sorted(known)
    # One character that is unknown to both.
    yield next(
        symbol
        for first, last in SCALARS
        for symbol in map(chr, range(first, last + 1))
        if symbol not in known and not symbol.isspace() and ours.normalizer.effect(symbol).strip() == symbol
    )
    left, right = _language(ours), _language(theirs)
    yield from _ends_of_words(left, right)
    if left.limit != right.limit:
        longer, limit = (right, left.limit) if _exceeds(right.limit, left.limit) else (left, right.limit)
        assert limit is not None
        yield from _longer_word(longer, limit)


def _language(tokenizer: EndToEnd) -> WordLanguage:
    return StreamLanguage(tokenizer.vocabulary, tokenizer.normalizer, tokenizer.added).words


def _exceeds(limit: int | None, other: int | None) -> bool:
    return other is not None and (limit is None or limit > other)


def _by_character(ours: EndToEnd, theirs: EndToEnd) -> Iterator[str]:
    """Yield the first character that is encoded differently: alone, else after a letter, else between two letters."""
    data, sides = tables(), (ours.normalizer, theirs.normalizer)
    touched = {*effects(sides[0]), *effects(sides[1])}
    bulks = (
        (data.control, sides[0].clean_text != sides[1].clean_text),
        (data.chinese, sides[0].chinese != sides[1].chinese),
        (((HANGUL_FIRST, HANGUL_LAST),), sides[0].strip_accents != sides[1].strip_accents),
    )
    for ranges, differ in bulks:
        if differ:
            touched.update(chr(code) for first, last in ranges for code in range(first, last + 1))
    changed = [character for character in sorted(touched) if sides[0].effect(character) != sides[1].effect(character)]
    for frame in ("{}", "a{}", "a{}a"):
        for text in map(frame.format, changed):
            if _compare(ours, theirs, text) is not None:
                yield text
                return


def _ends_of_words(left: WordLanguage, right: WordLanguage) -> Iterator[str]:
    """Yield, for the entries that only one of the two has with this id, the shortest words that end with them.

    Entries that are too long for a word as short as one already found are left out.
    """
    shortest: int | None = None
    sides = [(piece, left) for piece in _pieces(left) - _pieces(right)]
    sides += [(piece, right) for piece in _pieces(right) - _pieces(left)]
    for (least, text, number), language in sorted(sides, key=lambda side: side[0]):
        if shortest is not None and least > shortest:
            return
        word = language.shortest_word(number)
        if word is not None:
            assert word.endswith(text)
            shortest = len(word) if shortest is None else min(shortest, len(word))
            yield word


def _pieces(language: WordLanguage) -> set[tuple[int, str, int]]:
    """Return the entries, each as the least length of a word that ends with it, its text, and its id."""
    beginnings = {(len(text), text, number) for number, text in language.beginnings.items()}
    return beginnings | {(len(text) + 1, text, number) for number, text in language.continuations.items()}


def _longer_word(language: WordLanguage, limit: int) -> Iterator[str]:
    """Yield a shortest word that is longer than `limit` and has a tokenization, if there is one.

    A longer word without its last tokens is still a word with a tokenization, so a shortest one exceeds the limit by at
    most the number of symbols of an entry.
    """
    texts = {**language.beginnings, **language.continuations}
    budget = _MOST_STEPS
    for length in range(limit + 1, limit + 1 + max(map(len, texts.values()), default=0)):
        in_vain: set[tuple[int, int]] = set()
        way = [(0, language.moves(language.initial))]
        ids: list[int] = []
        while way:
            at, moves = way[-1]
            for token, target in moves:
                budget -= 1
                if budget < 0:
                    raise LimitExceededError(f"no word of more than {limit} characters found in {_MOST_STEPS} steps")
                there = at + len(texts[token])
                if there == length:
                    yield "".join(texts[number] for number in (*ids, token))
                    return
                if there < length and (there, target.node) not in in_vain:
                    in_vain.add((there, target.node))
                    way.append((there, language.moves(target)))
                    ids.append(token)
                    break
            else:
                way.pop()
                if ids:
                    ids.pop()


def _undecided(ours: EndToEnd, theirs: EndToEnd) -> str:
    if ours.normalizer != theirs.normalizer:
        return "the normalizers differ"
    if ours.added.keys() != theirs.added.keys():
        return "the special tokens differ"
    return ""
