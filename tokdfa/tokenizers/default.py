"""The embedded dictionary: plain data, so that a real one is always at hand."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from tokdfa.dictionary import Dictionary
from tokdfa.tokenizers.formats.merges import read_merges
from tokdfa.tokenizers.loading import load_byte_pairs
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["default_dictionary", "default_tokenizer"]


@cache
def default_dictionary() -> Dictionary:
    """Return the byte pair dictionary that comes with tokdfa: 3,840 rules over bytes, trained on English books.

    Returns
    -------
    Dictionary
        Proper; every rule is live. It was trained on pieces split by GPT-2's pattern: see ``README.md`` by the file.

    Examples
    --------
    >>> len(tokdfa.default_dictionary()), str(tokdfa.default_dictionary()[0])
    (3840, ' ≀t')
    """
    resource = files(__package__).joinpath("data", "default.merges.txt")
    return read_merges(resource.read_bytes(), Path(str(resource)), bytewise=True).dictionary


@cache
def default_tokenizer() -> Tokenizer:
    """Return the tokenizer of the embedded dictionary, with text split by GPT-2's pattern.

    Returns
    -------
    Tokenizer
        The tokenizer that ``tokdfa.load`` makes from the file that ``tokdfa demo`` writes.

    Examples
    --------
    >>> tokdfa.default_tokenizer().encode("a single man").tolist()
    [64, 2513, 462]
    """
    with as_file(files(__package__).joinpath("data", "default.merges.txt")) as path:
        return load_byte_pairs(path, pretokenizer="gpt2")
