"""The error about an argument of another kind, such as ids where the tokenizer comes first."""

from __future__ import annotations

from os import PathLike

from tokdfa.base.errors import WrongTypeError

__all__ = ["is_tokenizer", "with_article", "wrong_argument"]

_LIBRARIES = frozenset(("tokenizers", "transformers", "tiktoken", "mistral_common", "sentencepiece"))


def is_tokenizer(value: object) -> bool:
    """Return whether a value is a tokenizer, for modules below that of :class:`~tokdfa.AnyTokenizer`."""
    return hasattr(type(value), "decode_bytes") and hasattr(type(value), "round_trip")


def wrong_argument(value: object, wanted: str, call: str, *, swapped: bool = False) -> WrongTypeError:
    """Return the error about an argument that is not what is wanted.

    Parameters
    ----------
    value : object
        The argument.
    wanted : str
        What it has to be: "a tokenizer", "a dictionary", "a token DFA", "a transducer", ….
    call : str
        The call with the names of its arguments, in order.
    swapped : bool
        Whether another argument is what is wanted here.
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


def with_article(name: str) -> str:
    """Return the name of a type after its article, for messages."""
    return f"{'an' if name[0] in 'aeiouAEIOU' or name == 'ndarray' else 'a'} {name}"
