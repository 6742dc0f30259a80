"""The tokens and rules of a tokenizer as files spell them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.regex.unicode.utf8 import spell
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.writers.draft import Loss, LostPart, unwritable
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer


def spelled(word: Word, prefix: str | None = None) -> str:
    """Return a token as vocab.json and tokenizer.json spell it: bytes as letters of GPT-2's alphabet.

    `prefix` is put before every symbol of a piece but the first, and written once for a token that begins with it.
    """
    if isinstance(word, bytes):
        return spell(word)
    if not prefix:
        return word if isinstance(word, str) else "".join(cast("Iterable[str]", word))
    first, *others = cast("Iterable[str]", word)
    return first + "".join(symbol.removeprefix(prefix) for symbol in others)


def with_rules(tokenizer: AnyTokenizer, target: str) -> Tokenizer:
    """Return a tokenizer that merges; refuse others, for which a format has no word."""
    if tokenizer.why_not("rules") is not None:
        raise unwritable(f"a {target} is written for byte pairs only", tokenizer.algorithm)
    return cast("Tokenizer", tokenizer)


def over_bytes(tokenizer: AnyTokenizer, target: str) -> Tokenizer:
    """Return a tokenizer that merges bytes; refuse others."""
    merging = with_rules(tokenizer, target)
    if merging.why_not("bytes") is not None:
        what = f"a {target} holds tokens of bytes, and here {merging.why_not('bytes')}"
        raise unwritable(what, merging.format, "convert it to tokenizer.json")
    return merging


def words_with_ids(tokenizer: Tokenizer) -> Iterator[tuple[Word, int]]:
    """Yield the tokens that have ids, as words over the alphabet, with these; not the foreign ones."""
    words = (*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens)
    for word, id in zip(words, tokenizer.token_to_id.tolist(), strict=False):
        if id >= 0:
            yield word, id


def foreign_with_ids(tokenizer: Tokenizer) -> Iterator[tuple[str, int]]:
    """Yield the tokens of a byte-level vocabulary with characters outside of the byte alphabet, with their ids."""
    foreign = tokenizer.contents.foreign
    ids = tokenizer.contents.ids[len(tokenizer.contents.ids) - len(foreign) :].tolist()
    for text, id in zip(foreign, ids, strict=True):
        yield text.decode("utf-8", "replace"), id


def rules_of(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """Return the rules as spelled, in order.

    Where every split of a token is a rule, as in rank files, this is the one that makes it: merging makes a token from
    one pair only, because the steps within its bytes do not depend on the bytes around it. All pairs are written if the
    rules do not determine them.
    """
    prefix = tokenizer.contents.prefix
    merges = tokenizer.merges
    if merges is not None:
        words = [spelled(word, prefix) for word in (*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens)]
        order = np.argsort(merges.priority, kind="stable")
        pairs = zip(merges.left[order].tolist(), merges.right[order].tolist(), strict=True)
        return [(words[left], words[right]) for left, right in pairs]
    return [(spelled(left, prefix), spelled(right, prefix)) for left, right in tokenizer.dictionary]


def losses_of_specials(specials: Iterable[Special], *, has_flags: bool) -> Iterator[Loss]:
    """Yield the flags of special tokens that are lost; the format may have those that tokenizers has (`has_flags`)."""
    odd = tuple(one.content for one in specials if one.strips_ascii or not (has_flags or one.is_plain))
    if odd:
        yield Loss(LostPart.FLAGS, odd)


def losses_beside_ids(tokenizer: AnyTokenizer) -> Iterator[Loss]:
    """Yield the parts that every format leaves out."""
    if tokenizer.ignored:
        yield Loss(LostPart.ENDS, tokenizer.ignored)
    yield Loss(LostPart.NAMES)


def loss_of_arithmetic(tokenizer: AnyTokenizer) -> Iterator[Loss]:
    """Yield the arithmetic of scores, for formats that have the one of tokenizers: sums of 64 bits."""
    arithmetic = getattr(cast("Tokenizer", tokenizer).model, "arithmetic", None)
    if arithmetic not in (None, "tokenizers"):
        yield Loss(LostPart.ARITHMETIC, (arithmetic,))


def loss_of_normalizer(tokenizer: Tokenizer) -> Iterator[Loss]:
    """Yield the normalizer, for formats that have none."""
    normalizer = tokenizer.rewriting.normalizer
    if normalizer is not None:
        steps = getattr(normalizer, "steps", (normalizer,))
        yield Loss(LostPart.NORMALIZER, tuple(getattr(step, "form", type(step).__name__) for step in steps))
