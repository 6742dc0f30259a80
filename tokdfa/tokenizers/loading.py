"""Loading a tokenizer of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokdfa.errors import UnsupportedFeatureError
from tokdfa.tokenizers.formats import read
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.tokenizer import Tokenizer, tokenizer_of

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoder import Decoder
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

__all__ = ["load", "load_decoder", "load_unsplit"]


def load(
    path: str | Path, *, pretokenizer: str | None = None, format: str | None = None
) -> Tokenizer | WordPieceTokenizer:
    """Load a tokenizer from a file or a folder.

    Parameters
    ----------
    path : str or Path
        A ``tokenizer.json``, ``tekken.json``, ``.model``, ``.tiktoken``, ``merges.txt`` or ``vocab.txt`` file, or a
        folder with one.
    pretokenizer : str, optional
        What cuts text into pieces: a name (gpt2, cl100k, o200k, llama3, qwen2, tekken, deepseek), a pattern, or
        "none". By default what the file says, and nothing where it says nothing. A WordPiece tokenizer has its own.
    format : str, optional
        One of :data:`tokdfa.tokenizers.formats.FORMATS`; detected by default.

    Returns
    -------
    Tokenizer or WordPieceTokenizer
        A byte pair tokenizer, or one that takes the longest match.

    Raises
    ------
    FileFormatError
        If the file is not what it claims to be; says where.
    UnsupportedFeatureError
        If it asks for what is not modelled exactly.
    PatternError
        If the pattern cannot be read.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> tokenizer = tokdfa.load("gpt2/")  # doctest: +SKIP
    >>> tokenizer.encode("Akita")  # doctest: +SKIP
    array([33901,  5350], dtype=int32)
    """
    contents = read(path, format)
    if isinstance(contents, Contents):
        return tokenizer_of(contents, pretokenizer)
    if pretokenizer is not None:
        raise UnsupportedFeatureError(
            "WordPiece is modelled behind BERT's pre-tokenizer only", value=pretokenizer, where=str(path)
        )
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

    return WordPieceTokenizer(contents)


def load_unsplit(path: str | Path, *, format: str | None = None) -> Tokenizer | WordPieceTokenizer:
    """Load a tokenizer for what its ids spell, whatever cuts its texts into pieces; see :func:`load`.

    A byte pair tokenizer comes without pre-tokenizer, which takes time to build and has no say in what ids spell.
    """
    contents = read(path, format)
    if isinstance(contents, Contents):
        return tokenizer_of(contents, "none")
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

    return WordPieceTokenizer(contents)


def load_decoder(path: str | Path, *, format: str | None = None) -> Decoder:
    """Load what spells the ids of a tokenizer; see :func:`load_unsplit`."""
    return load_unsplit(path, format=format).decoder
