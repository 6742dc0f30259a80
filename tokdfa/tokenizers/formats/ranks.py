"""Dictionaries from ranked words: any split of a word into two others is a legal merge, with the word's rank.

tiktoken's files have no rules. After the stronger words have merged, at most one split of a word can occur in a text
(context-invariance), and it is found by tokenizing the word itself with the stronger words. If that leaves more than
two tokens, merging never makes the word, unless a split with a *weaker* part makes it later. Then no proper dictionary
is equivalent, and all splits are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.arrays import Float64Array, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.tokenizers.decoder import Spellings, gathered
from tokdfa.tokenizers.encoding.symbols import Merges
from tokdfa.tokenizers.formats.checked_dictionary import number_bytes, number_spellings
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, check_bytes

# The number of symbols that are copied at once to look splits up.
_AT_A_TIME = 1 << 20
# Finding the rules takes some fifty bytes for each symbol of the words; the largest vocabularies have two million.
MOST_SYMBOLS = 1 << 24


def from_ranks(words: Spellings, ranks: Int64Array, path: Path, format: str, *, first_id: int) -> Contents:
    """Return the contents of a file of ranked words, all distinct; the id of rank 0 is `first_id`.

    `ranks` is an int64 array of distinct numbers that are not negative. Nothing produces the empty word, if there is
    one.
    """
    if int(ranks.max()) + first_id > LARGEST_ID:
        hint = f"ids up to {LARGEST_ID} are supported"
        raise FileFormatError("the rank is too large", value=int(ranks.max()), where=str(path), hint=hint)
    order = np.argsort(ranks, kind="stable")
    in_order = words if np.array_equal(order, np.arange(len(order))) else gathered(words, order)
    ids = (ranks[order] + first_id).astype(np.int32)
    lengths = np.diff(in_order.offsets)
    long, single, empty = lengths > 1, lengths == 1, lengths == 0
    long_words = gathered(in_order, np.flatnonzero(long))
    byte_ids = np.full(256, -1, dtype=np.int32)
    byte_ids[in_order.text[in_order.offsets[:-1][single]]] = ids[single]
    check_bytes(np.flatnonzero(byte_ids >= 0).tolist(), path)

    rules, splits = _rules(long_words.text.astype(np.int32), long_words.offsets, 256, None)
    dictionary, extra, number = number_bytes(long_words, rules)
    numbered_ids = np.empty_like(number)
    numbered_ids[number] = np.concatenate((byte_ids, ids[long]))
    merges = None
    if splits is not None:
        left, right, product = number[splits.T]
        merges = Merges(left, right, splits[:, 2], product)
    return Contents(
        format=format,
        dictionary=dictionary,
        extra=extra,
        foreign=(b"",) * int(empty.sum()),
        ids=np.concatenate((numbered_ids, ids[empty])),
        whole_piece=True,
        merges=merges,
    )


def rules_of_words(
    words: Sequence[str], symbols: Mapping[str, int], priority: Int32Array | None = None
) -> tuple[Int32Array, Int32Array | None]:
    """Return the rules of ranked words and, if they do not determine all merges, all splits.

    The words have two symbols or more, strongest first; word i is token ``len(symbols) + i``. `symbols` numbers the
    symbols, from 0 on. `priority`, ascending, says which words are equally strong, so that ties go to the leftmost
    pair.

    Both results are int32 arrays of shape (n, 3), rows of left part, right part and product by ascending rank; the
    second is None if no rules are missing.
    """
    offsets = running_sum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
    codes = np.frombuffer("".join(words).encode("utf-32-le"), dtype=np.uint32)
    known = [ord(symbol) for symbol in symbols]
    table = np.zeros(max(known, default=0) + 1, dtype=np.int32)
    table[known] = list(symbols.values())
    return _rules(table[codes], offsets, len(symbols), priority)


def _rules(
    text: Int32Array, offsets: Int64Array, n: int, priority: Int32Array | None
) -> tuple[Int32Array, Int32Array | None]:
    """Return the rules of words of n numbered symbols, and maybe all splits."""
    from tokdfa.kernels.merging.merging import derive

    if len(text) > MOST_SYMBOLS:
        raise LimitExceededError(f"the tokens have more than {MOST_SYMBOLS:,} symbols in all", value=len(text))
    n_words = len(offsets) - 1
    nothing = np.empty(0, dtype=np.int32)
    has_ties = priority is not None and bool((np.diff(priority) == 0).any())
    splits = None
    if not has_ties:
        left, right, first, _ = derive(text, offsets, n, np.empty(0, dtype=np.int64), nothing, nothing)
    if has_ties or (first >= 0).any():
        splits = _all_splits(text, offsets, n)
        start = np.searchsorted(splits[:, 2], np.arange(n, n + 1 + n_words))
        left, right, _, _ = derive(
            text, offsets, n, start, np.ascontiguousarray(splits[:, 0]), np.ascontiguousarray(splits[:, 1])
        )
        strength = np.arange(n_words, dtype=np.int32) if priority is None else priority
        tied = np.zeros(n_words, dtype=np.bool_)
        tied[1:] = np.diff(strength) == 0
        tied[:-1] |= tied[1:]
        left[tied] = right[tied] = -1
        late = np.flatnonzero(left < 0).tolist()
        if late:
            words = {i: text[offsets[i] : offsets[i + 1]].tolist() for i in late}
            _find_late_pairs(words, n, strength.tolist(), left, right, splits)
    product = np.arange(n, n + n_words, dtype=np.int32)
    rules = np.stack((left, right, product), axis=1)[left >= 0]
    return rules, splits


def _all_splits(text: Int32Array, offsets: Int64Array, n: int) -> Int32Array:
    """Return every split of a word into two, weaker ones included: left part, right part and word, by word."""
    spelled = np.concatenate((np.arange(n, dtype=np.int32), text))
    begin = np.concatenate((np.arange(n), n + offsets))
    table = WordTable(spelled.view(np.uint8), spelled.itemsize * begin)
    # A word is read once for each of its cuts.
    work = running_sum(np.diff(begin) ** 2)
    parts = (table.splits(spelled.itemsize, low, high) for low, high in _runs(work, _AT_A_TIME))
    return np.concatenate([np.empty((0, 3), dtype=np.int32), *parts])


def _runs(sums: Int64Array, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of entries with prefix sums that grow by `most` at most, or of one entry that is larger."""
    low, n = 0, len(sums) - 1
    while low < n:
        high = max(low + 1, int(np.searchsorted(sums, sums[low] + most, side="right")) - 1)
        yield low, high
        low = high


