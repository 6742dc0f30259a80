"""The hashes of the parts of a tokenizer, each in a form that depends on what it does."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import BoolArray, Uint64Array
from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.errors import LimitExceededError
from tokdfa.splitting.steps import Splitting
from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS
from tokdfa.tokenizers.splitting_form import automaton_form
from tokdfa.unicode.tables import content, library_of

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer
    from tokdfa.tokenizers.unigram import UnigramTokenizer
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

__all__ = ["parts_of_byte_pairs", "parts_of_unigram", "parts_of_wordpiece"]


def parts_of_byte_pairs(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the hashes of the parts of a byte pair tokenizer; see :class:`Fingerprint`."""
    rewriting, fallback, atoms, prefix = tokenizer.rewrites
    whole = sorted(tokenizer.token(number) for number in tokenizer.whole_piece_tokens.tolist())
    splitting = Splitting("tokenizers") if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
    form = automaton_form(splitting)
    normalizer = None if rewriting is None else rewriting.normalizer
    decoding = None if rewriting is None else rewriting.decoding
    drops = tokenizer.leaving_out is not None
    return {
        "dictionary": _hash(tokenizer.dictionary.alphabet.kind, whole, _dictionary(tokenizer)),
        "ids": _hash(_ids(tokenizer)),
        "pretokenizer": _hash(splitting, unicode_tables(splitting.table)) if form is None else _hash(form),
        "normalizer": _hash(None) if normalizer is None else _hash(normalizer, unicode_tables()),
        "symbols": _hash(fallback, sorted(set(atoms)), prefix, tokenizer.suffix, drops),
        "specials": _specials(tokenizer),
        "decoder": _hash(decoding, tokenizer.spells_bytes),
    }


def parts_of_wordpiece(tokenizer: WordPieceTokenizer) -> dict[str, str]:
    """Return the hashes of the parts of a WordPiece tokenizer; see :class:`Fingerprint`."""
    vocabulary = tokenizer.vocabulary
    entries = sorted(vocabulary.items())
    settings: tuple[object, ...] = (vocabulary.prefix, vocabulary.unknown, vocabulary.longest_word)
    if vocabulary.opening:
        settings += (vocabulary.opening,)
    known = unicode_tables(None if tokenizer.normalizer.library == "tokenizers" else tokenizer.normalizer.library)
    return {
        "dictionary": _hash("WordPiece", [entry for entry, _ in entries], settings),
        "ids": _hash([(entry, int(id)) for entry, id in entries]),
        "pretokenizer": _hash(tokenizer.pretokenizer, known),
        "normalizer": _hash(tokenizer.normalizer, known),
        "symbols": _hash(None),
        "specials": _specials(tokenizer),
        "decoder": _hash(tokenizer.cleanup, *([sorted(tokenizer.silent)] if tokenizer.silent else [])),
    }


def parts_of_unigram(tokenizer: UnigramTokenizer) -> dict[str, str]:
    """Return the hashes of the parts of a Unigram tokenizer; see :class:`Fingerprint`."""
    model, rewriting = tokenizer.model, tokenizer.rewriting
    ids = np.flatnonzero(model.is_found).tolist()
    rows = sorted((model.pieces[id], id, float(model.scores[id]).hex()) for id in ids)
    settings = (float(model.unknown_score).hex(), model.arithmetic, model.unknown is None)
    split = Splitting("tokenizers") if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
    byte_ids = None if model.byte_ids is None else list(model.byte_ids)
    return {
        "dictionary": _hash("Unigram", [(piece, score) for piece, _, score in rows], settings),
        "ids": _hash([(piece, id) for piece, id, _ in rows], list(tokenizer.token_strings)),
        "pretokenizer": _hash(split, tokenizer.spells_bytes, unicode_tables(split.table)),
        "normalizer": _hash(None) if rewriting.normalizer is None else _hash(rewriting.normalizer, unicode_tables()),
        "symbols": _hash(model.unknown, byte_ids),
        "specials": _specials(tokenizer),
        "decoder": _hash(rewriting.decoding),
    }


