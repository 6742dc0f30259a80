"""The fingerprint of a tokenizer: of its behaviour, part by part, and not of how its file spells it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.arrays import BoolArray, Uint64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.suggestions import SuggestsNames, is_tokenizer, wrong_argument
from tokdfa.regex.unicode.tables import content
from tokdfa.regex.unicode.versions import library_of
from tokdfa.tokenizers.encoding.special import odd_ones
from tokdfa.tokenizers.pretokenizers.normal_form import automaton_form

if TYPE_CHECKING:
    from tokdfa.automata.alphabet import TokenAlphabet
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Fingerprint", "fingerprint"]

PARTS = ("dictionary", "ids", "pretokenizer", "normalizer", "symbols", "specials", "decoder")
"""The parts of a fingerprint, in the order in which they are shown."""


@dataclass(frozen=True)
class Fingerprint(SuggestsNames):
    """The behaviour of a tokenizer, as hashes: tokenizers with equal fingerprints do the same.

    Made by :func:`tokdfa.fingerprint`.

    Attributes
    ----------
    parts : mapping of str to str
        The SHA-256, in hexadecimal, of each part: `dictionary` (the tokenization of pieces), `ids` (the ids of tokens),
        `pretokenizer`, `normalizer`, `symbols` (the treatment of symbols before they merge), `specials`, `decoder`.

    Examples
    --------
    >>> one = tokdfa.fingerprint(tokdfa.default_tokenizer())
    >>> one.value[:16], one.parts["ids"][:16]
    ('3118b8f4eea16cf0', '79bd48b8ef53c207')
    >>> one.changed(one)
    ()
    """

    parts: Mapping[str, str]

    @property
    def value(self) -> str:
        """The SHA-256, in hexadecimal, of all parts."""
        lines = (f"{name} {self.parts[name]}\n" for name in sorted(self.parts))
        return hashlib.sha256("".join(("tokdfa fingerprint\n", *lines)).encode()).hexdigest()

    def changed(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the names of the parts that are not the same in `other`."""
        names = (*PARTS, *sorted({*self.parts, *other.parts}.difference(PARTS)))
        return tuple(name for name in names if self.parts.get(name) != other.parts.get(name))

    def __str__(self) -> str:
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)


