"""The new ids of a region: its text with the matches replaced, encoded again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import regex

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.errors import AlphabetError, PatternError, TokenStreamError, WrongTypeError
from tokdfa.jobs.replacing.alternatives import depends_on_context
from tokdfa.jobs.replacing.regions import Cuts
from tokdfa.kernels.replacing.regions import kinds_of
from tokdfa.regex.syntax import Anchor, LookAhead, parse

_Spans: TypeAlias = Sequence[tuple[int, int]]
"""Where matches begin and end in the bytes of a region."""

# An escaped backslash, or a group. An octal escape that looks like a group does no harm.
_GROUP = regex.compile(r"\\(?:(g<0>)|(g<|[1-9])|(?s:.))")


class Template:
    r"""A replacement, as `re.sub` reads it: ``\1`` and ``\g<name>`` are groups, and ``\n`` is a line feed.

    The pattern is an expression; words, which have no groups; or several expressions, each with its replacement.
    """

    def __init__(self, pattern: str | Iterable[str | bytes], replacements: Mapping[str, str]) -> None:
        # The expression, which :func:`alternatives` makes of several; for words, one that matches any text.
        self.pattern: Any = regex.compile(pattern if isinstance(pattern, str) else "(?s:.*)")
        self._rules = [(regex.compile(own), replacement) for own, replacement in replacements.items()]
        groups = [group for own, replacement in self._rules for group in _groups(own, replacement)]
        # Whether it depends on the captures of groups, or on text next to the match, and these on text far from it.
        self.captures = any(other is not None for _, other in groups)
        self.looks_far = False
        self.text: bytes | None = None  # The replacement, if it is the same for all matches
        if len(self._rules) > 1:
            assert isinstance(pattern, str)
            self.captures |= depends_on_context(parse(pattern), (LookAhead, Anchor))
        if not any(whole or other for whole, other in groups) and len({*replacements.values()}) == 1:
            self.text = _encoded(regex.sub("x", self._rules[0][1], "x"), self._rules[0][1])
            self.captures = False
        elif (self.captures or len(self._rules) > 1) and isinstance(pattern, str):
            self.looks_far = depends_on_context(parse(pattern), ())

    def of_whole(self, text: bytes) -> bytes:
        """Return the replacement of a match with this text, if nothing else is captured."""
        whole = text.decode("utf-8")
        if len(self._rules) == 1:
            return self.of_match(regex.fullmatch("(?s:.*)", whole))
        found = ((own.fullmatch(whole), replacement) for own, replacement in self._rules)
        return next(_encoded(match.expand(text), text) for match, text in found if match is not None)

    def of_match(self, match: Any) -> bytes:
        """Return the replacement of a match of :attr:`pattern`; of several, the first that matches there has it."""
        if len(self._rules) > 1:
            found = ((own.match(match.string, match.start()), text) for own, text in self._rules)
            match, replacement = next((own, text) for own, text in found if own is not None)
        else:
            _, replacement = self._rules[0]
        return _encoded(match.expand(replacement), replacement)


def _groups(pattern: Any, replacement: str) -> list[tuple[str | None, str | None]]:
    """Return the groups of a template, each as the whole match or another one; refused if the pattern lacks one."""
    names = {number: f"(?P<{name}>)" for name, number in pattern.groupindex.items()}
    empty = "".join(names.get(number, "()") for number in range(1, pattern.groups + 1))
    try:  # with a match of the empty text that has the same groups
        regex.match(empty, "").expand(replacement)
    except (regex.error, IndexError) as error:
        what = f"the replacement is not a template for this pattern: {error}"
        raise PatternError(what, value=replacement, hint=r"a backslash is written \\") from None
    return [found.group(1, 2) for found in _GROUP.finditer(replacement)]


def check_replacement(replacement: object) -> None:
    """Refuse a replacement that is not a string."""
    if not isinstance(replacement, str):
        hint = r"a template such as r'\1' refers to groups" if callable(replacement) else None
        raise WrongTypeError("a replacement must be a str", value=replacement, hint=hint)


def _encoded(text: str, replacement: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        what = "the replacement has half of a surrogate pair, which cannot occur in a text"
        raise PatternError(what, value=replacement, where=f"character {error.start}") from None


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of replacing. They change its cost, never its result."""

    # Ids that are searched at once; and at first, if all are there. From the first match on they are copied.
    block: int = 1 << 18
    first_block: int = 1 << 15
    # Ids on each side of a match among which a cut is looked for at first.
    near: int = 12
    # Ids after a region that captures are read with at first.
    context: int = 4
    # The number of regions with remembered new ids, and of the ids of the longest one.
    max_known: int = 1 << 14
    max_key: int = 64


class Found(NamedTuple):
    """Matches in ids, and their replacements; None if these are not known yet.

    A row has the first id of a match, the one after its last, the number of bytes of the first id before the match, and
    the number of bytes of the match. An empty match between two ids is before the second and has no ids.
    """

    rows: Int64Array
    replacements: list[bytes] | None = None


class Rewritten(NamedTuple):
    """The new ids of a region, and how many of the first and of the last ones are the old ones."""

    ids: Int32Array
    same: int
    rest: int


