"""A SentencePiece model that is written plainly, read without the packages that read all of protocol buffers."""

from __future__ import annotations

from typing import NamedTuple

from tokdfa.kernels.spelling.model import PieceList, read_pieces

SURFACE = " \u2047 "
"""The decoded text of the unknown piece, unless a model says otherwise."""

_NUMBER, _BYTES = 0, 2
_WIDTHS = {1: 8, 5: 4}
_TRAINER, _NORMALIZER, _DENORMALIZER = 2, 3, 5


class Settings(NamedTuple):
    """The settings of a model, without its pieces.

    `is_suffix` is whether white space is treated as a suffix, `surface` is the decoded text of the unknown piece, and
    `charsmap` the precompiled character table, which may be empty. `puts`, `trims` and `escapes` are whether a space is
    put before texts, white space that is not needed is removed, and spaces become U+2581.
    """

    is_unigram: bool
    byte_fallback: bool
    is_suffix: bool
    surface: str
    charsmap: bytes
    puts: bool
    trims: bool
    escapes: bool


class PlainModel(NamedTuple):
    """Pieces and settings."""

    pieces: PieceList
    settings: Settings


class _OddError(Exception):
    """Something that only a reader of all of protocol buffers understands."""


def read_plain_model(data: bytes) -> PlainModel | None:
    """Read a model that is written plainly, as the library writes it; None if anything is odd, or wrong.

    That is a field that is there twice or in another form, a part that is missing, a normalizer with unknown fields, a
    decoder with a character table, or a model of another type.
    """
    pieces = read_pieces(data)
    if pieces is None:
        return None
    try:
        return PlainModel(pieces, _settings(pieces.left))
    except _OddError:
        return None


def _settings(data: bytes) -> Settings:
    parts = _once(data, {_TRAINER: _BYTES, _NORMALIZER: _BYTES, _DENORMALIZER: _BYTES})
    if 1 in parts or not {_TRAINER, _NORMALIZER} <= parts.keys():
        raise _OddError
    trainer = _once(_bytes(parts[_TRAINER]), {3: _NUMBER, 24: _NUMBER, 35: _NUMBER, 44: _BYTES})
    normalizer, denormalizer = (
        _once(_bytes(parts.get(part, b"")), {1: _BYTES, 2: _BYTES, 3: 0, 4: 0, 5: 0, 6: _BYTES}, only=True)
        for part in (_NORMALIZER, _DENORMALIZER)
    )
    kind = trainer.get(3, 1)
    if kind not in (1, 2) or denormalizer.get(2):
        raise _OddError
    try:
        surface = _bytes(trainer.get(44, SURFACE.encode("utf-8"))).decode("utf-8")
    except UnicodeDecodeError:
        raise _OddError from None
    return Settings(
        is_unigram=kind == 1,
        byte_fallback=_flag(trainer.get(35, 0)),
        is_suffix=_flag(trainer.get(24, 0)),
        surface=surface,
        charsmap=_bytes(normalizer.get(2, b"")),
        puts=_flag(normalizer.get(3, 1)),
        trims=_flag(normalizer.get(4, 1)),
        escapes=_flag(normalizer.get(5, 1)),
    )


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise _OddError
    return value


def _flag(value: int | bytes) -> bool:
    if value not in (0, 1):
        raise _OddError
    return value == 1


def _once(data: bytes, forms: dict[int, int], *, only: bool = False) -> dict[int, int | bytes]:
    """Return the fields of a message that are wanted, each in its form; with `only` there must be no others."""
    found: dict[int, int | bytes] = {}
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        # Most are one byte, and so are most sizes; a trainer may name hundreds of files.
        tag, at = (tag, at + 1) if tag < 0x80 else _number(data, at)
        number, form = tag >> 3, tag & 7
        value, begin = 0, at
        if form == _NUMBER:
            value, at = _number(data, at)
        elif form == _BYTES:
            size = data[at] if at < end else 0x80
            size, begin = (size, at + 1) if size < 0x80 else _number(data, at)
            at = begin + size
        elif form in _WIDTHS:
            at += _WIDTHS[form]
        else:
            raise _OddError
        if not 0 < number < 1 << 26 or at > end:
            raise _OddError
        if number in forms:
            if number in found or form != forms[number]:
                raise _OddError
            found[number] = data[begin:at] if form == _BYTES else value
        elif only:
            raise _OddError
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset after it."""
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise _OddError
        number |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return number, at
    raise _OddError
