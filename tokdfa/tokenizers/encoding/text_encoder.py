"""Encoding whole texts: splitting and encoding in one compiled loop, which releases the interpreter's lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, PatternError
from tokdfa.kernels.encode.texts import CUT_SHORT, FOREIGN, LACKS_IDS, TextRun
from tokdfa.tokenizers.encoding.character_splitter import CharacterSplitter
from tokdfa.tokenizers.encoding.piece_encoder import PieceEncoder

if TYPE_CHECKING:
    from tokdfa.tokenizers.pretokenizers.splitter import Splitter


class TextEncoder:
    """The function from UTF-8 to ids, for a splitting that is a machine, or a dictionary over characters.

    Not to be used by two threads at a time: it keeps its buffers.

    Parameters
    ----------
    pieces : PieceEncoder
        The encoder of pieces, which caches them.
    splitter : Splitter or CharacterSplitter

    Attributes
    ----------
    splitter : Splitter or CharacterSplitter
    run : TextRun
        The kernel that encodes, and reports errors in numbers.
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

        Raises
        ------
        PatternError
            If the text is not UTF-8; the error says where.
        AlphabetError
            If a piece has a symbol that is not in the alphabet; the error says where the piece begins.
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
