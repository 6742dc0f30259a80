"""The choice of the judge for a tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, singledispatch
from typing import TypeAlias

from tokdfa.arguments import wrong_argument
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.validation.judges.documents import Judge
from tokdfa.validation.judges.encoding import EncodingJudge
from tokdfa.validation.judges.open import OpenJudge
from tokdfa.validation.judges.walk import WalkJudge
from tokdfa.validation.judges.walks import is_walked, is_walked_in_form, model_of
from tokdfa.validation.judges.whole import WholeJudge
from tokdfa.validation.model import Model
from tokdfa.validation.tuning import DEFAULT, Tuning

__all__ = ["judge_of"]

Begin: TypeAlias = Callable[[int, int], Judge]
"""A function that makes a judge, given the first token of the stream to judge and its byte offset."""


@singledispatch
def judge_of(
    tokenizer: AnyTokenizer,
    *,
    window: bool = False,
    documents: bool = False,
    literal: bool = False,
    tuning: Tuning = DEFAULT,
) -> Begin:
    """Return the function that makes judges for the streams of a tokenizer.

    Streams of a class of tokenizers that is not registered are judged as a whole, by the definition.

    Raises
    ------
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.
    """
    if not isinstance(tokenizer, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.validate(tokenizer, ids)")
    if window:
        raise UnsupportedFeatureError(f"windows cannot be judged for a {tokenizer.algorithm} tokenizer")
    return partial(EncodingJudge, tokenizer.round_trip, literal=literal, tuning=tuning)


@judge_of.register
def _(
    tokenizer: Tokenizer,
    *,
    window: bool = False,
    documents: bool = False,
    literal: bool = False,
    tuning: Tuning = DEFAULT,
) -> Begin:
    if not tokenizer.is_plain and not is_walked_in_form(tokenizer):
        whole = partial(EncodingJudge, tokenizer.round_trip, literal=literal, tuning=tuning)
        return _open(tokenizer, whole, literal, tuning) if window else whole
    model = model_of(tokenizer)
    inner = _judges(model, literal, tuning)
    if not window:
        return inner
    if literal and not tokenizer.finds_specials:
        raise UnsupportedFeatureError("a window cannot be judged with special tokens taken literally")

    def begin(first: int, byte: int) -> Judge:
        return OpenJudge(model, first, byte, tuning=tuning) if first == 0 else inner(first, byte)

    return begin


def _open(tokenizer: Tokenizer, whole: Begin, literal: bool, tuning: Tuning) -> Begin:
    """Return the function that makes judges of windows of a tokenizer that rewrites texts."""
    if not tokenizer.boundaries.continues:
        why = tokenizer.boundaries.why_none or "the text is rewritten"
        raise UnsupportedFeatureError(f"a window cannot be judged where no place is known to cut the text: {why}")
    trip = tokenizer.round_trip
    if literal and trip.cuts.any():
        raise UnsupportedFeatureError("a window cannot be judged with special tokens taken literally")
    from tokdfa.validation.judges.open_encoding import OpenEncodingJudge

    return lambda first, byte: OpenEncodingJudge(trip, first, byte, tuning=tuning) if first == 0 else whole(first, byte)


def _judges(model: Model, literal: bool, tuning: Tuning) -> Begin:
    """Return the function that makes judges of whole texts."""
    tokenizer = model.tokenizer
    walks = is_walked(model)
    by_encoding = partial(EncodingJudge, tokenizer.round_trip, literal=literal, tuning=tuning)
    if literal and len(tokenizer.special_ids) and not tokenizer.finds_specials:
        return by_encoding
    if tokenizer.why_whole is not None:
        return by_encoding
    return partial(WalkJudge if walks else WholeJudge, model, tuning=tuning)
