"""A language of texts, read by ids: the ids that a state can read, and how far it is from the end of a text.

The ids that the language and the pre-tokenizer cannot tell apart are read as one group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tokdfa.automata.lift import language
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array, Uint32Array
from tokdfa.base.errors import PatternError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.guiding.byte_machines import (
    NOWHERE,
    ByteMachine,
    distances,
    has_size,
    machine_of,
    merged,
    paired,
    product,
    trimmed,
)
from tokdfa.jobs.guiding.openings import Opening
from tokdfa.jobs.guiding.tokens import Tokens
from tokdfa.kernels.guiding.product import merge_nodes
from tokdfa.kernels.library import Struct
from tokdfa.regex.trie import TokenTrie
from tokdfa.regex.unicode.utf8 import cut_apart


class Groups(NamedTuple):
    """A trie over columns of bytes, its words being groups of ids, and the atoms of each: ids of one class."""

    # One entry a node: the column of the last byte, the number of bytes, and the end of the nodes below.
    node_column: Int32Array
    node_depth: Int32Array
    node_end: Int32Array
    # One entry a node and one more: where the atoms of each node begin. An atom for each special token follows.
    at_node: Int32Array
    # One entry an atom: the class of its ids, and the state of the scan of the text after them.
    atom_class: Int32Array
    atom_spelled: Int32Array
    # One entry an atom and one more: where the ids of each atom begin in `atom_ids`.
    atom_begin: Int32Array
    atom_ids: Int32Array
    # One entry an atom: the row of `atom_bits` that has the ids of the atom; -1 for an atom with few ids.
    atom_row: Int32Array
    atom_bits: Uint32Array  # Of shape (rows, words of a mask)


def _merged(
    trie: TokenTrie, column: Int32Array, table: Int32Array
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Merge the nodes of a trie by the columns of its bytes, leaving out those with a column that no text has.

    Returns the new node of each, and column, depth and end of the new nodes.
    """
    if table.shape[1] == 1 and (table[1:, 0] == np.arange(1, len(table))).all():
        # No byte leads from a state to another, so the number of them does not matter either.
        root = np.zeros(1, dtype=np.int32)
        return np.zeros(trie.n_nodes, dtype=np.int32), root, root, np.ones(1, dtype=np.int32)
    return merge_nodes(column[np.maximum(trie.symbol, 0)], trie.end, (table == NOWHERE).all(axis=0))


