"""The function `check_turns`: whether ids of a conversation may be kept when a turn is added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tokdfa.base.verdict import Verdict
from tokdfa.jobs.splices.encoding import checked
from tokdfa.jobs.splices.parts import Part, checked_parts
from tokdfa.jobs.splices.parts_seam import seam_of
from tokdfa.jobs.splices.question import SplitTexts
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.twins import SpecialsPolicy, with_specials

__all__ = ["Turns", "check_turns"]


@dataclass(frozen=True, slots=True, repr=False)
class Turns(Verdict[SplitTexts]):
    r"""Whether the ids of a conversation may be kept when a turn is added, for any contents.

    Attributes
    ----------
    holds : bool
        Whether the ids of the whole are the ids of the first part, then the ids of the second.
    witness : SplitTexts, optional
        Two texts for which not.
    keeps_prefix : bool, optional
        Whether the ids of the first part are always a prefix of the whole's ids; None if that is not known, because the
        rest of the ids changes for the witness, and nothing else was found.
    reason : str
        The result in words.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> found = tokdfa.check_turns(tokenizer, "Q: {question}\n", "A: {answer}")
    >>> bool(found), found.witness.before[-2:]
    (False, '\n\n')
    """

    keeps_prefix: bool | None = None
    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found = self.witness
        if found is None:
            words = "the ids of the first part are always kept, and the rest are those of the second part"
        else:
            what = "the ids of the first part change" if self.keeps_prefix is False else "the rest has other ids"
            words = f"{what}: {found.before!r} + {found.after!r}"
        object.__setattr__(self, "reason", words)


def check_turns(
    tokenizer: AnyTokenizer,
    first: str | Iterable[Part],
    rest: str | Iterable[Part],
    *,
    specials: SpecialsPolicy | None = None,
) -> Turns:
    r"""Decide whether the ids of a conversation may be kept when a turn is added, for every content of its turns.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer.
    first, rest : str, or iterable of str and Slot
        The conversation so far, and the part that is added: texts and slots for contents. In a single text, slots are
        written as ``{name}``, ``{name|trim}`` for one with its white space stripped, or ``{name:regex}`` for one that a
        regular expression matches.
    specials : {"found", "plain"}, optional
        Whether special tokens are found in texts; by default as `tokenizer` does.

    Returns
    -------
    Turns
        Truthy if ``encode(first)`` is a prefix of ``encode(first + rest)``, and the ids after it are the ids of
        ``rest`` as a continuation. Otherwise the witness has two texts for which not, by the fewest bytes of both, then
        of the first, if ``witness.shortest``.

    Raises
    ------
    PatternError
        If the parts cannot be read.
    UnsupportedFeatureError, LimitExceededError
        If neither a proof nor two texts were found; the error says why.
    WrongTypeError
        If an argument is of another type.

    Notes
    -----
    It is the question of :func:`tokdfa.splice` for two languages. The text before the last special token of the first
    part, or after the first one of the second part, has no influence and is not searched.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.check_turns(tokenizer, "Q: {question}", "\nA: {answer}"))
    True
    """
    chosen = with_specials(checked(tokenizer, "tokdfa.check_turns(tokenizer, first, rest)"), specials)
    found = seam_of(chosen, checked_parts(first), checked_parts(rest))
    if found.witness is None:
        return Turns(True, keeps_prefix=True)
    ids, kept = found.witness.ids, found.witness.ids_before
    return Turns(False, found.witness, False if ids[: len(kept)] != kept else None)
