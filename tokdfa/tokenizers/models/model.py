"""The base class of models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError, TokenStreamError, UnsupportedFeatureError
from tokdfa.tokenizers.round_trip import Ends, ends_in

if TYPE_CHECKING:
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.tokenizers.boundaries.protocol import Boundaries
    from tokdfa.tokenizers.decoder import Decoded, Decoder, Spellings
    from tokdfa.tokenizers.encoding.batches import EncodedDocuments
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.models.unigram.lattice import RecordedText
    from tokdfa.tokenizers.models.unigram.segmenter import Acceptor, Before, Segmenter, WrongWords
    from tokdfa.tokenizers.neighbours import PairAutomaton
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.tokenizers.spelled import Spelled

# A function that encodes the usual texts in one compiled loop, and returns None for all others.
Direct: TypeAlias = Callable[[str], "Int32Array | None"]


class NoRulesError(UnsupportedFeatureError, AttributeError):
    """A property of byte pair tokenizers only was asked of another tokenizer."""


class Model(ABC):
    """A model turns pieces of text into ids; it is one of the five parts of a tokenizer.

    A model holds no tokenizer, so that a dropped one is freed at once. Where an answer depends on the other parts, the
    method gets the tokenizer as its first argument.

    `algorithm` is its name, such as "byte pair", and `semantics` says how it chooses; see
    :class:`~tokdfa.AnyTokenizer`. If it `takes_bytes`, a text may be given in UTF-8. If it `takes_longest`, the
    algorithm takes the longest match instead of merging. If it `spells_bytes`, the characters of its entries represent
    bytes, in GPT-2's alphabet; `spell` writes pre-tokens in its letters, if the model segments pre-tokens.
    `normalizer` is its own normalization of texts. `capabilities` are the members of "rules", "leftmost", "bytes" and
    "letters" that it has; see :meth:`~tokdfa.AnyTokenizer.why_not`. `pretokenizer` is the name of its own one, if the
    model itself splits texts into words. `unknown_id` is the id of unknown symbols or words, and `byte_ids` are the ids
    of the bytes that an unknown symbol becomes, -1 for none. `segmenter`, `pair_automaton` and `proper_dictionary` are
    described in :class:`~tokdfa.AnyTokenizer`.
    """

    algorithm: ClassVar[str]
    semantics: str
    takes_bytes: ClassVar[bool] = False
    takes_longest: ClassVar[bool] = False
    spells_bytes: bool = False
    spell: Callable[[bytes], bytes] | None = None
    normalizer: Callable[[str], str] | None = None
    capabilities: frozenset[str] = frozenset()
    pretokenizer: str | None = None
    unknown_id: int | None = None
    byte_ids: tuple[int, ...] | None = None
    segmenter: Segmenter | None = None
    pair_automaton: PairAutomaton | None = None
    proper_dictionary: Dictionary | None = None

    # Hidden from type checkers, for which every name would exist.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                return object.__getattribute__(self, name)
            raise NoRulesError("only a byte pair tokenizer has rules, and tokens with numbers", value=self.algorithm)

    @property
    @abstractmethod
    def is_token(self) -> BoolArray:
        """For each id of the model, whether it is in use."""

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """The numbers of its parts: rules, pieces, entries."""

    # From text to ids

    @abstractmethod
    def direct(self, tokenizer: Any) -> Direct | None:
        """Return the function that encodes usual texts in this thread; None if there is none."""

    @abstractmethod
    def encode(self, tokenizer: Any, text: Any) -> Int32Array:
        """Return the ids of any text; see :meth:`Tokenizer.encode`."""

    def encode_side_by_side(self, tokenizer: Any, texts: list[str], n_threads: int) -> EncodedDocuments | None:
        """Return the ids of several texts; see :meth:`AnyTokenizer.encode_side_by_side`."""
        return None

    @abstractmethod
    def stream(self, tokenizer: Any) -> EncodingStream:
        """Return a stream that encodes a text part by part; see :meth:`Tokenizer.stream`."""

    @abstractmethod
    def boundaries(self, tokenizer: Any) -> Boundaries:
        """Return the boundaries in texts and ids, where both sides are encoded separately."""

    def acceptor(self, tokenizer: Any) -> Acceptor | None:
        """Return the acceptor, which judges streams word by word; None where no words do."""
        return None

    # From ids to text

    @property
    @abstractmethod
    def strings(self) -> list[str]:
        """The entry of each id in the vocabulary; empty for unused ids."""

    def name_of(self, tokenizer: Any, id: int) -> bytes:
        """Return the bytes by which readers know an id: its spelling, or its entry."""
        text, offsets = tokenizer.id_spellings
        name: bytes = text[offsets[id] : offsets[id + 1]].tobytes()
        return name

    @abstractmethod
    def id_spellings(self, tokenizer: Any) -> Spellings:
        """Return the bytes of each id; see :attr:`AnyTokenizer.id_spellings`."""

    @abstractmethod
    def spelled(self, tokenizer: Any) -> Spelled:
        """Return the text that each id adds, by its position; see :attr:`AnyTokenizer.spelled`."""

    @abstractmethod
    def decoder(self, tokenizer: Any) -> Decoder:
        """Return the decoder, which spells streams of ids."""

    # From ids to text and back, as most algorithms have it. The tokenizer is `later` if a boundary is before the text;
    # `before` is the effect of the text before it, and `begins` whether no boundary is before it.

    def encode_on(
        self, tokenizer: Any, text: str, before: Before | None, *, begins: bool = True
    ) -> tuple[Int32Array, Before | None]:
        """Return the ids of a text, and its effect on the text after a boundary; None if it has none."""
        try:
            return tokenizer.encode(text), None
        except AlphabetError:
            if tokenizer.leaving_out is None:
                raise
            return tokenizer.leaving_out.encode(text), None

    def accept(
        self, tokenizer: Any, ids: Int32Array, before: Before | None, *, begins: bool
    ) -> tuple[int, Before | None] | None:
        """Return the number of bytes of canonical ids, and their effect on later text; see :meth:`RoundTrip.accept`."""
        return None

    def wrong_words(
        self, tokenizer: Any, ids: Int32Array, before: Before | None, *, begins: bool
    ) -> tuple[int, int, Before, WrongWords]:
        """Return the words of ids that are not canonical; see :meth:`RoundTrip.wrong_words`."""
        raise NotImplementedError

    def recorded(self, tokenizer: Any, text: str, before: Before | None, *, begins: bool) -> RecordedText | None:
        """Return the sums of scores in a text; see :meth:`RoundTrip.recorded`."""
        return None

    def ends(self, tokenizer: Any, text: str, canonical: Int32Array, *, begins: bool) -> Ends | None:
        """Return the ends of canonical ids in the text that was encoded; see :meth:`RoundTrip.ends`."""
        again = self.decoded(tokenizer, canonical, begins=begins)
        return None if again is None else ends_in(text, again)

    def decoded(self, tokenizer: AnyTokenizer, ids: Int32Array, *, begins: bool) -> Decoded | None:
        """Return the text of ids; None if they have none, as where bytes within symbols are left out."""
        decoder = tokenizer.decoder
        try:
            return (decoder if begins else decoder.later).text_of(ids)
        except TokenStreamError:
            return None

    def encode_with_ends(self, tokenizer: Any, text: str) -> tuple[Int32Array, Int64Array]:
        """Return the ids of a text and their ends in it, in bytes; only if the longest match is taken."""
        raise NotImplementedError

    def word_of(self, tokenizer: Any, id: int) -> Word:
        """Return an id as a word for people to read."""
        word: Word = tokenizer.name_of(id)
        return word

    def detected(self, tokenizer: Any, ids: Int32Array, start: int, stop: int) -> int:
        """Return the token at which ids are seen to be wrong; see :meth:`RoundTrip.detected`."""
        return stop - 1

    # Description

    @abstractmethod
    def facts(self, tokenizer: Any) -> dict[str, Any]:
        """Return the facts that ``tokdfa info`` prints, as JSON values by name."""

    @abstractmethod
    def fingerprint_parts(self, tokenizer: Any) -> dict[str, str]:
        """Return the hashes of the parts of the tokenizer; see :func:`tokdfa.fingerprint`."""

    @abstractmethod
    def made_of(self, tokenizer: Any) -> tuple[object, ...]:
        """Return all parts of the tokenizer, to be compared; see :attr:`AnyTokenizer.made_of`."""


class SteppedModel(Model):
    """A model with ids that are decoded by steps: from the spelling of each id in the file to a text."""

    def id_spellings(self, tokenizer: Any) -> Spellings:
        """Return the bytes that each id adds to a text between other ids, where these do not matter."""
        from tokdfa.tokenizers.decoder import spellings

        try:
            found: Spellings = tokenizer.spelled.usual
        except ValueError:
            return spellings([string.encode("utf-8", "surrogatepass") for string in tokenizer.token_strings])
        return found

    def spelled(self, tokenizer: Any) -> Spelled:
        from tokdfa.tokenizers.spelled import spelled_by_steps

        return spelled_by_steps(tokenizer.token_strings, tokenizer.rewriting.decoding or (), tokenizer.format)

    def decoder(self, tokenizer: Any) -> Decoder:
        from tokdfa.tokenizers.whole_decoder import WholeDecoder

        steps = tokenizer.rewriting.decoding or ()
        return WholeDecoder(tokenizer.id_spellings, tokenizer.means_something, tokenizer.strings, steps)

    def name_of(self, tokenizer: Any, id: int) -> bytes:
        """Return the bytes by which readers know an id: its spelling in the file, or the special token."""
        string: str = tokenizer.token_strings[id]
        contents = (special.content for special in tokenizer.specials if special.id == id)
        return (string or next(contents, "")).encode("utf-8")

    def word_of(self, tokenizer: Any, id: int) -> Word:
        """Return the spelling of an id in its file."""
        string: str = tokenizer.token_strings[id]
        return string
