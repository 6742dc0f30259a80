"""Unigram tokenizers: the contents of their files, and tokenizer.json with a Unigram model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from tokdfa.base.arrays import Float64Array
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.kernels.spelling.model import Scores
from tokdfa.tokenizers.decoding import BYTE_TOKENS
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Rewriting, SplitContents
from tokdfa.tokenizers.formats.json_text import JsonObject, as_serde_json
from tokdfa.tokenizers.formats.text_steps import read_decoder
from tokdfa.tokenizers.formats.top_level import read_left_out, read_specials, read_steps
from tokdfa.tokenizers.formats.written import PlainFile, Vocabulary
from tokdfa.tokenizers.models.unigram.model import PieceTexts, UnigramModel, unknown_score

LARGEST_SCORE = 1e30
"""The largest magnitude of a score: sums of larger ones might be infinite."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UnigramContents(SplitContents):
    """The contents of the file of a Unigram tokenizer.

    `user_defined` are the ids of SentencePiece's user-defined pieces; their scores depend on its version.
    """

    algorithm: ClassVar[str] = "Unigram"
    is_plain: ClassVar[bool] = False
    says_splitting: ClassVar[bool] = True
    drops_unknown: ClassVar[bool] = False

    model: UnigramModel
    user_defined: tuple[int, ...] = ()
    rewriting: Rewriting = field(default=Rewriting())

    @property
    def characters(self) -> list[str]:
        """The pieces of one character that are found in texts, in the order of the file."""
        pieces = (self.model.pieces[id] for id in np.flatnonzero(self.model.is_found).tolist())
        return [piece for piece in pieces if len(piece) == 1]


def as_before_0_2_2(contents: UnigramContents) -> UnigramContents:
    """Return the contents of a SentencePiece model as versions up to 0.2.1 compute with them.

    They round sums only after comparing them, and give a user-defined piece more the greater the greatest score is.
    """
    model = contents.model
    scores = model.scores.copy()
    users = np.array(contents.user_defined, dtype=np.int64)
    is_normal = model.is_found.copy()
    is_normal[users] = False
    # The library takes the least positive number of 32 bits for the least one.
    greatest = np.float32(max(np.finfo(np.float32).tiny, scores[is_normal].max()))
    for id in contents.user_defined:
        # The product is rounded to 32 bits, and the difference is one of 64 bits.
        scores[id] = float(np.float32(len(model.pieces[id].encode("utf-8"))) * greatest) - 0.1
    return replace(contents, model=replace(model, scores=scores, arithmetic="sentencepiece 0.2.1"))


def read_unigram_json(top: JsonObject, plain: PlainFile | None = None, *, of_object: bool = False) -> UnigramContents:
    """Read a tokenizer.json with a Unigram model; truncation, padding and the post-processor are only named.

    The numbers of `top` are those that the library has in memory: of a file those that it reads, see
    :func:`~tokdfa.tokenizers.formats.json_text.as_serde_json`, and those that are written if it has just written them
    (`of_object`). `plain` has the vocabulary if it was written plainly; the one in `top` is then empty.
    """
    normalizer, splitting, is_bytewise = read_steps(top)
    model, vocabulary = _read_model(top, plain, of_object)
    specials = read_specials(top, vocabulary, normalizer, is_bytewise=is_bytewise, of_object=of_object)
    decoding = read_decoder(top, is_bytewise=False, suffix=None, normalizer=normalizer)
    return UnigramContents(
        format="tokenizer.json",
        model=model,
        splitting=splitting,
        spelled_bytes=is_bytewise,
        specials=specials,
        finds_specials=True,
        rewriting=Rewriting(normalizer, decoding or ()),
        ignored=read_left_out(top, specials),
    )


def _read_model(top: JsonObject, plain: PlainFile | None, of_object: bool) -> tuple[UnigramModel, Vocabulary]:
    model = top.required("model", "the model is missing")
    where = model.at("vocab")
    if plain is not None and plain.scores is not None:
        vocabulary, scores = plain.vocabulary, _as_numbers(plain.scores, of_object)
        pieces: Sequence[str] = PieceTexts(*vocabulary.words, 1)
    else:
        vocabulary, scores = _read_vocabulary(model.get("vocab", list), where)
        pieces = tuple(vocabulary.spellings)
    odd = np.flatnonzero(~(np.abs(scores) <= LARGEST_SCORE))
    if len(odd):
        what = f"a score must be a number from {-LARGEST_SCORE:g} to {LARGEST_SCORE:g}"
        raise FileFormatError(what, value=float(scores[odd[0]]), where=f"{where}[{odd[0]}][1]")
    unknown = model.get_or_none("unk_id", int)
    if unknown is not None and not 0 <= unknown < len(pieces):
        raise model.wrong("unk_id", "the id of the unknown piece is that of no piece")
    as_bytes = model.get("byte_fallback", bool, False)
    id_of = vocabulary.ids_of(BYTE_TOKENS) if as_bytes else {}
    found = UnigramModel(
        pieces,
        scores,
        np.ones(len(pieces), dtype=np.bool_) if plain else np.array([bool(piece) for piece in pieces], dtype=np.bool_),
        unknown,
        unknown_score(float(scores.min()), single=False),
        "tokenizers",
        tuple(id_of.get(token, -1) for token in BYTE_TOKENS) if as_bytes else None,
    )
    return found, vocabulary


def _as_numbers(scores: Scores, of_object: bool) -> Float64Array:
    """Return scores as the library reads them, or as they are written by an object of it."""
    if of_object:
        rows = zip(scores.digits.tolist(), scores.powers.tolist(), strict=True)
        values = np.fromiter((float(f"{digits}e{power}") for digits, power in rows), np.float64, len(scores.digits))
    else:
        # As json_text.as_serde_json does for one of them.
        values = scores.digits.astype(np.float64)
        powers = _POWERS[np.abs(scores.powers)]
        with np.errstate(over="ignore"):
            values = np.where(scores.powers < 0, values / powers, values * powers)
    return np.where(scores.signs != 0, -values, values)


_POWERS = np.array([float(f"1e{power}") for power in range(309)])


def _read_vocabulary(rows: Sequence[Any], where: str) -> tuple[Vocabulary, Float64Array]:
    """Return the pieces of a vocabulary, and their scores."""
    if not rows:
        raise FileFormatError("the vocabulary has no pieces", where=where)
    if len(rows) > LARGEST_ID:
        raise FileFormatError(f"more than {LARGEST_ID} pieces", value=len(rows), where=where)
    pieces: list[str] = []
    scores = np.empty(len(rows), dtype=np.float64)
    for id, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2 or not isinstance(row[0], str):
            raise FileFormatError("a piece and its score are expected", value=row, where=f"{where}[{id}]")
        piece, score = row
        if isinstance(score, bool) or not isinstance(score, (int, float)):
            raise FileFormatError("a number is expected", value=score, where=f"{where}[{id}][1]")
        pieces.append(piece)
        scores[id] = score if isinstance(score, float) else as_serde_json(str(score))
    id_of = {piece: id for id, piece in enumerate(pieces)}
    if len(id_of) < len(pieces):
        again = next(id for id, piece in enumerate(pieces) if id_of[piece] != id)
        where = f"{where}[{id_of[pieces[again]]}]"
        raise UnsupportedFeatureError("a duplicate piece", value=pieces[again], where=where)
    return Vocabulary(pieces, np.arange(len(pieces), dtype=np.int32), id_of), scores
