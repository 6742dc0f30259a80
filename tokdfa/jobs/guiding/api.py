"""The function `guide` and its result: the automaton of the canonical streams with texts in a language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.guiding.bans import Ban
from tokdfa.jobs.guiding.masked import Masked, checked_end, checked_remaining, checked_size
from tokdfa.jobs.guiding.prefixes import State, prefixes_of
from tokdfa.jobs.guiding.prompts import Start, Wanted, after_prompt, start_of
from tokdfa.jobs.guiding.schemas import pattern_of_schema
from tokdfa.jobs.guiding.tokens import tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Guide", "State", "guide"]

_ENDED = State(-1, 0, 0, 0)


class Guide(Masked[State]):
    """An automaton of the canonical streams of a tokenizer with their text in a language, without dead ends.

    Made by :func:`tokdfa.guide`. From every state that :meth:`step` returns, some stream continues to its end. States
    are tuples of four integers, which can be kept, compared and used again; a guide has no state of its own. Threads
    may share it.

    Attributes
    ----------
    initial : State
        The state of no ids.
    ended : State
        The state after an id of `end`.
    end : tuple of int
        The ids that end a sequence. They are allowed where the stream may end, and nothing follows them.
    vocab_size : int
        The number of bits of a mask.
    kept : int32 array
        The ids of the prompt that remain; the stream continues after them. Empty without a prompt.
    given_back : bytes
        The text of the other ids of the prompt, with which the text of the stream begins.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> guide = tokdfa.guide(tokenizer, "a (single|married) man")
    >>> [tokenizer.decode([id]) for id in guide.allowed(guide.initial)]
    ['a']
    >>> state = guide.step(guide.initial, 64)
    >>> [tokenizer.decode([id]) for id in guide.allowed(state)]
    [' single', ' married']
    >>> guide.step(state, 32) is None, guide.is_final(state)
    (True, False)
    """

    _refusal = "no canonical stream of the language goes on with this id"
    _hint = "read_any accepts what follows it"

    def __init__(self, start: Start, end: tuple[int, ...], vocab_size: int) -> None:
        prefixes = start.prefixes
        super().__init__(start.state, _ENDED, end, vocab_size, prefixes.tokens.n_ids)
        self.kept, self.given_back = start.kept, start.given_back
        self._prefixes = prefixes
        self._tokens = prefixes.tokens
        self._tokenizer = prefixes.tokens.tokenizer

    def _step(self, state: State, id: int) -> State | None:
        try:
            return self._prefixes.step(state, id)
        except (TypeError, OverflowError):
            self._prefixes.checked(state)
            raise

    def _bits(self, state: State, remaining: int | None) -> np.ndarray:
        return self._prefixes.mask(state, remaining)

    def _is_enough(self, state: State, remaining: int) -> bool:
        return self._prefixes.is_enough(state, remaining)

    def is_final(self, state: State) -> bool:
        """Return whether a stream may end in a state.

        Raises
        ------
        WrongTypeError
            If it is not a state of this guide.
        """
        return state == _ENDED or self._prefixes.is_final(state)

    def ends_within(self, state: State, remaining: int) -> bool:
        """Return whether some stream ends within a number of ids after a state, not counting one of `end`.

        Raises
        ------
        WrongTypeError
            If it is not a state of this guide, or the number is none.
        LimitExceededError
            If the search for such a stream is too large.
        """
        left = checked_remaining(remaining)
        return state == _ENDED or self._prefixes.ends_within(self._prefixes.checked(state), left)

    def least(self, state: State) -> int:
        """Return the fewest ids with which a stream can end after a state, without one of `end`.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer(), "[a-z]{3,} man")
        >>> guide.least(guide.initial), guide.shortest(guide.initial).tolist()
        (2, [1050, 462])
        """
        return 0 if state == _ENDED else self._prefixes.least(self._checked_alive(state))

    def shortest(self, state: State) -> Int32Array:
        """Return the fewest ids with which a stream can end after a state; of equal ones those with smaller ids first.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer(), "a (single|married) man")
        >>> guide.shortest(guide.initial).tolist()
        [64, 2513, 462]
        """
        found: list[int] = []
        for left in range(self.least(state), 0, -1):
            found.append(int(self.allowed(state, remaining=left)[0]))
            target = self.step(state, found[-1])
            assert target is not None
            state = target
        return np.array(found, dtype=np.int32)

    def after_prompt(self, prompt: npt.ArrayLike) -> State:
        """Return the state after the ids of a prompt: with them, the ids that follow are canonical as one text.

        The tables of the guide serve every prompt, so a batch needs one guide. ``guide(..., prompt=..., heal=True)``
        gives ids of one prompt back.

        Parameters
        ----------
        prompt : array_like of int

        Raises
        ------
        TokenStreamError
            If the prompt is not the beginning of a canonical stream; the error says where.
        PatternError
            If no text of the language can follow it.
        UnsupportedFeatureError
            If ids of another prompt were given back to the guide.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> guide = tokdfa.guide(tokenizer, "(le|ular) man")
        >>> tokenizer.decode(guide.forced(guide.after_prompt(tokenizer.encode("a sing"))))
        'ular man'
        """
        if self.given_back:
            what = "the texts of this guide begin with the text of ids that its own prompt gave back"
            raise UnsupportedFeatureError(what, value=self.given_back, hint="make a guide without a prompt")
        return after_prompt(self._prefixes, prompt)

    def _checked_alive(self, state: State) -> State:
        """Refuse a state from which no stream continues; a guide returns none."""
        state = self._prefixes.checked(state)
        if not self._prefixes.goes_on(state):
            raise WrongTypeError("no stream continues from this state", value=state)
        return state

    # Streams

    def read_any(self, ids: npt.ArrayLike, state: State | None = None) -> tuple[State, tuple[int, ...]]:
        """Return the state after ids that need not be canonical, and the indices where they are not.

        At an id that is not allowed, the guide begins anew, knowing nothing of the ids before it: as if it were in the
        middle of some canonical stream. So later ids are canonical wherever no context could make them wrong. The text
        is still followed in the language.

        Parameters
        ----------
        ids : array_like of int
        state : State, optional
            Where to begin; by default in the initial state.

        Raises
        ------
        TokenStreamError
            If no text of the language begins with the text of the ids, or only texts that no canonical ids continue.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer())
        >>> state, refused = guide.read_any([64, 261, 1193])
        >>> refused, guide.is_final(state)
        ((2,), True)
        """
        state = self.initial if state is None else state
        refused = []
        for index, id in enumerate(self._checked(ids)):
            target = self.step(state, id)
            if target is None:
                refused.append(index)
                target = self._anew(state, id)
                if target is None:
                    what = "no canonical stream goes on after this id with a text of the language"
                    raise TokenStreamError(what, value=id, where=f"token {index}")
            state = target
        return state, tuple(refused)

    def _anew(self, state: State, id: int) -> State | None:
        """Return the state after an id in any context; only the language is kept."""
        if state == self.ended or id in self._ends:
            return None
        splits, prefixes = self._tokens.splits, self._prefixes
        start = State(splits.anywhere, 0, 0, state.text)
        target = prefixes.target(start, id)
        if target is not None and prefixes.goes_on(target):
            return target
        text = prefixes.texts.after_id(state.text, id) if id < self._tokens.n_ids else 0
        target = State(splits.anywhere, 0, 0, text)
        return target if text and prefixes.goes_on(target) else None

    def __repr__(self) -> str:
        n_states = self._prefixes.texts.n_states
        what = f"{n_states} state{'s' * (n_states > 1)} over bytes"
        what = "all texts" if self._prefixes is prefixes_of(self._tokens) else what
        return f"<Guide: {what}, {self.vocab_size} ids>"


def guide(
    tokenizer: AnyTokenizer,
    language: str | TokenDFA | None = None,
    *,
    schema: str | Mapping[str, Any] | None = None,
    end: int | Iterable[int] | None = None,
    vocab_size: int | None = None,
    ban: Ban | None = None,
    prompt: npt.ArrayLike | None = None,
    heal: bool = False,
) -> Guide:
    """Return the guide of a tokenizer: which ids can come next so that some canonical stream continues.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged, or brings them into a normalization form (Qwen:
        NFC). The streams are then those of the texts in that form: no canonical stream decodes to another one. Or one
        over characters that writes spaces as U+2581 and other characters as bytes (Llama-2, Gemma, Mistral). If it
        puts a space before texts, which decoding removes, the stream begins with it, after special tokens of the
        prompt, too. Texts with other spaces once they are decoded have no canonical ids: Llama-2 has none with text
        after a special token, and InternLM-2, which only removes a space, none that begins with one.
    language : str or TokenDFA, optional
        A language L of texts: a regular expression that the whole text matches, or an automaton over bytes such as
        :func:`tokdfa.language` makes. The finished streams are then exactly T(L), the ids that `encode` gives for the
        texts of L. Without one they are exactly those that `validate` accepts: ids of special tokens that `encode`
        never gives cut the stream.
    schema : str or mapping, optional
        A JSON schema without recursion, instead of a language: its documents in the order of its names, and without
        others. Keywords that cannot be obeyed are refused. Strings without a greatest length have at most 200
        characters, and a warning says so. It needs outlines-core.
    end : int or iterable of int, optional
        The ids that end a sequence, such as the id of ``<|endoftext|>``. They mean nothing else then.
    vocab_size : int, optional
        The number of bits of a mask, if the model has more logits than the tokenizer has ids.
    ban : Ban, optional
        The words or matches that the texts may not have; see :func:`tokdfa.ban`. The streams of the guide are
        restricted to those that the ban allows, without dead ends either. It is about the text after the prompt.
    prompt : array_like of int, optional
        The ids before those that are guided. The prompt and the stream together are then canonical, as one text, and
        the language and the ban are about the text after the prompt.
    heal : bool
        Whether the last ids of the prompt are given back: those, and only those, that some text of the language after
        the prompt changes. The stream continues after the ids that remain, which are ``guide.kept``; its text begins
        with ``guide.given_back``, the text of the others.

    Returns
    -------
    Guide

    Raises
    ------
    UnsupportedFeatureError
        If the streams of the tokenizer are judged as a whole, and why: it rewrites or drops text otherwise, an added
        token depends on the text next to it, or it has other tokens than byte pairs. In Unigram, scores of the whole
        text decide each id; in WordPiece, words are looked up as a whole, and decoding does not keep spaces. If the
        schema has a keyword that cannot be obeyed; the error has its path.
    PatternError
        If the expression cannot be read, no text matches it, all texts that do need symbols that the tokenizer lacks,
        or all texts are banned.
    LimitExceededError
        If an automaton, or the search for a continuation, is too large.
    TokenStreamError
        If an id of `end` does not exist, or the prompt is not the beginning of a canonical stream; the error says
        where.

    Notes
    -----
    The product of the pair test (Observation 2 of *Constructing a BPE Tokenization DFA*), the states of the pre-
    tokenizer, the special tokens that the text spells, the normalization form, and the automaton of L. A state from
    which no stream continues is never reached: a continuation is searched for on demand, and the answer is cached.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> guide = tokdfa.guide(tokenizer, "[0-9]{2}:[0-9]{2}")
    >>> state = guide.read(tokenizer.encode("12:3"))
    >>> [tokenizer.decode([id]) for id in guide.allowed(state)]
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']

    After "a sing" as its own ids, "le man" cannot follow; healed, both together are "a single man".

    >>> healed = tokdfa.guide(tokenizer, "le man", prompt=tokenizer.encode("a sing"), heal=True)
    >>> healed.given_back, tokenizer.decode(healed.forced(healed.initial))
    (b' sing', ' single man')
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.guide(tokenizer, language)")
    if ban is not None and not isinstance(ban, Ban):
        raise WrongTypeError("a ban is what tokdfa.ban(tokenizer, words) returns", value=ban, where="ban")
    size = checked_size(vocab_size, tokenizer.n_ids)
    ends = checked_end(end, size)
    if heal and prompt is None:
        raise WrongTypeError("only the ids of a prompt can be given back", value=heal, where="heal")
    if schema is not None:
        if language is not None:
            raise WrongTypeError("give a language or a schema, one of them", value=language, where="language")
        language = pattern_of_schema(schema)
    texts = Wanted(language, None if ban is None else ban.machine)
    return Guide(start_of(tokens_of(tokenizer), texts, prompt, heal=heal), ends, size)
