"""WordPiece tokenizers: vocab.txt, and tokenizer.json with a WordPiece model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple

import numpy as np

from tokdfa.base.errors import AlphabetError, FileFormatError, LimitExceededError, UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID
from tokdfa.tokenizers.formats.files import content, decode_utf8
from tokdfa.tokenizers.formats.json_text import HALF, JsonObject, check_surrogates, parse_object
from tokdfa.tokenizers.formats.text_steps import read_bert_normalizer
from tokdfa.tokenizers.formats.top_level import check_top, read_left_out, read_specials
from tokdfa.tokenizers.formats.written import PlainFile, Vocabulary
from tokdfa.tokenizers.models.wordpiece.normalizer import BertNormalizer, WordNormalizer
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.models.wordpiece.words import EntryTexts

# The names in BERT's vocabularies of tokens that represent no text.
_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_CONFIG: Final = "tokenizer_config.json"


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
) -> WordPieceContents:
    """Read a tokenizer.json with a WordPiece model and BERT's normalizer and pre-tokenizer.

    Truncation, padding and the post-processor, which adds special tokens, shape the input of a model. They are left
    out, and named. `plain` has the vocabulary if it was written plainly; the one in `top` is then empty. `of_object` is
    whether the library has just written the file.
    """
    check_top(top)
    vocabulary = _read_model(top, plain)
    what = "WordPiece is not modelled with this"
    normalizer = read_bert_normalizer(_read_step(top, "normalizer", "BertNormalizer", what))
    _read_step(top, "pre_tokenizer", "BertPreTokenizer", what)
    decoder = _read_step(top, "decoder", "WordPiece", "the decoder must be WordPiece")
    if decoder.get("prefix", str) != vocabulary.prefix:
        raise decoder.unmodelled("prefix", f"the model has the prefix {vocabulary.prefix!r}")
    if plain is None:
        entries = dict(vocabulary.items())
        known = Vocabulary(list(entries), np.fromiter(entries.values(), np.int32, len(entries)), entries)
    else:
        known = plain.vocabulary
    specials = read_specials(top, known, of_object=of_object)
    has_blanks = any(not spaces().isdisjoint(special.content) for special in specials)
    for index, special in enumerate(specials):
        where = f"{top.at('added_tokens')}[{index}]"
        # White space next to a token is not a token itself, so taking it away changes offsets only, unless a token has
        # some inside.
        if special.single_word or ((special.lstrip or special.rstrip) and has_blanks):
            what = "added tokens that are single words, or strip beside others with white space, are not modelled here"
            hint = "clear the flags single_word, lstrip and rstrip"
            raise UnsupportedFeatureError(what, value=special.content, where=where, hint=hint)
        if special.level:
            what = "added tokens that are looked for in normalized text are not modelled here"
            raise UnsupportedFeatureError(what, value=special.content, where=f"{where}.normalized")
    ids = [name for name in read_left_out(top, specials) if name.startswith("ids")]
    parts = (key for key in ("truncation", "padding", "post_processor") if top.fields.get(key) is not None)
    ignored = (*ids, *parts)
    cleanup = decoder.get("cleanup", bool)
    return WordPieceContents("tokenizer.json", vocabulary, normalizer, specials, cleanup, ignored)


def _read_model(top: JsonObject, plain: PlainFile | None) -> WordPieceVocabulary:
    model = top.required("model", "the model is missing")
    model.refuse_unless("type", ("WordPiece",), "only WordPiece models can be read here")
    where = model.at("vocab")
    entries: Mapping[str, int] | EntryTexts
    if plain is None:
        entries = _read_entries(model, where)
    else:
        entries = EntryTexts(*plain.vocabulary.words, plain.vocabulary.ids, plain.vocabulary.table)
    longest_word = model.get("max_input_chars_per_word", int)
    if longest_word < 0:
        raise model.wrong("max_input_chars_per_word", "a length must not be negative")
    prefix, unknown = model.get("continuing_subword_prefix", str), model.get("unk_token", str)
    try:
        return WordPieceVocabulary(entries, prefix=prefix, unknown=unknown, longest_word=longest_word)
    except (AlphabetError, LimitExceededError) as error:
        kind = FileFormatError if isinstance(error, AlphabetError) else LimitExceededError
        raise kind(error.what, value=error.value, where=where) from None


def _read_entries(model: JsonObject, where: str) -> dict[str, int]:
    entries = model.get("vocab", dict)
    if not entries:
        raise FileFormatError("the vocabulary has no tokens", where=where)
    # Entries are checked one by one only if one of them is wrong.
    is_sound = {*map(type, entries.values())} == {int} and max(entries.values()) <= LARGEST_ID
    for entry, number in () if is_sound and not HALF.search("".join(entries)) else entries.items():
        check_surrogates(entry, where)
        if isinstance(number, int) and number > LARGEST_ID:
            raise FileFormatError(f"an id above {LARGEST_ID}", value=number, where=f"{where}.{entry}")
    return entries


def _read_step(top: JsonObject, key: str, kind: str, why: str) -> JsonObject:
    """Return the processor at `key`, which must be of one kind."""
    step = top.object(key)
    if step is None:
        raise top.unmodelled(key, why, hint=f"it must be {kind}")
    if step.get("type", str) != kind:
        raise step.unmodelled("type", why, hint=f"it must be {kind}")
    return step
