"""The parts of a tokenizer.json that shape the input of a model: truncation, padding and special tokens around texts.

They are checked, so that a file that tokenizers refuses is refused here; named, so that nobody misses them; and not
applied. Ids are the result of ``encode(text, add_special_tokens=False)`` before anything is cut off or filled up.
"""

from __future__ import annotations

from collections.abc import Collection

from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.json_text import JsonObject
from tokdfa.tokenizers.formats.text_steps import flatten, read_byte_level

_DIRECTIONS = ("Left", "Right")
_STRATEGIES = ("LongestFirst", "OnlyFirst", "OnlySecond")
_LARGEST_NUMBER, _LARGEST_SIZE = (1 << 32) - 1, (1 << 64) - 1


def read_left_out(top: JsonObject) -> tuple[str, ...]:
    """Return the names of the parts that `encode` leaves out: truncation, padding, and added special tokens."""
    return (*_read_truncation(top), *_read_padding(top), *_read_post_processor(top))


def _read_truncation(top: JsonObject) -> tuple[str, ...]:
    truncation = top.object("truncation")
    if truncation is None:
        return ()
    if "direction" in truncation.fields:
        _one_of(truncation, "direction", _DIRECTIONS)
    _one_of(truncation, "strategy", _STRATEGIES)
    for key in ("max_length", "stride"):
        _number(truncation, key, _LARGEST_SIZE)
    return ("truncation",)


def _read_padding(top: JsonObject) -> tuple[str, ...]:
    padding = top.object("padding")
    if padding is None:
        return ()
    strategy = padding.fields.get("strategy")
    fixed = strategy.get("Fixed") if isinstance(strategy, dict) and len(strategy) == 1 else None
    if strategy not in ("BatchLongest", {"BatchLongest": None}) and not _is_number(fixed, _LARGEST_SIZE):
        raise padding.wrong("strategy", 'a strategy must be "BatchLongest" or {"Fixed": length}')
    _one_of(padding, "direction", _DIRECTIONS)
    if padding.fields.get("pad_to_multiple_of") is not None:
        _number(padding, "pad_to_multiple_of", _LARGEST_SIZE)
    for key in ("pad_id", "pad_type_id"):
        _number(padding, key, _LARGEST_NUMBER)
    padding.get("pad_token", str)
    return ("padding",)


def _one_of(step: JsonObject, key: str, values: Collection[str]) -> None:
    if step.get(key, str) not in values:
        raise step.wrong(key, f"it must be one of {', '.join(values)}")


def _number(step: JsonObject, key: str, largest: int) -> None:
    if not 0 <= step.get(key, int) <= largest:
        raise step.wrong(key, f"a number must be from 0 to {largest}")


def _is_number(value: object, largest: int) -> bool:
    return type(value) is int and 0 <= value <= largest


def _read_post_processor(top: JsonObject) -> tuple[str, ...]:
    # ByteLevel only moves offsets, which are not modelled.
    root = top.object("post_processor")
    adding = []
    for step in flatten(root, "processors") if root else ():
        kind = step.get("type", str)
        if kind == "ByteLevel":
            read_byte_level(step)
        elif kind == "TemplateProcessing":
            _check_template(step)
            adding.append(kind)
        elif kind in ("BertProcessing", "RobertaProcessing"):
            _check_pair_processor(step, kind)
            adding.append(kind)
        else:
            hint = "tokenizers has ByteLevel, TemplateProcessing, BertProcessing and RobertaProcessing"
            raise step.unmodelled("type", "an unknown post-processor", hint=hint)
    return tuple(adding)


def _check_pair_processor(step: JsonObject, kind: str) -> None:
    for key in ("sep", "cls"):
        pair = step.get(key, list)
        if len(pair) != 2 or type(pair[0]) is not str or not _is_number(pair[1], _LARGEST_NUMBER):
            raise step.wrong(key, "a token and its id are expected")
    if kind == "RobertaProcessing":
        step.get("trim_offsets", bool, True)
        step.get("add_prefix_space", bool, True)


def _check_template(step: JsonObject) -> None:
    for key in ("single", "pair"):
        for item in step.objects(key):
            kinds = [kind for kind in ("Sequence", "SpecialToken") if kind in item.fields]
            inner = item.object(kinds[0]) if len(item.fields) == len(kinds) == 1 else None
            if inner is None:
                raise FileFormatError("a sequence or a special token is expected", value=item.fields, where=item.where)
            name = inner.get("id", str)
            if kinds == ["Sequence"] and name not in ("A", "B"):
                raise inner.wrong("id", "a sequence must be A or B")
            _number(inner, "type_id", _LARGEST_NUMBER)
    names = [item.fields["Sequence"]["id"] for item in step.objects("single") if "Sequence" in item.fields]
    if names != ["A"]:
        # The library leaves out special tokens alone, so that the ids of a text would vanish, be repeated, or fail.
        raise step.unmodelled("single", "a template for one text must have $A exactly once, and not $B")
    tokens = step.required("special_tokens", "no special tokens")
    for name in tokens.fields:
        token = tokens.object(name)
        if token is None:
            raise tokens.wrong(name, "an object is expected")
        token.get("id", str)
        ids, names = token.get("ids", list), token.get("tokens", list)
        if len(ids) != len(names) or not all(_is_number(id, _LARGEST_NUMBER) for id in ids):
            raise token.wrong("ids", "an id for each token is expected")
        if not all(type(spelled) is str for spelled in names):
            raise token.wrong("tokens", "tokens must be strings")
