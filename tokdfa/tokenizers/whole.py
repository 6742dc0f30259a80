"""Why streams of a tokenizer that rewrites nothing are judged as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.tokenizers.closed import is_closed

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["why_whole"]


def why_whole(tokenizer: Tokenizer) -> str | None:
    """Return why neither a walk over ids nor pairs of neighbours decide streams; None if they do."""
    if tokenizer.suffix is not None:
        return "what a symbol is depends on the piece that it is in"
    if not is_closed(tokenizer):
        return "a text may have symbols without a token"
    if tokenizer.pretokenizer is None:
        by_pairs = tokenizer.merges is None and tokenizer.dictionary.properness()
        if by_pairs and agrees_with_leftmost(tokenizer.dictionary) and not len(tokenizer.whole_piece_tokens):
            return None
        return "nothing splits the text, and pairs of tokens do not decide what merging gives"
    splitting = tokenizer.pretokenizer.splitting
    if splitting.prefix_space is not None or splitting.metaspace is not None:
        return "the pre-tokenizer puts spaces before pieces, or something else in their place"
    if splitting.byte_steps:
        return "the pre-tokenizer splits letters that stand for bytes"
    if any(step.behavior == "removed" for step in splitting.steps):
        return "the pre-tokenizer drops text"
    return None
