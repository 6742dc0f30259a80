"""Encoding as libraries do: texts that continue other ones, with special tokens or without, and rendered templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias, cast, get_args

import numpy as np

from tokdfa.automata.texts import overlapping
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, PatternError, UnsupportedFeatureError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.splices.parts import FILLER, Part
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.twins import twin_with, with_specials


def checked(tokenizer: AnyTokenizer, call: str, what: str = "seams are decided") -> Tokenizer:
    """Return a tokenizer that makes its tokens by rules; refuse others, and other objects."""
    expect(tokenizer, AnyTokenizer, "a tokenizer", call)
    if tokenizer.why_not("rules") is not None:
        raise UnsupportedFeatureError(f"{what} only for byte pair tokenizers", value=tokenizer.algorithm)
    return cast(Tokenizer, tokenizer)


def encode_after(tokenizer: Tokenizer, text: str) -> Int32Array:
    """Return the ids of a text as the continuation of another one: nothing is put before it."""
    normalizer, split = tokenizer.rewriting.normalizer, tokenizer.pretokenizer
    # The step before which a space is put.
    prefix = None if split is None else split.splitting.prefix_space
    is_local = normalizer is None or normalizer.is_local
    if prefix is None and is_local and not (normalizer is not None and normalizer.touches_ends):
        return tokenizer.encode(text)
    # A later step puts a space before pieces, also where the text only continues.
    if not is_local or prefix:
        value = split if is_local else normalizer
        raise UnsupportedFeatureError("a continuation cannot be encoded by this tokenizer", value=value)
    return tokenizer.continued.encode(text)


def decode_after(tokenizer: Tokenizer, ids: Int32Array) -> str:
    """Return the text of ids that follow others, without dropping a space at the beginning."""
    return (tokenizer if tokenizer.rewriting.decoding is None else tokenizer.continued).decode(ids)


RuleName: TypeAlias = Literal["transformers", "tiktoken", "mistral-common", "llama.cpp"]

RULES: Final[tuple[str, ...]] = get_args(RuleName)


@dataclass(frozen=True)
class Rule:
    """A library's way from a rendered template to ids."""

    name: RuleName
    tokenizer: Tokenizer  # The one that finds the special tokens that the library finds
    control: frozenset[int]  # The control ids that are asked about
    # Whether the rendered text is encoded as one; otherwise the texts in slots are encoded separately, and no special
    # token is found in them.
    is_one_text: bool = True
    refused: tuple[str, ...] = ()  # Contents at which the library raises an error

    @cached_property
    def specials(self) -> list[Special]:
        """The special tokens that are found."""
        return [special for special in self.tokenizer.specials if special.text]

    def ids(self, parts: Sequence[Part], values: Sequence[str]) -> list[int] | None:
        """Return the ids of parts with texts for their slots, in order; None if the library refuses them."""
        filled = iter(values)
        texts = [(part, False) if isinstance(part, str) else (next(filled), True) for part in parts]
        text = "".join(part for part, _ in texts)
        if any(content in text for content in self.refused):
            return None
        if self.is_one_text:
            return list(self.tokenizer.encode(text).tolist())
        found: list[int] = []
        for part, is_slot in texts:
            encoder = with_specials(self.tokenizer, "plain") if is_slot else self.tokenizer
            found += (encode_after(encoder, part) if found else encoder.encode(part)).tolist()
        return found

    def control_ids(self, ids: Iterable[int]) -> Counter[int]:
        """Return the control ids among ids."""
        return Counter(id for id in ids if id in self.control)

    def written(self, parts: Sequence[Part]) -> Counter[int]:
        """Return the control ids that the texts of a template are, each on its own."""
        texts = (part for part in parts if isinstance(part, str))
        return self.control_ids(id for text in texts for id in self.tokenizer.encode(text).tolist())

    def spells(self, text: str) -> bool:
        """Return whether special tokens are found in a text on its own."""
        if text not in self._spelled:
            if self._is_found_anywhere:
                self._spelled[text] = any(special.text in text for special in self.specials)
            else:
                found = self.tokenizer.encode(text).tolist()
                self._spelled[text] = any(special.id in found for special in self.specials) or bool(
                    self.control_ids(found)
                )
        return self._spelled[text]

    @cached_property
    def _spelled(self) -> dict[str, bool]:
        return {}

    @cached_property
    def _is_found_anywhere(self) -> bool:
        """Whether a text has the id of a special token if, and only if, it has the token's text."""
        is_plain = not (self.is_odd or any(special.level for special in self.specials))
        return is_plain and not self._unspelled

    @cached_property
    def overlap(self) -> bool:
        """Whether special tokens may overlap one another, or themselves, in a text."""
        contents = [special.text for special in self.specials]
        beginnings = {content[:n] for content in contents for n in range(1, len(content))}
        return any(content[n:] in beginnings for content in contents for n in range(1, len(content))) or any(
            one != other and one in other for one in beginnings & {*contents} for other in contents
        )

    @cached_property
    def is_odd(self) -> bool:
        """Whether the text next to a special token may decide whether it is found, or how far it reaches."""
        return bool(odd_ones(self.specials))

    @cached_property
    def merged(self) -> list[int]:
        """The control ids that some text may have that does not spell their special tokens."""
        return sorted(self.control & self._unspelled)

    @cached_property
    def _unspelled(self) -> frozenset[int]:
        """The ids of special tokens that merging, or a symbol without a token, may give as well."""
        tokenizer, ids = self.tokenizer, self.tokenizer.token_to_id
        live = np.flatnonzero(tokenizer.is_live & np.isin(ids, [special.id for special in self.specials]))
        given = {int(ids[number]): tokenizer.token(number) for number in live.tolist()}
        _, fallback, *_ = tokenizer.rewrites
        if fallback is not None and fallback.bytes is not None and None not in fallback.bytes:
            # Every symbol has bytes, so that none is unknown.
            given = {id: word for id, word in given.items() if word != (fallback.unknown,)}
        is_spelled = tokenizer.why_not("bytes") is None and tokenizer.why_not("spelling") is None
        if self.is_one_text and is_spelled and not (self.is_odd or self.overlap):
            # A text that spells such a token has the special token, which is found before merging.
            spelled = {special.id: special.text.encode() for special in self.specials}
            given = {id: word for id, word in given.items() if spelled.get(id) != word}
        return frozenset(given)

    @cached_property
    def filler(self) -> str:
        """The least text of one byte that is encoded, is in no special token, and neither white space nor of a word."""
        contents = "".join(special.text + special.content for special in self.specials)
        for symbol in map(chr, range(0x80)):
            if not (symbol.isspace() or symbol.isalnum() or symbol == "_" or symbol in contents):
                try:
                    self.tokenizer.encode(symbol)
                except AlphabetError:
                    continue
                return symbol
        return FILLER


