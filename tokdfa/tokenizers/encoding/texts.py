"""Checking texts from outside: strings are accepted, anything else is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from tokdfa.base.errors import AlphabetError, WrongTypeError
from tokdfa.base.suggestions import with_article


def check_text(text: object) -> None:
    """Raise WrongTypeError unless a text is a string."""
    if not isinstance(text, str):
        _refuse(text, "a text must be a str", "decode it" if isinstance(text, (bytes, bytearray)) else None)


def check_encodable(text: object) -> None:
    """Raise an error unless this is a text that has an encoding in UTF-8."""
    check_text(text)
    assert isinstance(text, str)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        where = f"character {error.start}"
        raise AlphabetError("half of a surrogate pair", value=text[error.start], where=where) from None


def check_bytes_or_text(text: object) -> None:
    """Raise WrongTypeError unless a text is a string or its UTF-8."""
    if not isinstance(text, (str, bytes)):
        hint = "bytes(…)" if isinstance(text, (bytearray, memoryview)) else None
        _refuse(text, "a text must be a str or bytes", hint)


def check_texts(texts: object) -> None:
    """Raise WrongTypeError unless texts are an iterable, and not one text: its characters would be taken for texts."""
    if isinstance(texts, (str, bytes, bytearray)):
        _refuse(texts, "expected several texts, not one", "put the text in a list")
    if not isinstance(texts, Iterable):
        _refuse(texts, "expected several texts, an iterable of str", None)


def _refuse(value: object, what: str, hint: str | None) -> NoReturn:
    raise WrongTypeError(f"{what}, not {with_article(type(value).__name__)}", value=value, hint=hint)
