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


def check_decoding(loaded: Loaded, declared: Declared) -> Iterator[Finding]:
    """Yield whether decoding gives every text back, and what cleaning up loses."""
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
    # WordPiece puts spaces before punctuation, which cleaning up takes away.
    if declared.cleans_up and tokenizer.algorithm != "WordPiece":
        more = {"text": "a .", "decoded": cleaned("a .")}
        yield Finding(_GROUP, "clean-up loses text", Severity.FAULT, (CONFIG, loaded.name), more)


def cleaned(text: str) -> str:
    """Return a text without the spaces that ``clean_up_tokenization_spaces`` takes away."""
    for part in _CLEANED:
        text = text.replace(part, part.strip(" "))
    return text


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
