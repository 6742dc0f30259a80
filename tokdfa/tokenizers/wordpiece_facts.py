"""Facts about a WordPiece tokenizer: its entries and its automaton, in numbers, and what is done to texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokdfa.errors import AutomatonError
from tokdfa.unicode.normalization import tables

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.wordpiece import Case
    from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

__all__ = ["facts_of_wordpiece"]

_EXAMPLES = 5


def facts_of_wordpiece(tokenizer: WordPieceTokenizer, case: Case | None) -> dict[str, Any]:
    """Return the facts that ``tokdfa info`` prints about a WordPiece tokenizer; see :meth:`AnyTokenizer.facts`.

    `case` is what says whether texts become lower case, if the file does not.
    """
    vocabulary, normalizer = tokenizer.vocabulary, tokenizer.normalizer
    facts = {
        "format": tokenizer.format,
        "ids": tokenizer.n_ids,
        "tokens": tokenizer.n_tokens,
        "semantics": tokenizer.semantics,
        "pretokenizer": tokenizer.pretokenizer,
        "normalizer": {
            "clean_text": normalizer.clean_text,
            "chinese": normalizer.chinese,
            "strip_accents": normalizer.strip_accents,
            "lowercase": normalizer.lowercase,
        },
        "prefix": vocabulary.prefix,
        "opening": vocabulary.opening,
        "unknown": vocabulary.unknown if vocabulary.unknown_id is not None else None,
        "longest_word": vocabulary.longest_word,
        "trie_nodes": len(tokenizer.trie),
        "lost_ids": len(vocabulary.duplicates),
        "specials": len(tokenizer.specials),
        "text_specials": sum(special.is_text for special in tokenizer.specials),
        "ignored": tokenizer.ignored,
        **({} if tokenizer.library is None else {"library": tokenizer.library}),
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
