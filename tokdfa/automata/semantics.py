"""Whether the single-pass and leftmost semantics of byte pair encoding are the same function for a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.verdict import Verdict
from tokdfa.kernels.fold.folding import forbidding_state


@dataclass(frozen=True, slots=True)
class LateRule:
    """A rule that leftmost merging uses and Algorithm 1 does not, because it is past the rule when the parts meet.

    `index` is the rule, counted from 0, and `made_by` the later rule that makes the younger part of it. The semantics
    differ on `text`. If `again` is None, it is the two parts joined: Algorithm 1 with the rules up to and including
    `made_by` leaves them side by side in it. Otherwise the rule is given twice, `again` is the index at which Algorithm
    1 uses it after all, and `text` is the shortest on which the delay makes a difference.
    """

    index: int
    made_by: int
    text: Word
    again: int | None


def agrees_with_leftmost(dictionary: Dictionary) -> Verdict[LateRule]:
    """Decide whether Algorithm 1 and leftmost merging, strongest rule first, agree for a proper dictionary.

    Merging in rounds is the same function as Algorithm 1 iff leftmost merging is, for distinct rules. The witness
    against agreement is a :class:`LateRule`.

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

    A rule that is given twice may be used later, so that both semantics merge the same parts. Both have the locality of
    Observation 2, so a shortest text on which they differ has at most two tokens by Algorithm 1. It has the product of
    such a rule in it, because that is the first merge out of order. All these texts are tried; no file format of tokdfa
    gives a rule twice.

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
    later: dict[int, LateRule] = {}
    after = np.flatnonzero(made_by > np.arange(len(dictionary), dtype=np.int32))
    for index in after[np.minimum(*births)[after] >= 0].tolist():
        u, v = int(dictionary.left[index]), int(dictionary.right[index])
        blocked = forbidding_state(dictionary.history, u, v, int(born[index]))
        if not blocked:
            used = np.flatnonzero((dictionary.left == u) & (dictionary.right == v) & (folding.blocker == -1)).tolist()
            late = LateRule(index, int(made_by[index]), dictionary[index].product, used[0] if used else None)
            if late.again is None:
                return Verdict(False, late, _reason(dictionary, late))
            later[index] = late
    if later and (found := _least_difference(dictionary, {late.text for late in later.values()})) is not None:
        text, index = found
        late = replace(later[index], text=text)
        return Verdict(False, late, _reason(dictionary, late))
    return Verdict(True, None, "whenever the two parts of a rule meet, Algorithm 1 has not yet passed that rule")


def _reason(dictionary: Dictionary, late: LateRule) -> str:
    rule, maker = dictionary[late.index], dictionary[late.made_by]
    return f"rule {late.index}, {rule}, has a part that only rule {late.made_by}, {maker}, makes"


def _least_difference(dictionary: Dictionary, products: set[Word]) -> tuple[Word, int] | None:
    """Return the shortest text with one of these products in it that leftmost merging tokenizes otherwise, if any.

    The number is that of the first rule that leftmost merging uses after a weaker one there.
    """
    ranks: dict[tuple[int, int], tuple[int, int]] = {}
    rows = (row.tolist() for row in (dictionary.left, dictionary.right, dictionary.product))
    for index, (u, v, uv) in enumerate(zip(*rows, strict=True)):
        ranks.setdefault((u, v), (index, uv))
    words, history = dictionary.alphabet, dictionary.history
    live = np.flatnonzero(dictionary.folding.birth >= 0).tolist()
    texts: list[tuple[Word, list[int]]] = [(words[token], [token]) for token in live]
    texts += [
        (Rule(words[u], words[v]).product, [u, v])
        for u, v in product(live, repeat=2)
        if not forbidding_state(history, u, v, len(dictionary))
    ]
    for text, tokens in sorted(texts, key=lambda each: (len(each[0]), each[0])):
        may_differ = any(_is_factor(part, text) for part in products)
        if may_differ:
            merged, late = _merged_leftmost(words.base_tokenization(text), ranks)
            if merged != tokens:
                assert late is not None, "as long as the rules come in their order, the semantics agree"
                return text, late
    return None


def _is_factor(part: Word, text: Word) -> bool:
    return any(text[at : at + len(part)] == part for at in range(len(text) - len(part) + 1))


def _merged_leftmost(
    tokens: Sequence[int], ranks: dict[tuple[int, int], tuple[int, int]]
) -> tuple[list[int], int | None]:
    """Merge the pair of the least rank, the leftmost first, until there is none; ranks come with the products.

    The number is the first rank that is used after a greater one.
    """
    merged, last, late = list(tokens), -1, None
    while found := [(*ranks[pair], at) for at, pair in enumerate(pairwise(merged)) if pair in ranks]:
        last_before, (last, uv, at) = last, min(found, key=lambda each: (each[0], each[2]))
        merged[at : at + 2] = [uv]
        if late is None and last < last_before:
            late = last
    return merged, late
