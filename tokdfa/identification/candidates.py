"""The tokenizers to try: those of files, with each named pre-tokenizer where the file records none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tokdfa.arguments import wrong_argument
from tokdfa.splitting.named import NAMED
from tokdfa.tokenizers.formats import read
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.loading import load, tokenizer_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Choice", "choices"]

Tokenizers = Mapping[str, AnyTokenizer] | Iterable[str | Path]
_RECORDING = ("tokenizer.json", "sentencepiece")


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate: one tokenizer, or one for each pre-tokenizer that it may have.

    Attributes
    ----------
    name : str
    tokenizers : tuple of pairs of str or None and AnyTokenizer
        The tokenizers, each with the name of its pre-tokenizer if that is not recorded; the likeliest first.
    """

    name: str
    tokenizers: tuple[tuple[str | None, AnyTokenizer], ...]


def choices(tokenizers: Tokenizers, pretokenizer: str | None = None) -> list[Choice]:
    """Return the candidates.

    Parameters
    ----------
    tokenizers : dict of str to AnyTokenizer, or iterable of str or Path
        Tokenizers by name, or files of tokenizers.
    pretokenizer : str, optional
        What splits text, for files that do not record it; by default all named ones are tried.

    Raises
    ------
    FileFormatError, UnsupportedFeatureError, OSError
        As :func:`tokdfa.load` does.
    WrongTypeError
        If they are neither.
    """
    if isinstance(tokenizers, Mapping):
        for value in tokenizers.values():
            if not isinstance(value, AnyTokenizer):
                raise wrong_argument(value, "a tokenizer", "tokdfa.identify(path, {name: tokenizer})")
        return [Choice(str(name), ((None, tokenizer),)) for name, tokenizer in tokenizers.items()]
    if isinstance(tokenizers, (str, Path, AnyTokenizer)) or not isinstance(tokenizers, Iterable):
        raise wrong_argument(tokenizers, "a list of files", "tokdfa.identify(path, [file, other])")
    return [_choice(path, pretokenizer) for path in tokenizers]


def _choice(path: str | Path, pretokenizer: str | None) -> Choice:
    contents = read(path, None)
    is_recorded = not isinstance(contents, Contents) or contents.splitting is not None or contents.format in _RECORDING
    if is_recorded:
        return Choice(str(path), ((None, load(path)),))
    assert isinstance(contents, Contents)
    if pretokenizer is not None or contents.format == "tiktoken":
        return Choice(str(path), ((pretokenizer, tokenizer_of(contents, pretokenizer, where=str(path))),))
    return Choice(str(path), tuple((name, tokenizer_of(contents, name)) for name in NAMED))
