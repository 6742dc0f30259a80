"""The canonical language of a whole tokenizer, as one automaton over its ids.

A stream is canonical when encoding its text gives it back. That hangs together from what the text is cut into and what
merging gives within a piece: a token border within a piece must be one that the pair test allows, and every piece must
begin where a token begins. So the product of the pair test with the hypotheses of the pre-tokenizer decides, and of the
hypotheses only those need to be kept that the ids have borne out so far.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, TypeAlias

from tokdfa.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.kernels.split import BEGINS, CONTINUES, DROPPED
from tokdfa.tokenizers.formats.contents import Splitting
from tokdfa.tokenizers.hypotheses import Hypotheses, find_hypotheses
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["CanonicalAutomaton", "CanonicalState"]

# A set of hypotheses is the bits of an integer.
Mask: TypeAlias = int


class CanonicalState(NamedTuple):
    """What a stream read so far leaves open.

    Parameters
    ----------
    hypotheses : int
        The hypotheses that the ids bear out, as bits.
    pair : int
        The state of the pair test behind the last token; -1 at the beginning of a text.
    cut : bytes
        The bytes of a symbol that is cut short.
    is_inside : bool
        Whether that symbol began within a token, so that no piece can begin with it.
    must_begin : bool
        Whether the pair test forbids the border that it began at, so that a piece must begin with it.
    spelled : bytes
        The end of the text that a special token may begin with.
    """

    hypotheses: Mask
    pair: int = -1
    cut: bytes = b""
    is_inside: bool = False
    must_begin: bool = False
    spelled: bytes = b""


class _Effect(NamedTuple):
    """What some symbols do to each hypothesis, no piece beginning behind the first of them.

    For each hypothesis those behind the symbols: if the first one goes on with a piece, and if it begins one.
    """

    continues: tuple[Mask, ...]
    begins: tuple[Mask, ...]


class _Parts(NamedTuple):
    """A token: the bytes that end a symbol begun before, the effect of its whole symbols, the symbol that it cuts."""

    head: bytes
    effect: int | None
    tail: bytes


class CanonicalAutomaton:
    """The ids that encoding gives back from their own text, as an automaton; it implements the protocol.

    Parameters
    ----------
    tokenizer : Tokenizer
        One whose dictionary is proper and over bytes.

    Attributes
    ----------
    tokenizer : Tokenizer
    hypotheses : Hypotheses
        Those of its pre-tokenizer.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.
    UnsupportedFeatureError
        If the dictionary is not over bytes, the pre-tokenizer leaves out text or puts in spaces, some token comes about
        as a whole piece only, or special tokens overlap one another.
    PatternError, LimitExceededError
        If automata cannot do what the pre-tokenizer does.

    Notes
    -----
    Special tokens cut the stream, and what is between them is judged by itself. Where the tokenizer finds special
    tokens in its text, a text that spells one is not canonical.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        _check(tokenizer)
        self.tokenizer = tokenizer
        self._pairs = tokenizer.dfa
        splitting = Splitting("tokenizers") if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
        self.hypotheses: Hypotheses = find_hypotheses(splitting)
        self._step_of_class = [self._symbol_effect(number) for number in range(self.hypotheses.n_classes)]
        self._ends: Mask = sum(1 << h for h, ends in enumerate(self.hypotheses.ends) if ends)
        self._effects: list[_Effect] = []
        self._number_of_effect: dict[_Effect, int] = {}
        self._longer: dict[tuple[int | None, int], int] = {}
        self._applied: dict[tuple[Mask, int, bool, bool], Mask] = {}
        self._parts: dict[int, _Parts | None] = {}
        self._specials = frozenset(special.id for special in tokenizer.specials)
        contents = [special.content.encode() for special in tokenizer.specials] if tokenizer.finds_specials else []
        _check_overlaps(contents)
        self._contents = contents
        self._beginnings = frozenset(content[:end] for content in contents for end in range(1, len(content)))
        self._longest = max(map(len, contents), default=0)

    @property
    def initial(self) -> CanonicalState:
        """The initial state."""
        return CanonicalState(1)

    def is_final(self, state: CanonicalState) -> bool:
        """Tell whether a canonical stream may end in `state`."""
        return not state.cut and bool(state.hypotheses & self._ends)

    def step(self, state: CanonicalState, token: int) -> CanonicalState | None:
        """Return the state reached from `state` on an id, or None when nothing canonical goes on so.

        Raises
        ------
        TokenStreamError
            If no token has that id.
        """
        if token in self._specials:
            return self.initial if self.is_final(state) else None
        parts = self._parts_of(token)
        if parts is None:
            return None
        number = int(self.tokenizer.id_to_token[token])
        behind = self._pairs.step(max(state.pair, 0), number)
        allowed = behind is not None
        # Behind a symbol cut short no piece can begin.
        if state.cut and not (allowed and parts.head):
            return None
        if parts.head and not state.cut:
            return None
        spelled = self._spelled(state.spelled, token)
        if spelled is None:
            return None
        hypotheses = state.hypotheses
        cut, is_inside, must_begin = state.cut + parts.head, state.is_inside, state.must_begin
        if not state.cut:
            is_inside, must_begin = False, not allowed
        elif _is_whole(cut):
            effect = self._effect_of(ord(cut.decode("utf-8")), None)
            hypotheses = self._apply(hypotheses, effect, not must_begin, not is_inside)
            cut, is_inside, must_begin = b"", True, False
        elif parts.effect is not None or parts.tail or not _may_go_on(cut):
            return None
        if parts.effect is not None:
            hypotheses = self._apply(hypotheses, parts.effect, not must_begin, not is_inside)
            is_inside, must_begin = True, False
        if not hypotheses:
            return None
        cut += parts.tail
        pair = int(self._pairs.state[number])
        if not cut:
            is_inside = must_begin = False
        return CanonicalState(hypotheses, pair, cut, is_inside, must_begin, spelled)

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
        """How many different things the whole symbols of a token do to the hypotheses, over all tokens."""
        for id, token in enumerate(self.tokenizer.id_to_token.tolist()):
            if token >= 0:
                self._parts_of(id)
        return len({parts.effect for parts in self._parts.values() if parts is not None and parts.effect is not None})

    # Tokens

    def _parts_of(self, id: int) -> _Parts | None:
        """Return the parts of a token; None for one that no text has."""
        if id not in self._parts:
            if not 0 <= id < self.tokenizer.n_ids or self.tokenizer.id_to_token[id] < 0:
                raise TokenStreamError("no token has this id", value=id)
            self._parts[id] = self._take_apart(id)
        return self._parts[id]

    def _take_apart(self, id: int) -> _Parts | None:
        number = int(self.tokenizer.id_to_token[id])
        if not number < len(self._pairs.birth) or self._pairs.birth[number] < 0:
            return None
        word = self._word(id)
        n_head = next((at for at, byte in enumerate(word) if byte & 0xC0 != 0x80), len(word))
        decoder = getincrementaldecoder("utf-8")()
        try:
            text = decoder.decode(word[n_head:])
        except UnicodeDecodeError:
            return None
        effect = None
        for symbol in text:
            effect = self._effect_of(ord(symbol), effect)
        return _Parts(word[:n_head], effect, decoder.getstate()[0]) if n_head <= 3 else None

    def _word(self, id: int) -> bytes:
        text, offsets = self.tokenizer.id_spellings
        return text[offsets[id] : offsets[id + 1]].tobytes()

    def _spelled(self, before: bytes, id: int) -> bytes | None:
        """Return the end of the text that may be the beginning of a special token; None if there is a whole one."""
        if not self._contents:
            return b""
        text = before + self._word(id)
        if any(content in text for content in self._contents):
            return None
        ends = (text[-n:] for n in range(min(self._longest - 1, len(text)), 0, -1))
        return next((end for end in ends if end in self._beginnings), b"")

    # Effects

    def _symbol_effect(self, number: int) -> _Effect:
        """Return the effect of a symbol of a class."""
        sets: dict[int, list[Mask]] = {CONTINUES: [], BEGINS: []}
        for moves in self.hypotheses.moves:
            if any(event == DROPPED for _, event in moves[number]):
                raise UnsupportedFeatureError("the pre-tokenizer may leave out text")
            for event, masks in sets.items():
                masks.append(sum(1 << target for target, what in moves[number] if what == event))
        return _Effect(tuple(sets[CONTINUES]), tuple(sets[BEGINS]))

    def _effect_of(self, code_point: int, before: int | None) -> int:
        """Return the number of the effect of what has the effect `before` and then a symbol."""
        number = int(self.hypotheses.class_of_code_point[code_point])
        key = (before, number)
        if key not in self._longer:
            effect = self._step_of_class[number]
            if before is not None:
                goes_on = effect.continues
                effect = _Effect(*(tuple(_image(mask, goes_on) for mask in masks) for masks in self._effects[before]))
            if effect not in self._number_of_effect:
                self._number_of_effect[effect] = len(self._effects)
                self._effects.append(effect)
            self._longer[key] = self._number_of_effect[effect]
        return self._longer[key]

    def _apply(self, hypotheses: Mask, effect: int, may_continue: bool, may_begin: bool) -> Mask:
        """Return the hypotheses behind symbols, given whether the first may go on with a piece, and begin one."""
        key = (hypotheses, effect, may_continue, may_begin)
        if key not in self._applied:
            continues, begins = self._effects[effect]
            mask = _image(hypotheses, continues) if may_continue else 0
            self._applied[key] = mask | (_image(hypotheses, begins) if may_begin else 0)
        return self._applied[key]


