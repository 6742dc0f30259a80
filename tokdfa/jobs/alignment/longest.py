"""The function `longest_unit`: how long a unit can become when two tokenizers encode the same text.

If a state of the product recurs before both have a boundary again, the ids between can be repeated: the unit of such a
text is as long as wanted. GPT-2 encodes `faaaa` as `fa` `aa` `a`, another tokenizer as `f` `aa` `aa`: the state after
`fa` and `f` is the state after two more letters. So texts with a repeated part are tried first. If none shows it, all
states are explored: without such a circle the longest unit is the longest path. They are explored twice if need be:
first with few shared states and more paths than texts, then exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from tokdfa.base.arrays import Int32Array, running_sum
from tokdfa.base.budget import Budget, total_of
from tokdfa.base.errors import LimitExceededError, TokdfaError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.base.verdict import Verdict
from tokdfa.jobs.alignment.api import align
from tokdfa.jobs.alignment.limited_words import most_by_words
from tokdfa.jobs.comparison.parts import Parts
from tokdfa.jobs.measures.attained import SECONDS_FOR_TEXTS, Texts
from tokdfa.jobs.measures.of_tokenizers import exact_streams_of, streams_of
from tokdfa.jobs.measures.product import Node, Product
from tokdfa.jobs.measures.product_graph import ProductGraph
from tokdfa.jobs.measures.side import Side
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.fingerprint import fingerprint
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer, has_rules

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
        Byte pair tokenizers, over bytes or over characters, or WordPiece; two of different kinds, too.
    max_seconds : float
        The most processor time of the exact answer. When it is over, a bound is the answer for WordPiece. The automata
        and the texts have 20 seconds more.

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
    The texts are those that both encode without control tokens, and get back by decoding. So the text of an id may be
    another one at the beginning: the first ``▁Hello`` of Llama-2 has five bytes. BERT's words begin with the space
    before them.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.longest_unit(tokenizer, tokenizer))
    True
    """
    for tokenizer in (tok_a, tok_b):
        expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.longest_unit(tok_a, tok_b)")
    budget = Budget(max_seconds=max_seconds, what="the product of the canonical streams")
    with total_of(max_seconds + SECONDS_FOR_TEXTS):
        return _longest(tok_a, tok_b, budget)


def _longest(tok_a: AnyTokenizer, tok_b: AnyTokenizer, budget: Budget) -> UnitLength:
    """Return the answer; a bound and texts for it have some time beyond the budget."""
    texts = _Texts(tok_a, tok_b)
    if _cut_alike(tok_a, tok_b):
        return texts.of_single_tokens(budget)
    limit = texts.limit_by_words()
    if limit is not None:
        try:
            return _explored(texts, budget)
        except LimitExceededError:
            return _bounded(texts.longest_tried(), limit)
    for text in texts.repeated():
        budget.check_time()
        found = texts.pumped(text)
        if found is not None:
            return UnitLength(False, found)
    return _explored(texts, budget)


def _cut_alike(tok_a: AnyTokenizer, tok_b: AnyTokenizer) -> bool:
    """Return whether the parts of two tokenizers show that both cut all texts at the same bytes."""
    if has_rules(tok_a) and has_rules(tok_b):
        return Parts(tok_a, tok_b, ignore_ids=True).are_same()
    return fingerprint(tok_a) == fingerprint(tok_b)


