"""From ids to text where more than one id decides what is spelled: all of a stream at once, by steps or by bytes."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, running_sum
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.kernels.spelling.spell import spell
from tokdfa.kernels.walk.neighbours import are_broken
from tokdfa.tokenizers.decoder import Decoded, Decoder, SpelledTexts, Spellings, check_errors

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoding import DecodeStep
    from tokdfa.tokenizers.encoding.special import Special
    from tokdfa.tokenizers.models.model import Model
    from tokdfa.tokenizers.spelled import IdTexts
    from tokdfa.tokenizers.step_states import StepStates

_OTHER = "x"
"""A token that is not read as a byte."""

_FEW = 64
"""Fewer ids are read by the steps of a decoder in less time than by their bytes."""

_MOST_LEADING = 8
"""At most so many of the first ids of a text may be such that a decoder removes all of them."""


class WholeDecoder(Decoder):
    """A decoder that spells all ids of a stream at once: `steps` make a text from their strings in the file."""

    def __init__(
        self, spelled: Spellings, meaning: BoolArray, strings: StringsOfIds, steps: tuple[DecodeStep, ...]
    ) -> None:
        super().__init__(spelled, meaning)
        self._strings = strings
        self._steps = steps
        self._n_read = 0
        self._removed: dict[bytes, int] = {}

    def text_of(self, ids: Int32Array) -> Decoded:
        spelled = self._spelled_for(len(ids))
        if spelled is None or len(ids) < _FEW or self.splits_characters(ids):
            return self._by_steps(ids)
        return self._by_bytes(ids, spelled)

    def _spelled_for(self, n_ids: int) -> Spellings | None:
        """Return the bytes of each id where it does not begin a text; None if so many ids are read faster by steps."""
        self._n_read += n_ids
        # The bytes of all ids take as long as reading so many of them by the steps. The decoder of later text shares
        # them.
        texts = self._strings.texts
        return texts.spelled if "spelled" in vars(texts) or self._n_read > len(self._meaning) else None

    def spell_texts(self, ids: Int32Array, bounds: Int64Array) -> SpelledTexts | None:
        spelled = self._spelled_for(len(ids))
        if spelled is None or self.splits_characters(ids):
            return None
        data, lengths = spell(*spelled, ids)
        if self._steps == tuple(self._later):
            return SpelledTexts(data, np.cumsum(lengths), np.zeros(len(bounds) - 1, dtype=np.int64))
        leading = (ids[begin : min(begin + _MOST_LEADING, end)] for begin, end in pairwise(bounds.tolist()))
        removed = [self._removed_from(each, spelled) for each in leading]
        return SpelledTexts(data, np.cumsum(lengths), np.array(removed, dtype=np.int64))

    @cached_property
    def _is_silent(self) -> BoolArray | None:
        """For each id, whether it has no text and is not read as a byte; None if none in use is so."""
        texts = self._strings.texts
        is_byte = texts.ends[2]
        silent: BoolArray = (texts.sizes == 0) & ~is_byte
        return silent if is_byte.any() and silent[np.flatnonzero(self._meaning)].any() else None

    def splits_characters(self, ids: Int32Array) -> bool:
        """Return whether an id without text comes after a byte token, where it ends the run of these.

        The bytes of the ids may then be UTF-8, but are replaced.
        """
        if self._is_silent is None:
            return False
        silent = np.flatnonzero(self._is_silent[ids[1:]])
        return bool(self._strings.texts.is_high[ids[silent]].any())

    def _removed_from(self, ids: Int32Array, spelled: Spellings) -> int:
        """Return how many bytes are removed from a text that begins with these ids; -1 if more of them decide that."""
        texts = self._strings.texts
        n = int(np.argmin(np.append(texts.is_blank[ids], False))) + 1
        if n > len(ids) or texts.is_high[ids[n - 1]]:
            return -1
        first = ids[:n].tobytes()
        removed = self._removed.get(first)
        if removed is None:
            usual = spell(*spelled, ids[:n])[0].tobytes()
            left = self._by_steps(ids[:n]).text.encode("utf-8")
            removed = self._removed[first] = len(usual) - len(left) if usual.endswith(left) else -1
        return removed

    def _by_steps(self, ids: Int32Array) -> Decoded:
        from tokdfa.tokenizers.decoding import decode_tokens

        strings = self._strings.of_ids
        return decode_tokens([strings[id] for id in ids.tolist()], self._steps)

    def _by_bytes(self, ids: Int32Array, spelled: Spellings) -> Decoded:
        """Return the text of ids, given the bytes of each where it does not begin a text."""
        begin = self._n_first(ids)
        first, ids = self._by_steps(ids[:begin]), ids[begin:]
        spelling, lengths = spell(*spelled, ids)
        data = spelling.tobytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            data = self._replaced(data, lengths, ids)
            text = data.decode("utf-8")
        ends = np.cumsum(lengths)
        # A symbol spelled by several bytes belongs to the last of them.
        within = np.flatnonzero(self._strings.texts.is_high[ids])
        spelling = np.frombuffer(data, dtype=np.uint8)
        while len(within):
            within = within[ends[within] < len(data)]
            within = within[spelling[ends[within]] & 0xC0 == 0x80]
            ends[within] -= 1
        return Decoded(first.text + text, np.concatenate((first.ends, ends + first.ends[-1:].sum())))

    def _n_first(self, ids: Int32Array) -> int:
        """Return the number of first ids from which something may be removed, with the run of bytes there."""
        is_blank, (_, _, is_byte) = self._strings.texts.is_blank, self._strings.texts.ends
        size = _FEW
        while size < len(ids) and is_blank[ids[:size]].all():
            size *= 8
        begin = int(np.argmin(np.append(is_blank[ids[:size]], False)))
        if begin < len(ids) and is_byte[ids[begin]]:
            while begin + 1 < len(ids) and is_byte[ids[begin + 1]]:
                begin += 1
        return begin + 1

    def _replaced(self, data: bytes, lengths: Int64Array, ids: Int32Array) -> bytes:
        """Return the bytes of ids with runs of byte tokens that are not UTF-8 replaced, and set their lengths."""
        from tokdfa.tokenizers.decoding import decode_tokens

        strings, is_byte = self._strings.of_ids, self._strings.texts.ends[2][ids]
        runs = np.flatnonzero(np.diff(is_byte.view(np.int8), prepend=np.int8(0), append=np.int8(0))).reshape(-1, 2)
        bounds = running_sum(lengths)[runs]
        is_wrong = are_broken(data, bounds)
        wrong = [*zip(runs[is_wrong].tolist(), bounds[is_wrong].tolist(), strict=True)]
        # All of these runs at once, each between tokens of another kind.
        tokens = [""]
        for (low, high), _ in wrong:
            tokens += (*(strings[id] for id in ids[low:high].tolist()), _OTHER)
        text, ends = decode_tokens(tokens, self._later)
        read, sizes = text.encode("utf-8"), np.diff(ends)
        parts: list[bytes] = []
        at = token = 0
        for (low, high), (start, stop) in wrong:
            after = token + high - low
            lengths[low:high] = sizes[token:after]
            parts += (data[at:start], read[int(ends[token]) : int(ends[after])])
            at, token = stop, after + 1
        return b"".join((*parts, data[at:]))

    @cached_property
    def _later(self) -> list[DecodeStep]:
        return [later for step in self._steps if (later := step.later) is not None]

    @cached_property
    def later(self) -> WholeDecoder:
        """The decoder of the text after a boundary, without steps that remove something from its beginning."""
        later = copy(self)
        later._steps = tuple(self._later)
        later._removed = {}
        return later

    @property
    def states(self) -> StepStates:
        from tokdfa.tokenizers.step_states import StepStates

        return StepStates(self, self._strings, self._steps)

    def spells(self, n_ids: int) -> bool:
        """Return whether so many ids that follow others are read faster by their bytes than by the steps."""
        return self._spelled_for(n_ids) is not None

    def spell_later(self, ids: Int32Array, before: bytes) -> Uint8Array:
        """Return the bytes of checked ids that follow others, after some bytes; see `spells`.

        No run of byte tokens crosses the ends of the ids. If a run is not UTF-8, its bytes are not replaced.
        """
        spelled = self._strings.texts.spelled
        assert spelled is not None
        return spell(*spelled, ids, before)[0]

    def iter_text(self, chunks: Iterable[npt.ArrayLike], errors: str = "strict") -> Generator[str, None, None]:
        _check_replaced(errors)
        first = 0
        ids = [np.empty(0, dtype=np.int32)]
        for chunk in chunks:
            ids.append(self.check(chunk, first))
            first += len(ids[-1])
        yield self.text_of(np.concatenate(ids)).text

    def bytes_of(self, ids: npt.ArrayLike) -> bytes:
        return b"".join(self.iter_bytes([ids]))

    def string_of(self, ids: npt.ArrayLike, errors: str = "strict") -> str:
        _check_replaced(errors)
        return self.text_of(self.check(ids)).text

    def iter_bytes(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[bytes]:
        return (text.encode("utf-8") for text in self.iter_text(chunks))


def _check_replaced(errors: str) -> None:
    """Refuse another result for bytes that are not UTF-8 than U+FFFD, which these decoders make of them."""
    check_errors(errors)
    if errors not in ("strict", "replace"):
        what = "the decoder of this tokenizer replaces bytes that are not UTF-8 by U+FFFD, as its library does"
        raise UnsupportedFeatureError(what, value=errors, where="errors", hint="leave errors out")


class StringsOfIds:
    """The spellings of ids in a file, made when they are first asked for, without a reference to the tokenizer."""

    def __init__(self, model: Model, specials: Sequence[Special], steps: Sequence[DecodeStep]) -> None:
        self._of = (model, specials)
        self._steps = steps

    @cached_property
    def of_ids(self) -> list[str]:
        """The spelling of each id."""
        model, specials = self._of
        strings = model.strings
        strings += [""] * (1 + max((special.id for special in specials), default=-1) - len(strings))
        for special in specials:
            strings[special.id] = special.text
        return strings

    @cached_property
    def texts(self) -> IdTexts:
        """The string that each id adds to a text by the steps of the decoder."""
        from tokdfa.tokenizers.spelled import IdTexts

        return IdTexts(self.of_ids, self._steps)
