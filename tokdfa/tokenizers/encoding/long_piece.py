"""A long piece: its tokens are returned before its end is known."""

from __future__ import annotations

from collections.abc import Callable

from tokdfa.automata.alphabet import Word
from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
from tokdfa.base.arrays import Int32Array


class LongPiece:
    """A piece of UTF-8 that comes in parts of whole symbols.

    Parameters
    ----------
    transducer : SubsequentialTransducer
    ids : int32 array
        The id of each token.
    word : callable
        Returns bytes as a word over the alphabet of the transducer.
    """

    def __init__(self, transducer: SubsequentialTransducer, ids: Int32Array, word: Callable[[bytes], Word]) -> None:
        self._stream = transducer.stream()
        self._ids = ids
        self._word = word
        self._is_bytewise = transducer.dictionary.alphabet.kind == "bytes"
        self._unsettled = b""

    @property
    def delay(self) -> int:
        """The number of bytes fed that no returned id accounts for."""
        return len(self._unsettled)

    def feed(self, part: bytes) -> Int32Array:
        """Return the ids that are settled since the last call.

        Raises
        ------
        ForeignSymbolError
            If a symbol has no token.
        """
        tokens = self._stream.feed(self._word(part))
        self._unsettled += part
        rest = self._stream.delay
        if self._is_bytewise:
            self._unsettled = self._unsettled[len(self._unsettled) - rest :]
        else:
            characters = self._unsettled.decode()
            self._unsettled = characters[len(characters) - rest :].encode()
        return self._ids[tokens]

    def finish(self) -> Int32Array:
        """Return the ids of the rest of the piece."""
        return self._ids[self._stream.finish()]
