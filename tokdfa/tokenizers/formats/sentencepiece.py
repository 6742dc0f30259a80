"""SentencePiece models of every type: BPE, Unigram, WORD and CHAR, which is BPE without merges.

A model that is written plainly is read without the packages that read all of protocol buffers.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from tokdfa.base.arrays import Float64Array, Uint8Array
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import PieceList, check_spellings, read_pieces
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.decoding import BYTE_TOKENS, DecodeSentencePiece, byte_of
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.by_piece import ByPieceContents
from tokdfa.tokenizers.formats.charsmap import read_charsmap
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents, LateContents, Rewriting
from tokdfa.tokenizers.formats.ranks import MOST_SYMBOLS, over_scored
from tokdfa.tokenizers.formats.unigram import LARGEST_SCORE, UnigramContents
from tokdfa.tokenizers.formats.written import Vocabulary
from tokdfa.tokenizers.models.unigram.character_rules import CharacterTable
from tokdfa.tokenizers.models.unigram.model import PieceTexts, UnigramModel, unknown_score
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer, SpaceAfter
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

_LONGEST_PIECE = 1024
_MOST_PREFIXES = 64
_UNIGRAM, _BPE, _WORD, _CHAR = range(1, 5)
_TYPES = (_UNIGRAM, _BPE, _WORD, _CHAR)
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_SURFACE = " \u2047 "  # the decoded text of the unknown piece, unless a model says otherwise

# Fields of a model, and the forms of fields: numbers, bytes, and others by their widths.
_TRAINER, _NORMALIZER, _DENORMALIZER = 2, 3, 5
_NUMBER, _BYTES = 0, 2
_WIDTHS = {1: 8, 5: 4}


class Settings(NamedTuple):
    """The settings of a model, without its pieces.

    `kind` is the type of the model. `is_suffix` is whether white space is treated as a suffix, `surface` is the decoded
    text of the unknown piece, and `charsmap` the precompiled character table, which may be empty. `puts`, `trims` and
    `escapes` are whether a space is put before texts, white space that is not needed is removed, and spaces become
    U+2581.
    """

    kind: int
    byte_fallback: bool
    is_suffix: bool
    surface: str
    charsmap: bytes
    puts: bool
    trims: bool
    escapes: bool

    @property
    def is_unigram(self) -> bool:
        """Whether the model is Unigram."""
        return self.kind == _UNIGRAM


class _Pieces(NamedTuple):
    """The pieces of a model by id, their scores and kinds; and those that are not normal, with their ids."""

    words: Vocabulary
    scores: Float64Array
    kinds: Uint8Array
    unknown: tuple[str, int]
    control: dict[str, int]
    user_defined: dict[str, int]
    byte: dict[str, int]


def read_sentencepiece(data: bytes, path: Path) -> Contents | UnigramContents | ByPieceContents:
    """Read a SentencePiece model."""
    plain = read_plain_model(data)
    words = None if plain is None else _sound_words(*plain)
    checked = None if plain is None or words is None else check_spellings(*plain[0][:2], plain[0].kinds)
    if plain is None or words is None or checked is None:
        message = _parse(data, path)
        settings = _settings(message, path)
        words, scores, kinds = _read_pieces(message, path, settings)
        checked = check_spellings(*words.words, kinds)
    else:
        (_, _, scores, kinds, _), settings = plain
    pieces = _by_kind(words, scores, kinds)
    _check(pieces, settings, path)
    if settings.kind in (_BPE, _CHAR):
        n_characters, has_all = checked or (MOST_SYMBOLS + 1, False)
        if n_characters > MOST_SYMBOLS or not has_all:
            # It raises the error: characters that are not normal pieces themselves, or too many to find rules.
            _rules_over(pieces, path)
    rules = table = None
    if settings.charsmap:
        rules = read_charsmap(settings.charsmap, f"{path}, normalizer_spec.precompiled_charsmap")
        table = CharacterTable(rules, tuple(pieces.user_defined), settings.charsmap)
    trims = settings.trims
    if trims:
        text = rules.first_with("  ") if rules else None
        text = next((piece for piece in pieces.user_defined if "  " in piece), None) if text is None else text
        if text is not None:
            where = f"{path}, normalizer_spec.remove_extra_whitespaces"
            raise UnsupportedFeatureError("two spaces in a row are not modelled here", value=text, where=where)
    puts = settings.puts
    usual = SentencePieceNormalizer(table, puts and not settings.is_suffix, trims, settings.escapes)
    rewriting = Rewriting(
        SpaceAfter(usual) if puts and settings.is_suffix else usual,
        # A space that is put after texts stays, but the decoder drops one from their beginning all the same.
        (DecodeSentencePiece(puts and not trims, trims, pieces.unknown[0], settings.surface),),
    )
    known: dict[str, Any] = {
        "format": "sentencepiece",
        "specials": tuple(Special(id, text, normalized="") for text, id in pieces.control.items()),
        "rewriting": rewriting,
    }
    if settings.is_unigram:
        users = tuple(pieces.user_defined.values())
        return UnigramContents(model=_unigram(pieces, path), user_defined=users, **known)
    if settings.kind == _WORD:
        return _by_word(pieces, known)
    fallback = Fallback(bytes=BYTE_TOKENS) if pieces.byte else Fallback(unknown=pieces.unknown[0], fuses=True)
    known |= {"atoms": tuple(pieces.user_defined), "fallback": fallback}
    return LateContents.of(partial(_rules_over, pieces, path), known)


def _settings(model: Any, path: Path) -> Settings:
    """Return the settings of a model that was parsed."""
    for part in ("trainer_spec", "normalizer_spec"):
        # The library takes its defaults, Unigram above all, for a model that was cut short.
        if not model.HasField(part):
            raise FileFormatError("the model has no such part: it is not whole", where=f"{path}, {part}")
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    if model.denormalizer_spec.precompiled_charsmap:
        where = f"{path}, denormalizer_spec"
        raise UnsupportedFeatureError("a character table for decoding is not modelled", where=where)
    surface = _text(trainer, "unk_surface") if trainer.HasField("unk_surface") else _SURFACE
    if not isinstance(surface, str):
        raise FileFormatError("the unk_surface is not UTF-8", where=f"{path}, trainer_spec", value=surface or None)
    return Settings(
        kind=trainer.model_type,
        byte_fallback=bool(trainer.byte_fallback),
        is_suffix=bool(trainer.treat_whitespace_as_suffix),
        surface=surface,
        charsmap=bytes(normalizer.precompiled_charsmap),
        puts=bool(normalizer.add_dummy_prefix),
        trims=bool(normalizer.remove_extra_whitespaces),
        escapes=bool(normalizer.escape_whitespaces),
    )


class _OddError(Exception):
    """Something that only a reader of all of protocol buffers understands."""


def read_plain_model(data: bytes) -> tuple[PieceList, Settings] | None:
    """Read the pieces and settings of a model that is written plainly, as the library writes it; None for others.

    A model is odd, or wrong, if a field is there twice or in another form, a part is missing, a normalizer has unknown
    fields, or a decoder has a character table.
    """
    pieces = read_pieces(data)
    try:
        return None if pieces is None else (pieces, _plain_settings(pieces.left))
    except _OddError:
        return None


def _plain_settings(data: bytes) -> Settings:
    parts = _once(data, {_TRAINER: _BYTES, _NORMALIZER: _BYTES, _DENORMALIZER: _BYTES})
    if not {_TRAINER, _NORMALIZER} <= parts.keys():
        raise _OddError
    trainer = _once(parts[_TRAINER], {3: _NUMBER, 24: _NUMBER, 35: _NUMBER, 44: _BYTES})
    normalizer, denormalizer = (
        _once(parts.get(part, b""), {1: _BYTES, 2: _BYTES, 3: 0, 4: 0, 5: 0, 6: _BYTES}, only=True)
        for part in (_NORMALIZER, _DENORMALIZER)
    )
    kind = trainer.get(3, _UNIGRAM)
    flags = [trainer.get(35, 0), trainer.get(24, 0), *(normalizer.get(field, 1) for field in (3, 4, 5))]
    if kind not in _TYPES or denormalizer.get(2) or not {*flags} <= {0, 1}:
        raise _OddError
    try:
        surface = trainer.get(44, _SURFACE.encode("utf-8")).decode("utf-8")
    except UnicodeDecodeError:
        raise _OddError from None
    byte_fallback, is_suffix, *normalizing = map(bool, flags)
    return Settings(kind, byte_fallback, is_suffix, surface, normalizer.get(2, b""), *normalizing)


def _once(data: bytes, forms: dict[int, int], *, only: bool = False) -> dict[int, Any]:
    """Return the fields of a message that are wanted, each in its form; with `only` there must be no others."""
    found: dict[int, Any] = {}
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        # Most are one byte, and so are most sizes; a trainer may name hundreds of files.
        tag, at = (tag, at + 1) if tag < 0x80 else _number(data, at)
        number, form = tag >> 3, tag & 7
        value, begin = 0, at
        if form == _NUMBER:
            value, at = _number(data, at)
        elif form == _BYTES:
            size = data[at] if at < end else 0x80
            size, begin = (size, at + 1) if size < 0x80 else _number(data, at)
            at = begin + size
        elif form in _WIDTHS:
            at += _WIDTHS[form]
        else:
            raise _OddError
        if not 0 < number < 1 << 26 or at > end:
            raise _OddError
        if number in forms:
            if number in found or form != forms[number]:
                raise _OddError
            found[number] = data[begin:at] if form == _BYTES else value
        elif only:
            raise _OddError
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset after it."""
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise _OddError
        number |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return number, at
    raise _OddError


