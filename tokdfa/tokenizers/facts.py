"""The facts of `tokdfa info` about a tokenizer: its tokens, its automaton and its treatment of texts, in numbers."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from tokdfa.automata.alphabet import show
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.verdict import Verdict
from tokdfa.regex.unicode.versions import library_of, ranges_of

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

EXAMPLES = 5


def facts_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the facts that ``tokdfa info`` prints about a byte pair tokenizer; see :meth:`AnyTokenizer.facts`."""
    proper: Verdict[Any] = tokenizer.dictionary.properness()
    offence = proper.witness
    tied = tokenizer.merges is not None and proper.holds
    # This comes first because the others use the automaton folded here, and the folding is timed.
    automaton, seconds = _automaton(tokenizer)
    dead = _dead_tokens(tokenizer)
    return {
        **counts(tokenizer),
        "rules": len(tokenizer.dictionary),
        "proper": proper.holds and not tied,
        "first_offending_rule": offence
        and {"index": offence.index, "rule": str(offence.rule), "side": offence.side, "reason": proper.reason},
        "proper_part": _proper_part(tokenizer),
        **automaton,
        "dead_tokens": len(dead),
        "dead_token_examples": dead[:EXAMPLES],
        "only_whole_pieces": len(tokenizer.whole_piece_tokens),
        "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
        "unicode": _unicode(tokenizer),
        **library_fact(tokenizer),
        "semantics": tokenizer.semantics,
        "rewriting": _rewriting(tokenizer),
        "left_out": list(tokenizer.ignored),
        "whole_piece": tokenizer.whole_piece,
        **special_counts(tokenizer),
        "fingerprint": tokenizer.fingerprint,
        "seconds": seconds,
    }


def counts(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the first facts of every tokenizer."""
    return {"format": tokenizer.format, "ids": tokenizer.n_ids, "tokens": tokenizer.n_tokens}


def special_counts(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the numbers of special tokens, and whether texts have them."""
    specials = tokenizer.specials
    return {
        "specials": len(specials),
        "text_specials": sum(special.is_text for special in specials),
        "specials_policy": "none" if not specials else "found" if tokenizer.found_specials else "ignored",
    }


def library_fact(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the library of the object that a tokenizer was read from, if any."""
    return {} if tokenizer.library is None else {"library": tokenizer.library}


def _proper_part(tokenizer: Tokenizer) -> dict[str, Any] | None:
    """Return facts about the proper part of an improper dictionary, and where merging differs from it."""
    if tokenizer.dictionary.properness() or tokenizer.why_not("bytes"):
        return None
    try:
        part = tokenizer.proper_part
    except LimitExceededError:
        return None
    late = [show(tokenizer.token(number)) for number in part.late.tolist()]
    pairs = [[show(tokenizer.token(number)) for number in pair] for pair in part.pairs.tolist()]
    return {
        "rules": len(part.dictionary),
        "equivalent": part.is_everything,
        "late_tokens": len(late),
        "late_token_examples": late[:EXAMPLES],
        "pairs": len(pairs),
        "pair_examples": pairs[:EXAMPLES],
    }


def _rewriting(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the rewriting of texts and of spellings, and why streams are judged as a whole, if they are."""
    rewriting, fallback, _, prefix = tokenizer.rewrites
    described = {}
    if rewriting is not None and rewriting.normalizer is not None:
        described["normalizer"] = str(rewriting.normalizer)
    if rewriting is not None and rewriting.decoding is not None:
        described["decoder"] = " ".join(map(str, rewriting.decoding)) or "Fuse"
    if fallback is not None:
        ways = ["their bytes"] if fallback.bytes else []
        described["unknown_symbols"] = ", else ".join(ways + ([f"{fallback.unknown!r}"] if fallback.unknown else []))
    if prefix is not None:
        described["prefix"] = prefix
    why = tokenizer.why_whole
    if why is not None:
        described["judged_as_a_whole"] = why
    return described


def _unicode(tokenizer: Tokenizer) -> str | None:
    """Return the library versions that have the pre-tokenizer's Unicode tables; None without one."""
    if tokenizer.pretokenizer is None:
        return None
    table = tokenizer.pretokenizer.splitting.table
    return next(f"{part.library} {part}" for part in ranges_of(library_of(table)) if part.name == table)


def _automaton(tokenizer: Tokenizer) -> tuple[dict[str, Any], dict[str, float | None]]:
    """Return the size of the automaton, and the time of folding it."""
    import tokdfa.kernels.fold.folding  # noqa: F401  loading compiled code is not part of the fold
    from tokdfa.automata.compact import CompactTokenDFA

    fields: dict[str, Any] = dict.fromkeys(("live_rules", "states_built", "states_reachable", "states_minimal"))
    seconds: dict[str, float | None] = {"fold": None}
    if tokenizer.dictionary.properness() and tokenizer.merges is None:
        began = perf_counter()
        fields["live_rules"] = len(tokenizer.dictionary.live_rules)
        dfa = CompactTokenDFA(tokenizer.dictionary)
        seconds["fold"] = perf_counter() - began
        fields["states_built"] = dfa.states_built
        fields["states_reachable"] = dfa.states_reachable
        try:
            fields["states_minimal"] = dfa.states_minimal
        except LimitExceededError:
            fields["states_minimal"] = None
    return fields, seconds


def _dead_tokens(tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Return the tokens that `encode` never emits, with the reason."""
    dictionary = tokenizer.dictionary
    reasons = {}
    if dictionary.properness():
        reasons = {dictionary.alphabet.number(dead.rule.product): dead.reason for dead in dictionary.dead_rules}
    return [
        {
            "id": int(tokenizer.token_to_id[number]),
            "token": show(tokenizer.token(number)),
            "reason": reasons.get(number, "no rule makes it"),
        }
        for number in tokenizer.dead_tokens.tolist()
    ]
