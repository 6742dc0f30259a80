"""Tokenizers that change a text before they encode it, or that do more than concatenate the spellings of ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.encoding.special import Special
from tokdfa.encoding.texts import check_text
from tokdfa.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.splitting.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.character_cuts import CharacterCuts, why_not_cut
from tokdfa.tokenizers.decoded import Decoded
from tokdfa.tokenizers.decoder import Decoder, WholeDecoder
from tokdfa.tokenizers.decoding import StripWhole, later_step
from tokdfa.tokenizers.form_cuts import FormCuts
from tokdfa.tokenizers.formats.contents import Contents, Rewriting
from tokdfa.tokenizers.normalizers import Chain, UnicodeForm
from tokdfa.tokenizers.round_trip import RewritingRoundTrip, RoundTrip
from tokdfa.tokenizers.spelled import Spelled
from tokdfa.tokenizers.spelled_by_steps import spelled_by_steps
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.unicode.quick_check import is_normal

if TYPE_CHECKING:
    from tokdfa.encoding.stream import EncodingStream
    from tokdfa.unicode.normalization import Form

__all__ = ["RewritingTokenizer"]


_SURROGATE = re.compile("[\ud800-\udfff]")


class RewritingTokenizer(Tokenizer):
    """A tokenizer with a normalizer, a decoder of several steps, replacements of unknown symbols, or the like.

    It does not encode the text itself, so ids are canonical if they are those of the text to which they *decode*,
    whatever text they came from.

    Attributes
    ----------
    rewriting : Rewriting
    """

    def __init__(self, contents: Contents, pretokenizer: PreTokenizer | None = None) -> None:
        super().__init__(contents, pretokenizer)
        self._strings = _Strings(self)
        self.rewriting = contents.rewriting or Rewriting()
        self._first_normalizer = self.rewriting.normalizer
        self._continues = False

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
        if self.form is not None and not self._continues and self._is_in_form(text):
            return self.unnormalized.encode(text)
        surrogate = None if text.isascii() else _SURROGATE.search(text)
        if surrogate is not None:
            where = f"character {surrogate.start()}"
            raise AlphabetError("half of a surrogate pair", value=surrogate.group(), where=where)
        stretches = [*self.stretches(text)]
        together = None if self._continues else self.encode_stretches(stretches)
        if together is not None:
            return together
        parts: list[Int32Array] = [np.empty(0, dtype=np.int32)]
        for stretch, begins in stretches:
            if isinstance(stretch, Special):
                parts.append(np.array([stretch.id], dtype=np.int32))
            elif begins and self._continues:
                parts.append(self._without_prefix.encode_stretch(stretch, begins=False))
            else:
                parts.append(self.encode_stretch(stretch, begins=begins))
        return np.concatenate(parts)

    def encode_side_by_side(self, texts: list[str], n_threads: int) -> None:
        """Return None: each text is rewritten by itself."""

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
        twin = Tokenizer(self._contents, pretokenizer(split))
        twin.piece_ids = self.piece_ids
        return twin

    @cached_property
    def leaving_out(self) -> Self | None:
        """A tokenizer that drops symbols without a token, if the library does so; otherwise None."""
        dropping = super().leaving_out
        return cast("Self", dropping.later) if dropping is not None and self._continues else dropping

    def stretches(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        """Yield special tokens and the normalized stretches between them, and whether each begins the text."""
        return self.added_tokens.stretches(text, self.rewriting.normalizer, self._first_normalizer)

    def stream(self) -> EncodingStream:
        """Return a stream that takes a text part by part.

        It returns ids up to the last place where the text is certainly cut; all of them at the end if none are known.
        """
        from tokdfa.encoding.stream import CutStream, HeldStream

        cuts = self.cuts
        if cuts is None:
            return HeldStream(lambda text, _: self.encode(text))
        later = self if self.character_cuts is None else self.later
        return CutStream(self.encode, later.encode, cuts.is_cut)

    # Where normalizing is the identity

    @cached_property
    def form(self) -> Form | None:
        """The normalization form that texts are brought into, if nothing else is done to them; None otherwise.

        Ids of a text in that form are those of `unnormalized`. Texts that are not come from no canonical ids.
        """
        if self.read_in_form is None or not all(special.is_plain for special in self.specials):
            return None
        return self.read_in_form[1]

    @cached_property
    def read_in_form(self) -> tuple[Tokenizer, Form | None] | None:
        """See :attr:`Tokenizer.read_in_form`."""
        rewriting, *others = self.rewrites
        if not self.is_bytewise or any(others) or (rewriting is not None and rewriting.decoding is not None):
            return None
        form: Form | None = None
        if rewriting is not None and rewriting.normalizer is not None:
            steps = rewriting.normalizer.steps if isinstance(rewriting.normalizer, Chain) else ()
            if len(steps) != 1 or not isinstance(steps[0], UnicodeForm):
                return None
            form = steps[0].form
        twin = Tokenizer(replace(self._contents, rewriting=None), self.pretokenizer)
        twin.piece_ids = self.piece_ids
        return twin, form

    @property
    def unnormalized(self) -> Tokenizer:
        """The tokenizer without the normalizer, if there is a `form`."""
        assert self.read_in_form is not None
        return self.read_in_form[0]

    def _is_in_form(self, text: str) -> bool:
        """Return whether normalizing a text, or any part of it, gives it back."""
        assert self.form is not None
        if text.isascii():
            return True
        try:
            return is_normal(text.encode("utf-8"), self.form)
        except UnicodeEncodeError:
            return False

    # Where every text is cut

    @cached_property
    def later(self) -> RewritingTokenizer:
        """The tokenizer for the text after a place of `cut_between`: it does nothing to the beginning of a text."""
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

    def _twin(self) -> RewritingTokenizer:
        """Return a tokenizer that does the same, and does not refer to this one."""
        twin = RewritingTokenizer(self._contents, self.pretokenizer)
        twin.rewriting = self.rewriting
        twin._first_normalizer = self._first_normalizer
        twin._continues = self._continues
        twin._strings = self._strings
        twin.piece_ids = self.piece_ids
        return twin

    @cached_property
    def cuts(self) -> CharacterCuts | FormCuts | None:
        """The places where texts are certainly cut; None if none are known."""
        return self.form_cuts or self.character_cuts

    @cached_property
    def form_cuts(self) -> FormCuts | None:
        """The places where texts that are only brought into a form are certainly cut; None if none are known."""
        twin, form = self.read_in_form or (None, None)
        if twin is None or form is None or twin.pretokenizer is None:
            return None
        return FormCuts(twin, form)

    @cached_property
    def character_cuts(self) -> CharacterCuts | None:
        """The places where texts over characters are certainly cut; None if none are known."""
        if self.form_cuts is not None or self.why_not_cut is not None:
            return None
        # Of a twin, because a tokenizer that its own parts refer to is freed only by the garbage collector.
        return CharacterCuts(self._twin(), self.later)

    @cached_property
    def why_not_cut(self) -> str | None:
        """Why no place of a text is known to be cut, so that streams are judged as a whole; None if some are."""
        if self.form_cuts is not None:
            return None
        return "nothing splits the text" if self.form is not None else why_not_cut(self)

    def cut_between(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        """Return, for each id but the first, whether the text before it and the text from it on are encoded separately.

        See :class:`CharacterCuts` and, for tokenizers that only bring texts into a form, :class:`FormCuts`.
        """
        if self.cuts is None:
            return np.zeros(max(len(ids) - 1, 0), dtype=np.bool_)
        return self.cuts.between(ids, begins=begins, ends=ends)

    @property
    def token_strings(self) -> list[str]:
        """The spelling of each id in its file."""
        return self._strings.of_ids

    def token_string(self, id: int) -> str | bytes:
        """Return the spelling of an id: in the file, or its bytes."""
        if self.is_bytewise:
            text, offsets = self.id_spellings
            return text[offsets[id] : offsets[id + 1]].tobytes()
        return self.token_strings[id]

    def decode(self, ids: npt.ArrayLike) -> str:
        """Return the text that `ids` spell, special tokens included if the decoder includes them."""
        return self.decode_with_ends(ids).text

    def decode_with_ends(self, ids: npt.ArrayLike) -> Decoded:
        """Return the text that `ids` spell, and for each id the end, in bytes, of what it adds.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one means nothing, or their bytes are not UTF-8; the error
            says which token, and which byte.
        """
        decoder = self.decoder
        checked = decoder.check(ids)
        if isinstance(decoder, WholeDecoder):
            return decoder.text_of(checked)
        return Decoded("".join(decoder.iter_text([checked])), self.ends_of(checked))

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

    @property
    def round_trip(self) -> RoundTrip:
        """What decodes ids and encodes their text again."""
        return RewritingRoundTrip(self)

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder, which spells all ids at once if it does more than concatenate their spellings."""
        steps = self.rewriting.decoding
        if steps is None:
            return super().decoder
        return WholeDecoder(self.id_spellings, self.means_something, self._strings, steps)

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


class _Strings:
    """The spellings of ids in the file, made when they are first asked for, without a reference to the tokenizer."""

    def __init__(self, tokenizer: RewritingTokenizer) -> None:
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
