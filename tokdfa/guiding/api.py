"""The function `guide`: the automaton of the canonical streams whose texts are in a language."""

from __future__ import annotations

from collections.abc import Iterable

from tokdfa.arguments import wrong_argument
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.errors import WrongTypeError
from tokdfa.guiding.bans import Ban
from tokdfa.guiding.guide import Guide, State, check_texts
from tokdfa.guiding.masked import checked_end, checked_size
from tokdfa.guiding.prefixes import prefixes_of
from tokdfa.guiding.texts import texts_of
from tokdfa.guiding.tokens import tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Guide", "State", "guide"]


def guide(
    tokenizer: AnyTokenizer,
    language: str | TokenDFA | None = None,
    *,
    end: int | Iterable[int] | None = None,
    vocab_size: int | None = None,
    ban: Ban | None = None,
) -> Guide:
    """Return the guide of a tokenizer: which ids can come next so that some canonical stream goes on.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged.
    language : str or TokenDFA, optional
        A language L of texts: a regular expression that the whole text matches, or an automaton over bytes such as
        :func:`tokdfa.language` makes. The finished streams are then exactly T(L), the ids that `encode` gives for the
        texts of L. Without one they are exactly those that `validate` accepts: ids of special tokens that `encode`
        never gives cut the stream.
    end : int or iterable of int, optional
        The ids that end a sequence, such as that of ``<|endoftext|>``. They mean nothing else then.
    vocab_size : int, optional
        The number of bits of a mask, if the model has more logits than the tokenizer has ids.
    ban : Ban, optional
        What the texts may not have; see :func:`tokdfa.ban`. The streams are those of the guide that the ban allows, and
        there are no dead ends either.

    Returns
    -------
    Guide

    Raises
    ------
    UnsupportedFeatureError
        If the streams of the tokenizer are judged as a whole: it normalizes, inserts or drops text, or is not a byte
        pair tokenizer over bytes.
    PatternError
        If the expression cannot be read, no text matches it, all texts that do need symbols that the tokenizer lacks,
        or all have what is banned.
    LimitExceededError
        If an automaton is too large, or a search for what goes on.
    TokenStreamError
        If an id of `end` does not exist.

    Notes
    -----
    The product of the pair test (Observation 2 of *Constructing a BPE Tokenization DFA*), the hypotheses of the
    pre-tokenizer, the special tokens that the text spells, and the automaton of L. A state from which no stream goes on
    is never reached: whether one does is searched for where it is asked, and remembered.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> guide = tokdfa.guide(tokenizer, "[0-9]{2}:[0-9]{2}")
    >>> state = guide.read(tokenizer.encode("12:3"))
    >>> [tokenizer.decode([id]) for id in guide.allowed(state)]
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']
    """
    if not isinstance(tokenizer, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.guide(tokenizer, language)")
    if ban is not None and not isinstance(ban, Ban):
        raise WrongTypeError("a ban is what tokdfa.ban(tokenizer, words) returns", value=ban, where="ban")
    size = checked_size(vocab_size, tokenizer.n_ids)
    ends = checked_end(end, size)
    tokens = tokens_of(tokenizer)
    is_free = language is None and ban is None
    texts = None if is_free else texts_of(tokens, language, None if ban is None else ban.machine)
    prefixes = prefixes_of(tokens, texts)
    check_texts(prefixes, language, bans=ban is not None)
    return Guide(prefixes, ends, size)
