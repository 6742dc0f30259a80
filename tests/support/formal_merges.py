"""Merges as trees, as the papers have them: valid sequences, trees of rules, utility and gain, merges of a window."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import LimitExceededError, TrainingError
from tokdfa.base.verdict import Verdict
from tokdfa.training.theory import Merge, apply_merges, iter_submerges, yield_of


def is_submerge(part: Merge, whole: Merge) -> bool:
    """Return whether `part` ⊂ `whole`: `part` occurs in `whole` and is not all of it (FORMAL, Def 3.6)."""
    inner = iter_submerges(whole)
    next(inner)
    return part in inner


def validity(merges: Sequence[Merge]) -> Verdict[int]:
    """Decide whether a sequence of merges is valid: each part of each merge is a symbol or an earlier merge.

    Its witness is the index of the first merge that is not possible. Merges may be repeated. (*A Formal Perspective on
    Byte-Pair Encoding*, Def 2.3.)
    """
    known: set[Merge] = set()
    for index, merge in enumerate(merges):
        if isinstance(merge, str):
            return Verdict(False, index, f"merge {index} is a symbol")
        for part in merge:
            if not isinstance(part, str) and part not in known:
                return Verdict(False, index, f"merge {index}, {show_merge(merge)}: {show_merge(part)} does not precede")
        known.add(merge)
    return Verdict(True, None, "every part is a symbol or an earlier merge")


def show_merge(merge: Merge) -> str:
    """Return a merge in the paper's notation, such as ``[[a,b],a]``."""
    parts: list[str] = []
    # The rest to write: merges and marks.
    stack: list[tuple[Merge, bool]] = [(merge, True)]
    while stack:
        inner, is_merge = stack.pop()
        if is_merge and isinstance(inner, tuple):
            stack.extend((("]", False), (inner[1], True), (",", False), (inner[0], True), ("[", False)))
        else:
            parts.append(str(inner))
    return "".join(parts)


def to_dictionary(merges: Sequence[Merge], alphabet: str | None = None) -> Dictionary:
    """Return the rules of a sequence of merges; their parts are strings, no longer trees."""
    pairs = []
    for merge in merges:
        if isinstance(merge, str):
            raise TrainingError("a rule must be a pair", value=merge)
        pairs.append((yield_of(merge[0]), yield_of(merge[1])))
    return Dictionary.from_pairs(pairs, alphabet)


def from_dictionary(dictionary: Dictionary) -> tuple[Merge, ...]:
    """Return the rules of a proper dictionary over characters as merges.

    If two rules make one token, its tree is ambiguous, which is a TrainingError; in a trained dictionary no two do. (*A
    Formal Perspective on Byte-Pair Encoding*, section 2.2, on [abc, d].)
    """
    dictionary.require_proper()
    if dictionary.alphabet.kind != "characters":
        raise TrainingError("merges must be made of characters", value=dictionary.alphabet.kind)
    trees: dict[str, Merge] = {}
    merges = []
    for index, rule in enumerate(dictionary):
        left, right = cast("tuple[str, str]", rule)
        if left + right in trees:
            raise TrainingError("two rules make the same token", value=left + right, where=f"rule {index}")
        merge = (trees.get(left, left), trees.get(right, right))
        trees[left + right] = merge
        merges.append(merge)
    return tuple(merges)


# Bracketings of a window grow as Catalan numbers: 1, 2, 5, 14, 42, 132, 429 for 2, 3, … symbols.
_WIDEST = 10


def possible_merges(text: str, width: int) -> dict[Merge, int]:
    """Return each merge with a yield of up to `width` symbols, 10 at most, and how often it occurs in `text`.

    They come in the order in which a scan finds them that extends the merges ending at each symbol, so the parts of a
    merge come before it. (*A Formal Perspective on Byte-Pair Encoding*, appendix B.2.)
    """
    if width > _WIDEST:
        raise LimitExceededError("too many merges have a yield of this length", value=width, hint=f"{_WIDEST} at most")
    counts: dict[Merge, int] = {}
    # The trees that end at each offset, with the offsets where they begin, longest first.
    ending: list[list[tuple[Merge, int]]] = [[]]
    for end, symbol in enumerate(text, 1):
        trees: list[tuple[Merge, int]] = [(symbol, end - 1)]
        for tree, start in trees:  # grows during the loop
            for left, first in ending[start]:
                if end - first <= width:
                    merge: Merge = (left, tree)
                    counts[merge] = counts.get(merge, 0) + 1
                    trees.append((merge, first))
        ending.append(sorted(trees, key=lambda item: item[1]))
    return counts


def train_noniterative(text: str, merges: int, *, width: int = 5) -> tuple[Merge, ...]:
    """Return the most frequent merges of up to `width` symbols.

    They form a valid sequence: the parts of a merge occur at least as often as the merge, and come before it among
    merges of equal frequency. On a^{wn} it needs n units at best, with any number of merges, while the greedy
    trainer halves the units with every further merge. (*A Formal Perspective on Byte-Pair Encoding*, appendix B.2.)
    """
    counts = possible_merges(text, width)
    order = sorted(counts, key=lambda merge: -counts[merge])
    return tuple(order[:merges])


def compression_utility(text: Sequence[Merge], merges: Sequence[Merge]) -> int:
    """Return κ(merges) = |text| - |Apply(text)|, the replacements that a sequence of merges makes (FORMAL, Def 2.5)."""
    return len(text) - len(apply_merges(text, merges))


def compression_gain(text: Sequence[Merge], merges: Sequence[Merge], given: Sequence[Merge]) -> int:
    """Return κ(merges | given) = κ(given merges) - κ(given) (*A Formal Perspective on Byte-Pair Encoding*, Def 2.6)."""
    return len(apply_merges(text, given)) - len(apply_merges(text, [*given, *merges]))


def greedy_curvature(text: str, optimal: Sequence[Merge], greedy: Sequence[Merge]) -> Fraction | None:
    """Return σ′(optimal, greedy); μ is the greedy sequence without its last merge. None if κ(μ) = 0 (FORMAL, Eq 11)."""
    prefix = list(greedy[:-1])
    utility = compression_utility(text, prefix)
    if utility == 0:
        return None
    together = compression_utility(text, [*prefix, *optimal])
    return 1 - Fraction(together - compression_utility(text, optimal), utility)
