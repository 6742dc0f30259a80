"""How many of the last tokens of a text its continuation can change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tokdfa.automata.alphabet import Word, one_character_spellings
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import DictionaryError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.kernels.fold.folding import forbidding_state

__all__ = ["LookAhead", "look_ahead"]

_NEVER = -1 << 40


@dataclass(frozen=True, slots=True)
class LookAhead(SuggestsNames):
    """The most that a continuation changes, and a text on which one changes it.

    Attributes
    ----------
    revised : int
        The largest number of last tokens of a tokenization, or of their symbols, that a continuation changes.
    unit : {"tokens", "symbols"}
        The unit of `revised`.
    text, continuation : word
        A text and a continuation that attain it; both empty if no continuation changes anything.

    Examples
    --------
    >>> found = tokdfa.look_ahead(tokdfa.default_dictionary(), "symbols")
    >>> found.revised, found.text.decode(), found.continuation
    (44, ' enormousinermarristsmautegingleasshantheron', b'd')
    """

    revised: int
    unit: Literal["tokens", "symbols"]
    text: Word
    continuation: Word


def look_ahead(dictionary: Dictionary, unit: Literal["tokens", "symbols"] = "tokens") -> LookAhead:
    """Return the largest number of last tokens, or of their symbols, that any continuation of any text changes.

    All other tokens are settled when the text has been read. For rules over bytes, the number of symbols is the largest
    delay, in bytes, of a :meth:`tokdfa.Tokenizer.stream` within one long piece.

    Parameters
    ----------
    dictionary : Dictionary
        A proper dictionary.
    unit : {"tokens", "symbols"}
        The unit to count.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.
    DictionaryError
        If `unit` is neither of the two.

    Notes
    -----
    Never more tokens than live rules: each rule moves the position from which on the tokenizations of the two texts
    differ left by one token at most. The page *Theorems* of the documentation proves this and the statements below.

    Two tokenizations, of a text and of a longer one, share no boundary from their first difference on. So each boundary
    of one lies in a token of the other, and the rules that merge across these boundaries become earlier and earlier
    from left to right. The longest such chains are bounded rule by rule; not all is asked there of the tokens that must
    be neighbours. An exact search, guided by these bounds, asks the rest.

    The time grows with the number of rules and the square of the length of tokens: about 20 seconds for GPT-2.

    Examples
    --------
    After ``aaa``, tokenized as aa≀a, another ``a`` makes aaaa:

    >>> tokdfa.look_ahead(tokdfa.Dictionary([("a", "a"), ("aa", "aa")]))
    LookAhead(revised=2, unit='tokens', text='aaa', continuation='a')
    """
    expect(dictionary, Dictionary, "a dictionary", "look_ahead(dictionary)")
    if unit not in ("tokens", "symbols"):
        raise DictionaryError("no such unit", value=unit, hint="count tokens or symbols")
    dictionary.require_proper()
    return _Search(dictionary, in_tokens=unit == "tokens").result()


class _Step(NamedTuple):
    """A token that crosses the end of another, and where the next boundary of the other run lies in it, `stop`.

    `before` is the number of whole tokens of the other run, or of their symbols, that lie in the token before it, after
    the end of the token that is crossed; `first` and `last` are the first and the last of them, -1 if there are none.
    `rule` merges, in the token, across the first of these boundaries of the other run.
    """

    token: int
    stop: int
    before: int
    first: int
    last: int
    rule: int


class _Search:
    """The longest chain of tokens that overlap, of a run ψ on a text and a run χ on a longer one.

    A *node* is a token and a boundary in it, which is a boundary of the other run. Two values belong to it: one of the
    continuations in which ψ is the run of the token, one of the continuations in which ψ is the other run.
    """

    def __init__(self, dictionary: Dictionary, *, in_tokens: bool) -> None:
        folding = dictionary.folding
        self._dictionary = dictionary
        self._in_tokens = in_tokens
        self._birth, self._head, self._tail, self._state = (
            array.tolist() for array in (folding.birth, folding.head, folding.tail, folding.state)
        )
        self._left = [-1, *dictionary.left[folding.rule[1:]].tolist()]
        self._spelled = one_character_spellings(dictionary.alphabet)
        self._live = [token for token, birth in enumerate(self._birth) if birth >= 0]
        self._number = {self._spelled[token]: token for token in self._live}
        self._sorted = sorted((self._spelled[token], token) for token in self._live)
        self._keys = [spelled for spelled, _ in self._sorted]
        self._rules: dict[int, tuple[int, ...]] = {}
        self._allowed: dict[tuple[int, int], bool] = {}
        self._bounds: dict[tuple[bool, int, int], int] = {}
        self._ordered: dict[tuple[bool, str], list[tuple[int, _Step]]] = {}
        self._exact: dict[tuple[bool, int, int, int], tuple[int, _Step | None]] = {}

    def result(self) -> LookAhead:
        """Bound every chain, then search for a longest one."""
        self._bound()
        begins = sorted(self._beginnings(), key=lambda begin: -begin[0])
        most, chain = 0, None
        for bound, mine, step in begins:
            if bound <= most:
                break
            value = self._gain(mine, step) + self._longest(mine, step.last, step.token, step.stop)[0]
            if value > most:
                most, chain = value, (mine, step)
        text, continuation = ("", "") if chain is None else self._texts(*chain)
        unit: Literal["tokens", "symbols"] = "tokens" if self._in_tokens else "symbols"
        return LookAhead(most, unit, _as_word(self._dictionary, text), _as_word(self._dictionary, continuation))

    # A step is *mine* if its token is of ψ. Then the other run is χ; its tokens are not counted.

    def _gain(self, mine: bool, step: _Step) -> int:
        if mine:
            return 1 if self._in_tokens else len(self._spelled[step.token])
        return step.before

    def _rules_in(self, token: int) -> tuple[int, ...]:
        """Return the rule that merges across each boundary in a token, numbered as states are."""
        known = self._rules.get(token)
        if known is None:
            head, tail = self._head[token], self._tail[token]
            known = () if head < 0 else (*self._rules_in(head), self._birth[token], *self._rules_in(tail))
            self._rules[token] = known
        return known

    def _may_follow(self, u: int, v: int) -> bool:
        known = self._allowed.get((u, v))
        if known is None:
            state = self._state[u]
            known = state == 0 or not forbidding_state(self._dictionary.history, self._left[state], v, state)
            self._allowed[u, v] = known
        return known

    def _steps_to(self, token: int, stop: int) -> Iterator[tuple[int, _Step]]:
        """Yield the positions of a token from which whole tokens lead to `stop`, each with the step."""
        spelled, rules = self._spelled[token], self._rules_in(token)
        found = {stop: _Step(token, stop, 0, -1, -1, rules[stop - 1])}
        yield stop, found[stop]
        for start in range(stop - 1, -1, -1):
            for middle, rest in found.items():
                if start and rules[start - 1] <= rest.rule:
                    continue
                first = self._number.get(spelled[start:middle])
                if first is None or (rest.first >= 0 and not self._may_follow(first, rest.first)):
                    continue
                if start and self._merges_before(rules[start - 1], first):
                    continue
                before = rest.before + (1 if self._in_tokens else middle - start)
                last = first if rest.last < 0 else rest.last
                rule = rules[start - 1] if start else rest.rule
                found[start] = _Step(token, stop, before, first, last, rule)
                yield start, found[start]
                break

    def _bound(self) -> None:
        """Bound the values of all nodes, rule by rule: only steps by earlier rules can continue a boundary."""
        nodes: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for token in self._live:
            for boundary, rule in enumerate(self._rules_in(token), 1):
                nodes[rule].append((token, boundary))
        # By the text that a token continues: its value so far and the token, the greatest value first.
        best: dict[bool, dict[str, list[tuple[int, int]]]] = {True: {}, False: {}}
        waiting: dict[int, list[tuple[str, _Step]]] = defaultdict(list)
        for rule in sorted(nodes):
            known: dict[tuple[bool, str], int] = {}
            for token, boundary in nodes[rule]:
                rest = self._spelled[token][boundary:]
                for mine in (True, False):
                    if (mine, rest) not in known:
                        known[mine, rest] = self._first_possible(rule, best[mine].get(rest, ()))
                # The run of the token is ψ, and then a step of χ must follow; or it is χ, and ψ may end.
                self._bounds[True, token, boundary] = known[False, rest]
                self._bounds[False, token, boundary] = max(0, known[True, rest])
            for token, boundary in nodes[rule]:
                for start, step in self._steps_to(token, boundary):
                    if start:
                        waiting[step.rule].append((self._spelled[token][:start], step))
            for prefix, step in waiting.pop(rule, ()):
                for mine in (True, False):
                    value = self._gain(mine, step) + self._bounds[mine, step.token, step.stop]
                    if value >= 0:
                        insort(best[mine].setdefault(prefix, []), (-value, step.token))

    def _first_possible(self, rule: int, found: Sequence[tuple[int, int]]) -> int:
        """Return the greatest value of a token that the left part of a rule may precede when the rule has been used."""
        for negative, token in found:
            if not self._merges_before(rule, token):
                return -negative
        return _NEVER

    def _merges_before(self, rule: int, token: int) -> bool:
        """Return whether `rule` or one before it merges across the boundary between its left part and a token."""
        return forbidding_state(self._dictionary.history, self._left[rule], token, rule) > 0

    def _beginnings(self) -> Iterator[tuple[int, bool, _Step]]:
        """Yield the first steps: the longer one of two different first tokens, with a bound on the chains from it."""
        for token in self._live:
            for stop in range(1, len(self._spelled[token])):
                for start, step in self._steps_to(token, stop):
                    if start == 0:
                        for mine in (True, False):
                            yield self._gain(mine, step) + self._bounds[mine, token, stop], mine, step

    def _steps_after(self, mine: bool, rest: str) -> list[tuple[int, _Step]]:
        """Return the steps of tokens that continue from `rest`, each with a bound, the greatest first."""
        known = self._ordered.get((mine, rest))
        if known is None:
            known = []
            for index in range(bisect_left(self._keys, rest), bisect_right(self._keys, rest + chr(0x10FFFF))):
                token = self._sorted[index][1]
                for stop in range(len(rest), len(self._spelled[token])):
                    for start, step in self._steps_to(token, stop):
                        if start == len(rest):
                            bound = self._gain(mine, step) + self._bounds[mine, token, stop]
                            if bound >= 0:
                                known.append((bound, step))
            known.sort(key=lambda each: -each[0])
            self._ordered[mine, rest] = known
        return known

    def _longest(self, mine: bool, last: int, token: int, boundary: int) -> tuple[int, _Step | None]:
        """Return the value of a node after `last`, the other run's token that ends at the boundary, and the step."""
        known = self._exact.get((mine, last, token, boundary))
        if known is not None:
            return known
        rule = self._rules_in(token)[boundary - 1]
        most, best = (_NEVER, None) if mine else (0, None)
        for bound, step in self._steps_after(not mine, self._spelled[token][boundary:]):
            if bound <= most:
                break
            if step.rule >= rule or self._merges_before(rule, step.token) or not self._may_follow(last, step.token):
                continue
            if step.first >= 0 and not self._may_follow(token, step.first):
                continue
            before = token if step.last < 0 else step.last
            value = self._gain(not mine, step) + self._longest(not mine, before, step.token, step.stop)[0]
            if value > most:
                most, best = value, step
        self._exact[mine, last, token, boundary] = most, best
        return most, best

    def _texts(self, mine: bool, step: _Step) -> tuple[str, str]:
        """Return the text of ψ, and the rest of χ."""
        start, text, before = 0, self._spelled[step.token], step.last
        while True:
            following = self._longest(mine, before, step.token, step.stop)[1]
            if following is None:
                end = start + step.stop
                return text[:end], text[end:]
            start += step.stop
            text = text[:start] + self._spelled[following.token]
            before = step.token if following.last < 0 else following.last
            mine, step = not mine, following


def _as_word(dictionary: Dictionary, spelled: str) -> Word:
    words = dictionary.alphabet
    if words.kind == "bytes":
        return spelled.encode("latin-1")
    if words.kind == "characters":
        return spelled
    return tuple(map(words.letters.__getitem__, map(ord, spelled)))
