"""Options and limits shared by the commands that show explicit automata."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from tokdfa.base.errors import LimitExceededError
from tokdfa.cli.output import format_option, seconds_option, specials_option

if TYPE_CHECKING:
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.automata.token_dfa import TokenDFA

F = TypeVar("F", bound=Callable[..., Any])
# The transitions of an explicit token DFA that is drawn or whose locality is measured, some seconds' worth.
_MAX_TRANSITIONS = 2_000_000


def automaton_options(command: F) -> F:
    """Add the options that choose the automaton; their values make a :class:`Folded`."""
    options = [
        click.argument("tok"),
        click.option("--language", metavar="REGEX", help="Only the tokenizations of the texts that REGEX matches."),
        seconds_option,
        click.option("--rules", type=click.IntRange(min=0), metavar="N", help="Use only the first N rules."),
        specials_option,
        format_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def refuse_options(algorithm: str, **options: object) -> None:
    """Refuse options that were given but have no meaning for tokenizers of `algorithm`."""
    for name, value in options.items():
        if value not in (None, False, ()):
            raise click.BadParameter(f"cannot be used with a {algorithm} tokenizer such as TOK", param_hint=f"--{name}")


class Folded(NamedTuple):
    """A dictionary and, optionally, a regular language: together they define T^D(L)."""

    dictionary: Dictionary
    language: TokenDFA | None

    @classmethod
    def of(cls, dictionary: Dictionary, language: str | None, rules: int | None, max_seconds: float) -> Folded:
        """Return the first rules of a dictionary, refusing an improper one, and the language of a pattern."""
        from tokdfa.automata.regex import language as regular_language

        if rules is not None and rules < len(dictionary):
            dictionary = dictionary.prefix(rules)
        dictionary.require_proper()
        if language is None:
            return cls(dictionary, None)
        return cls(dictionary, regular_language(language, dictionary, max_seconds=max_seconds))

    @property
    def most_states(self) -> int:
        """The number of states that Algorithm 2 builds: exactly that for Σ*, at most that for other languages.

        *Constructing a BPE Tokenization DFA*, Theorem 2.
        """
        from tokdfa.automata.locality import dloc

        if self.language is None:
            return 1 + len(self.dictionary.live_rules)
        return self.language.n_states + len(self.dictionary) * dloc(self.language, 1).degree

    def token_dfa(self, *, max_transitions: int = _MAX_TRANSITIONS) -> TokenDFA:
        """Build the automaton as Algorithm 2 does, within the budget of a command."""
        from tokdfa.automata.fold import token_dfa

        try:
            return token_dfa(self.dictionary, self.language, max_transitions=max_transitions)
        except LimitExceededError as error:
            what = f"{error.what}, and up to {self.most_states:,} states"
            raise LimitExceededError(what, hint="use only the first rules, with --rules N") from None
