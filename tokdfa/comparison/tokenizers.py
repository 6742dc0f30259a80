"""Comparing two tokenizers: the relation from texts to ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Literal, cast

import numpy as np

from tokdfa.comparison.dictionaries import compare_dictionaries
from tokdfa.comparison.joint import Joint
from tokdfa.comparison.result import Comparison, Difference
from tokdfa.comparison.separation import Separation
from tokdfa.comparison.vocabularies import Vocabularies
from tokdfa.errors import AlphabetError, LimitExceededError, PatternError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.contents import Special, Splitting
from tokdfa.tokenizers.hypotheses import Hypotheses, find_hypotheses
from tokdfa.tokenizers.normalizers import Normalizer
from tokdfa.tokenizers.relation import splitting_form
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.transducers.one_pass import agrees_with_leftmost

__all__ = ["compare_tokenizers"]

_MOST_TEXTS = 20_000
_MOST_SECONDS = 5.0
_WHOLE = Splitting("tokenizers")
# Bytes that UTF-8 does not have.
_NO_TEXT = frozenset((0xC0, 0xC1, *range(0xF5, 0x100)))


def compare_tokenizers(a: Tokenizer, b: Tokenizer, *, ignore_ids: bool = False) -> Comparison:
    """Decide whether two tokenizers give every text the same ids, whatever it is that they differ in.

    The witness against it is a text of the fewest bytes, then with the fewest tokens in both, then the least; of ties
    among texts of more than two bytes only those are looked at that are found within seconds. Where
    ``checked["shortest"]`` is not "proven", it is a text that separates them, and shorter ones have not been excluded.

    Parameters
    ----------
    a, b : Tokenizer
    ignore_ids : bool
        Whether it is enough that tokens are spelled alike.

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
    if a.fingerprint == b.fingerprint:
        return Comparison(True, None, "the tokenizers are the same", checked={"everything": "the same"})
    return _Comparer(a, b, ignore_ids).run()


