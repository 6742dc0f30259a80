"""The options that say how the argument TOK is loaded, and loading it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar, cast

import click

from tokdfa.base.errors import LimitExceededError
from tokdfa.cli import options
from tokdfa.cli.output import remark

if TYPE_CHECKING:
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer

_LOADED = "tokdfa.cli.loading"


class Loading(TypedDict):
    """The keywords of :func:`tokdfa.load`, as they are given on the command line."""

    pretokenizer: str | None
    specials: str | None
    unicode: str | None
    format: str | None
    lowercase: bool | None


def tokenizer_options(run: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a tokenizer; it takes them as one argument, `loading`."""

    @wraps(run)
    def with_loading(
        *arguments: Any,
        pretokenizer: str | None,
        specials: str | None,
        unicode: str | None,
        format_name: str | None,
        lowercase: bool | None,
        **others: Any,
    ) -> int:
        loading = Loading(
            pretokenizer=pretokenizer, specials=specials, unicode=unicode, format=format_name, lowercase=lowercase
        )
        status = run(*arguments, loading=loading, **others)
        for tokenizer, tok in click.get_current_context().meta.get(_LOADED, ()):
            remark_unsplit(tokenizer, tok, pretokenizer)
        return status

    return options.pretokenizer(options.specials(options.unicode(options.format(options.lowercase(with_loading)))))


def of_both(shared: Mapping[Callable[..., Any], str]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return what gives a command some options twice: of A, and with -b of B; the words are its name there.

    The command takes them as `sides`, the values of A and of B by option. The options of A hold for B, too, unless it
    has its own.
    """

    def give(run: Callable[..., int]) -> Callable[..., int]:
        @wraps(run)
        def with_sides(*arguments: Any, **others: Any) -> int:
            of_a = {word: others.pop(name) for word, name in names.items()}
            own = {word: others.pop(f"{name}_b") for word, name in names.items()}
            of_b = {word: of_a[word] if value is None else value for word, value in own.items()}
            return run(*arguments, sides=(of_a, of_b), **others)

        names: dict[str, str] = {}
        for option, other in reversed([*shared.items()]):
            (known,) = option(lambda: None).__click_params__
            word = known.opts[0].removeprefix("--")
            names[word] = known.name
            help = f"The same for {other}, if it differs."
            click.option(f"--{word}-b", f"{known.name}_b", metavar=known.metavar, help=help)(with_sides)
            option(with_sides)
        return with_sides

    return give


def load_tokenizer(tok: str, loading: Loading) -> AnyTokenizer:
    """Load the argument TOK; once the command has answered, it is said on stderr if nothing splits the text."""
    from tokdfa.tokenizers.loading import load

    tokenizer = load(tok, **loading)
    click.get_current_context().meta.setdefault(_LOADED, []).append((tokenizer, tok))
    return tokenizer


def remark_unsplit(tokenizer: AnyTokenizer, path: str, given: str | None, option: str = "--pretokenizer") -> None:
    """Say on stderr that the whole text is one piece, if that is so because the file does not say how to split it.

    Nothing is said if a pre-tokenizer was given; `option` is the option that chooses one.
    """
    is_unsaid = tokenizer.pretokenizer is None and not cast("Tokenizer", tokenizer).contents.says_splitting
    if given is None and is_unsaid:
        remark(f"no pre-tokenizer in {path}: the whole text is one piece (choose one, such as {option} gpt2)")


F = TypeVar("F", bound=Callable[..., Any])
# The most transitions of an explicit token DFA to draw, or to measure the locality of; some seconds' worth.
_MAX_TRANSITIONS = 2_000_000


def automaton_options(command: F) -> F:
    """Add the options that choose the automaton; their values make a :class:`Folded`."""
    added = [
        click.argument("tok"),
        options.language,
        options.max_seconds,
        click.option("--rules", type=options.AtLeast(0), metavar="N", help="Use only the first N rules."),
        options.specials,
        options.format,
    ]
    for option in reversed(added):
        command = option(command)
    return command


def refuse_options(algorithm: str, **given: object) -> None:
    """Refuse options that were given but have no meaning for tokenizers of `algorithm`."""
    for name, value in given.items():
        if value not in (None, False, ()):
            raise click.BadParameter(f"cannot be used with a {algorithm} tokenizer such as TOK", param_hint=f"--{name}")


class Folded(NamedTuple):
    """A dictionary and, optionally, a regular language: together they define T^D(L)."""

    dictionary: Dictionary
    language: TokenDFA | None

    @classmethod
    def of(cls, dictionary: Dictionary, language: str | None, rules: int | None, max_seconds: float) -> Folded:
        """Return the first rules of a dictionary, refusing an improper one, and the language of a pattern."""
        from tokdfa.automata.lift import language as regular_language

        if rules is not None and rules > len(dictionary):
            raise click.BadParameter(f"there are only {len(dictionary):,} rules", param_hint="--rules")
        if rules is not None:
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
