"""Whether tokenizers agree: each pair is proved equal, or differs on a shortest text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple, TypeAlias

from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.comparison.api import compare, compare_tokenizers
from tokdfa.jobs.comparison.models import Tuning
from tokdfa.jobs.comparison.result import Comparison, Outcome, Part
from tokdfa.jobs.examination.finding import Finding, Group, Severity, reason_of
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules
from tokdfa.tokenizers.twins import twin_with

_MOST_NAMED = 5
# For each kind of texts that is tried where there is no proof; a folder has several pairs.
_SECONDS = 0.25


def check_agreement(tokenizers: Sequence[Loaded]) -> Iterator[Finding]:
    """Yield a finding for each pair, special tokens taken as text; and for special tokens with two ids.

    Those that are proved equal are a class: another tokenizer is compared with its first member, and the outcome holds
    for all members. If B has the ids of A, and "x" has others in C than in A, it has others in C than in B.
    """
    classes: list[list[Loaded]] = []
    outcomes: dict[tuple[str, str], _Outcome] = {}
    for number, loaded in enumerate(tokenizers):
        equal: list[Loaded] | None = None
        for members in classes:
            first = members[0]
            if equal is None:
                outcome = outcomes[first.name, loaded.name] = _compared(first, loaded)
                yield _finding(outcome, first, loaded)
                yield from (_finding(outcome, member, loaded, by=first) for member in members[1:])
                equal = members if outcome else None
            else:
                outcome = outcomes[equal[0].name, first.name]
                yield from (_finding(outcome, loaded, member, by=equal[0]) for member in members)
        for other in tokenizers[:number]:
            yield from _specials(other, loaded)
        if equal is None:
            classes.append([loaded])
        else:
            equal.append(loaded)


# A comparison, or an error that says why it is undecided.
_Outcome: TypeAlias = "Comparison | Undecided"


class Undecided(NamedTuple):
    """Why it is not known whether two tokenizers agree."""

    reason: str

    def __bool__(self) -> bool:
        return False


def _compared(a: Loaded, b: Loaded) -> _Outcome:
    """Return whether two tokenizers have the same ids."""
    if a.tokenizer.algorithm != b.tokenizer.algorithm:
        return Comparison(False)
    try:
        return _comparison(a.tokenizer, b.tokenizer)
    except TokdfaError as error:
        return Undecided(reason_of(error))


def _finding(outcome: _Outcome, a: Loaded, b: Loaded, *, by: Loaded | None = None) -> Finding:
    """Return the finding about two tokenizers; if it follows from another one that one of them is equal to, `by` it."""
    where = a.name, b.name
    follows = {} if by is None else {"by": by.name}
    if isinstance(outcome, Undecided):
        return Finding(Group.AGREEMENT, "undecided", Severity.UNKNOWN, where, {"reason": outcome.reason, **follows})
    if outcome:
        borrows = b.borrows or a.borrows
        kind, values = ("same ids", {}) if borrows is None else ("same rules", {"borrows": borrows})
        return Finding(Group.AGREEMENT, kind, Severity.OK, where, {**values, **follows})
    if outcome.witness is None:
        values = {"algorithm_a": a.tokenizer.algorithm, "algorithm_b": b.tokenizer.algorithm}
        return Finding(Group.AGREEMENT, "other algorithm", Severity.FAULT, where, {**values, **follows})
    return _different(outcome, a, b, follows)


def _different(found: Comparison, a: Loaded, b: Loaded, follows: Mapping[str, str]) -> Finding:
    assert found.witness is not None
    text, ids_a, ids_b = found.witness
    parts = [str(part) for part, outcome in found.checked.items() if outcome in (Outcome.DIFFERENT, Outcome.UNKNOWN)]
    values: dict[str, Any] = {
        "text": text if isinstance(text, str) else repr(text),
        "ids_a": None if ids_a is None else [*map(int, ids_a)],
        "ids_b": None if ids_b is None else [*map(int, ids_b)],
        "shortest": found.checked.get(Part.SHORTEST) is Outcome.PROVEN,
        "library_a": a.library,
        "library_b": b.library,
        "parts": parts,
        **follows,
    }
    # Libraries differ in their tables and normal forms: texts of ASCII are the same in all of them.
    is_of_libraries = a.library != b.library and not str(text).isascii() and not _other_ids(found)
    kind, severity = ("other text", Severity.WARNING) if is_of_libraries else ("other ids", Severity.FAULT)
    return Finding(Group.AGREEMENT, kind, severity, (a.name, b.name), values)


def _other_ids(found: Comparison) -> bool:
    """Return whether tokens have other ids, or pieces other tokens."""
    return any(found.checked.get(part) is Outcome.DIFFERENT for part in (Part.DICTIONARY, Part.IDS))


def _comparison(a: AnyTokenizer, b: AnyTokenizer) -> Comparison:
    """Return the comparison of two, with control tokens as text where rules make tokens; libraries differ in that."""
    if not (has_rules(a) and has_rules(b)):
        return compare(a, b)
    control = {special.content for side in (a, b) for special in side.specials if not special.is_text}
    return compare_tokenizers(_without(a, control), _without(b, control), tuning=Tuning(max_seconds=_SECONDS))


def _without(tokenizer: Tokenizer, texts: Set[str]) -> Tokenizer:
    """Return the tokenizer without some of its special tokens, which are text like any other then.

    It is made once for all pairs in which these are the same, with the tables that comparing makes of it.
    """
    return tokenizer.derived(_made_without, frozenset(special.content for special in tokenizer.specials) & texts)


def _made_without(tokenizer: Tokenizer, texts: Set[str]) -> Tokenizer:
    kept = [special for special in tokenizer.specials if special.content not in texts]
    return twin_with(tokenizer, kept, finds=tokenizer.finds_specials)


def _specials(a: Loaded, b: Loaded) -> Iterator[Finding]:
    """Yield a fault for special tokens that have other ids, and a warning for those that are text in one of the two."""
    ids_a, ids_b = ({special.content: special.id for special in one.tokenizer.specials} for one in (a, b))
    both = [text for text in ids_a if text in ids_b and ids_a[text] != ids_b[text]]
    if both:
        rows = [[text, ids_a[text], ids_b[text]] for text in both[:_MOST_NAMED]]
        values = {"count": len(both), "first": rows[0][0], "tokens": rows}
        yield Finding(Group.SPECIAL_TOKENS, "special tokens with two ids", Severity.FAULT, (a.name, b.name), values)
    for one, other, mine, others in ((a, b, ids_a, ids_b), (b, a, ids_b, ids_a)):
        plain = [text for text in mine if text not in others and _is_text_of(other.tokenizer, mine[text], text)]
        if plain:
            values = {"count": len(plain), "first": plain[0], "tokens": plain[:_MOST_NAMED], "in": other.name}
            yield Finding(Group.SPECIAL_TOKENS, "not special", Severity.WARNING, (one.name, other.name), values)


def _is_text_of(tokenizer: AnyTokenizer, id: int, text: str) -> bool:
    """Return whether an id is an ordinary token with this text, in a tokenizer that finds special tokens."""
    is_id = tokenizer.finds_specials and id < tokenizer.n_ids and bool(tokenizer.means_something[id])
    return is_id and tokenizer.name_of(id) == text.encode("utf-8", "surrogatepass")
