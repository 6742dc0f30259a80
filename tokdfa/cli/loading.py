"""The options that say how the argument TOK is loaded, and loading it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypedDict, cast

import click

from tokdfa.cli.output import (
    format_option,
    lowercase_option,
    pretokenizer_option,
    remark,
    specials_option,
    unicode_option,
)

if TYPE_CHECKING:
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

    return pretokenizer_option(specials_option(unicode_option(format_option(lowercase_option(with_loading)))))


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
