"""The tables over the ids of a tokenizer by which its canonical streams are read id by id.

`FollowSets` are the ids that may not follow a token within a piece, as rows of intervals.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, ranges
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.characters import (
    CHANGED,
    JOINED,
    SINGLE_WORD,
    characters_of,
    first_of,
    refuse_if,
    single_words,
)
from tokdfa.jobs.guiding.openings import Beginnings, Strips
from tokdfa.jobs.guiding.scan import TextScan
from tokdfa.jobs.guiding.splits import IdKinds, Splits
from tokdfa.kernels.guiding.product import followers_of, forbidding_of
from tokdfa.kernels.library import Struct
from tokdfa.regex.trie import TokenTrie
from tokdfa.regex.unicode.normalization import Form
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.neighbours import Neighbours
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.pretokenizers.token_lift import TokenLift
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

NONE = 0
"""The row that forbids no id, for the beginning of a text and for special tokens."""

ALL = 1
"""The row that forbids every id, for tokens that are given only for whole pieces."""

_N_OTHERS = 2


class FollowSets:
    """The sets of ids that may not follow a token within a piece; tokens with the same set share a row.

    Row r forbids the ids at the positions ``start[i]`` to ``stop[i]`` for i from ``pointer[r]`` to ``pointer[r + 1]``.
    The intervals of a row ascend and do not overlap. `alone` are the ids that are given only for whole pieces.
    """

    def __init__(self, of: Neighbours, n_ids: int, alone: Int32Array) -> None:
        live = of.live[of.ids[of.live] >= 0]
        ids = of.ids[live]
        n_positions = int(of.position.max(initial=-1)) + 1
        # One entry an id: its row; `NONE` for special tokens and ids without a token.
        self.row_of: Int32Array = np.full(n_ids, NONE, dtype=np.int32)
        self.row_of[ids] = of.rows.of_token[live] + np.int32(_N_OTHERS)
        self.row_of[alone] = ALL
        # One entry an id: its position in the intervals; -1 for ids that no row forbids.
        self.position: Int32Array = np.full(n_ids, -1, dtype=np.int32)
        self.position[ids] = of.position[live]
        # The id at each position; -1 where there is none.
        self.id_at: Int32Array = np.full(n_positions, -1, dtype=np.int32)
        self.id_at[of.position[live]] = ids
        pointer, start, stop = of.intervals
        self.pointer: Int32Array = np.concatenate(([0, 0], pointer + 1)).astype(np.int32)
        self.start: Int32Array = np.concatenate(([0], start)).astype(np.int32)
        self.stop: Int32Array = np.concatenate(([n_positions], stop)).astype(np.int32)
        self.struct = followers_of(self.pointer, self.start, self.stop, self.id_at)
        self.forbidding = forbidding_of(len(self.pointer) - 1, n_positions)

    def count_forbidding(self, position: Int32Array, rows: IntegerArray) -> Int64Array:
        """Return for each position of an id, or -1, the number of `rows` that forbid it."""
        spans, _ = self.spans_of(rows)
        n = len(self.id_at) + 1
        steps = np.bincount(self.start[spans], minlength=n) - np.bincount(self.stop[spans], minlength=n)
        # The last entry is for ids without a position.
        return np.append(np.cumsum(steps), 0)[position]

    def spans_of(self, rows: IntegerArray) -> tuple[Int64Array, Int64Array]:
        """Return the intervals of rows, one row after the other, and their number for each row."""
        pointer = self.pointer.astype(np.int64)
        spans, offsets = ranges(pointer[rows], pointer[rows + 1])
        return spans, np.diff(offsets)


class Tokens(OfTokenizer["Tokenizer"]):
    """The ids of a tokenizer: their spelling, their effect on the pre-tokenizer, and the ids that may follow them.

    The tokenizer is a byte pair tokenizer over bytes that encodes texts unchanged, or one over characters that replaces
    spaces; others are refused. With a `form`, only texts in it count: another tokenizer, which brings texts into the
    form first, has the same streams for them.
    """

    def __init__(self, tokenizer: Tokenizer, form: Form | None = None) -> None:
        is_bytewise = tokenizer.why_not("bytes") is None
        self.characters = None if is_bytewise else characters_of(tokenizer)
        undivided: Collection[int] = ()
        if self.characters is None:
            lift = TokenLift(_splitting_of(tokenizer))
        else:
            split_nfa, undivided = self.characters.split_nfa()
            lift = TokenLift(split_nfa)
        # The ids of special tokens that are found in texts, and their contents.
        self.found = {special.id: special.content.encode() for special in tokenizer.found_specials}
        if self.characters is not None:
            self.found = self.characters.found
        super().__init__(tokenizer)
        self.beginnings = Beginnings() if self.characters is None else self.characters.beginnings
        self.form = form
        self.n_ids = n = tokenizer.n_ids
        self.spellings = tokenizer.id_spellings if self.characters is None else self.characters.spellings
        text, offsets = self.spellings
        alone = tokenizer.token_to_id[tokenizer.whole_piece_tokens]
        alone = alone[alone >= 0]
        self.special: BoolArray = np.zeros(n, dtype=np.bool_)
        self.special[[*self.found]] = True
        # One entry an id: whether the text after it, in a prompt, is encoded like one that nothing precedes.
        self.restarts: BoolArray = np.zeros(n, dtype=np.bool_)
        if not tokenizer.found_specials:
            self.special[tokenizer.special_ids] = True
        if self.beginnings.are_anew:
            self.restarts[tokenizer.special_ids] = True
        is_alone = np.zeros(n, dtype=np.bool_)
        is_alone[alone] = True
        of = tokenizer.neighbours
        self.follow_sets = FollowSets(of, n, alone)
        # One entry an id: whether some canonical stream has it; special tokens are told apart.
        self.usable: BoolArray = (self.follow_sets.position >= 0) | is_alone
        self.usable &= ~self.special
        if self.characters is not None:
            self.usable &= self.characters.usable
        self.trie = TokenTrie(text.astype(np.int32), offsets, ~self.usable)
        self.special_ids: Int32Array = np.flatnonzero(self.special).astype(np.int32)
        # One entry a special token: whether texts end before it.
        self.are_apart = np.isin(self.special_ids, tokenizer.special_ids)
        self._note_strips(tokenizer)
        self.starts = self.beginnings.starts(self.are_apart)
        specials = {id: self.found.get(id, b"") for id in self.special_ids.tolist()}
        late = {special.id for special in tokenizer.found_specials if special.level}
        self.scan = TextScan(specials, late, form, self.trie, n)
        merged = _merged(tokenizer, [*map(self.bytes_of, alone.tolist())])
        self.splits = Splits(lift, text, offsets, IdKinds(self.usable, self.special, is_alone, merged, undivided))
        # The usable ids, in the order of the trie.
        self.words: Int32Array = self.trie.words.astype(np.int32)
        special_of = np.full(n, -1, dtype=np.int32)
        special_of[self.special_ids] = np.arange(len(self.special_ids), dtype=np.int32)
        scan, trie = self.scan, self.trie
        self.struct = Struct(
            "tokdfa_guide_ids",
            class_of=self.splits.class_of, row_of=self.follow_sets.row_of, position=self.follow_sets.position,
            special_of=special_of, from_start=scan.from_start, spelled=scan.table, order_after=scan.orders,
            n_orders=scan.n_orders, after_special=scan.after_special, special_column=scan.special_column,
            n_special_columns=scan.after_special.shape[1], text=text, offsets=offsets, symbol=trie.symbol,
            depth=trie.depth, end=trie.end, first=trie.first, words=self.words, byte_id=self._ids_of_bytes(),
            special_ids=self.special_ids,
            **self._ending(),
        )  # fmt: skip

    def _note_strips(self, tokenizer: Tokenizer) -> None:
        """Let the beginnings of texts know which special tokens take the white space next to them."""
        specials = {special.id: special for special in tokenizer.found_specials}
        if not any(special.lstrip or special.rstrip for special in specials.values()):
            return
        shows_spaces = self.characters is not None and self.characters.shows_spaces
        each = tuple(
            Strips.of(specials.get(id), self.found.get(id, b"").decode(), shows_spaces)
            for id in self.special_ids.tolist()
        )
        self.beginnings = self.beginnings._replace(strips=each)
        # The space that decoding shows after these tokens belongs to them: read again, the text after them is the same.
        self.restarts[[id for id, special in specials.items() if special.rstrip]] = False

    @cached_property
    def backward_trie(self) -> TokenTrie:
        """The trie of the usable ids with their bytes from the last one to the first."""
        text, offsets = self.spellings
        sizes = np.diff(offsets)
        mirrored = np.repeat(offsets[:-1] + offsets[1:], sizes) - 1 - np.arange(len(text))
        return TokenTrie(text[mirrored].astype(np.int32), offsets, ~self.usable)

    def _ids_of_bytes(self) -> Int32Array:
        """Return the id of each byte, -1 if it has none or only one given for whole pieces."""
        ids = self.words[self.trie.depth[np.repeat(np.arange(self.trie.n_nodes), np.diff(self.trie.first))] == 1]
        ids = ids[self.follow_sets.position[ids] >= 0]
        found = np.full(256, -1, dtype=np.int32)
        text, offsets = self.spellings
        found[text[offsets[ids]]] = ids
        return found

    def _ending(self) -> dict[str, Int32Array]:
        """Return the ids that begin with the last bytes of a symbol, by their positions."""
        text, offsets = self.spellings
        position, id_at = self.follow_sets.position, self.follow_sets.id_at
        ids = id_at[id_at >= 0]
        ids = ids[self.usable[ids]]
        ids = ids[(text[offsets[ids]] & 0xC0) == 0x80]
        before = np.zeros(len(id_at) + 1, dtype=np.int32)
        before[position[ids] + 1] = 1
        return {"ending": ids, "ending_from": np.cumsum(before, dtype=np.int32)}

    def bytes_of(self, id: int) -> bytes:
        """Return the bytes of an id."""
        text, offsets = self.spellings
        return text[offsets[id] : offsets[id + 1]].tobytes()


_WHY_WHOLE = {
    "Unigram": "scores of the whole text decide each id",
    "longest match": "bytes after an id decide whether it is the longest",
}


def tokens_of(tokenizer: AnyTokenizer) -> Tokens:
    """Return the tables over the ids of a tokenizer."""
    if tokenizer.why_not("rules") is not None:
        why = _WHY_WHOLE.get(tokenizer.algorithm, "words are looked up as a whole, and decoding does not keep spaces")
        what = f"the streams of a {tokenizer.algorithm} tokenizer are judged as a whole, not id by id: {why}"
        raise UnsupportedFeatureError(what, hint="validate judges a finished stream")
    known = cast(Tokenizer, tokenizer)
    read, form = known.read_in_form or (known, None)
    if form is None or known.joined_specials or not all(map(_is_known_as_it_is, known.specials)):
        return known.derived(Tokens)
    return read.derived(Tokens, form)


def _is_known_as_it_is(special: Special) -> bool:
    """Return whether a special token is found wherever its content is, which may take white space next to it."""
    return not special.single_word and special.normalized is None


def _splitting_of(tokenizer: Tokenizer) -> Splitting:
    """Return the splitting of texts, if they are judged id by id."""
    splitting, (read, form) = tokenizer.splitting, tokenizer.read_in_form or (None, None)
    rewrites = read is None or form is not None
    # If texts are at most brought into a form, special tokens are the reason why they are not read in it.
    at_fault: tuple[Special, ...] = ()
    if form is not None:
        odd = (special for special in tokenizer.specials if not _is_known_as_it_is(special))
        at_fault = (*odd, *tokenizer.joined_specials)
    reasons: dict[str, bool | str | None] = {
        "the tokenizer rewrites texts": rewrites and not at_fault,
        SINGLE_WORD: first_of(single_words(at_fault or tokenizer.found_specials)),
        CHANGED: first_of(special for special in at_fault if special.normalized is not None),
        JOINED: first_of(at_fault),
        "words end with a suffix": tokenizer.suffix is not None,
        "the pre-tokenizer inserts spaces": splitting.prefix_space is not None or splitting.metaspace is not None,
        "the pre-tokenizer splits the bytes of a character": bool(splitting.byte_steps),
        "the pre-tokenizer leaves out text": any(step.behavior == "removed" for step in splitting.steps),
        "an added token decodes to other text": first_of(each for each in tokenizer.specials if each.is_mistaken),
    }
    refuse_if(reasons)
    return splitting


def _merged(tokenizer: Tokenizer, words: list[bytes]) -> list[tuple[int, ...]]:
    """Return the ids that merging gives for the words of tokens that are given for whole pieces instead."""
    if not words:
        return []
    encoded = tokenizer.piece_ids.merge(words)
    sequences = [tuple(encoded.ids[a:b].tolist()) for a, b in pairwise(encoded.offsets.tolist())]
    return [sequence for sequence in sequences if min(sequence) >= 0]
