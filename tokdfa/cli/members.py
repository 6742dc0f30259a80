"""What ``tokdfa info --language`` shows: the correct tokenizations of the texts that a pattern matches."""

from __future__ import annotations

from typing import Any

from tokdfa.cli.folded import Folded
from tokdfa.cli.output import say
from tokdfa.cli.tuning import DEFAULT, Tuning

__all__ = ["describe_members", "print_members"]

_LONGEST_COUNTED = 8
_LONGEST_SHOWN = 60


def describe_members(
    tok: str,
    pattern: str,
    specials: str | None,
    format_name: str | None,
    max_seconds: float,
    *,
    tuning: Tuning = DEFAULT,
) -> dict[str, Any]:
    """Return the fields of T^D(L): the size of its automaton, and the lengths and number of its members.

    Raises
    ------
    LimitExceededError
        If the automaton is too large to be explored.
    """
    from time import perf_counter

    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.automata.language import Language
    from tokdfa.automata.lift import tokenized_language
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.errors import LimitExceededError

    dictionary, language = Folded.load(tok, pattern, None, specials, format_name, max_seconds)
    assert language is not None
    dfa = CompactTokenDFA(dictionary)  # The same for all languages, so it is built before the clock starts.
    began = perf_counter()
    product = tokenized_language(dictionary, language, dfa=dfa)
    try:
        explicit = TokenDFA.from_automaton(
            product, dictionary.alphabet, max_transitions=tuning.max_explored_transitions
        )
    except LimitExceededError as error:
        raise LimitExceededError(error.what, value=pattern, hint="narrow the language") from None
    members = Language(explicit)
    seconds = perf_counter() - began
    longest = members.longest
    counted = _LONGEST_COUNTED if longest is None else min(longest, _LONGEST_COUNTED)
    shortest = next(iter(members), None)
    return {
        "path": tok,
        "rules": len(dictionary),
        "language": pattern,
        "states_of_language": language.n_states,
        "states": explicit.n_states,
        "states_minimal": explicit.minimize().n_states,
        "transitions": explicit.n_transitions,
        "empty": members.is_empty(),
        "finite": bool(members.finiteness()),
        "longest": None if longest == -1 else longest,
        "shortest": None if shortest is None else [_shown(word) for word in dictionary.alphabet.spell(shortest)],
        "counts": {length: members.count(length) for length in range(counted + 1)},
        "seconds": seconds,
    }


def _shown(word: Any) -> str:
    from tokdfa.alphabet import show

    return show(word)


def print_members(fields: dict[str, Any]) -> None:
    """Print the fields of :func:`describe_members` for people."""
    shortest = fields["shortest"]
    longest, of_language = fields["longest"], fields["states_of_language"]
    finite = f"yes, up to {longest} token{'s' * (longest != 1)}" if fields["finite"] else "no"
    rows = {
        "language": f"{fields['language']}: {of_language:,} state{'s' * (of_language != 1)} over symbols",
        "states": f"{fields['states']:,}, {fields['states_minimal']:,} in the minimal automaton",
        "transitions": f"{fields['transitions']:,}",
        "empty": "yes" if fields["empty"] else "no",
        "finite": "yes" if fields["empty"] else finite,
    }
    if shortest is not None:
        rows["shortest"] = ("≀".join(shortest) or "the empty text")[:_LONGEST_SHOWN]
    for name, value in rows.items():
        say(f"{name:<13}{value}")
    for length, count in fields["counts"].items():
        if count:
            heading = "members" if length == min(k for k, n in fields["counts"].items() if n) else ""
            say(f"{heading:<13}{count:,} of {length} token{'s' * (length != 1)}")
