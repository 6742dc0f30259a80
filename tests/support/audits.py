"""Answers about shortcuts of engines, checked with the library of a tokenizer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, cast

import numpy as np

import tokdfa
from tests.support.families import Member
from tokdfa.base.errors import AlphabetError
from tokdfa.jobs.auditing.schemes import BackOff, Scheme, scheme_of

__all__ = ["Library", "assert_audited", "assert_confirmed", "brute_force", "long_texts"]


@dataclass(frozen=True)
class Library:
    """The library of a member, with the methods that schemes call; each text is encoded once."""

    member: Member
    known: dict[str, list[int] | None] = field(default_factory=dict)

    def ids(self, text: str) -> list[int] | None:
        if text not in self.known:
            self.known[text] = self.member.encode(text)
        return self.known[text]

    def encode(self, text: str) -> Any:
        ids = self.ids(text)
        if ids is None:
            raise AlphabetError("the library fails")
        return np.array(ids, dtype=np.int32)

    def decode(self, ids: Any, errors: str) -> str:
        assert errors == "replace"
        return self.member.decode(ids.tolist())

    def ids_of(self, scheme: Scheme, old: str, new: str) -> list[int] | None:
        """Return the ids of a scheme; None where the library fails."""
        try:
            return scheme.ids(cast(Any, self), old, new)
        except AlphabetError:
            return None

    def resumes(self, scheme: Scheme, old: str) -> bool:
        """Return whether back-off keeps some ids of a text."""
        try:
            return isinstance(scheme, BackOff) and scheme.resumed(cast(Any, self), old) is not None
        except AlphabetError:
            return False


def brute_force(drawn: random.Random, member: Member, most: int) -> Iterator[tuple[str, str]]:
    """Yield all texts up to a length of a few symbols, cut everywhere."""
    symbols = [
        *drawn.sample([*"ab 1'.é\n", "\u0301", "\ufffd"], 3),
        *drawn.sample(member.parts, min(1, len(member.parts))),
    ]
    size, texts = 0, [""]
    while len(texts) * len(symbols) <= most:
        texts, size = ["".join(each) for each in product(symbols, repeat=size + 1)], size + 1
        yield from ((text[:cut], text[cut:]) for text in texts for cut in range(len(text)))


def long_texts(drawn: random.Random, member: Member, most: int, longest: int = 40) -> Iterator[tuple[str, str]]:
    """Yield old and new texts: nasty ones, some of them with a run longer than the ids that are encoded again."""
    for _ in range(most):
        text = member.text(drawn, 8)
        if text and drawn.random() < 0.6:
            at = drawn.randrange(len(text))
            text = text[:at] + text[at] * drawn.randrange(2, longest) + text[at:]
        cut = drawn.randrange(len(text) + 1)
        yield text[:cut], text[cut:]


def assert_audited(drawn: random.Random, member: Member, described: Any, most: int, seconds: float) -> Counter[str]:
    """Check the answer about a scheme with the library of a member; return the cases that were met, counted."""
    found = tokdfa.audit(member.tokenizer, described, max_seconds=seconds)
    texts = [*brute_force(drawn, member, most), *long_texts(drawn, member, most // 4)] if found else []
    return assert_confirmed(member, described, found, texts)


def assert_confirmed(
    member: Member, described: Any, found: tokdfa.Audit, texts: Iterable[tuple[str, str]]
) -> Counter[str]:
    """Check an answer: if the scheme is right, for these old and new texts; return the cases that were met, counted."""
    library, met = Library(member), Counter[str]()
    scheme = scheme_of(described).of(member.tokenizer)
    met[f"{found.answer}{' trivially' * found.is_trivial}, {scheme.name.partition('=')[0]}"] += 1
    assert (found.answer == "holds") is bool(found)
    if found:
        for old, new in texts:
            ids, right = library.ids_of(scheme, old, new), library.ids(old + new)
            met["texts"] += 1
            met["texts that are resumed"] += library.resumes(scheme, old)
            assert not new or None in (ids, right) or ids == right, (described, old, new)
    elif found.witness is not None:
        witness = found.witness
        assert witness.new
        assert [*witness.ids] == library.ids_of(scheme, witness.old, witness.new) != [*witness.right]
        assert [*witness.right] == library.ids(witness.old + witness.new)
        assert witness.ids[: witness.index] == witness.right[: witness.index]
    return met
