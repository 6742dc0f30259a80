"""Texts with slots, the text of a template; and the least texts for its slots with which a special token is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise, product
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata import texts as languages
from tokdfa.automata.texts import PLAIN, Found, Scan
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.base.verdict import Displayed
from tokdfa.regex.syntax import Alternate, Concat, Node, Symbols
from tokdfa.regex.unicode.normalization import Normalizer

__all__ = ["Part", "Slot", "checked_parts", "nodes", "parts_of"]


@dataclass(frozen=True, slots=True)
class Slot(Displayed):
    """A part of a text that is filled in, such as the content of a turn.

    Attributes
    ----------
    name : str
        Its name, for people.
    pattern : str, optional
        A regular expression that all of the text that is filled in matches; by default it is any text.
    strips_left, strips_right : bool
        Whether white space is removed from that text at its beginning, and at its end, as ``str.strip`` does.

    Examples
    --------
    >>> from tokdfa.jobs.splices.parts import Slot, parts_of
    >>> parts_of("<user>{content|trim}</user>")[1] == Slot("content", strips_left=True, strips_right=True)
    True
    """

    name: str = ""
    pattern: str | None = None
    strips_left: bool = False
    strips_right: bool = False

    @property
    def is_any(self) -> bool:
        """Whether any text may be filled in."""
        return self.pattern is None

    def node(self, table: str = "regex") -> Node:
        """Return the pattern of the texts that get there."""
        if self.pattern is not None:
            return languages.regular(self.pattern, table, f"slot {self.name}")
        if not (self.strips_left or self.strips_right):
            return languages.ANYTHING
        solid = Symbols(_not_white_space())
        edge: Node = solid
        first, last = (edge if strips else languages.ANYTHING for strips in (self.strips_left, self.strips_right))
        return Alternate((Concat(()), solid, Concat((first, languages.ANYTHING, last))))

    def language(self, table: str = "regex") -> languages.Language:
        """Return the language of the texts that get there."""
        return languages.language_of(f"slot {self.name}", self.node(table))

    def holds(self, text: str) -> bool:
        """Return whether a text may get there, without a pattern."""
        return not ((self.strips_left and text[:1].isspace()) or (self.strips_right and text[-1:].isspace()))


Part: TypeAlias = str | Slot

_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)(\|trim)?(?::((?:[^{}\\]|\\.|\{[^{}]*\})+))?\}|([{}])")


def parts_of(text: str) -> tuple[Part, ...]:
    r"""Return the parts of a text in which slots are written as ``{name}``, ``{name|trim}`` or ``{name:regex}``.

    Two braces are one, literally.

    Examples
    --------
    >>> from tokdfa.jobs.splices.parts import parts_of
    >>> [part if isinstance(part, str) else part.name for part in parts_of("a{{{b:[0-9]+}c")]
    ['a{', 'b', 'c']
    """
    parts: list[Part] = []
    at = 0
    for match in _SLOT.finditer(text):
        name, trim, pattern, wrong = match.groups()
        if wrong is not None:
            raise PatternError(
                "a brace that is not part of a slot",
                value=text[match.start() : match.start() + 20],
                where=f"character {match.start()}",
                hint="write a slot as {name}, {name|trim} or {name:regex}, and a brace twice",
            )
        parts.append(text[at : match.start()])
        parts.append(match.group()[0] if name is None else Slot(name, pattern, trim is not None, trim is not None))
        at = match.end()
    return checked_parts([*parts, text[at:]])


def checked_parts(parts: str | Iterable[Part]) -> tuple[Part, ...]:
    """Return parts with no two literal neighbours and none empty."""
    if isinstance(parts, str):
        return parts_of(parts)
    if not isinstance(parts, Iterable):
        raise WrongTypeError("a text with slots, or a list of texts and slots, is expected", value=parts)
    found: list[Part] = []
    for part in parts:
        if isinstance(part, Slot):
            if part.pattern is not None and (part.strips_left or part.strips_right):
                raise PatternError("a slot with a pattern cannot strip as well", value=part.name)
            found.append(part)
            continue
        if not isinstance(part, str):
            raise WrongTypeError("a text or a slot is expected", value=part, where=f"part {len(found)}")
        languages.literal(part, f"part {len(found)}")
        if part and found and isinstance(found[-1], str):
            found[-1] += part
        elif part:
            found.append(part)
    return tuple(found)


def nodes(parts: Sequence[Part], what: str, table: str = "regex") -> list[Node]:
    """Return the patterns of parts."""
    return [languages.literal(part, what) if isinstance(part, str) else part.node(table) for part in parts]


@lru_cache(maxsize=1)
def _not_white_space() -> tuple[tuple[int, int], ...]:
    """Return the ranges of the code points that ``str.strip`` leaves."""
    white = [point for point in range(0x110000) if chr(point).isspace()]
    edges = [-1, *white, 0x110000]
    return tuple((a + 1, b - 1) for a, b in pairwise(edges) if a + 1 <= b - 1)


FILLER = "\0"
"""The least text of one byte; it is no part of a word, and separates what must not touch."""

_MOST = 1 << 20
_CHANGING = (0, 0x3400), (0xA640, 0xAC00), (0xF900, 0x10000)


def values_that_spell(parts: Sequence[Part], content: str, filler: str | None) -> Iterator[tuple[str, ...]]:
    """Yield texts for the slots, in order, such that `content` is in the whole and overlaps a slot, or goes across it.

    All other texts that do so have more symbols around these, within the slots where the content begins and ends, or in
    other slots. With a filler, the symbols next to the content matter: texts are also yielded with the filler before
    it, after it, or both, in the slots that are there.
    """
    slots = [number for number, part in enumerate(parts) if not isinstance(part, str)]
    count = 0
    for first, part in enumerate(parts):
        if isinstance(part, str):
            lengths = [n for n in range(1, min(len(content) - 1, len(part)) + 1) if part.endswith(content[:n])]
        else:
            lengths = [*range(1, len(content) + 1)]
        for n in lengths:
            begun = {} if isinstance(part, str) else {first: content[:n]}
            # The slot in which a symbol precedes the content, if the symbol before it is not one of the template.
            left = first if not isinstance(part, str) else first - 1 if n == len(part) and first else None
            for rest in _extended(parts, first + 1, content[n:]):
                values = {**begun, **rest}
                outer = (left, _slot_after(parts, values, content, first, n))
                fillers = product(*(("", filler) if filler and at is not None else ("",) for at in outer))
                for before, after in fillers:
                    count += 1
                    if count > _MOST:
                        raise LimitExceededError("a special token may be spelled in too many ways", value=content)
                    full = dict(values)
                    if before and outer[0] is not None:
                        full[outer[0]] = before + full.get(outer[0], "")
                    if after and outer[1] is not None:
                        full[outer[1]] = full.get(outer[1], "") + after
                    yield tuple(full.get(slot, "") for slot in slots)


def _slot_after(parts: Sequence[Part], values: Mapping[int, str], content: str, first: int, n: int) -> int | None:
    """Return the slot in which a symbol follows the content, if the symbol after it is not one of the template."""
    size, at = n, first
    while size < len(content):
        at += 1
        part = parts[at]
        size += len(part) if isinstance(part, str) else len(values[at])
    if not isinstance(parts[at], str):
        return at
    return at + 1 if size == len(content) and at > first and at + 1 < len(parts) else None


def _extended(parts: Sequence[Part], at: int, rest: str) -> Iterator[dict[int, str]]:
    """Yield texts for the slots from part `at` on with which the rest of the content follows there."""
    if not rest:
        yield {}
        return
    if at == len(parts):
        return
    part = parts[at]
    if isinstance(part, str):
        if part.startswith(rest):
            yield {}
        elif rest.startswith(part):
            yield from _extended(parts, at + 1, rest[len(part) :])
        return
    for n in range(len(rest) + 1):
        for later in _extended(parts, at + 1, rest[n:]):
            yield {at: rest[:n], **later}


def preimages(_: object, normalizer: Normalizer) -> Mapping[str, str]:
    """Return the least character for each text that a normalizer makes of one character: by bytes, then in order.

    Looked at are U+0000 to U+33FF, U+A640 to U+ABFF and U+F900 to U+FFFF; ideographs, Hangul syllables and code points
    beyond the first plane are left out. Nothing is missed for ASCII, on which alone proofs and shortest attacks depend:
    a normalization form and lowercasing leave an ASCII text that they give as it is, so it is its own least one. For
    other texts an attack is not called the shortest, and no proof is given.
    """
    points = [point for low, high in _CHANGING for point in range(low, high) if chr(point) != "\n"]
    images = normalizer("\n".join(map(chr, points))).split("\n")
    if len(images) != len(points):
        images = [normalizer(chr(point)) for point in points]
    found: dict[str, str] = {"\n": "\n"}
    for point, image in zip(points, images, strict=True):
        if image:
            found.setdefault(image, chr(point))
    return found


def least_preimage(images: Mapping[str, str], text: str) -> str | None:
    """Return the least text that is normalized to `text`, character by character; None if there is none."""
    longest = max(map(len, images), default=0)
    best: list[tuple[int, bytes] | None] = [(0, b"")]
    for end in range(1, len(text) + 1):
        found: tuple[int, bytes] | None = None
        for start in range(max(end - longest, 0), end):
            before, symbol = best[start], images.get(text[start:end])
            if before is not None and symbol is not None:
                data = before[1] + symbol.encode()
                found = (len(data), data) if found is None else min(found, (len(data), data))
        best.append(found)
    return None if best[-1] is None else best[-1][1].decode()


class _State(NamedTuple):
    """Where a search is: the part, and the index in it; the guessed special token, and whether one overlaps a slot."""

    part: int
    at: int
    scan: Scan
    touches: bool
    injected: bool


def least_values(
    parts: Sequence[Part], contents: Sequence[str], *, max_seconds: float = 30.0
) -> tuple[str, ...] | None:
    """Return texts for the slots, in order, by the fewest bytes of all, then in order; None if there are none.

    `contents` are special tokens that are found wherever they occur, the leftmost first, of these the longest.
    """
    return _Search(parts, contents, Budget(max_seconds=max_seconds, what="the search for texts of slots")).run()


class _Search:
    def __init__(self, parts: Sequence[Part], contents: Sequence[str], budget: Budget) -> None:
        self._parts = parts
        self._found = Found(contents)
        self._symbols = {*self._found.symbols}
        self._budget = budget
        self._languages = {part: part.language() for part in parts if isinstance(part, Slot)}
        self._choices = {slot: [*self._least(language)] for slot, language in self._languages.items()}
        self._moves: dict[tuple[Scan, str | None], list[tuple[Scan, int]]] = {}

    def run(self) -> tuple[str, ...] | None:
        start = _State(0, 0, Scan(), False, False)
        heap: list[tuple[int, tuple[bytes, ...], _State]] = [(0, (), start)]
        done = set()
        while heap:
            size, values, state = heappop(heap)
            if state in done:
                continue
            done.add(state)
            self._budget.spend(1)
            self._budget.check_states(len(done))
            if state.part == len(self._parts):
                if state.injected and self._found.may_end(state.scan):
                    return tuple(value.decode() for value in values)
                continue
            part = self._parts[state.part]
            if isinstance(part, str):
                if state.at == len(part):
                    heappush(heap, (size, values, state._replace(part=state.part + 1, at=0)))
                    continue
                for target in self._after(state, part[state.at], state.at + 1, in_slot=False):
                    heappush(heap, (size, values, target))
                continue
            if len(values) <= sum(isinstance(other, Slot) for other in self._parts[: state.part]):
                values = (*values, b"")
            language = self._languages[part]
            if language.finals[state.at]:
                beyond = state._replace(part=state.part + 1, at=0, touches=state.touches or state.scan.special >= 0)
                heappush(heap, (size, values, beyond))
            for symbol, column in self._choices[part]:
                at = language.rows[state.at][column]
                if at < 0:
                    continue
                data = symbol.encode()
                longer = (*values[:-1], values[-1] + data)
                for target in self._after(state, symbol, at, in_slot=True):
                    if target not in done:
                        heappush(heap, (size + len(data), longer, target))
        return None

    def _after(self, state: _State, symbol: str, at: int, *, in_slot: bool) -> Iterator[_State]:
        known = symbol if symbol in self._symbols else None
        key = state.scan, known
        if key not in self._moves:
            self._moves[key] = [*self._found.moves(state.scan, known)]
        for scan, effect in self._moves[key]:
            touches = effect != PLAIN and (in_slot or (state.touches and effect < 0))
            ends = effect != PLAIN and scan.special < 0
            yield _State(state.part, at, scan, touches and not ends, state.injected or (ends and touches))

    def _least(self, language: languages.Language) -> Iterator[tuple[str, int]]:
        """Yield the least symbol of each class that a language and the special tokens distinguish, with its column."""
        marks = np.zeros(0x110000, dtype=np.int64)
        for number, symbol in enumerate(self._found.symbols):
            marks[ord(symbol)] = number + 1
        classes, symbols = languages.classes_together([language.class_of_code_point, marks])
        for number, symbol in languages.least_of_classes(classes):
            yield symbol, symbols[number][0]