def rule_of(
    name: RuleName, tokenizer: Tokenizer, *, allowed: Iterable[str] | None = None, control: Iterable[int] | None = None
) -> Rule:
    """Return the rule of a library for a tokenizer; see :func:`tokdfa.check_injection` for the options."""
    if name not in RULES:
        raise PatternError("no such rule", value=name, where="rule", hint=f"one of {', '.join(RULES)}")
    contents = {special.content: special for special in tokenizer.specials}
    ids = frozenset(special.id for special in tokenizer.specials)
    if control is not None:
        chosen = frozenset(map(int, control))
        if chosen - ids:
            raise PatternError("not the id of a special token", value=min(chosen - ids), where="control")
        ids = chosen
    if allowed is not None and name != "tiktoken":
        raise PatternError("only tiktoken has allowed special tokens", value=name, where="rule")
    if name == "transformers":
        if all(special.text for special in tokenizer.specials):
            return Rule(name, with_specials(tokenizer, "found"), ids)
        # SentencePiece finds no control token in a text, but transformers does, as soon as the model is converted.
        kept = [special if special.text else _bare(special) for special in tokenizer.specials]
        return Rule(name, twin_with(tokenizer, kept), ids)
    if name == "mistral-common":
        return Rule(name, with_specials(tokenizer, "found"), ids, is_one_text=False)
    if name == "tiktoken":
        names = {*contents} if allowed is None else {*allowed}
        if names - {*contents}:
            raise PatternError("no such special token", value=min(names - {*contents}), where="allowed")
        kept = [replace(_bare(special), level=0) for special in tokenizer.specials if special.content in names]
        if any(a.content.startswith(b.content) for a in kept for b in kept if a is not b):
            raise UnsupportedFeatureError("tiktoken finds any of the special tokens that begin alike")
        return Rule("tiktoken", twin_with(tokenizer, kept), ids, refused=tuple(sorted({*contents} - names)))
    if tokenizer.format == "gguf":
        return Rule("llama.cpp", with_specials(tokenizer, "found"), ids)
    lengths = sorted({len(content.encode()) for content in contents}, reverse=True)
    is_rewritten = tokenizer.why_not("spelling") is not None
    if is_rewritten and overlapping(contents):
        raise UnsupportedFeatureError("special tokens that llama.cpp finds one after the other overlap")
    kept = [
        replace(_bare(special), level=0 if is_rewritten else lengths.index(len(special.content.encode())))
        for special in contents.values()
    ]
    return Rule("llama.cpp", twin_with(tokenizer, kept), ids)


def _bare(special: Special) -> Special:
    return Special(special.id, special.content)
