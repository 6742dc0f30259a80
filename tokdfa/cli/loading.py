"""The options that say how the argument TOK is loaded."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypedDict

from tokdfa.cli.output import format_option, pretokenizer_option, specials_option, unicode_option

__all__ = ["Loading", "tokenizer_options"]


class Loading(TypedDict):
    """The keywords of :func:`tokdfa.load`, as they are given on the command line."""

    pretokenizer: str | None
    specials: str | None
    unicode: str | None
    format: str | None


def tokenizer_options(run: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of a tokenizer; it takes them as one argument, `loading`."""

    @wraps(run)
    def with_loading(
        *arguments: Any,
        pretokenizer: str | None,
        specials: str | None,
        unicode: str | None,
        format_name: str | None,
        **others: Any,
    ) -> int:
        loading = Loading(pretokenizer=pretokenizer, specials=specials, unicode=unicode, format=format_name)
        return run(*arguments, loading=loading, **others)

    return pretokenizer_option(specials_option(unicode_option(format_option(with_loading))))
