"""Training on a corpus: from files to a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import Argument, Hint, TrainingError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.training.corpus import Corpus, PieceCounts, with_marks
from tokdfa.training.counting import CorpusSplitter, Unit
from tokdfa.training.rules import CountRule, TieRule, Trainer, resolve

__all__ = ["EndOfWord", "Level", "Reading", "count_corpus_pieces", "train"]

Level: TypeAlias = Literal["byte", "character"]
EndOfWord: TypeAlias = Literal["attached", "separate"]

END_OF_WORD = "</w>"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a corpus is split into pieces, of bytes or of characters by `level`.

    The pre-tokenizer and the unit are as for :class:`~tokdfa.training.counting.CorpusSplitter`. By `end_of_word`,
    `mark` marks the end of each piece, as part of its last symbol or as a symbol of its own; only of characters. A
    `normalizer` rewrites each line first. Each character of a piece but the first gets the `prefix`.
    """

    pretokenizer: str | PreTokenizer = "gpt2"
    level: Level = "byte"
    unit: Unit = "file"
    end_of_word: EndOfWord | None = None
    normalizer: Callable[[str], str] | None = None
    prefix: str = ""
    mark: str = END_OF_WORD

    def __post_init__(self) -> None:
        if self.end_of_word is not None and self.level == "byte":
            what = f"{self.mark} marks words made of characters, not of bytes"
            raise TrainingError(what, hint=Hint("choose ", Argument("level", "character")))

    @property
    def suffix(self) -> str | None:
        """The ending of the last symbol of a piece."""
        return self.mark if self.end_of_word == "attached" else None

    @property
    def splitter(self) -> CorpusSplitter:
        """The splitter of the corpus."""
        is_bytes = self.level == "byte"
        return CorpusSplitter(self.pretokenizer, self.unit, any_bytes=is_bytes, normalizer=self.normalizer)

    @property
    def kind(self) -> str:
        """The kind of the pieces as words."""
        return "bytes" if self.level == "byte" else "symbols" if self._has_marks else "characters"

    @property
    def _has_marks(self) -> bool:
        return bool(self.end_of_word or self.prefix)

    def words(self, counts: PieceCounts) -> Mapping[Any, int]:
        """Return the pieces as words."""
        if self.level == "byte":
            return counts
        if not self._has_marks:
            return counts.characters()
        end = self.mark if self.end_of_word else ""
        return with_marks(counts.characters(), end, attached=self.end_of_word == "attached", prefix=self.prefix)


def count_corpus_pieces(
    sources: Sequence[str | Path] | str | Path,
    reading: Reading,
    *,
    threads: int = 1,
    checkpoint: str | Path | None = None,
    interval: float = 60.0,
    progress: Callable[[int], object] | None = None,
) -> PieceCounts:
    """Count the pieces of files, folders, patterns of names, or standard input (``-``)."""
    from tokdfa.training.counting import Checkpoint, count_corpus

    splitter = reading.splitter
    given = [sources] if isinstance(sources, (str, Path)) else sources
    corpus = Corpus.find(given)
    kept = None
    if checkpoint is not None:
        if "-" in corpus.files:
            raise TrainingError("standard input cannot be read again after an interruption", value=str(checkpoint))
        kept = Checkpoint(checkpoint, {"corpus": corpus.stamp(), "splitter": repr(splitter)})
    return count_corpus(corpus, splitter, threads=threads, progress=progress, checkpoint=kept, interval=interval)


def train(
    sources: Sequence[str | Path] | str | Path,
    merges: int,
    *,
    pretokenizer: str = "gpt2",
    like: Trainer | None = None,
    level: Level | None = None,
    unit: Unit | None = None,
    end_of_word: EndOfWord | None = None,
    tie: TieRule | None = None,
    count: CountRule | None = None,
    min_frequency: int | None = None,
    max_token_length: int | None = None,
    alphabet: str | bytes | Sequence[Word] | None = None,
    threads: int = 1,
) -> Dictionary:
    """Train a byte pair dictionary greedily on files, folders, patterns of names, or standard input (``-``).

    Parameters
    ----------
    sources : str, Path or sequence of them
    merges : int
        The number of rules to make.
    pretokenizer : str
        See :class:`Reading`.
    like : {"tokenizers", "sentencepiece", "subword-nmt", "rustbpe", "minbpe"}, optional
        The trainer to imitate. It sets all of the following; a parameter that is also given must agree with it. See
        :func:`tokdfa.training.rules.resolve`.
    level, unit, end_of_word
        See :class:`Reading`, which has the defaults.
    tie, count, min_frequency, max_token_length, alphabet
        See :func:`~tokdfa.training.naive.train_naive`, which has the defaults.
    threads : int
        The number of blocks of the corpus that are counted at the same time; the result does not depend on it.

    Raises
    ------
    TrainingError, FileFormatError, LimitExceededError, OSError
        As for :func:`count_corpus_pieces` and :func:`~tokdfa.training.greedy.train_greedy`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "corpus.txt").write_text("low lower lowest low low")
    ...     d = tokdfa.train(Path(folder, "corpus.txt"), 3)
    >>> [str(rule) for rule in d]
    ['l≀o', 'lo≀w', ' ≀low']
    """
    from tokdfa.training.greedy import train_greedy

    if not isinstance(merges, int):
        raise wrong_argument(
            merges, "a number of rules", "tokdfa.train(sources, merges)", swapped=isinstance(sources, int)
        )
    chosen = {
        "level": level, "unit": unit, "end_of_word": end_of_word, "tie": tie, "count": count,
        "min_frequency": min_frequency, "max_token_length": max_token_length,
    }  # fmt: skip
    meant = resolve(like, {name: value for name, value in chosen.items() if value is not None})
    reading = Reading(pretokenizer, meant["level"], meant["unit"], meant["end_of_word"])
    pieces = reading.words(count_corpus_pieces(sources, reading, threads=threads))
    rules = {name: meant[name] for name in ("tie", "count", "min_frequency", "max_token_length")}
    return train_greedy(pieces, merges, alphabet=alphabet, **rules)