def fingerprint(tokenizer: AnyTokenizer) -> Fingerprint:
    """Return the fingerprint of a tokenizer.

    Tokenizers with equal fingerprints give every text the same ids, and ids the same text, so that the same streams are
    canonical. The format, the order of the rules, dead rules and the spelling of a pattern do not matter, and no
    version of tokdfa or of a library does.

    The converse does not hold: tokenizers that do the same may have two fingerprints. That can be if their
    pre-tokenizers cut texts differently where no ids differ, if a pattern drops text or no automaton expresses it, if
    pairs of neighbours do not determine the effect of the rules, or if settings are spelled in two ways.
    :func:`tokdfa.compare` decides where fingerprints do not.

    Parameters
    ----------
    tokenizer : AnyTokenizer

    Returns
    -------
    Fingerprint
        About a second for a dictionary of 100,000 rules, once for each tokenizer.

    Notes
    -----
    The normal form of a proper dictionary is the normal form of its minimal token DFA (*Constructing a BPE Tokenization
    DFA*, Theorem 1): the live tokens in the order of their spelling, each with the set of those that must not follow
    it. The normal form of a pre-tokenizer is the minimal DFA of texts with the effect of each symbol, over the coarsest
    classes of code points. The Unicode tables of normalizers, and of parts that no automaton expresses, are hashed as
    data.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> str(tokdfa.fingerprint(tokenizer)) == tokenizer.fingerprint
    True
    """
    if not is_tokenizer(tokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.fingerprint(tokenizer)")
    return Fingerprint(tokenizer.fingerprint_parts)


def parts_of_byte_pairs(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the hashes of the parts of a byte pair tokenizer; see :class:`Fingerprint`."""
    rewriting, fallback, atoms, prefix = tokenizer.rewrites
    whole = sorted(tokenizer.token(number) for number in tokenizer.whole_piece_tokens.tolist())
    splitting = tokenizer.splitting
    form = automaton_form(splitting)
    normalizer = None if rewriting is None else rewriting.normalizer
    decoding = None if rewriting is None else rewriting.decoding
    drops = tokenizer.leaving_out is not None
    return {
        "dictionary": hash_of(tokenizer.dictionary.alphabet.kind, whole, _dictionary(tokenizer)),
        "ids": hash_of(_ids(tokenizer)),
        "pretokenizer": hash_of(splitting, unicode_tables(splitting.table)) if form is None else hash_of(form),
        "normalizer": hash_of(None) if normalizer is None else hash_of(normalizer, unicode_tables()),
        "symbols": hash_of(fallback, sorted(set(atoms)), prefix, tokenizer.suffix, drops),
        "specials": hash_of_specials(tokenizer),
        "decoder": hash_of(decoding, tokenizer.why_not("letters") is None),
    }


@cache
def unicode_tables(table: str | None = None) -> str:
    """Return the hash of tokdfa's Unicode tables, which normalizers and others depend on.

    They are the newest tables, except for the library of `table`. The content of a table is hashed, not its name.
    """
    known = {name: name for name in ("normalization", "regex", "tiktoken", "tokenizers")}
    if table is not None:
        known[library_of(table)] = table
    return hash_of([(name, content(of)) for name, of in known.items()])


def hash_of_specials(tokenizer: Tokenizer) -> str:
    """Return the hash of the special tokens."""
    if not tokenizer.specials:
        return hash_of(())
    # Those that strip white space or are single words depend on the characters of white space, or of words.
    known = unicode_tables() if odd_ones(tokenizer.specials) else ""
    mistaken = sorted(special.id for special in tokenizer.specials if special.is_mistaken)
    parts = bool(tokenizer.found_specials), sorted(map(ascii, tokenizer.specials)), known
    return hash_of(*parts, mistaken) if mistaken else hash_of(*parts)


def _ids(tokenizer: Tokenizer) -> Iterator[tuple[object, ...]]:
    """Yield the tokens that have ids, in order, with these, except ids that belong to special tokens."""
    ids = tokenizer.token_to_id
    known: BoolArray = ids >= 0
    shadowed = known & (tokenizer.id_to_token[ids] != np.arange(len(ids)))
    is_merged = tokenizer.piece_ids.is_merged
    shadowed[: len(is_merged)] &= ~is_merged
    shadowed[tokenizer.whole_piece_tokens] = False
    numbers = np.flatnonzero(known & ~shadowed)
    words, (text, offsets) = tokenizer.piece_ids.words, tokenizer.spellings
    ordered = _in_order(words, numbers[numbers < len(words)].tolist())
    # The last tokens can be spelled like others, but only decoding knows them.
    last = sorted(
        (text[offsets[number] : offsets[number + 1]].tobytes(), int(ids[number]))
        for number in numbers[numbers >= len(words)].tolist()
    )
    return chain(((False, words[number], int(ids[number])) for number in ordered), ((True, *each) for each in last))


def _in_order(words: TokenAlphabet, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of tokens in the order of their words, few of which are in memory."""
    symbols, offsets = words.in_symbols()
    if len(symbols) and symbols.max() >= words.n_symbols:
        return sorted(numbers, key=words.__getitem__)
    rank = np.empty(words.n_symbols, dtype=">u4")
    rank[sorted(range(words.n_symbols), key=words.symbols.__getitem__)] = np.arange(words.n_symbols)
    data, bounds = rank[symbols].tobytes(), (4 * offsets).tolist()
    return sorted(numbers, key=lambda number: data[bounds[number] : bounds[number + 1]])


def _dictionary(tokenizer: Tokenizer) -> str:
    """Return the hash of the tokenization of pieces."""
    dictionary = tokenizer.dictionary
    if tokenizer.merges is None and dictionary.properness() and agrees_with_leftmost(dictionary):
        try:
            return _rows(tokenizer)
        except LimitExceededError:
            pass
    merges = () if tokenizer.merges is None else tokenizer.merges
    arrays = [array.tolist() for array in (dictionary.left, dictionary.right, *merges)]
    is_leftmost = tokenizer.why_not("leftmost") is None
    words = dictionary.alphabet
    return hash_of(iter(words), words.n_symbols, tokenizer.extra_tokens, arrays, is_leftmost)


def _rows(tokenizer: Tokenizer) -> str:
    """Return the hash of the live tokens, in order, each with the set of those that must not follow it."""
    words = tokenizer.dictionary.alphabet
    dfa = tokenizer.dfa
    rows = dfa.rows
    n_live = dfa.n_live_tokens
    live = np.flatnonzero(dfa.birth >= 0).tolist()
    # The hash of a set is the sum of the hashes of its members: intervals of positions are differences of running sums.
    sums = np.zeros((len(words) + 1, 4), dtype=np.uint64)
    hashes = [hashlib.sha256(ascii(words[token]).encode()).digest() for token in live]
    sums[dfa.position[live] + 1] = np.frombuffer(b"".join(hashes), dtype="<u8").reshape(-1, 4)
    sums = np.cumsum(sums, axis=0, dtype=np.uint64)
    # Dead tokens, which come last, are in every row and count for nothing.
    start, stop = np.minimum(rows.start, n_live), np.minimum(rows.stop, n_live)
    through: Uint64Array = np.zeros((len(start) + 1, 4), dtype=np.uint64)
    np.cumsum(sums[stop] - sums[start], axis=0, dtype=np.uint64, out=through[1:])
    of_row = through[rows.pointer[1:]] - through[rows.pointer[:-1]]
    order = sorted(live, key=words.__getitem__)
    return hash_of(map(words.__getitem__, order), of_row[rows.of_token[order]].astype("<u8").tobytes())


def hash_of(*values: object) -> str:
    """Return the hash of values by how they are spelled in ASCII, which is the same in every version of Python.

    An iterator counts as the list of its items, which are spelled one after the other, so that few are in memory.
    """
    digest = hashlib.sha256()
    for value in values:
        data: bytes | bytearray
        if isinstance(value, Iterator):
            data = bytearray(b"[")
            for number, item in enumerate(value):
                data += (", " * (number > 0) + ascii(item)).encode()
            data += b"]"
        else:
            data = value if isinstance(value, bytes) else ascii(value).encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
