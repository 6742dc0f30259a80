"""Why streams of a tokenizer that rewrites nothing are judged as a whole: pairs of neighbours do not decide."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.encoding.special import Special
from tokdfa.unicode.byte_alphabet import CHARACTER_OF

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["break_each_other", "is_closed", "why_whole"]


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


def is_closed(tokenizer: Tokenizer) -> bool:
    """Return whether every symbol of the texts that ids spell is itself a token.

    If a text may have such a symbol, the symbol is dropped or the text refused, and pairs of neighbouring ids do not
    show which. The suffix of words and the spaces that a pre-tokenizer inserts are not considered.
    """
    if tokenizer.why_not("bytes") is None:
        return True
    known = {"".join(cast("str | tuple[str, ...]", symbol)) for symbol in tokenizer.dictionary.alphabet.symbols}
    if tokenizer.spells_bytes:
        # Ids that are not UTF-8 decode to U+FFFD, of which some letters may be dropped.
        letters = {CHARACTER_OF[byte] for byte in "\ufffd".encode()}
        if not letters <= known and not letters.isdisjoint(known):
            return False
    specials = tokenizer.found_specials
    words = (cast("str | tuple[str, ...]", word) for word in tokenizer.extra_tokens)
    if not all(known.issuperset(word) for word in words):
        return False
    return all(known.issuperset(special.content) for special in specials) or not break_each_other(specials)


def break_each_other(specials: Iterable[Special]) -> bool:
    """Return whether a part of the text of one special token may be found as another one.

    If not, each is found as a whole wherever it occurs, if only as a part of a longer one.
    """
    specials = tuple(specials)
    early = [special.content for special in specials if special.level == 0]
    late = [special.content for special in specials if special.level > 0]
    return _overlap(sorted({*early, *late})) or any(one in other for other in late for one in early)


def _overlap(words: list[str]) -> bool:
    """Return whether a proper suffix of a word is a proper prefix of one; the words ascend."""
    for word in words:
        for at in range(1, len(word)):
            suffix = word[at:]
            # Words that begin with it are in a row, and the first of them may be the suffix itself.
            first = bisect_left(words, suffix)
            if any(other != suffix and other.startswith(suffix) for other in words[first : first + 2]):
                return True
    return False
