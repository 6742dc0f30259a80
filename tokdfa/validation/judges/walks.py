"""The choice of the walk that shows whole streams to be canonical, which needs none of the judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.validation.judges.whole_walk import WholeWalk
from tokdfa.validation.model import Model

if TYPE_CHECKING:
    from tokdfa.validation.judges.accepting import WholeAcceptor

__all__ = ["documents_walk", "is_walked", "is_walked_in_form", "model_of", "whole_walk"]


def whole_walk(tokenizer: AnyTokenizer) -> WholeWalk | WholeAcceptor | None:
    """Return the walk over the streams of a tokenizer, a derived table; None if a walk does not decide them.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.
    """
    if tokenizer.acceptor is not None:
        from tokdfa.validation.judges.accepting import WholeAcceptor

        return WholeAcceptor(tokenizer.acceptor, tokenizer.n_ids)
    if not isinstance(tokenizer, Tokenizer) or not (tokenizer.is_plain or is_walked_in_form(tokenizer)):
        return None
    model = model_of(tokenizer)
    return None if not is_walked(model) or model.table is None else WholeWalk(model)


def documents_walk(tokenizer: AnyTokenizer) -> WholeWalk | None:
    """Return the walk that finds which of many documents are canonical; None if a walk does not decide them."""
    walk = tokenizer.derived(whole_walk) if isinstance(tokenizer, Tokenizer) and tokenizer.is_plain else None
    return walk if isinstance(walk, WholeWalk) else None


def model_of(tokenizer: Tokenizer) -> Model:
    """Return the tables over the ids of a tokenizer."""
    return tokenizer.derived(Model)


def is_walked_in_form(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer only brings texts into a normalization form, and is otherwise judged by walking."""
    return tokenizer.form is not None and is_walked(model_of(tokenizer))


def is_walked(model: Model) -> bool:
    """Return whether whole texts are judged by walking over their ids.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.
    """
    tokenizer = model.tokenizer
    if not model.by_pairs and tokenizer.format not in LEFTMOST_FORMATS:
        tokenizer.dictionary.require_proper()
    return tokenizer.why_whole is None and tokenizer.pretokenizer is not None
