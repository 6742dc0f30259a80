"""Whether each token can occur: dead tokens, rules that are cut off, merges of tokens that do not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

import numpy as np

from tokdfa.automata.alphabet import show
from tokdfa.base.arrays import Int32Array
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.tokenizers.encoding.special import looks_like_control
from tokdfa.tokenizers.formats.lint import lint_file, lint_tokenizer, words_of
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules

_GROUP = Group.DICTIONARY
_MOST_NAMED = 5
# Published vocabularies have a dead token in thousands. Rules that are cut off leave the last tokens dead, too.
_MOST_DEAD = 0.01
_LAST = 8
# Oddities that no library reads as they were meant.
_FAULTS = ("duplicate token", "merge without token", "unknown pre", "pattern is a string")


def check_dictionary(tokenizers: Sequence[Loaded], named: Set[str] = frozenset()) -> Iterator[Finding]:
    """Yield the tokens that no text has, and the oddities of files; other files say that those `named` are special."""
    special = named | {each.content for loaded in tokenizers for each in loaded.tokenizer.specials}
    for loaded in tokenizers:
        if has_rules(loaded.tokenizer):
            yield from _dead(loaded, loaded.tokenizer, special)
        odd = [*lint_tokenizer(loaded.tokenizer)] + ([] if loaded.path is None else lint_file(loaded.path))
        for each in odd:
            severity = Severity.FAULT if each.kind in _FAULTS else Severity.WARNING
            values = {"reason": words_of(each), "count": each.count}
            yield Finding(_GROUP, f"odd: {each.kind}", severity, (loaded.name,), values)


def _dead(loaded: Loaded, tokenizer: Tokenizer, special: Set[str]) -> Iterator[Finding]:
    """Yield whether each token occurs in some text, control tokens apart.

    Rules are missing if the last ordinary tokens are dead, or very many are. No rule makes a control token, which
    occurs only if it is an added token.
    """
    dead = tokenizer.dead_tokens
    names = [tokenizer.name_of(id).decode(errors="replace") for id in tokenizer.token_to_id[dead].tolist()]
    is_control = np.array([name in special or looks_like_control(name) for name in names], dtype=np.bool_)
    control, ordinary = dead[is_control], dead[~is_control]
    if not len(dead):
        yield Finding(_GROUP, "all tokens occur", Severity.OK, (loaded.name,), {"size": tokenizer.n_tokens})
    if len(control):
        values = _first(control, tokenizer)
        yield Finding(_GROUP, "control tokens are not added", Severity.WARNING, (loaded.name,), values)
    if len(ordinary):
        is_fault = len(ordinary) > _MOST_DEAD * tokenizer.n_tokens or _are_last(ordinary, control, tokenizer)
        kind, severity = ("rules are missing", Severity.FAULT) if is_fault else ("dead tokens", Severity.WARNING)
        yield Finding(_GROUP, kind, severity, (loaded.name,), _first(ordinary, tokenizer))


def _are_last(dead: Int32Array, control: Int32Array, tokenizer: Tokenizer) -> bool:
    """Return whether the last ordinary tokens are all dead."""
    ordinary = tokenizer.means_something.copy()
    ordinary[tokenizer.special_ids] = False
    ordinary[tokenizer.token_to_id[control]] = False
    last = np.flatnonzero(ordinary)[-_LAST:]
    return bool(np.isin(last, tokenizer.token_to_id[dead]).all())


def _first(numbers: Int32Array, tokenizer: Tokenizer) -> dict[str, Any]:
    named = [show(tokenizer.token(number)) for number in numbers[:_MOST_NAMED].tolist()]
    return {"count": len(numbers), "size": tokenizer.n_tokens, "tokens": named}
