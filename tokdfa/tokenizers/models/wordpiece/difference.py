"""Deciding whether two WordPiece tokenizers give every text the same ids, with a short text as the witness if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from tokdfa.base.errors import LimitExceededError
from tokdfa.regex.unicode import SCALARS, characters_of, difference, union
from tokdfa.regex.unicode.normalization import HANGUL_FIRST, HANGUL_LAST
from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
from tokdfa.tokenizers.models.wordpiece.language import WordLanguage
from tokdfa.tokenizers.models.wordpiece.stream import Characters, StreamLanguage
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary

_MOST_STEPS = 1_000_000
_AT_ONCE = 1 << 16


class SeparatingText(NamedTuple):
    """A text to which two tokenizers give different ids; None for a tokenizer that refuses it for lack of a token."""

    text: str
    ids: tuple[tuple[int, ...] | None, tuple[int, ...] | None]


def first_difference(ours: EndToEnd, theirs: EndToEnd) -> SeparatingText | None:
    """Return a shortest text that two tokenizers encode differently, None if they encode all texts alike.

    It is shortest in characters after normalization, and the least of those that end with an entry that only one of the
    two has. If the tokenizers clean text differently or one has special tokens that the other lacks, and none of the
    texts tried shows a difference, an error says that it is not decided.

    Notes
    -----
    An entry is live if some word has it in its tokenization. Tokenizers with the same live entries give all words the
    same tokens: at every offset the longest match of one is live, so it is an entry of the other. Then the match of the
    other is at least as long, and vice versa. Conversely, if only one of them has an entry, or they have it with
    different ids, they differ on the shortest word that ends with it. So the live entries are compared, and of those
    that differ, the one with the shortest word is taken.
    """
    texts = [*_by_character(ours, theirs)] if ours.normalizer != theirs.normalizer else []
    best = _least(texts, ours, theirs)
    # No text is shorter than one character.
    if best is None or len(best.text) > 1:
        best = _least(chain(texts, _candidates(ours, theirs)), ours, theirs)
    doubts = {
        "normalizers": ours.normalizer != theirs.normalizer,
        "special tokens": ours.added.keys() != theirs.added.keys(),
    }
    for parts, differ in doubts.items():
        if differ and best is None:
            raise LimitExceededError(f"not decided: the {parts} differ, and none of the texts tried shows a difference")
    return best


def _least(texts: Iterable[str], ours: EndToEnd, theirs: EndToEnd) -> SeparatingText | None:
    best: tuple[tuple[int, int, str], SeparatingText] | None = None
    for text in texts:
        if best is None or len(text) <= best[0][0]:
            ids = ours.try_encode(text), theirs.try_encode(text)
            if ids[0] != ids[1]:
                key = (len(text), min(len(some) for some in ids if some is not None), text)
                if best is None or key < best[0]:
                    best = key, SeparatingText(text, ids)
    return None if best is None else best[1]


def _candidates(ours: EndToEnd, theirs: EndToEnd) -> Iterator[str]:
    """Yield texts: if the two have the same normalizer and special tokens but differ, a shortest one that shows it."""
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
    vocabulary, normalizer = tokenizer.vocabulary, tokenizer.normalizer
    streams = StreamLanguage(vocabulary, normalizer, tokenizer.added)
    if not vocabulary.opening:
        return streams.words
    # Texts may have the opening within a word, though no decoded text does.
    is_inner = Characters(normalizer).are_inner
    kept = {entry: id for entry, id in vocabulary.items() if is_inner(entry)}
    limit = vocabulary.longest_word
    return WordLanguage(WordPieceVocabulary(kept, prefix="", opening=vocabulary.opening, longest_word=limit))


def same_words(ours: EndToEnd, theirs: EndToEnd) -> bool:
    """Return whether the two give the same ids to all words of characters that both keep, within the lengths of both.

    An opening is not among these characters.
    """
    sides = (ours, theirs)
    openings = {side.vocabulary.opening for side in sides}
    kept = [Characters(side.normalizer).are_inner for side in sides]
    roles = []
    for side in sides:
        vocabulary, found = side.vocabulary, {}
        for entry, number in vocabulary.items():
            text, begins = vocabulary.role(entry)
            if text and all(is_kept(text) for is_kept in kept) and not any(sign and sign in text for sign in openings):
                found[text if begins else f"\0{text}"] = number
        roles.append(found)
    if ours.vocabulary.unknown_id != theirs.vocabulary.unknown_id:
        return False
    if roles[0] == roles[1]:
        return True
    live = []
    for found in roles:
        language = WordLanguage(WordPieceVocabulary(found, prefix="\0", longest_word=None))
        live.append({entry: number for entry, number in found.items() if number in language.live})
    return live[0] == live[1]


def _exceeds(limit: int | None, other: int | None) -> bool:
    return other is not None and (limit is None or limit > other)


def _by_character(ours: EndToEnd, theirs: EndToEnd) -> Iterator[str]:
    """Yield the first character that is encoded differently: alone, else after a letter, else between two letters."""
    characters = _treated_differently(ours, theirs)
    for frame in ("{}", "a{}", "a{}a"):
        for begin in range(0, len(characters), _AT_ONCE):
            texts = [frame.format(character) for character in characters[begin : begin + _AT_ONCE]]
            text = next(_encoded_differently(ours, theirs, texts), None)
            if text is not None:
                yield text
                return


def _treated_differently(ours: EndToEnd, theirs: EndToEnd) -> list[str]:
    """Return the characters, ascending, that two normalizers may treat differently, and those that are entries."""
    left, right = ours.normalizer, theirs.normalizer
    found = {*left.effects, *right.effects, *(left.punctuation ^ right.punctuation), *(left.spaces ^ right.spaces)}
    found.update(entry for side in (ours, theirs) for entry in side.vocabulary.beginnings if len(entry) == 1)
    hangul = ((HANGUL_FIRST, HANGUL_LAST),)
    bulks = (
        (left.removed, right.removed),
        (left.ideographs, right.ideographs),
        (hangul if left.reorders else (), hangul if right.reorders else ()),
    )
    for mine, other in bulks:
        found.update(characters_of(union(difference(mine, other), difference(other, mine))))
    return sorted(found)


def is_shortest(ours: EndToEnd, theirs: EndToEnd, text: str) -> bool:
    """Return whether it is proven that no text with fewer bytes of UTF-8 than `text` is encoded differently.

    All texts of up to two bytes are tried; nothing is proven for a `text` of more than three.
    """
    n_bytes = len(text.encode("utf-8"))
    shorter = [""]
    if n_bytes > 1:
        shorter += map(chr, range(0x80))
    if n_bytes > 2:
        shorter += map(chr, range(0x80, 0x800))
        shorter += map("".join, product(map(chr, range(0x80)), repeat=2))
    return n_bytes <= 3 and next(_encoded_differently(ours, theirs, shorter), None) is None


def _encoded_differently(ours: EndToEnd, theirs: EndToEnd, texts: list[str]) -> Iterator[str]:
    """Yield the texts to which the two give different ids."""
    (ids, rows), (other_ids, other_rows) = (side.try_encode_batch(texts) for side in (ours, theirs))
    lengths = np.diff(rows)
    is_same = lengths == np.diff(other_rows)
    # The tokens of the texts to which both give equally many, and the texts that these are of.
    kept, other = ids[np.repeat(is_same, lengths)], other_ids[np.repeat(is_same, np.diff(other_rows))]
    of_text = np.repeat(np.flatnonzero(is_same), lengths[is_same])
    is_same[of_text[kept != other]] = False
    yield from (texts[index] for index in np.flatnonzero(~is_same).tolist())


def _ends_of_words(left: WordLanguage, right: WordLanguage) -> Iterator[str]:
    """Yield the shortest words that end with entries that only one has with this id, unless one found is shorter."""
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
