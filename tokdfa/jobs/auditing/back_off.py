r"""Prove that a text may be resumed some ids before its end, if the first ids come again.

Two runs read the same symbols: the whole text, and the text that is resumed, which knows nothing of the text before it.
The pre-tokenizer's hypotheses differ at first, and agree after some symbols:

    text     ... h  e  '  s ␣ n ...
    whole            piece "'s"             hypotheses {contraction}
    resumed          at "s": {word}         hypotheses {word}, then both {word begins} at "␣n"

If they agree whenever m ids have come again, whatever the symbols are, the kept ids followed by the fresh ones are
canonical. There is only one canonical stream of a text, so these are its ids. Within a piece, two neighbouring tokens
decide (Observation 2 of *Constructing a BPE Tokenization DFA*), and the last tokens of both runs are the same one.

Which symbols are one token is not asked: at each symbol a token may or may not begin, and a piece may or may not cross
that boundary. There are more such runs than real ones, so a proof about them is a proof.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, TypeAlias, cast

from tokdfa.base.budget import Budget
from tokdfa.tokenizers.decoding import ByteFallback, DecodeReplace
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE
from tokdfa.tokenizers.normalizers.steps import Chain, Replace
from tokdfa.tokenizers.pretokenizers.token_lift import Mask, TokenLift
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules

__all__ = ["why_not_resumed"]

LONGEST_SYMBOL: Final = 4
"""The most bytes of a symbol: so many tokens have at least one whole symbol."""

_INSIDE, _MAY_CROSS, _BEGINS = (True, False), (True, True), (False, True)
"""The ways in which a symbol may start: whether it may continue a piece and may begin one.

