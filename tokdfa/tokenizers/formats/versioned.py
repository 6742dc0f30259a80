"""A tokenizer with another library version's Unicode tables, and a check that its other parts are known for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import TYPE_CHECKING, Any

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.tables import ranges
from tokdfa.regex.unicode.versions import Range, changed_normalizers, resolve
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer
from tokdfa.tokenizers.normalizers.sentencepiece import Precompiled
from tokdfa.tokenizers.normalizers.steps import Chain, Lowercase, Replace, Strip, StripAccents, UnicodeForm

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.special import Special
    from tokdfa.tokenizers.formats.contents import Contents
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents

# The library that a format is the one of, where it is not tokenizers.
_LIBRARY = {"tiktoken": "tiktoken", "tekken": "tiktoken", "sentencepiece": "sentencepiece"}


def table_of(unicode: str) -> str | None:
    """Return the name of the table of a version, written as ``tokenizers==0.20.3``; None for the newest table."""
    part = resolve(unicode)
    return None if part.name == part.library else part.name


def check_byte_pairs(contents: Contents | UnigramContents, unicode: str, library: str | None) -> None:
    """Raise UnsupportedFeatureError unless all of a tokenizer but its splitting is known for a version.

    `unicode` is the version, written as ``tokenizers==0.20.3``, and `library` the library of its splitting, if it has
    one.
    """
    part = resolve(unicode)
    _check_library(library or _LIBRARY.get(contents.format, "tokenizers"), part, unicode)
    normalizer = None if contents.rewriting is None else contents.rewriting.normalizer
    _check_steps(_steps(normalizer), part, unicode)
    _check_specials(contents.specials, part, unicode)


def check_wordpiece(contents: WordPieceContents, unicode: str) -> None:
    """Raise UnsupportedFeatureError unless WordPiece is known for a version, written as ``tokenizers==0.20.3``."""
    part = resolve(unicode)
    _check_library(contents.normalizer.library, part, unicode)
    _check_steps([contents.normalizer], part, unicode)
    _check_specials(contents.specials, part, unicode)
    for name in ("is_bert_punctuation", "is_whitespace"):
        if _differs(name, part):
            _refuse("BertPreTokenizer", part, unicode)


def _check_library(library: str, part: Range, unicode: str) -> None:
    if library != part.library:
        what = f"this tokenizer follows {library}, so that tables of {part.library} have no effect"
        hint = "tables of regex are for patterns that search" if part.library == "regex" else None
        raise UnsupportedFeatureError(what, value=unicode, hint=hint)


def _steps(normalizer: Any) -> Iterator[Any]:
    if isinstance(normalizer, Chain):
        for step in normalizer.steps:
            yield from _steps(step)
    elif normalizer is not None:
        yield normalizer


def _check_steps(steps: Iterable[Any], part: Range, unicode: str) -> None:
    if part.name == part.library:
        return
    changed = changed_normalizers(part.name)
    for step in steps:
        uses: tuple[str, ...] = ()
        match step:
            case UnicodeForm(form):
                uses = (form,)
            case Lowercase() | StripAccents():
                uses = (type(step).__name__,)
            case BertNormalizer(cleans, chinese, strips, lowers):
                names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
                uses = tuple(compress(names, (cleans, chinese, strips, lowers)))
        is_unknown = (
            isinstance(step, Precompiled)
            or (isinstance(step, Replace) and not step.literal)
            or (isinstance(step, Strip) and _differs("is_whitespace", part))
        )
        if is_unknown or not changed.isdisjoint(uses):
            _refuse(", ".join(sorted(changed.intersection(uses))) or type(step).__name__, part, unicode)


def _check_specials(specials: Iterable[Special], part: Range, unicode: str) -> None:
    if part.library != "tokenizers":
        return
    for special in specials:
        if special.single_word and _differs("whitespace_word", part):
            _refuse("an added token that is a single word", part, unicode)
        if (special.lstrip or special.rstrip) and _differs("is_whitespace", part):
            _refuse("an added token that strips white space", part, unicode)


def _differs(name: str, part: Range) -> bool:
    return ranges(name, part.name) != ranges(name, part.library)


def _refuse(what: str, part: Range, unicode: str) -> None:
    raise UnsupportedFeatureError(
        f"{part.library} {part} does something else than the newest version with {what}, or may do so;"
        " only what splits texts is modelled for other versions",
        value=unicode,
    )
