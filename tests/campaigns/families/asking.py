"""A family asked for many texts and many streams of ids, and compared with its library."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np

import tokdfa
from tests.campaigns.families.peers import Peer, Wanted
from tests.campaigns.families.shrinking import shrunk
from tests.campaigns.families.spoiling import Spoiler
from tests.campaigns.families.subjects import Subject
from tests.campaigns.families.texts import Texts
from tests.campaigns.standing.laws.parts import in_parts
from tests.campaigns.standing.laws.verdicts import Found, check_repairs, found
from tokdfa.base.errors import TokdfaError

__all__ = ["Family", "Outcome"]

BATCH = 1000
JOINED = 200
LONGEST = 400
SIZES = (1, 2, 3, 7, 20)
MOST_SHRUNK = 12
DTYPES = (np.int32, np.int64, np.uint32)

Ids = list[int]


@dataclass
class Outcome:
    """The cases reached by kind, the refusals by reason, and each difference."""

    texts: int = 0
    streams: int = 0
    changes: int = 0
    met: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    seconds: Counter[str] = field(default_factory=Counter)


class Family:
    """A subject with its tokenizer and its library loaded."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self.subject = subject
        self.tokenizer = subject.load()
        self.peer: Peer = subject.peer()
        self.outcome = Outcome()
        self.drawn = random.Random(f"{subject.name} {seed}")
        self.texts = Texts(self.peer, self.drawn)
        self._spoiler = Spoiler(self.peer, self.drawn)

    # Texts

    def ask_texts(self, n: int) -> None:
        """Compare the ids of `n` texts: of each alone, of many in one call, and of parts of each."""
        began = time.process_time()
        while n > 0:
            kinds, texts = zip(*self._drawn_texts(min(n, BATCH)), strict=True)
            n -= len(texts)
            theirs = self.peer.encode(texts)
            ours = [self.encoded(self.tokenizer.encode, text) for text in texts]
            together = self._together(list(texts), ours)
            for kind, text, wanted, alone, at_once in zip(kinds, texts, theirs, ours, together, strict=True):
                self.outcome.texts += 1
                self.outcome.met[f"texts: {kind}"] += 1
                if isinstance(alone, str):
                    self.outcome.refused[alone] += 1
                fed, parts = alone, []
                if self.drawn.random() < 0.4:
                    parts = in_parts(self.drawn, text.encode() if self.drawn.random() < 0.5 else text, SIZES)
                    fed = self.encoded(self._fed, parts)
                    self.outcome.met["texts: in parts"] += 1
                if wanted is None:
                    self.outcome.met["texts: the library fails"] += 1
                    wanted = alone
                if not (at_once == alone == fed) or (alone != wanted and not isinstance(alone, str)):
                    self._differ("text", text, self._text_differs, (wanted, alone, at_once, fed, parts))
        self.outcome.seconds["texts"] += time.process_time() - began

    def _drawn_texts(self, n: int) -> list[tuple[str, str]]:
        """Return texts which the library defines, with their kinds; of many, the last is some of them joined."""
        drawn, is_alike = iter(self.texts.next, None), self.subject.is_alike
        found = [*islice((each for each in drawn if is_alike is None or is_alike(each[1])), n)]
        joined = "".join(text for _, text in found[:JOINED])
        if n == BATCH and (is_alike is None or is_alike(joined)):
            found[-1] = "many joined", joined
        return found

    def encoded(self, ask: Callable[[Any], Any], value: Any) -> Ids | str:
        """Return ids, or why they are refused."""
        try:
            return [*map(int, ask(value))]
        except TokdfaError as error:
            return error.what

    def _fed(self, parts: Sequence[str] | Sequence[bytes]) -> Ids:
        stream = self.tokenizer.stream()
        return [id for ids in [*map(stream.feed, parts), stream.finish()] for id in ids.tolist()]

    def _together(self, texts: list[str], alone: Sequence[Ids | str]) -> list[Ids | str]:
        """Return the ids of texts in one call, those that are refused left out; they have to be refused there, too."""
        kept = [text for text, ids in zip(texts, alone, strict=True) if not isinstance(ids, str)]
        if len(kept) < len(texts):
            refused = self.encoded(lambda texts: tokdfa.encode_batch(self.tokenizer, texts).ids, texts)
            assert isinstance(refused, str), "one call for many texts refuses none of those that are refused alone"
        encoded = tokdfa.encode_batch(self.tokenizer, kept, threads=self.drawn.randrange(1, 3))
        rows = iter([encoded.ids[begin:end].tolist() for begin, end in pairwise(encoded.offsets.tolist())])
        return [ids if isinstance(ids, str) else next(rows) for ids in alone]

    def _text_differs(self, text: str) -> bool:
        """Whether a text has other ids than the library's, in any of a few ways; the library has to read it."""
        (wanted,) = self.peer.encode([text])
        if wanted is None or (self.subject.is_alike is not None and not self.subject.is_alike(text)):
            return False
        alone = self.encoded(self.tokenizer.encode, text)
        if isinstance(alone, str):
            return False
        ways = [alone, *(self.encoded(self._fed, [text[at : at + k] for at in range(0, len(text), k)]) for k in SIZES)]
        data = text.encode()
        ways += [self.encoded(self._fed, [data[at : at + k] for at in range(0, len(data), k)]) for k in SIZES]
        return any(ids != wanted for ids in ways)

    # Streams

    def ask_streams(self, n: int) -> None:
        """Compare the verdicts on `n` streams: of each alone, of many in one call, and of chunks of each."""
        began = time.process_time()
        while n > 0:
            streams = self._drawn_streams(min(n, BATCH))
            n -= len(streams)
            wanted = self.peer.wanted(streams)
            for ids, expected, verdict in zip(streams, wanted, self._in_one_call(streams), strict=True):
                self.outcome.streams += 1
                if isinstance(verdict, str):
                    self.outcome.refused[verdict] += 1
                    continue
                problem = self._problem(ids, expected, verdict) or self._problem_of_parts(ids, verdict)
                if problem is not None:
                    self._differ("ids", ids, self._ids_differ, (problem, verdict))
                self._count(expected, verdict)
        self.outcome.seconds["streams"] += time.process_time() - began

    def _drawn_streams(self, n: int) -> list[Ids]:
        """Return streams, every second one spoiled, some of two texts; of many, the last is some of them joined."""
        streams: list[Ids] = []
        while len(streams) < n:
            texts = [text for _, text in self._drawn_texts(n)]
            encoded = [ids for ids in self.peer.encode(texts) if ids]
            for number, ids in enumerate(encoded):
                begin = self.drawn.randrange(len(ids)) if len(ids) > LONGEST else 0
                ids = ids[begin : begin + LONGEST]
                if len(streams) % 2:
                    if self.drawn.random() < 0.1:
                        ids = (encoded[number - 1] + ids)[-LONGEST:]
                        self.outcome.met["streams: joined"] += 1
                    ids, names = self._spoiler.spoiled(ids)
                    self.outcome.met.update(f"streams: {name}" for name in names)
                if ids and self._is_alike(ids):
                    streams.append(ids)
        joined = [id for ids in streams[:JOINED] for id in ids]
        if n == BATCH and self._is_alike(joined):
            streams[n - 1] = joined
            self.outcome.met["streams: many joined"] += 1
        return streams[:n]

    def _is_alike(self, ids: Ids) -> bool:
        """Whether the library defines what ids mean; another format may read control pieces otherwise."""
        if self.subject.is_alike is None:
            return True
        return self.peer.cuts.isdisjoint(ids) and self.subject.is_alike(self.peer.decode([ids])[0])

    def _judged(self, ids: Any) -> list[Found] | str:
        """Return the violations, or why the stream is refused."""
        try:
            return found(self.tokenizer.validate(ids, all=True).violations)
        except TokdfaError as error:
            return error.what

    def _in_one_call(self, streams: list[Ids]) -> Sequence[list[Found] | str]:
        """Return the violations of each stream as a document among the others, or alone where documents are refused."""
        starts = [*accumulate(map(len, streams), initial=0)]
        try:
            verdict = self.tokenizer.validate(
                np.concatenate([np.array(ids, dtype=np.int64) for ids in streams]), all=True, documents=starts[:-1]
            )
        except TokdfaError as error:
            self.outcome.met[f"streams: not in one call: {error.what}"] += len(streams)
            return [self._judged(np.array(ids)) for ids in streams]
        by_stream: list[list[Found] | str] = [[] for _ in streams]
        places = np.searchsorted(starts, [each.start for each in verdict.violations], side="right") - 1
        unclear: set[int] = set()
        for place, (index, start, given, canonical) in zip(places.tolist(), found(verdict.violations), strict=True):
            if not given and start in (starts[place], starts[-1]):
                # Ids that are missing between two streams may be the last ones of one, or the first ones of the other.
                unclear |= {place - 1, place} & {*range(len(streams))}
            else:
                of_stream = by_stream[place]
                assert isinstance(of_stream, list)
                of_stream.append((index - starts[place], start - starts[place], given, canonical))
        for place in unclear:
            by_stream[place] = self._judged(np.array(streams[place]))
        return by_stream

    def _problem_of_parts(self, ids: Ids, verdict: list[Found]) -> str | None:
        """Return how a verdict on a stream alone, or in chunks, differs from the one among others; one way a time."""
        way = self.drawn.randrange(4)
        if way == 0:
            self.outcome.met["streams: alone"] += 1
            alone = self._judged(np.array(ids, dtype=self.drawn.choice(DTYPES)))
            return None if alone == verdict else f"alone: {alone}"
        if way == 1:
            self.outcome.met["streams: in chunks"] += 1
            parts = in_parts(self.drawn, ids, SIZES)
            fed = self._judged(iter([np.array(part, dtype=np.int64) for part in parts]))
            return None if fed == verdict else f"in chunks {parts}: {fed}"
        return None

    def _problem(self, ids: Ids, expected: Wanted | None, verdict: list[Found] | str) -> str | None:
        """Return how a verdict differs from the library's; None if it does not."""
        if expected is None or isinstance(verdict, str):
            return None
        index = verdict[0][0] if verdict else None
        if index not in expected.indices:
            return f"the first violation is at one of {set(expected.indices)}"
        if expected.is_text:
            try:
                check_repairs(ids, expected.canonical, verdict)
            except AssertionError:
                return f"repaired, the ids are not {expected.canonical}"
            if any(wanted is None for *_, wanted in verdict):
                return "a violation of ids that are text has no canonical ids"
        return None

    def _ids_differ(self, ids: Ids) -> bool:
        if not ids or not self._is_alike(ids):
            return False
        (expected,) = self.peer.wanted([ids])
        verdict = self._judged(ids)
        if isinstance(verdict, str) or expected is None:
            return False
        if self._problem(ids, expected, verdict) is not None or self._in_one_call([ids])[0] != verdict:
            return True
        chunks = [[np.array(ids[at : at + k]) for at in range(0, len(ids), k)] for k in SIZES]
        return any(self._judged(iter(each)) != verdict for each in chunks)

    def _count(self, expected: Wanted | None, verdict: list[Found] | str) -> None:
        met = self.outcome.met
        if expected is None:
            met["streams: the library fails"] += 1
        else:
            met["streams: canonical" if not verdict else "streams: not canonical"] += 1
            met["streams: not UTF-8"] += not expected.is_text
            met["streams: several violations"] += len(verdict) > 1

    def _differ(self, what: str, whole: Any, differs: Callable[[Any], bool], shown: object) -> None:
        """Note a difference, made small if that is possible."""
        if len(self.outcome.differences) >= MOST_SHRUNK:
            self.outcome.differences.append(f"{what} {whole!r}"[:300])
            return
        small = shrunk(whole, differs) if differs(whole) else whole
        told = "" if small is whole else f"\n  made of {whole!r}"[:600]
        self.outcome.differences.append(f"{what} {small!r}: {self._told(what, small)}{told}\n  {shown!r}"[:2500])

    def _told(self, what: str, small: Any) -> str:
        """Return what both make of a text or of ids."""
        if what == "text":
            return f"library {self.peer.encode([small])[0]}, tokdfa {self.encoded(self.tokenizer.encode, small)}"
        tokens = [self.peer.tokens.get(id) for id in small]
        return f"{tokens}: library {self.peer.wanted([small])[0]}, tokdfa {self._judged(small)}"
