"""Comparing two tokenizers: the relation from text to ids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tokdfa.alphabet import Word, show
from tokdfa.comparison.dictionaries import by_length, compare_dictionaries
from tokdfa.comparison.result import Comparison, Difference
from tokdfa.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.transducers.one_pass import agrees_with_leftmost

__all__ = ["compare_tokenizers"]

_UNDECIDED = "neither a difference nor equivalence can be claimed"


def compare_tokenizers(a: Tokenizer, b: Tokenizer, *, ignore_ids: bool = False) -> Comparison:
    """Compare what makes two tokenizers: exactly the dictionaries, by their settings the rest.

    Where the rest differs, a difference of the dictionaries counts only if encoding shows it, and their equality is no
    answer.
    """
    settings_a, settings_b = _settings(a), _settings(b)
    same = {part: settings_a[part] == settings_b[part] for part in settings_a}
    checked = {part: "the same" if equal else "not compared" for part, equal in same.items()}
    if a.fingerprint == b.fingerprint:
        checked |= {"dictionary": "the same", "ids": "the same"}
        return Comparison(True, None, "the tokenizers are the same", checked=checked)
    for side in (a, b):
        if side.merges is not None or not side.dictionary.is_proper() or not agrees_with_leftmost(side.dictionary):
            raise UnsupportedFeatureError(f"{_UNDECIDED}: of a dictionary, pairs of neighbours do not tell everything")
    found = compare_dictionaries(a.dictionary, b.dictionary)
    checked |= found.checked
    checked["ids"] = "ignored" if ignore_ids else "exactly"
    witness = None if found.witness is None else _confirmed(a, b, found.witness.text, ignore_ids)
    if witness is None and not ignore_ids:
        text = _least_renumbered(a, b)
        witness = None if text is None else _confirmed(a, b, text, ignore_ids)
    if witness is not None:
        reason = f"{show(witness.text)!r} has different {'tokens' if ignore_ids or found.witness else 'ids'}"
        return replace(found, holds=False, witness=witness, reason=reason, checked=checked)
    unknown = [part for part, equal in same.items() if not equal]
    if unknown or not found:
        what = (
            f"the {' and the '.join(unknown)} are not compared" if unknown else "no text shows where the rules differ"
        )
        raise UnsupportedFeatureError(
            f"{_UNDECIDED}: {what}",
            hint="compare the dictionaries alone: load them without pre-tokenizer, or pass tokenizer.dictionary",
        )
    return replace(found, reason="every text has the same tokens", checked=checked)


def _settings(tokenizer: Tokenizer) -> dict[str, object]:
    """Return the parts of a tokenizer that are compared by what they say."""
    specials = sorted(
        (special.content, special.level, special.lstrip, special.rstrip, special.single_word)
        for special in tokenizer.specials
    )
    whole_pieces = {tokenizer.token(number) for number in tokenizer.whole_piece_tokens.tolist()}
    return {
        "pretokenizer": repr(tokenizer.pretokenizer),
        "specials": (tokenizer.finds_specials, specials if tokenizer.finds_specials else []),
        "whole pieces": whole_pieces,
        "suffix": tokenizer.suffix,
        "rewriting of texts": tokenizer.rewrites,
    }


def _confirmed(a: Tokenizer, b: Tokenizer, text: Word, ignore_ids: bool) -> Difference | None:
    """Return the ids of a text in both tokenizers if they differ, None otherwise."""
    ids_a, ids_b = _ids(a, text), _ids(b, text)
    if ignore_ids:
        spelled = (None if ids is None else [_spelled(side, i) for i in ids] for side, ids in ((a, ids_a), (b, ids_b)))
        differ = next(spelled) != next(spelled)
    else:
        differ = ids_a != ids_b
    return Difference(text, ids_a, ids_b) if differ else None


def _ids(tokenizer: Tokenizer, text: Word) -> tuple[int, ...] | None:
    try:
        if isinstance(text, bytes):
            try:
                return tuple(tokenizer.encode(text.decode("utf-8")).tolist())
            except UnicodeDecodeError:
                # No text of its own, but a part of a piece; where pieces are cut, no text may have it.
                return tuple(tokenizer.encode_piece(text).tolist()) if tokenizer.pretokenizer is None else ()
        return tuple(tokenizer.encode("".join(text)).tolist())
    except AlphabetError:
        return None


def _spelled(tokenizer: Tokenizer, i: int) -> bytes:
    text, offsets = tokenizer.id_spellings
    return text[offsets[i] : offsets[i + 1]].tobytes()


def _least_renumbered(a: Tokenizer, b: Tokenizer) -> Word | None:
    """Return the least live token that has different ids in two tokenizers with equivalent dictionaries."""
    words = sorted(a.dfa.alphabet.spell(np.flatnonzero(a.dfa.birth >= 0).tolist()), key=by_length)
    ids_a = a.token_to_id[list(a.dictionary.alphabet.numbers(words))]
    known = [word in b.dictionary.alphabet for word in words]
    ids_b = [
        int(b.token_to_id[b.dictionary.alphabet.number(word)]) if there else -1
        for word, there in zip(words, known, strict=True)
    ]
    differing = np.flatnonzero(ids_a != np.array(ids_b))
    return words[differing[0]] if len(differing) else None
