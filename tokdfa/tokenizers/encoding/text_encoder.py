"""Encoding whole texts: splitting and encoding in one compiled loop, which releases the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, PatternError
from tokdfa.kernels.encode.texts import CUT_SHORT, FOREIGN, LACKS_IDS, TextRun, WorkQueue
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.library import Struct
from tokdfa.tokenizers.encoding.batches import EncodedDocuments
from tokdfa.tokenizers.encoding.piece_encoder import PieceEncoder
from tokdfa.tokenizers.encoding.threads import on_threads

if TYPE_CHECKING:
    from tokdfa.tokenizers.pretokenizers.splitter import Splitter


class CharacterSplitter(NamedTuple):
    """How texts are cut for a dictionary over characters: where no token has both sides next to each other.

    `characters`, ``tokdfa_characters``, has the symbols of characters as texts have them, that is before any are
    replaced: a space has the symbol of U+2581 if it becomes that. So nothing has to be replaced in a text. `added`,
    ``tokdfa_added_tokens``, has the tokens that are found in texts first, None without. Texts that have the character
    `lacks` are encoded in another way.
    """

    characters: Struct
    added: Struct | None
    lacks: str | None = None


class TextEncoder:
    """The function from UTF-8 to ids, for a splitting that is a machine, or a dictionary over characters.

    Not to be used by two threads at a time: it keeps its buffers. `pieces` encodes pieces, and caches them. `run` is
    the kernel that encodes, and reports errors in numbers.
    """

    def __init__(self, pieces: PieceEncoder, splitter: Splitter | CharacterSplitter) -> None:
        self.splitter = splitter
        if isinstance(splitter, CharacterSplitter):
            # Pieces of characters that lack an id are refused before.
            self.run = TextRun(pieces.run, None, characters=splitter.characters, lacks_ids=False, encode_long=None)
            return
        self.run = TextRun(pieces.run, splitter.tables, lacks_ids=pieces.lacks_ids, encode_long=pieces.encode_long)

    def encode(self, data: bytes) -> Int32Array | None:
        """Return the ids of a text without looking for added tokens; None if there is a token without an id.

        PatternError is raised if the text is not UTF-8, and AlphabetError if a piece has a symbol that is not in the
        alphabet, saying where.
        """
        self.run.look_for(None)
        ids = self.run.encode(data)
        if not isinstance(ids, int):
            return ids
        if ids == LACKS_IDS:
            return None
        if ids == FOREIGN:
            raise AlphabetError("the symbol is not in the base alphabet", where=f"the piece at byte {self.run.piece}")
        at = self.run.at
        what = "the text ends within a symbol" if ids == CUT_SHORT else "not UTF-8"
        raise PatternError(what, value=data[at : at + 4], where=f"byte {at}")


# The buffer of the result has an entry for each byte. More bytes than this are not encoded side by side.
_MOST = 1 << 28
# The bytes of a batch: so few that no thread waits long for the others at the end, and so many that the call of the
# kernel for several texts is worth it.
_PARCELS_A_THREAD, _SMALL, _LARGE = 16, 1 << 14, 1 << 18


def encode_side_by_side(
    texts: FoundTexts,
    idle: Callable[[], AbstractContextManager[TextEncoder | None]],
    n_threads: int,
    added: Struct | None = None,
    *,
    ids_a_byte: int = 1,
    most: int = _MOST,
) -> EncodedDocuments | None:
    """Return the ids of texts; None if one is refused, or if they have more than `most` bytes of UTF-8.

    Each thread, the calling one included, writes the ids of its batches where they belong in the result. `idle` gives
    an encoder that no other thread uses, as long as a ``with`` statement lasts. `added`, ``tokdfa_added_tokens``, are
    the added tokens to be found. A text has at most `ids_a_byte` ids for each of its bytes.
    """
    n, total = len(texts.texts), int(texts.offsets[-1])
    if total > most:
        return None
    size = _parcel_size(total, n_threads)
    # Each batch ends with the first text that makes it large enough.
    ends = dict.fromkeys(texts.offsets.searchsorted(np.arange(size, total, size)).tolist())
    queue = WorkQueue(texts, [0, *(end for end in ends if end < n), n], ids_a_byte)

    def work() -> bool:
        with idle() as encoder:
            if encoder is None:
                queue.refuse()
                return False
            encoder.run.look_for(added)
            return encoder.run.encode_queue(queue)

    return EncodedDocuments(*queue.result()) if all(on_threads(work, min(n_threads, len(queue)))) else None


def _parcel_size(total: int, n_threads: int) -> int:
    """Return how many bytes of this total a thread encodes at a time."""
    return _LARGE if n_threads == 1 else min(max(total // (_PARCELS_A_THREAD * n_threads), _SMALL), _LARGE)
