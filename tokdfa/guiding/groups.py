"""The ids of a tokenizer in groups that a language of texts and the pre-tokenizer cannot tell apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Uint32Array
from tokdfa.guiding.tokens import Tokens
from tokdfa.kernels.guiding.product import merge_nodes

__all__ = ["Groups", "group_ids"]


class Groups(NamedTuple):
    """A trie over columns of bytes, whose words are groups of ids, and the atoms of each: ids of one class.

    Attributes
    ----------
    node_column, node_depth, node_end : int32 arrays, one entry a node
        The column of the last byte, the number of bytes, and the end of the nodes below.
    at_node : int32 array, one entry a node and one more
        The atoms of node i are those from ``at_node[i]`` to ``at_node[i + 1]``. An atom for each special token follows.
    atom_class, atom_spelled : int32 arrays, one entry an atom
        The class of its ids, and the state of the search for special tokens after them.
    atom_begin : int32 array, one entry an atom and one more
        The ids of atom a are those from ``atom_begin[a]`` to ``atom_begin[a + 1]`` of `atom_ids`.
    atom_ids : int32 array
    atom_row : int32 array, one entry an atom
        The row of `atom_bits` that has the ids of the atom; -1 for an atom with few ids.
    atom_bits : uint32 array of shape (rows, words of a mask)
    """

    node_column: Int32Array
    node_depth: Int32Array
    node_end: Int32Array
    at_node: Int32Array
    atom_class: Int32Array
    atom_spelled: Int32Array
    atom_begin: Int32Array
    atom_ids: Int32Array
    atom_row: Int32Array
    atom_bits: Uint32Array


def group_ids(tokens: Tokens, column: Int32Array, is_dead: BoolArray) -> Groups:
    """Group the ids by the columns of their bytes.

    Parameters
    ----------
    tokens : Tokens
    column : int32 array of 256 entries
        The column of each byte.
    is_dead : bool array, one entry a column
        The columns that no text has. Ids with one of them are left out.
    """
    trie = tokens.trie
    if len(is_dead) == 1 and not is_dead[0]:
        # All bytes are alike, so the number of them does not matter either.
        node_of = np.zeros(trie.n_nodes, dtype=np.int32)
        nodes = (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32), np.ones(1, dtype=np.int32))
    else:
        node_of, *rest = merge_nodes(column[np.maximum(trie.symbol, 0)], trie.end, is_dead)
        nodes = rest[0], rest[1], rest[2]
    n_nodes = len(nodes[0])
    node = np.repeat(node_of, np.diff(trie.first))
    ids = tokens.words
    class_of, from_start = tokens.splits.class_of, tokens.spelled.from_start
    kept = (node >= 0) & (class_of[ids] > 0) & (from_start[ids] >= 0)
    node, ids = node[kept], ids[kept]
    n_classes, n_spelled = int(class_of.max(initial=0)) + 1, tokens.spelled.n_states
    key = (node.astype(np.int64) * n_classes + class_of[ids]) * n_spelled + from_start[ids]
    order = np.argsort(key, kind="stable")
    key, node, ids = key[order], node[order], ids[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else np.zeros(0, dtype=np.int64)
    first = ids[begins]
    specials = tokens.special_ids
    atom_begin = np.append(begins, len(ids) + np.arange(len(specials) + 1)).astype(np.int32)
    atom_ids = np.append(ids, specials)
    return Groups(
        *nodes,
        at_node=np.searchsorted(node[begins], np.arange(n_nodes + 1)).astype(np.int32),
        atom_class=np.append(class_of[first], class_of[specials]),
        atom_spelled=np.append(from_start[first], from_start[specials]),
        atom_begin=atom_begin,
        atom_ids=atom_ids,
        **_as_bits(atom_begin, atom_ids, tokens.n_ids),
    )


def _as_bits(begin: Int32Array, ids: Int32Array, n_ids: int) -> dict[str, np.ndarray]:
    """Return the rows of atoms, and the bits of those that have more ids than a mask has words."""
    n_words = -(-n_ids // 32)
    large = np.flatnonzero(np.diff(begin) > n_words)
    row = np.full(len(begin) - 1, -1, dtype=np.int32)
    row[large] = np.arange(len(large), dtype=np.int32)
    flags = np.zeros((len(large), 32 * n_words), dtype=np.bool_)
    for number, atom in enumerate(large.tolist()):
        flags[number, ids[begin[atom] : begin[atom + 1]]] = True
    return {"atom_row": row, "atom_bits": np.packbits(flags, axis=1, bitorder="little").view(np.uint32)}
