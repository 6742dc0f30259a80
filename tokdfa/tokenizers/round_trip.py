"""From ids to text and back: the ids that a tokenizer gives for the text of ids, and where that text is cut."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import TokenStreamError
from tokdfa.kernels.walk.differences import ends_but_for_spaces
from tokdfa.regex.unicode.normalization import Form
from tokdfa.regex.unicode.quick_check import Change, changes, in_form
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoder import Decoded

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoder import Decoder, SpelledTexts
    from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
    from tokdfa.tokenizers.encoding.batches import EncodedDocuments
    from tokdfa.tokenizers.models.model import Model
    from tokdfa.tokenizers.models.unigram.lattice import RecordedText
    from tokdfa.tokenizers.models.unigram.segmenter import Before, WrongWords
    from tokdfa.tokenizers.protocol import AnyTokenizer

_NO_BOUNDARIES = Boundaries("streams are judged without")

Ends: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]


class RoundTrip:
    """The way in which a tokenizer decodes ids and encodes their text again, and where it cuts that text.

    Methods that depend on the text before the ids take `begins`: whether the text begins with them. The ids after a
    boundary of `boundaries` are decoded and encoded separately, with ``begins=False``. `before` is the effect of the
    text before a boundary on sums of scores.
    """

    def __init__(self, tokenizer: AnyTokenizer, model: Model, before: Before | None = None) -> None:
        self._tokenizer = tokenizer
        self._model = model
        self._before = before

    @property
    def takes_longest(self) -> bool:
        """Whether the tokenizer takes the longest match instead of merging."""
        return self._model.takes_longest

    @property
    def mark(self) -> tuple[int, str] | None:
        """An id that is the only one of its text, and spells the same letters next to any others; None without one."""
        return self._tokenizer.derived(_mark)

    @property
    def cuts(self) -> BoolArray:
        """For each id, whether it belongs to a special token that `encode` never gives, so that it splits a stream."""
        return self._tokenizer.derived(_cuts)

    @cached_property
    def boundaries(self) -> Boundaries:
        """The boundaries at which streams are judged in parts."""
        is_spelled = self._tokenizer.why_not("spelling") is None
        return _NO_BOUNDARIES if is_spelled else self._tokenizer.boundaries

    def decode(self, ids: Int32Array, *, begins: bool = True) -> Decoded:
        """Return the text of ids, and the end of each id's part, in bytes; TokenStreamError if they are not UTF-8."""
        return self._decoder(begins).text_of(ids)

    def _decoder(self, begins: bool) -> Decoder:
        decoder = self._tokenizer.decoder
        return decoder if begins else decoder.later

    def spelled(self, ids: Int32Array) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids, which need not be UTF-8, and for each id the end of its bytes.

        The end is within a symbol where a token is a byte of one.
        """
        from tokdfa.tokenizers.spelled import ends_by_position

        data, ends = self._tokenizer.decode_bytes(ids), self._tokenizer.derived(ends_by_position).of(ids)
        # Where more than the position of an id decides, these may not be ends in the text.
        return data, ends if ends[-1:].sum() == len(data) else self.decode(ids).ends

    def encode(self, text: str, *, begins: bool = True) -> Int32Array:
        """Return the ids of a text to which ids decode, dropping symbols without a token if the library does so.

        AlphabetError is raised if the text has such a symbol, and the library does not leave it out or is not known.
        """
        return self._model.encode_on(self._at(begins), text, self._before, begins=begins)[0]

    def encode_with_ends(self, text: str) -> tuple[Int32Array, Int64Array]:
        """Return the ids of a text and their ends in it, in bytes, in one pass; only if the longest match is taken."""
        return self._model.encode_with_ends(self._tokenizer, text)

    def encode_on(self, text: str, *, begins: bool = True) -> tuple[Int32Array, RoundTrip]:
        """Return the ids of a text, and the round trip of the text after it, if the text is cut there."""
        ids, before = self._model.encode_on(self._at(begins), text, self._before, begins=begins)
        return ids, self.after(before)

    def spell_texts(self, ids: Int32Array, bounds: Int64Array, *, begins: bool = True) -> SpelledTexts | None:
        """Return the bytes of several texts at once; see :meth:`Decoder.spell_texts`."""
        return self._decoder(begins).spell_texts(ids, bounds)

    def encode_texts(self, texts: list[str], *, begins: bool = True) -> EncodedDocuments | None:
        """Return the ids of several texts, as by `encode`; None if it cannot be done at once, or one is refused."""
        # The sums of scores of texts after a boundary are found only one by one.
        if self._before is not None or not (begins or self._tokenizer.why_not("rules") is None):
            return None
        return self._at(begins).encode_together(texts)

    def accept(self, ids: Int32Array, *, begins: bool = True) -> tuple[int, RoundTrip] | None:
        """Return the number of bytes that canonical ids add to a text, and the round trip of the text after them.

        None if they are not canonical, or if this does not decide it.
        """
        found = self._model.accept(self._tokenizer, ids, self._before, begins=begins)
        return None if found is None else (found[0], self.after(found[1]))

    @property
    def checks_words(self) -> bool:
        """Whether streams are judged word by word."""
        return self._tokenizer.acceptor is not None

    @property
    def word_sizes(self) -> Int64Array:
        """The number of bytes that each id adds to a text that has begun; -1 if that depends on others."""
        acceptor = self._tokenizer.acceptor
        assert acceptor is not None
        return acceptor.sizes

    def wrong_words(self, ids: Int32Array, *, begins: bool = True) -> tuple[int, int, RoundTrip, WrongWords]:
        """Return the number of the first ids that are judged, the bytes of their text, the round trip of the rest.

        And which of their words are not canonical, only if streams are judged word by word. If not all ids are judged,
        the text before the others is cut, and the rest has no text or is refused.
        """
        n, size, before, words = self._model.wrong_words(self._tokenizer, ids, self._before, begins=begins)
        return n, size, self.after(before), words

    def recorded(self, text: str, *, begins: bool = True) -> RecordedText | None:
        """Return the sums of scores in a text that `encode` takes; None if its ids do not depend on scores."""
        return self._model.recorded(self._tokenizer, text, self._before, begins=begins)

    def ends(self, canonical: Int32Array, decoded: Decoded, *, begins: bool = True) -> Ends | None:
        """Return, for each canonical id, its end in the text that was encoded; None if they have another text.

        An end that is nowhere in that text is not a whole number.
        """
        return self._model.ends(self._tokenizer, decoded.text, canonical, begins=begins)

    def spelling(self, id: int) -> Word:
        """Return an id as a word for people to read."""
        return self._model.word_of(self._tokenizer, id)

    def detected(self, ids: Int32Array, start: int, stop: int) -> int:
        """Return the token at which the ids from `start` to `stop` are (practically) known to be wrong."""
        return self._model.detected(self._tokenizer, ids, start, stop)

    def _at(self, begins: bool) -> AnyTokenizer:
        """Return the tokenizer of a text, or of one after a boundary."""
        return self._tokenizer if begins or self.boundaries is _NO_BOUNDARIES else self._tokenizer.later

    def after(self, before: Before | None) -> RoundTrip:
        """Return the round trip after a text with an effect on later text, or with none."""
        return self if before is None else RoundTrip(self._tokenizer, self._model, before)


def ends_in(text: str, other: Decoded) -> Int64Array | None:
    """Return the ends of ids in a text, given their own text, which may have more or fewer spaces; None for others.

    So the ids of "␣a␣b" that have a space put before the text, 1 2 3 4, end at 0 1 2 3 in "a␣b".
    """
    if other.text == text:
        return other.ends
    return ends_but_for_spaces(text.encode("utf-8"), other.text.encode("utf-8"), other.ends)


def ends_before_normalizing(text: str, form: Form, added: AddedTokens, other: Decoded) -> Ends | None:
    """Return the ends of ids in a text that was brought into a form, and is the text of the ids then; None for others.

    They are the ends in the text before that; half a byte after the beginning of a changed segment for ends within it.
    The added tokens that are found before the text is normalized stay as they are: in "é<é>" in NFD, "<é>" does.
    """
    data = text.encode("utf-8")
    kept = None if added.outer_finder is None else added.outer_finder.find(data)
    changed = [*changes(data, form, kept)]
    ends = ends_in(in_form(data, form, kept).tobytes().decode("utf-8"), other)
    return None if ends is None else _before_changes(ends, changed)


def _before_changes(ends: Int64Array, changed: list[Change]) -> Ends:
    """Return where ends in a changed text are in the text before."""
    if not changed:
        return ends
    begins, stops = (np.array([getattr(change, name) for change in changed]) for name in ("begin", "end"))
    sizes = np.array([len(change.normalized.encode("utf-8")) for change in changed])
    grown = np.cumsum(sizes - (stops - begins))
    # Changed segment i ends at ``stops[i] + grown[i]`` in the text after; all up to it have added ``grown[i]`` bytes.
    index = np.searchsorted(stops + grown, ends, side="right")
    found: npt.NDArray[np.float64] = (ends - np.append(0, grown)[index]).astype(np.float64)
    following = np.minimum(index, len(changed) - 1)
    inside = (index < len(changed)) & (found > begins[following])
    found[inside] = begins[following[inside]] + 0.5
    return found


def _mark(tokenizer: AnyTokenizer) -> tuple[int, str] | None:
    decoder, specials = tokenizer.decoder.later, {*tokenizer.special_ids.tolist()}
    for id in np.flatnonzero(tokenizer.means_something).tolist():
        if id in specials:
            continue
        try:
            text = decoder.text_of(np.array([id], dtype=np.int32)).text
        except TokenStreamError:
            continue
        # A token of one letter may be read as a byte.
        if len(text) > 1 and text.isascii() and text.isalpha():
            return id, text
    return None


def _cuts(tokenizer: AnyTokenizer) -> BoolArray:
    cuts: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
    cuts[tokenizer.special_ids] = not tokenizer.found_specials
    cuts.setflags(write=False)
    return cuts
