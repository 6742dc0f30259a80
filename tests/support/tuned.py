"""Searching, replacing and validating with other thresholds of speed than users have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, Unpack

import numpy.typing as npt

from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.replacing.api import Replacer
from tokdfa.jobs.searching.api import Searcher
from tokdfa.jobs.validation.api import check, walk_over
from tokdfa.jobs.validation.validator import ValidationOptions, Validator
from tokdfa.jobs.validation.violations import Validation, validation
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["tuned", "tuned_validator", "validate_tuned"]

T = TypeVar("T", Searcher, Replacer)


def tuned(kind: type[T], tuning: object) -> type[T]:
    """Return a class that does what `kind` does, with these thresholds."""
    return type(kind.__name__, (kind,), {"_tuning": tuning})


def validate_tuned(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    *,
    all: bool = False,
    tuning: Tuning,
    **options: Unpack[ValidationOptions],
) -> Validation:
    """Return what :func:`tokdfa.validate` does, with other thresholds."""
    is_plain = not options.get("window") and not options.get("literal") and options.get("documents") is None
    walked = walk_over(tokenizer, ids) if is_plain and tuning.walks else None
    if walked is not None and walked[1] is None:
        return validation(len(walked[0]))
    return check(tokenizer, ids, walked, all=all, tuning=tuning, **options)


def tuned_validator(tokenizer: AnyTokenizer, *, tuning: Tuning, **options: Unpack[ValidationOptions]) -> Validator:
    """Return a validator with other thresholds."""
    validator = Validator(tokenizer, **options)
    validator._tune(tuning)
    return validator
