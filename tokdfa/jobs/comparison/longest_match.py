"""Two tokenizers that take the longest token: the least token that they do not share separates them.

The tokens are a, b, c and, of one side only, abc and ab. The text "ab" is one id for that side. On shorter texts all
tokens that can be taken are shared, so none separates the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, product

from tokdfa.jobs.comparison import result
from tokdfa.jobs.comparison.models import DEFAULT, Tuning, around, found_by_trial, random_texts, with_tokens
from tokdfa.jobs.comparison.parts import as_text
from tokdfa.tokenizers.models.longest_match import LongestMatch
from tokdfa.tokenizers.tokenizer import Tokenizer

# Texts before bytes that continue a character, and bytes that end one: some make a character of part of one.
_BEFORE = (b"", *(lead + rest for lead, rest in product((b"\xc3", b"\xe4", b"\xf0"), (b"", b"\x9f", b"\x9f\x98"))))
_AFTER = (b"", b"\x80", b"\xa0", b"\x80\x80", b"\xa0\x80", b"\x90\x80\x80", b"\x80\x80\x80")


def compare_longest_matches(
    a: Tokenizer, b: Tokenizer, *, ignore_ids: bool = False, tuning: Tuning = DEFAULT
) -> result.Comparison:
    """Compare two tokenizers that take the longest token.

    They are equivalent if their tokens, with their ids, and their special tokens are the same. Otherwise the least
    token that is not shared separates them. A token that is not UTF-8 may be taken within texts only, so texts around
    it are tried. If no text that was tried separates them, an error says so.
    """
    mine, theirs = ({token: id for id, token in enumerate(tokens) if token} for tokens in (_tokens(a), _tokens(b)))
    only_a, only_b = (sorted(one.keys() - other, key=_by_length) for one, other in ((mine, theirs), (theirs, mine)))
    others = sorted((token for token in mine.keys() & theirs if mine[token] != theirs[token]), key=_by_length)
    specials = result.Outcome.of((a.found_specials, a.specials) == (b.found_specials, b.specials))
    parts = {
        result.Part.DICTIONARY: result.Outcome.of(not only_a and not only_b),
        result.Part.IDS: result.Outcome.IGNORED if ignore_ids else result.Outcome.of(not others),
        result.Part.SPECIALS: specials,
    }
    found = with_tokens(only_a, only_b, len(others))
    apart = sorted([*only_a, *only_b, *([] if ignore_ids else others)], key=_by_length)
    if not apart and specials is result.Outcome.SAME:
        return found(True, checked={**parts, result.Part.SEARCH: result.Outcome.COMPLETE})
    names = partial(_names, a), partial(_names, b)
    difference = partial(result.confirmed, a, b, names=names if ignore_ids else None)
    if specials is result.Outcome.SAME and (witness := _least(apart, difference)) is not None:
        return found(False, witness, checked={**parts, result.Part.SHORTEST: result.Outcome.PROVEN})
    known = [special.content for special in (*a.found_specials, *b.found_specials)]
    words = [text for token in apart if (text := as_text(token)) is not None]
    texts = chain(words, around(known), _texts_around(apart), random_texts(words, known))
    witness = found_by_trial(difference, texts, tuning)
    return found(False, witness, checked={**parts, result.Part.SHORTEST: result.Outcome.UNPROVEN})


def _least(apart: list[bytes], difference: partial[result.Difference | None]) -> result.Difference | None:
    """Return the difference on a shortest text; None if a token that is not UTF-8 may be in a shorter or equal one."""
    length = len(apart[0])
    shortest = [as_text(token) for token in apart if len(token) == length]
    found = [difference(text) for text in shortest if text is not None]
    known = [one for one in found if one is not None]
    if len(known) < len(shortest):
        return None
    return min(known, key=lambda one: (len(one.tokens_a or ()) + len(one.tokens_b or ()), str(one.text).encode()))


def _texts_around(apart: list[bytes]) -> Iterator[str]:
    """Yield texts with tokens that are not UTF-8, between bytes that may complete their characters."""
    for token in apart:
        for before, after in product(_BEFORE, _AFTER):
            text = as_text(before + token + after)
            if text:
                yield text


def _tokens(side: Tokenizer) -> tuple[bytes, ...]:
    assert isinstance(side.model, LongestMatch)
    return side.model.tokens


def _names(side: Tokenizer, ids: Sequence[int]) -> list[bytes]:
    return [side.name_of(id) for id in ids]


def _by_length(token: bytes) -> tuple[int, bytes]:
    return len(token), token
