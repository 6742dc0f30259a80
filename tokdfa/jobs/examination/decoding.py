"""Whether decoding gives a text back: a proof, or a text that is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.examination.declared import Declared
from tokdfa.jobs.examination.finding import Finding, Group, Severity
from tokdfa.jobs.examination.folder import Loaded
from tokdfa.jobs.templates.reading import CONFIG
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

_GROUP = Group.DECODING
# Texts that normalizers, prefix spaces and decoders change, the shortest first.
_TRIED: Final = (
    *("a", " ", "A", "\n", "\t", "\x00", "  ", " a", "a ", "a.", "a .", "a'b", "a  b", "a\nb", "\r\n", "\u00e9"),
    *("e\u0301", "\u212b", "\u2581", "\ufb01", "\uff21", "\u00ad", "\u4e2d", "\U0001f600", "\ufffd", "<0x41>", "##a"),
)
# What clean_up_tokenization of transformers replaces.
_CLEANED: Final = (" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're")


def check_decoding(loaded: Loaded) -> Iterator[Finding]:
    """Yield whether decoding gives every text back."""
    tokenizer = loaded.tokenizer
    if _is_exact(tokenizer):
        yield Finding(_GROUP, "texts are kept", Severity.OK, (loaded.name,))
    else:
        texts = {text: _decoded(tokenizer, text) for text in _TRIED}
        lost = next((text for text, decoded in texts.items() if decoded != text), None)
        if lost is None:
            values = {"check": "decoding", "reason": "no text is found that is lost, which is not a proof"}
            yield Finding(_GROUP, "check not made", Severity.UNKNOWN, (loaded.name,), values)
        else:
            more = {"text": lost, "decoded": texts[lost]}
            yield Finding(_GROUP, "text is lost", Severity.WARNING, (loaded.name,), more)


def check_clean_up(loaded: Loaded, declared: Declared, built: Loaded | None) -> Iterator[Finding]:
    """Yield a fault if `built`, the tokenizer of transformers, decodes a text otherwise because it cleans up spaces."""
    # WordPiece puts spaces before punctuation, which cleaning up takes away.
    if not declared.cleans_up or loaded.tokenizer.algorithm == "WordPiece":
        return
    where = CONFIG, loaded.name
    if built is None:
        values = {"reason": "not tried, as transformers gives no tokenizer"}
        yield Finding(_GROUP, "clean-up is set", Severity.WARNING, where, values)
        return
    for text in (f"a{part}" for part in _CLEANED):
        ids = loaded.tokenizer.encode(text).tolist()
        kept, decoded = (built.source.decode(ids, clean_up_tokenization_spaces=is_set) for is_set in (False, None))
        if decoded != kept:
            values = {"text": kept, "decoded": decoded, "library": built.name}
            yield Finding(_GROUP, "clean-up loses text", Severity.FAULT, where, values)
            return
    values = {"reason": f"{built.name} decodes {len(_CLEANED)} such texts as without it"}
    yield Finding(_GROUP, "clean-up is set", Severity.WARNING, where, values)


def _is_exact(tokenizer: AnyTokenizer) -> bool:
    """Return whether ids spell texts unchanged, with a token for each byte."""
    if not isinstance(tokenizer, Tokenizer) or tokenizer.why_not("spelling") is not None:
        return False
    return tokenizer.why_not("bytes") is None and tokenizer.splitting.prefix_space is None


def _decoded(tokenizer: AnyTokenizer, text: str) -> str | None:
    """Return a text after encoding and decoding; None if it cannot be encoded, or ids have no text."""
    try:
        return tokenizer.decode(tokenizer.encode(text))
    except (AlphabetError, TokenStreamError):
        return None