class _Texts:
    """Texts that both tokenizers encode, and their units."""

    def __init__(self, tok_a: AnyTokenizer, tok_b: AnyTokenizer) -> None:
        self.tokenizers = tok_a, tok_b
        self.sides = Side(streams_of(tok_a)), Side(streams_of(tok_b))
        self._longest_word = max(len(word) for side in self.sides for word in side.labels)

    def encode(self, text: str) -> list[Int32Array] | None:
        """Return the ids of both sides; None if one changes the text, or finds control tokens."""
        found = []
        for tokenizer in self.tokenizers:
            try:
                ids = tokenizer.encode(text)
            except TokdfaError:
                return None
            if tokenizer.decode_bytes(ids) != text.encode() or np.isin(ids, tokenizer.control_ids).any():
                return None
            found.append(ids)
        return found

    def longest(self, text: str) -> LongUnit | None:
        """Return the longest unit of a text; None if one of the tokenizers changes it, or finds control tokens."""
        encoded = self.encode(text)
        if not text or encoded is None:
            return None
        (tok_a, tok_b), (ids_a, ids_b) = self.tokenizers, encoded
        units = align(tok_a, ids_a, tok_b, ids_b)
        at = int(np.argmax(np.diff(units.offsets)))
        start, stop = units.offsets[at : at + 2].tolist()
        return LongUnit(text, start, stop, units[at].a, units[at].b)

    def longest_of(self, data: bytes) -> LongUnit | None:
        """Return the longest unit of the bytes of a text; None also if they are not UTF-8."""
        return self.longest(data.decode()) if is_utf8(data) else None

    def of_single_tokens(self, budget: Budget) -> UnitLength:
        """Return the length of the longest unit of tokenizers that cut all texts alike."""
        texts = Texts(self.tokenizers[0], None, budget.seconds_left)
        best: LongUnit | None = None
        most = 0
        for label in np.argsort(-texts.n_bytes, kind="stable").tolist():
            size = int(texts.n_bytes[label])
            if best is not None and size <= best.stop - best.start:
                break
            stream = texts.through(label)
            if stream is not None:
                best = _longer(best, self.longest_of(texts.streams.spelled(stream)))
                most = max(most, size)
        return _bounded(best, most)

    def limit_by_words(self) -> int | None:
        """Return a bound for the bytes of a unit if a tokenizer is WordPiece; None if it is not known."""
        (tok_a, tok_b), (a, b) = self.tokenizers, self.sides
        found = [
            most_by_words(tokenizer, side, other)
            for tokenizer, side, other in ((tok_a, a, b), (tok_b, b, a))
            if isinstance(tokenizer, WordPieceTokenizer)
        ]
        return min((most for most in found if most is not None), default=None)

    def longest_tried(self) -> LongUnit | None:
        """Return the longest unit of some texts: words, and repeated bytes, cut to the length of words."""
        limits = [tok.vocabulary.longest_word for tok in self.tokenizers if isinstance(tok, WordPieceTokenizer)]
        limit = min((limit for limit in limits if limit is not None), default=None)
        best: LongUnit | None = None
        words = sorted((word for side in self.sides for word in side.labels), key=len, reverse=True)
        for text in (text[:limit] for text in islice(self.repeated(), _MOST_TRIED)):
            best = _longer(best, self.longest(text))
        for word in words[:_MOST_TRIED]:
            best = _longer(best, self.longest_of(word))
        return best

    def repeated(self) -> Iterator[str]:
        """Yield texts of a word that only one side has, and its last bytes repeated, which both have twice in a word.

        With `fa` in one vocabulary, and `aa` in both, it is `faaaaa…`: the ids of one side may be a byte ahead.
        """
        words = [side.labels.keys() for side in self.sides]
        common = words[0] & words[1]
        size = min(4 * self._longest_word, _MOST_REPEATED)
        for word in sorted(words[0] ^ words[1], key=lambda word: (len(word), word)):
            for last in (word[at:] for at in range(len(word) - 1, max(len(word) - 5, -1), -1)):
                if 2 * last in common and is_utf8(word) and is_utf8(last):
                    yield (word + last * (size // len(last))).decode()

    def pumped(self, text: str) -> LongUnit | None:
        """Return the longest unit of a text with a part that can be repeated in it; None if there is none."""
        found = self.longest(text)
        if found is None or found.stop - found.start <= self._longest_word:
            return None
        parts = self._recurring(found)
        if parts is None:
            return None
        times = 1, 2, 5, max(side.streams.most_repeated for side in self.sides)
        units = [self.longest(parts[0] + n * parts[1] + parts[2]) for n in times]
        lengths = [0 if unit is None else unit.stop - unit.start for unit in units]
        size = len(parts[1].encode())
        if units[0] is None or lengths != [lengths[0] + (n - 1) * size for n in times]:
            return None
        return replace(units[0], pump=parts)

    def _recurring(self, found: LongUnit) -> tuple[str, str, str] | None:
        """Return a text in three parts: from before the second one to after it, the product is in the same state."""
        encoded = self.encode(found.text)
        assert encoded is not None
        paths = [side.streams.labels_of(ids.tolist()) for side, ids in zip(self.sides, encoded, strict=True)]
        assert None not in paths, "a canonical stream is a path of the graph"
        labels = [np.array(path, dtype=np.int32) for path in paths]
        bounds = [running_sum(side.streams.sizes[path]) for side, path in zip(self.sides, labels, strict=True)]
        states = [_states(side, path) for side, path in zip(self.sides, labels, strict=True)]
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


def _states(side: Side, labels: Int32Array) -> list[int]:
    """Return the state before each label of a path, and after the last one."""
    states = [0]
    for label in labels.tolist():
        states += side.step(states[-1], label)
    return states


def _explored(texts: _Texts, budget: Budget) -> UnitLength:
    """Return the length of the longest unit, by all states of the product."""
    found = _of_product(texts, Product(*texts.sides, budget))
    if found is not None and (not found.holds or found.is_exact):
        return found
    a, b = (Side(exact_streams_of(tokenizer)) for tokenizer in texts.tokenizers)
    try:
        better = _of_product(texts, Product(a, b, budget, keeps_rows=True))
    except LimitExceededError:
        if found is None:
            raise
        return found
    found = found if better is None else better
    if found is None:
        raise LimitExceededError("no bound for the units was found, and no text in which a unit can be extended")
    return found


def _of_product(texts: _Texts, product: Product) -> UnitLength | None:
    """Return the length of the longest unit by a product; None if its circles are in no text that was tried."""
    graph = ProductGraph(product)
    found, circling = graph.longest()
    if circling:
        tried = (texts.pumped(text) for text in _circles(graph, circling))
        pumped = next((unit for unit in tried if unit is not None), None)
        return None if pumped is None else UnitLength(False, pumped)
    ways = [(graph.gain(arc, found), node, arc) for node in graph.arcs if node.is_shared for arc in graph.arcs[node]]
    ways.sort(key=lambda way: -way[0])
    best: LongUnit | None = None
    for most, node, arc in ways[:_MOST_TRIED]:
        if best is not None and (best.stop - best.start >= most or not product.budget.seconds_left):
            break
        data, target = graph.way_to(node) + graph.word(arc), arc.target
        while not target.is_shared:
            data += graph.word(found[target][1])
            target = found[target][1].target
        best = _longer(best, texts.longest_of(data + graph.way_out(target)))
    return None if best is None else _bounded(best, ways[0][0])


def _longer(best: LongUnit | None, unit: LongUnit | None) -> LongUnit | None:
    """Return the longer one of two units; None if there are none."""
    units = [each for each in (best, unit) if each is not None]
    return max(units, key=lambda each: each.stop - each.start, default=None)


def _bounded(best: LongUnit | None, most: int) -> UnitLength:
    if best is None:
        raise LimitExceededError("no text was found that both tokenizers encode unchanged")
    return UnitLength(True, best, most=most)


def _circles(graph: ProductGraph, circling: set[Node]) -> Iterator[str]:
    """Yield texts with paths that return to a state within a unit, a few times."""
    for start in list(circling)[:_MOST_TRIED]:
        graph.product.budget.check_time()
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
        data = graph.way_to(start) + before + repeated * n + graph.way_out(node)
        if is_utf8(data):
            yield data.decode()
