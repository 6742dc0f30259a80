"""When a search computes the effects of all tokens, and how many of them it may store."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of searching. They change what a search costs, never what it finds.

    Parameters
    ----------
    block : int
        Number of ids that are searched at once. The data kept for them must stay in the second-level cache.
    step : int
        Number of ids that are copied at a time, to be searched while they are in the second-level cache. The
        longer a run is, the earlier the next one is fetched.
    patience : int
        Number of ids, of all streams together, after which it pays to compute the effect of every token on the
        automaton of the pattern; before that, tokens are read byte by byte.
    max_entries : int
        Number of entries that the table of effects may have, by states and classes of tokens. For an automaton that is
        too large, the outcomes of tokens are stored as they are met.
    """

    block: int = 1 << 18
    step: int = 1 << 15
    patience: int = 1 << 16
    max_entries: int = 1 << 24


DEFAULT = Tuning()
