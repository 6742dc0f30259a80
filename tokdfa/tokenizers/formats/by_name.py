"""Tokenizers that are not a path: encodings of tiktoken by name, or an error that says what was meant."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from tokdfa.errors import MissingFileError
from tokdfa.guesses import names_beside, nearest
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.encodings import ENCODINGS, encoding_of_model, how_to_get, published_file
from tokdfa.tokenizers.formats.specials import specials_of
from tokdfa.tokenizers.formats.tiktoken import read_tiktoken

__all__ = ["read_by_name", "read_encoding"]


def read_encoding(name: str) -> Contents | None:
    """Return the contents of an encoding as tiktoken has it, its pre-tokenizer included; None if no file is here."""
    found = published_file(name)
    if found is None:
        return None
    # Several encodings have the same ranks, and differ in their specials.
    path, data = found
    return replace(read_tiktoken(data, path), specials=specials_of(ENCODINGS[name].specials, name))


def read_by_name(path: str | Path, format: str | None = None) -> Contents:
    """Return the contents of the encoding of tiktoken that a path with nothing there names.

    Raises
    ------
    MissingFileError
        If it names none, or one whose file is not on this machine; the error says what was meant, or how to get it.
    """
    name = str(path)
    if name in ENCODINGS and format in (None, "tiktoken"):
        if (contents := read_encoding(name)) is not None:
            return contents
        raise MissingFileError(
            "no such file or folder; it is the name of an encoding whose file is not on this machine",
            where=name,
            hint=f"this command gets it: {how_to_get(name)}",
        )
    raise MissingFileError("no such file or folder", where=name, hint=_hint(Path(path), name))


def _hint(path: Path, name: str) -> str:
    if path.name == name:
        if (encoding := encoding_of_model(name)) is not None:
            return f"the models {name} use the encoding {encoding}: give that name"
        if (near := nearest(name, [*names_beside(path), *ENCODINGS])) is not None:
            return f"did you mean {near}?"
    elif (near := nearest(path.name, names_beside(path))) is not None:
        return f"did you mean {path.with_name(near)}?"
    elif re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII) and not path.parent.exists():
        return _hub_hint(name)
    elif not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    return (
        "give the path of a tokenizer.json, tekken.json, .model, .gguf, .tiktoken, merges.txt or vocab.txt file, of a "
        f"folder with one, or one of {', '.join(ENCODINGS)}"
    )


def _hub_hint(name: str) -> str:
    """Return where the tokenizer of a model on the Hugging Face hub is in the hub's cache, or how to get it."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface"))
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    found = sorted(cache.glob(f"models--{name.replace('/', '--')}/snapshots/*/tokenizer.json"))
    if found:
        return f"names of models are not looked up; its tokenizer is here: {found[-1]}"
    return (
        "names of models are not looked up; if this is one of the Hugging Face hub, "
        f"hf download {name} tokenizer.json prints the path of its tokenizer"
    )
