"""Everything that judging needs to know about a tokenizer, as tables over its ids."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

import numpy as np

from tokdfa.automata.compact import ALONE, CUT, NO_TOKEN, CompactTokenDFA, PairTest
from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk.differences import text_cuts
from tokdfa.regex.unicode import LAST
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokdfa.jobs.validation.table import Table
    from tokdfa.jobs.validation.violation import Cause, ViolationKind
    from tokdfa.tokenizers.neighbours import ProperPart
    from tokdfa.tokenizers.pretokenizers.certain import CertainPairs
    from tokdfa.tokenizers.round_trip import RoundTrip


class Doubts(NamedTuple):
    """A hash table, with open addressing, of sequences that pass the pair test and call for a closer look."""

    keys: Int64Array  # The last two ids, ``left << 32 | right``, or -1; empty without sequences.
    range: Int32Array  # Slot i has the sequences from ``range[2 * i]`` to ``range[2 * i + 1]``.
    bounds: Int32Array
    ids: Int32Array  # Sequence k has the ids ``ids[bounds[k]:bounds[k + 1]]`` before the last two.


class Model(OfTokenizer["Tokenizer"]):
    """Tables over the ids of a tokenizer that encodes texts unchanged, or only brings them into a normalization form.

    If there is a `form`, `tokenizer` is the one without the normalizer: it does the same to texts in that form, and
    canonical ids have no other texts. For each id, `lengths` has the number of its bytes, `special` whether its token
    is special, `dead` whether merging never gives it, `alone` whether it is given only for a whole piece.

    `by_pairs` is whether pairs of neighbours decide the result of merging: the dictionary is proper, and on it
    Algorithm 1 gives the same ids as the libraries.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        whole = ref(tokenizer)
        tokenizer, form = tokenizer.read_in_form or (tokenizer, None)
        self.form = form
        self._whole = None if form is None else whole
        super().__init__(tokenizer)
        self.lengths = np.diff(tokenizer.id_spellings.offsets)
        self.special: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self.special[tokenizer.special_ids] = True
        self.by_pairs = tokenizer.piece_ids.is_one_pass
        token = tokenizer.id_to_token
        self.alone: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self.alone[tokenizer.token_to_id[tokenizer.whole_piece_tokens]] = True
        self.dead: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        if self.by_pairs:
            live = np.zeros(max(len(tokenizer.token_to_id), 1), dtype=np.bool_)
            birth = tokenizer.dfa.birth
            live[: len(birth)] = birth >= 0
            self.dead = ~self.special & ~live[token]

    @property
    def trip(self) -> RoundTrip | None:
        """The round trip that normalizes, if there is a form."""
        whole = None if self._whole is None else self._whole()
        return None if whole is None else whole.round_trip

    @property
    def why_undecided(self) -> str | None:
        """Why pairs of neighbours do not decide streams; None if they do."""
        whole = None if self._whole is None else self._whole()
        if self.tokenizer.pretokenizer is None and whole is not None:
            return "nothing splits a text that is normalized"
        if whole is not None and whole.joined_specials:
            return "an added token is normalized with the text next to it"
        return self.tokenizer.why_whole

    @cached_property
    def pairs(self) -> PairTest:
        """The pair test over ids."""
        token = np.where(self.special, CUT, self.tokenizer.id_to_token)
        return PairTest(self.tokenizer.dfa, np.where(self.dead, NO_TOKEN, token))

    @cached_property
    def table(self) -> Table | None:
        """The table by which streams are walked; None if a table is not enough."""
        from tokdfa.jobs.validation.table import Table

        try:
            splits = self.tokenizer.pretokenizer is not None and self.tokenizer.why_not("bytes") is None
            return Table(self) if splits and (self.by_pairs or self._part) else None
        except (PatternError, UnsupportedFeatureError, LimitExceededError):
            return None

    @cached_property
    def _part(self) -> ProperPart | None:
        """The proper part of a dictionary for which pairs do not decide; None if it does not help."""
        if self.tokenizer.why_not("bytes") is not None:
            return None
        try:
            part = self.tokenizer.proper_part
        except (UnsupportedFeatureError, LimitExceededError):
            return None
        return part if agrees_with_leftmost(part.dictionary) else None

    @cached_property
    def walked_pairs(self) -> PairTest:
        """The pair test used with the table: the test of the proper part, if the dictionary is not proper."""
        if self.by_pairs and not self.alone.any():
            return self.pairs
        token = self.tokenizer.id_to_token
        if self.by_pairs:
            dfa, number = self.tokenizer.dfa, np.where(self.dead, NO_TOKEN, token)
        else:
            assert self._part is not None
            dfa = CompactTokenDFA(self._part.dictionary)
            # The tokens after the dictionary's own: nothing makes them.
            n_foreign = len(self.tokenizer.token_to_id) - len(self._part.number)
            of_token = np.pad(self._part.number, (0, n_foreign), constant_values=NO_TOKEN)
            number = np.where(token >= 0, of_token[token], NO_TOKEN)
            number = np.where(number < 0, NO_TOKEN, number)
        return PairTest(dfa, np.where(self.special, CUT, np.where(self.alone, ALONE, number)))

    @cached_property
    def never_walked(self) -> BoolArray:
        """For each id, whether the walk stops at it: no canonical stream has it, or pairs do not decide."""
        never: BoolArray = self.walked_pairs.tokens == NO_TOKEN
        return never

    @cached_property
    def doubts(self) -> Doubts:
        """Sequences that the pair test allows, but that form another token or merge differently within one piece."""
        tokenizer = self.tokenizer
        words = [*self.whole_words]
        encoded = tokenizer.piece_ids.merge(words) if words else None
        sequences = [] if encoded is None else [encoded.ids[a:b] for a, b in pairwise(encoded.offsets.tolist())]
        if not self.by_pairs and self._part is not None:
            sequences += [*tokenizer.token_to_id[self._part.pairs]]
        return doubts(tuple(sequence.tolist()) for sequence in sequences if sequence.min() >= 0)

    @cached_property
    def joins(self) -> BoolArray:
        """For each id, whether normalization may change its text, or the preceding text together with it.

        An id that begins within a symbol may complete one that it changes.
        """
        from tokdfa.kernels.normalization.quick_check import find_joining
        from tokdfa.regex.unicode.quick_check import form_tables

        form = self.form
        if form is None:
            return np.zeros(self.tokenizer.n_ids, dtype=np.bool_)
        return find_joining(form_tables(form), *self.tokenizer.id_spellings) & ~self.parts

    @cached_property
    def parts(self) -> BoolArray:
        """For each id, whether the text before it and the text after it are normalized separately."""
        parts: BoolArray = np.zeros(self.tokenizer.n_ids, dtype=np.bool_)
        outer = [special.id for special in self.tokenizer.specials if special.level == 0]
        parts[outer] = self.special[outer]
        return parts

    @cached_property
    def opens(self) -> BoolArray:
        """For each id, whether its bytes begin with a character and not within one."""
        text, offsets = self.tokenizer.id_spellings
        padded = np.append(text, np.uint8(0x80))
        return np.where(self.lengths > 0, begins_symbol(padded[offsets[:-1]]), False)

    @cached_property
    def boundaries(self) -> CertainPairs:
        """The boundaries where the pre-tokenizer always cuts."""
        from tokdfa.tokenizers.pretokenizers.certain import CertainPairs

        assert self.tokenizer.pretokenizer is not None
        return CertainPairs(self.tokenizer.pretokenizer)

    @cached_property
    def text_cuts(self) -> Struct:
        """The same as the kernels read it."""
        return text_cuts(
            self.boundaries.classes_of(np.arange(LAST + 1, dtype=np.int32)).astype(np.uint16), self.boundaries.certain
        )

    @cached_property
    def has_all_bytes(self) -> bool:
        """Whether each byte is the text of an id."""
        text, offsets = self.tokenizer.id_spellings
        return len(np.unique(text[offsets[:-1][(self.lengths == 1) & ~self.special]])) == 256

    def bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id."""
        text, offsets = self.tokenizer.id_spellings
        return text[offsets[id] : offsets[id + 1]].tobytes()

    @cached_property
    def whole_words(self) -> frozenset[bytes]:
        """The tokens that are given only for whole pieces."""
        return frozenset(self.bytes_of(id) for id in np.flatnonzero(self.alone).tolist())

    @cached_property
    def longest_special(self) -> int:
        """The length in characters of the longest special token; 0 if there is none."""
        return max((len(special.content) for special in self.tokenizer.specials), default=0)

    @cached_property
    def _live_words(self) -> list[bytes]:
        meaning = self.tokenizer.means_something
        return sorted(self.bytes_of(id) for id in np.flatnonzero(meaning & ~self.dead & ~self.special).tolist())

    @cached_property
    def longest(self) -> int:
        """The length in bytes of the longest token that merging gives."""
        return max(map(len, self._live_words), default=0)

    def is_proper_prefix(self, data: bytes) -> bool:
        """Return whether `data` is a proper prefix of a token that merging gives."""
        index = bisect_left(self._live_words, data + b"\0")
        return index < len(self._live_words) and self._live_words[index].startswith(data)

    def may_follow(self, left: int, right: int) -> bool:
        """Return whether the pair test allows id `right` after id `left`."""
        return not self.pairs.forbidden(np.array([right], dtype=np.int32), left)[0]

    def may_be_walked(self, left: int, right: int) -> bool:
        """Return whether the walk goes from id `left` to id `right` within a piece."""
        return not self.walked_pairs.forbidden(np.array([right], dtype=np.int32), left)[0]

    # Causes

    def cause(
        self,
        kind: ViolationKind,
        token: int | None = None,
        *,
        pair: tuple[int, int] | None = None,
        text: str | None = None,
    ) -> Cause:
        """Return a cause with the spellings of the ids that it names; see :class:`Cause`."""
        from tokdfa.jobs.validation.violation import Cause, spelled

        named = (*(() if token is None else (token,)), *(pair or ()))
        return Cause(kind=kind, token=token, pair=pair, text=text, spellings=spelled(named, self.bytes_of))

    def pair_cause(self, left: int, right: int) -> Cause:
        """Return why id `right` may not follow id `left` in one piece."""
        from tokdfa.jobs.validation.violation import ViolationKind

        if self.dead[right]:
            return self.cause(ViolationKind.DEAD_TOKEN, right)
        cause = self.cause(ViolationKind.PAIR, pair=(left, right))
        number = self.rule_between(left, right)
        if number < 0:
            return cause
        rule = self.tokenizer.dictionary[number]
        return replace(cause, rule=number, merge=(rule.left, rule.right))

    def rule_between(self, left: int, right: int) -> int:
        """Return the rule that keeps id `right` from following id `left`; -1 if none does."""
        tokens = self.tokenizer.id_to_token
        number = self.tokenizer.dfa.blocking_rule(int(tokens[left]), int(tokens[right]))
        return -1 if number is None else number


def doubts(sequences: Iterable[tuple[int, ...]]) -> Doubts:
    """Return the table of the sequences, each of two ids or more."""
    known = sorted(set(sequences), key=lambda sequence: (sequence[-2:], sequence))
    if not known:
        nothing = np.zeros(0, dtype=np.int32)
        return Doubts(np.zeros(0, dtype=np.int64), nothing, nothing, nothing)
    from tokdfa.kernels.merging.merging import pair_table

    ends = np.array([sequence[-2:] for sequence in known], dtype=np.int32)
    begins = np.flatnonzero(np.append(True, (ends[1:] != ends[:-1]).any(axis=1))).astype(np.int32)
    stops = np.append(begins[1:], len(known)).astype(np.int32)
    # The entry of a pair is the range of its sequences.
    pairs = np.ascontiguousarray(ends[begins].T)
    table = pair_table(pairs[0], pairs[1], begins, stops, spread=8).fields
    bounds = np.cumsum([0, *(len(sequence) - 2 for sequence in known)]).astype(np.int32)
    ids = np.array([id for sequence in known for id in sequence[:-2]], dtype=np.int32)
    range_ = np.column_stack((table["priority"], table["product"])).reshape(-1)
    return Doubts(table["keys"], range_, bounds, ids)
