"""A fingerprint of what a tokenizer does: of the relation from texts to ids, not of its file."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tokdfa.arrays import BoolArray, Int64Array, Uint64Array
from tokdfa.automata.exploration import Numbering
from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.errors import LimitExceededError, PatternError
from tokdfa.kernels.dfa.explicit import coarsest_partition
from tokdfa.kernels.encode.events import BEGINS, CONTINUES, DROPPED
from tokdfa.patterns.budget import Budget
from tokdfa.splitting.hypotheses import Hypotheses, find_hypotheses, splitting_budget
from tokdfa.splitting.steps import Splitting

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["automaton_form", "normal_form_of_splitting", "relation_fingerprint", "splitting_form"]


_EVENTS = (CONTINUES, BEGINS, DROPPED)
_SURROGATES = slice(0xD800, 0xE000)


def relation_fingerprint(tokenizer: Tokenizer) -> str:
    """Return a SHA-256, in hexadecimal, of a normal form of the relation from texts to ids.

    Tokenizers with equal fingerprints give every text the same ids. Conversely, such tokenizers have equal fingerprints
    if they cut every text into the same pieces, encode every piece alike, and normalize and look for special tokens by
    the same settings. The format, the order of the rules, dead rules and tokens, and the spelling of a pattern do not
    matter. Not covered are pieces that differ where no ids do. Dictionaries that pairs of neighbours do not determine,
    and patterns that no automaton expresses or that drop text, are taken as they are written.
    :func:`tokdfa.compare` decides what fingerprints leave open.

    Notes
    -----
    The normal form of a proper dictionary is that of its minimal token DFA: the live tokens with their ids, in the
    order of their spelling, each with the set of the tokens that must not follow it. That of a splitting is the minimal
    DFA of texts with what each symbol does, over the coarsest classes of code points.
    """
    digest = hashlib.sha256(b"tokdfa relation 1\n")
    for part in (_settings(tokenizer), _dictionary(tokenizer), _splitting(tokenizer)):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _settings(tokenizer: Tokenizer) -> bytes:
    rewriting, *symbols = tokenizer.rewrites
    specials = sorted(map(repr, tokenizer.specials)) if tokenizer.finds_specials else []
    words = sorted((tokenizer.token(n), int(tokenizer.token_to_id[n])) for n in tokenizer.whole_piece_tokens.tolist())
    settings = (
        tokenizer.dictionary.alphabet.kind,
        tokenizer.suffix,
        None if rewriting is None else rewriting.normalizer,
        symbols,
        specials,
        words,
    )
    return repr(settings).encode("utf-8", "surrogatepass")


def _dictionary(tokenizer: Tokenizer) -> bytes:
    dictionary = tokenizer.dictionary
    words: list[Any] = list(dictionary.alphabet)
    if tokenizer.merges is not None or not dictionary.properness() or not agrees_with_leftmost(dictionary):
        merges = () if tokenizer.merges is None else tokenizer.merges
        arrays = (dictionary.left, dictionary.right, tokenizer.token_to_id, *merges)
        return repr((words, tokenizer.extra_tokens, [array.tolist() for array in arrays])).encode()
    dfa = tokenizer.dfa
    rows = dfa.rows
    n_live = dfa.n_live_tokens
    live = np.flatnonzero(dfa.birth >= 0)
    # The hash of a set is the sum of those of its members: intervals of positions are differences of running sums.
    sums = np.zeros((len(words) + 1, 4), dtype=np.uint64)
    for token in live.tolist():
        sums[dfa.position[token] + 1] = _hash(repr(words[token]).encode())
    sums = np.cumsum(sums, axis=0, dtype=np.uint64)
    # Dead tokens, which come last, are in every row and count for nothing.
    start, stop = np.minimum(rows.start, n_live), np.minimum(rows.stop, n_live)
    through = np.zeros((len(start) + 1, 4), dtype=np.uint64)
    np.cumsum(sums[stop] - sums[start], axis=0, dtype=np.uint64, out=through[1:])
    of_row = through[rows.pointer[1:]] - through[rows.pointer[:-1]]
    spelled = sorted((words[token], token) for token in live.tolist())
    order = [token for _, token in spelled]
    named = repr([(word, int(tokenizer.token_to_id[token])) for word, token in spelled]).encode()
    return named + of_row[rows.of_token[order]].tobytes()


def _hash(data: bytes) -> Uint64Array:
    return np.frombuffer(hashlib.sha256(data).digest(), dtype="<u8")


def _splitting(tokenizer: Tokenizer) -> bytes:
    splitting = Splitting("tokenizers") if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
    return splitting_form(splitting)


def splitting_form(splitting: Splitting) -> bytes:
    """Return the same bytes for all splittings that split every text alike, unless they drop text.

    Those that no automaton expresses are taken as they are written.
    """
    form = automaton_form(splitting)
    return repr(splitting).encode("utf-8", "surrogatepass") if form is None else form


@lru_cache(maxsize=16)
def automaton_form(splitting: Splitting) -> bytes | None:
    """Return the :func:`splitting_form` of a splitting that an automaton expresses; None for others."""
    spaces = repr((splitting.prefix_space, splitting.metaspace, splitting.prefix_once)).encode()
    try:
        return spaces + normal_form_of_splitting(find_hypotheses(splitting))
    except (PatternError, LimitExceededError):
        return None


def normal_form_of_splitting(hypotheses: Hypotheses) -> bytes:
    """Return the same bytes for all automata of hypotheses that split every text alike, where nothing is left out."""
    n_classes = hypotheses.n_classes
    budget = splitting_budget()
    target, ends = _determinize(hypotheses, budget)
    block = _equivalent_states(target, ends)
    first = np.unique(block, return_index=True)[1]
    # The rows of the minimal automaton; a transition that is not there leads to -1.
    table = np.where(target[first] >= 0, block[target[first]], -1)
    # Classes that it does not distinguish are one; they are numbered in the order of their first code points.
    merged = np.unique(table, axis=1, return_inverse=True)[1].reshape(-1)
    of_code_point = merged[hypotheses.class_of_code_point.astype(np.int64)].astype(np.int64)
    of_code_point[_SURROGATES] = -1
    found, at = np.unique(of_code_point, return_index=True)
    order = [int(number) for _, number in sorted(zip(at.tolist(), found.tolist(), strict=True)) if number >= 0]
    rank = np.full(n_classes + 1, -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    columns = table[:, [int(np.flatnonzero(merged == number)[0]) for number in order]]
    # The states are numbered as a breadth-first search meets them.
    numbers = Numbering(int(block[0]))
    rows = []
    for state in numbers.states:  # It grows while it is iterated over.
        row = [-1 if goal < 0 else numbers[goal] for goal in columns[state].ravel().tolist()]
        rows.append((bool(ends[first[state]]), row))
    return repr(rows).encode() + rank[of_code_point].astype("<i2").tobytes()


def _determinize(hypotheses: Hypotheses, budget: Budget) -> tuple[Int64Array, BoolArray]:
    """Return the targets, by state, class and event, in the automaton of sets of hypotheses; and its final states."""
    numbers = Numbering(frozenset((0,)))
    table = []
    for state in numbers.states:  # It grows while it is iterated over.
        cells = []
        for symbol in range(hypotheses.n_classes):
            for event in _EVENTS:
                moves = (move for hypothesis in state for move in hypotheses.moves[hypothesis][symbol])
                goal = frozenset(target for target, what in moves if what == event)
                cells.append(numbers[goal] if goal else -1)
        table.append(cells)
        budget.spend(len(cells) + len(state))
        budget.check_states(len(numbers))
    ends = np.array([any(hypotheses.ends[hypothesis] for hypothesis in state) for state in numbers.states])
    return np.array(table, dtype=np.int64).reshape(len(numbers), hypotheses.n_classes, len(_EVENTS)), ends


def _equivalent_states(target: Int64Array, ends: BoolArray) -> Int64Array:
    """Return, for each state, the number of its equivalence class."""
    flat = target.reshape(len(target), -1)
    sources, symbols = (part.astype(np.int32) for part in np.nonzero(flat >= 0))
    block = coarsest_partition(sources, symbols, flat[sources, symbols].astype(np.int32), ends, flat.shape[1])
    return np.unique(block, return_inverse=True)[1].reshape(-1)
