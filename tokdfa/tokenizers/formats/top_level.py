"""The parts of a tokenizer.json around its model, which are the same for every kind of model.

Truncation, padding and the post-processor shape the input of a model. They are checked, so that a file that tokenizers
refuses is refused here; named, so that nobody misses them; and not applied. Ids are the result of
``encode(text, add_special_tokens=False)`` before anything is cut off or filled up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import Normalizer, spaces
from tokdfa.tokenizers.decoding import bytes_of
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID
from tokdfa.tokenizers.formats.json_text import JsonObject
from tokdfa.tokenizers.formats.text_steps import flatten, read_byte_level, read_normalizer, read_pre_tokenizer
from tokdfa.tokenizers.formats.written import Vocabulary
from tokdfa.tokenizers.normalizers.steps import Chain, Replace, Strip
from tokdfa.tokenizers.pretokenizers.steps import Splitting

_FIELDS = (
    *("version", "truncation", "padding", "added_tokens", "normalizer"),
    *("pre_tokenizer", "post_processor", "decoder", "model"),
)
_STRATEGIES = ("LongestFirst", "OnlyFirst", "OnlySecond")
_LARGEST_NUMBER, _LARGEST_SIZE = (1 << 32) - 1, (1 << 64) - 1


def check_top(top: JsonObject) -> None:
    """Refuse fields of a tokenizer.json that the library does not know, on which it fails, and other versions."""
    top.only(_FIELDS)
    top.refuse_unless("version", ("1.0",), "an unknown version of the format")


def read_steps(top: JsonObject) -> tuple[Normalizer | None, Splitting | None, bool]:
    """Return the steps of a tokenizer.json before its model: normalizer, splitting, and whether that gives bytes."""
    check_top(top)
    normalizer = read_normalizer(top)
    splitting, is_bytewise = read_pre_tokenizer(top)
    if splitting is not None and splitting.prefix_once and normalizer is not None:
        if not _keeps_beginning(normalizer, splitting.metaspace):
            # Whether a text begins there then depends on the characters that the library thinks it has removed.
            what = "a character put before the first piece only, in a text that may have lost its beginning"
            raise UnsupportedFeatureError(what, value=normalizer, where=top.at("normalizer"))
        is_cut = any(token.fields.get("normalized") is True for token in top.objects("added_tokens", []))
        if splitting.metaspace_at or (is_cut and _may_lengthen(normalizer)):
            # To the library, every piece made of the first character begins the text; after normalization there may be
            # several.
            what = "a character put before the first piece only, of a text that a normalizer may have lengthened"
            hint = "put it before every piece, or none"
            raise UnsupportedFeatureError(what, value=normalizer, where=top.at("pre_tokenizer"), hint=hint)
    return normalizer, splitting, is_bytewise


def _may_lengthen(normalizer: Normalizer) -> bool:
    """Return whether a normalizer may make several characters of one."""
    steps = normalizer.steps if isinstance(normalizer, Chain) else (normalizer,)
    return not all(isinstance(step, Strip) or (isinstance(step, Replace) and not step.lengthens) for step in steps)


def _keeps_beginning(normalizer: Normalizer, metaspace: str | None) -> bool:
    """Return whether a normalized text begins where the text does, unless it begins with a space.

    Then nothing is put before it. The last steps may replace its beginning by a text that begins with a space.
    """
    steps = [*normalizer.steps] if isinstance(normalizer, Chain) else [normalizer]
    while steps and isinstance(steps[-1], Replace) and steps[-1].content[:1] in (" ", metaspace):
        steps.pop()
    return all(step.keeps_beginning for step in steps)


def read_specials(
    top: JsonObject,
    vocabulary: Vocabulary,
    normalizer: Normalizer | None = None,
    *,
    is_bytewise: bool = False,
    may_mistake: bool = False,
    of_object: bool = False,
) -> tuple[Special, ...]:
    """Return the added tokens, as they are looked for in normalized text; refuse those on which the library fails.

    `is_bytewise` is whether the file spells bytes as letters, for which decoding mistakes letters of added tokens;
    these are refused unless it `may_mistake` them. The library assigns ids when it reads a file; an object
    (`of_object`) has its ids already.
    """
    tokens = top.objects("added_tokens", [])
    if not tokens:
        return ()
    contents = [token.fields["content"] for token in tokens if type(token.fields.get("content")) is str]
    ids = _Ids(vocabulary, contents, of_object)
    specials: list[Special] = []
    known: set[str] = set()
    seen: set[str] = set()
    for token in tokens:
        content, level = token.get("content", str), int(token.get("normalized", bool))
        flags: dict[str, Any] = {flag: token.get(flag, bool) for flag in ("single_word", "lstrip", "rstrip")}
        if not content or content in known:
            raise token.wrong("content", "an added token that is empty or a duplicate")
        known.add(content)
        text = normalizer(content) if level and normalizer is not None else content
        mistaken = {spelled for spelled in (content, text) if is_bytewise and bytes_of(spelled) != spelled.encode()}
        if mistaken and not (may_mistake and (text == content or content not in ids.of_words)):
            raise token.unmodelled("content", "decoding mistakes these letters for bytes of the byte alphabet")
        id = ids.of(token)
        if level and (not text or text in seen):
            what = "an added token that becomes empty or equal to another one when it is normalized"
            raise token.unmodelled("content", what)
        if level:
            seen.add(text)
        is_text, normalized = not token.get("special", bool), None if text == content else text
        flags |= {"is_text": is_text, "normalized": normalized, "is_mistaken": text in mistaken}
        specials.append(Special(id, content, level=level, **flags))
    blanks = "".join(spaces())
    strips = {special.level for special in specials if special.rstrip}
    for token, special in zip(tokens, specials, strict=True):
        if special.level in strips and special.lstrip and not special.rstrip and not special.text.strip(blanks):
            what = "an added token of white space that strips only on its left, beside one that strips on its right"
            raise UnsupportedFeatureError(what, value=special.content, where=token.at("rstrip"))
    return tuple(specials)


class _Ids:
    """The ids of added tokens: those that the library assigns when it reads a file, or those that an object has."""

    def __init__(self, vocabulary: Vocabulary, contents: Sequence[str], of_object: bool) -> None:
        self.of_words = vocabulary.ids_of(contents)
        self._of_object = of_object
        self._n_words = len(vocabulary.ids)
        self._is_word = np.zeros(int(vocabulary.ids.max()) + 1, dtype=np.bool_)
        self._is_word[vocabulary.ids] = True
        self._given: set[int] = set()
        self._last = self._largest = -1

    def of(self, token: JsonObject) -> int:
        """Return the id of the next added token; refuse one that is not its own."""
        content, written = token.fields["content"], token.get("id", int)
        if not 0 <= written <= LARGEST_ID:
            raise token.wrong("id", f"an id must be from 0 to {LARGEST_ID}")
        id = self.of_words.get(content)
        if self._of_object and id not in (None, written):
            raise token.unmodelled("id", f"an added token with another id than the same token in the vocabulary, {id}")
        if id is None:
            id = written if self._of_object else max(self._last + 1, self._n_words)
            if id in self._given or (id < len(self._is_word) and self._is_word[id]):
                raise token.unmodelled("id", f"tokenizers gives {content!r} the id {id}, which another token has")
            self._last = id
            # Version 0.20, unlike 0.23, also counts the added tokens that the vocabulary has.
            other = max(self._largest + 1, self._n_words)
            if not self._of_object and other != id:
                what = f"versions of tokenizers give {content!r} the ids {other} and {id}"
                raise token.unmodelled("id", what, hint="put it into the vocabulary")
        self._given.add(id)
        self._largest = max(self._largest, id)
        return id


def read_left_out(top: JsonObject, specials: Sequence[Special]) -> tuple[str, ...]:
    """Return the names of the parts that `encode` leaves out: truncation, padding, and added special tokens.

    And the ids of added tokens, where the library assigns others when it reads the file.
    """
    written = [token.fields["id"] for token in top.objects("added_tokens", [])]
    ids = () if written == [special.id for special in specials] else ("ids of added tokens",)
    return (*ids, *_read_truncation(top), *_read_padding(top), *_read_post_processor(top))


def _read_truncation(top: JsonObject) -> tuple[str, ...]:
    truncation = top.object("truncation")
    if truncation is None:
        return ()
    if "direction" in truncation.fields:
        _one_of(truncation, "direction", ("Left", "Right"))
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
    _one_of(padding, "direction", ("Left", "Right"))
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
    root = top.object("post_processor")
    adding = []
    for step in flatten(root, "processors") if root else ():
        kind = step.get("type", str)
        if kind == "ByteLevel":
            read_byte_level(step)  # it only moves offsets, which are not modelled
            continue
        if kind == "TemplateProcessing":
            _check_template(step)
        elif kind in ("BertProcessing", "RobertaProcessing"):
            for key in ("sep", "cls"):
                pair = step.get(key, list)
                if len(pair) != 2 or type(pair[0]) is not str or not _is_number(pair[1], _LARGEST_NUMBER):
                    raise step.wrong(key, "a token and its id are expected")
            for key in ("trim_offsets", "add_prefix_space") if kind == "RobertaProcessing" else ():
                step.get(key, bool, True)
        else:
            hint = "tokenizers has ByteLevel, TemplateProcessing, BertProcessing and RobertaProcessing"
            raise step.unmodelled("type", "an unknown post-processor", hint=hint)
        adding.append(kind)
    return tuple(adding)


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
