"""Dictionaries from rules and a vocabulary, which maps spellings to ids, as in `tokenizers`."""

from __future__ import annotations

from collections.abc import Container
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
from tokdfa.tokenizers.formats.checked_dictionary import CheckedDictionary, SymbolTokens
from tokdfa.tokenizers.formats.contents import Contents, check_bytes, has_bytes, number_bytes, numbering
from tokdfa.tokenizers.formats.json_text import parse_object
from tokdfa.tokenizers.formats.merges import check_rules, check_suffix, read_pairs, suffix_in, symbols_of
from tokdfa.tokenizers.formats.written import Pairs, Vocabulary, check_vocabulary


def _rules(vocabulary: Vocabulary, pairs: Pairs, prefix: str | None = None) -> Int32Array:
    """Return rows of left part, right part and product; the product lacks the `prefix` that the right part has."""
    rules: Int32Array = np.empty((0, 3), dtype=np.int32)
    if not len(pairs):
        return rules
    rules, n_found = vocabulary.table.find_rules(
        pairs.text, len(pairs), pairs.inner, pairs.outer, len((prefix or "").encode())
    )
    if n_found < len(pairs):
        id_of = vocabulary.id_of
        rows = enumerate(zip(pairs.left, pairs.right, _products(pairs, prefix), strict=True))
        index, part = next((index, part) for index, row in rows for part in row if part not in id_of)
        what = f"the rule {pairs.left[index]} {pairs.right[index]} needs a token that is not in the vocabulary"
        raise FileFormatError(what, value=part, where=pairs.where(index))
    check_rules(pairs, rules[:, 0], rules[:, 1])
    return rules


def over_bytes(vocabulary: Vocabulary, pairs: Pairs, path: Path, format: str, *, whole_piece: bool = False) -> Contents:
    """Return the contents of a vocabulary that is written in GPT-2's byte alphabet.

    Tokens with other characters are kept; no text has them among its tokens.
    """
    rules = _rules(vocabulary, pairs)
    spelled, gap = vocabulary.words
    text, offsets, foreign = read_letters(*spelled, gap, LETTERS)
    lengths = np.diff(offsets)
    if foreign[rules].any():
        index = int(np.argmax(foreign[rules].any(axis=1)))
        rule = f"{pairs.left[index]} {pairs.right[index]}"
        what = "the rule has a character outside GPT-2's byte alphabet"
        raise UnsupportedFeatureError(what, value=rule, where=pairs.where(index))
    # Provisional numbers: the bytes, then the longer words in the order of the vocabulary.
    long = np.flatnonzero(lengths > 1)
    single = np.flatnonzero(lengths == 1)
    number = np.full(len(lengths), -1, dtype=np.int32)
    number[single] = text[offsets[single]]
    number[long] = np.arange(256, 256 + len(long), dtype=np.int32)
    check_bytes(number[single].tolist(), path)
    numbering = number_bytes(gathered(Spellings(text, offsets), long), number[rules])
    ids = np.full(256 + len(long), -1, dtype=np.int32)
    places = np.concatenate((single, long))
    ids[numbering.number[number[places]]] = vocabulary.ids[places]
    unspelled = np.flatnonzero(foreign)
    return Contents(
        format=format,
        dictionary=numbering.dictionary,
        extra=numbering.extra,
        foreign=tuple(vocabulary.spellings[place].encode() for place in unspelled.tolist()),
        ids=np.concatenate((ids, vocabulary.ids[unspelled])),
        whole_piece=whole_piece,
    )


def over_characters(
    vocabulary: Vocabulary,
    pairs: Pairs,
    format: str,
    *,
    prefix: str | None = None,
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
    if prefix:
        _check_prefix(pairs, prefix)
    rules = _rules(vocabulary, pairs, prefix)
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
            return _prefixed(part, prefix, suffix)
        word = symbols_of(part, suffix)
        return tuple(cast(str, word)) if atoms and not suffix else word

    left, right, made, spelled = (
        [*map(word_of, parts)] for parts in (pairs.left, pairs.right, _products(pairs, prefix), vocabulary.spellings)
    )
    for index, row in enumerate(zip(left, right, made, strict=True)):
        if row[0] + row[1] != row[2] or (atoms and not atoms.isdisjoint(map(_joined, row))):  # type: ignore[operator]
            what = "a rule with the token for unknown symbols, or whose product does not consist of its parts"
            rule = f"{pairs.left[index]} {pairs.right[index]}"
            raise UnsupportedFeatureError(what, value=rule, where=pairs.where(index))
    symbols = [word for word in spelled if len(word) == 1]
    try:
        dictionary = Dictionary(zip(left, right, strict=True), symbols)
    except AlphabetError as error:
        there = set(symbols)
        index = next(n for n, word in enumerate(made) if not there.issuperset(iter_symbols(word)))
        what = f"a rule with a symbol that is not in the vocabulary: {pairs.left[index]} {pairs.right[index]}"
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
        prefix=prefix,
        suffix=suffix,
        whole_piece=whole_piece,
        fallback=fallback,
    )


