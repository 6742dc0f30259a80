"""The graph of the canonical streams of byte pairs over bytes."""

from __future__ import annotations

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import Int32Array
from tokdfa.jobs.guiding.prefixes import BaseKey, MoveTables, State, base_of, prefixes_of
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import tokens_of
from tokdfa.jobs.measures.streams import Edges, Streams, numbered
from tokdfa.tokenizers.tokenizer import Tokenizer


class ByteStreams(Streams):
    """The graph of a byte pair tokenizer over bytes that encodes texts unchanged; texts in a normal form count, too."""

    def __init__(self, tokenizer: Tokenizer, language: str | None = None) -> None:
        read = tokenizer.read_in_form
        tokens = tokens_of(tokenizer if read is None else read[0])
        prefixes = prefixes_of(tokens, None if language is None else texts_of(tokens, language, has_controls=False))
        ordinary = tokens.usable | tokens.special
        ordinary[tokenizer.control_ids] = False
        n = tokens.n_ids
        super().__init__(tokens.follow_sets, ordinary, np.arange(n, dtype=np.int32), tokenizer.id_spellings)
        self._tables = MoveTables(prefixes)
        self._prefixes = prefixes
        self._numbers: Numbering[BaseKey] = Numbering(base_of(prefixes.initial))

    def _edges_from(self, base: int) -> Edges:
        moves = self._tables.of(self._numbers.states[base])
        kept = np.flatnonzero(self.ordinary[moves.ids])
        ids, spelled, text = moves.ids[kept], moves.spelled[kept], moves.text[kept]
        free, cut = (self._bases(split[kept], spelled, text) for split in (moves.free, moves.cut))
        return Edges(ids, free, cut, moves.position[kept])

    def step(self, base: int, row: int, label: int) -> int:
        # PERF: the edges of a base with 100,000 ids take 5 ms, one step some microseconds.
        split, spelled, text = self._numbers.states[base]
        state = self._prefixes.step(State(split, row, spelled, text), label) if self.ordinary[label] else None
        return -1 if state is None else self._numbers[state.split, state.spelled, state.text]

    def _bases(self, split: Int32Array, spelled: Int32Array, text: Int32Array) -> Int32Array:
        """Return the bases of states, -1 where there is none."""
        found = np.full(len(split), -1, dtype=np.int32)
        known = np.flatnonzero(split)
        found[known] = numbered(self._numbers, [part[known] for part in (split, spelled, text)], len(known))
        return found

    def is_final(self, base: int) -> bool:
        split, spelled, text = self._numbers.states[base]
        return self._prefixes.is_final(State(split, 0, spelled, text))

    def has_size(self, n_bytes: int) -> bool:
        return self._prefixes.texts.has_size(n_bytes)