def _sound_words(pieces: PieceList, settings: Settings) -> Vocabulary | None:
    """Return the words of pieces that are written plainly; None if anything is wrong with the pieces."""
    text, offsets, scores, kinds, _ = pieces
    is_unigram, n_pieces = settings.is_unigram, len(kinds)
    largest = LARGEST_SCORE if is_unigram else np.finfo(np.float64).max
    is_odd = (kinds == _NORMAL) & ~(np.abs(scores) <= largest)
    if is_odd.any() or n_pieces > LARGEST_ID or np.count_nonzero(kinds == _UNKNOWN) != 1:
        return None
    if settings.kind in (_BPE, _CHAR) and (kinds == _UNUSED).any():
        return None
    table = WordTable(text, offsets, 1)
    if table.again >= 0:
        return None
    return Vocabulary.of_text(Spellings(text, offsets), np.arange(n_pieces, dtype=np.int32), table)


def _by_kind(words: Vocabulary, scores: Float64Array, kinds: Uint8Array) -> _Pieces:
    text, offsets = words.words
    data = text.data

    def of(kind: int) -> dict[str, int]:
        ids = np.flatnonzero(kinds == kind)
        spans = zip(offsets[ids].tolist(), (offsets[ids + 1] - 1).tolist(), ids.tolist(), strict=True)
        return {str(data[begin:end], "utf-8"): id for begin, end, id in spans}

    (unknown,) = of(_UNKNOWN).items()
    return _Pieces(words, scores, kinds, unknown, of(_CONTROL), of(_USER_DEFINED), of(_BYTE))


