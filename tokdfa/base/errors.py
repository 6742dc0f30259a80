"""The errors that tokdfa raises on purpose.

Each is a :class:`TokdfaError` and states the problem, the value, its location and the remedy on one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = [
    "AlphabetError",
    "Argument",
    "AutomatonError",
    "DictionaryError",
    "FileFormatError",
    "Hint",
    "ImproperDictionaryError",
    "KernelError",
    "LimitExceededError",
    "MissingFileError",
    "PatternError",
    "TokdfaError",
    "TokenStreamError",
    "TrainingError",
    "UnsupportedFeatureError",
    "WrongTypeError",
]

_MISSING: Any = object()
_VALUE_WIDTH = 120
_MOST_CHARACTERS = 600


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 1] + "…"


def _clip(text: str) -> str:
    """Return a part of a message, without the middle if it quotes a whole pattern, vocabulary or file."""
    half = _MOST_CHARACTERS // 2
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:half]} … {text[-half:]}"


class Argument(NamedTuple):
    """An argument that a hint names, as data: each surface spells it in its own way, and ``str`` is Python's."""

    name: str
    value: str | None = None

    def __str__(self) -> str:
        return self.name if self.value is None else f'{self.name}="{self.value}"'


class Hint(str):
    """A hint with arguments in it; as a string, they are spelled as in Python.

    Examples
    --------
    >>> hint = Hint("choose ", Argument("level", "byte"), ", or raise ", Argument("max_states"))
    >>> print(hint)
    choose level="byte", or raise max_states
    >>> hint.spelled(lambda argument: f"--{argument.name}")
    'choose --level, or raise --max_states'
    """

    _parts: tuple[str | Argument, ...]

    def __new__(cls, *parts: str | Argument) -> Hint:
        hint = super().__new__(cls, "".join(map(str, parts)))
        hint._parts = parts
        return hint

    def spelled(self, spell: Callable[[Argument], str]) -> str:
        """Return the hint with each argument as `spell` writes it."""
        return "".join(spell(part) if isinstance(part, Argument) else part for part in self._parts)


class TokdfaError(ValueError):
    """The base class of all errors that tokdfa raises.

    Parameters
    ----------
    what : str
        The problem, in one sentence without a full stop.
    value : object, optional
        The offending value; the message shows it shortened.
    where : str, optional
        Where the value is: a file, line, byte offset, rule index or JSON path.
    hint : str, optional
        The remedy; a :class:`Hint` if it names arguments.

    Attributes
    ----------
    what, value, where, hint
        The parameters, for programs that need more than the message.

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
        self._shown = "" if value is _MISSING else f": {_shorten(value)}"
        super().__init__(str(self))

    def __str__(self) -> str:
        message = f"{_clip(self.where)}: {_clip(self.what)}" if self.where else _clip(self.what)
        message += self._shown
        if self.hint:
            message += f" ({_clip(self.hint)})"
        return " ".join(message.splitlines())


class AlphabetError(TokdfaError):
    """A word, symbol or token that is not in the alphabet in use."""


class DictionaryError(TokdfaError):
    """Rules that do not form a byte pair dictionary."""


class ImproperDictionaryError(DictionaryError):
    """A dictionary that is not proper (Def 3) where a proper one is required."""


class AutomatonError(TokdfaError):
    """An automaton that does not meet the requirements of an algorithm."""


class PatternError(TokdfaError):
    """A pattern that cannot be read, or that needs something automata cannot express."""


class LimitExceededError(TokdfaError):
    """A construction that would exceed its budget of states, bytes or time."""


class FileFormatError(TokdfaError):
    """A file that is damaged or not in the format it claims to be in."""


class MissingFileError(TokdfaError, FileNotFoundError):
    """A file or a folder that does not exist; it is a FileNotFoundError as well."""


class UnsupportedFeatureError(FileFormatError):
    """A file that is refused because it needs a feature that tokdfa does not model exactly."""


class TokenStreamError(TokdfaError):
    """Ids that cannot be a token stream: negative, too large, not integers, or cut off in the middle."""


class TrainingError(TokdfaError):
    """A corpus or a request from which no dictionary can be trained."""


class KernelError(TokdfaError):
    """Compiled kernels that are missing, broken, or not compiled from the sources next to them."""


class WrongTypeError(TokdfaError, TypeError):
    """A value of a type that is not accepted, such as bytes for a text."""
