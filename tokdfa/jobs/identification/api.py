"""The functions `identify` and `identify_each`: the tokenizer that made a store, and the mistakes in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.base.suggestions import expect, wrong_argument
from tokdfa.jobs.identification.judging import Choice, judge
from tokdfa.jobs.identification.readings import best_type, is_near
from tokdfa.jobs.identification.result import Candidate, Identification
from tokdfa.jobs.identification.sample import Sample, sample_of
from tokdfa.stores.integer_types import TYPES
from tokdfa.stores.opening import find_stores
from tokdfa.stores.store import Problem
from tokdfa.tokenizers.formats.reading import find_several
from tokdfa.tokenizers.loading import load_each
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["MOST_IDS", "MOST_IDS_EACH", "identify", "identify_each"]

MOST_IDS = 1_000_000
"""The number of ids that are read by default."""

MOST_IDS_EACH = 1 << 16
"""The number of ids that are read of each store by default if many are judged."""

_Tokenizers: TypeAlias = Mapping[str, AnyTokenizer] | Iterable[str | Path]


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
        ranks that is not known needs `pretokenizer`. Of a folder of tokenizers, each is a candidate.
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
    Each segment is judged with 64 ids of context on both sides; violations in the context are not counted, nor those
    next to ids of unknown characters or words, which do not tell their text. A candidate is not judged on after 1,000
    violations, 125 of Unigram, or after some hundred ids if it is far from fitting and another is not. A mistake is
    named only if the candidate fits once it is corrected. Whether it fits is seen by decoding ids and encoding the text
    again: ids of the same vocabulary lose few of their neighbours, at most an eighth of the loss of the same ids when
    they are shifted, and ids of another vocabulary a third or more. Pieces of Unigram lose few in any reading: shifts
    are told by the texts that are next to each other in each, mostly by 300 to 1,000 ids. Where these do not tell,
    nothing is named and `is_enough` is False.

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
    candidates = _Candidates.of(tokenizers, pretokenizer)
    return _identified(path, find_stores([path], dtype, field), candidates, dtype, field, most, say, is_brief=False)


def identify_each(
    paths: str | Path | Iterable[str | Path],
    tokenizers: _Tokenizers,
    *,
    dtype: str | None = None,
    field: str | None = None,
    pretokenizer: str | None = None,
    most: int = MOST_IDS_EACH,
    stage: Callable[[str], object] | None = None,
) -> Iterator[Identification | Problem]:
    """Yield for each of many stores which of some tokenizers made it; a problem for a store that cannot be read.

    Parameters
    ----------
    paths : str, Path, or iterable of them
        Stores, and folders and patterns of stores; see :func:`tokdfa.open_store`.
    tokenizers, dtype, field, pretokenizer, stage
        See :func:`identify`. The tokenizers are loaded once.
    most : int
        The number of ids to read of each, about.

    Yields
    ------
    Identification or Problem
        In the order of the stores. `makers` of an answer are the tokenizers that fit best. Where one fits, others that
        are far from fitting are not judged.

    Raises
    ------
    TokenStreamError
        If there are no stores.
    FileFormatError, UnsupportedFeatureError, OSError, WrongTypeError
        For tokenizers, as :func:`identify` does.

    Notes
    -----
    Cost, for 10 tokenizers and 65,536 ids of each store: some 40 ms if one of them fits, two seconds if none does.

    Examples
    --------
    >>> import tempfile
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ids = tokenizer.encode("a single man in possession of a good fortune")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/1.npy", ids)
    ...     np.save(f"{folder}/2.npy", [64, 261, 1193])
    ...     for found in tokdfa.identify_each(folder, {"default": tokenizer}):
    ...         print([maker.name for maker in found.makers])
    ['default']
    []
    """
    say = stage or (lambda text: None)
    files = find_stores([paths] if isinstance(paths, (str, Path)) else [*paths], dtype, field)
    say("loading the tokenizers")
    candidates = _Candidates.of(tokenizers, pretokenizer)
    for number, path in enumerate(files):
        say(f"judging file {number + 1:,} of {len(files):,}")
        try:
            found = _identified(path, [path], candidates, dtype, field, most, lambda text: None, is_brief=True)
        except (TokdfaError, OSError) as error:
            yield Problem.of(error, path)
        else:
            yield found


class _Candidates(NamedTuple):
    """The candidates, and those that cannot be loaded."""

    choices: list[Choice]
    refused: list[Candidate]

    @classmethod
    def of(cls, tokenizers: _Tokenizers, pretokenizer: str | None) -> _Candidates:
        """Load tokenizers. Those in a folder of several may be refused; any other that cannot be loaded is an error."""
        found = cls([], [])
        if isinstance(tokenizers, Mapping):
            for value in tokenizers.values():
                expect(value, AnyTokenizer, "a tokenizer", "tokdfa.identify(path, {name: tokenizer})")
            found.choices.extend(Choice(str(name), ((None, tokenizer),)) for name, tokenizer in tokenizers.items())
        elif isinstance(tokenizers, (str, Path)) or not isinstance(tokenizers, (Iterable, AnyTokenizer)):
            raise wrong_argument(tokenizers, "a list of files", "tokdfa.identify(path, [file, other])")
        else:
            for given in [tokenizers] if isinstance(tokenizers, AnyTokenizer) else tokenizers:
                found._add(given, pretokenizer)
        if not found.choices:
            raise WrongTypeError("there must be at least one tokenizer", value=[each.name for each in found.refused])
        return found

    def _add(self, given: str | Path | AnyTokenizer, pretokenizer: str | None) -> None:
        if isinstance(given, AnyTokenizer):
            hint = "give a mapping of names to tokenizers: tokdfa.identify(path, {name: tokenizer})"
            raise WrongTypeError("a tokenizer that is loaded has no name of its own", value=given, hint=hint)
        several = find_several(Path(given))
        if not several:
            self.choices.append(Choice(str(given), load_each(given, pretokenizer)))
        for path in several:
            try:
                self.choices.append(Choice(str(path), load_each(path, pretokenizer)))
            except TokdfaError as error:
                self.refused.append(Candidate(str(path), error=str(error)))


def _identified(
    path: str | Path,
    files: Sequence[Path],
    candidates: _Candidates,
    dtype: str | None,
    field: str | None,
    most: int,
    say: Callable[[str], object],
    *,
    is_brief: bool,
) -> Identification:
    """Return which of some candidates made a store."""
    say("reading the sample")
    choices = candidates.choices
    sample = sample_of(files, dtype, field, most)
    near = [is_near(choice.likeliest, sample) for choice in choices]
    if not sample.is_recorded and not any(near):
        say("trying integer types")
        sample = _typed(files, field, most, sample, choices)
        near = [is_near(choice.likeliest, sample) for choice in choices]
    found, is_enough = judge(choices, near, sample, say, is_brief=is_brief)
    found.sort(key=lambda each: (not each.fits, np.inf if each.per_million is None else each.per_million))
    return Identification(
        str(path),
        sample.format,
        sample.dtype,
        sample.is_recorded,
        sample.n_ids,
        sample.is_whole,
        tuple(sorted((segment.location, segment.end - segment.begin) for segment in sample.segments)),
        (*found, *candidates.refused),
        is_enough,
        sample.broken,
    )


def _typed(files: Sequence[Path], field: str | None, most: int, sample: Sample, choices: list[Choice]) -> Sample:
    """Return the sample of raw integers read as the type by which a candidate fits best."""
    samples = {}
    for name in TYPES:
        try:
            samples[name] = sample_of(files, name, field, most)
        except (TokdfaError, OSError):
            continue
    best = best_type([choice.likeliest for choice in choices], samples)
    return sample if best is None else replace(samples[best], is_recorded=False)
