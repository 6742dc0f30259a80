"""Special tokens in streams: control ids where a model, and not the template, put them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, IntegerArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.searching.matches import Match
from tokdfa.jobs.searching.plan import Placed, Words
from tokdfa.tokenizers.protocol import AnyTokenizer


def iter_special_tokens(
    tokenizer: AnyTokenizer,
    names: Collection[str],
    chunks: Iterable[IntegerArray],
    mask: Iterable[IntegerArray] | None = None,
) -> Iterator[tuple[Match, str]]:
    """Yield where a stream has the ids of special tokens, and which ones, in memory that does not grow with it.

    The name "all" stands for all special tokens. The mask has, for each id, 1 if it counts, such as one that a model
    sampled, and otherwise 0; it is cut into chunks in any way.
    """
    contents = {special.id: special.content for special in tokenizer.specials}
    wanted = {*names}
    unknown = sorted(wanted.difference(contents.values(), {"all"}))
    if unknown:
        some = ", ".join([*contents.values()][:8])
        hint = f"this tokenizer has {some}" if some else "this tokenizer has none"
        raise TokenStreamError("no such special token", value=unknown[0], hint=hint)
    is_wanted: BoolArray = np.zeros(tokenizer.n_ids, dtype=np.bool_)
    is_wanted[[id for id, content in contents.items() if "all" in wanted or content in wanted]] = True
    words = Words.of(tokenizer)
    flags = None if mask is None else _Flags(mask)
    token = byte = 0
    for ids in _placed(tokenizer, words, chunks):
        sizes = words.lengths[ids]
        ids = ids % words.n_ids
        ends = byte + np.cumsum(sizes)
        found = is_wanted[ids]
        if flags is not None:
            found &= flags.take(len(ids), token)
        for place in np.flatnonzero(found).tolist():
            end, size = int(ends[place]), int(sizes[place])
            yield Match(end - size, end, token + place, token + place + 1), contents[int(ids[place])]
        token += len(ids)
        byte = int(ends[-1]) if len(ids) else byte
    if flags is not None:
        flags.finish(token)


def _placed(tokenizer: AnyTokenizer, words: Words, chunks: Iterable[IntegerArray]) -> Iterator[Int32Array]:
    """Yield the ids of a stream as a search reads them."""
    placed, n = Placed(words), 0
    for chunk in chunks:
        ids = tokenizer.decoder.check(chunk, n)
        n += len(ids)
        yield placed.read(ids)
    yield placed.finish()


class _Flags:
    """A mask that comes in chunks of its own."""

    def __init__(self, chunks: Iterable[IntegerArray]) -> None:
        self._chunks = iter(chunks)
        self._rest: IntegerArray = np.zeros(0, dtype=np.int64)

    def take(self, n: int, first: int) -> BoolArray:
        """Return the flags of the next ids."""
        parts = [self._rest]
        while sum(map(len, parts)) < n:
            more = next(self._chunks, None)
            if more is None:
                length = first + sum(map(len, parts))
                raise TokenStreamError("the mask is shorter than the ids", value=length)
            parts.append(more)
        flags = np.concatenate(parts)
        taken, self._rest = flags[:n], flags[n:]
        wrong = np.flatnonzero((taken != 0) & (taken != 1))
        if len(wrong):
            where = f"token {first + int(wrong[0])} of the mask"
            raise TokenStreamError("the mask must be 0 and 1", value=int(taken[wrong[0]]), where=where)
        is_set: BoolArray = taken != 0
        return is_set

    def finish(self, n: int) -> None:
        """Check that no flag is left."""
        if len(self._rest) or any(len(chunk) for chunk in self._chunks):
            raise TokenStreamError("the mask is longer than the ids", hint=f"there are {n} ids")
