"""Identifying the tokenizer that made a store of ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.jobs.identification.counting import ENOUGH, Counts, count_violations
from tokdfa.jobs.identification.mistakes import is_better, may_be_cut, mistakes_of_ids, mistakes_of_reading
from tokdfa.jobs.identification.reading import TYPES, Reading, best_type, fitting_reading
from tokdfa.jobs.identification.result import Candidate, Identification, Mistake
from tokdfa.jobs.identification.sample import Sample, Stretch, sample_of
from tokdfa.tokenizers.loading import load_each
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["MOST_IDS", "identify"]

MOST_IDS = 1_000_000
"""The number of ids that are read by default."""

# Pre-tokenizers are chosen by so many times fewer violations; and how many of them are left then.
_HEATS = 8
_FINALISTS = 2
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
        The number of ids to read, about. If the store has more, they are stretches of 4,096 ids, evenly spread over it
        where it can be read from any offset on, and otherwise its beginning; `stretches` of the answer says which.
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
    Each stretch is judged with 64 ids of context on both sides; violations in the context are not counted. A candidate
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
        found.append(_judged(candidate, sample))
    found.sort(key=lambda each: np.inf if each.per_million is None else each.per_million)
    return Identification(
        str(path),
        sample.format,
        sample.dtype,
        sample.is_recorded,
        sample.n_ids,
        sample.is_whole,
        tuple(sorted((stretch.place, stretch.end - stretch.begin) for stretch in sample.stretches)),
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
            if not isinstance(value, AnyTokenizer):
                raise wrong_argument(value, "a tokenizer", "tokdfa.identify(path, {name: tokenizer})")
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
    return sample if best is None else samples[best].read_as_guessed()


def _judged(choice: _Choice, sample: Sample) -> Candidate:
    """Return a candidate with its violations, by the pre-tokenizer that fits best."""
    try:
        name, tokenizer, counts = _best(choice.tokenizers, sample.stretches)
        mistakes: list[Mistake] = []
        if counts.violations or may_be_cut(tokenizer, sample.stretches):
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
    stretches = sample.stretches
    if not reading:
        return name, mistakes_of_ids(tokenizer, stretches, counts), counts
    stretches = tuple(map(reading.stretch, stretches))
    name, tokenizer, corrected = _best(choice.tokenizers, stretches)
    if not is_better(reading, corrected, counts):
        return best[0], [], counts
    mistakes = mistakes_of_reading(sample, reading, corrected.per_million)
    mistakes += mistakes_of_ids(tokenizer, stretches, corrected)
    if tokenizer is not best[1]:
        counts = count_violations(tokenizer, sample.stretches)
    return name, mistakes, counts


def _best(tokenizers: tuple[tuple[str | None, AnyTokenizer], ...], stretches: tuple[Stretch, ...]) -> _Best:
    """Return of several tokenizers the one with the fewest violations per million ids; the first of equals."""
    left = [*tokenizers]
    if len(left) > 1:
        # Most of them are far from fitting, as few violations show.
        heats = [count_violations(tokenizer, stretches, ENOUGH // _HEATS).per_million for _, tokenizer in left]
        left = [left[at] for at in np.argsort(heats, kind="stable")[:_FINALISTS]]
    counted = [(name, each, count_violations(each, stretches)) for name, each in left]
    return min(counted, key=lambda row: row[2].per_million)
