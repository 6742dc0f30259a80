"""The one place that chooses an engine for the streams of a tokenizer, and whole streams that need none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.window import DEFAULT, NEAR, WHOLE, Rest, Tuning
from tokdfa.kernels.walk import walk as kernels
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer

if TYPE_CHECKING:
    from tokdfa.jobs.validation.engines.reencoding import TextComparison
    from tokdfa.jobs.validation.engines.walk import PairWalk
    from tokdfa.jobs.validation.engines.whole import WholeText
    from tokdfa.jobs.validation.table import Table
    from tokdfa.tokenizers.models.unigram.segmenter import Acceptor

    StreamEngine: TypeAlias = PairWalk | WholeText | TextComparison

SHORT = 1 << 12
"""A stream of fewer ids is walked over in one call, with nothing to continue from if it is stopped."""

CHUNK = 1 << 16
"""The bytes of so many ids are counted at a time."""

MOST = 1 << 18
"""The most ids that are copied to be judged word by word."""


def unjudged_by_walk(table: Table, ids: IntegerArray) -> Rest | None:
    """Return the part of a stream that walking over it does not show to be canonical; None if all of it is.

    The ids are contiguous and aligned, of 16, 32 or 64 bits, but otherwise unchecked.
    """
    pairs = table.pairs.struct_for(len(ids))
    reach = table.reach + 1
    if reach > kernels.MOST_REACH:
        return WHOLE
    if len(ids) < SHORT:
        status = kernels.accepts(table.walker(pairs), ids, reach)
        return None if status == kernels.DONE else WHOLE
    cursor = kernels.Cursor()
    here = cursor.pointer
    here.row = table.initial * table.width
    while True:
        status = kernels.accepts(table.walker(pairs), ids, reach, cursor)
        if status == kernels.DONE:
            return None
        if status != kernels.UNSURE or not _has_learned(table, int(here.row), int(ids[here.at])):
            return _rest(table, ids, int(here.at))


def _has_learned(table: Table, row: int, id: int) -> bool:
    """Extend a table, if it has capacity and the id was not changed meanwhile; return whether that was done."""
    if not 0 <= id < len(table.lengths):
        return False
    try:
        table.learn(row // table.width, id)
    except LimitExceededError:
        return False
    return True


def _rest(table: Table, ids: IntegerArray, end: int) -> Rest:
    """Return the part of a stream to check, given how far it is known to be canonical."""
    begin, n_ids = max(end - NEAR, 0), len(table.lengths)
    part = np.minimum(ids[begin:end].astype(np.uint64), np.uint64(n_ids)).astype(np.int32)
    if part.max(initial=0) == n_ids:
        return WHOLE
    cut = table.last_certain(part, len(part) - table.margin)
    if cut <= 0:
        return WHOLE
    first = begin + cut
    # Before 2.2, numpy takes nothing at uint64 indices.
    blocks = (ids[at : min(at + CHUNK, first)].astype(np.int64, copy=False) for at in range(0, first, CHUNK))
    return Rest(first, sum(int(table.lengths.take(block, mode="clip").sum()) for block in blocks))


def unjudged_by_words(acceptor: Acceptor, n_ids: int, ids: IntegerArray) -> Rest | None:
    """Return all of a stream, or None if its words show it to be canonical; ids are any integers."""
    if not 0 < len(ids) <= MOST or ids.min() < 0 or ids.max() >= np.uint64(n_ids):
        return WHOLE
    own = ids.astype(np.int32)
    return None if acceptor.accept(own)[0] == len(own) else WHOLE


class Engine(OfTokenizer[AnyTokenizer]):
    """The way in which the streams of a tokenizer are judged.

    `model` are the tables by which pairs of neighbours decide, None if texts are encoded again; `head` those by which
    the beginning of a window is judged, if it is not encoded again. `why` says why pairs do not decide, if the ids of
    the tokenizer spell texts one after the other. For `window` and `literal` see :func:`tokdfa.validate`.

    ``tokdfa info`` prints the `name`. `unjudged` returns the part of a whole stream, in an array, that one call does
    not show to be canonical. `walk` is the table by which whole streams are walked over, unless their texts are brought
    into a normalization form.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        model: Model | None,
        *,
        window: bool,
        literal: bool,
        head: Model | None = None,
        why: str | None = None,
    ) -> None:
        super().__init__(tokenizer)
        self.model = model
        self.literal = literal
        self._window, self._head = window, head
        self.unjudged: Callable[[IntegerArray], Rest | None] | None = None
        self.walk: Table | None = None
        is_whole_text = not window and not literal
        in_form = model is not None and model.trip is not None
        if model is not None and model.tokenizer.pretokenizer is None:
            self.name = "pairs without pieces"
        elif model is not None and model.table is not None:
            part = "" if model.by_pairs else " of the proper part"
            self.name = f"pair walk{part}" + (" in a normalization form" if in_form else "")
            # PERF: a bound method is called 40 ns faster than a partial, of the 1.7 µs that a short stream takes.
            self.unjudged = MethodType(unjudged_by_walk, model.table) if is_whole_text else None
            self.walk = model.table if is_whole_text and not in_form else None
        elif model is not None and not in_form:
            self.name = "pieces"
        elif is_whole_text and tokenizer.acceptor is not None:
            self.name = "words"
            self.unjudged = partial(unjudged_by_words, tokenizer.acceptor, tokenizer.n_ids)
        else:
            why = why or tokenizer.boundaries.why_none
            is_cut = tokenizer.round_trip.boundaries.why_none is None
            self.name = "encoding again, " + ("in parts" if is_cut else f"whole: because {why}")

    @property
    def checks_blocks(self) -> bool:
        """Whether blocks of ids are judged at once."""
        if self.model is not None:
            return self.model.table is not None
        return self.tokenizer.segmenter is None or self.tokenizer.acceptor is not None

    def stream_engines(self, tuning: Tuning = DEFAULT) -> Callable[..., StreamEngine]:
        """Return a function that makes stream engines, given the first token to check and its byte offset.

        Engines that encode again also take whether the text `begins` there, and the `size` of a window.
        """
        # Streams that one call shows to be canonical need no engine, so none is imported before.
        from tokdfa.jobs.validation.engines.reencoding import TextComparison
        from tokdfa.jobs.validation.engines.walk import PairWalk
        from tokdfa.jobs.validation.engines.whole import WholeText

        model, trip = self.model, self.tokenizer.round_trip
        closed: Callable[..., StreamEngine] = partial(TextComparison, trip, literal=self.literal, tuning=tuning)
        if model is not None:
            closed = partial(WholeText if model.tokenizer.pretokenizer is None else PairWalk, model, tuning=tuning)
        if not self._window:
            return closed
        head = self._head
        opened: Callable[..., StreamEngine] = partial(TextComparison, trip, window=True, tuning=tuning)
        if head is not None:
            opened = partial(PairWalk, head, window=True, tuning=tuning)
        # Only the first document of a window may begin within a text.
        return lambda first, byte, **how: opened(first, byte) if first == 0 else closed(first, byte, **how)


