"""The function `bounds`: the fewest and the most bytes, characters and tokens of texts, with texts that have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.measures.byte_tables import of_formula
from tokdfa.jobs.measures.climbing import RESET, Climb, are_final, reach, start_of
from tokdfa.jobs.measures.extremes import Bounds, Extreme, Extremes
from tokdfa.jobs.measures.pairs import Found, Product, Side
from tokdfa.jobs.measures.paths import Paths, Weights
from tokdfa.jobs.measures.ratios import Pumped, Ratio, greatest_ratio, pumped
from tokdfa.jobs.measures.sized import MAX_BYTES, Bound, SizedSearch, fewest_coins
from tokdfa.jobs.measures.streams import streams_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["bounds"]

_MOST_TRIED = 1000
_SECONDS_FOR_TEXT = 20.0
# Of these characters, all with four bytes, some have four tokens in nearly all tokenizers.
_LONG_CHARACTERS = range(0x10000, 0x110000, 64)


def bounds(
    tokenizer: AnyTokenizer,
    *,
    language: str | None = None,
    n_bytes: int | None = None,
    other: AnyTokenizer | None = None,
    max_seconds: float = 600.0,
) -> Bounds:
    """Return the fewest and the most bytes and characters a token, and tokens a text, over all texts.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes that encodes texts unchanged, or brings them into a normalization form first.
    language : str, optional
        A regular expression; only the texts count that it matches from beginning to end.
    n_bytes : int, optional
        Count the tokens of texts of this number of bytes.
    other : AnyTokenizer, optional
        Another tokenizer, for the most tokens that it has for each token of the first.
    max_seconds : float
        The most processor time of a proof. When it is over, a text and the bound that is proved are the answer.

    Returns
    -------
    Bounds

    Raises
    ------
    PatternError
        If no text is in the language, or none of it has so many bytes.
    UnsupportedFeatureError
        If the canonical streams of a tokenizer are not known id by id.
    LimitExceededError
        If no text was found in time.

    Notes
    -----
    Texts are valid UTF-8, as tokenizers encode them, not any bytes; control tokens are not part of them. A ratio is
    over all texts that are not empty. For tokenizers that normalize, the texts are those that are normal.

    Examples
    --------
    >>> found = tokdfa.bounds(tokdfa.default_tokenizer(), language="[a-z]+")
    >>> str(found.bytes.most.value), found.bytes.most.text
    ('10', 'oluntarily')
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.bounds(tokenizer)")
    if n_bytes is not None and (isinstance(n_bytes, bool) or not isinstance(n_bytes, (int, np.integer))):
        raise WrongTypeError("a number of bytes is whole", value=n_bytes)
    if n_bytes is not None and not 0 <= n_bytes <= MAX_BYTES:
        raise WrongTypeError(f"a number of bytes is from 0 to {MAX_BYTES}", value=n_bytes)
    question = _Question(tokenizer, language, Budget(max_seconds=max_seconds, what="the graph of canonical streams"))
    found = question.ratios()
    tokens = None
    if n_bytes is not None:
        tokens = question.tokens_of_size(int(n_bytes))
    elif language is not None:
        tokens = question.tokens_of_language()
    return Bounds(*found, tokens=tokens, other=None if other is None else question.most_of(other))


def n_leads(tokenizer: AnyTokenizer) -> Int64Array:
    """Return the number of characters that begin in each id."""
    text, offsets = tokenizer.id_spellings
    begun = np.append(0, np.cumsum((text & 0xC0) != 0x80))
    found = np.diff(begun[offsets]).astype(np.int64)
    found[tokenizer.control_ids] = 0
    return found


