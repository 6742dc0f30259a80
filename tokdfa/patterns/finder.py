"""Patterns and lists of words as the automata that a search runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import PatternError, WrongTypeError
from tokdfa.patterns.budget import Budget
from tokdfa.patterns.class_dfa import ClassDFA
from tokdfa.patterns.equal_states import merge_equal_states
from tokdfa.patterns.literals import find_words, without_hidden
from tokdfa.patterns.program import compile_program
from tokdfa.patterns.subset import Preference, determinize
from tokdfa.patterns.syntax import Alternate, Concat, Node, Symbols, parse
from tokdfa.patterns.utf8 import ByteDFA, to_bytes

__all__ = ["Finder", "Wanted", "finder"]

Wanted: TypeAlias = Literal["longest", "first", "all"]

_PREFERENCE: dict[Wanted, Preference] = {"longest": "longest", "first": "first", "all": "set"}


@dataclass(frozen=True)
class Finder:
    """An automaton that finds where matches end, with the means to find where they begin.

    Attributes
    ----------
    forward : ByteDFA
        Reads the text.
    length, shorter : int32 arrays, one entry per state of `forward`
        If the lengths of matches are known: the length of the longest match that ends here, and a state whose longest
        match is the next shorter one; 0 otherwise.
    longest : int
        The length of the longest match; 0 if it is not known.
    backward : ClassDFA
        Reads the text backwards from the end of a match; its initial states are those for the kinds of `forward`.
    """

    forward: ByteDFA
    length: Int32Array
    shorter: Int32Array
    longest: int
    backward: ClassDFA


def finder(
    pattern: str | Iterable[str | bytes],
    wanted: Wanted,
    *,
    aligned: bool = False,
    table: str = "regex",
    budget: Budget | None = None,
) -> Finder:
    """Return the automata that find a pattern; the parameters are those of :class:`tokdfa.Searcher`."""
    budget = Budget() if budget is None else budget
    if wanted not in get_args(Wanted):
        raise PatternError("unknown choice of matches", value=wanted, hint=f"use one of {', '.join(get_args(Wanted))}")
    if isinstance(pattern, str):
        node = parse(pattern, table, budget)
        words = _spelled(node)
    else:
        words = _given_words(pattern)
        node = _alternation(words) if aligned else Concat(())
    if words is not None and not aligned:
        return _word_finder(words, wanted)
    program = compile_program(node, budget)
    if wanted == "all" and any(look.last_line for look in program.assertions):
        raise PatternError(
            "all matches of a pattern with $ are not supported, because $ holds at two places",
            value=pattern,
            hint=r"\Z is the end of the text, (?m:$) that of a line",
        )
    forward = determinize(
        program,
        _PREFERENCE[wanted],
        searching=True,
        anchored=False,
        aligned=aligned,
        budget=budget,
    )
    backward = determinize(compile_program(node, budget, mirrored=True), searching=True, budget=budget)
    over_bytes = merge_equal_states(to_bytes(forward, budget), budget)
    nothing = np.zeros(over_bytes.n_states, dtype=np.int32)
    return Finder(over_bytes, nothing, nothing, 0, _seen_from(forward, backward))


def _seen_from(forward: ClassDFA, backward: ClassDFA) -> ClassDFA:
    """Return `backward` with its initial states in the order of the kinds of `forward`."""
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
    return replace(backward, initial=backward.initial[kind_of])


def _given_words(words: object) -> list[bytes]:
    """Return words as bytes, or raise an error if they are not a list of words."""
    if isinstance(words, (bytes, bytearray)) or not isinstance(words, Iterable):
        raise WrongTypeError("a pattern must be a str or an iterable of words", value=words)
    given = []
    for place, word in enumerate(words):
        if not isinstance(word, (str, bytes)):
            hint = "the pattern comes before the ids" if isinstance(word, (int, np.integer)) else None
            raise WrongTypeError("a word must be a str or bytes", value=word, where=f"word {place}", hint=hint)
        try:
            given.append(word.encode("utf-8") if isinstance(word, str) else word)
        except UnicodeEncodeError as error:
            half = error.object[error.start]
            raise PatternError(
                "half of a surrogate pair, which cannot occur in a text", value=half, where=f"word {place}"
            ) from None
    return given


def _word_finder(words: Sequence[bytes], wanted: Wanted) -> Finder:
    if not all(words):
        raise PatternError("an empty word cannot be searched for", value=words.index(b""))
    found = find_words(without_hidden(words) if wanted == "first" else words, leftmost=wanted != "all")
    nowhere = determinize(compile_program(Alternate(())), searching=True)
    return Finder(found.dfa, found.length, found.shorter, max(map(len, words), default=0), nowhere)


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
