"""Encodings that change: after appends, edits and rollbacks in any order the ids are the library's for the text.

And text that is put after ids at hand: the library gives the ids that follow for the text of both.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from tests.support.families import Member
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.encoding.encoding import Encoding, Update

__all__ = ["check", "check_appending"]

CHANGES = 12


class Close(Encoding):
    """An encoding that remembers many cuts, so that short texts have several."""

    _spacing = 8


class Closer(Encoding):
    """One that remembers all cuts that it finds."""

    _spacing = 2


ENCODINGS = (Encoding, Close, Closer)


def bounds(drawn: random.Random, text: str) -> tuple[int, int]:
    """Return a random range of characters of a text, mostly a short one."""
    start = drawn.randrange(len(text) + 1)
    stop = drawn.randrange(start, len(text) + 1) if drawn.random() < 0.2 else min(start + drawn.randrange(4), len(text))
    return start, stop


def changed(text: str, start: int, stop: int, new: str) -> tuple[str, tuple[int, int]]:
    """Return a text with a range of characters replaced, and that range in bytes."""
    before = len(text[:start].encode())
    return text[:start] + new + text[stop:], (before, before + len(text[start:stop].encode()))


def check(member: Member, drawn: random.Random, n_changes: int = CHANGES) -> Counter[str]:
    """Change a text at random, and look after each change."""
    met: Counter[str] = Counter()
    encoding, text = drawn.choice(ENCODINGS)(member.tokenizer), ""
    marks: list[tuple[int, str]] = []
    for _ in range(n_changes):
        way = drawn.choice(["append", "append", "edit", "edit", "mark", "roll back", "copy"])
        before = encoding.ids.tolist()
        # Ids that are shown must not be written to.
        shown = encoding.ids if drawn.random() < 0.5 else np.array(before)
        if way == "mark":
            marks.append((encoding.mark(), text))
            continue
        if way == "copy":
            twin, encoding = encoding, encoding.copy()
            twin.edit((0, twin.n_bytes), "")
            assert encoding.ids.tolist() == before
            continue
        if way == "roll back":
            if not marks:
                continue
            del marks[drawn.randrange(len(marks)) + 1 :]
            mark, text = marks[-1]
            update = encoding.rollback(mark)
        else:
            new = member.text(drawn, drawn.choice([1, 2, 6]))
            start, stop = (len(text), len(text)) if way == "append" else bounds(drawn, text)
            found, byte_range = changed(text, start, stop, new)
            given = new.encode() if drawn.random() < 0.3 else new
            try:
                update = encoding.append(given) if way == "append" else encoding.edit(byte_range, given)
            except AlphabetError:
                met["refused changes"] += 1
                assert (encoding.text, encoding.ids.tolist()) == (text, before)
                assert refuses(member, found), (text, found)
                continue
            text = found
        met[way] += 1
        met["cuts"] += len(encoding._cuts) > 2
        assert shown.tolist() == before
        assert encoding.text == text
        assert_is_update(encoding, before, update)
        assert_is_whole(member, encoding, text, met)
    return met


def refuses(member: Member, text: str) -> bool:
    """Return whether a text is refused as a whole."""
    try:
        member.tokenizer.encode(text)
    except AlphabetError:
        return True
    return False


def assert_is_update(encoding: Encoding, before: list[int], update: Update) -> None:
    """Assert that an update tells how ids have become the ids of an encoding."""
    kept, new_ids, n_removed = update
    assert [*before[:kept], *new_ids.tolist(), *before[kept + n_removed :]] == encoding.ids.tolist(), update


def assert_is_whole(member: Member, encoding: Encoding, text: str, met: Counter[str]) -> None:
    """Assert that the library gives the ids of an encoding for the whole text; if it fails, that the tokenizer does."""
    expected = member.encode(text)
    if expected is None:
        met["the library fails"] += 1
        expected = member.tokenizer.encode(text).tolist()
    assert encoding.ids.tolist() == expected, text


def check_appending(member: Member, drawn: random.Random, n_streams: int = 6) -> Counter[str]:
    """Put text after ids, canonical or not."""
    met: Counter[str] = Counter()
    for _ in range(n_streams):
        ids, more = member.stream(drawn), member.text(drawn, drawn.choice([1, 2, 6]))
        again = member.again(ids)
        first = max((index + 1 for index, id in enumerate(ids) if id in member.cuts), default=0)
        shown = member.decode(ids[first:])
        expected = member.encode(shown + more)
        if again is None or expected is None:
            met["the library fails"] += 1
            continue
        expected = again[: len(again) - len(member.encode(shown) or ())] + expected
        is_canonical = again == ids
        met["canonical" if is_canonical else "not canonical"] += 1
        assert is_canonical or appended(member, ids, more, repair=False) is None, (ids, more)
        found = appended(member, ids, more, repair=not is_canonical or drawn.random() < 0.5)
        if found is None:
            # Bytes that are not UTF-8, which can be canonical where bytes are dropped; or a symbol that is dropped.
            met["not repaired"] += 1
            assert not is_canonical or not is_utf8(member.spell(ids) or b"") or refuses(member, shown + more), ids
            continue
        kept, new_ids = found
        assert [*ids[:kept], *new_ids] == expected, (ids, more, kept, new_ids)
        assert kept == len(ids) or not new_ids or new_ids[0] != ids[kept], (ids, more)
        met["kept all"] += kept == len(ids)
        met["kept less"] += kept < len(ids) - 1
    return met


def appended(member: Member, ids: list[int], more: str, *, repair: bool) -> tuple[int, list[int]] | None:
    """Return the number of ids that stay and the ids that follow them; None if that is refused."""
    try:
        kept, new_ids = member.tokenizer.append(ids, more, repair=repair)
    except (AlphabetError, TokenStreamError):
        return None
    return kept, new_ids.tolist()
