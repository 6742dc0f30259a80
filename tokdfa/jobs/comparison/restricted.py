"""Comparing on the texts of one language only: a splitting, and two tokenizers, as these texts see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.pretokenizers.machine import SplitNFA
from tokdfa.tokenizers.tokenizer import Tokenizer


class Texts(Protocol):
    """A language of texts, as an automaton over classes of code points; every state can be left for a final one.

    ``rows[state][c]`` is the state after a symbol of class c, -1 if no text of the language continues with it. State 0
    is the initial one.
    """

    @property
    def class_of_code_point(self) -> Int64Array:
        """The class of each code point."""

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The transitions."""

    @property
    def finals(self) -> tuple[bool, ...]:
        """Whether a text may end in each state."""

    def after(self, state: int, text: str) -> int:
        """Return the state after a text; -1 if no text of the language continues with it."""

    def __contains__(self, text: str) -> bool: ...


def restricted(nfa: SplitNFA, texts: Texts) -> SplitNFA:
    """Return the automaton of a splitting that confirms no hypothesis about other texts."""
    width = len(texts.rows[0])
    pair = nfa.class_of_code_point.astype(np.int64) * width + texts.class_of_code_point
    found, classes = np.unique(pair, return_inverse=True)
    symbols = [divmod(key, width) for key in found.tolist()]
    numbers = Numbering((0, 0))
    budget = Budget(what="the automaton of the texts and the split pattern")
    moves = []
    for hypothesis, state in numbers.states:  # It grows during the loop.
        row = []
        for of_splitting, of_texts in symbols:
            target = texts.rows[state][of_texts]
            after = nfa.moves[hypothesis][of_splitting] if target >= 0 else ()
            row.append(tuple((numbers[later, target], event) for later, event in after))
        moves.append(tuple(row))
        budget.spend(len(row))
        budget.check_states(len(numbers))
    ends = tuple(nfa.ends[hypothesis] and texts.finals[state] for hypothesis, state in numbers.states)
    return SplitNFA(classes.reshape(-1).astype(np.uint16), tuple(moves), ends)


def as_seen_by(texts: Texts, tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that gives these texts the same ids, without a normalizer and special tokens of others.

    UnsupportedFeatureError is raised if the normalizer may change these texts, if something is put before them, or if
    special tokens may be in them and the rest of a text with one is not in the language, too.
    """
    splitting = tokenizer.splitting
    if splitting.prefix_space is not None or splitting.metaspace is not None:
        raise UnsupportedFeatureError("texts can be chosen only where no spaces are put into them", value=splitting)
    contents = tokenizer.contents
    normalizer = tokenizer.rewriting.normalizer
    if normalizer is not None:
        touched = normalizer.touched(characters_of(texts))
        if touched is None or touched:
            what = "the normalizer may change the texts that are to be compared"
            value = min(touched) if touched else normalizer
            raise UnsupportedFeatureError(what, value=value, hint="leave out the characters that it changes")
        contents = replace(
            contents,
            rewriting=None if contents.rewriting.decoding is None else replace(contents.rewriting, normalizer=None),
        )
    found = tuple(special for special in contents.specials if any(_occurrences(texts, special.content)))
    if found and tokenizer.finds_specials and not _is_every_word_over_an_alphabet(texts):
        what = "texts with a special token can be compared only if they are all texts of some characters"
        raise UnsupportedFeatureError(what, value=found[0].content, hint="such as [a-z]*; or take them as plain text")
    return tokenizer.with_contents(replace(contents, specials=found))


def characters_of(texts: Texts) -> frozenset[str]:
    """Return the characters that these texts have."""
    used = np.array([any(row[number] >= 0 for row in texts.rows) for number in range(len(texts.rows[0]))])
    code_points = np.flatnonzero(used[texts.class_of_code_point])
    return frozenset(chr(code) for code in code_points.tolist() if not 0xD800 <= code < 0xE000)


def _occurrences(texts: Texts, content: str) -> Iterator[bool]:
    """Yield for each state whether texts may continue with a special token there."""
    return (texts.after(state, content) >= 0 for state in range(len(texts.rows)))


def _is_every_word_over_an_alphabet(texts: Texts) -> bool:
    return len(texts.rows) == 1 and texts.finals[0]
