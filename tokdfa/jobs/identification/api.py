"""The function `identify`: the tokenizer that made a store of ids, and the mistakes in ids that almost fit one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import IntegerArray
from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.base.suggestions import expect, wrong_argument
from tokdfa.jobs.identification.result import Candidate, Identification, Mistake, MistakeKind
from tokdfa.jobs.identification.sample import (
    ENOUGH,
    TYPES,
    Counts,
    Reading,
    Sample,
    Segment,
    best_type,
    count_violations,
    fitting_reading,
    sample_of,
)
from tokdfa.jobs.validation.violation import ViolationKind
from tokdfa.tokenizers.loading import load_each
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["MOST_IDS", "identify"]

MOST_IDS = 1_000_000
"""The number of ids that are read by default."""

# Pre-tokenizers are chosen by so many times fewer violations; and how many of them are left then.
_HEATS = 8
_FINALISTS = 2
_FEWER = 0.1
_LEFT_BY_SHIFT = 1000.0
# More ids than these that a tokenizer does not have belong to a larger vocabulary, not to special tokens.
_MOST_SPECIALS = 16
_FEWEST = 20
_MOST_FOREIGN = 4
# If an id does not stand for text, at least this share of its occurrences is wrong.
_WRONG = 0.25
# Violations that are left when such ids are taken out.
_LEFT = 0.2
_SYSTEMATIC = 0.7
_REPEATED = 0.5
_BITS = 1 << 16
# A vocabulary that has fewer ids from 65,536 on may seldom use them; some of them are special tokens.
_FEWEST_WIDE = 2000
# Other ids of the upper half of 16 bits that must occur if the integers are wider. In texts of cl100k, o200k and
# Llama 3.1 at most 150 occur before one from 65,536 on, repeated ones counted.
_UPPER = 200

_Tokenizers: TypeAlias = Mapping[str, AnyTokenizer] | Iterable[str | Path]
_Best: TypeAlias = tuple[str | None, AnyTokenizer, Counts]


def identify(
    path: str | Path,
    tokenizers: _Tokenizers,
    *,
    dtype: str | None = None,
    field: str | None = None,
    pretokenizer: str | None = None,
    most: int = MOST_IDS,
    stage: Callable[[str], object] | None = None,
) -> Identification:
    """Identify which of some tokenizers made a store of ids, and name likely mistakes where none fits.

    Parameters
    ----------
    path : str or Path
        A store of ids, see :func:`tokdfa.open_store`; or a folder or pattern with several.
    tokenizers : dict of str to AnyTokenizer, or iterable of str or Path
        The candidates, by name; or their files. Where a file does not record how text is split, as a
        merges.txt does not, every named pre-tokenizer is tried, and the one that fits best is reported. A file of
        ranks that is not known needs `pretokenizer`.
    dtype, field : str, optional
        See :func:`tokdfa.open_store`. Where nothing records the integer type, and it is not given, all are tried.
    pretokenizer : str, optional
        The pre-tokenizer, for files that do not record it.
    most : int
        The number of ids to read, about. If the store has more, they are segments of 4,096 ids, evenly spread over it
        where it can be read from any offset on, and otherwise its beginning; `segments` of the answer says which.
    stage : callable, optional
        Called with a description of each step.

    Returns
    -------
    Identification
        Truthy if the best candidate has no violations and no mistakes in the ids read.

    Raises
    ------
    TokenStreamError
        If nothing can be read from the store.
    FileFormatError, UnsupportedFeatureError, OSError
        As :func:`tokdfa.load` and :func:`tokdfa.open_store` do.
    WrongTypeError
        Without candidates, or if they are something else.

    Notes
    -----
    Each segment is judged with 64 ids of context on both sides; violations in the context are not counted. A candidate
    is not judged on after 1,000 violations. A mistake is named only if the candidate fits once it is corrected. Whether
    it fits is seen by decoding ids and encoding the text again: ids of the same vocabulary lose few of their
    neighbours, at most an eighth of the loss of the same ids when they are shifted, and ids of another vocabulary a
    third or more.

    Examples
    --------
    >>> import tempfile
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ids = tokenizer.encode("a single man in possession of a good fortune")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/ids.npy", ids)
    ...     found = tokdfa.identify(f"{folder}/ids.npy", {"default": tokenizer})
    >>> bool(found), found.best.name, found.best.per_million
    (True, 'default', 0.0)
    """
    say = stage or (lambda text: None)
    say("loading the tokenizers")
    candidates = _choices(tokenizers, pretokenizer)
    if not candidates:
        raise WrongTypeError("there must be at least one tokenizer", value=[])
    say("reading the sample")
    sample = sample_of(path, dtype, field, most)
    if not sample.is_recorded:
        say("trying integer types")
        sample = _typed(path, field, most, sample, candidates)
    found = []
    for candidate in candidates:
        say(f"judging by {candidate.name}")
        found.append(_checked(candidate, sample))
    found.sort(key=lambda each: np.inf if each.per_million is None else each.per_million)
    return Identification(
        str(path),
        sample.format,
        sample.dtype,
        sample.is_recorded,
        sample.n_ids,
        sample.is_whole,
        tuple(sorted((segment.location, segment.end - segment.begin) for segment in sample.segments)),
        tuple(found),
        sample.broken,
    )


class _Choice(NamedTuple):
    """A candidate: its tokenizer, or one for each pre-tokenizer that may be its own, by name; the likeliest first."""

    name: str
    tokenizers: tuple[tuple[str | None, AnyTokenizer], ...]


def _choices(tokenizers: _Tokenizers, pretokenizer: str | None) -> list[_Choice]:
    if isinstance(tokenizers, Mapping):
        for value in tokenizers.values():
            expect(value, AnyTokenizer, "a tokenizer", "tokdfa.identify(path, {name: tokenizer})")
        return [_Choice(str(name), ((None, tokenizer),)) for name, tokenizer in tokenizers.items()]
    if isinstance(tokenizers, (str, Path, AnyTokenizer)) or not isinstance(tokenizers, Iterable):
        raise wrong_argument(tokenizers, "a list of files", "tokdfa.identify(path, [file, other])")
    return [_Choice(str(path), load_each(path, pretokenizer)) for path in tokenizers]


def _typed(path: str | Path, field: str | None, most: int, sample: Sample, candidates: list[_Choice]) -> Sample:
    """Return the sample of raw integers read as the type by which a candidate fits best."""
    samples = {}
    for name in TYPES:
        try:
            samples[name] = sample_of(path, name, field, most)
        except (TokdfaError, OSError):
            continue
    tokenizers = [tokenizer for candidate in candidates for _, tokenizer in candidate.tokenizers[:1]]
    best = best_type(tokenizers, samples)
    return sample if best is None else replace(samples[best], is_recorded=False)


def _checked(choice: _Choice, sample: Sample) -> Candidate:
    """Return a candidate with its violations, by the pre-tokenizer that fits best."""
    try:
        name, tokenizer, counts = _best(choice.tokenizers, sample.segments)
        mistakes: list[Mistake] = []
        if counts.violations or may_be_cut(tokenizer, sample.segments):
            # How text is split matters little to whether ids are of the vocabulary.
            likeliest = [tokenizer, *(each for _, each in choice.tokenizers[:1] if each is not tokenizer)]
            readings = (fitting_reading(each, sample) for each in likeliest)
            reading = next((each for each in readings if each is not None), None)
            if reading is not None:
                name, mistakes, counts = _corrected(choice, sample, reading, (name, tokenizer, counts))
    except TokdfaError as error:
        return Candidate(choice.name, error=str(error))
    kinds = dict(sorted(counts.kinds.items()))
    return Candidate(choice.name, name, counts.ids, kinds, sum(counts.missing.values()), tuple(mistakes))


def _corrected(
    choice: _Choice, sample: Sample, reading: Reading, best: _Best
) -> tuple[str | None, list[Mistake], Counts]:
    """Return the pre-tokenizer that fits ids in a reading, the mistakes, and the violations as the ids are."""
    name, tokenizer, counts = best
    segments = sample.segments
    if not reading:
        return name, mistakes_of_ids(tokenizer, segments, counts), counts
    segments = tuple(map(reading.segment, segments))
    name, tokenizer, corrected = _best(choice.tokenizers, segments)
    # Ids that the tokenizer does not have are left out.
    left = 1e6 * sum(corrected.kinds.values()) / max(corrected.ids, 1)
    # Of thousands of shifts one may happen to leave few, above all in programs, which repeat few ids.
    if left > min(_FEWER * counts.per_million, _LEFT_BY_SHIFT if reading.offset else counts.per_million):
        return best[0], [], counts
    mistakes = mistakes_of_reading(sample, reading, corrected.per_million)
    mistakes += mistakes_of_ids(tokenizer, segments, corrected)
    if tokenizer is not best[1]:
        counts = count_violations(tokenizer, sample.segments)
    return name, mistakes, counts


def _best(tokenizers: tuple[tuple[str | None, AnyTokenizer], ...], segments: tuple[Segment, ...]) -> _Best:
    """Return of several tokenizers the one with the fewest violations per million ids; the first of equals."""
    left = [*tokenizers]
    if len(left) > 1:
        # Most of them are far from fitting, as few violations show.
        heats = [count_violations(tokenizer, segments, ENOUGH // _HEATS).per_million for _, tokenizer in left]
        left = [left[at] for at in np.argsort(heats, kind="stable")[:_FINALISTS]]
    counted = [(name, each, count_violations(each, segments)) for name, each in left]
    return min(counted, key=lambda row: row[2].per_million)


def mistakes_of_reading(sample: Sample, reading: Reading, per_million: float) -> list[Mistake]:
    """Return the mistakes that a reading corrects, given the violations per million ids that are left."""
    mistakes = []
    if reading.dtype is not None:
        stored, meant = sample.segments[0].ids.dtype, np.dtype(reading.dtype)
        is_swapped = stored.itemsize == meant.itemsize and stored.newbyteorder("S").str[0] == meant.str[0]
        kind = MistakeKind.BYTE_ORDER if is_swapped else MistakeKind.DTYPE
        mistakes.append(Mistake(kind, per_million, dtype=reading.dtype))
    if reading.offset:
        mistakes.append(Mistake(MistakeKind.SHIFTED_IDS, per_million, offset=-reading.offset))
    return mistakes


def mistakes_of_ids(tokenizer: AnyTokenizer, segments: tuple[Segment, ...], counts: Counts) -> list[Mistake]:
    """Return the mistakes in ids of the tokenizer, or another version of it."""
    mistakes: list[Mistake] = []
    spelled = counts.kinds["special-token"]
    between = sorted(counts.missing) if len(counts.missing) <= _MOST_SPECIALS else []
    if 2 * spelled <= counts.violations:
        between += _foreign_ids(tokenizer, segments, counts, between)
    if between:
        counts = count_violations(tokenizer, segments, separators=between)
        ids = tuple(between[:_MOST_SPECIALS])
        mistakes.append(Mistake(MistakeKind.SPECIAL_IDS, counts.per_million, ids=ids))
        spelled = counts.kinds["special-token"]
    if 2 * spelled > counts.violations:
        left = 1e6 * (counts.violations - spelled) / counts.ids
        mistakes.append(Mistake(MistakeKind.SPECIALS_AS_TEXT, left))
    elif is_cut_to_16_bits(tokenizer, segments, counts):
        mistakes.append(Mistake(MistakeKind.CUT_TO_16_BITS, counts.per_million))
    elif _is_another_version(segments, counts):
        mistakes.append(Mistake(MistakeKind.ANOTHER_VERSION, counts.per_million))
    return mistakes


def may_be_cut(tokenizer: AnyTokenizer, segments: tuple[Segment, ...]) -> bool:
    """Return whether no id has more than 16 bits, though the vocabulary has many, and the integers or the ids tell.

    Most cut ids are canonical next to their neighbours, so violations show few of them. Missing ids tell: ids that
    merge late are rare, but a few hundred tokens of text have some from 65,536 on if they have some just below it.
    """
    if tokenizer.n_ids < _BITS + _FEWEST_WIDE:
        return False
    if any(int(segment.ids.max(initial=0)) >= _BITS for segment in segments):
        return False
    if all(segment.ids.dtype.itemsize == 2 for segment in segments):
        return True
    ids = np.unique(_all(segments))
    return int(np.count_nonzero(ids >= _BITS // 2)) >= _UPPER


def is_cut_to_16_bits(tokenizer: AnyTokenizer, segments: tuple[Segment, ...], counts: Counts) -> bool:
    """Return whether ids from 65,536 on were cut to their lower 16 bits, in ids that the tokenizer has made.

    If a version of it with fewer ids made them, nearly all violations are where this one has an id from 65,536 on: 92 %
    or more for parts of cl100k and o200k. If ids of Gemma 2 are cut, which has most ids there, up to 79 % are.
    """
    if not may_be_cut(tokenizer, segments):
        return False
    wanted = sum(max(violation.canonical_ids or (0,)) >= _BITS for violation, _ in counts.found)
    return 10 * wanted <= 9 * len(counts.found)


def _neighbours_of(counts: Counts) -> list[tuple[int, int]]:
    """Return for each violation the first wrong id, after the id before it (-1 at the beginning)."""
    return [
        (int(ids[violation.index - 1]) if violation.index else -1, int(ids[violation.index]))
        for violation, ids in counts.found
    ]


def _foreign_ids(
    tokenizer: AnyTokenizer, segments: tuple[Segment, ...], counts: Counts, known: Iterable[int]
) -> list[int]:
    """Return the ids, apart from `known`, at which nearly all violations are, because they are not used as text."""
    found: list[int] = []
    begun = sum(counts.kinds.values())
    if begun < _FEWEST:
        return []
    occurring = Counter(_all(segments).tolist())
    current = counts
    total = occurring.total()
    for _ in range(_MOST_FOREIGN):
        beside = Counter(id for pair in _neighbours_of(current) for id in {*pair} - {-1})
        for id, n in beside.most_common(4):
            # The violations were counted in a part of the sample only.
            occurs = occurring[id] * current.ids / total
            if n >= _FEWEST / 2 and n >= _WRONG * occurs:
                found.append(id)
                break
        else:
            break
        current = count_violations(tokenizer, segments, separators=[*known, *found])
        if not current.violations:
            break
    if not found:
        return []
    before, after = begun / counts.ids, sum(current.kinds.values()) / current.ids
    return sorted(found) if after <= _LEFT * before else []


def _is_another_version(segments: tuple[Segment, ...], counts: Counts) -> bool:
    """Return whether violations are systematic: the wanted ids never occur, and the same ones recur."""
    if len(counts.missing) > _MOST_SPECIALS:
        return True
    known = [violation for violation, _ in counts.found if violation.canonical_ids is not None]
    if len(known) < _FEWEST or 2 * len(known) < len(counts.found):
        return False
    if counts.kinds[ViolationKind.NOT_UTF8.value] * 10 > counts.violations:
        return False
    every = _all(segments).astype(np.int64)
    ones, pairs = {*np.unique(every).tolist()}, {*np.unique((every[:-1] << 32) | every[1:]).tolist()}
    absent = 0
    for violation in known:
        ids = violation.canonical_ids or ()
        occurs = ids[0] in ones if len(ids) == 1 else all(one << 32 | other in pairs for one, other in pairwise(ids))
        absent += not occurs
    recurring = Counter(_neighbours_of(counts))
    repeated = sum(n for n in recurring.values() if n > 1)
    return absent >= _SYSTEMATIC * len(known) and repeated >= _REPEATED * len(counts.found)


def _all(segments: tuple[Segment, ...]) -> IntegerArray:
    return np.concatenate([segment.ids[segment.begin : segment.end] for segment in segments])