class Edits(NamedTuple):
    """Segments of ids, each from its first id to the one after its last, in order, and the new ids of each kind."""

    bounds: Int64Array
    kind: Int64Array
    new: list[Rewritten]


class Rewriter:
    """Encodes regions again, and remembers the last ones. No match goes across a control id, or sees past it."""

    def __init__(self, cuts: Cuts, is_control: BoolArray, template: Template, tuning: Tuning) -> None:
        self._cuts = cuts
        self._is_control = is_control
        self._template = template
        self._tuning = tuning
        self._known: dict[tuple[object, ...], Rewritten] = {}

    def rewrite(
        self, ids: Int32Array, regions: Int64Array, found: Found, *, first: int, begins: bool, final: bool
    ) -> Edits:
        """Return the new ids of regions, up to the first one with captures that depend on further ids.

        The regions come from :func:`tokdfa.jobs.replacing.regions.regions`; none is open. `first` is the index of the
        first id in the stream, for messages; `begins` and `final` tell whether a text begins and ends with the ids.
        """
        kind = example = np.arange(len(regions), dtype=np.int64)
        if len(regions) > 1 and not self._template.captures:
            # The replacement of a match depends on its text alone.
            kind, example = kinds_of(ids, found.rows, regions, begins=begins)
        new: list[Rewritten] = []
        for region in regions[example].tolist():
            rewritten = self._rewritten(ids, region, found, first=first, begins=begins, final=final)
            if rewritten is None:
                kind = kind[: len(new)]
                break
            new.append(rewritten)
        return Edits(np.ascontiguousarray(regions[: len(kind), :2]), kind, new)

    def _rewritten(
        self, ids: Int32Array, region: Sequence[int], found: Found, *, first: int, begins: bool, final: bool
    ) -> Rewritten | None:
        """Return the new ids of a region; None if its captures depend on further ids."""
        start, stop, first_match, end_match = region
        rows = found.rows[first_match:end_match].tolist()
        part = ids[start:stop]
        key: tuple[object, ...] | None = None
        if found.replacements is None and not self._template.captures and stop - start <= self._tuning.max_key:
            positions = [(token - start, offset, length) for token, _, offset, length in rows]
            key = (begins and start == 0, part.tobytes(), *positions)
            known = self._known.get(key)
            if known is not None:
                return known
        begins = begins and start == 0
        data, ends = self._cuts.spelled(part, begins=begins)
        spans = _spans(rows, data, ends, start, first)
        if found.replacements is not None:
            replacements: list[bytes] | None = found.replacements[first_match:end_match]
        else:
            replacements = self._replacements(ids, start, stop, data, ends, spans, final)
        if replacements is None:
            return None
        try:
            new = self._cuts.encode(_replaced(data, spans, replacements).decode("utf-8"), begins=begins)
        except UnicodeDecodeError:
            if not self._cuts.spells_alone:
                raise _not_utf8(data[slice(*spans[0])], first + start) from None
            new = self._around_bad_bytes(part, data, ends, spans, replacements, first + start, begins)
        except AlphabetError as error:
            raise _not_encodable(error, first + start, first + stop) from None
        rewritten = _compared(part, new)
        if key is not None:
            if len(self._known) >= self._tuning.max_known:
                self._known.clear()
            self._known[key] = rewritten
        return rewritten

    def _replacements(
        self, ids: Int32Array, first: int, stop: int, data: bytes, ends: Int64Array, spans: _Spans, final: bool
    ) -> list[bytes] | None:
        """Return the replacements of the matches in ids `first` to `stop`; None if they depend on further ids."""
        template = self._template
        if template.text is not None:
            return [template.text] * len(spans)
        if not template.captures:
            return [template.of_whole(data[start:end]) for start, end in spans]
        replacements = []
        size = self._tuning.context
        # A control token in the region ends the text before it, and another one begins after it.
        controls = np.flatnonzero(self._is_control[ids[first:stop]])
        text_ends = np.append(0, ends)[controls].tolist()
        text_begins = ends[controls].tolist()
        for start, end in spans:
            begin = max((at for at in text_begins if at <= start), default=0)
            high = min((at for at in text_ends if at >= end), default=None)
            while True:
                after = ids[stop : stop + size] if high is None else ids[:0]
                bounds = np.flatnonzero(self._is_control[after])
                is_all = high is not None or len(bounds) > 0 or (final and stop + size >= len(ids))
                after = after[: bounds[0]] if len(bounds) else after
                replacement = self._captured(data[begin:high], after, start - begin, end - begin, is_all)
                if replacement is not None:
                    replacements.append(replacement)
                    break
                if is_all:
                    what = "the library regex does not find this match, so what its groups capture is not known"
                    raise PatternError(what, value=data[start:end].decode("utf-8", "replace"))
                if stop + size >= len(ids):
                    return None
                size *= 16
        return replacements

    def _captured(self, data: bytes, after: Int32Array, start: int, end: int, is_all: bool) -> bytes | None:
        """Return the replacement of a match, read with the text after the region; None if it needs more of that.

        A path that ends where the match does depends only on the two symbols after it, so the first such path stays the
        first one, whatever comes next. A path that reads to the end of the given text may fail with more of it.
        """
        text, _ = self._cuts.spelled(after, begins=False)
        context = text.decode("utf-8", "replace")
        if len(context) < 2 and not is_all:
            return None
        before, inside = data[:start].decode("utf-8", "replace"), data[start:end].decode("utf-8")
        rest = data[end:].decode("utf-8", "replace") + context
        match = self._template.pattern.match(before + inside + rest, len(before))
        if match is None or match.end() != len(before) + len(inside):
            return None
        return self._template.of_match(match)

    def _around_bad_bytes(
        self, ids: Int32Array, data: bytes, ends: Int64Array, spans: _Spans, new: list[bytes], first: int, begins: bool
    ) -> Int32Array:
        """Return the new ids of a region with bytes that are not UTF-8: ids that cannot do without such bytes stay."""
        begin_of = np.concatenate(([0], ends))
        bounds = np.concatenate(([-1], np.flatnonzero(_stays(data, ends)), [len(ids)])).tolist()
        parts: list[Int32Array] = []
        done = 0
        for before, stop in pairwise(bounds):
            if before >= 0:
                parts.append(ids[before : before + 1])
            low, high = int(begin_of[before + 1]), int(begin_of[stop])
            n_inside = 0
            while done + n_inside < len(spans) and spans[done + n_inside][1] <= high:
                n_inside += 1
            inside = slice(done, done + n_inside)
            if n_inside and spans[done][0] < low:
                break
            if not n_inside:
                parts.append(ids[before + 1 : stop])
                continue
            own = [(start - low, end - low) for start, end in spans[inside]]
            text = _replaced(data[low:high], own, new[inside]).decode("utf-8")
            try:
                parts.append(self._cuts.encode(text, begins=begins and before < 0))
            except AlphabetError as error:
                raise _not_encodable(error, first + before + 1, first + stop) from None
            done += n_inside
        if done < len(spans):
            start, end = spans[done]
            raise _not_utf8(data[start:end], first + int(np.searchsorted(ends, start, "right")))
        return np.concatenate(parts)


