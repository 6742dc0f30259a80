"""The kinds of violations."""

from __future__ import annotations

from tokdfa.base.verdict import DescribedEnum

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
