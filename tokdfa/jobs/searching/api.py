"""Searching the text of id streams for patterns, on the ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int64Array, id_array
from tokdfa.base.budget import DEFAULT_MAX_SECONDS, DEFAULT_MAX_STATES
from tokdfa.base.errors import LimitExceededError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames, is_tokenizer, wrong_argument
from tokdfa.jobs.searching.plan import DEFAULT, SearchPlan, Tuning, Words, plan_of
from tokdfa.jobs.searching.stream import Match, Matches, Stream
from tokdfa.regex.finder import Wanted
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["DEFAULT_MAX_PENDING", "Match", "Matches", "Searcher", "search"]


class Spelled(NamedTuple):
    """Matches, the bytes of each, and the name of the pattern of each, or None if that has no name."""

    matches: Matches
    texts: list[bytes]
    names: Sequence[str | None]


DEFAULT_MAX_PENDING = 1 << 24
DEFAULT_MAX_MATCHES = 1 << 26


def search(
    tokenizer: AnyTokenizer,
    pattern: str | Iterable[str | bytes] | Mapping[str, str],
    ids: npt.ArrayLike,
    *,
    wanted: Wanted | None = None,
    aligned: bool = False,
    table: str = "regex",
    max_seconds: float = DEFAULT_MAX_SECONDS,
) -> Matches:
    """Return the matches of a pattern in the text of ids.

    For parameters and errors see :class:`Searcher` and :meth:`Searcher.search`.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> tokdfa.search(tokenizer, "[a-z]+n", tokenizer.encode("a single man"))[0]
    Match(start_byte=2, end_byte=5, start_token=1, end_token=2)
    """
    if isinstance(ids, str) and not isinstance(pattern, str):
        hint = "tokdfa.search(tokenizer, pattern, ids), or tokenizer.search(pattern, ids)"
        raise WrongTypeError("ids are integers, and the pattern comes before them", value=ids, hint=hint)
    if is_tokenizer(pattern) or is_tokenizer(ids):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.search(tokenizer, pattern, ids)", swapped=True)
    searcher = Searcher(tokenizer, pattern, wanted=wanted, aligned=aligned, table=table, max_seconds=max_seconds)
    return searcher.search(ids)


class Searcher(SuggestsNames):
    r"""A pattern, compiled to be searched for in streams of a tokenizer's ids.

    The ids are never decoded: the effect of each token on the automaton of the pattern is looked up. The ids need not
    be canonical, nor their bytes UTF-8.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        The tokenizer of the ids. The text is ``tokenizer.decode_bytes(ids)``, cut at control tokens: nothing matches
        across or inside one, and the part between two of them is searched as a text of its own. Added tokens that are
        text, with ``"special": false``, are searched like other text. The visible space of SentencePiece is a space,
        and the one before the text is not there; nor is the one after the last word, where words end with a suffix.
        Bytes that are not UTF-8 match nothing, although decoding turns them into U+FFFD.
    pattern : str, iterable of str or bytes, or mapping of str to str
        A regular expression; or words, each searched for literally; or several expressions with their names, which
        :meth:`iter_spelled` tells. An earlier expression is preferred, and none may match the empty text.
    wanted : {"first", "longest", "all"}, optional
        Which matches to find: the leftmost ones that a backtracking engine finds first (Perl), or the leftmost longest
        ones (POSIX), none overlapping another; or every span of the text that matches, ordered by end and then by
        start. Empty matches are never reported. By default "first" for an expression, as `re`, `regex` and
        :func:`tokdfa.replace` do; and "longest" for words, so that their order does not matter. Among words, "first"
        prefers the ones earlier in the list.
    aligned : bool
        Whether matches must begin and end at token boundaries.
    table : {"regex", "tokenizers", "tiktoken"}, or such a name with a version
        The library with the dialect and character classes of the expression: from its newest table, or from a version
        as in ``regex==2023.12.25``. In the dialect of `regex`, as in `re`, ``$`` matches at the end of the text and
        before a line feed that ends it; ``\Z`` matches only at the end.
    max_states, max_seconds : int, float
        The budget of the pattern: the number of states that each automaton over classes of symbols may have (over
        bytes, ten times as many), and the time that building all of them may take.
    max_pending : int
        The number of tokens for which a match that has begun may stay undecided before the search gives up. Memory
        grows only with these tokens.

    Raises
    ------
    PatternError
        If the pattern cannot be read or expressed by an automaton, or a word is empty.
    LimitExceededError
        If the pattern exceeds its budget; the error says which, and what to do.
    UnsupportedFeatureError
        If the text of an id depends on its neighbours.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> searcher = tokdfa.Searcher(tokenizer, ["man", "single"])
    >>> chunks = [[64, 2513], [462]]
    >>> [tuple(match) for matches in searcher.iter_matches(chunks) for match in matches]
    [(2, 8, 1, 2), (9, 12, 2, 3)]
    """

    _tuning: ClassVar[Tuning] = DEFAULT

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        pattern: str | Iterable[str | bytes] | Mapping[str, str],
        *,
        wanted: Wanted | None = None,
        aligned: bool = False,
        table: str = "regex",
        max_states: int = DEFAULT_MAX_STATES,
        max_seconds: float = DEFAULT_MAX_SECONDS,
        max_pending: int = DEFAULT_MAX_PENDING,
    ) -> None:
        if not is_tokenizer(tokenizer):
            call = "tokdfa.Searcher(tokenizer, pattern)"
            raise wrong_argument(tokenizer, "a tokenizer", call, swapped=is_tokenizer(pattern))
        self.tokenizer = tokenizer
        self.max_pending = max_pending
        tuning = self._tuning
        words = Words.of(tokenizer)
        if wanted is None:
            wanted = "first" if isinstance(pattern, (str, Mapping)) else "longest"

        # The usual tuning takes longer to hash than to find.
        how = (pattern, wanted, bool(aligned), table, max_states, max_seconds, None if tuning is DEFAULT else tuning)
        # Other values are checked where they are used.
        is_hashable = isinstance(pattern, str) and isinstance(wanted, str) and isinstance(table, str)
        self._plan: SearchPlan = words.plan(*how) if is_hashable else plan_of(words, *how)

    def search(self, ids: npt.ArrayLike, *, max_matches: int = DEFAULT_MAX_MATCHES) -> Matches:
        """Return the matches in the text of some ids.

        Parameters
        ----------
        ids : array_like of int
            The ids of the whole text, in one dimension. A memory-mapped array is read in blocks.
        max_matches : int
            The largest number of matches that is returned.

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one of them is not an id; the error says which.
        LimitExceededError
            If there are more matches.
        """
        array = id_array(ids)
        found: list[Int64Array] = []
        count = 0
        stream = Stream(self._plan, self.max_pending)
        if len(array) <= min(self._tuning.block, self.max_pending) or stream.takes(array):
            blocks = stream.read_all(array)
        else:
            blocks = (matches for matches, _ in self._iter([array], stream))
        for matches in blocks:
            found.append(matches.rows)
            count += len(matches)
            if count > max_matches:
                hint = "use iter_matches, which yields them one after the other, or raise max_matches"
                raise LimitExceededError(f"there are more than {max_matches} matches", hint=hint)
        return Matches(found[0] if len(found) == 1 else np.concatenate((np.empty((0, 4), dtype=np.int64), *found)))

    def iter_matches(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[Matches]:
        """Yield the matches in a text, given its ids in chunks, as soon as they are settled.

        Parameters
        ----------
        chunks : iterable of array_like of int
            The ids, in order. Only the ids of matches that have begun are kept.

        Raises
        ------
        TokenStreamError
            If a chunk has items that cannot be ids; the error says which.
        LimitExceededError
            If a match that has begun stays undecided for more than `max_pending` tokens.
        """
        return (matches for matches, _ in self._iter(chunks, Stream(self._plan, self.max_pending)))

    def iter_spelled(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[Spelled]:
        r"""Yield matches as :meth:`iter_matches` does, and with them the bytes of each, and the name of its pattern.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> searcher = tokdfa.Searcher(tokenizer, {r"\bs": "beginning", "[a-z]+": "word"})
        >>> found = searcher.iter_spelled([tokenizer.encode("a single")])
        >>> [pair for each in found for pair in zip(each.texts, each.names)]
        [(b'a', 'word'), (b's', 'beginning'), (b'ingle', 'word')]
        """
        stream = Stream(self._plan, self.max_pending, spells=True)
        for matches, _ in self._iter(chunks, stream):
            spelled = stream.spell(matches)
            yield Spelled(matches, spelled, stream.names(spelled))

    def _iter(self, chunks: Iterable[npt.ArrayLike], stream: Stream) -> Iterator[tuple[Matches, Stream]]:
        size = self._tuning.block
        for chunk in chunks:
            array = id_array(chunk)
            for start in range(0, len(array), size):
                for matches in stream.read(array[start : start + size]):
                    yield matches, stream
        for matches in stream.finish():
            yield matches, stream
