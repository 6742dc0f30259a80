"""Whether the single-pass and leftmost semantics of byte pair encoding are the same function for a dictionary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.verdict import Verdict
from tokdfa.kernels.fold.folding import forbidding_state


@dataclass(frozen=True, slots=True)
class LateRule:
    """A rule that leftmost merging uses and Algorithm 1 does not, because it is past the rule when the parts meet.

    `index` is the rule, counted from 0, and `made_by` the later rule that makes the younger part of it. `text` is the
    two parts joined: Algorithm 1 with the rules up to and including `made_by` leaves them side by side in it. `again`
    is the index at which Algorithm 1 uses the rule after all, because it is given twice; None if it never does.
    """

    index: int
    made_by: int
    text: Word
    again: int | None


def agrees_with_leftmost(dictionary: Dictionary) -> Verdict[LateRule]:
    """Decide whether Algorithm 1 and leftmost merging, strongest rule first, agree for a proper dictionary.

    Merging in rounds is the same function as Algorithm 1 iff leftmost merging is. The witness against agreement is a
    :class:`LateRule`. The semantics differ on its text, unless the rule is given twice. Only such dictionaries are not
    decided: the verdict is "no", although the semantics may still agree.

    Notes
    -----
    Properness does not guarantee agreement, as *Constructing a BPE Tokenization DFA*, section 2, says: the rule that
    makes a part in time may be dead, while a later rule makes the same token. The semantics differ iff some rule u≀v
    has a younger part that a later live rule j makes, and u≀v occurs in a correct tokenization by the rules up to and
    including j.

    *If.* The text of u≀v has that tokenization by the rules up to j, and no later rule merges u≀v, so Algorithm 1
    ends with it. Leftmost merging, or merging in rounds, ends only where no rule applies.

    *Only if.* As long as no merge creates a pair that is stronger than itself, all semantics make the merges of the
    rules in ascending order, each from the left. Let j be the first rule that creates a stronger pair, by merging into
    t. If the pair is x≀t, then Algorithm 1 has x and t there after rule j, because everything to the left of the last
    merge stays unchanged. If the pair is t≀y, then the right part of rule j and y are neighbours by the rules before j.
    By locality (Observation 2), so are both parts of rule j followed by y, which rule j makes t≀y.

    Each rule with such a part takes one pair test, O(length of the parts).

    Examples
    --------
    In the third rule, ``aaa`` is a token that the second rule, which is dead, does not make in time:

    >>> from tokdfa import Dictionary
    >>> verdict = agrees_with_leftmost(Dictionary([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")]))
    >>> bool(verdict), verdict.witness
    (False, LateRule(index=2, made_by=3, text='aaaaa', again=None))
    """
    folding = dictionary.folding
    births = folding.birth[dictionary.left], folding.birth[dictionary.right]
    born = np.maximum(*births)
    # The rule of the initial state, -1, makes the symbols.
    made_by = folding.rule[born]
    found: LateRule | None = None
    after = np.flatnonzero(made_by > np.arange(len(dictionary), dtype=np.int32))
    for index in after[np.minimum(*births)[after] >= 0].tolist():
        u, v = int(dictionary.left[index]), int(dictionary.right[index])
        blocked = forbidding_state(dictionary.history, u, v, int(born[index]))
        if not blocked:
            used = np.flatnonzero((dictionary.left == u) & (dictionary.right == v) & (folding.blocker == -1)).tolist()
            late = LateRule(index, int(made_by[index]), dictionary[index].product, used[0] if used else None)
            found = late if found is None or late.again is None else found
            if late.again is None:
                break
    if found is None:
        return Verdict(True, None, "whenever the two parts of a rule meet, Algorithm 1 has not yet passed that rule")
    rule = dictionary[found.index]
    reason = (
        f"rule {found.index}, {rule}, has a part that only rule {found.made_by}, {dictionary[found.made_by]}, makes"
    )
    return Verdict(False, found, reason)