def _parse(data: bytes, path: Path) -> Any:
    try:
        from google.protobuf.message import DecodeError
        from google.protobuf.unknown_fields import UnknownFieldSet
        from sentencepiece import sentencepiece_model_pb2
    except ImportError as error:
        what = f"reading SentencePiece models needs more packages: {error}"
        raise UnsupportedFeatureError(what, where=str(path), hint="pip install 'tokdfa[sentencepiece]'") from None
    model = cast(Any, sentencepiece_model_pb2).ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise FileFormatError(f"not a SentencePiece model: {error}", where=str(path)) from None
    if not model.pieces:
        raise FileFormatError("the SentencePiece model has no pieces", where=str(path))
    if len(model.pieces) > LARGEST_ID:
        raise FileFormatError(f"more than {LARGEST_ID} pieces", value=len(model.pieces), where=str(path))
    # Unknown fields might matter; its self-tests and its training settings do not.
    for name in ("normalizer_spec", "denormalizer_spec"):
        unknown = [field.field_number for field in UnknownFieldSet(getattr(model, name))]
        if unknown:
            raise UnsupportedFeatureError("unknown fields", value=unknown, where=f"{path}, {name}")
    return model


def trainer_spec(data: bytes, path: Path) -> Any:
    """Return the settings with which a model was trained."""
    return _parse(data, path).trainer_spec


def _text(message: Any, name: str) -> str | bytes:
    """Return a string of a message. Depending on the version of protobuf, invalid UTF-8 gives bytes or an error."""
    try:
        return cast("str | bytes", getattr(message, name))
    except UnicodeDecodeError:
        return b""


def _read_pieces(model: Any, path: Path, settings: Settings) -> tuple[Vocabulary, Float64Array, Uint8Array]:
    """Return the words of the pieces of a model that was parsed, their scores and their kinds."""
    texts: list[str] = []
    seen: set[tuple[int, str]] = set()
    for id, piece in enumerate(model.pieces):
        text, kind, score = _text(piece, "piece"), piece.type, piece.score
        # Where something is wrong is only written out if it is: that takes longer than all else.
        if not isinstance(text, str):
            raise FileFormatError("the piece is not UTF-8", where=f"{path}, pieces[{id}]", value=text or None)
        if not text or "\0" in text or len(text) > _LONGEST_PIECE:
            what = f"a piece must have 1 to {_LONGEST_PIECE} characters, none of them zero"
            raise FileFormatError(what, value=text, where=f"{path}, pieces[{id}]")
        if kind == _NORMAL and not math.isfinite(score):
            raise FileFormatError("the score is not a number", value=score, where=f"{path}, pieces[{id}].score")
        if kind == _NORMAL and settings.is_unigram and abs(score) > LARGEST_SCORE:
            what = f"a score must be a number from {-LARGEST_SCORE:g} to {LARGEST_SCORE:g}"
            raise UnsupportedFeatureError(what, value=score, where=f"{path}, pieces[{id}].score")
        if kind == _UNUSED and settings.kind in (_BPE, _CHAR):
            what, where = "this type of piece is not modelled", f"{path}, pieces[{id}].type"
            raise UnsupportedFeatureError(what, value="UNUSED", where=where)
        if (kind, text) in seen:
            raise FileFormatError("a duplicate piece", value=text, where=f"{path}, pieces[{id}]")
        seen.add((kind, text))
        texts.append(text)
    unknown = [text for kind, text in seen if kind == _UNKNOWN]
    if len(unknown) != 1:
        raise FileFormatError("a model must have exactly one unknown piece", value=sorted(unknown), where=str(path))
    id_of = {text: id for id, text in enumerate(texts)}
    if len(id_of) < len(texts):
        again = min(text for id, text in enumerate(texts) if id_of[text] != id)
        raise UnsupportedFeatureError("a piece has two types", value=again, where=str(path))
    words = Vocabulary(texts, np.arange(len(texts), dtype=np.int32), id_of)
    scores = np.array([piece.score for piece in model.pieces], dtype=np.float64)
    return words, scores, np.array([piece.type for piece in model.pieces], dtype=np.uint8)