def group_ids(tokens: Tokens, column: Int32Array, table: Int32Array) -> Groups:
    """Group the ids by the columns of their 256 bytes, leaving out those with a column that no text has."""
    trie = tokens.trie
    node_of, node_column, node_depth, node_end = _merged(trie, column, table)
    n_nodes = len(node_end)
    node = np.repeat(node_of, np.diff(trie.first))
    ids = tokens.words
    class_of, from_start = tokens.splits.class_of, tokens.scan.from_start
    kept = (node >= 0) & (class_of[ids] > 0) & (from_start[ids] >= 0)
    node, ids = node[kept], ids[kept]
    n_classes, n_spelled = int(class_of.max(initial=0)) + 1, tokens.scan.n_states
    key = (node.astype(np.int64) * n_classes + class_of[ids]) * n_spelled + from_start[ids]
    order = np.argsort(key, kind="stable")
    key, node, ids = key[order], node[order], ids[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1])) if len(key) else np.zeros(0, dtype=np.int64)
    first = ids[begins]
    specials = tokens.special_ids
    atom_begin = np.append(begins, len(ids) + np.arange(len(specials) + 1)).astype(np.int32)
    atom_ids = np.append(ids, specials)
    return Groups(
        node_column,
        node_depth,
        node_end,
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


_BYTES = bytes(range(256))
_ALL_BANNED = "every text of the language has what is banned"


class Wanted(NamedTuple):
    """The wanted texts, also those that no ids spell: their automaton, and its states for the states of `Texts`."""

    machine: ByteMachine
    state_of: Int32Array
    begins: Mapping[Opening, int]  # The states in which texts begin at other openings, among those of `Texts`


class Texts:
    """A language of texts, over ids: an automaton over bytes; states 1 and above lead to the end of some text.

    The machine reads special tokens, too, in the order of their ids. Its initial state is that of texts after no text.
    If ids do not spell all texts as they are, the `wanted` ones are other texts, too.
    """

    def __init__(self, tokens: Tokens, machine: ByteMachine, wanted: Wanted | None = None) -> None:
        self.initial, self.final = machine.initial, machine.final
        self.n_states = len(machine.table) - 1
        # One entry a state: the least number of bytes and special tokens up to the end of a text; -1 if there is none.
        self.distance = distances(machine.table, machine.final)
        bytewise, special_target, special_column = trimmed(machine, self.distance).apart()
        table, column, final = bytewise.table, bytewise.column, bytewise.final
        self._tokens, self._table, self._column = tokens, table, column
        self._bytewise = bytewise
        self._wanted = wanted or Wanted(bytewise, np.arange(len(table), dtype=np.int32), {})
        self._special_target, self._special_column = special_target, special_column
        length = np.where(table == NOWHERE, np.iinfo(np.int32).max, self.distance[table])
        byte_of = np.zeros(table.shape[1], dtype=np.uint8)
        byte_of[column[::-1]] = np.arange(255, -1, -1, dtype=np.uint8)
        groups = group_ids(tokens, column, table)
        self.struct = Struct(
            "tokdfa_guide_texts", table=table, column=column, n_columns=table.shape[1], final=final,
            distance=self.distance, nearest=byte_of[length.argmin(axis=1)], special_target=special_target,
            special_column=special_column, n_special_columns=special_target.shape[1], **groups._asdict(),
        )  # fmt: skip

    def begin(self, opening: Opening) -> int:
        """Return the state in which texts begin; `NOWHERE` if none can."""
        return self._wanted.begins.get(opening, self.initial)

    @property
    def begins_anywhere(self) -> bool:
        """Whether texts can begin at any opening."""
        return bool((self.distance[[self.initial, *self._wanted.begins.values()]] >= 0).any())

    def backwards(self) -> tuple[Int32Array, Int32Array, BoolArray]:
        """Return the trie of the columns of the ids from the last one to the first, its nodes in depth-first order.

        For each node: its last column, the end of the nodes below, and whether it has ids.
        """
        trie, groups = self._tokens.backward_trie, self.struct.fields
        node_of, column, _, end = _merged(trie, self._column, self._table)
        node_of_id = np.full(self._tokens.n_ids, -1, dtype=np.int32)
        node_of_id[trie.words] = np.repeat(node_of, np.diff(trie.first))
        is_id = np.zeros(len(end), dtype=np.bool_)
        n_words = int(groups["atom_begin"][groups["at_node"][-1]])
        is_id[node_of_id[groups["atom_ids"][:n_words]]] = True
        return column, end, is_id

    def has_size(self, total: int) -> bool:
        """Return whether some text of the language has `total` bytes."""
        return has_size(self._bytewise, total)

    def after_id(self, state: int, id: int) -> int:
        """Return the state after the text of an id; `NOWHERE` if no text of the language continues with it."""
        number = int(self._tokens.struct.fields["special_of"][id])
        if number >= 0:
            return int(self._special_target[state, self._special_column[number]])
        return self.after(state, self._tokens.bytes_of(id))

    def after(self, state: int, data: bytes) -> int:
        """Return the state after some bytes; `NOWHERE` if no text of the language continues with them."""
        for byte in data:
            state = int(self._table[state, self._column[byte]])
        return state

    @cached_property
    def _trimmed(self) -> ByteMachine:
        """The automaton of the wanted texts without its dead ends."""
        return trimmed(self._wanted.machine)

    def wanted_state(self, state: int) -> int:
        """Return the state of the wanted texts, whether ids spell them or not, after those of a state."""
        return int(self._wanted.state_of[state])

    def forced(self, state: int, most: int) -> str:
        """Return the text that is forced in a state: the only symbols that can follow, up to `most` bytes of them.

        A space that is put before texts is none of theirs, and texts that no ids spell can follow, too.
        """
        data = bytearray()
        table, column, final, _ = self._trimmed
        state = self.wanted_state(state)
        while not final[state] and len(data) < most:
            following = np.flatnonzero(table[state, column[:256]])
            if len(following) != 1:
                break
            data.append(int(following[0]))
            state = int(table[state, column[data[-1]]])
        cut = cut_apart(bytes(data))
        return "" if cut is None or cut.head else cut.text


def texts_of(
    tokens: Tokens,
    wanted: str | TokenDFA | None,
    without: ByteMachine | None = None,
    *,
    behind: bytes = b"",
    opening: Opening = "start",
    hides_space: bool = True,
    has_controls: bool = True,
) -> Texts:
    """Return a language of texts, over ids; between control tokens they are restricted to the texts of `without`.

    None is the language of all texts, in which special tokens cut the stream wherever they are. The texts come
    after the bytes of `behind`, which begin at the `opening`; after none they may begin at any, and do at this one.
    A space that ids spell before them is none of theirs if it `hides_space`.
    """
    first = opening if behind else "start"
    hides_space &= tokens.beginnings.puts_space and (first == "start" or first in tokens.starts)
    machine = _wanted(tokens, wanted, behind, hides_space, has_controls)
    if without is not None:
        machine = product(machine, _without(tokens, without, behind, hides_space))
    found = _spelled_by_ids(tokens, machine, first, has_begun=bool(behind))
    if found.distance[found.begin(opening)] < 0:
        what, hint = "no text is in the language" if without is None else _ALL_BANNED, None
        if distances(machine.table, machine.final)[machine.initial] >= 0:
            what = "no text of the language can be encoded: decoding would change the spaces at its beginning"
            what += " or after its special tokens"
            if found.begins_anywhere:
                hint = "after other text some can be: give the ids of a prompt, and after_prompt takes others"
        raise PatternError(what, hint=hint) if wanted is None else PatternError(what, value=wanted, hint=hint)
    return found


def _spelled_by_ids(tokens: Tokens, machine: ByteMachine, first: Opening, *, has_begun: bool) -> Texts:
    """Return the texts of an automaton that ids spell. Those that have begun do so at the `first` opening alone."""
    beginnings = tokens.beginnings
    if beginnings.are_plain and not beginnings.strips:
        return Texts(tokens, machine)
    spelled = beginnings.machine(first, tokens.are_apart)
    number: Int32Array = np.arange(len(spelled.table), dtype=np.int32)
    if beginnings.strips:
        # Special tokens that no text has take no white space.
        read = trimmed(machine).table[:, machine.column[256:]].any(axis=0)
        spelled, number = merged(spelled.without(256 + np.flatnonzero(~read)))
    puts_space = beginnings.puts_space and not has_begun
    begun = int(machine.after(b" ")[machine.initial]) if puts_space else machine.initial
    # The pairs of states in which texts begin at each opening.
    pairs = {
        opening: (machine.initial if opening in tokens.starts else begun, int(number[opening]))
        for opening in range(1, 1 if has_begun else len(number))
    }
    others = dict.fromkeys(pairs.values())
    others.pop(start := (machine.initial, spelled.initial), None)
    number_of = {pair: at for at, pair in enumerate((start, *others), 1)}
    both, state_of = paired(machine, spelled, also=[*others])
    wanted = Wanted(
        machine,
        np.where(state_of == machine.initial, begun, state_of).astype(np.int32),
        {opening: number_of[pair] for opening, pair in pairs.items()},
    )
    return Texts(tokens, both, wanted)


def _without(tokens: Tokens, machine: ByteMachine, behind: bytes, hides_space: bool) -> ByteMachine:
    """Return the automaton of streams, some bytes before their texts, with a text of another one between controls."""
    n, begin = len(behind), np.int32(machine.initial + len(behind))
    ids, controls = tokens.special_ids.tolist(), {*tokens.tokenizer.control_ids.tolist()}
    if tokens.usable[tokens.tokenizer.control_ids].any():
        what = "merging makes a control token, so it is not known whether its text is banned"
        raise UnsupportedFeatureError(what, hint="use the ban by itself, which takes it for a control token")
    machine, targets = _spelled(tokens, machine, behind, hides_space)
    ends = np.where(machine.final, begin, NOWHERE).astype(np.int32)
    # After the bytes `<|end` a text may begin with `|>`: both are a control token, and another text begins.
    _, each_within = _spelled(tokens, _every_text(), behind, hides_space)

    def target(id: int, after: Int32Array, within: Int32Array) -> Int32Array:
        if id not in controls:
            return after
        return np.concatenate((ends[:1], np.where(within > n, begin, within)[1 : n + 1], ends[n + 1 :]))

    return machine.with_specials(map(target, ids, targets, each_within))


def _every_text() -> ByteMachine:
    return ByteMachine(np.array([[0], [1]], dtype=np.int32), np.zeros(256, dtype=np.int32), np.array([False, True]), 1)


def _spelled(
    tokens: Tokens, machine: ByteMachine, behind: bytes, hides_space: bool
) -> tuple[ByteMachine, Iterator[Int32Array]]:
    """Return the automaton of the bytes that ids spell for texts, and the states after the content of special tokens.

    No space is put before a special token.
    """
    machine = machine.behind(behind) if behind else machine.spaced() if hides_space else machine
    each = machine.after_each(map(tokens.bytes_of, tokens.special_ids.tolist()))
    if not hides_space:
        return machine, each
    first = np.arange(len(machine.table)) == machine.initial
    begun = machine.after(b" ")[machine.initial]
    return machine, (np.where(first, after[begun], after) for after in each)


def _wanted(
    tokens: Tokens, wanted: str | TokenDFA | None, behind: bytes, hides_space: bool, has_controls: bool
) -> ByteMachine:
    """Return the automaton of a language, some bytes before its texts; it reads special tokens, too.

    It reads control tokens only if it `has_controls`.
    """
    if wanted is None:
        machine, targets = _spelled(tokens, _every_text(), behind, hides_space)
        # Tokens without a text come between texts, not within the bytes before them.
        same = np.where(machine.final, np.arange(len(machine.table)), NOWHERE).astype(np.int32)
        each = zip(tokens.special_ids.tolist(), targets, strict=True)
        return machine.with_specials(target if id in tokens.found else same for id, target in each)
    dfa = language(wanted, _BYTES) if isinstance(wanted, str) else wanted
    is_over_bytes = isinstance(dfa, TokenDFA) and dfa.alphabet.kind == "bytes"
    if not is_over_bytes or len(dfa.alphabet) != dfa.alphabet.n_symbols:
        hint = "tokdfa.language(pattern, bytes(range(256))) makes one"
        raise WrongTypeError("a language is a regular expression or an automaton over bytes", value=wanted, hint=hint)
    machine, targets = _spelled(tokens, machine_of(dfa), behind, hides_space)
    nothing = np.zeros(len(machine.table), dtype=np.int32)
    read = tokens.found.keys() - ({} if has_controls else {*tokens.tokenizer.control_ids.tolist()})
    # A special token is the content with which the text spells it.
    each = zip(tokens.special_ids.tolist(), targets, strict=True)
    return machine.with_specials(target if id in read else nothing for id, target in each)
