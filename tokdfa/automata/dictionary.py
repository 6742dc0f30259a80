"""Byte pair dictionaries: ordered merge rules over a base alphabet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, overload

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, iter_symbols, quoted, show
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError, DictionaryError, ImproperDictionaryError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.base.verdict import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from tokdfa.kernels.library import Struct

__all__ = ["DeadRule", "Dictionary", "Folding", "ImproperRule", "Rule"]


class Rule(NamedTuple):
    """A rule u≀v: the pair of tokens that it merges.

    Examples
    --------
    >>> rule = tokdfa.Rule("a", "b")
    >>> str(rule), rule.product
    ('a≀b', 'ab')
    """

    left: Word
    right: Word

    @property
    def product(self) -> Word:
        """The token uv that the rule makes."""
        return cast(Word, self.left + self.right)  # type: ignore[operator]

    def __str__(self) -> str:
        return f"{show(self.left)}≀{show(self.right)}"


@dataclass(frozen=True, slots=True)
class ImproperRule:
    """Why a dictionary is improper: a rule with a part that no earlier rule makes.

    `index` counts from 0; `side` says which part it is, and `part` is the part itself.
    """

    index: int
    rule: Rule
    side: Literal["left", "right"]
    part: Word


@dataclass(frozen=True, slots=True)
class DeadRule:
    """A rule that no text can ever use, and why.

    `index` counts from 0. `blocker` is the index of the earlier rule that merges across the boundary between the two
    parts wherever they meet, or None if one of the parts is itself a dead token.
    """

    index: int
    rule: Rule
    blocker: int | None
    reason: str


class Folding(NamedTuple):
    """The universal token DFA of a proper dictionary, as the fold builds it: read-only arrays, int32 except `pairs`.

    States are numbered by the live rules that made them, from 1; state 0 is the initial state.

    Attributes
    ----------
    parent, removed, rule : one entry per state
        The state it was copied from, the token it lost in the copy, the rule that made it; -1 for the initial state.
    state, birth, head, tail : one entry per token
        The state reached on the token; the state that its live rule made, 0 for symbols; the left and the right part
        of that rule, -1 for symbols. The state and birth of a dead token are -1.
    blocker : one entry per rule
        -1 for a live rule. For a dead rule, the earlier rule that merges across the boundary between its parts, or -2
        or -3 if the left or the right part, respectively, is a dead token.
    pairs, made
        The live rules as a hash table: u·2³² + v (int64) and the state that the rule u≀v made; -1 and 0 in free slots.
    """

    parent: Int32Array
    removed: Int32Array
    rule: Int32Array
    state: Int32Array
    birth: Int32Array
    head: Int32Array
    tail: Int32Array
    blocker: Int32Array
    pairs: Int64Array
    made: Int32Array


class Dictionary(SuggestsNames, Sequence[Rule]):
    """A byte pair dictionary D = [u₁≀v₁, …, uₙ≀vₙ]: rules in order of priority, strongest first.

    Immutable and hashable. It is a sequence of :class:`Rule` objects; algorithms use the token numbers in
    `left`, `right` and `product`.

    Parameters
    ----------
    pairs : iterable of pairs of words
        The rules. Over an alphabet of multi-character symbols, a part may also be written as one string, if only one
        symbol or product of an earlier rule is spelled that way.
    alphabet : str, bytes or sequence of symbols, optional
        The base alphabet Σ, as in :class:`TokenAlphabet`. The default is the 256 bytes for rules over bytes, and the
        sorted characters that occur in the rules for rules over strings.

    Raises
    ------
    DictionaryError
        If a rule is not a pair of non-empty words, or mixes kinds of words; the message says which rule.
    AlphabetError
        If a rule uses a symbol outside the alphabet; the message says which rule.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Def 3. Tokens are numbered after the symbols, in the order in which the
    rules first mention them, so the token alphabet of every prefix D_i is a prefix of this one.

    Examples
    --------
    >>> d = tokdfa.Dictionary([("a", "b"), ("ab", "c")])
    >>> len(d), str(d[1]), d[1].product
    (2, 'ab≀c', 'abc')
    >>> bool(d.properness())
    True
    >>> d.alphabet.spell(range(len(d.alphabet)))
    ('a', 'b', 'c', 'ab', 'abc')
    """

    def __init__(self, pairs: Iterable[tuple[Word, Word]], alphabet: str | bytes | Iterable[Word] | None = None):
        rows = [_checked_pair(index, pair) for index, pair in enumerate(pairs)]
        base = TokenAlphabet(_default_symbols(rows) if alphabet is None else alphabet)
        parts = _JoinedSpellings(base) if base.kind == "symbols" else None
        tokens: dict[Word, int] = {word: number for number, word in enumerate(base.symbols)}
        numbers = np.empty((3, len(rows)), dtype=np.int32)
        for index, (u, v) in enumerate(rows):
            if parts is not None:
                u, v = parts.resolve(u, index), parts.resolve(v, index)
                parts.add(u + v)
            elif type(u) is not type(v) or type(u) is not type(base.symbols[0] if base.symbols else u):
                what = f"a rule over {base.kind} has parts of another type"
                raise DictionaryError(what, value=(u, v), where=f"rule {index}")
            for row, word in enumerate((u, v, u + v)):  # type: ignore[operator]
                numbers[row, index] = tokens.setdefault(word, len(tokens))
        self.alphabet = _token_alphabet(base, tokens, numbers)
        numbers.setflags(write=False)
        self.left: Int32Array = numbers[0]
        self.right: Int32Array = numbers[1]
        self.product: Int32Array = numbers[2]

    # A copy has only the rules, without any cached results.

    def __getstate__(self) -> tuple[TokenAlphabet, Int32Array, Int32Array, Int32Array]:
        return self.alphabet, self.left, self.right, self.product

    def __setstate__(self, state: tuple[TokenAlphabet, Int32Array, Int32Array, Int32Array]) -> None:
        self.alphabet, self.left, self.right, self.product = state
        for row in (self.left, self.right, self.product):
            row.setflags(write=False)

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[Word, Word]], alphabet: str | bytes | Iterable[Word] | None = None
    ) -> Dictionary:
        """Return the dictionary of these rules; see the class."""
        return cls(pairs, alphabet)

    def prefix(self, length: int) -> Dictionary:
        """Return D_i: the first `length` rules, over the same base alphabet."""
        if not 0 <= length <= len(self):
            raise DictionaryError("no such prefix", value=length, hint=f"0 to {len(self)} rules can be taken")
        return Dictionary((self[index] for index in range(length)), self.alphabet.symbols)

    def save(self, path: str | Path, *, pretokenizer: str = "none", suffix: str | None = None) -> list[Path]:
        """Write the rules as a merges.txt, a tokenizer.json, a .tiktoken file, or a folder, as its name says.

        Parameters, result and errors are as for :func:`tokdfa.training.output.write_dictionary`. :func:`tokdfa.load`
        reads the file back.
        """
        from tokdfa.training.output import write_dictionary

        return write_dictionary(self, path, pretokenizer=pretokenizer, suffix=suffix)

    @cached_property
    def birth(self) -> Int32Array:
        """The index of the first rule that makes each token; -1 for symbols and for tokens never made."""
        birth = np.full(len(self.alphabet), -1, dtype=np.int32)
        # Written from last to first, so that the first rule that makes a token wins.
        birth[self.product[::-1]] = np.arange(len(self) - 1, -1, -1, dtype=np.int32)
        birth.setflags(write=False)
        return birth

    @cached_property
    def _properness(self) -> Verdict[ImproperRule]:
        index = np.arange(len(self), dtype=np.int32)
        made = self.birth.copy()
        # A symbol is there before all rules, and a token that no rule makes is never there.
        made[made < 0] = len(self)
        made[: self.alphabet.n_symbols] = -1
        offending = [made[part] >= index for part in (self.left, self.right)]
        either = offending[0] | offending[1]
        if not either.any():
            return Verdict(True, None, "every part of a rule is a symbol or made by an earlier rule")
        first = int(np.argmax(either))
        side: Literal["left", "right"] = "left" if offending[0][first] else "right"
        rule = self[first]
        part = rule.left if side == "left" else rule.right
        witness = ImproperRule(first, rule, side, part)
        return Verdict(False, witness, f"rule {first}, {rule}: no earlier rule makes its {side} part {quoted(part)}")

    def properness(self) -> Verdict[ImproperRule]:
        """Decide whether every part longer than one symbol is the product of an earlier rule.

        The witness is the first offending rule, as an :class:`ImproperRule`. *Constructing a BPE Tokenization DFA*, Def
        3.
        """
        return self._properness

    def require_proper(self) -> None:
        """Raise ImproperDictionaryError unless the dictionary is proper."""
        verdict = self._properness
        if not verdict:
            raise ImproperDictionaryError(
                f"the dictionary is not proper: {verdict.reason}",
                hint="the token DFA is defined for proper dictionaries; reorder the rules or add the missing one",
            )

    @cached_property
    def folding(self) -> Folding:
        """The dictionary folded into the universal token DFA; :class:`CompactTokenDFA` presents it as an automaton.

        An :class:`ImproperDictionaryError` says that the dictionary is not proper.
        """
        from tokdfa.kernels.fold.folding import fold

        self.require_proper()
        folding = Folding(*fold(self.left, self.right, self.product, self.alphabet.n_symbols, len(self.alphabet)))
        for array in folding:
            array.setflags(write=False)
        return folding

    @cached_property
    def history(self) -> Struct:
        """The history of the fold, as the kernels use it; see :func:`tokdfa.kernels.fold.folding.history`."""
        from tokdfa.kernels.fold.folding import history

        folding = self.folding
        return history(folding.pairs, folding.made, folding.birth, folding.head, folding.tail)

    @property
    def live_rules(self) -> Int32Array:
        """The indices of the rules that some text uses, ascending."""
        return self.folding.rule[1:]

    @cached_property
    def dead_rules(self) -> tuple[DeadRule, ...]:
        """The rules that no text uses, each with the reason."""
        blocker = self.folding.blocker
        return tuple(self._dead_rule(index, int(blocker[index])) for index in np.flatnonzero(blocker != -1).tolist())

    @cached_property
    def dead_tokens(self) -> tuple[Word, ...]:
        """The tokens that no live rule makes, which occur in no correct tokenization."""
        return self.alphabet.spell(np.flatnonzero(self.folding.birth < 0).tolist())

    def _dead_rule(self, index: int, blocker: int) -> DeadRule:
        rule = self[index]
        if blocker < 0:
            part, side = (rule.left, "left") if blocker == -2 else (rule.right, "right")
            return DeadRule(index, rule, None, f"no live rule makes its {side} part {quoted(part)}")
        if rule == self[blocker]:
            return DeadRule(index, rule, blocker, f"it repeats rule {blocker}")
        reason = f"rule {blocker}, {self[blocker]}, merges across the boundary of its parts first"
        return DeadRule(index, rule, blocker, reason)

    @cached_property
    def fingerprint(self) -> str:
        """A SHA-256 of the alphabet and the rules, in hexadecimal; equal dictionaries have equal fingerprints."""
        import hashlib

        digest = hashlib.sha256(f"tokdfa dictionary {self.alphabet.kind}\n".encode())
        parts = self.alphabet.spell(np.stack((self.left, self.right), axis=1).ravel().tolist())
        for words in (self.alphabet.symbols, parts):
            digest.update(len(words).to_bytes(8, "little"))
            for word in words:
                for part in word if isinstance(word, tuple) else (word,):
                    data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
                    digest.update(len(data).to_bytes(8, "little") + data)
                digest.update(len(word).to_bytes(8, "little"))
        return digest.hexdigest()

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rule, ...]: ...
    def __getitem__(self, index: int | slice) -> Rule | tuple[Rule, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        return Rule(self.alphabet[int(self.left[index])], self.alphabet[int(self.right[index])])

    def __len__(self) -> int:
        return len(self.left)

    def __iter__(self) -> Iterator[Rule]:
        words = self.alphabet
        return (Rule(words[u], words[v]) for u, v in zip(self.left.tolist(), self.right.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dictionary):
            return NotImplemented
        return (
            self.alphabet == other.alphabet
            and np.array_equal(self.left, other.left)
            and np.array_equal(self.right, other.right)
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self[:6])) + (", …" if len(self) > 6 else "")
        return f"<Dictionary of {len(self)} rules over {self.alphabet.n_symbols} {self.alphabet.kind}: [{shown}]>"


class _JoinedSpellings:
    """Finds the token that a joined string means, over an alphabet of multi-character symbols."""

    def __init__(self, base: TokenAlphabet) -> None:
        self._known: dict[str, set[tuple[str, ...]]] = {}
        for symbol in base.symbols:
            self.add(cast("tuple[str, ...]", symbol))

    def add(self, token: tuple[str, ...]) -> None:
        self._known.setdefault("".join(token), set()).add(token)

    def resolve(self, part: Word, index: int) -> tuple[str, ...]:
        if isinstance(part, tuple):
            return part
        tokens = self._known.get(part, set()) if isinstance(part, str) else set()
        if len(tokens) != 1:
            what = "ambiguous part" if tokens else "part that is neither a symbol nor made by an earlier rule"
            raise DictionaryError(what, value=part, where=f"rule {index}", hint="write it as a tuple of symbols")
        return next(iter(tokens))


def _checked_pair(index: int, pair: object) -> tuple[Word, Word]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise DictionaryError("a rule must be a pair of words", value=pair, where=f"rule {index}")
    for part in pair:
        if not isinstance(part, (bytes, str, tuple)) or len(part) == 0:
            raise DictionaryError("a part of a rule must be a non-empty word", value=part, where=f"rule {index}")
    return pair[0], pair[1]


def _default_symbols(rows: list[tuple[Word, Word]]) -> bytes | Iterable[Word]:
    parts = [part for row in rows for part in row]
    if all(isinstance(part, bytes) for part in parts):
        return bytes(range(256))
    if any(isinstance(part, bytes) for part in parts):
        mixed = next(index for index, row in enumerate(rows) if any(isinstance(part, bytes) for part in row))
        what = "one dictionary cannot have both bytes and strings"
        raise DictionaryError(what, value=rows[mixed], where=f"rule {mixed}")
    return sorted({symbol for part in parts for symbol in cast("str | tuple[str, ...]", part)})


def _token_alphabet(base: TokenAlphabet, tokens: dict[Word, int], numbers: Int32Array) -> TokenAlphabet:
    words = list(tokens)
    try:
        return TokenAlphabet(base.symbols, words[base.n_symbols :])
    except AlphabetError as error:
        # The rule is looked up only now, so the common case pays nothing for it.
        known = set(base.symbols)
        foreign = {number for number, word in enumerate(words) if not known.issuperset(iter_symbols(word))}
        index = next(i for i, column in enumerate(numbers.T.tolist()) if foreign.intersection(column))
        raise AlphabetError(error.what, value=error.value, where=f"rule {index}") from None
