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
    """An automaton that reads the canonical ids of the texts in a language, and has no dead ends.

    Made by :func:`tokdfa.guide`. From every state that :meth:`step` returns, some text can be completed. States are
    tuples of four integers, which can be kept, compared and used again. A guide does not change, so threads may share
    it.

    Attributes
    ----------
    initial : State
        The state before the first id.
    ended : State
        The state after an id of `end`.
    end : tuple of int
        The ids that end a sequence. They are allowed where a text is complete, and nothing follows them.
    vocab_size : int
        The number of bits of a mask.
    kept : int32 array
        The ids of the prompt that are kept; the stream continues after them. Empty without a prompt.
    given_back : bytes
        The text of the ids of the prompt that are not kept; the text of the stream begins with it.

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

    _refusal = "no canonical stream of the language continues with this id"
    _hint = "read_any continues after it"

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
        """Return whether some text can be completed with at most `remaining` ids after a state.

        An id of `end` does not count.

        Raises
        ------
        WrongTypeError
            If `state` is not a state of this guide, or `remaining` is not a whole number from 0 on.
        LimitExceededError
            If the search for such a stream is too large.
        """
        left = checked_remaining(remaining)
        return state == _ENDED or self._prefixes.ends_within(self._prefixes.checked(state), left)

    def least(self, state: State) -> int:
        """Return the least number of ids after a state that complete a text; an id of `end` does not count.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer(), "[a-z]{3,} man")
        >>> guide.least(guide.initial), guide.shortest(guide.initial).tolist()
        (2, [1050, 462])
        """
        return 0 if state == _ENDED else self._prefixes.least(self._checked_alive(state))

    def shortest(self, state: State) -> Int32Array:
        """Return the fewest ids that complete a text after a state; among equally few, the smallest ids first.

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
        """Return the state after the ids of a prompt, so that prompt and answer together are canonical.

        One guide serves all prompts of a batch. If the last ids of a prompt may change, make a guide for it with
        ``guide(..., prompt=..., heal=True)``.

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
            If the guide was made with ``heal=True``, and ids of its own prompt were given back.

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
        """Return a state; refuse one from which no text can be completed, which no guide returns."""
        state = self._prefixes.checked(state)
        if not self._prefixes.goes_on(state):
            raise WrongTypeError("no stream continues from this state", value=state)
        return state

    # Streams

    def read_any(self, ids: npt.ArrayLike, state: State | None = None) -> tuple[State, tuple[int, ...]]:
        """Return the state after ids that need not be canonical, and the indices of the ids that are not allowed.

        At an id that is not allowed, the guide forgets the ids before it, as if it were in the middle of an unknown
        canonical stream. It allows all later ids that are right after at least one such beginning. The text must still
        fit the language.

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
                    what = "no canonical stream with a text of the language continues after this id"
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
    """Return a guide: it masks the ids that can come next, so that they are canonical and their text is in a language.

    The ids of a text are canonical if they are ``tokenizer.encode(text)``.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes, without a normalizer or with a normalization form (Qwen: NFC); then only texts
        in that form have canonical ids. Or one over characters that writes spaces as U+2581 and other characters as
        bytes (Llama-2, Gemma, Mistral). If it puts a space before texts, which decoding removes, the ids begin with
        this space, also after a special token at the end of the prompt. A text that decoding gives other spaces has no
        canonical ids: Llama-2 has none for text after a special token, and InternLM-2, which only removes a space, none
        for texts that begin with a space. White space next to an added token that takes it (``rstrip``: ``<|user|>`` of
        Phi-3) has no ids, so such a text has no canonical ones either.
    language : str or TokenDFA, optional
        A regular expression that the whole text matches, or an automaton over bytes such as :func:`tokdfa.language`
        returns. The guide accepts exactly the ids that `encode` gives for the texts of the language. Without a
        language, it accepts exactly the ids that `validate` accepts, where a special token that `encode` never gives
        begins a new text.
    schema : str or mapping, optional
        A JSON schema without recursion, instead of a language. The names of objects come in its order, without
        additional ones. Keywords that cannot be obeyed are refused. Strings without ``maxLength`` have at most 200
        characters, and a warning says so. It needs outlines-core.
    end : int or iterable of int, optional
        The ids that end a sequence, such as the id of ``<|endoftext|>``. They have no other meaning then.
    vocab_size : int, optional
        The number of bits of a mask, if the model has more logits than the tokenizer has ids.
    ban : Ban, optional
        Words or matches that the text after the prompt must not have; see :func:`tokdfa.ban`. The guide still has no
        dead ends.
    prompt : array_like of int, optional
        The ids before the answer. Prompt and answer together are then canonical; the language and the ban are for the
        text after the prompt.
    heal : bool
        Whether the last ids of the prompt are given back: exactly those that change for some text of the language. The
        stream continues after ``guide.kept``, and its text begins with ``guide.given_back``.

    Returns
    -------
    Guide

    Raises
    ------
    UnsupportedFeatureError
        If ids of the tokenizer cannot be judged one by one: it is not a byte pair tokenizer, it rewrites or drops text
        in other ways, or an added token is found only if no word is next to it. The error names the reason. Also if the
        schema has a keyword that cannot be obeyed; the error has its path.
    PatternError
        If the expression cannot be read, no text matches it, each text that matches needs a symbol that the tokenizer
        lacks, or all texts are banned.
    LimitExceededError
        If an automaton, or the search for a continuation, is too large.
    TokenStreamError
        If an id of `end` does not exist, or the prompt is not the beginning of a canonical stream; the error says
        where.

    Notes
    -----
    The automaton is the product of the pair test (Observation 2 of *Constructing a BPE Tokenization DFA*), the states
    of the pre-tokenizer, the special tokens that the text spells, the normalization form, and the automaton of the
    language. To leave out dead ends, a completion is searched for from each new state, and the answer is cached.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> guide = tokdfa.guide(tokenizer, "[0-9]{2}:[0-9]{2}")
    >>> state = guide.read(tokenizer.encode("12:3"))
    >>> [tokenizer.decode([id]) for id in guide.allowed(state)]
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']

    After the ids of "a sing", "le man" cannot follow. With ``heal=True``, the id of " sing" may be replaced:

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
