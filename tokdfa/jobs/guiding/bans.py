"""Bans: which ids can come next so that the text never contains given words, in any tokenization of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import cast

import numpy as np

from tokdfa.automata.lift import language
from tokdfa.base.arrays import BoolArray, Int32Array, Uint32Array
from tokdfa.base.errors import PatternError, TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.guiding.byte_machines import ByteMachine, machine_of, product, trimmed, without_words
from tokdfa.jobs.guiding.masked import Masked, checked_end, checked_size
from tokdfa.kernels.dfa.explicit import tokens_from, trie_of
from tokdfa.kernels.guiding import product as kernels
from tokdfa.regex.trie import TokenTrie
from tokdfa.tokenizers.decoder import Spellings, words_of
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Ban", "ban"]

_BYTES = bytes(range(256))
_ENDED = -1


class Ban(Masked[int]):
    """An automaton of all sequences of ids, canonical or not, with nothing banned in their text.

    Made by :func:`tokdfa.ban`. States are integers, which can be kept, compared and used again. A ban does not change,
    so threads may share it. Give it to :class:`tokdfa.Matcher`, or to a guide as ``tokdfa.guide(..., ban=...)``.

    Attributes
    ----------
    initial : int
        The state before the first id.
    ended : int
        The state after an id of `end`.
    end : tuple of int
    vocab_size : int
    machine : ByteMachine
        The automaton of the texts that are not banned.
    controls : frozenset of int
        The ids of control tokens, which have no text.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ban = tokdfa.ban(tokenizer, ["single man"])
    >>> state = ban.read(tokenizer.encode("a single"))
    >>> ban.step(state, int(tokenizer.encode(" man")[0])) is None
    True
    >>> ban.step(state, int(tokenizer.encode(" woman")[0])) is None
    False
    """

    _refusal = "the text up to this id has what is banned"

    def __init__(self, tokenizer: Tokenizer, machine: ByteMachine, end: tuple[int, ...], vocab_size: int) -> None:
        n = tokenizer.n_ids
        super().__init__(machine.initial, _ENDED, end, vocab_size, n)
        self.machine = machine
        text, offsets = _spellings_of(tokenizer)
        trie = tokenizer.derived(_spelled)
        alive = _alive(machine, trie)
        if not alive[machine.initial]:
            raise PatternError("nothing can be said without what is banned")
        self._ban = kernels.ban_of(machine.table, machine.column, alive, text, offsets, trie)
        self.controls = frozenset(tokenizer.control_ids.tolist())
        meaning = tokenizer.means_something
        self._meaningless = frozenset(np.flatnonzero(~meaning).tolist())
        self._empty: set[int] = set()
        of_bits = np.zeros((2, -(-n // 32) * 32), dtype=np.bool_)
        of_bits[0, tokenizer.control_ids] = True
        # A token without text is allowed everywhere, and changes nothing.
        of_bits[1, :n] = meaning & (np.diff(offsets) == 0)
        bits: Uint32Array = np.packbits(of_bits, axis=1, bitorder="little").view(np.uint32)
        self._control_bits: Uint32Array = bits[0]
        self._root: Uint32Array = bits[1]
        kernels.mask_like(self._ban, machine.initial, 0, self._root)
        self._root |= self._control_bits

    def _step(self, state: int, id: int) -> int | None:
        if id in self.controls:
            return self.machine.initial if self.is_final(state) else None
        target = kernels.ban_step(self._ban, state, id)
        if not target:
            self._check(state)
        return target if target and id not in self._meaningless else None

    def _bits(self, state: int, remaining: int | None = None) -> np.ndarray:
        if remaining is not None:
            self.ends_within(state, remaining)
        self._check(state)
        bits = self._root.copy()
        kernels.mask_like(self._ban, state, self.machine.initial, bits)
        if not self.machine.final[state]:
            bits &= ~self._control_bits
        return bits

    def _make_mask(self, state: int, remaining: int | None) -> Int32Array:
        mask = super()._make_mask(state, remaining)
        if not mask.any():
            self._empty.add(state)
        return mask

    def _check(self, state: int) -> None:
        if not (isinstance(state, (int, np.integer)) and 0 < state < len(self.machine.final)):
            raise WrongTypeError("the ban has no such state", value=state)

    def is_final(self, state: int) -> bool:
        """Return whether a stream may end in a state: whether its text has nothing that is banned, and is complete."""
        if state == _ENDED:
            return True
        self._check(state)
        return bool(self.machine.final[state])

    def mask(self, state: int, *, remaining: int | None = None) -> Int32Array:
        """Return the mask of a state: bit t % 32 of word t // 32 is set if id t can come next.

        Returns
        -------
        int32 array of ceil(vocab_size / 32) words
            Read-only.

        Raises
        ------
        TokenStreamError
            If it would be empty: every id would complete a banned word or match, and no id of `end` was given.
        UnsupportedFeatureError
            If a number of `remaining` ids is given, which only a guide understands.
        """
        mask = super().mask(state, remaining=remaining)
        if state in self._empty:
            hint = "give end=..., the ids that end a sequence; is_exhausted(state) says where nothing is left"
            raise TokenStreamError("every id is banned in this state", value=state, hint=hint)
        return mask

    def banned(self, state: int | None = None) -> Int32Array:
        """Return the ids of tokens that are banned in a state, ascending; by default at the beginning of a text.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> ban = tokdfa.ban(tokenizer, ["marr"])
        >>> [tokenizer.decode([id]) for id in ban.banned()]
        [' married', ' marry', ' marriage', 'marr', ' marrying']
        """
        bits = self._root if state is None else self._bits(state)
        allowed = np.unpackbits(bits.view(np.uint8), bitorder="little")[: self._n_ids].astype(np.bool_)
        spelled = np.diff(self._ban.fields["offsets"]) > 0
        return np.flatnonzero(spelled & ~allowed).astype(np.int32)

    @property
    def n_states(self) -> int:
        """The number of states of the automaton over bytes."""
        return len(self.machine.final) - 1

    def __repr__(self) -> str:
        return f"<Ban: {self.n_states} states over bytes, {self.vocab_size} ids>"


def ban(
    tokenizer: AnyTokenizer,
    words: Iterable[str | bytes] | None = None,
    *,
    pattern: str | None = None,
    end: int | Iterable[int] | None = None,
    vocab_size: int | None = None,
) -> Ban:
    """Return the automaton of all sequences of ids that spell none of some words, and no match of a pattern.

    Every tokenization of a word is banned: those that begin or end within a token, and those that cut the bytes of a
    character. A space that the tokenizer puts before every text counts as text, except in a guide.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer: its text is the bytes of its ids, one after the other.
    words : iterable of str or bytes, optional
        They are banned wherever they occur, within longer words too, and in exactly this spelling.
    pattern : str, optional
        A regular expression of :func:`tokdfa.language`; ``(?i)``, anchors and word boundaries have the same meaning.
        With it, the text must be UTF-8.
    end : int or iterable of int, optional
        The ids that end a sequence, such as the id of ``<|endoftext|>``.
    vocab_size : int, optional
        The number of bits of a mask, if the model has more logits than the tokenizer has ids.

    Returns
    -------
    Ban

    Raises
    ------
    PatternError
        If there is nothing to ban, a word is empty, the pattern cannot be read, or every text is banned.
    UnsupportedFeatureError
        If the text of ids is not the text of each, one after the other.
    LimitExceededError
        If the automaton is too large.
    TokenStreamError, WrongTypeError
        If an id of `end` does not exist, or an argument is of another type.

    Notes
    -----
    The words as an automaton over bytes (A. Aho, M. Corasick, *Efficient string matching*, 1975), run over the trie of
    the tokens. Added tokens that are text, such as ``<tool_call>`` of Qwen, are read like all others. Control tokens
    have no text: a text ends before one, and another begins after it. A text with nothing banned may end anywhere, so a
    ban of words has no dead ends and no control token is banned; with a pattern, ids after which every text would have
    a match are banned too. The mask of a new state is made of the trie nodes of ids that continue a word.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ban = tokdfa.ban(tokenizer, ["marr", "wife"], pattern=r"[0-9]{3}")
    >>> state = ban.read(tokenizer.encode("in want of a w"))
    >>> [id in ban.allowed(state) for id in (*tokenizer.encode("if").tolist(), *tokenizer.encode("ife").tolist())]
    [True, False]
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.ban(tokenizer, words)")
    encoder = cast(Tokenizer, tokenizer)
    _check(encoder)
    size = checked_size(vocab_size, tokenizer.n_ids)
    ends = checked_end(end, size)
    machine = None if words is None else without_words(_checked_words(words))
    if pattern is not None:
        machine = _without(pattern) if machine is None else trimmed(product(_without(pattern), machine))
    if machine is None:
        raise PatternError("there is nothing to ban: give words, or a pattern")
    return Ban(encoder, machine, ends, size)