def _check(pieces: _Pieces, settings: Settings, path: Path) -> None:
    """Refuse pieces that the library refuses, or that are found where they are not intended."""
    unknown, byte_fallback = pieces.unknown[0], settings.byte_fallback
    if len(unknown) == 1 and settings.kind in (_BPE, _CHAR):
        raise UnsupportedFeatureError("a character that is the unknown piece", value=unknown, where=str(path))
    if settings.kind == _CHAR:
        normal, spelled = np.flatnonzero(pieces.kinds == _NORMAL), pieces.words.spellings
        long = next((spelled[id] for id in normal.tolist() if len(spelled[id]) > 1), None)
        if long is not None:
            what = "a normal piece of several characters in a CHAR model"
            raise UnsupportedFeatureError(what, value=long, where=str(path))
    odd = [text for text in pieces.byte if byte_of(text) is None]
    odd += pieces.words.ids_of(BYTE_TOKENS).keys() - pieces.byte.keys()
    if odd or (len(pieces.byte) < 256 if byte_fallback else pieces.byte):
        what = "there must be byte pieces for all bytes or, without byte fallback, for none"
        raise FileFormatError(what, value=odd or len(pieces.byte), where=str(path))
    for text in pieces.user_defined:
        if sum(text[:end] in pieces.user_defined for end in range(1, len(text) + 1)) > _MOST_PREFIXES:
            what = f"more than {_MOST_PREFIXES} user-defined pieces are prefixes of each other"
            raise UnsupportedFeatureError(what, value=text, where=str(path))


def _rules_over(pieces: _Pieces, path: Path) -> dict[str, Any]:
    """Return dictionary, ids, further tokens and merges of a model."""
    normal, spelled = np.flatnonzero(pieces.kinds == _NORMAL), pieces.words.spellings
    words = [spelled[id] for id in normal.tolist()]
    # The pieces of several characters that never merge.
    atoms = pieces.byte | dict([pieces.unknown]) | pieces.user_defined
    return over_scored(words, normal.astype(np.int32), pieces.scores[normal], atoms, str(path))


def _by_word(pieces: _Pieces, known: dict[str, Any]) -> ByPieceContents:
    """Return the contents of a model of type WORD: a word begins with each visible space."""
    entries = dict(zip(pieces.words.spellings, pieces.words.ids.tolist(), strict=True))
    return ByPieceContents(
        algorithm="WordLevel",
        vocabulary=WordPieceVocabulary(entries, unknown=pieces.unknown[0], longest_word=None),
        is_found=np.isin(pieces.kinds, (_NORMAL, _USER_DEFINED, _UNUSED)),
        byte_ids=tuple(pieces.byte[token] for token in BYTE_TOKENS) if pieces.byte else None,
        fuses=not pieces.byte,
        splitting=Splitting("tokenizers", (Split(SPACE, "merged_with_next", literal=True),)),
        **known,
    )


def _unigram(pieces: _Pieces, path: Path) -> UnigramModel:
    """Return the model of the pieces, with the scores that the library computes with."""
    is_normal = pieces.kinds == _NORMAL
    if not is_normal.any():
        raise UnsupportedFeatureError("a Unigram model without normal pieces is not modelled", where=str(path))
    scores, is_found = np.where(is_normal, pieces.scores, 0.0), is_normal.copy()
    for text, id in pieces.user_defined.items():
        scores[id], is_found[id] = float(np.float32(0.1 * len(text.encode("utf-8")) - 0.1)), True
    byte_ids = tuple(pieces.byte.get(token, -1) for token in BYTE_TOKENS) if pieces.byte else None
    least = unknown_score(float(pieces.scores[is_normal].min()), single=True)
    texts = PieceTexts(*pieces.words.words, 1)
    return UnigramModel(texts, scores, is_found, pieces.unknown[1], least, "sentencepiece", byte_ids)
