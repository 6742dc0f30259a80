"""Texts of a family that change again and again, next to its library: the seams are nasty, and the texts stay short."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.campaigns.standing.laws.changing import ENCODINGS, bounds, changed
from tokdfa.base.errors import TokdfaError

if TYPE_CHECKING:
    from tests.campaigns.families.asking import Family, Ids

__all__ = ["ask_changes"]

BATCH = 500
LONGEST = 400
MOST_NEW = 40

# A text after a change, how it came about, and our ids, or why the change was refused.
Asked = tuple[str, object, "Ids | str"]


def ask_changes(family: Family, n: int) -> None:
    """Change texts `n` times, and compare the ids after each change with the library's for the whole text."""
    began = time.process_time()
    while n > 0:
        asked = changes(family, min(n, BATCH))
        n -= len(asked)
        for (text, how, ours), wanted in zip(asked, family.peer.encode([text for text, *_ in asked]), strict=True):
            family.outcome.changes += 1
            if isinstance(ours, str):
                family.outcome.refused[ours] += 1
                wrong = family.encoded(family.tokenizer.encode, text) != ours
            else:
                wrong = ours != (family.encoded(family.tokenizer.encode, text) if wanted is None else wanted)
            if wrong:
                family.outcome.differences.append(f"change {how!r}: {text!r}: library {wanted}, tokdfa {ours}"[:2500])
    family.outcome.seconds["changes"] += time.process_time() - began


def changes(family: Family, n: int) -> list[Asked]:
    """Return changes of one text after the other."""
    asked: list[Asked] = []
    while len(asked) < n:
        encoding, text = family.drawn.choice(ENCODINGS)(family.tokenizer), ""
        marks: list[tuple[int, str]] = []
        while len(asked) < n and len(text) < LONGEST:
            text = change(family, encoding, text, marks, asked)
    return asked


def change(family: Family, encoding: Any, text: str, marks: list[tuple[int, str]], asked: list[Asked]) -> str:
    """Change a text in one way or another, add that to the list, and return the text after it."""
    drawn, met = family.drawn, family.outcome.met
    way = drawn.choice(["append", "append", "edit", "edit", "mark", "roll back", "ids"])
    if way == "mark":
        marks.append((encoding.mark(), text))
        return text
    if way == "roll back":
        if marks:
            del marks[drawn.randrange(len(marks)) + 1 :]
            mark, text = marks[-1]
            encoding.rollback(mark)
            met["changes: roll back"] += 1
            asked.append((text, way, encoding.ids.tolist()))
        return text
    new = part_of_text(family)
    start, stop = bounds(drawn, text) if way == "edit" else (len(text), len(text))
    found, byte_range = changed(text, start, stop, new)
    if family.subject.is_alike is not None and not family.subject.is_alike(found):
        return text
    if way == "ids":
        append_to_ids(family, encoding.ids.tolist(), new, asked)
        return text
    met[f"changes: {way}"] += 1
    given = new.encode() if drawn.random() < 0.3 else new
    before = encoding.ids.tolist()
    try:
        kept, new_ids, n_removed = encoding.append(given) if way == "append" else encoding.edit(byte_range, given)
    except TokdfaError as error:
        asked.append((found, (way, text, byte_range, new), error.what))
        return text
    ids = encoding.ids.tolist()
    asked.append((found, (way, text, byte_range, new), ids))
    if [*before[:kept], *new_ids.tolist(), *before[kept + n_removed :]] != ids:
        family.outcome.differences.append(f"change {(way, text, byte_range, new)!r}: kept {kept}, {n_removed} removed")
    met["changes: several cuts"] += len(encoding._cuts) > 2
    return found


def append_to_ids(family: Family, ids: Ids, new: str, asked: list[Asked]) -> None:
    """Put text after ids, where these have a text with the same ids."""
    tokenizer, met = family.tokenizer, family.outcome.met
    try:
        shown = tokenizer.decode(ids)
        is_canonical = tokenizer.encode(shown).tolist() == ids
    except TokdfaError:
        is_canonical = False
    found: Ids | str
    try:
        kept, new_ids = tokenizer.append(ids, new)
        found = [*ids[:kept], *new_ids.tolist()]
    except TokdfaError as error:
        found = error.what
    met["changes: ids" if is_canonical else "changes: ids that are not canonical"] += 1
    if is_canonical:
        asked.append((shown + new, ("ids", ids, new), found))
    elif not isinstance(found, str):
        family.outcome.differences.append(f"change {('ids', ids, new)!r}: not refused: {found}")


def part_of_text(family: Family) -> str:
    """Return a short part of a text: its beginning, its end, or any."""
    drawn = family.drawn
    _, text = family.texts.next()
    size = drawn.choice([1, 2, 3, 7, MOST_NEW])
    start = drawn.choice([0, max(len(text) - size, 0), drawn.randrange(len(text) + 1)])
    return text[start : start + size]
