"""What ids spell, as a search sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from tokdfa.arrays import BoolArray, Int64Array
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.kernels.library import Struct
from tokdfa.kernels.search.tables import spelled_of
from tokdfa.searching.recent import Recent
from tokdfa.tokenizers.decoder import Spellings, spellings
from tokdfa.tokenizers.decoding import (
    ByteFallback,
    DecodeMetaspace,
    DecodeReplace,
    DecodeSentencePiece,
    DecodeStep,
    DecodeStrip,
    DecodeSuffix,
    StripWhole,
    byte_of,
    decode_tokens,
)
from tokdfa.tokenizers.rewriting import RewritingTokenizer
from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Words"]


# A token in front of others, or behind them, of which no step takes anything away.
_OTHER = "x"
# The machines of so many patterns are kept with a tokenizer.
_KEPT = 4


@dataclass(frozen=True, eq=False)
class Words:
    """The bytes of ids.

    Where the first id of a stream, or the last, is spelled in another way than the others, it is taken for another id,
    larger by `n_ids`.

    Attributes
    ----------
    n_ids : int
        Ids of a stream are smaller.
    spelled : Spellings
        The bytes of each id.
    cuts : bool array, one entry an id
        Whether the id is that of a special token.
    holes : bool array, one entry an id
        Whether the id means nothing.
    varies : {"", "first", "last"}
        Which id of a stream is another one.
    silent : bool array, one entry an id
        Whether the id behind it is still the first one.
    """

    n_ids: int
    spelled: Spellings
    cuts: BoolArray
    holes: BoolArray
    varies: Literal["", "first", "last"]
    silent: BoolArray
    machines: Recent[Any] = field(default_factory=lambda: Recent(_KEPT))
    """What was searched for last, ready to be searched for again."""

    @cached_property
    def text(self) -> Struct:
        """The bytes of each id, as the kernels take them."""
        return spelled_of(*self.spelled, self.cuts)

    @cached_property
    def lengths(self) -> Int64Array:
        """The number of bytes of each id."""
        return np.diff(self.spelled.offsets)

    @cached_property
    def first_hole(self) -> int:
        """The least id that means nothing; the number of ids if there is none."""
        return int(np.argmax(self.holes)) if self.holes.any() else len(self.holes)

    @classmethod
    def of(cls, tokenizer: Tokenizer | WordPieceTokenizer) -> Words:
        """Return those of a tokenizer, which are found out once.

        Raises
        ------
        UnsupportedFeatureError
            If what an id adds to the text hangs on more than whether it is the first or the last one.
        """
        with _LOCK:
            found = _FOUND.get(tokenizer)
        if found is None:
            found = cls._of(tokenizer)
            with _LOCK:
                found = _FOUND.setdefault(tokenizer, found)
        return found

    @classmethod
    def _of(cls, tokenizer: Tokenizer | WordPieceTokenizer) -> Words:
        n_ids = tokenizer.n_ids
        cuts = np.zeros(n_ids, dtype=np.bool_)
        cuts[tokenizer.special_ids] = True
        silent = np.zeros(n_ids, dtype=np.bool_)
        if isinstance(tokenizer, WordPieceTokenizer):
            both = _behind(tokenizer.id_spellings, tokenizer.first_spellings)
            return cls(n_ids, both, *_twice(cuts, ~tokenizer.means_something), "first", silent)
        holes = (tokenizer.id_to_token < 0) & ~cuts
        spelled = tokenizer.id_spellings
        rewriting = tokenizer.rewrites[0]
        if rewriting is not None and rewriting.decoding is not None:
            assert isinstance(tokenizer, RewritingTokenizer)
            tokens = [tokenizer.token_string(number) for number in range(n_ids)]
            return _decoded([str(token) for token in tokens], rewriting.decoding, cuts, holes, tokenizer.format)
        if tokenizer.suffix is None:
            return cls(n_ids, spelled, cuts, holes, "", silent)
        # Behind the last word there is no space.
        text, offsets = spelled
        lengths = np.diff(offsets) - tokenizer.ends_word
        kept = np.ones(len(text), dtype=np.bool_)
        kept[offsets[1:][tokenizer.ends_word] - 1] = False
        last = Spellings(text[kept], np.concatenate(([0], np.cumsum(lengths))))
        return cls(n_ids, _behind(spelled, last), *_twice(cuts, holes), "last", silent)


_FOUND: WeakKeyDictionary[Tokenizer | WordPieceTokenizer, Words] = WeakKeyDictionary()
_LOCK = Lock()


def _decoded(
    tokens: list[str], steps: tuple[DecodeStep, ...], cuts: BoolArray, holes: BoolArray, file_format: str
) -> Words:
    """Return the words of tokens that steps decode, one by one."""
    at_end = all(isinstance(step, DecodeSuffix) for step in steps)
    at_start = all(
        isinstance(step, DecodeReplace | ByteFallback | DecodeStrip | DecodeMetaspace | DecodeSentencePiece)
        or (isinstance(step, StripWhole) and step.count <= 1)
        for step in steps
    )
    if not (at_start or at_end):
        what = "ids are searched where each adds to the text what it spells, wherever it stands"
        raise UnsupportedFeatureError(what, value=file_format, hint="decode them and search the text")
    # A byte token is searched as its byte, whatever stands beside it.
    reads_bytes = any(isinstance(step, ByteFallback | DecodeSentencePiece) for step in steps)
    byte = [byte_of(token) if reads_bytes else None for token in tokens]
    others = [_OTHER if value is not None else token for token, value in zip(tokens, byte, strict=True)]
    decoded = decode_tokens([_OTHER, *others, _OTHER], steps)
    text, ends = decoded.text.encode("utf-8"), decoded.ends.tolist()
    usual = [
        bytes([value]) if value is not None else text[ends[number] : ends[number + 1]]
        for number, value in enumerate(byte)
    ]
    alone = []
    for number, token in enumerate(tokens):
        found = usual[number]
        if token and (at_end or not found or b" " in found):
            single = decode_tokens([token], steps).text.encode("utf-8")
            found = single if byte[number] is None or not single else found
        alone.append(found)
    silent = [not word for word in usual]
    if any(isinstance(step, DecodeSentencePiece) and step.drops_all for step in steps):
        silent = [not word for word in alone]
    varies: Literal["first", "last"] = "last" if at_end else "first"
    both = _behind(spellings(usual), spellings(alone))
    return Words(len(tokens), both, *_twice(cuts, holes), varies, np.array(silent, dtype=np.bool_))


def _behind(words: Spellings, more: Spellings) -> Spellings:
    """Return words and, numbered behind them, more of them."""
    (text, offsets), (more_text, more_offsets) = words, more
    return Spellings(np.concatenate((text, more_text)), np.concatenate((offsets, more_offsets[1:] + offsets[-1])))


def _twice(cuts: BoolArray, holes: BoolArray) -> tuple[BoolArray, BoolArray]:
    return np.tile(cuts, 2), np.tile(holes, 2)