def engine_of(tokenizer: AnyTokenizer, window: bool = False, literal: bool = False) -> Engine:
    """Return the engine that checks the streams of a tokenizer, a derived table; see :func:`tokdfa.validate`.

    UnsupportedFeatureError is raised if its ids have no text, or windows of such a tokenizer cannot be judged, and
    ImproperDictionaryError if the dictionary is not proper and its format does not say how libraries merge with it.
    """
    tokenizer.require_text()
    model, why = _deciding(tokenizer), None
    if model is None and tokenizer.why_not("rules") is None and tokenizer.why_not("spelling") is None:
        why = model_of(tokenizer).why_undecided
    head = _head(tokenizer, model, literal) if window else None
    if model is not None and literal and tokenizer.round_trip.cuts.any():
        model, why = None, "special tokens are taken literally"
    return Engine(tokenizer, model, window=window, literal=literal, head=head, why=why)


def model_of(tokenizer: AnyTokenizer) -> Model:
    """Return the tables over the ids of a tokenizer that is made of rules."""
    return tokenizer.derived(Model)


def _deciding(tokenizer: AnyTokenizer) -> Model | None:
    """Return the tables by which pairs of neighbours decide; None if texts have to be encoded again."""
    if tokenizer.why_not("rules") is not None or tokenizer.why_not("form") is not None:
        return None
    model = model_of(tokenizer)
    if not model.by_pairs and tokenizer.why_not("leftmost") is not None:
        model.tokenizer.dictionary.require_proper()
    return model if model.why_undecided is None else None


def _head(tokenizer: AnyTokenizer, model: Model | None, literal: bool) -> Model | None:
    """Return the tables by which the beginnings of windows are judged; None if they are encoded again."""
    if tokenizer.why_not("rules") is not None:
        raise UnsupportedFeatureError(f"windows cannot be judged for a {tokenizer.algorithm} tokenizer")
    is_encoded = model is None and tokenizer.why_not("spelling") is not None
    if is_encoded and tokenizer.later is tokenizer:
        why = tokenizer.boundaries.why_none or "the text is rewritten"
        raise UnsupportedFeatureError(f"a window cannot be judged where no place is known to cut the text: {why}")
    if literal and tokenizer.round_trip.cuts.any():
        raise UnsupportedFeatureError("a window cannot be judged with special tokens taken literally")
    if is_encoded:
        return None
    model = model_of(tokenizer) if model is None else model
    if model.tokenizer.pretokenizer is None:
        raise UnsupportedFeatureError(
            "a window can be judged only if a pre-tokenizer cuts the text, and this tokenizer has none",
            hint="name the pre-tokenizer that it is used with",
        )
    if model.table is None or not model.by_pairs or len(model.doubts.keys):
        why = "its text is not split by an automaton over bytes"
        if model.table is not None:
            why = "pairs of neighbouring tokens do not decide what merging gives"
        raise UnsupportedFeatureError(
            f"a window cannot be judged for this tokenizer: {why}", hint="validate whole streams or documents"
        )
    return model
