"""Canonical ids spoiled: exchanged, split, merged, replaced, dropped and repeated ids, and bytes that are not text."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.campaigns.families.peers import Peer

__all__ = ["EDITS", "Spoiler"]

BAD_BYTES = [b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xff", b"\xe4\xb8", b"\xf0\x9f\x98"]
BAD_BYTES += [
    b"\x80",
    b"\xe4",
    b"\xf8\x88\x80\x80\x80",
    "é".encode()[:1],
    "中".encode(),
    "😀".encode(),
    b"\xef\xbf\xbd",
]


class Spoiler:
    """Edits of the ids of one file."""

    def __init__(self, peer: Peer, drawn: random.Random) -> None:
        self._drawn = drawn
        self._tokens = peer.tokens
        self._id_of = {token: id for id, token in peer.tokens.items()}
        self._bytes = {word: id for id, word in peer.words.items() if len(word) == 1}
        # Where there are fallbacks for bytes, they are these and not the letters.
        self._bytes |= {bytes([n]): self._id_of[name] for n in range(256) if (name := f"<0x{n:02X}>") in self._id_of}
        self._known = sorted(peer.tokens)
        self._added = sorted(peer.added)
        self._silent = [id for id, word in peer.words.items() if not word]
        self._short = [id for id in self._known if len(peer.tokens[id]) <= 2] or self._known

    def spoiled(self, ids: list[int]) -> tuple[list[int], list[str]]:
        """Return ids after one to three edits, and their names."""
        ids, names = ids.copy(), []
        for _ in range(self._drawn.choice([1, 1, 1, 2, 3])):
            name = self._drawn.choice([*EDITS])
            ids = EDITS[name](self, ids, self._drawn.randrange(len(ids) + 1))
            names.append(name)
        return ids, names

    def swap(self, ids: list[int], at: int) -> list[int]:
        return [*ids[:at], *ids[at : at + 2][::-1], *ids[at + 2 :]]

    def split(self, ids: list[int], at: int) -> list[int]:
        """Cut a token into two that spell it, at any place where there are such."""
        for index in [*range(at, len(ids)), *range(at)]:
            token = self._tokens.get(ids[index], "")
            pairs = [(token[:cut], token[cut:]) for cut in range(1, len(token))]
            pairs += [(left, "##" + right) for left, right in pairs]
            found = [pair for pair in pairs if pair[0] in self._id_of and pair[1] in self._id_of]
            if found:
                left, right = self._drawn.choice(found)
                return [*ids[:index], self._id_of[left], self._id_of[right], *ids[index + 1 :]]
        return ids

    def merge(self, ids: list[int], at: int) -> list[int]:
        """Make one token of two neighbours that spell it, at any place where there are such."""
        for index in [*range(at, len(ids) - 1), *range(min(at, len(ids) - 1))]:
            left, right = (self._tokens.get(id, "") for id in ids[index : index + 2])
            for joined in (left + right, left + right.removeprefix("##")):
                if joined in self._id_of:
                    return [*ids[:index], self._id_of[joined], *ids[index + 2 :]]
        return ids

    def replace(self, ids: list[int], at: int) -> list[int]:
        return [*ids[:at], self._drawn.choice(self._known), *ids[at + 1 :]]

    def replace_by_short(self, ids: list[int], at: int) -> list[int]:
        return [*ids[:at], self._drawn.choice(self._short), *ids[at + 1 :]]

    def drop(self, ids: list[int], at: int) -> list[int]:
        return ids[:at] + ids[at + 1 :]

    def duplicate(self, ids: list[int], at: int) -> list[int]:
        return [*ids[:at], *ids[at : at + 1] * self._drawn.choice([2, 2, 3]), *ids[at + 1 :]]

    def insert_added(self, ids: list[int], at: int) -> list[int]:
        return [*ids[:at], self._drawn.choice(self._added or self._short), *ids[at:]]

    def insert_silent(self, ids: list[int], at: int) -> list[int]:
        """Put in a token without text, wherever there is one."""
        return [*ids[:at], self._drawn.choice(self._silent or self._short), *ids[at:]]

    def insert_bytes(self, ids: list[int], at: int) -> list[int]:
        """Put in bytes one by one, of a surrogate, a part of a character, or a whole one."""
        data = self._drawn.choice(BAD_BYTES)
        return [
            *ids[:at],
            *(self._bytes[data[k : k + 1]] for k in range(len(data)) if data[k : k + 1] in self._bytes),
            *ids[at:],
        ]

    def exchange_far(self, ids: list[int], at: int) -> list[int]:
        if at == len(ids):
            return ids[::-1]
        other = self._drawn.randrange(len(ids))
        ids = ids.copy()
        ids[at], ids[other] = ids[other], ids[at]
        return ids

    def rewrite(self, ids: list[int], at: int) -> list[int]:
        """Spell a token by its letters alone, as they continue a word where that is told apart."""
        token = self._tokens.get(ids[at], "") if at < len(ids) else ""
        first, rest = token[:3] if token.startswith("##") else token[:1], token.removeprefix("##")[1:]
        for names in ([first, *("##" + letter for letter in rest)], [*token]):
            letters = [self._id_of[name] for name in names if name in self._id_of]
            if len(letters) == len(names):
                return [*ids[:at], *letters, *ids[at + 1 :]]
        return ids


EDITS: dict[str, Callable[[Spoiler, list[int], int], list[int]]] = {
    "swapped": Spoiler.swap,
    "split": Spoiler.split,
    "merged": Spoiler.merge,
    "replaced": Spoiler.replace,
    "replaced by a short one": Spoiler.replace_by_short,
    "dropped": Spoiler.drop,
    "duplicated": Spoiler.duplicate,
    "an added token put in": Spoiler.insert_added,
    "a silent token put in": Spoiler.insert_silent,
    "bytes put in": Spoiler.insert_bytes,
    "exchanged from afar": Spoiler.exchange_far,
    "spelled by letters": Spoiler.rewrite,
}