def _check(tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer if the text of ids is not the text of each, one after the other."""
    is_bytewise, is_joined = tokenizer.why_not("bytes") is None, False
    if tokenizer.why_not("rules") is None:
        is_joined = not tokenizer.rewriting.decoding if is_bytewise else tokenizer.derived(_loses_only_spaces)
    if not is_joined or tokenizer.suffix is not None:
        what = "the text of ids is not the text of each, one after the other, so no ban knows it"
        raise UnsupportedFeatureError(what, value=tokenizer.algorithm)
    splitting = tokenizer.splitting
    if is_bytewise and (splitting.prefix_space is not None or splitting.metaspace is not None):
        raise UnsupportedFeatureError("the pre-tokenizer inserts spaces, which are left out of the text of ids")


def _loses_only_spaces(tokenizer: Tokenizer) -> bool:
    """Return whether each id has the same text in any stream, but for spaces that the beginning of a text loses."""
    usual, varies, other, _ = tokenizer.spelled
    if other is None or varies != "first":
        return other is None
    pairs = zip(words_of(usual), words_of(other), strict=True)
    return all(word == first or word.lstrip(b" ") == first.lstrip(b" ") for word, first in pairs)


def _spellings_of(tokenizer: Tokenizer) -> Spellings:
    """Return the bytes of ids within a text."""
    return tokenizer.id_spellings if tokenizer.why_not("bytes") is None else tokenizer.spelled.usual


def _checked_words(words: Iterable[str | bytes]) -> list[bytes]:
    """Return words as bytes."""
    if isinstance(words, (str, bytes)):
        raise WrongTypeError("words are several, as in a list", value=words)
    found = []
    for number, word in enumerate(words):
        if not isinstance(word, (str, bytes)):
            raise WrongTypeError("a word is a string or bytes", value=word, where=f"word {number}")
        try:
            data = word.encode() if isinstance(word, str) else word
        except UnicodeEncodeError:
            raise PatternError("a word is not UTF-8", value=word, where=f"word {number}") from None
        if not data:
            raise PatternError("a word is empty, so every text has it", where=f"word {number}")
        found.append(data)
    if not found:
        raise PatternError("there is nothing to ban: there are no words")
    return found


def _without(pattern: str) -> ByteMachine:
    """Return the automaton of the texts in UTF-8 without a match."""
    if not isinstance(pattern, str):
        raise WrongTypeError("a pattern is a string", value=pattern)
    # A pattern that cannot be read is refused as it is.
    language(pattern, _BYTES)
    # Flags of the whole pattern become flags of the group.
    flags, rest = "", pattern
    while (found := re.match(r"\(\?([a-zA-Z]+)\)", rest)) is not None:
        flags, rest = flags + found[1], rest[found.end() :]
    matching = machine_of(language(f"(?s:.*)(?{flags}:{rest})(?s:.*)", _BYTES))
    left = trimmed(product(machine_of(language("(?s:.*)", _BYTES)), matching, outside=True))
    if not left.table[left.initial].any() and not left.final[left.initial]:
        raise PatternError("every text has a match of the pattern", value=pattern)
    return left


def _spelled(tokenizer: Tokenizer) -> TokenTrie:
    """Return the trie of the ids that have a text."""
    text, offsets = _spellings_of(tokenizer)
    left_out = np.diff(offsets) == 0
    left_out[tokenizer.control_ids] = True
    return TokenTrie(text.astype(np.int32), offsets, left_out)


def _alive(machine: ByteMachine, trie: TokenTrie) -> BoolArray:
    """Return the states from which some ids lead to the end of a text, or in which one may end."""
    alive = machine.final.copy()
    alive[0] = False
    children = trie.symbol[trie.depth == 1]
    is_word = trie.first[1:][trie.depth == 1] > trie.first[:-1][trie.depth == 1]
    if len(children[is_word]) == 256:
        # Every byte is an id, and all states lead to an end by bytes.
        alive[1:] = True
        return alive
    columns = machine.column[np.maximum(trie.symbol, 0)]
    struct = trie_of(columns, trie.depth, trie.end, trie.first)
    flat = machine.table.reshape(-1)
    targets = cache(lambda state: np.unique(tokens_from(struct, flat, machine.table.shape[1], state)[1]))
    n_alive = -1
    while n_alive < (n_now := int(alive.sum())):
        n_alive = n_now
        for state in np.flatnonzero(~alive).tolist()[1:]:
            alive[state] = alive[targets(state)].any()
    return alive
