"""A real WordPiece tokenizer: normalizer, vocabulary, special tokens, ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.encoding.texts import check_bytes_or_text
from tokdfa.errors import AutomatonError
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.boundaries.words import SpacedBoundaries
from tokdfa.tokenizers.decoder import Decoder, Spellings, spellings
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import RoundTrip, WordPieceRoundTrip
from tokdfa.tokenizers.spelled import Spelled

if TYPE_CHECKING:
    from tokdfa.encoding.special import Special
    from tokdfa.encoding.stream import HeldStream
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
    from tokdfa.wordpiece.difference import SeparatingText
    from tokdfa.wordpiece.end_to_end import EndToEnd, Tokens
    from tokdfa.wordpiece.stream import StreamLanguage
    from tokdfa.wordpiece.trie import FailureTrie

__all__ = ["WordPieceTokenizer"]


class WordPieceTokenizer(AnyTokenizer):
    r"""A WordPiece tokenizer, as its file and the library of its format define it: from text to ids and back.

    Immutable; made by :func:`tokdfa.load`.

    Attributes
    ----------
    format : str
        The format of the file.
    vocabulary : WordPieceVocabulary
        The entries and their ids.
    normalizer : WordNormalizer
        The normalizer, applied before the text is split at white space and punctuation.
    specials : tuple of Special
        The special tokens, which are cut out of the raw text first.
    cleanup : bool
        Whether decoding removes spaces before punctuation.
    ignored : tuple of str
        What else the file asks for and `encode` leaves out: truncation, padding, special tokens at the ends.
    finds_specials : bool
        True: `encode` finds the specials in its text.
    pretokenizer : str
        What splits text into words, at white space and around punctuation: "BertPreTokenizer", or "llama.cpp".
    semantics : str
        "longest match": the longest entry first, from left to right.

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

    algorithm = "WordPiece"
    finds_specials = True
    is_plain = False
    semantics: Literal["longest match"] = "longest match"

    def __init__(self, contents: WordPieceContents) -> None:
        self._contents = contents
        self.format = contents.format
        self.vocabulary = contents.vocabulary
        self.normalizer = contents.normalizer
        self.specials = contents.specials
        self.cleanup = contents.cleanup
        self.ignored = contents.ignored
        self.library = contents.library
        is_berts = self.normalizer.library == "tokenizers"
        self.pretokenizer: Literal["BertPreTokenizer", "llama.cpp"] = "BertPreTokenizer" if is_berts else "llama.cpp"

    def __reduce__(self) -> tuple[type[Self], tuple[WordPieceContents]]:
        # The parts of a tokenizer. All else is computed from them on use, anew in each process and each copy.
        return type(self), (self._contents,)

    @cached_property
    def n_ids(self) -> int:
        """One more than the largest id."""
        return max(self.vocabulary.n_ids, 1 + max((special.id for special in self.specials), default=-1))

    @property
    def n_tokens(self) -> int:
        """The number of ids that are entries, not counting special ones."""
        return len({number for _, number in self.vocabulary.items()}.difference(self.special_ids.tolist()))

    @property
    def silent(self) -> frozenset[int]:
        """The ids that decoding leaves out."""
        return self._contents.silent

    @property
    def sizes(self) -> dict[str, int]:
        """The number of entries."""
        return {"entries": len(self.vocabulary)}

    def facts(self) -> dict[str, Any]:
        """Return the facts that ``tokdfa info`` prints, as JSON values by name."""
        from tokdfa.tokenizers.facts import facts_of_wordpiece

        return facts_of_wordpiece(self, self._contents.case)

    @cached_property
    def end_to_end(self) -> EndToEnd:
        """The engine that turns text into ids, in one pass."""
        from tokdfa.wordpiece.end_to_end import EndToEnd

        added = {special.content: special.id for special in self.specials}
        return EndToEnd(self.vocabulary, self.normalizer, added)

    @cached_property
    def trie(self) -> FailureTrie:
        """The trie of the vocabulary with failure links and pops."""
        from tokdfa.wordpiece.trie import FailureTrie

        return FailureTrie.of(self.vocabulary)

    @cached_property
    def language(self) -> StreamLanguage:
        """The automaton of canonical streams of ids.

        Raises
        ------
        AutomatonError
            If other tokens can spell a special one, decoding does not give a special one back, or words can begin with
            the prefix.
        """
        from tokdfa.wordpiece.stream import StreamLanguage

        for special in self.specials:
            if not all(spelled[special.id].endswith(special.content) for spelled in self._spelled):
                raise AutomatonError("decoding does not give a special token back", value=special.content)
        return StreamLanguage(
            self.vocabulary, self.normalizer, {special.content: special.id for special in self.specials}
        )

    def encode(self, text: str | bytes) -> Int32Array:
        """Return the ids of `text`, as an int32 array.

        Special tokens are found in it; none are added.

        Raises
        ------
        AlphabetError
            If the text is not valid Unicode, or has a word without a tokenization and there is no token for unknown
            words; the error says where.
        WrongTypeError
            If it is neither a string nor bytes.
        """
        check_bytes_or_text(text)
        return self.end_to_end.encode_ids(text)

    def stretches(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        """Yield the special tokens of a text and the normalized text between them, each with whether it is first."""
        return self.added_tokens.stretches(text, self.normalizer, self.normalizer)

    def stream(self) -> HeldStream:
        """Return a stream that takes a text part by part; words are settled by the space after them.

        If a special token contains white space, nothing is settled before the end.
        """
        from tokdfa.encoding.stream import HeldStream

        return HeldStream(self.end_to_end.encode_ids, self.boundaries.last_cut)

    def encode_with_offsets(self, text: str | bytes, unit: Literal["characters", "bytes"] = "characters") -> Tokens:
        """Return the ids of `text`, and the part of the text that each comes from; see :meth:`EndToEnd.encode`."""
        check_bytes_or_text(text)
        tokens = self.end_to_end.encode(text, unit)
        if not any(special.lstrip or special.rstrip for special in self.specials):
            return tokens
        from tokdfa.wordpiece.end_to_end import with_stripped

        return with_stripped(tokens, text, unit, self.specials)

    @cached_property
    def _spelled(self) -> tuple[list[str], list[str]]:
        """What each id adds to the text, after other ids and before all."""
        if self.vocabulary.opening:
            pieces = self._pieces
            return pieces, pieces
        behind, first = [""] * self.n_ids, [""] * self.n_ids
        entries = [(number, entry) for entry, number in self.vocabulary.items()]
        prefix = self.vocabulary.prefix
        for number, entry in (*entries, *((special.id, special.content) for special in self.specials)):
            first[number] = self._clean(entry)
            behind[number] = self._clean(entry[len(prefix) :] if entry.startswith(prefix) else f" {entry}")
        return behind, first

    @property
    def _pieces(self) -> list[str]:
        """What each id adds to the text if the entries have an opening: a space for each of these."""
        pieces = [""] * self.n_ids
        for entry, number in self.vocabulary.items():
            pieces[number] = entry.replace(self.vocabulary.opening, " ")
        for special in self.specials:
            pieces[special.id] = special.content
        for number in self.silent:
            pieces[number] = ""
        return pieces

    def _clean(self, text: str) -> str:
        for old, new in self._replacements:
            text = text.replace(old, new)
        return text

    @cached_property
    def _replacements(self) -> tuple[tuple[str, str], ...]:
        from tokdfa.tokenizers.decoding import CLEANUP

        return tuple(CLEANUP) if self.cleanup else ()

    @cached_property
    def id_spellings(self) -> Spellings:
        """The bytes that each id adds after others, those of special tokens included; empty for unused ids.

        For an id that begins a word this is a space and the word. Before all others it adds `first_spellings`.
        """
        return spellings([text.encode("utf-8") for text in self._spelled[0]])

    @cached_property
    def first_spellings(self) -> Spellings:
        """The bytes that each id adds before all others: its entry, including the prefix."""
        return spellings([text.encode("utf-8") for text in self._spelled[1]])

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder, which spells ids chunk by chunk."""
        return _StreamDecoder(self.id_spellings, self.means_something, self.first_spellings)

    def decode(self, ids: npt.ArrayLike) -> str:
        """Return the text of `ids`, as the decoder of the tokenizers library does, special tokens spelled out.

        Words are joined by single spaces, and pieces without their prefix. This is not always the text that was
        encoded, but it has the same ids if they were canonical.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one of them is not an id; the error says which.
        """
        return super().decode(ids)

    @cached_property
    def inner_decoder(self) -> Decoder:
        """The decoder for ids that follow others."""
        return Decoder(self.id_spellings, self.means_something)

    @property
    def spelled(self) -> Spelled:
        """What each id adds to the text of a stream: before all others without a space, including the prefix."""
        return Spelled(self.id_spellings, "first", self.first_spellings)

    def name_of(self, id: int) -> bytes:
        """Return the bytes by which readers know an id: its entry, including the prefix."""
        return self.spelling(id).encode("utf-8", "surrogatepass")

    @property
    def round_trip(self) -> RoundTrip:
        """What decodes ids and encodes their text again."""
        return WordPieceRoundTrip(self)

    @cached_property
    def cuts_before(self) -> BoolArray:
        """For each id, whether the text is cut before it, because decoding inserts a space there.

        None is if a special token contains white space, which may be spelled across such a place.
        """
        text, offsets = self.id_spellings
        opens = np.append(text, np.uint8(0))[offsets[:-1]] == ord(" ")
        found: BoolArray = opens & (self.id_lengths > 0) & (not self._has_wide_special)
        return found

    @cached_property
    def boundaries(self) -> Boundaries:
        """The boundaries before spaces, and in ids, where decoding inserts a space."""
        if self._has_wide_special:
            return Boundaries("a special token contains white space, which may be spelled where ids meet")
        return SpacedBoundaries(self.cuts_before)

    @property
    def _has_wide_special(self) -> bool:
        """Whether a special token contains white space."""
        blanks = self.normalizer.spaces
        return any(blanks.intersection(special.content) for special in self.specials)

    def spelling(self, number: int) -> str:
        """Return the entry or special token of an id, including the prefix or the opening."""
        if self.vocabulary.opening:
            return self.vocabulary.entry(number) or ""
        return self._spelled[1][number]

    @cached_property
    def means_something(self) -> BoolArray:
        """For each id, whether it is that of an entry or of a special token."""
        meaning = np.zeros(self.n_ids, dtype=np.bool_)
        meaning[[number for _, number in self.vocabulary.items()]] = True
        meaning[self.special_ids] = True
        return meaning

    def first_difference(self, other: WordPieceTokenizer) -> SeparatingText | None:
        """Return a shortest text to which `other` gives different ids; see :func:`first_difference`."""
        from tokdfa.wordpiece.difference import first_difference

        return first_difference(self.end_to_end, other.end_to_end)

    @cached_property
    def fingerprint_parts(self) -> dict[str, str]:
        """The hashes of the parts of the fingerprint, by name; see :func:`tokdfa.fingerprint`."""
        from tokdfa.tokenizers.fingerprint import parts_of_wordpiece

        return parts_of_wordpiece(self)

    @cached_property
    def made_of(self) -> tuple[object, ...]:
        """All that the tokenizer is made of, to be compared; see :attr:`AnyTokenizer.made_of`."""
        vocabulary = self.vocabulary
        words = (vocabulary.opening, vocabulary.prefix, vocabulary.unknown, vocabulary.longest_word)
        settings = (words, self.normalizer, self.specials, self.cleanup, sorted(self.silent))
        return tuple(sorted(vocabulary.items())), repr(settings)

    def __repr__(self) -> str:
        return f"<WordPieceTokenizer from {self.format}: {len(self.vocabulary)} entries, {self.n_ids} ids>"


class _StreamDecoder(Decoder):
    """A decoder for ids of which the first one comes before all others.

    Parameters
    ----------
    behind, first : Spellings
        The bytes of each id after others, and before all others.
    meaning : bool array, one entry an id
        Whether the id is in use.
    """

    def __init__(self, behind: Spellings, meaning: BoolArray, first: Spellings) -> None:
        super().__init__(behind, meaning)
        self._first = first

    def bytes_of(self, ids: npt.ArrayLike) -> bytes:
        """Return the bytes of a stream that is given at once."""
        return b"".join(self.iter_bytes([ids]))

    def _iter_blocks(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[tuple[Int64Array, bytes]]:
        head: list[int] = []

        def watched() -> Iterator[npt.ArrayLike]:
            for chunk in chunks:
                if not head:
                    head.extend(self.check(chunk)[:1].tolist())
                yield chunk

        begun = False
        for lengths, data in super()._iter_blocks(watched()):
            if not begun:
                text, offsets = self._first
                spelled = text[offsets[head[0]] : offsets[head[0] + 1]].tobytes()
                data = spelled + data[lengths[0] :]
                lengths = np.concatenate(([len(spelled)], lengths[1:]))
                begun = True
            yield lengths, data
