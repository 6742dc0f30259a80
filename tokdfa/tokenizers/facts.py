"""The facts of `tokdfa info` about a tokenizer: its tokens, its automaton and its treatment of texts, in numbers."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from tokdfa.automata.alphabet import show
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.verdict import Verdict
from tokdfa.regex.unicode.normalization import tables
from tokdfa.regex.unicode.versions import library_of, ranges_of

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer, UnigramTokenizer, WordPieceTokenizer

_EXAMPLES = 5


def facts_of(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the facts that ``tokdfa info`` prints about a byte pair tokenizer; see :meth:`AnyTokenizer.facts`."""
    proper: Verdict[Any] = tokenizer.dictionary.properness()
    offence = proper.witness
    tied = tokenizer.merges is not None and proper.holds
    # This comes first because the others use the automaton folded here, and the folding is timed.
    automaton, seconds = _automaton(tokenizer)
    dead = _dead_tokens(tokenizer)
    return {
        **_counts(tokenizer),
        "rules": len(tokenizer.dictionary),
        "proper": proper.holds and not tied,
        "first_offending_rule": offence
        and {"index": offence.index, "rule": str(offence.rule), "side": offence.side, "reason": proper.reason},
        "proper_part": _proper_part(tokenizer),
        **automaton,
        "dead_tokens": len(dead),
        "dead_token_examples": dead[:_EXAMPLES],
        "only_whole_pieces": len(tokenizer.whole_piece_tokens),
        "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
        "unicode": _unicode(tokenizer),
        **_library(tokenizer),
        "semantics": tokenizer.semantics,
        "rewriting": _rewriting(tokenizer),
        "left_out": list(tokenizer.ignored),
        "whole_piece": tokenizer.whole_piece,
        **_specials(tokenizer),
        "fingerprint": tokenizer.fingerprint,
        "seconds": seconds,
    }


def _counts(tokenizer: Tokenizer) -> dict[str, Any]:
    return {"format": tokenizer.format, "ids": tokenizer.n_ids, "tokens": tokenizer.n_tokens}


def _specials(tokenizer: Tokenizer) -> dict[str, Any]:
    specials = tokenizer.specials
    return {
        "specials": len(specials),
        "text_specials": sum(special.is_text for special in specials),
        "specials_policy": "none" if not specials else "found" if tokenizer.found_specials else "ignored",
    }


def _library(tokenizer: Tokenizer) -> dict[str, Any]:
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
        "late_token_examples": late[:_EXAMPLES],
        "pairs": len(pairs),
        "pair_examples": pairs[:_EXAMPLES],
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
    """Return the versions of the library whose Unicode tables the pre-tokenizer has; None without one."""
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


def facts_of_unigram(tokenizer: UnigramTokenizer) -> dict[str, Any]:
    """Return the facts that ``tokdfa info`` prints about a Unigram tokenizer; see :meth:`AnyTokenizer.facts`."""
    model, rewriting = tokenizer.model, tokenizer.rewriting
    described = {} if rewriting.normalizer is None else {"normalizer": str(rewriting.normalizer)}
    if tokenizer.boundaries.why_none is not None:
        described["judged_as_a_whole"] = tokenizer.boundaries.why_none
    described["decoder"] = " ".join(map(str, rewriting.decoding or ())) or "Fuse"
    found = model.scores[model.is_found]
    return {
        **_counts(tokenizer),
        "pieces": int(model.is_found.sum()),
        "semantics": tokenizer.semantics,
        "least_score": float(found.min()) if len(found) else None,
        "greatest_score": float(found.max()) if len(found) else None,
        "unknown": None if model.unknown is None else model.pieces[model.unknown],
        "byte_fallback": model.byte_ids is not None,
        "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
        "rewriting": described,
        "left_out": list(tokenizer.ignored),
        **_specials(tokenizer),
        **_library(tokenizer),
        "fingerprint": tokenizer.fingerprint,
    }


def facts_of_wordpiece(tokenizer: WordPieceTokenizer) -> dict[str, Any]:
    """Return the facts that ``tokdfa info`` prints about a WordPiece tokenizer; see :meth:`AnyTokenizer.facts`."""
    vocabulary, normalizer, case = tokenizer.vocabulary, tokenizer.model.normalizer, tokenizer.model.case
    steps = ("clean_text", "chinese", "strip_accents", "lowercase")
    facts = {
        **_counts(tokenizer),
        "semantics": tokenizer.semantics,
        "pretokenizer": tokenizer.pretokenizer,
        "normalizer": {name: getattr(normalizer, name) for name in steps},
        "prefix": vocabulary.prefix,
        "opening": vocabulary.opening,
        "unknown": vocabulary.unknown if vocabulary.unknown_id is not None else None,
        "longest_word": vocabulary.longest_word,
        "trie_nodes": len(tokenizer.trie),
        "lost_ids": len(vocabulary.duplicates),
        "specials": len(tokenizer.specials),
        "text_specials": sum(special.is_text for special in tokenizer.specials),
        "ignored": tokenizer.ignored,
        **_library(tokenizer),
        "case": None if case is None else {"source": case.source, "capitals": _n_capitals(tokenizer)},
        "fingerprint": tokenizer.fingerprint,
    }
    try:
        language = tokenizer.language
    except AutomatonError as error:
        return {**facts, "no_automaton": str(error)}
    dead = sorted(language.dead)
    return {
        **facts,
        "dead_tokens": len(dead),
        "dead_token_examples": [{"id": id, "token": tokenizer.spelling(id)} for id in dead[:_EXAMPLES]],
        "states": len(language.words.states),
        "local_from": language.words.local_from,
    }


def _n_capitals(tokenizer: WordPieceTokenizer) -> int:
    """Return the number of entries with capitals that are not special tokens."""
    upper, specials = tables().lowercase.keys(), {*tokenizer.special_ids.tolist()}
    return sum(id not in specials and not upper.isdisjoint(entry) for entry, id in tokenizer.vocabulary.items())
