"""Whether each token can occur: dead tokens, rules that are cut off, merges of tokens that do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tokdfa.automata.alphabet import show
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.tokenizers.formats.lint import lint_file, lint_tokenizer, words_of
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules

_GROUP = Group.DICTIONARY
_MOST_NAMED = 5
# Published vocabularies have a dead token in thousands. Rules that are cut off leave the last tokens dead, too.
_MOST_DEAD = 0.01
_LAST = 8
# Oddities that no library reads as they were meant.
_FAULTS = ("duplicate token", "merge without token", "unknown pre", "pattern is a string")


def check_dictionary(tokenizers: Sequence[Loaded]) -> Iterator[Finding]:
    """Yield the tokens that no text has, and the oddities of files."""
    for loaded in tokenizers:
        if has_rules(loaded.tokenizer):
            yield from _dead(loaded, loaded.tokenizer)
        odd = [*lint_tokenizer(loaded.tokenizer)] + ([] if loaded.path is None else lint_file(loaded.path))
        for each in odd:
            severity = Severity.FAULT if each.kind in _FAULTS else Severity.WARNING
            values = {"reason": words_of(each), "count": each.count}
            yield Finding(_GROUP, f"odd: {each.kind}", severity, (loaded.name,), values)


def _dead(loaded: Loaded, tokenizer: Tokenizer) -> Iterator[Finding]:
    """Yield whether each token occurs in some text; rules are missing if the last tokens are dead, or very many are."""
    dead = tokenizer.dead_tokens
    ids = tokenizer.token_to_id[dead]
    n = tokenizer.n_tokens
    values = {
        "count": len(dead),
        "size": n,
        "tokens": [show(tokenizer.token(number)) for number in dead[:_MOST_NAMED].tolist()],
    }
    if not len(dead):
        yield Finding(_GROUP, "all tokens occur", Severity.OK, (loaded.name,), {"size": n})
    elif len(dead) > _MOST_DEAD * n or _are_last(ids, tokenizer):
        yield Finding(_GROUP, "rules are missing", Severity.FAULT, (loaded.name,), values)
    else:
        yield Finding(_GROUP, "dead tokens", Severity.WARNING, (loaded.name,), values)


def _are_last(ids: np.ndarray[tuple[int, ...], np.dtype[np.int32]], tokenizer: Tokenizer) -> bool:
    """Return whether the last ordinary tokens are all dead."""
    ordinary = tokenizer.means_something.copy()
    ordinary[tokenizer.special_ids] = False
    last = np.flatnonzero(ordinary)[-_LAST:]
    return bool(np.isin(last, ids).all())
