"""The named rules of greedy training: counting, ties, and whole trainers, which set all the options to imitate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np

from tokdfa.automata.alphabet import Kind, TokenAlphabet, Word, concatenate, iter_symbols
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import Argument, Hint, TrainingError
from tokdfa.regex.unicode.utf8 import GPT2_ORDER

TieRule: TypeAlias = Literal["first-seen", "oldest-pair", "huggingface", "rustbpe", "sentencepiece", "subword-nmt"]
CountRule: TypeAlias = Literal["non-overlapping", "overlapping"]

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)
COUNT_RULES: tuple[CountRule, ...] = get_args(CountRule)

_KINDS: dict[type, Kind] = {bytes: "bytes", str: "characters", tuple: "symbols"}


@dataclass(frozen=True, slots=True)
class GreedyRules:
    """The options of a greedy trainer, which the plain and the fast trainer follow alike.

    Parameters
    ----------
    tie : str
        How to break ties between equally frequent pairs. The pair to merge is

        ``first-seen``
            the one whose first occurrence in the current text is leftmost (minbpe; the programs of BLOG and SPEEDY);
        ``oldest-pair``
            the one that first occurred after the fewest merges, and among pairs of the same age the one that was
            leftmost then (Gage; FORMAL's Table 1; the prose of BLOG and SPEEDY);
        ``huggingface``
            the least pair of token ids. Symbols are numbered in the order of their code points, bytes in the order of
            GPT-2's byte alphabet, then the products in the order of their merges (tokenizers);
        ``rustbpe``
            the same, except that bytes are numbered in the order of their values (rustbpe);
        ``sentencepiece``
            the one with the shortest product, then the least product by code points, then the shortest left part;
        ``subword-nmt``
            the greatest pair as strings, with left parts compared first.
    count : str
        ``non-overlapping`` counts the replacements that merging the pair would make, so ``aaa`` has one ``aa``
        (FORMAL, SentencePiece); ``overlapping`` counts adjacent positions, here two (Sennrich, tokenizers, minbpe).
    min_frequency : int
        Training stops when no pair is this frequent; 2 is BLOG's stop rule.
    max_token_length : int, optional
        The maximum number of symbols of a product; pairs with a longer product are skipped. Not with ``huggingface``:
        tokenizers measures in bytes of its alphabet, and only the pairs that a merge creates, so it may merge longer
        ones.

    Raises
    ------
    TrainingError
        If a rule is unknown or a number too small.
    """

    tie: TieRule = "first-seen"
    count: CountRule = "non-overlapping"
    min_frequency: int = 2
    max_token_length: int | None = None

    def __post_init__(self) -> None:
        for what, name, names in (("tie rule", self.tie, TIE_RULES), ("count rule", self.count, COUNT_RULES)):
            if name not in names:
                raise TrainingError(f"unknown {what}", value=name, hint=f"use one of {', '.join(names)}")
        if self.min_frequency < 1:
            raise TrainingError("the minimum frequency must be 1 or more", value=self.min_frequency)
        if self.max_token_length is not None and self.max_token_length < 2:
            raise TrainingError("a merged token has at least two symbols", value=self.max_token_length)
        if self.max_token_length is not None and self.tie == "huggingface":
            raise TrainingError(
                "tokenizers limits the length of tokens in a different way",
                value=self.max_token_length,
                hint=Hint("leave ", Argument("max_token_length"), " out, or use another tie rule"),
            )


def base_alphabet(pieces: Mapping[Any, int], alphabet: str | bytes | Sequence[Word] | None = None) -> TokenAlphabet:
    """Return the base alphabet over which pieces are trained: the given symbols, then others that occur, sorted.

    Without given symbols, it is all 256 bytes for pieces of bytes. Pieces that mix bytes, strings and tuples, a piece
    that is empty, or occurs less than once, are a TrainingError.
    """
    kinds = {type(piece) for piece in pieces}
    if len(kinds) > 1 or not kinds <= {bytes, str, tuple}:
        raise TrainingError("the pieces must be all bytes, all strings or all tuples of strings", value=kinds)
    if any(len(piece) == 0 for piece in pieces):
        raise TrainingError("a piece must not be empty")
    if any(count < 1 for count in pieces.values()):
        raise TrainingError("a piece must occur at least once", value=min(pieces.values()))
    if alphabet is None and kinds in ({bytes}, set()):
        return TokenAlphabet(bytes(range(256)))
    found = set(iter_symbols(concatenate(pieces, _KINDS[kinds.pop()]) if kinds else ""))
    given = TokenAlphabet(alphabet or ()).symbols
    return TokenAlphabet((*given, *sorted(found.difference(given))))


def code_points(word: Word) -> list[int]:
    """Return a word as numbers: its bytes, or the code points of its symbols."""
    text = "".join(word) if isinstance(word, tuple) else word
    return list(text) if isinstance(text, bytes) else list(map(ord, text))


def symbol_ranks(symbols: TokenAlphabet, tie: TieRule) -> Int32Array:
    """Return the rank of each symbol, as ``huggingface`` or ``rustbpe`` numbers them.

    Symbols of several characters keep their order, because `tokenizers` numbers those as it meets them.
    """
    words = symbols.symbols
    if symbols.kind == "symbols":
        return np.arange(len(words), dtype=np.int32)
    if symbols.kind == "bytes" and tie == "huggingface":
        known = set(words)
        in_order: list[Any] = [word for byte in GPT2_ORDER if (word := bytes([byte])) in known]
    else:
        in_order = sorted(cast("tuple[Any, ...]", words))
    rank: dict[Any, int] = {word: number for number, word in enumerate(in_order)}
    return np.array([rank[word] for word in words], np.int32)


Trainer: TypeAlias = Literal["tokenizers", "sentencepiece", "subword-nmt", "rustbpe", "minbpe"]

DEFAULTS: dict[str, Any] = {
    "tie": "first-seen",
    "count": "non-overlapping",
    "unit": "file",
    "level": "byte",
    "end_of_word": None,
    "min_frequency": 2,
    "max_token_length": None,
}

_TRAINERS: dict[Trainer, dict[str, Any]] = {
    "tokenizers": {"tie": "huggingface", "unit": "line", "level": "byte", "min_frequency": 1},
    "sentencepiece": {"tie": "sentencepiece", "unit": "line", "level": "character", "min_frequency": 1},
    "subword-nmt": {"tie": "subword-nmt", "unit": "line", "level": "character", "end_of_word": "attached"},
    "rustbpe": {"tie": "rustbpe", "unit": "line", "level": "byte", "min_frequency": 1},
    "minbpe": {"tie": "first-seen", "unit": "file", "level": "byte", "min_frequency": 1},
}
# All of them count every adjacent pair, and none limits the length of tokens by itself here.
_SAME: dict[str, Any] = {"count": "overlapping"}
# The options that the trainer itself lets its users choose.
_FREE: dict[str, tuple[str, ...]] = {
    "tokenizers": ("min_frequency", "level"),
    "subword-nmt": ("min_frequency",),
    "sentencepiece": ("max_token_length",),
}


def resolve(like: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each of :data:`DEFAULTS`, from the `given` ones and a trainer to imitate.

    The trainer is ``tokenizers`` (BpeTrainer, by default over ByteLevel, fed with the lines of a file),
    ``sentencepiece`` (type bpe), ``subword-nmt`` (learn_bpe), ``rustbpe`` (fed with lines) or ``minbpe``
    (RegexTokenizer); the pre-tokenizer is chosen separately. A TrainingError says that the trainer is unknown, or that
    a given option contradicts it.
    """
    if like is None:
        return {**DEFAULTS, **given}
    if like not in get_args(Trainer):
        raise TrainingError("unknown trainer", value=like, hint=f"use one of {', '.join(get_args(Trainer))}")
    meant = {**DEFAULTS, **_SAME, **_TRAINERS[like]}  # type: ignore[index]
    for name, value in given.items():
        if name not in _FREE.get(like, ()) and value != meant[name]:
            what = f"{like} has the {name.replace('_', ' ')} {meant[name]!r}"
            raise TrainingError(what, value=value, hint="leave it out, or leave like out")
    return {**meant, **given}