class _Comparer:
    def __init__(self, a: Tokenizer, b: Tokenizer, ignore_ids: bool) -> None:
        self.a = a
        self.b = b
        self.ignore_ids = ignore_ids

    def run(self) -> Comparison:
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
        if a.dictionary == b.dictionary and (a.merges is None) == (b.merges is None):
            checked["dictionary"] = "the same"
        elif a.dictionary.alphabet.kind == b.dictionary.alphabet.kind and self.are_proper():
            report = compare_dictionaries(a.dictionary, b.dictionary)
            checked["dictionary"] = "the same tokens of every piece" if report else "other tokens of some pieces"
        else:
            checked["dictionary"] = "another"
        others = self.other_ids()
        checked["ids"] = f"of {others:,} tokens others" if others else "the same"
        if self.ignore_ids:
            checked["ids"] += ", ignored"
        splittings = [self.splitting(side) for side in (a, b)]
        same_pieces = splittings[0] == splittings[1] or splitting_form(splittings[0]) == splitting_form(splittings[1])
        checked["pretokenizer"] = "the same" if same_pieces else "other pieces of some texts"
        same_normalizer = self.normalizer(a) == self.normalizer(b)
        checked["normalizer"] = "the same" if same_normalizer else "another"
        checked["specials"] = "the same" if self.specials(a) == self.specials(b) else "others"
        return replace(report, checked=checked)

    def are_proper(self) -> bool:
        return all(
            side.merges is None and side.dictionary.is_proper() and agrees_with_leftmost(side.dictionary)
            for side in (self.a, self.b)
        )

    def other_ids(self) -> int:
        ids = [
            dict(zip(side.dictionary.alphabet, side.token_to_id.tolist(), strict=False)) for side in (self.a, self.b)
        ]
        return sum(ids[1].get(word, id) != id for word, id in ids[0].items())

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
        if not self.are_proper():
            return "pairs of neighbours do not tell everything of a dictionary"
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
        if any(_lacks_ids(side) for side in (a, b)):
            return "there are tokens without ids"
        return None

    def by_search(self, report: Comparison) -> Comparison:
        splittings = [self.splitting(side) for side in (self.a, self.b)]
        try:
            joint = _joint(*splittings)
        except (PatternError, LimitExceededError, UnsupportedFeatureError) as error:
            return self.without_search(report, f"of a pre-tokenizer: {error.what}")
        first_byte = None if splittings[0].prefix_space is None else ord(" ")
        search = Separation(joint, Vocabularies(self.a, self.b, ignore_ids=self.ignore_ids), first_byte)
        places = search.shortest()
        if places and places[0].length <= 3 and (found := self.least(_short_texts(2))) is not None:
            return self.different(report, found, proven=True)
        texts = search.texts(places, most=_MOST_TEXTS, seconds=_MOST_SECONDS) if places else []
        candidates = [data.decode() for data in texts]
        # The space may be one that was put in.
        candidates += [text[1:] for text in candidates if first_byte is not None and text[1:] and text[1] != " "]
        least = places[0].length - (first_byte is not None) if places else None
        # Only texts with these can differ where merging gives the same.
        others = sorted({*self.other_specials(), *self.whole_pieces()}, key=_in_bytes)
        if others:
            least = min(_in_bytes(others[0]), _in_bytes(others[0]) if least is None else least)
        found = self.least([*candidates, *others])
        if found is not None and least is not None:
            # A text may be shorter than what it is normalized to.
            proven = self.normalizer(self.a) is None and _in_bytes(str(found.text)) <= least
            return self.different(report, found, proven=proven)
        if places:
            raise _undecided("no text was found that shows where they part", candidates[:1])
        if others and not self.have_same_parts(report):
            raise _undecided("their special tokens or whole pieces are others", others[0])
        checked = {**report.checked, "search": "texts of any length"}
        return replace(report, holds=True, witness=None, reason="every text has the same ids", checked=checked)

    def other_specials(self) -> set[str]:
        """Return what only one finds as a special token."""
        return {special.text for special in self.specials(self.a) ^ self.specials(self.b)}

    def whole_pieces(self) -> set[str]:
        """Return the tokens that come about as whole pieces only."""
        words = (side.token(number) for side in (self.a, self.b) for number in side.whole_piece_tokens.tolist())
        return {text for word in words if (text := _as_text(word)) is not None}

    def without_search(self, report: Comparison, obstacle: str) -> Comparison:
        """Answer by the parts alone, where the search cannot tell."""
        if self.have_same_parts(report):
            return replace(report, holds=True, witness=None, reason="their parts are the same")
        found = self.least(_short_texts(2))
        if found is not None:
            return self.different(report, found, proven=True)
        words = {*_texts_of_tokens(self.a), *_texts_of_tokens(self.b)}
        if isinstance(report.witness, Difference) and (text := _as_text(report.witness.text)) is not None:
            words.add(text)
        found = self.least(sorted(words | self.other_specials(), key=len))
        if found is None:
            raise _undecided(obstacle, None)
        return self.different(report, found, proven=False)

    def have_same_parts(self, report: Comparison) -> bool:
        a, b = self.a, self.b
        parts = ("ids", "pretokenizer", "normalizer", "specials")
        if any(report.checked[part] != "the same" for part in parts if part != "ids" or not self.ignore_ids):
            return False
        if a.suffix != b.suffix or a.is_bytewise != b.is_bytewise or self.symbols(a) != self.symbols(b):
            return False
        if {*map(a.token, a.whole_piece_tokens.tolist())} != {*map(b.token, b.whole_piece_tokens.tolist())}:
            return False
        if self.are_proper():
            return bool(report)
        same = a.dictionary == b.dictionary and (a.merges is None) == (b.merges is None)
        if same and a.merges is not None and b.merges is not None:
            same = a.extra_tokens == b.extra_tokens and all(map(np.array_equal, a.merges, b.merges))
        return same


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


def _lacks_ids(tokenizer: Tokenizer) -> bool:
    """Tell whether there are live tokens without ids, those left out that have bytes which no text has."""
    without = np.flatnonzero((tokenizer.dfa.birth >= 0) & (tokenizer.token_to_id[: len(tokenizer.dfa.birth)] < 0))
    return any(_NO_TEXT.isdisjoint(cast(bytes, tokenizer.token(number))) for number in without.tolist())


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


def _texts_of_tokens(tokenizer: Tokenizer) -> list[str]:
    words = (_as_text(word) for word in (*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens))
    return [word for word in words if word]
