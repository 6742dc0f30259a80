"""The errors that tokdfa raises on purpose.

Every one is a :class:`TokdfaError` and says, on one line, what is wrong, with which value, where, and what to do.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "AlphabetError",
    "AutomatonError",
    "DictionaryError",
    "FileFormatError",
    "ImproperDictionaryError",
    "KernelError",
    "LimitExceededError",
    "PatternError",
    "TokdfaError",
    "TokenStreamError",
    "TrainingError",
    "UnsupportedFeatureError",
    "WrongTypeError",
]

_MISSING: Any = object()
_VALUE_WIDTH = 120


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 1] + "…"


class TokdfaError(ValueError):
    """Root of the errors raised by tokdfa.

    Parameters
    ----------
    what : str
        What is wrong, in one sentence without a full stop.
    value : object, optional
        The offending value; shown shortened.
    where : str, optional
        File, line, byte offset, rule index, JSON path: where the value stands.
    hint : str, optional
        What to do about it.

    Attributes
    ----------
    what, value, where, hint
        The parameters, for programs that want more than the message.

    Examples
    --------
    >>> try:
    ...     tokdfa.default_tokenizer().decode([64, 1 << 20])
    ... except tokdfa.TokdfaError as error:
    ...     print(error.where, error.value)
    token 1 1048576
    """

    def __init__(
        self, what: str, *, value: object = _MISSING, where: str | None = None, hint: str | None = None
    ) -> None:
        self.what = what
        self.value = None if value is _MISSING else value
        self.where = where
        self.hint = hint
        message = f"{where}: {what}" if where else what
        if value is not _MISSING:
            message += f": {_shorten(value)}"
        if hint:
            message += f" ({hint})"
        super().__init__(" ".join(message.splitlines()))


class AlphabetError(TokdfaError):
    """A word, symbol or token that the alphabet at hand does not have."""


class DictionaryError(TokdfaError):
    """Rules that do not form a byte pair dictionary."""


class ImproperDictionaryError(DictionaryError):
    """A proper dictionary (Def 3) is needed and this one is not."""


class AutomatonError(TokdfaError):
    """An automaton that does not satisfy what an algorithm requires of it."""


class PatternError(TokdfaError):
    """A pattern that cannot be read, or that asks for what automata cannot do."""


class LimitExceededError(TokdfaError):
    """A construction that would exceed its budget of states, bytes or time."""


class FileFormatError(TokdfaError):
    """A file that is not what it claims to be."""


class UnsupportedFeatureError(FileFormatError):
    """A file that asks for something that is not modelled exactly, and is refused for that reason."""


class TokenStreamError(TokdfaError):
    """Ids that cannot be a token stream: negative, too large, not integers, cut in the middle."""


class TrainingError(TokdfaError):
    """A corpus or a request from which no dictionary can be trained."""


class KernelError(TokdfaError):
    """Compiled kernels that are missing, broken, or not made from the sources beside them."""


class WrongTypeError(TokdfaError, TypeError):
    """A value of a type that is not taken, such as bytes for a text."""
