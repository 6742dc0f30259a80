"""How much of a store is read to identify its tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The sizes of samples.

    Parameters
    ----------
    stretch : int
        The number of ids of a stretch, of which many are spread over a store.
    context : int
        The number of ids before and after a stretch that are judged with it, and not counted.
    files : int
        The most files of a folder that are read.
    enough : int
        The number of violations after which a candidate is not judged on.
    probe : int
        The number of ids by which shifts and integer types are tried.
    shifts : int
        The largest shift that is tried whatever the ids; larger ones are derived from the commonest ids.
    """

    stretch: int = 4096
    context: int = 64
    files: int = 64
    enough: int = 1000
    probe: int = 1024
    shifts: int = 300


DEFAULT = Tuning()
