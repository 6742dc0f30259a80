"""Deciding about a seam: which special tokens matter, the search, and its confirmation by encoding."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tokdfa.encoding.special import Special
from tokdfa.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.kernels.encode.events import DROPPED
from tokdfa.splices.found import overlap
from tokdfa.splices.languages import Language
from tokdfa.splices.seam import Seam
from tokdfa.splices.search import Search, Texts
from tokdfa.splices.tokens import ByteTokens, Tokens
from tokdfa.splitting.hypotheses import Hypotheses, find_hypotheses
from tokdfa.splitting.steps import Splitting
from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS
from tokdfa.tokenizers.neighbours import neighbours
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.unicode.utf8 import BYTES_OF_UTF8

__all__ = ["Ground", "ground_of", "least_texts"]

_WHOLE = Splitting("tokenizers")
_MOST_TRACKED = 2_000


class Ground:
    """What a tokenizer does to texts, in the form in which seams are searched.

    Parameters
    ----------
    tokenizer : Tokenizer
        One over bytes that changes no text.

    Raises
    ------
    UnsupportedFeatureError
        If it does something to texts that is not searched; the error says what.
    LimitExceededError
        If its automata are too large.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        if not tokenizer.is_bytewise or not tokenizer.is_plain or tokenizer.suffix is not None:
            raise UnsupportedFeatureError("seams are decided only for tokenizers over bytes that change no text")
        if not tokenizer.dictionary.properness() and tokenizer.format not in LEFTMOST_FORMATS:
            raise UnsupportedFeatureError(
                "the dictionary is not proper, and its format does not say how it merges", value=tokenizer.format
            )
        splitting = _WHOLE if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
        if splitting.prefix_space is not None or splitting.metaspace is not None or splitting.byte_steps:
            raise UnsupportedFeatureError("the pre-tokenizer inserts spaces, or splits bytes", value=splitting)
        try:
            self.hypotheses: Hypotheses = find_hypotheses(splitting)
        except PatternError as error:
            raise UnsupportedFeatureError(error.what, value=error.value) from None
        if any(event == DROPPED for row in self.hypotheses.moves for cell in row for _, event in cell):
            raise UnsupportedFeatureError("the pre-tokenizer may drop text", value=splitting)
        found = tokenizer.specials if tokenizer.finds_specials else ()
        self.specials: tuple[Special, ...] = tuple(special for special in found if special.text)
        self.tokens: Tokens = _tokens(tokenizer)
        words = (tokenizer.token(number) for number in tokenizer.whole_piece_tokens.tolist())
        self.whole = [word.decode() for word in words if isinstance(word, bytes)]

    def search(self, before: Language, after: Language, tracked: Iterable[str]) -> Texts | None:
        """Return the least two texts of two languages, if only some special tokens were found in texts."""
        seam = Seam(self.hypotheses, before, after, sorted(tracked))
        return Search(seam, self.tokens, self.whole).least()

    def tracked(self, before: Language, after: Language) -> set[str]:
        """Return the special tokens that may decide about the seam of two languages.

        Any other may be left out of a text, with all that is on the other side of it than the seam, and the languages
        still have the rest.

        Raises
        ------
        UnsupportedFeatureError
            If one of them strips, is a single word, or is found in normalized text.
        """
        contents = [special.text for special in self.specials]
        wanted = {text for text in contents if _matters_before(before, text) or _matters_after(after, text)}
        return self.with_overlapping(wanted)

    def with_overlapping(self, wanted: set[str]) -> set[str]:
        """Return special tokens with all that may overlap them in a text, directly or not."""
        rest = {special.text for special in self.specials} - wanted
        queue = sorted(wanted)
        for text in queue:  # It grows during the loop.
            meeting = {other for other in rest if overlap(text, other)}
            queue += sorted(meeting)
            rest -= meeting
        if len(queue) > _MOST_TRACKED:
            raise LimitExceededError(f"more than {_MOST_TRACKED} special tokens may decide about the seam")
        levels = {special.level for special in self.specials if special.text in queue}
        odd = next((special for special in self.specials if special.text in queue and not special.is_plain), None)
        if odd is not None:
            raise UnsupportedFeatureError("a special token depends on what is beside it", value=odd.content)
        if len(levels) > 1 and any(overlap(one, other) for one in queue for other in queue):
            raise UnsupportedFeatureError("special tokens that are found one after the other overlap")
        return {*queue}

    def crossing(self, before: Language, after: Language) -> set[str]:
        """Return the special tokens that texts of two languages may have across the seam."""
        return {special.text for special in self.specials if _may_cross(before, after, special.text)}


@lru_cache(maxsize=4)
def ground_of(tokenizer: Tokenizer) -> Ground:
    """Return what seams of a tokenizer are searched in; raises as :class:`Ground` does."""
    return Ground(tokenizer)


def _tokens(tokenizer: Tokenizer) -> ByteTokens:
    of = neighbours(tokenizer)
    if any(BYTES_OF_UTF8.issuperset(of.words[number]) for number in of.live[of.ids[of.live] < 0].tolist()):
        raise UnsupportedFeatureError("some tokens that merging gives have no ids")
    return ByteTokens(of)


def _matters_before(language: Language, text: str) -> bool:
    """Return whether a language of texts before the seam distinguishes what precedes a special token, or its end."""
    return any(language.after(state, text) > 0 for state in range(len(language.rows)))


def _matters_after(language: Language, text: str) -> bool:
    """Return whether a text after the seam may go on with a special token, but not end there."""
    states = range(len(language.rows))
    return any(not language.finals[state] and language.after(state, text) >= 0 for state in states)


def _may_cross(before: Language, after: Language, text: str) -> bool:
    for n in range(1, len(text)):
        ending = (before.after(state, text[:n]) for state in range(len(before.rows)))
        if any(state >= 0 and before.finals[state] for state in ending) and after.after(0, text[n:]) >= 0:
            return True
    return False


def least_texts(ground: Ground, before: Language, after: Language) -> Texts | None:
    """Return the least two texts of two languages that a seam separates; None if there are none.

    Raises
    ------
    UnsupportedFeatureError
        If special tokens that may decide are of a kind that is not searched.
    LimitExceededError
        If it takes too long.
    """
    tracked = ground.tracked(before, after)
    crossing: set[str] | None = None
    while True:
        found = ground.search(before, after, tracked)
        crossing = ground.crossing(before, after) if crossing is None else crossing
        if found is None:
            missing = crossing - tracked
        else:
            text = found.before + found.after
            missing = {content for content in crossing if len(content.encode()) <= len(text)}
            missing |= {special.text for special in ground.specials if special.text.encode() in text}
            missing -= tracked
        if not missing:
            return found
        tracked = ground.with_overlapping(tracked | missing)
