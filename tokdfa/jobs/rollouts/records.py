"""Rollouts in the records that frameworks write, and in files of them: JSONL, Parquet and Arrow, record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.base.suggestions import nearest
from tokdfa.jobs.rollouts.frameworks import FRAMEWORKS, IGNORED, LABELS, Fields, Rollout, by_labels, fields_of
from tokdfa.stores.columns import DAMAGED, iter_batches, lists_of, pyarrow_errors
from tokdfa.stores.store import IDS, MASK
from tokdfa.stores.text import iter_json_lines


def usual_fields(names: Sequence[str], prompt: str | None = None, mask: str | None = None) -> Fields:
    """Return the fields that the names in a record leave no doubt about, with the prompt and the mask if given.

    They are those of the only framework with such names, or the only usual name of ids, with the usual name of a mask.

    Examples
    --------
    >>> usual_fields(["input_ids", "loss_mask", "reward"])[:3]
    ('input_ids', None, 'loss_mask')
    >>> usual_fields(["prompt_ids", "response_ids", "response_mask"]) == FRAMEWORKS["verl"]
    True
    """
    have = {*names}
    # A field called `response` can be anything.
    known = {name: fields for name, fields in FRAMEWORKS.items() if fields.messages is None}
    fitting = {name: fields for name, fields in known.items() if {*fields.columns} - {fields.mask} <= have}
    with_mask = [name for name, fields in fitting.items() if fields.mask is None or fields.mask in have]
    frameworks = with_mask or [*fitting]
    usual = [name for name in IDS if name in have]
    if len(frameworks) == 1 and {*usual} <= {FRAMEWORKS[frameworks[0]].ids}:
        return fields_of(frameworks[0], prompt=prompt, mask=mask)
    if len(usual) == 1 and not frameworks:
        found = fields_of(ids=usual[0], prompt=prompt, mask=mask)
        masks = [name for name in (MASK, LABELS) if name in have]
        return found if mask is not None or len(masks) != 1 else found._replace(mask=masks[0], needs_mask=True)
    there = f"; the first record has {', '.join(names[:12])}" if names else ""
    hint = f"give --ids FIELD, such as --ids input_ids, or --framework{there}"
    raise TokenStreamError("no field of ids is named", hint=hint)


def rollouts_of(record: object, fields: Fields) -> list[tuple[str, Rollout]]:
    """Return the rollouts of a record, each with its part of it; empty if there is only one.

    If the ids of a record are a list of lists, it is a batch, and the other fields are lists too.
    """
    if not isinstance(record, Mapping):
        raise TokenStreamError("a record must be an object", value=record)
    found = [(part, _read_labels(rollout, fields)) for part, rollout in _rollouts_of(record, fields)]
    fields.check_unused(record)
    parent = fields.ids.rpartition(".")[0]
    if parent and isinstance(inner := _optional(record, parent), Mapping):
        fields.check_unused(inner, f"{parent}.")
    return found


def _rollouts_of(record: Mapping[str, Any], fields: Fields) -> list[tuple[str, Rollout]]:
    if fields.messages is not None:
        return [("", _of_messages(record, fields))]
    if fields.each is not None:
        return [*_of_each(record, fields)]
    ids = _optional(record, fields.ids)
    hint = None
    if ids is None and record:
        names = [*map(str, record)]
        near = nearest(fields.ids, names)
        hint = f"did you mean {near}?" if near not in (None, fields.ids) else f"the record has {', '.join(names[:12])}"
    ids = _list(ids, fields.ids, hint)
    if len(ids) and isinstance(ids[0], (list, tuple, np.ndarray)):
        columns = {name: value for name in fields.own if (value := _optional(record, name)) is not None}
        uneven = next((name for name, value in columns.items() if not _has_length(value, len(ids))), None)
        if uneven is not None:
            raise TokenStreamError("a batch has columns of different lengths", where=f"field {uneven}")
        # As flat names, dots included.
        rows = ({name: value[at] for name, value in columns.items()} for at in range(len(ids)))
        return [(f"rollout {at}", _of_one(row, fields, lambda row, name: row.get(name))) for at, row in enumerate(rows)]
    return [("", _of_one(record, fields, _optional))]


def _read_labels(rollout: Rollout, fields: Fields) -> Rollout:
    """Return a rollout with a mask of 0 and 1 in place of labels."""
    if not fields.has_labels or rollout.mask is None:
        return rollout
    labels, ids = np.asarray(rollout.mask), np.asarray(rollout.ids)
    if labels.ndim != 1 or len(labels) not in (len(ids), len(ids) - rollout.prompt):
        return rollout
    own = ids[len(ids) - len(labels) :]
    try:
        return rollout._replace(mask=by_labels(labels, own))
    except TokenStreamError as error:
        hint = None
        if len(own) and (is_next := labels[:-1] != IGNORED).any() and (labels[:-1] == own[1:])[is_next].all():
            if fields.takes_next_labels:
                return rollout._replace(mask=labels != IGNORED)
            hint = "each label is the next id; models of transformers shift labels by themselves (--masks checks this)"
        where = f"field {fields.mask}, {error.where}"
        raise TokenStreamError(error.what, value=error.value, where=where, hint=hint) from None


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
    ids = _list(get(record, fields.ids), fields.ids)
    mask = _mask(record, fields, get)
    if fields.ranges is not None:
        return Rollout(ids, _from_ranges(get(record, fields.ranges), len(ids), fields.ranges))
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
    return _list(mask, fields.mask)


def _of_each(record: Mapping[str, Any], fields: Fields) -> Iterator[tuple[str, Rollout]]:
    """Yield the rollouts of the choices of a response; the prompt is a field of the response or of each choice."""
    assert fields.each is not None
    outer = None if fields.prompt is None else _optional(record, fields.prompt)
    for where, choice in _objects(record, fields.each, fields):
        ids = _list(_optional(choice, fields.ids), f"{where}.{fields.ids}")
        own = outer if fields.prompt is None or outer is not None else _optional(choice, fields.prompt)
        mask = _mask(choice, fields, _optional)
        prompt = [] if fields.prompt is None else _list(own, fields.prompt)
        yield where, from_parts(prompt, ids, mask)


def _objects(record: Mapping[str, Any], name: str, fields: Fields) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a list in a field, each with its name."""
    for at, inner in enumerate(_list(_optional(record, name), name)):
        where = f"{name}[{at}]"
        if not isinstance(inner, Mapping):
            raise TokenStreamError("an object is expected", value=inner, where=f"field {where}")
        fields.check_unused(inner, f"{where}.")
        yield where, inner