def _find_late_pairs(
    words: dict[int, list[int]], n: int, strength: list[int], left: Int32Array, right: Int32Array, splits: Int32Array
) -> None:
    """Fill in the pairs of words made through a part that is not stronger, by merging the word completely."""
    # Only tokens that the symbols of these words can be merged to are looked up.
    is_near = np.zeros(n + len(left), dtype=np.bool_)
    is_near[[symbol for tokens in words.values() for symbol in tokens]] = True
    while True:
        near = splits[is_near[splits[:, 0]] & is_near[splits[:, 1]]]
        if is_near[near[:, 2]].all():
            break
        is_near[near[:, 2]] = True
    products = {(u, v): product for u, v, product in near.tolist()}
    for i, tokens in words.items():
        while len(tokens) > 2:
            pairs = ((products.get(pair), at) for at, pair in enumerate(pairwise(tokens)))
            found = [(strength[product - n], at, product) for product, at in pairs if product is not None]
            if not found:
                break
            _, at, product = min(found)
            tokens[at : at + 2] = [product]
        if len(tokens) == 2:
            left[i], right[i] = tokens


def over_scored(
    texts: Sequence[str], ids: Int32Array, scored: Float64Array, atoms: Mapping[str, int], where: str
) -> dict[str, Any]:
    """Return dictionary, further tokens, ids and merges of words with scores, as fields of Contents.

    `texts` are the words that merge, distinct and not empty, with their `ids` and finite scores. `atoms` are symbols of
    several characters, which never merge, with their ids.
    """
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    longer, single = np.flatnonzero(lengths > 1), np.flatnonzero(lengths == 1)
    # Strongest first; ties go to the leftmost pair.
    ranked = longer[np.lexsort((ids[longer], -scored[longer]))]
    words = [texts[index] for index in ranked.tolist()]
    characters = {texts[index]: number for number, index in enumerate(single.tolist())}
    foreign = set("".join(words)).difference(characters)
    if foreign:
        text = next(text for text in words if not foreign.isdisjoint(text))
        raise UnsupportedFeatureError("a piece has a character that is not a piece itself", value=text, where=where)
    priority = running_sum(np.diff(scored[ranked]) != 0)[: len(words)].astype(np.int32)
    rules, splits = rules_of_words(words, characters, priority)
    symbols = [*characters, *atoms]
    # The symbols first: the words come after the atoms.
    number = np.arange(len(characters) + len(words), dtype=np.int32)
    number[len(characters) :] += len(atoms)
    dictionary, extra, numbered = number_spellings("symbols", [*symbols, *words], number[rules], len(symbols))
    numbered_ids = np.empty_like(numbered)
    numbered_ids[numbered] = np.concatenate((ids[single], np.array([*atoms.values()], dtype=np.int32), ids[ranked]))
    merges = None
    if splits is not None:
        left, right, product = numbered[number[splits.T]]
        merges = Merges(left, right, priority[splits[:, 2] - len(characters)], product)
    return {"dictionary": dictionary, "extra": extra, "ids": numbered_ids, "merges": merges}
