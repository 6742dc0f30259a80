"""What added tokens do to the characters on both sides of a place in a text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tokdfa.encoding.special import Special
from tokdfa.unicode.normalization import spaces

__all__ = ["AddedBorders"]


class AddedBorders:
    """What added tokens of one level do to the characters on both sides of a place.

    Parameters
    ----------
    specials : sequence of Special
    touches : bool
        Whether something is done to a text because it begins or ends beside an added token.

    Notes
    -----
    One that is found in a text has its first two characters there. Where they are not, it may only be cut in two.
    """

    def __init__(self, specials: Sequence[Special], *, touches: bool) -> None:
        texts = [special.text for special in specials if special.text]
        self._keys = {text[:2] for text in texts if len(text) > 1}
        self._pairs = {left + right for text in texts for left, right in pairwise(text)}
        # What depends on the character beside a token, and what on the white space there.
        beside = texts if touches else [special.text for special in specials if special.single_word and special.text]
        self._first, self._last = {text[0] for text in beside}, {text[-1] for text in beside}
        before = {special.text[0] for special in specials if special.lstrip and special.text}
        after = {special.text[-1] for special in specials if special.rstrip and special.text}
        if touches:
            # White space that belongs to a token ends where the token does.
            self._first |= spaces() if any(special.lstrip for special in specials) else set()
            self._last |= spaces() if any(special.rstrip for special in specials) else set()
        self._strips = any(special.lstrip or special.rstrip for special in specials)
        self._before, self._after = before | spaces(), after | spaces()

    def may_join(self, left: str | None, right: str) -> bool:
        """Return whether such a token may be recognised by these characters, or depends on them."""
        if left is None:
            return bool(self._pairs or self._first or self._strips)
        if left + right in self._keys or right in self._first or left in self._last:
            return True
        blanks = spaces()
        return self._strips and (
            (right in blanks and left in self._after) or (left in blanks and right in self._before)
        )

    def joins(self, left: str | None, right: str) -> bool:
        """Return whether such a token may have these characters, or depend on them."""
        return self.may_join(left, right) or self.has_inside(left, right)

    def has_inside(self, left: str | None, right: str) -> bool:
        """Return whether such a token has these characters side by side."""
        return left is not None and left + right in self._pairs

    def is_in(self, text: str) -> bool:
        """Return whether a text has the first two characters of such a token."""
        return any(left + right in self._keys for left, right in pairwise(text))
