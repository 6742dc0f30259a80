"""The fewest and the most tokens of a text of a language, or of a number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.jobs.measures.attained import Texts
from tokdfa.jobs.measures.climbing import Climb
from tokdfa.jobs.measures.extremes import Extreme, Extremes
from tokdfa.jobs.measures.ratios import Pumped, Ratio, pumped
from tokdfa.jobs.measures.sized import Bound, SizedSearch, fewest_coins
from tokdfa.jobs.measures.streams import Streams
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import WordPieceTokenizer


def tokens_of_language(texts: Texts) -> Extremes:
    """Return the fewest and the most tokens of a text of the language."""
    least = Fraction(int(not texts.streams.is_final(0)))
    return Extremes(_or_short(_fewest, texts, least), _or_short(_most, texts, None))


def _or_short(find: Callable[[Texts], Extreme], texts: Texts, proved: Fraction | None) -> Extreme:
    """Return the extreme that is found within the time of a question; otherwise a short text, with a bound."""
    texts.begin_question()
    try:
        return find(texts)
    except LimitExceededError:
        stream = texts.first(texts.short())
        return texts.extreme(stream, texts.count(stream), proved)


def _fewest(texts: Texts) -> Extreme:
    streams = sorted(_paths(texts, texts.reached, texts.reached.ends), key=texts.count)
    stream = texts.first(streams)
    return texts.extreme(stream, texts.count(stream), texts.count(streams[0]))


def _paths(texts: Texts, climb: Climb, ends: Int64Array) -> Iterator[Pumped]:
    """Yield the streams that end in some states."""
    for code in ends.tolist():
        texts.paths.budget.check_time()
        yield Pumped(after=tuple(climb.path(code)[1]))


def _most(texts: Texts) -> Extreme:
    # Every state is reached from the beginning, and the sums of other paths are not greater.
    climb = Climb(texts.paths, texts.n_tokens, np.zeros(1, dtype=np.int64), are_all=False)
    cycle = climb.cycle()
    if cycle is None:
        ends = climb.ends[np.argsort(-climb.sum_of(climb.ends), kind="stable")]
        stream = texts.first(_paths(texts, climb, ends))
        return texts.extreme(stream, texts.count(stream), Fraction(climb.highest))
    words = _limited_words(texts.tokenizer, texts.streams)
    if words is not None:
        # Within a word nothing is repeated at will, but whole words may be.
        climb = Climb(texts.paths, words.begins, texts.reached.codes)
        cycle = climb.cycle()
        if cycle is None:
            return _most_of_words(texts, words, climb.highest)
    endless = pumped(texts.paths, *cycle, texts.reached)
    stream = texts.first(chain((endless,), endless.finite()))
    return texts.extreme(stream, None if stream is endless else texts.count(stream), None)


class _Words(NamedTuple):
    """Words of a limited number of characters: arrays with an entry a label."""

    limit: int
    begins: Int64Array  # 1 if a label begins a word
    characters: Int64Array  # How many characters of a word it has, the space before it left out


def _limited_words(tokenizer: AnyTokenizer, streams: Streams) -> _Words | None:
    """Return the words of WordPiece, which are unknown if they are longer than a limit; None for others."""
    if not isinstance(tokenizer, WordPieceTokenizer) or tokenizer.vocabulary.longest_word is None:
        return None
    begins = ~np.isin(streams.ids, [*tokenizer.language.words.continuations])
    characters = [len(word.decode().removeprefix(" ")) for word in streams.words]
    return _Words(tokenizer.vocabulary.longest_word, begins.astype(np.int64), np.array(characters, dtype=np.int64))


def _most_of_words(texts: Texts, words: _Words, n_words: int) -> Extreme:
    """Return the most tokens of texts with a number of words at most, each of a limited number of characters.

    In BERT, `jcfhb` may be repeated within a word, a token a letter, up to 100 letters. No cycle has more tokens a
    character than the last one that is found, and its potentials bound all other labels of a text.
    """
    tokens, characters = 0, 1
    streams: list[Iterator[Pumped]] = []
    while True:
        climb = Climb(texts.paths, characters * texts.n_tokens - tokens * words.characters, texts.reached.codes)
        cycle = climb.cycle()
        if cycle is None:
            break
        tokens, characters = len(cycle[1]), int(words.characters[cycle[1]].sum())
        streams.insert(0, _cut_short(texts, cycle, words.limit))
    proved = Fraction((tokens * n_words * words.limit + climb.highest) // characters)
    best = [stream for found in streams for stream in islice(found, 1)] or [texts.first(texts.short())]
    stream = max(best, key=texts.count)
    return texts.extreme(stream, texts.count(stream), proved)


def _cut_short(texts: Texts, cycle: tuple[int, list[int]], limit: int) -> Iterator[Pumped]:
    """Yield texts that repeat a cycle, with the last repetition cut, the longest first."""
    state, steps = cycle
    endless = pumped(texts.paths, state, steps, texts.reached)
    for n in range(limit, -1, -1):
        texts.paths.budget.check_time()
        repeated = (steps * (n // len(steps) + 1))[:n]
        after = () if n % len(steps) else endless.after
        text = texts.streams.spelled((*endless.before, *repeated, *after)).decode()
        stream = texts.of_text(text)
        if stream is not None:
            yield stream


def tokens_of_size(texts: Texts, n_bytes: int, potentials: dict[int, Ratio]) -> Extremes:
    """Return the fewest and the most tokens of texts of a number of bytes; `potentials` are as of `Ratios`."""
    if texts.language is not None and not texts.streams.has_size(n_bytes):
        raise PatternError(f"no text of the language has {n_bytes} bytes", value=texts.language)
    return Extremes(*(_of_size(texts, n_bytes, sign, potentials.get(sign)) for sign in (1, -1)))


def _of_size(texts: Texts, n_bytes: int, sign: int, ratio: Ratio | None) -> Extreme:
    texts.begin_question()
    limits = [_by_sizes(texts, n_bytes, sign)]
    if ratio is not None:
        limits.append(_by_potentials(ratio, sign))
    search = SizedSearch(texts.paths, n_bytes, sign, limits)
    proved = tokens = search.first_bound()
    last = max(sign * (n_bytes + 1), 0)
    is_open = False
    try:
        while tokens <= last:
            for labels in search.streams(tokens):
                stream = Pumped(after=labels)
                if texts.has(stream):
                    return texts.extreme(stream, texts.count(stream), Fraction(sign * proved))
                is_open = True
            tokens += 1
            proved = proved if is_open else tokens
    except LimitExceededError:
        pass
    search = SizedSearch(texts.paths_to_texts, n_bytes, sign, limits)
    for labels in search.streams(last):
        stream, is_open = Pumped(after=labels), True
        if texts.has(stream):
            return texts.extreme(stream, texts.count(stream), Fraction(sign * proved))
    if is_open:
        what = f"no text with {n_bytes} bytes was found that the tokenizer leaves unchanged"
        raise LimitExceededError(what, value=texts.language)
    raise PatternError(f"no text without control tokens has {n_bytes} bytes", value=texts.language)


def _by_sizes(texts: Texts, n_bytes: int, sign: int) -> Bound:
    """Return the bound by the sizes of labels alone; one label without bytes may come first."""
    ordinary = texts.streams.ordinary
    coins = fewest_coins(texts.n_bytes[ordinary], n_bytes, sign)
    silent = int(sign < 0 and not texts.n_bytes[ordinary].all())
    return lambda codes, missing: coins[missing] - silent * (codes == 0)


def _by_potentials(ratio: Ratio, sign: int) -> Bound:
    """Return the bound of the tokens that the potentials of a greatest ratio prove."""
    climb, top, bottom = ratio.potentials, ratio.value.numerator, ratio.value.denominator
    highest = climb.highest

    def bound(codes: Int64Array, missing: Int64Array) -> Int64Array:
        rise = highest - climb.sum_of(codes)
        if sign > 0:
            return -((rise - bottom * missing) // top)
        return -((top * missing + rise) // bottom)

    return bound