def _of_messages(record: Mapping[str, Any], fields: Fields) -> Rollout:
    """Return the rollout of messages; the sampled ones have the ids before them, and their own."""
    assert fields.messages is not None
    assert fields.prompt is not None
    ids: list[int] = []
    mask: list[int] = []
    for where, message in _objects(record, fields.messages, fields):
        if _optional(message, fields.ids) is None:
            continue
        own = [*_list(_optional(message, fields.ids), f"{where}.{fields.ids}")]
        name = f"{where}.{fields.prompt}"
        before = [*_list(_optional(message, fields.prompt), name)]
        if before[: len(ids)] != ids:
            index = next((i for i, (a, b) in enumerate(zip(ids, before, strict=False)) if a != b), len(before))
            what = "the message does not begin with the ids of the messages before it"
            raise TokenStreamError(what, where=f"field {name}, token {index}", hint="check_prefix explains it")
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


def _required(value: Any, name: str, hint: str | None = None) -> Any:
    if value is None:
        raise TokenStreamError("the field is missing or null", where=f"field {name}", hint=hint)
    return value


def _list(value: Any, name: str, hint: str | None = None) -> Any:
    value = _required(value, name, hint)
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or isinstance(value, Mapping):
        raise TokenStreamError("a list is expected", value=value, where=f"field {name}")
    return value


