"""The function `align`: cut two streams of ids of one text at the boundaries that both share."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import Argument, Hint, TokenStreamError, WrongTypeError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.alignment.result import Alignment, Side
from tokdfa.jobs.alignment.spelling import spelled_words
from tokdfa.kernels.spelling.spell import spell_bytes
from tokdfa.kernels.walk import alignment as kernels
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["align"]

_SHOWN_BYTES, _SHOWN_IDS = 12, 4


def align(
    tok_a: AnyTokenizer,
    ids_a: npt.ArrayLike,
    tok_b: AnyTokenizer,
    ids_b: npt.ArrayLike,
    *,
    documents_a: npt.ArrayLike | None = None,
    documents_b: npt.ArrayLike | None = None,
    special: Literal["drop", "keep"] = "drop",
) -> Alignment:
    """Cut two streams of ids of one text into units, at the boundaries that both share.

    A boundary is a byte offset of the text at which an id begins. A unit is the text between two neighbouring shared
    boundaries: the smallest part that both streams spell with whole ids. If one spells `` single`` and the other
    `` s``, ``ingle``, that is one unit. The ids need not be canonical, and may split characters: bytes are compared.

    Parameters
    ----------
    tok_a, tok_b : AnyTokenizer
        The two tokenizers, which may be the same.
    ids_a, ids_b : array_like of int
        The ids of the text in each tokenizer.
    documents_a, documents_b : array_like of int, optional
        If there are several documents: the index of the first id of each, in both streams, ascending. Each document is
        decoded separately.
    special : {"drop", "keep"}
        Whether control tokens, such as ``<s>``, add nothing to the text or are spelled as in their file.

    Returns
    -------
    Alignment

    Raises
    ------
    TokenStreamError
        If the texts differ; the error has the first difference. Also if an id is unknown, or the documents do not
        divide the stream.
    UnsupportedFeatureError
        If ids have no text, or the bytes of an id depend on more than whether it is the first or the last one, as where
        decoding removes spaces before punctuation.

    Notes
    -----
    The text is the decoded text. A space before it that decoding removes is not part of it. A control token adds
    nothing, or its content with ``special="keep"``. An added token that is text adds its content.

    Ids without bytes at a shared boundary are a unit without bytes, with ids on one side or both: ``<s>`` of both
    streams is one unit. Elsewhere, they belong to the unit around them.

    It takes 5 ns per id, and 24 bytes of memory per unit.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> alignment = tokdfa.align(tokenizer, [64, 2513], tokenizer, [64, 261, 1193])
    >>> alignment.a_bounds.tolist(), alignment.b_bounds.tolist(), alignment.offsets.tolist()
    ([0, 1, 2], [0, 1, 3], [0, 1, 8])
    """
    if special not in ("drop", "keep"):
        raise WrongTypeError('special tokens are "drop" or "keep"', value=special, where="special")
    drops = special == "drop"
    a, b = _side("a", tok_a, ids_a, documents_a, drops), _side("b", tok_b, ids_b, documents_b, drops)
    if len(a.bounds) != len(b.bounds):
        what = f"the streams have {len(a.bounds) - 1:,} and {len(b.bounds) - 1:,} documents"
        raise TokenStreamError(what, where="documents", hint="both must have the same documents")
    units = kernels.align(*(kernels.SpelledIds(side.of.words.spelled, side.of.numbers, side.bounds) for side in (a, b)))
    if units.n_texts < len(a.bounds) - 1:
        raise _different(units, (a, b), drops)
    return Alignment(a.ids, b.ids, *units[:4], {"a": a.of, "b": b.of})


class _Stream(NamedTuple):
    """The ids of one side, the bounds of its documents, and the words of the ids."""

    ids: Int32Array
    bounds: Int64Array
    of: Side


def _side(name: str, tokenizer: AnyTokenizer, ids: npt.ArrayLike, starts: npt.ArrayLike | None, drops: bool) -> _Stream:
    """Return the checked stream of a side."""
    where = f"ids_{name}"
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.align(tok_a, ids_a, tok_b, ids_b)")
    try:
        checked = tokenizer.decoder.check(ids)
    except TokenStreamError as error:
        raise TokenStreamError(
            error.what, value=error.value, where=f"{where}, {error.where}", hint=error.hint
        ) from None
    begins = np.zeros(1, dtype=np.int64) if starts is None else np.asarray(starts)
    if begins.dtype.kind not in "iu" or begins.ndim != 1:
        raise WrongTypeError("the first ids of documents are integers", value=starts, where=f"documents of {where}")
    bounds: Int64Array = np.append(begins, len(checked)).astype(np.int64)
    if bounds[0] != 0 or (np.diff(bounds) < 0).any():
        what = "the documents must begin at id 0, and then at ascending ids of the stream"
        raise TokenStreamError(what, value=starts, where=f"documents of {where}")
    words = tokenizer.derived(spelled_words, drops)
    return _Stream(checked, bounds, Side(words, words.numbers(checked, bounds)))


def _different(units: kernels.Units, sides: tuple[_Stream, _Stream], drops: bool) -> TokenStreamError:
    """Return the error for different texts, with the first difference: its offset, and ids and bytes of both sides."""
    document, begin, byte = units.n_texts, int(units.offsets[-2]), int(units.offsets[-1])
    shown, indices = [], []
    for found, side in zip((units.a_bounds, units.b_bounds), sides, strict=True):
        first, at, stop = int(found[-2]), int(found[-1]), int(side.bounds[document + 1])
        data = spell_bytes(*side.of.words.words, side.of.numbers[first : min(at + _SHOWN_BYTES, stop)])
        index = max(at - 1, int(side.bounds[document]))
        ids = side.ids[index : min(index + _SHOWN_IDS, stop)].tolist()
        rest = data[byte - begin :][:_SHOWN_BYTES]
        shown.append(f"{rest!r} of ids {', '.join(map(str, ids))}" if rest else "the end")
        indices.append(index)
    where = f"byte {byte - int(units.offsets[units.texts[document]])}, tokens {indices[0]} and {indices[1]}"
    if len(sides[0].bounds) > 2:
        where = f"document {document}, {where}"
    hint = (
        Hint("control tokens add nothing; ", Argument("special", "keep"), " spells them")
        if drops
        else Hint(Argument("special", "drop"), " drops control tokens")
    )
    what = f"the streams are of different texts, {shown[0]} in A and {shown[1]} in B"
    return TokenStreamError(what, where=where, hint=hint)
