"""The tables of a dictionary: rules by pairs of tokens, words by their text; tokenizing from left to right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint32Array, Uint64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.library import Struct, call, lib
from tokdfa.kernels.pages import zeros, zeros_together

NO_NUMBER = (1 << 21) - 1
"""The number of no token, used for the missing neighbours of the first and the last token."""

NOTHING = 0
"""The product of a pair that no rule merges."""

BUCKET = 8
# On average. With more, the table is smaller, and a bucket has too few slots more often.
_IN_BUCKET = 4.4


def _empty_table(n: int) -> Uint64Array:
    """Return an empty table for this number of rules, its buckets being cache lines."""
    size = BUCKET * (int(n / _IN_BUCKET) + 1)
    buffer = zeros(size + BUCKET, np.uint64)
    first = -(buffer.ctypes.data // 8) % BUCKET
    table: Uint64Array = buffer[first : first + size]
    return table


def number_products(product: Int32Array, n_symbols: int, ids: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Number the symbols, which keep their numbers, and then the tokens that rules make, in the order of the rules.

    The rules make the tokens `product`, at least `n_symbols`; `ids` has the id of each token. Returns the number of
    each token, -1 for tokens that nothing makes; and the ids by number, -1 for numbers that are not used.
    """
    _check_tokens(len(ids), product)
    number: Int32Array = np.full(len(ids), -1, dtype=np.int32)
    ids_of_numbers: Int32Array = np.full(len(ids) + 1, -1, dtype=np.int32)
    number[:n_symbols] = np.arange(n_symbols)
    ids_of_numbers[:n_symbols] = ids[:n_symbols]
    call(lib.tokdfa_number_products, product, len(product), n_symbols, ids, out=(number, ids_of_numbers))
    return number, ids_of_numbers


def index_rules(
    left: Int32Array, right: Int32Array, product: Int32Array, number: Int32Array | None = None
) -> tuple[Uint64Array, Int32Array]:
    """Put the rules ``left[i]≀right[i]`` into a table; the first of equal pairs counts.

    By default tokens are given by their numbers. Otherwise `number` has the number of each token, less than NO_NUMBER,
    and greater than 0 for products; rules with a part of number -1 are left out. Returns the table, and the product of
    merging the tokens numbered u and v below 256 at ``u << 8 | v``.
    """
    _check_tokens(NO_NUMBER if number is None else len(number), left, right, product)
    rules = _empty_table(len(left))
    of_symbols: Int32Array = np.zeros(1 << 16, dtype=np.int32)
    call(lib.tokdfa_index_rules, left, right, product, len(left), number, out=(rules, len(rules), of_symbols))
    return rules, of_symbols


def _check_tokens(n_tokens: int, *columns: Int32Array) -> None:
    """Raise ValueError unless all of these are tokens."""
    # Read as unsigned, negative numbers are the largest.
    if any(column.view(np.uint32).max(initial=0) >= max(n_tokens, 1) for column in columns):
        raise ValueError(f"a rule between tokens that are not among {n_tokens}")


LONGEST_PACKED = 15
"""The length in bytes of the longest word that has a slot of its own; longer ones are in the trie."""

RECORD = 8
LENGTH, SHORTER, STATE, READ, BIRTH, HEAD, TAIL, NUMBER = range(RECORD)
"""The columns of the records of tokens: the number of bytes; the longest live token that is a proper prefix, or -1; for
the state reached on the token, the number of the product of the rule that made the state, and the last token read in
that state, or -1 for the initial state; the birth as a number; head and tail (see
:class:`~tokdfa.automata.dictionary.Folding`), -1 for symbols; the number. Symbols are numbered first, then tokens in
the order of their births; the birth of symbols is the last symbol."""


class Words(NamedTuple):
    """The tables for finding words by their text.

    The short words are in an open-addressing hash table: uint32 `slots`, `filter` with a bit for each hash in them, and
    `keys` with two uint64 entries a word, its packing. The long words are in a trie: `edges`, a hash table of two int64
    entries a slot, and `ending`, the word that ends at each node or -1. `records` is of shape (words, RECORD): the
    column LENGTH is filled, and SHORTER where the words are to be tokenized from left to right.
    """

    slots: Uint32Array
    keys: Uint64Array
    filter: Uint64Array
    edges: Int64Array
    ending: Int32Array
    records: Int32Array


def index_words(text: Uint8Array, offsets: Int64Array, live: BoolArray, *, shorter: bool = True) -> Words:
    """Build the tables for finding the words ``text[offsets[i]:offsets[i + 1]]`` that are marked as `live`.

    Words are distinct and not empty, and fewer than 2^21 - 1. With `shorter` there are records, with the columns LENGTH
    and SHORTER filled, which takes longer than all else.
    """
    if len(live) >= NO_NUMBER:
        raise LimitExceededError(f"more than {NO_NUMBER - 1} tokens", value=len(live))
    sizes = np.empty(4, dtype=np.int64)
    call(lib.tokdfa_size_words, offsets, live, len(live), out=(sizes,))
    n_slots, n_filter, n_edges, n_ending = sizes.tolist()
    n_records = len(live) * RECORD if shorter else 0
    slots, keys, bits, edges, ending, records = zeros_together(
        (n_slots, np.uint32), (2 * len(live), np.uint64), (n_filter, np.uint64),
        (n_edges, np.int64), (n_ending, np.int32), (n_records, np.int32),
    )  # fmt: skip
    edges.fill(-1)
    ending.fill(-1)
    words = Words(slots, keys, bits, edges, ending, records.reshape(-1, RECORD))
    job = Struct(
        "tokdfa_word_index", text=text, offsets=offsets, live=live, slots=slots, keys=keys, filter=bits, edges=edges,
        ending=ending, records=records,
    )  # fmt: skip
    lib.tokdfa_index_words(job.pointer)
    if shorter:
        lib.tokdfa_find_shorter(job.pointer)
    return words


def tables_of(
    words: Words, rules: Uint64Array, of_symbols: Int32Array, symbol: Int32Array, ids: Int32Array,
    ids_of_numbers: Int32Array,
) -> Struct:  # fmt: skip
    """Return tables as C reads them, and make their arrays read-only.

    All columns of the records of `words` are filled, if the pair test is wanted. `rules` and `of_symbols` come from
    :func:`index_rules`, `ids` has the id of each token, and `ids_of_numbers` by number, or nothing where words are not
    merged. For words over bytes `symbol` has the token of each byte, -1 for foreign ones; for others nothing.
    """
    struct = Struct(
        "tokdfa_token_tables", **words._asdict(), rules=rules, of_symbols=of_symbols, symbol=symbol, ids=ids,
        ids_of_numbers=ids_of_numbers,
    )  # fmt: skip
    for array in struct.fields.values():
        array.setflags(write=False)
    return struct


def tokenize(tables: Struct, text: bytes) -> Int32Array | None:
    """Return the tokens of a word; None if it has a symbol that is not in the alphabet. The time is linear."""
    out: Int32Array = np.empty(len(text), dtype=np.int32)
    if not len(text):
        return out
    left = np.zeros((len(text) >> 6) + 1, dtype=np.uint64)
    n = call(lib.tokdfa_tokenize, tables.pointer, text, len(text), out=(out, left))
    # Cut off in place: a copy of a long one takes as long as a part of the work.
    out.resize(max(n, 0), refcheck=False)
    return None if n < 0 else out
