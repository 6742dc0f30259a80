"""Texts of a tokenizer in a language, found in the graph of its canonical streams and confirmed by encoding them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import islice

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.jobs.measures.climbing import Climb, end_of, reach, start_of
from tokdfa.jobs.measures.extremes import Extreme
from tokdfa.jobs.measures.of_tokenizers import streams_of
from tokdfa.jobs.measures.paths import paths_of
from tokdfa.jobs.measures.ratios import Pumped
from tokdfa.jobs.measures.streams import grouped
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.protocol import AnyTokenizer

MOST_TRIED = 1000
SECONDS_FOR_TEXTS = 20.0
"""The processor time for the graph and for first texts, beyond the time for proofs."""

_GRAPH = "the graph of canonical streams"


class Texts:
    """The texts of a tokenizer in a language, as paths of `streams`; `n_questions` share the time for proofs.

    `paths` have the time of one question. `paths_to_texts` have more time than all of them together: a text is found
    even if the time for proofs is over. `n_tokens`, `n_bytes` and `n_characters` are added by each label to a text.
    """

    def __init__(self, tokenizer: AnyTokenizer, language: str | None, max_seconds: float, n_questions: int = 1) -> None:
        self.tokenizer, self.language = tokenizer, language
        self._budget, self._n_questions = Budget(max_seconds=max_seconds, what=_GRAPH), n_questions
        first = Budget(max_seconds=max_seconds + SECONDS_FOR_TEXTS, what="a first text")
        self.streams = streams = streams_of(tokenizer, language)
        self.n_tokens: Int64Array = np.ones(len(streams.ids), dtype=np.int64)
        self.n_bytes = streams.sizes
        data, offsets = streams.spellings
        begun = np.append(0, np.cumsum(begins_symbol(data)))
        self.n_characters: Int64Array = np.diff(begun[offsets]).astype(np.int64)
        self.paths, self.paths_to_texts = paths_of(streams, self._budget), paths_of(streams, first)

    def begin_question(self) -> None:
        """Begin a question: it has its share of the time that the ones before have left."""
        share = self._budget.seconds_left / self._n_questions
        self._n_questions -= 1
        self.paths = self.paths.within(Budget(max_seconds=share, what=_GRAPH))

    @cached_property
    def reached(self) -> Climb:
        """All states that streams reach."""
        return reach(self.paths)

    def single(self) -> Int32Array:
        """Return the labels that are the only one of a stream."""
        codes, labels = self.paths_to_texts.following(0, np.zeros(1, dtype=np.int64), None)
        return labels[self.paths.are_final(codes)] if len(labels) else labels

    def through(self, label: int) -> tuple[int, ...] | None:
        """Return the labels of a stream that has a label; None if none has it."""
        streams, paths, reached = self.streams, self.paths, self.reached
        for group in grouped(reached.codes // (paths.n_classes * streams.n_rows)):
            codes = reached.codes[group]
            edges = streams.edges(paths.parts(int(codes[0]))[0])
            for at in np.flatnonzero(edges.labels == label).tolist():
                targets = np.where(streams.forbids(codes % streams.n_rows, label), edges.cut[at], edges.free[at])
                for index in np.flatnonzero(targets >= 0)[:1].tolist():
                    target = int(paths.coded(targets[[index]], np.array([label]))[0])
                    after = end_of(paths, reach(paths, target, up_to_end=True))
                    return (*reached.path(int(codes[index]))[1], label, *after)
        return None

    def short(self) -> Iterator[Pumped]:
        """Yield streams of one label or more, one for each final state, the shortest first."""
        paths = self.paths_to_texts
        climb, is_any = start_of(paths), False
        while len(climb.frontier):
            reached = climb.advance()
            for code in reached[paths.are_final(reached)].tolist():
                is_any = True
                yield Pumped(after=tuple(climb.path(code)[1]))
        if not is_any:
            what = "only the empty text" if self.streams.is_final(0) else "no text without control tokens"
            raise PatternError(f"{what} is in the language", value=self.language)

    def of_text(self, text: str) -> Pumped | None:
        """Return the stream of a text; None if it is not a canonical one in the language."""
        labels = self.streams.labels_of(self.tokenizer.encode(text).tolist())
        return None if not labels or self.streams.spelled(labels) != text.encode() else Pumped(after=labels)

    def has(self, stream: Pumped) -> bool:
        """Return whether the tokenizer gives the ids of a stream for its text, however often a part is repeated."""
        times = (1, 2, 3, self.streams.most_repeated) if stream.repeated else (1,)
        return all(self._is_encoded(stream.labels(n)) for n in times)

    def _is_encoded(self, labels: tuple[int, ...]) -> bool:
        data = self.streams.spelled(labels)
        return is_utf8(data) and tuple(self.tokenizer.encode(data.decode()).tolist()) == self.streams.ids_of(labels)

    def confirmed(self, streams: Iterable[Pumped]) -> Iterator[Pumped]:
        """Yield the streams that the tokenizer gives for their texts."""
        for stream in islice(streams, MOST_TRIED):
            self.paths_to_texts.budget.check_time()
            if self.has(stream):
                yield stream

    def first(self, streams: Iterable[Pumped]) -> Pumped:
        """Return the first stream that the tokenizer gives for its text."""
        for stream in self.confirmed(streams):
            return stream
        raise LimitExceededError("no text was found that the tokenizer leaves unchanged", value=self.language)

    def count(self, stream: Pumped) -> Fraction:
        """Return the number of tokens of a stream."""
        return Fraction(len(self.streams.ids_of(stream.labels())))

    def extreme(self, stream: Pumped, value: Fraction | None, proved: Fraction | None) -> Extreme:
        """Return an extreme value with the text of a stream."""
        spelled = self.streams.spelled
        data, begin, part = spelled(stream.labels()), len(spelled(stream.before)), spelled(stream.repeated)
        # A part that begins within a character is shown from the next one on.
        while part and begin < len(data) and data[begin] & 0xC0 == 0x80:
            part, begin = part[1:] + part[:1], begin + 1
        repeated = part.decode("utf-8") if stream.repeated else None
        is_timed_out = value != proved and not self.paths.budget.seconds_left
        ids = self.streams.ids_of(stream.labels())
        return Extreme(value, proved, data.decode("utf-8"), ids, repeated, is_timed_out)
