"""Tokenizers that encode each piece by itself: the contents of their files, and tokenizer.json with WordLevel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import AlphabetError, FileFormatError, LimitExceededError
from tokdfa.regex.unicode.normalization import Normalizer
from tokdfa.tokenizers.decoding import DecodeStep
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Rewriting, SplitContents
from tokdfa.tokenizers.formats.json_text import HALF, JsonObject, check_surrogates
from tokdfa.tokenizers.formats.text_steps import read_decoder
from tokdfa.tokenizers.formats.top_level import read_left_out, read_specials, read_steps
from tokdfa.tokenizers.formats.written import PlainFile, Vocabulary
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
from tokdfa.tokenizers.models.wordpiece.words import EntryTexts
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.word_decoding import DecodeSpaced


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ByPieceContents(SplitContents):
    """The contents of the file of a tokenizer that encodes each piece by itself.

    `algorithm` is how: WordLevel looks a piece up, WordPiece takes the longest entries. `is_found`, a bool array, is
    whether the entry of each id is found in texts. Unknown pieces become the bytes of `byte_ids`, if that is given, or
    the unknown id; if it `fuses`, adjacent ones become one id.
    """

    is_plain: ClassVar[bool] = False
    says_splitting: ClassVar[bool] = True
    drops_unknown: ClassVar[bool] = False

    algorithm: Literal["WordLevel", "WordPiece by piece"]
    vocabulary: WordPieceVocabulary
    is_found: BoolArray
    byte_ids: tuple[int, ...] | None = None
    fuses: bool = False
    rewriting: Rewriting = field(default=Rewriting())

    @property
    def takes_longest(self) -> bool:
        """Whether the longest entries of a piece are taken, rather than all of it."""
        return self.algorithm != "WordLevel"


def read_wordlevel_json(top: JsonObject, plain: PlainFile | None = None, *, of_object: bool = False) -> ByPieceContents:
    """Read a tokenizer.json with a WordLevel model; truncation, padding and the post-processor are only named.

    `plain` has the vocabulary if it was written plainly; the one in `top` is then empty. `of_object` is whether the
    library has just written the file.
    """
    normalizer, splitting, is_bytewise = read_steps(top)
    model = top.required("model", "the model is missing")
    vocabulary = read_entries(model, plain, unknown=model.get("unk_token", str), longest_word=None)
    specials = read_specials(
        top, known_words(vocabulary, plain), normalizer, is_bytewise=is_bytewise, of_object=of_object
    )
    rewriting = Rewriting(normalizer, read_joining_decoder(top, normalizer))
    left_out = read_left_out(top, specials)
    return json_contents("WordLevel", vocabulary, specials, splitting, is_bytewise, rewriting, left_out)


def json_contents(
    algorithm: Literal["WordLevel", "WordPiece by piece"],
    vocabulary: WordPieceVocabulary,
    specials: tuple[Special, ...],
    splitting: Splitting | None,
    is_bytewise: bool,
    rewriting: Rewriting,
    left_out: tuple[str, ...],
) -> ByPieceContents:
    """Return the contents of a tokenizer.json, in which every entry is found in texts."""
    return ByPieceContents(
        format="tokenizer.json",
        algorithm=algorithm,
        vocabulary=vocabulary,
        is_found=np.ones(vocabulary.n_ids, dtype=np.bool_),
        splitting=splitting,
        spelled_bytes=is_bytewise,
        specials=specials,
        finds_specials=True,
        rewriting=rewriting,
        ignored=left_out,
    )


def read_joining_decoder(top: JsonObject, normalizer: Normalizer | None) -> tuple[DecodeStep, ...]:
    """Return the steps of a decoder; without one, the library puts spaces between tokens."""
    if top.object("decoder") is None:
        return (DecodeSpaced(),)
    return read_decoder(top, is_bytewise=False, suffix=None, normalizer=normalizer) or ()


def known_words(vocabulary: WordPieceVocabulary, plain: PlainFile | None) -> Vocabulary:
    """Return the vocabulary as the readers of added tokens take it."""
    if plain is not None:
        return plain.vocabulary
    entries = dict(vocabulary.items())
    return Vocabulary(list(entries), np.fromiter(entries.values(), np.int32, len(entries)), entries)


def read_entries(
    model: JsonObject, plain: PlainFile | None, *, unknown: str, longest_word: int | None, prefix: str = "##"
) -> WordPieceVocabulary:
    """Return the entries of a model, which are checked."""
    where = model.at("vocab")
    entries: Mapping[str, int] | EntryTexts
    if plain is None:
        entries = _checked_entries(model, where)
    else:
        entries = EntryTexts(*plain.vocabulary.words, plain.vocabulary.ids, plain.vocabulary.table)
    try:
        return WordPieceVocabulary(entries, prefix=prefix, unknown=unknown, longest_word=longest_word)
    except (AlphabetError, LimitExceededError) as error:
        kind = FileFormatError if isinstance(error, AlphabetError) else LimitExceededError
        raise kind(error.what, value=error.value, where=where) from None


def _checked_entries(model: JsonObject, where: str) -> dict[str, int]:
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
