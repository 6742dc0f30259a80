"""Facts about a Unigram tokenizer: its pieces and scores, in numbers, and what is done to texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokdfa.tokenizers.unigram import UnigramTokenizer

__all__ = ["facts_of_unigram"]


def facts_of_unigram(tokenizer: UnigramTokenizer) -> dict[str, Any]:
    """Return the facts that ``tokdfa info`` prints about a Unigram tokenizer; see :meth:`AnyTokenizer.facts`."""
    model, rewriting = tokenizer.model, tokenizer.rewriting
    described = {} if rewriting.normalizer is None else {"normalizer": str(rewriting.normalizer)}
    if tokenizer.why_not_cut is not None:
        described["judged_as_a_whole"] = tokenizer.why_not_cut
    described["decoder"] = " ".join(map(str, rewriting.decoding or ())) or "Fuse"
    found = model.scores[model.is_found]
    return {
        "format": tokenizer.format,
        "ids": tokenizer.n_ids,
        "tokens": tokenizer.n_tokens,
        "pieces": int(model.is_found.sum()),
        "semantics": tokenizer.semantics,
        "least_score": float(found.min()) if len(found) else None,
        "greatest_score": float(found.max()) if len(found) else None,
        "unknown": None if model.unknown is None else model.pieces[model.unknown],
        "byte_fallback": model.byte_ids is not None,
        "pretokenizer": "none" if tokenizer.pretokenizer is None else str(tokenizer.pretokenizer),
        "rewriting": described,
        "left_out": list(tokenizer.ignored),
        "specials": len(tokenizer.specials),
        "text_specials": sum(special.is_text for special in tokenizer.specials),
        "specials_policy": "none" if not tokenizer.specials else "found" if tokenizer.finds_specials else "ignored",
        **({} if tokenizer.library is None else {"library": tokenizer.library}),
        "fingerprint": tokenizer.fingerprint,
    }
