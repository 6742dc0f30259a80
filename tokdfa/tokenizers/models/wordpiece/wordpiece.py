"""WordPiece: the longest entry of a vocabulary first, from left to right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import AutomatonError
from tokdfa.regex.unicode.normalization import tables
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.boundaries.words import SpacedBoundaries
from tokdfa.tokenizers.decoder import Decoded, Decoder, Spellings, spellings
from tokdfa.tokenizers.models.model import Direct, Model
from tokdfa.tokenizers.word_decoding import CLEANUP

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.stream import EncodingStream
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
    from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd
    from tokdfa.tokenizers.models.wordpiece.normalizer import WordNormalizer
    from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage, StreamState
    from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie
    from tokdfa.tokenizers.spelled import Spelled
    from tokdfa.tokenizers.text_states import ByteStates
    from tokdfa.tokenizers.tokenizer import Tokenizer


class WordPiece(Model):
    """A model that takes the longest entry of a vocabulary, again and again.

    The `normalizer` is applied before the text is split at white space and punctuation. `cleanup` is whether decoding
    removes spaces before punctuation; `silent` are the ids that it leaves out. `case` is the source of the choice of
    lower case, if the file does not make it.
    """

    algorithm = "WordPiece"
    semantics: Literal["longest match"] = "longest match"
    takes_bytes = True
    takes_longest = True
    normalizer: WordNormalizer

    def __init__(self, contents: WordPieceContents) -> None:
        self.vocabulary = contents.vocabulary
        self.unknown_id = contents.vocabulary.unknown_id
        self.normalizer = contents.normalizer
        self.cleanup = contents.cleanup
        self.silent = contents.silent
        self.case = contents.case
        self._specials = contents.specials

    @property
    def pretokenizer(self) -> Literal["BertPreTokenizer", "llama.cpp"]:  # type: ignore[override]
        """The name of the pre-tokenizer, which splits text into words at white space and around punctuation."""
        return "BertPreTokenizer" if self.normalizer.library == "tokenizers" else "llama.cpp"

    @property
    def is_token(self) -> BoolArray:
        return self.vocabulary.is_token

    @property
    def sizes(self) -> dict[str, int]:
        return {"entries": len(self.vocabulary)}

    @property
    def strings(self) -> list[str]:
        return self.vocabulary.strings

    # Its automata

    @cached_property
    def end_to_end(self) -> EndToEnd:
        """The engine that turns text into ids, in one pass."""
        from tokdfa.tokenizers.models.wordpiece.end_to_end import EndToEnd

        return EndToEnd(self.vocabulary, self.normalizer, self._added)

    @property
    def _added(self) -> dict[str, int]:
        return {special.content: special.id for special in self._specials}

    @cached_property
    def trie(self) -> FailureTrie:
        """The trie of the vocabulary with failure links and pops."""
        from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie

        return FailureTrie.of(self.vocabulary)

    @cached_property
    def language(self) -> StreamLanguage:
        """The automaton of canonical streams of ids.

        AutomatonError is raised if other tokens can spell a special one, decoding does not give a special one back, or
        words can begin with the prefix.
        """
        from tokdfa.tokenizers.models.wordpiece.stream import StreamLanguage

        for special in self._specials:
            if not all(spelled[special.id].endswith(special.content) for spelled in self._spelled):
                raise AutomatonError("decoding does not give a special token back", value=special.content)
        return StreamLanguage(self.vocabulary, self.normalizer, self._added)

    @cached_property
    def _language_if_known(self) -> StreamLanguage | None:
        try:
            return self.language
        except AutomatonError:
            return None

    # From text to ids

    def direct(self, tokenizer: Tokenizer) -> Direct | None:
        return self.end_to_end.encode_ids

    def encode(self, tokenizer: Tokenizer, text: str | bytes) -> Int32Array:
        return self.end_to_end.encode_ids(text)

    def stream(self, tokenizer: Tokenizer) -> EncodingStream:
        """Return a stream, in which words are settled by the space after them.

        If a special token contains white space, nothing is settled before the end.
        """
        from tokdfa.tokenizers.encoding.stream import HeldStream

        return HeldStream(self.end_to_end.encode_ids, tokenizer.boundaries.last_cut)

    # From ids to text

    @cached_property
    def _spelled(self) -> tuple[list[str], list[str]]:
        """The text that each id adds, after other ids and before all."""
        n_ids = max(self.vocabulary.n_ids, 1 + max((special.id for special in self._specials), default=-1))
        if self.vocabulary.opening:
            pieces = self._pieces(n_ids)
            return pieces, pieces
        behind, first = [""] * n_ids, [""] * n_ids
        entries = [(number, entry) for entry, number in self.vocabulary.items()]
        prefix = self.vocabulary.prefix
        for number, entry in (*entries, *((special.id, special.content) for special in self._specials)):
            first[number] = self._clean(entry)
            behind[number] = self._clean(entry[len(prefix) :] if entry.startswith(prefix) else f" {entry}")
        return behind, first

    def _pieces(self, n_ids: int) -> list[str]:
        """Return the text that each id adds if the entries have an opening: a space for each of these."""
        pieces = [""] * n_ids
        for entry, number in self.vocabulary.items():
            pieces[number] = entry.replace(self.vocabulary.opening, " ")
        for special in self._specials:
            pieces[special.id] = special.content
        for number in self.silent:
            pieces[number] = ""
        return pieces

    def _clean(self, text: str) -> str:
        for old, new in CLEANUP if self.cleanup else ():
            text = text.replace(old, new)
        return text

    def id_spellings(self, tokenizer: Tokenizer) -> Spellings:
        """Return the bytes that each id adds after others; for one that begins a word this is a space and the word."""
        return spellings([text.encode("utf-8") for text in self._spelled[0]])

    @cached_property
    def first_spellings(self) -> Spellings:
        """The bytes that each id adds before all others: its entry, including the prefix."""
        return spellings([text.encode("utf-8") for text in self._spelled[1]])

    def spelled(self, tokenizer: Tokenizer) -> Spelled:
        """Return the text that each id adds: before all others without a space, including the prefix."""
        from tokdfa.tokenizers.spelled import Spelled

        return Spelled(tokenizer.id_spellings, "first", self.first_spellings)

    def decoder(self, tokenizer: Tokenizer) -> Decoder:
        """Return the decoder, which spells ids chunk by chunk.

        It joins words by single spaces, and pieces without their prefix. This is not always the text that was encoded,
        but it has the same ids if they were canonical.
        """
        return _StreamDecoder(tokenizer.id_spellings, tokenizer.means_something, self.first_spellings)

    def name_of(self, tokenizer: Tokenizer, id: int) -> bytes:
        """Return the bytes by which readers know an id: its entry, including the prefix."""
        return self.spelling(id).encode("utf-8", "surrogatepass")

    def spelling(self, number: int) -> str:
        """Return the entry or special token of an id, including the prefix or the opening."""
        if self.vocabulary.opening:
            return self.vocabulary.entry(number) or ""
        return self._spelled[1][number]

    def ends(self, tokenizer: Tokenizer, text: str, canonical: Int32Array, *, begins: bool) -> Int64Array:
        """Return the ends of canonical ids in the text that was encoded, which may differ from the decoded text."""
        return self.encode_with_ends(tokenizer, text)[1]

    def encode_with_ends(self, tokenizer: Tokenizer, text: str) -> tuple[Int32Array, Int64Array]:
        """Return the ids of a text and their ends in it, in bytes.

        No special token ends after the white space that it strips, before which the text is cut.
        """
        tokens = self.end_to_end.encode(text, "bytes")
        return tokens.ids, tokens.ends

    def word_of(self, tokenizer: Tokenizer, id: int) -> Word:
        return self.spelling(id)

    def detected(self, tokenizer: Tokenizer, ids: Int32Array, start: int, stop: int) -> int:
        """Return the first index at which no correct stream continues like this; the last one if that is not known."""
        language = self._language_if_known
        if language is None:
            return stop - 1
        # A part with missing tokens only is empty, and may be at the end.
        begin = min(start, len(ids) - 1)
        boundaries = tokenizer.boundaries
        cuts = boundaries.cuts_before if isinstance(boundaries, SpacedBoundaries) else None
        while begin > 0 and (cuts is None or not cuts[ids[begin]]):
            begin -= 1
        state: StreamState | None = language.initial
        for index in range(begin, stop):
            assert state is not None
            state = language.step(state, int(ids[index]))
            if state is None:
                return index
        return stop - 1

    def boundaries(self, tokenizer: Tokenizer) -> Boundaries:
        """Return the boundaries before spaces, and in ids, where decoding inserts a space."""
        blanks = self.normalizer.spaces
        if any(blanks.intersection(special.content) for special in self._specials):
            return Boundaries("a special token contains white space, which may be spelled where ids meet")
        text, offsets = tokenizer.id_spellings
        opens = np.append(text, np.uint8(0))[offsets[:-1]] == ord(" ")
        return SpacedBoundaries(opens & (tokenizer.id_lengths > 0))

    # Description

    def facts(self, tokenizer: Tokenizer) -> dict[str, Any]:
        from tokdfa.tokenizers.facts import EXAMPLES, counts, library_fact

        vocabulary, normalizer, case = self.vocabulary, self.normalizer, self.case
        steps = ("clean_text", "chinese", "strip_accents", "lowercase")
        upper, specials = tables().lowercase.keys(), {*tokenizer.special_ids.tolist()}
        n_capitals = sum(id not in specials and not upper.isdisjoint(entry) for entry, id in vocabulary.items())
        facts = {
            **counts(tokenizer),
            "semantics": tokenizer.semantics,
            "pretokenizer": tokenizer.pretokenizer,
            "normalizer": {name: getattr(normalizer, name) for name in steps},
            "prefix": vocabulary.prefix,
            "opening": vocabulary.opening,
            "unknown": vocabulary.unknown if vocabulary.unknown_id is not None else None,
            "longest_word": vocabulary.longest_word,
            "trie_nodes": len(self.trie),
            "lost_ids": len(vocabulary.duplicates),
            "specials": len(tokenizer.specials),
            "text_specials": sum(special.is_text for special in tokenizer.specials),
            "ignored": tokenizer.ignored,
            **library_fact(tokenizer),
            "case": None if case is None else {"source": case.source, "capitals": n_capitals},
            "fingerprint": tokenizer.fingerprint,
        }
        try:
            language = self.language
        except AutomatonError as error:
            return {**facts, "no_automaton": str(error)}
        dead = sorted(language.dead)
        return {
            **facts,
            "dead_tokens": len(dead),
            "dead_token_examples": [{"id": id, "token": self.spelling(id)} for id in dead[:EXAMPLES]],
            "states": len(language.words.states),
            "local_from": language.words.local_from,
        }

    def fingerprint_parts(self, tokenizer: Tokenizer) -> dict[str, str]:
        from tokdfa.tokenizers.fingerprint import hash_of, hash_of_specials, unicode_tables

        vocabulary = self.vocabulary
        entries = sorted(vocabulary.items())
        settings: tuple[object, ...] = (vocabulary.prefix, vocabulary.unknown, vocabulary.longest_word)
        if vocabulary.opening:
            settings += (vocabulary.opening,)
        library = self.normalizer.library
        known = unicode_tables(None if library == "tokenizers" else library)
        return {
            "dictionary": hash_of("WordPiece", [entry for entry, _ in entries], settings),
            "ids": hash_of([(entry, int(id)) for entry, id in entries]),
            "pretokenizer": hash_of(tokenizer.pretokenizer, known),
            "normalizer": hash_of(self.normalizer, known),
            "symbols": hash_of(None),
            "specials": hash_of_specials(tokenizer),
            "decoder": hash_of(self.cleanup, *([sorted(self.silent)] if self.silent else [])),
        }

    def made_of(self, tokenizer: Tokenizer) -> tuple[object, ...]:
        vocabulary = self.vocabulary
        words = (vocabulary.opening, vocabulary.prefix, vocabulary.unknown, vocabulary.longest_word)
        settings = (words, self.normalizer, tokenizer.specials, self.cleanup, sorted(self.silent))
        return tuple(sorted(vocabulary.items())), repr(settings)


class _StreamDecoder(Decoder):
    """A decoder with another spelling for an id that comes before all others.

    `behind` and `first` have the bytes of each id after others, and before all others; `meaning` whether it is in use.
    """

    def __init__(self, behind: Spellings, meaning: BoolArray, first: Spellings) -> None:
        super().__init__(behind, meaning)
        self._first = first
        self._later = Decoder(behind, meaning)

    @property
    def later(self) -> Decoder:
        """The decoder of the text after a boundary, in which no id is the first one."""
        return self._later

    @property
    def states(self) -> ByteStates:
        from tokdfa.tokenizers.text_states import ByteStates

        return ByteStates(Spellings(self._text, self._offsets), self._first, None)

    def text_of(self, ids: Int32Array) -> Decoded:
        text, ends = super().text_of(ids)
        # The very first token has no space before it, but has its prefix.
        return Decoded(text, ends + (len(text.encode("utf-8")) - ends[-1:].sum()))

    def bytes_of(self, ids: npt.ArrayLike) -> bytes:
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