@cache
def unicode_tables(table: str | None = None) -> str:
    """Return the hash of what tokdfa knows of Unicode, which normalizers and others depend on.

    It is that of the newest tables, except for the library of `table`. The content of a table is hashed, not its name.
    """
    known = {name: name for name in ("normalization", "regex", "tiktoken", "tokenizers")}
    if table is not None:
        known[library_of(table)] = table
    return _hash([(name, content(of)) for name, of in known.items()])


def _specials(tokenizer: Tokenizer | UnigramTokenizer | WordPieceTokenizer) -> str:
    if not tokenizer.specials:
        return _hash(())
    # Those that strip white space or are single words depend on what is white space, or a word.
    known = "" if all(special.is_plain for special in tokenizer.specials) else unicode_tables()
    return _hash(tokenizer.finds_specials, sorted(map(ascii, tokenizer.specials)), known)


def _ids(tokenizer: Tokenizer) -> list[tuple[object, ...]]:
    """Return the tokens that have ids, in order, with these; not those whose id is that of a special token."""
    ids = tokenizer.token_to_id
    known: BoolArray = ids >= 0
    shadowed = known & (tokenizer.id_to_token[ids] != np.arange(len(ids)))
    is_merged = tokenizer.piece_ids.is_merged
    shadowed[: len(is_merged)] &= ~is_merged
    shadowed[tokenizer.whole_piece_tokens] = False
    numbers = np.flatnonzero(known & ~shadowed).tolist()
    text, offsets = tokenizer.spellings
    data, bounds = text.tobytes(), offsets.tolist()
    words: list[object] = [*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens]
    # The last tokens can be spelled like others, but only decoding knows them.
    n = len(words)
    rows = [
        (number >= n, words[number] if number < n else data[bounds[number] : bounds[number + 1]], int(ids[number]))
        for number in numbers
    ]
    return sorted(rows)


def _dictionary(tokenizer: Tokenizer) -> str:
    """Return the hash of what becomes of a piece."""
    dictionary = tokenizer.dictionary
    words = list(dictionary.alphabet)
    written = tokenizer.merges is not None or not dictionary.properness() or not agrees_with_leftmost(dictionary)
    if not written:
        try:
            return _rows(tokenizer)
        except LimitExceededError:
            pass
    merges = () if tokenizer.merges is None else tokenizer.merges
    arrays = [array.tolist() for array in (dictionary.left, dictionary.right, *merges)]
    is_leftmost = tokenizer.format in LEFTMOST_FORMATS
    return _hash(words, dictionary.alphabet.n_symbols, tokenizer.extra_tokens, arrays, is_leftmost)


def _rows(tokenizer: Tokenizer) -> str:
    """Return the hash of the live tokens, in order, each with the set of those that must not follow it."""
    words = list(tokenizer.dictionary.alphabet)
    dfa = tokenizer.dfa
    rows = dfa.rows
    n_live = dfa.n_live_tokens
    live = np.flatnonzero(dfa.birth >= 0).tolist()
    # The hash of a set is the sum of those of its members: intervals of positions are differences of running sums.
    sums = np.zeros((len(words) + 1, 4), dtype=np.uint64)
    hashes = [hashlib.sha256(ascii(words[token]).encode()).digest() for token in live]
    sums[dfa.position[live] + 1] = np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 4)
    sums = np.cumsum(sums, axis=0, dtype=np.uint64)
    # Dead tokens, which come last, are in every row and count for nothing.
    start, stop = np.minimum(rows.start, n_live), np.minimum(rows.stop, n_live)
    through: Uint64Array = np.zeros((len(start) + 1, 4), dtype=np.uint64)
    np.cumsum(sums[stop] - sums[start], axis=0, dtype=np.uint64, out=through[1:])
    of_row = through[rows.pointer[1:]] - through[rows.pointer[:-1]]
    order = sorted(live, key=words.__getitem__)
    return _hash([words[token] for token in order], of_row[rows.of_token[order]].astype("<u8").tobytes())


def _hash(*values: object) -> str:
    """Return the hash of values by how they are spelled in ASCII, which is the same in every version of Python."""
    digest = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else ascii(value).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
