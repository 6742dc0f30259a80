"""The function `longest_unit`: how long a unit can become when two tokenizers encode the same text.

If a state of the product recurs before both have a boundary again, the ids between can be repeated: the unit of such a
text is as long as wanted. GPT-2 encodes `faaaa` as `fa` `aa` `a`, another tokenizer as `f` `aa` `aa`: the state after
`fa` and `f` is the state after two more letters. So texts with a repeated part are tried first. If none shows it, all
states are explored: without such a circle the longest unit is the longest path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, running_sum
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, TokdfaError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.base.verdict import Verdict
from tokdfa.jobs.comparison.parts import Parts
from tokdfa.jobs.measures.product import Node, Product, Side
from tokdfa.jobs.measures.product_graph import ProductGraph
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["LongUnit", "UnitLength", "longest_unit"]

_MOST_TRIED = 1000
_MOST_REPEATED = 2048


@dataclass(frozen=True, slots=True)
class LongUnit(SuggestsNames):
    """A text with a long unit.

    Attributes
    ----------
    text : str
    start, stop : int
        The first byte of the unit in the text, and the byte after it.
    ids_a, ids_b : tuple of int
        The ids of the unit on both sides.
    pump : tuple of str, optional
        Three parts of the text. The second one can be repeated, and each time the unit grows by its bytes.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> found = tokdfa.longest_unit(tokenizer, tokenizer).witness
    >>> found.stop - found.start, len(found.ids_a)
    (14, 1)
    """

    text: str
    start: int
    stop: int
    ids_a: tuple[int, ...]
    ids_b: tuple[int, ...]
    pump: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True, repr=False)
class UnitLength(Verdict[LongUnit]):
    """Whether the units of two tokenizers are bounded over all texts.

    Attributes
    ----------
    holds : bool
        Whether there is a longest unit.
    witness : LongUnit
        The longest unit that was found, or one with a part of the text that can be repeated.
    most : int, optional
        The most bytes that a unit can have, proven; None if units can be as long as wanted.
    is_exact : bool
        Whether the witness has as many bytes.
    reason : str
        The result in words.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.longest_unit(tokenizer, tokenizer).most
    14
    """

    most: int | None = None
    is_exact: bool = field(init=False)
    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found = self.witness
        assert found is not None
        size = found.stop - found.start
        if found.pump is not None:
            words = f"units can be as long as wanted: {found.pump[1]!r} can be repeated in {found.text!r}"
        elif size == self.most:
            words = f"a unit has at most {size} bytes, as in {found.text!r}"
        else:
            words = f"a unit has at most {self.most} bytes, and in {found.text!r} one has {size}"
        object.__setattr__(self, "is_exact", size == self.most)
        object.__setattr__(self, "reason", words)


def longest_unit(tok_a: AnyTokenizer, tok_b: AnyTokenizer, *, max_seconds: float = 60.0) -> UnitLength:
    """Decide whether the units of two tokenizers, as :func:`~tokdfa.align` finds them, are bounded over all texts.

    Parameters
    ----------
    tok_a, tok_b : AnyTokenizer
        Byte pair tokenizers over bytes that encode texts unchanged, or bring them into a normalization form first.
    max_seconds : float
        The most processor time.

    Returns
    -------
    UnitLength
        Truthy if there is a longest unit; then it has the number of its bytes. Otherwise the witness has a text and
        the part of it that can be repeated.

    Raises
    ------
    UnsupportedFeatureError
        If the canonical streams of a tokenizer are not known id by id.
    LimitExceededError
        If neither a bound nor a text was found in time.

    Notes
    -----
    The texts are those that both encode without control tokens, and unchanged if they normalize.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.longest_unit(tokenizer, tokenizer))
    True
    """
    for tokenizer in (tok_a, tok_b):
        expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.longest_unit(tok_a, tok_b)")
    budget = Budget(max_seconds=max_seconds, what="the product of the canonical streams")
    texts = _Texts(tok_a, tok_b)
    if Parts(cast(Tokenizer, tok_a), cast(Tokenizer, tok_b), ignore_ids=True).are_same():
        return texts.of_single_tokens()
    for text in texts.repeated():
        budget.check_time()
        found = texts.pumped(text)
        if found is not None:
            return UnitLength(False, found)
    return _explored(texts, Product(tok_a, tok_b, budget))


class _Texts:
    """Texts that both tokenizers encode, and their units."""

    def __init__(self, tok_a: AnyTokenizer, tok_b: AnyTokenizer) -> None:
        self.tokenizers = tok_a, tok_b
        self.sides = Side(tok_a), Side(tok_b)
        self._longest_word = max(len(word) for side in self.sides for word in side.words)

    def encode(self, text: str) -> list[tuple[Int32Array, Int64Array]] | None:
        """Return the ids of both sides and their bounds; None if one changes the text, or finds control tokens."""
        sides = []
        for tokenizer, side in zip(self.tokenizers, self.sides, strict=True):
            try:
                ids = tokenizer.encode(text)
            except TokdfaError:
                return None
            if tokenizer.decode_bytes(ids) != text.encode() or not side.streams.ordinary[ids].all():
                return None
            sides.append((ids, running_sum(side.lengths[ids])))
        return sides

    def longest(self, text: str) -> LongUnit | None:
        """Return the longest unit of a text; None if one of the tokenizers changes it, or finds control tokens."""
        encoded = self.encode(text)
        if not text or encoded is None:
            return None
        shared = np.intersect1d(encoded[0][1], encoded[1][1], assume_unique=True)
        at = int(np.argmax(np.diff(shared)))
        start, stop = shared[at : at + 2].tolist()
        a, b = (tuple(ids[slice(*np.searchsorted(bounds, (start, stop)))].tolist()) for ids, bounds in encoded)
        return LongUnit(text, start, stop, a, b)

    def of_single_tokens(self) -> UnitLength:
        """Return the length of the longest unit of tokenizers that cut all texts alike."""
        side = self.sides[0]
        words = {side.words[id] for id in np.flatnonzero(side.streams.ordinary).tolist()}
        best: LongUnit | None = None
        lengths = sorted(words, key=lambda word: (-len(word), word))
        for word in lengths:
            if best is not None and len(word) <= best.stop - best.start:
                break
            unit = None if _is_cut(word) else self.longest(word.decode())
            if unit is not None and (best is None or unit.stop > best.stop - best.start):
                best = unit
        return _bounded(best, len(lengths[0]))

    def repeated(self) -> Iterator[str]:
        """Yield texts of a word that only one side has, and its last bytes repeated, which both have twice in a word.

        With `fa` in one vocabulary, and `aa` in both, it is `faaaaa…`: the ids of one side may be a byte ahead.
        """
        words = [{side.words[id] for id in np.flatnonzero(side.streams.ordinary).tolist()} for side in self.sides]
        common = words[0] & words[1]
        size = min(4 * self._longest_word, _MOST_REPEATED)
        for word in sorted(words[0] ^ words[1], key=lambda word: (len(word), word)):
            for last in (word[at:] for at in range(len(word) - 1, max(len(word) - 5, -1), -1)):
                if 2 * last in common and not _is_cut(word) and not _is_cut(last):
                    yield (word + last * (size // len(last))).decode()

    def pumped(self, text: str) -> LongUnit | None:
        """Return the longest unit of a text with a part that can be repeated in it; None if there is none."""
        found = self.longest(text)
        if found is None or found.stop - found.start <= self._longest_word:
            return None
        parts = self._recurring(found)
        if parts is None:
            return None
        units = [self.longest(parts[0] + n * parts[1] + parts[2]) for n in (1, 2, 5)]
        lengths = [0 if unit is None else unit.stop - unit.start for unit in units]
        size = len(parts[1].encode())
        if units[0] is None or lengths != [lengths[0], lengths[0] + size, lengths[0] + 4 * size]:
            return None
        return replace(units[0], pump=parts)

    def _recurring(self, found: LongUnit) -> tuple[str, str, str] | None:
        """Return a text in three parts: from before the second one to after it, the product is in the same state."""
        encoded = self.encode(found.text)
        assert encoded is not None
        bounds = [of for _, of in encoded]
        states = [_states(side, ids) for side, (ids, _) in zip(self.sides, encoded, strict=True)]
        data = found.text.encode()
        offsets = np.unique(np.concatenate(bounds))
        met: dict[tuple[object, ...], list[int]] = {}
        for offset in offsets[(offsets > found.start) & (offsets < found.stop)].tolist():
            # Each side has read the ids that end up to here; the one that cannot stop here is behind.
            at = [int(np.searchsorted(of, offset, side="right")) - 1 for of in bounds]
            ends = [int(of[index]) for of, index in zip(bounds, at, strict=True)]
            key = states[0][at[0]], states[1][at[1]], ends[0] - ends[1], data[min(ends) : max(ends)]
            met.setdefault(key, []).append(offset)
        spans = [(where[1], where[0], where[-1]) for where in met.values() if len(where) > 1]
        if not spans:
            return None
        high, low, last = min(spans)
        # Two copies of the part, so that one may begin at a character.
        repeated = data[low:high]
        whole = data[:low] + 2 * repeated + data[last:]
        low += next((k for k, byte in enumerate(repeated) if byte & 0xC0 != 0x80), 0)
        high = low + len(repeated)
        return whole[:low].decode(), whole[low:high].decode(), whole[high:].decode()


def _is_cut(word: bytes) -> bool:
    """Return whether bytes are not UTF-8."""
    try:
        word.decode()
    except UnicodeDecodeError:
        return True
    return False


def _states(side: Side, ids: Int32Array) -> list[tuple[int, int]]:
    """Return the base and the row before each id of a canonical stream, and after the last one."""
    states = [(0, 0)]
    for id in ids.tolist():
        base = int(side.streams.after(*states[-1], np.array([id], dtype=np.int32))[0])
        assert base >= 0, "a canonical stream is a path of the graph"
        states.append((base, int(side.streams.sets.row_of[id])))
    return states


def _explored(texts: _Texts, product: Product) -> UnitLength:
    """Return the length of the longest unit, by all states of the product."""
    graph = ProductGraph(product)
    found, circling = graph.longest()
    if circling:
        for text in _circles(graph, circling):
            pumped = texts.pumped(text)
            if pumped is not None:
                return UnitLength(False, pumped)
        raise LimitExceededError("no bound for the units was found, and no text in which a unit can be extended")
    ways = [(graph.gain(arc, found), node, arc) for node in graph.arcs if node.is_shared for arc in graph.arcs[node]]
    ways.sort(key=lambda way: -way[0])
    best: LongUnit | None = None
    for most, node, arc in ways[:_MOST_TRIED]:
        if best is not None and best.stop - best.start >= most:
            break
        data, target = graph.way_to(node) + graph.word(arc), arc.target
        while not target.is_shared:
            data += graph.word(found[target][1])
            target = found[target][1].target
        try:
            unit = texts.longest((data + graph.way_out(target)).decode())
        except UnicodeDecodeError:
            continue
        if unit is not None and (best is None or unit.stop - unit.start > best.stop - best.start):
            best = unit
    return _bounded(best, ways[0][0] if ways else 0)


def _bounded(best: LongUnit | None, most: int) -> UnitLength:
    if best is None:
        raise LimitExceededError("no text was found that both tokenizers encode unchanged")
    return UnitLength(True, best, most=most)


def _circles(graph: ProductGraph, circling: set[Node]) -> Iterator[str]:
    """Yield texts with paths that return to a state within a unit, a few times."""
    for start in list(circling)[:_MOST_TRIED]:
        node, met, words = start, {start: 1}, [b""]
        while True:
            arc = next(arc for arc in graph.arcs[node] if arc.target in circling)
            words.append(graph.word(arc))
            node = arc.target
            if node in met:
                break
            met[node] = len(words)
        first = met[node]
        before, repeated = b"".join(words[:first]), b"".join(words[first:])
        n = 2 + _MOST_REPEATED // 4 // max(len(repeated), 1)
        try:
            yield (graph.way_to(start) + before + repeated * n + graph.way_out(node)).decode()
        except UnicodeDecodeError:
            continue
