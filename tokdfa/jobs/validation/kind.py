"""The kinds of violations, and the sentences about them: no other module words these."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tokdfa.automata.alphabet import Word, quoted
from tokdfa.base.verdict import DescribedEnum

if TYPE_CHECKING:
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.tokenizers.models.unigram.lattice import Scores

__all__ = ["ViolationKind"]


class ViolationKind(DescribedEnum):
    """The reason why ids are not canonical. The values are stable: ``--json`` and the pages print them.

    Attributes
    ----------
    meaning : str
        One sentence that describes all violations of the kind.

    Examples
    --------
    >>> tokdfa.ViolationKind.NOT_UTF8.value, tokdfa.ViolationKind("not-utf8").meaning
    ('not-utf8', 'The bytes are not UTF-8, so no text has these ids.')
    """

    PAIR = "pair", "The token DFA has no transition for the second of two neighbours in one piece."
    BOUNDARY = "boundary", "A token goes past a place where the pre-tokenizer cuts the text."
    NOT_UTF8 = "not-utf8", "The bytes are not UTF-8, so no text has these ids."
    SPECIAL_TOKEN = "special-token", "The text spells a special token that the ids do not have."
    DEAD_TOKEN = "dead-token", "Merging never gives this token."
    WHOLE_PIECE_ONLY = "whole-piece-only", "The token is given only for a whole piece."
    PIECE_IS_A_TOKEN = "piece-is-a-token", "The piece is itself a token, and is emitted without merging."
    NOT_LONGEST_MATCH = "not-longest-match", "WordPiece takes the longest entry, and this is not it."
    IN_NO_TEXT = "in-no-text", "No text has these tokens next to each other, whatever surrounds them."
    ID_OUT_OF_RANGE = "id-out-of-range", "The tokenizer has no token with this id."
    NOT_ENCODABLE = "not-encodable", "The tokenizer refuses the text."
    ENCODED_OTHERWISE = "encoded-otherwise", "The text is encoded as other ids."


MOST_NAMED = 6
"""The largest number of ids of a tokenization that a sentence names."""


class Token(NamedTuple):
    """An id named in a sentence, with its spelling."""

    id: int
    word: Word


class Quote(NamedTuple):
    """A text quoted in a sentence."""

    text: str


class MergedPair(NamedTuple):
    """The two words that a rule merges."""

    left: Word
    right: Word


Part: TypeAlias = str | int | Token | Quote | MergedPair


def sentence(violation: Violation) -> str:
    """Return why ids are not canonical, in one sentence.

    Examples
    --------
    >>> import tokdfa
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> sentence(tokenizer.validate([64, 261, 1193]).witness)
    "'ingle' (1193) never follows ' s' (261): rule 2257 (' s' + 'ingle') would have merged them"
    """
    return "".join(map(_plain, parts(violation)))


def parts(violation: Violation) -> Iterable[Part]:
    """Return the parts of the sentence: words, numbers, tokens and quotes, which the page shows in its own way."""
    kind, text = violation.kind, Quote(violation.text or "")
    word_of = dict(violation.spellings)

    def token(id: int | None) -> list[Part]:
        return [] if id is None else [Token(id, word_of.get(id, ""))]

    def tokens(ids: Iterable[int]) -> Iterable[Part]:
        named = [*ids]
        spaced: list[Part] = []
        for id in named[:MOST_NAMED]:
            spaced += [" "] * bool(spaced) + token(id)
        return [*spaced, " …"] if len(named) > MOST_NAMED else spaced or ["nothing"]

    left, right = violation.pair or (None, None)
    subject, canonical = token(violation.token), violation.canonical_ids or ()
    match kind:
        case ViolationKind.PAIR:
            yield from chain(token(right), [" never follows "], token(left))
            if violation.rule is not None and violation.merge is not None:
                yield from (
                    ": rule ",
                    violation.rule,
                    " (",
                    MergedPair(*violation.merge),
                    ") would have merged them",
                )
        case ViolationKind.BOUNDARY if violation.text is None:
            yield "a token goes past a place where the text is cut into pieces"
        case ViolationKind.BOUNDARY:
            yield from (*subject, " goes past the end of the piece ", text)
        case ViolationKind.NOT_UTF8:
            yield f"the bytes {(violation.bad_bytes or b'').hex(' ')} are not UTF-8, so no text has these ids"
        case ViolationKind.SPECIAL_TOKEN:
            yield from ("the text spells the special token ", text, f" ({violation.special})")
        case ViolationKind.DEAD_TOKEN:
            yield from ("merging never gives ", *subject)
        case ViolationKind.WHOLE_PIECE_ONLY:
            yield from (*subject, " is emitted only as a whole piece")
        case ViolationKind.PIECE_IS_A_TOKEN:
            yield from ("the piece ", text, " is a token, and is emitted without merging")
        case ViolationKind.NOT_LONGEST_MATCH:
            yield from chain(
                subject, [" is not the longest match in its text, which is encoded as "], tokens(canonical)
            )
        case ViolationKind.IN_NO_TEXT if subject:
            yield from ("no text has ", *subject, *([" after ", *token(left)] if left is not None else []))
            yield ", whatever surrounds " + ("it" if left is None else "them")
        case ViolationKind.IN_NO_TEXT:
            yield "no text ends like this"
        case ViolationKind.ID_OUT_OF_RANGE:
            yield f"the tokenizer has no id {violation.token}"
        case ViolationKind.NOT_ENCODABLE:
            yield f"their text cannot be encoded: {violation.error}"
        case ViolationKind.ENCODED_OTHERWISE if violation.text is not None:
            yield from ("the piece ", text, " is encoded differently")
        case ViolationKind.ENCODED_OTHERWISE:
            yield from chain(["the text is encoded as "], tokens(canonical), [", not as "], tokens(violation.ids))
            if violation.scores is not None:
                yield _sums(violation.scores)


def _sums(scores: Scores) -> str:
    """Return the words after the sentence about two segmentations: their sums, or why equal ones decide."""
    best = f"{scores.best:.9g}"
    if scores.given is None:
        return f": the best sum of scores up to there is {best}, and these ids are no way to add up"
    if scores.margin:
        return f": the sum of scores up to there is {best}, and with these ids {scores.given:.9g}"
    if scores.is_rounded_late:
        return f": the sum of scores up to there is {best} for both, which are compared before they are rounded"
    return f": the sum of scores up to there is {best} for both, and the last piece of the first is longer"


def _plain(part: Part) -> str:
    match part:
        case Token(id, word):
            return f"{quoted(word)} ({id})"
        case Quote(text):
            return repr(text)
        case MergedPair(left, right):
            return f"{quoted(left)} + {quoted(right)}"
    return str(part)
