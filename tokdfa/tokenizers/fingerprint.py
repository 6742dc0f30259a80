"""The fingerprint of a tokenizer: of what it does, part by part, and not of how its file spells it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokdfa.arguments import is_tokenizer, wrong_argument
from tokdfa.guesses import Guided

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["PARTS", "Fingerprint", "fingerprint"]


PARTS = ("dictionary", "ids", "pretokenizer", "normalizer", "symbols", "specials", "decoder")
"""The parts of a fingerprint, in the order in which they are shown."""


@dataclass(frozen=True)
class Fingerprint(Guided):
    """What a tokenizer does, as hashes: equal fingerprints are those of tokenizers that do the same.

    Made by :func:`tokdfa.fingerprint`.

    Attributes
    ----------
    parts : mapping of str to str
        The SHA-256, in hexadecimal, of each part: `dictionary` (what becomes of a piece), `ids` (the ids of tokens),
        `pretokenizer`, `normalizer`, `symbols` (what is done to symbols before they merge), `specials`, `decoder`.

    Examples
    --------
    >>> one = tokdfa.fingerprint(tokdfa.default_tokenizer())
    >>> one.value[:16], one.parts["ids"][:16]
    ('3118b8f4eea16cf0', '79bd48b8ef53c207')
    >>> one.changed(one)
    ()
    """

    parts: Mapping[str, str]

    @property
    def value(self) -> str:
        """The SHA-256, in hexadecimal, of all parts."""
        lines = (f"{name} {self.parts[name]}\n" for name in sorted(self.parts))
        return hashlib.sha256("".join(("tokdfa fingerprint\n", *lines)).encode()).hexdigest()

    def changed(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the names of the parts that are not the same in `other`."""
        names = (*PARTS, *sorted({*self.parts, *other.parts}.difference(PARTS)))
        return tuple(name for name in names if self.parts.get(name) != other.parts.get(name))

    def __str__(self) -> str:
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)


def fingerprint(tokenizer: AnyTokenizer) -> Fingerprint:
    """Return the fingerprint of a tokenizer.

    Tokenizers with equal fingerprints give every text the same ids, and ids the same text, so that the same streams are
    canonical. The format, the order of the rules, dead rules and the spelling of a pattern do not matter, and no
    version of tokdfa or of a library does.

    The converse does not hold: tokenizers that do the same may have two fingerprints. That can be if their
    pre-tokenizers cut texts differently where no ids differ, if a pattern drops text or no automaton expresses it, if
    pairs of neighbours do not determine what the rules do, or if settings are spelled in two ways.
    :func:`tokdfa.compare` decides what fingerprints leave open.

    Parameters
    ----------
    tokenizer : AnyTokenizer

    Returns
    -------
    Fingerprint
        About a second for a dictionary of 100,000 rules, once for each tokenizer.

    Notes
    -----
    The normal form of a proper dictionary is that of its minimal token DFA (*Constructing a BPE Tokenization DFA*,
    Theorem 1): the live tokens in the order of their spelling, each with the set of those that must not follow it. That
    of a pre-tokenizer is the minimal DFA of texts with what each symbol does, over the coarsest classes of code points.
    The Unicode tables of normalizers, and of what no automaton expresses, are hashed as data.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> str(tokdfa.fingerprint(tokenizer)) == tokenizer.fingerprint
    True
    """
    if not is_tokenizer(tokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.fingerprint(tokenizer)")
    return Fingerprint(tokenizer.fingerprint_parts)
