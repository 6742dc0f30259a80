"""Patterns and lists of words as the automata that a search runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, offsets_of
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.kernels.dfa import explicit as kernels
from tokdfa.regex.class_dfa import ClassDFA
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import Preference, determinize
from tokdfa.regex.syntax import Alternate, Concat, Node, Symbols, is_nullable, parse
from tokdfa.regex.trie import TokenTrie
from tokdfa.regex.utf8 import BOUNDARY, EDGE, ByteDFA, shared_columns, to_bytes, unique_rows

# An automaton that takes more rounds is left as it is: it has long chains of states, in which few are equal.
_MAX_ROUNDS = 64


def merge_equal_states(dfa: ByteDFA, budget: Budget | None = None) -> ByteDFA:
    """Return an automaton that records the same in all texts, and in which states that do so are one.

    A symbol of several bytes takes states of its own even where the pattern does not care which symbol it is. Without
    them most tokens lead to the same state from everywhere, which a search relies on. For ``[0-9]{4}``, 9 states become
    6.

    Moore's partition refinement: states of different records are different, and so are states from which a symbol, or
    restarting, leads to different ones. So is a state in which a match may have begun from one in which none has: where
    matches begin is not recorded, but a search relies on that. It takes O(r n c) time for r rounds, n states and c
    columns; if r would be more than 64, the automaton is returned as it is.
    """
    budget = Budget() if budget is None else budget
    n_states = dfa.n_states
    ends, may_end = dfa.delay >= 0, dfa.end_delay >= 0
    # The record of a match counts only where there is a match.
    targets = np.column_stack((dfa.table, np.where(ends, dfa.restart, 0), np.where(may_end, dfa.end_restart, 0)))
    records = (dfa.delay, np.where(ends, dfa.right, 0), dfa.end_delay, np.where(may_end, dfa.end_right, 0))
    # The sink equals no other state.
    block = _numbered(np.column_stack((np.arange(n_states) == 0, _nothing_has_begun(dfa), *records)))
    for _ in range(_MAX_ROUNDS):
        budget.check_time()
        refined = _numbered(np.column_stack((block, block[targets])))
        if refined.max() == block.max():
            break
        block = refined
    else:
        return dfa
    first = np.unique(block, return_index=True)[1]
    table, shared = shared_columns(block[dfa.table[first]])
    return replace(
        dfa,
        table=table,
        column=shared[dfa.column],
        delay=dfa.delay[first],
        restart=block[dfa.restart[first]],
        right=dfa.right[first],
        end_delay=dfa.end_delay[first],
        end_right=dfa.end_right[first],
        end_restart=block[dfa.end_restart[first]],
        starts=block[dfa.starts],
        is_within=dfa.is_within[first],
    )


def _nothing_has_begun(dfa: ByteDFA) -> BoolArray:
    """Return for each state whether no match that ends later begins earlier, as before the first symbol."""
    begins = np.zeros(dfa.n_states, dtype=np.bool_)
    begins[dfa.starts] = True
    others = np.unique(np.concatenate((dfa.column[:0x80], dfa.column[0xC0 : EDGE + 1])))
    rows = unique_rows(dfa.table[:, others])[1]
    has_none = begins | (dfa.is_within & np.isin(rows, rows[begins]))
    continued = dfa.table[:, np.unique(np.append(dfa.column[0x80:0xC0], dfa.column[BOUNDARY]))]
    while True:
        still = begins | (has_none & has_none[continued].all(axis=1))
        if (still == has_none).all():
            return still
        has_none = still


def _numbered(rows: Int32Array) -> Int32Array:
    """Return the number of each row among the distinct ones, in the order in which they come."""
    return unique_rows(rows.astype(np.int32))[1]


DEFAULT_MAX_ENTRIES = 1 << 28


@dataclass(frozen=True)
class WordDFA:
    """An automaton that finds words, with their lengths.

    For each state, `length` is the length of the longest word that ends here, 0 for none, and `shorter` is a state with
    the next shorter one as its longest, 0 for none.
    """

    dfa: ByteDFA
    length: Int32Array
    shorter: Int32Array


def find_words(words: Sequence[bytes], *, leftmost: bool) -> WordDFA:
    """Return the automaton that finds the words of a list, none empty, in a text.

    If `leftmost`, it finds the leftmost-longest matches without overlaps; otherwise all matches.
    """
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    trie = TokenTrie(text.astype(np.int32), offsets_of(words))
    used = np.unique(text)
    # All bytes in no word share a column. The edge of the text has one too; after it everything starts again.
    column = np.zeros(BOUNDARY + 1, dtype=np.int32)
    column[used] = np.arange(1, len(used) + 1)
    n_columns = len(used) + 1
    if (trie.n_nodes + 1) * n_columns > DEFAULT_MAX_ENTRIES:
        raise LimitExceededError("the words make too large an automaton", value=trie.n_nodes, hint="search for fewer")
    of_columns = kernels.trie_of(column[trie.symbol], trie.depth, trie.end, trie.first)
    table, length, shorter = kernels.find_words(of_columns, n_columns, leftmost)
    nothing = np.zeros_like(length)
    delay = np.where(length > 0, np.int32(0), np.int32(-1))
    dfa = ByteDFA(
        table.reshape(-1, n_columns), column, delay, nothing + np.int32(1), nothing,
        nothing - np.int32(1), nothing, nothing, np.array([1], dtype=np.int32), np.zeros(len(length), dtype=np.bool_),
    )  # fmt: skip
    assert column[EDGE] == 0
    return WordDFA(dfa, length, shorter)


def without_hidden(words: Sequence[bytes]) -> list[bytes]:
    """Return the words that can be found when the first word of the list that matches is preferred to the others.

    A word that begins with an earlier one is never found. Of the others that match, the longest comes first.
    """
    kept: dict[bytes, None] = {}
    for word in words:
        if not any(word[:length] in kept for length in range(1, len(word) + 1)):
            kept[word] = None
    return list(kept)


Wanted: TypeAlias = Literal["longest", "first", "all"]

_PREFERENCE: dict[Wanted, Preference] = {"longest": "longest", "first": "first", "all": "set"}


@dataclass(frozen=True)
class Finder:
    """An automaton that finds where matches end, with the means to find where they begin.

    If the lengths of matches are known, `length` has for each state of `forward`, which reads the text, the length of
    the longest match that ends here, `shorter` a state with the next shorter one as its longest, and `longest` is the
    length of the longest of all; 0 otherwise. `backward` reads the text backwards from the end of a match; its initial
    states belong to the kinds of `forward`.

    Of several patterns that are words, `of_word` has the index of each; of others, the kind of a match divided by
    `n_kinds` is the index of its pattern.
    """

    forward: ByteDFA
    length: Int32Array
    shorter: Int32Array
    longest: int
    backward: ClassDFA
    n_kinds: int
    of_word: Mapping[bytes, int]


def finder(
    pattern: str | Iterable[str | bytes] | Mapping[str, str],
    wanted: Wanted,
    *,
    aligned: bool = False,
    table: str = "regex",
    budget: Budget | None = None,
) -> Finder:
    """Return the automata that find a pattern; the parameters are as for :class:`tokdfa.Searcher`."""
    budget = Budget() if budget is None else budget
    if wanted not in get_args(Wanted):
        raise PatternError("unknown choice of matches", value=wanted, hint=f"use one of {', '.join(get_args(Wanted))}")
    if isinstance(pattern, str):
        nodes = [parse(pattern, table, budget)]
        words = _spelled(nodes[0])
    elif isinstance(pattern, Mapping):
        nodes = _several(pattern, wanted, table, budget)
        words = _spelled(Alternate(tuple(nodes)))
    else:
        words = _given_words(pattern)
        nodes = [_alternation(words)] if aligned else []
    if words is not None and not aligned:
        return _word_finder(words, wanted)
    program = compile_program(*nodes, budget=budget)
    if wanted == "all" and any(look.last_line for look in program.assertions):
        what = "all matches of a pattern with $ are not supported, because $ holds at two places"
        raise PatternError(what, value=pattern, hint=r"\Z is the end of the text, (?m:$) the end of a line")
    forward = determinize(program, _PREFERENCE[wanted], searching=True, anchored=False, aligned=aligned, budget=budget)
    reversed_program = compile_program(Alternate(tuple(nodes)), budget=budget, mirrored=True)
    backward = determinize(reversed_program, searching=True, budget=budget)
    over_bytes = merge_equal_states(to_bytes(forward, budget), budget)
    nothing = np.zeros(over_bytes.n_states, dtype=np.int32)
    seen_from = _seen_from(forward, backward, len(nodes))
    return Finder(over_bytes, nothing, nothing, 0, seen_from, len(forward.initial), {})


def _several(patterns: Mapping[str, str], wanted: Wanted, table: str, budget: Budget) -> list[Node]:
    """Return the trees of several patterns."""
    if wanted != "first":
        raise PatternError("of several patterns the first is preferred", value=wanted, hint='wanted="first"')
    nodes = []
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise WrongTypeError("a pattern must be a str", value=pattern)
        nodes.append(parse(pattern, table, budget))
        if is_nullable(nodes[-1]):
            raise PatternError("a pattern that matches the empty text, among several", value=pattern)
    if not nodes:
        raise PatternError("there is no pattern")
    return nodes


def _seen_from(forward: ClassDFA, backward: ClassDFA, n_patterns: int) -> ClassDFA:
    """Return `backward` with its initial states in the order of the kinds of `forward`, once for each pattern."""
    bounds, class_of_interval = forward.partition.bounds, forward.partition.class_of_interval
    kind_of = [0] * len(forward.initial)
    for symbol, kind in enumerate(forward.kind_of.tolist()):
        if symbol < forward.no_symbol:
            code_point = bounds[np.argmax(class_of_interval == symbol)]
            kind_of[kind] = int(backward.kind_of[backward.partition.classes(code_point)])
        else:
            kind_of[kind] = int(backward.kind_of[symbol - forward.no_symbol + backward.no_symbol])
    if forward.has_last_line:
        kind_of[-2] = len(backward.initial) - 2
    return replace(backward, initial=np.tile(backward.initial[kind_of], n_patterns))


def _given_words(words: object) -> list[bytes]:
    """Return words as bytes, or raise an error if they are not a list of words."""
    if isinstance(words, (bytes, bytearray)) or not isinstance(words, Iterable):
        raise WrongTypeError("a pattern must be a str or an iterable of words", value=words)
    given = []
    for index, word in enumerate(words):
        if not isinstance(word, (str, bytes)):
            hint = "the pattern comes before the ids" if isinstance(word, (int, np.integer)) else None
            raise WrongTypeError("a word must be a str or bytes", value=word, where=f"word {index}", hint=hint)
        try:
            given.append(word.encode("utf-8") if isinstance(word, str) else word)
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            what = "half of a surrogate pair, which cannot occur in a text"
            raise PatternError(what, value=half, where=f"word {index}") from None
    return given


def _word_finder(words: Sequence[bytes], wanted: Wanted) -> Finder:
    if not all(words):
        raise PatternError("an empty word cannot be searched for", value=words.index(b""))
    found = find_words(without_hidden(words) if wanted == "first" else words, leftmost=wanted != "all")
    nowhere = determinize(compile_program(Alternate(())), searching=True)
    of_word = {word: len(words) - 1 - index for index, word in enumerate(reversed(words))}
    longest = max(map(len, words), default=0)
    return Finder(found.dfa, found.length, found.shorter, longest, nowhere, 1, of_word)


def _alternation(words: Sequence[bytes]) -> Node:
    """Return the pattern of a list of words."""
    options: list[Node] = []
    for word in words:
        try:
            text = word.decode("utf-8")
        except UnicodeDecodeError:
            raise PatternError("a word that is not UTF-8 cannot be aligned", value=word) from None
        options.append(Concat(tuple(Symbols(((ord(character), ord(character)),)) for character in text)))
    return Alternate(tuple(options))


def _spelled(node: Node) -> list[bytes] | None:
    """Return the words of a pattern that only lists them; None for any other pattern."""
    words = []
    for option in node.options if isinstance(node, Alternate) else (node,):
        parts = option.parts if isinstance(option, Concat) else (option,)
        characters = []
        for part in parts:
            if not isinstance(part, Symbols) or len(part.ranges) != 1 or part.ranges[0][0] != part.ranges[0][1]:
                return None
            characters.append(chr(part.ranges[0][0]))
        if not characters:
            return None
        try:
            words.append("".join(characters).encode("utf-8"))
        except UnicodeEncodeError:
            return None
    return words
