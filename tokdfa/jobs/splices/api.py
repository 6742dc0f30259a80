"""The function `splice`: whether encoding may be cut at a seam."""

from __future__ import annotations

import re

import numpy.typing as npt

from tokdfa.automata.texts import ANYTHING, intersection, language_of, literal, regular
from tokdfa.base.errors import PatternError, WrongTypeError
from tokdfa.jobs.splices.encoding import checked, decode_after, encode_after
from tokdfa.jobs.splices.parts import Slot, checked_parts
from tokdfa.jobs.splices.parts_seam import seam_of
from tokdfa.jobs.splices.question import Question, Side, Splice
from tokdfa.regex.syntax import Node
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.twins import SpecialsPolicy, with_specials

__all__ = ["splice"]


# How most special tokens are written.
_NAME = re.compile(r"<\|[^<>|\s]+\|>")


def splice(
    tokenizer: AnyTokenizer,
    *,
    before: str = "",
    after: str = "",
    regex: bool = False,
    within_before: str | None = None,
    within_after: str | None = None,
    before_ids: npt.ArrayLike | None = None,
    after_ids: npt.ArrayLike | None = None,
    specials: SpecialsPolicy | None = None,
    starts: bool = False,
    table: str = "regex",
) -> Splice:
    r"""Decide whether two texts may be encoded separately: ``encode(u + v) == encode(u) + encode(v)``.

    The answer is for *every* text u that ends with `before` and every text v that begins with `after`.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer, over bytes or over characters.
    before, after : str
        The end of u and the beginning of v. Special tokens are written by their names.
    regex : bool
        Whether these are regular expressions: u must end, and v begin, with a match.
    within_before, within_after : str, optional
        Regular expressions that all of u, and all of v, must match.
    before_ids, after_ids : array_like of int, optional
        The ids of u, or of v, if they are given and not encoded: a frozen prefix. Then `before`, or `after`, must be
        left out.
    specials : {"found", "plain"}, optional
        Whether special tokens are found in texts; by default as `tokenizer` does.
    starts : bool
        Whether v is encoded as the start of a text, before which some tokenizers put a space. By default it is encoded
        as the continuation of u: nothing is put before it, unless u is empty.
    table : {"regex", "tokenizers", "tiktoken"}, or such a name with a version
        The library with the dialect and character classes of the expressions.

    Returns
    -------
    Splice
        Truthy if the equation holds for all of them. Otherwise the witness has u and v for which it does not: by the
        fewest bytes of UTF-8 of both, then of u, then the least, if ``witness.shortest``.

    Raises
    ------
    PatternError
        If no text ends with `before` or begins with `after`, none of them is encoded, an expression cannot be read, or
        special tokens are found and one of the form ``<|name|>`` is not known.
    UnsupportedFeatureError, LimitExceededError
        If neither a proof nor two texts were found; the error says why.
    TokenStreamError
        If given ids are not ids of the tokenizer, or spell no text.
    WrongTypeError
        If an argument is of another type.

    Notes
    -----
    The two sides are searched side by side: the pieces of u and v on their own, and the pieces of u + v, with the
    tokens of the former. Within a piece, two neighbouring tokens decide (Observation 2 of *Constructing a BPE
    Tokenization DFA*). Witnesses are confirmed by encoding. For a
    tokenizer that normalizes, the texts that its form makes of all texts are searched; texts that the form joins across
    the seam are a witness, such as "a" and U+0301. A question takes 0.1 to 4 s and up to 0.9 GB for real tokenizers.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.splice(tokenizer, before="cat", after=" sat"))
    True
    >>> found = tokdfa.splice(tokenizer, before="[a-z]", after="[a-z]", regex=True).witness
    >>> found.before, found.after
    ('a', 'b')
    """
    made_by_rules = checked(tokenizer, "tokdfa.splice(tokenizer, before=S, after=T)")
    for name, value in (("before", before), ("after", after)):
        if not isinstance(value, str):
            raise WrongTypeError("a text is expected", value=value, where=name)
    if specials not in (None, "found", "plain"):
        raise PatternError("special tokens are found or plain", value=specials, where="specials")
    chosen = with_specials(made_by_rules, specials)
    if not regex and before_ids is after_ids is within_before is within_after is None:
        for name, text in (("before", before), ("after", after)):
            literal(text, name)
            _check_specials(chosen, name, text)
        left, right = checked_parts([Slot("before"), before]), checked_parts([after, Slot("after")])
        return seam_of(chosen, left, right, starts=starts)
    u = _side(chosen, "before", before, regex, within_before, before_ids, table)
    v = _side(chosen, "after", after, regex, within_after, after_ids, table, starts=starts)
    return Question(chosen, u, v, starts).answer()


def _side(
    tokenizer: Tokenizer,
    name: str,
    text: str,
    regex: bool,
    within: str | None,
    ids: npt.ArrayLike | None,
    table: str,
    *,
    starts: bool = True,
) -> Side:
    limits = [] if within is None else [regular(within, table, f"within_{name}")]
    if ids is not None:
        if text:
            raise PatternError("give the ids or the text, and not both", value=text, where=name)
        given = tokenizer.decoder.check(ids)
        spelled = tokenizer.decode(given) if starts else decode_after(tokenizer, given)
        language = language_of(name, literal(spelled, name))
        same = tokenizer.encode(spelled) if starts else encode_after(tokenizer, spelled)
        return Side(language, tuple(given.tolist()), same.tolist() == given.tolist())
    if not regex:
        _check_specials(tokenizer, name, text)
    node = regular(text, table, name) if regex else literal(text, name)
    parts: tuple[Node, ...] = (ANYTHING, node) if name == "before" else (node, ANYTHING)
    language = language_of(name, *parts)
    for limit in limits:
        language = intersection(language, language_of(f"within_{name}", limit), f"{name} and within_{name}")
    return Side(language)


def _check_specials(tokenizer: Tokenizer, name: str, text: str) -> None:
    """Refuse a text with the name of a special token that the tokenizer does not have."""
    known = {special.text for special in tokenizer.specials}
    for found in _NAME.findall(text) if tokenizer.finds_specials else ():
        if found not in known:
            hint = "write it as a regular expression, or take special tokens as plain, if it is only a text"
            raise PatternError("the tokenizer has no such special token", value=found, where=name, hint=hint)
