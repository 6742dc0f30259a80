"""Comparing two byte pair tokenizers part by part."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.jobs.comparison.derived import MetTokens
from tokdfa.jobs.comparison.dictionaries import compare_dictionaries, other_rules
from tokdfa.jobs.comparison.result import Comparison, Obstacle, Outcome, Part
from tokdfa.jobs.comparison.vocabularies import Vocabularies
from tokdfa.kernels.encode.events import DROPPED
from tokdfa.regex.unicode.normalization import Normalizer, Substitution
from tokdfa.regex.unicode.utf8 import BYTE_OF, BYTES_OF_UTF8
from tokdfa.tokenizers.boundaries.added import break_each_other
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.models.unigram.character_rules import CharacterTable
from tokdfa.tokenizers.neighbours import Neighbours
from tokdfa.tokenizers.normalizers.sentencepiece import LlamaCppUnigramNormalizer, SentencePieceNormalizer
from tokdfa.tokenizers.normalizers.steps import Chain
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.normal_form import automaton_form, splitting_form
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

_WHOLE = Splitting("tokenizers")


class Parts:
    """The parts of two tokenizers, and the outcome of comparing each; `ignore_ids` compares tokens by spelling."""

    def __init__(self, a: Tokenizer, b: Tokenizer, *, ignore_ids: bool) -> None:
        self.a = a
        self.b = b
        self.ignore_ids = ignore_ids

    @cached_property
    def report(self) -> Comparison:
        """The outcomes part by part, for any answer; for dictionaries also a text on which they differ."""
        n_other_ids = self._other_ids()
        checked = {
            Part.DICTIONARY: Outcome.SAME if self._have_same_merges else self._merging,
            Part.IDS: Outcome.IGNORED if self.ignore_ids else Outcome.of(n_other_ids == 0),
            Part.PRETOKENIZER: _compare_splittings(*self.splittings),
            Part.NORMALIZER: Outcome.of(same_normalizers(_normalizer(self.a), _normalizer(self.b))),
            Part.SPECIALS: Outcome.of(self._specials(self.a) == self._specials(self.b)),
        }
        if _symbols(self.a) != _symbols(self.b):
            checked[Part.SYMBOLS] = Outcome.DIFFERENT
        a, b = self.a.dictionary, self.b.dictionary
        report = self._of_dictionaries or Comparison(True)
        if report.first_other_rule is None and not self._have_same_merges and a.alphabet.kind == b.alphabet.kind:
            report = replace(report, **other_rules(a, b))
        return replace(report, n_other_ids=n_other_ids, checked=checked)

    # Dictionaries

    @cached_property
    def neighbours(self) -> tuple[Neighbours, Neighbours] | None:
        """The data that determine the result of merging, for both over bytes; None if there are none."""
        if not self._are_over_bytes:
            return None
        try:
            one, other = (_over_bytes(side) for side in (self.a, self.b))
        except (UnsupportedFeatureError, LimitExceededError):
            return None
        return one, other

    @cached_property
    def _are_over_bytes(self) -> bool:
        """Whether both merge the same bytes, even if characters stand for these in a file that lacks some."""
        if self.a.why_not("bytes") is None and self.b.why_not("bytes") is None:
            return True
        bytes_of = [_bytes_of(side) for side in (self.a, self.b)]
        return bytes_of[0] is not None and bytes_of[0] == bytes_of[1]

    @cached_property
    def _have_same_merges(self) -> bool:
        """Whether they merge by the same pairs in the same order, as written."""
        a, b = self.a, self.b
        if self._have_same_pieces:
            return True
        if a.dictionary != b.dictionary or (a.merges is None) != (b.merges is None):
            return False
        if a.merges is None or b.merges is None:
            return True
        return a.extra_tokens == b.extra_tokens and all(map(np.array_equal, a.merges, b.merges))

    @cached_property
    def _of_dictionaries(self) -> Comparison | None:
        """The comparison of the dictionaries by Algorithm 1; None if written alike, or not merging by it."""
        a, b = self.a.dictionary, self.b.dictionary
        if self._have_same_merges or a.alphabet.kind != b.alphabet.kind:
            return None
        return compare_dictionaries(a, b) if all(map(_follows_rules, (self.a, self.b))) else None

    @cached_property
    def _merging(self) -> Outcome:
        """Whether every piece has the same tokens under both, if they are written differently."""
        # Words over symbols that no text has may tell dictionaries apart.
        if self._of_dictionaries or (self.neighbours is None and self._derive_alike):
            return Outcome.EQUIVALENT
        if self._of_dictionaries is not None:
            return Outcome.DIFFERENT
        if self.neighbours is None:
            return Outcome.UNKNOWN
        return Outcome.EQUIVALENT if Vocabularies(*self.neighbours, ignore_ids=True).are_equal else Outcome.DIFFERENT

    @cached_property
    def _derive_alike(self) -> bool:
        """Whether the same pairs make the same tokens of the same symbols, in the same order."""
        a, b = self.a, self.b
        # With all pairs at hand it is known how they merge.
        unknown = (side for side in (a, b) if side.why_not("leftmost") is not None and side.merges is None)
        if not all(map(_follows_rules, unknown)):
            return False
        return self._met.merge_alike

    @cached_property
    def _met(self) -> MetTokens:
        """The tokens that texts can have."""
        return MetTokens(self.a, self.b, _taken(self.a) & _taken(self.b))

    @property
    def _have_same_pieces(self) -> bool:
        """Whether they are twins, whose pieces have the same ids."""
        return self.a.piece_ids is self.b.piece_ids

    def _other_ids(self) -> int | None:
        """Return the number of common tokens that have different ids; None if they spell tokens in different ways."""
        if self._have_same_pieces:
            return 0
        if self.a.dictionary.alphabet.kind != self.b.dictionary.alphabet.kind:
            return None
        sizes = [len(side.dictionary.alphabet) for side in (self.a, self.b)]
        other = self._met.counterpart[: sizes[0]]
        one = np.flatnonzero((other >= 0) & (other < sizes[1]))
        return int(np.count_nonzero(self.a.token_to_id[one] != self.b.token_to_id[other[one]]))

    def whole_words(self, side: Tokenizer) -> dict[str, int]:
        """Return the ids of the tokens that are given only for whole pieces, by their texts."""
        numbers = side.whole_piece_tokens.tolist()
        words = ((as_text(side.token(number)), int(side.token_to_id[number])) for number in numbers)
        return {text: id for text, id in words if text is not None}

    # Around them

    @cached_property
    def splittings(self) -> tuple[Splitting, Splitting]:
        """The splittings of both."""
        return _splitting(self.a), _splitting(self.b)

    @property
    def is_normalized(self) -> bool:
        """Whether the first changes texts before it cuts them."""
        return _normalizer(self.a) is not None

    def _specials(self, side: Tokenizer) -> set[Special]:
        """Return the special tokens that are found in a text."""
        specials = side.found_specials
        if _normalizer(side) is None and not break_each_other(specials):
            # The order in which they are looked for makes no difference.
            specials = tuple(replace(special, level=0) for special in specials)
        return {replace(special, id=0) if self.ignore_ids else special for special in specials}

    @cached_property
    def other_specials(self) -> set[str]:
        """The special tokens, and the symbols of several characters, that only one of the two finds."""
        atoms = {*self.a.rewrites[2]} ^ {*self.b.rewrites[2]}
        return {special.text for special in self._specials(self.a) ^ self._specials(self.b)} | atoms

    # Answers

    def are_same(self) -> bool:
        """Return whether equivalence follows from the parts alone."""
        a, b, checked = self.a, self.b, self.report.checked
        if any(checked[part] is not Outcome.SAME for part in (Part.PRETOKENIZER, Part.NORMALIZER, Part.SPECIALS)):
            return False
        if checked[Part.IDS] not in (Outcome.SAME, Outcome.IGNORED) or Part.SYMBOLS in checked:
            return False
        if a.suffix != b.suffix or a.why_not("bytes") != b.why_not("bytes"):
            return False
        if self._have_same_pieces:
            return True
        if {*map(a.token, a.whole_piece_tokens.tolist())} != {*map(b.token, b.whole_piece_tokens.tolist())}:
            return False
        if checked[Part.DICTIONARY] not in (Outcome.SAME, Outcome.EQUIVALENT):
            return False
        return self.ignore_ids or self._met.give_same_ids

    def obstacle(self) -> Obstacle | None:
        """Return why a search through texts cannot decide; None if it can."""
        a, b = self.a, self.b
        if not self._are_over_bytes:
            return Obstacle.NOT_BYTES
        if any(_symbols(side) != (None, (), None) for side in (a, b)):
            return Obstacle.SYMBOLS_CHANGE
        if self.neighbours is None:
            return Obstacle.NO_PAIRS
        if any(not side.dictionary.properness() and side.why_not("leftmost") is not None for side in (a, b)):
            return Obstacle.UNCLEAR_SEMANTICS
        if any(how.byte_steps for how in self.splittings):
            return Obstacle.PRETOKENIZER
        settings = {(how.prefix_space, how.metaspace, how.prefix_once) for how in self.splittings}
        if len(settings) > 1:
            return Obstacle.ONE_ADDS_SPACES
        if self.report.checked[Part.NORMALIZER] is not Outcome.SAME:
            return Obstacle.NORMALIZERS
        ((prefix_space, metaspace, prefix_once),) = settings
        if prefix_space not in (None, 0) or metaspace is not None or prefix_once:
            return Obstacle.BOTH_ADD_SPACES
        # Live tokens without ids, ignoring those with bytes that no text has.
        without = (of.words[number] for of in self.neighbours for number in of.live[of.ids[of.live] < 0].tolist())
        return Obstacle.NO_IDS if any(map(BYTES_OF_UTF8.issuperset, without)) else None


def _follows_rules(side: Tokenizer) -> bool:
    """Return whether merging by Algorithm 1 and merging the leftmost of the strongest pairs are the same."""
    dictionary = side.dictionary
    return side.merges is None and bool(dictionary.properness()) and bool(agrees_with_leftmost(dictionary))


def _taken(side: Tokenizer) -> frozenset[str]:
    """Return special tokens that texts are cut at wherever they occur, so that no piece has them in it."""
    done, how = _substitution(side), splitting_of(side)
    contents = side.contents
    affixes = contents.suffix or contents.prefix or contents.spelled_bytes or how.prefix_space is not None
    if done is None or "" in done.becomes.values() or affixes:
        return frozenset()
    # Of characters that stay as they are, and that others do not become.
    changed = {*done.prefix, *done.becomes, *"".join(done.becomes.values()), how.metaspace or "\0", "\0"}
    plain = (special.content for special in side.found_specials if special.is_plain)
    return frozenset(content for content in plain if changed.isdisjoint(content))


def _substitution(side: Tokenizer) -> Substitution | None:
    """Return what normalizing does to texts, if it only replaces characters."""
    normalizer = _normalizer(side)
    return _UNCHANGED if normalizer is None else normalizer.substitution


def splitting_of(side: Tokenizer) -> Splitting:
    """Return the splitting of a tokenizer."""
    return _WHOLE if side.pretokenizer is None else side.pretokenizer.splitting


def _splitting(side: Tokenizer) -> Splitting:
    """Return the splitting of a tokenizer without steps that split only at characters that are replaced before."""
    how, done = splitting_of(side), _substitution(side)
    if done is None or how.prefix_space is not None or how.metaspace is not None:
        return how
    return how.without(done.gone)


def as_text(word: object) -> str | None:
    """Return a word as a text; None if its bytes are not UTF-8."""
    if isinstance(word, bytes):
        try:
            return word.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(word, tuple) and all(isinstance(symbol, str) for symbol in word):
        return "".join(word)
    return word if isinstance(word, str) else None


def _compare_splittings(one: Splitting, other: Splitting) -> Outcome:
    if one == other or splitting_form(one) == splitting_form(other):
        return Outcome.SAME
    return Outcome.DIFFERENT if _has_exact_form(one) and _has_exact_form(other) else Outcome.UNKNOWN


def _has_exact_form(splitting: Splitting) -> bool:
    """Return whether splittings of this kind have different forms only if they split some text differently."""
    if automaton_form(splitting) is None:
        return False
    moves = find_split_nfa(splitting).moves
    return all(event != DROPPED for row in moves for targets in row for _, event in targets)


def _normalizer(side: Tokenizer) -> Normalizer | None:
    rewriting, *_ = side.rewrites
    return None if rewriting is None else rewriting.normalizer


def same_normalizers(one: Normalizer | None, other: Normalizer | None) -> bool:
    """Return whether two normalizers are written alike, or replace the same characters and nothing else."""
    if one == other:
        return True
    changes = [_UNCHANGED if each is None else each.substitution for each in (one, other)]
    if None not in changes and changes[0] == changes[1]:
        return True
    forms = _in_steps(one), _in_steps(other)
    return forms[0] is not None and forms[0] == forms[1]


def _in_steps(normalizer: Normalizer | None) -> tuple[CharacterTable | None, tuple[Normalizer, ...]] | None:
    """Return a table and the steps after it that do the same as a normalizer; None if none are known."""
    match normalizer:
        case Chain(steps):
            return None, steps
        case SentencePieceNormalizer(table, continues=False):
            return table, normalizer.steps
        case LlamaCppUnigramNormalizer(table) if normalizer.has_exact_steps:
            return table, normalizer.steps
    return None


_UNCHANGED = Substitution("", {})


def _symbols(side: Tokenizer) -> tuple[object, ...]:
    """Return the treatment of symbols before they merge."""
    _, *symbols = side.rewrites
    return tuple(symbols)


def _bytes_of(side: Tokenizer) -> set[str] | None:
    """Return the characters that stand for the bytes that a tokenizer has, if it is over such characters."""
    if side.why_not("bytes") is None or side.why_not("letters") or len(side.whole_piece_tokens):
        return None
    symbols = {str(word) for word in side.dictionary.alphabet if len(word) == 1}
    if not symbols <= BYTE_OF.keys():
        return None
    # One that no rule mentions is not among the neighbours.
    return None if any(len(word) == 1 for word in side.extra_tokens) else symbols


def _over_bytes(side: Tokenizer) -> Neighbours:
    """Return the neighbours of a tokenizer, over the bytes for which characters stand."""
    of = side.neighbours
    if side.why_not("bytes") is None:
        return of
    words = [bytes(BYTE_OF[character] for character in str(word)) for word in of.words]
    return Neighbours(words, of.ids, of.position, of.rows)
