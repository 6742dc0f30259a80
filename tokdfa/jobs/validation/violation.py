"""Violations as data, where a stream is not canonical and why, and their sentences: no other module words these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.alphabet import Word, quoted
from tokdfa.base.arrays import Int32Array
from tokdfa.base.verdict import DescribedEnum, Displayed, cut_short

if TYPE_CHECKING:
    from tokdfa.tokenizers.models.unigram.lattice import Scores

__all__ = ["Cause", "Spelled", "Violation", "ViolationKind", "common_prefix", "out_of_range", "spelled"]


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
                yield from (": rule ", violation.rule, " (", MergedPair(*violation.merge), ") would have merged them")
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


Spelled = tuple[tuple[int, Word], ...]
"""The ids that a sentence names, each with its spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The cause of a violation; attributes that do not apply to its kind are None.

    Attributes
    ----------
    kind : ViolationKind
    token : int or None
        The id concerned.
    pair : tuple of two ints or None
        Two ids that cannot be neighbours, in the order of the stream.
    rule : int or None
        The number of the rule that keeps the two apart: it merges across their boundary.
    merge : tuple of two words or None
        The two words that this rule merges.
    special : int or None
        The id of the special token that the text spells.
    text : str or None
        The piece that the ids disagree with, or the special token that they spell.
    bad_bytes : bytes or None
        The bytes that are not UTF-8.
    error : str or None
        The tokenizer's error for a text that it refuses.
    scores : Scores or None
        The sums of scores of the text's best segmentation and of the ids, of a Unigram tokenizer.
    spellings : tuple of pairs of an int and a word
        The ids that the sentence names, each with its spelling.
    """

    kind: ViolationKind
    token: int | None = None
    pair: tuple[int, int] | None = None
    rule: int | None = None
    merge: tuple[Word, Word] | None = None
    special: int | None = None
    text: str | None = None
    bad_bytes: bytes | None = None
    error: str | None = None
    scores: Scores | None = None
    spellings: Spelled = field(default=(), repr=False)

    def at(
        self,
        start: int,
        byte_offset: int,
        ids: Int32Array,
        canonical_ids: Int32Array | None = None,
        *,
        index: int | None = None,
        detected_at: int | None = None,
    ) -> Violation:
        """Return the violation with this cause; its `index` is `start`, and it is detected there, unless given."""
        index = start if index is None else index
        return Violation(
            **{each.name: getattr(self, each.name) for each in fields(Cause)},
            index=index,
            detected_at=index if detected_at is None else detected_at,
            byte_offset=byte_offset,
            start=start,
            ids=tuple(ids.tolist()),
            canonical_ids=None if canonical_ids is None else tuple(canonical_ids.tolist()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Violation(Cause, Displayed):
    """A part of a stream that is not canonical, and why; see :class:`Cause` for further attributes.

    Attributes
    ----------
    index : int
        The first token that the tokenizer would not have given: the length of the longest common prefix of the ids and
        ``encode(decode(ids))``. For a later violation it is the index in the stream with the earlier ones repaired,
        counted in tokens of the given stream. For bytes that are not UTF-8 it is the token of the first bad byte.
    detected_at : int
        The token at which this became known, or practically so: `index` or a later one.
    byte_offset : int
        The byte offset in the stream at which token `index` begins; for bytes that are not UTF-8, the first bad byte.
    start : int
        The first token of `ids`.
    ids : tuple of int
        The ids of the piece or pieces concerned, as in the stream.
    canonical_ids : tuple of int or None
        The ids that should be in their place; None if no text has these bytes, or the tokenizer does not have the id.

    Examples
    --------
    >>> violation = tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193]).witness
    >>> violation.index, violation.ids, violation.canonical_ids
    (1, (261, 1193), (2513,))
    >>> violation.kind.value, violation.pair, violation.rule
    ('pair', (261, 1193), 2257)
    """

    index: int
    detected_at: int
    byte_offset: int
    start: int
    ids: tuple[int, ...]
    canonical_ids: tuple[int, ...] | None

    def __repr__(self) -> str:
        given, canonical = (cut_short(repr(ids), 60) for ids in (self.ids, self.canonical_ids))
        return f"Violation({self.kind.value}, token {self.index}, byte {self.byte_offset}: {given} for {canonical})"

    @property
    def reason(self) -> str:
        """The violation in one sentence, made from the other attributes."""
        return sentence(self)

    def as_json(self) -> dict[str, Any]:
        """Return the violation as ``tokdfa validate --json`` prints it."""
        names = ("index", "detected_at", "byte_offset", "start", "ids", "canonical_ids", "kind", "pair", "rule")
        scores = {} if self.scores is None else {"scores": self.scores.as_json()}
        values = {name: getattr(self, name) for name in names}
        return {**values, "kind": self.kind.value, **scores, "reason": self.reason}


def out_of_range(id: int, index: int, byte: int) -> Violation:
    """Return the violation for an id that the tokenizer does not have, given its index and byte offset."""
    return Cause(kind=ViolationKind.ID_OUT_OF_RANGE, token=id).at(index, byte, np.array([id]))


def not_utf8(data: bytes, ids: Int32Array, start: int, byte: int, ends: Iterable[int]) -> Violation:
    """Return the violation of ids in a symbol that is not UTF-8, which begins and ends at offsets in some bytes.

    The bytes begin at the offset `byte` of the stream.
    """
    low, high = ends
    cause = Cause(kind=ViolationKind.NOT_UTF8, bad_bytes=data[low:high])
    return cause.at(start, byte + low, ids, detected_at=start + len(ids) - 1)


def spelled(ids: Iterable[int], spelling: Callable[[int], Word]) -> Spelled:
    """Return distinct ids with their spellings."""
    return tuple((id, spelling(id)) for id in dict.fromkeys(ids))


def common_prefix(left: Sequence[int] | Int32Array, right: Sequence[int] | Int32Array) -> int:
    """Return the length of the longest common prefix."""
    length = min(len(left), len(right))
    differ = np.flatnonzero(np.asarray(left[:length]) != np.asarray(right[:length]))
    return int(differ[0]) if len(differ) else length
