"""The description of a tokenizer and its merging in a certificate, and which tokenizers one can be about."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from tokdfa.base.arrays import running_sum
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.jobs.splices.encoding import SpecialsPolicy, with_specials
from tokdfa.kernels.merging.merging import derivations
from tokdfa.regex.unicode import version
from tokdfa.regex.unicode.versions import data_file
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.formats.reading import find
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

# The formats of files that the checker reads, by their names here.
_FORMATS = {"tiktoken": "ranks", "merges+vocab": "merges", "tokenizer.json": "tokenizer.json"}


class Side(NamedTuple):
    """A tokenizer of a certificate."""

    tokenizer: Tokenizer
    splitting: Splitting | None  # How it splits texts, in one step; None if it leaves them whole
    fields: dict[str, Any]  # Its description in the certificate


def side_of(given: AnyTokenizer, file: str | PathLike[str], specials: SpecialsPolicy | None = None) -> Side:
    """Return a tokenizer as a certificate describes it, with the file or folder that it was loaded from."""
    has_rules = given.why_not("rules") is None
    format = _FORMATS.get(given.format)
    if not has_rules or format is None:
        raise _unsupported("of this format", given.format if has_rules else given.algorithm)
    tokenizer = with_specials(cast(Tokenizer, given), specials)
    is_spelled = tokenizer.why_not("bytes") is None and tokenizer.why_not("spelling") is None
    if not is_spelled or tokenizer.suffix is not None:
        raise _unsupported("that change texts or are not over bytes", tokenizer.format)
    if odd_ones(tokenizer.found_specials):
        raise _unsupported("with special tokens that take white space or are whole words", tokenizer.format)
    splitting = _single_step(tokenizer)
    library = "tokenizers" if tokenizer.format != "tiktoken" else "tiktoken"
    if splitting is not None:
        library = splitting.library
    fields = {
        "format": format,
        "files": _hashes(Path(file), tokenizer.format),
        "pattern": None if splitting is None else splitting.steps[0].pattern,
        "library": library,
        "tables": None if splitting is None else _table(library),
        "whole_pieces": tokenizer.whole_piece,
        "specials": {special.content: special.id for special in tokenizer.found_specials},
    }
    return Side(tokenizer, splitting, fields)


def _unsupported(what: str, value: object) -> UnsupportedFeatureError:
    hint = "byte-level rank files, merges.txt with vocab.json, and tokenizer.json with at most one Split have them"
    return UnsupportedFeatureError(f"there are no certificates about tokenizers {what}", value=value, hint=hint)


def _single_step(tokenizer: Tokenizer) -> Splitting | None:
    if tokenizer.pretokenizer is None:
        return None
    splitting = tokenizer.pretokenizer.splitting
    added = (splitting.prefix_space, splitting.metaspace, *splitting.byte_steps)
    if len(splitting.steps) != 1 or any(value is not None for value in added):
        raise _unsupported("that split texts in several steps, or add spaces", splitting)
    (step,) = splitting.steps
    if step.behavior != "isolated" or step.invert or step.literal:
        raise _unsupported("with a split of this kind", step)
    if splitting.unicode is not None or splitting.library == "llama.cpp":
        raise _unsupported("with the character classes of this library", splitting.unicode or splitting.library)
    return splitting


def _table(library: str) -> dict[str, str]:
    return {"version": version(library), "sha256": hashlib.sha256(data_file(library).read_bytes()).hexdigest()}


def _hashes(given: Path, format: str) -> dict[str, str]:
    if not given.exists():
        raise _unsupported("that are not loaded from a file", str(given))
    data, path, _ = find(given, format)
    if path.read_bytes() != data:
        raise FileFormatError("a certificate needs a file that is not packed", where=str(path))
    digest = hashlib.sha256(data).hexdigest()
    if format == "merges+vocab":
        vocabulary = path.with_name("vocab.json").read_bytes()
        return {"merges": digest, "vocab": hashlib.sha256(vocabulary).hexdigest()}
    return {"ranks" if format == "tiktoken" else "json": digest}


Derived = list[tuple[bytes, int]]
"""Tokens in the order of the priorities of the pairs that make them, each with the length of the first of the pair."""


def derived_merges(tokenizer: Tokenizer) -> Derived:
    """Return the tokens that merging makes, in order, with the lengths of the first parts.

    Merging makes a token from one pair only: while a word is merged, the steps within the bytes of the token are the
    same as when these bytes are merged on their own. So there is one pair a token, with any rules.
    """
    words: list[Any] = [*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens]
    merger = tokenizer.piece_ids.merger
    symbols, lengths = tokenizer.piece_ids.symbols(words)
    last, _ = derivations(symbols, running_sum(lengths), merger.table)
    made = np.flatnonzero((last[:, 0] == 1) & (last[:, 1] >= 0))
    made = made[np.argsort(last[made, 3], kind="stable")]
    return [(words[token], len(words[left])) for token, left in zip(made.tolist(), last[made, 1].tolist(), strict=True)]


def merging_fields(derived: list[Derived]) -> list[list[Any]]:
    """Return the part of a certificate about merging, by one or two tokenizers."""
    for one, other in pairwise(derived):
        if one != other:
            different = [token for (token, _), mine in zip(one, other, strict=False) if mine[0] != token]
            what = "there is no certificate for tokenizers that merge in different steps, if with the same results"
            raise UnsupportedFeatureError(what, value=next(iter(different), None))
    return [[token.hex(), size] for token, size in derived[0]]
