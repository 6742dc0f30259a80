"""Checking rollouts: which of their ids are not canonical, and who wrote them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, id_array, offsets_of
from tokdfa.base.errors import TokdfaError, TokenStreamError, WrongTypeError
from tokdfa.jobs.rollouts.finding import finder_of
from tokdfa.jobs.rollouts.frameworks import Documents, Names, Rollout, checked_prompt, sampled_ids
from tokdfa.jobs.rollouts.result import NONE_MISSING, Found, RolloutCheck, RolloutChecks
from tokdfa.jobs.rollouts.spans import OUT_OF_RANGE, Counts, classes_of, in_order, joined, without_ids
from tokdfa.jobs.validation.api import n_accepted
from tokdfa.jobs.validation.validator import checked_separator, document_starts
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["check_rollout", "check_rollouts", "iter_outcomes", "iter_rollout_checks"]

S = TypeVar("S")
P = TypeVar("P")
R = TypeVar("R")

_NO_NAMES = Names()
# The rollouts that are collected go to a thread from so many on.
_MOST_ROLLOUTS = 1 << 12


def check_rollout(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike,
    mask: npt.ArrayLike | None = None,
    prompt: int = 0,
    documents: Documents = None,
) -> RolloutCheck:
    """Find the ids of a rollout that are not canonical, and tell bugs from drift and junctions by the mask.

    The ids are compared with the canonical ids of their text between neighbouring boundaries that both share. A span
    that differs is a *bug* if none of its ids was sampled, *drift* if all were, and otherwise a *junction*.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    ids : array_like of int
        The ids of the rollout, prompt included.
    mask : array_like of 0 and 1, or of labels, optional
        Whether each id was sampled by the model, as a loss mask says it: as long as the ids, and then it decides alone;
        or as long as the ids after the prompt. Labels are -100 for ids that were not sampled, and the id itself for
        others. By default all ids after the prompt were sampled.
    prompt : int
        The number of ids of the prompt, which were not sampled.
    documents : int or array_like of int, optional
        The id that separates documents, or the index of the first id of each. Each document is judged separately, and
        the ids between them are not judged.

    Returns
    -------
    RolloutCheck
        Truthy iff there are no bugs.

    Raises
    ------
    TokenStreamError
        If they are not integers, the mask has another length or other values, the prompt is longer than the ids, or
        documents do not begin in order; the error says which.
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say how libraries merge with it.

    Notes
    -----
    An id that the tokenizer does not have is a span of its own, and the ids before and after it are judged
    separately. Special tokens, also those in chat templates, split the text as they do in the tokenizer's own library.
    See :class:`~tokdfa.jobs.rollouts.spans.Spans` for ids without a text and for tokenizers that normalize.

    A canonical rollout costs as much as :func:`tokdfa.validate`, and some microseconds. If something is wrong, only
    that and a few ids around it are decoded and encoded again; tokenizers that are validated by encoding encode all.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> check = tokdfa.check_rollout(tokenizer, [64, 261, 1193, 462], mask=[0, 0, 1, 1])  # a≀ s≀ingle≀ man
    >>> bool(check), check.counts
    (True, Counts(bugs=0, drift=0, junctions=1))
    >>> check.junctions[0].reason
    "'ingle' (1193) never follows ' s' (261): rule 2257 (' s' + 'ingle') would have merged them"
    """
    if documents is None:
        accepted = n_accepted(tokenizer, ids)
        if accepted is not None:
            array = ids if type(ids) is np.ndarray and ids.dtype == np.int32 else np.asarray(ids, dtype=np.int32)
            if mask is None:
                return RolloutCheck(tokenizer, array, accepted - checked_prompt(prompt, accepted))
            sampled = sampled_ids(mask, prompt, array)
            return RolloutCheck(tokenizer, array, accepted if sampled is None else int(np.count_nonzero(sampled)))
    (check,) = _checked_parcel(tokenizer, [_prepared(tokenizer, Rollout(ids, mask, prompt, documents))])
    return check


def check_rollouts(
    tokenizer: AnyTokenizer,
    ids: Iterable[npt.ArrayLike],
    masks: Iterable[npt.ArrayLike | None] | None = None,
    prompts: Iterable[int] | int = 0,
    *,
    threads: int | None = None,
) -> RolloutChecks:
    """Check many rollouts, with several threads; see :func:`check_rollout`.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    ids : iterable of array_like of int
        The ids of each rollout.
    masks : iterable of array_like, optional
        A mask, or None, for each rollout.
    prompts : int or iterable of int
        The number of ids of the prompt of each rollout, or of all of them.
    threads : int, optional
        The number of threads, at least one; by default one per core.

    Raises
    ------
    TokenStreamError
        As :func:`check_rollout` does; the error gives the rollout. If there are fewer or more masks or prompts than
        rollouts.
    ImproperDictionaryError
        As :func:`check_rollout` does.
    WrongTypeError
        If `ids` is a path.

    Examples
    --------
    >>> checks = tokdfa.check_rollouts(tokdfa.default_tokenizer(), [[64, 2513], [64, 261, 1193]], prompts=[1, 2])
    >>> print(checks.reason)
    2 rollouts, 5 ids, 2 sampled: 0 bugs, drift 0.0000 % (0 spans), 1 junction
    """
    if isinstance(ids, (str, os.PathLike)):
        hint = "the command tokdfa rollouts TOK FILE reads a file; here, give the list of ids of each rollout"
        raise WrongTypeError("the ids of each rollout are expected, not a path", value=ids, hint=hint)
    rollouts = _together(ids, masks, prompts)
    return RolloutChecks([*iter_rollout_checks(tokenizer, rollouts, threads=threads)])


def iter_rollout_checks(
    tokenizer: AnyTokenizer, rollouts: Iterable[Rollout], *, threads: int | None = None
) -> Iterator[RolloutCheck]:
    """Yield the check of each rollout, in order, holding only a few thousand rollouts at a time.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    rollouts : iterable of Rollout
    threads : int, optional
        The number of threads, at least one; by default one per core.

    Raises
    ------
    TokenStreamError, ImproperDictionaryError
        As :func:`check_rollouts` does.

    Examples
    --------
    >>> rollouts = (tokdfa.Rollout([64, 261, 1193], prompt=prompt) for prompt in range(4))
    >>> [check.counts.drift for check in tokdfa.iter_rollout_checks(tokdfa.default_tokenizer(), rollouts)]
    [1, 1, 0, 0]
    """
    items = ((f"rollout {number}", rollout) for number, rollout in enumerate(rollouts))
    outcomes = iter_outcomes(tokenizer, items, threads=threads)
    return (check for _, check in outcomes if isinstance(check, RolloutCheck))


def iter_outcomes(
    tokenizer: AnyTokenizer,
    items: Iterable[tuple[S, Rollout | TokdfaError]],
    *,
    keep_going: bool = False,
    names: Names = _NO_NAMES,
    threads: int | None = None,
    n_ids: int = 1 << 18,
) -> Iterator[tuple[S, RolloutCheck | TokdfaError]]:
    """Yield the check of each rollout, or the error of one that cannot be checked, in order and with where it is.

    An item is where a rollout is, to be named in errors, and the rollout, or the error of reading it. Unless
    `keep_going`, the first error is raised. `names` are the names of the ids, the mask and the prompt in errors;
    rollouts go to a thread once they have `n_ids` ids.
    """
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise WrongTypeError("the number of threads must be a positive integer", value=threads)
    n_threads = os.cpu_count() or 1 if threads is None else threads

    def found() -> Iterator[tuple[S, RolloutCheck | TokdfaError]]:
        prepare = partial(_prepared, tokenizer, names=names)
        parcels = _parcels(items, prepare, n_ids, keep_going)
        work = partial(_outcomes, tokenizer)
        done = map(work, parcels) if n_threads == 1 else _threaded(work, parcels, n_threads)
        for where, outcome in chain.from_iterable(done):
            if isinstance(outcome, TokdfaError) and not keep_going:
                raise _at(outcome, where)
            yield where, outcome

    return found()


_ONE: Int64Array = np.zeros(1, dtype=np.int64)


class _Prepared(NamedTuple):
    """A rollout with its ids checked; `begins` and `ends` bound its texts, or are _ONE if there is only one."""

    ids: Int32Array
    sampled: BoolArray | None
    begins: Int64Array
    ends: Int64Array
    missing: Mapping[int, int]  # The ids that the tokenizer does not have, by index.
    out_of_range: Int64Array  # The indices of the ids in a document.


def _prepared(tokenizer: AnyTokenizer, rollout: Rollout, names: Names = _NO_NAMES) -> _Prepared:
    try:
        part = names.ids
        ids, unknown = tokenizer.decoder.check_known(rollout.ids)
        given = id_array(rollout.ids) if len(unknown) else ids
        begins, ends = _documents(given, rollout.documents)
        missing = NONE_MISSING
        if len(unknown):
            missing = dict(zip(unknown.tolist(), given[unknown].tolist(), strict=True))
            # They cut documents; those between documents do not count.
            unknown = unknown[unknown < ends[np.searchsorted(begins, unknown, "right") - 1]]
            begins, ends = np.sort(np.append(begins, unknown + 1)), np.sort(np.append(ends, unknown))
        part = names.prompt
        prompt = checked_prompt(rollout.prompt, len(ids))
        part = names.mask
        return _Prepared(ids, sampled_ids(rollout.mask, prompt, given), begins, ends, missing, unknown)
    except TokdfaError as error:
        raise (_at(error, part) if part else error) from None


def _documents(ids: IntegerArray, documents: Documents) -> tuple[Int64Array, Int64Array]:
    """Return where the documents of a rollout begin and end."""
    if documents is None:
        return _ONE, np.array([len(ids)])
    if isinstance(documents, (int, np.integer, np.bool_)):
        separators = np.flatnonzero(ids == checked_separator(documents))
        return np.append(0, separators + 1), np.append(separators, len(ids))
    starts = document_starts(documents)
    if len(starts) and starts[-1] > len(ids):
        raise TokenStreamError("a document begins after the end of the ids", value=int(starts[-1]))
    begins = np.unique(np.append(0, starts))
    return begins, np.append(begins[1:], len(ids))


def _parcels(
    items: Iterable[tuple[S, Rollout | TokdfaError]],
    prepare: Callable[[Rollout], _Prepared],
    most: int,
    keep_going: bool,
) -> Iterator[list[tuple[S, _Prepared | TokdfaError]]]:
    """Yield rollouts, some at a time: enough for a thread to be worth it, and few enough to stay in a cache.

    Unless errors are kept, the first one ends the last parcel.
    """
    parcel: list[tuple[S, _Prepared | TokdfaError]] = []
    n_ids = 0
    for where, rollout in items:
        prepared: _Prepared | TokdfaError
        try:
            prepared = rollout if isinstance(rollout, TokdfaError) else prepare(rollout)
        except TokdfaError as error:
            prepared = error
        parcel.append((where, prepared))
        if isinstance(prepared, _Prepared):
            n_ids += len(prepared.ids)
        elif not keep_going:
            break
        if n_ids >= most or len(parcel) >= _MOST_ROLLOUTS:
            yield parcel
            parcel, n_ids = [], 0
    if parcel:
        yield parcel


def _outcomes(
    tokenizer: AnyTokenizer, parcel: list[tuple[S, _Prepared | TokdfaError]]
) -> list[tuple[S, RolloutCheck | TokdfaError]]:
    """Return the checks of some rollouts, and the errors of the others, which cannot be checked."""
    prepared = [rollout for _, rollout in parcel if isinstance(rollout, _Prepared)]
    try:
        checks = iter(_checked_parcel(tokenizer, prepared) if prepared else [])
    except TokdfaError as error:
        if len(parcel) == 1:
            return [(parcel[0][0], error)]
        # Which of them it is shows when they are checked one by one.
        return [_outcomes(tokenizer, [each])[0] for each in parcel]
    return [(where, next(checks) if isinstance(rollout, _Prepared) else rollout) for where, rollout in parcel]


def _checked_parcel(tokenizer: AnyTokenizer, parcel: list[_Prepared]) -> list[RolloutCheck]:
    """Return the checks of some rollouts; their ids are walked over as one array."""
    finder = tokenizer.derived(finder_of)
    ids = np.concatenate([rollout.ids for rollout in parcel]) if len(parcel) > 1 else parcel[0].ids
    offsets = offsets_of([rollout.ids for rollout in parcel])
    firsts = offsets.tolist()
    if all(rollout.begins is _ONE for rollout in parcel):
        begins, ends = offsets[:-1], offsets[1:]
    else:
        begins = np.concatenate([rollout.begins + first for rollout, first in zip(parcel, firsts, strict=False)])
        ends = np.concatenate([rollout.ends + first for rollout, first in zip(parcel, firsts, strict=False)])
    found = finder.find(ids, np.ascontiguousarray(begins), np.ascontiguousarray(ends))
    if any(rollout.missing for rollout in parcel):
        unknown = np.concatenate([rollout.out_of_range + first for rollout, first in zip(parcel, firsts, strict=False)])
        outside = without_ids(np.column_stack((unknown, unknown + 1)), OUT_OF_RANGE)
        found = in_order(joined([found, outside]), begins)
    sizes = found.bounds[:, 1] - found.bounds[:, 0]
    if len(parcel) > 1 and not sizes.all():
        # A span without ids may be at the end of one rollout, or at the beginning of the next.
        return [_checked_parcel(tokenizer, [rollout])[0] for rollout in parcel]
    if not len(sizes):
        return [RolloutCheck(tokenizer, rollout.ids, _n_sampled(rollout)) for rollout in parcel]
    # A span without ids may be at the very end.
    number = np.minimum(np.searchsorted(offsets, found.bounds[:, 0], side="right") - 1, len(parcel) - 1)
    if all(rollout.sampled is None for rollout in parcel):
        classes = np.ones(len(sizes), dtype=np.int64)
    else:
        flags = ((rollout.sampled, len(rollout.ids)) for rollout in parcel)
        sampled = np.concatenate([np.ones(n, dtype=np.bool_) if own is None else own for own, n in flags])
        classes = classes_of(found.bounds, sampled, offsets[number], offsets[number + 1])
    key, n_keys = 3 * number + classes, 3 * len(parcel)
    counts = np.bincount(key, minlength=n_keys).reshape(-1, 3).tolist()
    ids_in = np.bincount(key, sizes, minlength=n_keys).astype(np.int64).reshape(-1, 3).tolist()
    bounds = np.searchsorted(number, np.arange(len(parcel) + 1)).tolist()
    checks = []
    for at, rollout in enumerate(parcel):
        low, high = bounds[at : at + 2]
        own = Found(found, classes, low, high, firsts[at]) if low < high else None
        sums = Counts(*counts[at]), Counts(*ids_in[at])
        checks.append(
            RolloutCheck(tokenizer, rollout.ids, _n_sampled(rollout), *sums, own, rollout.missing, rollout.sampled)
        )
    return checks


def _n_sampled(rollout: _Prepared) -> int:
    return len(rollout.ids) if rollout.sampled is None else int(np.count_nonzero(rollout.sampled))


def _threaded(work: Callable[[P], R], parcels: Iterable[P], n_threads: int) -> Iterator[R]:
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[R]] = deque()
        for parcel in parcels:
            waiting.append(pool.submit(work, parcel))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _together(
    ids: Iterable[npt.ArrayLike], masks: Iterable[npt.ArrayLike | None] | None, prompts: Iterable[int] | int
) -> Iterator[Rollout]:
    """Yield rollouts; there must be as many as masks and prompts."""
    given: dict[str, Iterator[Any]] = {} if masks is None else {"masks": iter(masks)}
    if not isinstance(prompts, (int, np.integer)):
        given["prompts"] = iter(prompts)
    missing = object()
    number = 0
    for number, each in enumerate(ids, 1):
        own: dict[str, Any] = {name: next(values, missing) for name, values in given.items()}
        for name in (name for name, value in own.items() if value is missing):
            raise TokenStreamError(f"there are fewer {name} than rollouts", where=f"rollout {number - 1}")
        yield Rollout(each, own.get("masks"), own.get("prompts", prompts))
    for name, values in given.items():
        if next(values, missing) is not missing:
            raise TokenStreamError(f"there are more {name} than rollouts", value=number)


def _at(error: TokdfaError, rollout: object) -> TokdfaError:
    """Return an error that says in which rollout it is."""
    where = f"{rollout}, {error.where}" if error.where else str(rollout)
    value: dict[str, Any] = {} if error.value is None else {"value": error.value}
    return type(error)(error.what, **value, where=where, hint=error.hint)
