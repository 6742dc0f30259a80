"""Trained dictionaries as files that other libraries load."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.atomic import write_atomically, write_together
from tokdfa.base.errors import TrainingError, UnsupportedFeatureError
from tokdfa.regex.unicode.utf8 import GPT2_ORDER
from tokdfa.tokenizers.formats.writers.merges_txt import merges_lines
from tokdfa.tokenizers.formats.writers.rank_file import rank_lines
from tokdfa.tokenizers.formats.writers.text_steps import decoder_fields, pre_tokenizer_fields
from tokdfa.tokenizers.formats.writers.tokenizer_json import byte_pair_fields, tokenizer_json
from tokdfa.tokenizers.formats.writers.vocabulary import spelled
from tokdfa.tokenizers.pretokenizers.steps import NAMED, WHITESPACE_SPLIT, Splitting


def write_dictionary(
    dictionary: Dictionary, path: str | Path, *, pretokenizer: str = "none", suffix: str | None = None
) -> list[Path]:
    """Write a dictionary; :meth:`Dictionary.save` is this function.

    The name determines the format: ``….txt`` is a merges.txt, ``….json`` a tokenizer.json, and ``….tiktoken`` a rank
    file. A name without an ending is a folder with merges.txt, vocab.json and, if possible, tokenizer.json. Ids number
    the symbols first, bytes in the order of GPT-2's byte alphabet, and then the products in the order of the rules.

    Parameters
    ----------
    dictionary : Dictionary
        A dictionary as the trainers return it: proper, with no token made twice. A merges.txt holds any rules.
    path : str or Path
    pretokenizer : str
        The name of the pre-tokenizer with which it was trained, for tokenizer.json; the other files hold none.
    suffix : str, optional
        The ending of the last symbol of a piece, such as ``</w>``.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    TrainingError, OSError
        If the format cannot hold the dictionary, or is unknown; if a file cannot be written.
    """
    path = Path(path)
    render = check_output(path, dictionary.alphabet.kind, pretokenizer, suffix)
    n_symbols = dictionary.alphabet.n_symbols
    if render is not _merges_txt and not np.array_equal(dictionary.product, n_symbols + np.arange(len(dictionary))):
        raise TrainingError(
            "ids number the products in the order of the rules, and here a rule uses a token before it is made, or "
            "makes one again",
            where=str(path),
            hint="write a .txt file, which has no ids",
        )
    if render is not None:
        write_atomically(path, render(dictionary))
        return [path]
    vocabulary = json.dumps(_vocabulary(dictionary), ensure_ascii=False).encode()
    contents = {"merges.txt": _merges_txt(dictionary), "vocab.json": vocabulary}
    if _tokenizer_json_fault(dictionary.alphabet.kind, pretokenizer, suffix) is None:
        contents["tokenizer.json"] = _tokenizer_json(dictionary, pretokenizer, suffix)
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        write_together({path / name: data for name, data in contents.items()})
    except OSError:
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    return [path / name for name in contents]


def check_output(
    path: str | Path, kind: str, pretokenizer: str, suffix: str | None = None
) -> Callable[[Dictionary], bytes] | None:
    """Return the function that renders the format given by the name of a file, None for a folder.

    A TrainingError says that the format cannot hold a dictionary of that kind, or is unknown.
    """
    path = Path(path)
    is_folder = path.is_dir() or path.suffix == ""
    if is_folder and path.exists() and not path.is_dir():
        raise TrainingError("a folder should be written here, but there is a file", value=str(path))
    if not is_folder and not path.parent.is_dir():
        raise TrainingError("no such folder", value=str(path.parent))
    # Checked before hours of training. A file is replaced in its folder; devices are written to directly.
    target = Path(os.path.realpath(path))
    folder = next(path for path in ((target, *target.parents) if is_folder else target.parents) if path.exists())
    if (is_folder or target.is_file() or not target.exists()) and not os.access(folder, os.W_OK):
        raise TrainingError("this folder cannot be written to", value=str(folder))
    if is_folder:
        return None
    if path.suffix == ".txt":
        return _merges_txt
    if path.suffix == ".tiktoken":
        if kind != "bytes":
            raise TrainingError("a .tiktoken file can hold only dictionaries over bytes", where=str(path))
        return _tiktoken
    if path.suffix == ".json":
        if fault := _tokenizer_json_fault(kind, pretokenizer, suffix):
            raise TrainingError(fault, where=str(path), hint="write a .txt file or a folder")
        return lambda dictionary: _tokenizer_json(dictionary, pretokenizer, suffix)
    hint = "write merges.txt, tokenizer.json, a name ending in .tiktoken, or a folder"
    raise TrainingError("no output format has this suffix", value=path.suffix, where=str(path), hint=hint)


def _ids(dictionary: Dictionary) -> list[Word]:
    """Return the tokens in the order of their ids."""
    words = list(dictionary.alphabet)
    if dictionary.alphabet.kind == "bytes":
        known = dictionary.alphabet.symbols
        in_order = [word for byte in GPT2_ORDER if (word := bytes([byte])) in known]
        return [*in_order, *words[len(known) :]]
    return words


def _rules(dictionary: Dictionary) -> list[tuple[str, str]]:
    return [(spelled(left), spelled(right)) for left, right in dictionary]


def _merges_txt(dictionary: Dictionary) -> bytes:
    try:
        return merges_lines(_rules(dictionary))
    except UnsupportedFeatureError as error:
        hint = "train over bytes, or with the pre-tokenizer whitespace, or write a tokenizer.json"
        raise TrainingError(error.what, value=error.value, where=error.where, hint=hint) from None


def _vocabulary(dictionary: Dictionary) -> dict[str, int]:
    return {spelled(word): number for number, word in enumerate(_ids(dictionary))}


def _tiktoken(dictionary: Dictionary) -> bytes:
    return rank_lines({word: rank for rank, word in enumerate(cast("list[bytes]", _ids(dictionary)))})


def _tokenizer_json_fault(kind: str, pretokenizer: str, suffix: str | None) -> str | None:
    """Return why a tokenizer.json is impossible, or None."""
    if kind == "symbols" and suffix is None:
        return "tokenizers has no symbols of several characters"
    if pretokenizer not in ("none", "whitespace", *NAMED):
        return "a tokenizer.json needs a named pre-tokenizer, because tokenizers may read other patterns differently"
    if suffix is not None and pretokenizer != "whitespace":
        return "tokenizers decodes suffixes as spaces, so the pre-tokenizer must be whitespace"
    return None


_UNNAMED = {"none": Splitting("tokenizers"), "whitespace": Splitting("tokenizers", (WHITESPACE_SPLIT,))}


def _tokenizer_json(dictionary: Dictionary, pretokenizer: str, suffix: str | None) -> bytes:
    is_bytewise = dictionary.alphabet.kind == "bytes"
    splitting = _UNNAMED[pretokenizer] if pretokenizer in _UNNAMED else NAMED[pretokenizer]
    return tokenizer_json(
        byte_pair_fields(_vocabulary(dictionary), _rules(dictionary), end_of_word_suffix=suffix),
        pre_tokenizer=pre_tokenizer_fields(splitting, is_bytewise=is_bytewise),
        decoder=decoder_fields(None, is_bytewise=is_bytewise, suffix=suffix),
    )
