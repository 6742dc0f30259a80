"""Tokenizer files of every format, and live objects. Untrusted bytes stop here: none are ever unpickled or run.

`read` below has three steps. `files` finds the file in a folder and determines its format; `live` does so for objects
of other libraries, by their attributes (`live_merges` reads these, and objects that merge in Python). `reading` then
calls the format's module: `tokenizer_json`, `tiktoken` (with Tekken, and with the names of its `encodings`),
`sentencepiece`, `merges`, `vocabulary` (vocab.json next to merges.txt), `unigram`, `wordpiece` or `gguf` (with
`gguf_head`, the container, and `gguf_tokens`, the types of tokens). Each returns the same shape, `contents`, or raises:
FileFormatError if the file is malformed, with the line or the JSON path, and UnsupportedFeatureError if it asks for
something that is not modelled exactly.

Shared: `json_text` (strict JSON with places, and numbers as serde_json reads them), `plain_sentencepiece` (the large
parts of a file, in compiled code), `written` (the vocabulary and the rules as written, also in compiled code),
`text_steps` (the components of a tokenizer.json), `left_out` (its parts that are read and not applied), `ranks` (rules
out of ranked or scored words), `lint` (oddities of a file), `charsmap` (SentencePiece's table of characters),
`checked_dictionary` (dictionaries and alphabets that are not checked again), `versioned` (a file with another version
of its library).

Used by: `tokenizers.loading`.

Cost: one pass over the file; files over 256 MB are refused. Of a GGUF file only the head is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokdfa.tokenizers.formats.files import FORMATS, check_format, find
from tokdfa.tokenizers.formats.reading import read_as

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.files import AnyContents

__all__ = ["FORMATS", "read"]


def read(
    source: Any, format: str | None = None, *, specials: Mapping[str, int] | str | Path | None = None
) -> AnyContents:
    """Read a tokenizer file, or the tokenizer in a folder, or an object that is one.

    In a folder ``tokenizer.json`` comes first, then ``tekken.json``, ``tokenizer.model``, ``tiktoken.model``,
    ``spiece.model``, ``vocab.json`` with ``merges.txt``, a single ``.tiktoken`` file, ``merges.txt`` alone, and
    ``vocab.txt``.

    Parameters
    ----------
    source : str, Path or object
        A path; if there is nothing there, the name of an encoding, see
        :func:`~tokdfa.tokenizers.formats.tiktoken.read_by_name`. Or one of the objects that :func:`tokdfa.load` takes.
    format : str, optional
        One of `FORMATS`; detected from content and name by default.
    specials : dict, str or Path, optional
        The special tokens of a rank file; see :func:`tokdfa.load`.

    Raises
    ------
    MissingFileError
        If neither a file nor an encoding of this name is on this machine; the hint suggests a name, or how to get it.
    FileFormatError
        If the file is malformed, or no format is recognised; the error says where.
    UnsupportedFeatureError
        If it asks for something that is not modelled exactly.
    LimitExceededError
        If it is larger than 256 MiB, unpacked.
    WrongTypeError
        If the source is nothing that can be read.
    OSError
        If it cannot be read.
    """
    check_format(format)
    contents = _contents(source, format)
    if specials is None:
        return contents
    from tokdfa.tokenizers.formats.tiktoken import with_specials

    return with_specials(contents, specials)


def _contents(source: Any, format: str | None) -> AnyContents:
    if not isinstance(source, (str, PathLike)):
        from tokdfa.tokenizers.formats.live import read_object

        return read_object(source, format)
    path = Path(source)
    if not path.exists():
        from tokdfa.tokenizers.formats.tiktoken import read_by_name

        return read_by_name(str(source), format)
    return read_as(*find(path, format))
