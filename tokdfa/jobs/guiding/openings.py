"""The text that ids can spell at the beginning of a text, and next to special tokens.

Llama-2 puts a space before every text, and decoding removes the first one. So the ids of "Hi" spell " Hi", and " Hi" is
spelled with two spaces. No text follows a special token in canonical ids: "</s> Hi", decoded, would get a second space.

Where a space is put only before texts without one (Metaspace), or is removed but never put (InternLM-2), no canonical
ids have a text that begins with a space: " Hi" has the ids of "Hi", or decodes to it.

A special token may take the white space next to it, as "<|user|>" of Phi-3 does: "<|user|> Hi" has the ids of
"<|user|>Hi", which spell "<|user|> Hi" again. So text follows this token in canonical ids, with one space exactly.
"""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int32Array, Uint16Array
from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine
from tokdfa.jobs.guiding.forms import over_bytes
from tokdfa.jobs.guiding.splits import Cuts
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.tokenizers.encoding.special import Special

Opening: TypeAlias = int | Literal["start"]
"""Where texts begin: the state of the automaton of beginnings there, or "start" for that of all texts."""

AfterSpecial: TypeAlias = Literal["all", "with space", "none", "anew"]
"""The texts that may follow a special token in canonical ids; "anew" if they are encoded like those after none."""

WITHIN = 1
"""The state of the automaton of beginnings within other text."""

_WITHIN, _AFTER, _START, _BLANK = range(WITHIN, 5)

_OTHER, _SPACE, _ASCII, _WIDE = range(4)
"""The kinds of characters: no white space, the space, other white space of ASCII, and the rest of it."""

_ASCII_ONLY = 1 << _SPACE | 1 << _ASCII
_WHITE = _ASCII_ONLY | 1 << _WIDE


class Strips(NamedTuple):
    """The white space of a special token and that which it takes from the text next to it: sets of kinds, as bits."""

    before: int = 0
    after: int = 0
    is_late: bool = False  # Whether it is found in the text between the other special tokens
    # Its own: of its first and its last character, and of all of them if it has no others.
    first: int = 0
    last: int = 0
    all: int = 0

    @classmethod
    def of(cls, special: Special | None, content: str, shows_spaces: bool) -> Strips:
        """Return those of a special token that is found as `content`; late ones may see no spaces but U+2581.

        None is a symbol of several characters.
        """
        kinds = [1 << int(_kind_of()[ord(character)]) & _WHITE for character in content] or [0]
        own = cls(first=kinds[0], last=kinds[-1], all=0 if 0 in kinds else reduce(or_, kinds))
        if special is None:
            return own
        taken = _ASCII_ONLY if special.strips_ascii else _WHITE
        if special.level and shows_spaces:
            taken &= ~(1 << _SPACE)
        return own._replace(before=taken * special.lstrip, after=taken * special.rstrip, is_late=special.level > 0)


_PLAIN = Strips()


class _Place(NamedTuple):
    """A place in a text: where it begins, or between two characters."""

    at: int
    # The white space before it, as far as special tokens would take it; and late ones.
    blank: int = 0
    late_blank: int = 0
    taken: int = 0  # The white space after it that the special token before it takes
    is_after_late: bool = False  # Whether this token is a late one


