"""Codes of code points and flags of bytes, for a tokenizer that cleans, splits and matches in one pass.

They are the ones of ``door.h``, which explains each of them.
"""

from __future__ import annotations

from typing import Final

from tokdfa.kernels.library import lib

__all__ = [
    "ALONE",
    "BLOCK_BITS",
    "CONTINUES",
    "EDGE",
    "KIND",
    "KIND_BITS",
    "LEAD",
    "LONGEST_INDEXED",
    "REORDER",
    "SEQUENCE",
    "SKIP",
    "SPACE",
    "SYMBOL",
]

SYMBOL: Final[int] = lib.TOKDFA_CODE_SYMBOL
SKIP: Final[int] = lib.TOKDFA_CODE_SKIP
SPACE: Final[int] = lib.TOKDFA_CODE_SPACE
ALONE: Final[int] = lib.TOKDFA_CODE_ALONE
SEQUENCE: Final[int] = lib.TOKDFA_CODE_SEQUENCE
REORDER: Final[int] = lib.TOKDFA_CODE_REORDER
KIND: Final[int] = lib.TOKDFA_CODE_KIND
CONTINUES: Final[int] = lib.TOKDFA_CODE_CONTINUES
KIND_BITS: Final[int] = lib.TOKDFA_CODE_KIND_BITS
BLOCK_BITS: Final[int] = lib.TOKDFA_CODE_BLOCK_BITS
EDGE: Final[int] = lib.TOKDFA_BYTE_EDGE
LEAD: Final[int] = lib.TOKDFA_BYTE_LEAD
LONGEST_INDEXED: Final[int] = lib.TOKDFA_LONGEST_INDEXED
