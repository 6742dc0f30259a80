"""The result of a comparison, and the one place where a text becomes its witness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from tokdfa.automata.alphabet import Word, quoted
from tokdfa.base.errors import AlphabetError
from tokdfa.base.verdict import DescribedEnum, Verdict, cut_short
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Comparison", "Difference", "Names", "confirmed"]


class Part(DescribedEnum):
    """A part of two dictionaries or tokenizers that is compared, or a part of the answer."""

    EVERYTHING = "everything", "All parts at once: both consist of the same parts."
    DICTIONARY = "dictionary", "The rules of two tokenizers, and the tokens that they give for pieces."
    IDS = "ids", "The ids of the tokens that both have."
    PRETOKENIZER = "pretokenizer", "The pieces into which texts are cut."
    NORMALIZER = "normalizer", "The normalizers, which rewrite a text before it is cut."
    SPECIALS = "specials", "The special tokens that are found in a text."
    SYMBOLS = "symbols", "The treatment of symbols before they merge: byte fallback, unknown symbols, prefixes."
    LONGEST_WORD = "longest_word", "For WordPiece: the length of the longest word that is cut into entries."
    WORDS = (
        "words",
        "For WordPiece with unlike normalizers: words of characters that both keep, within the lengths of both.",
    )
    LIVE_ENTRIES = "live_entries", "For WordPiece: the entries that occur in the tokenization of some word."
    SEMANTICS = "semantics", "Of dictionaries: Algorithm 1, against merging leftmost, strongest rule first."
    RULES = "rules", "Of dictionaries: the rules in their order."
    LIVE_TOKENS = "live_tokens", "Of dictionaries: the tokens that occur in the tokenization of some text."
    ALLOWED_PAIRS = (
        "allowed_pairs",
        "Of dictionaries: the pairs of common tokens that are neighbours in some tokenization.",
    )
    SEARCH = "search", "Of the answer that two are equivalent: the texts for which it is proven."
    SHORTEST = "shortest", "Of the answer that two differ: whether shorter texts have been excluded."


class Outcome(DescribedEnum):
    """The outcome of comparing a part."""

    SAME = "same", "The two do the same with every text."
    EQUIVALENT = "equivalent", "They are written differently, and do the same with every text."
    DIFFERENT = (
        "different",
        "They are written differently; of dictionaries and pieces: they do different things with some text.",
    )
    UNKNOWN = "unknown", "They are written differently, and it is not known whether they do the same."
    IGNORED = "ignored", "This part was ignored on request."
    PROVEN = "proven", "Of `Part.SHORTEST`: no shorter text separates the two."
    UNPROVEN = "unproven", "Of `Part.SHORTEST`: a shorter text may separate them."
    COMPLETE = "complete", "Of `Part.SEARCH`: texts of any length."

    @classmethod
    def of(cls, is_same: bool) -> Outcome:
        """Return `SAME` or `DIFFERENT`."""
        return cls.SAME if is_same else cls.DIFFERENT


class Obstacle(Enum):
    """Why a comparison claims neither a difference nor equivalence, or why its search cannot be used, in words."""

    NOT_BYTES = "a dictionary is not over bytes"
    SYMBOLS_CHANGE = "symbols become other symbols"
    NO_PAIRS = "pairs of neighbours do not determine the merges of a dictionary"
    UNCLEAR_SEMANTICS = "a dictionary is not proper, and its file does not say how it is used"
    ONE_ADDS_SPACES = "only one inserts spaces"
    BOTH_ADD_SPACES = "the pre-tokenizers insert spaces"
    NORMALIZERS = "they normalize texts differently"
    NO_IDS = "there are tokens without ids"
    PRETOKENIZER = "a pre-tokenizer has no automaton"
    # These occur only if a search has left no other text to find.
    NO_TEXT_FOUND = "no text was found that shows where they differ"
    SPECIALS = "their special tokens differ"
    WHOLE_PIECES = "they emit different pieces without merging"


class Step(Enum):
    """The current step of a comparison, in words with a gap for the length of texts."""

    DICTIONARIES = "comparing the dictionaries"
    PRETOKENIZERS = "combining the pre-tokenizers"
    SEARCH = "searching texts of {} byte{} and more"
    TRIALS = "trying texts"


class Stage(NamedTuple):
    """The progress of a comparison; during the search with the length, in bytes, of the texts that it has reached."""

    step: Step
    n_bytes: int = 0


_OUTCOMES: Final = {
    Outcome.SAME: "the same",
    Outcome.EQUIVALENT: "the same for every text",
    Outcome.DIFFERENT: "different",
    Outcome.UNKNOWN: "different, not decided for all texts",
    Outcome.IGNORED: "ignored",
    Outcome.PROVEN: "proven",
    Outcome.UNPROVEN: "not proven",
    Outcome.COMPLETE: "texts of any length",
}
# The parts that have words of their own.
_OUTCOMES_OF_PARTS: Final = {
    (Part.DICTIONARY, Outcome.EQUIVALENT): "the same tokens for every piece",
    (Part.DICTIONARY, Outcome.DIFFERENT): "different tokens for some pieces",
    (Part.DICTIONARY, Outcome.UNKNOWN): "different rules, not decided for all pieces",
    (Part.PRETOKENIZER, Outcome.DIFFERENT): "different pieces for some texts",
    (Part.PRETOKENIZER, Outcome.UNKNOWN): "different patterns, not decided for all texts",
    (Part.SEMANTICS, Outcome.SAME): "Algorithm 1, which is the same as merging leftmost here",
    (Part.SEMANTICS, Outcome.DIFFERENT): "Algorithm 1; merging leftmost, strongest rule first, differs from it here",
}
# These occur only if a search has left no other text to find.
_AFTER_SEARCH: Final = {Obstacle.NO_TEXT_FOUND, Obstacle.SPECIALS, Obstacle.WHOLE_PIECES}


def answer(found: Comparison) -> str:
    """Return the finding as a sentence without a full stop; if there is a witness, it is the subject."""
    what = "tokens" if found.checked.get(Part.IDS, Outcome.IGNORED) is Outcome.IGNORED else "ids"
    if found.witness is not None:
        return f"has different {what}"
    if Part.EVERYTHING in found.checked:
        return "the tokenizers are the same"
    if Part.RULES in found.checked:
        return "the dictionaries are the same"
    if Part.SEARCH in found.checked:
        such = "" if found.texts is None else f" that {found.texts} matches"
        return f"every text{such} has the same {what}"
    return "their parts are the same"


def reason(found: Comparison) -> str:
    """Return the finding, with the witness, as a sentence without a full stop."""
    said = answer(found)
    return said if found.witness is None else f"{quoted(found.witness.text)} {said}"


def part_rows(found: Comparison) -> Iterator[tuple[str, str]]:
    """Yield the name and the outcome of each part that was compared."""
    for part, outcome in found.checked.items():
        words = _OUTCOMES_OF_PARTS.get((part, outcome), _OUTCOMES[outcome])
        if part is Part.IDS and found.n_other_ids:
            different = "" if outcome is Outcome.DIFFERENT else ", different"
            words += f"{different} for {found.n_other_ids:,} token{'s' * (found.n_other_ids != 1)}"
        yield part.replace("_", " "), words


def rule_words(found: Comparison) -> str | None:
    """Return how the rules differ, in words; None if they do not, or were not compared."""
    if found.first_other_rule is None:
        return None
    parts = []
    for side, number, rules in (
        ("A", found.n_rules_only_a or 0, found.rules_only_a),
        ("B", found.n_rules_only_b or 0, found.rules_only_b),
    ):
        shown = ", ".join(f"{rule} ({quoted(left)} + {quoted(right)})" for rule, left, right in rules[:3])
        more = ", …" if number > 3 else ""
        parts += [f"{number:,} only in {side}: {shown}{more}"] if number else []
    if not parts:
        parts = [f"the same in another order, from rule {found.first_other_rule} on"]
        kept = [f"{rule} ({quoted(left)} + {quoted(right)})" for rule, left, right in found.exchanged_rules]
        parts += [f"rule {' must come before '.join(kept)}"] if kept else []
    return "; ".join(parts)


def undecided_words(obstacle: Obstacle, cause: str = "") -> str:
    """Return the reason for a missing answer; `cause` gives details."""
    said = f"{obstacle.value}: {cause}" if cause else obstacle.value
    tried = "" if obstacle in _AFTER_SEARCH else ", and no text was found that separates them"
    return unclaimed_words(f"{said}{tried}")


def unclaimed_words(why: str) -> str:
    """Return the sentence that the answer is missing, and why."""
    return f"neither a difference nor equivalence could be established: {why}"


def stage_words(stage: Stage) -> str:
    """Return the current stage in words."""
    return stage.step.value.format(stage.n_bytes, "s" * (stage.n_bytes != 1))


class Difference(NamedTuple):
    """A text that the two treat differently, and its tokens under each; None where it cannot be tokenized.

    The tokens are words for dictionaries, and ids for tokenizers.

    Examples
    --------
    >>> found = tokdfa.compare(tokdfa.Dictionary([("a", "b")]), tokdfa.Dictionary([("b", "a")]))
    >>> found.witness.text, found.witness.tokens_a, found.witness.tokens_b
    ('ab', ('ab',), ('a', 'b'))
    """

    text: Word
    tokens_a: tuple[Any, ...] | None
    tokens_b: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Verdict[Difference]):
    """Whether two dictionaries or tokenizers are equivalent, and how they differ.

    Attributes
    ----------
    holds, witness
        See :class:`~tokdfa.base.verdict.Verdict`; the witness is a :class:`Difference`.
    reason : str
        The result in words, made from the other attributes.
    tokens_only_a, tokens_only_b : tuple of words
        The first live tokens, in the order of length and then of spelling, that only one of them has.
    rules_only_a, rules_only_b : tuple of (int, word, word)
        The first rules that only one of them has, each with its number.
    first_other_rule : int or None
        The number of the first rule that is another one in the other; None if all are the same, or there are no rules.
    exchanged_rules : tuple of (int, word, word)
        If both have the same live rules in another order, two rules that are exchanged and must not be, each with its
        number in the first; none if the order makes no difference. See :class:`tokdfa.RuleOrder`.
    n_tokens_only_a, n_tokens_only_b, n_rules_only_a, n_rules_only_b : int or None
        The numbers of such tokens and rules.
    n_dead_a, n_dead_b : int or None
        The number of tokens of each dictionary that occur in no tokenization.
    pairs_only_a, pairs_only_b : int or None
        The number of pairs of common live tokens that are neighbours in tokenizations of only one dictionary.
    n_other_ids : int or None
        The number of common tokens that have different ids. All these numbers are None where nothing was counted.
    texts : str or None
        The regular expression of the texts that were compared; None if all were.
    checked : mapping from Part to Outcome
        The outcome for each part that was compared. The keys and the values are strings as well:
        ``found.checked["pretokenizer"] == "same"``. If the two differ, ``"shortest"`` is among the parts.

    Examples
    --------
    >>> a, b = (tokdfa.Dictionary([("a", "b"), (u, v)]) for u, v in (("ab", "c"), ("c", "c")))
    >>> found = tokdfa.compare(a, b)
    >>> bool(found), found.witness.text, found.tokens_only_a, found.tokens_only_b
    (False, 'cc', ('abc',), ('cc',))
    """

    reason: str = field(init=False, compare=False)
    tokens_only_a: tuple[Word, ...] = ()
    tokens_only_b: tuple[Word, ...] = ()
    rules_only_a: tuple[tuple[int, Word, Word], ...] = ()
    rules_only_b: tuple[tuple[int, Word, Word], ...] = ()
    first_other_rule: int | None = None
    exchanged_rules: tuple[tuple[int, Word, Word], ...] = ()
    n_tokens_only_a: int | None = None
    n_tokens_only_b: int | None = None
    n_rules_only_a: int | None = None
    n_rules_only_b: int | None = None
    n_dead_a: int | None = None
    n_dead_b: int | None = None
    pairs_only_a: int | None = None
    pairs_only_b: int | None = None
    n_other_ids: int | None = None
    texts: str | None = None
    checked: Mapping[Part, Outcome] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", reason(self))

    def __repr__(self) -> str:
        said = answer(self)
        if self.witness is not None:
            text, *both = (cut_short(repr(value), 60) for value in self.witness)
            said = f"{text} {said}, {' and '.join(both)}"
        parts = ", ".join(f"{name} {words}" for name, words in part_rows(self))
        return f"Comparison({self.holds}: {said}; {cut_short(parts, 80)})"


NOTHING_APART: Final[Any] = {
    f"{counted}_only_{side}": 0 for counted in ("n_tokens", "n_rules", "pairs") for side in "ab"
}
"""The numbers of two that are the same."""

# The names by which ids of one of the two are compared: their spellings, where the ids themselves are ignored.
Names: TypeAlias = Callable[[Sequence[int]], object]


def confirmed(
    a: AnyTokenizer, b: AnyTokenizer, text: str, names: tuple[Names, Names] | None = None
) -> Difference | None:
    """Return the difference on a text, as encoding shows it; None if there is none.

    A text with a symbol that has no token is refused here, but its library may drop the symbol. If the other tokenizer
    gives the same ids, because it has the symbol removed, the libraries do not differ.
    """
    ids_a, ids_b = _ids(a, text), _ids(b, text)
    if _are_same(ids_a, ids_b, names):
        return None
    if ids_a is None or ids_b is None:
        given_a = _ids_of_library(a, text) if ids_a is None else ids_a
        given_b = _ids_of_library(b, text) if ids_b is None else ids_b
        if given_a is not None and _are_same(given_a, given_b, names):
            return None
    return Difference(text, ids_a, ids_b)


def _are_same(a: tuple[int, ...] | None, b: tuple[int, ...] | None, names: tuple[Names, Names] | None) -> bool:
    if names is None or a is None or b is None:
        return a == b
    return names[0](a) == names[1](b)


def _ids(side: AnyTokenizer, text: str) -> tuple[int, ...] | None:
    try:
        return tuple(side.encode(text).tolist())
    except AlphabetError:
        return None


def _ids_of_library(side: AnyTokenizer, text: str) -> tuple[int, ...] | None:
    """Return the ids without the symbols that the library drops; None if it is not known to drop any."""
    return None if side.leaving_out is None else _ids(side.leaving_out, text)
