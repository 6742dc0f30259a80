"""Judging streams of tokenizers that change a text before they encode it, or spell ids in a way of their own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tokdfa.alphabet import quoted
from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.errors import AlphabetError, LimitExceededError, TokenStreamError
from tokdfa.tokenizers.decoding import Decoded
from tokdfa.tokenizers.rewriting import RewritingTokenizer
from tokdfa.validation.judges.literal import MAX_IDS
from tokdfa.validation.violation import Violation, common_prefix, encode_again

__all__ = ["RewritingJudge"]


WINDOW = 1 << 15


class RewritingJudge:
    """Compares a stream with the encoding of what it is decoded to.

    It keeps the stream in memory back to the last place where every text is cut, for tokenizers that have such places,
    and otherwise the whole stream. Where special tokens are not found in texts, they cut it, and what is between them
    is judged by itself.

    Parameters
    ----------
    tokenizer : RewritingTokenizer
    first, byte : int
        Which token of the stream is the first one fed, and where its bytes begin.
    literal : bool
        Whether special tokens that are not found in texts are what they are decoded to, and cut nothing.

    Attributes
    ----------
    byte : int
        Where the bytes of the next token to be judged begin.
    """

    def __init__(self, tokenizer: RewritingTokenizer, first: int = 0, byte: int = 0, *, literal: bool = False) -> None:
        self._tokenizer = tokenizer
        self._current = tokenizer  # for what comes next
        self._ids = np.empty(0, dtype=np.int32)
        self._wanted = WINDOW
        self._first = first
        self.byte = byte
        self._cuts = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self._cuts[tokenizer.special_ids] = not (tokenizer.finds_specials or literal)

    def checked(self, ids: npt.ArrayLike, first: int) -> Int32Array:
        """Return ids as an int32 array, refusing what cannot be ids; `first` is the place of the first one."""
        return self._tokenizer.decoder.check(ids, first)

    def is_id(self, id: int) -> bool:
        """Tell whether an id means something."""
        return self._tokenizer.decoder.is_id(id)

    @property
    def nothing(self) -> int:
        """An id that means something, to stand where none does."""
        return self._tokenizer.decoder.nothing

    @property
    def n_kept(self) -> int:
        """How many ids are kept."""
        return len(self._ids)

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids; yield the violations that are certain with them."""
        self._ids = np.concatenate((self._ids, ids))
        while len(self._ids) >= self._wanted:
            window = self._ids[: self._wanted]
            places = np.flatnonzero(self._tokenizer.cut_between(window) | self._cuts[window[:-1]])
            if len(places):
                yield from self._judge(int(places[-1]) + 1)
                self._wanted = WINDOW
            elif self._wanted < MAX_IDS:
                self._wanted *= 2
            else:
                raise LimitExceededError(
                    "the stream is too long to be judged as a whole",
                    where=f"token {self._first}",
                    hint="this tokenizer rewrites texts; validate parts of the stream",
                )

    def finish_open(self) -> Iterator[Violation]:
        """Take the end of what may go on, of which nothing is certain."""
        return iter(())

    def finish(self) -> Iterator[Violation]:
        """Take the end of the stream; yield the violations."""
        yield from self._judge(len(self._ids))

    def _judge(self, stop: int) -> Iterator[Violation]:
        """Judge the ids before `stop`, and drop them."""
        ids, self._ids = self._ids[:stop], self._ids[stop:]
        bounds = np.concatenate(([-1], np.flatnonzero(self._cuts[ids]), [len(ids)])).tolist()
        for before, end in pairwise(bounds):
            if before >= 0:
                self._current = self._tokenizer
            yield from self._stretch(ids[before + 1 : end], self._first + before + 1)
        self._first += len(ids)
        if bounds[-2] < len(ids) - 1:
            self._current = self._tokenizer.behind or self._tokenizer
        elif len(ids):
            self._current = self._tokenizer

    def _stretch(self, ids: Int32Array, first: int) -> Iterator[Violation]:
        try:
            decoded = self._current.decode_with_ends(ids)
        except TokenStreamError:
            yield self._not_utf8(ids, first)
            return
        byte = self.byte
        self.byte += int(decoded.ends[-1]) if len(ids) else 0
        try:
            canonical = encode_again(self._current, decoded.text)
        except AlphabetError as error:
            reason = f"their text cannot be encoded: {error}"
            yield Violation(first, first + len(ids) - 1, byte, first, tuple(ids.tolist()), None, reason)
            return
        if np.array_equal(ids, canonical):
            return
        for start, stop, low, high in self._differences(ids, decoded, canonical):
            index = start + common_prefix(ids[start:stop], canonical[low:high])
            reason = f"the text is encoded as {self._shown(canonical[low:high])}, not as {self._shown(ids[start:stop])}"
            yield Violation(
                index=first + index,
                detected_at=first + min(max(stop - 1, index), len(ids) - 1),
                byte_offset=byte + (int(decoded.ends[index - 1]) if index else 0),
                start=first + start,
                ids=tuple(ids[start:stop].tolist()),
                canonical_ids=tuple(canonical[low:high].tolist()),
                reason=reason,
            )

    def _not_utf8(self, ids: Int32Array, first: int) -> Violation:
        """Return the violation that the first bytes are that are not UTF-8."""
        ends = np.cumsum(np.diff(self._tokenizer.id_spellings.offsets)[ids])
        data = self._tokenizer.decode_bytes(ids)
        try:
            data.decode("utf-8")
            raise AssertionError("decoding refused what is UTF-8")
        except UnicodeDecodeError as error:
            start, end = error.start, error.end
        begin, last = (int(np.searchsorted(ends, place, side="right")) for place in (start, end - 1))
        bad = data[start:end].hex(" ")
        reason = f"the bytes {bad} are not UTF-8, so that no text has these ids"
        found = Violation(
            first + begin,
            first + last,
            self.byte + start,
            first + begin,
            tuple(ids[begin : last + 1].tolist()),
            None,
            reason,
        )
        self.byte += len(data)
        return found

    def _differences(
        self, ids: Int32Array, decoded: Decoded, canonical: Int32Array
    ) -> Iterator[tuple[int, int, int, int]]:
        """Yield where two tokenizations differ, as parts of each that add the same to the text.

        Where the texts differ as well, it is everything between what they begin and what they end with.
        """
        again = self._current.decode_with_ends(canonical)
        if again.text == decoded.text and len(ids) and len(canonical):
            starts, others = (np.concatenate(([0], ends)) for ends in (decoded.ends, again.ends))
            yield from _apart(ids, starts, canonical, others)
            return
        begin = common_prefix(ids, canonical)
        rest = min(len(ids), len(canonical)) - begin
        end = common_prefix(ids[::-1][:rest], canonical[::-1][:rest])
        yield begin, len(ids) - end, begin, len(canonical) - end

    def _shown(self, ids: Int32Array) -> str:
        shown = [f"{quoted(self._tokenizer.token_string(id))} ({id})" for id in ids[:6].tolist()]
        return " ".join(shown + ["…"] * (len(ids) > 6)) or "nothing"


def _apart(
    ids: Int32Array, bounds: Int64Array, canonical: Int32Array, others: Int64Array
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the parts between places where both have a bound, if they differ."""
    # Tokens that add nothing end where others do, and such places do not tell which belong together.
    common = np.intersect1d(_single(bounds), _single(others))
    lefts, rights = (np.searchsorted(side, common[common > 0]) for side in (bounds, others))
    start = low = 0
    for stop, high in zip([*lefts.tolist(), len(ids)], [*rights.tolist(), len(canonical)], strict=True):
        if not np.array_equal(ids[start:stop], canonical[low:high]):
            yield start, stop, low, high
        start, low = stop, high


def _single(bounds: Int64Array) -> Int64Array:
    values, counts = np.unique(bounds, return_counts=True)
    single: Int64Array = values[counts == 1]
    return single
