"""Which seeds a random campaign runs: some by default, and as many as asked for."""

from __future__ import annotations

import os

__all__ = ["seeds"]

VARIABLE = "TOKDFA_SEEDS"


def seeds(default: int) -> range:
    """Return the seeds to run: the first `default`, or as many as the environment variable TOKDFA_SEEDS says.

    Parameters
    ----------
    default : int
        The number of seeds where the variable is unset or empty.

    Returns
    -------
    range
        For ``TOKDFA_SEEDS=N`` the seeds from 0 to N - 1, for ``TOKDFA_SEEDS=FIRST:LAST`` those from FIRST to LAST,
        both included. All campaigns read the same variable, so that a run is repeated by the seeds it reports.

    Raises
    ------
    ValueError
        If the variable is spelled in another way, or names no seed.
    """
    spelled = os.environ.get(VARIABLE, "").strip()
    if not spelled:
        return range(default)
    first, colon, last = spelled.rpartition(":")
    try:
        chosen = range(int(first), int(last) + 1) if colon else range(int(spelled))
    except ValueError:
        chosen = range(0)
    if not chosen or chosen[0] < 0:
        raise ValueError(f"{VARIABLE} is N or FIRST:LAST, with at least one seed, not {spelled!r}")
    return chosen
