"""WordPiece tokenizers: vocab.txt, and tokenizer.json with a WordPiece model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple

from tokdfa.base.errors import FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import Normalizer, spaces
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.by_piece import (
    ByPieceContents,
    json_contents,
    known_words,
    read_entries,
    read_joining_decoder,
)
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Rewriting
from tokdfa.tokenizers.formats.files import content, decode_utf8
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object
from tokdfa.tokenizers.formats.top_level import read_left_out, read_specials, read_steps
from tokdfa.tokenizers.formats.written import PlainFile
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer, WordNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.steps import Chain
from tokdfa.tokenizers.pretokenizers.steps import BERT, Splitting
from tokdfa.tokenizers.word_decoding import DecodeWordPiece

# The names in BERT's vocabularies of tokens that represent no text.
_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CONFIG: Final = "tokenizer_config.json"
_SPLITTING = Splitting("tokenizers", BERT)


class Case(NamedTuple):
    """The source that says whether texts become lower case for a vocab.txt, and whether accents are removed.

    By default they are removed in lower case.
    """

    source: Literal["default", "tokenizer_config.json", "lowercase="]
    strip_accents: bool | None = None


@dataclass(frozen=True, slots=True)
class WordPieceContents:
    """The contents of the file of a WordPiece tokenizer.

    The special tokens are cut out of the raw text first. `ignored` names the steps of the file that shape batches for a
    model and are left to the user. `cleanup` is whether decoding removes spaces before punctuation, as the decoder of
    tokenizers does if asked to, and `silent` are the ids that it leaves out. `case` is the source that says whether
    texts become lower case, if the file does not.
    """

    algorithm: ClassVar[str] = "WordPiece"
    is_plain: ClassVar[bool] = False
    own_splitting: ClassVar[str] = "BERT's pre-tokenizer"
    says_splitting: ClassVar[bool] = True
    drops_unknown: ClassVar[bool] = False
    finds_specials: ClassVar[bool] = True
    rewriting: ClassVar[None] = None

    format: str
    vocabulary: WordPieceVocabulary
    normalizer: WordNormalizer
    specials: tuple[Special, ...]
    cleanup: bool
    ignored: tuple[str, ...] = ()
    library: str | None = None
    silent: frozenset[int] = frozenset()
    case: Case | None = None


def read_vocab_txt(data: bytes, path: Path) -> WordPieceContents:
    """Read a vocab.txt: one entry per line, with the number of the line as its id.

    As in tokenizers, white space at the ends of lines is dropped, and the last of equal entries counts. The file says
    nothing about normalization. It is BERT's, in lower case and without accents, which is the default of the libraries,
    unless a ``tokenizer_config.json`` next to it says otherwise.
    """
    text = decode_utf8(data, path)
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > LARGEST_ID:
        raise FileFormatError(f"more than {LARGEST_ID} lines", value=len(lines), where=str(path))
    blanks = "".join(spaces())
    try:
        vocabulary = WordPieceVocabulary(line.rstrip(blanks) for line in lines)
    except LimitExceededError as error:
        raise LimitExceededError(error.what, value=error.value, where=str(path)) from None
    specials = tuple(Special(number, name) for name in _SPECIALS if (number := vocabulary.id(name)) is not None)
    normalizer, case = _configured(path)
    return WordPieceContents("vocab.txt", vocabulary, normalizer, specials, cleanup=True, case=case)


def _configured(path: Path) -> tuple[BertNormalizer, Case]:
    """Return the normalizer that the tokenizer_config.json next to a file asks for, or the default one."""
    config = path.with_name(_CONFIG)
    # Only a file on a disk has others next to it.
    if not (path.is_file() and config.is_file()):
        return BertNormalizer(), Case("default")
    top = parse_object(content(config), config)
    for key, values in (
        ("do_basic_tokenize", (None, True)),
        ("never_split", (None, [])),
        ("word_tokenizer_type", (None, "basic")),
        ("subword_tokenizer_type", (None, "wordpiece")),
    ):
        top.refuse_unless(key, values, "WordPiece is modelled only with BERT's normalizer and splitting")
    lowercase = top.get_or_none("do_lower_case", bool)
    chinese = top.get_or_none("tokenize_chinese_chars", bool)
    case = Case("default" if lowercase is None else _CONFIG, top.get_or_none("strip_accents", bool))
    return _cased(BertNormalizer(chinese=chinese is not False), case, lowercase is not False), case


def _cased(normalizer: BertNormalizer, case: Case, lowercase: bool) -> BertNormalizer:
    strips = lowercase if case.strip_accents is None else case.strip_accents
    return replace(normalizer, lowercase=lowercase, strip_accents=strips)


def with_case(contents: object, lowercase: bool, where: str) -> WordPieceContents:
    """Return the contents of a vocab.txt with texts in lower case or not, as the caller says."""
    if not isinstance(contents, WordPieceContents) or contents.case is None:
        what = "whether text becomes lower case can be said only for a vocab.txt; this file says so itself"
        raise UnsupportedFeatureError(what, value=lowercase, where=where)
    assert isinstance(contents.normalizer, BertNormalizer)
    case = Case("lowercase=", contents.case.strip_accents)
    return replace(contents, normalizer=_cased(contents.normalizer, case, lowercase), case=case)


def read_wordpiece_json(
    top: JsonObject, plain: PlainFile | None = None, *, of_object: bool = False
) -> WordPieceContents | ByPieceContents:
    """Read a tokenizer.json with a WordPiece model; truncation, padding and the post-processor are only named.

    With BERT's normalizer, pre-tokenizer and decoder, and added tokens that are found in the raw text, texts are
    encoded in one pass. With anything else, each piece of the text is encoded by itself. `plain` has the vocabulary if
    it was written plainly; the one in `top` is then empty. `of_object` is whether the library has just
    written the file.
    """
    normalizer, splitting, is_bytewise = read_steps(top)
    vocabulary = _read_model(top, plain)
    known = known_words(vocabulary, plain)
    specials = read_specials(top, known, normalizer, is_bytewise=is_bytewise, of_object=of_object)
    decoding = read_joining_decoder(top, normalizer)
    left_out = read_left_out(top, specials)
    bert, decoder = _bert_normalizer(normalizer), decoding[0] if len(decoding) == 1 else None
    is_joined = isinstance(decoder, DecodeWordPiece) and decoder.prefix == vocabulary.prefix
    if bert is not None and is_joined and splitting == _SPLITTING and _are_in_raw_text(specials):
        parts = (key for key in ("truncation", "padding", "post_processor") if top.fields.get(key) is not None)
        ignored = (*(name for name in left_out if name.startswith("ids")), *parts)
        assert isinstance(decoder, DecodeWordPiece)
        return WordPieceContents("tokenizer.json", vocabulary, bert, specials, bool(decoder.cleanups), ignored)
    rewriting = Rewriting(normalizer, decoding)
    return json_contents("WordPiece by piece", vocabulary, specials, splitting, is_bytewise, rewriting, left_out)


def _bert_normalizer(normalizer: Normalizer | None) -> BertNormalizer | None:
    """Return BERT's normalizer if nothing else is done to texts."""
    steps = normalizer.steps if isinstance(normalizer, Chain) else ()
    return steps[0] if len(steps) == 1 and isinstance(steps[0], BertNormalizer) else None


def _are_in_raw_text(specials: Sequence[Special]) -> bool:
    """Return whether all added tokens are found in raw text, and only spelled there.

    White space next to a token is not a token itself, so taking it away changes offsets only, unless a token has some
    inside.
    """
    has_blanks = any(not spaces().isdisjoint(special.content) for special in specials)
    strip = any(special.lstrip or special.rstrip for special in specials)
    is_odd = any(special.single_word or special.level for special in specials)
    return not (is_odd or (strip and has_blanks))


def _read_model(top: JsonObject, plain: PlainFile | None) -> WordPieceVocabulary:
    model = top.required("model", "the model is missing")
    longest_word = model.get("max_input_chars_per_word", int)
    if longest_word < 0:
        raise model.wrong("max_input_chars_per_word", "a length must not be negative")
    prefix, unknown = model.get("continuing_subword_prefix", str), model.get("unk_token", str)
    return read_entries(model, plain, unknown=unknown, longest_word=longest_word, prefix=prefix)
