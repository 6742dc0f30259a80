"""How long a comparison of two tokenizers looks for a text that separates them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of comparing tokenizers.

    They limit the number of texts that are tried. So they decide which of several separating texts is found, and how
    often it is left open whether a shorter one exists; never whether two tokenizers are equivalent.

    Parameters
    ----------
    longest_tried : {0, 1, 2}
        Number of bytes up to which all texts are tried: 128 of one byte, and 18,304 more of two. Most pairs that differ
        do so on one of them, which spares them the rest of the search.
    max_texts : int
        Number of separating texts of the least length among which the least is looked for.
    max_seconds : float
        Seconds that this may take, and for which each kind of texts is tried if no search can decide.
    max_specials : int
        Number of special tokens of only one of the two that are tried next to other text.
    """

    longest_tried: int = 2
    max_texts: int = 20_000
    max_seconds: float = 5.0
    max_specials: int = 200


DEFAULT = Tuning()
