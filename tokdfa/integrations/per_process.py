"""Tokenizers within steps that frameworks copy and send: built once by each process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["PerProcess", "built_once", "why_not_canonical"]

_MOST = 4
_built: dict[str, AnyTokenizer] = {}


class PerProcess:
    """A tokenizer of which a process has one, however many copies of its holders there are.

    What is sent to other processes is the content of its files.
    """

    def __init__(self, tokenizer: Any) -> None:
        own = as_tokenizer(tokenizer)
        self._fingerprint = own.fingerprint
        self.tokenizer = built_once(self._fingerprint, lambda: own)

    def __deepcopy__(self, memo: object) -> PerProcess:
        return self

    def __reduce__(self) -> tuple[Callable[[str, AnyTokenizer], PerProcess], tuple[str, AnyTokenizer]]:
        return _restored, (self._fingerprint, self.tokenizer)


def _restored(fingerprint: str, tokenizer: AnyTokenizer) -> PerProcess:
    return PerProcess(built_once(fingerprint, lambda: tokenizer))


def built_once(fingerprint: str, make: Callable[[], AnyTokenizer]) -> AnyTokenizer:
    """Return the tokenizer with a fingerprint that this process has, with the tables that it has built; or make it."""
    if fingerprint not in _built:
        if len(_built) >= _MOST:
            _built.pop(next(iter(_built)), None)
        _built[fingerprint] = make()
    return _built[fingerprint]


def why_not_canonical(tokenizer: AnyTokenizer, ids: Any) -> str | None:
    """Return the kind of the first violation in a document; None if it is canonical.

    Examples
    --------
    >>> import tokdfa
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> why_not_canonical(tokenizer, [64, 2513]), why_not_canonical(tokenizer, [261, 1193])
    (None, 'pair')
    """
    verdict = tokenizer.validate(ids)
    return None if verdict else str(verdict.violations[0].kind.value)
