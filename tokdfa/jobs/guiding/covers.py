"""The canonical covers of some bytes: the ids with which the texts that begin with these bytes can begin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import WrongTypeError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.jobs.guiding.prefixes import PrefixAutomaton, State
from tokdfa.jobs.guiding.prompts import Wanted, start_of
from tokdfa.jobs.guiding.tokens import tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Covers", "covers"]


class Covers(SuggestsNames):
    """The canonical covers of some bytes; iterating gives each as an int32 array, in the order of the ids.

    Made by :func:`tokdfa.covers`.

    Attributes
    ----------
    n : int
        The number of covers, counted without listing them.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> covers = tokdfa.covers(tokenizer, "Hello world, how")
    >>> covers.n, [tokenizer.decode(ids) for ids in covers]
    (3, ['Hello world, hown', 'Hello world, how', 'Hello world, however'])
    """

    def __init__(self, prefixes: PrefixAutomaton, start: State, n_bytes: int) -> None:
        self._prefixes, self._start, self._n_bytes = prefixes, start, n_bytes
        self._known: dict[State, tuple[Int32Array, Int64Array]] = {}
        self._sizes = np.diff(prefixes.tokens.spellings.offsets)
        self.n = self._count()

    def __iter__(self) -> Iterator[Int32Array]:
        if not self._n_bytes:
            yield np.zeros(0, dtype=np.int32)
            return
        stack: list[tuple[tuple[int, ...], int, State | None]] = [((), self._n_bytes, self._start)]
        while stack:
            cover, left, state = stack.pop()
            if state is None:
                yield np.array(cover, dtype=np.int32)
                continue
            ids, sizes = self._moves(state)
            each = zip(ids.tolist(), sizes.tolist(), strict=True)
            after = [((*cover, id), left - size, self._after(state, id) if size < left else None) for id, size in each]
            stack += reversed(after)

    def _count(self) -> int:
        """Return the number of covers; a state is counted after all states that follow it."""
        if not self._n_bytes:
            return 1
        found: dict[State, int] = {}
        # A state says how many bytes were read.
        stack = [(self._n_bytes, self._start)]
        while stack:
            left, state = stack[-1]
            ids, sizes = self._moves(state)
            is_inner = sizes < left
            inner = [self._after(state, id) for id in ids[is_inner].tolist()]
            after = zip((left - sizes[is_inner]).tolist(), inner, strict=True)
            missing = [(left, target) for left, target in after if target not in found]
            if missing:
                stack += missing
            else:
                found[state] = len(ids) - len(inner) + sum(found[target] for target in inner)
                stack.pop()
        return found[self._start]

    def _moves(self, state: State) -> tuple[Int32Array, Int64Array]:
        """Return the ids that can follow, ascending, and the number of bytes of each."""
        if state not in self._known:
            bits = np.unpackbits(self._prefixes.mask(state).view(np.uint8), bitorder="little")
            ids = np.flatnonzero(bits).astype(np.int32)
            self._known[state] = ids, self._sizes[ids]
        return self._known[state]

    def _after(self, state: State, id: int) -> State:
        target = self._prefixes.target(state, id)
        assert target is not None
        return target

    def __repr__(self) -> str:
        return f"<Covers: {self.n} of {self._n_bytes} bytes>"


def covers(tokenizer: AnyTokenizer, begins: str | bytes, *, prompt: npt.ArrayLike | None = None) -> Covers:
    """Return the canonical covers of some bytes: the ids with which all texts that begin with these bytes can begin.

    A cover is the beginning of a canonical stream, up to the first id that reaches the end of the bytes: for " how",
    covers are the token `` how`` and the token `` however``. A text begins with the bytes if and only if its ids begin
    with a cover.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        As for :func:`tokdfa.guide`.
    begins : str or bytes
        The first bytes of the texts, which may end within a character.
    prompt : array_like of int, optional
        The ids before the texts, which are kept; see :func:`tokdfa.guide`.

    Returns
    -------
    Covers

    Raises
    ------
    UnsupportedFeatureError, LimitExceededError
        As for :func:`tokdfa.guide`.
    PatternError
        If no canonical stream continues the prompt with the bytes.
    TokenStreamError
        If the prompt is not the beginning of a canonical stream.

    Notes
    -----
    These are the covers of T. Vieira et al., *From Language Models over Tokens to Language Models over Characters*,
    2024, restricted to canonical ids. They are counted by dynamic programming over the states of the automaton.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.covers(tokenizer, "a s").n
    248
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.covers(tokenizer, begins)")
    if not isinstance(begins, (str, bytes)):
        raise WrongTypeError("the beginning of a text is a string or bytes", value=begins, where="begins")
    data = begins.encode() if isinstance(begins, str) else begins
    start = start_of(tokens_of(tokenizer), Wanted(), prompt, heal=False, behind=data)
    return Covers(start.prefixes, start.state, start.n_behind)
