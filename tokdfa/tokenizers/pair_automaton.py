"""The automaton of a tokenizer's rules by ids: which tokens may follow each other, and which rule forbids it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.alphabet import Word
from tokdfa.dictionary import Rule

if TYPE_CHECKING:
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["PairAutomaton"]


class PairAutomaton:
    """The token DFA of the rules of a tokenizer, with tokens given by their ids.

    Made by :attr:`AnyTokenizer.pair_automaton`. Methods that need states raise ImproperDictionaryError if the rules
    are not proper.

    Parameters
    ----------
    tokenizer : Tokenizer
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def dfa(self) -> CompactTokenDFA:
        """The automaton, over token numbers."""
        return self._tokenizer.dfa

    @property
    def n_live_tokens(self) -> int:
        """The number of tokens that occur in some tokenization."""
        return self.dfa.n_live_tokens

    def rule(self, number: int) -> Rule:
        """Return a rule by its number."""
        return self._tokenizer.dictionary[number]

    def word(self, id: int) -> Word | None:
        """Return the word of an id; None for special tokens."""
        number = int(self._tokenizer.id_to_token[id])
        return None if number < 0 else self._tokenizer.token(number)

    def state_of(self, id: int) -> int | None:
        """Return the state that a token leads to; None for tokens that no rule mentions, dead and special ones."""
        number = int(self._tokenizer.id_to_token[id])
        return self.dfa.state_of(number) if 0 <= number < len(self.dfa.alphabet) else None

    def n_allowed(self, id: int) -> int:
        """Return the number of tokens that may follow a token."""
        state = self.state_of(id)
        return 0 if state is None else int(np.count_nonzero(self.dfa.allowed_mask(state)))
