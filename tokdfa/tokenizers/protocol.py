"""The interface of every tokenizer, of any algorithm."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from operator import attrgetter
from threading import local
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoder import Decoder, Spellings
from tokdfa.tokenizers.derived import DerivedTables
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.texts import check_bytes_or_text, check_text
from tokdfa.tokenizers.jobs import Jobs
from tokdfa.tokenizers.round_trip import RoundTrip

if TYPE_CHECKING:
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.regex.unicode.normalization import Form
    from tokdfa.tokenizers.encoding.batches import EncodedDocuments
    from tokdfa.tokenizers.encoding.encoding import Encoding
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.models.model import Model
    from tokdfa.tokenizers.models.unigram.segmenter import Acceptor, Segmenter
    from tokdfa.tokenizers.neighbours import PairAutomaton
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
    from tokdfa.tokenizers.spelled import Spelled

__all__ = ["AnyTokenizer", "Capability"]

T = TypeVar("T")
Capability: TypeAlias = Literal["rules", "leftmost", "bytes", "letters", "spelling", "form", "text", "cuts"]


def own(name: str) -> Any:
    """Return an attribute of tokenizers that the model has; those without it say so."""
    return property(attrgetter(f"model.{name}"), doc=f"The attribute `{name}` of the model.")


def _made(name: str, *, kept: bool = True) -> Any:
    """Return an attribute of tokenizers that the model makes, given the tokenizer; only once if it is kept."""
    return (cached_property if kept else property)(lambda tokenizer: getattr(tokenizer.model, name)(tokenizer))


class AnyTokenizer(Jobs, SuggestsNames):
    """A tokenizer of any algorithm as its file and its library define it: text to ids and back.

    Tokenizers are immutable and made by :func:`tokdfa.load`. Code that uses only this interface works with every
    tokenizer. Steps that depend on the algorithm are methods of its `model`, or registered for its class where the
    work is done (:func:`functools.singledispatch`), such as comparing and drawing.

    Threads may share a tokenizer. Its tables are only read, or extended under one lock; the buffers in which texts are
    encoded belong to the thread. Streams, validators and iterators are for one thread at a time.

    Attributes
    ----------
    algorithm : str
        The algorithm that tokenizes words: "byte pair", "WordPiece".
    semantics : str
        How the algorithm chooses: "leftmost" is the strongest pair, and the leftmost one of equally strong pairs;
        "longest match".
    format : str
        The format of the file.
    pretokenizer : PreTokenizer, str or None
        The pre-tokenizer that cuts text into pieces, or its name; None if each text is one piece.
    specials : tuple of Special
    finds_specials : bool
        Whether `encode` finds the specials in its text. The ids of specials cut a stream either way.
    is_plain : bool
        Whether texts are encoded unchanged, and ids spell them one after the other.
    has_text : bool
        Whether the file says what the text of ids is.
    ignored : tuple of str
        The other steps that the file asks for and `encode` leaves out, such as special tokens at the ends.
    library : str or None
        The library and version of the object that it was loaded from, such as ``tokenizers==0.23.3``; None if it was
        loaded from a file.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> isinstance(tokenizer, tokdfa.AnyTokenizer), tokenizer.algorithm, tokenizer.semantics
    (True, 'byte pair', 'leftmost')
    """

    algorithm: str
    semantics: str
    format: str
    pretokenizer: PreTokenizer | str | None
    specials: tuple[Special, ...]
    finds_specials: bool
    is_plain: bool
    has_text: bool = True
    ignored: tuple[str, ...]
    library: str | None
    model: Model
    normalizer: Callable[[str], str] | None = None
    first_normalizer: Callable[[str], str] | None = None
    form: Form | None
    _tables: DerivedTables

    def __init__(self, model: Model) -> None:
        self.model, self.algorithm, self.semantics = model, model.algorithm, model.semantics
        self._of_thread = local()

    @cached_property
    def n_ids(self) -> int:
        """One more than the largest id."""
        return max(len(self.model.is_token), 1 + max((special.id for special in self.specials), default=-1))

    def __len__(self) -> int:
        """Return `n_ids`: ids go from 0 to ``len(tokenizer) - 1``, special tokens included."""
        return self.n_ids

    @cached_property
    def n_tokens(self) -> int:
        """The number of ids that are tokens, special ones not counted."""
        return int(np.count_nonzero(self.means_something)) - len(self.special_ids)

    @cached_property
    def means_something(self) -> BoolArray:
        """For each id, whether it belongs to a token or a special token."""
        is_token = self.model.is_token
        meaning: BoolArray = np.pad(is_token, (0, self.n_ids - len(is_token)))
        meaning[self.special_ids] = True
        return meaning

    sizes: dict[str, int] = own("sizes")
    """The numbers of the parts that the tokenizer is made of: its rules, its entries."""

    pair_automaton: PairAutomaton | None = own("pair_automaton")
    """The automaton of the rules, asked by ids; None where tokens are not made by rules."""

    acceptor: Acceptor | None = _made("acceptor", kept=False)
    """The engine that reads streams word by word, by one call to the kernels; None where words do not decide."""

    segmenter: Segmenter | None = own("segmenter")
    """The segmentation of texts by the scores of pieces; None where pieces have no scores."""

    proper_dictionary: Dictionary | None = own("proper_dictionary")
    """The proper dictionary, its rules in the order of the file, that merges as the tokenizer does; None without.

    UnsupportedFeatureError or LimitExceededError is raised if it cannot be decided whether there is one.
    """

    def why_not(self, capability: Capability) -> str | None:
        """Return why the tokenizer lacks a capability, in half a sentence about it; None if it has it.

        Jobs ask this, never which algorithm or format a tokenizer is of.

        Parameters
        ----------
        capability : {"rules", "leftmost", "bytes", "letters", "spelling", "form", "text", "cuts"}
            "rules": its tokens are made by rules of a dictionary. "leftmost": a library is known that merges them, the
            leftmost of equally strong pairs first, proper or not. "bytes": its symbols are the bytes of UTF-8.
            "letters": its symbols are characters that stand for bytes, as a vocabulary that lacks some has them.
            "spelling": texts are encoded unchanged, but for a space before them, and ids spell them one after the
            other. "form": the same, except that texts may be brought into a normalization form first. "text": its ids
            have a text. "cuts": some pairs of characters always cut a text; see :class:`Encoding`.

        Examples
        --------
        >>> tokdfa.default_tokenizer().why_not("rules") is None
        True
        """
        # The form is only found if it is asked for, since each text with added tokens asks for something.
        if capability in self.model.capabilities or (capability == "form" and self.form is not None):
            return None
        if capability == "text":
            return None if self.has_text else "its file has no decoder, so ids have no text"
        if capability == "cuts":
            return self.boundaries.why_none
        if capability == "rules":
            return f"its algorithm is {self.algorithm}, which has no rules"
        if capability == "leftmost":
            return "its format does not say how rules that are not proper merge"
        if capability == "bytes":
            return "its symbols are not the bytes of UTF-8"
        if capability == "letters":
            return "its symbols are not letters that stand for bytes"
        return None if self.is_plain else "it changes texts, or its ids do not spell them one after the other"

    @cached_property
    def found_specials(self) -> tuple[Special, ...]:
        """The special tokens that `encode` finds in its text."""
        return self.specials if self.finds_specials else ()

    @cached_property
    def added_tokens(self) -> AddedTokens:
        """The finder of these tokens in texts."""
        return AddedTokens(self.found_specials)

    @cached_property
    def special_ids(self) -> Int32Array:
        """The ids of the special tokens, ascending; not of those that decoding mistakes for other tokens."""
        return np.array(sorted({special.id for special in self.specials if not special.is_mistaken}), dtype=np.int32)

    @cached_property
    def control_ids(self) -> Int32Array:
        """The ids of the special tokens that are not text, ascending: nothing is searched or banned across them."""
        return np.array(sorted({special.id for special in self.specials if not special.is_text}), dtype=np.int32)

    fingerprint_parts: dict[str, str] = _made("fingerprint_parts")
    """The hashes of the parts of the fingerprint, by name; see :func:`tokdfa.fingerprint`."""

    made_of: tuple[object, ...] = _made("made_of")
    """All that the tokenizer is made of, to be compared.

    Tokenizers made of the same are the same, decoding included, even from files of different formats; the converse does
    not hold.
    """

    def facts(self) -> dict[str, Any]:
        """Return the facts that ``tokdfa info`` prints: JSON values by name."""
        try:
            undecided = [*self.decoder.states.held]
        except UnsupportedFeatureError:
            undecided = ["everything"]
        return {**self.model.facts(self), "undecided": undecided}

    # Tables

    def derived(self, factory: Callable[..., T], *key: Hashable) -> T:
        """Return ``factory(self, *key)``, made once and kept as long as the tokenizer.

        The table must not hold the tokenizer; see :class:`~tokdfa.tokenizers.derived.OfTokenizer`. Copies and pickles
        have none of the tables. Threads make one table once.

        Parameters
        ----------
        factory : callable
            A function of a module: the same one at each call.
        key : hashable
            The other values that the table depends on, thresholds included. The last few tables of a factory with a key
            are kept.
        """
        try:
            tables = self._tables
        except AttributeError:
            tables = self.__dict__.setdefault("_tables", DerivedTables())
        if not key:
            try:
                return cast("T", tables.made[factory, key])
            except KeyError:
                pass
        return cast("T", tables.get(self, factory, key))

    # Text to ids

    def encode(self, text: str) -> Int32Array:
        """Return the ids of `text`, as an int32 array.

        Special tokens are found in it when `finds_specials`; none are added.

        Raises
        ------
        AlphabetError
            If the text has a symbol for which the tokenizer has no token, or a lone surrogate; the error says where.
        WrongTypeError
            If it is not a string.
        """
        if type(text) is not str:
            return self._encode_other(text)
        try:
            direct = self._of_thread.direct
        except AttributeError:
            direct = self._of_thread.direct = self.model.direct(self)
        ids: Int32Array | None = None if direct is None else direct(text)
        return self.model.encode(self, text) if ids is None else ids

    def _encode_other(self, text: Any) -> Int32Array:
        """Return the ids of a text of another type than most."""
        if self.model.takes_bytes:
            check_bytes_or_text(text)
            if isinstance(text, bytes):
                return self.model.encode(self, text)
        check_text(text)
        return self.encode(str.__str__(text))

    def encode_side_by_side(self, texts: list[str], n_threads: int) -> EncodedDocuments | None:
        """Return the ids of texts that several threads encode, each writing them where they belong.

        None if it cannot be done so, or one of the texts is refused. Nobody else may change the list meanwhile.
        """
        return self.model.encode_side_by_side(self, texts, n_threads)

    def encode_together(self, texts: list[str]) -> EncodedDocuments | None:
        """Return the ids of several texts from one call; None if it cannot be done so, or one of them is refused."""
        return self.encode_side_by_side(texts, 1)

    def stream(self) -> EncodingStream:
        """Return a stream that takes a text part by part, and returns ids as soon as they are settled.

        Where texts are rewritten, ids are settled only where texts are cut.
        """
        return self.model.stream(self)

    def encoding(self, text: str | bytes = "") -> Encoding:
        """Return an encoding of a text, which can be appended to, edited and rolled back.

        Parameters
        ----------
        text : str or bytes
            The text, or its UTF-8.

        Examples
        --------
        >>> encoding = tokdfa.default_tokenizer().encoding("a single man")
        >>> encoding.append(" wants tea").kept, encoding.ids.tolist()
        (3, [64, 2513, 462, 978, 82, 3272])
        """
        from tokdfa.tokenizers.encoding.encoding import Encoding

        return Encoding(self, text)

    def segments(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        """Yield the special tokens that `encode` finds in a text and the text between them, normalized.

        With each comes whether it begins the text.
        """
        return self.added_tokens.segments(text, self.normalizer, self.model.normalizer or self.first_normalizer)

    @cached_property
    def boundaries(self) -> Boundaries:
        """The boundaries in texts, and in ids, where any two sides are encoded separately."""
        return self.derived(_boundaries)

    @property
    def later(self) -> Self:
        """The tokenizer for the text after a boundary, if texts that begin there are encoded in another way."""
        return self

    # Ids to text

    id_spellings: Spellings = _made("id_spellings")
    """The bytes of all ids, special tokens included; empty for ids that mean nothing.

    If the ends of a stream are spelled differently, these are the bytes between other ids; see `spelled`.
    """

    @cached_property
    def spelled(self) -> Spelled:
        """The spelling that each id adds to the text of a stream, depending on its position.

        UnsupportedFeatureError is raised if that depends on more than whether the id is the first or the last one.
        """
        self.require_text()
        return self.model.spelled(self)

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder, which spells ids chunk by chunk."""
        self.require_text()
        return self.model.decoder(self)

    def require_text(self) -> None:
        """Raise UnsupportedFeatureError if ids have no text."""
        why = self.why_not("text")
        if why is not None:
            hint = "set the decoder that belongs to the model, such as ByteLevel, Metaspace, ByteFallback or BPEDecoder"
            raise UnsupportedFeatureError(why, value=self.format, hint=hint)

    def decode_bytes(self, ids: npt.ArrayLike) -> bytes:
        """Return the bytes that `ids` spell, special tokens included.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one means nothing; the error says which.
        """
        return self.decoder.bytes_of(ids)

    def decode(self, ids: npt.ArrayLike, errors: str = "strict") -> str:
        r"""Return the text that `ids` spell, special tokens included.

        Parameters
        ----------
        ids : array_like of int
        errors : {"strict", "replace", "ignore", "backslashreplace"}
            How bytes that are not UTF-8 are decoded, as by :meth:`bytes.decode`: an error, U+FFFD, nothing, or
            ``\xNN``. A decoder that replaces them by itself, as its library does, takes only the first two.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one means nothing; if errors are strict, also if their bytes
            are not UTF-8 or end within a character. The error says which token and which byte.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> tokenizer.decode(tokenizer.encode("né")[:-1], errors="backslashreplace")
        'n\\xc3'
        """
        return self.decoder.string_of(ids, errors)

    def name_of(self, id: int) -> bytes:
        """Return the bytes by which readers know an id: those that it spells, or its entry in the vocabulary."""
        return self.model.name_of(self, id)

    @property
    def leaving_out(self) -> Self | None:
        """The tokenizer that leaves out symbols without a token, where the library does so; None where it does not."""
        return None

    @cached_property
    def id_lengths(self) -> Int64Array:
        """The number of bytes of each id, as `id_spellings` has them: an int64 array."""
        lengths: Int64Array = np.diff(self.id_spellings.offsets)
        lengths.setflags(write=False)
        return lengths

    # Not kept: it refers to the tokenizer, which would then be freed only by the garbage collector.
    @property
    def round_trip(self) -> RoundTrip:
        """The round trip that decodes ids and encodes their text again, which decides whether they are canonical."""
        return RoundTrip(self, self.model)


def _boundaries(tokenizer: AnyTokenizer) -> Boundaries:
    return tokenizer.model.boundaries(tokenizer)
