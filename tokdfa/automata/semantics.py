"""Whether the two semantics of byte pair encoding, in one pass and leftmost, are one function on a dictionary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokdfa.alphabet import Word
from tokdfa.dictionary import Dictionary
from tokdfa.kernels.fold.folding import forbidding_state
from tokdfa.verdict import Verdict

__all__ = ["LateRule", "agrees_with_leftmost"]


@dataclass(frozen=True, slots=True)
class LateRule:
    """A rule that merging leftmost uses and Algorithm 1 does not, because it has passed it when the parts meet.

    Attributes
    ----------
    index : int
        The rule, counted from 0.
    made_by : int
        The later rule that makes the younger part of it.
    text : word
        The two parts joined: by the rules up to and with `made_by` Algorithm 1 has them side by side in it.
    again : int or None
        Where Algorithm 1 uses the rule after all, because it is given a second time; None if it never does.
    """

    index: int
    made_by: int
    text: Word
    again: int | None


def agrees_with_leftmost(dictionary: Dictionary) -> Verdict[LateRule]:
    """Decide whether Algorithm 1 and merging leftmost, strongest rule first, are one function on a proper dictionary.

    Merging in rounds is the same function as Algorithm 1 iff merging leftmost is.

    Parameters
    ----------
    dictionary : Dictionary
        A proper dictionary.

    Returns
    -------
    Verdict
        Its witness against it is a :class:`LateRule`. On its text they differ, unless the rule is given again: such
        dictionaries alone are not decided, and the verdict is "no" although they may still be one function.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.

    Notes
    -----
    Properness does not make them agree, as *Constructing a BPE Tokenization DFA*, section 2, says: the rule that makes
    a part in time may be dead, and a later rule make the same token. They differ iff there is a rule u≀v, the younger
    part of which is made by a live rule j that comes after it, such that u≀v occurs in a correct tokenization by the
    rules up to and with j.

    *If.* The text of u≀v has that tokenization by the rules up to j, and no later rule merges u≀v, so that Algorithm 1
    ends with it. Merging leftmost, or in rounds, ends only where no rule applies.

    *Only if.* While no merge brings about a pair that is stronger than itself, all of them make the merges of the rules
    in ascending order, each from the left. Let j be the first rule whose merge, into t, brings about a stronger pair.
    If it is x≀t, then x and t are what Algorithm 1 has there after rule j, for what is left of the last merge stays as
    it is. If it is t≀y, then the right part of rule j and y are neighbours by the rules before j; so are, by locality
    (Observation 2), both parts of rule j and y, which rule j makes t≀y.

    For each rule with such a part it takes one pair test, O(length of the parts).

    Examples
    --------
    In the third rule ``aaa`` is a token that the second one, which is dead, does not make in time:

    >>> from tokdfa import Dictionary
    >>> verdict = agrees_with_leftmost(Dictionary([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")]))
    >>> bool(verdict), verdict.witness
    (False, LateRule(index=2, made_by=3, text='aaaaa', again=None))
    """
    folding = dictionary.folding
    born = np.maximum(folding.birth[dictionary.left], folding.birth[dictionary.right])
    is_live = np.minimum(folding.birth[dictionary.left], folding.birth[dictionary.right]) >= 0
    # That of the initial state, -1, makes the symbols.
    made_by = folding.rule[born]
    found: LateRule | None = None
    for index in np.flatnonzero(is_live & (made_by > np.arange(len(dictionary)))).tolist():
        u, v = int(dictionary.left[index]), int(dictionary.right[index])
        blocked = forbidding_state(dictionary.history, u, v, int(born[index]))
        if not blocked:
            used = np.flatnonzero((dictionary.left == u) & (dictionary.right == v) & (folding.blocker == -1)).tolist()
            late = LateRule(index, int(made_by[index]), dictionary[index].product, used[0] if used else None)
            found = late if found is None or late.again is None else found
            if late.again is None:
                break
    if found is None:
        return Verdict(True, None, "where two tokens meet that a rule merges, that rule is yet to come")
    rule = dictionary[found.index]
    reason = (
        f"rule {found.index}, {rule}, has a part that only rule {found.made_by}, {dictionary[found.made_by]}, makes"
    )
    return Verdict(False, found, reason)
