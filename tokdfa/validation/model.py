"""What judging needs to know of a tokenizer, as tables over its ids."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokdfa.alphabet import quoted
from tokdfa.arrays import BoolArray, Int32Array, checked_ids
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.pairs import ALONE, CUT, NO_TOKEN, PairTest
from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.errors import LimitExceededError, PatternError, TokenStreamError, UnsupportedFeatureError
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.validation.doubts import Doubts, doubts

if TYPE_CHECKING:
    from tokdfa.splitting.borders import Borders
    from tokdfa.tokenizers.proper_part import ProperPart
    from tokdfa.validation.table import Table

__all__ = ["Model"]


class Model:
    """A tokenizer and tables over its ids.

    Attributes
    ----------
    tokenizer : Tokenizer
    lengths : int64 array
        How many bytes an id has.
    special : bool array
        Whether it is that of a special token.
    dead : bool array
        Whether it is a token that merging never gives.
    alone : bool array
        Whether it is a token that comes about only as a whole piece.
    by_pairs : bool
        Whether pairs of neighbours decide what merging gives: the dictionary is proper, and Algorithm 1 does on it what
        the libraries do.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.lengths = np.diff(tokenizer.id_spellings.offsets)
        self.special: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self.special[tokenizer.special_ids] = True
        dictionary = tokenizer.dictionary
        self.by_pairs = (
            tokenizer.merges is None and bool(dictionary.properness()) and bool(agrees_with_leftmost(dictionary))
        )
        token = tokenizer.id_to_token
        self._meaning: BoolArray = (token >= 0) | self.special
        # All ids before this one mean something.
        self._first_hole = int(np.argmin(np.append(self._meaning, False)))
        self.alone: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self.alone[tokenizer.token_to_id[tokenizer.whole_piece_tokens]] = True
        self.dead: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        if self.by_pairs:
            live = np.zeros(max(len(tokenizer.token_to_id), 1), dtype=np.bool_)
            birth = tokenizer.dfa.birth
            live[: len(birth)] = birth >= 0
            self.dead = ~self.special & ~live[token]

    def checked(self, ids: npt.ArrayLike, first: int) -> Int32Array:
        """Return ids as an int32 array, refusing what cannot be ids of this tokenizer; see :func:`checked_ids`."""
        # A subclass may have masked ids.
        is_int32 = type(ids) is np.ndarray and ids.dtype == np.int32 and ids.ndim == 1
        is_int32 = is_int32 and ids.flags.c_contiguous and ids.flags.aligned  # type: ignore[union-attr]
        # One pass over what is right: read without signs, negative ids are the largest.
        if is_int32 and ids.view(np.uint32).max(initial=0) < self._first_hole:  # type: ignore[union-attr]
            return ids  # type: ignore[return-value]
        checked = checked_ids(ids, self.tokenizer.n_ids, first=first)
        if checked.max(initial=-1) >= self._first_hole and not self._meaning[checked].all():
            place = int(np.argmin(self._meaning[checked]))
            raise TokenStreamError("no token has this id", value=int(checked[place]), where=f"token {first + place}")
        return checked

    def is_id(self, id: int) -> bool:
        """Tell whether an id means something."""
        return 0 <= id < len(self._meaning) and bool(self._meaning[id])

    @property
    def nothing(self) -> int:
        """An id that means something, to stand where none does."""
        return int(np.argmax(self._meaning))

    @cached_property
    def pairs(self) -> PairTest:
        """The pair test over ids."""
        token = np.where(self.special, CUT, self.tokenizer.id_to_token)
        return PairTest(self.tokenizer.dfa, np.where(self.dead, NO_TOKEN, token))

    @cached_property
    def table(self) -> Table | None:
        """The table that streams are walked through by; None where that takes more than a table."""
        from tokdfa.validation.table import Table

        try:
            splits = self.tokenizer.pretokenizer is not None and self.tokenizer.is_bytewise
            return Table(self) if splits and (self.by_pairs or self._part) else None
        except (PatternError, UnsupportedFeatureError, LimitExceededError):
            return None

    @cached_property
    def _part(self) -> ProperPart | None:
        """The proper part of a dictionary that pairs do not decide; None if it does not help."""
        try:
            part = self.tokenizer.proper_part
        except (UnsupportedFeatureError, LimitExceededError):
            return None
        return part if agrees_with_leftmost(part.dictionary) else None

    @cached_property
    def walked_pairs(self) -> PairTest:
        """The pair test that goes with the table: of the dictionary's proper part, if it is not proper."""
        if self.by_pairs and not self.alone.any():
            return self.pairs
        token = self.tokenizer.id_to_token
        if self.by_pairs:
            dfa, number = self.tokenizer.dfa, np.where(self.dead, NO_TOKEN, token)
        else:
            assert self._part is not None
            dfa = CompactTokenDFA(self._part.dictionary)
            number = np.where(token >= 0, self._part.number[token], NO_TOKEN)
            number = np.where(number < 0, NO_TOKEN, number)
        return PairTest(dfa, np.where(self.special, CUT, np.where(self.alone, ALONE, number)))

    @cached_property
    def never_walked(self) -> BoolArray:
        """For each id whether the walk cannot go on with it: no canonical stream has it, or pairs do not decide."""
        never: BoolArray = self.walked_pairs.tokens == NO_TOKEN
        return never

    @cached_property
    def doubts(self) -> Doubts:
        """What the pair test allows, and yet is another token, or merges otherwise, if it is in one piece."""
        tokenizer = self.tokenizer
        words = [*self.whole_words]
        encoded = tokenizer.piece_ids.merge(words) if words else None
        sequences = [] if encoded is None else [encoded.ids[a:b] for a, b in pairwise(encoded.offsets.tolist())]
        if not self.by_pairs and self._part is not None:
            sequences += [*tokenizer.token_to_id[self._part.pairs]]
        return doubts(tuple(sequence.tolist()) for sequence in sequences if sequence.min() >= 0)

    @cached_property
    def opens(self) -> BoolArray:
        """For each id whether its bytes begin with a character and not within one."""
        text, offsets = self.tokenizer.id_spellings
        padded = np.append(text, np.uint8(0x80))
        return np.where(self.lengths > 0, padded[offsets[:-1]] & 0xC0 != 0x80, False)

    @cached_property
    def borders(self) -> Borders:
        """Where the pre-tokenizer certainly cuts."""
        from tokdfa.splitting.borders import Borders

        assert self.tokenizer.pretokenizer is not None
        return Borders(self.tokenizer.pretokenizer)

    def bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id."""
        text, offsets = self.tokenizer.id_spellings
        return text[offsets[id] : offsets[id + 1]].tobytes()

    @cached_property
    def whole_words(self) -> frozenset[bytes]:
        """The tokens that come about only as whole pieces."""
        return frozenset(self.bytes_of(id) for id in np.flatnonzero(self.alone).tolist())

    @cached_property
    def longest_special(self) -> int:
        """The length in characters of the longest special token; 0 if there is none."""
        return max((len(special.content) for special in self.tokenizer.specials), default=0)

    @cached_property
    def _live_words(self) -> list[bytes]:
        return sorted(self.bytes_of(id) for id in np.flatnonzero(self._meaning & ~self.dead & ~self.special).tolist())

    @cached_property
    def longest(self) -> int:
        """The length in bytes of the longest token that merging gives."""
        return max(map(len, self._live_words), default=0)

    def is_proper_prefix(self, data: bytes) -> bool:
        """Tell whether a token that merging gives begins with `data` and goes on."""
        place = bisect_left(self._live_words, data + b"\0")
        return place < len(self._live_words) and self._live_words[place].startswith(data)

    def may_follow(self, left: int, right: int) -> bool:
        """Tell whether the pair test allows id `right` behind id `left`."""
        return not self.pairs.forbidden(np.array([right], dtype=np.int32), left)[0]

    def may_be_walked(self, left: int, right: int) -> bool:
        """Tell whether the walk goes from id `left` to id `right` within a piece."""
        return not self.walked_pairs.forbidden(np.array([right], dtype=np.int32), left)[0]

    # Reasons

    def show(self, id: int) -> str:
        """Return an id as text for a reader."""
        return f"{quoted(self.bytes_of(id))} ({id})"

    def pair_reason(self, left: int, right: int) -> str:
        """Return why id `right` may not stand behind id `left` in one piece."""
        if self.dead[right]:
            return f"merging never gives {self.show(right)}"
        tokens = self.tokenizer.id_to_token
        dictionary = self.tokenizer.dictionary
        rule = self.tokenizer.dfa.blocking_rule(int(tokens[left]), int(tokens[right]))
        merged = "" if rule is None else f": rule {rule}, {dictionary[rule]}, merges across their border"
        return f"{self.show(right)} never stands behind {self.show(left)}{merged}"
