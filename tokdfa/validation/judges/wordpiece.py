"""Judging streams of WordPiece tokenizers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.automata.protocol import TokenAutomaton
from tokdfa.errors import AutomatonError, LimitExceededError
from tokdfa.tokenizers.wordpiece import WordPieceTokenizer
from tokdfa.unicode.normalization import spaces
from tokdfa.validation.violation import Violation, common_prefix
from tokdfa.wordpiece.end_to_end import Tokens
from tokdfa.wordpiece.stream import StreamState

__all__ = ["WordPieceJudge"]


WINDOW = 1 << 16
MAX_IDS = 1 << 26


class WordPieceJudge:
    """Compares a stream with the encoding of its text, which takes less time than anything cleverer.

    Where decoding puts a space, the text is cut: what is before and what is behind it are encoded by themselves. Only
    ids without such a place are kept as a whole, and all of them if a special token has white space in it.

    Parameters
    ----------
    tokenizer : WordPieceTokenizer
    """

    def __init__(self, tokenizer: WordPieceTokenizer) -> None:
        self._tokenizer = tokenizer
        self._lengths = np.diff(tokenizer.id_spellings.offsets)
        text, offsets = tokenizer.id_spellings
        opens = np.append(text, np.uint8(0))[offsets[:-1]] == ord(" ")
        blanks = spaces()
        can_cut = not any(blanks.intersection(special.content) for special in tokenizer.specials)
        self._opens = opens & (self._lengths > 0) & can_cut
        self._ids = np.empty(0, np.int32)
        self._wanted = WINDOW
        self._first = 0
        self._byte = 0

    def checked(self, ids: npt.ArrayLike, first: int) -> Int32Array:
        """Return ids as an int32 array, refusing what cannot be ids; `first` is the place of the first one."""
        return self._tokenizer.decoder.check(ids, first)

    @property
    def n_kept(self) -> int:
        """How many ids are kept."""
        return len(self._ids)

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids; yield the violations that are certain with them."""
        self._ids = np.concatenate((self._ids, ids))
        while len(self._ids) >= self._wanted:
            cuts = np.flatnonzero(self._opens[self._ids[1 : self._wanted]])
            found = self._judge(self._ids[: int(cuts[-1]) + 1], final=False) if len(cuts) else None
            if found is None:
                if self._wanted >= MAX_IDS:
                    raise LimitExceededError(
                        "the stream has no place where its text is certainly cut", where=f"token {self._first}"
                    )
                self._wanted *= 2
            else:
                yield from found
                self._wanted = WINDOW

    def finish_open(self) -> Iterator[Violation]:
        """Take the end of what may go on, of which nothing is certain."""
        return iter(())

    def finish(self) -> Iterator[Violation]:
        """Take the end of the stream; yield the remaining violations."""
        if len(self._ids):
            yield from self._judge(self._ids, final=True) or ()

    def _judge(self, ids: Int32Array, final: bool) -> list[Violation] | None:
        """Judge the first ids and drop them; None if where they go wrong hangs on what follows."""
        ends = np.cumsum(self._lengths[ids])
        decoder = self._tokenizer.inner_decoder if self._first else self._tokenizer.decoder
        data = b"".join(decoder.iter_bytes([ids]))
        # The first token of all has no space in front, but its prefix.
        ends += len(data) - int(ends[-1])
        violations = []
        canonical = self._tokenizer.encode(data)
        if not np.array_equal(ids, canonical):
            tokens = self._tokenizer.encode_with_offsets(data, "bytes")
            for start, stop, low, high in _differences(ids, ends, tokens):
                prefix = common_prefix(ids[start:], canonical[low:])
                if not final and (start + prefix == len(ids) or low + prefix == len(canonical)):
                    return None
                violations.append(self._violation(ids, start, stop, canonical[low:high], start + prefix))
        self._byte += int(ends[-1])
        self._first += len(ids)
        self._ids = self._ids[len(ids) :]
        return violations

    def _violation(self, ids: Int32Array, start: int, stop: int, canonical: Int32Array, index: int) -> Violation:
        given = tuple(ids[start:stop].tolist())
        right = tuple(canonical.tolist())
        detected = max(self._detected(ids, start, stop), index)
        before = int(self._lengths[ids[:index]].sum())
        if not self._first and index:
            # The first token has no space before it, but its prefix.
            first = int(ids[0])
            before += len(self._tokenizer.decode([first]).encode("utf-8")) - int(self._lengths[first])
        return Violation(
            self._first + index,
            self._first + detected,
            self._byte + before,
            self._first + start,
            given,
            right,
            self._reason(given, right),
        )

    def _detected(self, ids: Int32Array, start: int, stop: int) -> int:
        """Return the token behind which no correct stream begins so, or the last one when there is no telling."""
        language = self._language
        if language is None:
            return stop - 1
        begin = start
        while begin > 0 and not self._opens[ids[begin]]:
            begin -= 1
        state: StreamState | None = language.initial
        for place in range(begin, stop):
            assert state is not None
            state = language.step(state, int(ids[place]))
            if state is None:
                return place
        return stop - 1

    @property
    def _language(self) -> TokenAutomaton[StreamState] | None:
        try:
            return self._tokenizer.language
        except AutomatonError:
            return None

    def _reason(self, given: tuple[int, ...], right: tuple[int, ...]) -> str:
        shown = "nothing" if not right else " ".join(map(self._show, right[:6])) + (" …" if len(right) > 6 else "")
        wrong = next((number for number, other in zip(given, right, strict=False) if number != other), given[-1])
        return f"{self._show(wrong)} is not the longest match in its text, which is encoded as {shown}"

    def _show(self, number: int) -> str:
        return f"{self._tokenizer.spelling(number)!r} ({number})"


def _differences(ids: Int32Array, ends: Int64Array, canonical: Tokens) -> Iterator[tuple[int, int, int, int]]:
    """Yield where ids and canonical ids differ, as half-open ranges of both that end at the same byte.

    Parameters
    ----------
    ids, ends : int32 and int64 arrays
        The ids, and where each ends in the text.
    canonical : Tokens
        The canonical ids, with their ends.
    """
    _, left, right = np.intersect1d(ends, canonical.ends, return_indices=True)
    bounds = [*zip((left + 1).tolist(), (right + 1).tolist(), strict=True), (len(ids), len(canonical.ids))]
    start = low = 0
    for stop, high in bounds:
        # Several tokens may end at one byte, and then the first one of them was found.
        if stop < start or high < low:
            continue
        if not np.array_equal(ids[start:stop], canonical.ids[low:high]):
            yield start, stop, low, high
        start, low = stop, high
