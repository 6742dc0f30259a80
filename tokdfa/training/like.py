"""Whole trainers by name: all the options in which they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from tokdfa.errors import TrainingError

__all__ = ["DEFAULTS", "Trainer", "resolve"]

Trainer: TypeAlias = Literal["tokenizers", "sentencepiece", "subword-nmt", "rustbpe", "minbpe"]

DEFAULTS: dict[str, Any] = {
    "tie": "first-seen",
    "count": "non-overlapping",
    "unit": "file",
    "level": "byte",
    "end_of_word": None,
    "min_frequency": 2,
    "max_token_length": None,
}

_TRAINERS: dict[Trainer, dict[str, Any]] = {
    "tokenizers": {"tie": "huggingface", "unit": "line", "level": "byte", "min_frequency": 1},
    "sentencepiece": {"tie": "sentencepiece", "unit": "line", "level": "character", "min_frequency": 1},
    "subword-nmt": {"tie": "subword-nmt", "unit": "line", "level": "character", "end_of_word": "attached"},
    "rustbpe": {"tie": "rustbpe", "unit": "line", "level": "byte", "min_frequency": 1},
    "minbpe": {"tie": "first-seen", "unit": "file", "level": "byte", "min_frequency": 1},
}
# All of them count every adjacent pair, and none limits the length of tokens.
_SAME: dict[str, Any] = {"count": "overlapping"}
# The options that the trainer itself lets its users choose.
_FREE: dict[str, tuple[str, ...]] = {"tokenizers": ("min_frequency",), "subword-nmt": ("min_frequency",)}


def resolve(like: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a trainer: ties, counting, the unit of reading, symbols and limits.

    Parameters
    ----------
    like : str, optional
        The trainer to imitate: ``tokenizers`` (BpeTrainer over ByteLevel, fed with the lines of a file),
        ``sentencepiece`` (type bpe), ``subword-nmt`` (learn_bpe), ``rustbpe`` (fed with lines), ``minbpe``
        (RegexTokenizer). The pre-tokenizer is chosen separately.
    given : mapping
        The options of :data:`DEFAULTS` that are chosen explicitly.

    Returns
    -------
    dict
        A value for each of :data:`DEFAULTS`.

    Raises
    ------
    TrainingError
        If there is no such trainer, or an explicit choice contradicts it.

    Examples
    --------
    >>> resolve("minbpe", {})["count"]
    'overlapping'
    >>> resolve("minbpe", {"unit": "line"})
    Traceback (most recent call last):
    tokdfa.errors.TrainingError: minbpe has the unit 'file': 'line' (leave it out, or leave like out)
    """
    if like is None:
        return {**DEFAULTS, **given}
    if like not in get_args(Trainer):
        raise TrainingError("unknown trainer", value=like, hint=f"use one of {', '.join(get_args(Trainer))}")
    meant = {**DEFAULTS, **_SAME, **_TRAINERS[like]}  # type: ignore[index]
    for name, value in given.items():
        if name not in _FREE.get(like, ()) and value != meant[name]:
            what = f"{like} has the {name.replace('_', ' ')} {meant[name]!r}"
            raise TrainingError(what, value=value, hint="leave it out, or leave like out")
    return {**meant, **given}
