"""Byte pairs: a dictionary of rules, its tokens with their numbers and ids, and the ids of pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import BoolArray, Int32Array, running_sum
from tokdfa.base.errors import AlphabetError
from tokdfa.kernels.spelling.spell import spell
from tokdfa.regex.unicode.utf8 import BYTE_OF
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoder import Decoder, Spellings, is_utf8, spellings
from tokdfa.tokenizers.derived import DerivedTables
from tokdfa.tokenizers.encoding.piece_ids import PieceIds
from tokdfa.tokenizers.formats.checked_dictionary import ByteTokens
from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS, Contents
from tokdfa.tokenizers.models import byte_pair_texts
from tokdfa.tokenizers.models.model import Model
from tokdfa.tokenizers.round_trip import Ends, ends_before_normalizing
from tokdfa.tokenizers.whole_decoder import WholeDecoder

if TYPE_CHECKING:
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.automata.transducers.one_pass import OnePass
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.encoding.symbols import Merges
    from tokdfa.tokenizers.neighbours import Neighbours, PairAutomaton, ProperPart
    from tokdfa.tokenizers.spelled import Spelled
    from tokdfa.tokenizers.tokenizer import Tokenizer

T = TypeVar("T")


def _of_contents(name: str) -> Any:
    # Read when it is asked for: finding the rules may take longer than loading the file.
    return property(attrgetter(f"_contents.{name}"))


class BytePairs(Model):
    """A model that merges pairs of symbols by the rules of a dictionary, which may be improper.

    A token has the number that the alphabet of the rules gives it; then come `extra_tokens`, which no rule mentions,
    and tokens that nothing can spell. `suffix` is appended to the last symbol of a piece, such as ``</w>``, and
    `prefix` put before all but the first. If `whole_piece`, a piece that is itself a token is emitted without merging.
    """

    algorithm = "byte pair"
    semantics: Literal["leftmost"] = "leftmost"

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._foreign = contents.foreign
        self.prefix = contents.prefix
        # Of GPT-2's letters for bytes, or of UTF-8.
        self._read = (lambda text: bytes(map(BYTE_OF.__getitem__, text))) if contents.spelled_bytes else str.encode
        settings = contents.suffix, contents.spelled_bytes, contents.whole_piece
        self.suffix, self.spells_bytes, self.whole_piece = self._settings = settings
        self.piece_ids = PieceIds(contents)
        self._tables = DerivedTables()

    def share(self, other: BytePairs) -> None:
        """Share all that is computed of the pieces with a model of the same rules and ids."""
        self.piece_ids, self._tables = other.piece_ids, other._tables

    def derived(self, factory: Callable[[BytePairs], T]) -> T:
        """Return ``factory(self)``, which depends on rules and ids alone: made once for all models that share them."""
        return cast("T", self._tables.get(self, factory, ()))

    # The rules; all merging pairs, if the rules do not determine them; and the tokens that no rule mentions.
    dictionary: Dictionary = _of_contents("dictionary")
    merges: Merges | None = _of_contents("merges")
    extra_tokens: tuple[Word, ...] = _of_contents("extra")

    @cached_property
    def capabilities(self) -> frozenset[str]:  # type: ignore[override]
        """The members of "rules", "leftmost", "bytes" and "letters" that it has."""
        is_bytewise, is_leftmost = self.dictionary.alphabet.kind == "bytes", self._contents.format in LEFTMOST_FORMATS
        has = {"rules": True, "bytes": is_bytewise, "leftmost": is_leftmost, "letters": self.spells_bytes}
        return frozenset(name for name, is_there in has.items() if is_there)

    @cached_property
    def token_to_id(self) -> Int32Array:
        """The id of each token, -1 for a token without one."""
        ids = self._contents.ids
        ids.setflags(write=False)
        return ids

    @cached_property
    def id_to_token(self) -> Int32Array:
        """The number of the token of each id, -1 for special tokens and unused ids."""
        special_ids = [special.id for special in self._contents.specials if not special.is_mistaken]
        largest = max([int(self.token_to_id.max(initial=-1)), *special_ids])
        numbers: Int32Array = np.full(largest + 1, -1, dtype=np.int32)
        has_id = np.flatnonzero(self.token_to_id >= 0).astype(np.int32)
        numbers[self.token_to_id[has_id]] = has_id
        numbers[special_ids] = -1
        numbers.setflags(write=False)
        return numbers

    @property
    def is_token(self) -> BoolArray:
        return self.id_to_token >= 0

    @property
    def unknown_id(self) -> int | None:  # type: ignore[override]
        """The id of unknown symbols; None if they get none."""
        fallback = self._contents.fallback
        (id,) = self._ids_of((None if fallback is None else fallback.unknown,))
        return None if id < 0 else id

    @property
    def byte_ids(self) -> tuple[int, ...] | None:  # type: ignore[override]
        """The ids of the bytes that an unknown symbol becomes, -1 for none; None if it does not become bytes."""
        fallback = self._contents.fallback
        return None if fallback is None or fallback.bytes is None else self._ids_of(fallback.bytes)

    def _ids_of(self, symbols: Iterable[str | None]) -> tuple[int, ...]:
        """Return the ids of symbols of the alphabet, which come before all other tokens; -1 for others."""
        alphabet = self.dictionary.alphabet
        letters = alphabet.letters if alphabet.kind != "bytes" else ()
        number_of = {letter: number for number, letter in enumerate(letters)}
        return tuple(int(self.token_to_id[number_of[each]]) if each in number_of else -1 for each in symbols)

    @property
    def sizes(self) -> dict[str, int]:
        return {"rules": len(self.dictionary)}

    # Its automata

    @property
    def dfa(self) -> CompactTokenDFA:
        """The token DFA of the dictionary, over its token numbers; ImproperDictionaryError if that is not proper."""
        return self.derived(BytePairs._dfa)

    def _dfa(self) -> CompactTokenDFA:
        from tokdfa.automata.compact import CompactTokenDFA

        return CompactTokenDFA(self.dictionary)

    @property
    def transducer(self) -> OnePass:
        """The function T^D of the dictionary, from words to token numbers; ImproperDictionaryError as for `dfa`."""
        return self.piece_ids.one_pass

    @property
    def pair_automaton(self) -> PairAutomaton:  # type: ignore[override]
        """The automaton of the rules, accessed by ids."""
        from tokdfa.tokenizers.neighbours import PairAutomaton

        return PairAutomaton(self)

    @property
    def proper_part(self) -> ProperPart:
        """The proper part of the dictionary, and where merging differs from it; see :func:`proper_part`."""
        from tokdfa.tokenizers.neighbours import proper_part

        return self.derived(proper_part)

    @property
    def neighbours(self) -> Neighbours:
        """The tokens that merging gives, and those that each forbids after it; see :func:`neighbours`."""
        from tokdfa.tokenizers.neighbours import neighbours

        return self.derived(neighbours)

    @property
    def proper_dictionary(self) -> Dictionary | None:  # type: ignore[override]
        """The proper dictionary, its rules in the order of the file, that merges as the model does; None without."""
        if self.dictionary.properness():
            return self.dictionary
        return self.proper_part.dictionary if self.proper_part.is_everything else None

    # Its tokens

    @cached_property
    def whole_piece_tokens(self) -> Int32Array:
        """The tokens that are given only for whole pieces, because merging does not make them; ascending."""
        whole = self.piece_ids.whole_words.items()
        numbers = [number for word, number in whole if not isinstance(word, bytes) or is_utf8(word)]
        return np.array(numbers, dtype=np.int32)

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

    def token(self, number: int) -> Word:
        """Return the word of a token number; of a token that nothing can spell, its bytes."""
        words = self.piece_ids.words
        return words[number] if number < len(words) else self._foreign[number - len(words)]

    @property
    def strings(self) -> list[str]:
        """The spelling of each id in its file, for a dictionary over characters."""
        words = self.piece_ids.words
        # Symbols but the first have the prefix.
        skip = len(self.prefix or "")
        symbols = cast("Iterable[tuple[str, ...]]", words if skip else ())
        of_word = ["".join((word[0], *(symbol[skip:] for symbol in word[1:]))) for word in symbols] or words.texts
        return [of_word[number] if number >= 0 else "" for number in self.id_to_token.tolist()]

    def id_mask(self, allowed: BoolArray) -> BoolArray:
        """Return the mask over ids for a mask over the tokens of the dictionary; special tokens are not allowed."""
        n_tokens = len(self.dictionary.alphabet)
        if len(allowed) != n_tokens:
            what, hint = "a mask must have one entry for each token", f"{n_tokens} tokens"
            raise AlphabetError(what, value=len(allowed), hint=hint)
        mask = np.zeros(len(self.id_to_token), dtype=np.bool_)
        ids = self.token_to_id[:n_tokens]
        mask[ids[ids >= 0]] = allowed[ids >= 0]
        return mask

    @property
    def spellings(self) -> Spellings:
        """The bytes of all tokens, by token number; the suffix, if any, is a space."""
        return self.derived(BytePairs._spellings)

    def _spellings(self) -> Spellings:
        words = self.piece_ids.words
        if not isinstance(words, ByteTokens):
            is_bytewise = "bytes" in self.capabilities
            spelled = cast("Iterable[bytes]", words) if is_bytewise else map(self._bytes_of, words.texts)
            return spellings([*spelled, *self._foreign])
        every = words.spelled_with(*spellings(self._foreign))
        for array in every:
            array.setflags(write=False)
        return every

    def _bytes_of(self, text: str) -> bytes:
        if self.suffix and text.endswith(self.suffix):
            return self._read(text.removesuffix(self.suffix)) + b" "
        return self._read(text)

    def id_spellings(self, tokenizer: Tokenizer) -> Spellings:
        text, offsets = self.spellings
        numbers = self.id_to_token.copy()
        specials = [special for special in tokenizer.specials if not special.is_mistaken]
        if specials:
            contents = spellings([special.text.encode() for special in specials])
            numbers[[special.id for special in specials]] = np.arange(len(specials)) + len(offsets) - 1
            text = np.concatenate((text, contents.text))
            offsets = np.concatenate((offsets, contents.offsets[1:] + offsets[-1]))
        spelled, lengths = spell(text, offsets, numbers)
        spelled.setflags(write=False)
        offsets = running_sum(lengths)
        offsets.setflags(write=False)
        return Spellings(spelled, offsets)

    @cached_property
    def _ends_word(self) -> BoolArray:
        """For each id, whether its last byte is the space after a word, which the last word of a text does not have."""
        ends = [str(word[-1]).endswith(self.suffix or "\0") for word in self.piece_ids.words]
        return np.array([number >= 0 and ends[number] for number in self.id_to_token.tolist()])

    def spelled(self, tokenizer: Tokenizer) -> Spelled:
        from tokdfa.tokenizers.spelled import Spelled, spelled_by_steps, spelled_with_suffix

        steps = tokenizer.rewriting.decoding
        if steps is not None:
            return spelled_by_steps(tokenizer.token_strings, steps, tokenizer.format)
        if self.suffix is None:
            return Spelled(tokenizer.id_spellings)
        # The space after the last word is not there.
        return spelled_with_suffix(tokenizer.id_spellings, self._ends_word)

    def decoder(self, tokenizer: Tokenizer) -> Decoder:
        """Return the decoder, which spells all ids at once if it does more than concatenate their spellings."""
        steps, known = tokenizer.rewriting.decoding, (tokenizer.id_spellings, tokenizer.means_something)
        if steps is not None:
            return WholeDecoder(*known, tokenizer.strings, steps)
        return Decoder(*known, None if self.suffix is None else self._ends_word)

    def ends(self, tokenizer: Tokenizer, text: str, canonical: Int32Array, *, begins: bool) -> Ends | None:
        """Return the ends of canonical ids in a text, which is brought into the form first, if there is one."""
        form = tokenizer.form
        again = None if form is None else self.decoded(tokenizer, canonical, begins=begins)
        if form is None or again is None:
            return super().ends(tokenizer, text, canonical, begins=begins)
        return ends_before_normalizing(text, form, tokenizer.added_tokens, again)

    def word_of(self, tokenizer: Tokenizer, id: int) -> Word:
        """Return the spelling of an id in its file where texts are rewritten, and its bytes elsewhere."""
        is_named = None in (tokenizer.why_not("spelling"), tokenizer.why_not("bytes"))
        return tokenizer.name_of(id) if is_named else tokenizer.token_strings[id]

    # Texts

    direct = staticmethod(byte_pair_texts.direct)
    encode = staticmethod(byte_pair_texts.encode)
    encode_side_by_side = staticmethod(byte_pair_texts.encode_side_by_side)

    def stream(self, tokenizer: Tokenizer) -> EncodingStream:
        from tokdfa.tokenizers.encoding.stream import HeldStream, SettlingStream, encode_from

        if tokenizer.why_not("spelling") is None:
            return SettlingStream(tokenizer)
        later = tokenizer.later
        return HeldStream(
            lambda text, byte: encode_from((later if byte else tokenizer).encode, text, byte),
            tokenizer.boundaries.last_cut,
        )

    def boundaries(self, tokenizer: Tokenizer) -> Boundaries:
        from tokdfa.tokenizers.boundaries.characters import CharacterBoundaries, why_none
        from tokdfa.tokenizers.boundaries.texts import TextBoundaries

        read = tokenizer.read_in_form
        if read is not None:
            return TextBoundaries(tokenizer, *read)
        is_spelled = tokenizer.why_not("spelling") is None
        why = "its symbols are not the bytes of UTF-8" if is_spelled else why_none(tokenizer)
        # Of a twin, because a tokenizer that its own parts refer to is freed only by the garbage collector.
        return Boundaries(why) if why is not None else CharacterBoundaries(tokenizer.twin(), tokenizer.continued)

    # Description

    def facts(self, tokenizer: Tokenizer) -> dict[str, Any]:
        from tokdfa.tokenizers.facts import facts_of

        return facts_of(tokenizer)

    def fingerprint_parts(self, tokenizer: Tokenizer) -> dict[str, str]:
        from tokdfa.tokenizers.fingerprint import parts_of_byte_pairs

        return parts_of_byte_pairs(tokenizer)

    def made_of(self, tokenizer: Tokenizer) -> tuple[object, ...]:
        merges = () if self.merges is None else self.merges
        arrays = (*self.spellings, self.token_to_id, self.dictionary.left, self.dictionary.right, *merges)
        settings = (
            self.dictionary.alphabet.kind,
            self.dictionary.alphabet.n_symbols,
            self._settings,
            bool(tokenizer.found_specials),
            tuple((each.id, each.content, each.level, each.is_mistaken) for each in tokenizer.specials),
            (tokenizer.splitting, tokenizer.splitting.table),
            None if tokenizer.why_not("spelling") is None else (tokenizer.specials, tokenizer.rewrites),
        )
        return (*(array.astype(np.int64).tobytes() for array in arrays), repr(settings))
