"""Tokenizer files of every format, and live objects. Untrusted bytes stop here: none are ever unpickled or run.

`read` below takes a path or an object. `reading` has the table of formats: how each is recognised in a folder and by
its content, and its reader. `live` recognises objects of other libraries by their attributes (with
`live_object`, `live_sentencepiece`, and for tokenizers in Python `live_merging`, GPT-2's byte pairs, `live_clip`, and
`live_wordpiece`, BERT's words). The readers are
`tokenizer_json` (byte pairs; `unigram`, `wordpiece` and `by_piece` for others), `tiktoken` (with those by name in
`tiktoken_encodings`), `tekken`, `sentencepiece`, `rwkv`, `merges`, `vocabulary` (vocab.json and merges.txt),
`wordpiece` (vocab.txt) and `gguf` (with `gguf_head`, the container, `gguf_tokens`, and `gguf_unigram` for such models).
Each returns the same shape, `contents`, or raises: FileFormatError if the file is malformed, with the line or the JSON
path, and UnsupportedFeatureError if it asks for something that is not modelled exactly.

Shared: `files` (their content), `json_text` (strict JSON with paths, and numbers as serde_json reads them), `written`
(the vocabulary and the rules as written, found in compiled code), `top_level` (the parts of a tokenizer.json around its
model), `text_steps` (its normalizer, pre-tokenizer and decoder), `ranks` (rules out of ranked or scored words), `lint`
(oddities of a file), `charsmap` (SentencePiece's table of characters), `checked_dictionary` (dictionaries and alphabets
that are not checked again). The way back, from a tokenizer to a file, is in `writers`.

Used by: `tokenizers.loading`.

Cost: one pass over the file; files over 256 MB are refused. Of a GGUF file only the head is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from tokdfa.tokenizers.formats.contents import AnyContents
from tokdfa.tokenizers.formats.reading import FORMATS, check_format, find, read_as

__all__ = ["FORMATS", "read"]


def read(
    source: Any, format: str | None = None, *, specials: Mapping[str, int] | str | Path | None = None
) -> AnyContents:
    """Read a tokenizer file, or the tokenizer in a folder, or an object that is one.

    In a folder ``tokenizer.json`` comes first, then ``tekken.json``, ``tokenizer.model``, ``tiktoken.model``,
    ``spiece.model``, ``vocab.json`` with ``merges.txt``, a single ``.tiktoken`` file, ``merges.txt`` alone, and
    ``vocab.txt``.

    `source` is a path or, if there is nothing there, the name of an encoding, see
    :func:`~tokdfa.tokenizers.formats.tiktoken.read_by_name`; or one of the objects that :func:`tokdfa.load` takes,
    which also describes `specials` and the errors. `format` is one of `FORMATS`, detected from content and name by
    default. MissingFileError is raised if neither a file nor an encoding of this name is on this machine; the hint
    suggests a name, or how to get it. Files larger than 256 MiB, unpacked, are refused (LimitExceededError).
    """
    check_format(format)
    if not isinstance(source, (str, PathLike)):
        from tokdfa.tokenizers.formats.live import read_object

        contents = read_object(source, format)
    elif not str(source) or not Path(source).exists():  # The path of no characters is not the folder `.`.
        from tokdfa.tokenizers.formats.tiktoken import read_by_name

        contents = read_by_name(str(source), format)
    else:
        contents = read_as(*find(Path(source), format))
    if specials is None:
        return contents
    from tokdfa.tokenizers.formats.tiktoken import with_specials

    return with_specials(contents, specials)
