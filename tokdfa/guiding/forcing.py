"""The text that a grammar forces: whether its ids, encoded separately, are those of the whole text.

Where a language of texts leaves no choice, engines append ``encode(forced text)`` without asking the model. Along the
canonical ids of each text this is compared with what is there.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from tokdfa.arguments import wrong_argument
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.errors import LimitExceededError, WrongTypeError
from tokdfa.guesses import Guided
from tokdfa.guiding.guide import check_texts
from tokdfa.guiding.prefixes import Place, PrefixAutomaton, prefixes_of
from tokdfa.guiding.texts import Texts, texts_of
from tokdfa.guiding.tokens import tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ForcedText", "Forcing", "forced"]


MAX_PLACES = 1 << 16
MAX_MOVES = 1 << 20
LONGEST_FORCED = 1 << 12


@dataclass(frozen=True, slots=True)
class ForcedText:
    """A text of the language in which forced text, encoded separately, has other ids.

    Attributes
    ----------
    text : str
        A shortest such text, by bytes of UTF-8.
    forced : str
        What is forced after its first `start_byte` bytes.
    start_byte : int
    forced_ids : tuple of int
        ``encode(forced)``.
    canonical_ids : tuple of int
        ``encode(text)``.
    start_token : int
        The number of canonical ids before the forced text.
    """

    text: str
    forced: str
    start_byte: int
    forced_ids: tuple[int, ...]
    canonical_ids: tuple[int, ...]
    start_token: int


@dataclass(frozen=True)
class Forcing(Guided):
    """Whether forced text may be encoded separately; truthy if it may, after every prefix.

    Attributes
    ----------
    holds : bool
    n_forced : int
        The number of states of the language, between symbols, in which text is forced.
    witness : ForcedText or None
        A shortest text for which not; None if there is none, or none of up to `longest` bytes.
    texts, differing : dict of int to int
        For each number of bytes up to `longest`: the number of texts of the language, and of those among them in which
        forced text, encoded separately, has other ids than in the text.
    longest : int

    Examples
    --------
    >>> found = tokdfa.forced(tokdfa.default_tokenizer(), "a( single)* man", longest=12)
    >>> bool(found), found.witness.text, found.witness.forced, found.differing[5], found.differing[12]
    (False, 'a man', 'a ', 1, 1)
    """

    holds: bool
    n_forced: int
    witness: ForcedText | None
    texts: dict[int, int]
    differing: dict[int, int]
    longest: int

    def __bool__(self) -> bool:
        return self.holds


def forced(tokenizer: AnyTokenizer, language: str | TokenDFA, *, longest: int = 24) -> Forcing:
    """Decide whether the text that a language forces may be encoded separately and appended.

    Text is forced in a state of the language in which no text ends and exactly one symbol can follow, as far as that
    goes on. The question is asked along the canonical ids of every text, at each border of tokens where text is forced:
    are the next ids those of ``encode(forced text)``? If they are, the next border asked about is the one after them,
    since engines append all of them at once.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged.
    language : str or TokenDFA
        See :func:`tokdfa.guide`.
    longest : int
        The number of bytes up to which texts are counted, and a shortest one is looked for.

    Returns
    -------
    Forcing
        Truthy if they are, for all texts of whatever length.

    Raises
    ------
    UnsupportedFeatureError, PatternError, WrongTypeError
        As in :func:`tokdfa.guide`.
    LimitExceededError
        If there are too many states, or too many ways to the texts of up to `longest` bytes.

    Notes
    -----
    The states at which the prefix automaton arrives along canonical ids are explored, which decides; then the texts
    are counted by their number of bytes: all of them by the automaton of the language, those without a difference by
    the ways on which every jump is canonical.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.forced(tokenizer, "a single man"))
    True
    >>> tokdfa.forced(tokenizer, "a (single|married) man").witness.forced
    'a '
    """
    if not isinstance(tokenizer, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.forced(tokenizer, language)")
    if isinstance(longest, bool) or not isinstance(longest, (int, np.integer)) or longest < 0:
        raise WrongTypeError("a number of bytes is an integer that is not negative", value=longest, where="longest")
    if language is None:
        raise WrongTypeError("a language is a regular expression or an automaton over bytes", value=language)
    tokens = tokens_of(tokenizer)
    texts = texts_of(tokens, language)
    prefixes = prefixes_of(tokens, texts)
    check_texts(prefixes, language)
    return _Question(prefixes, texts, int(longest)).answer()


class _Question:
    def __init__(self, prefixes: PrefixAutomaton, texts: Texts, longest: int) -> None:
        self._prefixes = prefixes
        self._texts = texts
        self._longest = longest
        self._tokenizer = prefixes.tokens.tokenizer
        self._lengths: list[int] = np.diff(self._tokenizer.id_spellings.offsets).tolist()
        self._jumps: dict[int, tuple[str, tuple[int, ...]] | None] = {}
        self._ways: dict[Place, list[tuple[int, Place]]] = {}
        self._left = MAX_MOVES

    def answer(self) -> Forcing:
        holds = self._holds()
        totals = self._totals()
        differing, arrivals = self._count(totals)
        n_forced = sum(self._jump(state) is not None for state in range(1, self._texts.n_states + 1))
        first = next((n for n, count in differing.items() if count), None)
        witness = None if first is None else self._witness(first, arrivals)
        return Forcing(
            holds=holds, n_forced=n_forced, witness=witness, texts=totals, differing=differing, longest=self._longest
        )

    def _jump(self, state: int) -> tuple[str, tuple[int, ...]] | None:
        """Return the text that is forced in a state, and its ids; None if there is none."""
        if state not in self._jumps:
            text = self._texts.forced(state, LONGEST_FORCED)
            self._jumps[state] = None if not text else (text, tuple(self._tokenizer.encode(text).tolist()))
        return self._jumps[state]

    def _moves(self, place: Place) -> list[tuple[int, Place]]:
        """Return the ids after which some stream goes on from a state, with the states after them."""
        known = self._ways.get(place)
        if known is None:
            prefixes = self._prefixes
            known = []
            for id in prefixes.allowed(place).tolist():
                target = prefixes.target(place, id)
                assert target is not None
                known.append((id, target))
            self._left -= 1 + len(known)
            if self._left < 0:
                what = f"the texts have more than {MAX_MOVES} moves over ids"
                raise LimitExceededError(what, hint="use a narrower language, or count shorter texts only")
            self._ways[place] = known
        return known

    def _after_jump(self, place: Place, ids: tuple[int, ...]) -> Place | None:
        """Return the state after a jump; None if nothing canonical goes on so."""
        for id in ids:
            target = self._prefixes.target(place, id)
            if target is None:
                return None
            place = target
        return place if self._prefixes.goes_on(place) else None

    def _differs(self, place: Place, ids: tuple[int, ...]) -> bool:
        """Return whether canonical ids may go on otherwise than by a jump."""
        for id in ids:
            moves = self._moves(place)
            if len(moves) != 1 or moves[0][0] != id:
                return True
            place = moves[0][1]
        return False

    def _holds(self) -> bool:
        """Return whether no jump differs from the canonical ids at any border where an engine arrives."""
        start = self._prefixes.initial
        seen, queue = {start}, deque([start])
        while queue:
            place = queue.popleft()
            jump = self._jump(place.text)
            if jump is not None and self._differs(place, jump[1]):
                return False
            after = None if jump is None else self._after_jump(place, jump[1])
            targets = [target for _, target in self._moves(place)] if after is None else [after]
            for target in targets:
                if target not in seen:
                    if len(seen) == MAX_PLACES:
                        what = f"canonical ids lead to more than {MAX_PLACES} states"
                        raise LimitExceededError(what, hint="use a narrower language")
                    seen.add(target)
                    queue.append(target)
        return True

    def _totals(self) -> dict[int, int]:
        """Return the number of texts that can be encoded, by their numbers of bytes."""
        counts = {self._prefixes.initial: 1}
        return self._layers(counts, jumps=False)[0]

    def _count(self, totals: dict[int, int]) -> tuple[dict[int, int], dict[Place, tuple[int, ...]]]:
        """Return the number of texts with a difference, and ids that lead to each state in which text is forced."""
        same, arrivals = self._layers({self._prefixes.initial: 1}, jumps=True)
        return {n: totals[n] - same[n] for n in totals}, arrivals

    def _layers(self, first: dict[Place, int], *, jumps: bool) -> tuple[dict[int, int], dict[Place, tuple[int, ...]]]:
        layers: list[dict[Place, int]] = [first, *({} for _ in range(self._longest))]
        ways: dict[Place, tuple[int, ...]] = dict.fromkeys(first, ())
        arrivals: dict[Place, tuple[int, ...]] = {}
        found = {}
        for n, layer in enumerate(layers):
            total = 0
            for place, count in layer.items():
                total += count if self._prefixes.is_final(place) else 0
                jump = self._jump(place.text) if jumps else None
                if jump is not None:
                    arrivals.setdefault(place, ways[place])
                    target = self._after_jump(place, jump[1])
                    steps = [] if target is None else [(jump[1], len(jump[0].encode()), target)]
                else:
                    steps = [((id,), self._lengths[id], target) for id, target in self._moves(place)]
                for ids, size, target in steps:
                    if n + size <= self._longest:
                        layers[n + size][target] = layers[n + size].get(target, 0) + count
                        if target not in ways:
                            ways[target] = (*ways[place], *ids)
            layer.clear()
            found[n] = total
        return found, arrivals

    def _witness(self, size: int, arrivals: dict[Place, tuple[int, ...]]) -> ForcedText:
        """Return a text of some number of bytes, the least with a difference."""
        for place, ids in arrivals.items():
            jump = self._jump(place.text)
            assert jump is not None
            used = sum(self._lengths[id] for id in ids)
            here, before = place, ids
            for id in jump[1]:
                for other, target in self._moves(here):
                    if other == id:
                        continue
                    rest = self._ending(target, size - sum(self._lengths[k] for k in before) - self._lengths[other])
                    if rest is not None:
                        every = (*before, other, *rest)
                        text = self._tokenizer.decode(np.array(every))
                        return ForcedText(text, jump[0], used, jump[1], every, len(ids))
                following = self._prefixes.target(here, id)
                if following is None:
                    break
                here, before = following, (*before, id)
        raise AssertionError("a text with a difference has a first one")

    def _ending(self, place: Place, size: int) -> tuple[int, ...] | None:
        """Return ids of exactly some number of bytes that end a stream; None if there are none."""
        if size < 0:
            return None
        stack: list[tuple[Place, int, tuple[int, ...]]] = [(place, size, ())]
        seen = {(place, size)}
        while stack:
            here, left, ids = stack.pop()
            if left == 0:
                if self._prefixes.is_final(here):
                    return ids
                continue
            for id, target in self._moves(here):
                key = target, left - self._lengths[id]
                if key[1] >= self._texts.distance[target.text] and key not in seen:
                    seen.add(key)
                    stack.append((*key, (*ids, id)))
        return None
