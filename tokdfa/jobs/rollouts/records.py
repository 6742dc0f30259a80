"""Rollouts in the records that frameworks write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.base.suggestions import nearest
from tokdfa.jobs.rollouts.frameworks import Fields
from tokdfa.jobs.rollouts.rollout import Rollout, by_labels


def rollouts_of(record: object, fields: Fields) -> list[tuple[str, Rollout]]:
    """Return the rollouts of a record, each with its place in it; empty if there is only one.

    If the ids of a record are a list of lists, it is a batch, and the other fields are lists too.
    """
    if not isinstance(record, Mapping):
        raise TokenStreamError("a record must be an object", value=record)
    found = [(part, _read_labels(rollout, fields)) for part, rollout in _rollouts_of(record, fields)]
    fields.check_unused(_filled(record))
    parent = fields.ids.rpartition(".")[0]
    if parent and isinstance(inner := _optional(record, parent), Mapping):
        fields.check_unused(_filled(inner), f"{parent}.")
    return found


def _rollouts_of(record: Mapping[str, Any], fields: Fields) -> list[tuple[str, Rollout]]:
    if fields.messages is not None:
        return [("", _of_messages(record, fields))]
    if fields.each is not None:
        return [*_of_each(record, fields)]
    ids = _field(record, fields.ids)
    if _is_batch(ids):
        names = [name for name in fields[:5] if name is not None]
        columns = {name: value for name in names if (value := _optional(record, name)) is not None}
        uneven = next((name for name, value in columns.items() if not _has_length(value, len(ids))), None)
        if uneven is not None:
            raise TokenStreamError("a batch has columns of different lengths", where=f"field {uneven}")
        # As flat names, dots included.
        rows = ({name: value[at] for name, value in columns.items()} for at in range(len(ids)))
        return [(f"rollout {at}", _of_one(row, fields, _flat)) for at, row in enumerate(rows)]
    return [("", _of_one(record, fields, _optional))]


def _filled(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of an object that are not null."""
    return (name for name, value in record.items() if value is not None)


def _read_labels(rollout: Rollout, fields: Fields) -> Rollout:
    """Return a rollout with a mask of 0 and 1 in place of labels."""
    if not fields.has_labels or rollout.mask is None:
        return rollout
    labels, ids = np.asarray(rollout.mask), np.asarray(rollout.ids)
    if labels.ndim != 1 or len(labels) not in (len(ids), len(ids) - rollout.prompt):
        return rollout
    try:
        return rollout._replace(mask=by_labels(labels, ids[len(ids) - len(labels) :]))
    except TokenStreamError as error:
        where = f"field {fields.mask}, {error.where}"
        raise TokenStreamError(error.what, value=error.value, where=where) from None


def from_parts(prompt: Sequence[int] | npt.ArrayLike, ids: npt.ArrayLike, mask: npt.ArrayLike | None = None) -> Rollout:
    """Return the rollout of the ids of a prompt, the ids after it, and the mask of these."""
    first, rest = np.asarray(prompt), np.asarray(ids)
    joined: Any
    if "O" in (first.dtype.kind, rest.dtype.kind):
        joined = [*first.tolist(), *rest.tolist()]
    else:
        joined = np.concatenate((first, rest)) if first.size and rest.size else first if first.size else rest
    return Rollout(joined, mask, len(first))


Get = Callable[[Mapping[str, Any], str], Any]


def _of_one(record: Mapping[str, Any], fields: Fields, get: Get) -> Rollout:
    ids = _list(_required(get(record, fields.ids), fields.ids), fields.ids)
    mask = _mask(record, fields, get)
    if fields.ranges is not None:
        ranges = _required(get(record, fields.ranges), fields.ranges)
        return Rollout(ids, _from_ranges(ranges, len(ids), fields.ranges))
    if fields.response is not None:
        response = _number(_required(get(record, fields.response), fields.response), fields.response)
        if response > len(ids):
            what = "the response is longer than the ids"
            raise TokenStreamError(what, value=response, where=f"field {fields.response}", hint=f"there are {len(ids)}")
        return Rollout(ids, mask, len(ids) - response)
    if fields.prompt is None:
        return Rollout(ids, mask)
    prompt = _required(get(record, fields.prompt), fields.prompt)
    if isinstance(prompt, (int, np.integer)) and not isinstance(prompt, bool):
        return Rollout(ids, mask, int(prompt))
    return from_parts(_list(prompt, fields.prompt), ids, mask)


