"""Verifying a stream of tokens by sliding windows, without following the automaton."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import lru_cache

from tokdfa.alphabet import Word, show
from tokdfa.automata.locality import k_locality, states_after
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.errors import AutomatonError
from tokdfa.verdict import Verdict

__all__ = ["WindowVerifier", "verify_by_windows"]

CACHED_WINDOWS = 1 << 16


class WindowVerifier:
    """Decides by windows of k+1 tokens whether a k-local token DFA accepts a stream.

    It stores the last k tokens and no state. The stream is accepted if its first k tokens have a run from the
    initial state, every window of k+1 tokens has a run from some state, and the last k tokens lead to a final state.
    The windows alone would not suffice, because they say nothing about the beginning and the end of a stream.

    Parameters
    ----------
    dfa : TokenDFA
        The automaton.
    k : int
        The degree of locality: `dfa` must be k-local.

    Raises
    ------
    AutomatonError
        If `dfa` is not k-local; the message shows two runs.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Obs 2, which leaves both ends of the stream open.
    """

    def __init__(self, dfa: TokenDFA, k: int) -> None:
        local = k_locality(dfa, k)
        if not local:
            raise AutomatonError(f"the automaton is not {k}-local: {local.reason}")
        self._dfa = dfa
        self._k = k
        self._recent: deque[int] = deque(maxlen=k)
        self._n_tokens = 0
        self._failure: Verdict[int] | None = None

        @lru_cache(CACHED_WINDOWS)
        def state_after(window: tuple[int, ...]) -> int | None:
            return next(iter(states_after(dfa, window)), None)

        self._state_after = state_after

    def feed(self, tokens: Iterable[Word | int]) -> Verdict[int]:
        """Read the next tokens of the stream, spelled or numbered.

        Returns
        -------
        Verdict
            Whether every token so far is allowed where it is. Its witness is the index in the stream of the first one
            that is not; later tokens are not examined.

        Raises
        ------
        AlphabetError
            If a token is not in the alphabet.
        """
        for token in self._dfa.alphabet.numbers(tokens):
            if self._failure is not None:
                break
            state = self._state()
            if state is None or self._dfa.step(state, token) is None:
                before = "≀".join(show(self._dfa.alphabet[recent]) for recent in self._recent) or "nothing"
                reason = f"token {self._n_tokens}, {show(self._dfa.alphabet[token])}, is not allowed after {before}"
                self._failure = Verdict(False, self._n_tokens, reason)
            else:
                self._recent.append(token)
                self._n_tokens += 1
        if self._failure is not None:
            return self._failure
        return Verdict(True, None, f"{self._n_tokens} tokens without an impossible window")

    def finish(self) -> Verdict[int]:
        """End the stream.

        Returns
        -------
        Verdict
            Whether the stream is accepted. Its witness is that of :meth:`feed`, or the number of tokens if the stream
            may not end there.
        """
        if self._failure is not None:
            return self._failure
        state = self._state()
        if state is None or not self._dfa.is_final(state):
            return Verdict(False, self._n_tokens, f"the stream may not end after {self._n_tokens} tokens")
        return Verdict(True, None, f"the beginning, all windows of {self._k + 1} tokens and the end have runs")

    def _state(self) -> int | None:
        """Return the state to which the stored tokens lead, if any."""
        if self._n_tokens < self._k:
            return self._dfa.run(self._recent)
        return self._state_after(tuple(self._recent))


def verify_by_windows(dfa: TokenDFA, k: int, tokens: Iterable[Word | int]) -> Verdict[int]:
    """Decide whether a k-local token DFA accepts a whole stream; see :class:`WindowVerifier`."""
    verifier = WindowVerifier(dfa, k)
    for token in tokens:
        if not verifier.feed((token,)):
            break
    return verifier.finish()
