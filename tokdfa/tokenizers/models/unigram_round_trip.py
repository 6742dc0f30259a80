"""From the ids of a Unigram tokenizer to text and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.alphabet import Word
from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.encoding.encoded import Decoded
from tokdfa.errors import AlphabetError, TokenStreamError
from tokdfa.kernels.spelling.spell import spell
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoding import DecodeMetaspace, DecodeSentencePiece
from tokdfa.tokenizers.decoding import decode_tokens as decode_tokens_by
from tokdfa.tokenizers.models.unigram_accepted import is_usual, piece_spellings
from tokdfa.tokenizers.round_trip import BytesRoundTrip, Ends, ends_in
from tokdfa.tokenizers.sentencepiece_normalizer import SPACE
from tokdfa.unigram.segmenter import BEGINNING, Before

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import UnigramTokenizer
    from tokdfa.unigram.lattice import RecordedText

__all__ = ["UnigramRoundTrip"]

# The number of places in a stretch that are judged by their text, and of ids among which the next cut usually is.
_MOST_STOPS, _NEAR = 1 << 10, 1 << 8
_SPACE_BYTES = SPACE.encode("utf-8")


class UnigramRoundTrip(BytesRoundTrip):
    """The round trip of a Unigram tokenizer.

    Its texts are cut before spaces, but for the sum of scores, which goes on where a whole text is added up.

    Parameters
    ----------
    tokenizer : UnigramTokenizer
    before : Before, optional
        What counts of the text before.
    """

    _tokenizer: UnigramTokenizer

    def __init__(self, tokenizer: UnigramTokenizer, before: Before = BEGINNING) -> None:
        super().__init__(tokenizer)
        self._model = tokenizer.model
        self._before = before

    @property
    def boundaries(self) -> Boundaries:
        """The boundaries of the tokenizer."""
        return self._tokenizer.boundaries

    def decode(self, ids: Int32Array, *, begins: bool = True) -> Decoded:
        """Return the text of ids, and the end of what each adds; see :meth:`RoundTrip.decode`."""
        if begins:
            return self._tokenizer.decode_with_ends(ids)
        strings = self._tokenizer.token_strings
        steps = tuple(later for step in self._tokenizer.rewriting.decoding or () if (later := step.later) is not None)
        return decode_tokens_by([strings[id] for id in ids.tolist()], steps)

    def spelled(self, ids: Int32Array) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids, and the end of what each adds."""
        decoded = self.decode(ids)
        return decoded.text.encode("utf-8"), decoded.ends

    def encode(self, text: str, *, begins: bool = True) -> Int32Array:
        """Return the ids of a text; see :meth:`RoundTrip.encode`."""
        return self._model.encode_on(self._tokenizer, text, BEGINNING if begins else self._before, begins=begins)[0]

    def encode_on(self, text: str, *, begins: bool = True) -> tuple[Int32Array, UnigramRoundTrip]:
        """Return the ids of a text, and the round trip of the text after it."""
        ids, before = self._model.encode_on(self._tokenizer, text, BEGINNING if begins else self._before, begins=begins)
        return ids, UnigramRoundTrip(self._tokenizer, before)

    def recorded(self, text: str, *, begins: bool = True) -> RecordedText:
        """Return the sums of scores in a text; see :meth:`RoundTrip.recorded`."""
        return self._model.record_on(self._tokenizer, text, BEGINNING if begins else self._before, begins=begins)

    def accept(self, ids: Int32Array, *, begins: bool = True) -> tuple[int, UnigramRoundTrip] | None:
        """Return the number of bytes of canonical ids and the round trip after them; see :meth:`RoundTrip.accept`."""
        acceptor = self._tokenizer.acceptor
        if acceptor is None:
            return self._accept_text(ids, begins)
        trip, at, n_bytes = self, 0, 0
        for _ in range(_MOST_STOPS):
            is_first = begins and not at
            n, size, after = acceptor.accept(ids[at:], None if is_first else trip._before)
            if n:
                trip, at, n_bytes = UnigramRoundTrip(self._tokenizer, after), at + n, n_bytes + size
            if at == len(ids):
                return n_bytes, trip
            # What is not decided there is judged by its text, up to the next place where that is cut.
            part = ids[at : at + _NEAR]
            cut = np.flatnonzero(self.boundaries.always_cut(part))
            if not len(cut) and at + len(part) < len(ids):
                return None
            part = part[: int(cut[0]) + 1] if len(cut) else part
            found = trip._accept_text(part, begins and not at)
            if found is None:
                return None
            n_bytes, at, trip = n_bytes + found[0], at + len(part), found[1]
            if at == len(ids):
                return n_bytes, trip
        return None

    def _accept_text(self, ids: Int32Array, begins: bool) -> tuple[int, UnigramRoundTrip] | None:
        """Return what `accept` does, from the text of the ids."""
        text = self._text_of_usual(ids, begins)
        try:
            text = self.decode(ids, begins=begins).text if text is None else text
            canonical, following = self.encode_on(text, begins=begins)
        except (AlphabetError, TokenStreamError):
            return None
        return (len(text.encode("utf-8")), following) if np.array_equal(canonical, ids) else None

    def _text_of_usual(self, ids: Int32Array, begins: bool) -> str | None:
        """Return the text of ids that are usual pieces; None if there are others, or decoding needs a closer look."""
        tokenizer = self._tokenizer
        steps = tokenizer.rewriting.decoding or ()
        if len(steps) != 1 or not isinstance(steps[0], (DecodeSentencePiece, DecodeMetaspace)) or not len(ids):
            return None
        if not tokenizer.derived(is_usual)[ids].all():
            return None
        step = steps[0]
        if isinstance(step, DecodeMetaspace) and step.replacement != SPACE:
            return None
        data = spell(*tokenizer.derived(piece_spellings), ids)[0].tobytes()
        drops = step.drops_first or (isinstance(step, DecodeSentencePiece) and step.drops_all)
        if begins and drops and data.startswith(_SPACE_BYTES):
            # Only one space, which begins the first piece, may be dropped here.
            first = tokenizer.token_strings[int(ids[0])]
            if SPACE in first[1:] or data.startswith(_SPACE_BYTES, len(_SPACE_BYTES)) or len(data) == len(_SPACE_BYTES):
                return None
            data = data[len(_SPACE_BYTES) :]
        elif begins and drops and SPACE in tokenizer.token_strings[int(ids[0])]:
            return None
        return data.decode("utf-8").replace(SPACE, " ")

    def ends(self, canonical: Int32Array, decoded: Decoded, *, begins: bool = True) -> Ends | None:
        """Return the ends of the canonical ids in the text; None if they decode to another text, spaces aside."""
        return ends_in(decoded.text, self.decode(canonical, begins=begins))

    def spelling(self, id: int) -> Word:
        """Return the spelling of an id in its file."""
        return self._tokenizer.token_string(id)
