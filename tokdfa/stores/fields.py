"""The fields of records that hold ids: a name that is given, or a usual one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tokdfa.base.errors import TokenStreamError
from tokdfa.base.suggestions import nearest

__all__ = ["IDS", "MASK", "ids_field", "mask_field", "value_of"]

IDS = ("input_ids", "token_ids", "tokens", "ids")
"""The usual names of ids, those of Hugging Face, vLLM and LLM Foundry first."""

MASK = "loss_mask"
"""The usual name of the mask."""


def ids_field(names: Sequence[str], field: str | None, where: str, fitting: Sequence[str] = ()) -> str:
    """Return the field of the ids, with dots into objects: the one asked for, or one of the outermost `names`.

    A single one of `fitting`, the fields that may hold ids by their type, needs no usual name. `where` is for messages.
    """
    if field is None:
        usual = [name for name in IDS if name in names]
        found = usual[0] if usual else fitting[0] if len(fitting) == 1 else None
        if found is None:
            there = f"there are {', '.join(names)}" if names else "its records have no fields"
            what = "it is not clear which field has the ids"
            raise TokenStreamError(what, where=where, hint=f"give --field; {there}")
        return found
    outermost = field.partition(".")[0]
    if field not in names and outermost not in names:
        near = nearest(outermost, names)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(names)}"
        raise TokenStreamError("the field is missing", value=field, where=where, hint=hint if names else None)
    return field


def mask_field(names: Sequence[str]) -> str | None:
    """Return the field of the mask, if there is one."""
    return MASK if MASK in names else None


def value_of(record: object, field: str, where: str) -> object:
    """Return what a record has in a field, with dots into objects."""
    if isinstance(record, Mapping) and field in record:
        return record[field]
    value = record
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise TokenStreamError("the field is missing", value=field, where=where)
        value = value[name]
    return value
