"""A guided sequence, for engines, and the bitmasks that its masks are written into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import TokenStreamError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.jobs.guiding.masked import Masked, checked_remaining

__all__ = ["Matcher"]

S = TypeVar("S")


class Matcher(SuggestsNames):
    """One guided sequence: it accepts ids, keeps the state after each of them, and can take them back.

    The methods have the names and meanings of vLLM's grammars; there, `accept_tokens` has the id of a request, too.

    Parameters
    ----------
    guide : Guide or Ban
    remaining : int, optional
        The most ids that the sequence may have; an id of ``guide.end`` does not count. Ids after which it could not end
        in time are not accepted, and not in the masks.
    state : State, optional
        The state in which the sequence begins, such as ``guide.after_prompt(ids)``; by default ``guide.initial``.

    Attributes
    ----------
    guide : Guide or Ban
    remaining : int or None
        The number of ids that are left; None without a limit.

    Raises
    ------
    TokenStreamError
        If no text can be completed with `remaining` ids; the error has the least number.
    WrongTypeError
        If `remaining` is not a whole number from 0 on.

    Examples
    --------
    >>> guide = tokdfa.default_tokenizer().guide("a single man")
    >>> matcher = tokdfa.Matcher(guide)
    >>> matcher.accept_tokens([64, 2513]), matcher.accept_tokens([64])
    (True, False)
    >>> matcher.rollback(1)
    >>> matcher.find_jump_forward_ids().tolist()
    [2513, 462]
    """

    def __init__(self, guide: Masked[Any], *, remaining: int | None = None, state: Any = None) -> None:
        self.guide = guide
        self._states: list[Any] = [guide.initial if state is None else state]
        self._budget = None if remaining is None else checked_budget(guide, self.state, remaining)

    @property
    def state(self) -> Any:
        """The state after the accepted ids."""
        return self._states[-1]

    @property
    def remaining(self) -> int | None:
        """The number of ids that are left; None without a limit."""
        return None if self._budget is None else max(self._budget - self.n_accepted, 0)

    @property
    def n_accepted(self) -> int:
        """The number of ids accepted and not rolled back."""
        return len(self._states) - 1

    def accept_tokens(self, ids: Iterable[int]) -> bool:
        """Accept ids if all of them are allowed, one after the other; return whether they are."""
        found = self._read(ids)
        accepted = found[-1:] != [None]
        if accepted:
            self._states += [state for state in found if state is not None]
        return accepted

    def validate_tokens(self, ids: Iterable[int]) -> list[int]:
        """Return the longest prefix of ids that would be accepted; the matcher remains as it is."""
        ids = list(ids)
        found = self._read(ids)
        return ids[: len(found) - (found[-1:] == [None])]

    def _read(self, ids: Iterable[int]) -> list[Any]:
        """Return the states after ids up to the first one that is not allowed, after which there is None."""
        found: list[Any] = []
        left = self.remaining
        for id in ids:
            target = self.guide.step(found[-1] if found else self.state, id)
            if target is not None and target != self.guide.ended and left is not None:
                left -= 1
                target = target if left >= 0 and self.guide.ends_within(target, left) else None
            found.append(target)
            if target is None:
                break
        return found

    def rollback(self, n: int) -> None:
        """Take back the last n ids.

        Raises
        ------
        TokenStreamError
            If fewer than n ids are accepted.
        """
        if not 0 <= n <= self.n_accepted:
            raise TokenStreamError(f"{self.n_accepted} ids are accepted, so this number cannot be taken back", value=n)
        del self._states[len(self._states) - n :]

    def reset(self) -> None:
        """Take back all ids."""
        del self._states[1:]

    def is_terminated(self) -> bool:
        """Return whether the sequence has ended: by an id of ``guide.end``, or because nothing can follow in time."""
        guide = self.guide
        return self.state == guide.ended or (
            not guide.end and not guide.mask(self.state, remaining=self.remaining).any()
        )

    def fill_bitmask(self, bitmask: Any, index: int = 0) -> None:
        """Write the mask of the ids that can come next into row `index` of a bitmask.

        Parameters
        ----------
        bitmask : int32 array or CPU tensor of shape (sequences, ceil(vocab_size / 32)), or one row of it
        index : int

        Raises
        ------
        WrongTypeError
            If the bitmask has another type or shape, or is read-only.
        TokenStreamError
            If the bitmask has no row `index`.
        """
        rows = checked_bitmask(bitmask, self.guide.vocab_size)
        if not 0 <= index < len(rows):
            raise TokenStreamError(f"the bitmask has {len(rows)} rows, none with this number", value=index)
        rows[index] = self.guide.mask(self.state, remaining=self.remaining)

    def find_jump_forward_ids(self) -> Int32Array:
        """Return the ids that must follow, because only one id is allowed each time; see :meth:`Guide.forced`."""
        return self.guide.forced(self.state, remaining=self.remaining)

    def copy(self) -> Matcher:
        """Return a matcher that continues separately."""
        other = Matcher(self.guide, remaining=self._budget, state=self._states[0])
        other._states = self._states.copy()
        return other


def checked_budget(guide: Masked[S], state: S, remaining: int) -> int:
    """Return `remaining`; refuse a number of ids with which no text can be completed after a state."""
    if not guide.ends_within(state, checked_remaining(remaining)):
        hint = f"the least number is {guide.least(state)}"
        raise TokenStreamError("no sequence ends within this number of ids", value=remaining, hint=hint)
    return int(remaining)


def allocate_bitmask(n_sequences: int, vocab_size: int) -> Int32Array:
    """Return a bitmask that allows everything: an int32 array of shape (sequences, ceil(vocab_size / 32))."""
    return np.full((n_sequences, -(-vocab_size // 32)), -1, dtype=np.int32)


def checked_bitmask(bitmask: Any, vocab_size: int) -> Int32Array:
    """Return a bitmask as an array of two dimensions that shares its memory."""
    rows = bitmask
    if not isinstance(bitmask, np.ndarray):
        if not hasattr(bitmask, "numpy") or getattr(getattr(bitmask, "device", None), "type", "cpu") != "cpu":
            what, hint = "a bitmask is an int32 array or a tensor on the CPU", "fill one on the CPU and copy it"
            raise WrongTypeError(what, value=type(bitmask).__name__, hint=hint)
        rows = bitmask.numpy()
    n_words = -(-vocab_size // 32)
    found = f"{rows.dtype} of shape {rows.shape}"
    if rows.dtype != np.int32 or rows.ndim not in (1, 2) or rows.shape[-1] != n_words:
        raise WrongTypeError(f"a bitmask for {vocab_size} ids is int32 of shape (sequences, {n_words})", value=found)
    if not rows.flags.writeable:
        raise WrongTypeError("the bitmask cannot be written", value=found)
    return np.atleast_2d(rows)