def _number_characters(
    vocabulary: Vocabulary, rules: Int32Array, atoms: Container[str | None]
) -> dict[str, Any] | None:
    """Return dictionary, further tokens and ids of a vocabulary without affixes; None if the rules are wrong."""
    spellings = vocabulary.spellings
    lengths = np.fromiter(map(len, spellings), dtype=np.int64, count=len(spellings))
    is_atom = np.zeros(len(spellings), dtype=np.bool_)
    for place in np.flatnonzero([spelling in atoms for spelling in spellings]).tolist() if atoms else ():
        is_atom[place] = True
    is_symbol = (lengths == 1) | is_atom
    symbols = np.flatnonzero(is_symbol)
    # Provisional numbers: the symbols, then the other tokens, both in the order of the vocabulary.
    order = np.concatenate((symbols, np.flatnonzero(~is_symbol)))
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    mentioned, extra, renumbered = numbering(number[rules], len(order), len(symbols))
    words = [spellings[place] for place in order[mentioned].tolist()]
    known = {spellings[place] for place in symbols.tolist() if lengths[place] == 1}
    if is_atom[rules].any() or not known.issuperset("".join(words)):
        return None
    final = np.argsort(renumbered)
    kind: Literal["characters", "symbols"] = "symbols" if atoms else "characters"
    alphabet = SymbolTokens(kind, [spellings[place] for place in symbols.tolist()], words)
    rest = [spellings[place] for place in order[extra].tolist()]
    return {
        "dictionary": CheckedDictionary(alphabet, *renumbered[number[rules.T]]),
        "extra": tuple(rest if kind == "characters" else map(tuple, rest)),
        "ids": vocabulary.ids[order[final]],
    }


def _joined(word: Word) -> str:
    return "".join(cast("str | tuple[str, ...]", word))


def _check_prefix(pairs: Pairs, prefix: str) -> None:
    """Refuse rules whose right part does not begin with the prefix, which the library removes from it."""
    for index, part in enumerate(pairs.right):
        if not part.startswith(prefix):
            what = f"the right part of a rule must begin with {prefix!r}"
            raise UnsupportedFeatureError(what, value=part, where=pairs.where(index))


def _products(pairs: Pairs, prefix: str | None) -> list[str]:
    """Return the products of the rules, without the prefix of the right part."""
    n_skipped = len(prefix or "")
    return [left + right[n_skipped:] for left, right in zip(pairs.left, pairs.right, strict=True)]


def _prefixed(part: str, prefix: str, suffix: str | None) -> Word:
    """Return a part as symbols that have a prefix, except for the first one of a piece."""
    inner = part.startswith(prefix) and len(part) > len(prefix)
    symbols = cast("str | tuple[str, ...]", symbols_of(part[len(prefix) :] if inner else part, suffix))
    return tuple(symbol if index == 0 and not inner else prefix + symbol for index, symbol in enumerate(symbols))


def read_vocabulary_and_merges(vocabulary: bytes, merges: bytes, vocabulary_path: Path, merges_path: Path) -> Contents:
    """Read a vocab.json with its merges.txt; they name neither a pre-tokenizer nor special tokens.

    They are assumed to be written in GPT-2's byte alphabet if the rules use no other characters and all bytes of UTF-8
    have a token.
    """
    checked = check_vocabulary(parse_object(vocabulary, vocabulary_path).fields, f"{vocabulary_path}, $")
    pairs = read_pairs(merges, merges_path)
    singles = {spelling for spelling in checked.spellings if len(spelling) == 1}
    if is_spelled("".join(pairs.left + pairs.right)) and has_bytes(
        BYTE_OF[single] for single in singles & BYTE_OF.keys()
    ):
        return over_bytes(checked, pairs, vocabulary_path, "merges+vocab")
    suffix = suffix_in(pairs)
    if suffix in checked.spellings:
        where = f"{vocabulary_path}, $.{suffix}"
        raise UnsupportedFeatureError("a mark of the end of a word that is itself a token", value=suffix, where=where)
    return over_characters(checked, pairs, "merges+vocab", suffix=suffix)
