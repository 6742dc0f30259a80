"""A tokenizer of five parts: added tokens, normalizer, pre-tokenizer, model, decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeGuard, cast

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.decoder import Spellings
from tokdfa.tokenizers.decoding import NoDecoder
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.encoding.symbols import Fallback, Merges
from tokdfa.tokenizers.encoding.texts import check_bytes_or_text
from tokdfa.tokenizers.formats.contents import Rewriting
from tokdfa.tokenizers.models.model import Model
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.protocol import AnyTokenizer, own
from tokdfa.tokenizers.whole_decoder import StringsOfIds

if TYPE_CHECKING:
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.automata.transducers.one_pass import OnePass
    from tokdfa.regex.unicode.normalization import Form
    from tokdfa.tokenizers.encoding.piece_encoder import Encoded
    from tokdfa.tokenizers.encoding.piece_ids import PieceIds
    from tokdfa.tokenizers.formats.contents import AnyContents, Contents
    from tokdfa.tokenizers.models.byte_pairs import BytePairs
    from tokdfa.tokenizers.models.unigram.unigram import Unigram
    from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd, Tokens
    from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage
    from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie
    from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary
    from tokdfa.tokenizers.models.wordpiece.wordpiece import WordPiece
    from tokdfa.tokenizers.neighbours import Neighbours, ProperPart
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer

__all__ = ["Tokenizer", "UnigramTokenizer", "WordPieceTokenizer"]


class Tokenizer(AnyTokenizer):
    """A tokenizer, as its file and its library define it: from text to ids and back.

    It has five parts: added tokens, which are found in texts; a normalizer, which changes the text between them; a
    pre-tokenizer, which cuts that into pieces; a model, which turns pieces into ids; and a decoder. If it does not
    encode the text itself, ids are canonical if they are the ids of the text to which they *decode*, even if they came
    from another one. Immutable; made by :func:`tokdfa.load`.

    Attributes
    ----------
    contents : Contents, UnigramContents, WordPieceContents, LongestMatchContents or ByPieceContents
        The content of the file.
    rewriting : Rewriting
        The normalizer, and the steps of the decoder.
    model : Model
        :class:`BytePairs`, :class:`Unigram`, :class:`WordPiece`, :class:`LongestMatch` or :class:`ByPiece`; it decides
        about symbols outside its alphabet.

    Byte pairs have the attributes of :class:`BytePairs` as well. All others are described in :class:`AnyTokenizer`.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ids = tokenizer.encode("a single man")
    >>> ids.tolist(), tokenizer.decode(ids), bool(tokenizer.validate(ids))
    ([64, 2513, 462], 'a single man', True)
    >>> len(tokenizer.dictionary), tokenizer.dfa.states_minimal
    (3840, 1395)
    """

    pretokenizer: PreTokenizer | None
    model: Model
    strings: StringsOfIds

    def __init__(
        self,
        contents: AnyContents,
        pretokenizer: PreTokenizer | None = None,
        *,
        twin: Tokenizer | None = None,
        continues: bool = False,
    ) -> None:
        # A twin has the same contents. Neither refers to the other, and both to the model, which is large.
        self.contents: Any = contents
        self.format = contents.format
        self.specials = contents.specials
        self.finds_specials = contents.finds_specials
        self.ignored = contents.ignored
        self.library = contents.library
        self.rewriting = contents.rewriting or Rewriting()
        self.is_plain = contents.is_plain
        self.has_text = self.rewriting.decoding != (NoDecoder(),)
        super().__init__(_model_of(contents) if twin is None else twin.model)
        self.pretokenizer = cast("PreTokenizer | None", self.model.pretokenizer) or pretokenizer
        steps = self.rewriting.decoding or ()
        self.strings = StringsOfIds(self.model, self.specials, steps) if twin is None else twin.strings
        self.continues = continues
        # The parts that treat the beginning of a text.
        self.first_normalizer, self.first_pretokenizer = self.normalizer, self.pretokenizer
        if continues:
            self._continue()

    def _continue(self) -> None:
        """Do nothing to the beginning of a text, which continues another one after a boundary."""
        normalizer, steps = self.rewriting.normalizer, self.rewriting.decoding
        if steps is not None:
            steps = tuple(later for step in steps if (later := step.later) is not None)
        self.rewriting = Rewriting(normalizer, steps)
        self.first_normalizer = None if normalizer is None else normalizer.later
        if self.splitting.prefix_space is not None:
            from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer

            self.first_pretokenizer = pretokenizer(replace(self.splitting, prefix_space=None))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, PreTokenizer | None]]:
        # The parts of a tokenizer. All else is computed from them on use, anew in each process and each copy.
        return partial(type(self), continues=self.continues), (self.contents, self.pretokenizer)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n} {name}" for name, n in self.sizes.items())
        return f"<{type(self).__name__} from {self.format}: {sizes}, {self.n_ids} ids>"

    @property
    def splitting(self) -> Splitting:
        """The steps of the pre-tokenizer; none where it does not split."""
        return _WHOLE if self.pretokenizer is None else self.pretokenizer.splitting

    # Where normalizing is the identity

    @cached_property
    def form(self) -> Form | None:  # type: ignore[override]
        """The normalization form that texts are brought into, if nothing else is done to them; None otherwise.

        A text in that form has the ids of the tokenizer in `read_in_form`. No canonical ids decode to other texts.
        """
        found = self.read_in_form
        return None if found is None or odd_ones(self.specials) or self.joined_specials else found[1]

    @cached_property
    def joined_specials(self) -> tuple[Special, ...]:
        """The special tokens that the form of `read_in_form` may join with the text next to them, of which it is part.

        After "<a>", looked for in text in NFC, U+0338 makes another character of ">", and no special token is found.
        """
        from tokdfa.regex.unicode.quick_check import stands_apart

        _, form = self.read_in_form or (self, None)
        inner = [special for special in self.specials if special.level and special.text]
        return tuple(special for special in inner if form is not None and not stands_apart(special.text, form))

    @property
    def read_in_form(self) -> tuple[Tokenizer, Form | None] | None:
        """A tokenizer of bytes for texts in a form, and that form; None if more is done to texts.

        The form is None if texts stay unchanged. Special tokens may strip or be single words.
        """
        if self.why_not("bytes") is not None:
            return None
        return (self, None) if self.why_not("spelling") is None else self._read_in_form

    @cached_property
    def _read_in_form(self) -> tuple[Tokenizer, Form | None] | None:
        if any(self.rewrites[1:]) or self.rewriting.decoding is not None:
            return None
        normalizer = self.rewriting.normalizer
        form = None if normalizer is None else normalizer.only_form
        if normalizer is not None and form is None:
            return None
        return self.with_contents(replace(self.contents, rewriting=None)), form

    @cached_property
    def why_whole(self) -> str | None:
        """Why streams are judged as a whole, because no two neighbours decide where a text is cut; None if some do."""
        from tokdfa.tokenizers.models.byte_pair_texts import why_whole

        return why_whole(self) if self.why_not("spelling") is None else self.boundaries.why_none

    @property
    def later(self) -> Self:
        """The tokenizer for the text after a boundary: it does nothing to the beginning of a text."""
        return self.continued if self.boundaries.continues else self

    @cached_property
    def continued(self) -> Self:
        """The tokenizer for a text that continues another one: it does nothing to the beginning of a text.

        UnsupportedFeatureError is raised for other models than byte pairs, where more depends on the text before.
        """
        if self.why_not("rules") is not None:
            raise UnsupportedFeatureError("what continues a text is not encoded alone", value=self.algorithm)
        return self.twin(continues=True)

    def twin(self, *, continues: bool = False) -> Self:
        """Return a tokenizer of the same parts that does not refer to this one."""
        return type(self)(self.contents, self.pretokenizer, twin=self, continues=continues)

    @property
    def normalizer(self) -> Callable[[str], str] | None:  # type: ignore[override]
        """The function applied to texts before they are split; None without one."""
        return self.model.normalizer or self.rewriting.normalizer

    @property
    def token_strings(self) -> list[str]:
        """The spelling of each id in its file."""
        return self.strings.of_ids

    @cached_property
    def leaving_out(self) -> Self | None:
        """A tokenizer that drops symbols without a token, which `encode` refuses, if the library does so; or None."""
        contents = self.contents
        if not contents.drops_unknown:
            return None
        fallback = replace(contents.fallback or Fallback(), drops=True)
        changed = replace(contents, fallback=fallback, drops_unknown=False)
        return type(self)(changed, self.pretokenizer, continues=self.continues)

    # Byte pairs

    dictionary: Dictionary = own("dictionary")
    merges: Merges | None = own("merges")
    extra_tokens: tuple[Word, ...] = own("extra_tokens")
    token_to_id: Int32Array = own("token_to_id")
    id_to_token: Int32Array = own("id_to_token")
    suffix: str | None = own("suffix")
    whole_piece: bool = own("whole_piece")
    piece_ids: PieceIds = own("piece_ids")
    dfa: CompactTokenDFA = own("dfa")
    transducer: OnePass = own("transducer")
    proper_part: ProperPart = own("proper_part")
    neighbours: Neighbours = own("neighbours")
    whole_piece_tokens: Int32Array = own("whole_piece_tokens")
    is_live: BoolArray = own("is_live")
    dead_tokens: Int32Array = own("dead_tokens")
    spellings: Spellings = own("spellings")
    token: Callable[[int], Word] = own("token")
    id_mask: Callable[[BoolArray], BoolArray] = own("id_mask")

    @property
    def is_bytewise(self) -> bool:
        """Whether the symbols of the dictionary are the bytes of the text."""
        return "bytes" in self.model.capabilities

    @property
    def rewrites(self) -> tuple[Rewriting | None, Fallback | None, tuple[str, ...], str | None]:
        """The treatment of texts, and of symbols that are not in the alphabet; equal if both are treated the same."""
        contents: Contents = self.contents
        return contents.rewriting, contents.fallback, contents.atoms, contents.prefix

    def with_contents(self, contents: Contents) -> Self:
        """Return the tokenizer of contents that leave the ids of pieces as they are."""
        twin = type(self)(contents, self.pretokenizer)
        if has_rules(self):
            cast("BytePairs", twin.model).share(cast("BytePairs", self.model))
        return twin

    def encode_piece(self, piece: str | bytes) -> Int32Array:
        """Return the ids of one piece, which is not split further; a piece of bytes need not be UTF-8."""
        return self.encode_pieces([piece]).ids

    def encode_pieces(self, pieces: Sequence[str | bytes]) -> Encoded:
        """Return the ids of pieces, which are not split further, and the offset of the first id of each."""
        if not _PIECES.issuperset(map(type, pieces)):
            for piece in pieces:
                check_bytes_or_text(piece)
        return self.piece_ids.encode(pieces)


class UnigramTokenizer(Tokenizer):
    """A tokenizer with a Unigram model.

    Of the segmentations of a text into pieces, the one with the greatest sum of scores counts. So pairs of neighbours
    do not decide whether ids are canonical, and it has no token DFA.

    Examples
    --------
    >>> fields = {
    ...     "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["b", -1], ["ab", -1.5]]},
    ...     "decoder": {"type": "Fuse"},
    ... }
    >>> tokenizer = tokdfa.load(fields)
    >>> tokenizer.encode("abba").tolist(), bool(tokenizer.validate([1, 2, 2, 1]))
    ([3, 2, 1], False)
    """

    model: Unigram


class WordPieceTokenizer(Tokenizer):
    r"""A tokenizer with a WordPiece model: the longest entry first, from left to right.

    Its `vocabulary`, `end_to_end`, `trie`, `language` and `spelling` belong to its model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vocab.txt").write_text("[UNK]\nun\n##aff\n##able\n")
    ...     tokenizer = tokdfa.load(folder)
    >>> ids = tokenizer.encode("Unaffable")
    >>> ids.tolist(), tokenizer.decode(ids), bool(tokenizer.validate(ids))
    ([1, 2, 3], 'unaffable', True)
    """

    model: WordPiece

    vocabulary: WordPieceVocabulary = own("vocabulary")
    end_to_end: EndToEnd = own("end_to_end")
    trie: FailureTrie = own("trie")
    language: StreamLanguage = own("language")
    spelling: Callable[[int], str] = own("spelling")

    def encode_with_offsets(self, text: str | bytes, unit: Literal["characters", "bytes"] = "characters") -> Tokens:
        """Return the ids of `text`, and the part of the text that each comes from; see :meth:`EndToEnd.encode`."""
        from tokdfa.tokenizers.models.wordpiece.end_to_end import with_stripped

        check_bytes_or_text(text)
        return with_stripped(self.end_to_end.encode(text, unit), text, unit, self.specials)


TOKENIZERS: dict[str, type[Tokenizer]] = {"Unigram": UnigramTokenizer, "WordPiece": WordPieceTokenizer}
"""The class of the tokenizers of an algorithm, where it is not :class:`Tokenizer` itself."""


def has_rules(tokenizer: AnyTokenizer) -> TypeGuard[Tokenizer]:
    """Return whether the tokens are made by rules, so that the model is :class:`BytePairs`."""
    return tokenizer.why_not("rules") is None


def _model_of(contents: Any) -> Model:
    """Return the model of a file; its module is imported only then."""
    if contents.algorithm == "byte pair":
        from tokdfa.tokenizers.models.byte_pairs import BytePairs

        return BytePairs(contents)
    if contents.algorithm == "Unigram":
        from tokdfa.tokenizers.models.unigram.unigram import Unigram

        return Unigram(contents)
    if contents.algorithm == "longest match":
        from tokdfa.tokenizers.models.longest_match import LongestMatch

        return LongestMatch(contents)
    if contents.algorithm == "WordPiece":
        from tokdfa.tokenizers.models.wordpiece.wordpiece import WordPiece

        return WordPiece(contents)
    from tokdfa.tokenizers.models.by_piece import ByPiece

    return ByPiece(contents)


_PIECES = frozenset({str, bytes})
_WHOLE = Splitting("tokenizers")
