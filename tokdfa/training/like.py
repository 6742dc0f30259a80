"""Whole trainers by name: everything in which they differ, set together."""

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
# All of them count every adjacent pair, and none is asked for a longest token.
_SAME: dict[str, Any] = {"count": "overlapping"}
# What the trainer itself lets its users choose.
_FREE: dict[str, tuple[str, ...]] = {"tokenizers": ("min_frequency",), "subword-nmt": ("min_frequency",)}


def resolve(like: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a trainer is asked for: the ties, the counting, what is read at a time, the symbols and the limits.

    Parameters
    ----------
    like : str, optional
        The trainer to do as: ``tokenizers`` (BpeTrainer over ByteLevel, fed with the lines of a file),
        ``sentencepiece`` (type bpe), ``subword-nmt`` (learn_bpe), ``rustbpe`` (fed with lines), ``minbpe``
        (RegexTokenizer). How text is cut into pieces is said by the pre-tokenizer.
    given : mapping
        Those of :data:`DEFAULTS` that are chosen explicitly.

    Returns
    -------
    dict
        A value for each of :data:`DEFAULTS`.

    Raises
    ------
    TrainingError
        If there is no such trainer, or something chosen explicitly is not what it does.

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
        raise TrainingError("no such trainer", value=like, hint=f"one of {', '.join(get_args(Trainer))}")
    meant = {**DEFAULTS, **_SAME, **_TRAINERS[like]}  # type: ignore[index]
    for name, value in given.items():
        if name not in _FREE.get(like, ()) and value != meant[name]:
            what = f"{like} has the {name.replace('_', ' ')} {meant[name]!r}"
            raise TrainingError(what, value=value, hint="leave it out, or leave like out")
    return {**meant, **given}