class _Question:
    """The texts of a tokenizer in a language, and what was found out about their graph so far."""

    def __init__(self, tokenizer: AnyTokenizer, language: str | None, budget: Budget) -> None:
        self._tokenizer, self._language = tokenizer, language
        self._streams = streams_of(tokenizer, language)
        self._size = of_formula(tokenizer, "bytes").counts
        none = np.zeros_like(self._size)
        self._paths = Paths(self._streams, Weights(none[None], self._size[None], none), budget)
        # A text is found even if the time for a proof is over.
        self._for_texts = self._paths.within(Budget(max_seconds=_SECONDS_FOR_TEXT, what="a first text"))
        self._has_empty = self._streams.is_final(0)
        self._reached: Climb | None = None
        self._potentials: dict[int, Ratio] = {}

    def _all_states(self) -> Climb:
        if self._reached is None:
            self._reached = reach(self._paths)
        return self._reached

    # Ratios

    def ratios(self) -> tuple[Extremes, Extremes]:
        """Return the fewest and the most bytes and characters a token."""
        one, size, leads = np.ones_like(self._size), self._size, n_leads(self._tokenizer)
        most = [Fraction(int(per[self._streams.ordinary].max(initial=1))) for per in (size, leads)]
        found = [
            Extremes(self._ratio(one, per, upper, inverted=True), self._ratio(per, one, longest, inverted=False))
            for per, upper, longest in ((size, Fraction(1), most[0]), (leads, Fraction(4), most[1]))
        ]
        return found[0], found[1]

    def _ratio(self, gain: Int64Array, cost: Int64Array, upper: Fraction, *, inverted: bool) -> Extreme:
        """Return the most gain a cost, which is at most `upper`; inverted, the least cost a gain."""
        value, ids = self._first(gain, cost)
        stream, proved = Pumped(after=ids), upper
        if value < upper:
            try:
                ratio = greatest_ratio(self._paths, self._all_states(), gain, cost, ids)
                proved = ratio.value
                if self._is_encoded(ratio.stream):
                    value, stream = ratio.value, ratio.stream
                if cost is self._size or gain is self._size:
                    self._potentials[-1 if inverted else 1] = ratio
            except LimitExceededError:
                pass
        return self._extreme(stream, *((1 / value, 1 / proved) if inverted else (value, proved)))

    def _first(self, gain: Int64Array, cost: Int64Array) -> tuple[Fraction, tuple[int, ...]]:
        """Return a text with a great ratio, and that."""
        candidates = [(id,) for id in self._whole_texts() if cost[id]]
        candidates.sort(key=lambda ids: -Fraction(int(gain[ids[0]]), int(cost[ids[0]])))
        tried = [*islice(self._encoded(candidates[:_MOST_TRIED]), 1)]
        if self._language is None and not gain.max() > 1:
            texts = [chr(code) for code in _LONG_CHARACTERS]
            tried += self._encoded(tuple(self._tokenizer.encode(text).tolist()) for text in texts)
        if not tried:
            tried = [*islice(self._encoded(self._short_texts()), 1)]
        if not tried:
            raise LimitExceededError("no text was found that is not empty")
        best = max(tried, key=lambda ids: Fraction(int(gain[[*ids]].sum()), int(cost[[*ids]].sum())))
        return Fraction(int(gain[[*best]].sum()), int(cost[[*best]].sum())), best

    def _whole_texts(self) -> list[int]:
        """Return the ids that are the only one of a stream."""
        codes, ids = self._for_texts.following(0, np.zeros(1, dtype=np.int64), None)
        return ids[are_final(self._paths, codes)].tolist() if len(ids) else []

    def _short_texts(self) -> Iterator[tuple[int, ...]]:
        """Yield streams of one id or more, one for each final state, the shortest first."""
        climb, is_any = start_of(self._for_texts), False
        while len(climb.frontier):
            reached = climb.advance()
            for code in reached[are_final(self._for_texts, reached)].tolist():
                is_any = True
                yield tuple(climb.path(code)[1])
        if not is_any:
            what = "only the empty text" if self._has_empty else "no text without control tokens"
            raise PatternError(f"{what} is in the language", value=self._language)

    def _encoded(self, streams: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        """Yield the streams that the tokenizer gives for their texts."""
        return (ids for ids in streams if self._is_encoded(Pumped(after=ids)))

    def _is_encoded(self, stream: Pumped) -> bool:
        for times in (1, 2, 3) if stream.repeated else (1,):
            text = self._tokenizer.decode(stream.ids(times))
            if tuple(self._tokenizer.encode(text).tolist()) != stream.ids(times):
                return False
        return True

    # Tokens

    def tokens_of_language(self) -> Extremes:
        """Return the fewest and the most tokens of a text of the language."""
        try:
            return self._all_tokens_of_language()
        except LimitExceededError:
            stream = self._verified(Pumped(after=ids) for ids in self._short_texts())
            n, least = Fraction(len(stream.ids())), Fraction(int(not self._has_empty))
            return Extremes(self._extreme(stream, n, least), self._extreme(stream, n, None))

    def _all_tokens_of_language(self) -> Extremes:
        fewest = self._fewest()
        climb = Climb(self._paths, np.ones_like(self._size), self._all_states().codes)
        cycle = climb.cycle()
        if cycle is not None:
            stream = pumped(self._paths, *cycle, self._all_states())
            return Extremes(fewest, self._extreme(self._verified([stream]), None, None))
        ends = climb.codes[are_final(self._paths, climb.codes)]
        ends = ends[np.argsort(-climb.sum_of(ends), kind="stable")]
        proved = Fraction(int(climb.sum_of(ends[:1])[0]))
        stream = self._verified(Pumped(after=tuple(climb.path(code)[1])) for code in ends.tolist())
        return Extremes(fewest, self._extreme(stream, Fraction(len(stream.ids())), proved))

    def _fewest(self) -> Extreme:
        reached = self._all_states()
        ends = reached.codes[are_final(self._paths, reached.codes)]
        streams = sorted((tuple(reached.path(code)[1]) for code in ends.tolist()), key=len)
        stream = self._verified(Pumped(after=ids) for ids in streams)
        return self._extreme(stream, Fraction(len(stream.ids())), Fraction(len(streams[0])))

    def _verified(self, streams: Iterable[Pumped]) -> Pumped:
        """Return the first stream that the tokenizer gives for its text."""
        for stream in islice(streams, _MOST_TRIED):
            if self._is_encoded(stream):
                return stream
        raise LimitExceededError("no text was found that the tokenizer leaves unchanged", value=self._language)

    def tokens_of_size(self, n_bytes: int) -> Extremes:
        """Return the fewest and the most tokens of texts of a number of bytes."""
        if self._language is not None and not self._streams.texts.has_size(n_bytes):
            raise PatternError(f"no text of the language has {n_bytes} bytes", value=self._language)
        return Extremes(*(self._of_size(n_bytes, sign) for sign in (1, -1)))

    def _of_size(self, n_bytes: int, sign: int) -> Extreme:
        sizes = self._size[self._streams.ordinary]
        coins = fewest_coins(sizes, n_bytes, sign)
        limits: list[Bound] = [lambda codes, missing: coins[missing]]
        if sign in self._potentials:
            limits.append(self._by_potentials(self._potentials[sign], sign))
        search = SizedSearch(self._paths, n_bytes, sign, limits)
        proved = tokens = search.first_bound()
        is_open = False
        try:
            while tokens <= max(sign * n_bytes, 0):
                for ids in search.streams(tokens):
                    if self._is_encoded(Pumped(after=ids)):
                        return self._extreme(Pumped(after=ids), Fraction(len(ids)), Fraction(sign * proved))
                    is_open = True
                tokens += 1
                proved = proved if is_open else tokens
        except LimitExceededError:
            pass
        search = SizedSearch(self._for_texts, n_bytes, sign, limits)
        for ids in search.streams(max(sign * n_bytes, 0)):
            if self._is_encoded(Pumped(after=ids)):
                return self._extreme(Pumped(after=ids), Fraction(len(ids)), Fraction(sign * proved))
        raise PatternError(f"no text without control tokens has {n_bytes} bytes", value=self._language)

    def most_of(self, other: AnyTokenizer) -> Extreme:
        """Return the most tokens of another tokenizer for each token of this one."""
        others = Side(other, streams_of(other, self._language))
        product = Product(Side(self._tokenizer, self._streams), others, self._paths.budget)
        stream, value = self._first_of_other(other)
        proved = max(Fraction(int(product.most.max())), value)
        try:
            if value < proved:
                product.prepare()
                proved = max(Fraction(product.greatest()), value)
            for from_start in (False, True):
                ratio = value if from_start else max(value, Fraction(1))
                while value < proved and (found := product.cycle(ratio, from_start=from_start)) is not None:
                    ratio, better = self._better(found)
                    if self._ratio_of(better, other) == ratio:
                        value, stream = ratio, better
                proved = min(proved, ratio)
        except LimitExceededError:
            pass
        return self._extreme(stream, value, proved)

    def _better(self, found: Found) -> tuple[Fraction, Pumped]:
        """Return the ratio of a cycle of the product, with the stream of the first tokenizer."""
        if RESET not in found.steps:
            ratio = Fraction(sum(found.counts), len(found.steps))
            return ratio, pumped(self._paths, found.state, found.steps)
        begin = found.steps.index(RESET) + 1
        texts: list[list[tuple[int, int]]] = [[]]
        steps = [*zip(found.steps, found.counts, strict=True)]
        for step in steps[begin:] + steps[:begin]:
            texts.append([]) if step[0] == RESET else texts[-1].append(step)
        ratio, ids = max(
            (Fraction(sum(n for _, n in text), len(text)), [id for id, _ in text]) for text in texts if text
        )
        return ratio, Pumped(after=tuple(ids))

    def _ratio_of(self, stream: Pumped, other: AnyTokenizer) -> Fraction | None:
        """Return the tokens of another tokenizer for each token of a stream, or of its part; None if it has no text."""
        counts = []
        for times in (8, 16) if stream.repeated else (1,):
            ids = stream.ids(times)
            text = self._tokenizer.decode(ids)
            given = other.encode(text)
            if tuple(self._tokenizer.encode(text).tolist()) != ids or other.decode(given) != text:
                return None
            counts.append((len(given), len(ids)))
        more, less = counts[-1], counts[0] if stream.repeated else (0, 0)
        return Fraction(more[0] - less[0], more[1] - less[1])

    def _first_of_other(self, other: AnyTokenizer) -> tuple[Pumped, Fraction]:
        """Return a text with many tokens of another tokenizer for each token, or one that is repeated."""
        ids = self._whole_texts()
        count = {id: len(other.encode(self._tokenizer.decode([id]))) for id in ids}
        ids.sort(key=lambda id: -count[id])
        tried = [Pumped(after=(id,)) for id in ids[:_MOST_TRIED]]
        tried += [Pumped(repeated=(id,)) for id in ids[:_MOST_TRIED]]
        tried = tried or [Pumped(after=self._first(np.ones_like(self._size), self._size)[1])]
        found = [(ratio, stream) for stream in tried if (ratio := self._ratio_of(stream, other)) is not None]
        if not found:
            raise LimitExceededError("no text was found that both tokenizers leave unchanged")
        ratio, stream = max(found, key=lambda pair: pair[0])
        return stream, ratio

    def _by_potentials(self, ratio: Ratio, sign: int) -> Bound:
        """Return the bound of the tokens that the potentials of a greatest ratio prove."""
        climb, top, bottom = ratio.potentials, ratio.value.numerator, ratio.value.denominator
        highest = int(climb.sum_of(climb.codes[are_final(self._paths, climb.codes)]).max())

        def bound(codes: Int64Array, missing: Int64Array) -> Int64Array:
            rise = highest - climb.sum_of(codes)
            if sign > 0:
                return -((rise - bottom * missing) // top)
            return -((top * missing + rise) // bottom)

        return bound

    def _extreme(self, stream: Pumped, value: Fraction | None, proved: Fraction | None) -> Extreme:
        data = self._tokenizer.decode_bytes(stream.ids())
        begin = len(self._tokenizer.decode_bytes(stream.before))
        part = self._tokenizer.decode_bytes(stream.repeated)
        # A part that begins within a character is shown from the next one on.
        while part and begin < len(data) and data[begin] & 0xC0 == 0x80:
            part, begin = part[1:] + part[:1], begin + 1
        repeated = part.decode("utf-8") if stream.repeated else None
        return Extreme(value, proved, data.decode("utf-8"), stream.ids(), repeated)
