"""The units of n-grams: words of a text, or ids; how an item becomes units, and how the kernel reads them from ids.

Of the item "A man, a plan" exact words are "A", "man,", "a" and "plan"; words as lm-eval-harness reads them are "a",
"man", "a" and "plan". For the ids 32 and 805 the kernel reads the text "32 805 ": an id is a word of digits.
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase, ascii_uppercase, punctuation
from typing import Literal, TypeAlias, get_args

import numpy as np

from tokdfa.base.arrays import Uint16Array
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.searching.plan import Words
from tokdfa.kernels.search.ngrams import LEFT_OUT, reader_of
from tokdfa.kernels.search.search import spelled_of
from tokdfa.tokenizers.decoder import spellings, words_of
from tokdfa.tokenizers.protocol import AnyTokenizer

NgramRule: TypeAlias = Literal["exact", "lm-eval", "ids"]
"""What the units are. "exact" and "lm-eval" are words, split at white space as ``str.split`` does; "lm-eval" first
makes ASCII letters lower case and leaves out ASCII punctuation, as the decontamination of lm-eval-harness does after
GPT-3's. "ids" are the ids that the tokenizer gives for an item by itself."""


class NgramUnits:
    """How items and ids become units, for a tokenizer and a rule; a derived table.

    `reader` is the kernel's reader of words. `marked` is None, or the words of a tokenizer that spells the first id of
    a text with other letters, as ``##b`` of WordPiece; the ids of a stream must then be ``Placed``.
    """

    def __init__(self, tokenizer: AnyTokenizer, rule: NgramRule) -> None:
        if rule not in get_args(NgramRule):
            raise WrongTypeError("there is no such rule for n-grams", value=rule, hint="exact, lm-eval or ids")
        self.rule = rule
        self.marked: Words | None = None
        if rule == "ids":
            cuts = np.zeros(tokenizer.n_ids, dtype=np.bool_)
            cuts[tokenizer.control_ids] = True
            text = spelled_of(*spellings([b"%d " % id for id in range(tokenizer.n_ids)]), cuts)
        else:
            words = _words_of(tokenizer)
            self.marked = words if _first_differs(words) else None
            text = words.text
        self.reader = reader_of(text, _letters(rule), _spaces())

    def of_item(self, tokenizer: AnyTokenizer, text: str, number: int) -> list[bytes]:
        """Return the units of an item."""
        where = f"item {number + 1}"
        try:
            text.encode()
            ids = tokenizer.encode(text).tolist() if self.rule == "ids" else []
        except UnicodeEncodeError:
            raise TokenStreamError("half of a surrogate pair is not text", where=where) from None
        except TokdfaError as error:
            raise TokenStreamError(f"the item has no ids: {error}", where=where) from None
        if self.rule == "ids":
            return [b"%d" % id for id in ids]
        return [word.encode() for word in (text if self.rule == "exact" else text.translate(_AS_LM_EVAL)).split()]


_AS_LM_EVAL = str.maketrans(ascii_uppercase, ascii_lowercase, punctuation)


def _words_of(tokenizer: AnyTokenizer) -> Words:
    try:
        return Words.of(tokenizer)
    except UnsupportedFeatureError as error:
        raise UnsupportedFeatureError(error.what, value=error.value, hint="--rule ids counts n-grams of ids") from None


def _first_differs(words: Words) -> bool:
    """Return whether the first id of a text is spelled with other letters; refused if the last one is."""
    if not words.varies:
        return False
    every = words_of(words.spelled)
    differs = [each for each, other in zip(every, every[words.n_ids :], strict=False) if each.strip() != other.strip()]
    if differs and words.varies == "last":
        what = "n-grams of words are not counted: the last id of a text is spelled with other letters"
        raise UnsupportedFeatureError(what, value=differs[0], hint="--rule ids counts n-grams of ids")
    return bool(differs)


@cache
def _spaces() -> tuple[bytes, ...]:
    """Return the characters at which ``str.split`` splits, as UTF-8."""
    # The last one of Unicode is U+3000.
    return tuple(chr(point).encode() for point in range(0x10000) if chr(point).isspace())


def _letters(rule: NgramRule) -> Uint16Array:
    """Return the letter that each byte counts as."""
    letters = np.arange(256, dtype=np.uint16)
    if rule == "lm-eval":
        for byte in range(128):
            letters[byte] = ord(chr(byte).translate(_AS_LM_EVAL) or chr(LEFT_OUT))
    return letters