def _mask(record: Mapping[str, Any], fields: Fields, get: Get) -> Any:
    if fields.mask is None:
        return None
    mask = get(record, fields.mask)
    if mask is None and not fields.needs_mask:
        return None
    return _list(_required(mask, fields.mask), fields.mask)


def _of_each(record: Mapping[str, Any], fields: Fields) -> Iterator[tuple[str, Rollout]]:
    """Yield the rollouts of the choices of a response; the prompt is a field of the response or of each choice."""
    assert fields.each is not None
    choices = _required(_optional(record, fields.each), fields.each)
    outer = None if fields.prompt is None else _optional(record, fields.prompt)
    for at, choice in enumerate(_list(choices, fields.each)):
        where = f"{fields.each}[{at}]"
        if not isinstance(choice, Mapping):
            raise TokenStreamError("an object is expected", value=choice, where=f"field {where}")
        fields.check_unused(_filled(choice), f"{where}.")
        ids = _list(_required(_optional(choice, fields.ids), f"{where}.{fields.ids}"), f"{where}.{fields.ids}")
        own = outer if fields.prompt is None or outer is not None else _optional(choice, fields.prompt)
        mask = _mask(choice, fields, _optional)
        prompt = [] if fields.prompt is None else _list(_required(own, fields.prompt), fields.prompt)
        yield where, from_parts(prompt, ids, mask)


def _of_messages(record: Mapping[str, Any], fields: Fields) -> Rollout:
    """Return the rollout of messages; the sampled ones have the ids before them, and their own."""
    assert fields.messages is not None
    assert fields.prompt is not None
    ids: list[int] = []
    mask: list[int] = []
    messages = _list(_required(_optional(record, fields.messages), fields.messages), fields.messages)
    for at, message in enumerate(messages):
        where = f"{fields.messages}[{at}]"
        if not isinstance(message, Mapping):
            raise TokenStreamError("an object is expected", value=message, where=f"field {where}")
        fields.check_unused(_filled(message), f"{where}.")
        if _optional(message, fields.ids) is None:
            continue
        own = [*_list(_optional(message, fields.ids), f"{where}.{fields.ids}")]
        name = f"{where}.{fields.prompt}"
        before = [*_list(_required(_optional(message, fields.prompt), name), name)]
        if before[: len(ids)] != ids:
            place = next((i for i, (a, b) in enumerate(zip(ids, before, strict=False)) if a != b), len(before))
            what = "the message does not begin with the ids of the messages before it"
            raise TokenStreamError(what, where=f"field {name}, token {place}", hint="check_prefix explains it")
        mask += [0] * (len(before) - len(ids)) + [1] * len(own)
        ids = [*before, *own]
    if not ids:
        raise TokenStreamError("no message has ids", where=f"field {fields.messages}")
    return Rollout(ids, mask)


def _from_ranges(ranges: object, n: int, name: str) -> BoolArray:
    mask: BoolArray = np.zeros(n, dtype=np.bool_)
    for at, pair in enumerate(_list(ranges, name)):
        where = f"field {name}[{at}]"
        if not _has_length(pair, 2):
            raise TokenStreamError("a range must be two indices", value=pair, where=where)
        begin, end = (_number(bound, f"{name}[{at}]") for bound in pair)
        if not begin <= end <= n:
            raise TokenStreamError("a range is not within the ids", value=(begin, end), where=where, hint=f"0 to {n}")
        mask[begin:end] = True
    return mask


def _optional(record: Mapping[str, Any], name: str) -> Any:
    """Return a field; None if it, or an object that it is in, is missing or null."""
    value: Any = record
    for part in name.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _flat(record: Mapping[str, Any], name: str) -> Any:
    return record.get(name)


def _field(record: Mapping[str, Any], name: str) -> Any:
    value = _optional(record, name)
    hint = None
    if value is None and record:
        names = [*map(str, record)]
        near = nearest(name, names)
        hint = f"did you mean {near}?" if near not in (None, name) else f"the record has {', '.join(names[:12])}"
    return _list(_required(value, name, hint), name)


def _required(value: Any, name: str, hint: str | None = None) -> Any:
    if value is None:
        raise TokenStreamError("the field is missing or null", where=f"field {name}", hint=hint)
    return value


def _list(value: Any, name: str) -> Any:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or isinstance(value, Mapping):
        raise TokenStreamError("a list is expected", value=value, where=f"field {name}")
    return value


def _number(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise TokenStreamError("an integer from 0 on is expected", value=value, where=f"field {name}")
    return int(value)


def _is_batch(ids: Any) -> bool:
    return len(ids) > 0 and isinstance(ids[0], (list, tuple, np.ndarray))


def _has_length(value: Any, n: int) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and len([*value]) == n
