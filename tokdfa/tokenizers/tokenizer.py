"""A real byte pair tokenizer: added tokens, normalizer, pre-tokenizer, dictionary, decoder, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import chain
from threading import local
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.dictionary import Dictionary
from tokdfa.encoding.batches import EncodedDocuments
from tokdfa.encoding.encoded import Encoded
from tokdfa.encoding.piece_ids import ForeignSymbolError, PieceIds
from tokdfa.encoding.side_by_side import encode_side_by_side
from tokdfa.encoding.special import Special
from tokdfa.encoding.symbols import Fallback
from tokdfa.encoding.texts import check_bytes_or_text, check_text
from tokdfa.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.splitting.pretokenizer import pretokenizer as pretokenizer_of
from tokdfa.tokenizers.boundaries.characters import CharacterBoundaries, why_none
from tokdfa.tokenizers.boundaries.protocol import Boundaries, SafelyCut
from tokdfa.tokenizers.boundaries.texts import TextBoundaries
from tokdfa.tokenizers.decoder import Decoded, Decoder, WholeDecoder
from tokdfa.tokenizers.decoding import StripWhole, later_step
from tokdfa.tokenizers.formats.contents import Contents, Rewriting
from tokdfa.tokenizers.normalizers import Chain, UnicodeForm
from tokdfa.tokenizers.numbered import NumberedTokens
from tokdfa.tokenizers.round_trip import BytesRoundTrip, RewritingRoundTrip, RoundTrip
from tokdfa.tokenizers.spelled import Spelled, spelled_by_steps
from tokdfa.tokenizers.whole import why_whole
from tokdfa.unicode.quick_check import is_normal

if TYPE_CHECKING:
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.encoding.stream import EncodingStream
    from tokdfa.splitting.pretokenizer import PreTokenizer
    from tokdfa.splitting.splitter import Splitter
    from tokdfa.tokenizers.neighbours import PairAutomaton
    from tokdfa.tokenizers.proper_part import ProperPart
    from tokdfa.tokenizers.protocol import Capability
    from tokdfa.transducers.one_pass import OnePass
    from tokdfa.unicode.normalization import Form

__all__ = ["Tokenizer"]


_PIECES = frozenset({str, bytes})
# So many texts are joined to look for special tokens in them.
_TEXTS_A_LOOK = 1000
# With fewer stretches, one call of a compiled loop for each takes less time than what several in one take before.
_FEWEST_TOGETHER = 3
_SURROGATE = re.compile("[\ud800-\udfff]")


class Tokenizer(SafelyCut, NumberedTokens):
    """A byte pair tokenizer, as its file and its library define it: from text to ids and back.

    If it does not encode the text itself, ids are canonical if they are those of the text to which they *decode*,
    whatever text they came from. Immutable; made by :func:`tokdfa.load`.

    Attributes
    ----------
    format : str
        The format of the file.
    dictionary : Dictionary
        The rules. If they are improper, they may not determine all merges; see `merges`.
    merges : Merges or None
        All merging pairs with their priorities, if the rules do not determine them.
    extra_tokens : tuple of words
        Tokens that no rule mentions, numbered after those of the dictionary.
    token_to_id : int32 array, one entry a token
        The id of each token: those of the dictionary's alphabet, then `extra_tokens`, then tokens that nothing can
        spell. -1 for a token without an id.
    id_to_token : int32 array, one entry an id
        The number of a token; -1 for special tokens and unused ids.
    pretokenizer : PreTokenizer or None
        What splits text into pieces; None if the whole text is one piece.
    specials : tuple of Special
    finds_specials : bool
        Whether `encode` finds the specials in its text. Their ids split a stream either way.
    whole_piece : bool
        Whether a piece that is itself a token is emitted without merging.
    semantics : str
        The order in which rules are used: "leftmost", the strongest pair first, ties going to the leftmost.
    suffix : str or None
        What is appended to the last symbol of a piece, such as ``</w>``.
    piece_ids : PieceIds
        The function from pieces to ids.
    is_plain : bool
        Whether texts are encoded unchanged and ids spell them one after the other.
    rewriting : Rewriting
        The normalizer, and the steps of the decoder.
    rewrites : tuple
        The treatment of texts, and of symbols that are not in the alphabet; equal if both are treated the same.
    ignored : tuple of str
        What else the file asks for and `encode` leaves out: special tokens at the ends.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> ids = tokenizer.encode("a single man")
    >>> ids.tolist(), tokenizer.decode(ids), bool(tokenizer.validate(ids))
    ([64, 2513, 462], 'a single man', True)
    >>> len(tokenizer.dictionary), tokenizer.dfa.states_minimal
    (3840, 1395)
    """

    algorithm = "byte pair"
    semantics: Literal["leftmost"] = "leftmost"
    pretokenizer: PreTokenizer | None

    def __init__(self, contents: Contents, pretokenizer: PreTokenizer | None = None) -> None:
        super().__init__(contents)
        self._contents = contents
        self.format = contents.format
        self.merges = contents.merges
        self.pretokenizer = pretokenizer
        self.finds_specials = contents.finds_specials
        self.whole_piece = contents.whole_piece
        self.is_plain = contents.is_plain
        self.ignored = contents.ignored
        self.library = contents.library
        self.rewriting = contents.rewriting or Rewriting()
        self.rewrites = (contents.rewriting, contents.fallback, contents.atoms, contents.prefix)
        self.piece_ids = PieceIds(contents)
        self._of_thread = local()
        self._strings = _Strings(self)
        self._first_normalizer = self.rewriting.normalizer
        self._continues = False

    def __reduce__(self) -> tuple[type[Self], tuple[Contents, PreTokenizer | None]]:
        # The parts of a tokenizer. All else is computed from them on use, anew in each process and each copy.
        return type(self), (self._contents, self.pretokenizer)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of rules."""
        return {"rules": len(self.dictionary)}

    def facts(self) -> dict[str, Any]:
        """Return the facts that ``tokdfa info`` prints, as JSON values by name."""
        from tokdfa.tokenizers.facts import facts_of

        return facts_of(self)

    def why_not(self, capability: Capability) -> str | None:
        """Return why the tokenizer lacks a capability; see :meth:`AnyTokenizer.why_not`."""
        if capability == "rules" or (capability == "bytes" and self.is_bytewise):
            return None
        if capability == "form" and self.form is not None:
            return None
        return super().why_not(capability)

    @cached_property
    def dfa(self) -> CompactTokenDFA:
        """The token DFA of the dictionary, over its token numbers.

        Raises
        ------
        ImproperDictionaryError
            If the dictionary is not proper.
        """
        from tokdfa.automata.compact import CompactTokenDFA

        return CompactTokenDFA(self.dictionary)

    @property
    def transducer(self) -> OnePass:
        """The function T^D of the dictionary, from words to token numbers, in one pass over the word.

        Raises
        ------
        ImproperDictionaryError
            If the dictionary is not proper.
        """
        return self.piece_ids.one_pass

    # Where normalizing is the identity

    @cached_property
    def form(self) -> Form | None:
        """The normalization form that texts are brought into, if nothing else is done to them; None otherwise.

        Ids of a text in that form are those of `unnormalized`. Texts that are not come from no canonical ids.
        """
        if self.read_in_form is None or not all(special.is_plain for special in self.specials):
            return None
        return self.read_in_form[1]

    @property
    def read_in_form(self) -> tuple[Tokenizer, Form | None] | None:
        """A tokenizer of bytes for texts that are in a form, and that form; None if more than that is done to texts.

        The form is None if texts stay unchanged. Special tokens may strip or be single words.
        """
        if self.is_plain:
            return (self, None) if self.is_bytewise else None
        return self._read_in_form

    @cached_property
    def _read_in_form(self) -> tuple[Tokenizer, Form | None] | None:
        _, *others = self.rewrites
        if not self.is_bytewise or any(others) or self.rewriting.decoding is not None:
            return None
        form: Form | None = None
        if self.rewriting.normalizer is not None:
            steps = self.rewriting.normalizer.steps if isinstance(self.rewriting.normalizer, Chain) else ()
            if len(steps) != 1 or not isinstance(steps[0], UnicodeForm):
                return None
            form = steps[0].form
        twin = Tokenizer(replace(self._contents, rewriting=None), self.pretokenizer)
        twin.piece_ids = self.piece_ids
        return twin, form

    @property
    def unnormalized(self) -> Tokenizer:
        """The tokenizer without the normalizer, if there is a `form`."""
        return self if self.read_in_form is None else self.read_in_form[0]

    # Where texts are cut

    @cached_property
    def boundaries(self) -> Boundaries:
        """The boundaries in texts, and in ids, where both sides are encoded separately, whatever they are."""
        return self.derived(_boundaries)

    @property
    def later(self) -> Tokenizer:
        """The tokenizer for the text after a boundary."""
        return self.continued if self.boundaries.continues else self

    @cached_property
    def continued(self) -> Tokenizer:
        """The tokenizer for a text that continues another one: it does nothing to the beginning of a text."""
        rewriting = self.rewriting
        normalizer = None if rewriting.normalizer is None else rewriting.normalizer.later
        steps = None
        if rewriting.decoding is not None:
            steps = tuple(later_step(step) for step in rewriting.decoding if not isinstance(step, StripWhole))
        twin = self._twin()
        twin.rewriting = Rewriting(rewriting.normalizer, steps)
        twin._first_normalizer = normalizer
        twin._continues = True
        return twin

    def _twin(self) -> Tokenizer:
        """Return a tokenizer that does the same, and does not refer to this one."""
        twin = Tokenizer(self._contents, self.pretokenizer)
        twin.rewriting = self.rewriting
        twin._first_normalizer = self._first_normalizer
        twin._continues = self._continues
        twin._strings = self._strings
        twin.piece_ids = self.piece_ids
        return twin

    @cached_property
    def why_whole(self) -> str | None:
        """Why streams are judged as a whole, because no two neighbours decide where a text is cut; None if some do."""
        return why_whole(self) if self.is_plain else self.boundaries.why_none

    # Text to ids

    def encode(self, text: str) -> Int32Array:
        """Return the ids of `text`, as an int32 array.

        Special tokens are found in it if `finds_specials`; none are added.

        Raises
        ------
        AlphabetError
            If the text has a symbol for which the tokenizer has no token, or a lone surrogate; the error says where.
        WrongTypeError
            If it is not a string.
        """
        check_text(text)
        try:
            encode_direct = self._of_thread.encode
        except AttributeError:
            encode_direct = self._of_thread.encode = self._direct_encoding()
        if encode_direct is not None:
            ids = encode_direct(text)
            if ids is not None:
                return cast(Int32Array, ids)
        return self._encode_by_stretches(text)

    def _direct_encoding(self) -> Callable[[str], Int32Array | None] | None:
        """Return a function that encodes, in this thread, texts that are one stretch and are split unchanged.

        It returns None for other texts, and for those that are refused. None is returned if there is no such function.
        """
        if self._continues or (self.form is None and not self.is_plain):
            return None
        splitter = self._direct_splitter
        encoder = None if splitter is None else self.piece_ids.text_encoder(splitter)
        if encoder is None:
            return None
        encode = encoder.run.encode_string
        finds_none = self.added_tokens.finds_none if self.added_tokens else None
        form = self.form

        def encode_direct(text: str) -> Int32Array | None:
            if form is not None and not _is_in_form(text, form):
                return None
            if finds_none is not None and not finds_none(text):
                return None
            try:
                ids = encode(text)
            except UnicodeEncodeError:
                return None
            return None if isinstance(ids, int) else ids

        return encode_direct

    @cached_property
    def _direct_splitter(self) -> Splitter | None:
        """The machine that splits texts as they are into pieces of bytes; None if there is none."""
        pretokenizer = self.pretokenizer
        if pretokenizer is None or not self.is_bytewise or pretokenizer.splitter is None:
            return None
        if pretokenizer.splitting.prefix_space == 0 or pretokenizer.splitting.metaspace is not None:
            return None
        return pretokenizer.splitter

    def encode_together(self, texts: list[str]) -> EncodedDocuments | None:
        """Return the ids of several texts; see :meth:`AnyTokenizer.encode_together`."""
        return self.encode_side_by_side(texts, 1)

    def encode_side_by_side(self, texts: list[str], n_threads: int) -> EncodedDocuments | None:
        """Return the ids of several texts; see :meth:`AnyTokenizer.encode_side_by_side`."""
        splitter = self._direct_splitter
        if splitter is None or not (self.is_plain or self._are_in_form(texts)):
            return None
        try:
            found = FoundTexts(texts)
        except (TypeError, UnicodeEncodeError):
            return None
        if self.added_tokens:
            # Before anything is encoded, which would have to be done again.
            parts = (texts[at : at + _TEXTS_A_LOOK] for at in range(0, len(texts), _TEXTS_A_LOOK))
            if not all(self.added_tokens.finds_none("".join(part)) for part in parts):
                return None
        return encode_side_by_side(found, lambda: self.piece_ids.idle_text_encoder(splitter), n_threads)

    def _are_in_form(self, texts: list[str]) -> bool:
        form = self.form
        return form is not None and not self._continues and all(_is_in_form(text, form) for text in texts)

    def encode_stretches(self, stretches: Sequence[tuple[str | Special, bool]]) -> Int32Array | None:
        """Return the ids of special tokens and of the stretches between them, from one call of a compiled loop.

        With each comes whether it begins the text. None is returned if there is no such loop, or a stretch is refused.
        """
        texts = [(stretch, begins) for stretch, begins in stretches if not isinstance(stretch, Special)]
        if len(texts) < _FEWEST_TOGETHER:
            return None
        encoded = self._encode_texts(texts)
        if encoded is None:
            return None
        is_special = np.fromiter((isinstance(stretch, Special) for stretch, _ in stretches), np.bool_, len(stretches))
        before = np.cumsum(~is_special)[is_special]
        ids = np.array([stretch.id for stretch, _ in stretches if isinstance(stretch, Special)], dtype=np.int32)
        found: Int32Array = np.insert(encoded.ids, encoded.offsets[before], ids)
        return found

    def _encode_texts(self, texts: Sequence[tuple[str, bool]]) -> Encoded | EncodedDocuments | None:
        """Return the ids of stretches without special tokens; None if no compiled loop encodes all of them."""
        splitter = self._direct_splitter
        if splitter is not None:
            encoder = self.piece_ids.text_encoder(splitter)
            try:
                found = FoundTexts([text for text, _ in texts])
            except UnicodeEncodeError:
                return None
            return encode_side_by_side(found, lambda: nullcontext(encoder), 1)
        if not self.piece_ids.is_over_characters:
            return None
        split = self.pretokenizer
        pieces = [[text] if split is None else split.split(text, begins=begins) for text, begins in texts]
        try:
            encoded = self.encode_pieces([*chain.from_iterable(pieces)])
        except AlphabetError:
            return None
        bounds = running_sum(np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces)))
        return Encoded(encoded.ids, encoded.offsets[bounds])

    def _encode_by_stretches(self, text: str) -> Int32Array:
        """Encode any text, as :meth:`encode` does."""
        surrogate = None if self.is_plain or text.isascii() else _SURROGATE.search(text)
        if surrogate is not None:
            where = f"character {surrogate.start()}"
            raise AlphabetError("half of a surrogate pair", value=surrogate.group(), where=where)
        stretches = [*self.stretches(text)]
        together = None if self._continues else self.encode_stretches(stretches)
        if together is not None:
            return together
        parts: list[Int32Array] = []
        for number, (stretch, begins) in enumerate(stretches):
            if isinstance(stretch, Special):
                parts.append(np.array([stretch.id], dtype=np.int32))
                continue
            try:
                if begins and self._continues:
                    parts.append(self._without_prefix.encode_stretch(stretch, begins=False))
                else:
                    parts.append(self.encode_stretch(stretch, begins=begins))
            except AlphabetError as error:
                if not self.is_plain and (self.form is None or not _is_in_form(text, self.form)):
                    raise
                place = self.added_tokens.spans(text)[number][0] + self.foreign_character(stretch, begins=begins)
                value = text[place : place + 1] if error.value is None else error.value
                raise AlphabetError(error.what, value=value, where=f"character {place}") from None
        return parts[0] if len(parts) == 1 else np.concatenate((np.empty(0, dtype=np.int32), *parts))

    def pieces_of(self, text: str) -> list[str]:
        """Return the pieces of a text, rewritten; none if an added token is found in it."""
        stretches = [*self.stretches(text)]
        stretch, begins = stretches[0] if len(stretches) == 1 else ("", True)
        if isinstance(stretch, Special):
            return []
        first = begins and self._continues
        split = (self._without_prefix if first else self).pretokenizer
        return [stretch] if split is None else split.split(stretch, begins=begins and not first)

    @property
    def _without_prefix(self) -> Tokenizer:
        """The tokenizer that puts nothing before a stretch."""
        split = self.pretokenizer
        return self if split is None or split.splitting.prefix_space is None else self._unprefixed

    @cached_property
    def _unprefixed(self) -> Tokenizer:
        assert self.pretokenizer is not None
        split = replace(self.pretokenizer.splitting, prefix_space=None)
        twin = Tokenizer(self._contents, pretokenizer_of(split))
        twin.piece_ids = self.piece_ids
        return twin

    def stream(self) -> EncodingStream:
        """Return a stream that takes a text part by part; it returns ids as soon as they are settled.

        Where texts are rewritten, these are the ids up to the last boundary; all of them
        come at the end if none are known.
        """
        from tokdfa.encoding.stream import HeldStream, SettlingStream, encode_from

        if self.is_plain:
            return SettlingStream(self)
        later = self.later
        return HeldStream(
            lambda text, byte: encode_from((later if byte else self).encode, text, byte), self.boundaries.last_cut
        )

    def stretches(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        """Yield special tokens and the normalized stretches between them, and whether each begins the text."""
        return self.added_tokens.stretches(text, self.rewriting.normalizer, self._first_normalizer)

    def encode_stretch(self, text: str, *, begins: bool) -> Int32Array:
        """Return the ids of a text without looking for special tokens; raises as :meth:`encode` does.

        `begins` is whether it is the beginning of a text, and not what follows a special token.
        """
        pretokenizer = self.pretokenizer
        if pretokenizer is None:
            return self.encode_piece(text)
        if pretokenizer.splitting.byte_steps:
            return self._encode_byte_pieces(text, pretokenizer, begins)
        if not self.is_bytewise or pretokenizer.splitter is None:
            return self.encode_pieces(pretokenizer.split(text, begins=begins)).ids
        try:
            data = pretokenizer.spelled(text, begins=begins).encode("utf-8")
        except UnicodeEncodeError as error:
            raise AlphabetError("half of a surrogate pair", value=error.object[error.start]) from None
        return self.piece_ids.encode_text(data, pretokenizer.splitter)

    def _encode_byte_pieces(self, text: str, pretokenizer: PreTokenizer, begins: bool) -> Int32Array:
        """Return the ids of a stretch whose pieces may begin and end within characters."""
        try:
            data, spans = pretokenizer.byte_pieces(text, begins=begins)
        except UnicodeEncodeError as error:
            raise AlphabetError("half of a surrogate pair", value=error.object[error.start]) from None
        if self.is_bytewise:
            return self.piece_ids.encode_spans(data, spans).ids
        return self.encode_pieces([data[start:end] for start, end in spans.tolist()]).ids

    def foreign_character(self, text: str, *, begins: bool) -> int:
        """Return the place of the character for which a stretch was refused."""
        surrogate = re.search("[\ud800-\udfff]", text)
        if surrogate is not None:
            return surrogate.start()
        pieces, spans = [text], [(0, len(text))]
        if self.pretokenizer is not None:
            pieces = self.pretokenizer.split(text, begins=begins)
            spans = self.pretokenizer.spans(text, begins=begins)
        try:
            self.encode_pieces(pieces)
        except ForeignSymbolError as error:
            start, end = spans[error.piece]
            return start + max(error.place - (len(pieces[error.piece]) - (end - start)), 0)
        return 0

    def encode_piece(self, piece: str | bytes) -> Int32Array:
        """Return the ids of one piece, which is not split further; a piece of bytes need not be UTF-8."""
        return self.encode_pieces([piece]).ids

    def encode_pieces(self, pieces: Sequence[str | bytes]) -> Encoded:
        """Return the ids of pieces, which are not split further, and the offsets at which those of each begin.

        Raises
        ------
        AlphabetError
            If a piece has a symbol for which the tokenizer has no token, or a lone surrogate; the error says where.
        """
        if not _PIECES.issuperset(map(type, pieces)):
            for piece in pieces:
                check_bytes_or_text(piece)
        return self.piece_ids.encode(pieces)

    @cached_property
    def leaving_out(self) -> Self | None:
        """A tokenizer that drops symbols without a token, if the library does so; otherwise None.

        `encode` refuses a text that would lose them. The text that ids decode to is judged by what the library does.
        """
        contents = self._contents
        if not contents.drops_unknown:
            return None
        fallback = replace(contents.fallback or Fallback(), drops=True)
        dropping = type(self)(replace(contents, fallback=fallback, drops_unknown=False), self.pretokenizer)
        return cast("Self", dropping.continued) if self._continues else dropping

    # Ids to text

    @property
    def token_strings(self) -> list[str]:
        """The spelling of each id in its file."""
        return self._strings.of_ids

    def token_string(self, id: int) -> str | bytes:
        """Return the spelling of an id: in the file, or its bytes."""
        return self.name_of(id) if self.is_bytewise else self.token_strings[id]

    def decode(self, ids: npt.ArrayLike) -> str:
        """Return the text that `ids` spell, special tokens included if the decoder includes them.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one means nothing, or their bytes are not UTF-8; the error
            says which token, and which byte.
        """
        return super().decode(ids) if self.rewriting.decoding is None else self.decode_with_ends(ids).text

    def decode_with_ends(self, ids: npt.ArrayLike) -> Decoded:
        """Return the text that `ids` spell, and for each id the end, in bytes, of what it adds; see :meth:`decode`."""
        decoder = self.decoder
        checked = decoder.check(ids)
        if isinstance(decoder, WholeDecoder):
            return decoder.text_of(checked)
        return Decoded("".join(decoder.iter_text([checked])), self.ends_of(checked))

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder, which spells all ids at once if it does more than concatenate their spellings."""
        steps = self.rewriting.decoding
        if steps is None:
            return self._plain_decoder
        return WholeDecoder(self.id_spellings, self.means_something, self._strings, steps)

    @property
    def spelled(self) -> Spelled:
        """What each id adds to the text of a stream, by its position.

        Raises
        ------
        UnsupportedFeatureError
            If it depends on more than whether the id is the first or the last one.
        """
        steps = self.rewriting.decoding
        if steps is None:
            return super().spelled
        return spelled_by_steps([str(self.token_string(id)) for id in range(self.n_ids)], steps, self.format)

    @cached_property
    def lengths_by_place(self) -> tuple[Int64Array, str, Int64Array, BoolArray | None] | None:
        """The number of bytes that each id adds to a text, where that is all that it depends on; see `Spelled`."""
        try:
            spelled = self.spelled
        except UnsupportedFeatureError:
            return None
        usual: Int64Array = np.diff(spelled.usual.offsets)
        other = usual if spelled.other is None else np.diff(spelled.other.offsets)
        return usual, spelled.varies, other, spelled.silent

    @property
    def round_trip(self) -> RoundTrip:
        """The round trip that decodes ids and encodes their text again, which decides whether they are canonical."""
        return BytesRoundTrip(self) if self.is_plain else RewritingRoundTrip(self)

    @cached_property
    def whole_piece_tokens(self) -> Int32Array:
        """The tokens that are given only for whole pieces, because merging does not make them; ascending."""
        whole = self.piece_ids.whole_words.items()
        numbers = [number for word, number in whole if not isinstance(word, bytes) or _is_utf8(word)]
        return np.array(numbers, dtype=np.int32)

    @cached_property
    def proper_part(self) -> ProperPart:
        """The proper part of the dictionary, and where merging differs from it; see :func:`proper_part`.

        Raises
        ------
        LimitExceededError
            If there are too many pairs to look at.
        """
        from tokdfa.tokenizers.proper_part import proper_part

        return proper_part(self)

    @property
    def pair_automaton(self) -> PairAutomaton:
        """The automaton of the rules, accessed by ids."""
        from tokdfa.tokenizers.neighbours import PairAutomaton

        return PairAutomaton(self)

    @property
    def proper_dictionary(self) -> Dictionary | None:
        """The proper dictionary, its rules in the order of the file, that merges as the tokenizer does; None without.

        Raises
        ------
        LimitExceededError
            See `proper_part`.
        """
        if self.dictionary.properness():
            return self.dictionary
        return self.proper_part.dictionary if self.proper_part.is_everything else None

    @cached_property
    def is_live(self) -> BoolArray:
        """For each token, whether merging or a whole piece gives it, special tokens left aside."""
        live = np.zeros(len(self.token_to_id), dtype=np.bool_)
        is_merged = self.piece_ids.is_merged
        live[: len(is_merged)] = is_merged
        live[self.whole_piece_tokens] = True
        return live

    @cached_property
    def dead_tokens(self) -> Int32Array:
        """The tokens with an id, except special ones, that `encode` never emits; ascending."""
        candidates = self.id_to_token[self.id_to_token >= 0]
        return np.sort(candidates[~self.is_live[candidates]])

    @cached_property
    def fingerprint_parts(self) -> dict[str, str]:
        """The hashes of the parts of the fingerprint, by name; see :func:`tokdfa.fingerprint`."""
        from tokdfa.tokenizers.fingerprint import parts_of_byte_pairs

        return parts_of_byte_pairs(self)

    @cached_property
    def made_of(self) -> tuple[object, ...]:
        """All that the tokenizer is made of, to be compared; see :attr:`AnyTokenizer.made_of`."""
        from tokdfa.tokenizers.fingerprint import made_of

        return made_of(self)

    def __repr__(self) -> str:
        return f"<Tokenizer from {self.format}: {len(self.dictionary)} rules, {self.n_ids} ids>"


def _boundaries(tokenizer: Tokenizer) -> Boundaries:
    """Return the boundaries of a tokenizer; see :attr:`Tokenizer.boundaries`."""
    if tokenizer.read_in_form is not None:
        return TextBoundaries(tokenizer)
    why = "its symbols are not the bytes of UTF-8" if tokenizer.is_plain else why_none(tokenizer)
    # Of a twin, because a tokenizer that its own parts refer to is freed only by the garbage collector.
    return CharacterBoundaries(tokenizer._twin(), tokenizer.continued) if why is None else Boundaries(why)


class _Strings:
    """The spellings of ids in the file, made when they are first asked for, without a reference to the tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._words = (tokenizer.dictionary, tokenizer.extra_tokens)
        self._id_to_token = tokenizer.id_to_token
        self._specials = tokenizer.specials
        *_, self._prefix = tokenizer.rewrites

    @cached_property
    def of_ids(self) -> list[str]:
        dictionary, extra = self._words
        words = (*dictionary.alphabet, *extra)
        numbers = self._id_to_token.tolist()
        strings = [self._string(cast("str | tuple[str, ...]", words[n])) if n >= 0 else "" for n in numbers]
        for special in self._specials:
            strings[special.id] = special.text
        return strings

    def _string(self, word: str | tuple[str, ...]) -> str:
        if self._prefix and len(word) > 1:
            return word[0] + "".join(symbol[len(self._prefix) :] for symbol in word[1:])
        return "".join(word)


def _is_in_form(text: str, form: Form) -> bool:
    """Return whether normalizing a text, or any part of it, gives it back."""
    if text.isascii():
        return True
    try:
        return is_normal(text.encode("utf-8"), form)
    except UnicodeEncodeError:
        return False


def _is_utf8(word: bytes) -> bool:
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
