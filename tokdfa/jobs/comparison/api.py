"""The function `compare`, and how it compares two byte pair tokenizers: by the relation from texts to ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final, Literal, cast

from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.texts import language_of, regular
from tokdfa.base.errors import AlphabetError, LimitExceededError, PatternError, TokdfaError, UnsupportedFeatureError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.comparison import models
from tokdfa.jobs.comparison.dictionaries import by_length, compare_dictionaries
from tokdfa.jobs.comparison.joint import Joint
from tokdfa.jobs.comparison.longest_match import compare_longest_matches
from tokdfa.jobs.comparison.parts import Parts, as_text
from tokdfa.jobs.comparison.restricted import Texts, as_seen_by, restricted
from tokdfa.jobs.comparison.result import (
    NOTHING_APART,
    Comparison,
    Difference,
    Obstacle,
    Outcome,
    Part,
    Stage,
    Step,
    confirmed,
    rule_words,
    undecided_words,
)
from tokdfa.jobs.comparison.separation import Separation, WholePieces, n_bytes
from tokdfa.jobs.comparison.vocabularies import Vocabularies
from tokdfa.tokenizers.pretokenizers.finding import find_split_nfa
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.twins import SpecialsPolicy, with_specials

__all__ = ["compare"]


def compare_tokenizers(
    a: Tokenizer,
    b: Tokenizer,
    *,
    ignore_ids: bool = False,
    progress: Callable[[Stage], object] | None = None,
    texts: Texts | None = None,
    tuning: models.Tuning = models.DEFAULT,
) -> Comparison:
    """Decide whether two tokenizers give every text the same ids, despite any differences.

    The witness of a difference is a text with the fewest bytes, then with the fewest tokens in both, then the least. Of
    ties among texts of more than two bytes, only those found within seconds are considered. If ``checked["shortest"]``
    is unproven, the text separates the two, but shorter ones have not been excluded. Options and errors as in
    :func:`tokdfa.compare`.

    Notes
    -----
    Equivalence is proven by a search through the product of the automata of both, which ends; differences are always
    confirmed by encoding. Both cut texts at the special tokens alike, if these are the same. If nothing separates any
    texts, nothing separates those that a normalizer gives.
    """
    # PERF: most that differ do so in the first two, which need no spellings of tokens (0.4 s for Gemma).
    if a.splitting == b.splitting and a.rewrites == b.rewrites and a.made_of == b.made_of:
        return Comparison(True, checked={Part.EVERYTHING: Outcome.SAME}, **NOTHING_APART)
    if texts is not None:
        a, b = as_seen_by(texts, a), as_seen_by(texts, b)
    return _Comparer(Parts(a, b, ignore_ids=ignore_ids), progress, tuning, texts).run()


class _Comparer:
    """A comparison by a search through texts if that can decide, and otherwise by the parts and by trying texts."""

    def __init__(
        self,
        parts: Parts,
        progress: Callable[[Stage], object] | None,
        tuning: models.Tuning,
        language: Texts | None = None,
    ) -> None:
        self.parts = parts
        self.tuning = tuning
        self.language = language
        self.a = parts.a
        self.b = parts.b
        self.ignore_ids = parts.ignore_ids
        self.progress = progress

    def say(self, step: Step) -> None:
        """Report the current stage, if progress is wanted."""
        if self.progress is not None:
            self.progress(Stage(step))

    def run(self) -> Comparison:
        self.say(Step.DICTIONARIES)
        report = self.parts.report
        # The search would find these as well, but here they are found at once, and even if it cannot be used.
        found = self.least(self.short_texts(1))
        if found is not None:
            return self.different(found, proven=True)
        obstacle = self.parts.obstacle()
        return self.by_search(report) if obstacle is None else self.without_search(report, obstacle)

    # Texts

    def short_texts(self, longest: Literal[1, 2]) -> Iterable[str]:
        """Return all texts of up to `longest` bytes, if they are to be tried."""
        return models.short_texts(longest) if longest <= self.tuning.longest_tried else ()

    def counts(self, text: str) -> bool:
        """Return whether a text is one of those that are compared."""
        return self.language is None or text in self.language

    def difference(self, text: str) -> Difference | None:
        """Return the difference on a text, if there is one."""
        names = partial(_spelled, self.a), partial(_spelled, self.b)
        return confirmed(self.a, self.b, text, names if self.ignore_ids else None)

    def least(self, texts: Iterable[str]) -> Difference | None:
        """Return the least of the differences on texts: by number of bytes, then of tokens, then by order."""
        best: tuple[tuple[int, int, bytes], Difference] | None = None
        texts = filter(self.counts, texts)
        for text in models.unlike(self.a, self.b, texts, ignore_ids=self.ignore_ids):
            data = text.encode()
            if best is not None and len(data) > best[0][0]:
                continue
            found = self.difference(text)
            if found is not None:
                key = len(data), len(found.tokens_a or ()) + len(found.tokens_b or ()), data
                if best is None or key < best[0]:
                    best = key, found
        return None if best is None else best[1]

    def different(self, found: Difference, *, proven: bool) -> Comparison:
        report = self.parts.report
        checked = {**report.checked, Part.SHORTEST: Outcome.PROVEN if proven else Outcome.UNPROVEN}
        return replace(report, holds=False, witness=found, checked=checked)

    # Answers

    def by_search(self, report: Comparison) -> Comparison:
        """Answer by a search through texts of any length."""
        splittings, both = self.parts.splittings, self.parts.neighbours
        assert both is not None, "an obstacle"
        self.say(Step.PRETOKENIZERS)
        try:
            joint = _joint(*splittings) if self.language is None else _joint_on(self.language, *splittings)
        except (PatternError, LimitExceededError, UnsupportedFeatureError) as error:
            return self.without_search(report, Obstacle.PRETOKENIZER, error)
        first_byte = None if splittings[0].prefix_space is None else ord(" ")
        search = Separation(joint, Vocabularies(*both, ignore_ids=self.ignore_ids), first_byte, self.progress)
        divergences = search.shortest()
        if divergences and divergences[0].length <= 3 and (found := self.least(self.short_texts(2))) is not None:
            return self.different(found, proven=True)
        self.say(Step.TRIALS)
        texts = (
            search.texts(divergences, most=self.tuning.max_texts, seconds=self.tuning.max_seconds)
            if divergences
            else []
        )
        candidates = [data.decode() for data in texts]
        # The space may be one that was inserted.
        candidates += [text[1:] for text in candidates if first_byte is not None and text[1:] and text[1] != " "]
        least = divergences[0].length - (first_byte is not None) if divergences else None
        # If merging gives the same, only texts with these can differ.
        other_specials = self.parts.other_specials
        whole_words = (self.parts.whole_words(side) for side in (self.a, self.b))
        others = sorted(other_specials.union(*whole_words), key=n_bytes)
        if others:
            least = min(n_bytes(others[0]), n_bytes(others[0]) if least is None else least)
        parting = self.parting_whole_pieces(joint)
        beside = models.around(sorted(other_specials, key=by_length)[: self.tuning.max_specials])
        found = self.least(chain(candidates, others, parting, beside))
        if found is not None and least is not None:
            # A text may be shorter than its normalized form.
            proven = not self.parts.is_normalized and n_bytes(str(found.text)) <= least
            return self.different(found, proven=proven)
        if divergences:
            raise UnsupportedFeatureError(undecided_words(Obstacle.NO_TEXT_FOUND), value=candidates[:1])
        if other_specials:
            least_special = min(other_specials, key=n_bytes)
            raise UnsupportedFeatureError(undecided_words(Obstacle.SPECIALS), value=least_special)
        if parting:
            raise UnsupportedFeatureError(undecided_words(Obstacle.WHOLE_PIECES), value=parting[0])
        return replace(report, holds=True, witness=None, checked={**report.checked, Part.SEARCH: Outcome.COMPLETE})

    def parting_whole_pieces(self, joint: Joint) -> list[str]:
        """Return texts with a piece that only one of the two emits without merging."""
        words = [self.parts.whole_words(side) for side in (self.a, self.b)]
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
        return sorted(found, key=n_bytes)

    def without_search(self, report: Comparison, obstacle: Obstacle, cause: TokdfaError | None = None) -> Comparison:
        """Answer by the parts alone, if the search cannot decide."""
        if self.parts.are_same():
            return replace(report, holds=True, witness=None)
        self.say(Step.TRIALS)
        found = self.least(self.short_texts(2))
        if found is not None:
            return self.different(found, proven=True)
        for texts in self.texts_to_try(report):
            found = self.least(texts)
            if found is not None:
                found = self.shorter(found)
                # No text of up to two bytes separates them.
                proven = self.tuning.longest_tried >= 2 and n_bytes(cast(str, found.text)) <= 3
                return self.different(found, proven=proven)
        rules = rule_words(report)
        hint = None if rules is None else f"rules: {rules}"
        raise UnsupportedFeatureError(undecided_words(obstacle, "" if cause is None else cause.what), hint=hint)

    def texts_to_try(self, report: Comparison) -> Iterator[Iterable[str]]:
        """Yield texts around the rules that only one has, and then others, each kind for some seconds."""
        a, b, seconds = self.a, self.b, self.tuning.max_seconds
        yield chain(models.texts_of_rules(a, report.rules_only_a), models.texts_of_rules(b, report.rules_only_b))
        tables = [splitting.table for splitting in self.parts.splittings]
        yield models.within(seconds, models.texts_of_tables(tables[0], tables[1]))
        text = None if report.witness is None else as_text(report.witness.text)
        specials = sorted(self.parts.other_specials, key=by_length)
        yield models.within(seconds, chain([] if text is None else [text], models.around(specials)))
        words = models.texts_of_tokens(a, b)
        yield models.within(seconds, words)
        yield models.within(seconds, models.random_texts(words, specials))

    def shorter(self, found: Difference) -> Difference:
        """Return a difference on a part of the text of another one."""
        text = models.shrunk(cast(str, found.text), self.separates)
        return self.difference(text) or found

    def separates(self, text: str) -> bool:
        """Return whether a text that counts separates the two."""
        return bool(text) and self.counts(text) and self.difference(text) is not None


@lru_cache(maxsize=4)
def _joint(first: Splitting, second: Splitting) -> Joint:
    return Joint(find_split_nfa(first), find_split_nfa(second))


def _joint_on(texts: Texts, first: Splitting, second: Splitting) -> Joint:
    return Joint(restricted(find_split_nfa(first), texts), find_split_nfa(second))


def _spelled(tokenizer: Tokenizer, ids: Sequence[int]) -> list[bytes]:
    return [tokenizer.name_of(id) for id in ids]


def compare(
    a: Dictionary | AnyTokenizer,
    b: Dictionary | AnyTokenizer,
    *,
    ignore_ids: bool = False,
    texts: str | None = None,
    special_tokens: SpecialsPolicy | None = None,
    progress: Callable[[Stage], object] | None = None,
) -> Comparison:
    """Decide whether two dictionaries, or two tokenizers, give every text the same tokens.

    Parameters
    ----------
    a, b : Dictionary or AnyTokenizer
        Two dictionaries, or two tokenizers of one algorithm. Dictionaries are compared by Algorithm 1, on all words
        over their base alphabet; tokenizers by the behaviour of their libraries, on all texts.
    ignore_ids : bool
        For tokenizers: whether to compare the spelling of tokens instead of their ids.
    texts : str, optional
        For tokenizers: a regular expression; only the texts that it matches as a whole are compared.
    special_tokens : {"found", "plain"}, optional
        Whether special tokens are found in texts, if not WordPiece; by default as each of the two does.
    progress : callable, optional
        For byte pair tokenizers: called from time to time with the :class:`Stage` of the comparison: its step, and the
        length of the texts that it has reached.

    Returns
    -------
    Comparison
        Truthy if they are equivalent; otherwise its witness is a text on which they differ.

    Raises
    ------
    WrongTypeError
        If one is neither a dictionary nor a tokenizer.
    AlphabetError
        If they are not two dictionaries, or two tokenizers.
    PatternError
        If `texts` cannot be read or matches no text, or `special_tokens` is another word.
    ImproperDictionaryError
        If a dictionary is not proper.
    UnsupportedFeatureError
        If neither a difference nor equivalence of two tokenizers could be established; the error says why. Or if they
        are of two algorithms.
    LimitExceededError
        If an automaton is too large.

    Examples
    --------
    >>> a = tokdfa.Dictionary([("a", "b"), ("b", "c")])
    >>> b = tokdfa.Dictionary([("b", "c"), ("a", "b")])
    >>> tokdfa.compare(a, b).witness
    Difference(text='abc', tokens_a=('ab', 'c'), tokens_b=('a', 'bc'))
    """
    if isinstance(a, Dictionary) and isinstance(b, Dictionary):
        if texts is not None or special_tokens is not None:
            raise UnsupportedFeatureError("dictionaries are compared on all texts, which have no special tokens")
        return compare_dictionaries(a, b)
    for given in (a, b):
        expect(given, (AnyTokenizer, Dictionary), "a tokenizer or a dictionary", "tokdfa.compare(a, b)")
    if not isinstance(a, AnyTokenizer) or not isinstance(b, AnyTokenizer):
        what = "only two dictionaries, or two tokenizers, can be compared"
        raise AlphabetError(what, value=f"{type(a).__name__} and {type(b).__name__}")
    if a.algorithm != b.algorithm:
        what = "only tokenizers of one algorithm can be compared"
        raise UnsupportedFeatureError(what, value=f"{a.algorithm} and {b.algorithm}")
    sides: Any = finding(a, special_tokens), finding(b, special_tokens)
    language = None if texts is None else language_of("texts", regular(texts, "regex", "texts"))
    if a.algorithm == "byte pair":
        found = compare_tokenizers(*sides, ignore_ids=ignore_ids, texts=language, progress=progress)
    elif sides[0].made_of == sides[1].made_of:
        found = Comparison(True, checked={Part.EVERYTHING: Outcome.SAME}, **NOTHING_APART)
    elif a.algorithm in _OF_MODELS:
        found = _OF_MODELS[a.algorithm](*sides, ignore_ids=ignore_ids)
    else:
        raise UnsupportedFeatureError("tokenizers of this algorithm cannot be compared", value=a.algorithm)
    if language is not None and found.witness is not None and str(found.witness.text) not in language:
        what = "only byte pair tokenizers are searched on some texts; these differ on another text"
        raise UnsupportedFeatureError(what, value=found.witness.text, where="texts")
    return replace(found, texts=texts)


_OF_MODELS: Final[dict[str, Callable[..., Comparison]]] = {
    "Unigram": models.compare_unigrams,
    "WordPiece": models.compare_wordpieces,
    "longest match": compare_longest_matches,
}


def finding(tokenizer: AnyTokenizer, special_tokens: SpecialsPolicy | None) -> AnyTokenizer:
    """Return a tokenizer that finds special tokens in texts, or does not; refuse models for which this is not known."""
    if special_tokens not in (None, "found", "plain"):
        raise PatternError("special tokens are found or plain", value=special_tokens, where="special_tokens")
    if special_tokens is None or tokenizer.finds_specials == (special_tokens == "found"):
        return tokenizer
    if tokenizer.algorithm == "WordPiece":
        what = f"special tokens are not {special_tokens} here: this model always finds them"
        raise UnsupportedFeatureError(what, value=tokenizer.algorithm)
    return with_specials(cast(Tokenizer, tokenizer), special_tokens)