def _compared(ids: Int32Array, new: Int32Array) -> Rewritten:
    before, after = ids.tolist(), new.tolist()
    least = min(len(before), len(after))
    same = rest = 0
    while same < least and before[same] == after[same]:
        same += 1
    while rest < least - same and before[-1 - rest] == after[-1 - rest]:
        rest += 1
    return Rewritten(new, same, rest)


def _spans(
    rows: Sequence[Sequence[int]], data: bytes, ends: Int64Array, start: int, first: int
) -> list[tuple[int, int]]:
    """Return where matches begin and end in the bytes of a region that begins with id `start`; `first` is for messages.

    Of fallback bytes that are not UTF-8 together, decoding makes a U+FFFD each, also of a match among them.
    """
    begin_of = [0, *ends.tolist()]
    spans = []
    for token, stop, offset, length in rows:
        begin = begin_of[token - start] + offset
        if length and not begin_of[stop - start - 1] < begin + length <= begin_of[stop - start]:
            raise _not_utf8(data[begin : begin + length], first + token)
        spans.append((begin, begin + length))
    return spans


def _replaced(data: bytes, spans: _Spans, replacements: Sequence[bytes]) -> bytes:
    parts: list[bytes] = []
    at = 0
    for (start, end), replacement in zip(spans, replacements, strict=True):
        parts += (data[at:start], replacement)
        at = end
    parts.append(data[at:])
    return b"".join(parts)


def _stays(data: bytes, ends: Int64Array) -> BoolArray:
    """Return for each id, given where its bytes end, whether it or an id with another part of a symbol is not UTF-8."""
    points = np.frombuffer(data.decode("utf-8", "surrogateescape").encode("utf-32-le", "surrogatepass"), dtype="<u4")
    is_escaped = (points >= 0xDC80) & (points <= 0xDCFF)
    sizes = np.where(is_escaped, 1, 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000))
    is_bad = np.repeat(is_escaped, sizes)
    n_bad = running_sum(is_bad.view(np.uint8))
    continues = np.append((np.frombuffer(data, dtype=np.uint8) & 0xC0 == 0x80) & ~is_bad, False)
    # Where an id does not begin within a symbol, it does not hang on the ids before.
    group = np.cumsum(~continues[np.append(0, ends[:-1])])
    has_bad = n_bad[ends] > n_bad[np.append(0, ends[:-1])]
    stays: BoolArray = np.isin(group, group[has_bad])
    return stays


def _not_utf8(value: bytes, token: int) -> TokenStreamError:
    what = "a match shares a token with bytes that are not UTF-8, which cannot be encoded again"
    return TokenStreamError(what, value=value, where=f"token {token}")


def _not_encodable(error: AlphabetError, start: int, stop: int) -> AlphabetError:
    where = f"the new text of tokens {start} to {stop}"
    return AlphabetError(error.what, value=error.value, where=where, hint=error.hint)
