"""The partial order of the live rules of a dictionary: which rules may change places without any effect."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.errors import DictionaryError, LimitExceededError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Displayed, Verdict

__all__ = ["Exchange", "RuleOrder"]

_MOST_RULES = 500
_MOST_COUNTED = 1_000_000


class Exchange(NamedTuple):
    """Two rules that must not change places, by their indices in the dictionary, and the text that needs their order.

    If the first makes a part of the second, `text` is the product of the second. Otherwise the rules are u≀v and v≀y,
    in either order, and `text` is uvy, in which they compete for v.
    """

    first: int
    second: int
    text: Word


class RuleOrder(Displayed):
    """The partial order of the live rules of a proper dictionary: which of them may change places without any effect.

    Two orders of the same live rules tokenize every text alike iff both are linear extensions of it. A rule must come
    before a later one

    - if its product is a part of the later one;
    - if the right part of one of the two is the left part of the other: u≀v and v≀y stay in their order.

    Rules are given by their indices in the dictionary. Dead rules are left out.

    Parameters
    ----------
    dictionary : Dictionary
        A proper dictionary.

    Attributes
    ----------
    dictionary : Dictionary
    rules : tuple of int
        The live rules, ascending.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.

    Notes
    -----
    The page *Theorems* of the documentation has the proof. It makes Proposition 5.5 of *A Formal Perspective on
    Byte-Pair Encoding* exact, for live rules: two orders are equivalent iff no two comparable rules are exchanged.

    Examples
    --------
    a≀a comes first. b≀a and aa≀a may change places, although their products ba and aaa overlap:

    >>> d = tokdfa.Dictionary([("a", "a"), ("b", "a"), ("aa", "a")])
    >>> order = tokdfa.RuleOrder(d)
    >>> order.covers(), order.n_orders()
    (((0, 1), (0, 2)), 2)
    >>> bool(order.may_change_places(1, 2)), order.may_change_places(0, 1).witness
    (True, (Exchange(first=0, second=1, text='baa'),))
    """

    def __init__(self, dictionary: Dictionary) -> None:
        expect(dictionary, Dictionary, "a dictionary", "tokdfa.RuleOrder(dictionary)")
        self.dictionary = dictionary
        self.rules: tuple[int, ...] = tuple(dictionary.live_rules.tolist())
        self._rule = {index: dictionary[index] for index in self.rules}
        self._with_left, self._with_right = defaultdict[Word, list[int]](list), defaultdict[Word, list[int]](list)
        for index, rule in self._rule.items():
            self._with_left[rule.left].append(index)
            self._with_right[rule.right].append(index)

    # In notebooks it is a Hasse diagram, if it is small.

    def __repr__(self) -> str:
        return f"<RuleOrder of {len(self.rules)} live rules>"

    def may_change_places(self, one: int, other: int) -> Verdict[tuple[Exchange, ...]]:
        """Decide whether some order of the live rules that does the same has these two rules the other way round.

        The witness is a chain of rules from one to the other, each of which must come before the next. For distant
        rules of GPT-2 the search takes some seconds.

        Raises
        ------
        DictionaryError
            If one of the two is not the index of a live rule.
        """
        for index in (one, other):
            if index not in self._rule:
                raise DictionaryError("not the index of a live rule", value=index, hint="see RuleOrder.rules")
        first, last = sorted((one, other))
        came_from = {first: first}
        waiting = deque([first])
        while waiting and last not in came_from:
            index = waiting.popleft()
            for after in self._after(index):
                if after <= last and after not in came_from:
                    came_from[after] = index
                    waiting.append(after)
        if first == last or last not in came_from:
            return Verdict(True, None, "neither must come before the other")
        chain = [last]
        while chain[-1] != first:
            chain.append(came_from[chain[-1]])
        chain.reverse()
        exchanges = tuple(self._exchange(*each) for each in pairwise(chain))
        return Verdict(False, exchanges, " must come before ".join(str(self._rule[each]) for each in chain))

    def admits(self, other: Dictionary) -> Verdict[Exchange]:
        """Decide whether a dictionary with the same live rules, in any order, tokenizes every text alike.

        The witness is two rules of this dictionary that the other exchanges and that must not change places.

        Raises
        ------
        DictionaryError
            If the other has other symbols, or other live rules. :func:`tokdfa.compare` decides for any rules.
        ImproperDictionaryError
            If the other is not proper.
        """
        expect(other, Dictionary, "a dictionary", "RuleOrder.admits(dictionary)")
        place = {other[index]: index for index in other.live_rules.tolist()}
        if other.alphabet.symbols != self.dictionary.alphabet.symbols or place.keys() != {*self._rule.values()}:
            raise DictionaryError(
                "the other dictionary has other live rules", value=other, hint="tokdfa.compare decides for any rules"
            )
        for token, starting in self._with_left.items():
            # Of the rules so far, with the token on the left and on the right, the one that comes last in the other.
            last: list[int | None] = [None, None]
            for index in sorted({*starting, *self._with_right.get(token, ())}):
                rule = self._rule[index]
                sides = [side for side in (0, 1) if rule[side] == token]
                for rival in (last[1 - side] for side in sides):
                    if rival is not None and place[self._rule[rival]] > place[rule]:
                        reason = f"{self._rule[rival]} must come before {rule}"
                        return Verdict(False, self._exchange(rival, index), reason)
                for side in sides:
                    latest = last[side]
                    if latest is None or place[self._rule[latest]] < place[rule]:
                        last[side] = index
        return Verdict(True, None, "no rule is exchanged with one that must come later")

    def covers(self) -> tuple[tuple[int, int], ...]:
        """Return the Hasse diagram: pairs of rules, the first of them right before the second.

        Raises
        ------
        LimitExceededError
            If there are more than 500 live rules.
        """
        before = self._before
        found = []
        for second, earlier in before.items():
            through = {rule for each in earlier for rule in before[each]}
            found += [(first, second) for first in earlier - through]
        return tuple(sorted(found))

    def n_orders(self, *, limit: int = _MOST_COUNTED) -> int:
        """Return the number of orders of the live rules that tokenize every text alike, this one included.

        Raises
        ------
        LimitExceededError
            If there are more than 500 live rules, or more than `limit` sets of rules that may come first.
        """
        before = self._before
        number = {rule: position for position, rule in enumerate(self.rules)}
        needs = [sum(1 << number[each] for each in before[rule]) for rule in self.rules]
        # The sets of k rules that may come first, as bits, and the number of their orders.
        level = {0: 1}
        n_sets = 0
        for _ in self.rules:
            following: defaultdict[int, int] = defaultdict(int)
            for chosen, count in level.items():
                for position, need in enumerate(needs):
                    if not chosen >> position & 1 and need & chosen == need:
                        following[chosen | 1 << position] += count
            level = following
            n_sets += len(level)
            if n_sets > limit:
                what = f"more than {limit:,} sets of rules may come first"
                raise LimitExceededError(what, hint="count the orders of fewer rules")
        (total,) = level.values()
        return total

    @cached_property
    def _before(self) -> dict[int, set[int]]:
        """For each live rule all rules that must come before it."""
        if len(self.rules) > _MOST_RULES:
            what = f"the order of {len(self.rules):,} live rules is too large to be written out"
            raise LimitExceededError(
                what, hint=f"{_MOST_RULES} are allowed; may_change_places and admits have no limit"
            )
        before: dict[int, set[int]] = {rule: set() for rule in self.rules}
        for rule in self.rules:
            for after in self._after(rule):
                before[after] |= {rule, *before[rule]}
        return before

    def _after(self, index: int) -> Iterator[int]:
        """Yield the rules that must come after a rule, directly."""
        rule = self._rule[index]
        users = (*self._with_left.get(rule.product, ()), *self._with_right.get(rule.product, ()))
        rivals = (*self._with_left.get(rule.right, ()), *self._with_right.get(rule.left, ()))
        return (other for other in (*users, *rivals) if other > index)

    def _exchange(self, first: int, second: int) -> Exchange:
        """Return two rules of which the first must come first, with their text."""
        one, other = self._rule[first], self._rule[second]
        if one.product in other:
            return Exchange(first, second, other.product)
        left, right = (one.product, other.right) if one.right == other.left else (other.left, one.product)
        return Exchange(first, second, Rule(left, right).product)
