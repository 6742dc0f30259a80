"""The states of a decoder of several steps between ids."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.decoding import (
    ByteFallback,
    DecodeByteLevel,
    DecodeReplace,
    DecodeSentencePiece,
    DecodeStep,
    ReplaceWhole,
    Run,
    bytes_of,
)
from tokdfa.tokenizers.normalizers.steps import check_growth, most_characters
from tokdfa.tokenizers.text_states import TextStates, ends_replaced
from tokdfa.tokenizers.word_decoding import DecodeSuffix, StripText

if TYPE_CHECKING:
    from tokdfa.tokenizers.whole_decoder import StringsOfIds, WholeDecoder

State: TypeAlias = tuple[Any, ...]

_LONGEST_KEPT = 16
_FEW = 32

_UNDECIDED: dict[type[DecodeStep], dict[str, int | None]] = {
    DecodeByteLevel: {"character": 3},
    DecodeSentencePiece: {"character": 3},
    ByteFallback: {"run of byte tokens": None},
    DecodeSuffix: {"token that ends a word": None},
    ReplaceWhole: {"beginning of a match": None},
    StripText: {"white space": None},
}


class StepStates(TextStates):
    """Ids with strings from which the steps of a decoder make a text; a state has one state for each step.

    `decoder` decodes many ids at once.
    """

    def __init__(self, decoder: WholeDecoder, strings: StringsOfIds, steps: Sequence[DecodeStep]) -> None:
        for step in steps:
            if isinstance(step, ReplaceWhole) and not step.is_streamed:
                what = "a decoder that replaces matches of a pattern across ids cannot be streamed"
                raise UnsupportedFeatureError(what, value=step.replace.pattern, hint="decode all ids at once")
        self._decoder, self._strings, self._steps = decoder, strings, steps
        self.initial = tuple(step.initial for step in steps)
        self._settled = tuple(step.settled for step in steps)
        self._is_separate = all(step.is_separate for step in steps)
        sizes = {name: size for step in steps for name, size in _UNDECIDED.get(type(step), {}).items()}
        self.held = tuple(sizes)
        self.most_bytes = None if None in sizes.values() else max(filter(None, sizes.values()), default=0)

    def read(self, state: State, id: int) -> tuple[str, State]:
        tokens, after = [self._strings.of_ids[id]], list[Hashable]()
        most = most_characters(len(tokens[0]))
        for step, before in zip(self._steps, state, strict=True):
            spelled = list[str]()
            for token in tokens:
                decided, before = step.read(before, token)
                spelled += decided
            after.append(before)
            tokens = spelled
            if isinstance(step, DecodeReplace | ReplaceWhole) and step.replace.lengthens:
                check_growth(sum(map(len, tokens)), most, step)
        return "".join(tokens), tuple(after)

    def reads_many(self, n: int) -> bool:
        return self._is_separate and n > _FEW and self._decoder.spells(n)

    def read_many(self, state: State, ids: Int32Array) -> tuple[str, State]:
        first, within, last, state = self._around_runs(state, ids)
        return first + self._decoder.later.text_of(within).text + last, state

    def spell_many(self, state: State, ids: Int32Array, before: bytes) -> tuple[memoryview, State]:
        first, within, last, after = self._around_runs(state, ids)
        if self._decoder.splits_characters(within):
            text, after = self.read_many(state, ids)
            return memoryview(before + text.encode("utf-8")), after
        state = after
        data = self._decoder.spell_later(within, before + first.encode("utf-8")).data
        return memoryview(data.tobytes() + last.encode("utf-8")) if last else data, state

    def _around_runs(self, state: State, ids: Int32Array) -> tuple[str, Int32Array, str, State]:
        """Return the text of the first and of the last ids, and the ids between them, and the new state.

        No run of byte tokens crosses the ends of the ids between them.
        """
        is_byte = self._strings.texts.ends[2]
        begin, end, first, last = 0, len(ids), "", ""
        while begin < end and state != self._settled:
            text, state = self.read(state, int(ids[begin]))
            first += text
            begin += 1
        while begin < end and is_byte[ids[end - 1]]:
            end -= 1
        for id in ids[end:].tolist():
            text, state = self.read(state, id)
            last += text
        return first, ids[begin:end], last, state

    def finish(self, state: State) -> str:
        tokens = list[str]()
        for step, before in zip(self._steps, state, strict=True):
            spelled = list[str]()
            for token in tokens:
                decided, before = step.read(before, token)
                spelled += decided
            tokens = spelled + step.finish(before)
        return "".join(tokens)

    def n_undecided(self, state: State) -> int | None:
        if state == self._settled:
            return 0
        return None if any(step.is_open(each) for step, each in zip(self._steps, state, strict=True)) else 0

    def ends(self, state: State, ids: Int32Array) -> tuple[int, Int64Array]:
        strings = self._strings.of_ids
        tokens = [strings[id] for id in ids.tolist()]
        held: Int64Array = np.zeros(len(tokens), dtype=np.int64)
        for step, before in zip(self._steps, state, strict=True):
            after = step.run(before, tokens)
            if isinstance(step, DecodeByteLevel):
                words = [before, *map(bytes_of, tokens)]
                added = ends_replaced(b"".join(words))
                ends = np.cumsum([*map(len, words)])[1:]
                held += (ends if added is None else added[ends]) - _ends(after)
                tokens = after
                continue
            for number, token in enumerate(tokens):
                before = step.read(before, token)[1]
                if not (step.is_separate and after[number]):
                    held[number] += step.held(before)
            tokens = after
        return 0, held + _ends(tokens)

    def is_kept(self, state: State) -> bool:
        if state == self._settled:
            return True
        sizes = (
            each.size if isinstance(each, Run) else step.held(each)
            for step, each in zip(self._steps, state, strict=True)
        )
        return all(size <= _LONGEST_KEPT for size in sizes)


def _ends(tokens: Sequence[str]) -> Int64Array:
    """Return the ends of texts, in bytes."""
    sizes = (len(token.encode("utf-8")) for token in tokens)
    return np.cumsum(np.fromiter(sizes, dtype=np.int64, count=len(tokens)))
