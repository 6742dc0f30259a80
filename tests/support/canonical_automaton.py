"""The canonical language of a whole tokenizer, as one automaton over its ids.

A stream is canonical if encoding its text gives it back. That depends on how the text is cut and on the merges within a
piece: a token boundary within a piece must be one that the pair test allows, and every piece must begin where a token
begins. So the product of the pair test with the states of the pre-tokenizer decides, and only the states that the ids
have confirmed so far need to be kept.

`tokdfa.jobs.validation.table` is the same machine with rows of numbers, over classes of ids; this one is slow and
serves as the definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.tokenizers.boundaries.added import check_overlaps, spelled_specials
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.pretokenizers.token_lift import LiftState, TokenLift, TokenParts
from tokdfa.tokenizers.tokenizer import Tokenizer


class CanonicalState(NamedTuple):
    """The possibilities that the ids read so far leave open.

    `split` is the state of the pre-tokenizer, and `pair` the state of the pair test after the last token, -1 at the
    beginning of a text. `spelled` is the end of the text, with which a special token may begin.
    """

    split: LiftState
    pair: int = -1
    spelled: bytes = b""


class CanonicalAutomaton:
    """The automaton of the ids that encoding gives back from their own text; it implements the protocol.

    The dictionary of the tokenizer must be proper and over bytes. `split_nfa` are the states of its pre-tokenizer.
    Special tokens split the stream, and the parts between them are judged separately. If the tokenizer finds special
    tokens in its text, a text that spells one is not canonical.

    ImproperDictionaryError, UnsupportedFeatureError (the pre-tokenizer drops text or inserts spaces, some token is
    given only for a whole piece, special tokens overlap one another), PatternError and LimitExceededError are raised if
    the canonical language is not this product.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        _check(tokenizer)
        self.tokenizer = tokenizer
        self._pairs = tokenizer.dfa
        self._token_lift = TokenLift(tokenizer.splitting)
        self.split_nfa: SplitNFA = self._token_lift.split_nfa
        self._parts: dict[int, TokenParts | None] = {}
        self._specials = frozenset(special.id for special in tokenizer.specials)
        contents = spelled_specials(tokenizer)
        check_overlaps(contents)
        self._contents = contents
        self._beginnings = frozenset(content[:end] for content in contents for end in range(1, len(content)))
        self._longest = max(map(len, contents), default=0)

    @property
    def initial(self) -> CanonicalState:
        """The initial state."""
        return CanonicalState(self._token_lift.initial)

    def is_final(self, state: CanonicalState) -> bool:
        """Return whether a canonical stream may end in `state`."""
        return self._token_lift.is_final(state.split)

    def step(self, state: CanonicalState, token: int) -> CanonicalState | None:
        """Return the state reached from `state` on an id, or None if nothing canonical continues like this."""
        if token in self._specials:
            return self.initial if self.is_final(state) else None
        parts = self._parts_of(token)
        if parts is None:
            return None
        number = int(self.tokenizer.id_to_token[token])
        behind = self._pairs.step(max(state.pair, 0), number)
        reached = self._token_lift.step(state.split, parts, behind is not None)
        spelled = None if reached is None else self._spelled(state.spelled, token)
        if reached is None or spelled is None:
            return None
        return CanonicalState(reached, int(self._pairs.state[number]), spelled)

    def moves(self, state: CanonicalState) -> Iterator[tuple[int, CanonicalState]]:
        """Yield every transition out of `state` as (id, target), ids ascending."""
        for id in range(self.tokenizer.n_ids):
            if self.tokenizer.id_to_token[id] < 0 and id not in self._specials:
                continue
            target = self.step(state, id)
            if target is not None:
                yield id, target

    @cached_property
    def n_effects(self) -> int:
        """The number of different effects of the whole symbols of a token on the states, over all tokens."""
        for id, token in enumerate(self.tokenizer.id_to_token.tolist()):
            if token >= 0:
                self._parts_of(id)
        return len({parts.effect for parts in self._parts.values() if parts is not None and parts.effect is not None})

    # Tokens

    def _parts_of(self, id: int) -> TokenParts | None:
        """Return the parts of a token; None if no text has it."""
        if id not in self._parts:
            if not 0 <= id < self.tokenizer.n_ids or self.tokenizer.id_to_token[id] < 0:
                raise TokenStreamError("no token has this id", value=id)
            number = int(self.tokenizer.id_to_token[id])
            is_live = number < len(self._pairs.birth) and self._pairs.birth[number] >= 0
            self._parts[id] = self._token_lift.parts(self.tokenizer.name_of(id)) if is_live else None
        return self._parts[id]

    def _spelled(self, before: bytes, id: int) -> bytes | None:
        """Return the end of the text that may be the beginning of a special token; None if there is a whole one."""
        if not self._contents:
            return b""
        text = before + self.tokenizer.name_of(id)
        if any(content in text for content in self._contents):
            return None
        ends = (text[-n:] for n in range(min(self._longest - 1, len(text)), 0, -1))
        return next((end for end in ends if end in self._beginnings), b"")


def _check(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer if its canonical language is not this product."""
    if tokenizer.why_not("bytes"):
        raise UnsupportedFeatureError("the automaton of a whole tokenizer needs a dictionary over bytes")
    if len(tokenizer.whole_piece_tokens):
        number = int(tokenizer.whole_piece_tokens[0])
        raise UnsupportedFeatureError("a token is emitted only as a whole piece", value=tokenizer.token(number))
    splitting = tokenizer.splitting
    if splitting.prefix_space is not None or splitting.metaspace is not None:
        raise UnsupportedFeatureError("the pre-tokenizer inserts spaces into the text")
    if splitting.byte_steps:
        raise UnsupportedFeatureError("the pre-tokenizer splits the bytes of a character")