Within a token it continues; between tokens that may be neighbours in a piece it may do either; between others it
begins one.
"""

Hypotheses: TypeAlias = tuple[Mask, Mask]
"""The hypotheses of the whole text, and of the resumed text, after the same symbols."""


def why_not_resumed(tokenizer: AnyTokenizer, back: int, agree: int) -> str | None:
    """Return why it is not proven that texts may be resumed `back` ids before their end; None if it is proven.

    If the first id comes again, it begins with a whole character, so that the kept ids end with one.
    """
    if not has_rules(tokenizer):
        return f"the rule is proven only for byte pair tokenizers, and not for {tokenizer.algorithm}"
    if tokenizer.why_not("leftmost") is not None and not tokenizer.piece_ids.is_one_pass:
        return f"pairs of neighbours do not decide: {tokenizer.why_not('leftmost')}"
    splitting = tokenizer.splitting
    is_changed = splitting.prefix_space is not None or splitting.metaspace is not None or splitting.byte_steps
    if is_changed or tokenizer.suffix or not (_is_bytewise(tokenizer) or _is_spelled(tokenizer)):
        return "a part of a text may be changed in another way than in the whole text before it is merged"
    if len(tokenizer.whole_piece_tokens):
        return "some tokens are given only for whole pieces"
    specials = [special for special in tokenizer.found_specials if special.text]
    if odd := odd_ones(specials):
        return f"the added token {odd[0].content!r} depends on its neighbours"
    if _most_symbols(tokenizer, [special.text for special in specials]) > back:
        return f"an added token has more than {back} symbols, so that it may begin in the ids that are kept"
    if tokenizer.pretokenizer is not None and tokenizer.derived(Runs).may_differ(agree // LONGEST_SYMBOL):
        return f"after {agree} equal ids, the pre-tokenizer may still split the resumed text in another way"
    return None


def _is_bytewise(tokenizer: Tokenizer) -> bool:
    """Return whether texts are encoded unchanged, byte by byte."""
    return tokenizer.is_plain and tokenizer.why_not("bytes") is None


def _is_spelled(tokenizer: Tokenizer) -> bool:
    """Return whether each character is one symbol, or its bytes, wherever it is; only spaces become another one."""
    _, fallback, atoms, prefix = tokenizer.rewrites
    if atoms or prefix or fallback is None or fallback.bytes is None or None in fallback.bytes:
        return False
    normalizer, decoding = tokenizer.rewriting.normalizer, tokenizer.rewriting.decoding
    steps = normalizer.steps if isinstance(normalizer, Chain) else (normalizer,)
    return steps == (_SPACE,) and decoding == (DecodeReplace(_SPACE_AGAIN), ByteFallback())


_SPACE = Replace(" ", SPACE, literal=True)
_SPACE_AGAIN = Replace(SPACE, " ", literal=True)


def _most_symbols(tokenizer: Tokenizer, texts: list[str]) -> int:
    """Return the most symbols of a text; each token has at least one."""
    if tokenizer.why_not("bytes") is None:
        return max((len(text.encode()) for text in texts), default=0)
    known = {"".join(cast("tuple[str, ...]", word)) for word in tokenizer.dictionary.alphabet.symbols}
    sizes = (sum(1 if symbol in known else len(symbol.encode()) for symbol in text) for text in texts)
    return max(sizes, default=0)


class Runs:
    """The pairs of hypotheses that a text and its resumed end may have after the same symbols."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._lift = TokenLift(tokenizer.splitting)
        self._budget = Budget(max_seconds=math.inf, what="the automaton of a text that is resumed")
        n_classes = self._lift.split_nfa.n_classes
        self._effects = [self._lift.effect_after(None, number) for number in range(n_classes)]
        self._initial = self._lift.initial.states
        self._known: dict[Hypotheses, tuple[frozenset[Hypotheses], bool]] = {}
        self._first = self._after_one_symbol()

    def may_differ(self, n_symbols: int) -> bool:
        """Return whether a text may be canonical for the resumed run alone, after so many symbols or more."""
        if n_symbols == 0:
            return True
        layer = self._first
        for _ in range(n_symbols - 1):
            layer, last = frozenset(target for pair in layer for target in self._following(pair)[0]), layer
            if layer == last:
                break
        seen, queue = {*layer}, [*layer]
        while queue:
            targets, differs = self._following(queue.pop())
            if differs:
                return True
            queue += targets - seen
            seen |= targets
        return False

    def _after_one_symbol(self) -> frozenset[Hypotheses]:
        """Return the different hypotheses after the first symbol of the resumed text, after any text."""
        found = set()
        for states in self._reachable():
            for effect in self._effects:
                resumed = self._lift.apply(self._initial, effect, *_MAY_CROSS)
                wholes = {self._lift.apply(states, effect, *kind) for kind in (_MAY_CROSS, _BEGINS)}
                found |= {(whole, resumed) for whole in wholes if whole and resumed and whole != resumed}
        return frozenset(found)

    def _reachable(self) -> set[Mask]:
        seen, queue = {self._initial}, [self._initial]
        while queue:
            new = {*self._images(queue.pop())} - seen - {0}
            seen |= new
            queue += new
            self._budget.spend(len(self._effects))
        return seen

    def _images(self, states: Mask) -> Iterator[Mask]:
        """Yield the hypotheses after each symbol, in each of the three ways; always in the same order."""
        for effect in self._effects:
            for kind in (_INSIDE, _MAY_CROSS, _BEGINS):
                yield self._lift.apply(states, effect, *kind)

    def _following(self, pair: Hypotheses) -> tuple[frozenset[Hypotheses], bool]:
        """Return the different hypotheses after one more symbol, and whether the resumed run alone may continue."""
        if pair not in self._known:
            self._budget.spend(len(self._effects))
            both = [*zip(*map(self._images, pair), strict=True)]
            targets = frozenset((whole, resumed) for whole, resumed in both if whole and resumed and whole != resumed)
            may_end = [self._lift.is_final(self._lift.initial._replace(states=states)) for states in pair]
            differs = any(resumed and not whole for whole, resumed in both) or (may_end[1] and not may_end[0])
            self._known[pair] = targets, differs
        return self._known[pair]
