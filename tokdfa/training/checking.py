"""The function `check_merges`: whether each listed merge is the most frequent pair of the corpus at that time.

The greedy trainer is run again, and stops before the first listed merge that it would not make. With the pieces
``{"ab": 3, "cd": 2}``, the list a≀b, c≀d is right. In the list c≀d, a≀b the first merge is wrong, because c≀d occurs
twice and a≀b three times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tokdfa.automata.alphabet import Word
from tokdfa.base.verdict import Verdict
from tokdfa.tokenizers.decoder import is_utf8
from tokdfa.tokenizers.formats.writers.vocabulary import spelled
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.training.api import END_OF_WORD, EndOfWord, Level, Reading, count_corpus_pieces
from tokdfa.training.counting import Unit
from tokdfa.training.kept import Spec, dropped
from tokdfa.training.listed import ListedMerges, Rewriter
from tokdfa.training.replay import Replay, Source, WrongMerge
from tokdfa.training.rules import CountRule, GreedyRules, TieRule, Trainer, resolve

__all__ = ["MergeCheck", "check_merges"]

AnyTie: TypeAlias = TieRule | Literal["any"]
Pieces: TypeAlias = Mapping[Any, int]

ASSUMED = "gpt2"
"""The pre-tokenizer of a corpus if neither an argument nor the file of the merges says one."""


@dataclass(frozen=True, slots=True, repr=False)
class MergeCheck(Verdict[WrongMerge]):
    """Whether each listed merge is the most frequent pair at that time.

    Attributes
    ----------
    holds : bool
        Whether each is.
    witness : WrongMerge, optional
        The first listed merge that is not.
    n_merges : int
        The number of merges listed.
    prefix : str
        The prefix of symbols within a word, such as ``##``; empty if there is none.
    assumed : str, optional
        The pre-tokenizer that split the corpus, if neither an argument nor the file of the merges says one.
    reason : str
        The result in words.

    Examples
    --------
    >>> print(tokdfa.check_merges([("c", "d"), ("a", "b")], {"ab": 3, "cd": 2}).reason)
    merge 0, c≀d, occurs 2 times, and a≀b 3 times: the most frequent pair is listed later (merge 1)
    """

    n_merges: int = 0
    prefix: str = ""
    assumed: str | None = None
    reason: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found, words = self.witness, f"each of the {self.n_merges:,} merges is a most frequent pair at its time"
        if found is not None:
            shown = self._shown(found.pair or [found.product])
            best = "no other is left" if found.best is None else f"{self._shown(found.best)} {_times(found.best_count)}"
            why = f"{found.cause.meaning} ({found.detail})" if found.detail else found.cause.meaning
            words = f"merge {found.index:,}, {shown}, occurs {_times(found.count)}, and {best}: {why}"
            if self.assumed is not None:
                words += f"; the file does not say how texts are split, and {self.assumed} was assumed (pretokenizer)"
        object.__setattr__(self, "reason", words)

    def _shown(self, words: Sequence[Word]) -> str:
        return "≀".join(_text(word if isinstance(word, bytes) else spelled(word, self.prefix)) for word in words)


def _text(word: str | bytes) -> str:
    """Return a word, quoted if it has spaces or is not text."""
    if isinstance(word, bytes) and not is_utf8(word):
        return repr(word)
    text = word.decode() if isinstance(word, bytes) else word
    return text if text.isprintable() and " " not in text else repr(text)


def _times(count: int) -> str:
    return f"{count:,} time{'s' * (count != 1)}"


def check_merges(
    merges: Any,
    corpus: Pieces | Sequence[str | Path] | str | Path,
    *,
    format: str | None = None,
    pretokenizer: str | None = None,
    like: Trainer | None = None,
    level: Level | None = None,
    unit: Unit | None = None,
    end_of_word: EndOfWord | None = None,
    tie: AnyTie | None = None,
    count: CountRule | None = None,
    min_frequency: int | None = None,
    max_token_length: int | None = None,
    threads: int = 1,
) -> MergeCheck:
    """Decide whether a trainer makes these merges of this corpus: whether each is the most frequent pair at that time.

    For the pieces ``{"ab": 3, "cd": 2}``, the merges must be a≀b and then c≀d.

    Parameters
    ----------
    merges : str, Path, Dictionary or sequence of pairs
        The merges, or a file with them: a tokenizer.json, merges.txt, rank file, SentencePiece model, or WordPiece's
        vocab.txt.
    corpus : str, Path, sequence of them, or mapping from pieces to their counts
        The corpus as for :func:`tokdfa.train`, or pieces as for :func:`tokdfa.train_greedy`.
    format : str, optional
        The format of the file, as for :func:`tokdfa.load`; detected by default.
    pretokenizer : str, optional
        How the corpus is split, as for :func:`tokdfa.train`. By default as the file says, its normalizer included, or
        ``gpt2`` if it does not say.
    like, level, unit, end_of_word, count, min_frequency, max_token_length
        The trainer or its rules, as for :func:`tokdfa.train`. Without `like`, `min_frequency` is 1 by default.
    tie : str, optional
        The rule for equally frequent pairs, as for :func:`tokdfa.train`, or ``any`` to accept each of them.
    threads : int
        As for :func:`tokdfa.train`.

    Returns
    -------
    MergeCheck
        Truthy if each merge is right. Otherwise the witness has the first wrong merge, its count, and the most frequent
        pair at that time with its count.

    Raises
    ------
    TrainingError, FileFormatError, UnsupportedFeatureError, LimitExceededError, OSError
        If the file or the corpus cannot be read, or the options do not fit them.

    Notes
    -----
    The check takes as long as training; if a merge is wrong, longer, because further replays find the likely cause.

    Examples
    --------
    >>> pieces = {"low": 5, "lower": 2, "newest": 6}
    >>> bool(tokdfa.check_merges([("w", "e"), ("l", "o"), ("n", "e")], pieces))
    True
    >>> found = tokdfa.check_merges([("w", "e"), ("n", "e")], pieces).witness
    >>> found.index, found.count, found.best, found.best_count
    (1, 6, ('l', 'o'), 7)
    """
    listed = ListedMerges.read(merges, format)
    options = {
        "level": level, "unit": unit, "end_of_word": end_of_word, "tie": None if tie == "any" else tie, "count": count,
        "min_frequency": min_frequency, "max_token_length": max_token_length,
    }  # fmt: skip
    given = {name: value for name, value in options.items() if value is not None}
    chosen = {**_options_of(listed, like), **given}
    spec = None
    if "sentencepiece" in (like, tie):
        spec = Spec.read(merges) if listed.is_sentencepiece and Path(merges).is_file() else None
        chosen.setdefault("max_token_length", spec.longest if spec else None)
    meant = resolve(like, chosen)
    rules = GreedyRules(**{name: meant[name] for name in ("tie", "count", "min_frequency", "max_token_length")})
    pieces, source, assumed = corpus, None, None
    if not isinstance(pieces, Mapping):
        assumed = ASSUMED if pretokenizer is None and not listed.says_splitting else None
        pieces, source = _counted(pieces, listed, pretokenizer or assumed, meant, threads, spec)
    listed = listed.in_kind(pieces)
    if listed.vocabulary is not None and spec is not None:
        pieces = spec.words(pieces, listed.vocabulary)
    elif listed.vocabulary is not None and rules.tie == "huggingface":
        pieces = dropped(pieces, listed.vocabulary)
    found = Replay(listed, pieces, rules, any_tie=tie == "any").first_wrong(source)
    return MergeCheck(found is None, found, len(listed), listed.prefix, assumed)


def _options_of(listed: ListedMerges, like: Trainer | None) -> dict[str, Any]:
    """Return the options that a file of merges shows."""
    shown: dict[str, Any] = {"min_frequency": 1} if like is None else {}
    if not listed.is_bytewise and like in (None, "tokenizers"):
        shown["level"] = "character"
    return shown


def _counted(
    files: Any, listed: ListedMerges, pretokenizer: str | None, meant: Mapping[str, Any], threads: int,
    spec: Spec | None,
) -> tuple[Pieces, Source | None]:  # fmt: skip
    """Return the pieces of files, split as the file of the merges says; and the source if it can be read again."""

    def reading(form: Rewriter | None = None) -> tuple[str | PreTokenizer | None, Rewriter | None]:
        own, rewriter = (None, form) if pretokenizer is not None else listed.reading(form)
        return own, rewriter if spec is None else partial(spec.line, rewriter)

    own, normalizer = reading()
    unit: Unit = meant["unit"] if normalizer is None else "line"
    end_of_word: EndOfWord | None = meant["end_of_word"] or ("attached" if listed.suffix else None)
    marks = {"prefix": listed.prefix, "mark": listed.suffix or END_OF_WORD}
    given = Reading(pretokenizer or own or ASSUMED, meant["level"], unit, end_of_word, normalizer, **marks)

    def counted(reading: Reading) -> Pieces:
        return reading.words(count_corpus_pieces(files, reading, threads=threads))

    def rewritten(form: Rewriter) -> Pieces:
        return counted(replace(given, normalizer=reading(form)[1], unit="line"))

    again = Source(given.splitter, rewritten)
    is_stream = "-" in ([files] if isinstance(files, (str, Path)) else [*files])
    return counted(given), None if is_stream else again
