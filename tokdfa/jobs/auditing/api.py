"""The function `audit`: whether a shortcut by which engines encode is always right for a tokenizer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tokdfa.base.budget import Budget, total_of
from tokdfa.base.errors import LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.base.suggestions import expect
from tokdfa.base.verdict import Displayed, Verdict, cut_short
from tokdfa.jobs.auditing.back_off import why_not_resumed
from tokdfa.jobs.auditing.schemes import BackOff, Cuts, Scheme, scheme_of
from tokdfa.jobs.auditing.trials import Texts, differs, made_smaller, tried
from tokdfa.jobs.splices.api import splice
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Audit", "WrongIds", "audit"]

DEFAULT_MAX_SECONDS: Final = 60.0
REFUSED: Final = (UnsupportedFeatureError, LimitExceededError, PatternError)
"""Why there is no proof: it is refused, takes too long, or no text with such a cut is encoded."""
_SHOWN: Final = 60
"""The most characters of a text in a sentence."""


@dataclass(frozen=True, slots=True)
class WrongIds(Displayed):
    r"""Two texts for which a shortcut has wrong ids.

    Attributes
    ----------
    old, new : str
        The text that has been encoded, and the text that is added to it.
    ids : tuple of int
        The ids that the shortcut gives for the two as one text.
    right : tuple of int
        The ids of the two as one text.

    Examples
    --------
    >>> found = tokdfa.audit(tokdfa.default_tokenizer(), "text-prefix").witness
    >>> found.old, found.new, found.ids, found.right
    ('\n', '\n', (198, 198), (530,))
    """

    old: str
    new: str
    ids: tuple[int, ...]
    right: tuple[int, ...]

    @property
    def index(self) -> int:
        """The index of the first wrong id."""
        pairs = enumerate(zip(self.ids, self.right, strict=False))
        return next((at for at, (one, other) in pairs if one != other), min(len(self.ids), len(self.right)))


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Verdict[WrongIds]):
    """Whether a shortcut by which engines encode a text that has grown is right for every text.

    Attributes
    ----------
    holds : bool
        Whether that is proven.
    witness : WrongIds, optional
        The shortest texts that were found for which it is wrong. Without a proof and without such texts, it is
        undecided.
    reason : str
        The result in words, or why it is undecided.
    scheme : str
        The name of the shortcut, with its parameters.
    is_trivial : bool
        Whether it holds only because nothing is cut: the tokenizer finds no added tokens in texts.

    Examples
    --------
    >>> found = tokdfa.audit(tokdfa.default_tokenizer(), "back-off")
    >>> bool(found), found.answer, found.scheme
    (True, 'holds', 'back-off=64,32')
    """

    scheme: str = ""
    is_trivial: bool = False

    @property
    def answer(self) -> Literal["holds", "wrong", "undecided"]:
        """The answer in one word."""
        return "holds" if self.holds else "undecided" if self.witness is None else "wrong"


def audit(
    tokenizer: AnyTokenizer, scheme: str | Mapping[str, Any], *, max_seconds: float = DEFAULT_MAX_SECONDS
) -> Audit:
    r"""Decide whether a shortcut by which engines encode a text that has grown always gives the right ids.

    An engine has encoded `old`, and a text that is not empty, `new`, is added. Instead of all of ``old + new``, it
    encodes a part.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        Any tokenizer; proofs are for byte pair tokenizers.
    scheme : str, or mapping
        A name:

        - ``added-token``: the text after the last added token of `old` is encoded;
        - ``turns``, ``turns=TEXT``: each turn, which begins with an added token or the text, is encoded separately;
        - ``before-space``, ``after-space``: `old` is cut before, or after, its last space, tab or line break;
        - ``characters``, ``characters=.!?``: the text is cut after each of these, by default ``.!?`` and line breaks;
        - ``text-prefix``: `old` is a cached prefix, and only `new` is encoded;
        - ``back-off``, ``back-off=K,M``: the text of the last K ids of `old`, by default 64, is encoded with `new`. If
          its first M ids, by default 32, come again, the ids before these K are kept; otherwise all is encoded.

        Or a description of one's own: ``{"texts": ["\n\n"], "cut": "after", "which": "last"}`` cuts after the last of
        the texts in `old`. A cut is ``before`` or ``after`` the ``last`` one, or ``every`` one of both texts; instead
        of a list, ``added`` stands for all added tokens. ``{"back": 64, "agree": 32}`` is ``back-off``. Each may have a
        ``name``.
    max_seconds : float
        The most processor time: at most half of it for a proof, and the rest to search for texts.

    Returns
    -------
    Audit
        Truthy if the ids are right for all texts. Otherwise the witness has the shortest texts that were found for
        which they are not, confirmed by encoding, or nothing was found.

    Raises
    ------
    PatternError
        If there is no such scheme.
    WrongTypeError
        If an argument is of another type.

    Notes
    -----
    A scheme that cuts a text is always right if each kind of cut may always be made, which :func:`tokdfa.splice`
    decides. That back-off is always right is proven from the automaton of the pre-tokenizer: whatever came before, its
    state is the same after M ids. Where neither is proven, short texts of all kinds, or long runs of symbols, are
    tried, and symbols are left out of those with wrong ids.

    Examples
    --------
    >>> found = tokdfa.audit(tokdfa.default_tokenizer(), "before-space")
    >>> bool(found), found.witness.old, found.witness.new
    (False, '\n\n', '\t')
    >>> bool(tokdfa.audit(tokdfa.default_tokenizer(), {"back": 16, "agree": 16}))
    True
    """
    call = "tokdfa.audit(tokenizer, scheme)"
    expect(tokenizer, AnyTokenizer, "a tokenizer", call)
    expect(scheme, (str, Mapping), "the name or description of a scheme", call)
    chosen = scheme_of(scheme).of(tokenizer)
    if isinstance(chosen, Cuts) and not chosen.texts:
        reason = "the tokenizer finds no added tokens in texts, so that nothing is cut"
        return Audit(True, None, reason, chosen.name, is_trivial=True)
    budget = Budget(max_seconds=max_seconds, what="the search for texts with wrong ids")
    found, why = None, None
    try:
        found = tried(tokenizer, chosen, budget, at_once=True)
        if found is None:
            with total_of(max_seconds / 2):
                found, why = _proven(tokenizer, chosen)
    except REFUSED as error:
        why = error.what
    try:
        if why is not None:
            found = tried(tokenizer, chosen, budget)
        found = found and made_smaller(tokenizer, chosen, found, budget)
    except REFUSED as error:
        why = error.what
    if found is not None:
        return _wrong(tokenizer, chosen, found)
    if why is None:
        return Audit(True, None, "the ids are right for every text", chosen.name)
    return Audit(False, None, f"neither a proof nor texts with wrong ids were found: {why}", chosen.name)


def _proven(tokenizer: AnyTokenizer, scheme: Scheme) -> tuple[Texts | None, str | None]:
    """Return texts for which a scheme is wrong, if the attempt of a proof finds some, and why it is not proven."""
    if isinstance(scheme, BackOff):
        return None, why_not_resumed(tokenizer, scheme.back, scheme.agree)
    if (scheme.cut, scheme.which) == ("before", "every") and _all_found(tokenizer, scheme.texts or ()):
        return None, None
    why = None
    for seam in scheme.seams():
        try:
            answer = splice(tokenizer, **seam._asdict(), starts=True)
        except REFUSED as error:
            why = error.what
            continue
        if answer.witness is None:
            continue
        text, cut = answer.witness.text, len(answer.witness.before)
        # If the scheme cuts at a text that the old text must have, the shortest such text follows the cut.
        pairs = [Texts(text[:end], text[end:]) for end in range(cut, len(text))]
        confirmed = next((pair for pair in pairs if differs(tokenizer, scheme, pair)), None)
        if confirmed is not None:
            return confirmed, None
        why = "texts are split, but none for which the scheme is wrong were found"
    return None, why


def _all_found(tokenizer: AnyTokenizer, texts: Collection[str]) -> bool:
    """Return whether encoding cuts a text before each of these texts, leftmost and longest first, as a scheme does.

    They are all the added tokens, found in one pass and before anything else. The text after one is encoded alone.
    """
    specials = [special for special in tokenizer.found_specials if special.text]
    levels = {special.level for special in specials}
    in_one_pass = levels == {0} or (levels == {1} and tokenizer.is_plain)
    return in_one_pass and not odd_ones(specials) and {special.text for special in specials} == {*texts}


def _wrong(tokenizer: AnyTokenizer, scheme: Scheme, texts: Texts) -> Audit:
    """Return the answer for texts with wrong ids."""
    ids, right = scheme.ids(tokenizer, *texts), tokenizer.encode(texts.old + texts.new).tolist()
    witness = WrongIds(*texts, tuple(ids), tuple(right))
    shown = " + ".join(cut_short(repr(text), _SHOWN) for text in texts)
    at = witness.index
    reason = f"wrong ids for {shown}, from id {at} on: {_some(ids[at:])} instead of {_some(right[at:])}"
    return Audit(False, witness, reason, scheme.name)


def _some(ids: list[int]) -> str:
    return cut_short(" ".join(map(str, ids)), _SHOWN) or "nothing"