def _image(mask: Mask, targets: tuple[Mask, ...]) -> Mask:
    image = 0
    while mask:
        lowest = mask & -mask
        image |= targets[lowest.bit_length() - 1]
        mask ^= lowest
    return image


def _is_whole(symbol: bytes) -> bool:
    try:
        return len(symbol.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def _may_go_on(symbol: bytes) -> bool:
    """Tell whether the bytes are the beginning of a symbol."""
    try:
        return not getincrementaldecoder("utf-8")().decode(symbol)
    except UnicodeDecodeError:
        return False


def _check(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer whose canonical language is not this product."""
    if not tokenizer.is_bytewise:
        raise UnsupportedFeatureError("the automaton of a whole tokenizer is for dictionaries over bytes")
    if len(tokenizer.whole_piece_tokens):
        number = int(tokenizer.whole_piece_tokens[0])
        raise UnsupportedFeatureError("a token comes about as a whole piece only", value=tokenizer.token(number))
    pretokenizer = tokenizer.pretokenizer
    splitting = None if pretokenizer is None else pretokenizer.splitting
    if splitting is not None and (splitting.prefix_space is not None or splitting.metaspace is not None):
        raise UnsupportedFeatureError("the pre-tokenizer puts spaces into the text")


def _check_overlaps(contents: list[bytes]) -> None:
    """Refuse special tokens that can be found across the border of another one."""
    for content in contents:
        for other in contents:
            crosses = any(content.endswith(other[:end]) for end in range(1, len(other)) if end < len(content))
            if content != other and other.startswith(content):
                crosses = True
            within = content.find(other, 1) >= 0
            if crosses or within:
                raise UnsupportedFeatureError("special tokens that overlap one another", value=(content, other))
