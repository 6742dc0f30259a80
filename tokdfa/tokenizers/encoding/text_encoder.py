"""Encoding whole texts: splitting and encoding in one compiled loop, which releases the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, offsets_of
from tokdfa.base.errors import AlphabetError, PatternError
from tokdfa.kernels.encode.texts import CUT_SHORT, FOREIGN, LACKS_IDS, TextRun, WorkQueue
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.library import Struct
from tokdfa.kernels.normalization.quick_check import find_changed, first_change
from tokdfa.regex.unicode.quick_check import form_tables, in_form
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.batches import EncodedDocuments
from tokdfa.tokenizers.encoding.piece_encoder import PieceEncoder
from tokdfa.tokenizers.encoding.threads import on_threads

if TYPE_CHECKING:
    from tokdfa.regex.unicode.normalization import Form
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


# A byte that no text has.
_BETWEEN = b"\xff"


class OverlapError(ValueError):
    """White space belongs to two added tokens, so that the text between them is not a part of the text."""


class InForm:
    """Brings texts into a form, except for the added tokens that are found before that.

    Its methods raise OverlapError if white space belongs to two of these.
    """

    def __init__(self, form: Form, added_tokens: AddedTokens) -> None:
        self._form = form
        self._tables = form_tables(form)
        self._outer = added_tokens.outer_finder

    def __call__(self, data: bytes | memoryview) -> tuple[Uint8Array, Int64Array] | None:
        """Return the form of UTF-8, and the added tokens of level 0 in it; None if it is in the form.

        The tokens are rows of start, stop and number.
        """
        if first_change(self._tables, data) == len(data):
            return None
        spans = self._spans(data)
        return in_form(data, self._form, spans), spans

    def of_all(self, texts: list[str]) -> FoundTexts | None:
        """Return the forms of texts; None if they have other added tokens of level 0. It raises as FoundTexts does."""
        found = FoundTexts(texts)
        changed = find_changed(self._tables, found.addresses, found.offsets)
        if len(changed) == 0:
            return found
        # All at once. The byte between two texts is not UTF-8: no token reaches across it, and it is left as it is.
        parts = [texts[at].encode() for at in changed.tolist()]
        ends = offsets_of(parts)[1:] + np.arange(1, len(parts) + 1)
        data = _BETWEEN.join((*parts, b""))
        tokens = self._spans(data)
        spans = np.concatenate((np.column_stack((ends - 1, ends, np.full(len(ends), -1))), tokens))
        spans = np.ascontiguousarray(spans[np.argsort(spans[:, 0])])
        made = in_form(data, self._form, spans)
        is_between = spans[:, 2] < 0
        if not np.array_equal(self._spans(made.data), spans[~is_between]):
            return None
        stops = spans[is_between, 0]
        return found.replaced(changed, made, np.append(0, stops[:-1] + 1), stops)

    def _spans(self, data: bytes | memoryview) -> Int64Array:
        if self._outer is None:
            return np.zeros((0, 3), dtype=np.int64)
        spans = self._outer.find(data)
        if (spans[1:, 0] < spans[:-1, 1]).any():
            raise OverlapError
        return spans
