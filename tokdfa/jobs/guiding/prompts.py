"""Prompts: the state in which a guide begins after the ids of a prompt, and the last ids that an answer can change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import Int32Array, checked_ids, id_array
from tokdfa.base.errors import PatternError, TokenStreamError
from tokdfa.jobs.guiding.byte_machines import ByteMachine
from tokdfa.jobs.guiding.openings import Opening
from tokdfa.jobs.guiding.prefixes import PrefixAutomaton, State, prefixes_of
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import Tokens


def after_prompt(prefixes: PrefixAutomaton, prompt: npt.ArrayLike) -> State:
    """Return the state of an automaton of wanted texts after the ids of a prompt, which remain."""
    tokens = prefixes.tokens
    ids = _checked(tokens, prompt)
    last = _states_after(tokens, ids)[-1]
    state = _begun(prefixes, last, _opening(tokens, ids, last, b""))
    if not state.text or not prefixes.goes_on(state):
        what = "no text of the language can follow the prompt so that its ids remain"
        ending = b"".join(map(tokens.bytes_of, ids[-1:].tolist()))
        raise PatternError(what, value=ending, hint="guide(..., prompt=ids, heal=True) gives the last ids back")
    return state


class Wanted(NamedTuple):
    """The wanted texts: a language, without what is banned; by default all texts."""

    language: str | TokenDFA | None = None
    without: ByteMachine | None = None

    def prefixes(
        self, tokens: Tokens, behind: bytes = b"", opening: Opening = "start", *, hides_space: bool = True
    ) -> PrefixAutomaton:
        """Return the prefix automaton of these texts, with some bytes before each."""
        if self.language is None and self.without is None and not behind:
            return prefixes_of(tokens)
        texts = texts_of(tokens, self.language, self.without, behind=behind, opening=opening, hides_space=hides_space)
        return prefixes_of(tokens, texts)


class Start(NamedTuple):
    """Where a stream begins."""

    prefixes: PrefixAutomaton
    state: State
    kept: Int32Array  # The ids of the prompt that remain
    given_back: bytes  # The text of the others
    n_behind: int  # The number of bytes before the wanted texts, with those given back


def start_of(
    tokens: Tokens, wanted: Wanted, prompt: npt.ArrayLike | None, *, heal: bool = False, behind: bytes = b""
) -> Start:
    """Return where a stream begins after a prompt; some of its last ids may be given back.

    The wanted texts come after the bytes of `behind`, which follow the prompt.
    """
    ids = _checked(tokens, prompt)
    states = _states_after(tokens, ids)
    n_kept = _n_settled(tokens, ids, states) if heal else len(ids)
    given_back = b"".join(map(tokens.bytes_of, ids[n_kept:].tolist()))
    opening = _opening(tokens, ids[:n_kept], states[n_kept], given_back)
    text = given_back + behind
    # The space is put before any text but that of a special token.
    shows_space = len(given_back) > 0 and not tokens.special[ids[n_kept]]
    if text and opening in tokens.starts and not shows_space:
        text = b" " + text
    # Decoding removes it at the beginning of the text, but shows it after a special token that takes it.
    hides_space = not shows_space or opening == prefixes_of(tokens).initial.text
    prefixes = wanted.prefixes(tokens, text, opening, hides_space=hides_space)
    state = _begun(prefixes, states[n_kept], opening)
    start = Start(prefixes, state, ids[:n_kept], given_back, len(text))
    if not prefixes.goes_on(start.state):
        raise _refusal(tokens, wanted, behind, has_prompt=len(ids) > 0, heal=heal)
    for id in ids[n_kept:].tolist():
        # An id remains as long as nothing else can be in its place.
        only = np.zeros(-(-tokens.n_ids // 32), dtype=np.uint32)
        only[id >> 5] = 1 << (id & 31)
        target = prefixes.target(start.state, id)
        if target is None or not (prefixes.mask(start.state) == only).all():
            break
        n_kept += 1
        given_back = start.given_back[len(tokens.bytes_of(id)) :]
        start = start._replace(state=target, kept=ids[:n_kept], given_back=given_back)
    start.kept.setflags(write=False)
    return start


def _begun(prefixes: PrefixAutomaton, state: State, opening: Opening) -> State:
    """Return the state in which the wanted texts begin, given that of the automaton of all texts."""
    if prefixes is prefixes_of(prefixes.tokens):
        # It knows how a text has begun.
        return state
    return state._replace(text=prefixes.texts.begin(opening))


def _refusal(tokens: Tokens, wanted: Wanted, begins: bytes, *, has_prompt: bool, heal: bool) -> PatternError:
    """Return the error for texts that cannot be encoded, or cannot follow the prompt; covers know how these begin."""
    hint, texts = None, "no text that begins so" if begins else "no text of the language"
    what = f"{texts} can be encoded: all need symbols without a token, or are not UTF-8"
    if has_prompt:
        what = f"{texts} can follow the prompt" + " so that its ids remain" * (not heal)
        hint = None if heal or begins else "heal=True gives the last ids back"
    elif wanted.without is not None:
        what = "every text of the language has what is banned, needs symbols without a token, or is not UTF-8"
    what += "" if tokens.form is None else f"; texts that are not in {tokens.form} cannot be encoded unchanged"
    if wanted.language is None and not begins:
        return PatternError(what, hint=hint)
    return PatternError(what, value=begins if wanted.language is None else wanted.language, hint=hint)


def _checked(tokens: Tokens, prompt: npt.ArrayLike | None) -> Int32Array:
    """Return the ids of a prompt, int32[ids]; unknown ones are refused."""
    if prompt is None:
        return np.zeros(0, dtype=np.int32)
    return checked_ids(id_array(prompt), tokens.n_ids).astype(np.int32)


def _states_after(tokens: Tokens, ids: Int32Array) -> list[State]:
    """Return the states of the automaton of all texts before the first id, and after each."""
    every = prefixes_of(tokens)
    # A text that must begin with a space after a special token is known to the automaton.
    is_anew = tokens.beginnings.after_special != "with space"
    states = [every.initial]
    for index, id in enumerate(ids.tolist()):
        target = every.step(states[-1], id)
        if is_anew and tokens.restarts[id] and target is not None:
            # The text after a special token begins anew.
            target = every.initial
        if target is None:
            what, hint = "the prompt is not canonical from this id on", "validate says what is right there"
            raise TokenStreamError(what, value=id, where=f"token {index} of the prompt", hint=hint)
        states.append(target)
    return states


def _n_settled(tokens: Tokens, ids: Int32Array, states: list[State]) -> int:
    """Return the number of first ids that remain whatever text follows; it may be less than there are.

    The text after a special token is encoded as if it were alone, unless a longer token may be found instead.
    """
    firm = [0, *(at for at, id in enumerate(ids.tolist(), 1) if tokens.special[id] and not states[at].spelled)]
    text = b"".join(map(tokens.bytes_of, ids[firm[-1] :].tolist()))
    return firm[-1] + len(tokens.tokenizer.later.stream().feed(text))


def _opening(tokens: Tokens, ids: Int32Array, last: State, given_back: bytes) -> Opening:
    """Return where texts begin after the ids of a prompt, given the state after them, and the bytes given back."""
    if len(ids) and tokens.restarts[ids[-1]] and not given_back:
        return prefixes_of(tokens).initial.text
    # The space after a special token remains when it is decoded, so another one may follow.
    return last.text
