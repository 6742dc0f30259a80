"""Why the ids of a stretch are not the encoding of their text."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.rollouts.stretches import NOT_ENCODABLE, NOT_UTF8
from tokdfa.jobs.validation.engine import model_of
from tokdfa.jobs.validation.judges.stretch import bad_bytes
from tokdfa.jobs.validation.kind import ViolationKind
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import Cause, spelled
from tokdfa.jobs.validation.wording import MOST_NAMED
from tokdfa.tokenizers.protocol import AnyTokenizer

_MOST_CAUSES = 1 << 14


def cause_of(tokenizer: AnyTokenizer, ids: Int32Array, canonical: Int32Array, outcome: int) -> tuple[Cause, int]:
    """Return why a stretch is not canonical, and the number of its ids before the one that shows it.

    The cause depends on the stretch alone: its ids, the canonical ones, and the outcome of encoding, as `Stretches` has
    them. Every boundary of a piece is a boundary of the canonical ids, so no two ids of a stretch have one between
    them: a pair that the token DFA does not allow is wrong here. If all pairs are allowed and all tokens are live, a
    token goes past the end of a piece.
    """
    last = max(len(ids) - 1, 0)
    if outcome == NOT_UTF8:
        data, _ = tokenizer.round_trip.spelled(ids)
        start, end = bad_bytes(data)
        return Cause(kind=ViolationKind.NOT_UTF8, bad_bytes=data[start:end]), last
    if outcome == NOT_ENCODABLE:
        return Cause(kind=ViolationKind.NOT_ENCODABLE, error=_error(tokenizer, ids)), 0
    intruders = np.setdiff1d(canonical[np.isin(canonical, tokenizer.special_ids)], ids)
    if len(intruders) and tokenizer.found_specials:
        special = int(intruders[0])
        text = next(each.text for each in tokenizer.found_specials if each.id == special)
        return Cause(kind=ViolationKind.SPECIAL_TOKEN, special=special, text=text), last
    is_paired = tokenizer.why_not("rules") is None and tokenizer.why_not("spelling") is None
    if is_paired and (model := model_of(tokenizer)).by_pairs:
        return _by_pairs(model, ids, canonical)
    trip = tokenizer.round_trip
    right = canonical.tolist()[:MOST_NAMED]
    if trip.takes_longest and len(ids):
        spellings = spelled([int(ids[0]), *right], trip.spelling)
        return Cause(kind=ViolationKind.NOT_LONGEST_MATCH, token=int(ids[0]), spellings=spellings), last
    return _otherwise(tokenizer, ids, canonical), last


def remembered_cause(tokenizer: AnyTokenizer, ids: Int32Array, canonical: Int32Array, outcome: int) -> Cause:
    """Return why a stretch is not canonical; stretches repeat, and the tokenizer keeps the causes of the last ones."""
    known = tokenizer.derived(_causes)
    name = ids.tobytes(), canonical.tobytes(), outcome
    cause = known.get(name)
    if cause is None:
        if len(known) >= _MOST_CAUSES:
            known.clear()
        cause = known[name] = cause_of(tokenizer, ids, canonical, outcome)[0]
    return cause


def _causes(tokenizer: AnyTokenizer) -> dict[tuple[bytes, bytes, int], Cause]:
    """Return the table of causes by the bytes of ids and canonical ids, filled by :func:`remembered_cause`."""
    return {}


def _by_pairs(model: Model, ids: Int32Array, canonical: Int32Array) -> tuple[Cause, int]:
    """Return the cause where pairs of neighbours decide the result of merging."""
    last = max(len(ids) - 1, 0)
    wrong = np.flatnonzero(model.pairs.forbidden(ids)[1:] & ~model.dead[ids[1:]]) + 1
    if len(wrong):
        place = int(wrong[0])
        return model.pair_cause(int(ids[place - 1]), int(ids[place])), place
    if len(ids) and len(canonical) == 1 and model.alone[canonical[0]]:
        text = model.tokenizer.decode(canonical)
        return model.cause(ViolationKind.PIECE_IS_A_TOKEN, int(ids[0]), text=text), last
    if model.special[ids].any():
        return _otherwise(model.tokenizer, ids, canonical), last
    dead = np.flatnonzero(model.dead[ids])
    if len(dead):
        place = int(dead[0])
        kind = ViolationKind.WHOLE_PIECE_ONLY if model.alone[ids[place]] else ViolationKind.DEAD_TOKEN
        return model.cause(kind, int(ids[place])), place
    if model.tokenizer.pretokenizer is None:
        return _otherwise(model.tokenizer, ids, canonical), last
    return Cause(kind=ViolationKind.BOUNDARY), last


def _otherwise(tokenizer: AnyTokenizer, ids: Int32Array, canonical: Int32Array) -> Cause:
    named = [*ids.tolist()[:MOST_NAMED], *canonical.tolist()[:MOST_NAMED]]
    spellings = spelled(named, tokenizer.round_trip.spelling)
    return Cause(kind=ViolationKind.ENCODED_OTHERWISE, spellings=spellings)


def _error(tokenizer: AnyTokenizer, ids: Int32Array) -> str:
    """Return the error of the tokenizer for the text of ids."""
    trip = tokenizer.round_trip
    try:
        trip.encode(trip.decode(ids).text)
    except (AlphabetError, TokenStreamError) as error:
        return str(error)
    return "a symbol has no token"
