"""Comparing two tokenizers: the relation from texts to ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise, product
from typing import Literal, cast

import numpy as np

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.comparison.dictionaries import compare_dictionaries
from tokdfa.comparison.joint import Joint
from tokdfa.comparison.result import Comparison, Difference
from tokdfa.comparison.separation import Separation
from tokdfa.comparison.trials import around, random_texts, shrunk, within
from tokdfa.comparison.vocabularies import Vocabularies
from tokdfa.comparison.whole_pieces import WholePieces
from tokdfa.encoding.special import Special
from tokdfa.errors import AlphabetError, LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.splitting.hypotheses import Hypotheses, find_hypotheses
from tokdfa.splitting.steps import Splitting
from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS
from tokdfa.tokenizers.neighbours import Neighbours, neighbours
from tokdfa.tokenizers.normalizers import Normalizer
from tokdfa.tokenizers.relation import splitting_form
from tokdfa.tokenizers.sentencepiece_normalizer import SPACE
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["compare_tokenizers"]

_MOST_TEXTS = 20_000
_MOST_SECONDS = 5.0
_MOST_SPECIALS = 200
_WHOLE = Splitting("tokenizers")
# Bytes that UTF-8 does not have.
_NO_TEXT = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))


def compare_tokenizers(
    a: Tokenizer, b: Tokenizer, *, ignore_ids: bool = False, progress: Callable[[str], object] | None = None
) -> Comparison:
    """Decide whether two tokenizers give every text the same ids, whatever it is that they differ in.

    The witness against it is a text of the fewest bytes, then with the fewest tokens in both, then the least; of ties
    among texts of more than two bytes only those are looked at that are found within seconds. Where
    ``checked["shortest"]`` is not "proven", it is a text that separates them, and shorter ones have not been excluded.

    Parameters
    ----------
    a, b : Tokenizer
    ignore_ids : bool
        Whether it is enough that tokens are spelled alike.
    progress : callable, optional
        Called now and then with what is done.

    Raises
    ------
    UnsupportedFeatureError
        If neither a difference is found nor equivalence can be proven; says why.
    LimitExceededError
        If an automaton is too large.

    Notes
    -----
    Equivalence is proven by a search through the product of the automata of both, which ends; differences are always
    confirmed by encoding. Texts that spell special tokens are cut at them by both alike, if they have the same. That
    nothing separates the texts that a normalizer gives is concluded from nothing separating any texts.
    """
    if a.digest == b.digest:
        return Comparison(True, None, "the tokenizers are the same", checked={"everything": "the same"})
    return _Comparer(a, b, ignore_ids, progress).run()


class _Comparer:
    def __init__(
        self, a: Tokenizer, b: Tokenizer, ignore_ids: bool, progress: Callable[[str], object] | None = None
    ) -> None:
        self.progress = progress
        self.a = a
        self.b = b
        self.ignore_ids = ignore_ids
        # Whether every piece has the same tokens; None where that is not known.
        self.merge_alike: bool | None = None

    @cached_property
    def neighbours(self) -> tuple[Neighbours, Neighbours] | None:
        """What tells what merging gives, of both; None where nothing does."""
        try:
            one, other = (neighbours(side) for side in (self.a, self.b))
        except (UnsupportedFeatureError, LimitExceededError):
            return None
        return one, other

    def say(self, what: str) -> None:
        """Say what is done, to who wants to know."""
        if self.progress is not None:
            self.progress(what)

    def run(self) -> Comparison:
        self.say("comparing the dictionaries")
        report = self.report()
        # The search would find these as well, but they are found at once, and where it cannot be used.
        found = self.least(_short_texts(1))
        if found is not None:
            return self.different(report, found, proven=True)
        obstacle = self.obstacle()
        if obstacle is not None:
            return self.without_search(report, obstacle)
        return self.by_search(report)

    # The report

    def report(self) -> Comparison:
        """Return what is said of the parts, whatever the answer will be."""
        a, b = self.a, self.b
        report = Comparison(True)
        checked = {}
        if self.have_same_merges():
            checked["dictionary"] = "the same"
            self.merge_alike = True
        elif a.dictionary.alphabet.kind == b.dictionary.alphabet.kind and self.are_proper():
            report = compare_dictionaries(a.dictionary, b.dictionary)
            self.merge_alike = bool(report)
        elif self.neighbours is not None:
            self.merge_alike = Vocabularies(*self.neighbours, ignore_ids=True).are_equal
        if "dictionary" not in checked:
            outcomes = {None: "another", True: "the same tokens of every piece", False: "other tokens of some pieces"}
            checked["dictionary"] = outcomes[self.merge_alike]
        others = self.other_ids()
        checked["ids"] = "the same" if others == 0 else "others" if others is None else f"of {others:,} tokens others"
        if self.ignore_ids:
            checked["ids"] += ", ignored"
        splittings = [self.splitting(side) for side in (a, b)]
        same_pieces = splittings[0] == splittings[1] or splitting_form(splittings[0]) == splitting_form(splittings[1])
        checked["pretokenizer"] = "the same" if same_pieces else "other pieces of some texts"
        same_normalizer = self.normalizer(a) == self.normalizer(b)
        checked["normalizer"] = "the same" if same_normalizer else "another"
        checked["specials"] = "the same" if self.specials(a) == self.specials(b) else "others"
        if self.symbols(a) != self.symbols(b):
            checked["symbols"] = "others"
        return replace(report, checked=checked)

    def have_same_merges(self) -> bool:
        """Tell whether they merge by the same pairs in the same order, as it is written."""
        a, b = self.a, self.b
        if a.dictionary != b.dictionary or (a.merges is None) != (b.merges is None):
            return False
        if a.merges is None or b.merges is None:
            return True
        return a.extra_tokens == b.extra_tokens and all(map(np.array_equal, a.merges, b.merges))

    def are_proper(self) -> bool:
        return all(
            side.merges is None and side.dictionary.is_proper() and agrees_with_leftmost(side.dictionary)
            for side in (self.a, self.b)
        )

    def other_ids(self) -> int | None:
        """Return how many tokens of both have other ids; None if they spell tokens in different ways."""
        if self.a.dictionary.alphabet.kind != self.b.dictionary.alphabet.kind:
            return None
        ids = [
            dict(zip(side.dictionary.alphabet, side.token_to_id.tolist(), strict=False)) for side in (self.a, self.b)
        ]
        return sum(int(ids[1].get(word, id) != id) for word, id in ids[0].items())

    @staticmethod
    def splitting(side: Tokenizer) -> Splitting:
        return _WHOLE if side.pretokenizer is None else side.pretokenizer.splitting

    @staticmethod
    def normalizer(side: Tokenizer) -> Normalizer | None:
        rewriting, *_ = side.rewrites
        return None if rewriting is None else rewriting.normalizer

    @staticmethod
    def symbols(side: Tokenizer) -> tuple[object, ...]:
        """Return what is done with symbols before they merge."""
        _, *symbols = side.rewrites
        return tuple(symbols)

    def specials(self, side: Tokenizer) -> set[Special]:
        """Return what is found in a text as a special token."""
        if not side.finds_specials:
            return set()
        return {replace(special, id=0) if self.ignore_ids else special for special in side.specials}

    # Texts

    def difference(self, text: str) -> Difference | None:
        """Return what both make of a text, if that is not the same."""
        ids_a, ids_b = _ids(self.a, text), _ids(self.b, text)
        if ids_a == ids_b and not self.ignore_ids:
            return None
        if self.ignore_ids and _spelled(self.a, ids_a) == _spelled(self.b, ids_b):
            return None
        return Difference(text, ids_a, ids_b)

    def least(self, texts: Iterable[str]) -> Difference | None:
        """Return the least of the differences on texts: of the fewest bytes, then the fewest tokens, then the least."""
        best: tuple[tuple[int, int, bytes], Difference] | None = None
        for text in texts:
            data = text.encode()
            if best is not None and len(data) > best[0][0]:
                continue
            found = self.difference(text)
            if found is not None:
                key = len(data), len(found.tokens_a or ()) + len(found.tokens_b or ()), data
                if best is None or key < best[0]:
                    best = key, found
        return None if best is None else best[1]

    def different(self, report: Comparison, found: Difference, *, proven: bool) -> Comparison:
        what = "tokens" if self.ignore_ids else "ids"
        checked = {**report.checked, "shortest": "proven" if proven else "not proven"}
        return replace(
            report, holds=False, witness=found, reason=f"{found.text!r} has different {what}", checked=checked
        )

    # Answers

    def obstacle(self) -> str | None:
        """Return why the search cannot tell; None if it can."""
        a, b = self.a, self.b
        if not (a.is_bytewise and b.is_bytewise):
            return "a dictionary is not over bytes"
        if any(self.symbols(side) != (None, (), None) for side in (a, b)):
            return "symbols become others"
        if self.neighbours is None:
            return "pairs of neighbours do not tell everything of a dictionary"
        if any(not side.dictionary.is_proper() and side.format not in LEFTMOST_FORMATS for side in (a, b)):
            return "a dictionary is not proper, and its file does not tell how it is used"
        settings = {
            (splitting.prefix_space, splitting.metaspace, splitting.prefix_once)
            for splitting in (self.splitting(a), self.splitting(b))
        }
        if len(settings) > 1:
            return "only one puts in spaces"
        if self.normalizer(a) != self.normalizer(b):
            return "they normalize texts differently"
        ((prefix_space, metaspace, prefix_once),) = settings
        if prefix_space not in (None, 0) or metaspace is not None or prefix_once:
            return "the pre-tokenizers put in spaces"
        if any(map(_lacks_ids, self.neighbours)):
            return "there are tokens without ids"
        return None

    def by_search(self, report: Comparison) -> Comparison:
        splittings = [self.splitting(side) for side in (self.a, self.b)]
        self.say("laying the pre-tokenizers side by side")
        try:
            joint = _joint(*splittings)
        except (PatternError, LimitExceededError, UnsupportedFeatureError) as error:
            return self.without_search(report, f"of a pre-tokenizer: {error.what}")
        first_byte = None if splittings[0].prefix_space is None else ord(" ")
        assert self.neighbours is not None
        vocabularies = Vocabularies(*self.neighbours, ignore_ids=self.ignore_ids)
        search = Separation(joint, vocabularies, first_byte, self.progress)
        places = search.shortest()
        if places and places[0].length <= 3 and (found := self.least(_short_texts(2))) is not None:
            return self.different(report, found, proven=True)
        self.say("trying texts")
        texts = search.texts(places, most=_MOST_TEXTS, seconds=_MOST_SECONDS) if places else []
        candidates = [data.decode() for data in texts]
        # The space may be one that was put in.
        candidates += [text[1:] for text in candidates if first_byte is not None and text[1:] and text[1] != " "]
        least = places[0].length - (first_byte is not None) if places else None
        # Only texts with these can differ where merging gives the same.
        others = sorted({*self.other_specials(), *self.whole_pieces()}, key=_in_bytes)
        if others:
            least = min(_in_bytes(others[0]), _in_bytes(others[0]) if least is None else least)
        parting = self.parting_whole_pieces(joint)
        beside = around(sorted(self.other_specials(), key=_size_and_text)[:_MOST_SPECIALS])
        found = self.least(chain(candidates, others, parting, beside))
        if found is not None and least is not None:
            # A text may be shorter than what it is normalized to.
            proven = self.normalizer(self.a) is None and _in_bytes(str(found.text)) <= least
            return self.different(report, found, proven=proven)
        if places:
            raise _undecided("no text was found that shows where they part", candidates[:1])
        if self.other_specials():
            raise _undecided("their special tokens are others", min(self.other_specials(), key=_in_bytes))
        if parting:
            raise _undecided("they take other pieces as they are", parting[0])
        checked = {**report.checked, "search": "texts of any length"}
        return replace(report, holds=True, witness=None, reason="every text has the same ids", checked=checked)

    def parting_whole_pieces(self, joint: Joint) -> list[str]:
        """Return texts of which only one of the two takes a piece as it is, instead of merging it."""
        words = [self.whole_words(side) for side in (self.a, self.b)]
        pieces = WholePieces(joint)
        found = []
        for of_second in (False, True):
            mine, others = words[of_second], words[not of_second]
            for word, id in mine.items():
                anywhere, apart = pieces.texts(word, of_second=of_second)
                is_same = word in others and (self.ignore_ids or others[word] == id)
                text = apart if is_same else anywhere
                if text is not None:
                    found.append(text)
        return sorted(found, key=_in_bytes)

    @staticmethod
    def whole_words(side: Tokenizer) -> dict[str, int]:
        """Return the ids of the tokens that come about as whole pieces only, by their texts."""
        numbers = side.whole_piece_tokens.tolist()
        words = ((_as_text(side.token(number)), int(side.token_to_id[number])) for number in numbers)
        return {text: id for text, id in words if text is not None}

    def other_specials(self) -> set[str]:
        """Return what only one finds as a special token, or as a symbol of several characters."""
        atoms = {*self.a.rewrites[2]} ^ {*self.b.rewrites[2]}
        return {special.text for special in self.specials(self.a) ^ self.specials(self.b)} | atoms

    def whole_pieces(self) -> set[str]:
        """Return the tokens that come about as whole pieces only."""
        return {*self.whole_words(self.a), *self.whole_words(self.b)}

    def without_search(self, report: Comparison, obstacle: str) -> Comparison:
        """Answer by the parts alone, where the search cannot tell."""
        if self.have_same_parts(report):
            return replace(report, holds=True, witness=None, reason="their parts are the same")
        self.say("trying texts")
        found = self.least(_short_texts(2))
        if found is not None:
            return self.different(report, found, proven=True)
        words = sorted({*_texts_of_tokens(self.a), *_texts_of_tokens(self.b)}, key=_size_and_text)
        if isinstance(report.witness, Difference) and (text := _as_text(report.witness.text)) is not None:
            words.insert(0, text)
        specials = sorted(self.other_specials(), key=_size_and_text)
        for texts in (chain(around(specials), words), random_texts(words, specials)):
            found = self.least(within(_MOST_SECONDS, texts))
            if found is not None:
                return self.different(report, self.shorter(found), proven=False)
        raise _undecided(f"{obstacle}, and no text was found that separates them", None)

    def shorter(self, found: Difference) -> Difference:
        """Return a difference on a part of the text of another one."""
        text = shrunk(cast(str, found.text), lambda text: bool(text) and self.difference(text) is not None)
        return self.difference(text) or found

    def have_same_parts(self, report: Comparison) -> bool:
        a, b = self.a, self.b
        parts = ("ids", "pretokenizer", "normalizer", "specials")
        if any(report.checked[part] != "the same" for part in parts if part != "ids" or not self.ignore_ids):
            return False
        if a.suffix != b.suffix or a.is_bytewise != b.is_bytewise or self.symbols(a) != self.symbols(b):
            return False
        if {*map(a.token, a.whole_piece_tokens.tolist())} != {*map(b.token, b.whole_piece_tokens.tolist())}:
            return False
        return bool(self.merge_alike)


@lru_cache(maxsize=4)
def _joint(first: Splitting, second: Splitting) -> Joint:
    return Joint(_hypotheses(first), _hypotheses(second))


@lru_cache(maxsize=16)
def _hypotheses(splitting: Splitting) -> Hypotheses:
    return find_hypotheses(splitting)


def _undecided(why: str, value: object) -> UnsupportedFeatureError:
    what = f"neither a difference nor equivalence can be claimed: {why}"
    return UnsupportedFeatureError(what, value=value) if value else UnsupportedFeatureError(what)


def _short_texts(longest: Literal[1, 2]) -> Iterator[str]:
    """Yield all texts of up to so many bytes."""
    of_one_byte = [*map(chr, range(0x80))]
    yield from of_one_byte
    if longest == 2:
        yield from map("".join, product(of_one_byte, repeat=2))
        yield from map(chr, range(0x80, 0x800))


def _in_bytes(text: str) -> int:
    return len(text.encode())


def _size_and_text(text: str) -> tuple[int, str]:
    return len(text), text


def _lacks_ids(of: Neighbours) -> bool:
    """Tell whether there are live tokens without ids, those left out that have bytes which no text has."""
    return any(_NO_TEXT.isdisjoint(of.words[number]) for number in of.live[of.ids[of.live] < 0].tolist())


def _ids(tokenizer: Tokenizer, text: str) -> tuple[int, ...] | None:
    try:
        return tuple(tokenizer.encode(text).tolist())
    except AlphabetError:
        return None


def _spelled(tokenizer: Tokenizer, ids: tuple[int, ...] | None) -> list[bytes] | None:
    if ids is None:
        return None
    text, offsets = tokenizer.id_spellings
    return [text[offsets[i] : offsets[i + 1]].tobytes() for i in ids]


def _as_text(word: object) -> str | None:
    if isinstance(word, bytes):
        try:
            return word.decode()
        except UnicodeDecodeError:
            return None
    return word if isinstance(word, str) else None


def _texts_of_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    text, offsets = tokenizer.spellings
    data, bounds = text.tobytes(), offsets.tolist()
    shown = _Comparer.splitting(tokenizer).metaspace or SPACE
    for begin, end in pairwise(bounds):
        word = _as_text(data[begin:end])
        if word:
            yield word if tokenizer.is_bytewise else word.replace(shown, " ")