def _number(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise TokenStreamError("an integer from 0 on is expected", value=value, where=f"field {name}")
    return int(value)


def _has_length(value: Any, n: int) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and len([*value]) == n


# Files

_PACKED = {"": "", ".gz": "gz", ".zst": "zstd"}


class Source(NamedTuple):
    """Where a rollout is: its file, the number of its line (from 1) or row (from 0), and its part of the record."""

    file: str
    unit: str
    number: int
    part: str = ""

    def __str__(self) -> str:
        record = f"{self.file}, {self.unit} {self.number}" if self.number >= 0 else self.file
        return f"{record}, {self.part}" if self.part else record


Item = tuple[Source, Rollout | TokdfaError]


def iter_rollouts(paths: Iterable[str | Path], fields: Fields) -> Iterator[Item]:
    """Yield the rollouts of files, each with where it is, and errors in place of unreadable ones.

    Files are ``.jsonl`` (or ``.ndjson``), also with ``.gz`` or ``.zst`` after it, one object a line; ``.parquet``; and
    ``.arrow`` and ``.feather``, an Arrow stream or file. Lines that are not JSON, files that end too early, and fields
    that are missing, null or of another shape give an error that names them; reading continues with the next record, or
    with the next file after the last one. A file without rollouts gives an error, too.
    """
    for path in map(Path, [*paths]):
        is_empty = True
        is_lines, packed = _kind(path)
        for item in _lines(path, packed, fields) if is_lines else _rows(path, fields):
            is_empty = False
            yield item
        if is_empty:
            yield Source(str(path), "", -1), TokenStreamError("no rollouts: the file has no records")


def first_names(path: str | Path) -> list[str]:
    """Return the names of the fields of the first record of a file; none if it has no record.

    Raises UnsupportedFeatureError for other files than `iter_rollouts` reads, TokenStreamError for damaged ones.
    """
    path = Path(path)
    is_lines, packed = _kind(path)
    if is_lines:
        records = (record for _, record in iter_json_lines(path, packed) if isinstance(record, Mapping))
        return [*map(str, next(records, {}))]
    names: list[str] = []

    def choose(found: Sequence[str]) -> list[str]:
        names.extend(found)
        return []

    try:
        next(iter_batches(path, choose), None)
    except pyarrow_errors() as error:
        raise TokenStreamError(DAMAGED, value=str(error), where=str(path)) from None
    return names


def _kind(path: Path) -> tuple[bool, str]:
    """Return whether a file of records has one a line, instead of columns, and its compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in (".gz", ".zst") else ""
    kind = suffixes[-1] if suffixes else ""
    if kind in (".jsonl", ".ndjson"):
        return True, _PACKED[packed]
    if kind in (".parquet", ".arrow", ".feather") and not packed:
        return False, ""
    hint = None
    if path.is_dir():
        hint = f"this is a folder: give its files, such as {path}/*.jsonl"
    elif path.suffix.lower() in (".npy", ".bin", ".txt", ".json"):
        hint = f"for one stream of ids: tokdfa validate TOK {path}"
    what = "rollouts are read from .jsonl, .jsonl.gz, .jsonl.zst, .parquet, .arrow and .feather files"
    raise UnsupportedFeatureError(what, value="".join(path.suffixes), where=str(path), hint=hint)


def _items(source: Source, record: object, fields: Fields) -> Iterator[Item]:
    try:
        found = rollouts_of(record, fields)
    except TokdfaError as error:
        yield source, error
        return
    for part, rollout in found:
        yield source._replace(part=part), rollout


def _lines(path: Path, compression: str, fields: Fields) -> Iterator[Item]:
    for number, record in iter_json_lines(path, compression):
        source = Source(str(path), "line", number)
        if isinstance(record, TokenStreamError):
            yield source, record
        else:
            yield from _items(source, record, fields)


def _rows(path: Path, fields: Fields) -> Iterator[Item]:
    number = -1
    # Its error names the file.
    with path.open("rb"):
        pass
    try:
        for _, batch in iter_batches(path, partial(_wanted, fields=fields)):
            names = batch.schema.names
            for row in zip(*(_values(batch.column(name)) for name in names), strict=True):
                number += 1
                yield from _items(Source(str(path), "row", number), dict(zip(names, row, strict=True)), fields)
    except TokenStreamError as error:
        yield Source(str(path), "row", -1), error
    except pyarrow_errors() as error:
        yield Source(str(path), "row", number + 1), TokenStreamError(DAMAGED, value=str(error))


def _wanted(names: Sequence[str], fields: Fields) -> list[str]:
    """Return the columns that make a rollout and are there; masks need not be."""
    optional = {fields.mask.partition(".")[0]} if fields.mask is not None and not fields.needs_mask else set()
    if fields.each is not None and fields.prompt is not None:
        optional.add(fields.prompt.partition(".")[0])
    missing = [name for name in fields.columns if name not in names and name not in optional]
    if missing:
        hint = f"there are {', '.join(names)}"
        raise TokenStreamError("the column is missing", where=f"field {missing[0]}", hint=hint)
    fields.check_unused(names)
    return [name for name in fields.columns if name in names]


def _values(column: Any) -> Any:
    """Return the values of a column: slices of one array where they are lists of integers without nulls."""
    found = lists_of(column)
    if found is None:
        return column.to_pylist()
    values, offsets = found
    rows: list[Any] = [values[low:high] for low, high in pairwise(offsets.tolist())]
    for at in np.flatnonzero(np.asarray(column.is_null())).tolist() if column.null_count else ():
        rows[at] = None
    return rows
