"""From the ids of a Unigram tokenizer to text and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.alphabet import Word
from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.tokenizers.decoded import Decoded
from tokdfa.tokenizers.round_trip import BytesRoundTrip, Ends

if TYPE_CHECKING:
    from tokdfa.tokenizers.unigram import UnigramTokenizer

__all__ = ["UnigramRoundTrip"]


class UnigramRoundTrip(BytesRoundTrip):
    """The round trip of a Unigram tokenizer, whose texts are decoded and encoded as a whole.

    Parameters
    ----------
    tokenizer : UnigramTokenizer
    """

    _tokenizer: UnigramTokenizer

    def __init__(self, tokenizer: UnigramTokenizer) -> None:
        super().__init__(tokenizer)

    def decode(self, ids: Int32Array, *, begins: bool = True) -> Decoded:
        """Return the text of ids, and the end of what each adds; see :meth:`RoundTrip.decode`."""
        return self._tokenizer.decode_with_ends(ids)

    def spelled(self, ids: Int32Array) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids, and the end of what each adds."""
        decoded = self._tokenizer.decode_with_ends(ids)
        return decoded.text.encode("utf-8"), decoded.ends

    def ends(self, canonical: Int32Array, decoded: Decoded, *, begins: bool = True) -> Ends | None:
        """Return the ends of the canonical ids in the text; None if they decode to another text."""
        again = self._tokenizer.decode_with_ends(canonical)
        return again.ends if again.text == decoded.text else None

    def spelling(self, id: int) -> Word:
        """Return the spelling of an id in its file."""
        return self._tokenizer.token_string(id)
