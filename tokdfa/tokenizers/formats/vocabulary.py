"""Dictionaries from rules and a vocabulary, which maps spellings to ids, as in `tokenizers`."""

from __future__ import annotations

from collections.abc import Container
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from tokdfa.automata.alphabet import Word, iter_symbols
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, FileFormatError, UnsupportedFeatureError
from tokdfa.kernels.spelling.spell import read_letters
from tokdfa.regex.unicode.utf8 import BYTE_OF, LETTERS, is_spelled
from tokdfa.tokenizers.decoder import Spellings, gathered
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.checked_dictionary import number_bytes, number_spellings
from tokdfa.tokenizers.formats.contents import Contents, check_bytes, has_bytes
from tokdfa.tokenizers.formats.files import content
from tokdfa.tokenizers.formats.json_text import parse_object
from tokdfa.tokenizers.formats.merges import check_rules, check_suffix, last_of_equal, read_pairs, suffix_in, symbols_of
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary, check_vocabulary


def _rules(vocabulary: Vocabulary, pairs: Pairs, format: str, prefix: str = "") -> tuple[Pairs, Int32Array]:
    """Return the rules that count, as written, and as rows of left part, right part and product.

    The product lacks the `prefix` that the right part has. Of equal rules the last one counts, as in `tokenizers`; in a
    GGUF file they are an error.
    """
    if not pairs.n_rules:
        return pairs, np.empty((0, 3), dtype=np.int32)
    rules, n_found = vocabulary.table.find_rules(
        pairs.text, pairs.n_rules, pairs.inner, pairs.outer, len(prefix.encode())
    )
    if n_found < pairs.n_rules:
        rows = enumerate(zip(*pairs.columns, _products(pairs, prefix), strict=True))
        index, row = next((index, row) for index, row in rows if "" in row or not vocabulary.id_of.keys() >= {*row})
        part = next((part for part in row if part not in vocabulary.id_of), None)
        if part is None:
            raise pairs.fault("a rule with an empty part", index)
        what = f"the rule {row[0]} {row[1]} needs a token that is not in the vocabulary"
        raise FileFormatError(what, value=part, where=pairs.where(index))
    if format == "gguf":
        check_rules(pairs, rules[:, 0], rules[:, 1])
        return pairs, rules
    kept = last_of_equal(rules[:, 0], rules[:, 1])
    return (pairs, rules) if kept is None else (pairs.some(kept.tolist()), rules[kept])


def over_bytes(vocabulary: Vocabulary, pairs: Pairs, path: Path, format: str, *, whole_piece: bool = False) -> Contents:
    """Return the contents of a vocabulary that is written in GPT-2's byte alphabet.

    Tokens with other characters and the empty token are kept; no text has them among its tokens.
    """
    pairs, rules = _rules(vocabulary, pairs, format)
    text, offsets, foreign = read_letters(*vocabulary.words, 1, LETTERS)
    lengths = np.diff(offsets)
    is_foreign = foreign[rules].any(axis=1)
    if is_foreign.any():
        raise pairs.fault("the rule has a character outside GPT-2's byte alphabet", int(np.argmax(is_foreign)))
    # Provisional numbers: the bytes, then the longer words in the order of the vocabulary.
    long, single = np.flatnonzero(lengths > 1), np.flatnonzero(lengths == 1)
    number = np.full(len(lengths), -1, dtype=np.int32)
    number[single] = text[offsets[single]]
    number[long] = np.arange(256, 256 + len(long), dtype=np.int32)
    check_bytes(number[single].tolist(), path)
    numbering = number_bytes(gathered(Spellings(text, offsets), long), number[rules])
    ids = np.full(256 + len(long), -1, dtype=np.int32)
    order = np.concatenate((single, long))
    ids[numbering.number[number[order]]] = vocabulary.ids[order]
    unspelled = np.flatnonzero(lengths == 0)
    return Contents(
        format=format,
        dictionary=numbering.dictionary,
        extra=numbering.extra,
        foreign=tuple(vocabulary.spellings[index].encode() for index in unspelled.tolist()),
        ids=np.concatenate((ids, vocabulary.ids[unspelled])),
        whole_piece=whole_piece,
    )