class Beginnings(NamedTuple):
    """How a tokenizer treats the beginnings of texts, and of the texts after special tokens."""

    puts_space: bool = False  # Whether ids spell a space before every text but the empty one, which decoding removes
    keeps_space: bool = True  # Whether a text may begin with a space of its own
    after_special: AfterSpecial = "all"
    strips: tuple[Strips, ...] = ()  # Of each special token, if any takes white space

    @property
    def are_plain(self) -> bool:
        """Whether ids spell all texts as they are, if no special token takes white space."""
        return self._replace(strips=()) == Beginnings()

    @property
    def are_anew(self) -> bool:
        """Whether a text after a prompt that ends with a special token is encoded like one that nothing precedes."""
        return self.after_special != "all"

    def machine(self, opening: Opening, are_apart: BoolArray) -> ByteMachine:
        """Return the automaton over bytes and special tokens of the spellings of ids from an opening on.

        The special tokens that are not apart are part of a text like bytes. All that may follow in any state may follow
        in state 1.
        """
        places = self._places(are_apart)
        if self.strips:
            machine = over_bytes(_cuts(), places.after_kind, _kind_of())
        else:
            column = np.ones(256, dtype=np.int32)
            column[0x20] = 0
            rows = places.after_kind[:, [_SPACE, _OTHER]]
            machine = ByteMachine(np.vstack((np.zeros_like(rows[:1]), rows)), column, np.zeros(0, dtype=np.bool_), 1)
        n, n_places = len(machine.table), len(places.all)
        after: Int32Array = np.zeros((n, len(are_apart)), dtype=np.int32)
        after[1 : n_places + 1] = places.after_special
        final: BoolArray = np.arange(n) > NOWHERE
        final[1 : n_places + 1] = [place.at != _BLANK for place in places.all]
        initial = places.start if opening == "start" else opening
        return machine.with_specials(map(np.ascontiguousarray, after.T))._replace(final=final, initial=initial)

    def starts(self, are_apart: BoolArray) -> frozenset[int]:
        """Return the openings at which a space is put before texts."""
        places = self._places(are_apart).all if self.puts_space else []
        return frozenset(number for number, place in enumerate(places, 1) if place.at == _START)

    def _places(self, are_apart: BoolArray) -> _Places:
        """Return the places, and those after each."""
        kinds = [*zip(self.strips or (_PLAIN,) * len(are_apart), are_apart.tolist(), strict=True)]
        distinct = [*dict.fromkeys(kinds)]
        numbers = Numbering(_Place(_WITHIN))
        start = numbers[_Place(_WITHIN if self.are_plain else _START)] + 1
        rows = []
        for place in numbers.states:  # It grows during the loop.
            targets = [self._after_character(place, kind) for kind in range(4)]
            targets += [self._after_special(place, *each) for each in distinct]
            rows.append([NOWHERE if target is None else numbers[target] + 1 for target in targets])
        table = np.array(rows, dtype=np.int32)
        return _Places(numbers.states, start, table[:, :4], table[:, [4 + distinct.index(kind) for kind in kinds]])

    def _after_character(self, place: _Place, kind: int) -> _Place | None:
        """Return the place after a character; None if ids do not spell it there."""
        bit = 1 << kind & _WHITE
        if place.at == _START and self.puts_space:
            # The white space that is taken comes after the space that is put.
            return place._replace(at=_BLANK) if kind == _SPACE else None
        if place.taken & bit:
            return None
        if place.at == _AFTER:
            is_any = self.after_special == "all" or (kind == _SPACE and self.after_special == "with space")
        else:
            is_any = place.at == _WITHIN or kind != _SPACE or self.keeps_space
        return self._within(bit) if is_any else None

    def _after_special(self, place: _Place, of: Strips, is_apart: bool) -> _Place | None:
        """Return the place after a special token; None if it is not found there."""
        if not is_apart:
            found = None if of.first & place.taken else self._after_character(place, _OTHER)
            return found and self._within(of.last)
        if place.at == _BLANK or of.before & (place.late_blank if of.is_late else place.blank):
            return None
        if of.is_late and not place.is_after_late:
            is_taken = of.first & place.taken
        else:
            # It is found, but nothing is left of it if it takes white space itself, and consists of nothing else.
            strips = of.before and of.after and of.is_late == place.is_after_late
            is_taken = strips and of.all and not of.all & ~place.taken
        if place.taken and is_taken:
            return None
        at = {"all": _WITHIN, "anew": _START}.get(self.after_special, _AFTER)
        if of.after and self.puts_space and at == _AFTER:
            # It takes the space that decoding shows there, too.
            at = _START
        blank = self._within(of.last).blank if of.is_late else 0
        return _Place(at, blank, taken=of.after, is_after_late=of.is_late and of.after > 0)

    def _within(self, blank: int) -> _Place:
        """Return the place within text after some white space, if any special token takes it."""
        early, late = (
            reduce(or_, (each.before for each in self.strips if each.is_late == is_late), 0)
            for is_late in (False, True)
        )
        return _Place(_WITHIN, blank & early, blank & late)


class _Places(NamedTuple):
    """The places in texts, numbered from 1 on; 0 is none."""

    all: list[_Place]
    start: int
    # The places after characters and special tokens: int32[places, kinds] and int32[places, specials].
    after_kind: Int32Array
    after_special: Int32Array


@cache
def _kind_of() -> Uint16Array:
    """Return the kind of each code point."""
    found = np.zeros(0x110000, dtype=np.uint16)
    for character in spaces():
        found[ord(character)] = _SPACE if character == " " else _ASCII if character.isascii() else _WIDE
    return found


@cache
def _cuts() -> Cuts:
    return Cuts(_kind_of())
