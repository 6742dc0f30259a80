"""Answers to names that do not exist: the name that tokdfa has for the same thing.

Users of other libraries write ``tokenizer.vocab_size`` or ``tokdfa.from_pretrained``. One thing has one name, so these
are errors; but the error says which name it is, from the table of suggestions, or gives the nearest one that exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tokdfa.base.errors import WrongTypeError

_MOST_NEIGHBOURS = 1000


@cache
def suggestions() -> dict[str, dict[str, str]]:
    """Return the suggestions for names that do not exist, by the name of a class, or of the package."""
    import json

    # The file has several names of one meaning together, with spaces between them. It is read when an error is shown.
    written = json.loads(Path(__file__).with_name("data").joinpath("suggestions.json").read_text(encoding="utf-8"))
    return {
        kind: {name: answer for names, answer in answers.items() for name in names.split()}
        for kind, answers in written.items()
    }


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of `names` that `name` was probably meant to be, or None if none is near."""
    from difflib import get_close_matches

    known = sorted({*names})
    plain = {other.lower().replace("-", "_"): other for other in known}
    found = get_close_matches(name.lower().replace("-", "_"), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


def names_beside(path: Path) -> list[str]:
    """Return the names in the folder of a path, at most a thousand; none if the folder cannot be read."""
    try:
        with os.scandir(path.parent) as entries:
            return [entry.name for entry, _ in zip(entries, range(_MOST_NEIGHBOURS), strict=False)]
    except (OSError, ValueError):
        return []


def iter_submodules(module: ModuleType) -> Iterator[str]:
    """Yield the names of the modules and packages in a package, whether they are imported or not."""
    from pkgutil import iter_modules

    return (found.name for found in iter_modules(module.__path__))


class UnknownNameError(AttributeError):
    """A name that a value or a module does not have; which one was meant is worked out when the error is shown."""

    def __init__(self, owner: object, name: str) -> None:
        # Without the attribute `obj`, Python adds no suggestion of its own.
        super().__init__(name=name)
        self._owner = owner

    def __str__(self) -> str:
        owner, name = self._owner, str(self.name)
        if isinstance(owner, ModuleType):
            if name in iter_submodules(owner) and name not in suggestions().get(owner.__name__, ()):
                return f"{owner.__name__}.{name} is not imported yet (use import {owner.__name__}.{name})"
            what, kinds = f"module '{owner.__name__}'", [owner.__name__]
        else:
            what, kinds = f"'{type(owner).__name__}' object", [kind.__name__ for kind in type(owner).__mro__]
        meant = suggestions()
        advice = next((meant[kind][name] for kind in kinds if name in meant.get(kind, ())), None)
        if advice is None:
            near = nearest(name, (known for known in dir(owner) if not known.startswith("_")))
            advice = None if near is None else f"did you mean {near}?"
        return f"{what} has no attribute {name!r}" + (f" ({advice})" if advice else "")

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


class SuggestsNames:
    """A base of classes that suggest names: the error about an unknown name suggests the right one."""

    __slots__ = ()

    # Hidden from type checkers, for which every name would exist.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Python comes here after a property has failed, too; then that error is the one to show.
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise UnknownNameError(self, name)


_LIBRARIES = frozenset(("tokenizers", "transformers", "tiktoken", "mistral_common", "sentencepiece"))


def is_tokenizer(value: object) -> bool:
    """Return whether a value is a tokenizer, for modules below the one of :class:`~tokdfa.AnyTokenizer`."""
    return hasattr(type(value), "decode_bytes") and hasattr(type(value), "round_trip")


def wrong_argument(value: object, wanted: str, call: str, *, swapped: bool = False) -> WrongTypeError:
    """Return the error about an argument of the wrong kind: `wanted` is the expected one, such as "a tokenizer".

    `call` is the call with the names of its arguments, in order; `swapped`, whether another argument is of that kind.
    """
    # The kinds are told by their names: their modules are above this one.
    libraries = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    kinds = {kind.__name__ for kind in type(value).__mro__}
    hint = f"the call is {call}"
    if swapped:
        hint = f"the order is {call}"
    elif "a tokenizer" in wanted and isinstance(value, (str, PathLike)):
        hint = "tokdfa.load(path) returns one"
    elif "a tokenizer" in wanted and libraries & _LIBRARIES:
        hint = "tokdfa.load(object) makes one of it"
    elif is_tokenizer(value) and "a dictionary" in wanted:
        hint = "use its dictionary: tokenizer.dictionary"
    elif "Dictionary" in kinds and "a tokenizer" in wanted:
        hint = "save(path) writes the dictionary, and tokdfa.load(path) makes a tokenizer of it"
    elif "Dictionary" in kinds and "a token DFA" in wanted:
        hint = "tokdfa.token_dfa(dictionary) returns one"
    elif "CompactTokenDFA" in kinds and "a token DFA" in wanted:
        hint = "its to_token_dfa() returns one"
    elif is_tokenizer(value) and "a token" in wanted:
        hint = "use tokenizer.dfa, or tokdfa.token_dfa(tokenizer.dictionary), which writes it out"
    elif "TokenDFA" in kinds and "a transducer" in wanted:
        hint = "tokdfa.Transducer.from_token_dfa(dfa) returns one"
    return WrongTypeError(f"{wanted} is expected, not {with_article(type(value).__name__)}", value=value, hint=hint)


def expect(value: object, kind: type | tuple[type, ...], wanted: str, call: str, *, swapped: bool = False) -> None:
    """Raise the error of :func:`wrong_argument` unless a value is of a kind."""
    if not isinstance(value, kind):
        raise wrong_argument(value, wanted, call, swapped=swapped)


def with_article(name: str) -> str:
    """Return the name of a type after its article, for messages."""
    return f"{'an' if name[0] in 'aeiouAEIOU' or name == 'ndarray' else 'a'} {name}"