def over_characters(
    vocabulary: Vocabulary,
    pairs: Pairs,
    format: str,
    *,
    prefix: str = "",
    suffix: str | None = None,
    whole_piece: bool = False,
    fallback: Fallback | None = None,
) -> Contents:
    """Return the contents of a vocabulary over characters.

    `prefix` is put before all symbols of a piece except the first, and `suffix` is appended to the last one. With
    `whole_piece` a piece that is a token is emitted without merging. `fallback` replaces symbols outside the
    vocabulary; the symbols that it names are in it.
    """
    atoms = set() if fallback is None else {fallback.unknown, *(fallback.bytes or ())}
    atoms = {atom for atom in atoms if atom is not None and len(atom) > 1}
    for index, part in enumerate(pairs.columns[1]) if prefix else ():
        if not part.startswith(prefix):
            what = f"the right part of a rule must begin with {prefix!r}"  # the library removes it
            raise UnsupportedFeatureError(what, value=part, where=pairs.where(index))
    pairs, rules = _rules(vocabulary, pairs, format, prefix)
    if not prefix and not suffix:
        numbered = _number_characters(vocabulary, rules, atoms)
        if numbered is not None:
            return Contents(format=format, **numbered, whole_piece=whole_piece, fallback=fallback)
    if suffix:
        check_suffix(pairs, suffix)

    def word_of(part: str) -> Word:
        if part in atoms:
            return (part,)
        if prefix:
            # Symbols have the prefix, except for the first one of a piece.
            inner = part.startswith(prefix) and len(part) > len(prefix)
            within = cast("str | tuple[str, ...]", symbols_of(part[len(prefix) :] if inner else part, suffix))
            return tuple(symbol if index == 0 and not inner else prefix + symbol for index, symbol in enumerate(within))
        word = symbols_of(part, suffix)
        return tuple(cast(str, word)) if atoms and not suffix else word

    left, right, made, spelled = (
        [*map(word_of, parts)] for parts in (*pairs.columns, _products(pairs, prefix), vocabulary.spellings)
    )
    for index, row in enumerate(zip(left, right, made, strict=True)):
        if row[0] + row[1] != row[2] or (atoms and not atoms.isdisjoint(map("".join, row))):  # type: ignore[operator,arg-type]
            what = "a rule with the token for unknown symbols, or whose product does not consist of its parts"
            raise pairs.fault(what, index)
    symbols = [word for word in spelled if len(word) == 1]
    try:
        dictionary = Dictionary(zip(left, right, strict=True), symbols)
    except AlphabetError as error:
        there = set(symbols)
        index = next(n for n, word in enumerate(made) if not there.issuperset(iter_symbols(word)))
        rule = " ".join(part[index] for part in pairs.columns)
        what = f"a rule with a symbol that is not in the vocabulary: {rule}"
        value = error.value if isinstance(error.value, str) else "".join(cast("tuple[str, ...]", error.value))
        raise UnsupportedFeatureError(what, value=value, where=pairs.where(index)) from None
    known = dictionary.alphabet
    extra = tuple(word for word in spelled if word not in known)
    id_of = dict(zip(spelled, vocabulary.ids.tolist(), strict=True))
    return Contents(
        format=format,
        dictionary=dictionary,
        extra=extra,
        ids=np.fromiter((id_of[word] for word in (*known, *extra)), dtype=np.int32, count=len(id_of)),
        prefix=prefix or None,
        suffix=suffix,
        whole_piece=whole_piece,
        fallback=fallback,
    )


def _number_characters(
    vocabulary: Vocabulary, rules: Int32Array, atoms: Container[str | None]
) -> dict[str, Any] | None:
    """Return dictionary, further tokens and ids of a vocabulary without affixes; None if the rules are wrong."""
    spellings = vocabulary.spellings
    is_character = np.fromiter(map(len, spellings), dtype=np.int64, count=len(spellings)) == 1
    is_atom = np.zeros(len(spellings), dtype=np.bool_)
    if atoms:
        is_atom[:] = [spelling in atoms for spelling in spellings]
    is_mentioned = np.zeros(len(spellings), dtype=np.bool_)
    is_mentioned[rules] = True
    known = {spellings[index] for index in np.flatnonzero(is_character).tolist()}
    mentioned = "".join(spellings[index] for index in np.flatnonzero(is_mentioned).tolist())
    if (is_atom & is_mentioned).any() or not known.issuperset(mentioned):
        return None
    is_symbol = is_character | is_atom
    # Provisional numbers: the symbols, then the other tokens, both in the order of the vocabulary.
    order = np.concatenate((np.flatnonzero(is_symbol), np.flatnonzero(~is_symbol)))
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    spelled = [spellings[index] for index in order.tolist()]
    kind: Literal["characters", "symbols"] = "symbols" if atoms else "characters"
    numbered = number_spellings(kind, spelled, number[rules], int(is_symbol.sum()))
    ids = vocabulary.ids[order[np.argsort(numbered.number)]]
    return {"dictionary": numbered.dictionary, "extra": numbered.extra, "ids": ids}


def _products(pairs: Pairs, prefix: str) -> list[str]:
    """Return the products of the rules, without the prefix of the right part."""
    return [left + right[len(prefix) :] for left, right in zip(*pairs.columns, strict=True)]


def read_vocabulary_and_merges(merges: bytes, path: Path) -> Contents:
    """Read a merges.txt with the vocab.json next to it; they name neither a pre-tokenizer nor special tokens.

    They are assumed to be written in GPT-2's byte alphabet if the rules use no other characters and all bytes of UTF-8
    have a token.
    """
    beside = path.with_name("vocab.json")
    vocabulary = check_vocabulary(parse_object(content(beside), beside).fields, f"{beside}, $")
    pairs = read_pairs(merges, path)
    bytes_there = (BYTE_OF[spelling] for spelling in vocabulary.spellings if spelling in BYTE_OF)
    if is_spelled("".join(chain(*pairs.columns))) and has_bytes(bytes_there):
        return over_bytes(vocabulary, pairs, beside, "merges+vocab")
    suffix = suffix_in(pairs)
    if suffix in vocabulary.spellings:
        what = "a mark of the end of a word that is itself a token"
        raise UnsupportedFeatureError(what, value=suffix, where=f"{beside}, $.{suffix}")
    return over_characters(vocabulary, pairs, "merges+vocab", suffix=suffix)
